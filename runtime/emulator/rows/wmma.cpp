// WMMA and SWMMAC: D = A x B + C over the whole wave, EXEC ignored. One row per instruction says shape and types;
// one function does the work: gather A and B, multiply, scatter D.
#include <string>

#include "machine/operands.h"
#include "machine/row.h"
#include "rows/float_math.h"
#include "rows/tables.h"
#include "rows/wmma_layout.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

constexpr u32 n_columns = 16, max_k = 128, max_m = 32;

u32 registers(u32 count, Elem e) { return (count * bits(e) + 31) / 32; }
Elem a_type(const WmmaShape& s, const Inst& i) { return s.a == Elem::by_format ? format_of(i.mods >> 6 & 7) : s.a; }
Elem b_type(const WmmaShape& s, const Inst& i) { return s.b == Elem::by_format ? format_of((i.mods >> 10 & 3) | (i.mods >> 9 & 1) << 2) : s.b; }
// The 32 x 16 form's A is two of 16 x 16 one after the other.
u32 tiles(const WmmaShape& s) { return s.m / 16; }
const char* a_map(const WmmaShape& s, const Inst& i, bool wave64) { return s.a_map[wave64] ? s.a_map[wave64] : f8f6f4_map(a_type(s, i)); }
const char* b_map(const WmmaShape& s, const Inst& i, bool wave64) { return s.b_map[wave64] ? s.b_map[wave64] : f8f6f4_map(b_type(s, i)); }

const Inst* run_bad_format(Wave&, const Inst* i) {
  raise(FaultKind::unsupported, std::string(i->row->name) + " names a matrix format that does not exist");
}
const Inst* run_bad_operand(Wave&, const Inst* i) {
  raise(FaultKind::unsupported, std::string(i->row->name) + " with an operand that is neither a VGPR nor a constant for C");
}

// Registers each operand takes, and what no such instruction may have.
void prepare(const Isa&, u32 lanes, Inst& i) {
  const WmmaShape& s = *static_cast<const WmmaShape*>(i.row->shape);
  const bool wave64 = lanes == 64;
  const Elem a = a_type(s, i), b = b_type(s, i);
  if (a == Elem::by_format || b == Elem::by_format) {
    i.run = run_bad_format;
    return;
  }
  const u32 d_slots = slots(s.d_map[wave64]);
  i.wide[0] = u8(s.d_halves ? d_slots : registers(d_slots, s.d));
  i.wide[1] = u8(tiles(s) * registers(slots(a_map(s, i, wave64)), a));
  i.wide[2] = u8(registers(slots(b_map(s, i, wave64)), b));
  i.wide[3] = u8(s.sparse ? (slots(a_map(s, i, wave64)) * 2 + 31) / 32 : s.d_halves ? d_slots : registers(d_slots, s.c));
  const bool scale16 = i.nsrc == 5 && i.row->name.find("SCALE16") != i.row->name.npos;
  i.wide[4] = i.wide[5] = scale16 ? 2 : 1;
  for (u32 k = 0; k < i.nsrc; k++) {
    const bool constant_allowed = k >= 3 || (k == 2 && !s.sparse);
    if (i.src[k].kind == Kind::vgpr || (constant_allowed && (i.src[k].kind == Kind::constant || (k >= 3 && i.src[k].kind == Kind::sgpr)))) continue;
    i.run = run_bad_operand;
  }
}

// ---- elements ------------------------------------------------------------------------------------

struct Operands {
  alignas(64) f32 a[max_k][max_m];       // of a sparse A only the kept elements
  alignas(64) f32 b[max_k][n_columns];
  alignas(64) i32 ia[max_k][16], ib[max_k][n_columns];
  u8 kept[max_k][16];                    // sparse: the k that element belongs to
};

template <Elem E> f32 decode(u32 x) {
  switch (E) {
    case Elem::f32: return bits_to<f32>(x);
    case Elem::f16: return to_f32(f16{u16(x)});
    case Elem::bf16: return to_f32(bf16{u16(x)});
    case Elem::fp8: return decode_small<fp8_ocp>(x);
    case Elem::bf8: return decode_small<bf8_ocp>(x);
    case Elem::fp6: return decode_small<fp6_ocp>(x);
    case Elem::bf6: return decode_small<bf6_ocp>(x);
    case Elem::fp4: return decode_small<fp4_ocp>(x);
    default: return 0;
  }
}

