#include "ir/isl/facts.h"

#include <fmt/format.h>
#include <isl/aff.h>
#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <algorithm>
#include <map>
#include <string>

#include "ir/isl/clock.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

// Every variable is an isl parameter of a set without dimensions; its id carries the variable's node.
// Terms that are not affine stand as parameters too ("opaque"), one per distinct term.
struct Context {
  Context() : ctx(isl_ctx_alloc()) {
    isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(ctx, budget);
  }
  // Each question has a budget of isl's operations (a pivot or the like: all those of the tiled GEMM stay far below).
  // Past it isl gives up, and the answer is "not known", which every caller takes as such.
  static constexpr unsigned long budget = 100000;
  void new_question() { isl_ctx_reset_operations(ctx); }
  ~Context() {
    for (auto& [node, id] : ids) isl_id_free(id);
    isl_ctx_free(ctx);
  }
  isl_id* id_of(const Var& v) {
    auto [found, fresh] = ids.emplace(v.node(), nullptr);
    if (fresh) {
      found->second = isl_id_alloc(ctx, fmt::format("{}_{}", v.name(), ids.size()).c_str(), const_cast<VarNode*>(v.node()));
      keep.push_back(v);
    }
    return isl_id_copy(found->second);
  }
  isl_ctx* ctx;
  std::map<const VarNode*, isl_id*> ids;
  std::vector<Var> keep;  // ids point at nodes: they must live as long
  std::map<std::string, Var> opaque_of;
  std::map<const VarNode*, Expr> opaque_terms;
};

// One context per thread: isl's contexts are not shared between threads, and sets made by one build die with it.
const std::shared_ptr<Context>& context() {
  thread_local std::weak_ptr<Context> current;
  thread_local std::shared_ptr<Context> held;
  if (held && held->ids.size() > 4000) held.reset();  // a long-lived thread does not collect dead variables
  held = held ? held : current.lock();
  if (!held) {
    held = std::make_shared<Context>();
    current = held;
  }
  return held;
}

// A key that is equal for equal terms: variables by node.
void write_key(const Expr& e, std::string& key) {
  if (const auto* v = as<VarNode>(e)) {
    key += fmt::format("v{};", static_cast<const void*>(v));
    return;
  }
  key += fmt::format("{}:", static_cast<int>(e->kind));
  if (const auto* c = as<IntegerNode>(e)) key += fmt::format("{};", c->value);
  if (const auto* c = as<RealNode>(e)) key += fmt::format("{:a};", c->value);
  if (const auto* a = as<ApplyNode>(e)) key += fmt::format("{};", op_row(a->op).name);
  if (const auto* l = as<LoadNode>(e)) key += fmt::format("{};", static_cast<const void*>(l->tensor.get()));
  key += to_string(e->type) + "(";
  std::vector<std::string> children;
  for_each_child(e, [&](const Expr& child) { write_key(child, children.emplace_back()); });
  // n * m is m * n.
  if (const auto* a = as<ApplyNode>(e); a && (a->op == Op::mul || a->op == Op::add)) std::sort(children.begin(), children.end());
  for (const std::string& child : children) key += child;
  key += ")";
}

isl_set* universe(Context& c) { return isl_set_universe(isl_space_set_alloc(c.ctx, 0, 0)); }

isl_pw_aff* variable(Context& c, const Var& v) {
  isl_space* space = isl_space_set_dim_id(isl_space_set_alloc(c.ctx, 1, 0), isl_dim_param, 0, c.id_of(v));
  return isl_pw_aff_var_on_domain(isl_local_space_from_space(space), isl_dim_param, 0);
}

isl_pw_aff* number(Context& c, int64_t value) {
  isl_local_space* ls = isl_local_space_from_space(isl_space_set_alloc(c.ctx, 0, 0));
  return isl_pw_aff_from_aff(isl_aff_val_on_domain(ls, isl_val_int_from_si(c.ctx, value)));
}

