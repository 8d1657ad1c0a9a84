// Random small programs as text, without a schedule: one to four stages of element-wise maps, broadcasts, reductions by
// every built-in combiner and by users' ones, argmin and argmax with ties, tuples, stencils, convolutions, products of
// matrices, gathers, of every type, over numbers, symbols and what is computed from them.
#pragma once

#include "tools/fuzz/values.h"
#include "tools/fuzz/voices.h"

namespace lathe::fuzz {

struct RandomProgram {
  std::string text;
  Symbols symbols;
  Values values = Values::whole;
};

RandomProgram random_program(Dice& dice);

}  // namespace lathe::fuzz
