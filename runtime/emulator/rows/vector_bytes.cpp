// Rarer vector instructions: sums of differences of bytes, cube maps, packed shifts, gfx950's and gfx1250's
// three-operand minima and maxima. Meaning as in AMD's ISA documents (RDNA3, CDNA4), VOP3 sections.
#include "machine/operands.h"
#include "machine/valu.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

u32 difference(u32 a, u32 b) { return a > b ? a - b : b - a; }
u32 sad(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 32; k += 8) c += difference(a >> k & 255, b >> k & 255);
  return c;
}
// Bytes of the reference (S1) that are 0 do not count.
u32 masked_sad(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 32; k += 8)
    if (b >> k & 255) c += difference(a >> k & 255, b >> k & 255);
  return c;
}
// Four sums, each over the four bytes of S0 from one byte further on.
template <u32 (*Sum)(u32, u32, u32)>
u64 four_sums(u64 a, u32 b, u64 c) {
  u64 r = 0;
  for (int k = 0; k < 4; k++) r |= u64(u16(Sum(u32(a >> (8 * k)), b, u32(c >> (16 * k) & 0xffff)))) << (16 * k);
  return r;
}

// V_MQSAD_U32_U8: the same sums in 32 bits, four registers of them.
void prepare_mqsad(const Isa&, u32, Inst& i) {
  i.wide[0] = i.wide[3] = 4, i.wide[1] = 2;
  i.clamp = i.mods >> 12 & 1;
}
template <bool Strict>
const Inst* mqsad_u32(Wave& w, const Inst* i) {
  const u64 exec = w.exec();
  const auto dword = [&](const Src& s, u32 k, u32 l) -> u32 {
    if (s.kind == Kind::vgpr) return w.vgpr(s.reg + k)[l];
    return s.kind == Kind::sgpr ? w.s[s.reg + k] : s.kind == Kind::constant ? (k ? u32(i32(s.lanes[0]) >> 31) : s.lanes[0]) : u32(special_value(w, s.reg));
  };
  const auto undefined = [&](const Src& s, u32 k, u32 l) { return s.kind == Kind::vgpr ? undef_bits(w, s.reg + k, l) : s.kind == Kind::sgpr ? w.s_und[s.reg + k] : 0; };
  if constexpr (Strict) {
    check_arrived(w, i->dst.reg, 4, "overwritten");
    for (u32 k = 0; k < 3; k++) {
      if (i->src[k].kind == Kind::vgpr) check_arrived(w, i->src[k].reg, std::max<u32>(1, i->wide[k + 1]), "read");
      if (i->src[k].kind == Kind::sgpr) check_arrived_sgpr(w, i->src[k].reg, std::max<u32>(1, i->wide[k + 1]), "read");
    }
  }
  for (u64 m = exec; m; m &= m - 1) {
    const u32 l = u32(__builtin_ctzll(m));
    const u64 bytes = dword(i->src[0], 0, l) | u64(dword(i->src[0], 1, l)) << 32;
    const u32 reference = dword(i->src[1], 0, l);
    u32 out[4], bad[4] = {};
    for (u32 k = 0; k < 4; k++) {
      const u32 before = dword(i->src[2], k, l);
      out[k] = masked_sad(u32(bytes >> (8 * k)), reference, before);
      if (i->clamp && out[k] < before) out[k] = ~0u;
      if constexpr (Strict) bad[k] = undefined(i->src[0], 0, l) | undefined(i->src[0], 1, l) | undefined(i->src[1], 0, l) | undefined(i->src[2], k, l) ? ~0u : 0;
    }
    for (u32 k = 0; k < 4; k++) {
      w.vgpr(i->dst.reg + k)[l] = out[k];
      if constexpr (Strict) set_undef_bits(w, i->dst.reg + k, l, bad[k]);
    }
  }
  return i + 1;
}
constexpr Row mqsad_row() {
  Row r;
  r.name = "V_MQSAD_U32_U8";
  r.family = Family::wide;
  r.run[0] = mqsad_u32<false>, r.run[1] = mqsad_u32<true>;
  r.sig = {Ty::b32, false, 3, {Ty::b32, Ty::b32, Ty::b32}};
  r.prepare = prepare_mqsad;
  return r;
}
u16 saturate_nibbles(u32 x, i32 lo, i32 hi, bool is_signed) {
  u32 r = 0;
  for (u32 k = 0; k < 4; k++) {
    const i32 b = is_signed ? i32(i8(x >> (8 * k))) : i32(x >> (8 * k) & 255);
    r |= u32((b < lo ? lo : b > hi ? hi : b) & 15) << (4 * k);
  }
  return u16(r);
}

