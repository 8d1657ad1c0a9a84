#include "ir/equal.h"

#include <bit>
#include <cmath>
#include <map>

#include "runtime/base/error.h"

namespace lathe {
namespace {

// What a tensor is told apart by: outputs of one definition may be represented by several nodes.
struct TensorKey {
  const void* node;
  int output;
  auto operator<=>(const TensorKey&) const = default;
};
TensorKey key(const TensorNode& t) {
  if (t.definition) return {t.definition.get(), t.output};
  return {&t, 0};
}

// Walks two pieces of IR side by side; what is bound on one side stands for its counterpart on the other.
class Comparison {
 public:
  bool equal(const Expr& a, const Expr& b) {
    if (!a.defined() || !b.defined()) return !a.defined() && !b.defined();
    if (a->kind != b->kind || a.type() != b.type()) return false;
    switch (a->kind) {
      case ExprKind::variable: return paired(variables_, a.get(), b.get());
      case ExprKind::integer: return as<IntegerNode>(a)->value == as<IntegerNode>(b)->value;
      case ExprKind::real: {
        const double x = as<RealNode>(a)->value, y = as<RealNode>(b)->value;
        return (std::isnan(x) && std::isnan(y)) || std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
      }
      case ExprKind::apply:
        return as<ApplyNode>(a)->op == as<ApplyNode>(b)->op && equal(as<ApplyNode>(a)->args, as<ApplyNode>(b)->args);
      case ExprKind::cast: return equal(as<CastNode>(a)->value, as<CastNode>(b)->value);
      case ExprKind::load:
        return same_tensor(*as<LoadNode>(a)->tensor, *as<LoadNode>(b)->tensor) &&
               equal(as<LoadNode>(a)->indices, as<LoadNode>(b)->indices);
      case ExprKind::reduce: {
        const auto *x = as<ReduceNode>(a), *y = as<ReduceNode>(b);
        return x->index == y->index && equal(*x->combiner, *y->combiner) && pair_axes(x->axes, y->axes) &&
               equal(x->sources, y->sources);
      }
      case ExprKind::ramp:
        return equal(as<RampNode>(a)->base, as<RampNode>(b)->base) && equal(as<RampNode>(a)->stride, as<RampNode>(b)->stride);
      case ExprKind::broadcast: return equal(as<BroadcastNode>(a)->value, as<BroadcastNode>(b)->value);
    }
    LATHE_CHECK(false, "unreachable");
  }

  bool equal(const Stmt& a, const Stmt& b) {
    if (!a || !b) return !a && !b;
    if (a->kind != b->kind) return false;
    switch (a->kind) {
      case StmtKind::loop: {
        const auto *x = as<LoopNode>(a), *y = as<LoopNode>(b);
        return x->loop == y->loop && equal(x->begin, y->begin) && equal(x->end, y->end) && pair(x->var, y->var) &&
               equal(x->body, y->body);
      }
      case StmtKind::branch: {
        const auto *x = as<BranchNode>(a), *y = as<BranchNode>(b);
        return equal(x->condition, y->condition) && equal(x->then_body, y->then_body) && equal(x->else_body, y->else_body);
      }
      case StmtKind::store: {
        const auto *x = as<StoreNode>(a), *y = as<StoreNode>(b);
        return same_tensor(*x->tensor, *y->tensor) && equal(x->indices, y->indices) && equal(x->value, y->value);
      }
      case StmtKind::alloc: {
        const auto *x = as<AllocNode>(a), *y = as<AllocNode>(b);
        return x->scope == y->scope && pair(*x->tensor, *y->tensor) && equal(x->body, y->body);
      }
      case StmtKind::barrier: return true;
      case StmtKind::combine: {
        const auto *x = as<CombineNode>(a), *y = as<CombineNode>(b);
        if (x->along != y->along || x->width != y->width || x->values.size() != y->values.size()) return false;
        for (size_t i = 0; i < x->values.size(); ++i)
          if (!same_tensor(*x->values[i], *y->values[i])) return false;
        return equal(*x->combiner, *y->combiner);
      }
      case StmtKind::block: {
        const auto &x = as<BlockNode>(a)->stmts, &y = as<BlockNode>(b)->stmts;
        if (x.size() != y.size()) return false;
        for (size_t i = 0; i < x.size(); ++i)
          if (!equal(x[i], y[i])) return false;
        return true;
      }
    }
    LATHE_CHECK(false, "unreachable");
  }

