#include "elements.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace lathe::test {

Scalar read_element(const std::vector<uint8_t>& bytes, size_t index, DType type) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * type.bytes(), type.bytes());
  if (type.is_float()) return {0, decode_float(bits, type)};
  if (type.is_bool()) return {static_cast<int64_t>(bits), 0};  // not normalised: a bool must be stored as 0 or 1
  return wrap_integer(static_cast<int64_t>(bits), type);
}

void append_element(std::vector<uint8_t>& bytes, Scalar value, DType type) {
  const uint64_t bits = type.is_float() ? encode_float(value.real, type) : static_cast<uint64_t>(value.integer);
  const size_t at = bytes.size();
  bytes.resize(at + type.bytes());
  std::memcpy(bytes.data() + at, &bits, type.bytes());
}

std::vector<Scalar> special_values(DType type) {
  std::vector<Scalar> values;
  if (type.is_bool()) return {{0, 0}, {1, 0}};
  if (type.bits == 8) {
    for (int code = 0; code < 256; ++code)
      values.push_back(type.is_float() ? Scalar{0, decode_float(code, type)} : wrap_integer(code, type));
    return values;
  }
  std::mt19937_64 random(7);
  if (type.is_int()) {
    const uint64_t top = uint64_t{1} << (type.bits - 1);
    for (uint64_t v : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{5}, uint64_t{7}, uint64_t{10},
                       uint64_t{16}, uint64_t{31}, uint64_t{32}, uint64_t{63}, uint64_t{64}, uint64_t{100}, top - 1,
                       top - 2, top, top + 1, top / 2, top / 3, uint64_t{255}, uint64_t{256}, uint64_t{257},
                       (uint64_t{1} << 24) + 1, (uint64_t{1} << 25) + 1, (uint64_t{1} << 31) + 128})
      for (uint64_t sign : {v, -v}) values.push_back(wrap_integer(static_cast<int64_t>(sign), type));
    for (int i = 0; i < 14; ++i) values.push_back(wrap_integer(static_cast<int64_t>(random() >> (i * 4)), type));
    return values;
  }
  const uint64_t mantissa = uint64_t{1} << type.mantissa();
  const uint64_t infinity = ((uint64_t{1} << type.exponent) - 1) << type.mantissa();
  std::vector<double> reals;
  // Codes: zero, the denormals' ends, the smallest normal, the largest, infinity.
  for (uint64_t code : {uint64_t{0}, uint64_t{1}, uint64_t{2}, mantissa - 1, mantissa, mantissa + 1, infinity - 1,
                        infinity - 2, infinity})
    reals.push_back(decode_float(code, type));
  for (double v : {0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 7.0, 10.0, 31.0, 100.0, 127.0, 128.0, 255.5,
                   256.0,
                   0.1, 1.0 / 3, 3.14159265, 32767.5, 65504.0, 65519.0, 65520.0, 448.0, 464.0, 240.0, 57344.0, 61440.0,
                   2147483647.0, 2147483648.0, 4294967295.0, 9.2233720368547758e18, 1.8446744073709552e19, 1e-3, 1e-8,
                   1.0 + 0x1p-8, 1.0 + 0x1p-8 + 0x1p-30, 1.0 + 0x1p-11, 1.0 + 0x1p-11 + 0x1p-40, 0x1p-10 + 0x1p-40,
                   0x1.8p-10, 0x1p-134, 0x1p-25 + 0x1p-60, 0x1.004p0})
    reals.push_back(decode_float(encode_float(v, type), type));
  for (int i = 0; i < 40; ++i) {
    const uint64_t code = random() & ((mantissa << type.exponent) * 2 - 1);
    reals.push_back(decode_float(code, type));
  }
  for (double v : reals) {
    values.push_back({0, v});
    values.push_back({0, -v});
  }
  values.push_back({0, std::numeric_limits<double>::quiet_NaN()});
  return values;
}

std::vector<Scalar> few_values(DType type) {
  const std::vector<Scalar> all = special_values(type);
  if (all.size() <= 16) return all;
  std::vector<Scalar> few;
  const size_t step = type.bits == 8 ? 9 : 7;  // coprime to the pairing of signs
  for (size_t i = 0; i < all.size(); i += step) few.push_back(all[i]);
  few.push_back(all.back());
  return few;
}

bool same_value(Scalar a, Scalar b, DType type) {
  if (!type.is_float()) return a.integer == b.integer;
  if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(a.real) && std::isnan(b.real);
  return std::bit_cast<uint64_t>(a.real) == std::bit_cast<uint64_t>(b.real);
}

int64_t ulp_distance(double got, double exact, DType type) {
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) && std::isnan(exact) ? 0 : int64_t{1} << 62;
  auto ordinal = [&](double v) {
    const auto code = static_cast<int64_t>(encode_float(std::fabs(v), type));
    return std::signbit(v) ? -code : code;
  };
  return std::abs(ordinal(got) - ordinal(exact));
}

}  // namespace lathe::test
