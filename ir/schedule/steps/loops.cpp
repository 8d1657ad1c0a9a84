// Steps that change which loops a stage has, and in what order they stand.
#include "ir/schedule/step_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/schedule/step_context.h"

namespace lathe {
namespace {

constexpr std::array all_tails = {Tail::guard, Tail::predicate, Tail::round_up, Tail::shift_inwards};

std::vector<std::string_view> tail_words() {
  std::vector<std::string_view> words;
  for (Tail t : all_tails) words.push_back(to_string(t));
  return words;
}

void split(StepContext& c, const AxisName& axis, const std::string& outer_name, const std::string& inner_name, int64_t factor, bool parts) {
  Stage& s = c.stage(axis.stage);
  const int l = c.plain_leaf(s, axis.axis);
  c.unoccupied(s, l);
  if (factor < 1 || factor > (int64_t{1} << 31))
    c.refuse(fmt::format("{} {} is out of range", parts ? "the number of parts" : "the factor", factor), "use 1 to 2147483648");
  const Tail tail = *std::find_if(all_tails.begin(), all_tails.end(), [&](Tail t) { return to_string(t) == c.step.word; });
  if (s.loops[l].is_reduction && tail == Tail::shift_inwards)
    c.refuse(fmt::format("{}.{} is a reduction loop: what is computed twice would count twice", s.name, s.loops[l].name),
             "use tail guard");
  c.split(s, l, {outer_name, inner_name}, factor, parts, tail);
}

void split_by(StepContext& c, bool parts) {
  split(c, c.step.axes[0], c.step.results[0], c.step.results[1], c.step.numbers[0], parts);
}

void fuse(StepContext& c) {
  if (c.step.axes.size() < 2) c.refuse("there is one loop to fuse", "name two or more");
  Stage& s = c.stage(c.step.axes[0].stage);
  int fused = c.plain_leaf(s, c.step.axes[0].axis);
  c.unoccupied(s, fused);
  for (size_t i = 1; i < c.step.axes.size(); ++i) {
    if (c.step.axes[i].stage != s.name) c.refuse("the loops belong to two stages", "fuse loops of one stage");
    const int next = c.plain_leaf(s, c.step.axes[i].axis);
    c.unoccupied(s, next);
    auto at = std::find(s.leaves.begin(), s.leaves.end(), fused);
    if (at + 1 == s.leaves.end() || at[1] != next)
      c.refuse(fmt::format("{}.{} does not stand right inside {}.{}", s.name, s.loops[next].name, s.name, s.loops[fused].name),
             "reorder the loops first");
    if (s.loops[fused].is_reduction != s.loops[next].is_reduction)
      c.refuse("one loop is a reduction, the other is not", "fuse data loops with data loops");
    const bool last = i + 1 == c.step.axes.size();
    const int merged = c.add_loop(s, last ? c.step.results[0] : fmt::format("{}_part{}", c.step.results[0], i), s.loops[next].is_reduction);
    s.relations.push_back({LoopRelation::Kind::fuse, fused, next, merged});
    at = std::find(s.leaves.begin(), s.leaves.end(), fused);
    *at = merged;
    s.leaves.erase(at + 1);
    fused = merged;
  }
}

void reorder(StepContext& c, const std::vector<AxisName>& axes) {
  Stage& s = c.stage(axes[0].stage);
  std::vector<int> wanted;
  for (const AxisName& a : axes) {
    if (a.stage != s.name) c.refuse("the loops belong to two stages", "reorder loops of one stage");
    const int l = c.leaf(s, a.axis);
    if (std::find(wanted.begin(), wanted.end(), l) != wanted.end())
      c.refuse(fmt::format("{}.{} stands twice", s.name, a.axis), "name each loop once");
    wanted.push_back(l);
  }
  size_t next = 0;
  for (int& l : s.leaves)
    if (std::find(wanted.begin(), wanted.end(), l) != wanted.end()) l = wanted[next++];
}

void tile(StepContext& c) {
  const auto& r = c.step.results;
  const AxisName &i = c.step.axes[0], &j = c.step.axes[1];
  if (i == j) c.refuse("both loops are the same", "name two loops");
  if (i.stage != j.stage) c.refuse("the loops belong to two stages", "tile two loops of one stage");
  split(c, i, r[0], r[2], c.step.numbers[0], false);
  split(c, j, r[1], r[3], c.step.numbers[1], false);
  reorder(c, {{i.stage, r[0]}, {i.stage, r[1]}, {i.stage, r[2]}, {i.stage, r[3]}});
}

}  // namespace

std::vector<StepRow> loop_steps() {
  return {
      {"split", "@A -> @R , @R by @N , tail @W", tail_words(), [](StepContext& c) { split_by(c, false); },
       "for i in n  ->  for i0 in ceil(n / 64) { for i1 in 64 { if i0 * 64 + i1 < n } }"},
      {"split_parts", "@A -> @R , @R into @N , tail @W", tail_words(), [](StepContext& c) { split_by(c, true); },
       "the same with the number of outer iterations given"},
      {"fuse", "@A* -> @R", {}, fuse, "for i in m { for j in n }  ->  for f in m * n, i = f / n, j = f % n"},
      {"tile", "@A , @A -> @R , @R , @R , @R by @N , @N , tail @W", tail_words(), tile, "split both, then outer i, outer j, inner i, inner j"},
      {"reorder", "@A*", {}, [](StepContext& c) { reorder(c, c.step.axes); }, "the named loops take one another's places, in this order"},
  };
}

}  // namespace lathe
