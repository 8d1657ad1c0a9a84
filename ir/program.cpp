#include "ir/program.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "ir/print.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

// Calls `f` on every expression of a definition, reduction sources included.
void walk_definition(const DefinitionNode& d, const std::function<void(const Expr&)>& f) {
  auto visit = [&](const Expr& e) {
    walk(e, [&](const Expr& x) {
      f(x);
      return true;
    });
  };
  for (const Axis& a : d.axes) visit(a.extent);
  for (const Expr& e : d.body) visit(e);
}

// Producers before consumers, each definition once, with all its outputs.
class Order {
 public:
  explicit Order(const std::vector<Tensor>& known) {
    for (const Tensor& t : known) tensors_[{t->definition.get(), t->output}] = t;
  }

  void add(const Tensor& t) {
    if (t.is_placeholder() || !seen_.insert(t->definition.get()).second) return;
    walk_definition(*t->definition, [&](const Expr& x) {
      if (const auto* load = as<LoadNode>(x)) {
        const Tensor read(load->tensor);
        tensors_[{read->definition.get(), read->output}] = read;
        add(read);
      }
    });
    definitions.push_back(t);
  }

  std::vector<Tensor> expanded() {
    std::vector<Tensor> result;
    for (const Tensor& t : definitions) {
      const Definition& d = t->definition;
      for (int o = 0; o < static_cast<int>(d->body.size()); ++o) {
        Tensor& output = tensors_[{d.get(), o}];
        if (!output) output = make_tensor(d->names[o], d->body[o].type(), t.shape(), d, o);
        result.push_back(output);
      }
    }
    return result;
  }

 private:
  std::vector<Tensor> definitions;  // one output of each
  std::set<const DefinitionNode*> seen_;
  std::map<std::pair<const DefinitionNode*, int>, Tensor> tensors_;
};

}  // namespace

std::vector<Tensor> Program::outputs() const {
  std::vector<Tensor> result;
  for (const Tensor& t : arguments)
    if (!t.is_placeholder()) result.push_back(t);
  return result;
}

std::vector<Tensor> Program::computed() const {
  Order order(arguments);
  for (const Tensor& t : outputs()) order.add(t);
  return order.expanded();
}

Program make_program(std::string name, std::vector<Tensor> arguments) {
  const std::string where = "function " + name;
  Program p;
  p.name = std::move(name);
  p.arguments = std::move(arguments);
  if (p.name.empty() || is_reserved(p.name)) throw Error(where, "\"" + p.name + "\" cannot name a function", "choose another name");
  for (size_t i = 0; i < p.arguments.size(); ++i) {
    if (!p.arguments[i]) throw Error(where, fmt::format("argument {} is an empty tensor", i), "make it with placeholder or compute");
    for (size_t j = 0; j < i; ++j)
      if (p.arguments[i].same_as(p.arguments[j]))
        throw Error(where, fmt::format("{} stands twice among the arguments", p.arguments[i].name()), "name each tensor once");
  }
  if (p.outputs().empty()) throw Error(where, "no argument is computed", "add an output, a tensor made with compute");

  std::set<const VarNode*> symbols;
  std::set<std::string> names;
  auto add_name = [&](const std::string& n, const char* what) {
    if (is_reserved(n)) throw Error(where, fmt::format("\"{}\" is a word of the language", n), fmt::format("give the {} another name", what));
    if (!names.insert(n).second)
      throw Error(where, fmt::format("two tensors or symbols are called {}", n), "give each its own name");
  };
  auto add_symbols = [&](const Expr& e) {
    walk(e, [&](const Expr& x) {
      if (const auto* v = as<VarNode>(x); v && symbols.insert(v).second) {
        add_name(v->name, "symbol");
        p.symbols.push_back(Var(v));
      }
      return true;
    });
  };
  for (const Tensor& t : p.arguments)
    for (const Expr& extent : t.shape()) add_symbols(extent);

  std::set<const TensorNode*> given;
  for (const Tensor& t : p.arguments) {
    given.insert(t.get());
    if (t.is_placeholder()) add_name(t.name(), "tensor");
  }
  for (const Tensor& t : p.computed()) {
    add_name(t.name(), "tensor");
    std::set<const VarNode*> bound = symbols;
    for (const Axis& a : t->definition->axes) bound.insert(a.var.node());
    // Every variable of a body is an axis or a symbol that an argument's shape binds.
    std::function<void(const Expr&)> check = [&](const Expr& x) {
      if (const auto* r = as<ReduceNode>(x))
        for (const Axis& a : r->axes) bound.insert(a.var.node());
      if (const auto* v = as<VarNode>(x); v && !bound.count(v))
        throw Error(where, fmt::format("{} reads the variable {}, which no argument's shape binds", t.name(), v->name),
                    "use the variable in a shape of an argument, or pass it as a tensor");
      if (const auto* load = as<LoadNode>(x); load && !load->tensor->definition && !given.count(load->tensor.get()))
        throw Error(where, fmt::format("{} reads {}, which is not among the arguments", t.name(), load->tensor->name),
                    "add it to the list of arguments");
      for_each_child(x, check);
    };
    for (const Axis& a : t->definition->axes) check(a.extent);
    for (const Expr& e : t->definition->body) check(e);
  }
  return p;
}

}  // namespace lathe
