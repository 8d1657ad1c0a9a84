// Float helpers shared by the row tables: the ISA's own definitions where C's differ.
#pragma once

#include <cmath>

#include "machine/types.h"

namespace lathe::emu::LATHE_LEVEL {

static inline bool is_nan(f32 x) { return x != x; }
static inline bool is_nan(f64 x) { return x != x; }
static inline f32 quiet(f32 x) { return bits_to<f32>(bits_to<u32>(x) | 0x400000u); }
static inline f64 quiet(f64 x) { return bits_to<f64>(bits_to<u64>(x) | (u64(1) << 51)); }
static inline bool is_snan(f32 x) { return is_nan(x) && !(bits_to<u32>(x) & 0x400000u); }
static inline bool is_snan(f64 x) { return is_nan(x) && !(bits_to<u64>(x) >> 51 & 1); }
static inline bool negative(f32 x) { return bits_to<u32>(x) >> 31; }
static inline bool negative(f64 x) { return bits_to<u64>(x) >> 63; }
static inline int exponent(f32 x) { return int(bits_to<u32>(x) >> 23 & 0xff); }
static inline int exponent(f64 x) { return int(bits_to<u64>(x) >> 52 & 0x7ff); }

// v_min/v_max with IEEE mode on (the compute default): a signalling NaN is returned quieted, a quiet
// NaN loses to a number, and -0 is below +0.
template <class T> static inline T isa_min(T a, T b) {
  T r = a < b ? a : b;
  r = a == b ? (negative(a) ? a : b) : r;
  r = is_nan(b) ? a : r;
  r = is_nan(a) ? b : r;
  r = is_nan(a) && is_nan(b) ? quiet(a) : r;
  r = is_snan(b) ? quiet(b) : r;
  r = is_snan(a) ? quiet(a) : r;
  return r;
}
template <class T> static inline T isa_max(T a, T b) {
  T r = a > b ? a : b;
  r = a == b ? (negative(a) ? b : a) : r;
  r = is_nan(b) ? a : r;
  r = is_nan(a) ? b : r;
  r = is_nan(a) && is_nan(b) ? quiet(a) : r;
  r = is_snan(b) ? quiet(b) : r;
  r = is_snan(a) ? quiet(a) : r;
  return r;
}
// gfx12's minimum/maximum: any NaN wins.
template <class T> static inline T isa_minimum(T a, T b) {
  T r = a < b ? a : b;
  r = a == b ? (negative(a) ? a : b) : r;
  r = is_nan(b) ? quiet(b) : r;
  return is_nan(a) ? quiet(a) : r;
}
template <class T> static inline T isa_maximum(T a, T b) {
  T r = a > b ? a : b;
  r = a == b ? (negative(a) ? b : a) : r;
  r = is_nan(b) ? quiet(b) : r;
  return is_nan(a) ? quiet(a) : r;
}
template <class T> static inline T isa_med3(T a, T b, T c) {
  if (is_nan(a) || is_nan(b) || is_nan(c)) return isa_min(isa_min(a, b), c);
  const T m = isa_max(isa_max(a, b), c);
  if (m == a) return isa_max(b, c);
  if (m == b) return isa_max(a, c);
  return isa_max(a, b);
}

// a*b+c rounded to odd in f64: exact enough for one further rounding to f32 or f16.
static inline f64 fma_odd(f64 a, f64 b, f64 c) {
  const f64 p = a * b;  // exact for f32 and f16 operands
  const f64 s = p + c;
  const f64 t = s - p;
  const f64 e = (p - (s - t)) + (c - t);
  if (e == 0 || s - s != 0 || e != e) return s;
  u64 u = bits_to<u64>(s);
  if (u & 1) return s;
  // Truncate toward zero if s was rounded away, then set the sticky bit.
  if ((e < 0) == (s > 0)) u -= 1;
  return bits_to<f64>(u | 1);
}

// The hardware's 1-ulp f32 transcendentals flush denormals in and out (LLVM's expansions scale around it).
static inline f32 flushed(f32 x) { return (bits_to<u32>(x) & 0x7f800000u) ? x : bits_to<f32>(bits_to<u32>(x) & 0x80000000u); }

// Sine and cosine take revolutions; outside +-256 the result is 0 or 1 (ISA document, V_SIN_F32).
static inline f64 sin_rev(f64 x) {
  if (x != x || std::isinf(x)) return bits_to<f64>(u64(0x7ff8) << 48);
  if (std::fabs(x) > 256) return 0;
  const f64 f = x - std::trunc(x);
  return std::sin(f * 6.283185307179586476925286766559);
}
static inline f64 cos_rev(f64 x) {
  if (x != x || std::isinf(x)) return bits_to<f64>(u64(0x7ff8) << 48);
  if (std::fabs(x) > 256) return 1;
  const f64 f = x - std::trunc(x);
  return std::cos(f * 6.283185307179586476925286766559);
}

template <class T> static inline i32 frexp_exp(T x) {
  if (x - x != 0 || x == 0) return 0;
  int e;
  (void)std::frexp(x, &e);
  return e;
}
template <class T> static inline T frexp_mant(T x) {
  if (x != x) return quiet(x);
  if (x - x != 0 || x == 0) return x;
  int e;
  return std::frexp(x, &e);
}

template <class T> static inline i32 to_i32(T x) {
  if (x != x) return 0;
  if (x <= T(-2147483648.0)) return i32(0x80000000u);
  if (x >= T(2147483648.0)) return 0x7fffffff;
  return i32(x);
}
template <class T> static inline u32 to_u32(T x) {
  if (!(x > T(-1))) return 0;  // also NaN
  if (x >= T(4294967296.0)) return 0xffffffffu;
  return u32(i64(x));
}

}  // namespace lathe::emu::LATHE_LEVEL
