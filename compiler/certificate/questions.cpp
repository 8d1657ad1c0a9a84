#include "compiler/certificate/questions.h"

#include <fmt/format.h>

#include <functional>

#include "ir/visit.h"

namespace lathe::certificate {

Conditions operator+(Conditions a, const Conditions& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Questions::Questions(const LoweredFunction& f, const Kernel& k, const KernelAccesses& a, bool one_group) : kernel_(k) {
  const auto share = [&](const Var& v) { space_.share(v), refuter_.share(v); };
  for (const Var& s : f.symbols) share(s), symbols_.push_back(s);
  for (const Var& s : k.symbols) share(s), symbols_.push_back(s);
  if (one_group)
    for (const Var& b : k.block_index) share(b);
  for (const Tensor& t : f.arguments)
    for (const Expr& extent : t.shape())
      if (!as_constant(extent)) promises_.push_back(holds(extent >= 0));
  for (const LoweredFunction::Promise& p : f.promises) promises_.push_back(holds(p.condition));
  if (k.condition.defined()) promises_.push_back(holds(k.condition));
  for (size_t b = 0; b < k.buffers.size(); ++b)
    if (!k.written[b]) refuter_.steady(k.buffers[b]);
  for (const Access& access : a.accesses)
    if (access.write) refuter_.unsteady(access.tensor);  // whatever the kernel says of its buffers
}

Answer Questions::never(const std::string& what, const Conditions& all, bool exact) {
  if (excluded(all)) return {};
  try {
    Answer a = nowhere(what, space_.where(all));
    if (exact && a.verdict == Verdict::undecided) a.worse(with_sizes(what, all));
    if (!exact && a.verdict == Verdict::disproved) return {Verdict::undecided, what + ": it depends on which of the barriers are met"};
    return a;
  } catch (const TooCostly&) {
    return {Verdict::undecided, what + ": too many cases"};
  }
}

// Products of sizes are no more than numbers once the sizes are: a few of them may do for a counterexample.
Answer Questions::with_sizes(const std::string& what, const Conditions& all) {
  for (const int64_t size : {int64_t{3}, int64_t{41}, (int64_t{1} << 20) + 1}) {
    Substitution sizes;
    for (const Var& s : symbols_) sizes[s.node()] = constant(i64, size);
    const std::function<Condition(const Condition&)> fixed = [&](const Condition& c) {
      Condition r = c;
      if (r.a.defined()) r.a = substitute(r.a, sizes);
      if (r.b.defined()) r.b = substitute(r.b, sizes);
      for (auto& choice : r.choices)
        for (Condition& one : choice) one = fixed(one);
      return r;
    };
    Conditions some;
    for (const Condition& c : all) some.push_back(fixed(c));
    if (excluded(some)) continue;
    try {
      const Points bad = space_.where(some);
      if (!bad.is_empty() && bad.exact()) return {Verdict::disproved, fmt::format("{} (for sizes of {}, {})", what, size, bad.example())};
    } catch (const TooCostly&) {
    }
  }
  return {};
}

Answer Questions::nowhere(const std::string& what, const Points& bad) const {
  try {
    if (bad.is_empty()) return {};
    if (bad.exact()) return {Verdict::disproved, fmt::format("{} (for {})", what, bad.example())};
    return {Verdict::undecided, what + ": it depends on data or on a product of sizes"};
  } catch (const TooCostly&) {
    return {Verdict::undecided, what + ": too many cases"};
  }
}

Conditions Questions::reached(const DomainRef& domain, int copy) const {
  Conditions all = promises_;
  for (const Domain* d = domain.get(); d; d = d->outer.get()) all.push_back(holds(d->condition, copy));
  return all;
}

Conditions Questions::meet(const Access& a, const Access& b) const {
  Conditions all = reached(a.domain, first);
  for (const Domain* d = b.domain.get(); d; d = d->outer.get()) all.push_back(holds(d->condition, second));
  for (size_t d = 0; d < a.indices.size(); ++d) all.push_back(equal(a.indices[d], first, b.indices[d], second));
  return all;
}

void Questions::differ(const Var& v, std::vector<Conditions>& choices) const {
  choices.push_back({less(v, first, v, second)});
  choices.push_back({less(v, second, v, first)});
}
Condition Questions::different_items() const {
  std::vector<Conditions> choices;
  for (int d = 0; d < 3; ++d)
    if (kernel_.block[d] > 1) differ(kernel_.thread_index[d], choices);
  return any_of(std::move(choices));
}
Condition Questions::different_groups() const {
  std::vector<Conditions> choices;
  for (int d = 0; d < 3; ++d)
    if (!is_constant(kernel_.grid[d], 1)) differ(kernel_.block_index[d], choices);
  return any_of(std::move(choices));
}
Condition Questions::different() const { return any_of({{different_items()}, {different_groups()}}); }

}  // namespace lathe::certificate
