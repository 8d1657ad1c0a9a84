// Vector memory (FLAT, GLOBAL, SCRATCH, MUBUF) and scalar loads. One row per operation serves all four
// vector segments: its name starts with '*', find_row puts it in for FLAT_, GLOBAL_, SCRATCH_, BUFFER_.
#include <optional>

#include "machine/access.h"
#include "machine/races.h"
#include "machine/salu.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

constexpr u8 load_bit = 1 << int(Counter::load), store_bit = 1 << int(Counter::store), ds_bit = 1 << int(Counter::ds), km_bit = 1 << int(Counter::km), async_bit = 1 << int(Counter::async);

[[noreturn]] void bad_address(u64 a, u32 bytes, int lane, const char* what) {
  std::string freed;
  if (memory().was_freed(a, &freed)) raise(FaultKind::freed_memory, fmt::format("{} of {} bytes at 0x{:x}: {}", what, bytes, a, freed), lane);
  raise(FaultKind::illegal_address, fmt::format("{} of {} bytes at 0x{:x} leaves every allocation: {}", what, bytes, a, memory().describe(a)), lane);
}

// The allocation that holds all bytes of an access; remembered, for the next one most likely hits it too.
Allocation* look_up(Wave& w, u64 a, u32 bytes, int lane, bool write) {
  Allocation* m = memory().find(a);
  const char* what = write ? "write" : "read";
  if (!m) bad_address(a, bytes, lane, what);
  if (a + bytes > m->base + m->size) bad_address(m->base + m->size, u32(a + bytes - m->base - m->size), lane, what);
  if (write && !m->writable) raise(FaultKind::illegal_address, fmt::format("write to read-only memory at 0x{:x}: {}", a, memory().describe(a)), lane);
  w.hit = m;
  w.hit_lo = m->base, w.hit_hi = m->base + m->size;
  return m;
}

template <bool Strict>
[[gnu::noinline]] void global_pointers(Wave& w, const u64* addr, u64 exec, u32 bytes, bool write, Pointers& out) {
  const u32 n = w.lanes;
  if (__builtin_expect(w.group->count_memory, 0)) count_global(w, addr, exec, bytes);
  out.any_defined = false;
  const u32 first = u32(__builtin_ctzll(exec));
  if (!(addr[first] >= w.hit_lo && addr[first] + bytes <= w.hit_hi) || (write && w.hit && !w.hit->writable)) look_up(w, addr[first], bytes, int(first), write);
  if (exec == w.full) {
    u64 off = 0;
    for (u32 l = 0; l < n; l++) off |= addr[l] ^ (addr[0] + u64(l) * bytes);
    if (!off && addr[0] + u64(n) * bytes <= w.hit_hi) {
      out.linear = true;
      for (u32 l = 0; l < n; l++) out.p[l] = reinterpret_cast<u8*>(addr[l]);
      if constexpr (Strict) {
        u8* d = w.hit->defined;
        out.any_defined = d != nullptr;
        if (d)
          for (u32 l = 0; l < n; l++) out.defined[l] = d + (addr[l] - w.hit_lo);
        else
          for (u32 l = 0; l < n; l++) out.defined[l] = nullptr;
      }
      return;
    }
  }
  each_lane(exec, [&](u32 l) {
    const u64 a = addr[l];
    if (!(a >= w.hit_lo && a + bytes <= w.hit_hi)) look_up(w, a, bytes, int(l), write);
    out.p[l] = reinterpret_cast<u8*>(a);
    if constexpr (Strict) {
      out.defined[l] = w.hit->defined ? w.hit->defined + (a - w.hit_lo) : nullptr;
      out.any_defined |= w.hit->defined != nullptr;
    }
  });
}

// Offsets into a lane's private memory. Dwords of one offset stand side by side for all lanes.
size_t scratch_at(const Wave& w, u32 lane, u64 o) { return size_t(o / 4) * 4 * w.lanes + 4 * lane + (o & 3); }
// Unaligned accesses go through a copy in one piece, since a lane's dwords are not neighbours.
struct Staging {
  bool used = false;
  u8 data[64][16], defined[64][16];
};

