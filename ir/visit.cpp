#include "ir/visit.h"

#include "runtime/base/error.h"

namespace lathe {
namespace {

// A list mapped element by element; `changed` is set when any element became another node.
std::vector<Expr> map_list(const std::vector<Expr>& list, const std::function<Expr(const Expr&)>& f, bool& changed) {
  std::vector<Expr> result;
  result.reserve(list.size());
  for (const Expr& e : list) {
    result.push_back(f(e));
    changed |= !result.back().same_as(e);
  }
  return result;
}

}  // namespace

void for_each_child(const Expr& e, const std::function<void(const Expr&)>& f) {
  switch (e->kind) {
    case ExprKind::variable:
    case ExprKind::integer:
    case ExprKind::real: return;
    case ExprKind::apply:
      for (const Expr& a : as<ApplyNode>(e)->args) f(a);
      return;
    case ExprKind::cast: return f(as<CastNode>(e)->value);
    case ExprKind::load:
      for (const Expr& i : as<LoadNode>(e)->indices) f(i);
      return;
    case ExprKind::reduce:
      for (const Axis& a : as<ReduceNode>(e)->axes) f(a.extent);
      for (const Expr& s : as<ReduceNode>(e)->sources) f(s);
      return;
    case ExprKind::ramp:
      f(as<RampNode>(e)->base);
      return f(as<RampNode>(e)->stride);
    case ExprKind::broadcast: return f(as<BroadcastNode>(e)->value);
  }
}

Expr map_children(const Expr& e, const std::function<Expr(const Expr&)>& f) {
  bool changed = false;
  switch (e->kind) {
    case ExprKind::variable:
    case ExprKind::integer:
    case ExprKind::real: return e;
    case ExprKind::apply: {
      auto args = map_list(as<ApplyNode>(e)->args, f, changed);
      return changed ? make_apply(as<ApplyNode>(e)->op, std::move(args)) : e;
    }
    case ExprKind::cast: {
      Expr value = f(as<CastNode>(e)->value);
      return value.same_as(as<CastNode>(e)->value) ? e : make_cast(e.type().scalar(), value);
    }
    case ExprKind::load: {
      auto indices = map_list(as<LoadNode>(e)->indices, f, changed);
      return changed ? make_load(as<LoadNode>(e)->tensor, std::move(indices)) : e;
    }
    case ExprKind::reduce: {
      const auto* r = as<ReduceNode>(e);
      std::vector<Axis> axes = r->axes;
      for (Axis& a : axes) {
        Expr extent = f(a.extent);
        changed |= !extent.same_as(a.extent);
        a.extent = extent;
      }
      auto sources = map_list(r->sources, f, changed);
      return changed ? make_reduce(r->combiner, std::move(sources), std::move(axes), r->index) : e;
    }
    case ExprKind::ramp: {
      const auto* r = as<RampNode>(e);
      Expr base = f(r->base), stride = f(r->stride);
      return base.same_as(r->base) && stride.same_as(r->stride) ? e : make_ramp(base, stride, e.type().lanes);
    }
    case ExprKind::broadcast: {
      Expr value = f(as<BroadcastNode>(e)->value);
      return value.same_as(as<BroadcastNode>(e)->value) ? e : make_broadcast(value, e.type().lanes);
    }
  }
  LATHE_CHECK(false, "unreachable");
}

void walk(const Expr& e, const std::function<bool(const Expr&)>& f) {
  if (f(e)) for_each_child(e, [&](const Expr& child) { walk(child, f); });
}

void for_each_child(const Stmt& s, const std::function<void(const Expr&)>& fe,
                    const std::function<void(const Stmt&)>& fs) {
  switch (s->kind) {
    case StmtKind::loop:
      fe(as<LoopNode>(s)->begin);
      fe(as<LoopNode>(s)->end);
      return fs(as<LoopNode>(s)->body);
    case StmtKind::branch:
      fe(as<BranchNode>(s)->condition);
      fs(as<BranchNode>(s)->then_body);
      if (as<BranchNode>(s)->else_body) fs(as<BranchNode>(s)->else_body);
      return;
    case StmtKind::store:
      for (const Expr& i : as<StoreNode>(s)->indices) fe(i);
      return fe(as<StoreNode>(s)->value);
    case StmtKind::alloc:
      for (const Expr& extent : as<AllocNode>(s)->tensor.shape()) fe(extent);
      return fs(as<AllocNode>(s)->body);
    case StmtKind::barrier:
    case StmtKind::combine: return;
    case StmtKind::block:
      for (const Stmt& child : as<BlockNode>(s)->stmts) fs(child);
      return;
  }
}

Stmt map_children(const Stmt& s, const std::function<Expr(const Expr&)>& fe,
                  const std::function<Stmt(const Stmt&)>& fs) {
  switch (s->kind) {
    case StmtKind::loop: {
      const auto* l = as<LoopNode>(s);
      Expr begin = fe(l->begin), end = fe(l->end);
      Stmt body = fs(l->body);
      if (begin.same_as(l->begin) && end.same_as(l->end) && body.same_as(l->body)) return s;
      return body ? make_loop(l->loop, l->var, begin, end, body) : Stmt();
    }
    case StmtKind::branch: {
      const auto* b = as<BranchNode>(s);
      Expr condition = fe(b->condition);
      Stmt then_body = fs(b->then_body), else_body = b->else_body ? fs(b->else_body) : Stmt();
      if (condition.same_as(b->condition) && then_body.same_as(b->then_body) && else_body.same_as(b->else_body))
        return s;
      return make_branch(condition, then_body, else_body);
    }
    case StmtKind::store: {
      const auto* st = as<StoreNode>(s);
      bool changed = false;
      auto indices = map_list(st->indices, fe, changed);
      Expr value = fe(st->value);
      if (!changed && value.same_as(st->value)) return s;
      return make_store(st->tensor, std::move(indices), value);
    }
    case StmtKind::alloc: {
      const auto* a = as<AllocNode>(s);
      Stmt body = fs(a->body);
      if (body.same_as(a->body)) return s;
      return body ? make_alloc(a->tensor, a->scope, body) : Stmt();
    }
    case StmtKind::barrier:
    case StmtKind::combine: return s;
    case StmtKind::block: {
      bool changed = false;
      std::vector<Stmt> stmts;
      for (const Stmt& child : as<BlockNode>(s)->stmts) {
        stmts.push_back(fs(child));
        changed |= !stmts.back().same_as(child);
      }
      return changed ? make_block(std::move(stmts)) : s;
    }
  }
  LATHE_CHECK(false, "unreachable");
}

void walk(const Stmt& s, const std::function<bool(const Stmt&)>& fs, const std::function<bool(const Expr&)>& fe) {
  if (fs(s))
    for_each_child(
        s, [&](const Expr& e) { walk(e, fe); }, [&](const Stmt& child) { walk(child, fs, fe); });
}

Expr substitute(const Expr& e, const Substitution& map) {
  if (const auto* v = as<VarNode>(e)) {
    auto found = map.find(v);
    return found == map.end() ? e : found->second;
  }
  return map_children(e, [&](const Expr& child) { return substitute(child, map); });
}

Stmt substitute(const Stmt& s, const Substitution& map) {
  return map_children(
      s, [&](const Expr& e) { return substitute(e, map); }, [&](const Stmt& child) { return substitute(child, map); });
}

Stmt with_new_loops(const Stmt& s, const std::function<Var(const Var&)>& copy) {
  if (const auto* l = as<LoopNode>(s)) {
    const Var var = copy ? copy(l->var) : Var(l->var.name());
    return make_loop(l->loop, var, l->begin, l->end, with_new_loops(substitute(l->body, {{l->var.node(), var}}), copy));
  }
  return map_children(
      s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return with_new_loops(child, copy); });
}

bool uses_any(const Expr& e, const std::function<bool(const VarNode*)>& is_one) {
  bool found = false;
  walk(e, [&](const Expr& x) {
    if (const auto* v = as<VarNode>(x)) found |= is_one(v);
    return !found;
  });
  return found;
}

bool uses(const Expr& e, const Var& v) {
  return uses_any(e, [&](const VarNode* x) { return x == v.node(); });
}

static bool has_kind(const Expr& e, ExprKind kind) {
  bool found = false;
  walk(e, [&](const Expr& x) {
    found |= x->kind == kind;
    return !found;
  });
  return found;
}

bool has_load(const Expr& e) { return has_kind(e, ExprKind::load); }
bool has_reduce(const Expr& e) { return has_kind(e, ExprKind::reduce); }

const ReduceNode* find_reduce(const std::vector<Expr>& body) {
  const ReduceNode* found = nullptr;
  for (const Expr& e : body)
    walk(e, [&](const Expr& x) {
      if (!found) found = as<ReduceNode>(x);
      return !found;
    });
  return found;
}

}  // namespace lathe
