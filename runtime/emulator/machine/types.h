// The lane types that instruction rows are written in. Each has the width and the bit layout of the
// ISA's own operand type; a row's lambda states its operands by these types and nothing else.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace lathe::emu {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using f32 = float;
using f64 = double;

struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
// One bit per lane of a scalar mask (VCC or an SGPR pair), spread to lanes.
struct bit {
  u32 value;
  constexpr explicit operator bool() const { return value != 0; }
};
// The lane's own number, as an operand (v_mbcnt).
struct lane_id {
  u32 value;
};
// The instruction's modifier bits as one constant, for rows that read them as an operand:
// NEG in bits 2:0, ABS or NEG_HI in 5:3, OP_SEL in 9:6 (VOP3P: OP_SEL_HI[2] in 9), OMOD or OP_SEL_HI[1:0] in 11:10, CLAMP in 12.
struct mods {
  u32 value;
  constexpr u32 neg() const { return value & 7; }
  constexpr u32 neg_hi() const { return value >> 3 & 7; }
  constexpr u32 op_sel() const { return value >> 6 & 15; }
  constexpr bool clamp() const { return value >> 12 & 1; }
};
// The MODE register, as an operand.
struct mode_bits {
  u32 value;
  constexpr bool fp16_ovfl() const { return value >> 23 & 1; }
};
// A vector result with a mask result beside it: carry out, or v_div_scale's flag.
template <class T>
struct Out2 {
  T value;
  bool flag;
};
// Two 16- or 32-bit elements that one packed instruction works on.
template <class T>
struct pk {
  T lo, hi;
};

template <class To, class From>
static inline To bits_to(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// f16 to f32 is exact, so branch-free integer code that vectorises is all it takes.
static inline f32 to_f32(f16 h) {
  const u32 sign = u32(h.bits & 0x8000) << 16;
  const u32 rest = u32(h.bits & 0x7fff) << 13;
  // Rebias by multiplying with 2^112: denormals become normal, exactly.
  const f32 scaled = bits_to<f32>(rest) * bits_to<f32>(0x77800000u);
  const u32 special = rest | 0x7f800000u;  // infinity or NaN keep their payload
  const u32 magnitude = (h.bits & 0x7fff) >= 0x7c00 ? special : bits_to<u32>(scaled);
  return bits_to<f32>(sign | magnitude);
}

// f32 to f16, to nearest even, NaN quieted with its payload's top bits kept.
static inline f16 to_f16(f32 x) {
  const u32 u = bits_to<u32>(x);
  const u32 sign = (u >> 16) & 0x8000;
  const u32 a = u & 0x7fffffff;
  // Denormal results: let the host's adder round at the right bit (0.5 has ulp 2^-24).
  const u32 denormal = bits_to<u32>(bits_to<f32>(a) + 0.5f) - 0x3f000000u;
  const u32 normal = (a + 0xc8000fffu + ((a >> 13) & 1)) >> 13;
  u32 r = a < 0x38800000u ? denormal : normal;
  r = a >= 0x477ff000u ? 0x7c00u : r;
  r = a > 0x7f800000u ? (0x7e00u | ((a >> 13) & 0x3ff)) : r;
  return f16{u16(sign | r)};
}

// Rounds toward zero; used by v_cvt_pkrtz_f16_f32. Overflow gives the largest finite value.
static inline f16 to_f16_rtz(f32 x) {
  const u32 u = bits_to<u32>(x);
  const u32 sign = (u >> 16) & 0x8000, a = u & 0x7fffffff;
  if (a > 0x7f800000u) return f16{u16(sign | 0x7e00u | ((a >> 13) & 0x3ff))};
  if (a == 0x7f800000u) return f16{u16(sign | 0x7c00u)};
  if (a >= 0x47800000u) return f16{u16(sign | 0x7bffu)};
  if (a >= 0x38800000u) return f16{u16(sign | ((a - 0x38000000u) >> 13))};
  const u32 shift = 126 - (a >> 23);
  if (shift > 24) return f16{u16(sign)};
  return f16{u16(sign | (((a & 0x7fffff) | 0x800000) >> shift))};
}

// f64 to f16 with one rounding: to odd at 24 bits first, which makes the second rounding exact.
static inline f32 to_f32_odd(f64 x) {
  const f32 r = f32(x);
  const f64 back = r;
  if (!(back != x) || x != x) return r;
  u32 u = bits_to<u32>(r);
  if ((u & 0x7fffffff) == 0x7f800000u) return bits_to<f32>((u & 0x80000000u) | 0x7f7fffffu);
  // Truncate, then set the sticky bit.
  const bool away = (back > x) == (x > 0);
  if (away) u -= 1;
  return bits_to<f32>(u | 1);
}
static inline f16 to_f16(f64 x) { return to_f16(to_f32_odd(x)); }

static inline f32 to_f32(bf16 b) { return bits_to<f32>(u32(b.bits) << 16); }
static inline bf16 to_bf16(f32 x) {
  const u32 u = bits_to<u32>(x);
  if ((u & 0x7fffffff) > 0x7f800000u) return bf16{u16((u >> 16) | 0x40)};
  return bf16{u16((u + 0x7fff + ((u >> 16) & 1)) >> 16)};
}

}  // namespace lathe::emu