Var opaque_variable(Context& c, const Expr& e) {
  std::string key;
  write_key(e, key);
  auto [found, fresh] = c.opaque_of.emplace(key, Var());
  if (fresh) {
    found->second = Var("opaque");
    c.opaque_terms[found->second.node()] = e;
  }
  return found->second;
}

isl_pw_aff* opaque(Context& c, const Expr& e) { return variable(c, opaque_variable(c, e)); }

isl_set* condition_set(Context& c, const Expr& e);

// Does the value come in pieces? Anything else is quasi-affine or opaque.
bool needs_pieces(const Expr& e) {
  if (e->kind == ExprKind::cast) return true;  // affine() looks through widenings
  const auto* a = as<ApplyNode>(e);
  return a && (a->op == Op::min || a->op == Op::max || a->op == Op::select);
}

isl_pw_aff* affine(Context& c, const Expr& e) {
  switch (e->kind) {
    case ExprKind::variable: return variable(c, Var(as<VarNode>(e)));
    case ExprKind::integer: return number(c, as<IntegerNode>(e)->value);
    case ExprKind::cast: {
      // A widening keeps the value; anything else may not.
      const Expr& inner = as<CastNode>(e)->value;
      const DType from = inner.type(), to = e.type();
      if (from.is_int() && to.is_int() && from.is_signed() == to.is_signed() && to.bits >= from.bits) return affine(c, inner);
      return opaque(c, e);
    }
    case ExprKind::apply: {
      const auto* a = as<ApplyNode>(e);
      if (e.type().lanes != 1) return opaque(c, e);
      const int64_t* k = a->args.size() > 1 ? as_constant(a->args[1]) : nullptr;
      switch (a->op) {
        case Op::add: return isl_pw_aff_add(affine(c, a->args[0]), affine(c, a->args[1]));
        case Op::sub: return isl_pw_aff_sub(affine(c, a->args[0]), affine(c, a->args[1]));
        case Op::neg: return isl_pw_aff_neg(affine(c, a->args[0]));
        case Op::min: return isl_pw_aff_min(affine(c, a->args[0]), affine(c, a->args[1]));
        case Op::max: return isl_pw_aff_max(affine(c, a->args[0]), affine(c, a->args[1]));
        case Op::mul:
          if (k) return isl_pw_aff_scale_val(affine(c, a->args[0]), isl_val_int_from_si(c.ctx, *k));
          return opaque(c, e);
        case Op::div:
          if (k && *k > 0)
            return isl_pw_aff_floor(isl_pw_aff_scale_down_val(affine(c, a->args[0]), isl_val_int_from_si(c.ctx, *k)));
          return opaque(c, e);
        case Op::mod:
          if (k && *k > 0) return isl_pw_aff_mod_val(affine(c, a->args[0]), isl_val_int_from_si(c.ctx, *k));
          return opaque(c, e);
        case Op::select: {
          isl_set* condition = condition_set(c, a->args[0]);
          if (!condition) return opaque(c, e);
          return isl_pw_aff_cond(isl_set_indicator_function(condition), affine(c, a->args[1]), affine(c, a->args[2]));
        }
        default: return opaque(c, e);  // no other operator is affine
      }
    }
    case ExprKind::real:
    case ExprKind::load:
    case ExprKind::reduce:
    case ExprKind::ramp:
    case ExprKind::broadcast: return opaque(c, e);
  }
  return opaque(c, e);
}

