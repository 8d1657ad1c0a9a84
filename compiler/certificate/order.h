// When two places of a kernel are reached without a barrier in between.
#pragma once

#include <memory>
#include <vector>

#include "ir/isl/points.h"
#include "ir/stmt.h"

namespace lathe::certificate {

// What a kernel runs one after the other, as far as barriers are concerned: positions, at each of which there is a
// barrier, a loop or branch that holds one, or all between two of these. A loop's body and a branch's sides are sequences
// of their own at a position of the sequence around them.
struct Sequence {
  std::shared_ptr<const Sequence> outer;
  int at = 0;               // the position in `outer`
  Var loop;                 // of a loop's body
  Expr begin, end;
  std::vector<Expr> runs;   // per position: a barrier surely runs there under this condition; undefined where it is hard to say
};
struct Place {
  std::shared_ptr<const Sequence> sequence;
  int position = 0;
};

// The ways in which one group can come from `a` (in the first copy) to `b` (in the second) or from `b` to `a`, and meet
// no barrier: one of these holds, given that both places are reached.
struct Unordered {
  std::vector<std::vector<Condition>> ways;
  bool exact = true;        // false: not each of them need be possible
};
Unordered unordered(const Place& a, const Place& b);

// The condition under which a sequence surely runs a barrier.
Expr runs_barrier(const Sequence& s);

}  // namespace lathe::certificate
