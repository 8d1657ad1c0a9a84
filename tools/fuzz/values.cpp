#include "tools/fuzz/values.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace lathe::fuzz {
namespace {

uint64_t special(DType t, Dice& dice) {
  if (t.is_bool()) return dice.below(2);
  if (!t.is_float()) {
    const uint64_t ones = ~uint64_t{0} >> (64 - t.bits), least = t.is_signed() ? (ones >> 1) + 1 : 0;
    return dice.one_in(2) ? least : t.is_signed() ? ones >> 1 : ones;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return encode_float(dice.of<double>({std::nan(""), infinity, -infinity, -0.0}), t);
}

uint64_t element(DType t, Dice& dice, Values values) {
  if (values == Values::special && dice.one_in(6)) return special(t, dice);
  if (t.is_bool()) return dice.below(2);
  if (t.is_float() && values == Values::fractions) return encode_float(static_cast<double>(dice.next() >> 40) / 8388608.0 - 1.0, t);
  const int64_t whole = dice.between(-4, 4);
  if (t.is_float()) return encode_float(static_cast<double>(whole), t);
  return static_cast<uint64_t>(t.is_signed() ? whole : whole + 4);
}

}  // namespace

std::string_view to_string(Values values) {
  switch (values) {
    case Values::whole: return "whole";
    case Values::fractions: return "fractions";
    case Values::special: return "special";
  }
  return {};
}

std::optional<Values> parse_values(std::string_view text) {
  for (Values v : {Values::whole, Values::fractions, Values::special})
    if (to_string(v) == text) return v;
  return std::nullopt;
}

void fill(HostArray& array, Dice& dice, Values values) {
  const int width = array.dtype().bytes();
  for (int64_t i = 0; i < array.size(); ++i) {
    const uint64_t bits = element(array.dtype(), dice, values);
    std::memcpy(array.bytes().data() + i * width, &bits, static_cast<size_t>(width));
  }
}

}  // namespace lathe::fuzz
