#include "runtime/base/dtype.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace lathe;

static const double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("type names parse and print as they came") {
  for (const DTypeRow& row : dtype_rows) {
    CHECK(to_string(row.type) == row.name);
    CHECK(parse_dtype(row.name) == row.type);
    CHECK(parse_dtype(std::string(row.name) + "x4") == row.type.with_lanes(4));
    CHECK(to_string(row.type.with_lanes(4)) == std::string(row.name) + "x4");
  }
  for (const char* text : {"", "f33", "f32x", "f32x1", "f32x-2", "f32x4x4", "x4", "f32 "}) CHECK(!parse_dtype(text));
}

TEST_CASE("sizes in memory") {
  CHECK(boolean.bytes() == 1);
  CHECK(f8e5m2.bytes() == 1);
  CHECK(bf16.bytes() == 2);
  CHECK(i64.bytes() == 8);
}

TEST_CASE("f16 agrees with the host compiler's _Float16 on every code and around every rounding boundary") {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const _Float16 half = std::bit_cast<_Float16>(static_cast<uint16_t>(code));
    const double value = decode_float(code, f16);
    if (std::isnan(static_cast<float>(half))) {
      REQUIRE(std::isnan(value));
      REQUIRE(std::isnan(decode_float(encode_float(value, f16), f16)));
      continue;
    }
    REQUIRE(value == static_cast<double>(half));
    REQUIRE(encode_float(value, f16) == code);
    // The neighbours in f32 of the code's value and of the midpoint to the next code.
    const double next = decode_float((code + 1) & 0xffff, f16);
    for (double centre : {value, (value + next) / 2}) {
      const auto single = static_cast<float>(centre);
      if (!std::isfinite(single)) continue;
      for (float x : {std::nextafter(single, -INFINITY), single, std::nextafter(single, INFINITY)})
        REQUIRE(encode_float(x, f16) == std::bit_cast<uint16_t>(static_cast<_Float16>(x)));
    }
  }
}

TEST_CASE("f32 to f16 rounds once at the top of the range (case N2)") {
  CHECK(encode_float(65504, f16) == 0x7bff);
  CHECK(decode_float(encode_float(65519, f16), f16) == 65504);
  CHECK(decode_float(encode_float(65520, f16), f16) == infinity);
  CHECK(decode_float(encode_float(65536, f16), f16) == infinity);
  CHECK(decode_float(encode_float(-65520, f16), f16) == -infinity);
}

TEST_CASE("bf16 is the upper half of f32, rounded to nearest even") {
  auto reference = [](float x) {  // add half of the last place, or a hair less where the kept part is even
    const auto bits = std::bit_cast<uint32_t>(x);
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  };
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const auto value = std::bit_cast<float>(code << 16);
    if (std::isnan(value)) continue;
    REQUIRE(decode_float(code, bf16) == value);
    REQUIRE(encode_float(value, bf16) == code);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(value)) REQUIRE(encode_float(value, bf16) == reference(value));
  }
}

// Facts of each 8-bit format from its document: OCP 8-bit Floating Point Specification 1.0, table 1, and AMD's
// CDNA3 ISA for the FNUZ pair.
struct Fp8Row {
  DType type;
  double largest, smallest_normal, smallest;
  int nan_codes, infinity_codes;
};
static const Fp8Row fp8_rows[] = {
    {f8e4m3fn, 448, 0x1p-6, 0x1p-9, 2, 0},
    {f8e5m2, 57344, 0x1p-14, 0x1p-16, 6, 2},
    {f8e4m3fnuz, 240, 0x1p-7, 0x1p-10, 1, 0},
    {f8e5m2fnuz, 57344, 0x1p-15, 0x1p-17, 1, 0},
};

TEST_CASE("8-bit floats: all 256 codes, and one rounding around every one of them (case N2)") {
  for (const Fp8Row& row : fp8_rows) {
    INFO(to_string(row.type));
    int nans = 0, infinities = 0;
    double largest = 0, smallest = infinity;
    for (unsigned code = 0; code < 256; ++code) {
      const double value = decode_float(code, row.type);
      if (std::isnan(value)) {
        ++nans;
        continue;
      }
      if (std::isinf(value)) ++infinities;
      else largest = std::max(largest, value);
      if (value > 0) smallest = std::min(smallest, value);
      CHECK(encode_float(value, row.type) == code);
    }
    CHECK(nans == row.nan_codes);
    CHECK(infinities == row.infinity_codes);
    CHECK(largest == row.largest);
    CHECK(smallest == row.smallest);
    CHECK(decode_float(1u << row.type.mantissa(), row.type) == row.smallest_normal);
    CHECK(std::isnan(decode_float(encode_float(NAN, row.type), row.type)));

    for (unsigned code = 0; code + 1 < 128; ++code) {
      const double low = decode_float(code, row.type), high = decode_float(code + 1, row.type);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;
      const unsigned even = code % 2 == 0 ? code : code + 1;
      CHECK(encode_float(std::nextafter(middle, 0), row.type) == code);
      CHECK(encode_float(middle, row.type) == even);
      CHECK(encode_float(std::nextafter(middle, infinity), row.type) == code + 1);
      if (code > 0) CHECK(encode_float(-low, row.type) == code + 128);
    }
  }
}

TEST_CASE("8-bit floats overflow to infinity where there is one, else to NaN") {
  // Halfway past the largest value is a tie; what would be the next code decides which way is even.
  CHECK(decode_float(encode_float(464, f8e4m3fn), f8e4m3fn) == 448);
  CHECK(std::isnan(decode_float(encode_float(464.0001, f8e4m3fn), f8e4m3fn)));
  CHECK(decode_float(encode_float(61439, f8e5m2), f8e5m2) == 57344);
  CHECK(decode_float(encode_float(61440, f8e5m2), f8e5m2) == infinity);
  CHECK(decode_float(encode_float(247.9, f8e4m3fnuz), f8e4m3fnuz) == 240);
  CHECK(encode_float(248, f8e4m3fnuz) == 0x80);
  CHECK(encode_float(infinity, f8e4m3fnuz) == 0x80);
  CHECK(encode_float(-infinity, f8e5m2) == 0xfc);
  CHECK(std::isnan(decode_float(encode_float(infinity, f8e4m3fn), f8e4m3fn)));
}

TEST_CASE("zeros keep their sign but in FNUZ, which has one zero") {
  for (DType type : {f16, bf16, f8e4m3fn, f8e5m2}) {
    CHECK(encode_float(-0.0, type) == uint64_t{1} << (type.bits - 1));
    CHECK(std::signbit(decode_float(encode_float(-0.0, type), type)));
  }
  for (DType type : {f8e4m3fnuz, f8e5m2fnuz}) {
    CHECK(encode_float(-0.0, type) == 0);
    CHECK(encode_float(-1e-30, type) == 0);  // rounds to zero
  }
}
