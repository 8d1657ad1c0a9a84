// The small floats once more, apart from the emulator's: the host decodes every code from the formats' definitions, and
// encodes by search: the nearest of all codes, ties to the even one.
#pragma once

#include <cmath>

#include "snippet.h"

namespace emu_test {

struct Format {
  const char* name;
  int exponent_bits, mantissa_bits, bias;
  bool infinities, one_nan, fnuz;  // none of them: every code is a number
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};
const Format ocp[] = {{"fp8", 4, 3, 7, false, true, false}, {"bf8", 5, 2, 15, true, false, false}};
const Format fnuz[] = {{"fp8", 4, 3, 8, false, false, true}, {"bf8", 5, 2, 16, false, false, true}};
const Format narrow[] = {{"fp6", 2, 3, 1, false, false, false}, {"bf6", 3, 2, 3, false, false, false}, {"fp4", 2, 1, 1, false, false, false}};

inline double value(const Format& f, u32 code) {
  const u32 magnitude = code & ((1u << (f.bits() - 1)) - 1), all_ones = (1u << (f.bits() - 1)) - 1;
  const int e = int(magnitude >> f.mantissa_bits), m = int(magnitude & ((1u << f.mantissa_bits) - 1));
  if (f.fnuz && code == 0x80) return NAN;
  if (f.one_nan && magnitude == all_ones) return NAN;
  if (f.infinities && e == (1 << f.exponent_bits) - 1 && m) return NAN;
  const double x = f.infinities && e == (1 << f.exponent_bits) - 1 ? INFINITY
                   : e                                             ? std::ldexp((1 << f.mantissa_bits) + m, e - f.bias - f.mantissa_bits)
                                                                   : std::ldexp(m, 1 - f.bias - f.mantissa_bits);
  return code >> (f.bits() - 1) & 1 ? -x : x;
}
inline u32 largest(const Format& f) {
  u32 best = 0;
  for (u32 c = 0; c < 1u << (f.bits() - 1); c++)
    if (std::isfinite(value(f, c)) && value(f, c) > value(f, best)) best = c;
  return best;
}
// Any NaN compares equal; formats without one take their largest number.
inline u32 nan_code(const Format& f, bool negative = false) {
  if (!f.infinities && !f.one_nan && !f.fnuz) return largest(f) | (negative ? 1u << (f.bits() - 1) : 0);
  return f.fnuz ? 0x80 : 0x7f;
}
// RDNA4 ISA 7.6.2 for what is too large.
inline u32 too_large(const Format& f, bool negative, bool saturate) {
  const u32 sign = negative ? 1u << (f.bits() - 1) : 0;
  if (saturate || (!f.infinities && !f.one_nan && !f.fnuz)) return sign | largest(f);
  return f.infinities ? sign | 0x7c : nan_code(f);
}
inline u32 encode(const Format& f, double x, bool saturate) {
  if (x != x) return nan_code(f, std::signbit(x));
  const double a = std::fabs(x);
  const u32 top = largest(f);
  const double ulp = value(f, top) - value(f, top - 1);
  if (a > value(f, top) + ulp / 2 || (a == value(f, top) + ulp / 2 && (top & 1))) return too_large(f, std::signbit(x), saturate);
  u32 best = 0;
  for (u32 c = 0; c <= top; c++) {
    const double d = std::fabs(a - value(f, c)), e = std::fabs(a - value(f, best));
    if (d < e || (d == e && !(c & 1))) best = c;
  }
  if (best == 0 && f.fnuz) return 0;
  return best | (std::signbit(x) ? 1u << (f.bits() - 1) : 0);
}
// The two neighbours of x; stochastic rounding takes the upper one if the random bits carry over.
inline u32 encode_random(const Format& f, double x, u32 random, bool saturate, int source_mantissa = 23) {
  if (x != x) return nan_code(f, std::signbit(x));
  const double a = std::fabs(x);
  const u32 top = largest(f), sign = std::signbit(x) ? 1u << (f.bits() - 1) : 0;
  if (std::isinf(x)) return too_large(f, sign, saturate);
  u32 below = 0;
  while (below < top && value(f, below + 1) <= a) below++;
  const double step = below == top ? value(f, top) - value(f, top - 1) : value(f, below + 1) - value(f, below);
  if (a >= value(f, top) + step) return too_large(f, sign, saturate);
  // The part of a step as so many bits as the source has below the result's last one; what a denormal result loses is cut.
  const int n = source_mantissa - f.mantissa_bits;
  const double part = std::floor((a - value(f, below)) / step * std::ldexp(1.0, n));
  const bool up = part + (random >> (32 - n)) >= std::ldexp(1.0, n);
  if (up && below == top) return too_large(f, sign, saturate);
  const u32 code = below + up;
  return code == 0 && f.fnuz ? 0 : code | sign;
}
inline bool same_code(const Format& f, u32 got, u32 want) { return got == want || (value(f, got) != value(f, got) && value(f, want) != value(f, want)); }

// Everything that rounds interestingly: each code's value, the middle to the next, and one f32 to each side.
inline std::vector<float> around_codes(const Format& f) {
  std::vector<float> v = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 1e-30f, -1e-30f, 1e-45f, 3.4e38f};
  for (u32 c = 0; c < 1u << f.bits(); c++) {
    const double x = value(f, c), next = value(f, c + 1);
    if (!std::isfinite(x)) continue;
    v.push_back(float(x));
    const double middle = std::isfinite(next) ? (x + next) / 2 : x + (x - value(f, c - 1)) / 2, full = x + (x - value(f, c ? c - 1 : 0));
    for (double y : {middle, full}) {
      const float m = float(y);
      v.push_back(m), v.push_back(std::nextafter(m, INFINITY)), v.push_back(std::nextafter(m, -INFINITY));
    }
  }
  std::mt19937 r(3);
  while (v.size() < 2048 || v.size() % 64) v.push_back(std::ldexp(float(i32(r())), int(r() % 40) - 50));
  return v;
}

}  // namespace emu_test
