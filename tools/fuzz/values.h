// What random inputs hold.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/host_array.h"
#include "tools/fuzz/dice.h"

namespace lathe::fuzz {

enum class Values {
  whole,      // -4 to 4 (0 to 8 where unsigned): sums and products of a few are exact in every type, in any order
  fractions,  // floats in [-1, 1) whose sums round: equality says that the order of summation is the same
  special,    // whole, and one in six is NaN, an infinity or -0, of an integer type the least or the greatest
};
std::string_view to_string(Values values);
std::optional<Values> parse_values(std::string_view text);

void fill(HostArray& array, Dice& dice, Values values);

}  // namespace lathe::fuzz
