// Structural equality, up to the names of bound variables: loop variables, axes, operands of combiners, allocations.
#pragma once

#include "ir/program.h"
#include "ir/stmt.h"

namespace lathe {

// Free variables and tensors are equal when they are the same nodes. Constants are equal bit for bit, but that one NaN
// equals another.
bool equal(const Expr& a, const Expr& b);
bool equal(const Stmt& a, const Stmt& b);
// Names of functions, kernels, arguments and computed tensors count, since they are what others call them by.
bool equal(const Kernel& a, const Kernel& b);
bool equal(const LoweredFunction& a, const LoweredFunction& b);
bool equal(const Program& a, const Program& b);

}  // namespace lathe