template <bool Strict>
[[gnu::noinline]] void scratch_pointers(Wave& w, const u32* offset, u64 exec, u32 bytes, Pointers& out, Staging& staging) {
  out.stride = 4 * w.lanes;
  u32 unaligned = 0;
  if (bytes >= 4) each_lane(exec, [&](u32 l) { unaligned |= offset[l] & 3; });
  else if (bytes == 2) each_lane(exec, [&](u32 l) { unaligned |= (offset[l] & 3) == 3; });
  if (unaligned) staging.used = true, out.stride = 4;
  each_lane(exec, [&](u32 l) {
    const u64 o = offset[l];
    if (o + bytes > w.scratch_per_lane)
      raise(FaultKind::illegal_address, fmt::format("scratch access of {} bytes at offset 0x{:x}: each lane has {} bytes", bytes, o, w.scratch_per_lane), int(l));
    if (staging.used) {
      for (u32 k = 0; k < bytes; k++) staging.data[l][k] = w.scratch[scratch_at(w, l, o + k)];
      out.p[l] = staging.data[l];
      if constexpr (Strict) {
        for (u32 k = 0; k < bytes; k++) staging.defined[l][k] = w.scratch_defined[scratch_at(w, l, o + k)];
        out.defined[l] = staging.defined[l], out.any_defined = true;
      }
      return;
    }
    const size_t at = scratch_at(w, l, o);
    out.p[l] = w.scratch + at;
    if constexpr (Strict) out.defined[l] = w.scratch_defined + at, out.any_defined = true;
  });
}

template <bool Strict>
[[gnu::noinline]] void scratch_write_back(Wave& w, const u32* offset, u64 exec, u32 bytes, const Staging& staging) {
  if (!staging.used) return;
  each_lane(exec, [&](u32 l) {
    for (u32 k = 0; k < bytes; k++) {
      const size_t at = scratch_at(w, l, u64(offset[l]) + k);
      w.scratch[at] = staging.data[l][k];
      if constexpr (Strict) w.scratch_defined[at] = staging.defined[l][k];
    }
  });
}

// gfx1250's flat addresses of scratch name the wave and the lane, which must be the accessing ones here.
void check_own_scratch(const Wave& w, u64 address, u32 lane) {
  if (address >> 60 != lanes_scratch >> 60) return;
  const u32 owner = u32(address >> scratch_lane_shift) & 31, wave = u32(address >> 32) & 0xfffff;
  if (owner != lane || wave != w.id)
    raise(FaultKind::unsupported, fmt::format("flat access to the scratch of lane {} of wave {}", owner, wave), int(lane));
}

template <bool Strict>
[[gnu::noinline]] void lds_pointers(Wave& w, const u32* offset, u64 exec, u32 bytes, bool write, bool atomic, Pointers& out) {
  const Group& g = *w.group;
  if (__builtin_expect(g.count_memory, 0)) count_lds(w, offset, exec, bytes, !write);
  each_lane(exec, [&](u32 l) {
    if (u64(offset[l]) + bytes > g.lds_size)
      raise(FaultKind::lds_bounds, fmt::format("LDS access of {} bytes at 0x{:x}: the work-group has {} bytes", bytes, offset[l], g.lds_size), int(l));
    out.p[l] = g.lds + offset[l];
    if constexpr (Strict) {
      out.defined[l] = g.lds_defined + offset[l], out.any_defined = true;
      touch_lds(w, offset[l], bytes, l, write, atomic);
    }
  });
}