// Cube faces: the axis with the largest magnitude, z before y before x.
int major(f32 x, f32 y, f32 z) {
  const f32 ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  return az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
}
f32 cube_id(f32 x, f32 y, f32 z) {
  const int m = major(x, y, z);
  return f32(2 * m + ((m == 2 ? z : m == 1 ? y : x) < 0));
}
f32 cube_sc(f32 x, f32 y, f32 z) {
  const int m = major(x, y, z);
  return m == 2 ? (z < 0 ? -x : x) : m == 1 ? x : x < 0 ? z : -z;
}
f32 cube_tc(f32 x, f32 y, f32 z) { return major(x, y, z) == 1 ? (y < 0 ? -z : z) : -y; }
f32 cube_ma(f32 x, f32 y, f32 z) {
  const int m = major(x, y, z);
  return 2 * (m == 2 ? z : m == 1 ? y : x);
}

i32 clip(i32 x, i32 lo, i32 hi) { return x < lo ? lo : x > hi ? hi : x; }
u16 norm_i16(f16 h) { const f32 x = to_f32(h); return x != x ? 0 : u16(i32(__builtin_rintf(x < -1 ? -32767.0f : x > 1 ? 32767.0f : x * 32767.0f))); }
u16 norm_u16(f16 h) { const f32 x = to_f32(h); return x != x ? 0 : u16(u32(__builtin_rintf(x < 0 ? 0.0f : x > 1 ? 65535.0f : x * 65535.0f))); }
template <class T> T min2(T a, T b) { return a < b ? a : b; }
template <class T> T max2(T a, T b) { return a > b ? a : b; }
f16 minimum(f16 a, f16 b) { return to_f16(isa_minimum(to_f32(a), to_f32(b))); }
f16 maximum(f16 a, f16 b) { return to_f16(isa_maximum(to_f32(a), to_f32(b))); }
f16 min_num(f16 a, f16 b) { return to_f16(isa_min(to_f32(a), to_f32(b))); }
f16 max_num(f16 a, f16 b) { return to_f16(isa_max(to_f32(a), to_f32(b))); }