// Sixteen neighbouring lanes' element in one slot.
void fetch16(Wave& w, u32 reg, Place p, u32 width, u32* out) {
  const u32 at = p.slot * width, shift = at % 32;
  const u32* lo = w.vgpr(reg + at / 32) + p.lane;
  const u32* hi = shift + width > 32 ? w.vgpr(reg + at / 32 + 1) + p.lane : nullptr;
  for (u32 j = 0; j < 16; j++) {
    u32 x = lo[j] >> shift;
    if (hi) x |= hi[j] << (32 - shift);
    out[j] = width == 32 ? x : x & ((1u << width) - 1);
  }
}
// `neg` of even slots (low halves), `neg_hi` of odd ones.
template <Elem E>
void gather_floats(Wave& w, u32 reg, const char* map, u32 count, bool neg, bool neg_hi, f32* out, u32 stride) {
  u32 raw[16];
  for (u32 k = 0; k < count; k++) {
    const Place p = place(map, k);
    fetch16(w, reg, p, bits(E), raw);
    const u32 flip = (E == Elem::f32 ? neg : p.slot & 1 ? neg_hi : neg) ? 0x80000000u : 0;
    for (u32 j = 0; j < 16; j++) out[k * stride + j] = bits_to<f32>(bits_to<u32>(decode<E>(raw[j])) ^ flip);
  }
}
void gather(Wave& w, Elem e, u32 reg, const char* map, u32 count, bool neg, bool neg_hi, f32* out, u32 stride) {
  switch (e) {
    case Elem::f32: return gather_floats<Elem::f32>(w, reg, map, count, neg, neg_hi, out, stride);
    case Elem::f16: return gather_floats<Elem::f16>(w, reg, map, count, neg, neg_hi, out, stride);
    case Elem::bf16: return gather_floats<Elem::bf16>(w, reg, map, count, neg, neg_hi, out, stride);
    // FP8 and narrower have no NEG (RDNA4 ISA 7.12).
    case Elem::fp8: return gather_floats<Elem::fp8>(w, reg, map, count, false, false, out, stride);
    case Elem::bf8: return gather_floats<Elem::bf8>(w, reg, map, count, false, false, out, stride);
    case Elem::fp6: return gather_floats<Elem::fp6>(w, reg, map, count, false, false, out, stride);
    case Elem::bf6: return gather_floats<Elem::bf6>(w, reg, map, count, false, false, out, stride);
    case Elem::fp4: return gather_floats<Elem::fp4>(w, reg, map, count, false, false, out, stride);
    default: return;
  }
}
void gather_integers(Wave& w, u32 width, bool is_signed, u32 reg, const char* map, u32 count, i32 (*out)[16]) {
  u32 raw[16];
  for (u32 k = 0; k < count; k++) {
    fetch16(w, reg, place(map, k), width, raw);
    for (u32 j = 0; j < 16; j++) out[k][j] = is_signed ? i32(raw[j] << (32 - width)) >> (32 - width) : i32(raw[j]);
  }
}

// ---- sums ----------------------------------------------------------------------------------------

f32 flush(f32 x) { return flushed(x); }
// Products of f16 and narrower floats are exact in f32; those of bf16 need f64's exponent, which also makes the sum of
// product and accumulator one rounding (53 >= 2 * 24 + 2 bits).
template <bool Exact> f32 add_product(f32 a, f32 b, f32 c) { return Exact ? c + a * b : f32(f64(a) * f64(b) + f64(c)); }
bool exact(Elem e) { return e != Elem::bf16 && e != Elem::f32; }

// acc[j] += a * b[j] over one row of D, one k after the other.
template <bool Exact> void row_in_f32(const f32 (*a)[max_m], const f32 (*b)[n_columns], const u8 (*kept)[16], u32 count, u32 i, f32* acc) {
  for (u32 k = 0; k < count; k++) {
    const f32 x = a[k][i];
    const f32* y = b[kept ? kept[k][i & 15] : k];
    for (u32 j = 0; j < n_columns; j++) acc[j] = add_product<Exact>(x, y[j], acc[j]);
  }
}
template <bool Exact> void row_flushed(const f32 (*a)[max_m], const f32 (*b)[n_columns], u32 count, u32 i, f32* acc) {
  for (u32 j = 0; j < n_columns; j++) acc[j] = flush(acc[j]);
  for (u32 k = 0; k < count; k += 2) {  // a dot product takes two
    const f32 x = flush(a[k][i]), z = flush(a[k + 1][i]);
    for (u32 j = 0; j < n_columns; j++) acc[j] = flush(add_product<Exact>(z, flush(b[k + 1][j]), add_product<Exact>(x, flush(b[k][j]), acc[j])));
  }
}
void row_fused(const f32 (*a)[max_m], const f32 (*b)[n_columns], u32 count, u32 i, f32* acc) {
  for (u32 k = 0; k < count; k++)
    for (u32 j = 0; j < n_columns; j++) acc[j] = __builtin_fmaf(a[k][i], b[k][j], acc[j]);
}
// Every sum rounded to f16 or bf16 (V_DOT2_F16_F16, V_DOT2_BF16_BF16).
template <class T, class F> void row_narrow(const f32 (*a)[max_m], const f32 (*b)[n_columns], const u8 (*kept)[16], u32 count, u32 i, f32* acc, F round) {
  for (u32 k = 0; k < count; k++) {
    const f32* y = b[kept ? kept[k][i & 15] : k];
    for (u32 j = 0; j < n_columns; j++) acc[j] = to_f32(round(fma_odd(a[k][i], y[j], acc[j])));
  }
}
// Products times a power of two or a small float: f64 holds them exactly, and one rounding makes the sum.
void row_scaled(const f32 (*a)[max_m], const f32 (*b)[n_columns], const f64 (*sa)[max_m], const f64 (*sb)[n_columns], u32 block, u32 count, u32 i, f32* acc) {
  for (u32 k = 0; k < count; k++)
    for (u32 j = 0; j < n_columns; j++) acc[j] = f32(f64(a[k][i]) * b[k][j] * (sa[k / block][i] * sb[k / block][j]) + f64(acc[j]));
}

// ---- scales --------------------------------------------------------------------------------------

