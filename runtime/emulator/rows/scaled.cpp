// Conversions with a scale between f32, f16, bf16 and the small floats: CDNA4's V_CVT_SCALEF32_* and gfx1250's wider
// ones. A row says what comes from where; one function goes over lanes and elements.
// CDNA4 ISA, V_CVT_SCALEF32_*: the scale is 2 to the exponent of an f32 (its other bits do not count); small floats are
// multiplied by it when they are unpacked, values divided by it when they are packed; one rounding.
#include "machine/operands.h"
#include "machine/row.h"
#include "machine/small_encode.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

enum class Num : u8 { f32, f16, bf16, fp8, bf8, fp6, bf6, fp4 };
constexpr SmallFormat format(Num n) {
  switch (n) {
    case Num::fp8: return fp8_ocp;
    case Num::bf8: return bf8_ocp;
    case Num::fp6: return fp6_ocp;
    case Num::bf6: return bf6_ocp;
    default: return fp4_ocp;
  }
}
constexpr u32 bits(Num n) { return n == Num::f32 ? 32 : n == Num::f16 || n == Num::bf16 ? 16 : format(n).bits(); }

// Where a part of a register is chosen by OP_SEL.
enum class Part : u8 {
  all,
  src_half,    // OP_SEL[0]: a half of the source
  src_byte,    // OP_SEL[1:0]: a byte of it
  dst_half,    // OP_SEL[3]: a half of the destination, the other is kept
  dst_byte,    // OP_SEL[3:2]
  byte_to_half,  // both: source byte by OP_SEL[1:0], destination half by OP_SEL[3]
  half_to_byte,  // source half by OP_SEL[0], destination byte by OP_SEL[3:2]
};
struct Conversion {
  Num from, to;
  u8 count;
  Part part = Part::all;
  bool random = false;   // stochastic, the seed is the source before the scale
  u8 sources = 1;        // 2: elements alternate between the first two sources
};

u32 dwords_for(u32 count, Num n) { return (count * bits(n) + 31) / 32; }

void prepare(const Isa&, u32, Inst& i) {
  const Conversion& c = *static_cast<const Conversion*>(i.row->shape);
  i.wide[0] = u8(dwords_for(c.count, c.to));
  for (u32 k = 0; k < c.sources; k++) i.wide[1 + k] = u8(dwords_for(c.count / c.sources, c.from));
}

u32 read_dword(Wave& w, const Src& s, u32 dword, u32 lane) {
  if (s.kind == Kind::vgpr) return w.vgpr(s.reg + dword)[lane];
  if (s.kind == Kind::constant) return s.lanes[0];
  return s.kind == Kind::sgpr ? w.s[s.reg + dword] : u32(special_value(w, s.reg));
}
u32 read_undefined(const Wave& w, const Src& s, u32 dword, u32 lane) {
  return s.kind == Kind::vgpr ? undef_bits(w, s.reg + dword, lane) : s.kind == Kind::sgpr ? w.s_und[s.reg + dword] : 0;
}
// Bits [at, at + width) of a group of registers.
template <class F> u32 field(F dword, u32 at, u32 width) {
  u64 x = dword(at / 32);
  if (at % 32 + width > 32) x |= u64(dword(at / 32 + 1)) << 32;
  return u32(x >> (at % 32)) & (width == 32 ? ~0u : (1u << width) - 1);
}

f64 value_of(Num n, u32 code) {
  switch (n) {
    case Num::f32: return bits_to<f32>(code);
    case Num::f16: return to_f32(f16{u16(code)});
    case Num::bf16: return to_f32(bf16{u16(code)});
    case Num::fp8: return decode_small<fp8_ocp>(code);
    case Num::bf8: return decode_small<bf8_ocp>(code);
    case Num::fp6: return decode_small<fp6_ocp>(code);
    case Num::bf6: return decode_small<bf6_ocp>(code);
    case Num::fp4: return decode_small<fp4_ocp>(code);
  }
  return 0;
}
// Unpacked numbers have few bits: only denormal results and bf16 round, to nearest even.
constexpr SmallFormat f16_format{5, 10, 15, SmallSpecial::ieee}, bf16_format{8, 7, 127, SmallSpecial::ieee};
u32 code_of(Num n, f64 x, const SmallRounding& how) {
  switch (n) {
    case Num::f32: return bits_to<u32>(f32(x));
    case Num::f16: {
      if (x != x) return u32(0x7e00 | (bits_to<u64>(x) >> 63) << 15);
      if (x - x != 0) return to_f16(x).bits;  // FP16_OVFL keeps true infinities
      return to_small(f16_format, x, how);
    }
    case Num::bf16: return x != x ? u32(0x7fc0 | (bits_to<u64>(x) >> 63) << 15) : to_small(bf16_format, x, {.stochastic = how.stochastic, .random = how.random, .source_mantissa = how.source_mantissa});
    default: return to_small(format(n), x, how);
  }
}
constexpr u8 mantissa(Num n) { return n == Num::f32 ? 23 : n == Num::f16 ? 10 : 7; }

