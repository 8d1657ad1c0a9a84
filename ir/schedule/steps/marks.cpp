// Steps that say how the iterations of a loop run.
#include "ir/schedule/step_row.h"

#include <fmt/format.h>

#include "ir/schedule/step_context.h"
#include "runtime/base/target.h"

namespace lathe {
namespace {

void bind(StepContext& c) {
  Stage& s = c.stage(c.step.axes[0].stage);
  const int l = c.plain_leaf(s, c.step.axes[0].axis);
  LoopKind kind = LoopKind::serial;
  for (LoopKind k : {block_x, block_y, block_z, thread_x, thread_y, thread_z})
    if (to_string(k) == c.step.word) kind = k;
  if (s.loops[l].is_reduction && is_block(kind))
    c.refuse(fmt::format("{}.{} is a reduction loop: work-groups cannot combine their results", s.name, s.loops[l].name),
             "bind it to thread_x, thread_y or thread_z, or rfactor it and bind the loop of its partial results");
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
  const auto extent = constant_extent(s, l);
  const bool vector = kind == LoopKind::vectorized;
  if (vector) c.unoccupied(s, l);
  if (vector && s.loops[l].is_reduction)
    c.refuse(fmt::format("{}.{} is a reduction loop: its lanes would write one element", s.name, s.loops[l].name),
           "vectorize a data loop");
  const int64_t most = vector ? 64 : 1024;
  if (extent && *extent > most)
    c.refuse(fmt::format("{}.{} has extent {}, at most {} can be {}", s.name, s.loops[l].name, *extent, most, to_string(kind)),
           "split it by a smaller factor first");
  s.loops[l].kind = kind;
}

}  // namespace

std::vector<StepRow> mark_steps() {
  return {
      {"bind", "@A to @W", {"block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z"}, bind,
       "iterations become work-groups or work-items; a reduction loop's work-items combine what they have"},
      {"vectorize", "@A", {}, [](StepContext& c) { mark(c, LoopKind::vectorized); }, "iterations become the lanes of vectors"},
      {"unroll", "@A", {}, [](StepContext& c) { mark(c, LoopKind::unrolled); }, "iterations are written out"},
  };
}

}  // namespace lathe
