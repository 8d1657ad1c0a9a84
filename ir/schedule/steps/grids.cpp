// Steps that say in which order the work-groups of a kernel take on the blocks of its grid.
#include "ir/schedule/step_row.h"

#include <fmt/format.h>

#include "ir/schedule/step_context.h"

namespace lathe {
namespace {

constexpr int64_t most = 4096;

// The dimension of the grid that a loop is bound to.
int block_dimension(StepContext& c, Stage& s, const AxisName& axis) {
  if (axis.stage != s.name && c.stage(axis.stage).name != s.name) c.refuse("the loops belong to two stages", "order the blocks of one kernel");
  const StageLoop& loop = s.loops[c.leaf(s, axis.axis)];
  if (!is_block(loop.kind))
    c.refuse(fmt::format("{}.{} is {}, not bound to work-groups", s.name, loop.name, to_string(loop.kind)), "bind it to block_x, block_y or block_z first");
  return dimension(loop.kind);
}

BlockOrder& order_of(Stage& s) { return s.block_order ? *s.block_order : s.block_order.emplace(); }

void block_order(StepContext& c) {
  Stage& s = c.stage(c.step.axes[0].stage);
  const int rows = block_dimension(c, s, c.step.axes[0]), columns = block_dimension(c, s, c.step.axes[1]);
  if (rows == columns) c.refuse("both loops are the same", "name the loop over rows and the one over columns");
  const int64_t group = c.step.numbers[0];
  if (group < 1 || group > most) c.refuse(fmt::format("groups of {} rows are out of range", group), fmt::format("use 1 to {}", most));
  BlockOrder& order = order_of(s);
  order.rows = rows;
  order.columns = columns;
  order.group = group;
}

void chiplet_order(StepContext& c) {
  Stage& s = c.stage(c.step.axes[0].stage);
  block_dimension(c, s, c.step.axes[0]);
  const int64_t chiplets = c.step.numbers[0];
  if (chiplets < 1 || chiplets > most) c.refuse(fmt::format("{} chiplets are out of range", chiplets), fmt::format("use 1 to {}, on gfx942 8", most));
  order_of(s).chiplets = chiplets;
}

}  // namespace

std::vector<StepRow> grid_steps() {
  return {
      {"block_order", "@A , @A grouped by @N", {}, block_order,
       "so many rows of blocks walk the columns together: what they read of both stays in L2"},
      {"chiplet_order", "@A over @N", {}, chiplet_order,
       "work-groups go to the chiplets in turn: each chiplet gets blocks that are neighbours"},
  };
}

}  // namespace lathe