// Between memory and LDS, past the registers. The LDS address is M0[15:0] + offset + lane * size (bytes and words
// take a dword each), or, of gfx1250's asynchronous copies, a VGPR's + offset (ISA documents, "LDS direct" loads).
template <bool Strict>
[[gnu::noinline]] void copy_to_or_from_lds(Wave& w, const Inst* i, const Pointers& at, u64 exec) {
  const Row& row = *i->row;
  const Group& g = *w.group;
  const bool load = row.mem_op == MemOp::load, by_vgpr = row.flags & no_dst;
  const u32 bytes = row.mem_bytes, size = by_vgpr ? bytes : bytes < 4 ? 4 : bytes;
  if constexpr (Strict) {
    if (by_vgpr) require_defined(w, load ? i->dst.reg : i->mem.data, 1, exec, "an LDS address");
    else require_defined_sgpr(w, m0_reg, 1, "an LDS address");
  }
  each_lane(exec, [&](u32 l) {
    const u32 lds = u32(i->mem.offset) + (by_vgpr ? w.vgpr(load ? i->dst.reg : i->mem.data)[l] : (w.s[m0_reg] & 0xffff) + l * size);
    if (u64(lds) + size > g.lds_size)
      raise(FaultKind::lds_bounds, fmt::format("LDS {} of {} bytes at 0x{:x}: the work-group has {} bytes", load ? "write" : "read", size, lds, g.lds_size), int(l));
    u8 *to = load ? g.lds + lds : at.p[l], *from = load ? at.p[l] : g.lds + lds;
    const u32 extended = load && bytes < 4 && !by_vgpr ? narrow_load(from, bytes, row.mem_flags & mem_signed) : 0;
    if (load && bytes < 4 && !by_vgpr) store32(to, extended);
    else std::memcpy(to, from, bytes);
    if constexpr (Strict) {
      touch_lds(w, lds, size, l, load);
      u8 *to_defined = load ? g.lds_defined + lds : at.defined[l], *from_defined = load ? at.defined[l] : g.lds_defined + lds;
      if (!load)
        for (u32 k = 0; k < bytes; k++)
          if (from_defined[k] != 0xff) report_undefined(w, "global memory", fmt::format("LDS byte 0x{:x}", lds + k), int(l));
      if (!to_defined) return;
      std::memset(to_defined, 0xff, size);
      if (load && from_defined) std::memcpy(to_defined, from_defined, bytes);
    }
  });
}

template <bool Strict>
[[gnu::noinline]] void perform_lanes(Wave& w, const Inst* i, const Pointers& at, u64 exec, bool keeps_shadow) {
  const Row& row = *i->row;
  if (row.mem_flags & mem_to_lds) return copy_to_or_from_lds<Strict>(w, i, at, exec);
  if (row.mem_op == MemOp::load) {
    do_load<Strict>(w, row, i->dst.reg, at, exec);
    if (row.turn_bits) check_turn(w, row, exec), turn_lanes<Strict>(w, row, i->dst.reg);
    return;
  }
  if (row.mem_op == MemOp::store) return do_store<Strict>(w, row, i->mem.data, at, exec, keeps_shadow);
  const u32 count = row.mem_bytes / 4;
  each_lane(exec, [&](u32 l) {
    if (u64(at.p[l]) % row.mem_bytes) raise(FaultKind::misaligned, fmt::format("atomic of {} bytes at 0x{:x}: not aligned, {}", row.mem_bytes, u64(at.p[l]), memory().describe(u64(at.p[l]))), int(l));
  });
  // FLAT-style cmpswap: data holds the new value, the registers after it the comparand.
  const bool compares = row.mem_op == MemOp::cmpswap || row.mem_op == MemOp::fcmpswap;
  const u32 compare = compares ? i->mem.data + count : i->mem.data;
  if constexpr (Strict) require_defined(w, i->mem.data, compares ? 2 * count : count, exec, "an atomic's operand");
  if (count == 2) do_atomic_typed<Strict, u64>(w, row.mem_op, i->mem.data, compare, i->dst.reg, i->mem.ret, at, exec);
  else do_atomic_typed<Strict, u32>(w, row.mem_op, i->mem.data, compare, i->dst.reg, i->mem.ret, at, exec);
}

// `keeps_shadow`: not global memory, which other waves may touch too.
template <bool Strict>
void perform(Wave& w, const Inst* i, const Pointers& at, u64 exec, bool keeps_shadow) {
  if (!exec) return;
  const Row& row = *i->row;
  const bool load = row.mem_op == MemOp::load, atomic = !load && row.mem_op != MemOp::store;
  if (atomic || i->mem.scope) w.polls++;
  if (!Strict || keeps_shadow || !w.group->tracks) return perform_lanes<Strict>(w, i, at, exec, keeps_shadow);
  std::optional<Stretches> held;
  if (!load || i->mem.scope) held.emplace(at.p, exec, row.mem_bytes);
  touch_global(w, i, at.p, exec, row.mem_bytes, load ? Touch::read : atomic ? Touch::atomic : Touch::write);
  perform_lanes<Strict>(w, i, at, exec, keeps_shadow);
  if (atomic ? i->mem.ret : load && i->mem.scope) observe_global(w, at.p, exec);
}

u32 result_dwords(const Inst* i) {
  const Row& row = *i->row;
  if (row.mem_op == MemOp::store || (row.mem_flags & mem_to_lds)) return 0;
  if (row.mem_op != MemOp::load && !i->mem.ret) return 0;
  return row.mem_bytes < 4 ? 1 : row.mem_bytes / 4;
}

