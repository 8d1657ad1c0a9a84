// Element types: what one number in a tensor is. One row per type in `dtype_rows`; names, sizes,
// parsing and the float formats all read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lathe {

enum class TypeKind : uint8_t { boolean, sint, uint, floating };

// Floating formats beside IEEE: how the all-ones exponent and the negative zero are used.
enum class FloatStyle : uint8_t {
  none,  // not a float
  ieee,  // infinities and NaNs (f16, bf16, f32, f64, f8e5m2)
  fn,    // no infinity, NaN is S.1111.111 (OCP f8e4m3fn)
  fnuz,  // no infinity, no negative zero, NaN is 0x80 (f8e4m3fnuz, f8e5m2fnuz)
};

// A type: kind, bits of one lane, mantissa and exponent bits of a float, and lanes (1: a scalar).
struct DType {
  TypeKind kind = TypeKind::sint;
  uint8_t bits = 32;
  uint8_t exponent = 0;
  FloatStyle style = FloatStyle::none;
  uint16_t lanes = 1;

  constexpr bool operator==(const DType&) const = default;
  constexpr bool is_float() const { return kind == TypeKind::floating; }
  constexpr bool is_int() const { return kind == TypeKind::sint || kind == TypeKind::uint; }
  constexpr bool is_signed() const { return kind == TypeKind::sint; }
  constexpr bool is_bool() const { return kind == TypeKind::boolean; }
  constexpr int bytes() const { return (bits + 7) / 8; }  // of one lane in memory; a bool takes one byte
  constexpr int mantissa() const { return bits - 1 - exponent; }
  constexpr DType with_lanes(int n) const {
    DType t = *this;
    t.lanes = static_cast<uint16_t>(n);
    return t;
  }
  constexpr DType scalar() const { return with_lanes(1); }
};

inline constexpr DType boolean{TypeKind::boolean, 1};
inline constexpr DType i8{TypeKind::sint, 8}, i16{TypeKind::sint, 16}, i32{TypeKind::sint, 32}, i64{TypeKind::sint, 64};
inline constexpr DType u8{TypeKind::uint, 8}, u16{TypeKind::uint, 16}, u32{TypeKind::uint, 32}, u64{TypeKind::uint, 64};
inline constexpr DType f64{TypeKind::floating, 64, 11, FloatStyle::ieee};
inline constexpr DType f32{TypeKind::floating, 32, 8, FloatStyle::ieee};
inline constexpr DType f16{TypeKind::floating, 16, 5, FloatStyle::ieee};
inline constexpr DType bf16{TypeKind::floating, 16, 8, FloatStyle::ieee};
inline constexpr DType f8e4m3fn{TypeKind::floating, 8, 4, FloatStyle::fn};
inline constexpr DType f8e5m2{TypeKind::floating, 8, 5, FloatStyle::ieee};
inline constexpr DType f8e4m3fnuz{TypeKind::floating, 8, 4, FloatStyle::fnuz};
inline constexpr DType f8e5m2fnuz{TypeKind::floating, 8, 5, FloatStyle::fnuz};

struct DTypeRow {
  std::string_view name;
  DType type;
};
inline constexpr DTypeRow dtype_rows[] = {
    {"bool", boolean}, {"i8", i8},     {"i16", i16},     {"i32", i32},         {"i64", i64},
    {"u8", u8},        {"u16", u16},   {"u32", u32},     {"u64", u64},         {"f64", f64},
    {"f32", f32},      {"f16", f16},   {"bf16", bf16},   {"f8e4m3fn", f8e4m3fn}, {"f8e5m2", f8e5m2},
    {"f8e4m3fnuz", f8e4m3fnuz}, {"f8e5m2fnuz", f8e5m2fnuz},
};

std::string to_string(DType type);                         // "f32", or "f32x4" for a vector
std::optional<DType> parse_dtype(std::string_view text);   // the exact inverse

// The value that `bits` (the low type.bits of it) stand for, as a double: exact for every float type.
double decode_float(uint64_t bits, DType type);
// `value` rounded once, to nearest even, into `type`. Overflow goes to infinity where the format has one,
// else to NaN (fn, fnuz: as the OCP and AMD documents define non-saturating conversion). NaN stays NaN.
uint64_t encode_float(double value, DType type);

}  // namespace lathe
