// Questions about one kernel: may conditions on two work-items hold together?
#pragma once

#include <string>
#include <vector>

#include "compiler/certificate/accesses.h"
#include "compiler/certificate/certificate.h"
#include "compiler/certificate/refute.h"
#include "ir/isl/points.h"

namespace lathe::certificate {

// Copies of a kernel's variables.
constexpr int first = 0, second = 1;

using Conditions = std::vector<Condition>;
Conditions operator+(Conditions a, const Conditions& b);

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

class Questions {
 public:
  // `one_group`: both work-items are of one work-group, so that block indices are shared.
  Questions(const LoweredFunction& f, const Kernel& k, const KernelAccesses& a, bool one_group);

  // Can these not hold together? The quick answer: false is no answer.
  bool excluded(const Conditions& all) { return refuter_.excludes(all); }
  // The thorough one: `what` happens where all of these hold. `exact`: they say no less than must be said.
  Answer never(const std::string& what, const Conditions& all, bool exact = true);
  // The same of a set that was made by hand.
  Answer nowhere(const std::string& what, const Points& bad) const;

  // Where a place is reached, in one copy; of no domain: whatever every launch checks before it starts.
  Conditions reached(const DomainRef& domain, int copy) const;
  // The first copy at `a`, the second at `b`, on one element.
  Conditions meet(const Access& a, const Access& b) const;
  Condition different_items() const;   // of one group
  Condition different_groups() const;
  Condition different() const;         // of one group or of two

  bool is_shared(const VarNode* v) const { return refuter_.is_shared(v); }
  PointSpace& space() { return space_; }
  Refuter& refuter() { return refuter_; }

 private:
  Answer with_sizes(const std::string& what, const Conditions& all);
  void differ(const Var& v, std::vector<Conditions>& choices) const;
  const Kernel& kernel_;
  PointSpace space_;
  Refuter refuter_;
  Conditions promises_;
  std::vector<Var> symbols_;
};

}  // namespace lathe::certificate