// The points at which `e` (a bool) holds; null when it is no statement about integers.
isl_set* condition_set(Context& c, const Expr& e) {
  if (e.type().lanes != 1) return nullptr;
  if (const int64_t* k = as_constant(e)) return *k ? universe(c) : isl_set_empty(isl_space_set_alloc(c.ctx, 0, 0));
  const auto* a = as<ApplyNode>(e);
  if (!a) return nullptr;
  const bool integers = a->args[0].type().is_int();
  auto compare = [&](isl_set* (*relation)(isl_pw_aff*, isl_pw_aff*)) -> isl_set* {
    return integers ? relation(affine(c, a->args[0]), affine(c, a->args[1])) : nullptr;
  };
  auto both = [&](isl_set* (*merge)(isl_set*, isl_set*)) -> isl_set* {
    isl_set* left = condition_set(c, a->args[0]);
    isl_set* right = condition_set(c, a->args[1]);
    if (left && right) return merge(left, right);
    isl_set_free(left);
    isl_set_free(right);
    return nullptr;
  };
  switch (a->op) {
    case Op::lt: return compare(isl_pw_aff_lt_set);
    case Op::le: return compare(isl_pw_aff_le_set);
    case Op::gt: return compare(isl_pw_aff_gt_set);
    case Op::ge: return compare(isl_pw_aff_ge_set);
    case Op::eq: return compare(isl_pw_aff_eq_set);
    case Op::ne: return compare(isl_pw_aff_ne_set);
    case Op::logical_and: return both(isl_set_intersect);
    case Op::logical_or: return both(isl_set_union);
    case Op::logical_not: {
      isl_set* inner = condition_set(c, a->args[0]);
      return inner ? isl_set_complement(inner) : nullptr;
    }
    default: return nullptr;
  }
}

// Keeps the outer variables alone; an opaque term is outer when everything in it is.
isl_set* project_onto(Context& c, isl_set* set, const Facts::IsOuter& is_outer) {
  for (int i = static_cast<int>(isl_set_dim(set, isl_dim_param)) - 1; i >= 0; --i) {
    isl_id* id = isl_set_get_dim_id(set, isl_dim_param, static_cast<unsigned>(i));
    const auto* node = static_cast<const VarNode*>(isl_id_get_user(id));
    isl_id_free(id);
    auto term = c.opaque_terms.find(node);
    const bool outer = term == c.opaque_terms.end()
                           ? is_outer(node)
                           : !has_load(term->second) &&
                                 !uses_any(term->second, [&](const VarNode* v) { return !is_outer(v); });
    if (!outer) set = isl_set_project_out(set, isl_dim_param, static_cast<unsigned>(i), 1);
  }
  return set;
}

// Infinite, undefined and larger values have no int64_t.
std::optional<int64_t> to_int(isl_val* v) {
  std::optional<int64_t> result;
  if (v && isl_val_is_int(v) == isl_bool_true && isl_val_cmp_si(v, INT64_MAX) <= 0 && isl_val_cmp_si(v, INT64_MIN) >= 0)
    result = isl_val_get_num_si(v);
  isl_val_free(v);
  return result;
}

// select(condition, x, y), and where the condition says which of the two is less, as isl writes it: their min or max.
Expr choose(const Expr& condition, const Expr& x, const Expr& y) {
  const auto* a = as<ApplyNode>(condition);
  if (a && (a->op == Op::ge || a->op == Op::le) && x.type() == i64) {
    const Expr above = a->op == Op::ge ? a->args[0] - a->args[1] : a->args[1] - a->args[0];  // not negative: x is chosen
    const auto is = [&](const Expr& difference) {
      const Expr rest = simplify(above - difference);
      return is_constant(rest, 0) || is_constant(rest, -1);
    };
    if (is(y - x)) return min(y, x);
    if (is(x - y)) return max(y, x);
  }
  return select(condition, x, y);
}