  bool equal(const Kernel& a, const Kernel& b) {
    if (a.name != b.name || a.written != b.written || !pair(a.symbols, b.symbols) || !pair(a.buffers, b.buffers, true))
      return false;
    for (int d = 0; d < 3; ++d)
      if (a.block[d] != b.block[d] || !pair(a.block_index[d], b.block_index[d]) ||
          !pair(a.thread_index[d], b.thread_index[d]))
        return false;
    if (a.order != b.order) return false;
    if (a.condition.defined() != b.condition.defined() || (a.condition.defined() && !equal(a.condition, b.condition))) return false;
    return equal(a.grid, b.grid) && equal(a.body, b.body);
  }

  bool equal(const LoweredFunction& a, const LoweredFunction& b) {
    if (a.name != b.name || a.is_output != b.is_output || a.kernels.size() != b.kernels.size() ||
        !pair(a.symbols, b.symbols) || !pair(a.arguments, b.arguments, true) || !pair(a.workspaces, b.workspaces, true) ||
        !equal(a.body, b.body))
      return false;
    for (size_t i = 0; i < a.kernels.size(); ++i)
      if (!equal(a.kernels[i], b.kernels[i])) return false;
    return true;
  }

  bool equal(const Program& a, const Program& b) {
    if (a.name != b.name || a.steps != b.steps || a.arguments.size() != b.arguments.size() || !pair(a.symbols, b.symbols))
      return false;
    for (size_t i = 0; i < a.arguments.size(); ++i)
      if (!pair_named(*a.arguments[i], *b.arguments[i])) return false;
    const std::vector<Tensor> x = a.computed(), y = b.computed();
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!pair_named(*x[i], *y[i]) || x[i]->output != y[i]->output) return false;
      const DefinitionNode &d = *x[i]->definition, &e = *y[i]->definition;
      if (x[i]->output == 0 && !(pair_axes(d.axes, e.axes) && equal(d.body, e.body))) return false;
    }
    return true;
  }

 private:
  bool equal(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!equal(a[i], b[i])) return false;
    return true;
  }

  bool equal(const CombinerNode& a, const CombinerNode& b) {
    if (&a == &b) return true;
    return a.name == b.name && pair(a.lhs, b.lhs) && pair(a.rhs, b.rhs) && equal(a.result, b.result) &&
           equal(a.identity, b.identity);
  }

  // From here on `a` stands for `b`: both directions, so that two variables never stand for one.
  template <class Key>
  struct Pairs {
    std::map<Key, Key> left, right;
    bool add(Key a, Key b) {
      left.insert_or_assign(a, b);
      right.insert_or_assign(b, a);
      return true;
    }
  };
  template <class Key>
  static bool paired(const Pairs<Key>& pairs, Key a, Key b) {
    const auto x = pairs.left.find(a);
    const auto y = pairs.right.find(b);
    if (x == pairs.left.end() && y == pairs.right.end()) return a == b;  // free on both sides
    return x != pairs.left.end() && y != pairs.right.end() && x->second == b && y->second == a;
  }

  bool pair(const Var& a, const Var& b) {
    if (!a.defined() || !b.defined()) return !a.defined() && !b.defined();
    return a.type() == b.type() && variables_.add(a.get(), b.get());
  }
  bool pair(const std::vector<Var>& a, const std::vector<Var>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!pair(a[i], b[i])) return false;
    return true;
  }
  bool pair_axes(const std::vector<Axis>& a, const std::vector<Axis>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!equal(a[i].extent, b[i].extent)) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!pair(a[i].var, b[i].var)) return false;
    return true;
  }
  bool pair(const TensorNode& a, const TensorNode& b) {
    return a.type == b.type && equal(a.shape, b.shape) && tensors_.add(key(a), key(b));
  }
  bool pair_named(const TensorNode& a, const TensorNode& b) {
    return a.name == b.name && !a.definition == !b.definition && pair(a, b);
  }
  bool pair(const std::vector<Tensor>& a, const std::vector<Tensor>& b, bool named) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if ((named && a[i].name() != b[i].name()) || !pair(*a[i], *b[i])) return false;
    return true;
  }
  bool same_tensor(const TensorNode& a, const TensorNode& b) { return paired(tensors_, key(a), key(b)); }

  Pairs<const ExprNode*> variables_;
  Pairs<TensorKey> tensors_;
};

}  // namespace

bool equal(const Expr& a, const Expr& b) { return Comparison().equal(a, b); }
bool equal(const Stmt& a, const Stmt& b) { return Comparison().equal(a, b); }
bool equal(const Kernel& a, const Kernel& b) { return Comparison().equal(a, b); }
bool equal(const LoweredFunction& a, const LoweredFunction& b) { return Comparison().equal(a, b); }
bool equal(const Program& a, const Program& b) { return Comparison().equal(a, b); }

}  // namespace lathe
