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

// The variables that an expression may read, and the axes among them by name.
struct Bound {
  std::set<const VarNode*> variables;
  std::map<std::string, const VarNode*> axes;
  void add(const std::vector<Axis>& list) {
    for (const Axis& a : list) {
      variables.insert(a.var.node());
      axes[a.var.name()] = a.var.node();
    }
  }
};

// Every variable of a definition is an axis in scope or a symbol; every tensor is computed or given.
void check_body(const std::string& where, const Tensor& t, const std::set<const VarNode*>& symbols,
                const std::set<const TensorNode*>& given) {
  std::function<void(const Expr&, const Bound&)> check = [&](const Expr& x, const Bound& bound) {
    if (const auto* r = as<ReduceNode>(x)) {
      for (const Axis& a : r->axes) check(a.extent, bound);
      Bound inner = bound;
      inner.add(r->axes);
      for (const Expr& source : r->sources) check(source, inner);
      return;
    }
    if (const auto* v = as<VarNode>(x)) {
      if (!bound.variables.count(v))
        throw Error(where, fmt::format("{} reads the variable {}, which no argument's shape binds", t.name(), v->name),
                    "use the variable in a shape of an argument, or pass it as a tensor");
      if (auto axis = bound.axes.find(v->name); axis != bound.axes.end() && axis->second != v)
        throw Error(where, fmt::format("{} reads the symbol {}, and an axis around it is called so too", t.name(), v->name),
                    "give the axis another name");
    }
    if (const auto* load = as<LoadNode>(x); load && !load->tensor->definition && !given.count(load->tensor.get()))
      throw Error(where, fmt::format("{} reads {}, which is not among the arguments", t.name(), load->tensor->name),
                  "add it to the list of arguments");
    for_each_child(x, [&](const Expr& child) { check(child, bound); });
  };
  Bound bound{symbols, {}};
  for (const Axis& a : t->definition->axes) check(a.extent, bound);
  bound.add(t->definition->axes);
  for (const Expr& e : t->definition->body) check(e, bound);
}

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
  check_name(where, p.name, "a function");
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
    check_name(where, n, what);
    if (!names.insert(n).second)
      throw Error(where, fmt::format("two tensors or symbols are called {}", n), "give each its own name");
  };
  auto add_symbols = [&](const Expr& e) {
    walk(e, [&](const Expr& x) {
      if (const auto* v = as<VarNode>(x); v && symbols.insert(v).second) {
        add_name(v->name, "a symbol");
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
    if (t.is_placeholder()) add_name(t.name(), "a tensor");
  }
  for (const Var& v : p.symbols) {
    bool bound = false;
    for (const Tensor& t : p.arguments)
      for (const Expr& extent : t.shape()) bound |= v.same_as(extent);
    if (!bound)
      throw Error(where, fmt::format("the symbol {} is no argument's extent by itself", v.name()),
                  "its value comes from an array's shape: use it alone in one, as in [" + v.name() + "]");
  }
  for (const Tensor& t : p.computed()) {
    add_name(t.name(), "a tensor");
    check_body(where, t, symbols, given);
  }
  return p;
}

}  // namespace lathe
