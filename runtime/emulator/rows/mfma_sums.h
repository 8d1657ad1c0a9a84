// How a matrix instruction adds up its products: one row of D at a time, columns as host SIMD lanes.
//
// AMD documents the operation, not its rounding. What is known has been measured, and is followed here bit by bit:
// P. Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (arXiv 2511.10909),
// for CDNA1 to CDNA3:
//   chain  f32 and f64 of all generations: fused multiply-adds in the order of k
//   pairs  f16 and bf16 of CDNA1 and 2: the products of 4 consecutive k (bf16 without _1K: 2) are added as a tree,
//          (p0 + p1) + (p2 + p3), then to the sum, each step rounded to f32. CDNA2 also flushes denormals going
//          in and coming out of every step (AMD: MIOpen's "MI200 MFMA behavior specifics").
//   fused  f16, bf16 (8 products at a time), xf32 (4) and 8-bit floats (16) of CDNA3: the products of a group are cut
//          off (toward zero) 24 bits below the largest product exponent and added exactly; sum and C then meet
//          at the larger of their exponents, the sum rounded down 31 bits below it and C 24 bits below it, and
//          the result is rounded to nearest even. 8-bit floats sum even and odd k apart, and then round both
//          sums down to 24 bits below the larger exponent.
// CDNA4 and sparse instructions have not been measured: they follow CDNA3's rule for the type, f6 and f4 as f8,
// with block scales as part of the exponents.
#pragma once

#include <immintrin.h>

#include "rows/mfma_operand.h"

