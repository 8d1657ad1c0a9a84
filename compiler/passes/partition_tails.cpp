// partition_tails: the bulk of the work runs without guards, and only the tail is predicated.
//
//   before  for block_x i0 in 0 .. (n + 63) / 64 { for thread_x i1 in 0 .. 64 { if i0 * 64 + i1 < n { … } } }
//   after   for block_x i0 … { if i0 * 64 + 64 <= n { for thread_x i1 … { … } }
//                              else { for thread_x i1 … { if i0 * 64 + i1 < n { … } } } }
//
//   before  for k0 in 0 .. 40 { for k1 in 0 .. 8 { if k0 * 8 + k1 < 319 { … } } }
//   after   for k0 in 0 .. 39 { for k1 in 0 .. 8 { … } } for k1 in 0 .. 7 { … k0 = 39 … }
//
// Work-groups take one of two versions, by a condition that is the same for all work-items of the group, so barriers
// stay legal in both. Vectors have two versions as well, by whether all lanes are inside; a vector loop holds no barrier,
// so work-items may differ. Serial loops are cut where a guard first fails. Loops over work-items are left alone: cutting
// them would diverge. It stands after guard_tails, and before split_kernels takes the bound loops away.
#include <algorithm>
#include <functional>
#include <set>

#include "compiler/passes/passes.h"
#include "compiler/passes/with_facts.h"
#include "ir/visit.h"

namespace lathe {
namespace {

// Every conjunct of every branch condition in `s`, outermost first.
std::vector<Expr> guards_in(const Stmt& s) {
  std::vector<Expr> result;
  walk(
      s,
      [&](const Stmt& x) {
        if (const auto* b = as<BranchNode>(x))
          for (const Expr& c : conjuncts(b->condition))
            if (!has_load(c)) result.push_back(c);
        return true;
      },
      [](const Expr&) { return false; });
  return result;
}

// The loops inside a statement. A guard is judged over all of them, since nothing tells yet which ones run; but only those
// that its variables hang on are told to isl, whose questions grow with every variable.
class InnerLoops {
 public:
  explicit InnerLoops(const Stmt& s) {
    walk(
        s,
        [&](const Stmt& x) {
          if (const auto* l = as<LoopNode>(x)) loops_.push_back(l);
          return true;
        },
        [](const Expr&) { return false; });
  }

  Facts around(const Expr& guard, Facts facts) const {
    std::set<const VarNode*> needed;
    const auto need = [&](const Expr& e) {
      uses_any(e, [&](const VarNode* v) {
        needed.insert(v);
        return false;
      });
    };
    need(guard);
    std::vector<const LoopNode*> relevant;
    for (auto l = loops_.rbegin(); l != loops_.rend(); ++l) {
      if (!needed.count((*l)->var.node())) continue;
      relevant.push_back(*l);
      need((*l)->begin);
      need((*l)->end);
    }
    for (auto l = relevant.rbegin(); l != relevant.rend(); ++l) facts.add_range((*l)->var, (*l)->begin, (*l)->end);
    return facts;
  }

  bool contain(const VarNode* v) const {
    return std::any_of(loops_.begin(), loops_.end(), [&](const LoopNode* l) { return l->var.node() == v; });
  }

 private:
  std::vector<const LoopNode*> loops_;  // outermost first
};

bool contains_block_loop(const Stmt& s) {
  bool found = false;
  walk(
      s,
      [&](const Stmt& x) {
        const auto* l = as<LoopNode>(x);
        found |= l && is_block(l->loop);
        return !found;
      },
      [](const Expr&) { return false; });
  return found;
}

class Partition {
 public:
  explicit Partition(const Lowering& l) : predicated_(l.predicated) {
    for (const Var& symbol : l.function.symbols) outer_.insert(symbol.node());
  }

  Stmt run(const Stmt& s, const Facts& facts) {
    const auto* l = as<LoopNode>(s);
    if (!l) return descend(s, facts);
    if (is_block(l->loop) && !contains_block_loop(l->body)) return versions(*l, facts);
    if (l->loop == LoopKind::serial || l->loop == LoopKind::unrolled || l->loop == LoopKind::vectorized) return cut(*l, facts);
    return through(*l, facts);
  }

 private:
  Stmt descend(const Stmt& s, const Facts& facts) {
    if (const auto* b = as<BranchNode>(s)) {
      Facts holds = facts;
      holds.assume(b->condition);
      Stmt then_body = run(b->then_body, holds), else_body;
      if (b->else_body) {
        Facts fails = facts;
        fails.assume(!b->condition);
        else_body = run(b->else_body, fails);
      }
      return make_branch(b->condition, then_body, else_body);
    }
    return map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return run(child, facts); });
  }

  // The loop as it is, and what is inside it. Variables of work-item loops are never outer: they differ in a group.
  // Nor are those of virtual threads, which keep step.
  Stmt through(const LoopNode& l, const Facts& facts) {
    Facts inside = facts;
    inside.add_range(l.var, l.begin, l.end);
    if (!is_thread(l.loop) && l.loop != LoopKind::virtual_thread) outer_.insert(l.var.node());
    Stmt body = run(l.body, inside);
    outer_.erase(l.var.node());
    return make_loop(l.loop, l.var, l.begin, l.end, body);
  }

