#include "compiler/certificate/refute.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/visit.h"

namespace lathe::certificate {

constexpr int most_cases = 1000, most_lemma_ways = 3000;  // of one question: some milliseconds, some tens of them

namespace {

bool fits(std::pair<int64_t, int64_t> range, DType t) {
  if (t.bits >= 64) return t.is_signed() || range.first >= 0;
  const int64_t least = t.is_signed() ? -(int64_t{1} << (t.bits - 1)) : 0, most = (int64_t{1} << (t.bits - t.is_signed())) - 1;
  return least <= range.first && range.second <= most;
}

}  // namespace

bool Refuter::excludes(const std::vector<Condition>& all) {
  try {
    cases_left_ = most_cases, lemma_ways_left_ = most_lemma_ways;
    passing_.clear();
    std::vector<Formula> read_here;
    read_here.reserve(all.size());  // a case points into it
    Case c;
    for (const Condition& condition : all)
      add(condition.kind == Condition::Kind::holds ? where(condition.a, condition.copy_a, true) : read_here.emplace_back(read(condition)), c);
    return impossible(c);
  } catch (const Overflow&) {
    return false;
  }
}

void Refuter::add(const Formula& f, Case& to) {
  switch (f.kind) {
    case Formula::Kind::all:
      for (const Formula& part : f.parts) add(part, to);
      return;
    case Formula::Kind::any:
      to.any.push_back(&f);
      return;
    case Formula::Kind::zero:
      to.system.zero.push_back(f.linear);
      return define(f.linear, to);
    case Formula::Kind::at_least_zero:
      to.system.at_least_zero.push_back(f.linear);
      return define(f.linear, to);
  }
}
void Refuter::define(const Linear& l, Case& to) {
  for (const auto& term : l.terms) {
    const Variable& v = variables_[static_cast<size_t>(term.first)];
    if ((v.definition.empty() && v.factors.first < 0) || !to.seen.insert(term.first).second) continue;
    for (const Formula& f : v.definition) add(f, to);
    if (v.factors.first >= 0) define({{{v.factors.first, 1}, {v.factors.second, 1}}, 0}, to);
  }
}

bool Refuter::impossible(const Case& c) {
  if (--cases_left_ < 0) return false;
  for (const Formula* f : c.any)
    if (f->parts.empty()) return true;
  if (has_no_solution(c.system)) return true;
  if (c.any.empty()) return impossible_with(c, lemmas(c));
  // Alternatives that are excluded at once, one by one, are enough, whatever the others say; else the fewest are tried.
  std::vector<const Formula*> fewest;
  size_t of = 0;
  for (size_t k = 0; k < c.any.size(); ++k) {
    std::vector<const Formula*> open;
    for (const Formula& part : c.any[k]->parts) {
      if (--cases_left_ < 0) return false;
      Case one{c.system, {}, c.seen};
      add(part, one);
      if (!has_no_solution(one.system)) open.push_back(&part);
    }
    if (open.empty()) return true;
    if (k == 0 || open.size() < fewest.size()) fewest = std::move(open), of = k;
  }
  Case rest = c;
  rest.any.erase(rest.any.begin() + static_cast<std::ptrdiff_t>(of));
  for (const Formula* part : fewest) {
    Case one = rest;
    add(*part, one);
    if (!impossible(one)) return false;
  }
  return true;
}

// Products are variables like others; what is known of them is how those with a factor in common lie to one another, and
// to zero. b > 0 and a < a' give a · b <= a' · b - b.
void Refuter::about_products(const Case& c, std::vector<Formula>& lemmas) const {
  const auto met = [&](const Product& p) {
    return std::all_of(p.sum.terms.begin(), p.sum.terms.end(), [&](const auto& t) { return variables_[static_cast<size_t>(t.first)].factors.first < 0 || c.seen.count(t.first); });
  };
  std::vector<Product> products;
  for (const Product& p : products_)
    if (met(p)) {
      products.push_back(p);
      if (p.a != p.b) products.push_back({p.b, p.a, p.sum});
    }
  const Linear one{{}, 1};
  for (size_t x = 0; x < products.size(); ++x)
    for (size_t y = x; y < products.size(); ++y) {
      const Product& p = products[x];
      const Product other = x == y ? Product{{}, p.b, {}} : products[y];  // nothing times the same
      if (p.b != other.b || p.a == other.a) continue;
      const Formula positive = at_least_zero(p.b - one);
      lemmas.push_back(any({at_least_zero(p.b * -1 - one), all({zero(p.b), zero(p.sum), zero(other.sum)}),
                            all({positive, at_least_zero(other.a - p.a - one), at_least_zero(other.sum - p.sum - p.b)}),
                            all({positive, zero(p.a - other.a), zero(p.sum - other.sum)}),
                            all({positive, at_least_zero(p.a - other.a - one), at_least_zero(p.sum - other.sum - p.b)})}));
    }
}

// Two exclusive ors agree in none, one or all of both operands and the result.
void Refuter::about_exclusive_ors(const Case& c, std::vector<Formula>& lemmas) const {
  for (size_t x = 0; x < exclusive_ors_.size(); ++x)
    for (size_t y = x + 1; y < exclusive_ors_.size(); ++y) {
      const ExclusiveOr &p = exclusive_ors_[x], &q = exclusive_ors_[y];
      if (!c.seen.count(p.result) || !c.seen.count(q.result)) continue;
      const Linear differences[] = {p.a - q.a, p.b - q.b, Linear{{{p.result, 1}}, 0} - Linear{{{q.result, 1}}, 0}};
      const auto differ = [&](int d) { return any({at_least_zero(differences[d] - Linear{{}, 1}), at_least_zero(differences[d] * -1 - Linear{{}, 1})}); };
      std::vector<Formula> ways = {all({zero(differences[0]), zero(differences[1]), zero(differences[2])})};
      for (int agrees : {0, 1, 2}) ways.push_back(all({zero(differences[agrees]), differ((agrees + 1) % 3), differ((agrees + 2) % 3)}));
      ways.push_back(all({differ(0), differ(1), differ(2)}));
      lemmas.push_back(any(std::move(ways)));
    }
}

std::vector<Refuter::Formula> Refuter::lemmas(const Case& c) const {
  std::vector<Formula> result;
  about_products(c, result);
  about_exclusive_ors(c, result);
  return result;
}

// What remains of each lemma is looked at before one is split: most leave one way open, or none.
bool Refuter::impossible_with(Case c, std::vector<Formula> lemmas) {
  constexpr size_t most_lemmas = 40;
  if ((lemmas.empty() && c.any.empty()) || lemmas.size() > most_lemmas) return false;
  for (bool again = true; again;) {
    again = false;
    for (size_t k = 0; k < lemmas.size(); ++k) {
      if (lemmas[k].kind != Formula::Kind::any) continue;
      std::vector<Formula> open;
      for (const Formula& way : lemmas[k].parts) {
        Case one = c;
        add(way, one);
        if (--lemma_ways_left_ < 0) return false;
        if (!has_no_solution(one.system)) open.push_back(way);
      }
      if (open.empty()) return true;
      if (open.size() == 1) {
        add(passing_.emplace_back(open[0]), c), again = true;
        lemmas.erase(lemmas.begin() + static_cast<std::ptrdiff_t>(k--));
      } else {
        lemmas[k].parts = std::move(open);
      }
    }
  }
  if (has_no_solution(c.system)) return true;
  if (lemmas.empty() && c.any.empty()) return false;
  if (!c.any.empty()) {  // that a lemma has left
    const Formula* left = c.any.back();
    c.any.pop_back();
    for (const Formula& way : left->parts) {
      Case one = c;
      add(way, one);
      if (--lemma_ways_left_ < 0 || !(has_no_solution(one.system) || impossible_with(one, lemmas))) return false;
    }
    return true;
  }
  const auto fewest = std::min_element(lemmas.begin(), lemmas.end(), [](const Formula& a, const Formula& b) { return a.parts.size() < b.parts.size(); });
  const std::vector<Formula> ways = fewest->parts;
  lemmas.erase(fewest);
  for (const Formula& way : ways) {
    Case one = c;
    add(way, one);
    if (!impossible_with(one, lemmas)) return false;
  }
  return true;
}

Refuter::Formula Refuter::zero(Linear l) {
  if (l.terms.empty()) return {l.constant == 0 ? Formula::Kind::all : Formula::Kind::any, {}, {}};
  return {Formula::Kind::zero, std::move(l), {}};
}
Refuter::Formula Refuter::at_least_zero(Linear l) {
  if (l.terms.empty()) return {l.constant >= 0 ? Formula::Kind::all : Formula::Kind::any, {}, {}};
  return {Formula::Kind::at_least_zero, std::move(l), {}};
}
// All within all and any within any are one; any with one that always holds does so, too, and all with one that never does.
Refuter::Formula Refuter::merge(Formula::Kind kind, Formula::Kind other, std::vector<Formula> parts) {
  Formula result{kind, {}, {}};
  for (Formula& part : parts) {
    if (part.kind == other && part.parts.empty()) return {other, {}, {}};
    if (part.kind == kind) std::move(part.parts.begin(), part.parts.end(), std::back_inserter(result.parts));
    else result.parts.push_back(std::move(part));
  }
  if (result.parts.size() == 1) return Formula(std::move(result.parts[0]));
  return result;
}

Refuter::Formula Refuter::read(const Condition& c) {
  switch (c.kind) {
    case Condition::Kind::holds: return where(c.a, c.copy_a, true);
    case Condition::Kind::equal: return zero(value(c.a, c.copy_a) - value(c.b, c.copy_b));
    case Condition::Kind::less: return at_least_zero(value(c.b, c.copy_b) - value(c.a, c.copy_a) + Linear{{}, -1});
    case Condition::Kind::any: {
      std::vector<Formula> choices;
      for (const auto& choice : c.choices) {
        std::vector<Formula> parts;
        for (const Condition& one : choice) parts.push_back(read(one));
        choices.push_back(all(std::move(parts)));
      }
      return any(std::move(choices));
    }
  }
  return {};
}

const Refuter::Formula& Refuter::where(const Expr& e, int copy, bool wanted) {
  const auto key = std::tuple{static_cast<const Node*>(e.get()), copy, wanted};
  if (const auto found = formulas_.find(key); found != formulas_.end()) return found->second;
  if (changes(e)) return passing_.emplace_back(read(e, copy, wanted));
  kept_.push_back(e);
  Formula f = read(e, copy, wanted);
  return formulas_.emplace(key, std::move(f)).first->second;
}

// Whatever is no statement on integers is left out: it may hold or not.
Refuter::Formula Refuter::read(const Expr& e, int copy, bool wanted) {
  if (const int64_t* k = as_constant(e)) return (*k != 0) == wanted ? all({}) : any({});
  const auto* a = as<ApplyNode>(e);
  if (!a || e.type().lanes != 1) return all({});
  if (a->op == Op::logical_not) return where(a->args[0], copy, !wanted);
  if (a->op == Op::logical_and || a->op == Op::logical_or) {
    std::vector<Formula> parts = {where(a->args[0], copy, wanted), where(a->args[1], copy, wanted)};
    return (a->op == Op::logical_and) == wanted ? all(std::move(parts)) : any(std::move(parts));
  }
  if (a->args.size() != 2 || !a->args[0].type().is_int() || !a->args[0].type().is_signed()) return all({});
  const auto below = [&](int x, int y, int64_t by) {  // x + by <= y
    return at_least_zero(value(a->args[static_cast<size_t>(y)], copy) - value(a->args[static_cast<size_t>(x)], copy) + Linear{{}, -by});
  };
  switch (a->op) {
    case Op::lt: return wanted ? below(0, 1, 1) : below(1, 0, 0);
    case Op::le: return wanted ? below(0, 1, 0) : below(1, 0, 1);
    case Op::gt: return wanted ? below(1, 0, 1) : below(0, 1, 0);
    case Op::ge: return wanted ? below(1, 0, 0) : below(0, 1, 1);
    case Op::eq:
    case Op::ne:
      if ((a->op == Op::eq) == wanted) return zero(value(a->args[0], copy) - value(a->args[1], copy));
      return any({below(0, 1, 1), below(1, 0, 1)});
    default: return all({});
  }
}

int Refuter::variable_of(const Var& v, int copy) {
  const auto [found, fresh] = numbers_.emplace(std::pair{v.node(), shared_.count(v.node()) ? 0 : copy}, 0);
  if (fresh) {
    found->second = new_variable(), kept_.push_back(v);
    variables_.back().of = v.node();
  }
  return found->second;
}

Linear Refuter::value(const Expr& e, int copy) {
  const auto key = std::pair{static_cast<const Node*>(e.get()), copy};
  if (const auto found = values_.find(key); found != values_.end()) return found->second;
  if (changes(e)) return compute(e, copy);
  kept_.push_back(e);
  Linear l = compute(e, copy);
  return values_.emplace(key, std::move(l)).first->second;
}

Linear Refuter::compute(const Expr& e, int copy) {
  const auto single = [](int v) { return Linear{{{v, 1}}, 0}; };
  if (const auto* v = as<VarNode>(e)) return single(variable_of(Var(v), copy));
  if (const int64_t* k = as_constant(e); k && (e.type().is_signed() || *k >= 0)) return {{}, *k};
  if (e.type().lanes != 1) return single(unknown(e, copy));
  if (const auto* c = as<CastNode>(e)) {
    const DType from = c->value.type(), to = e.type();
    const std::optional<Range> r = from.is_int() ? range(c->value) : std::nullopt;
    if (from.is_int() && to.is_int() && ((from.is_signed() && to.is_signed() && to.bits >= from.bits) || (r && fits(*r, to)))) return value(c->value, copy);
  }
  const auto* a = as<ApplyNode>(e);
  if (!a || wraps(e)) return single(unknown(e, copy));
  const auto arg = [&](size_t n) { return value(a->args[n], copy); };
  switch (a->op) {
    case Op::add: return arg(0) + arg(1);
    case Op::sub: return arg(0) - arg(1);
    case Op::neg: return arg(0) * -1;
    case Op::mul: {
      const Linear x = arg(0), y = arg(1);
      if (y.terms.empty()) return x * y.constant;
      if (x.terms.empty()) return y * x.constant;
      return product(x, y);
    }
    case Op::div:
    case Op::mod: {
      const Linear x = arg(0), by = arg(1);
      if (!by.terms.empty()) {
        const Linear q = quotient(x, by);
        return a->op == Op::div ? q : x - product(q, by);
      }
      if (by.constant <= 0) return single(unknown(e, copy));
      return a->op == Op::div ? quotient(x, by.constant) : remainder(x, by.constant);
    }
    case Op::bit_xor: {
      const std::optional<Linear> l = exclusive_or(a->args[0], a->args[1], copy);
      return l ? *l : single(unknown(e, copy));
    }
    case Op::shl:
    case Op::shr:
    case Op::bit_and: {
      const Linear by = arg(1);
      const int64_t k = by.constant;
      if (!by.terms.empty() || k < 0) return single(unknown(e, copy));
      if (a->op == Op::bit_and) return (k & (k + 1)) == 0 && k < INT64_MAX ? remainder(arg(0), k + 1) : single(unknown(e, copy));
      if (k > 60) return single(unknown(e, copy));
      return a->op == Op::shl ? arg(0) * (int64_t{1} << k) : quotient(arg(0), int64_t{1} << k);
    }
    case Op::min:
    case Op::max: {
      const Linear x = arg(0), y = arg(1);
      const Formula first = at_least_zero(y - x), second = at_least_zero(x - y);  // x <= y, y <= x
      return a->op == Op::min ? one_of(x, first, y, second) : one_of(x, second, y, first);
    }
    case Op::select: return one_of(arg(1), where(a->args[0], copy, true), arg(2), where(a->args[0], copy, false));
    default: return single(unknown(e, copy));
  }
}

// Multiplied out, a variable for each two variables.
Linear Refuter::product(const Linear& a, const Linear& b) {
  Linear sum = a * b.constant + Linear{b.terms, 0} * a.constant;
  for (const auto& [x, i] : a.terms)
    for (const auto& [y, k] : b.terms) {
      const std::pair<int, int> factors = std::minmax(x, y);
      const auto [found, fresh] = products_of_variables_.emplace(factors, 0);
      if (fresh) {
        found->second = new_variable();
        variables_.back().factors = factors;
      }
      sum = sum + Linear{{{found->second, 1}}, 0} * i * k;
    }
  if (std::none_of(products_.begin(), products_.end(), [&](const Product& p) { return (p.a == a && p.b == b) || (p.a == b && p.b == a); })) products_.push_back({a, b, sum});
  return sum;
}

// The floor of x / by: with by > 0, 0 <= x - by · q < by.
Linear Refuter::quotient(const Linear& x, const Linear& by) {
  const auto [found, fresh] = quotients_by_.emplace(std::pair{x, by}, 0);
  const int q = fresh ? found->second = new_variable() : found->second;
  const Linear result{{{q, 1}}, 0};
  if (fresh) {
    const Linear left = x - product(result, by);
    std::vector<Formula> definition = {any({at_least_zero(by * -1), all({at_least_zero(left), at_least_zero(by - left - Linear{{}, 1})})})};
    variables_[static_cast<size_t>(q)].definition = std::move(definition);
  }
  return result;
}

// The floor of x / k. What k divides comes out; the rest has a variable q with 0 <= rest - k · q < k.
Linear Refuter::quotient(const Linear& x, int64_t k) {
  Linear whole, rest;
  whole.constant = x.constant / k - (x.constant % k < 0);
  rest.constant = x.constant - whole.constant * k;
  for (const auto& [v, c] : x.terms) (c % k == 0 ? whole : rest).terms.emplace_back(v, c % k == 0 ? c / k : c);
  if (rest.terms.empty()) return whole;
  const auto [found, fresh] = quotients_.emplace(std::pair{rest, k}, 0);
  if (fresh) {
    found->second = new_variable();
    const Linear left = rest - Linear{{{found->second, k}}, 0};
    variables_[static_cast<size_t>(found->second)].definition = {at_least_zero(left), at_least_zero(Linear{{}, k - 1} - left)};
  }
  return whole + Linear{{{found->second, 1}}, 0};
}

// What is above the bits that one of the two can have stays as it is.
std::optional<Linear> Refuter::exclusive_or(const Expr& a, const Expr& b, int copy) {
  const std::optional<Range> range_a = range(a), range_b = range(b);
  const auto usable = [](const std::optional<Range>& r) { return r && r->first >= 0 && r->second < (int64_t{1} << 30); };
  if (!usable(range_a) && !usable(range_b)) return std::nullopt;
  const int64_t most = usable(range_b) ? range_b->second : range_a->second;
  int64_t power = 1;
  while (power <= most) power *= 2;
  const Linear x = value(a, copy), y = value(b, copy), low_x = remainder(x, power), low_y = remainder(y, power);
  const auto [found, fresh] = exclusive_or_of_.emplace(std::pair{low_x, low_y}, 0);
  const int r = fresh ? found->second = new_variable() : found->second;
  const Linear result{{{r, 1}}, 0};
  if (fresh) {
    exclusive_ors_.push_back({low_x, low_y, r});
    variables_[static_cast<size_t>(r)].definition = {at_least_zero(result), at_least_zero(Linear{{}, power - 1} - result)};
  }
  return x - low_x + y - low_y + result;
}

Linear Refuter::remainder(const Linear& x, int64_t k) { return x - quotient(x, k) * k; }

Linear Refuter::one_of(const Linear& a, Formula when_a, const Linear& b, Formula when_b) {
  const int v = new_variable();
  const Linear result{{{v, 1}}, 0};
  variables_[static_cast<size_t>(v)].definition = {any({all({zero(result - a), std::move(when_a)}), all({zero(result - b), std::move(when_b)})})};
  return result;
}

// May two reads of it give different values?
bool Refuter::changes(const Expr& e) const {
  bool found = false;
  walk(e, [&](const Expr& x) {
    if (const auto* l = as<LoadNode>(x)) found |= !steady_.count(l->tensor.get());
    return !found;
  });
  return found;
}

// ---- ranges
std::optional<Refuter::Range> Refuter::range(const Expr& e) {
  const DType t = e.type();
  if (!t.is_int()) return std::nullopt;
  std::optional<Range> own;
  if (t.bits < 64) own = t.is_signed() ? Range{-(int64_t{1} << (t.bits - 1)), (int64_t{1} << (t.bits - 1)) - 1} : Range{0, (int64_t{1} << t.bits) - 1};
  std::optional<Range> r;
  if (const int64_t* k = as_constant(e); k && (t.is_signed() || *k >= 0)) r = Range{*k, *k};
  if (const auto* c = as<CastNode>(e); c && c->value.type().is_int()) r = range(c->value);
  try {
    if (const auto* a = as<ApplyNode>(e)) r = computed_range(*a);
  } catch (const Overflow&) {
  }
  return r && fits(*r, t) ? r : own;
}

// What exact arithmetic would give.
std::optional<Refuter::Range> Refuter::computed_range(const ApplyNode& a) {
  const int64_t* k = a.args.size() == 2 ? as_constant(a.args[1]) : nullptr;
  if (a.op == Op::mod && k && *k > 0) return Range{0, *k - 1};
  if (a.op == Op::bit_and && k && *k >= 0) return Range{0, *k};
  if (a.op == Op::bit_xor) {
    const std::optional<Range> x = range(a.args[0]), y = range(a.args[1]);
    if (!x || !y || x->first < 0 || y->first < 0) return std::nullopt;
    int64_t power = 1;
    while (power <= std::max(x->second, y->second)) power = (Linear{{}, power} * 2).constant;
    return Range{0, power - 1};
  }
  std::vector<Range> args;
  for (size_t n = a.op == Op::select; n < a.args.size(); ++n) {
    const std::optional<Range> r = range(a.args[n]);
    if (!r) return std::nullopt;
    args.push_back(*r);
  }
  const auto sum = [](int64_t x, int64_t y) { return (Linear{{}, x} + Linear{{}, y}).constant; };
  const auto product = [](int64_t x, int64_t y) { return (Linear{{}, x} * y).constant; };
  switch (a.op) {
    case Op::add: return Range{sum(args[0].first, args[1].first), sum(args[0].second, args[1].second)};
    case Op::sub: return Range{sum(args[0].first, product(args[1].second, -1)), sum(args[0].second, product(args[1].first, -1))};
    case Op::neg: return Range{product(args[0].second, -1), product(args[0].first, -1)};
    case Op::mul: {
      const std::initializer_list<int64_t> corners = {product(args[0].first, args[1].first), product(args[0].first, args[1].second),
                                                      product(args[0].second, args[1].first), product(args[0].second, args[1].second)};
      return Range{std::min(corners), std::max(corners)};
    }
    case Op::shl: return k && *k >= 0 && *k <= 60 ? std::optional(Range{product(args[0].first, int64_t{1} << *k), product(args[0].second, int64_t{1} << *k)}) : std::nullopt;
    case Op::shr: return k && *k >= 0 && *k <= 60 ? std::optional(Range{args[0].first >> *k, args[0].second >> *k}) : std::nullopt;
    case Op::div: return k && *k > 0 ? std::optional(Range{args[0].first / *k - (args[0].first % *k < 0), args[0].second / *k - (args[0].second % *k < 0)}) : std::nullopt;
    case Op::min:
    case Op::max:
    case Op::select: return Range{std::min(args[0].first, args[1].first), std::max(args[0].second, args[1].second)};
    default: return std::nullopt;
  }
}

// May arithmetic of this type give something else than arithmetic on integers? Extents are such that 64 bits do not.
bool Refuter::wraps(const Expr& e) {
  if (e.type() == i64) return false;
  const auto* a = as<ApplyNode>(e);
  if (!a || !e.type().is_int()) return true;
  const bool shrinks = a->op == Op::div || a->op == Op::mod || a->op == Op::min || a->op == Op::max || a->op == Op::select || a->op == Op::shr || a->op == Op::bit_and || a->op == Op::bit_xor;
  if (shrinks) return false;
  try {
    const std::optional<Range> r = computed_range(*a);
    return !r || !fits(*r, e.type());
  } catch (const Overflow&) {
    return true;
  }
}

// A term that equals itself wherever it stands in the same copy.
int Refuter::unknown(const Expr& e, int copy) {
  std::string key;
  write_key(e, copy, key);
  const auto [found, fresh] = unknowns_.emplace(std::move(key), 0);
  if (fresh) found->second = new_variable();
  return found->second;
}
void Refuter::write_key(const Expr& e, int copy, std::string& key) {
  if (const auto* v = as<VarNode>(e)) {
    key += fmt::format("v{};", variable_of(Var(v), copy));
    return;
  }
  key += fmt::format("{}", static_cast<int>(e->kind));
  if (const auto* c = as<IntegerNode>(e)) key += fmt::format("={}", c->value);
  if (const auto* c = as<RealNode>(e)) key += fmt::format("={:a}", c->value);
  if (const auto* a = as<ApplyNode>(e)) key += op_row(a->op).name;
  if (const auto* l = as<LoadNode>(e)) key += steady_.count(l->tensor.get()) ? fmt::format("@{}", static_cast<const void*>(l->tensor.get())) : fmt::format("#{}", reads_++);
  key += to_string(e->type) + "(";
  for_each_child(e, [&](const Expr& child) { write_key(child, copy, key); });
  key += ")";
}

}  // namespace lathe::certificate
