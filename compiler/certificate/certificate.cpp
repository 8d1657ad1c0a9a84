#include "compiler/certificate/certificate.h"

#include <fmt/format.h>

#include "compiler/certificate/coverage.h"
#include "compiler/certificate/groups.h"
#include "compiler/certificate/questions.h"
#include "compiler/certificate/same_indices.h"
#include "ir/print.h"
#include "runtime/base/error.h"

namespace lathe {
namespace certificate {
namespace {

class KernelCertificate {
 public:
  KernelCertificate(const LoweredFunction& f, const Kernel& k, const Kernel& flat, const Target& target, std::vector<Claim>& claims)
      : function_(f), kernel_(k), flat_(flat), target_(target), accesses_(accesses_of(k)), group_(f, k, accesses_, true), grid_(f, k, accesses_, false), claims_(claims) {}

  void run() {
    bounds();
    for (size_t b = 0; b < kernel_.buffers.size(); ++b)
      if (kernel_.written[b]) global(kernel_.buffers[b]);
    for (const Tensor& t : accesses_.shared) order(t);
    barriers();
    limits();
    claim("indices", same_indices(group_, kernel_, flat_), "flat indices are the row-major sums, and fit the integers they are computed in");
  }

 private:
  void claim(const std::string& kind, const Answer& a, const std::string& proved) {
    claims_.push_back({a.verdict, kind, fmt::format("{}: {}", kernel_.name, a.verdict == Verdict::proved ? proved : a.detail)});
  }

  void bounds() {
    Answer all;
    std::vector<const Access*> accesses;
    for (const Access& a : accesses_.accesses) accesses.push_back(&a);
    for (const Group& g : groups_of(accesses, accesses_.lane, group_.refuter(), false)) bounds(g, all);
    claim("bounds", all, fmt::format("all {} accesses are inside their tensors", accesses.size()));
  }
  void bounds(const Group& g, Answer& all) {
    if (all.verdict == Verdict::disproved) return;
    const Access& a = g.wide;
    const auto outside = [&](size_t d, bool below) {
      const Expr i = make_cast(i64, a.indices[d]);
      return group_.reached(a.domain, first) + Conditions{holds(below ? i < 0 : i >= a.tensor.shape()[d])};
    };
    bool inside = true;
    for (size_t d = 0; d < a.indices.size() && inside; ++d) inside = group_.excluded(outside(d, true)) && group_.excluded(outside(d, false));
    if (inside) return;
    const std::vector<Group> parts = parts_of(g);
    for (const Group& part : parts) bounds(part, all);
    if (!parts.empty()) return;
    for (size_t d = 0; d < a.indices.size(); ++d)
      for (bool below : {true, false}) {
        const std::string what = fmt::format("{} {} outside dimension {} of {} elements", a.text(), a.write ? "writes" : "reads", d, to_string(a.tensor.shape()[d]));
        all.worse(group_.never(what, outside(d, below)));
      }
  }

  bool is_output(const Tensor& t) const {
    for (size_t a = 0; a < function_.arguments.size(); ++a)
      if (function_.arguments[a].name() == t.name()) return function_.is_output[a];
    return false;
  }

  std::vector<const Access*> of(const Tensor& t, bool write) const {
    std::vector<const Access*> result;
    for (const Access& a : accesses_.accesses)
      if (a.tensor.same_as(t) && a.write == write) result.push_back(&a);
    return result;
  }
  std::vector<Group> groups(const std::vector<const Access*>& accesses, bool apart) { return groups_of(accesses, accesses_.lane, group_.refuter(), apart); }

  void global(const Tensor& t) {
    const auto writes = of(t, true), reads = of(t, false);
    if (is_output(t)) {
      Answer once;
      pairs(groups(writes, false), groups(writes, false), true, once, [&](const Access& a, const Access& b) -> Question {
        return {&grid_, fmt::format("two work-items write one element, by {} and by {}", a.text(), b.text()), grid_.meet(a, b) + Conditions{grid_.different()}};
      });
      once.worse(written_everywhere(t, writes, accesses_.lane, grid_));
      claim("written once", once, fmt::format("every element of {} is written, by one work-item", t.name()));
    }
    if (reads.empty() && is_output(t)) return;
    Answer ordered;
    const auto within = [&](const Access& a, const Access& b) { return conflict(a, b); };
    const auto across = [&](const Access& a, const Access& b) -> Question {
      return {&grid_, fmt::format("{} is written by one work-group and {} {} by another", a.text(), b.text(), b.write ? "written" : "read"),
              grid_.meet(a, b) + Conditions{grid_.different_groups()}};
    };
    pairs(groups(writes, true), groups(reads, true), false, ordered, within);
    pairs(groups(writes, false), groups(reads, false), false, ordered, across);
    if (!is_output(t)) {
      pairs(groups(writes, true), groups(writes, true), true, ordered, within);
      pairs(groups(writes, false), groups(writes, false), true, ordered, across);
    }
    claim("order", ordered, fmt::format("what is written to {} meets other accesses of the same work-item, or after a barrier", t.name()));
  }

