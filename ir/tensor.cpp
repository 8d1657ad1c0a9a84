#include "ir/tensor.h"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "ir/equal.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {

std::string_view to_string(Scope scope) {
  switch (scope) {
    case Scope::global: return "global";
    case Scope::shared: return "shared";
    case Scope::registers: return "register";
  }
  return "?";
}

void DefinitionNode::destroy(const DefinitionNode* node) { delete node; }
void TensorNode::destroy(const TensorNode* node) { delete node; }

namespace {

// Are these components of one reduction: one combiner over the same axes, and equal sources?
bool same_reduction(const ReduceNode& a, const ReduceNode& b) {
  if (&a == &b) return true;
  if (!a.combiner.same_as(b.combiner) || a.axes.size() != b.axes.size()) return false;
  for (size_t i = 0; i < a.axes.size(); ++i)
    if (!a.axes[i].var.same_as(b.axes[i].var) || !equal(a.axes[i].extent, b.axes[i].extent)) return false;
  for (size_t i = 0; i < a.sources.size(); ++i)
    if (!equal(a.sources[i], b.sources[i])) return false;
  return true;
}

// A reduction stands anywhere in a body, but there is one of it, and it is not inside another one's source.
void check_reductions(const std::string& where, const std::vector<Expr>& body) {
  const ReduceNode* first = nullptr;
  for (const Expr& e : body)
    walk(e, [&](const Expr& x) {
      const auto* r = as<ReduceNode>(x);
      if (!r) return true;
      const bool same = first && same_reduction(*first, *r);
      if (first && !same)
        throw Error(where, "the body has more than one reduction", "compute one of them as a tensor of its own");
      for_each_child(x, [&](const Expr& inner) {
        if (has_reduce(inner))
          throw Error(where, "a reduction stands inside another one",
                      "compute the inner one as a tensor of its own, or reduce over several axes at once");
      });
      if (!first) first = r;
      return false;
    });
}

}  // namespace

const Axis& Tensor::axis(int i) const {
  if (is_placeholder() || i < 0 || i >= static_cast<int>(get()->definition->axes.size()))
    throw Error(fmt::format("{}.axis({})", name(), i), fmt::format("{} has {} axes", name(), is_placeholder() ? 0 : rank()),
                "only computed tensors have axes, numbered from 0");
  return get()->definition->axes[i];
}

const Axis& Tensor::reduce_axis(int i) const {
  const ReduceNode* found = is_placeholder() ? nullptr : find_reduce(get()->definition->body);
  const int count = found ? static_cast<int>(found->axes.size()) : 0;
  if (i < 0 || i >= count)
    throw Error(fmt::format("{}.reduce_axis({})", name(), i), fmt::format("{} has {} reduction axes", name(), count),
                "reduction axes are numbered from 0 in the order of the reduction");
  return found->axes[i];
}

Tensor make_tensor(std::string name, DType type, std::vector<Expr> shape, Definition definition, int output) {
  auto* node = new TensorNode;
  node->name = std::move(name);
  node->type = type.scalar();
  node->shape = std::move(shape);
  node->definition = std::move(definition);
  node->output = output;
  return Tensor(node);
}

void check_extent(const std::string& where, const Expr& extent) {
  if (!extent.defined() || extent.type() != i64)
    throw Error(where, fmt::format("the extent {} is not an i64", extent.defined() ? to_string(extent) : "(empty)"),
                "use whole numbers and `Var`s");
  if (const int64_t* e = as_constant(extent); e && *e < 0)
    throw Error(where, fmt::format("the extent is {}", *e), "an extent is 0 or more");
  if (const int64_t* e = as_constant(extent); e && *e > max_extent)
    throw Error(where, fmt::format("the extent is {}, at most {} is possible", *e, max_extent), "no memory holds more");
}

void check_size(const std::string& where, const std::vector<Axis>& axes) {
  int64_t size = 1;
  for (const Axis& axis : axes) {
    const int64_t* e = as_constant(axis.extent);
    if (e && (__builtin_mul_overflow(size, std::max<int64_t>(*e, 1), &size) || size > max_extent))
      throw Error(where, fmt::format("its loops run more than {} times", max_extent), "use smaller extents");
  }
}

int check_access(const TensorNode& tensor, const std::vector<Expr>& indices) {
  const std::string where = fmt::format("{}[…]", tensor.name);
  if (indices.size() != tensor.shape.size())
    throw Error(where, fmt::format("{} indices for a tensor of rank {}", indices.size(), tensor.shape.size()),
                "give one index per dimension");
  int lanes = 1;
  for (const Expr& index : indices) {
    if (!index.defined() || !index.type().is_int())
      throw Error(where, "an index is not an integer", "cast it, as in i64(x)");
    if (index.type().lanes == 1) continue;
    if (lanes != 1 && lanes != index.type().lanes)
      throw Error(where, fmt::format("indices of {} and of {} lanes", lanes, index.type().lanes),
                  "vectors among the indices have one length");
    lanes = index.type().lanes;
  }
  return lanes;
}