// Scale formats (LLVM: MATRIX_SCALE_FMT_*): E8M0, E5M3 without a sign, E4M3.
f64 scale_value(u32 code, u32 format) {
  if (format == 0) return code == 255 ? __builtin_nan("") : bits_to<f64>(u64(1023 - 127 + code) << 52);
  if (format == 2) return decode_small<fp8_ocp>(code);
  if (code == 255) return __builtin_nan("");
  const u32 e = code >> 3, m = code & 7;
  return e ? bits_to<f64>(u64(1023 - 15 + e) << 52 | u64(m) << 49) : m * bits_to<f64>(u64(1023 - 17) << 52);
}
u32 lane_dword(Wave& w, const Src& s, u32 dword, u32 lane) {
  if (s.kind == Kind::vgpr) return w.vgpr(s.reg + dword)[lane];
  return s.kind == Kind::constant ? s.lanes[0] : w.s[s.reg + dword];
}
// Row i's scales are the bytes of one lane's register (or pair): lanes 0-15, or 16-31 where the row select says so; the 32
// rows of the 32 x 16 form take all lanes.
void gather_scales(Wave& w, const Src& s, u32 rows, u32 blocks, bool upper, u32 format, f64* out, u32 stride) {
  for (u32 i = 0; i < rows; i++)
    for (u32 q = 0; q < blocks; q++) {
      const u32 x = lane_dword(w, s, q / 4, rows == 32 ? i : i + 16 * upper);
      out[q * stride + i] = scale_value(x >> (8 * (q % 4)) & 255, format);
    }
}

// ---- strict --------------------------------------------------------------------------------------

u64 group_undefined(const Wave& w, u32 reg, u32 count) {
  u64 u = 0;
  for (u32 r = reg; r < reg + count; r++) {
    if (w.und[r] && w.pend[r]) report_pending(w, r, false, "read");
    u |= w.und[r];
  }
  return u;
}
// Lanes whose element k of a group has an undefined bit.
bool element_undefined(const Wave& w, u32 reg, Place p, u32 width, u32 lane) {
  const u32 at = p.slot * width, shift = at % 32;
  const u64 mask = (width == 32 ? 0xffffffffull : (1ull << width) - 1) << shift;
  u64 x = undef_bits(w, reg + at / 32, lane);
  if (shift + width > 32) x |= u64(undef_bits(w, reg + at / 32 + 1, lane)) << 32;
  return x & mask;
}

struct Undefined {
  bool any = false;
  bool row[max_m] = {}, column[n_columns] = {}, c[max_m][n_columns] = {};
};

// An undefined bit of A spoils its row of D, of B its column, of C its element; so do indices and scales.
void find_undefined(Wave& w, const Inst* i, const WmmaShape& s, Undefined& u) {
  const bool wave64 = w.lanes == 64;
  const Elem ta = a_type(s, *i), tb = b_type(s, *i);
  const char *am = a_map(s, *i, wave64), *bm = b_map(s, *i, wave64), *dm = s.d_map[wave64];
  const u32 a_count = s.sparse ? s.k / 2 : s.k;
  const bool in_a = group_undefined(w, i->src[0].reg, i->wide[1]), in_b = group_undefined(w, i->src[1].reg, i->wide[2]);
  const bool c_group = i->src[2].kind == Kind::vgpr;
  const bool in_c = c_group && group_undefined(w, i->src[2].reg, i->wide[3]);
  const bool in_d = s.sparse && group_undefined(w, i->dst.reg, i->wide[0]);
  if (in_a)
    for (u32 r = 0; r < s.m; r++)
      for (u32 k = 0; k < a_count; k++) {
        Place p = place(am, k);
        u.row[r] |= element_undefined(w, i->src[0].reg + r / 16 * (i->wide[1] / tiles(s)), p, bits(ta), p.lane + r % 16);
      }
  if (in_b)
    for (u32 j = 0; j < n_columns; j++)
      for (u32 k = 0; k < s.k; k++) {
        const Place p = place(bm, k);
        u.column[j] |= element_undefined(w, i->src[1].reg, p, bits(tb), p.lane + j);
      }
  if (s.sparse && in_c)
    for (u32 r = 0; r < s.m; r++)
      for (u32 k = 0; k < a_count; k++) {
        const Place p = place(am, k);
        const u32 at = 2 * p.slot + (i->mods >> 6 & 3) * 2 * slots(am);
        u.row[r] |= undef_bits(w, i->src[2].reg + at / 32, p.lane + r) >> (at % 32) & 3;
      }
  if ((!s.sparse && in_c) || in_d) {
    const Elem tc = s.sparse ? s.d : s.c;
    const u32 reg = s.sparse ? i->dst.reg : i->src[2].reg;
    for (u32 r = 0; r < s.m; r++)
      for (u32 j = 0; j < n_columns; j++) {
        Place p = place(dm, r);
        if (s.d_halves) p.slot = u8(2 * p.slot + (i->mods >> 8 & 1));
        u.c[r][j] = element_undefined(w, reg, p, bits(tc), p.lane + j);
      }
  }
  for (u32 k = 3; k < i->nsrc; k++) {
    const Src& src = i->src[k];
    const bool upper = k == 3 ? i->mods >> 22 & 1 : i->mods >> 26 & 1;
    if (src.kind == Kind::sgpr) {
      check_arrived_sgpr(w, src.reg, i->wide[k + 1], "read");
      if (w.s_und[src.reg]) u.any = true, std::fill(std::begin(u.row), std::end(u.row), true);
    } else if (src.kind == Kind::vgpr && group_undefined(w, src.reg, i->wide[k + 1])) {
      for (u32 d = 0; d < i->wide[k + 1]; d++)
        for (u32 r = 0; r < (k == 3 ? s.m : n_columns); r++)
          (k == 3 ? u.row[r] : u.column[r]) |= undef_bits(w, src.reg + d, k == 3 && s.m == 32 ? r : r + 16 * upper) != 0;
    }
  }
  u.any |= in_a || in_b || in_c || in_d;
  for (bool r : u.row) u.any |= r;
  for (bool c : u.column) u.any |= c;
}

