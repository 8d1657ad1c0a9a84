// Rewriting a statement with what is known at each place in it: loop ranges, and the conditions that hold there.
#pragma once

#include "compiler/lowering.h"
#include "ir/simplify.h"

namespace lathe {

// Symbols are extents, not negative; what is promised of them is checked at every launch.
Facts symbol_facts(const LoweredFunction& f);
// Those, and the ranges of the kernel's work-group and work-item indices.
Facts kernel_facts(const LoweredFunction& f, const Kernel& k);

// `s` with every condition (of branches and of selects) reduced to what `facts` do not decide, and every index
// simplified under them. Branches that never run are dropped.
Stmt refine(const Stmt& s, const Facts& facts);

}  // namespace lathe
