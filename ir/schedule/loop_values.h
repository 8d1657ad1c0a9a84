// What a stage's loops run to, and what its axes are in terms of the loops that run: both follow from its relations.
#pragma once

#include <functional>
#include <vector>

#include "ir/schedule/schedule.h"

namespace lathe {

// Beside Stage::loops, from the extents of the axes and then of the reduction's axes. `before_split` sees each split, with
// the extents so far, before it is made.
using BeforeSplit = std::function<void(const LoopRelation&, std::vector<Expr>& extents)>;
std::vector<Expr> loop_extents(const Stage& stage, const std::vector<Expr>& axis_extents, const BeforeSplit& before_split = {});

// Beside Stage::loops: each loop's value as an expression of the leaves' variables.
std::vector<Expr> loop_values(const Stage& stage, const std::vector<Expr>& extents);

// Does this split make iterations beyond the end of the loop that it splits? An exact one does not; a symbolic one may.
bool has_tail(const LoopRelation& relation, const std::vector<Expr>& extents);

}  // namespace lathe
