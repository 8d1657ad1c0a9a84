// The evaluator: what a program means, as plain loops over its definitions. It knows nothing of schedules, and it is
// the oracle that kernels and passes are compared with.
//
// A reduction's axes are nested loops in their declared order, the last innermost; the accumulators start at the
// identity, and each step is exactly `combine` of expr.h. A NaN's payload is not specified.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/program.h"
#include "ir/stmt.h"

namespace lathe {

// A dense tensor in host memory, the last axis varying fastest. A bool is one byte (0 or 1); f16, bf16 and the 8-bit
// floats are their bits.
struct BufferView {
  DType type;
  std::vector<int64_t> shape;
  std::byte* data = nullptr;
};

// Fills the outputs among `arguments`, which stand in the program's order. A shape expression that is a lone symbol
// binds the symbol; all others are checked. Throws Error on a count, type or shape that does not fit, and on an index
// outside a tensor; the branch of a select, && or || that is not taken is not evaluated.
void evaluate(const Program& program, std::span<const BufferView> arguments);

// The same for lowered statements, or for kernels once the function is split into them: the test voice of passes.
// Work-groups run one after another. The work-items of a group run one after another from barrier to barrier, which is
// right where no two of them conflict between barriers. Beside what is refused above: a read of an element that
// nothing wrote (of an output, a workspace or an allocation), and a barrier that work-items reach under different
// conditions or loop bounds.
void evaluate(const LoweredFunction& function, std::span<const BufferView> arguments);

}  // namespace lathe
