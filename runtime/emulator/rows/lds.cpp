// LDS: loads, stores, atomics, and the cross-lane instructions that use its crossbar. Bounds are always
// checked; strict mode also tracks undefined bytes and races between waves since the last barrier.
#include "machine/access.h"
#include "machine/grid_barrier.h"
#include "machine/races.h"
#include "machine/salu.h"
#include "machine/vectors.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

constexpr u8 ds_bit = 1 << int(Counter::ds);

[[noreturn]] void race(const Wave& w, u32 at, u32 lane, const char* what, u32 other_wave, const char* other) {
  raise(FaultKind::lds_race, fmt::format("data race in LDS: wave {} {} dword 0x{:x} that wave {} {} with no barrier in between", w.id, what, at * 4, other_wave, other), int(lane));
}

// Between two barriers a byte may be written by one wave alone, and then only read by that wave. A read of what
// another wave's atomic wrote passes: an atomic load is the same ds_read as any other.
// Called per dword; the common cases (untouched in this epoch, or by this wave) fall through.
[[gnu::noinline]] void touch_slow(Wave& w, u32 at, u32 mask, u32 lane, bool write, bool atomic) {
  Group& g = *w.group;
  u32 &wt = g.touches.write[at], &rt = g.touches.read[at];
  const u32 epoch = w.epoch, mine = w.stamp << 14 | w.id << 8;
  const auto epoch_of = [](u32 t) { return t >> 14; };
  const auto wave_of = [](u32 t) { return t >> 8 & 63; };
  if (epoch_of(wt) >= epoch && (wt & mask) && wave_of(wt) != w.id && !((atomic || !write) && (wt & 16)) && !ordered_in_group(w, wave_of(wt), epoch_of(wt)))
    race(w, at, lane, write ? "writes" : "reads", wave_of(wt), "wrote");
  if (write) {
    if (epoch_of(rt) >= epoch && (rt & mask) && (wave_of(rt) != w.id || (rt & 16)) && !atomic && !(rt & 16 ? w.synced > epoch_of(rt) : ordered_in_group(w, wave_of(rt), epoch_of(rt)))) race(w, at, lane, "writes", wave_of(rt), "read");
    wt = mine | mask | (epoch_of(wt) >= epoch && wave_of(wt) == w.id ? wt & 15 : 0) | (atomic ? 16 : 0);
  } else {
    // Several waves share a dword's tag for the bytes that all have read; where they touch different bytes the last one
    // takes it, so that none is said to have touched what it has not.
    const bool several = rt & 16;
    if (epoch_of(rt) < epoch || (!several && wave_of(rt) != w.id && !(rt & mask)))
      rt = mine | mask;
    else if (several || wave_of(rt) != w.id)
      rt = (epoch_of(rt) < w.stamp ? mine : rt & ~31u) | 16 | (several ? rt & 15 : rt & mask);
    else
      rt = (epoch_of(rt) < w.stamp ? mine : rt & ~31u) | (rt & 15) | mask;
  }
}
void touch(Wave& w, u32 offset, u32 bytes, u32 lane, bool write, bool atomic) {
  for (u32 at = offset / 4; at * 4 < offset + bytes; at++) {
    const u32 from = at * 4 < offset ? offset - at * 4 : 0, to = at * 4 + 4 > offset + bytes ? offset + bytes - at * 4 : 4;
    touch_slow(w, at, ((1u << to) - 1) & ~((1u << from) - 1), lane, write, atomic);
  }
}
// Adds the instruction's offset to the lanes' addresses; LDS addresses wrap at 32 bits.
struct Extent { u32 highest, low_bits, rows_differ; };
Extent add_offset(const u32* addr, u32 offset, u32* at, u32 n) {
  u32x8 highest = {}, low = {}, differ = {};
  for (u32 l = 0; l < n; l += 8) {
    const u32x8 x = load_vector<u32x8>(addr + l) + offset;
    store_vector(at + l, x);
    highest = highest > x ? highest : x;
    low |= x;
    if (l >= 16) differ |= x ^ load_vector<u32x8>(at + l % 16);
  }
  return {max_lanes(highest), or_lanes(low), or_lanes(differ)};
}

