#include "compiler/certificate/order.h"

#include <utility>

#include "ir/visit.h"

namespace lathe::certificate {
namespace {

constexpr int first = 0, second = 1;

bool surely(const Expr& runs) { return runs.defined() && is_constant(runs, 1); }
bool never(const Expr& runs) { return runs.defined() && is_constant(runs, 0); }

// A place, from the outermost sequence in.
struct Step {
  const Sequence* sequence;
  int position;
};
std::vector<Step> steps_to(const Place& p) {
  std::vector<Step> steps;
  int position = p.position;
  for (const Sequence* s = p.sequence.get(); s; position = s->at, s = s->outer.get()) steps.insert(steps.begin(), {s, position});
  return steps;
}

class Way {
 public:
  std::vector<Condition> conditions;
  bool open = true, exact = true;  // open: no barrier surely stands in it

  // No barrier runs here.
  void past(const Expr& runs, int copy) {
    if (surely(runs)) open = false;
    else if (!runs.defined()) exact = false;
    else if (!never(runs)) conditions.push_back(holds(!runs, copy));
  }
  // From a position to the end of the sequences below `from`, or from their begin to it. Loops below `leave` are left or
  // entered on the way, so that an iteration that has a barrier in it must be the last or first.
  void along(const std::vector<Step>& steps, size_t from, size_t leave, bool to_end, int copy) {
    for (size_t level = from; level < steps.size() && open; ++level) {
      const auto& [s, position] = steps[level];
      const int begin = to_end ? position + 1 : 0, end = to_end ? static_cast<int>(s->runs.size()) : position;
      for (int k = begin; k < end && open; ++k) past(s->runs[static_cast<size_t>(k)], copy);
      if (level < leave || !s->loop.defined()) continue;
      const Expr runs = runs_barrier(*s);
      if (surely(runs)) conditions.push_back(holds(to_end ? s->loop + 1 >= s->end : s->loop <= s->begin, copy));
      else if (!never(runs)) exact = false;
    }
  }
};

}  // namespace

Expr runs_barrier(const Sequence& s) {
  Expr any = false_();
  for (const Expr& runs : s.runs) {
    if (surely(runs)) return true_();
    if (!any.defined() || never(runs)) continue;
    if (runs.defined()) any = any || runs;
    else any = Expr();
  }
  return any;
}

Unordered unordered(const Place& place_a, const Place& place_b) {
  const std::vector<Step> a = steps_to(place_a), b = steps_to(place_b);
  Unordered result;
  std::vector<Condition> same;  // iterations of the loops around both
  const auto keep = [&](Way way) {
    if (!way.open) return;
    way.conditions.insert(way.conditions.end(), same.begin(), same.end());
    result.exact &= way.exact;
    result.ways.push_back(std::move(way.conditions));
  };
  for (size_t level = 0;; ++level) {
    const Sequence& s = *a[level].sequence;
    if (s.loop.defined()) {
      // Iterations apart: those in between are run whole.
      const Expr runs = runs_barrier(s);
      const auto apart = [&](const std::vector<Step>& early, int early_copy, const std::vector<Step>& late, int late_copy) {
        Way way;
        way.along(early, level, level + 1, true, early_copy);
        if (way.open) way.along(late, level, level + 1, false, late_copy);
        if (surely(runs)) way.conditions.push_back(equal(s.loop + 1, early_copy, s.loop, late_copy));
        else way.conditions.push_back(less(s.loop, early_copy, s.loop, late_copy)), way.exact &= never(runs);
        keep(std::move(way));
      };
      apart(a, first, b, second);
      apart(b, second, a, first);
      same.push_back(equal(s.loop, first, s.loop, second));
    }
    const int p = a[level].position, q = b[level].position;
    const bool deeper_a = level + 1 < a.size(), deeper_b = level + 1 < b.size();
    if (p != q) {
      Way way;
      const auto& [early, early_copy, late, late_copy] = p < q ? std::tie(a, first, b, second) : std::tie(b, second, a, first);
      way.along(early, level + 1, level + 1, true, early_copy);
      for (int k = std::min(p, q) + 1; k < std::max(p, q) && way.open; ++k) way.past(s.runs[static_cast<size_t>(k)], first);
      if (way.open) way.along(late, level + 1, level + 1, false, late_copy);
      keep(std::move(way));
      return result;
    }
    if (!deeper_a && !deeper_b) {
      keep(Way());
      return result;
    }
    // Two sides of one branch, of which a group takes one.
    if (!deeper_a || !deeper_b || a[level + 1].sequence != b[level + 1].sequence) return result;
  }
}

}  // namespace lathe::certificate