// RDNA3 ISA 7.9: lanes 16 and up must repeat lanes 0-15 of A and B.
void check_replicas(Wave& w, const Inst* i) {
  for (u32 k = 0; k < 2; k++)
    for (u32 r = i->src[k].reg; r < u32(i->src[k].reg) + i->wide[k + 1]; r++)
      for (u32 lane = 16; lane < w.lanes; lane++)
        if (w.vgpr(r)[lane] != w.vgpr(r)[lane % 16] && !undef_bits(w, r, lane) && !undef_bits(w, r, lane % 16))
          raise(FaultKind::unsupported,
                "WMMA: lane " + std::to_string(lane) + " of v" + std::to_string(r) + " differs from lane " + std::to_string(lane % 16) +
                    ": RDNA3 wants A and B repeated in every 16 lanes",
                int(lane));
}

// ---- one instruction -----------------------------------------------------------------------------

template <bool Strict>
const Inst* run(Wave& w, const Inst* i) {
  const WmmaShape& s = *static_cast<const WmmaShape*>(i->row->shape);
  const bool wave64 = w.lanes == 64;
  const Elem ta = a_type(s, *i), tb = b_type(s, *i);
  const char *am = a_map(s, *i, wave64), *bm = b_map(s, *i, wave64), *dm = s.d_map[wave64];
  const u32 mods = i->mods, neg = mods & 7, neg_hi = mods >> 3 & 7, half = mods >> 8 & 1;
  const u32 a_count = s.sparse ? s.k / 2 : s.k;
  const bool integer = s.sums == Sums::integer;
  Undefined undefined;
  if constexpr (Strict) {
    if (!w.events.empty()) check_arrived(w, i->dst.reg, i->wide[0], "overwritten");
    find_undefined(w, i, s, undefined);
    if (s.replicated) check_replicas(w, i);
  }

  Operands o;
  if (integer) {
    gather_integers(w, bits(ta), neg & 1, i->src[0].reg, am, a_count, o.ia);
    gather_integers(w, bits(tb), neg & 2, i->src[1].reg, bm, s.k, o.ib);
  } else {
    for (u32 t = 0; t < tiles(s); t++) gather(w, ta, i->src[0].reg + t * (i->wide[1] / tiles(s)), am, a_count, neg & 1, neg_hi & 1, &o.a[0][16 * t], max_m);
    gather(w, tb, i->src[1].reg, bm, s.k, neg & 2, neg_hi & 2, &o.b[0][0], n_columns);
  }
  if (s.sparse) {
    // Two bits per kept element, in the lane and order of the elements; OP_SEL chooses between sets (RDNA4 ISA 7.12.3).
    const u32 set = (mods >> 6 & 3) * 2 * slots(am);
    for (u32 k = 0; k < a_count; k++) {
      const Place p = place(am, k);
      const u32 at = 2 * p.slot + set;
      const u32* index = w.vgpr(i->src[2].reg + at / 32) + p.lane;
      for (u32 r = 0; r < 16; r++) o.kept[k][r] = u8(k / 2 * 4 + (index[r] >> (at % 32) & 3));
    }
  }
  alignas(64) f64 sa[max_k / 16][max_m], sb[max_k / 16][n_columns];
  const bool scaled = i->nsrc == 5;
  const u32 block = i->wide[4] == 2 ? 16 : 32;
  if (scaled) {
    const u32 scale_mods = mods >> 16;
    gather_scales(w, i->src[3], s.m, s.k / block, scale_mods >> 6 & 1, scale_mods & 3, &sa[0][0], max_m);
    gather_scales(w, i->src[4], n_columns, s.k / block, scale_mods >> 10 & 1, scale_mods >> 3 & 3, &sb[0][0], n_columns);
  }

  // C's element, and D's place for the result.
  const Src& c = i->src[2];
  const Elem tc = s.sparse ? s.d : s.c;
  alignas(64) u32 raw[n_columns], result[max_m][n_columns];
  for (u32 r = 0; r < s.m; r++) {
    Place p = place(dm, r);
    if (s.d_halves) p.slot = u8(2 * p.slot + half);
    if (s.sparse) fetch16(w, i->dst.reg, p, bits(tc), raw);
    else if (c.kind == Kind::constant) std::fill(raw, raw + 16, tc == Elem::f16 || tc == Elem::bf16 ? c.lanes[0] & 0xffff : c.lanes[0]);
    else fetch16(w, c.reg, p, bits(tc), raw);

    if (integer) {
      const bool clamp = mods >> 12 & 1;
      i32 sum[n_columns] = {};
      for (u32 k = 0; k < a_count; k++) {
        const i32* y = o.ib[s.sparse ? o.kept[k][r] : k];
        for (u32 j = 0; j < n_columns; j++) sum[j] += o.ia[k][r] * y[j];
      }
      for (u32 j = 0; j < n_columns; j++) {
        const i64 x = i64(sum[j]) + i32(raw[j]);
        result[r][j] = clamp ? u32(x < -0x80000000ll ? -0x80000000ll : x > 0x7fffffff ? 0x7fffffff : x) : u32(x);
      }
      continue;
    }
    f32 acc[n_columns];
    const u32 clear = !s.sparse && (neg_hi & 4) ? 0x7fffffffu : ~0u, flip = !s.sparse && (neg & 4) ? 0x80000000u : 0;
    for (u32 j = 0; j < n_columns; j++) {
      const f32 x = tc == Elem::f32 ? bits_to<f32>(raw[j]) : tc == Elem::f16 ? to_f32(f16{u16(raw[j])}) : to_f32(bf16{u16(raw[j])});
      acc[j] = bits_to<f32>((bits_to<u32>(x) & clear) ^ flip);
    }
    const u8(*kept)[16] = s.sparse ? o.kept : nullptr;
    if (scaled) row_scaled(o.a, o.b, sa, sb, block, a_count, r, acc);
    else if (ta == Elem::f32) row_fused(o.a, o.b, a_count, r, acc);
    else if (s.sums == Sums::dot && tc == Elem::f16) row_narrow<f16>(o.a, o.b, kept, a_count, r, acc, [](f64 x) { return to_f16(x); });
    else if (s.sums == Sums::dot && tc == Elem::bf16) row_narrow<bf16>(o.a, o.b, kept, a_count, r, acc, [](f64 x) { return to_bf16(to_f32_odd(x)); });
    else if (s.sums == Sums::dot_flushed) exact(ta) ? row_flushed<true>(o.a, o.b, a_count, r, acc) : row_flushed<false>(o.a, o.b, a_count, r, acc);
    else if (exact(ta)) row_in_f32<true>(o.a, o.b, kept, a_count, r, acc);
    else row_in_f32<false>(o.a, o.b, kept, a_count, r, acc);
    for (u32 j = 0; j < n_columns; j++) {
      const f32 x = acc[j] != acc[j] && bits_to<u32>(acc[j]) == 0xffc00000u ? bits_to<f32>(0x7fc00000u) : acc[j];
      result[r][j] = s.d == Elem::f32 ? bits_to<u32>(x) : s.d == Elem::f16 ? to_f16(x).bits : to_bf16(x).bits;
    }
  }

  const u32 width = bits(s.d);
  for (u32 r = 0; r < s.m; r++) {
    Place p = place(dm, r);
    if (s.d_halves) p.slot = u8(2 * p.slot + half);
    const u32 at = p.slot * width, reg = i->dst.reg + at / 32, shift = at % 32;
    const u32 field = (width == 32 ? ~0u : (1u << width) - 1) << shift;
    u32* d = w.vgpr(reg) + p.lane;
    for (u32 j = 0; j < n_columns; j++) d[j] = (d[j] & ~field) | result[r][j] << shift;
    if constexpr (Strict) {
      const u64 lanes = u64(0xffff) << p.lane;
      if (!undefined.any && width == 32) {
        if (w.und[reg] & lanes) set_defined(w, reg, lanes);
      } else if (undefined.any || (w.und[reg] & lanes)) {
        for (u32 j = 0; j < n_columns; j++) {
          const bool bad = undefined.row[r] || undefined.column[j] || undefined.c[r][j];
          set_undef_bits(w, reg, p.lane + j, (undef_bits(w, reg, p.lane + j) & ~field) | (bad ? field : 0));
        }
      }
    }
  }
  return i + 1;
}

