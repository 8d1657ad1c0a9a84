// Steps that let what a loop uses be made in earlier iterations.
#include "ir/schedule/step_row.h"

#include <fmt/format.h>

#include "ir/schedule/step_context.h"

namespace lathe {
namespace {

void pipeline(StepContext& c) {
  Stage& s = c.stage(c.step.axes[0].stage);
  const int l = c.plain_leaf(s, c.step.axes[0].axis);
  const int64_t stages = c.step.numbers[0];
  if (stages < 2 || stages > 8)
    c.refuse(fmt::format("{} stages are not possible", stages), "use 2 to 8: that many copies of each tile are kept");
  for (const Stage& other : c.stages)
    if (other.double_buffered && other.attach == AttachKind::at && other.attach_stage == s.name && other.attach_loop == s.loops[l].name)
      c.refuse(fmt::format("{} is double-buffered there already", other.name), "use one of the two steps");
  s.loops[l].stages = stages;
}

void double_buffer(StepContext& c) {
  Stage& s = c.stage(c.step.tensors[0]);
  if (s.attach != AttachKind::at)
    c.refuse(fmt::format("{} is computed at the root", s.name), "compute_at it inside the loop that uses it tile by tile");
  const Stage& host = c.stage(s.attach_stage);
  const StageLoop* loop = host.find_leaf(s.attach_loop);
  if (!loop || loop->kind != LoopKind::serial)
    c.refuse(fmt::format("{}.{}, at which it is computed, is not a serial loop", host.name, s.attach_loop),
             "compute it at a loop whose iterations run one after the other");
  if (s.double_buffered || loop->stages > 1)
    c.refuse(fmt::format("{} is computed ahead already", s.name), "one pipeline or double_buffer is enough");
  s.double_buffered = true;
}

}  // namespace

std::vector<StepRow> pipeline_steps() {
  return {
      {"pipeline", "@A stages @N", {}, pipeline, "what is computed at that loop runs that many iterations less one ahead, in as many copies"},
      {"double_buffer", "@T", {}, double_buffer, "P of the next iteration is made while this one's is used"},
  };
}

}  // namespace lathe
