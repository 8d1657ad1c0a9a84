// Floats of 8, 6 and 4 bits, decoded exactly to f32. Two families of 8-bit formats exist: OCP's (gfx950,
// gfx12) and the FNUZ ones of gfx942, which have one bias more, no infinities, no -0, and NaN at code 0x80.
// Sources: OCP "8-bit Floating Point Specification" and "Microscaling Formats (MX)" 1.0; AMD's CDNA3 ISA
// document, section "Data types" (FP8, BF8).
#pragma once

#include "types.h"

namespace lathe::emu {

enum class SmallSpecial : u8 {
  ieee,     // all-ones exponent: infinity and NaNs
  one_nan,  // all-ones code: NaN; no infinities
  fnuz,     // only code 0x80 is NaN
  finite,   // every code is a number
};

struct SmallFormat {
  u8 exponent_bits, mantissa_bits;
  i8 bias;
  SmallSpecial special;
  constexpr u32 bits() const { return 1u + exponent_bits + mantissa_bits; }
  constexpr int min_exponent() const { return 1 - bias; }  // of the smallest normal number
};

inline constexpr SmallFormat fp8_ocp{4, 3, 7, SmallSpecial::one_nan};    // E4M3
inline constexpr SmallFormat bf8_ocp{5, 2, 15, SmallSpecial::ieee};      // E5M2
inline constexpr SmallFormat fp8_fnuz{4, 3, 8, SmallSpecial::fnuz};
inline constexpr SmallFormat bf8_fnuz{5, 2, 16, SmallSpecial::fnuz};
inline constexpr SmallFormat fp6_ocp{2, 3, 1, SmallSpecial::finite};     // E2M3
inline constexpr SmallFormat bf6_ocp{3, 2, 3, SmallSpecial::finite};     // E3M2
inline constexpr SmallFormat fp4_ocp{2, 1, 1, SmallSpecial::finite};     // E2M1

// The value of one code, given in the low bits; bits above the format's width are ignored. Straight-line
// code, so that a loop over lanes becomes SIMD: the fields move to f32's places and one multiplication
// rebiases, exactly, denormals included.
template <SmallFormat F>
static inline f32 decode_small(u32 code) {
  constexpr u32 width = F.bits();
  constexpr u32 magnitude_mask = (1u << (width - 1)) - 1;
  const u32 magnitude = code & magnitude_mask;
  const u32 sign = (code >> (width - 1) & 1) << 31;
  const f32 scaled = bits_to<f32>(magnitude << (23 - F.mantissa_bits)) * bits_to<f32>(u32(254 - F.bias) << 23);
  u32 r = bits_to<u32>(scaled) | sign;
  constexpr u32 nan = 0x7fc00000u;
  if constexpr (F.special == SmallSpecial::ieee) {
    constexpr u32 infinity = ((1u << F.exponent_bits) - 1) << F.mantissa_bits;
    r = magnitude == infinity ? sign | 0x7f800000u : r;
    r = magnitude > infinity ? sign | nan : r;
  } else if constexpr (F.special == SmallSpecial::one_nan) {
    r = magnitude == magnitude_mask ? sign | nan : r;
  } else if constexpr (F.special == SmallSpecial::fnuz) {
    r = (code & (magnitude_mask | 1u << (width - 1))) == 1u << (width - 1) ? nan : r;
  }
  return bits_to<f32>(r);
}

// E8M0, the scale of a block in the MX formats: a power of two from 2^-127 to 2^127; 255 is NaN.
static inline f32 decode_e8m0(u32 code) {
  code &= 0xff;
  return bits_to<f32>(code == 255 ? 0x7fc00000u : code == 0 ? 0x00400000u : code << 23);
}

}  // namespace lathe::emu