// isl's expressions back into ours; null when one has no counterpart.
Expr from_ast(Context& c, isl_ast_expr* e) {
  switch (isl_ast_expr_get_type(e)) {
    case isl_ast_expr_int: {
      const auto value = to_int(isl_ast_expr_get_val(e));
      return value ? constant(i64, *value) : Expr();
    }
    case isl_ast_expr_id: {
      isl_id* id = isl_ast_expr_get_id(e);
      const auto* node = static_cast<const VarNode*>(isl_id_get_user(id));
      isl_id_free(id);
      auto term = c.opaque_terms.find(node);
      return term == c.opaque_terms.end() ? Expr(Var(node)) : term->second;
    }
    case isl_ast_expr_op: break;
    case isl_ast_expr_error: return {};
  }
  std::vector<Expr> x;
  const int count = static_cast<int>(isl_ast_expr_get_op_n_arg(e));
  for (int i = 0; i < count; ++i) {
    isl_ast_expr* arg = isl_ast_expr_get_op_arg(e, i);
    x.push_back(from_ast(c, arg));
    isl_ast_expr_free(arg);
    if (!x.back().defined()) return {};
  }
  auto as_bool = [](const Expr& v) { return v.type().is_bool() ? v : v != 0; };
  auto fold = [&](Op op, bool logical = false) {
    Expr result = logical ? as_bool(x[0]) : x[0];
    for (size_t i = 1; i < x.size(); ++i) result = make_apply(op, {result, logical ? as_bool(x[i]) : x[i]});
    return result;
  };
  switch (isl_ast_expr_get_op_type(e)) {
    case isl_ast_op_and:
    case isl_ast_op_and_then: return fold(Op::logical_and, true);
    case isl_ast_op_or:
    case isl_ast_op_or_else: return fold(Op::logical_or, true);
    case isl_ast_op_max: return fold(Op::max);
    case isl_ast_op_min: return fold(Op::min);
    case isl_ast_op_minus: return -x[0];
    case isl_ast_op_add: return x[0] + x[1];
    case isl_ast_op_sub: return x[0] - x[1];
    case isl_ast_op_mul: return x[0] * x[1];
    case isl_ast_op_div:     // exact
    case isl_ast_op_fdiv_q:  // toward negative infinity
    case isl_ast_op_pdiv_q: return x[0] / x[1];  // of a non-negative value
    case isl_ast_op_pdiv_r:
    case isl_ast_op_zdiv_r: return x[0] % x[1];
    case isl_ast_op_cond:
    case isl_ast_op_select: return choose(as_bool(x[0]), x[1], x[2]);
    case isl_ast_op_eq: return x[0] == x[1];
    case isl_ast_op_le: return x[0] <= x[1];
    case isl_ast_op_lt: return x[0] < x[1];
    case isl_ast_op_ge: return x[0] >= x[1];
    case isl_ast_op_gt: return x[0] > x[1];
    case isl_ast_op_error:
    case isl_ast_op_call:
    case isl_ast_op_access:
    case isl_ast_op_member:
    case isl_ast_op_address_of: return {};
  }
  return {};
}

Expr expr_of(Context& c, isl_pw_aff* value, isl_set* facts) {
  isl_ast_build* build = isl_ast_build_from_context(isl_set_params(facts));
  isl_ast_expr* ast = isl_ast_build_expr_from_pw_aff(build, value);
  Expr result = ast ? from_ast(c, ast) : Expr();
  isl_ast_expr_free(ast);
  isl_ast_build_free(build);
  return result;
}


// ---- the quick path: one quasi-affine comparison is one isl constraint, several times cheaper to make than a set of
// piecewise expressions.