// One aligned dword; the common cases are: untouched in this epoch, or by this wave alone, or read by many.
inline void touch_dword(Wave& w, u32* wt, u32* rt, u32 at, u32 mine, u32 lane, bool write) {
  const u32 base = w.epoch << 14;
  const u32 t = wt[at], r = rt[at];
  if (__builtin_expect(t >= base && (t ^ mine) >= 1u << 8, 0)) return touch_slow(w, at, 15, lane, write, false);
  if (write) {
    if (__builtin_expect(r >= base && (r ^ mine) >= 16, 0)) return touch_slow(w, at, 15, lane, true, false);
    wt[at] = mine | 15;
  } else if (r < base) {
    rt[at] = mine | 15;
  } else if (r != (mine | 15) && ((r & 31) != 31 || r < (mine & ~0x3fffu))) {
    touch_slow(w, at, 15, lane, false, false);
  }
}
void touch_dwords(Wave& w, const u32* offset, u64 exec, u32 count, bool write) {
  Group& g = *w.group;
  u32 *wt = g.touches.write.data(), *rt = g.touches.read.data();
  const u32 mine = w.stamp << 14 | w.id << 8;
  each_lane(exec, [&](u32 l) {
    for (u32 at = offset[l] / 4, end = at + count; at < end; at++) touch_dword(w, wt, rt, at, mine, l, write);
  });
}

[[noreturn, gnu::noinline]] void outside(u32 lane, u32 at, u32 bytes, u32 limit, bool write) {
  raise(FaultKind::lds_bounds, fmt::format("LDS {} of {} bytes at 0x{:x}: the work-group has {} bytes", write ? "write" : "read", bytes, at, limit), int(lane));
}

// `at` gets the lanes' offsets (LDS addresses wrap at 32 bits) and pointers to them.
template <bool Strict>
[[gnu::noinline]] void lds_place(Wave& w, const u32* addr, u32 offset, u64 exec, u32 bytes, Pointers& out, bool write, bool atomic) {
  Group& g = *w.group;
  const u32 limit = g.lds_size, n = w.lanes;
  u32 at[64];
  const Extent e = add_offset(addr, offset, at, n);
  u32 low_bits = e.low_bits;
  if (bytes > limit) outside(u32(__builtin_ctzll(exec)), at[__builtin_ctzll(exec)], bytes, limit, write);
  if (exec == w.full) {
    if (e.highest > limit - bytes)
      for (u32 l = 0; l < n; l++)
        if (at[l] > limit - bytes) outside(l, at[l], bytes, limit, write);
    for (u32 l = 0; l < n; l++) out.p[l] = g.lds + at[l];
    if constexpr (Strict)
      for (u32 l = 0; l < n; l++) out.defined[l] = g.lds_defined + at[l];
  } else {
    low_bits = 0;
    each_lane(exec, [&](u32 l) {
      if (at[l] > limit - bytes) outside(l, at[l], bytes, limit, write);
      low_bits |= at[l];
      out.p[l] = g.lds + at[l];
      if constexpr (Strict) out.defined[l] = g.lds_defined + at[l];
    });
  }
  if (__builtin_expect(g.count_memory, 0)) count_lds(w, at, exec, bytes, !write);
  if constexpr (Strict) {
    out.any_defined = true;
    if (g.waves.size() > 1) {
      if (!atomic && bytes >= 4 && !(low_bits & 3)) touch_dwords(w, at, exec, bytes / 4, write);
      else each_lane(exec, [&](u32 l) { touch(w, at[l], bytes, l, write, atomic); });
    }
  }
}

// The read tags of `count` dwords, four at a time where nothing has to change hands.
inline void touch_read(Wave& w, u32* wt, u32* rt, u32 at, u32 count, u32 mine, u32 lane) {
  if (count == 4) {
    const u32 base = w.epoch << 14, now = mine & ~0x3fffu;
    const u32x4 t = load_vector<u32x4>(wt + at), r = load_vector<u32x4>(rt + at);
    if (all_lanes((t < base) | ((t ^ mine) < 256))) {
      if (all_lanes((r == (mine | 15)) | ((r >= now) & ((r & 31) == 31)))) return;
      if (all_lanes(r < base)) return store_vector(rt + at, u32x4{} + (mine | 15));
    }
  }
  for (const u32 end = at + count; at < end; at++) touch_dword(w, wt, rt, at, mine, lane, false);
}

