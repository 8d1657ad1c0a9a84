#include "compiler/certificate/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "ir/visit.h"

namespace lathe::certificate {
namespace {

// The one access that stands for all.
void widen(Group& g) {
  g.wide = *g.members[0];
  if (g.members.size() == 1) return;
  for (const Access* m : g.members) g.wide.domain = common(g.wide.domain, m->domain);
  for (size_t d = 0; d < g.wide.indices.size(); ++d) {
    auto [least, most] = g.where[0].offset[d];
    const int64_t own = least;
    for (const Where& w : g.where) least = std::min(least, w.offset[d].first), most = std::max(most, w.offset[d].second);
    g.wide.indices[d] = g.where[0].first[d];
    if (least == most) continue;
    const Var offset(fmt::format("offset{}", d));
    g.wide.indices[d] = make_cast(i64, g.wide.indices[d]) - own + offset;
    g.wide.domain = under(g.wide.domain, offset >= least && offset <= most);
  }
}

std::vector<Group> widened(std::vector<Group> groups) {
  for (Group& g : groups) widen(g);
  return groups;
}

void add_to(Group& g, const Access* a, Where w) {
  for (size_t k = 0; k < g.members.size(); ++k)
    if (g.members[k]->domain == a->domain && g.where[k].offset == w.offset && g.members[k]->place.sequence == a->place.sequence && g.members[k]->place.position == a->place.position) return;
  g.members.push_back(a);
  g.where.push_back(std::move(w));
}

}  // namespace

Where where(const Access& a, const Var& lane, Refuter& refuter) {
  Where w;
  const int lane_variable = refuter.variable_of(lane, 0);
  for (const Expr& i : a.indices) {
    Linear l = refuter.value(i, 0);
    int64_t least = l.constant, most = l.constant;
    l.constant = 0;
    Expr start = i;
    if (const auto found = std::find(l.terms.begin(), l.terms.end(), std::pair{lane_variable, int64_t{1}}); found != l.terms.end()) {
      std::vector<std::pair<int, int64_t>> rest = l.terms;
      rest.erase(rest.begin() + (found - l.terms.begin()));
      const Expr zeroth = substitute(i, {{lane.node(), constant(i64, int64_t{0})}});
      // Not where the lane is in a quotient, too.
      if (refuter.value(zeroth, 0).terms == rest) l.terms = std::move(rest), most += a.lanes - 1, start = zeroth;
    }
    w.first.push_back(std::move(start));
    w.sum.push_back(std::move(l));
    w.offset.emplace_back(least, most);
  }
  return w;
}

std::vector<Group> groups_of(const std::vector<const Access*>& accesses, const Var& lane, Refuter& refuter, bool apart) {
  std::vector<Group> groups;
  std::map<std::tuple<const TensorNode*, bool, const Sequence*, int, std::vector<Linear>>, size_t> known;
  for (const Access* a : accesses) {
    Where w = where(*a, lane, refuter);
    const auto [found, fresh] = known.emplace(
        std::tuple{a->tensor.get(), a->write, apart ? a->place.sequence.get() : nullptr, apart ? a->place.position : 0, w.sum}, groups.size());
    if (fresh) groups.emplace_back();
    add_to(groups[found->second], a, std::move(w));
  }
  return widened(std::move(groups));
}

std::vector<Group> parts_of(const Group& g) {
  if (g.members.size() == 1) return {};
  DomainRef around = g.members[0]->domain;
  for (const Access* m : g.members) around = common(around, m->domain);
  const int depth = around ? around->depth : 0;
  // By the condition below what is around all; then one by one.
  std::vector<Group> parts;
  std::map<const Domain*, size_t> known;
  bool several = false;
  for (const Access* m : g.members) several |= m->domain != g.members[0]->domain;
  for (size_t k = 0; k < g.members.size(); ++k) {
    const Domain* below = g.members[k]->domain.get();
    while (below && below->depth > depth + 1) below = below->outer.get();
    const auto [found, fresh] = known.emplace(below, parts.size());
    if (fresh || !several) parts.emplace_back();
    add_to(parts[several ? found->second : parts.size() - 1], g.members[k], g.where[k]);
  }
  return widened(std::move(parts));
}

}  // namespace lathe::certificate
