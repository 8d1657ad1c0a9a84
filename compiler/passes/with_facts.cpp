#include "compiler/passes/with_facts.h"

#include <algorithm>

#include "ir/visit.h"

namespace lathe {

Facts symbol_facts(const LoweredFunction& f) {
  Facts facts;
  for (const Var& symbol : f.symbols) facts.assume(symbol >= 0);
  for (const auto& promise : f.promises) facts.assume(promise.condition);
  return facts;
}

Facts kernel_facts(const LoweredFunction& f, const Kernel& k) {
  Facts facts;
  for (const Var& symbol : k.symbols) facts.assume(symbol >= 0);
  const auto is_foreign = [&](const VarNode* v) {
    return std::none_of(k.symbols.begin(), k.symbols.end(), [&](const Var& symbol) { return symbol.node() == v; });
  };
  for (const auto& promise : f.promises)
    if (!uses_any(promise.condition, is_foreign)) facts.assume(promise.condition);
  if (k.condition.defined()) facts.assume(k.condition);
  for (int d = 0; d < 3; ++d) {
    facts.add_range(k.block_index[d], 0, k.grid[d]);
    facts.add_range(k.thread_index[d], 0, k.block[d]);
  }
  return facts;
}

namespace {

// What is left of a condition: proved conjuncts go, a refuted one makes it false. A disjunction of refined parts.
Expr refine_condition(const Expr& condition, const Facts& facts) {
  std::vector<Expr> left;
  for (const Expr& c : conjuncts(condition)) {
    if (has_load(c)) {
      left.push_back(c);
      continue;
    }
    if (facts.prove(c)) continue;
    if (facts.refute(c)) return false_();
    const auto* a = as<ApplyNode>(c);
    if (a && a->op == Op::logical_or) {
      left.push_back(refine_condition(a->args[0], facts) || refine_condition(a->args[1], facts));
      continue;
    }
    const bool compares = a && op_row(a->op).typing == OpTyping::compare && a->args[0].type() == i64;
    left.push_back(compares ? make_apply(a->op, {simplify(a->args[0], facts), simplify(a->args[1], facts)}) : c);
  }
  return conjunction(left);
}

Expr refine(const Expr& e, const Facts& facts) {
  switch (e->kind) {
    case ExprKind::variable:
    case ExprKind::integer:
    case ExprKind::real: return e;
    case ExprKind::load: {
      std::vector<Expr> indices;
      for (const Expr& i : as<LoadNode>(e)->indices) indices.push_back(simplify(refine(i, facts), facts));
      return make_load(as<LoadNode>(e)->tensor, std::move(indices));
    }
    case ExprKind::apply: {
      const auto* a = as<ApplyNode>(e);
      if (a->op != Op::select) break;
      const Expr condition = refine_condition(refine(a->args[0], facts), facts);
      if (const int64_t* c = as_constant(condition)) return refine(a->args[*c ? 1 : 2], facts);
      if (!has_load(a->args[1]) && !has_load(a->args[2])) {
        return make_apply(Op::select, {condition, refine(a->args[1], facts), refine(a->args[2], facts)});
      }
      // The branch not taken is not evaluated, so each may rely on the condition.
      Facts holds = facts, fails = facts;
      holds.assume(condition);
      fails.assume(!condition);
      return make_apply(Op::select, {condition, refine(a->args[1], holds), refine(a->args[2], fails)});
    }
    case ExprKind::cast:
    case ExprKind::reduce:
    case ExprKind::ramp:
    case ExprKind::broadcast: break;
  }
  return map_children(e, [&](const Expr& child) { return refine(child, facts); });
}

}  // namespace

Stmt refine(const Stmt& s, const Facts& facts) {
  if (const auto* l = as<LoopNode>(s)) {
    Facts inside = facts;
    inside.add_range(l->var, l->begin, l->end);
    const Stmt body = refine(l->body, inside);
    if (const auto* block = as<BlockNode>(body); block && block->stmts.empty()) return body;  // nothing is left to repeat
    return make_loop(l->loop, l->var, l->begin, l->end, body);
  }
  if (const auto* b = as<BranchNode>(s)) {
    const Expr condition = refine_condition(refine(b->condition, facts), facts);
    if (const int64_t* c = as_constant(condition)) {
      if (*c) return refine(b->then_body, facts);
      return b->else_body ? refine(b->else_body, facts) : make_block({});
    }
    Facts holds = facts;
    holds.assume(condition);
    Stmt then_body = refine(b->then_body, holds), else_body;
    if (b->else_body) {
      Facts fails = facts;
      fails.assume(!condition);
      else_body = refine(b->else_body, fails);
    }
    return make_branch(condition, then_body, else_body);
  }
  if (const auto* st = as<StoreNode>(s)) {
    std::vector<Expr> indices;
    for (const Expr& i : st->indices) indices.push_back(simplify(i, facts));
    return make_store(st->tensor, std::move(indices), refine(st->value, facts));
  }
  return map_children(
      s, [&](const Expr& e) { return refine(e, facts); }, [&](const Stmt& child) { return refine(child, facts); });
}

}  // namespace lathe