// `set` with a parameter for every variable of `e`.
isl_set* with_variables(Context& c, isl_set* set, const Expr& e) {
  auto add = [&](const Var& v) {
    isl_id* id = c.id_of(v);
    if (isl_set_find_dim_by_id(set, isl_dim_param, id) < 0) {
      const int n = static_cast<int>(isl_set_dim(set, isl_dim_param));
      set = isl_set_set_dim_id(isl_set_add_dims(set, isl_dim_param, 1), isl_dim_param, static_cast<unsigned>(n), id);
    } else {
      isl_id_free(id);
    }
  };
  std::function<void(const Expr&)> visit = [&](const Expr& x) {
    if (const auto* v = as<VarNode>(x)) return add(Var(v));
    if (as_constant(x)) return;
    const auto* a = as<ApplyNode>(x);
    const int64_t* k = a && a->args.size() > 1 ? as_constant(a->args[1]) : nullptr;
    if (a && x.type().lanes == 1) {
      if (a->op == Op::add || a->op == Op::sub) {
        visit(a->args[0]);
        return visit(a->args[1]);
      }
      if (a->op == Op::neg || (k && (a->op == Op::mul || ((a->op == Op::div || a->op == Op::mod) && *k > 0)))) return visit(a->args[0]);
    }
    if (!needs_pieces(x)) add(opaque_variable(c, x));
  };
  visit(e);
  return set;
}

// `e` over the parameters of `set`, which must hold its variables; null when it needs pieces (min, max, select).
isl_aff* quick_affine(Context& c, isl_set* set, const Expr& e) {
  auto parameter = [&](const Var& v) {
    isl_id* id = c.id_of(v);
    const int position = isl_set_find_dim_by_id(set, isl_dim_param, id);
    isl_id_free(id);
    return isl_aff_set_coefficient_si(isl_aff_zero_on_domain_space(isl_set_get_space(set)), isl_dim_param, position, 1);
  };
  if (const auto* v = as<VarNode>(e)) return parameter(Var(v));
  if (const int64_t* k = as_constant(e))
    return isl_aff_set_constant_val(isl_aff_zero_on_domain_space(isl_set_get_space(set)), isl_val_int_from_si(c.ctx, *k));
  if (needs_pieces(e)) return nullptr;
  if (const auto* a = as<ApplyNode>(e); a && e.type().lanes == 1) {
    const int64_t* k = a->args.size() > 1 ? as_constant(a->args[1]) : nullptr;
    const bool binary = a->op == Op::add || a->op == Op::sub;
    const bool scaled = k && (a->op == Op::mul || ((a->op == Op::div || a->op == Op::mod) && *k > 0));
    if (binary || scaled || a->op == Op::neg) {
      isl_aff* x = quick_affine(c, set, a->args[0]);
      isl_aff* y = binary ? quick_affine(c, set, a->args[1]) : nullptr;
      if (!x || (binary && !y)) {
        isl_aff_free(x);
        isl_aff_free(y);
        return nullptr;
      }
      auto value = [&] { return isl_val_int_from_si(c.ctx, *k); };
      switch (a->op) {
        case Op::add: return isl_aff_add(x, y);
        case Op::sub: return isl_aff_sub(x, y);
        case Op::neg: return isl_aff_neg(x);
        case Op::mul: return isl_aff_scale_val(x, value());
        case Op::div: return isl_aff_floor(isl_aff_scale_down_val(x, value()));
        default: return isl_aff_mod_val(x, value());
      }
    }
  }
  return parameter(opaque_variable(c, e));
}