template <bool Strict>
const Inst* run(Wave& w, const Inst* i) {
  const Conversion& c = *static_cast<const Conversion*>(i->row->shape);
  const u64 exec = w.exec();
  const u32 op_sel = i->mods >> 6 & 15, neg = i->mods & 7, abs = i->mods >> 3 & 7;
  const bool saturate = w.mode >> 23 & 1;
  u32 src_at = 0, dst_at = 0;
  switch (c.part) {
    case Part::all: break;
    case Part::src_half: src_at = 16 * (op_sel & 1); break;
    case Part::src_byte: src_at = 8 * (op_sel & 3); break;
    case Part::dst_half: dst_at = 16 * (op_sel >> 3); break;
    case Part::dst_byte: dst_at = 8 * (op_sel >> 2); break;
    case Part::byte_to_half: src_at = 8 * (op_sel & 3), dst_at = 16 * (op_sel >> 3); break;
    case Part::half_to_byte: src_at = 16 * (op_sel & 1), dst_at = 8 * (op_sel >> 2); break;
  }
  const u32 seed_at = c.sources, scale_at = c.sources + c.random;
  if constexpr (Strict) {
    if (!w.events.empty()) check_arrived(w, i->dst.reg, i->wide[0], "overwritten");
    for (u32 k = 0; k < i->nsrc; k++) {
      const u32 n = std::max<u32>(1, i->wide[k + 1]);
      if (i->src[k].kind == Kind::vgpr) check_arrived(w, i->src[k].reg, n, "read");
      if (i->src[k].kind == Kind::sgpr) check_arrived_sgpr(w, i->src[k].reg, n, "read");
    }
  }
  for (u32 lane = 0; lane < w.lanes; lane++) {
    if (!(exec >> lane & 1)) continue;
    u32 out[32], undefined[32];
    for (u32 d = 0; d < i->wide[0]; d++) {
      out[d] = w.vgpr(i->dst.reg + d)[lane];
      if constexpr (Strict) undefined[d] = undef_bits(w, i->dst.reg + d, lane);
    }
    // Exponent 255 is NaN, as in E8M0; 0 is 2^-127.
    const u32 exponent = read_dword(w, i->src[scale_at], 0, lane) >> 23 & 255;
    f64 scale = exponent == 255 ? __builtin_nan("") : bits_to<f64>(u64(1023 - 127 + exponent) << 52);
    if (bits(c.from) >= 16) scale = 1 / scale;
    bool control_undefined = false;
    if constexpr (Strict) control_undefined = read_undefined(w, i->src[scale_at], 0, lane) & 0x7f800000u;
    SmallRounding how{.saturate = saturate};
    if (c.random) {
      how.stochastic = true, how.random = read_dword(w, i->src[seed_at], 0, lane), how.source_mantissa = mantissa(c.from);
      if constexpr (Strict) control_undefined |= read_undefined(w, i->src[seed_at], 0, lane) != 0;
    }
    for (u32 e = 0; e < c.count; e++) {
      const u32 k = c.sources == 2 ? e % 2 : 0, at = src_at + e / c.sources * bits(c.from);
      const Src& s = i->src[k];
      u32 code = field([&](u32 d) { return read_dword(w, s, d, lane); }, at, bits(c.from));
      const u32 top = 1u << (bits(c.from) - 1);
      if (bits(c.from) >= 16) {  // small floats have no modifiers
        if (abs >> k & 1) code &= ~top;
        if (neg >> k & 1) code ^= top;
      }
      const f64 x = value_of(c.from, code);
      const u32 result = code_of(c.to, scale != scale ? std::copysign(scale, x) : x * scale, how);
      const u32 to = dst_at + e * bits(c.to), width = bits(c.to);
      const u64 mask = (width == 32 ? 0xffffffffull : (1ull << width) - 1) << (to % 32), put = u64(result) << (to % 32) & mask;
      out[to / 32] = (out[to / 32] & ~u32(mask)) | u32(put);
      if (mask >> 32) out[to / 32 + 1] = (out[to / 32 + 1] & ~u32(mask >> 32)) | u32(put >> 32);
      if constexpr (Strict) {
        const bool bad = control_undefined || field([&](u32 d) { return read_undefined(w, s, d, lane); }, at, bits(c.from));
        undefined[to / 32] = (undefined[to / 32] & ~u32(mask)) | (bad ? u32(mask) : 0);
        if (mask >> 32) undefined[to / 32 + 1] = (undefined[to / 32 + 1] & ~u32(mask >> 32)) | (bad ? u32(mask >> 32) : 0);
      }
      if (c.random) how.random = next_random(how.random);
    }
    for (u32 d = 0; d < i->wide[0]; d++) {
      w.vgpr(i->dst.reg + d)[lane] = out[d];
      if constexpr (Strict)
        if (undefined[d] || w.und[i->dst.reg + d] >> lane & 1) set_undef_bits(w, i->dst.reg + d, lane, undefined[d]);
    }
  }
  return i + 1;
}