// ---- rows ----------------------------------------------------------------------------------------

constexpr Row row(std::string_view name, const WmmaShape& s, u8 rdna3, u8 rdna4, u8 gfx1250) {
  Row r;
  r.name = name;
  r.family = Family::wide;
  r.cls = Class::matrix;
  r.run[0] = run<false>, r.run[1] = run<true>;
  r.sig.n = 3;
  r.sig.dst = r.sig.src[0] = r.sig.src[1] = Ty::b32;
  // What an inline constant means as C.
  r.sig.src[2] = s.sparse ? Ty::b32 : s.c == Elem::f32 ? Ty::f32 : s.c == Elem::f16 ? Ty::f16 : s.c == Elem::bf16 ? Ty::bf16 : Ty::b32;
  r.shape = &s;
  r.prepare = prepare;
  r.passes[0] = rdna3, r.passes[1] = rdna4, r.passes[2] = gfx1250;
  return r;
}

using enum Elem;
using enum Sums;
// clang-format off
#define MAPS3 {"ssss", "ssss"}, {"ssss", "ssss"}, {"hsss", "hqss"}
#define D4 {"sssh", "ssqh"}
// A, B, C, D; sums; maps of A, B, D in wave32 and wave64
constexpr WmmaShape
  rdna3_f32_f16   {16, 16, f16,  f16,  f32,  f32,  dot_flushed, MAPS3, false, false, true},
  rdna3_f32_bf16  {16, 16, bf16, bf16, f32,  f32,  dot_flushed, MAPS3, false, false, true},
  rdna3_f16       {16, 16, f16,  f16,  f16,  f16,  dot,         MAPS3, false, true,  true},
  rdna3_bf16      {16, 16, bf16, bf16, bf16, bf16, dot,         MAPS3, false, true,  true},
  rdna3_iu8       {16, 16, i8,   i8,   i32,  i32,  integer,     MAPS3, false, false, true},
  rdna3_iu4       {16, 16, i4,   i4,   i32,  i32,  integer,     MAPS3, false, false, true};