// The points of `set` at which the comparison holds (or, `negated`, does not); null when it is not a plain one.
isl_set* quick_restrict(Context& c, isl_set* set, const Expr& comparison, bool negated) {
  const auto* a = as<ApplyNode>(comparison);
  if (!a || comparison.type().lanes != 1 || op_row(a->op).typing != OpTyping::compare || !a->args[0].type().is_int()) return nullptr;
  // Everything as "difference >= 0", "difference == 0".
  Op op = a->op;
  if (negated) {
    static const std::map<Op, Op> opposite = {{Op::lt, Op::ge}, {Op::ge, Op::lt}, {Op::le, Op::gt},
                                              {Op::gt, Op::le}, {Op::eq, Op::ne}, {Op::ne, Op::eq}};
    op = opposite.at(op);
  }
  isl_set* wide = with_variables(c, with_variables(c, isl_set_copy(set), a->args[0]), a->args[1]);
  isl_aff* x = quick_affine(c, wide, a->args[0]);
  isl_aff* y = x ? quick_affine(c, wide, a->args[1]) : nullptr;
  if (!y) {
    isl_aff_free(x);
    isl_set_free(wide);
    return nullptr;
  }
  auto at_least = [&](isl_aff* from, isl_aff* what, int more) {  // what - from >= more
    return isl_inequality_from_aff(isl_aff_add_constant_si(isl_aff_sub(what, from), -more));
  };
  // Neither isl_set_add_constraint nor isl_set_intersect: both look for an integer point each time (measured: nine
  // tenths of insert_barriers). Facts are nearly always one basic set, which takes a constraint for little.
  auto with = [](isl_set* points, isl_constraint* constraint) {
    if (isl_set_n_basic_set(points) != 1)
      return isl_set_intersect(points, isl_set_from_basic_set(isl_basic_set_from_constraint(constraint)));
    isl_basic_set_list* only = isl_set_get_basic_set_list(points);
    isl_set_free(points);
    isl_basic_set* basic = isl_basic_set_list_get_basic_set(only, 0);
    isl_basic_set_list_free(only);
    return isl_set_from_basic_set(isl_basic_set_add_constraint(basic, constraint));
  };
  switch (op) {
    case Op::lt: return with(wide, at_least(x, y, 1));
    case Op::le: return with(wide, at_least(x, y, 0));
    case Op::gt: return with(wide, at_least(y, x, 1));
    case Op::ge: return with(wide, at_least(y, x, 0));
    case Op::eq: return with(wide, isl_equality_from_aff(isl_aff_sub(x, y)));
    default: {  // ne
      isl_set* below = with(isl_set_copy(wide), at_least(isl_aff_copy(x), isl_aff_copy(y), 1));
      return isl_set_union(below, with(wide, at_least(y, x, 1)));
    }
  }
}

}  // namespace

struct Facts::State {
  std::shared_ptr<Context> owner;
  isl_set* set;
  State(std::shared_ptr<Context> c, isl_set* s) : owner(std::move(c)), set(s) {}
  ~State() { isl_set_free(set); }
  Context& c() const { return *owner; }
};

Facts::Facts() : state_(std::make_unique<State>(context(), universe(*context()))) {}
Facts::Facts(const Facts& other) : state_(std::make_unique<State>(other.state_->owner, isl_set_copy(other.state_->set))) {}
Facts::Facts(Facts&&) noexcept = default;
Facts& Facts::operator=(Facts other) {
  std::swap(state_, other.state_);
  return *this;
}
Facts::~Facts() = default;

void Facts::assume(const Expr& condition) {
  const IslClock clock;
  // A conjunct that says nothing about integers is left out: fewer facts are still true facts.
  if (const auto* a = as<ApplyNode>(condition); a && a->op == Op::logical_and) {
    assume(a->args[0]);
    assume(a->args[1]);
    return;
  }
  state_->c().new_question();
  isl_set* restricted = quick_restrict(state_->c(), state_->set, condition, false);
  if (!restricted)
    if (isl_set* points = condition_set(state_->c(), condition)) restricted = isl_set_intersect(isl_set_copy(state_->set), points);
  if (!restricted) return;
  isl_set_free(state_->set);
  state_->set = restricted;
}

void Facts::add_range(const Var& v, const Expr& begin, const Expr& end) {
  assume(begin <= v);
  assume(v < end);
}

bool Facts::prove(const Expr& condition) const {
  const IslClock clock;
  if (const auto* a = as<ApplyNode>(condition); a && a->op == Op::logical_and)
    return prove(a->args[0]) && prove(a->args[1]);
  state_->c().new_question();
  if (isl_set* counterexamples = quick_restrict(state_->c(), state_->set, condition, true)) {
    const isl_bool result = isl_set_is_empty(counterexamples);
    isl_set_free(counterexamples);
    return result == isl_bool_true;
  }
  isl_set* holds = condition_set(state_->c(), condition);
  if (!holds) return false;
  const isl_bool result = isl_set_is_subset(state_->set, holds);
  isl_set_free(holds);
  return result == isl_bool_true;
}

