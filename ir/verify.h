// What must hold of a lowered function between passes. A violation is a mistake of ours, never of the user.
#pragma once

#include <string>
#include <vector>

#include "ir/stmt.h"

namespace lathe {

// How far a function has come. Each stage keeps what the earlier ones promise (but that flat tensors have one index,
// and a function split into kernels has no body of its own).
enum class Stage : uint8_t {
  looped,      // loops instead of definitions: no reduction is left, no value is a vector
  bound,       // a bound loop starts at 0; a thread loop's extent is a number; no index is bound twice on one path
  vectorized,  // no vectorized loop is left; values may be vectors
  unrolled,    // no unrolled loop is left
  flat,        // every access has one index
  kernels,     // kernels instead of a body: no bound loop is left
};
std::string_view to_string(Stage stage);

// One line for each violation, with the statement at fault; empty when all is well. At every stage:
//   - a variable is used inside what binds it (a loop, the function's or kernel's symbols and indices), and nothing
//     binds it again in there (the same variable may serve in two loops that stand side by side);
//   - a tensor is an argument, a workspace, or used inside its allocation; only outputs, workspaces and allocations are
//     stored to;
//   - accesses have as many indices as the tensor has extents, and values have the element's type;
//   - loop bounds are i64, conditions are bool, both scalars;
//   - no barrier stands under a condition or loop bound that work-items of a group may see differently.
std::vector<std::string> violations(const Function& function, Stage stage);

// LATHE_CHECK that there are none. `after` says which pass made the function.
void verify(const Function& function, Stage stage, std::string_view after);

}  // namespace lathe