// Dword k of lane l goes to dst[k * n + l].
void gather_dwords(const u8* from, const u32* at, u32 lanes, u32 n, u32 count, u32* dst) {
  if (count == 4) {
    for (u32 l = 0; l < lanes; l += 4) {
      u32x4 a = load_vector<u32x4>(from + at[l]), b = load_vector<u32x4>(from + at[l + 1]);
      u32x4 c = load_vector<u32x4>(from + at[l + 2]), d = load_vector<u32x4>(from + at[l + 3]);
      transpose4(a, b, c, d);
      store_vector(dst + l, a), store_vector(dst + n + l, b), store_vector(dst + 2 * n + l, c), store_vector(dst + 3 * n + l, d);
    }
  } else {
    for (u32 k = 0; k < count; k++)
      for (u32 l = 0; l < lanes; l++) dst[k * n + l] = load32(from + at[l] + 4 * k);
  }
}
// Ones where the bits of all these dwords are ones.
u32 common_ones(const u8* from, const u32* at, u32 lanes, u32 count) {
  u32 r = ~0u;
  if (count == 4) {
    u32x4 x = ~u32x4{};
    for (u32 l = 0; l < lanes; l++) x &= load_vector<u32x4>(from + at[l]);
    return ~or_lanes(~x);
  }
  for (u32 k = 0; k < count; k++)
    for (u32 l = 0; l < lanes; l++) r &= load32(from + at[l] + 4 * k);
  return r;
}

// Loads of aligned dwords by all lanes. Returns false if the general way has to be taken.
template <bool Strict>
bool load_quickly(Wave& w, u32 reg, u32 offset, const u32* addr, u64 exec, u32 bytes) {
  Group& g = *w.group;
  const u32 limit = g.lds_size, n = w.lanes, count = bytes / 4;
  if (bytes > limit || exec != w.full) return false;
  alignas(32) u32 at[64];
  const Extent e = add_offset(addr, offset, at, n);
  if (e.highest > limit - bytes || (e.low_bits & 3)) return false;
  if (__builtin_expect(g.count_memory, 0)) count_lds(w, at, exec, bytes, true);
  u32* dst = w.vgpr(reg);
  // Tiles are often read row by row: all rows of 16 lanes the same addresses. Then one row does for all.
  const u32 lanes = e.rows_differ ? n : 16;
  gather_dwords(g.lds, at, lanes, n, count, dst);
  for (u32 k = 0; k < count; k++)
    for (u32 l = lanes; l < n; l += 16) std::memcpy(dst + k * n + l, dst + k * n, 64);
  if constexpr (Strict) {
    if (g.waves.size() > 1) {
      u32 *wt = g.touches.write.data(), *rt = g.touches.read.data();
      const u32 mine = w.stamp << 14 | w.id << 8;
      u32 last = ~0u;
      for (u32 l = 0; l < lanes; l++) {
        if (at[l] == last) continue;
        last = at[l];
        touch_read(w, wt, rt, last / 4, count, mine, l);
      }
    }
    const u32 together = common_ones(g.lds_defined, at, lanes, count);
    for (u32 k = 0; k < count; k++) {
      if (w.und[reg + k] & exec) set_defined(w, reg + k, exec);
      if (together != ~0u)
        for (u32 l = 0; l < n; l++)
          if (const u32 d = load32(g.lds_defined + at[l] + 4 * k); ~d) set_undef_bits(w, reg + k, l, ~d);
    }
  }
  return true;
}