template <bool Strict>
void issued(Wave& w, const Inst* i, bool global, bool lds) {
  if constexpr (Strict) {
    const u32 n = result_dwords(i);
    const bool one_counter = w.group->isa->encoding == Encoding::gfx9;
    if (i->row->mem_flags & mem_to_lds) {
      const bool async = i->row->flags & no_dst, load = i->row->mem_op == MemOp::load;
      return pend_none(w, i, async ? async_bit : load_bit, async ? u8(order_async) : u8(order_load), load);
    }
    u8 counters = 0;
    u8 order = order_any;
    if (global) counters |= n || one_counter ? load_bit : store_bit, order = n || one_counter ? order_load : order_store;
    if (lds) counters |= ds_bit, order = global ? u8(order_any) : u8(order_lds);
    // A flat load counts in both counters, wherever it goes, and from RDNA3 on in order in each (LLVM:
    // hasFlatLgkmVMemCountInOrder): what came before it is done while it is still counted.
    if (i->mem.segment == Segment::flat && n && global != lds && w.group->isa->encoding >= Encoding::gfx11) counters |= lds ? also_load : also_ds;
    if (n) pend_vgprs(w, i, i->dst.reg, n, counters, order);
    else pend_none(w, i, counters, order, lds);
  }
}

// ---- addresses -----------------------------------------------------------------------------------