namespace lathe::emu::LATHE_LEVEL {

typedef f32 f32x8 __attribute__((vector_size(32)));
typedef f32 f32x4 __attribute__((vector_size(16)));
typedef i32 i32x8 __attribute__((vector_size(32)));
typedef i32 i32x4 __attribute__((vector_size(16)));
template <u32 N> struct Simd { using F = f32x8; using I = i32x8; static constexpr u32 width = 8; };
template <> struct Simd<4> { using F = f32x4; using I = i32x4; static constexpr u32 width = 4; };

// What a row of D takes: the row's values of A and for each of them the row of B.
struct Terms {
  u32 k = 0;
  f32 a[128];
  const f32* b[128];
  i16 ea[128];
  const i16* eb[128];
  const i16* scale = nullptr;    // exponents of A's blocks of 32 in k, without bias, or none
  const i16* scale_b[4];         // and of B's: a row each
};

// x86 makes a negative NaN of an invalid operation, AMD a positive one.
template <u32 N>
static inline void store_row(f32* d, const typename Simd<N>::F* acc) {
  using F = typename Simd<N>::F;
  using I = typename Simd<N>::I;
  for (u32 v = 0; v < N / Simd<N>::width; v++) {
    I x;
    __builtin_memcpy(&x, &acc[v], sizeof x);
    x = x == I{} + i32(0xffc00000) ? I{} + 0x7fc00000 : x;
    __builtin_memcpy(d + v * Simd<N>::width, &x, sizeof(F));
  }
}
template <class V>
static inline V load(const f32* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
static inline V fused_multiply_add(V a, V b, V c) {
#if defined(__FMA__)
  if constexpr (sizeof(V) == 32) return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
  else return (V)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#else
  V r;
  for (u32 j = 0; j < sizeof(V) / 4; j++) r[j] = __builtin_fmaf(a[j], b[j], c[j]);
  return r;
#endif
}

// ---- chain ---------------------------------------------------------------------------------------

template <u32 N>
static __attribute__((noinline)) void chain_row(const Terms& t, const f32* c, f32* d) {
  using F = typename Simd<N>::F;
  constexpr u32 width = Simd<N>::width, vectors = N / width;
  F acc[vectors];
  for (u32 v = 0; v < vectors; v++) acc[v] = load<F>(c + v * width);
  for (u32 p = 0; p < t.k; p++) {
    const F a = F{} + t.a[p];
    for (u32 v = 0; v < vectors; v++) acc[v] = fused_multiply_add(a, load<F>(t.b[p] + v * width), acc[v]);
  }
  store_row<N>(d, acc);
}

// ---- pairs ---------------------------------------------------------------------------------------

template <u32 N, u32 Group>
static __attribute__((noinline)) void pairs_row(const Terms& t, const f32* c, f32* d) {
  using F = typename Simd<N>::F;
  constexpr u32 width = Simd<N>::width, vectors = N / width;
  F acc[vectors];
  for (u32 v = 0; v < vectors; v++) acc[v] = load<F>(c + v * width);
  for (u32 p = 0; p < t.k; p += Group) {
    auto product = [&](u32 q, u32 v) { return (F{} + t.a[p + q]) * load<F>(t.b[p + q] + v * width); };
    for (u32 v = 0; v < vectors; v++) {
      F sum = product(0, v) + product(1, v);
      if constexpr (Group == 4) sum = sum + (product(2, v) + product(3, v));
      acc[v] = acc[v] + sum;
    }
  }
  store_row<N>(d, acc);
}

// ---- fused ---------------------------------------------------------------------------------------

static inline f64 power64(i32 e) { return bits_to<f64>(u64(u32(e + 1023)) << 52); }
static inline f32 power32(i32 e) { return bits_to<f32>(u32(e + 127) << 23); }
static inline i32 exponent_of(f32 c) {
  const i32 e = i32(bits_to<u32>(c) >> 23 & 255) - 127;
  return e < -126 ? -126 : e;
}

// Products' sum (in units of 2^(e - 24)) and C meet. The 8-bit formats drop a C that is far below (Split).
template <bool Split>
static inline f32 meet(i32 sum, i32 e, f32 c) {
  const i32 ec = exponent_of(c), m = e > ec ? e : ec;
  const i32 down = e - m < -1000 ? -1000 : e - m;
  const f64 s = __builtin_floor(f64(sum) * power64(7 + down));
  f64 r = __builtin_floor(f64(c) * power64(24 - m));
  if (Split) r = ec < m - 25 ? 0.0 : r;
  const f32 d = f32((r * 128.0 + s) * power64(m - 31));
  // Infinity or NaN in C alone decides.
  const u32 bits = bits_to<u32>(c);
  const u32 special = (bits & 0x7fffffff) > 0x7f800000u ? bits | 0x400000 : bits;
  return bits_to<f32>((bits & 0x7f800000u) == 0x7f800000u ? special : bits_to<u32>(d));
}
template <u32 N, bool Split>
static inline void meet_row(const i32* sum, const i32* e, f32* d) {
  // Where C's exponent is no larger, and nothing leaves f32's range, 32-bit integers hold all of it.
  u32 other = 0;
  for (u32 j = 0; j < N; j++) {
    const i32 ec = exponent_of(d[j]);
    other |= u32(ec > e[j]) | u32(e[j] < -100) | u32(e[j] > 100);
  }
  if (!other) {
    for (u32 j = 0; j < N; j++) {
      const f32 x = d[j] * power32(24 - e[j]);
      i32 c = i32(x);
      c -= f32(c) > x || (x == 0.0f && d[j] < 0.0f);  // floor, also of what the scaling made zero
      if (Split) c = exponent_of(d[j]) < e[j] - 25 ? 0 : c;
      d[j] = f32(sum[j] + c) * power32(e[j] - 24);
    }
    return;
  }
  for (u32 j = 0; j < N; j++) d[j] = meet<Split>(sum[j], e[j], d[j]);
}

// Sums the products first, first + step, ... of a group. Wide: values of A and B are significands, so that no
// product leaves f32's range; else they are the values themselves.
template <u32 N, bool Wide>
static inline void sum_products(const Terms& t, u32 first, u32 step, u32 count, i32* sum, i32* top) {
  using F = typename Simd<N>::F;
  using I = typename Simd<N>::I;
  constexpr u32 width = Simd<N>::width;
  alignas(64) i16 e[N];
  for (u32 j = 0; j < N; j++) e[j] = -300;
  for (u32 q = 0; q < count; q++) {
    const u32 p = first + q * step;
    const i16 ea = t.ea[p];
    const i16* eb = t.eb[p];
    for (u32 j = 0; j < N; j++) {
      const i16 x = i16(ea + eb[j]);
      e[j] = x > e[j] ? x : e[j];
    }
  }
  for (u32 j = 0; j < N; j++) top[j] = e[j];
  for (u32 v = 0; v < N / width; v++) {
    I highest, s = {};
    __builtin_memcpy(&highest, top + v * width, sizeof highest);
    if constexpr (Wide) {
      for (u32 q = 0; q < count; q++) {
        const u32 p = first + q * step;
        I shift = {};
        for (u32 j = 0; j < width; j++) shift[j] = t.ea[p] + t.eb[p][v * width + j];
        shift = shift - highest + 24;
        shift = shift < -60 ? I{} - 60 : shift;
        const I bits = (shift + 127) << 23;
        F scale;
        __builtin_memcpy(&scale, &bits, sizeof scale);
        s += __builtin_convertvector((F{} + t.a[p]) * load<F>(t.b[p] + v * width) * scale, I);
      }
    } else {
      // Below -100 all products are zero, and any scale does.
      const I bits = (151 - (highest < -100 ? I{} - 100 : highest)) << 23;
      F scale;
      __builtin_memcpy(&scale, &bits, sizeof scale);
      for (u32 q = 0; q < count; q++) {
        const u32 p = first + q * step;
        s += __builtin_convertvector((F{} + t.a[p]) * load<F>(t.b[p] + v * width) * scale, I);
      }
    }
    __builtin_memcpy(sum + v * width, &s, sizeof s);
  }
}

template <u32 N, bool Wide, bool Split>
static __attribute__((noinline)) void fused_row(const Terms& t, u32 group, const f32* c, f32* d) {
  alignas(64) f32 acc[N];
  alignas(64) i32 sum[N], top[N];
  __builtin_memcpy(acc, c, sizeof acc);
  for (u32 p = 0; p < t.k; p += group) {
    if constexpr (Split) {
      alignas(64) i32 odd[N], odd_top[N];
      sum_products<N, Wide>(t, p, 2, group / 2, sum, top);
      sum_products<N, Wide>(t, p + 1, 2, group / 2, odd, odd_top);
      for (u32 j = 0; j < N; j++) {
        const i32 m = top[j] > odd_top[j] ? top[j] : odd_top[j];
        const i32 x = m - top[j] > 31 ? 31 : m - top[j], y = m - odd_top[j] > 31 ? 31 : m - odd_top[j];
        sum[j] = (sum[j] >> x) + (odd[j] >> y);
        top[j] = m;
      }
    } else {
      sum_products<N, Wide>(t, p, 1, group, sum, top);
    }
    if (t.scale)
      for (u32 j = 0; j < N; j++) top[j] += t.scale[p / 32] + t.scale_b[p / 32][j];
    meet_row<N, Split>(sum, top, acc);
  }
  __builtin_memcpy(d, acc, sizeof acc);
}

// The same rule for operands with infinities, NaNs or exponents near the ends of f32: one column after the other.
template <bool Split>
static __attribute__((noinline)) void fused_row_special(const Terms& t, u32 group, u32 n, const f32* c, f32* d) {
  for (u32 j = 0; j < n; j++) {
    f32 acc = c[j];
    for (u32 p = 0; p < t.k; p += group) {
      const i32 scale = t.scale ? t.scale[p / 32] + t.scale_b[p / 32][j] : 0;
      f64 total = acc;
      bool up = false, down = false;
      for (u32 q = p; q < p + group; q++) {
        const f64 x = f64(t.a[q]) * t.b[q][j] * power64(scale);
        total += x;
        up |= x >= 0x1p128, down |= x <= -0x1p128;  // measured: a product beyond f32 counts as infinite
      }
      if (!(__builtin_fabs(total) < __builtin_inf())) {
        acc = total != total ? bits_to<f32>(0x7fc00000u) : f32(total);
      } else if (up || down) {
        acc = up && down ? bits_to<f32>(0x7fc00000u) : up ? __builtin_inff() : -__builtin_inff();
      } else {
        i32 sum[2] = {}, top[2] = {-300, -300};
        for (u32 q = p; q < p + group; q++) {
          i32& m = top[Split ? (q - p) & 1 : 0];
          m = std::max(m, t.ea[q] + t.eb[q][j]);
        }
        for (u32 q = p; q < p + group; q++) {
          const u32 k = Split ? (q - p) & 1 : 0;
          sum[k] += i32(f64(t.a[q]) * t.b[q][j] * power64(24 - top[k]));
        }
        i32 s = sum[0], m = top[0];
        if (Split) {
          m = std::max(top[0], top[1]);
          s = (sum[0] >> std::min(m - top[0], 31)) + (sum[1] >> std::min(m - top[1], 31));
        }
        acc = meet<Split>(s, m + scale, acc);
      }
    }
    d[j] = acc;
  }
}

}  // namespace lathe::emu::LATHE_LEVEL
