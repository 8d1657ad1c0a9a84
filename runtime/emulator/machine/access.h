// Moving data between registers and memory, lane by lane: shared by the vector memory and LDS families.
// An address phase has turned every active lane into a host pointer; here the row's operation is done.
#pragma once

#include <fmt/format.h>

#include "memory.h"
#include "operands.h"
#include "row.h"

namespace lathe::emu::LATHE_LEVEL {

struct Pointers {
  u8* p[64];
  u8* defined[64];     // strict: the bytes' defined bits, or nullptr where all are
  u32 stride = 4;      // from one dword of a lane to its next: scratch interleaves lanes
  bool any_defined = false;
  bool linear = false; // lane k is at p[0] + k * bytes
};

// The race check of an LDS access that no DS instruction makes; in lds.cpp.
void touch_lds(Wave&, u32 offset, u32 bytes, u32 lane, bool write, bool atomic = false);

template <class F>
static inline void each_lane(u64 exec, F f) {
  for (u64 m = exec; m; m &= m - 1) f(u32(__builtin_ctzll(m)));
}

static inline u32 load32(const u8* p) {
  u32 x;
  __builtin_memcpy(&x, p, 4);
  return x;
}
static inline void store32(u8* p, u32 x) { __builtin_memcpy(p, &x, 4); }

// Value of a sub-dword load as the register gets it.
static inline u32 narrow_load(const u8* p, u32 bytes, bool sign) {
  if (bytes == 1) return sign ? u32(i32(i8(*p))) : *p;
  u16 x;
  __builtin_memcpy(&x, p, 2);
  return sign ? u32(i32(i16(x))) : x;
}

template <bool Strict>
[[gnu::noinline]] static void do_load(Wave& w, const Row& row, u32 reg, const Pointers& at, u64 exec, u32 offset = 0) {
  const u32 bytes = row.mem_bytes, n = w.lanes;
  const u8 flags = row.mem_flags;
  if (bytes >= 4) {
    const u32 count = bytes / 4;
    if (at.linear) {
      const u32* from = reinterpret_cast<const u32*>(at.p[0]);
      for (u32 k = 0; k < count; k++) {
        u32* dst = w.vgpr(reg + k);
        for (u32 base = 0; base < n; base += 32)
          for (u32 j = 0; j < 32; j++) dst[base + j] = from[(base + j) * count + k];
      }
    } else {
      for (u32 k = 0; k < count; k++) {
        u32* dst = w.vgpr(reg + k);
        const u32 step = offset + k * at.stride;
        if (exec == w.full)
          for (u32 l = 0; l < n; l++) dst[l] = load32(at.p[l] + step);
        else
          each_lane(exec, [&](u32 l) { dst[l] = load32(at.p[l] + step); });
      }
    }
    if constexpr (Strict) {
      for (u32 k = 0; k < count; k++) {
        if (w.und[reg + k] & exec) set_defined(w, reg + k, exec);
        if (!at.any_defined) continue;
        u32 together = ~0u;
        if (at.defined[__builtin_ctzll(exec)]) {
          if (exec == w.full)
            for (u32 l = 0; l < n; l++) together &= at.defined[l] ? load32(at.defined[l] + offset + k * at.stride) : ~0u;
          else
            each_lane(exec, [&](u32 l) { together &= at.defined[l] ? load32(at.defined[l] + offset + k * at.stride) : ~0u; });
          if (together == ~0u) continue;
        }
        each_lane(exec, [&](u32 l) {
          if (!at.defined[l]) return;
          const u32 d = load32(at.defined[l] + offset + k * at.stride);
          if (~d) set_undef_bits(w, reg + k, l, ~d);
        });
      }
    }
    return;
  }
  u32* dst = w.vgpr(reg);
  const bool sign = flags & mem_signed, d16 = flags & mem_d16, hi = flags & mem_d16_hi;
  each_lane(exec, [&](u32 l) {
    const u32 x = narrow_load(at.p[l] + offset, bytes, sign);
    dst[l] = hi ? (dst[l] & 0xffff) | x << 16 : d16 ? (dst[l] & 0xffff0000u) | (x & 0xffff) : x;
    if constexpr (Strict) {
      u32 undefined = 0;
      if (at.defined[l]) undefined = ~narrow_load(at.defined[l] + offset, bytes, true) & (sign ? ~0u : bytes == 1 ? 0xffu : 0xffffu);
      const u32 old = undef_bits(w, reg, l);
      const u32 u = hi ? (old & 0xffff) | undefined << 16 : d16 ? (old & 0xffff0000u) | (undefined & 0xffff) : undefined;
      if (u != old) set_undef_bits(w, reg, l, u);
    }
  });
}

// `keeps_shadow`: LDS and scratch take undefined bits along; into global memory they may not go.
template <bool Strict>
[[gnu::noinline]] static void do_store(Wave& w, const Row& row, u32 reg, const Pointers& at, u64 exec, bool keeps_shadow, u32 offset = 0) {
  const u32 bytes = row.mem_bytes, n = w.lanes;
  const bool hi = row.mem_flags & mem_d16_hi;
  const u32 count = bytes < 4 ? 1 : bytes / 4;
  if constexpr (Strict) {
    for (u32 k = 0; k < count; k++) {
      check_arrived(w, reg + k, 1, "stored");
      if (!(w.und[reg + k] & exec)) continue;
      const u32 mask = bytes >= 4 ? ~0u : (bytes == 1 ? 0xffu : 0xffffu) << (hi ? 16 : 0);
      if (!keeps_shadow)
        each_lane(w.und[reg + k] & exec, [&](u32 l) {
          const u32 u = undef_bits(w, reg + k, l) & mask;
          if (u) report_undefined(w, "global memory", fmt::format("bits 0x{:x} of v{}", u, reg + k), int(l));
        });
    }
  }
  if (bytes >= 4) {
    if (at.linear) {
      u32* to = reinterpret_cast<u32*>(at.p[0]);
      for (u32 k = 0; k < count; k++) {
        const u32* src = w.vgpr(reg + k);
        for (u32 base = 0; base < n; base += 32)
          for (u32 j = 0; j < 32; j++) to[(base + j) * count + k] = src[base + j];
      }
    } else {
      for (u32 k = 0; k < count; k++) {
        const u32* src = w.vgpr(reg + k);
        each_lane(exec, [&](u32 l) { store32(at.p[l] + offset + k * at.stride, src[l]); });
      }
    }
  } else {
    const u32* src = w.vgpr(reg);
    each_lane(exec, [&](u32 l) { const u32 x = src[l] >> (hi ? 16 : 0); __builtin_memcpy(at.p[l] + offset, &x, bytes); });
  }
  if constexpr (Strict) {
    if (!at.any_defined) return;
    if (at.linear && at.defined[0] && !keeps_shadow) {
      std::memset(at.defined[0], 0xff, size_t(bytes) * n);
      return;
    }
    u64 undefined = 0;
    for (u32 k = 0; k < count; k++) undefined |= w.und[reg + k] & exec;
    if (!undefined && bytes >= 4) {
      for (u32 k = 0; k < count; k++)
        each_lane(exec, [&](u32 l) {
          if (at.defined[l]) store32(at.defined[l] + offset + k * at.stride, ~0u);
        });
      return;
    }
    each_lane(exec, [&](u32 l) {
      if (!at.defined[l]) return;
      for (u32 k = 0; k < count; k++) {
        const u32 d = keeps_shadow ? ~(undef_bits(w, reg + k, l)) >> (hi ? 16 : 0) : ~0u;
        __builtin_memcpy(at.defined[l] + offset + k * at.stride, &d, bytes < 4 ? bytes : 4);
      }
    });
  }
}

// ---- atomics -------------------------------------------------------------------------------------

template <class T>
[[gnu::noinline]] static T apply_atomic(MemOp op, T old, T x, T compare) {
  using S = std::make_signed_t<T>;
  using F = std::conditional_t<sizeof(T) == 8, f64, f32>;
  const auto f = [](T v) { return bits_to<F>(v); };
  switch (op) {
    case MemOp::add: return old + x;
    case MemOp::sub: return old - x;
    case MemOp::rsub: return x - old;
    case MemOp::umin: return x < old ? x : old;
    case MemOp::umax: return x > old ? x : old;
    case MemOp::smin: return S(x) < S(old) ? x : old;
    case MemOp::smax: return S(x) > S(old) ? x : old;
    case MemOp::and_: return old & x;
    case MemOp::or_: return old | x;
    case MemOp::xor_: return old ^ x;
    case MemOp::inc: return old >= x ? 0 : old + 1;
    case MemOp::dec: return old == 0 || old > x ? x : old - 1;
    case MemOp::swap: return x;
    case MemOp::cmpswap: return old == compare ? x : old;
    case MemOp::fcmpswap: return f(old) == f(compare) ? x : old;
    case MemOp::fadd: return bits_to<T>(f(old) + f(x));
    case MemOp::fmin: return bits_to<T>(f(x) < f(old) || f(old) != f(old) ? f(x) : f(old));
    case MemOp::fmax: return bits_to<T>(f(x) > f(old) || f(old) != f(old) ? f(x) : f(old));
    case MemOp::sub_clamp: return old < x ? 0 : old - x;
    case MemOp::mskor: return (old & ~x) | compare;
    case MemOp::wrap: return old >= x ? old - x : old + compare;
    case MemOp::cond_sub: return old < x ? old : old - x;
    case MemOp::pk_fadd_f16: {
      const u32 a = u32(old), b = u32(x);
      return T(to_f16(to_f32(f16{u16(a)}) + to_f32(f16{u16(b)})).bits | u32(to_f16(to_f32(f16{u16(a >> 16)}) + to_f32(f16{u16(b >> 16)})).bits) << 16);
    }
    case MemOp::pk_fadd_bf16: {
      const u32 a = u32(old), b = u32(x);
      return T(to_bf16(to_f32(bf16{u16(a)}) + to_f32(bf16{u16(b)})).bits | u32(to_bf16(to_f32(bf16{u16(a >> 16)}) + to_f32(bf16{u16(b >> 16)})).bits) << 16);
    }
    default: raise(FaultKind::unsupported, "atomic operation without meaning");
  }
}

// A field of `bits` that may cross into the next dword.
static inline u32 take_field(const u32* x, u32 at, u32 bits) {
  u64 both = x[at / 32];
  if (at % 32 + bits > 32) both |= u64(x[at / 32 + 1]) << 32;
  return u32(both >> (at % 32)) & ((1u << bits) - 1);
}
static inline void put_field(u32* x, u32 at, u32 bits, u32 value) {
  x[at / 32] |= value << (at % 32);
  if (at % 32 + bits > 32) x[at / 32 + 1] |= value >> (32 - at % 32);
}
// What loads with a transposition do once every lane has its piece of memory in registers. The pieces of a group of lanes
// are a tile, row by row, of as many rows as a piece has elements; the group's lane number c gets column c.
template <bool Strict>
[[gnu::noinline]] static void turn_lanes(Wave& w, const Row& row, u32 reg) {
  const u32 bits = row.turn_bits, group = row.turn_lanes, dwords = row.mem_bytes / 4, n = row.mem_bytes * 8 / bits, lanes_per_row = group / n;
  const auto turn = [&](auto dword) {
    u32 in[64][4], out[64][4] = {};
    for (u32 l = 0; l < w.lanes; l++)
      for (u32 k = 0; k < dwords; k++) in[l][k] = dword(k, l);
    for (u32 l = 0; l < w.lanes; l++) {
      const u32 column = l % group;
      for (u32 r = 0; r < n; r++) put_field(out[l], r * bits, bits, take_field(in[l - column + r * lanes_per_row + column / n], column % n * bits, bits));
    }
    for (u32 l = 0; l < w.lanes; l++)
      for (u32 k = 0; k < dwords; k++) dword(k, l) = out[l][k];
  };
  turn([&](u32 k, u32 l) -> u32& { return w.vgpr(reg + k)[l]; });
  if constexpr (Strict) {
    u64 undefined = 0;
    for (u32 k = 0; k < dwords; k++) undefined |= w.und[reg + k];
    if (!undefined) return;
    u32 shadow[4][64];
    for (u32 k = 0; k < dwords; k++)
      for (u32 l = 0; l < w.lanes; l++) shadow[k][l] = undef_bits(w, reg + k, l);
    turn([&](u32 k, u32 l) -> u32& { return shadow[k][l]; });
    for (u32 k = 0; k < dwords; k++)
      for (u32 l = 0; l < w.lanes; l++) set_undef_bits(w, reg + k, l, shadow[k][l]);
  }
}
// What is known of them: all lanes take part, each with an aligned address; wave32's forms alone have been measured.
static inline void check_turn(const Wave& w, const Row& row, u64 exec) {
  if (exec != w.full) raise(FaultKind::unsupported, "a transposing load with lanes that are not in EXEC");
  if (w.lanes == 64 && w.group->isa->encoding == Encoding::gfx12) raise(FaultKind::unsupported, "a transposing load in wave64: its lanes are not known");
  // LLVM and AMD's documents do not say how GFX12.0's 8-bit form permutes; it is not as gfx1250's.
  if (row.turn_bits == 8 && w.group->isa->encoding == Encoding::gfx12 && !w.group->isa->vgpr_msb) raise(FaultKind::unsupported, "a transposing load of 8-bit elements: its permutation is not known");
}

// Old value to `ret_reg` if `ret`. The host's own atomics keep it whole across work-groups.
template <bool Strict, class T>
[[gnu::noinline]] static void do_atomic_typed(Wave& w, MemOp op, u32 data, u32 compare, u32 ret_reg, bool ret, const Pointers& at, u64 exec) {
  constexpr u32 count = sizeof(T) / 4;
  each_lane(exec, [&](u32 l) {
    const auto value = [&](u32 reg) -> T {
      if constexpr (count == 2) return w.vgpr(reg)[l] | u64(w.vgpr(reg + 1)[l]) << 32;
      else return w.vgpr(reg)[l];
    };
    const T x = value(data), c = value(compare);
    T* p = reinterpret_cast<T*>(at.p[l]);
    T old = __atomic_load_n(p, __ATOMIC_RELAXED), next;
    do next = apply_atomic<T>(op, old, x, c);
    while (!__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    if (ret) {
      w.vgpr(ret_reg)[l] = u32(old);
      if constexpr (count == 2) w.vgpr(ret_reg + 1)[l] = u32(u64(old) >> 32);
    }
    if constexpr (Strict) {
      T undefined = 0;
      if (at.defined[l]) {
        T d;
        __builtin_memcpy(&d, at.defined[l], sizeof d);
        undefined = T(~d);
        // An undefined old value makes the stored result undefined too, unless it is replaced whole.
        if (op == MemOp::swap) std::memset(at.defined[l], 0xff, sizeof d);
      }
      if (ret)
        for (u32 k = 0; k < count; k++) set_undef_bits(w, ret_reg + k, l, u32(u64(undefined) >> (32 * k)));
    }
  });
}

}  // namespace lathe::emu::LATHE_LEVEL