template <bool Strict>
const Inst* run_vmem(Wave& w, const Inst* i) {
  const u64 exec = w.exec();
  const Mem& m = i->mem;
  const u32 n = w.lanes, bytes = i->row->mem_bytes;
  const bool write = i->row->mem_op != MemOp::load;
  u64 addr[64];
  u32 offset[64];
  Pointers at;
  if constexpr (Strict) {
    if (const u32 results = result_dwords(i)) claim_for_load(w, i->dst.reg, results, order_load);
    if (m.has_saddr) require_defined_sgpr(w, m.saddr, m.segment == Segment::buffer ? 4 : m.segment == Segment::scratch ? 1 : 2, "an address");
    if (exec && m.has_vaddr) {
      const bool wide = (m.segment == Segment::flat || m.segment == Segment::global) && !m.has_saddr;
      require_defined(w, m.addr, wide || (m.offen && m.idxen) ? 2 : 1, exec, "an address");
    }
  }
  if (!exec) {
    issued<Strict>(w, i, true, false);
    return i + 1;
  }
  switch (m.segment) {
    case Segment::scratch: {
      const u32 base = u32(m.offset) + (m.has_saddr ? w.s[m.saddr] : 0);
      const u32* v = m.has_vaddr ? w.vgpr(m.addr) : nullptr;
      const u32 unit = m.scale ? bytes : 1;
      for (u32 l = 0; l < n; l++) offset[l] = base + (v ? v[l] * unit : 0);
      Staging staging;
      scratch_pointers<Strict>(w, offset, exec, bytes, at, staging);
      perform<Strict>(w, i, at, exec, true);
      scratch_write_back<Strict>(w, offset, exec, bytes, staging);
      issued<Strict>(w, i, true, false);
      return i + 1;
    }
    case Segment::global: {
      const u32* lo = m.has_vaddr ? w.vgpr(m.addr) : nullptr;
      if (m.has_saddr) {
        const u64 base = Wave::bits_to_u64(&w.s[m.saddr]) + u64(i64(m.offset));
        if (m.signed_offset)
          for (u32 l = 0; l < n; l++) addr[l] = base + u64(i64(i32(lo[l])) * (m.scale ? bytes : 1));
        else
          for (u32 l = 0; l < n; l++) addr[l] = base + (lo ? lo[l] : 0);
      } else {
        const u32* hi = w.vgpr(m.addr + 1);
        for (u32 l = 0; l < n; l++) addr[l] = (lo[l] | u64(hi[l]) << 32) + u64(i64(m.offset));
      }
      global_pointers<Strict>(w, addr, exec, bytes, write, at);
      perform<Strict>(w, i, at, exec, false);
      issued<Strict>(w, i, true, false);
      return i + 1;
    }
    case Segment::flat: {
      const u32 *lo = w.vgpr(m.addr), *hi = m.has_saddr ? nullptr : w.vgpr(m.addr + 1);
      const u64 base = u64(i64(m.offset)) + (m.has_saddr ? Wave::bits_to_u64(&w.s[m.saddr]) : 0);
      u64 in_lds = 0, in_scratch = 0;
      for (u32 l = 0; l < n; l++) {
        if (m.has_saddr && m.signed_offset) addr[l] = base + u64(i64(i32(lo[l])) * (m.scale ? bytes : 1));
        else addr[l] = base + lo[l] + (hi ? u64(hi[l]) << 32 : 0);
        in_lds |= u64((addr[l] >> 32) == (shared_aperture >> 32)) << l;
        in_scratch |= u64((addr[l] >> 32) == (private_aperture >> 32) || addr[l] >> 60 == lanes_scratch >> 60) << l;
        offset[l] = u32(addr[l]);
      }
      in_lds &= exec, in_scratch &= exec;
      each_lane(in_scratch, [&](u32 l) { check_own_scratch(w, addr[l], l); });
      const u64 in_global = exec & ~in_lds & ~in_scratch;
      if (in_global) {
        global_pointers<Strict>(w, addr, in_global, bytes, write, at);
        perform<Strict>(w, i, at, in_global, false);
      }
      if (in_lds) {
        Pointers lds;
        const bool atomic = write && i->row->mem_op != MemOp::store;
        if (Strict && atomic && w.wrote) close_writes(w);
        lds_pointers<Strict>(w, offset, in_lds, bytes, write, atomic, lds);
        perform<Strict>(w, i, lds, in_lds, true);
        if (Strict && write && !atomic) w.wrote = true;
        if (Strict && atomic && m.ret) w.synced = w.group->epoch;
      }
      if (in_scratch) {
        Pointers scratch;
        Staging staging;
        scratch_pointers<Strict>(w, offset, in_scratch, bytes, scratch, staging);
        perform<Strict>(w, i, scratch, in_scratch, true);
        scratch_write_back<Strict>(w, offset, in_scratch, bytes, staging);
      }
      issued<Strict>(w, i, in_global || in_scratch, in_lds != 0);
      return i + 1;
    }
    case Segment::buffer: break;
  }
  // MUBUF. Resource: base 48 bits, stride 14 bits, swizzle flag, record count, add-tid flag (ISA
  // document, "Buffer resource"). Out of the resource's own range: loads give 0, stores are dropped.
  const u32* r = &w.s[m.saddr];
  const u64 base = r[0] | u64(r[1] & 0xffff) << 32;
  const u32 stride = (r[1] >> 16) & 0x3fff, records = r[2];
  const bool gfx9 = w.group->isa->encoding == Encoding::gfx9;
  const bool swizzle = gfx9 ? r[1] >> 31 & 1 : r[1] >> 30 & 3;
  const bool add_tid = r[3] >> 23 & 1;
  const u32 index_stride = 8u << (r[3] >> 21 & 3);
  const u32 soffset = scalar32(w, m.soffset);
  const u32* v = m.has_vaddr ? w.vgpr(m.addr) : nullptr;
  const u32* v2 = m.offen && m.idxen ? w.vgpr(m.addr + 1) : v;
  const bool in_scratch = swizzle && w.scratch && base == u64(w.scratch);
  u64 inside = 0;
  for (u32 l = 0; l < n; l++) {
    const u32 index = (m.idxen ? v[l] : 0) + (add_tid ? l : 0);
    const u32 off = u32(m.offset) + (m.offen ? v2[l] : 0);
    // soffset counts bytes of the whole wave, off bytes of a lane.
    offset[l] = in_scratch ? off + soffset / w.lanes : 0;
    if (in_scratch) {
      inside |= u64(1) << l;
      continue;
    }
    u64 b = off + u64(index) * stride;
    if (swizzle) b = (u64(index / index_stride) * stride + (off & ~3u)) * index_stride + (index % index_stride) * 4 + (off & 3);
    const bool ok = stride == 0 || !(m.idxen || add_tid) ? u64(off) + bytes <= records : index < records;
    inside |= u64(ok) << l;
    addr[l] = base + soffset + b;
  }
  const u64 active = exec & inside;
  if (in_scratch) {
    Staging staging;
    scratch_pointers<Strict>(w, offset, active, bytes, at, staging);
    perform<Strict>(w, i, at, active, true);
    scratch_write_back<Strict>(w, offset, active, bytes, staging);
  } else if (active) {
    global_pointers<Strict>(w, addr, active, bytes, write, at);
    perform<Strict>(w, i, at, active, false);
  }
  if (const u64 outside = exec & ~inside) {
    for (u32 k = 0; k < result_dwords(i); k++) {
      each_lane(outside, [&](u32 l) { w.vgpr(i->dst.reg + k)[l] = 0; });
      if constexpr (Strict) set_defined(w, i->dst.reg + k, outside);
    }
  }
  issued<Strict>(w, i, true, false);
  return i + 1;
}

