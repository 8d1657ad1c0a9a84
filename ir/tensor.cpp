#include "ir/tensor.h"

#include <fmt/format.h>

#include <set>

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

bool is_identifier(const std::string& name) {
  if (name.empty() || !(std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_')) return false;
  for (char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return true;
}

// A reduction stands anywhere in a body, but there is one of it, and it is not inside another one's source.
void check_reductions(const std::string& where, const std::vector<Expr>& body) {
  const ReduceNode* first = nullptr;
  for (const Expr& e : body)
    walk(e, [&](const Expr& x) {
      const auto* r = as<ReduceNode>(x);
      if (!r) return true;
      const bool same = first && (first == r || (first->combiner.same_as(r->combiner) &&
                                                 first->axes.size() == r->axes.size() &&
                                                 (r->axes.empty() || first->axes[0].var.same_as(r->axes[0].var))));
      if (first && !same)
        throw Error(where, "the body has more than one reduction", "compute one of them as a tensor of its own");
      for (const Expr& source : r->sources)
        walk(source, [&](const Expr& inner) {
          if (as<ReduceNode>(inner))
            throw Error(where, "a reduction stands inside another one",
                        "compute the inner one as a tensor of its own, or reduce over several axes at once");
          return true;
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
  const ReduceNode* found = nullptr;
  if (!is_placeholder())
    for (const Expr& e : get()->definition->body)
      walk(e, [&](const Expr& x) {
        if (!found) found = as<ReduceNode>(x);
        return !found;
      });
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

namespace {

void check_shape(const std::string& name, const std::vector<Expr>& shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!shape[d].defined() || shape[d].type() != i64 || has_load(shape[d]))
      throw Error("tensor " + name, fmt::format("extent {} of the shape is not an i64 expression of shape symbols", d),
                  "use numbers and `Var`s");
    if (const int64_t* extent = as_constant(shape[d]); extent && *extent < 0)
      throw Error("tensor " + name, fmt::format("extent {} of the shape is {}", d, *extent), "an extent is 0 or more");
  }
}

}  // namespace

Tensor placeholder(std::vector<Expr> shape, DType type, std::string name) {
  if (!is_identifier(name))
    throw Error("placeholder", fmt::format("\"{}\" is not a name", name), "a name is letters, digits and _");
  check_shape(name, shape);
  return make_tensor(std::move(name), type, std::move(shape));
}

std::vector<Tensor> compute_tuple(std::vector<Expr> shape,
                                  const std::function<std::vector<Expr>(const std::vector<Expr>&)>& body,
                                  std::vector<std::string> names, std::vector<std::string> axis_names) {
  if (names.empty()) throw Error("compute", "no names for the results", "name each component");
  for (const std::string& name : names)
    if (!is_identifier(name))
      throw Error("compute", fmt::format("\"{}\" is not a name", name), "a name is letters, digits and _");
  check_shape(names[0], shape);
  auto* definition = new DefinitionNode;
  Definition owner(definition);
  std::vector<Expr> indices;
  for (size_t d = 0; d < shape.size(); ++d) {
    static constexpr const char* usual[] = {"i", "j", "k", "l", "m", "n"};
    std::string axis_name = d < axis_names.size() ? axis_names[d] : d < 6 ? usual[d] : fmt::format("i{}", d);
    if (!is_identifier(axis_name))
      throw Error("compute " + names[0], fmt::format("\"{}\" is not a name", axis_name), "a name is letters, digits and _");
    definition->axes.push_back({Var(std::move(axis_name)), shape[d]});
    indices.push_back(definition->axes.back().var);
  }
  definition->names = names;
  definition->body = body(indices);
  if (definition->body.size() != names.size())
    throw Error("compute " + names[0],
                fmt::format("the body gives {} values for {} names", definition->body.size(), names.size()),
                "name each component");
  for (const Expr& e : definition->body)
    if (!e.defined()) throw Error("compute " + names[0], "the body gives an empty expression", "return a value");
  check_reductions("compute " + names[0], definition->body);

  // A schedule names a loop by stage and axis, so the names within one stage differ: a reduction axis that is called
  // like a data axis would leave one of the two out of reach.
  std::set<std::string> axis_seen;
  for (const Axis& a : definition->axes)
    if (!axis_seen.insert(a.var.name()).second)
      throw Error("compute " + names[0], fmt::format("two axes are called {}", a.var.name()), "name each axis differently");
  const ReduceNode* reduction = nullptr;
  for (const Expr& e : definition->body)
    walk(e, [&](const Expr& x) {
      if (!reduction) reduction = as<ReduceNode>(x);
      return !reduction;
    });
  if (reduction)
    for (const Axis& a : reduction->axes)
      if (!axis_seen.insert(a.var.name()).second)
        throw Error("compute " + names[0], fmt::format("a reduction axis and another axis are both called {}", a.var.name()),
                    "give the reduction axis another name");

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
