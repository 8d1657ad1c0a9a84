// narrow_indices: 32-bit index arithmetic where nothing can overflow, 64-bit elsewhere.
//
//   before  C[bx * 64 + tx]                        all in i64, C: f32[4096]
//   after   C[i64(i32(bx) * 64 + i32(tx))]
//
// AMD's vector ALUs add and multiply 32 bits at a time: a 64-bit product is five instructions. A subexpression is
// narrowed when isl bounds it, and everything it is made of, within i32 under the facts around it. It stands last,
// after flatten_storage made the sums that become addresses.
#include <bit>
#include <limits>

#include "compiler/passes/passes.h"
#include "compiler/passes/with_facts.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace lathe {
namespace {

class Narrower {
 public:
  Narrower(const LoweredFunction& f, const Kernel& k) {
    const bool promised = !f.promises.empty() || k.condition.defined();
    for (int d = 0; d < 3; ++d) {
      if (!promised) variables_[k.block_index[d].node()] = std::nullopt;  // a grid that grows with a symbol has no bound
      know(k.block_index[d], 0, k.grid[d]);
      know(k.thread_index[d], 0, k.block[d]);
    }
  }

  // Subexpressions repeat a lot after unrolling: each distinct variable is bounded once per place.
  Expr index(const Expr& e, const Facts& facts) {
    if (const auto* ramp = as<RampNode>(e)) {
      const Expr base = scalar(ramp->base, facts);
      return make_ramp(base, make_cast(base.type(), ramp->stride), e.type().lanes);
    }
    return e.type().lanes == 1 ? scalar(e, facts) : e;
  }

  Expr values(const Expr& e, const Facts& facts) {
    if (const auto* load = as<LoadNode>(e)) return make_load(load->tensor, {index(load->indices[0], facts)});
    if (const auto* a = as<ApplyNode>(e); a && op_row(a->op).typing == OpTyping::compare && a->args[0].type() == i64 &&
                                          fits(a->args[0], facts) && fits(a->args[1], facts))
      return make_apply(a->op, {narrow(a->args[0]), narrow(a->args[1])});
    return map_children(e, [&](const Expr& child) { return values(child, facts); });
  }

  Stmt run(const Stmt& s, const Facts& facts) {
    if (const auto* l = as<LoopNode>(s)) {
      know(l->var, l->begin, l->end);
      Facts inside = facts;
      inside.add_range(l->var, l->begin, l->end);
      return make_loop(l->loop, l->var, l->begin, l->end, run(l->body, inside));
    }
    if (const auto* store = as<StoreNode>(s))
      return make_store(store->tensor, {index(store->indices[0], facts)}, values(store->value, facts));
    return map_children(
        s, [&](const Expr& e) { return values(e, facts); }, [&](const Stmt& child) { return run(child, facts); });
  }

 private:
  // A range between numbers needs no question.
  void know(const Var& v, const Expr& begin, const Expr& end) {
    const int64_t *low = as_constant(begin), *high = as_constant(end);
    if (low && high) variables_[v.node()] = Bounds{*low, std::max(*low, *high - 1)};
  }

  Expr scalar(const Expr& e, const Facts& facts) { return fits(e, facts) ? narrow(e) : e; }

  // Is every value on the way to `e` an i32? Bounds add up term by term, so one question a variable is enough.
  struct Bounds {
    int64_t low, high;
  };
  static constexpr int64_t least = std::numeric_limits<int32_t>::min(), most = std::numeric_limits<int32_t>::max();

  std::optional<Bounds> bounds(const Expr& e, const Facts& facts) {
    if (const int64_t* c = as_constant(e)) return Bounds{*c, *c};
    if (e.type() != i64) return std::nullopt;
    if (const auto* v = as<VarNode>(e)) {
      auto [found, fresh] = variables_.emplace(v, std::nullopt);
      if (fresh) {
        const auto low = facts.constant_min(e), high = facts.constant_max(e);
        if (low && high) found->second = Bounds{*low, *high};
      }
      return found->second;
    }
    const auto* a = as<ApplyNode>(e);
    if (!a || a->args.size() != 2) return std::nullopt;
    const auto x = bounds(a->args[0], facts), y = bounds(a->args[1], facts);
    if (!x || !y || !in_i32(*x) || !in_i32(*y)) return std::nullopt;
    switch (a->op) {
      case Op::add: return Bounds{x->low + y->low, x->high + y->high};
      case Op::sub: return Bounds{x->low - y->high, x->high - y->low};
      case Op::mul: {
        const int64_t p[] = {x->low * y->low, x->low * y->high, x->high * y->low, x->high * y->high};
        return Bounds{*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
      }
      case Op::bit_xor:  // of a swizzled tile: no bit above those of its operands
        if (x->low < 0 || y->low < 0) return std::nullopt;
        return Bounds{0, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(x->high, y->high)) + 1)) - 1};
      case Op::min: return Bounds{std::min(x->low, y->low), std::min(x->high, y->high)};
      case Op::max: return Bounds{std::max(x->low, y->low), std::max(x->high, y->high)};
      case Op::div:
      case Op::mod: {
        const int64_t c = y->low;
        const auto quotient = [&](int64_t v) { return v / c - (v % c != 0 && v < 0); };  // toward negative infinity
        if (c > 0 && c == y->high) {
          if (a->op == Op::div) return Bounds{quotient(x->low), quotient(x->high)};
          return quotient(x->low) == quotient(x->high) ? Bounds{x->low - quotient(x->low) * c, x->high - quotient(x->low) * c} : Bounds{0, c - 1};
        }
        const auto low = facts.constant_min(e), high = facts.constant_max(e);
        return low && high ? std::optional(Bounds{*low, *high}) : std::nullopt;
      }
      default: return std::nullopt;
    }
  }

  static bool in_i32(const Bounds& b) { return b.low >= least && b.high <= most; }

  bool fits(const Expr& e, const Facts& facts) {
    const auto b = bounds(e, facts);
    return b && in_i32(*b);
  }

  static Expr narrow(const Expr& e) {
    if (const auto* a = as<ApplyNode>(e)) return make_apply(a->op, {narrow(a->args[0]), narrow(a->args[1])});
    return make_cast(i32, e);
  }

  std::map<const VarNode*, std::optional<Bounds>> variables_;
};

}  // namespace

void narrow_indices(Lowering& l) {
  for (Kernel& k : l.function.kernels) k.body = Narrower(l.function, k).run(k.body, kernel_facts(l.function, k));
}

}  // namespace lathe
