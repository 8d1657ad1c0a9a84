// Operand fetch and result store of the vector family. Level code: included by valu.cpp and lane.cpp.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "fault.h"
#include "shadow.h"
#include "wave.h"

namespace lathe::emu::LATHE_LEVEL {

struct alignas(64) Temp {
  u64 q[64];
  u32* d() { return reinterpret_cast<u32*>(q); }
};

static inline void spread_mask(u64 mask, u32* out, u32 n) {
  for (u32 base = 0; base < n; base += 32) {
    const u32 m = u32(mask >> base);
    for (u32 j = 0; j < 32; j++) out[base + j] = (m >> j) & 1;
  }
}
// Lanes hold 0 or 1.
static inline u64 gather_mask(const u32* flags, u32 n) {
  u64 r = 0;
#if defined(__AVX2__)
  for (u32 k = 0; k < n; k += 8) {
    const __m256i x = _mm256_slli_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(flags + k)), 31);
    r |= u64(u32(_mm256_movemask_ps(_mm256_castsi256_ps(x)))) << k;
  }
#else
  for (u32 k = 0; k < n; k++) r |= u64(flags[k] & 1) << k;
#endif
  return r;
}
static inline void broadcast(u32 value, u32* out, u32 n) {
  for (u32 base = 0; base < n; base += 32)
    for (u32 j = 0; j < 32; j++) out[base + j] = value;
}
static inline void broadcast64(u64 value, u64* out, u32 n) {
  for (u32 base = 0; base < n; base += 32)
    for (u32 j = 0; j < 32; j++) out[base + j] = value;
}
static inline void interleave(const u32* lo, const u32* hi, u64* out, u32 n) {
  for (u32 base = 0; base < n; base += 32)
    for (u32 j = 0; j < 32; j++) out[base + j] = lo[base + j] | u64(hi[base + j]) << 32;
}
// dst lanes in `mask` take `from`.
static inline void blend(u32* __restrict dst, const u32* __restrict from, u64 mask, u32 n) {
#if defined(__AVX512F__)
  for (u32 k = 0; k < n; k += 16) _mm512_mask_storeu_epi32(dst + k, __mmask16(mask >> k), _mm512_loadu_si512(from + k));
#elif defined(__AVX2__)
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (u32 k = 0; k < n; k += 8) {
    const __m256i m = _mm256_set1_epi32(int(u8(mask >> k)));
    const __m256i on = _mm256_cmpeq_epi32(_mm256_and_si256(m, bits), bits);
    _mm256_maskstore_epi32(reinterpret_cast<int*>(dst + k), on,
                           _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k)));
  }
#else
  for (u32 k = 0; k < n; k++) dst[k] = (mask >> k) & 1 ? from[k] : dst[k];
#endif
}
static inline void copy_lanes(u32* __restrict dst, const u32* __restrict from, u32 n) {
  for (u32 base = 0; base < n; base += 32)
    for (u32 j = 0; j < 32; j++) dst[base + j] = from[base + j];
}

// SCC, EXECZ, VCCZ and the apertures, as operand encodings 230-238 and 251-253.
constexpr u64 shared_aperture = u64(0x00010000) << 32;
constexpr u64 private_aperture = u64(0x00020000) << 32;
// gfx1250's scratch is globally addressable: a lane's private address is FLAT_SCRATCH_BASE + (lane << 52) +
// offset (LLVM's lowering of the address space cast). The base must differ from every other address in its
// bits above 57: that is how LLVM's is_private tells.
constexpr u64 lanes_scratch = u64(1) << 60;
constexpr u32 scratch_lane_shift = 52;
static inline u64 flat_scratch_base(const Wave& w) { return lanes_scratch | u64(w.id) << 32; }
static inline u64 special_value(const Wave& w, u32 code) {
  switch (code) {
    case 230: return flat_scratch_base(w);
    case 231: return flat_scratch_base(w) >> 32;
    case 235: return shared_aperture;
    case 236: return shared_aperture | 0xffffffffu;
    case 237: return private_aperture;
    case 238: return private_aperture | 0xffffffffu;
    case 251: return w.mask(vcc_reg) == 0;
    case 252: return w.exec() == 0;
    case 253: return w.scc;
  }
  raise(FaultKind::unsupported, "operand encoding without meaning here: " + std::to_string(code));
}
static inline u64 scalar64(const Wave& w, const Src& s) {
  switch (s.kind) {
    case Kind::sgpr: return Wave::bits_to_u64(&w.s[s.reg]);
    case Kind::constant: return s.value;
    default: return special_value(w, s.reg);
  }
}
static inline u32 scalar32(const Wave& w, const Src& s) {
  switch (s.kind) {
    case Kind::sgpr: return w.s[s.reg];
    case Kind::constant: return u32(s.value);
    // The 32-bit read of an aperture yields its high half.
    default: return s.reg >= 235 && s.reg <= 238 ? u32(special_value(w, s.reg) >> 32) : u32(special_value(w, s.reg));
  }
}

