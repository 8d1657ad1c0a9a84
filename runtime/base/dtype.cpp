#include "runtime/base/dtype.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace lathe {

std::string to_string(DType type) {
  for (const DTypeRow& row : dtype_rows)
    if (row.type == type.scalar())
      return type.lanes == 1 ? std::string(row.name) : std::string(row.name) + "x" + std::to_string(type.lanes);
  return "?";
}

std::optional<DType> parse_dtype(std::string_view text) {
  int lanes = 1;
  if (size_t x = text.rfind('x'); x != std::string_view::npos && x + 1 < text.size()) {
    auto [end, error] = std::from_chars(text.data() + x + 1, text.data() + text.size(), lanes);
    if (error != std::errc{} || end != text.data() + text.size() || lanes < 2 || lanes > 65535) return std::nullopt;
    text = text.substr(0, x);
  }
  for (const DTypeRow& row : dtype_rows)
    if (row.name == text) return row.type.with_lanes(lanes);
  return std::nullopt;
}

double decode_float(uint64_t bits, DType type) {
  if (type.bits == 64) return std::bit_cast<double>(bits);
  if (type.bits == 32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  const int mantissa_bits = type.mantissa();
  const int exponent_max = (1 << type.exponent) - 1;
  // fnuz formats use the code of -0 for NaN and shift the bias by one (AMD's CDNA3 ISA, 8-bit floats).
  const int bias = (1 << (type.exponent - 1)) - (type.style == FloatStyle::fnuz ? 0 : 1);
  const bool negative = (bits >> (type.bits - 1)) & 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & exponent_max;
  const uint64_t mantissa = bits & ((uint64_t{1} << mantissa_bits) - 1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (type.style == FloatStyle::fnuz && negative && exponent == 0 && mantissa == 0) return nan;
  if (type.style == FloatStyle::fn && exponent == exponent_max && mantissa == (uint64_t{1} << mantissa_bits) - 1)
    return nan;
  if (type.style == FloatStyle::ieee && exponent == exponent_max) {
    if (mantissa) return nan;
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  const double magnitude = exponent == 0
                               ? std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits)
                               : std::ldexp(static_cast<double>(mantissa + (uint64_t{1} << mantissa_bits)),
                                            exponent - bias - mantissa_bits);
  return negative ? -magnitude : magnitude;
}

uint64_t encode_float(double value, DType type) {
  if (type.bits == 64) return std::bit_cast<uint64_t>(value);
  if (type.bits == 32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  const int mantissa_bits = type.mantissa();
  const uint64_t exponent_max = (uint64_t{1} << type.exponent) - 1;
  const int bias = (1 << (type.exponent - 1)) - (type.style == FloatStyle::fnuz ? 0 : 1);
  const uint64_t sign = std::signbit(value) ? uint64_t{1} << (type.bits - 1) : 0;
  const uint64_t all_mantissa = (uint64_t{1} << mantissa_bits) - 1;
  const uint64_t nan = type.style == FloatStyle::fnuz ? uint64_t{1} << (type.bits - 1)
                       : type.style == FloatStyle::fn ? sign | (exponent_max << mantissa_bits) | all_mantissa
                                                      : sign | (exponent_max << mantissa_bits) |
                                                            (uint64_t{1} << (mantissa_bits - 1));
  if (std::isnan(value)) return nan;
  const uint64_t overflow = type.style == FloatStyle::ieee ? sign | (exponent_max << mantissa_bits) : nan;
  if (std::isinf(value)) return overflow;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return type.style == FloatStyle::fnuz ? 0 : sign;
  // Scale so that one unit of the target's last place is 1, round once (the host rounds to nearest even).
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  double units = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
  if (units >= std::ldexp(2.0, mantissa_bits)) {  // rounding carried into the next binade
    units /= 2;
    ++exponent;
  }
  const auto whole = static_cast<uint64_t>(units);
  uint64_t code;
  if (whole < (uint64_t{1} << mantissa_bits)) {
    code = whole;  // subnormal, or zero after rounding
    if (code == 0 && type.style == FloatStyle::fnuz) return 0;
  } else {
    const int64_t biased = exponent + bias;
    const auto largest = static_cast<int64_t>(type.style == FloatStyle::ieee ? exponent_max - 1 : exponent_max);
    if (biased > largest) return overflow;
    code = (static_cast<uint64_t>(biased) << mantissa_bits) | (whole & all_mantissa);
    if (type.style == FloatStyle::fn && code == ((exponent_max << mantissa_bits) | all_mantissa)) return nan;
  }
  return sign | code;
}

}  // namespace lathe