#define K16_16 {"sshs", "sshq"}
#define K16_8  {"sssh", "ssqh"}
#define K16_4  {"sssh", "sssh"}
#define K32_4  {"ssssh", "sssqh"}
constexpr WmmaShape
  rdna4_f32_f16   {16, 16, f16,  f16,  f32,  f32,  dot,     K16_16, K16_16, D4},
  rdna4_f32_bf16  {16, 16, bf16, bf16, f32,  f32,  dot,     K16_16, K16_16, D4},
  rdna4_f16       {16, 16, f16,  f16,  f16,  f16,  dot,     K16_16, K16_16, D4},
  rdna4_bf16      {16, 16, bf16, bf16, bf16, bf16, dot,     K16_16, K16_16, D4},
  rdna4_iu8       {16, 16, i8,   i8,   i32,  i32,  integer, K16_8,  K16_8,  D4},
  rdna4_iu4       {16, 16, i4,   i4,   i32,  i32,  integer, K16_4,  K16_4,  D4},
  rdna4_iu4_k32   {16, 32, i4,   i4,   i32,  i32,  integer, K32_4,  K32_4,  D4},
  rdna4_fp8_fp8   {16, 16, fp8,  fp8,  f32,  f32,  dot,     K16_8,  K16_8,  D4},
  rdna4_fp8_bf8   {16, 16, fp8,  bf8,  f32,  f32,  dot,     K16_8,  K16_8,  D4},
  rdna4_bf8_fp8   {16, 16, bf8,  fp8,  f32,  f32,  dot,     K16_8,  K16_8,  D4},
  rdna4_bf8_bf8   {16, 16, bf8,  bf8,  f32,  f32,  dot,     K16_8,  K16_8,  D4};
#define B32_16 {"ssshs", "ssshq"}
#define B32_8  {"ssssh", "sssqh"}
#define B64_4  {"sssssh", "ssssqh"}
constexpr WmmaShape
  sparse_f32_f16  {16, 32, f16,  f16,  f32,  f32,  dot,     K16_16, B32_16, D4, true},
  sparse_f32_bf16 {16, 32, bf16, bf16, f32,  f32,  dot,     K16_16, B32_16, D4, true},
  sparse_f16      {16, 32, f16,  f16,  f16,  f16,  dot,     K16_16, B32_16, D4, true},
  sparse_bf16     {16, 32, bf16, bf16, bf16, bf16, dot,     K16_16, B32_16, D4, true},
  sparse_iu8      {16, 32, i8,   i8,   i32,  i32,  integer, K16_8,  B32_8,  D4, true},
  sparse_iu4      {16, 32, i4,   i4,   i32,  i32,  integer, K16_4,  K32_4,  D4, true},
  sparse_iu4_k64  {16, 64, i4,   i4,   i32,  i32,  integer, K32_4,  B64_4,  D4, true},
  sparse_fp8_fp8  {16, 32, fp8,  fp8,  f32,  f32,  dot,     K16_8,  B32_8,  D4, true},
  sparse_fp8_bf8  {16, 32, fp8,  bf8,  f32,  f32,  dot,     K16_8,  B32_8,  D4, true},
  sparse_bf8_fp8  {16, 32, bf8,  fp8,  f32,  f32,  dot,     K16_8,  B32_8,  D4, true},
  sparse_bf8_bf8  {16, 32, bf8,  bf8,  f32,  f32,  dot,     K16_8,  B32_8,  D4, true};
// gfx1250: wave32 alone.
#define G4_32   {"sh", ""}
#define G32_16  {"ssshs", ""}
#define G64_8   {"sssshs", ""}
#define G128_8  {"sssshss", ""}
#define DG {"sssh", ""}
#define DG32 {"ssshs", ""}
#define BY_FORMAT {nullptr, nullptr}
constexpr WmmaShape
  g_f32           {16, 4,   f32,  f32,  f32,  f32,  wide, G4_32,  G4_32,  DG},
  g_f32_f16       {16, 32,  f16,  f16,  f32,  f32,  wide, G32_16, G32_16, DG},
  g_f32_bf16      {16, 32,  bf16, bf16, f32,  f32,  wide, G32_16, G32_16, DG},
  g_f16           {16, 32,  f16,  f16,  f16,  f16,  wide, G32_16, G32_16, DG},
  g_bf16          {16, 32,  bf16, bf16, bf16, bf16, wide, G32_16, G32_16, DG},
  g_bf16f32       {16, 32,  bf16, bf16, f32,  bf16, wide, G32_16, G32_16, DG},
  g_iu8           {16, 64,  i8,   i8,   i32,  i32,  integer, G64_8, G64_8, DG},
  g_f8f6f4        {16, 128, by_format, by_format, f32, f32, wide, BY_FORMAT, BY_FORMAT, DG},
  g_f4            {32, 128, fp4,  fp4,  f32,  f32,  wide, BY_FORMAT, BY_FORMAT, DG32};
#define G_B64_16 {"sssshs", ""}
#define G_B128_8 {"ssssshs", ""}
#define G_SPARSE(K, A_MAP, B_MAP, A, B, OUT, SUMS) {16, K, A, B, OUT, OUT, SUMS, A_MAP, B_MAP, DG, true}
constexpr WmmaShape
  gs_f32_f16      G_SPARSE(64,  G32_16, G_B64_16, f16,  f16,  f32,  wide),
  gs_f32_bf16     G_SPARSE(64,  G32_16, G_B64_16, bf16, bf16, f32,  wide),
  gs_f16          G_SPARSE(64,  G32_16, G_B64_16, f16,  f16,  f16,  wide),
  gs_bf16         G_SPARSE(64,  G32_16, G_B64_16, bf16, bf16, bf16, wide),
  gs_iu8          G_SPARSE(128, G64_8,  G_B128_8, i8,   i8,   i32,  integer);