void check_name(const std::string& where, const std::string& name, const std::string& what) {
  bool fits = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (char c : name) fits &= std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  if (!fits) throw Error(where, fmt::format("\"{}\" cannot name {}", name, what), "a name is letters, digits and _");
  if (is_reserved(name)) throw Error(where, fmt::format("\"{}\" is a word of the language", name), "choose another name");
}

namespace {

void check_shape(const std::string& name, const std::vector<Expr>& shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    const std::string where = fmt::format("tensor {}, extent {}", name, d);
    check_extent(where, shape[d]);
    if (has_load(shape[d]) || has_reduce(shape[d]))
      throw Error(where, "the extent depends on the elements of a tensor", "use numbers and `Var`s");
  }
}

}  // namespace

Tensor placeholder(std::vector<Expr> shape, DType type, std::string name) {
  check_name("placeholder", name, "a tensor");
  check_shape(name, shape);
  return make_tensor(std::move(name), type, std::move(shape));
}

std::vector<Tensor> compute_tuple(std::vector<Expr> shape,
                                  const std::function<std::vector<Expr>(const std::vector<Expr>&)>& body,
                                  std::vector<std::string> names, std::vector<std::string> axis_names) {
  if (names.empty()) throw Error("compute", "no names for the results", "name each component");
  for (const std::string& name : names) check_name("compute", name, "a tensor");
  check_shape(names[0], shape);
  auto* definition = new DefinitionNode;
  Definition owner(definition);
  std::vector<Expr> indices;
  for (size_t d = 0; d < shape.size(); ++d) {
    static constexpr const char* usual[] = {"i", "j", "k", "l", "m", "n"};
    std::string axis_name = d < axis_names.size() ? axis_names[d] : d < 6 ? usual[d] : fmt::format("i{}", d);
    check_name("compute " + names[0], axis_name, "an axis");
    definition->axes.push_back({Var(std::move(axis_name)), shape[d]});
    indices.push_back(definition->axes.back().var);
  }
  check_size("compute " + names[0], definition->axes);
  definition->names = names;
  definition->body = body(indices);
  if (definition->body.size() != names.size())
    throw Error("compute " + names[0],
                fmt::format("the body gives {} values for {} names", definition->body.size(), names.size()),
                "name each component");
  for (const Expr& e : definition->body) {
    if (!e.defined()) throw Error("compute " + names[0], "the body gives an empty expression", "return a value");
    if (e.type().lanes != 1)
      throw Error("compute " + names[0], fmt::format("the body gives a vector, {}", to_string(e.type())),
                  "a body gives one element; vectorize the loop in a schedule");
  }
  check_reductions("compute " + names[0], definition->body);

  // A schedule names a loop by stage and axis, so the names within one stage differ: a reduction axis that is called
  // like a data axis would leave one of the two out of reach.
  std::set<std::string> axis_seen;
  for (const Axis& a : definition->axes)
    if (!axis_seen.insert(a.var.name()).second)
      throw Error("compute " + names[0], fmt::format("two axes are called {}", a.var.name()), "name each axis differently");
  if (const ReduceNode* reduction = find_reduce(definition->body))
    for (const Axis& a : reduction->axes) {
      check_name("compute " + names[0], a.var.name(), "an axis");
      if (!axis_seen.insert(a.var.name()).second)
        throw Error("compute " + names[0], fmt::format("a reduction axis and another axis are both called {}", a.var.name()),
                    "give the reduction axis another name");
    }

  std::vector<Tensor> result;
  for (size_t o = 0; o < names.size(); ++o)
    result.push_back(make_tensor(names[o], definition->body[o].type(), shape, owner, static_cast<int>(o)));
  return result;
}

Tensor compute_list(std::vector<Expr> shape, const std::function<Expr(const std::vector<Expr>&)>& body,
                    std::string name, std::vector<std::string> axis_names) {
  return compute_tuple(
      std::move(shape), [&](const std::vector<Expr>& axes) { return std::vector{body(axes)}; }, {std::move(name)},
      std::move(axis_names))[0];
}

void detail::check_arity(size_t parameters, size_t rank, const std::string& name) {
  if (parameters != rank)
    throw Error("compute " + name, fmt::format("the body takes {} indices, the shape has rank {}", parameters, rank),
                "give the body one parameter per dimension");
}

}  // namespace lathe