constexpr Row row(std::string_view name, const Conversion& c) {
  Row r;
  r.name = name;
  r.family = Family::wide;
  r.run[0] = run<false>, r.run[1] = run<true>;
  r.sig.n = u8(c.sources + c.random + 1);
  r.sig.dst = Ty::b32;
  // f32 operands take f32's inline constants; so does the scale.
  const Ty from = c.from == Num::f32 ? Ty::f32 : c.from == Num::f16 ? Ty::f16 : c.from == Num::bf16 ? Ty::bf16 : Ty::b32;
  for (u32 k = 0; k < r.sig.n; k++) r.sig.src[k] = k < c.sources ? from : c.random && k == c.sources ? Ty::b32 : Ty::f32;
  r.shape = &c;
  r.prepare = prepare;
  return r;
}
template <Conversion C> constexpr Conversion kept = C;
#define CVT(NAME, ...) row("V_CVT_" NAME, kept<Conversion{__VA_ARGS__}>)

using enum Num;
using enum Part;
// clang-format off
// From a float to FP8 or BF8 and back, two at a time or one.
#define EIGHT(NAME, N) \
  CVT("SCALEF32_PK_" NAME "_F32", f32, N, 2, dst_half, false, 2), CVT("SCALEF32_PK_" NAME "_F16", f16, N, 2, dst_half), CVT("SCALEF32_PK_" NAME "_BF16", bf16, N, 2, dst_half), \
  CVT("SCALEF32_SR_" NAME "_F32", f32, N, 1, dst_byte, true), CVT("SCALEF32_SR_" NAME "_F16", f16, N, 1, half_to_byte, true), CVT("SCALEF32_SR_" NAME "_BF16", bf16, N, 1, half_to_byte, true), \
  CVT("SCALEF32_PK_F32_" NAME, N, f32, 2, src_half), CVT("SCALEF32_PK_F16_" NAME, N, f16, 2, src_half), CVT("SCALEF32_PK_BF16_" NAME, N, bf16, 2, src_half), \
  CVT("SCALEF32_F32_" NAME, N, f32, 1, src_byte), CVT("SCALEF32_F16_" NAME, N, f16, 1, byte_to_half)
#define SIX(NAME, N) \
  CVT("SCALEF32_2XPK16_" NAME "_F32", f32, N, 32, all, false, 2), CVT("SCALEF32_SR_PK32_" NAME "_F32", f32, N, 32, all, true), \
  CVT("SCALEF32_PK32_" NAME "_F16", f16, N, 32), CVT("SCALEF32_PK32_" NAME "_BF16", bf16, N, 32), \
  CVT("SCALEF32_SR_PK32_" NAME "_F16", f16, N, 32, all, true), CVT("SCALEF32_SR_PK32_" NAME "_BF16", bf16, N, 32, all, true), \
  CVT("SCALEF32_PK32_F32_" NAME, N, f32, 32), CVT("SCALEF32_PK32_F16_" NAME, N, f16, 32), CVT("SCALEF32_PK32_BF16_" NAME, N, bf16, 32)
// gfx1250: 8 or 16 elements at a time.
#define MANY(NAME, N, COUNT, PK) \
  CVT("SCALEF32_" PK NAME "_F32", f32, N, COUNT), CVT("SCALEF32_" PK NAME "_F16", f16, N, COUNT), CVT("SCALEF32_" PK NAME "_BF16", bf16, N, COUNT), \
  CVT("SCALEF32_SR_" PK NAME "_F32", f32, N, COUNT, all, true), CVT("SCALEF32_SR_" PK NAME "_F16", f16, N, COUNT, all, true), CVT("SCALEF32_SR_" PK NAME "_BF16", bf16, N, COUNT, all, true)
constexpr Row rows[] = {
  EIGHT("FP8", fp8), EIGHT("BF8", bf8),
  SIX("FP6", fp6), SIX("BF6", bf6),
  CVT("SCALEF32_PK_FP4_F32", f32, fp4, 2, dst_byte, false, 2), CVT("SCALEF32_PK_FP4_F16", f16, fp4, 2, dst_byte), CVT("SCALEF32_PK_FP4_BF16", bf16, fp4, 2, dst_byte),
  CVT("SCALEF32_SR_PK_FP4_F32", f32, fp4, 2, dst_byte, true), CVT("SCALEF32_SR_PK_FP4_F16", f16, fp4, 2, dst_byte, true), CVT("SCALEF32_SR_PK_FP4_BF16", bf16, fp4, 2, dst_byte, true),
  CVT("SCALEF32_PK_F32_FP4", fp4, f32, 2, src_byte), CVT("SCALEF32_PK_F16_FP4", fp4, f16, 2, src_byte), CVT("SCALEF32_PK_BF16_FP4", fp4, bf16, 2, src_byte),
  MANY("FP8", fp8, 8, "PK8_"), MANY("BF8", bf8, 8, "PK8_"), MANY("FP4", fp4, 8, "PK8_"), MANY("FP6", fp6, 16, "PK16_"), MANY("BF6", bf6, 16, "PK16_"),
};
// clang-format on

}  // namespace

std::span<const Row> scaled_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