constexpr WmmaShape gs_8bit[2][4] = {  // f32 and f16; FP8 and BF8 of A and B
  {G_SPARSE(128, G64_8, G_B128_8, fp8, fp8, f32, wide), G_SPARSE(128, G64_8, G_B128_8, fp8, bf8, f32, wide), G_SPARSE(128, G64_8, G_B128_8, bf8, fp8, f32, wide), G_SPARSE(128, G64_8, G_B128_8, bf8, bf8, f32, wide)},
  {G_SPARSE(128, G64_8, G_B128_8, fp8, fp8, f16, wide), G_SPARSE(128, G64_8, G_B128_8, fp8, bf8, f16, wide), G_SPARSE(128, G64_8, G_B128_8, bf8, fp8, f16, wide), G_SPARSE(128, G64_8, G_B128_8, bf8, bf8, f16, wide)},
};
#define G_8BIT(K, MAP, OUT, A, B) WmmaShape{16, K, A, B, OUT, OUT, wide, MAP, MAP, DG}
constexpr WmmaShape g_8bit[2][2][4] = {  // K 64 and 128; f32 and f16; FP8 and BF8 of A and B
  {{G_8BIT(64, G64_8, f32, fp8, fp8), G_8BIT(64, G64_8, f32, fp8, bf8), G_8BIT(64, G64_8, f32, bf8, fp8), G_8BIT(64, G64_8, f32, bf8, bf8)},
   {G_8BIT(64, G64_8, f16, fp8, fp8), G_8BIT(64, G64_8, f16, fp8, bf8), G_8BIT(64, G64_8, f16, bf8, fp8), G_8BIT(64, G64_8, f16, bf8, bf8)}},
  {{G_8BIT(128, G128_8, f32, fp8, fp8), G_8BIT(128, G128_8, f32, fp8, bf8), G_8BIT(128, G128_8, f32, bf8, fp8), G_8BIT(128, G128_8, f32, bf8, bf8)},
   {G_8BIT(128, G128_8, f16, fp8, fp8), G_8BIT(128, G128_8, f16, fp8, bf8), G_8BIT(128, G128_8, f16, bf8, fp8), G_8BIT(128, G128_8, f16, bf8, bf8)}},
};

