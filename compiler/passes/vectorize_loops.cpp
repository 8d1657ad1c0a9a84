// vectorize_loops: a vectorized loop becomes vector expressions.
//
//   before  for vectorized v in 0 .. 4 { A_s[t, v] = A[i, t * 4 + v] }
//   after   A_s[broadcast(t, 4), ramp(0, 1, 4)] = A[broadcast(i, 4), ramp(t * 4, 1, 4)]
//
// Indices become ramps where they are affine in the loop's variable, so that code generation sees one wide access. A
// loop whose guards or inner bounds differ from lane to lane (a tail) runs its iterations one by one instead. It stands
// after insert_barriers, which reasons about scalars, and before unroll_loops, which would multiply its work.
#include <fmt/format.h>

#include "compiler/passes/passes.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

class Vectorizer {
 public:
  Vectorizer(const LoopNode& loop, int lanes) : var_(loop.var), begin_(loop.begin), lanes_(lanes) {}

  // Can all lanes go the same way through `s`?
  bool is_uniform(const Stmt& s) const {
    bool uniform = true;
    walk(
        s,
        [&](const Stmt& x) {
          if (const auto* l = as<LoopNode>(x)) uniform &= !uses(l->begin, var_) && !uses(l->end, var_);
          if (const auto* b = as<BranchNode>(x)) uniform &= !uses(b->condition, var_);
          uniform &= x->kind != StmtKind::barrier && x->kind != StmtKind::combine;
          return uniform;
        },
        [](const Expr&) { return false; });
    return uniform;
  }

  Stmt run(const Stmt& s) {
    if (const auto* st = as<StoreNode>(s)) {
      std::vector<Expr> indices;
      bool vector = false;
      for (const Expr& i : st->indices) {
        indices.push_back(index(i));
        vector |= indices.back().type().lanes > 1;
      }
      const bool grown = widened_.count(st->tensor.get()) != 0;
      if (grown) indices.push_back(make_ramp(0, 1, lanes_));
      Expr value = expr(st->value);
      if (!vector && !grown) {
        // Every lane writes the same element: the last one wins, as in the loop.
        return make_store(st->tensor, st->indices.empty() ? st->indices : last(st->indices), substitute(st->value, {{var_.node(), begin_ + (lanes_ - 1)}}));
      }
      if (value.type().lanes == 1) value = make_broadcast(value, lanes_);
      return make_store(grown ? widened_.at(st->tensor.get()) : st->tensor, std::move(indices), value);
    }
    if (const auto* a = as<AllocNode>(s)) {
      // A lane's own memory: one more dimension, the lane.
      std::vector<Expr> shape = a->tensor.shape();
      shape.push_back(lanes_);
      const Tensor wide = make_tensor(a->tensor.name(), a->tensor.type(), std::move(shape));
      widened_[a->tensor.get()] = wide;  // partition_tails may have made copies that allocate it again
      return make_alloc(wide, a->scope, run(a->body));
    }
    return map_children(
        s, [&](const Expr& e) { return e; }, [&](const Stmt& child) { return run(child); });
  }

 private:
  std::vector<Expr> last(const std::vector<Expr>& indices) const {
    std::vector<Expr> result;
    for (const Expr& i : indices) result.push_back(substitute(i, {{var_.node(), begin_ + (lanes_ - 1)}}));
    return result;
  }

  Expr lane_values() const { return make_ramp(begin_, 1, lanes_); }

  // An index: a ramp where it is affine in the lane.
  Expr index(const Expr& e) {
    if (!uses(e, var_) && !reads_widened(e)) return e;
    LinearForm form = linear_form(e), rest;
    int64_t stride = 0;
    rest.constant = form.constant;
    for (const auto& t : form.terms) {
      if (t.term.same_as(var_)) {
        stride = t.coefficient;
      } else if (uses(t.term, var_) || reads_widened(t.term)) {
        return expr(e);
      } else {
        rest.terms.push_back(t);
      }
    }
    return make_ramp(simplify(to_expr(rest, e.type()) + begin_ * constant(e.type(), stride)), constant(e.type(), stride), lanes_);
  }

  bool reads_widened(const Expr& e) const {
    bool found = false;
    walk(e, [&](const Expr& x) {
      if (const auto* load = as<LoadNode>(x)) found |= widened_.count(load->tensor.get()) != 0;
      return !found;
    });
    return found;
  }

  Expr expr(const Expr& e) {
    if (e.same_as(var_)) return lane_values();
    if (const auto* load = as<LoadNode>(e)) {
      std::vector<Expr> indices;
      for (const Expr& i : load->indices) indices.push_back(index(i));
      auto wide = widened_.find(load->tensor.get());
      if (wide == widened_.end()) return make_load(load->tensor, std::move(indices));
      indices.push_back(make_ramp(0, 1, lanes_));
      return make_load(wide->second, std::move(indices));
    }
    return map_children(e, [&](const Expr& child) { return expr(child); });
  }

  Var var_;
  Expr begin_;
  int lanes_;
  std::map<const TensorNode*, Tensor> widened_;
};

Stmt vectorize(const Stmt& s) {
  const Stmt inner = map_children(
      s, [](const Expr& e) { return e; }, [](const Stmt& child) { return vectorize(child); });
  const auto* l = as<LoopNode>(inner);
  if (!l || l->loop != LoopKind::vectorized) return inner;
  const Expr size = simplify(l->end - l->begin);
  const int64_t* lanes = as_constant(size);
  if (!lanes || *lanes > 64)
    throw Error("vectorize " + l->var.name(), fmt::format("its extent {} is not a constant of at most 64", to_string(size)),
                "split it by a small constant and vectorize the inner loop");
  if (*lanes <= 0) return make_block({});
  if (*lanes == 1) return substitute(l->body, {{l->var.node(), l->begin}});
  Vectorizer v(*l, static_cast<int>(*lanes));
  if (v.is_uniform(l->body)) {
    bool nested = false;  // a vector loop inside a vector loop has already become vectors
    walk(
        l->body, [](const Stmt&) { return true; },
        [&](const Expr& e) {
          nested |= e.type().lanes > 1;
          return !nested;
        });
    if (!nested) return v.run(l->body);
  }
  return make_loop(LoopKind::unrolled, l->var, l->begin, l->end, l->body);
}

}  // namespace

void vectorize_loops(Lowering& l) {
  for (Kernel& k : l.function.kernels) k.body = vectorize(k.body);
}

}  // namespace lathe