template <bool Strict>
const Inst* run_ds(Wave& w, const Inst* i) {
  const Mem& m = i->mem;
  const Row& row = *i->row;
  const u64 exec = w.exec();
  const u32 bytes = row.mem_bytes;
  const bool load = row.mem_op == MemOp::load, store = row.mem_op == MemOp::store, two = row.mem_flags & mem_two;
  const u32 count = bytes < 4 ? 1 : bytes / 4;
  const bool returns = load || m.ret;
  Pointers at;
  if constexpr (Strict) {
    if (returns) claim_for_load(w, i->dst.reg, two ? 2 * count : count, order_lds);
    if (exec) require_defined(w, m.addr, 1, exec, "an LDS address");
  }
  if (exec) {
    // A two-part load may overwrite its own address register with the first part.
    u32 copy[64];
    const u32* addr = w.vgpr(m.addr);
    if (load && two && u32(m.addr - i->dst.reg) < 2 * count) copy_lanes(copy, addr, w.lanes), addr = copy;
    if (load || store) {
      for (u32 k = 0; k < (two ? 2u : 1u); k++) {
        if (load && bytes >= 4 && load_quickly<Strict>(w, i->dst.reg + k * count, u32(k ? m.offset1 : m.offset), addr, exec, bytes)) continue;
        lds_place<Strict>(w, addr, u32(k ? m.offset1 : m.offset), exec, bytes, at, store, false);
        if (load) do_load<Strict>(w, row, i->dst.reg + k * count, at, exec);
        else do_store<Strict>(w, row, k ? m.data1 : m.data, at, exec, true);
      }
      if (row.turn_bits) {
        check_turn(w, row, exec);
        // Measured on gfx1250: a misaligned one does not transpose.
        const u32 unit = bytes == 12 ? 16 : bytes;
        each_lane(exec, [&](u32 l) {
          if (const u32 a = addr[l] + u32(m.offset); a % unit) raise(FaultKind::misaligned, fmt::format("transposing LDS load at 0x{:x}: not a multiple of {} bytes", a, unit), int(l));
        });
        turn_lanes<Strict>(w, row, i->dst.reg);
      }
      if (Strict && store) w.wrote = true;
    } else {
      w.polls++;
      if (Strict && w.wrote) close_writes(w);
      lds_place<Strict>(w, addr, u32(m.offset), exec, bytes, at, true, true);
      each_lane(exec, [&](u32 l) {
        if (u64(at.p[l]) % bytes) raise(FaultKind::misaligned, fmt::format("LDS atomic of {} bytes at 0x{:x}", bytes, addr[l] + u32(m.offset)), int(l));
      });
      u32 data = m.data, compare = m.data1;
      if (row.mem_flags & mem_compare_first) std::swap(data, compare);
      const bool two_operands = row.mem_op == MemOp::cmpswap || row.mem_op == MemOp::fcmpswap || row.mem_op == MemOp::mskor || row.mem_op == MemOp::wrap;
      if (!two_operands) compare = data;
      if constexpr (Strict) require_defined(w, m.data, count, exec, "an atomic's operand");
      if (count == 2) do_atomic_typed<Strict, u64>(w, row.mem_op, data, compare, i->dst.reg, m.ret, at, exec);
      else do_atomic_typed<Strict, u32>(w, row.mem_op, data, compare, i->dst.reg, m.ret, at, exec);
      if (m.ret) w.synced = w.group->epoch;
    }
  }
  if constexpr (Strict) {
    if (returns) pend_vgprs(w, i, i->dst.reg, two ? 2 * count : count, ds_bit, order_lds, !load);
    else pend_none(w, i, ds_bit, order_lds, true);
  }
  return i + 1;
}

// ---- cross-lane through the crossbar -------------------------------------------------------------

// `from(lane)`: the lane read, or -1 for zero. Reading an inactive lane gives zero (ds_bpermute, ISA document).
template <bool Strict, class F>
void shuffle(Wave& w, const Inst* i, u32 src, F from, bool fetch_inactive = false) {
  const u64 exec = w.exec();
  u32 out[64], undefined[64] = {};
  const u32* in = w.vgpr(src);
  if constexpr (Strict) check_arrived(w, src, 1, "read");
  for (u32 l = 0; l < w.lanes; l++) {
    const int f = from(l);
    const bool live = f >= 0 && (fetch_inactive || (exec >> f & 1));
    out[l] = live ? in[f] : 0;
    if constexpr (Strict) undefined[l] = live ? undef_bits(w, src, u32(f)) : 0;
  }
  if constexpr (Strict) {
    claim_for_load(w, i->dst.reg, 1, order_lds);
    each_lane(exec, [&](u32 l) { set_undef_bits(w, i->dst.reg, l, undefined[l]); });
  }
  blend(w.vgpr(i->dst.reg), out, exec, w.lanes);
  if constexpr (Strict) pend_vgprs(w, i, i->dst.reg, 1, ds_bit, order_lds);
}