// ---- scalar loads --------------------------------------------------------------------------------

template <bool Strict>
const Inst* run_smem(Wave& w, const Inst* i) {
  const Mem& m = i->mem;
  const u32 bytes = i->row->mem_bytes;
  const bool buffer = m.segment == Segment::buffer;
  u64 offset = u64(i64(m.offset));
  if (m.soffset.kind != Kind::none) offset += u64(scalar32(w, m.soffset)) * (m.scale ? bytes : 1);
  if constexpr (Strict) {
    require_defined_sgpr(w, m.saddr, buffer ? 4 : 2, "an address");
    if (m.soffset.kind == Kind::sgpr) require_defined_sgpr(w, m.soffset.reg, 1, "an address");
    check_arrived_sgpr(w, i->dst.reg, bytes < 4 ? 1 : bytes / 4, "loaded into again");
  }
  u64 base = Wave::bits_to_u64(&w.s[m.saddr]);
  u32 limit = ~0u;
  if (buffer) {
    const u32 stride = u32(base >> 48) & 0x3fff;
    const u64 size = u64(w.s[m.saddr + 2]) * (stride ? stride : 1);
    limit = size > ~0u ? ~0u : u32(size);
    base &= (u64(1) << 48) - 1;
  }
  u64 a = base + offset;
  // The low address bits are ignored (ISA documents, "Scalar memory reads"): not what anyone means.
  if (const u64 low = std::min(bytes, 4u) - 1; a & low) {
    if constexpr (Strict) raise(FaultKind::misaligned, fmt::format("scalar load of {} bytes at 0x{:x}: not aligned, {}", bytes, a, memory().describe(a)));
    a &= ~low;
  }
  u32* dst = &w.s[i->dst.reg];
  u32 value[16], undefined[16] = {};
  const u32 count = bytes < 4 ? 1 : bytes / 4;
  if (buffer && offset + bytes > limit) {
    for (u32 k = 0; k < count; k++) value[k] = offset + 4 * k + 4 <= limit ? load32(reinterpret_cast<const u8*>(a + 4 * k)) : 0;
  } else {
    Allocation* mem = w.hit;
    if (!(a >= w.hit_lo && a + bytes <= w.hit_hi)) {
      // Not remembered: scalar and vector accesses would evict each other.
      mem = memory().find(a);
      if (!mem) bad_address(a, bytes, -1, "scalar read");
      if (a + bytes > mem->base + mem->size) bad_address(mem->base + mem->size, u32(a + bytes - mem->base - mem->size), -1, "scalar read");
    }
    const u8* p = reinterpret_cast<const u8*>(a);
    if (bytes < 4) value[0] = narrow_load(p, bytes, i->row->mem_flags & mem_signed);
    else for (u32 k = 0; k < count; k++) value[k] = load32(p + 4 * k);
    if constexpr (Strict) {
      if (w.group->tracks) touch_scalar(w, i, mem, a, bytes);
      if (mem->defined)
        for (u32 k = 0; k < count; k++) undefined[k] = bytes < 4 ? ~narrow_load(mem->defined + (a - mem->base), bytes, true) : ~load32(mem->defined + (a - mem->base) + 4 * k);
    }
  }
  for (u32 k = 0; k < count; k++) dst[k] = value[k];
  if constexpr (Strict) {
    for (u32 k = 0; k < count; k++) w.s_und[i->dst.reg + k] = undefined[k];
    const bool split = w.group->isa->encoding == Encoding::gfx12;
    pend_sgprs(w, i, i->dst.reg, count, split ? km_bit : ds_bit, order_any);
  }
  return i + 1;
}

