// Steps that say how the iterations of a loop run.
#include "ir/schedule/step_row.h"

#include <fmt/format.h>

#include "ir/schedule/step_context.h"
#include "runtime/base/target.h"

namespace lathe {
namespace {

// Each iteration of such a loop becomes code, or a lane, of its own.
void written_out(const StepContext& c, const Stage& s, int loop, LoopKind kind, int64_t most) {
  const auto extent = constant_extent(s, loop);
  if (extent && *extent > most)
    c.refuse(fmt::format("{}.{} has extent {}, at most {} can be {}", s.name, s.loops[loop].name, *extent, most, to_string(kind)),
           "split it by a smaller factor first");
}

void bind(StepContext& c) {
  Stage& s = c.stage(c.step.axes[0].stage);
  const int l = c.plain_leaf(s, c.step.axes[0].axis);
  LoopKind kind = LoopKind::serial;
  for (LoopKind k : {block_x, block_y, block_z, thread_x, thread_y, thread_z, virtual_thread})
    if (to_string(k) == c.step.word) kind = k;
  if (s.loops[l].is_reduction && (is_block(kind) || kind == virtual_thread))
    c.refuse(fmt::format("{}.{} is a reduction loop: {} cannot combine their results", s.name, s.loops[l].name,
                         is_block(kind) ? "work-groups" : "virtual threads"),
             "bind it to thread_x, thread_y or thread_z, or rfactor it and bind the loop of its partial results");
  if (kind == virtual_thread) {
    written_out(c, s, l, kind, 64);
    s.loops[l].kind = kind;
    return;
  }
  for (int other : s.leaves)
    if (s.loops[other].kind == kind)
      c.refuse(fmt::format("{}.{} is bound to {} already", s.name, s.loops[other].name, c.step.word), "use another index");
  s.loops[l].kind = kind;
  if (!is_thread(kind)) return;
  int64_t product = 1;
  for (int other : s.leaves) {
    if (!is_thread(s.loops[other].kind)) continue;
    const auto extent = constant_extent(s, other);
    if (!extent) continue;
    if (*extent > max_group_extent)
      c.refuse(fmt::format("{}.{} has extent {}, {} takes at most {}", s.name, s.loops[other].name, *extent,
                         to_string(s.loops[other].kind), max_group_extent),
             fmt::format("split it by at most {} first", max_group_extent));
    product *= *extent;
  }
  if (product > max_threads_per_group)
    c.refuse(fmt::format("the work-group would have {} work-items, at most {} are possible", product, max_threads_per_group),
           "use smaller split factors");
}

void mark(StepContext& c, LoopKind kind) {
  Stage& s = c.stage(c.step.axes[0].stage);
  const int l = c.plain_leaf(s, c.step.axes[0].axis);
  const bool vector = kind == LoopKind::vectorized;
  if (vector) c.unoccupied(s, l);
  if (vector && s.loops[l].is_reduction)
    c.refuse(fmt::format("{}.{} is a reduction loop: its lanes would write one element", s.name, s.loops[l].name),
           "vectorize a data loop");
  written_out(c, s, l, kind, vector ? 64 : 1024);
  s.loops[l].kind = kind;
}

// With a number: that many iterations at a time.
void unroll(StepContext& c) {
  if (c.step.numbers.empty()) return mark(c, LoopKind::unrolled);
  const int64_t most = c.step.numbers[0];
  if (most < 1 || most > 1024) c.refuse(fmt::format("{} iterations at a time are out of range", most), "use 1 to 1024");
  Stage& s = c.stage(c.step.axes[0].stage);
  const int l = c.plain_leaf(s, c.step.axes[0].axis);
  if (const auto extent = constant_extent(s, l); extent && *extent <= most) return mark(c, LoopKind::unrolled);
  c.unoccupied(s, l);
  const std::string name = s.loops[l].name;
  const auto [outer, inner] = c.split(s, l, {fresh_loop(s, name + "0"), fresh_loop(s, name + "1")}, most, false, Tail::guard);
  s.loops[inner].kind = LoopKind::unrolled;
}

}  // namespace

std::vector<StepRow> mark_steps() {
  return {
      {"bind", "@A to @W", {"block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z", "virtual"}, bind,
       "iterations become work-groups, work-items (those of a reduction loop combine what they have), or with virtual parts that each "
       "work-item plays"},
      {"vectorize", "@A", {}, [](StepContext& c) { mark(c, LoopKind::vectorized); }, "iterations become the lanes of vectors"},
      {"unroll", "@A ?by @N", {}, unroll, "iterations are written out, all or so many at a time"},
  };
}

}  // namespace lathe