template <bool Strict>
const Inst* ds_bpermute(Wave& w, const Inst* i) {
  const u64 exec = w.exec();
  if constexpr (Strict) require_defined(w, i->mem.addr, 1, exec, "ds_bpermute's lane number");
  const u32* a = w.vgpr(i->mem.addr);
  const u32 offset = u32(i->mem.offset);
  shuffle<Strict>(w, i, i->mem.data, [&](u32 l) { return int(((a[l] + offset) >> 2) & (w.lanes - 1)); });
  return i + 1;
}
// gfx12: inactive lanes are read too.
template <bool Strict>
const Inst* ds_bpermute_fi(Wave& w, const Inst* i) {
  if constexpr (Strict) require_defined(w, i->mem.addr, 1, w.exec(), "ds_bpermute's lane number");
  const u32* a = w.vgpr(i->mem.addr);
  shuffle<Strict>(w, i, i->mem.data, [&](u32 l) { return int(((a[l] + u32(i->mem.offset)) >> 2) & (w.lanes - 1)); }, true);
  return i + 1;
}
template <bool Strict>
const Inst* ds_permute(Wave& w, const Inst* i) {
  const u64 exec = w.exec();
  if constexpr (Strict) require_defined(w, i->mem.addr, 1, exec, "ds_permute's lane number");
  int from[64];
  for (int& f : from) f = -1;
  const u32* a = w.vgpr(i->mem.addr);
  each_lane(exec, [&](u32 l) { from[((a[l] + u32(i->mem.offset)) >> 2) & (w.lanes - 1)] = int(l); });
  shuffle<Strict>(w, i, i->mem.data, [&](u32 l) { return from[l]; });
  return i + 1;
}
// Pattern in the 16-bit offset: bit 15 quad permute, else and/or/xor masks over 32 lanes; 0xc000 and up
// rotate, 0xe000 and up are FFT patterns (RDNA3 ISA, DS_SWIZZLE_B32).
template <bool Strict>
const Inst* ds_swizzle(Wave& w, const Inst* i) {
  const u32 p = u32(i->mem.offset) & 0xffff;
  if (p >= 0xe000 && w.group->isa->encoding >= Encoding::gfx9) raise(FaultKind::unsupported, "ds_swizzle_b32 FFT mode");
  shuffle<Strict>(w, i, i->mem.addr, [&](u32 l) -> int {
    if (p >= 0xc000) {
      const u32 mask = p & 31, rot = p >> 5 & 31, right = p >> 10 & 1, base = l & ~31u, in = l & 31;
      const u32 r = right ? in + rot : in + 32 - rot;
      return int(base | (in & mask) | (r & 31 & ~mask));
    }
    if (p & 0x8000) return int((l & ~3u) | (p >> (2 * (l & 3)) & 3));
    const u32 and_mask = p & 31, or_mask = p >> 5 & 31, xor_mask = p >> 10 & 31;
    return int((l & ~31u) | ((((l & 31) & and_mask) | or_mask) ^ xor_mask));
  });
  return i + 1;
}

