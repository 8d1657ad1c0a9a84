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

#include <type_traits>

#include "rows/mfma_operand.h"

namespace lathe::emu::LATHE_LEVEL {

typedef f32 f32x2 __attribute__((vector_size(8)));
typedef i32 i32x2 __attribute__((vector_size(8)));
typedef f64 f64x4 __attribute__((vector_size(32)));
typedef f64 f64x2 __attribute__((vector_size(16)));
template <u32 N> struct Simd {
  using F = f32x8;
  using I = i32x8;
  using H = i16x8;
  using HalfF = f32x4;
  using HalfI = i32x4;
  using Double = f64x4;
  static constexpr u32 width = 8;
};
template <> struct Simd<4> {
  using F = f32x4;
  using I = i32x4;
  using H = i16x4;
  using HalfF = f32x2;
  using HalfI = i32x2;
  using Double = f64x2;
  static constexpr u32 width = 4;
};

// What a strip of four rows of D takes: values of A, and for each of them the row of B.
struct Terms {
  u32 k = 0;
  alignas(16) f32 a[128][4];
  const f32* b[128];
  i16 ea[128][4];
  const i16* eb[128];
  const i16 (*scale)[4] = nullptr;  // exponents of A's blocks of 32 in k, without bias, or none
  const i16* scale_b[4];            // and of B's: a row each
};

// x - 0 is x, -0 and all; 0 + x would not be.
template <class F>
static inline F splat(f32 x) { return x - F{}; }
template <class V>
static inline bool any(const V& mask) {
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return _mm256_movemask_epi8(same_bits<__m256i>(mask)) != 0;
#endif
  u64 r = 0;
  for (u32 k = 0; k < sizeof(V) / 8; k++) r |= reinterpret_cast<const u64*>(&mask)[k];
  return r != 0;
}
// x86 makes a negative NaN of an invalid operation, AMD a positive one.
template <u32 N, u32 R>
static inline void store_rows(f32* d, const typename Simd<N>::F (&acc)[R][N / Simd<N>::width]) {
  using I = typename Simd<N>::I;
  constexpr u32 width = Simd<N>::width;
  I bad = {};
#pragma GCC unroll 16
  for (u32 n = 0; n < R * (N / width); n++) {
    const u32 r = n / (N / width), v = n % (N / width);
    bad |= same_bits<I>(acc[r][v]) == I{} + i32(0xffc00000);
    store(d + 64 * r + v * width, acc[r][v]);
  }
  if (__builtin_expect(any(bad), 0))
    for (u32 r = 0; r < R; r++)
      for (u32 j = 0; j < N; j++) {
        f32& x = d[64 * r + j];
        if (bits_to<u32>(x) == 0xffc00000u) x = bits_to<f32>(0x7fc00000u);
      }
}
template <u32 N, u32 R>
static inline void load_rows(const f32* c, u32 stride, typename Simd<N>::F (&acc)[R][N / Simd<N>::width]) {
  constexpr u32 width = Simd<N>::width;
#pragma GCC unroll 16
  for (u32 n = 0; n < R * (N / width); n++) {
    const u32 r = n / (N / width), v = n % (N / width);
    acc[r][v] = load<typename Simd<N>::F>(c + stride * r + v * width);
  }
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

// Each of these sums R rows of a strip from row `first` on; rows of C stand `stride` apart, rows of D 64.

// ---- chain ---------------------------------------------------------------------------------------

template <u32 N, u32 R>
static __attribute__((noinline)) void chain_rows(const Terms& t, u32 first, const f32* c, u32 stride, f32* d) {
  using F = typename Simd<N>::F;
  constexpr u32 width = Simd<N>::width, vectors = N / width;
  F acc[R][vectors];
  load_rows<N, R>(c, stride, acc);
  for (u32 p = 0; p < t.k; p++) {
#pragma GCC unroll 16
    for (u32 n = 0; n < R * vectors; n++) {
      const u32 r = n / vectors, v = n % vectors;
      acc[r][v] = fused_multiply_add(splat<F>(t.a[p][first + r]), load<F>(t.b[p] + v * width), acc[r][v]);
    }
  }
  store_rows<N, R>(d, acc);
}

// ---- pairs ---------------------------------------------------------------------------------------

template <u32 N, u32 R, u32 Group>
static __attribute__((noinline)) void pairs_rows(const Terms& t, u32 first, const f32* c, u32 stride, f32* d) {
  using F = typename Simd<N>::F;
  constexpr u32 width = Simd<N>::width, vectors = N / width;
  F acc[R][vectors];
  load_rows<N, R>(c, stride, acc);
  for (u32 p = 0; p < t.k; p += Group) {
    F a[Group][R];
#pragma GCC unroll 16
    for (u32 q = 0; q < Group * R; q++) a[q / R][q % R] = splat<F>(t.a[p + q / R][first + q % R]);
    // Not unrolled: the host's registers hold A and the sums of one vector.
#pragma GCC unroll 1
    for (u32 v = 0; v < vectors; v++) {
      F sum[R];
      const F b0 = load<F>(t.b[p] + v * width), b1 = load<F>(t.b[p + 1] + v * width);
#pragma GCC unroll 4
      for (u32 r = 0; r < R; r++) sum[r] = a[0][r] * b0 + a[1][r] * b1;
      if constexpr (Group == 4) {
        const F b2 = load<F>(t.b[p + 2] + v * width), b3 = load<F>(t.b[p + 3] + v * width);
#pragma GCC unroll 4
        for (u32 r = 0; r < R; r++) sum[r] = sum[r] + (a[2][r] * b2 + a[3][r] * b3);
      }
#pragma GCC unroll 4
      for (u32 r = 0; r < R; r++) acc[r][v] = acc[r][v] + sum[r];
    }
  }
  store_rows<N, R>(d, acc);
}

// ---- fused ---------------------------------------------------------------------------------------

static inline f64 power64(i32 e) { return bits_to<f64>(u64(u32(e + 1023)) << 52); }
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
template <class Double>
static inline Double round_down(Double x) {
#if defined(__AVX2__)
  if constexpr (sizeof(Double) == 32) return (Double)_mm256_floor_pd((__m256d)x);
#endif
  for (u32 k = 0; k < sizeof(Double) / 8; k++) x[k] = __builtin_floor(x[k]);
  return x;
}
// GCC takes __builtin_convertvector apart into pairs here.
template <class Double, class Half>
static inline Double widened(Half x) {
#if defined(__AVX2__)
  if constexpr (sizeof(Double) == 32 && std::is_same_v<Half, f32x4>) return (Double)_mm256_cvtps_pd((__m128)x);
  if constexpr (sizeof(Double) == 32 && std::is_same_v<Half, i32x4>) return (Double)_mm256_cvtepi32_pd((__m128i)x);
#endif
  return __builtin_convertvector(x, Double);
}
template <class Half, class Double>
static inline Half narrowed(Double x) {
#if defined(__AVX2__)
  if constexpr (sizeof(Double) == 32) return (Half)_mm256_cvtpd_ps((__m256d)x);
#endif
  return __builtin_convertvector(x, Half);
}
template <class Half, class V>
static inline Half half_of(const V& x, u32 h) {
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return h ? same_bits<Half>(_mm256_extractf128_si256(same_bits<__m256i>(x), 1)) : same_bits<Half>(_mm256_castsi256_si128(same_bits<__m256i>(x)));
#endif
  return load<Half>(reinterpret_cast<const char*>(&x) + h * sizeof(Half));
}
template <u32 N, bool Split>
static inline void meet_row(const i32* sums, const i32* exponents, f32* d) {
  using F = typename Simd<N>::F;
  using I = typename Simd<N>::I;
  constexpr u32 width = Simd<N>::width;
  for (u32 v = 0; v < N; v += width) {
    const I e = load<I>(exponents + v), sum = load<I>(sums + v);
    const F old = load<F>(d + v);
    I ec = (same_bits<I>(old) >> 23 & 255) - 127;
    ec = ec < -126 ? I{} - 126 : ec;
    if (any((e < -90) | (e > 100) | (ec > 100))) {  // near the ends of f32's range
      for (u32 j = v; j < v + width; j++) d[j] = meet<Split>(sums[j], exponents[j], d[j]);
      continue;
    }
    const F x = old * same_bits<F>((151 - e) << 23), unit = same_bits<F>((e + 103) << 23);
    I c = __builtin_convertvector(x, I);
    // Wraps in lanes that are out of range, which the second way below computes.
    typedef u32 U __attribute__((vector_size(sizeof(I))));
    U floor = same_bits<U>(c) + same_bits<U>(I(__builtin_convertvector(c, F) > x));  // a mask is -1
    floor += same_bits<U>(I((x == F{}) & (old < F{})));                               // also of what the scaling made zero
    c = same_bits<I>(floor);
    if constexpr (Split) c = ec < e - 25 ? I{} : c;
    if (!any(ec > e)) {  // 32-bit integers hold all of it
      store(d + v, __builtin_convertvector(sum + c, F) * unit);
      continue;
    }
    // C, cut off, fits f32 still; the sum, rounded down 31 bits below C, is added exactly in f64.
    const I m = ec > e ? ec : e;
    const F cut = same_bits<F>(ec > e ? same_bits<I>(old) : same_bits<I>(__builtin_convertvector(c, F) * unit));
    const F down = same_bits<F>((134 + e - m) << 23), step = same_bits<F>((96 + m) << 23);
    using Half = typename Simd<N>::HalfI;
    using HalfF = typename Simd<N>::HalfF;
    using Double = typename Simd<N>::Double;
#pragma GCC unroll 2
    for (u32 h = 0; h < 2; h++) {
      auto half = [&](const F& from) { return widened<Double>(half_of<HalfF>(from, h)); };
      const Double s = widened<Double>(half_of<Half>(sum, h)) * half(down);
      store(d + v + h * width / 2, narrowed<HalfF>(round_down(s) * half(step) + half(cut)));
    }
  }
}

// Sums products number first, first + step, ... of a group for one row. Wide: values of A and B are significands, so
// that no product leaves f32's range; else they are the values themselves.
template <u32 N, bool Wide>
static inline void sum_products(const Terms& t, u32 row, u32 first, u32 step, u32 count, i32* sum, i32* top) {
  using F = typename Simd<N>::F;
  using I = typename Simd<N>::I;
  using H = typename Simd<N>::H;
  constexpr u32 width = Simd<N>::width, vectors = N / width;
  H e[vectors];
#pragma GCC unroll 4
  for (u32 v = 0; v < vectors; v++) e[v] = H{} - 300;
  for (u32 q = 0; q < count; q++) {
    const u32 p = first + q * step;
    const H ea = H{} + t.ea[p][row];
#pragma GCC unroll 4
    for (u32 v = 0; v < vectors; v++) {
      const H x = ea + load<H>(t.eb[p] + v * width);
      e[v] = x > e[v] ? x : e[v];
    }
  }
  I highest[vectors], s[vectors];
  F scale[vectors];
#pragma GCC unroll 4
  for (u32 v = 0; v < vectors; v++) {
    highest[v] = __builtin_convertvector(e[v], I);
    store(top + v * width, highest[v]);
    s[v] = I{};
    // Below -100 all products are zero, and any scale does.
    scale[v] = same_bits<F>((151 - (highest[v] < -100 ? I{} - 100 : highest[v])) << 23);
  }
  for (u32 q = 0; q < count; q++) {
    const u32 p = first + q * step;
    const F a = splat<F>(t.a[p][row]);
#pragma GCC unroll 4
    for (u32 v = 0; v < vectors; v++) {
      if constexpr (Wide) {
        I shift = __builtin_convertvector(load<H>(t.eb[p] + v * width), I) + t.ea[p][row] - highest[v] + 24;
        shift = shift < -60 ? I{} - 60 : shift;
        scale[v] = same_bits<F>((shift + 127) << 23);
      }
      s[v] += __builtin_convertvector(a * load<F>(t.b[p] + v * width) * scale[v], I);
    }
  }
#pragma GCC unroll 4
  for (u32 v = 0; v < vectors; v++) store(sum + v * width, s[v]);
}

template <u32 N, bool Wide, bool Split>
static __attribute__((noinline)) void fused_row(const Terms& t, u32 row, u32 group, const f32* c, f32* d) {
  alignas(64) f32 acc[N];
  alignas(64) i32 sum[N], top[N];
  __builtin_memcpy(acc, c, sizeof acc);
  for (u32 p = 0; p < t.k; p += group) {
    if constexpr (Split) {
      alignas(64) i32 odd[N], odd_top[N];
      sum_products<N, Wide>(t, row, p, 2, group / 2, sum, top);
      sum_products<N, Wide>(t, row, p + 1, 2, group / 2, odd, odd_top);
      for (u32 j = 0; j < N; j++) {
        const i32 m = top[j] > odd_top[j] ? top[j] : odd_top[j];
        const i32 x = m - top[j] > 31 ? 31 : m - top[j], y = m - odd_top[j] > 31 ? 31 : m - odd_top[j];
        sum[j] = (sum[j] >> x) + (odd[j] >> y);
        top[j] = m;
      }
    } else {
      sum_products<N, Wide>(t, row, p, 1, group, sum, top);
    }
    if (t.scale)
      for (u32 j = 0; j < N; j++) top[j] += t.scale[p / 32][row] + t.scale_b[p / 32][j];
    meet_row<N, Split>(sum, top, acc);
  }
  __builtin_memcpy(d, acc, sizeof acc);
}

// The same rule for operands with infinities, NaNs or exponents near the ends of f32: one column after the other.
template <bool Split>
static __attribute__((noinline)) void fused_row_special(const Terms& t, u32 row, u32 group, u32 n, const f32* c, f32* d) {
  for (u32 j = 0; j < n; j++) {
    f32 acc = c[j];
    for (u32 p = 0; p < t.k; p += group) {
      const i32 scale = t.scale ? t.scale[p / 32][row] + t.scale_b[p / 32][j] : 0;
      f64 total = acc;
      bool up = false, down = false;
      for (u32 q = p; q < p + group; q++) {
        const f64 x = f64(t.a[q][row]) * t.b[q][j] * power64(scale);
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
          m = std::max(m, t.ea[q][row] + t.eb[q][j]);
        }
        for (u32 q = p; q < p + group; q++) {
          const u32 k = Split ? (q - p) & 1 : 0;
          sum[k] += i32(f64(t.a[q][row]) * t.b[q][j] * power64(24 - top[k]));
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
