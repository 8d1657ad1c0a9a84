#include "ir/isl/points.h"

#include <fmt/format.h>
#include <isl/cpp.h>
#include <isl/options.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/visit.h"

namespace lathe {

Condition holds(Expr condition, int copy) { return {Condition::Kind::holds, std::move(condition), {}, copy, 0, {}}; }
Condition equal(Expr a, int copy_a, Expr b, int copy_b) { return {Condition::Kind::equal, std::move(a), std::move(b), copy_a, copy_b, {}}; }
Condition less(Expr a, int copy_a, Expr b, int copy_b) { return {Condition::Kind::less, std::move(a), std::move(b), copy_a, copy_b, {}}; }
Condition any_of(std::vector<std::vector<Condition>> choices) { return {Condition::Kind::any, {}, {}, 0, 0, std::move(choices)}; }

// Every variable is an isl parameter of a set without dimensions: "name.number" for shared ones, with ":copy" else.
struct PointSpace::State {
  // A question may take this many of isl's operations; some tens of milliseconds.
  static constexpr unsigned long budget = 1000000;
  State() : ctx(isl_ctx_alloc()) {
    isl_options_set_on_error(ctx.get(), ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(ctx.get(), budget);
  }
  ~State() { isl_ctx_free(ctx.get()); }

  isl::set universe() { return isl::manage(isl_set_universe(isl_space_set_alloc(ctx.get(), 0, 0))); }

  std::string parameter(const VarNode* v, int copy) {
    auto [found, fresh] = numbers.emplace(v, numbers.size());
    if (fresh) keep.push_back(Var(v));
    std::string name = fmt::format("{}.{}", v->name, found->second);
    if (!shared.count(v)) name += fmt::format(":{}", copy);
    return name;
  }
  // Not by isl's reading of a string, which takes a name up to its first dot for the whole.
  isl::pw_aff variable(const std::string& name) { return universe().param_pw_aff_on_domain(isl::manage(isl_id_alloc(ctx.get(), name.c_str(), nullptr))); }
  isl::pw_aff number(int64_t value) { return universe().pw_aff_on_domain(isl::val(ctx, std::to_string(value))); }

  // A term that is equal to itself wherever it stands in the same copy, and otherwise unknown.
  isl::pw_aff unknown(const Expr& e, int copy, bool& exact) {
    exact = false;
    std::string key;
    bool own = false;
    write_key(e, copy, key, own);
    auto [found, fresh] = unknowns.emplace(key, unknowns.size());
    return variable(own ? fmt::format("?{}:{}", found->second, copy) : fmt::format("?{}", found->second));
  }
  void write_key(const Expr& e, int copy, std::string& key, bool& own) {
    if (const auto* v = as<VarNode>(e)) {
      key += parameter(v, copy) + ";";
      own |= !shared.count(v);
      return;
    }
    key += fmt::format("{}", static_cast<int>(e->kind));
    if (const auto* c = as<IntegerNode>(e)) key += fmt::format("={}", c->value);
    if (const auto* c = as<RealNode>(e)) key += fmt::format("={:a}", c->value);
    if (const auto* a = as<ApplyNode>(e)) key += op_row(a->op).name;
    // Memory changes between two reads: each read is a value of its own.
    if (e->kind == ExprKind::load) key += fmt::format("#{}", reads++);
    key += to_string(e->type) + "(";
    for_each_child(e, [&](const Expr& child) { write_key(child, copy, key, own); });
    key += ")";
  }

  isl::pw_aff value(const Expr& e, int copy, bool& exact) {
    if (const auto* v = as<VarNode>(e)) return variable(parameter(v, copy));
    if (const int64_t* k = as_constant(e)) return number(*k);
    if (e.type().lanes != 1) return unknown(e, copy, exact);
    // A widening keeps the value; anything else may not.
    if (const auto* c = as<CastNode>(e)) {
      const DType from = c->value.type(), to = e.type();
      if (from.is_int() && to.is_int() && from.is_signed() && to.is_signed() && to.bits >= from.bits) return value(c->value, copy, exact);
    }
    const auto* a = as<ApplyNode>(e);
    if (!a || e.type() != i64) return unknown(e, copy, exact);  // narrower and unsigned arithmetic wraps
    const int64_t* k = a->args.size() == 2 ? as_constant(a->args[1]) : nullptr;
    const auto arg = [&](int n) { return value(a->args[static_cast<size_t>(n)], copy, exact); };
    switch (a->op) {
      case Op::add: return arg(0).add(arg(1));
      case Op::sub: return arg(0).sub(arg(1));
      case Op::neg: return arg(0).neg();
      case Op::min: return arg(0).min(arg(1));
      case Op::max: return arg(0).max(arg(1));
      case Op::mul:
        if (k) return arg(0).scale(isl::val(ctx, std::to_string(*k)));
        if (const int64_t* left = as_constant(a->args[0])) return arg(1).scale(isl::val(ctx, std::to_string(*left)));
        return unknown(e, copy, exact);
      case Op::div: return k && *k > 0 ? arg(0).scale_down(isl::val(ctx, std::to_string(*k))).floor() : unknown(e, copy, exact);
      case Op::mod: return k && *k > 0 ? arg(0).mod(isl::val(ctx, std::to_string(*k))) : unknown(e, copy, exact);
      case Op::bit_xor: {
        // a ^ b with 0 <= b < 2^n, which its form must tell: the bits above stay, each one below is a sum modulo 2. More than
        // three bits take isl minutes.
        const auto* low = as<ApplyNode>(a->args[1]);
        const int64_t* period = low && low->op == Op::mod ? as_constant(low->args[1]) : nullptr;
        if (!period || *period < 1 || *period > 8 || (*period & (*period - 1))) return unknown(e, copy, exact);
        const auto power = [&](int64_t p) { return isl::val(ctx, std::to_string(p)); };
        const isl::pw_aff x = arg(0), y = arg(1);
        isl::pw_aff sum = x.sub(x.mod(power(*period)));
        for (int64_t bit = 1; bit < *period; bit *= 2)
          sum = sum.add(x.scale_down(power(bit)).floor().add(y.scale_down(power(bit)).floor()).mod(power(2)).scale(power(bit)));
        return sum;
      }
      case Op::select: {
        bool known = true;
        const isl::set condition = where(a->args[0], copy, true, known);
        return known ? condition.indicator_function().cond(arg(1), arg(2)) : unknown(e, copy, exact);
      }
      default: return unknown(e, copy, exact);
    }
  }

  // Where `e` is `wanted`. Whatever is no statement on integers is left out of conjunctions.
  isl::set where(const Expr& e, int copy, bool wanted, bool& exact) {
    if (const int64_t* k = as_constant(e)) return (*k != 0) == wanted ? universe() : universe().complement();
    const auto* a = as<ApplyNode>(e);
    if (!a || e.type().lanes != 1) {
      exact = false;
      return universe();
    }
    const auto inner = [&](int n, bool w) { return where(a->args[static_cast<size_t>(n)], copy, w, exact); };
    if (a->op == Op::logical_not) return inner(0, !wanted);
    if (a->op == Op::logical_and || a->op == Op::logical_or) {
      const isl::set x = inner(0, wanted), y = inner(1, wanted);
      return (a->op == Op::logical_and) == wanted ? x.intersect(y) : x.unite(y);
    }
    if (a->args.empty() || !a->args[0].type().is_int() || !a->args[0].type().is_signed()) {
      exact = false;
      return universe();
    }
    const auto compare = [&](isl::set (isl::pw_aff::*holds)(isl::pw_aff) const, isl::set (isl::pw_aff::*fails)(isl::pw_aff) const) {
      const isl::pw_aff x = value(a->args[0], copy, exact), y = value(a->args[1], copy, exact);
      return (x.*(wanted ? holds : fails))(y);
    };
    switch (a->op) {
      case Op::lt: return compare(&isl::pw_aff::lt_set, &isl::pw_aff::ge_set);
      case Op::le: return compare(&isl::pw_aff::le_set, &isl::pw_aff::gt_set);
      case Op::gt: return compare(&isl::pw_aff::gt_set, &isl::pw_aff::le_set);
      case Op::ge: return compare(&isl::pw_aff::ge_set, &isl::pw_aff::lt_set);
      case Op::eq: return compare(&isl::pw_aff::eq_set, &isl::pw_aff::ne_set);
      case Op::ne: return compare(&isl::pw_aff::ne_set, &isl::pw_aff::eq_set);
      default: exact = false; return universe();
    }
  }

  isl::set where(const Condition& c, bool& exact) {
    switch (c.kind) {
      case Condition::Kind::holds: return where(c.a, c.copy_a, true, exact);
      case Condition::Kind::equal: return value(c.a, c.copy_a, exact).eq_set(value(c.b, c.copy_b, exact));
      case Condition::Kind::less: return value(c.a, c.copy_a, exact).lt_set(value(c.b, c.copy_b, exact));
      case Condition::Kind::any: {
        isl::set one = universe().complement();
        for (const std::vector<Condition>& all : c.choices) one = one.unite(where(all, exact));
        return one;
      }
    }
    return universe();
  }
  isl::set where(const std::vector<Condition>& all, bool& exact) {
    isl::set set = universe();
    for (const Condition& c : all) set = set.intersect(where(c, exact));
    return set;
  }

  isl::ctx ctx;
  std::map<const VarNode*, size_t> numbers;
  std::set<const VarNode*> shared;
  std::vector<Var> keep;  // the numbers' nodes live as long
  std::map<std::string, size_t> unknowns;
  size_t reads = 0;
};

struct Points::Set {
  isl::set set;
};

namespace {

// Runs one question of isl with a budget of its own.
template <class F>
auto ask(isl::ctx& ctx, F f) {
  isl_ctx_reset_operations(ctx.get());
  try {
    return f();
  } catch (const isl::exception&) {
    isl_ctx_reset_error(ctx.get());
    throw TooCostly{};
  }
}

}  // namespace

PointSpace::PointSpace() : state_(std::make_shared<State>()) {}
PointSpace::~PointSpace() = default;

void PointSpace::share(const Var& v) { state_->shared.insert(v.node()); }

Points PointSpace::where(const std::vector<Condition>& all) const {
  return ask(state_->ctx, [&] {
    bool exact = true;
    isl::set set = state_->where(all, exact);
    return Points(state_, std::make_shared<Points::Set>(Points::Set{std::move(set)}), exact);
  });
}

Points::Points(std::shared_ptr<PointSpace::State> state, std::shared_ptr<const Set> set, bool exact)
    : state_(std::move(state)), set_(std::move(set)), exact_(exact) {}

Points Points::operator&(const Points& other) const {
  return ask(state_->ctx, [&] { return Points(state_, std::make_shared<Set>(Set{set_->set.intersect(other.set_->set)}), exact_ && other.exact_); });
}
Points Points::operator|(const Points& other) const {
  return ask(state_->ctx, [&] { return Points(state_, std::make_shared<Set>(Set{set_->set.unite(other.set_->set)}), exact_ && other.exact_); });
}
Points Points::operator-(const Points& other) const {
  if (!other.exact_) return {state_, set_, false};
  return ask(state_->ctx, [&] { return Points(state_, std::make_shared<Set>(Set{set_->set.subtract(other.set_->set)}), exact_); });
}
bool Points::is_empty() const {
  return ask(state_->ctx, [&] { return set_->set.is_empty(); });
}

Points Points::without_copy(int copy) const {
  const std::string mark = fmt::format(":{}", copy);
  return ask(state_->ctx, [&] {
    isl::set set = set_->set;
    for (int k = static_cast<int>(isl_set_dim(set.get(), isl_dim_param)) - 1; k >= 0; --k) {
      const std::string name = isl_set_get_dim_name(set.get(), isl_dim_param, static_cast<unsigned>(k));
      if (name.size() > mark.size() && name.compare(name.size() - mark.size(), mark.size(), mark) == 0)
        set = isl::manage(isl_set_project_out(set.copy(), isl_dim_param, static_cast<unsigned>(k), 1));
    }
    return Points(state_, std::make_shared<Set>(Set{std::move(set)}), exact_);
  });
}

std::string Points::example() const {
  return ask(state_->ctx, [&] {
    const isl::point point = set_->set.sample_point();
    std::string text;
    isl_space* space = isl_point_get_space(point.get());
    for (int k = 0; k < static_cast<int>(isl_space_dim(space, isl_dim_param)); ++k) {
      const std::string name = isl_space_get_dim_name(space, isl_dim_param, static_cast<unsigned>(k));
      if (name[0] == '?') continue;
      isl_val* v = isl_point_get_coordinate_val(point.get(), isl_dim_param, k);
      const size_t colon = name.find(':');
      const int copy = colon == std::string::npos ? 0 : std::stoi(name.substr(colon + 1));
      text += fmt::format("{}{}{} = {}", text.empty() ? "" : ", ", name.substr(0, name.rfind('.', colon)), std::string(static_cast<size_t>(copy), '\''), isl_val_get_num_si(v));
      isl_val_free(v);
    }
    isl_space_free(space);
    return text;
  });
}

}  // namespace lathe