// ds_wrxchg2: two exchanges at once.
template <bool Strict>
const Inst* ds_wrxchg2(Wave& w, const Inst* i) {
  const Mem& m = i->mem;
  const Row& row = *i->row;
  const u64 exec = w.exec();
  const u32 bytes = row.mem_bytes, count = bytes / 4;
  if constexpr (Strict) {
    claim_for_load(w, i->dst.reg, 2 * count, order_lds);
    require_defined(w, m.addr, 1, exec, "an LDS address");
    require_defined(w, m.data, count, exec, "an atomic's operand"), require_defined(w, m.data1, count, exec, "an atomic's operand");
  }
  // The results may stand on top of the address and the data.
  u32 addr[64], data[2][2][64];
  copy_lanes(addr, w.vgpr(m.addr), w.lanes);
  for (u32 k = 0; k < count; k++) copy_lanes(data[0][k], w.vgpr(m.data + k), w.lanes), copy_lanes(data[1][k], w.vgpr(m.data1 + k), w.lanes);
  for (u32 half = 0; exec && half < 2; half++) {
    Pointers at;
    lds_place<Strict>(w, addr, u32(half ? m.offset1 : m.offset), exec, bytes, at, true, true);
    const u32 to = i->dst.reg + half * count;
    each_lane(exec, [&](u32 l) {
      for (u32 k = 0; k < count; k++) {
        w.vgpr(to + k)[l] = load32(at.p[l] + 4 * k);
        store32(at.p[l] + 4 * k, data[half][k][l]);
        if constexpr (Strict) {
          set_undef_bits(w, to + k, l, ~load32(at.defined[l] + 4 * k));
          store32(at.defined[l] + 4 * k, ~0u);
        }
      }
    });
  }
  if constexpr (Strict) pend_vgprs(w, i, i->dst.reg, 2 * count, ds_bit, order_lds, true);
  return i + 1;
}

// ds_append and ds_consume: the wave adds or takes the number of its active lanes at M0[15:0] + offset, and each
// lane gets the old value.
template <bool Strict, bool Append>
const Inst* ds_append(Wave& w, const Inst* i) {
  const u64 exec = w.exec();
  if constexpr (Strict) claim_for_load(w, i->dst.reg, 1, order_lds), require_defined_sgpr(w, m0_reg, 1, "an LDS address");
  if (exec) {
    u32 addr[64] = {};
    const u32 first = u32(__builtin_ctzll(exec)), n = u32(__builtin_popcountll(exec));
    addr[first] = w.s[m0_reg] & 0xffff;
    Pointers at;
    lds_place<Strict>(w, addr, u32(i->mem.offset), u64(1) << first, 4, at, true, true);
    const u32 old = load32(at.p[first]);
    store32(at.p[first], Append ? old + n : old - n);
    const u32 undefined = Strict ? ~load32(at.defined[first]) : 0;
    each_lane(exec, [&](u32 l) {
      w.vgpr(i->dst.reg)[l] = old;
      if constexpr (Strict) set_undef_bits(w, i->dst.reg, l, undefined);
    });
  }
  if constexpr (Strict) pend_vgprs(w, i, i->dst.reg, 1, ds_bit, order_lds, true);
  return i + 1;
}

// Lane l's dword at M0[15:0] + offset + 4 * l.
template <bool Strict, bool Store>
const Inst* ds_addtid(Wave& w, const Inst* i) {
  const u64 exec = w.exec();
  if constexpr (Strict) {
    if (!Store) claim_for_load(w, i->dst.reg, 1, order_lds);
    require_defined_sgpr(w, m0_reg, 1, "an LDS address");
  }
  if (exec) {
    u32 addr[64];
    for (u32 l = 0; l < w.lanes; l++) addr[l] = (w.s[m0_reg] & 0xffff) + 4 * l;
    Pointers at;
    lds_place<Strict>(w, addr, u32(i->mem.offset), exec, 4, at, Store, false);
    if constexpr (Store) do_store<Strict>(w, *i->row, i->mem.data, at, exec, true);
    else do_load<Strict>(w, *i->row, i->dst.reg, at, exec);
  }
  if constexpr (Strict) {
    if (Store) pend_none(w, i, ds_bit, order_lds, true);
    else pend_vgprs(w, i, i->dst.reg, 1, ds_bit, order_lds);
  }
  return i + 1;
}

constexpr Row ds(std::string_view name, MemOp op, u8 bytes, u8 flags = 0) {
  Row row;
  row.name = name;
  row.family = Family::ds;
  row.cls = Class::lds;
  row.mem_op = op, row.mem_bytes = bytes, row.mem_flags = flags;
  row.run[0] = run_ds<false>, row.run[1] = run_ds<true>;
  return row;
}
// DS_GWS_BARRIER: waits for as many waves as its register says, and one (ADDR names the register; RDNA3 ISA,
// "Global Wave Sync"). HIP's grid.sync() has one wave of each group do it. Until all are there the wave gives way
// and comes back to this instruction.
template <bool Strict>
const Inst* gws_barrier(Wave& w, const Inst* i) {
  GridBarrier* barrier = w.group->grid_barrier;
  if (!barrier) raise(FaultKind::unsupported, "grid barrier in a launch that is not cooperative");
  const u64 exec = w.exec();
  if (!exec) return i + 1;
  if (!w.grid_round) w.grid_round = barrier->arrive(w.vgpr(i->mem.addr)[__builtin_ctzll(exec)] + 1);
  if (barrier->passed(w.grid_round)) {
    w.grid_round = 0;
    if constexpr (Strict) observe_all(w);
    return i + 1;
  }
  w.polls++;
  w.resume = i;
  return nullptr;
}