bool Facts::refute(const Expr& condition) const {
  const IslClock clock;
  state_->c().new_question();
  if (isl_set* examples = quick_restrict(state_->c(), state_->set, condition, false)) {
    const isl_bool result = isl_set_is_empty(examples);
    isl_set_free(examples);
    return result == isl_bool_true;
  }
  isl_set* holds = condition_set(state_->c(), condition);
  if (!holds) return false;
  const isl_bool result = isl_set_is_disjoint(state_->set, holds);
  isl_set_free(holds);
  return result == isl_bool_true;
}

bool Facts::impossible() const {
  const IslClock clock;
  state_->c().new_question();
  return isl_set_is_empty(state_->set) == isl_bool_true;
}

namespace {

// { [e] } over the facts' points
isl_set* values_of(Context& c, isl_set* facts, const Expr& e) {
  isl_map* graph = isl_map_from_pw_aff(affine(c, e));
  return isl_map_range(isl_map_intersect_domain(graph, facts));
}

// The greatest or least point of a set of one dimension, whatever the variables are; nullopt when unbounded or empty.
std::optional<int64_t> extreme(Context& c, isl_set* values, isl_val* (*find)(isl_set*, isl_aff*)) {
  values = project_onto(c, values, [](const VarNode*) { return false; });
  isl_local_space* ls = isl_local_space_from_space(isl_set_get_space(values));
  isl_aff* objective = isl_aff_var_on_domain(ls, isl_dim_set, 0);
  std::optional<int64_t> result = to_int(find(values, objective));
  isl_set_free(values);
  isl_aff_free(objective);
  return result;
}

}  // namespace

std::optional<int64_t> Facts::constant_max(const Expr& e) const {
  const IslClock clock;
  if (const int64_t* k = as_constant(e)) return *k;
  state_->c().new_question();
  return extreme(state_->c(), values_of(state_->c(), isl_set_copy(state_->set), e), isl_set_max_val);
}

std::optional<int64_t> Facts::constant_min(const Expr& e) const {
  const IslClock clock;
  if (const int64_t* k = as_constant(e)) return *k;
  state_->c().new_question();
  return extreme(state_->c(), values_of(state_->c(), isl_set_copy(state_->set), e), isl_set_min_val);
}

std::optional<Expr> Facts::always(const Expr& condition, const IsOuter& is_outer) const {
  const IslClock clock;
  Context& c = state_->c();
  c.new_question();
  isl_set* holds = condition_set(c, condition);
  if (!holds) return std::nullopt;
  isl_set* fails = project_onto(c, isl_set_subtract(isl_set_copy(state_->set), holds), is_outer);
  isl_set* outer = project_onto(c, isl_set_copy(state_->set), is_outer);
  isl_set* good = isl_set_coalesce(isl_set_subtract(isl_set_copy(outer), fails));
  std::optional<Expr> result;
  if (isl_set_is_empty(good) == isl_bool_false) {
    good = isl_set_gist(good, isl_set_copy(outer));
    isl_ast_build* build = isl_ast_build_from_context(isl_set_params(isl_set_copy(outer)));
    isl_ast_expr* ast = isl_ast_build_expr_from_set(build, isl_set_params(isl_set_copy(good)));
    Expr e = ast ? from_ast(c, ast) : Expr();
    isl_ast_expr_free(ast);
    isl_ast_build_free(build);
    if (e.defined()) result = e.type().is_bool() ? e : e != 0;
  }
  isl_set_free(good);
  isl_set_free(outer);
  return result;
}

