#include "compiler/certificate/certificate.h"

#include <fmt/format.h>

#include <map>

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
    for (const Access& a : accesses_.accesses) {
      for (size_t d = 0; d < a.indices.size(); ++d) {
        const Expr i = make_cast(i64, a.indices[d]), extent = a.tensor.shape()[d];
        const std::string what = fmt::format("{} {} outside dimension {} of {} elements", a.text, a.write ? "writes" : "reads", d, to_string(extent));
        const Answer one = never(what, [&](bool every) { return group_.where(a.domain, i < 0 || i >= extent, every); });
        all.worse(one);
      }
    }
    claim("bounds", all, fmt::format("all {} accesses are inside their tensors", accesses_.accesses.size()));
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

  void global(const Tensor& t) {
    const auto writes = of(t, true), reads = of(t, false);
    if (is_output(t)) {
      Answer once;
      for (size_t x = 0; x < writes.size(); ++x)
        for (size_t y = x; y < writes.size(); ++y) {
          const std::string what = fmt::format("two work-items write one element, by {} and by {}", writes[x]->text, writes[y]->text);
          once.worse(never(what, [&](bool) { return group_.meet(*writes[x], *writes[y]) & group_.different_items(); }));
          once.worse(never(what, [&](bool) { return grid_.meet(*writes[x], *writes[y]) & grid_.different_groups(); }));
        }
      const Answer whole = never(fmt::format("an element of {} is not written", t.name()), [&](bool) { return missing(t, writes); });
      once.worse(whole);
      claim("written once", once, fmt::format("every element of {} is written, by one work-item", t.name()));
    }
    if (reads.empty()) return;
    Answer ordered;
    for (const Access* w : writes)
      for (const Access* r : reads) {
        conflict(*w, *r, ordered);
        const std::string what = fmt::format("{} is written by one work-group and {} read by another", w->text, r->text);
        ordered.worse(never(what, [&](bool) { return grid_.meet(*w, *r) & grid_.different_groups(); }));
      }
    claim("order", ordered, fmt::format("what is written to {} is read by the same work-item, or after a barrier", t.name()));
  }

  // The elements that no write reaches.
  Points missing(const Tensor& t, const std::vector<const Access*>& writes) {
    PointSpace& space = grid_.space();
    std::vector<Var> element;
    Points left = grid_.reached(nullptr, first);
    for (const Expr& extent : t.shape()) {
      element.emplace_back("element");
      space.share(element.back());
      left = left & space.where(element.back() >= 0 && element.back() < extent);
    }
    for (const Access* w : writes) {
      Points reached = grid_.reached(w->domain, first);
      for (size_t d = 0; d < element.size(); ++d) reached = reached & space.equal(w->indices[d], first, element[d], first);
      left = left - reached.without_copy(first);
      if (left.is_empty()) break;
    }
    return left;
  }

  void order(const Tensor& t) {
    const auto writes = of(t, true), reads = of(t, false);
    Answer all;
    for (size_t x = 0; x < writes.size(); ++x) {
      for (size_t y = x; y < writes.size(); ++y) conflict(*writes[x], *writes[y], all);
      for (const Access* r : reads) conflict(*writes[x], *r, all);
    }
    claim("order", all, fmt::format("between accesses of different work-items to {} stands a barrier", t.name()));
  }

  // Do different work-items of a group meet in an element with no barrier in between?
  void conflict(const Access& a, const Access& b, Answer& all) {
    const std::string what = fmt::format("{} is written by one work-item and {} {} by another with no barrier in between", a.text, b.text, b.write ? "written" : "read");
    all.worse(never(what, [&](bool) {
      const auto key = std::pair{position(a.moment), position(b.moment)};
      auto free = unordered_.find(key);
      if (free == unordered_.end()) free = unordered_.emplace(key, group_.unordered(a.moment, b.moment)).first;
      if (free->second.is_empty()) return free->second;
      return group_.meet(a, b) & free->second & group_.different_items();
    }));
  }
  static std::string position(const Moment& m) {
    std::string s;
    for (size_t k = 0; k < m.steps.size(); ++k) s += fmt::format("{}.{} ", m.steps[k], k < m.loops.size() ? static_cast<const void*>(m.loops[k].node()) : nullptr);
    return s;
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
  std::map<std::pair<std::string, std::string>, Points> unordered_;  // by moments
  std::vector<Claim>& claims_;
};

}  // namespace
}  // namespace certificate

std::string_view to_string(Verdict v) {
  switch (v) {
    case Verdict::proved: return "proved";
    case Verdict::disproved: return "disproved";
    case Verdict::undecided: return "undecided";
  }
  return "";
}

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
  for (const Claim& c : claims) t += fmt::format("{:<10} {:<13} {}\n", to_string(c.verdict), c.kind, c.what);
  return t;
}

Certificate certify(const LoweredFunction& nested, const LoweredFunction& flat, const Target& target) {
  Certificate result;
  for (size_t k = 0; k < nested.kernels.size(); ++k) certificate::KernelCertificate(nested, nested.kernels[k], flat.kernels.at(k), target, result.claims).run();
  return result;
}

}  // namespace lathe
