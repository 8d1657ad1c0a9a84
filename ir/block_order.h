// Which block of the grid each work-group of a kernel with a BlockOrder takes.
#pragma once

#include <array>

#include "ir/stmt.h"

namespace lathe {

// Work-groups along x, y, z as they are launched: with an order all stand along x.
std::vector<Expr> launched_grid(const Kernel& k);

// The kernel's block_index values for work-group `group` (a u32 below the number of blocks): a bijection, whatever the
// grid's extents.
std::array<Expr, 3> ordered_block(const Kernel& k, const Var& group);

}  // namespace lathe
