// Conversion into the small floats: one rounding, to nearest even or stochastic.
#pragma once

#include "small_floats.h"

namespace lathe::emu {

// V_PRNG_B32 (CDNA4 ISA): conversions of several elements round each with the next number.
static inline u32 next_random(u32 x) { return x << 1 ^ (x >> 31 ? 197u : 0u); }

// How a conversion rounds and what it does with what is too large.
struct SmallRounding {
  bool stochastic = false;
  u32 random = 0;          // its top bits are added below the result's last bit, then the sum is truncated
  u8 source_mantissa = 23; // stochastic: mantissa bits of the source type, which decide how many random bits count
  bool saturate = false;   // MODE.FP16_OVFL
};

// RDNA4 ISA 7.6.2: with FP16_OVFL infinities and what is too large become the largest number; without, FP8
// makes NaN of them and BF8 infinity. NaN stays NaN. Formats without either always saturate (OCP MX 6.3).
// f64 holds every f32, f16 and bf16 and any of them times a power-of-two scale, so there is one rounding.
// Stochastic: RDNA4 ISA 7.6.1, "add a random value, then truncate": the sum's carry reaches the exponent. A
// denormal result is shifted into place first, as AMD's own host model does (HIP, amd_hip_ocp_host.hpp);
// V_CVT_SR_FP8_F32's formula, which lets the mantissa wrap and rounds once more, contradicts that section.
static inline u32 to_small(SmallFormat f, f64 x, SmallRounding how = {}) {
  const u32 sign_bit = 1u << (f.bits() - 1);
  const u32 largest = f.special == SmallSpecial::ieee      ? sign_bit - 1 - (1u << f.mantissa_bits)
                      : f.special == SmallSpecial::one_nan ? sign_bit - 2
                                                           : sign_bit - 1;
  const u64 u = bits_to<u64>(x);
  const u64 a = u & ~(u64(1) << 63);
  const u32 sign = u >> 63 ? sign_bit : 0;
  const bool fnuz = f.special == SmallSpecial::fnuz;
  const u32 too_large = sign | (f.special == SmallSpecial::finite || how.saturate ? largest
                                : f.special == SmallSpecial::ieee              ? largest + 1
                                                                             : sign_bit - 1);
  if (a > 0x7ff0000000000000u) {
    if (fnuz) return sign_bit;
    return sign | (f.special == SmallSpecial::finite ? largest : f.special == SmallSpecial::ieee ? sign_bit - 2 : sign_bit - 1);
  }
  if (a == 0x7ff0000000000000u) return fnuz && !how.saturate ? sign_bit : too_large;
  if (a == 0) return fnuz ? 0 : sign;
  const int e = int(a >> 52) - 1023;  // a scaled f32 is never denormal in f64
  const int least = f.min_exponent();
  const int below = e < least ? least - e : 0;  // places by which a denormal result is shifted
  const u64 significand = (a & 0xfffffffffffffu) | u64(1) << 52;
  u64 units;
  if (how.stochastic) {
    const u32 s = how.source_mantissa;
    u64 m = below >= 32 ? 0 : significand >> (52 - s) >> below;
    m += how.random >> (32 - s + f.mantissa_bits);
    units = m >> (s - f.mantissa_bits);
  } else {
    const int shift = 52 - f.mantissa_bits + below;
    if (shift >= 54) {
      units = 0;
    } else {
      const u64 rest = significand & ((u64(1) << shift) - 1), half = u64(1) << (shift - 1);
      units = significand >> shift;
      units += rest > half || (rest == half && (units & 1));
    }
  }
  // The hidden bit adds one to the exponent field, and so does a carry out of the mantissa.
  const u64 code = (u64(below ? 0 : e - least) << f.mantissa_bits) + units;
  if (code > largest) return fnuz && !how.saturate ? sign_bit : too_large;
  return code == 0 && fnuz ? 0 : sign | u32(code);
}

}  // namespace lathe::emu