  // The conditions that may be taken out of a loop: those of a `predicate` tail stay where they are.
  std::vector<Expr> guards(const Stmt& s) const {
    std::vector<Expr> result = guards_in(s);
    std::erase_if(result, [&](const Expr& g) { return uses_any(g, [&](const VarNode* v) { return is_predicated(v); }); });
    return result;
  }

  bool is_predicated(const VarNode* v) const {
    return std::any_of(predicated_.begin(), predicated_.end(), [&](const Var& p) { return p.node() == v; });
  }

  // A new variable in place of a loop's.
  Var copy(const Var& v) {
    const Var result(v.name());
    if (is_predicated(v.node())) predicated_.push_back(result);
    return result;
  }

  bool is_outer(const VarNode* v) const { return outer_.count(v) != 0; }

  Stmt versions(const LoopNode& l, const Facts& facts) {
    Facts inside = facts;
    inside.add_range(l.var, l.begin, l.end);
    outer_.insert(l.var.node());
    Facts bulk = inside;
    // Guards that some iteration of a serial loop always fails are left to cut().
    const std::vector<Expr> conditions =
        make_true(guards(l.body), InnerLoops(l.body), inside, bulk, [&](const VarNode* v) { return is_outer(v); });
    Stmt body;
    if (conditions.empty() || bulk.impossible()) {
      body = run(l.body, inside);
    } else {
      // That one of several conditions fails is of no use to the other version, and would double each of its questions.
      body = make_branch(conjunction(conditions), run(refine(l.body, bulk), bulk), run(l.body, inside));
    }
    outer_.erase(l.var.node());
    return make_loop(l.loop, l.var, l.begin, l.end, body);
  }

  // The conditions on variables that are `known` under which the guards hold whatever the inner loops do; `bulk` then
  // assumes them.
  static std::vector<Expr> make_true(const std::vector<Expr>& guards, const InnerLoops& loops, const Facts& facts, Facts& bulk,
                                     const std::function<bool(const VarNode*)>& known) {
    std::vector<Expr> conditions;
    for (const Expr& guard : guards) {
      if (bulk.prove(guard)) continue;
      const auto holds = loops.around(guard, facts).always(guard, known);
      if (!holds || as_constant(*holds) || bulk.prove(*holds)) continue;
      bulk.assume(*holds);
      conditions.push_back(*holds);
    }
    return conditions;
  }

  // Two versions of a vectorized loop: all lanes, or lane by lane. Null when no guard tells lanes apart.
  Stmt lane_versions(const LoopNode& l, const Facts& facts) const {
    const InnerLoops inner(l.body);
    Facts inside = facts;
    inside.add_range(l.var, l.begin, l.end);
    Facts bulk = facts;
    std::vector<Expr> guards = this->guards(l.body);
    std::erase_if(guards, [&](const Expr& guard) { return !uses(guard, l.var); });
    const std::vector<Expr> conditions = make_true(guards, inner, inside, bulk, [&](const VarNode* v) { return v != l.var.node() && !inner.contain(v); });
    if (conditions.empty() || bulk.impossible()) return {};
    const Stmt loop = make_loop(l.loop, l.var, l.begin, l.end, l.body);
    return make_branch(conjunction(conditions), refine(loop, bulk), loop);
  }

  // Cuts the loop where one of its guards first fails, whatever the loops inside it do.
  Stmt cut(const LoopNode& l, const Facts& facts) {
    if (l.loop == LoopKind::vectorized)
      if (Stmt versions = lane_versions(l, facts)) return versions;
    Facts inside = facts;
    inside.add_range(l.var, l.begin, l.end);
    const InnerLoops inner(l.body);
    const bool must_be_constant = l.loop != LoopKind::serial;
    for (const Expr& guard : guards(l.body)) {
      if (!uses(guard, l.var)) continue;
      const auto at = inner.around(guard, inside).first_failure(guard, l.var, [&](const VarNode* v) { return is_outer(v); });
      if (!at || (must_be_constant && !as_constant(*at))) continue;
      const Expr middle = simplify(*at, facts);
      // A cut at the very beginning, or one that leaves the guard standing in both parts, gains nothing.
      if (facts.prove(middle <= l.begin) || !facts.prove(middle >= l.begin) || !facts.prove(middle <= l.end)) continue;
      Stmt first = part(l, l.begin, middle, facts);
      Stmt second = part(l, middle, l.end, facts);
      return make_block({first, second});
    }
    return through(l, facts);
  }

  Stmt part(const LoopNode& l, const Expr& begin, const Expr& end, const Facts& facts) {
    if (is_constant(simplify(end - begin), 1)) {
      const Stmt body = fresh(substitute(l.body, {{l.var.node(), begin}}));
      return run(refine(body, facts), facts);
    }
    const Var var = copy(l.var);
    Facts inside = facts;
    inside.add_range(var, begin, end);
    if (inside.impossible()) return make_block({});
    const Stmt body = fresh(substitute(l.body, {{l.var.node(), var}}));
    return run(refine(make_loop(l.loop, var, begin, end, body), facts), facts);
  }

  // New loops, of which those stay predicated that were.
  Stmt fresh(const Stmt& s) {
    return with_new_loops(s, [&](const Var& v) { return copy(v); });
  }

  std::vector<Var> predicated_;     // loops whose conditions stay
  std::set<const VarNode*> outer_;  // symbols, and loops that do not differ within a group
};

}  // namespace

void partition_tails(Lowering& l) {
  l.function.body = Partition(l).run(l.function.body, symbol_facts(l.function));
}

}  // namespace lathe
