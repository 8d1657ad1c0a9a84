// The inputs of a matrix instruction, brought from their format to f32 once, and their exponents where the sum
// needs them: values[n][lane] is value number n of a lane.
#pragma once

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "machine/small_floats.h"
#include "rows/mfma_layout.h"

namespace lathe::emu::LATHE_LEVEL {

typedef f32 f32x8 __attribute__((vector_size(32)));
typedef f32 f32x4 __attribute__((vector_size(16)));
typedef i32 i32x8 __attribute__((vector_size(32)));
typedef i32 i32x4 __attribute__((vector_size(16)));
typedef i16 i16x8 __attribute__((vector_size(16)));
typedef i16 i16x4 __attribute__((vector_size(8)));

template <class V>
static inline V load(const void* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
static inline void store(void* p, const V& v) {
  __builtin_memcpy(p, &v, sizeof v);
}
template <class To, class From>
static inline To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
struct Input {
  alignas(64) f32 values[32][64];
  alignas(64) i16 exponents[32][64];  // unbiased; a denormal has its format's smallest, zero has -126
  int lowest, highest;                // over the values that are not zero
  bool finite;
};

struct InputFormat {
  Elem elem;                // never f8f6f4: that is resolved
  u32 bits;
  int min_exponent;
};

template <class F>
static inline void each_lane(const u32* from, f32* to, F f) {
  for (u32 l = 0; l < 64; l++) to[l] = f(from[l]);
}
template <SmallFormat F>
static inline void load_bytes(const u32* regs, u32 count, f32 (*out)[64]) {
  for (u32 n = 0; n < count; n++) {
    const u32 shift = 8 * (n % 4);
    each_lane(regs + 64 * (n / 4), out[n], [=](u32 x) { return decode_small<F>(x >> shift & 0xff); });
  }
}
// 6- and 4-bit values stand one after the other in the registers' bits.
template <SmallFormat F>
static inline void load_bits(const u32* regs, u32 count, f32 (*out)[64]) {
  for (u32 n = 0; n < count; n++) {
    const u32 bit = n * F.bits(), shift = bit % 32;
    const u32* lo = regs + 64 * (bit / 32);
    const u32* hi = shift + F.bits() > 32 ? lo + 64 : lo;
    for (u32 l = 0; l < 64; l++) out[n][l] = decode_small<F>(u32((lo[l] | u64(hi[l]) << 32) >> shift));
  }
}

static inline void load_halves(const u32* regs, u32 count, f32 (*out)[64]) {
  for (u32 n = 0; n < count; n += 2) {
    const u32* from = regs + 64 * (n / 2);
#if defined(__F16C__)
    // Eight lanes: their low halves, then their high halves, in the order that the packing leaves.
    const __m128i low = _mm_set1_epi32(0xffff);
    for (u32 l = 0; l < 64; l += 8) {
      const __m128i x = _mm_load_si128(reinterpret_cast<const __m128i*>(from + l)), y = _mm_load_si128(reinterpret_cast<const __m128i*>(from + l + 4));
      _mm256_store_ps(out[n] + l, _mm256_cvtph_ps(_mm_packus_epi32(_mm_and_si128(x, low), _mm_and_si128(y, low))));
      _mm256_store_ps(out[n + 1] + l, _mm256_cvtph_ps(_mm_packus_epi32(_mm_srli_epi32(x, 16), _mm_srli_epi32(y, 16))));
    }
#else
    each_lane(from, out[n], [](u32 x) { return to_f32(f16{u16(x)}); });
    each_lane(from, out[n + 1], [](u32 x) { return to_f32(f16{u16(x >> 16)}); });
#endif
  }
}

// `flush` replaces denormals of the format by zero (CDNA2).
static inline void load_input(const InputFormat& f, const u32* regs, u32 count, bool ocp, bool flush, Input& in) {
  auto& out = in.values;
  switch (f.elem) {
    case Elem::f32:
      for (u32 n = 0; n < count; n++) __builtin_memcpy(out[n], regs + 64 * n, sizeof out[n]);
      break;
    case Elem::xf32:  // 10 bits of mantissa; what is below is cut off. A NaN stays one.
      for (u32 n = 0; n < count; n++)
        each_lane(regs + 64 * n, out[n], [](u32 x) { return bits_to<f32>(((x & 0x7fffffff) > 0x7f800000u ? x | 0x400000 : x) & ~0x1fffu); });
      break;
    case Elem::f16:
      load_halves(regs, count, out);
      if (flush)
        for (u32 n = 0; n < count; n++)
          for (u32 l = 0; l < 64; l++) out[n][l] = __builtin_fabsf(out[n][l]) < 0x1p-14f ? 0.0f : out[n][l];
      break;
    case Elem::bf16:
      for (u32 n = 0; n < count; n++) {
        const u32 shift = n % 2 ? 0 : 16;
        each_lane(regs + 64 * (n / 2), out[n], [=](u32 x) { return bits_to<f32>((x << shift) & 0xffff0000u); });
        if (flush)
          for (u32 l = 0; l < 64; l++) out[n][l] = __builtin_fabsf(out[n][l]) < 0x1p-126f ? 0.0f : out[n][l];
      }
      break;
    case Elem::i8:
      for (u32 n = 0; n < count; n++) {
        const u32 shift = 24 - 8 * (n % 4);
        each_lane(regs + 64 * (n / 4), out[n], [=](u32 x) { return f32(i32(x << shift) >> 24); });
      }
      break;
    case Elem::fp8:
      if (ocp) load_bytes<fp8_ocp>(regs, count, out);
      else load_bytes<fp8_fnuz>(regs, count, out);
      break;
    case Elem::bf8:
      if (ocp) load_bytes<bf8_ocp>(regs, count, out);
      else load_bytes<bf8_fnuz>(regs, count, out);
      break;
    case Elem::f64: case Elem::f8f6f4: break;  // f64 has a path of its own; f8f6f4 is resolved by its format
  }
}
// CBSZ and BLGP as formats of f8f6f4 (CDNA4 ISA): 0 FP8, 1 BF8, 2 FP6, 3 BF6, 4 FP4.
static inline void load_formatted(u32 format, const u32* regs, Input& in) {
  switch (format) {
    case 0: load_bytes<fp8_ocp>(regs, 32, in.values); break;
    case 1: load_bytes<bf8_ocp>(regs, 32, in.values); break;
    case 2: load_bits<fp6_ocp>(regs, 32, in.values); break;
    case 3: load_bits<bf6_ocp>(regs, 32, in.values); break;
    default: load_bits<fp4_ocp>(regs, 32, in.values); break;
  }
}
static inline int format_min_exponent(u32 format) {
  constexpr SmallFormat formats[] = {fp8_ocp, bf8_ocp, fp6_ocp, bf6_ocp, fp4_ocp};
  return formats[format].min_exponent();
}
static inline int elem_min_exponent(Elem e, bool ocp) {
  switch (e) {
    case Elem::f16: return -14;
    case Elem::fp8: return ocp ? fp8_ocp.min_exponent() : fp8_fnuz.min_exponent();
    case Elem::bf8: return ocp ? bf8_ocp.min_exponent() : bf8_fnuz.min_exponent();
    default: return -126;
  }
}

static inline void take_exponents(int min_exponent, u32 count, Input& in) {
  i32x8 lowest = i32x8{} + 1000, highest = i32x8{} - 1000;
  for (u32 n = 0; n < count; n++)
    for (u32 l = 0; l < 64; l += 8) {
      const i32x8 x = load<i32x8>(in.values[n] + l) & 0x7fffffff;
      i32x8 e = (x >> 23) - 127;
      e = e < min_exponent ? i32x8{} + min_exponent : e;
      const i32x8 zero = x == 0, low = zero ? i32x8{} + 1000 : e;
      lowest = low < lowest ? low : lowest;
      e = zero ? i32x8{} - 126 : e;
      highest = e > highest ? e : highest;
      store(in.exponents[n] + l, __builtin_convertvector(e, i16x8));
    }
  in.lowest = 1000, in.highest = -1000;
  for (u32 k = 0; k < 8; k++) in.lowest = lowest[k] < in.lowest ? lowest[k] : in.lowest, in.highest = highest[k] > in.highest ? highest[k] : in.highest;
  in.finite = in.highest < 128;
}
// Values to significands: value = significand * 2^exponent.
static inline void take_significands(u32 count, Input& in) {
  for (u32 n = 0; n < count; n++)
    for (u32 l = 0; l < 64; l++) {
      // 2^-exponent is in range: exponents lie in [-126, 127], and 2^-127 is a denormal that is exact.
      const i32 e = -in.exponents[n][l];
      in.values[n][l] *= bits_to<f32>(e > -127 ? u32(e + 127) << 23 : 0x00400000u);
    }
}

static inline void permute_lanes(u32 blgp, u32 count, Input& in) {
  for (u32 n = 0; n < count; n++) {
    f32 old[64];
    __builtin_memcpy(old, in.values[n], sizeof old);
    for (u32 l = 0; l < 64; l++) in.values[n][l] = old[blgp_lane(blgp, l)];
  }
}

}  // namespace lathe::emu::LATHE_LEVEL