constexpr Row cross(std::string_view name, Handler fast, Handler strict) {
  Row row = ds(name, MemOp::none, 4);
  row.run[0] = fast, row.run[1] = strict;
  return row;
}

constexpr Row exchange2(std::string_view name, u8 bytes, u8 flags) {
  Row row = ds(name, MemOp::swap, bytes, u8(flags | mem_two));
  row.run[0] = ds_wrxchg2<false>, row.run[1] = ds_wrxchg2<true>;
  return row;
}
constexpr Row of_m0(std::string_view name, MemOp op, Handler fast, Handler strict) {
  Row row = ds(name, op, 4, mem_no_address);
  row.run[0] = fast, row.run[1] = strict;
  return row;
}

// clang-format off
#define BOTH(NAME, T, OP) ds("DS_" NAME "_" T "32", MemOp::OP, 4), ds("DS_" NAME "_" T "64", MemOp::OP, 8)
constexpr Row rows[] = {
  ds("DS_READ_U8", MemOp::load, 1), ds("DS_READ_I8", MemOp::load, 1, mem_signed), ds("DS_READ_U16", MemOp::load, 2), ds("DS_READ_I16", MemOp::load, 2, mem_signed),
  ds("DS_READ_U8_D16", MemOp::load, 1, mem_d16), ds("DS_READ_U8_D16_HI", MemOp::load, 1, mem_d16_hi),
  ds("DS_READ_I8_D16", MemOp::load, 1, mem_d16 | mem_signed), ds("DS_READ_I8_D16_HI", MemOp::load, 1, mem_d16_hi | mem_signed),
  ds("DS_READ_U16_D16", MemOp::load, 2, mem_d16), ds("DS_READ_U16_D16_HI", MemOp::load, 2, mem_d16_hi),
  ds("DS_READ_B32", MemOp::load, 4), ds("DS_READ_B64", MemOp::load, 8), ds("DS_READ_B96", MemOp::load, 12), ds("DS_READ_B128", MemOp::load, 16),
  // Transposing loads. CDNA4 ISA 11.4: 16 lanes hold a tile of 16 columns; gfx1250's (CDNA5 ISA 11.2.4) of 8 lanes and 8
  // columns for 8 and 16 bits. What 4 and 6 bits do follows from the size of a tile.
  ds("DS_READ_B64_TR_B16", MemOp::load, 8).transposed(16, 16), ds("DS_READ_B64_TR_B8", MemOp::load, 8).transposed(8, 16),
  ds("DS_READ_B64_TR_B4", MemOp::load, 8).transposed(4, 16), ds("DS_READ_B96_TR_B6", MemOp::load, 12).transposed(6, 16),
  ds("DS_LOAD_TR16_B128", MemOp::load, 16).transposed(16, 8), ds("DS_LOAD_TR8_B64", MemOp::load, 8).transposed(8, 8),
  ds("DS_LOAD_TR4_B64", MemOp::load, 8).transposed(4, 16), ds("DS_LOAD_TR6_B96", MemOp::load, 12).transposed(6, 16),
  ds("DS_READ2_B32", MemOp::load, 4, mem_two), ds("DS_READ2_B64", MemOp::load, 8, mem_two),
  ds("DS_READ2ST64_B32", MemOp::load, 4, mem_two | mem_st64), ds("DS_READ2ST64_B64", MemOp::load, 8, mem_two | mem_st64),
  ds("DS_WRITE_B8", MemOp::store, 1), ds("DS_WRITE_B16", MemOp::store, 2), ds("DS_WRITE_B8_D16_HI", MemOp::store, 1, mem_d16_hi), ds("DS_WRITE_B16_D16_HI", MemOp::store, 2, mem_d16_hi),
  ds("DS_WRITE_B32", MemOp::store, 4), ds("DS_WRITE_B64", MemOp::store, 8), ds("DS_WRITE_B96", MemOp::store, 12), ds("DS_WRITE_B128", MemOp::store, 16),
  ds("DS_WRITE2_B32", MemOp::store, 4, mem_two), ds("DS_WRITE2_B64", MemOp::store, 8, mem_two),
  ds("DS_WRITE2ST64_B32", MemOp::store, 4, mem_two | mem_st64), ds("DS_WRITE2ST64_B64", MemOp::store, 8, mem_two | mem_st64),
  // LLVM's DS_ADD_RTN_U32 is this row with `ret`.
  BOTH("ADD", "U", add), BOTH("SUB", "U", sub), BOTH("RSUB", "U", rsub), BOTH("INC", "U", inc), BOTH("DEC", "U", dec),
  BOTH("MIN", "I", smin), BOTH("MAX", "I", smax), BOTH("MIN", "U", umin), BOTH("MAX", "U", umax), BOTH("AND", "B", and_), BOTH("OR", "B", or_), BOTH("XOR", "B", xor_),
  BOTH("WRXCHG", "B", swap), BOTH("ADD", "F", fadd), BOTH("MIN", "F", fmin), BOTH("MAX", "F", fmax),
  ds("DS_CMPST_B32", MemOp::cmpswap, 4, mem_compare_first), ds("DS_CMPST_B64", MemOp::cmpswap, 8, mem_compare_first),
  ds("DS_CMPST_F32", MemOp::fcmpswap, 4, mem_compare_first), ds("DS_CMPST_F64", MemOp::fcmpswap, 8, mem_compare_first),
  ds("DS_CMPSTORE_B32", MemOp::cmpswap, 4), ds("DS_CMPSTORE_B64", MemOp::cmpswap, 8), ds("DS_CMPSTORE_F32", MemOp::fcmpswap, 4), ds("DS_CMPSTORE_F64", MemOp::fcmpswap, 8),
  ds("DS_PK_ADD_F16", MemOp::pk_fadd_f16, 4), ds("DS_PK_ADD_BF16", MemOp::pk_fadd_bf16, 4), ds("DS_SUB_CLAMP_U32", MemOp::sub_clamp, 4), ds("DS_COND_SUB_U32", MemOp::cond_sub, 4),
  ds("DS_MSKOR_B32", MemOp::mskor, 4), ds("DS_MSKOR_B64", MemOp::mskor, 8), ds("DS_WRAP_B32", MemOp::wrap, 4),
  exchange2("DS_WRXCHG2_B32", 4, 0), exchange2("DS_WRXCHG2_B64", 8, 0), exchange2("DS_WRXCHG2ST64_B32", 4, mem_st64), exchange2("DS_WRXCHG2ST64_B64", 8, mem_st64),
  of_m0("DS_APPEND", MemOp::load, ds_append<false, true>, ds_append<true, true>), of_m0("DS_CONSUME", MemOp::load, ds_append<false, false>, ds_append<true, false>),
  of_m0("DS_READ_ADDTID_B32", MemOp::load, ds_addtid<false, false>, ds_addtid<true, false>), of_m0("DS_WRITE_ADDTID_B32", MemOp::store, ds_addtid<false, true>, ds_addtid<true, true>),
  cross("DS_BPERMUTE_FI_B32", ds_bpermute_fi<false>, ds_bpermute_fi<true>),
  cross("DS_BPERMUTE_B32", ds_bpermute<false>, ds_bpermute<true>), cross("DS_PERMUTE_B32", ds_permute<false>, ds_permute<true>), cross("DS_SWIZZLE_B32", ds_swizzle<false>, ds_swizzle<true>),
  cross("DS_GWS_BARRIER", gws_barrier<false>, gws_barrier<true>),
};
// clang-format on

}  // namespace

void touch_lds(Wave& w, u32 offset, u32 bytes, u32 lane, bool write, bool atomic) {
  if (w.group->waves.size() > 1) touch(w, offset, bytes, lane, write, atomic);
}

std::span<const Row> lds_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