constexpr Row vmem(std::string_view name, MemOp op, u8 bytes, u8 flags = 0) {
  Row row;
  row.name = name;
  row.family = Family::vmem;
  row.cls = Class::global;
  row.mem_op = op, row.mem_bytes = bytes, row.mem_flags = flags;
  row.run[0] = run_vmem<false>, row.run[1] = run_vmem<true>;
  return row;
}
constexpr Row smem(std::string_view name, u8 bytes, u8 flags = 0) {
  Row row;
  row.name = name;
  row.family = Family::smem;
  row.cls = Class::smem;
  row.mem_op = MemOp::load, row.mem_bytes = bytes, row.mem_flags = flags;
  row.run[0] = run_smem<false>, row.run[1] = run_smem<true>;
  return row;
}

// clang-format off
#define TO_LDS(NAME, BYTES, FLAGS) vmem("*_LOAD_LDS_" NAME, MemOp::load, BYTES, mem_to_lds | FLAGS), vmem("*_LOAD_" NAME "_LDS", MemOp::load, BYTES, mem_to_lds | FLAGS)
#define ASYNC(NAME, BYTES) \
  vmem("*_LOAD_ASYNC_TO_LDS_" NAME, MemOp::load, BYTES, mem_to_lds).with(no_dst), vmem("*_STORE_ASYNC_FROM_LDS_" NAME, MemOp::store, BYTES, mem_to_lds).with(no_dst)
