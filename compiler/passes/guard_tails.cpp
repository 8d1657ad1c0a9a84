// guard_tails: drops every guard that always holds, and whatever never runs.
//
//   before  for i0 in 0 .. 4 { for i1 in 0 .. 16 { if i0 * 16 + i1 < 64 { … select(i1 >= 0, a, b) … } } }
//   after   for i0 in 0 .. 4 { for i1 in 0 .. 16 { … a … } }
//
// Conditions are kept or dropped one conjunct at a time, each a question to isl under the loop ranges and branches
// around it; indices are simplified under the same facts. It stands right after build_loops, which writes down every
// condition that a split or a region may need, so that partition_tails sees real tails alone.
#include "compiler/passes/passes.h"
#include "compiler/passes/with_facts.h"

namespace lathe {

void guard_tails(Lowering& l) { l.function.body = refine(l.function.body, symbol_facts(l.function)); }

}  // namespace lathe
