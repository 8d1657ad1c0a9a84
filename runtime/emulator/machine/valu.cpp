// Executes the vector family: fetch operands as lane arrays, run the row's loop, store under EXEC.
// Two forms: `simple` for plain 32-bit operands, which points straight into the register file, and the
// general one with modifiers, 16- and 64-bit operands, packed halves, DPP, SDWA and rounding modes.
#include "valu.h"

#include <xmmintrin.h>

#include "operands.h"

namespace lathe::emu::LATHE_LEVEL {

namespace {

// Undefined lanes of one source under the shadow, raising if a load is still on its way.
u64 source_undef(const Wave& w, const Src& s) {
  u64 u = 0;
  if (s.kind == Kind::vgpr) {
    for (u32 k = 0; k < dwords(s.type); k++) {
      u |= w.und[s.reg + k];
      if (w.und[s.reg + k] && w.pend[s.reg + k]) report_pending(w, s.reg + k, false, "read");
    }
  } else if (s.kind == Kind::sgpr) {
    const u32 n = s.type == Ty::mask ? w.lanes / 32 : dwords(s.type);
    for (u32 k = 0; k < n; k++) {
      if (w.s_pend[s.reg + k]) report_pending(w, s.reg + k, true, "read");
      if (w.s_und[s.reg + k]) u = s.type == Ty::mask ? u | u64(w.s_und[s.reg + k]) << (32 * k) : ~u64(0);
    }
  } else if (s.kind == Kind::special && s.reg == 253 && w.scc_und) {
    u = ~u64(0);
  }
  return u;
}

// ---- operands ------------------------------------------------------------------------------------

const void* fetch(Wave& w, const Inst* i, const Src& s, Temp& t, u64 exec, bool first) {
  const u32 n = w.lanes;
  if (s.type == Ty::mask) {
    const u64 m = s.kind == Kind::sgpr ? w.mask(s.reg) : s.kind == Kind::constant ? *reinterpret_cast<const u64*>(s.lanes) : special_value(w, s.reg);
    spread_mask(m, t.d(), n);
    return t.q;
  }
  if (s.type == Ty::mode) {
    broadcast(w.mode, t.d(), n);
    return t.q;
  }
  if (s.type == Ty::pkf32) {
    // Two registers stand one after the other, so a pair is 2n floats: low halves, then high halves.
    const u32* d = t.d();
    switch (s.kind) {
      case Kind::vgpr: d = w.vgpr(s.reg); break;
      case Kind::constant: d = s.lanes; break;
      default: {
        const u64 x = scalar64(w, s);
        broadcast(u32(x), t.d(), n), broadcast(u32(x >> 32), t.d() + n, n);
      }
    }
    if (s.sel || !s.sel_hi || s.neg || s.neg_hi || w.flush32_in) {
      const u32 *lo = d + (s.sel ? n : 0), *hi = d + (s.sel_hi ? n : 0);
      u32 out[128];
      for (u32 k = 0; k < n; k++) {
        const u32 x = w.flush32_in ? flush_f32(lo[k]) : lo[k], y = w.flush32_in ? flush_f32(hi[k]) : hi[k];
        out[k] = x ^ u32(s.neg) << 31, out[n + k] = y ^ u32(s.neg_hi) << 31;
      }
      std::memcpy(t.d(), out, 8 * n);
      d = t.d();
    }
    return d;
  }
  if (dwords(s.type) == 2) {
    const u64* q = t.q;
    switch (s.kind) {
      case Kind::vgpr: {
        if (first && i->dpp.on) {
          u32 lo[64], hi[64];
          dpp_fetch(w, i->dpp, exec, w.vgpr(s.reg), lo);
          dpp_fetch(w, i->dpp, exec, w.vgpr(s.reg + 1), hi);
          interleave(lo, hi, t.q, n);
        } else {
          interleave(w.vgpr(s.reg), w.vgpr(s.reg + 1), t.q, n);
        }
        break;
      }
      case Kind::constant: q = reinterpret_cast<const u64*>(s.lanes); break;
      default: broadcast64(scalar64(w, s), t.q, n);
    }
    const bool flush64 = s.type == Ty::f64 && w.flush64_in;
    if ((s.type == Ty::f64 || s.type == Ty::b64) && (s.neg || s.abs || flush64)) {
      for (u32 k = 0; k < n; k++) {
        u64 x = flush64 ? flush_f64(q[k]) : q[k];
        if (s.abs) x &= ~u64(0) >> 1;
        if (s.neg) x ^= u64(1) << 63;
        t.q[k] = x;
      }
      q = t.q;
    } else if (s.type == Ty::pkb32 && (s.sel || !s.sel_hi)) {
      for (u32 k = 0; k < n; k++) {
        const u32 lo = s.sel ? u32(q[k] >> 32) : u32(q[k]), hi = s.sel_hi ? u32(q[k] >> 32) : u32(q[k]);
        t.q[k] = lo | u64(hi) << 32;
      }
      q = t.q;
    }
    return q;
  }
  const u32* d = t.d();
  switch (s.kind) {
    case Kind::vgpr: d = w.vgpr(s.reg); break;
    case Kind::constant: d = s.lanes; break;
    default: broadcast(scalar32(w, s), t.d(), n);
  }
  if (first && i->dpp.on) dpp_fetch(w, i->dpp, exec, d, t.d()), d = t.d();
  if (i->sdwa && (s.sdwa_sel != 6)) {
    for (u32 k = 0; k < n; k++) t.d()[k] = sdwa_extract(d[k], s.sdwa_sel, s.sdwa_sext);
    d = t.d();
  }
  switch (s.type) {
    case Ty::f32:
      if (s.neg || s.abs || w.flush32_in) {
        const u32 clear = s.abs ? 0x7fffffffu : ~0u, flip = u32(s.neg) << 31;
        if (w.flush32_in)
          for (u32 k = 0; k < n; k++) t.d()[k] = (flush_f32(d[k]) & clear) ^ flip;
        else
          for (u32 k = 0; k < n; k++) t.d()[k] = (d[k] & clear) ^ flip;
        d = t.d();
      }
      break;
    case Ty::b32:  // v_cndmask, v_mov and v_cmp_class take float modifiers on their bits
      if (s.neg || s.abs) {
        const u32 clear = s.abs ? 0x7fffffffu : ~0u, flip = u32(s.neg) << 31;
        for (u32 k = 0; k < n; k++) t.d()[k] = (d[k] & clear) ^ flip;
        d = t.d();
      }
      break;
    case Ty::b16: case Ty::f16: case Ty::bf16:
      if (s.sel || s.neg || s.abs || (s.type == Ty::f16 && w.flush64_in)) {
        const u32 shift = s.sel ? 16 : 0, clear = s.abs ? 0x7fffu : 0xffffu, flip = u32(s.neg) << 15;
        const bool flush = s.type == Ty::f16 && w.flush64_in;
        for (u32 k = 0; k < n; k++) {
          u32 x = (d[k] >> shift) & 0xffff;
          if (flush) x = flush_f16(x);
          t.d()[k] = (x & clear) ^ flip;
        }
        d = t.d();
      }
      break;
    case Ty::pk16: case Ty::pkf16: case Ty::pkbf16: {
      const bool flush = s.type == Ty::pkf16 && w.flush64_in;
      if (!s.sel && s.sel_hi && !s.neg && !s.neg_hi && !s.abs && !flush) break;
      const u32 lo_shift = s.sel ? 16 : 0, hi_shift = s.sel_hi ? 16 : 0;
      const u32 flip = s.type == Ty::pk16 ? 0 : u32(s.neg) << 15 | u32(s.neg_hi) << 31, clear = s.abs ? 0x7fff7fffu : ~0u;
      for (u32 k = 0; k < n; k++) {
        u32 lo = (d[k] >> lo_shift) & 0xffff, hi = (d[k] >> hi_shift) & 0xffff;
        if (flush) lo = flush_f16(lo), hi = flush_f16(hi);
        t.d()[k] = ((lo | hi << 16) & clear) ^ flip;
      }
      d = t.d();
      break;
    }
    case Ty::mix: case Ty::mixbf: {  // v_fma_mix: op_sel_hi says f16 or bf16, op_sel then which half; neg_hi is abs here
      const u32 clear = s.neg_hi ? 0x7fffffffu : ~0u, flip = u32(s.neg) << 31;
      for (u32 k = 0; k < n; k++) {
        u32 x = d[k];
        if (s.sel_hi && s.type == Ty::mixbf) x = s.sel ? x & 0xffff0000u : x << 16;
        else if (s.sel_hi) x = bits_to<u32>(to_f32(f16{u16(s.sel ? x >> 16 : x)}));
        t.d()[k] = (x & clear) ^ flip;
      }
      d = t.d();
      break;
    }
    default: break;
  }
  return d;
}

// ---- results -------------------------------------------------------------------------------------

template <class T>
T clamp01(T x, bool nan_to_zero) {
  if (x != x) return nan_to_zero ? T(0) : x;
  return x < T(0) ? T(0) : x > T(1) ? T(1) : x;
}
template <class T>
T scale(T x, u8 omod) { return omod == 1 ? x * T(2) : omod == 2 ? x * T(4) : omod == 3 ? x * T(0.5) : x; }

// omod, flushing and clamp, in that order (ISA document, "Output modifiers").
void finish_float(const Wave& w, const Inst* i, Ty type, void* p) {
  const u32 n = w.lanes;
  const bool dx10 = (w.mode >> 8) & 1;
  if (type == Ty::f32) {
    f32* d = static_cast<f32*>(p);
    for (u32 k = 0; k < n; k++) {
      f32 x = scale(d[k], i->omod);
      if (w.flush32_out) x = bits_to<f32>(flush_f32(bits_to<u32>(x)));
      d[k] = i->clamp ? clamp01(x, dx10) : x;
    }
  } else if (type == Ty::f64) {
    f64* d = static_cast<f64*>(p);
    for (u32 k = 0; k < n; k++) {
      f64 x = scale(d[k], i->omod);
      if (w.flush64_out) x = bits_to<f64>(flush_f64(bits_to<u64>(x)));
      d[k] = i->clamp ? clamp01(x, dx10) : x;
    }
  } else if (type == Ty::f16) {
    u32* d = static_cast<u32*>(p);
    for (u32 k = 0; k < n; k++) {
      f16 h{u16(d[k])};
      if (i->omod) h = to_f16(scale(to_f32(h), i->omod));
      if (w.flush64_out) h.bits = u16(flush_f16(h.bits));
      if (i->clamp) h = to_f16(clamp01(to_f32(h), dx10));
      d[k] = h.bits;
    }
  } else if (type == Ty::pkf16) {
    u32* d = static_cast<u32*>(p);
    for (u32 k = 0; k < n; k++) {
      f16 h[2] = {{u16(d[k])}, {u16(d[k] >> 16)}};
      for (f16& x : h) {
        if (w.flush64_out) x.bits = u16(flush_f16(x.bits));
        if (i->clamp) x = to_f16(clamp01(to_f32(x), dx10));
      }
      d[k] = h[0].bits | u32(h[1].bits) << 16;
    }
  } else if (type == Ty::pkf32) {
    f32* d = static_cast<f32*>(p);
    for (u32 k = 0; k < 2 * n; k++) {
      f32 x = d[k];
      if (w.flush32_out) x = bits_to<f32>(flush_f32(bits_to<u32>(x)));
      d[k] = i->clamp ? clamp01(x, dx10) : x;
    }
  }
}

void store(Wave& w, const Inst* i, Temp& t, u64 mask) {
  const Dst& dst = i->dst;
  const u32 n = w.lanes;
  if (dst.type == Ty::pkf32) {
    blend(w.vgpr(dst.reg), t.d(), mask, n);
    blend(w.vgpr(dst.reg + 1), t.d() + n, mask, n);
    return;
  }
  if (dwords(dst.type) == 2) {
    u32 lo[64], hi[64];
    for (u32 k = 0; k < n; k++) lo[k] = u32(t.q[k]), hi[k] = u32(t.q[k] >> 32);
    blend(w.vgpr(dst.reg), lo, mask, n);
    blend(w.vgpr(dst.reg + 1), hi, mask, n);
    return;
  }
  u32* old = w.vgpr(dst.reg);
  u32* d = t.d();
  if (i->sdwa && dst.sdwa_sel != 6) {
    const u32 shift = dst.sdwa_sel < 4 ? 8 * dst.sdwa_sel : 16 * (dst.sdwa_sel - 4);
    const u32 width = dst.sdwa_sel < 4 ? 8 : 16;
    const u32 field = ((1u << width) - 1) << shift;
    for (u32 k = 0; k < n; k++) {
      const u32 x = (d[k] << shift) & field;
      if (dst.sdwa_unused == 2) d[k] = (old[k] & ~field) | x;
      else if (dst.sdwa_unused == 1) d[k] = u32(i32(x << (32 - shift - width)) >> (32 - shift - width));
      else d[k] = x;
    }
  } else if (is_16bit(dst.type) && dst.keep) {
    if (dst.half)
      for (u32 k = 0; k < n; k++) d[k] = (old[k] & 0xffff) | d[k] << 16;
    else
      for (u32 k = 0; k < n; k++) d[k] = (old[k] & 0xffff0000u) | (d[k] & 0xffff);
  } else if (is_16bit(dst.type)) {
    for (u32 k = 0; k < n; k++) d[k] &= 0xffff;
  }
  blend(old, d, mask, n);
}

void store_mask(Wave& w, const Inst* i, const u32* flags, u64 exec) {
  const u64 m = gather_mask(flags, w.lanes) & exec;
  if (i->sdst.kind == Kind::sgpr) w.set_mask(i->sdst.reg, m);
  if (i->row->flags & cmpx) w.set_mask(exec_reg, m);
}

// ---- shadow --------------------------------------------------------------------------------------

u64 smear_up64(u64 x) { return x | -x; }

struct Shadow {
  bool dirty = false;  // some result bit is undefined
  u64 flags = 0;       // undefined bits of the mask result
  Temp value;          // undefined bits of the result, in the row's own layout
};

void source_shadow(const Wave& w, const Src& s, u64* out) {
  const u32 n = w.lanes;
  for (u32 k = 0; k < n; k++) {
    u64 x = 0;
    if (s.kind == Kind::vgpr) {
      x = undef_bits(w, s.reg, k);
      if (dwords(s.type) == 2) x |= u64(undef_bits(w, s.reg + 1, k)) << 32;
    } else if (s.kind == Kind::sgpr) {
      if (s.type == Ty::mask) x = w.s_und[s.reg + k / 32] >> (k % 32) & 1;
      else x = w.s_und[s.reg] | (dwords(s.type) == 2 ? u64(w.s_und[s.reg + 1]) << 32 : 0);
    }
    out[k] = x;
  }
}

// Slow path, taken only when a source has undefined bits in an active lane. `x` holds the fetched values.
void propagate(Wave& w, const Inst* i, const Lanes& x, u64 exec, Shadow& out) {
  const u32 n = w.lanes;
  const Row& row = *i->row;
  u64 sh[4][64];
  for (u32 k = 0; k < i->nsrc; k++) {
    source_shadow(w, i->src[k], sh[k]);
    const Src& s = i->src[k];
    if (k == 0 && i->dpp.on) {
      u64 copy[64];
      for (u32 lane = 0; lane < n; lane++) {
        const int from = dpp_source(w, i->dpp, lane);
        copy[lane] = from >= 0 && (i->dpp.fetch_inactive || (exec >> from & 1)) ? sh[0][from] : 0;
      }
      for (u32 lane = 0; lane < n; lane++) sh[0][lane] = copy[lane];
    }
    for (u32 lane = 0; lane < n; lane++) {
      u64& y = sh[k][lane];
      if (!y) continue;
      if (i->sdwa) y = sdwa_extract(u32(y), s.sdwa_sel, s.sdwa_sext);
      if (is_16bit(s.type)) y = (s.sel ? y >> 16 : y) & 0xffff;
      if (s.type == Ty::pk16 || s.type == Ty::pkf16 || s.type == Ty::pkbf16)
        y = ((s.sel ? y >> 16 : y) & 0xffff) | ((s.sel_hi ? y >> 16 : y) & 0xffff) << 16;
      if (s.type == Ty::pkf32 || s.type == Ty::pkb32)
        y = (s.sel ? y >> 32 : y & 0xffffffffu) | (s.sel_hi ? y >> 32 << 32 : y << 32);
      if (is_mix(s.type) && s.sel_hi) y = (s.sel ? y >> 16 : y) & 0xffff;
    }
  }
  auto value = [&](u32 k, u32 lane) -> u64 {
    const bool wide = dwords(i->src[k].type) == 2;
    return wide ? static_cast<const u64*>(x.s[k])[lane] : static_cast<const u32*>(x.s[k])[lane];
  };
  const bool wide = dwords(row.sig.dst) == 2;
  const u64 all = wide ? ~u64(0) : is_16bit(row.sig.dst) ? 0xffff : 0xffffffffu;
  Undef rule = row.undef;
  Temp same;
  if (rule == Undef::same) {
    // Feed the shadows of data operands through the row itself; an undefined control operand spoils all.
    Lanes y = x;
    Temp in[4];
    u32 flag[64];
    y.d = same.q;
    y.flag = flag;
    for (u32 k = 0; k < i->nsrc; k++) {
      if (!(row.data_operands >> k & 1)) continue;
      if (dwords(i->src[k].type) == 2) for (u32 lane = 0; lane < n; lane++) in[k].q[lane] = sh[k][lane];
      else for (u32 lane = 0; lane < n; lane++) in[k].d()[lane] = u32(sh[k][lane]);
      y.s[k] = in[k].q;
    }
    i->lanes(y);
  }
  for (u32 lane = 0; lane < n; lane++) {
    u64 r = 0;
    u64 any = 0, control = 0;
    for (u32 k = 0; k < i->nsrc; k++) {
      any |= sh[k][lane];
      if (!(row.data_operands >> k & 1)) control |= sh[k][lane];
    }
    if (any && (exec >> lane & 1)) {
      const u64 a = sh[0][lane], b = sh[1][lane], c = sh[2][lane];
      switch (rule) {
        case Undef::any: r = all; break;
        case Undef::same: r = control ? all : wide ? same.q[lane] : same.d()[lane]; break;
        case Undef::bit_and: r = (a & b) | (a & value(1, lane)) | (b & value(0, lane)); break;
        case Undef::bit_or: r = (a & b) | (a & ~value(1, lane)) | (b & ~value(0, lane)); break;
        case Undef::bit_xor: r = any; break;
        case Undef::bit_andn2: r = (a & b) | (a & ~value(1, lane)) | (b & value(0, lane)); break;
        case Undef::bit_orn2: r = (a & b) | (a & value(1, lane)) | (b & ~value(0, lane)); break;
        case Undef::carry:
          r = row.data_operands && control ? all : smear_up64(any);
          // Nothing is carried from one half of a packed pair into the other.
          if (row.sig.dst == Ty::pk16) r = (smear_up64(any & 0xffff) & 0xffff) | smear_up64(any & 0xffff0000u);
          break;
        case Undef::lshl_add: r = b ? all : smear_up64(((a << (value(1, lane) & (wide ? 7 : 31))) & all) | c); break;
        case Undef::add_lshl: r = c ? all : smear_up64(a | b) << (value(2, lane) & 31); break;
        case Undef::select: r = c ? all : value(2, lane) ? b : a; break;
        case Undef::and_or: {
          const u64 t = (a & b) | (a & value(1, lane)) | (b & value(0, lane));
          r = (t & c) | (t & ~value(2, lane)) | (c & ~(value(0, lane) & value(1, lane)));
          break;
        }
        case Undef::byte: r = (a >> (8 * row.data_operands) & 0xff) ? all : 0; break;
        case Undef::bfi:  // an undefined mask bit chooses between two bits, which may be equal
          r = (a & ((value(1, lane) ^ value(2, lane)) | b | c)) | (~a & ((b & value(0, lane)) | (c & ~value(0, lane))));
          break;
        case Undef::truth: {
          const u32 n = row.sig.n - 1u, t = u32(value(n, lane));
          const u64 v[3] = {value(0, lane), value(1, lane), n == 3 ? value(2, lane) : 0}, u[3] = {a, b, n == 3 ? c : 0};
          u64 ones = 0, zeros = 0;  // what may come out
          for (u32 k = 0; k < 8; k++) {
            u64 here = ~u64(0);
            for (u32 s = 0; s < 3; s++) here &= (k >> (2 - s) & 1 ? v[s] : ~v[s]) | u[s];
            (t >> k & 1 ? ones : zeros) |= here;
          }
          r = ones & zeros;
          break;
        }
      }
      r &= all;
      // A packed row works half by half: do not let one half spoil the other.
      if (rule == Undef::any && (row.sig.dst == Ty::pk16 || row.sig.dst == Ty::pkf16 || row.sig.dst == Ty::pkbf16)) r = ((any & 0xffff) ? 0xffffu : 0) | ((any >> 16 & 0xffff) ? 0xffff0000u : 0);
      if (rule == Undef::any && (row.sig.dst == Ty::pkf32)) r = ((any & 0xffffffffu) ? 0xffffffffu : 0) | ((any >> 32) ? 0xffffffff00000000u : 0);
      if (any) out.flags |= u64(1) << lane;
    }
    if (wide) out.value.q[lane] = r;
    else out.value.d()[lane] = u32(r);
    out.dirty |= r != 0;
  }
}

void set_result_shadow(Wave& w, const Inst* i, const Shadow* sh, u64 mask) {
  const Dst& dst = i->dst;
  if (dst.kind == Kind::vgpr) {
    const u32 n = dwords(dst.type);
    if (!sh) {
      // Defined result; a kept half keeps its own shadow.
      const bool partial = (is_16bit(dst.type) && dst.keep) || (i->sdwa && dst.sdwa_sel != 6 && dst.sdwa_unused == 2);
      if (!partial) {
        for (u32 k = 0; k < n; k++)
          if (w.und[dst.reg + k]) set_defined(w, dst.reg + k, mask);
        return;
      }
      if (!(w.und[dst.reg] & mask)) return;
    }
    for (u32 lane = 0; lane < w.lanes; lane++) {
      if (!(mask >> lane & 1)) continue;
      if (n == 2) {
        const u64 x = sh ? sh->value.q[lane] : 0;
        set_undef_bits(w, dst.reg, lane, u32(x));
        set_undef_bits(w, dst.reg + 1, lane, u32(x >> 32));
        continue;
      }
      u32 x = sh ? reinterpret_cast<const u32*>(sh->value.q)[lane] : 0;
      const u32 old = undef_bits(w, dst.reg, lane);
      if (i->sdwa && dst.sdwa_sel != 6) {
        const u32 shift = dst.sdwa_sel < 4 ? 8 * dst.sdwa_sel : 16 * (dst.sdwa_sel - 4);
        const u32 field = (dst.sdwa_sel < 4 ? 0xffu : 0xffffu) << shift;
        x = (x << shift) & field;
        if (dst.sdwa_unused == 2) x |= old & ~field;
      } else if (is_16bit(dst.type) && dst.keep) {
        x = dst.half ? (old & 0xffff) | x << 16 : (old & 0xffff0000u) | (x & 0xffff);
      }
      set_undef_bits(w, dst.reg, lane, x);
    }
  }
}
void set_mask_shadow(Wave& w, const Inst* i, u64 flags) {
  if (i->sdst.kind == Kind::sgpr) {
    w.s_und[i->sdst.reg] = u32(flags);
    if (w.lanes == 64) w.s_und[i->sdst.reg + 1] = u32(flags >> 32);
  }
}

void check_dst(Wave& w, const Inst* i) {
  if (i->dst.kind == Kind::vgpr) check_arrived(w, i->dst.reg, dwords(i->dst.type), "overwritten");
  if (i->sdst.kind == Kind::sgpr) check_arrived_sgpr(w, i->sdst.reg, w.lanes / 32, "overwritten");
}

struct RoundingScope {
  unsigned saved;
  bool on;
  RoundingScope(const Wave& w, Ty t) {
    on = w.odd_rounding && is_float(t);
    if (!on) return;
    const u32 mode = t == Ty::f32 || t == Ty::pkf32 || is_mix(t) ? w.mode & 3 : w.mode >> 2 & 3;
    if (mode && (t == Ty::f16 || t == Ty::pkf16)) raise(FaultKind::unsupported, "f16 arithmetic in a rounding mode other than nearest even");
    static constexpr unsigned csr[] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN, _MM_ROUND_TOWARD_ZERO};
    saved = _mm_getcsr();
    _mm_setcsr((saved & ~unsigned(_MM_ROUND_MASK)) | csr[mode]);
  }
  ~RoundingScope() {
    if (on) _mm_setcsr(saved);
  }
};

template <bool Strict>
const Inst* general(Wave& w, const Inst* i) {
  const u64 exec = w.exec();
  Temp t[4], d;
  u32 flag[64];
  Lanes x;
  x.n = w.lanes;
  x.d = d.q;
  x.flag = flag;
  u64 mask = exec;
  if (i->dpp.on) mask = dpp_write_mask(w, i->dpp, exec);
  u64 undefined = 0;
  if constexpr (Strict) {
    if (!w.events.empty()) check_dst(w, i);
    for (u32 k = 0; k < i->nsrc; k++) undefined |= source_undef(w, i->src[k]);
    // DPP reads other lanes than the one it writes.
    if (!i->dpp.on) undefined &= exec;
  }
  for (u32 k = 0; k < i->nsrc; k++) x.s[k] = fetch(w, i, i->src[k], t[k], exec, k == 0);
  Shadow* shadow = nullptr;
  alignas(Shadow) u8 room[sizeof(Shadow)];
  if constexpr (Strict) {
    if (undefined) {
      shadow = new (room) Shadow;
      propagate(w, i, x, exec, *shadow);
      if ((i->row->flags & cmpx) && (shadow->flags & exec)) report_undefined(w, "EXEC", "an operand of v_cmpx", __builtin_ctzll(shadow->flags & exec));
    }
  }
  {
    RoundingScope rounding(w, i->float_result ? i->row->sig.dst : Ty::none);
    i->lanes(x);
  }
  if (i->dst.kind == Kind::vgpr) {
    if (is_float(i->row->sig.dst) && (i->clamp || i->omod || w.flush32_out || w.flush64_out) && i->float_result) finish_float(w, i, i->row->sig.dst, d.q);
    if constexpr (Strict) set_result_shadow(w, i, shadow && shadow->dirty ? shadow : nullptr, mask);
    store(w, i, d, mask);
  } else if (i->dst.kind == Kind::sgpr) {  // VALU results in an SGPR: v_s_* of gfx12
    w.s[i->dst.reg] = d.d()[0];
    if constexpr (Strict) w.s_und[i->dst.reg] = shadow && shadow->dirty ? ~0u : 0;
  }
  if (i->row->sig.mask_out) {
    if constexpr (Strict) set_mask_shadow(w, i, shadow ? shadow->flags & exec : 0);
    store_mask(w, i, flag, exec);
  }
  return i + 1;
}

// Every operand is a plain dword (packed f32 has run_hot_pairs): no modifiers, no denormal flushing, no odd rounding (checked here,
// since MODE may change).
template <bool Strict>
const Inst* simple(Wave& w, const Inst* i) {
  if (__builtin_expect(i->float_result && !w.plain_mode, 0)) return general<Strict>(w, i);
  const u64 exec = w.exec();
  Lanes x;
  x.n = w.lanes;
  Temp t[3];
  u32 flag[64];
  const u32 nsrc = i->nsrc;
  if constexpr (Strict) {
    u64 u = 0;
    for (u32 k = 0; k < nsrc; k++) {
      const Src& s = i->src[k];
      if (s.kind == Kind::vgpr) {
        u |= w.und[s.reg];
      } else if (s.kind == Kind::sgpr) {
        u |= u64(w.s_und[s.reg] | w.s_pend[s.reg]);
        if (s.type == Ty::mask && w.lanes == 64) u |= u64(w.s_und[s.reg + 1] | w.s_pend[s.reg + 1]);
      }
    }
    if (u) return general<Strict>(w, i);
    if (!w.events.empty()) check_dst(w, i);
    if (i->dst.kind == Kind::vgpr && w.und[i->dst.reg]) set_defined(w, i->dst.reg, exec);
  }
  for (u32 k = 0; k < nsrc; k++) {
    const Src& s = i->src[k];
    if (s.kind == Kind::vgpr) x.s[k] = w.vgpr(s.reg);
    else if (s.kind == Kind::constant) x.s[k] = s.lanes;
    else if (s.type == Ty::mask) spread_mask(w.mask(s.reg), t[k].d(), x.n), x.s[k] = t[k].q;
    else broadcast(scalar32(w, s), t[k].d(), x.n), x.s[k] = t[k].q;
  }
  if (i->dst.kind == Kind::vgpr) {
    u32* dst = w.vgpr(i->dst.reg);
    x.flag = flag;
    if (exec == w.full) {
      x.d = dst;
      i->lanes(x);
    } else {
      Temp d;
      x.d = d.q;
      i->lanes(x);
      blend(dst, d.d(), exec, x.n);
    }
  } else {
    x.flag = flag;
    x.d = nullptr;
    i->lanes(x);
  }
  if (i->row->sig.mask_out) {
    if constexpr (Strict) set_mask_shadow(w, i, 0);
    store_mask(w, i, flag, exec);
  }
  return i + 1;
}

}  // namespace

const Inst* run_valu(Wave& w, const Inst* i) { return general<false>(w, i); }
const Inst* run_valu_strict(Wave& w, const Inst* i) { return general<true>(w, i); }
const Inst* run_valu_simple(Wave& w, const Inst* i) { return simple<false>(w, i); }
const Inst* run_valu_simple_strict(Wave& w, const Inst* i) { return simple<true>(w, i); }

}  // namespace lathe::emu::LATHE_LEVEL
