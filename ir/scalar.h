// The meaning of every operator on one number: the numerics contract of DESIGN.md in code. Constant folding and
// the evaluator share it; code generation and the emulated GPU do not.
#pragma once

#include <cstdint>
#include <span>

#include "ir/op.h"
#include "runtime/base/dtype.h"

namespace lathe {

// A value of some DType: `integer` for integers and bool (sign- or zero-extended to 64 bits), `real` for floats
// (always exactly representable in the type).
struct Scalar {
  int64_t integer = 0;
  double real = 0;
  bool operator==(const Scalar&) const = default;
};

// `operands` have type `type` (select's first is bool); compare and classify give a bool. Integers wrap. Division and
// remainder by a zero integer give 0. Shift amounts are taken modulo the width. Never fails.
Scalar apply_scalar(Op op, DType type, std::span<const Scalar> operands);

// Conversion: integers wrap, floats round once to nearest even, float to integer saturates and NaN gives 0,
// anything to bool is "!= 0".
Scalar cast_scalar(Scalar value, DType from, DType to);

Scalar wrap_integer(int64_t value, DType type);
Scalar round_real(double value, DType type);

}  // namespace lathe