// DPP and DPP8: which lane each lane reads; -1 where the source does not exist.
static inline int dpp_source(const Wave& w, const Dpp& d, u32 lane) {
  if (d.is8) return int((lane & ~7u) | ((d.sel8 >> (3 * (lane & 7))) & 7));
  const u32 c = d.ctrl, row = lane & ~15u, in_row = lane & 15;
  if (c <= 0xff) return int((lane & ~3u) | ((c >> (2 * (lane & 3))) & 3));                 // quad_perm
  if (c >= 0x101 && c <= 0x10f) return in_row + (c & 15) < 16 ? int(lane + (c & 15)) : -1;  // row_shl
  if (c >= 0x111 && c <= 0x11f) return in_row >= (c & 15) ? int(lane - (c & 15)) : -1;      // row_shr
  if (c >= 0x121 && c <= 0x12f) return int(row | ((in_row - (c & 15)) & 15));               // row_ror
  if (c == 0x130) return lane + 1 < w.lanes ? int(lane + 1) : -1;                          // wave_shl
  if (c == 0x134) return int((lane + 1) % w.lanes);                                        // wave_rol
  if (c == 0x138) return lane >= 1 ? int(lane - 1) : -1;                                   // wave_shr
  if (c == 0x13c) return int((lane + w.lanes - 1) % w.lanes);                              // wave_ror
  if (c == 0x140) return int(row | (15 - in_row));                                         // row_mirror
  if (c == 0x141) return int((lane & ~7u) | (7 - (lane & 7)));                             // row_half_mirror
  // 0x142 and 0x143 broadcast on gfx9; 0x150.. shares and xmasks on gfx10+ (and row_newbcast on gfx90a).
  if (c == 0x142) return lane >= 16 ? int(row - 1) : -1;                                   // row_bcast:15
  if (c == 0x143) return lane >= 32 ? 31 : -1;                                             // row_bcast:31
  if (c >= 0x150 && c <= 0x15f) return int(row | (c & 15));                                // row_share
  if (c >= 0x160 && c <= 0x16f) return int(row | (in_row ^ (c & 15)));                     // row_xmask
  raise(FaultKind::unsupported, "DPP control " + std::to_string(c));
}
// Lanes that DPP lets write: row and bank masks, and a missing source without bound_ctrl.
static inline u64 dpp_write_mask(const Wave& w, const Dpp& d, u64 exec) {
  u64 mask = 0;
  for (u32 lane = 0; lane < w.lanes; lane++) {
    if (!(exec >> lane & 1)) continue;
    if (!d.is8 && (!(d.row_mask >> (lane / 16) & 1) || !(d.bank_mask >> (lane % 16 / 4) & 1))) continue;
    if (!d.is8 && !d.bound_ctrl) {
      const int from = dpp_source(w, d, lane);
      if (from < 0 || (!d.fetch_inactive && !(exec >> from & 1))) continue;
    }
    mask |= u64(1) << lane;
  }
  return mask;
}
static inline void dpp_fetch(const Wave& w, const Dpp& d, u64 exec, const u32* in, u32* out) {
  u32 copy[64];
  for (u32 lane = 0; lane < w.lanes; lane++) {
    const int from = dpp_source(w, d, lane);
    const bool live = from >= 0 && (d.fetch_inactive || (exec >> from & 1));
    copy[lane] = live ? in[from] : 0;
  }
  for (u32 lane = 0; lane < w.lanes; lane++) out[lane] = copy[lane];
}

static inline u32 flush_f32(u32 x) { return (x & 0x7f800000u) ? x : x & 0x80000000u; }
static inline u32 flush_f16(u32 x) { return (x & 0x7c00u) ? x : x & 0x8000u; }
static inline u64 flush_f64(u64 x) { return (x & 0x7ff0000000000000u) ? x : x & 0x8000000000000000u; }

static inline u32 sdwa_extract(u32 x, u32 sel, bool sext) {
  switch (sel) {
    case 0: case 1: case 2: case 3: return sext ? u32(i32(i8(x >> (8 * sel)))) : (x >> (8 * sel)) & 0xff;
    case 4: case 5: return sext ? u32(i32(i16(x >> (16 * (sel - 4))))) : (x >> (16 * (sel - 4))) & 0xffff;
    default: return x;
  }
}

}  // namespace lathe::emu::LATHE_LEVEL