  void order(const Tensor& t) {
    const auto writes = groups(of(t, true), true), reads = groups(of(t, false), true);
    Answer all;
    const auto ask = [&](const Access& a, const Access& b) { return conflict(a, b); };
    pairs(writes, writes, true, all, ask);
    pairs(writes, reads, false, all, ask);
    claim("order", all, fmt::format("between accesses of different work-items to {} stands a barrier", t.name()));
  }

  // What two accesses may not do, and the conditions under which they do; of no questions: it cannot be.
  struct Question {
    Questions* of = nullptr;
    std::string what;
    Conditions bad;
    bool exact = true;
  };

  // Do different work-items of a group meet in an element with no barrier in between?
  Question conflict(const Access& a, const Access& b) {
    Unordered free = unordered(a.place, b.place);
    if (free.ways.empty()) return {};
    return {&group_, fmt::format("{} is written by one work-item and {} {} by another with no barrier in between", a.text(), b.text(), b.write ? "written" : "read"),
            group_.meet(a, b) + Conditions{any_of(std::move(free.ways)), group_.different_items()}, free.exact};
  }

  // Each of `x` with each of `y`, as groups where that is proof enough, else in parts. `same`: both are the same list.
  template <class F>
  void pairs(const std::vector<Group>& x, const std::vector<Group>& y, bool same, Answer& all, const F& ask) {
    for (size_t k = 0; k < x.size(); ++k)
      for (size_t n = same ? k : 0; n < y.size(); ++n) pair(x[k], y[n], same && k == n, all, ask);
  }
  template <class F>
  void pair(const Group& x, const Group& y, bool same, Answer& all, const F& ask) {
    if (all.verdict == Verdict::disproved) return;
    const Question question = ask(x.wide, y.wide);
    if (!question.of || question.of->excluded(question.bad)) return;
    if (same && x.members.size() > 1) {
      const std::vector<Group> parts = parts_of(x);
      pairs(parts, parts, true, all, ask);
    } else if (x.members.size() > 1 || y.members.size() > 1) {
      const bool split_x = x.members.size() >= y.members.size();
      const std::vector<Group> parts = parts_of(split_x ? x : y);
      for (const Group& part : parts) split_x ? pair(part, y, false, all, ask) : pair(x, part, false, all, ask);
    } else {
      all.worse(question.of->never(question.what, question.bad, question.exact));
    }
  }

  void barriers() {
    if (accesses_.barriers.empty()) return;
    Answer all;
    for (const BarrierAt& b : accesses_.barriers)
      if (!b.divergent.empty()) all.worse(Verdict::disproved, "a barrier stands where work-items of a group may part: under " + b.divergent);
    claim("barriers", all, fmt::format("all {} barriers stand in uniform flow", accesses_.barriers.size()));
  }

  void limits() {
    Answer all;
    const int64_t items = kernel_.block[0] * kernel_.block[1] * kernel_.block[2];
    if (items > max_threads_per_group) all.worse(Verdict::disproved, fmt::format("{} work-items in a group, at most {} are allowed", items, max_threads_per_group));
    int64_t lds = 0;
    for (const Tensor& t : accesses_.shared) {
      int64_t bytes = (t.type().bits + 7) / 8;
      for (const Expr& extent : t.shape()) {
        const int64_t* e = as_constant(extent);
        if (!e) all.worse(Verdict::disproved, fmt::format("the size of {} in LDS is not a number", t.name()));
        bytes *= e ? *e : 0;
      }
      lds += bytes;
    }
    if (lds > target_.gfx->lds_bytes) all.worse(Verdict::disproved, fmt::format("{} bytes of LDS, {} has {}", lds, target_.gfx->name, target_.gfx->lds_bytes));
    claim("limits", all, fmt::format("{} work-items of at most {}, {} bytes of LDS of {}", items, max_threads_per_group, lds, target_.gfx->lds_bytes));
  }

  const LoweredFunction& function_;
  const Kernel& kernel_;
  const Kernel& flat_;
  const Target& target_;
  KernelAccesses accesses_;
  Questions group_, grid_;
  std::vector<Claim>& claims_;
};

}  // namespace
}  // namespace certificate

Verdict Certificate::verdict() const {
  Verdict worst = Verdict::proved;
  for (const Claim& c : claims) {
    if (c.verdict == Verdict::disproved) return c.verdict;
    if (c.verdict == Verdict::undecided) worst = c.verdict;
  }
  return worst;
}

std::string Certificate::text() const {
  std::string t;
  for (const Claim& c : claims) t += to_string(c) + "\n";
  return t;
}

Certificate certify(const LoweredFunction& nested, const LoweredFunction& flat, const Target& target) {
  Certificate result;
  for (size_t k = 0; k < nested.kernels.size(); ++k) certificate::KernelCertificate(nested, nested.kernels[k], flat.kernels.at(k), target, result.claims).run();
  return result;
}

}  // namespace lathe