// Passes of four cycles on RDNA3, RDNA4 and gfx1250: AMD's calculator; gfx1250's are llvm-mca 22's cycles on its
// matrix unit (of 16x16x4 f32, which it has no model for, one issue).
constexpr Row rows[] = {
  row("V_WMMA_F32_16X16X16_F16 gfx11",  rdna3_f32_f16,  8, 0, 0), row("V_WMMA_F32_16X16X16_F16",   rdna4_f32_f16,  0, 4, 0),
  row("V_WMMA_F32_16X16X16_BF16 gfx11", rdna3_f32_bf16, 8, 0, 0), row("V_WMMA_F32_16X16X16_BF16",  rdna4_f32_bf16, 0, 4, 0),
  row("V_WMMA_F16_16X16X16_F16 gfx11",  rdna3_f16,      8, 0, 0), row("V_WMMA_F16_16X16X16_F16",   rdna4_f16,      0, 4, 0),
  row("V_WMMA_BF16_16X16X16_BF16 gfx11", rdna3_bf16,    8, 0, 0), row("V_WMMA_BF16_16X16X16_BF16", rdna4_bf16,     0, 4, 0),
  row("V_WMMA_I32_16X16X16_IU8 gfx11",  rdna3_iu8,      8, 0, 0), row("V_WMMA_I32_16X16X16_IU8",   rdna4_iu8,      0, 2, 0),
  row("V_WMMA_I32_16X16X16_IU4 gfx11",  rdna3_iu4,      4, 0, 0), row("V_WMMA_I32_16X16X16_IU4",   rdna4_iu4,      0, 2, 0),
  row("V_WMMA_I32_16X16X32_IU4",        rdna4_iu4_k32,  0, 2, 0),
  row("V_WMMA_F32_16X16X16_FP8_FP8",    rdna4_fp8_fp8,  0, 2, 0), row("V_WMMA_F32_16X16X16_FP8_BF8", rdna4_fp8_bf8, 0, 2, 0),
  row("V_WMMA_F32_16X16X16_BF8_FP8",    rdna4_bf8_fp8,  0, 2, 0), row("V_WMMA_F32_16X16X16_BF8_BF8", rdna4_bf8_bf8, 0, 2, 0),

  row("V_SWMMAC_F32_16X16X32_F16",      sparse_f32_f16, 0, 4, 0), row("V_SWMMAC_F32_16X16X32_BF16",  sparse_f32_bf16, 0, 4, 0),
  row("V_SWMMAC_F16_16X16X32_F16",      sparse_f16,     0, 4, 0), row("V_SWMMAC_BF16_16X16X32_BF16", sparse_bf16,     0, 4, 0),
  row("V_SWMMAC_I32_16X16X32_IU8",      sparse_iu8,     0, 2, 0), row("V_SWMMAC_I32_16X16X32_IU4",   sparse_iu4,      0, 2, 0),
  row("V_SWMMAC_I32_16X16X64_IU4",      sparse_iu4_k64, 0, 2, 0),
  row("V_SWMMAC_F32_16X16X32_FP8_FP8",  sparse_fp8_fp8, 0, 2, 0), row("V_SWMMAC_F32_16X16X32_FP8_BF8", sparse_fp8_bf8, 0, 2, 0),
  row("V_SWMMAC_F32_16X16X32_BF8_FP8",  sparse_bf8_fp8, 0, 2, 0), row("V_SWMMAC_F32_16X16X32_BF8_BF8", sparse_bf8_bf8, 0, 2, 0),

  row("V_SWMMAC_F32_16X16X64_F16",      gs_f32_f16,     0, 0, 2), row("V_SWMMAC_F32_16X16X64_BF16",  gs_f32_bf16,     0, 0, 2),
  row("V_SWMMAC_F16_16X16X64_F16",      gs_f16,         0, 0, 2), row("V_SWMMAC_BF16_16X16X64_BF16", gs_bf16,         0, 0, 2),
  row("V_SWMMAC_I32_16X16X128_IU8",     gs_iu8,         0, 0, 2),
  row("V_SWMMAC_F32_16X16X128_FP8_FP8", gs_8bit[0][0],  0, 0, 2), row("V_SWMMAC_F32_16X16X128_FP8_BF8", gs_8bit[0][1], 0, 0, 2),
  row("V_SWMMAC_F32_16X16X128_BF8_FP8", gs_8bit[0][2],  0, 0, 2), row("V_SWMMAC_F32_16X16X128_BF8_BF8", gs_8bit[0][3], 0, 0, 2),
  row("V_SWMMAC_F16_16X16X128_FP8_FP8", gs_8bit[1][0],  0, 0, 2), row("V_SWMMAC_F16_16X16X128_FP8_BF8", gs_8bit[1][1], 0, 0, 2),
  row("V_SWMMAC_F16_16X16X128_BF8_FP8", gs_8bit[1][2],  0, 0, 2), row("V_SWMMAC_F16_16X16X128_BF8_BF8", gs_8bit[1][3], 0, 0, 2),

  row("V_WMMA_F32_16X16X4_F32",         g_f32,      0, 0, 0), row("V_WMMA_F32_16X16X32_F16",      g_f32_f16,  0, 0, 0),
  row("V_WMMA_F32_16X16X32_BF16",       g_f32_bf16, 0, 0, 2), row("V_WMMA_F16_16X16X32_F16",      g_f16,      0, 0, 0),
  row("V_WMMA_BF16_16X16X32_BF16",      g_bf16,     0, 0, 0), row("V_WMMA_BF16F32_16X16X32_BF16", g_bf16f32,  0, 0, 0),
  row("V_WMMA_I32_16X16X64_IU8",        g_iu8,      0, 0, 0),
  row("V_WMMA_F32_16X16X64_FP8_FP8", g_8bit[0][0][0], 0, 0, 2), row("V_WMMA_F32_16X16X64_FP8_BF8", g_8bit[0][0][1], 0, 0, 2),
  row("V_WMMA_F32_16X16X64_BF8_FP8", g_8bit[0][0][2], 0, 0, 2), row("V_WMMA_F32_16X16X64_BF8_BF8", g_8bit[0][0][3], 0, 0, 2),
  row("V_WMMA_F16_16X16X64_FP8_FP8", g_8bit[0][1][0], 0, 0, 2), row("V_WMMA_F16_16X16X64_FP8_BF8", g_8bit[0][1][1], 0, 0, 2),
  row("V_WMMA_F16_16X16X64_BF8_FP8", g_8bit[0][1][2], 0, 0, 2), row("V_WMMA_F16_16X16X64_BF8_BF8", g_8bit[0][1][3], 0, 0, 2),
  row("V_WMMA_F32_16X16X128_FP8_FP8", g_8bit[1][0][0], 0, 0, 2), row("V_WMMA_F32_16X16X128_FP8_BF8", g_8bit[1][0][1], 0, 0, 2),
  row("V_WMMA_F32_16X16X128_BF8_FP8", g_8bit[1][0][2], 0, 0, 2), row("V_WMMA_F32_16X16X128_BF8_BF8", g_8bit[1][0][3], 0, 0, 2),
  row("V_WMMA_F16_16X16X128_FP8_FP8", g_8bit[1][1][0], 0, 0, 2), row("V_WMMA_F16_16X16X128_FP8_BF8", g_8bit[1][1][1], 0, 0, 2),
  row("V_WMMA_F16_16X16X128_BF8_FP8", g_8bit[1][1][2], 0, 0, 2), row("V_WMMA_F16_16X16X128_BF8_BF8", g_8bit[1][1][3], 0, 0, 2),
  row("V_WMMA_F32_16X16X128_F8F6F4",        g_f8f6f4, 0, 0, 2), row("V_WMMA_F32_32X16X128_F4",        g_f4, 0, 0, 2),
  row("V_WMMA_SCALE_F32_16X16X128_F8F6F4",  g_f8f6f4, 0, 0, 2), row("V_WMMA_SCALE_F32_32X16X128_F4",  g_f4, 0, 0, 2),
  row("V_WMMA_SCALE16_F32_16X16X128_F8F6F4", g_f8f6f4, 0, 0, 2), row("V_WMMA_SCALE16_F32_32X16X128_F4", g_f4, 0, 0, 2),
};
// clang-format on

}  // namespace

std::span<const Row> wmma_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