std::optional<Expr> Facts::first_failure(const Expr& condition, const Var& v, const IsOuter& is_outer) const {
  const IslClock clock;
  Context& c = state_->c();
  c.new_question();
  isl_set* holds = condition_set(c, condition);
  if (!holds) return std::nullopt;
  isl_set* fails = isl_set_subtract(isl_set_copy(state_->set), holds);
  isl_set* values = values_of(c, fails, v);
  values = isl_set_coalesce(project_onto(c, values, is_outer));
  std::optional<Expr> result;
  if (isl_set_is_empty(values) == isl_bool_false && isl_set_dim_has_lower_bound(values, isl_dim_set, 0) == isl_bool_true) {
    isl_pw_aff* least = isl_pw_aff_coalesce(isl_set_dim_min(values, 0));
    isl_set* outer = project_onto(c, isl_set_copy(state_->set), is_outer);
    // Where nothing fails the minimum is undefined: the expression is used as a loop bound, so it must hold everywhere.
    isl_set* defined = isl_set_params(isl_pw_aff_domain(isl_pw_aff_copy(least)));
    isl_set* wanted = isl_set_params(isl_set_copy(outer));
    const bool total = isl_set_is_subset(wanted, defined) == isl_bool_true;
    isl_set_free(defined);
    isl_set_free(wanted);
    if (total && isl_pw_aff_n_piece(least) == 1) {
      least = isl_pw_aff_gist_params(least, isl_set_params(isl_set_copy(outer)));
      if (Expr e = expr_of(c, isl_pw_aff_copy(least), isl_set_copy(outer)); e.defined()) result = e;
    }
    isl_pw_aff_free(least);
    isl_set_free(outer);
  } else {
    isl_set_free(values);
  }
  return result;
}

std::optional<Facts::Range> Facts::hull(const std::vector<std::pair<Facts, Expr>>& values, const IsOuter& is_outer) {
  const IslClock clock;
  LATHE_CHECK(!values.empty(), "hull of nothing");
  Context& c = values[0].first.state_->c();
  c.new_question();
  isl_set* all = nullptr;
  isl_set* outer = nullptr;
  for (const auto& [facts, e] : values) {
    isl_set* these = project_onto(c, values_of(c, isl_set_copy(facts.state_->set), e), is_outer);
    isl_set* around = project_onto(c, isl_set_copy(facts.state_->set), is_outer);
    all = all ? isl_set_union(all, these) : these;
    outer = outer ? isl_set_intersect(outer, around) : around;
  }
  all = isl_set_coalesce(all);
  std::optional<Range> result;
  if (isl_set_is_empty(all) == isl_bool_true) {
    result = Range{Expr(0), Expr(-1), 0};
  } else if (isl_set_dim_has_lower_bound(all, isl_dim_set, 0) == isl_bool_true &&
             isl_set_dim_has_upper_bound(all, isl_dim_set, 0) == isl_bool_true) {
    isl_set* context_set = isl_set_params(isl_set_copy(outer));
    auto bound = [&](isl_pw_aff* value) {
      return isl_pw_aff_coalesce(isl_pw_aff_gist_params(isl_pw_aff_coalesce(value), isl_set_copy(context_set)));
    };
    isl_pw_aff* low = bound(isl_set_dim_min(isl_set_copy(all), 0));
    isl_pw_aff* high = bound(isl_set_dim_max(isl_set_copy(all), 0));
    isl_pw_aff* extent = isl_pw_aff_sub(isl_pw_aff_copy(high), isl_pw_aff_copy(low));
    extent = isl_pw_aff_intersect_params(extent, isl_set_copy(context_set));
    std::optional<int64_t> most =
        extreme(c, isl_set_from_pw_aff(extent), isl_set_max_val);
    Expr min = expr_of(c, low, isl_set_copy(outer)), max = expr_of(c, high, isl_set_copy(outer));
    if (min.defined() && max.defined()) result = Range{min, max, most ? std::optional(*most + 1) : std::nullopt};
    isl_set_free(context_set);
  }
  isl_set_free(all);
  isl_set_free(outer);
  return result;
}

}  // namespace lathe
