#include "ir/simplify.h"

#include <algorithm>
#include <numeric>

#include "ir/equal.h"
#include "ir/visit.h"

namespace lathe {
namespace {

// Index arithmetic wraps, as the evaluator's does; signed overflow would be undefined here.
int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t mul(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }  // b > 0

void add_term(LinearForm& form, const Expr& term, int64_t coefficient) {
  for (auto& t : form.terms)
    if (t.term.same_as(term) || equal(t.term, term)) {
      t.coefficient = add(t.coefficient, coefficient);
      return;
    }
  form.terms.push_back({term, coefficient});
}

void collect(LinearForm& form, const Expr& e, int64_t factor) {
  if (const int64_t* c = as_constant(e)) {
    form.constant = add(form.constant, mul(*c, factor));
    return;
  }
  if (const auto* a = as<ApplyNode>(e)) {
    switch (a->op) {
      case Op::add:
        collect(form, a->args[0], factor);
        return collect(form, a->args[1], factor);
      case Op::sub:
        collect(form, a->args[0], factor);
        return collect(form, a->args[1], mul(factor, -1));
      case Op::neg: return collect(form, a->args[0], mul(factor, -1));
      case Op::mul:
        if (const int64_t* c = as_constant(a->args[1])) return collect(form, a->args[0], mul(factor, *c));
        // (a + b) * x with x no constant stays a product, but of simplified parts.
        break;
      default: break;  // a term of its own
    }
  }
  add_term(form, e, factor);
}

class Simplifier {
 public:
  explicit Simplifier(const Facts* facts) : facts_(facts) {}

  Expr run(const Expr& e) {
    if (e->kind == ExprKind::variable || e->kind == ExprKind::integer || e->kind == ExprKind::real) return e;
    // Inside a lazy branch the condition holds, which may be what bounds an index; being ignorant of it is safe.
    const Expr inner = map_children(e, [&](const Expr& child) { return run(child); });
    if (inner.type() != i64) return inner;
    const auto* a = as<ApplyNode>(inner);
    if (!a) return inner;
    switch (a->op) {
      case Op::add:
      case Op::sub:
      case Op::neg:
      case Op::mul: {
        const Expr linear = to_expr(linear_form(inner), i64);
        return equal(linear, inner) ? inner : linear;
      }
      case Op::div:
      case Op::mod: return divide(inner, *a);
      default: return inner;
    }
  }

 private:
  bool in_range(const Expr& e, int64_t below) {
    if (const int64_t* c = as_constant(e)) return *c >= 0 && *c < below;
    return facts_ && facts_->prove(e >= 0 && e < below);
  }

  // x / c or x % c, with x = g * q + r where g divides c and 0 <= r < g:  x / c = q / (c/g),  x % c = g * (q % (c/g)) + r
  Expr divide(const Expr& e, const ApplyNode& a) {
    const int64_t* c = as_constant(a.args[1]);
    if (!c || *c <= 0) return e;
    LinearForm x = linear_form(a.args[0]);
    // Whole multiples of c come out without any fact:  (c * q + r) / c = q + r / c,  (c * q + r) % c = r % c
    LinearForm out;
    for (const auto& t : x.terms)
      if (t.coefficient % *c == 0) out.terms.push_back({t.term, t.coefficient / *c});
    if (!out.terms.empty()) {
      std::erase_if(x.terms, [&](const auto& t) { return t.coefficient % *c == 0; });
      const Expr rest = run(make_apply(a.op, {to_expr(x, i64), a.args[1]}));
      return a.op == Op::mod ? rest : run(to_expr(out, i64) + rest);
    }
    std::vector<int64_t> candidates = {*c};
    for (const auto& t : x.terms)
      if (t.coefficient != INT64_MIN) candidates.push_back(std::gcd(t.coefficient, *c));
    std::sort(candidates.rbegin(), candidates.rend());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    for (int64_t g : candidates) {
      if (g <= 1) continue;
      LinearForm quotient, rest;
      for (const auto& t : x.terms)
        (t.coefficient % g == 0 ? quotient : rest).terms.push_back(t);
      for (auto& t : quotient.terms) t.coefficient /= g;
      // The constant's floor multiple of g goes along, the remainder stays.
      const int64_t whole = floor_div(x.constant, g);
      quotient.constant = whole;
      rest.constant = x.constant - whole * g;
      if (quotient.terms.empty() && whole == 0 && g != *c) continue;
      const Expr r = to_expr(rest, i64);
      if (!in_range(r, g)) continue;
      const Expr q = to_expr(quotient, i64);
      if (a.op == Op::div) return g == *c ? q : run(make_apply(Op::div, {q, constant(i64, *c / g)}));
      return g == *c ? r : run(run(make_apply(Op::mod, {q, constant(i64, *c / g)})) * g + r);
    }
    return e;
  }

  const Facts* facts_;
};

}  // namespace

LinearForm linear_form(const Expr& e) {
  LinearForm form;
  collect(form, e, 1);
  std::erase_if(form.terms, [](const auto& t) { return t.coefficient == 0; });
  return form;
}

Expr to_expr(const LinearForm& form, DType type) {
  Expr result;
  for (const auto& t : form.terms) {
    const bool subtract = t.coefficient < 0 && t.coefficient != INT64_MIN && result.defined();
    const Expr part = t.term * constant(type, subtract ? -t.coefficient : t.coefficient);
    result = !result.defined() ? part : subtract ? result - part : result + part;
  }
  const Expr c = constant(type, form.constant);
  return result.defined() ? result + c : c;
}

Expr simplify(const Expr& e) { return Simplifier(nullptr).run(e); }
Expr simplify(const Expr& e, const Facts& facts) { return Simplifier(&facts).run(e); }

std::vector<Expr> conjuncts(const Expr& condition) {
  const auto* a = as<ApplyNode>(condition);
  if (!a || a->op != Op::logical_and) return {condition};
  std::vector<Expr> result = conjuncts(a->args[0]);
  for (Expr& e : conjuncts(a->args[1])) result.push_back(std::move(e));
  return result;
}

Expr conjunction(const std::vector<Expr>& conditions) {
  Expr result = true_();
  for (const Expr& c : conditions) result = result && c;
  return result;
}

}  // namespace lathe
