// Questions about one kernel, as sets of points: two work-items at two moments, and the barriers between them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "compiler/certificate/accesses.h"
#include "compiler/certificate/certificate.h"
#include "ir/isl/points.h"

namespace lathe::certificate {

// Copies of a kernel's variables.
constexpr int first = 0, second = 1, barrier = 2;

// The worst that was found so far.
struct Answer {
  Verdict verdict = Verdict::proved;
  std::string detail;
  void worse(Verdict v, const std::string& why) {
    if (v == Verdict::proved || verdict == Verdict::disproved || (verdict == Verdict::undecided && v != Verdict::disproved)) return;
    verdict = v, detail = why;
  }
  void worse(const Answer& other) { worse(other.verdict, other.detail); }
};

// `bad` makes the set of points at which `what` happens: none may be in it. bad(false) may leave conditions out, which is
// quicker and often enough; bad(true) has them all.
template <class F>
Answer never(const std::string& what, F bad) {
  Answer a;
  try {
    if (bad(false).is_empty()) return a;
  } catch (const TooCostly&) {
  }
  try {
    const Points p = bad(true);
    if (p.is_empty()) return a;
    if (p.exact()) a.worse(Verdict::disproved, fmt::format("{} (for {})", what, p.example()));
    else a.worse(Verdict::undecided, what + ": it depends on data or on a product of sizes");
  } catch (const TooCostly&) {
    a.worse(Verdict::undecided, what + ": too many cases");
  }
  return a;
}

class Questions {
 public:
  // `one_group`: both work-items are of one work-group, so that block indices are shared.
  Questions(const LoweredFunction& f, const Kernel& k, const KernelAccesses& a, bool one_group);

  PointSpace& space() { return space_; }
  Points none() { return space_.everything() - space_.everything(); }
  // Where a place is reached, in one copy; of no domain: whatever every launch checks before it starts.
  Points reached(const DomainRef& domain, int copy);
  // Where a place is reached and `condition` holds there, in the first copy. Not `all`: only conditions that its variables
  // hang together with.
  Points where(const DomainRef& domain, const Expr& condition, bool all);
  // The first copy at `a`, the second at `b`, on one element.
  Points meet(const Access& a, const Access& b);
  Points different_items();   // of one group
  Points different_groups();
  // The pairs of moments of one group, as the loops that hold barriers run, that no barrier stands between.
  Points unordered(const Moment& a, const Moment& b);

 private:
  Points different(const Var& v);
  // The conditions within the kernel: block indices are shared, and the work-item is of no account.
  Points within_kernel(const DomainRef& domain, int copy);
  Points before(const Moment& a, int copy_a, const Moment& b, int copy_b);
  const Kernel& kernel_;
  const KernelAccesses& accesses_;
  PointSpace space_;
  std::optional<Points> promised_;
  std::vector<Expr> promises_;
  std::map<std::pair<const Domain*, int>, std::pair<DomainRef, Points>> reached_;
  std::map<std::vector<const Node*>, Points> together_;
  std::vector<Expr> kept_;  // together_ goes by address
};

}  // namespace lathe::certificate
