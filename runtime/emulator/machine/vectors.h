// Short host vectors where the compiler does not find them by itself: reductions over lanes, and lanes that read
// several dwords each. GCC's own vector types, so that every CPU level gets its best instructions.
#pragma once

#include "types.h"

namespace lathe::emu::LATHE_LEVEL {

typedef u32 u32x4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef u32 u32x8 __attribute__((vector_size(32), aligned(4), may_alias));

// By memcpy: a template argument loses its type's attributes, and LDS addresses are multiples of 4 at best.
template <class V>
static inline V load_vector(const void* p) {
  V x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
}
template <class V>
static inline void store_vector(void* p, V x) { __builtin_memcpy(p, &x, sizeof x); }

static inline u32 or_lanes(u32x4 x) { return x[0] | x[1] | x[2] | x[3]; }
static inline u32 or_lanes(u32x8 x) { return or_lanes(__builtin_shufflevector(x, x, 0, 1, 2, 3) | __builtin_shufflevector(x, x, 4, 5, 6, 7)); }
static inline u32 max_lanes(u32x8 x) {
  u32 r = 0;
  for (int k = 0; k < 8; k++) r = x[k] > r ? x[k] : r;
  return r;
}
// Comparisons give all ones or zero per lane.
static inline bool all_lanes(u32x4 mask) { return !or_lanes(~mask); }

// Four lanes with four dwords each become four registers with four lanes each.
static inline void transpose4(u32x4& a, u32x4& b, u32x4& c, u32x4& d) {
  const u32x4 ab_lo = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_hi = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const u32x4 cd_lo = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_hi = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab_lo, cd_lo, 0, 1, 4, 5), b = __builtin_shufflevector(ab_lo, cd_lo, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab_hi, cd_hi, 0, 1, 4, 5), d = __builtin_shufflevector(ab_hi, cd_hi, 2, 3, 6, 7);
}

}  // namespace lathe::emu::LATHE_LEVEL