#define CLUSTER(NAME, BYTES) vmem("CLUSTER_LOAD_ASYNC_TO_LDS_" NAME, MemOp::load, BYTES, mem_to_lds).with(no_dst)
#define ATOMIC(NAME, OP) vmem("*_ATOMIC_" NAME, MemOp::OP, 4), vmem("*_ATOMIC_" NAME "_X2", MemOp::OP, 8)
constexpr Row rows[] = {
  vmem("*_LOAD_UBYTE", MemOp::load, 1), vmem("*_LOAD_SBYTE", MemOp::load, 1, mem_signed),
  vmem("*_LOAD_USHORT", MemOp::load, 2), vmem("*_LOAD_SSHORT", MemOp::load, 2, mem_signed),
  vmem("*_LOAD_DWORD", MemOp::load, 4), vmem("*_LOAD_DWORDX2", MemOp::load, 8), vmem("*_LOAD_DWORDX3", MemOp::load, 12), vmem("*_LOAD_DWORDX4", MemOp::load, 16),
  vmem("*_LOAD_UBYTE_D16", MemOp::load, 1, mem_d16), vmem("*_LOAD_UBYTE_D16_HI", MemOp::load, 1, mem_d16_hi),
  vmem("*_LOAD_SBYTE_D16", MemOp::load, 1, mem_d16 | mem_signed), vmem("*_LOAD_SBYTE_D16_HI", MemOp::load, 1, mem_d16_hi | mem_signed),
  vmem("*_LOAD_SHORT_D16", MemOp::load, 2, mem_d16), vmem("*_LOAD_SHORT_D16_HI", MemOp::load, 2, mem_d16_hi),
  vmem("*_STORE_BYTE", MemOp::store, 1), vmem("*_STORE_SHORT", MemOp::store, 2), vmem("*_STORE_DWORD", MemOp::store, 4),
  vmem("*_STORE_DWORDX2", MemOp::store, 8), vmem("*_STORE_DWORDX3", MemOp::store, 12), vmem("*_STORE_DWORDX4", MemOp::store, 16),
  vmem("*_STORE_BYTE_D16_HI", MemOp::store, 1, mem_d16_hi), vmem("*_STORE_SHORT_D16_HI", MemOp::store, 2, mem_d16_hi),
  // Transposing loads (CDNA5 ISA 10.9, RDNA4 ISA 10.9; measured on gfx1250 and gfx1201: 8 x 8 elements within 8 lanes).
  vmem("GLOBAL_LOAD_TR_B128", MemOp::load, 16).transposed(16, 8), vmem("GLOBAL_LOAD_TR_B64", MemOp::load, 8).transposed(8, 8),
  vmem("GLOBAL_LOAD_TR4_B64", MemOp::load, 8).transposed(4, 16), vmem("GLOBAL_LOAD_TR6_B96", MemOp::load, 12).transposed(6, 16),
  // gfx1250: a load that also watches the address, and one that a cluster of work-groups shares (of one, here).
  vmem("*_LOAD_MONITOR_B32", MemOp::load, 4), vmem("*_LOAD_MONITOR_B64", MemOp::load, 8), vmem("*_LOAD_MONITOR_B128", MemOp::load, 16),
  vmem("CLUSTER_LOAD_B32", MemOp::load, 4), vmem("CLUSTER_LOAD_B64", MemOp::load, 8), vmem("CLUSTER_LOAD_B128", MemOp::load, 16),
  TO_LDS("UBYTE", 1, 0), TO_LDS("SBYTE", 1, mem_signed), TO_LDS("USHORT", 2, 0), TO_LDS("SSHORT", 2, mem_signed), TO_LDS("DWORD", 4, 0), TO_LDS("DWORDX3", 12, 0), TO_LDS("DWORDX4", 16, 0),
  ASYNC("B8", 1), ASYNC("B32", 4), ASYNC("B64", 8), ASYNC("B128", 16),
  CLUSTER("B8", 1), CLUSTER("B32", 4), CLUSTER("B64", 8), CLUSTER("B128", 16),
  ATOMIC("SWAP", swap), ATOMIC("CMPSWAP", cmpswap), ATOMIC("ADD", add), ATOMIC("SUB", sub), ATOMIC("SMIN", smin), ATOMIC("UMIN", umin),
  ATOMIC("SMAX", smax), ATOMIC("UMAX", umax), ATOMIC("AND", and_), ATOMIC("OR", or_), ATOMIC("XOR", xor_), ATOMIC("INC", inc), ATOMIC("DEC", dec),
  ATOMIC("FCMPSWAP", fcmpswap), ATOMIC("FMIN", fmin), ATOMIC("FMAX", fmax),
  vmem("*_ATOMIC_ADD_F32", MemOp::fadd, 4), vmem("*_ATOMIC_ADD_F64", MemOp::fadd, 8), vmem("*_ATOMIC_MIN_F64", MemOp::fmin, 8), vmem("*_ATOMIC_MAX_F64", MemOp::fmax, 8),
  vmem("*_ATOMIC_MIN_F32", MemOp::fmin, 4), vmem("*_ATOMIC_MAX_F32", MemOp::fmax, 4),
  vmem("*_ATOMIC_PK_ADD_F16", MemOp::pk_fadd_f16, 4), vmem("*_ATOMIC_PK_ADD_BF16", MemOp::pk_fadd_bf16, 4), vmem("*_ATOMIC_CSUB", MemOp::sub_clamp, 4), vmem("*_ATOMIC_CSUB_U32", MemOp::sub_clamp, 4), vmem("*_ATOMIC_COND_SUB_U32", MemOp::cond_sub, 4),
  smem("S_LOAD_DWORD", 4), smem("S_LOAD_DWORDX2", 8), smem("S_LOAD_DWORDX4", 16), smem("S_LOAD_DWORDX8", 32), smem("S_LOAD_DWORDX16", 64),
  smem("S_LOAD_B32", 4), smem("S_LOAD_B64", 8), smem("S_LOAD_B96", 12), smem("S_LOAD_B128", 16), smem("S_LOAD_B256", 32), smem("S_LOAD_B512", 64),
  smem("S_LOAD_U8", 1), smem("S_LOAD_I8", 1, mem_signed), smem("S_LOAD_U16", 2), smem("S_LOAD_I16", 2, mem_signed),
  smem("S_BUFFER_LOAD_U8", 1), smem("S_BUFFER_LOAD_I8", 1, mem_signed), smem("S_BUFFER_LOAD_U16", 2), smem("S_BUFFER_LOAD_I16", 2, mem_signed),
  smem("S_BUFFER_LOAD_DWORD", 4), smem("S_BUFFER_LOAD_DWORDX2", 8), smem("S_BUFFER_LOAD_DWORDX4", 16), smem("S_BUFFER_LOAD_DWORDX8", 32), smem("S_BUFFER_LOAD_DWORDX16", 64),
  smem("S_BUFFER_LOAD_B32", 4), smem("S_BUFFER_LOAD_B64", 8), smem("S_BUFFER_LOAD_B96", 12), smem("S_BUFFER_LOAD_B128", 16), smem("S_BUFFER_LOAD_B256", 32), smem("S_BUFFER_LOAD_B512", 64),
};
// clang-format on

}  // namespace

std::span<const Row> memory_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
