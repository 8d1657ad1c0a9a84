// What must hold of a lowered function between passes. A violation is a mistake of ours, never of the user.
#pragma once

#include <string>
#include <vector>

#include "ir/stmt.h"

namespace lathe {

// How far a function has come. Each form keeps what the earlier ones promise.
enum class Form : uint8_t {
  looped,      // loops instead of definitions: no reduction is left, and no value is a vector. A bound loop starts at 0,
               // a thread loop's extent is a number, no work-group index is bound twice on one path, and a work-item
               // index only with one extent
  kernels,     // kernels instead of a body: no bound loop is left
  vectorized,  // no vectorized loop is left; values may be vectors
  unrolled,    // no unrolled loop is left
  flat,        // every tensor has one extent, every access one index
};
std::string_view to_string(Form form);

// One line for each violation, with the statement at fault; empty when all is well. In every form:
//   - a variable is used inside what binds it (a loop, the function's or kernel's symbols and indices), and nothing
//     binds it again in there (the same variable may serve in two loops that stand side by side);
//   - a tensor is an argument, a workspace, or used inside its allocation; only outputs, workspaces and allocations are
//     stored to;
//   - accesses have as many indices as the tensor has extents, and values have the element's type;
//   - loop bounds are i64, conditions are bool, both scalars;
//   - no barrier or combine stands under a condition or loop bound that work-items of a group may see differently.
std::vector<std::string> violations(const LoweredFunction& function, Form form);

// LATHE_CHECK that there are none. `after` says which pass made the function.
void verify(const LoweredFunction& function, Form form, std::string_view after);

}  // namespace lathe
