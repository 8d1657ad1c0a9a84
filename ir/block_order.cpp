#include "ir/block_order.h"

namespace lathe {

std::vector<Expr> launched_grid(const Kernel& k) {
  if (!k.order) return k.grid;
  return {k.grid[0] * k.grid[1] * k.grid[2], 1, 1};
}

std::array<Expr, 3> ordered_block(const Kernel& k, const Var& group) {
  const BlockOrder& order = *k.order;
  std::array<Expr, 3> extent;
  for (size_t d = 0; d < 3; ++d) extent[d] = make_cast(u32, k.grid[d]);
  const auto number = [](int64_t n) { return constant(u32, n); };
  Expr p = group;
  if (order.chiplets > 1) {
    // Chiplet c gets work-groups c, c + chiplets, …: they take the c-th run of blocks. The first `longer` runs have one more.
    const Expr all = extent[0] * extent[1] * extent[2], count = number(order.chiplets);
    const Expr chiplet = p % count, longer = all % count;
    p = chiplet * (all / count) + min(chiplet, longer) + p / count;
  }
  const Expr rows = extent[order.rows], columns = extent[order.columns], layer = rows * columns;
  const Expr q = p % layer;
  std::array<Expr, 3> block;
  block[3 - order.rows - order.columns] = p / layer;
  if (order.group > 1) {
    const Expr size = number(order.group) * columns, first = q / size * number(order.group);
    const Expr height = min(rows - first, number(order.group));  // the last group may have fewer rows
    block[order.rows] = first + q % size % height;
    block[order.columns] = q % size / height;
  } else {
    block[order.rows] = q / columns;
    block[order.columns] = q % columns;
  }
  return block;
}

}  // namespace lathe