// clang-format off
#define PK2(NAME, T, EXPR) packed(NAME, [](T a, T b) -> T { return EXPR; })
#define PK3(NAME, T, EXPR) packed(NAME, [](T a, T b, T c) -> T { return EXPR; })
#define THREE(NAME, T, EXPR) valu(NAME, [](T a, T b, T c) -> T { return EXPR; })
constexpr Row rows[] = {
  valu("V_QSAD_PK_U16_U8",  [](u64 a, u32 b, u64 c) -> u64 { return four_sums<sad>(a, b, c); }),
  valu("V_MQSAD_PK_U16_U8", [](u64 a, u32 b, u64 c) -> u64 { return four_sums<masked_sad>(a, b, c); }),
  mqsad_row(),
  // gfx1250: four bytes to four nibbles.
  valu("V_SAT_PK4_I4_I8", [](u32 a) -> u16 { return saturate_nibbles(a, -8, 7, true); }), valu("V_SAT_PK4_U4_U8", [](u32 a) -> u16 { return saturate_nibbles(a, 0, 15, false); }),
  THREE("V_CUBEID_F32", f32, cube_id(a, b, c)), THREE("V_CUBESC_F32", f32, cube_sc(a, b, c)), THREE("V_CUBETC_F32", f32, cube_tc(a, b, c)), THREE("V_CUBEMA_F32", f32, cube_ma(a, b, c)),
  valu("V_ASHR_PK_I8_I32", [](i32 a, i32 b, u32 c) -> u16 { return u16((clip(a >> (c & 31), -128, 127) & 255) | (clip(b >> (c & 31), -128, 127) & 255) << 8); }),
  valu("V_ASHR_PK_U8_I32", [](i32 a, i32 b, u32 c) -> u16 { return u16(clip(a >> (c & 31), 0, 255) | clip(b >> (c & 31), 0, 255) << 8); }),
  // CDNA4 ISA: a step of a shift register with the polynomial 197
  valu("V_CVT_NORM_I16_F16", [](f16 a) -> u16 { return norm_i16(a); }), valu("V_CVT_NORM_U16_F16", [](f16 a) -> u16 { return norm_u16(a); }),
  valu("V_CVT_PKNORM_I16_F16", [](f16 a, f16 b) -> u32 { return norm_i16(a) | u32(norm_i16(b)) << 16; }), valu("V_CVT_PKNORM_U16_F16", [](f16 a, f16 b) -> u32 { return norm_u16(a) | u32(norm_u16(b)) << 16; }),
  valu("V_CVT_PK_NORM_I16_F16", [](f16 a, f16 b) -> u32 { return norm_i16(a) | u32(norm_i16(b)) << 16; }), valu("V_CVT_PK_NORM_U16_F16", [](f16 a, f16 b) -> u32 { return norm_u16(a) | u32(norm_u16(b)) << 16; }),
  THREE("V_MAXIMUM3_F16", f16, maximum(maximum(a, b), c)), THREE("V_MINIMUM3_F16", f16, minimum(minimum(a, b), c)),
  THREE("V_MAXIMUMMINIMUM_F32", f32, isa_minimum(isa_maximum(a, b), c)), THREE("V_MINIMUMMAXIMUM_F32", f32, isa_maximum(isa_minimum(a, b), c)),
  THREE("V_MAXIMUMMINIMUM_F16", f16, minimum(maximum(a, b), c)), THREE("V_MINIMUMMAXIMUM_F16", f16, maximum(minimum(a, b), c)),
  PK2("V_PK_MAXIMUM_F16", f16, maximum(a, b)), PK2("V_PK_MINIMUM_F16", f16, minimum(a, b)),
  PK3("V_PK_MAXIMUM3_F16", f16, maximum(maximum(a, b), c)), PK3("V_PK_MINIMUM3_F16", f16, minimum(minimum(a, b), c)),
  PK3("V_PK_MAX3_NUM_F16", f16, max_num(max_num(a, b), c)), PK3("V_PK_MIN3_NUM_F16", f16, min_num(min_num(a, b), c)),
  PK3("V_PK_MAX3_I16", i16, max2(max2(a, b), c)), PK3("V_PK_MIN3_I16", i16, min2(min2(a, b), c)), PK3("V_PK_MAX3_U16", u16, max2(max2(a, b), c)), PK3("V_PK_MIN3_U16", u16, min2(min2(a, b), c)),
  PK3("V_PK_ADD_MAX_I16", i16, max2(i16(a + b), c)), PK3("V_PK_ADD_MIN_I16", i16, min2(i16(a + b), c)), PK3("V_PK_ADD_MAX_U16", u16, max2(u16(a + b), c)), PK3("V_PK_ADD_MIN_U16", u16, min2(u16(a + b), c)),
  THREE("V_ADD_MAX_I32", i32, max2(i32(u32(a) + u32(b)), c)), THREE("V_ADD_MIN_I32", i32, min2(i32(u32(a) + u32(b)), c)), THREE("V_ADD_MAX_U32", u32, max2(a + b, c)), THREE("V_ADD_MIN_U32", u32, min2(a + b, c)),
};
// clang-format on

}  // namespace

std::span<const Row> vector_byte_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
