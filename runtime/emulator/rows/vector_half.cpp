// 16-bit instructions of the vector ALU. f16 arithmetic runs in f32: its result rounded once to f32
// and once to f16 equals the single rounding (24 >= 2*11+2); fma goes through round-to-odd.
#include "machine/valu.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

using enum Undef;

f16 fma(f16 a, f16 b, f16 c) { return to_f16(fma_odd(to_f32(a), to_f32(b), to_f32(c))); }
f16 mad(f16 a, f16 b, f16 c) { return to_f16(to_f32(to_f16(to_f32(a) * to_f32(b))) + to_f32(c)); }
bool is_nan(f16 x) { return (x.bits & 0x7fff) > 0x7c00; }
bool is_snan(f16 x) { return is_nan(x) && !(x.bits & 0x200); }
f16 quiet(f16 x) { return f16{u16(x.bits | 0x200)}; }
f16 choose(f16 a, f16 b, bool less) {
  const f32 x = to_f32(a), y = to_f32(b);
  f16 r = (less ? x < y : x > y) ? a : b;
  if (x == y) r = ((a.bits >> 15) != 0) == less ? a : b;
  if (is_nan(b)) r = a;
  if (is_nan(a)) r = b;
  if (is_nan(a) && is_nan(b)) r = quiet(a);
  if (is_snan(b)) r = quiet(b);
  if (is_snan(a)) r = quiet(a);
  return r;
}
f16 min(f16 a, f16 b) { return choose(a, b, true); }
f16 max(f16 a, f16 b) { return choose(a, b, false); }
f16 minimum(f16 a, f16 b) { return is_nan(a) ? quiet(a) : is_nan(b) ? quiet(b) : min(a, b); }
f16 maximum(f16 a, f16 b) { return is_nan(a) ? quiet(a) : is_nan(b) ? quiet(b) : max(a, b); }
f16 med3(f16 a, f16 b, f16 c) {
  if (is_nan(a) || is_nan(b) || is_nan(c)) return min(min(a, b), c);
  return to_f16(isa_med3(to_f32(a), to_f32(b), to_f32(c)));
}
f16 div_fixup(f16 q, f16 d, f16 n) {
  const u16 sign = (d.bits ^ n.bits) & 0x8000;
  const u16 ad = d.bits & 0x7fff, an = n.bits & 0x7fff;
  if (is_nan(n)) return quiet(n);
  if (is_nan(d)) return quiet(d);
  if ((ad == 0 && an == 0) || (ad == 0x7c00 && an == 0x7c00)) return f16{0xfe00};
  if (ad == 0 || an == 0x7c00) return f16{u16(sign | 0x7c00)};
  if (ad == 0x7c00 || an == 0) return f16{sign};
  return f16{u16(sign | (q.bits & 0x7fff))};
}
f16 fract(f16 x) {
  const f32 v = to_f32(x);
  const f16 r = to_f16(v - std::floor(v));
  return (r.bits & 0x7fff) <= 0x7c00 && r.bits >= 0x3c00 ? f16{0x3bff} : r;
}
template <class T> T med3i(T a, T b, T c) { const T lo = a < b ? a : b, hi = a < b ? b : a; return c < lo ? lo : c > hi ? hi : c; }
u16 sat_u(i32 x) { return u16(x < 0 ? 0 : x > 0xffff ? 0xffff : x); }
i16 sat_i(i32 x) { return i16(x < -0x8000 ? -0x8000 : x > 0x7fff ? 0x7fff : x); }

// clang-format off
#define H2(NAME, EXPR) arith(NAME, [](f16 a, f16 b) -> f16 { const f32 x = to_f32(a), y = to_f32(b); return to_f16(EXPR); })
#define H1(NAME, EXPR) arith(NAME, [](f16 a) -> f16 { const f32 x = to_f32(a); return to_f16(EXPR); })
#define TRANS(NAME, EXPR) H1("V_" NAME, EXPR), H1("V_S_" NAME, EXPR).with(RowFlag::scalar_dst)  // as in vector_float.cpp
#define S16(NAME, T, EXPR) valu(NAME, [](T a, T b) -> T { return T(EXPR); })
#define SUM16(NAME, T, EXPR) S16(NAME, T, EXPR).undefined(carry)
constexpr Row rows[] = {
  H2("V_ADD_F16", x + y), H2("V_SUB_F16", x - y), H2("V_SUBREV_F16", y - x), H2("V_MUL_F16", x * y),
  arith("V_FMA_F16",  [](f16 a, f16 b, f16 c) -> f16 { return fma(a, b, c); }).with(keep_high),
  arith("V_FMA_LEGACY_F16", [](f16 a, f16 b, f16 c) -> f16 { return fma(a, b, c); }),
  arith("V_FMAC_F16", [](f16 a, f16 b, f16 d) -> f16 { return fma(a, b, d); }).with(acc),
  arith("V_FMAAK_F16", [](f16 a, f16 b, f16 k) -> f16 { return fma(a, b, k); }).with(lit_last),
  arith("V_FMAMK_F16", [](f16 a, f16 k, f16 b) -> f16 { return fma(a, k, b); }).with(lit_mid),
  arith("V_MAD_F16",  [](f16 a, f16 b, f16 c) -> f16 { return mad(a, b, c); }).with(keep_high),
  arith("V_MAD_LEGACY_F16", [](f16 a, f16 b, f16 c) -> f16 { return mad(a, b, c); }),
  arith("V_MAC_F16",  [](f16 a, f16 b, f16 d) -> f16 { return mad(a, b, d); }).with(acc),
  arith("V_MADAK_F16", [](f16 a, f16 b, f16 k) -> f16 { return mad(a, b, k); }).with(lit_last),
  arith("V_MADMK_F16", [](f16 a, f16 k, f16 b) -> f16 { return mad(a, k, b); }).with(lit_mid),
  valu("V_MIN_F16", [](f16 a, f16 b) -> f16 { return min(a, b); }), valu("V_MAX_F16", [](f16 a, f16 b) -> f16 { return max(a, b); }),
  valu("V_MIN_NUM_F16", [](f16 a, f16 b) -> f16 { return min(a, b); }), valu("V_MAX_NUM_F16", [](f16 a, f16 b) -> f16 { return max(a, b); }),
  valu("V_MINIMUM_F16", [](f16 a, f16 b) -> f16 { return minimum(a, b); }), valu("V_MAXIMUM_F16", [](f16 a, f16 b) -> f16 { return maximum(a, b); }),
  valu("V_MIN3_F16", [](f16 a, f16 b, f16 c) -> f16 { return min(min(a, b), c); }).with(keep_high),
  valu("V_MAX3_F16", [](f16 a, f16 b, f16 c) -> f16 { return max(max(a, b), c); }).with(keep_high),
  valu("V_MED3_F16", [](f16 a, f16 b, f16 c) -> f16 { return med3(a, b, c); }).with(keep_high),
  valu("V_MAXMIN_F16", [](f16 a, f16 b, f16 c) -> f16 { return min(max(a, b), c); }),
  valu("V_MINMAX_F16", [](f16 a, f16 b, f16 c) -> f16 { return max(min(a, b), c); }),
  valu("V_MAXMIN_NUM_F16", [](f16 a, f16 b, f16 c) -> f16 { return min(max(a, b), c); }),
  valu("V_MINMAX_NUM_F16", [](f16 a, f16 b, f16 c) -> f16 { return max(min(a, b), c); }),
  valu("V_MIN3_NUM_F16", [](f16 a, f16 b, f16 c) -> f16 { return min(min(a, b), c); }),
  valu("V_MAX3_NUM_F16", [](f16 a, f16 b, f16 c) -> f16 { return max(max(a, b), c); }),
  valu("V_MED3_NUM_F16", [](f16 a, f16 b, f16 c) -> f16 { return med3(a, b, c); }),
  H1("V_TRUNC_F16", std::trunc(x)), H1("V_CEIL_F16", std::ceil(x)), H1("V_FLOOR_F16", std::floor(x)), H1("V_RNDNE_F16", __builtin_rintf(x)),
  arith("V_FRACT_F16", [](f16 a) -> f16 { return fract(a); }),
  arith("V_LDEXP_F16", [](f16 a, i16 b) -> f16 { return to_f16(std::ldexp(f64(to_f32(a)), b)); }),
  valu("V_FREXP_EXP_I16_F16", [](f16 a) -> i16 { return i16(frexp_exp(to_f32(a))); }),
  valu("V_FREXP_MANT_F16",    [](f16 a) -> f16 { return to_f16(frexp_mant(to_f32(a))); }),
  TRANS("RCP_F16", f32(1.0 / f64(x))), TRANS("SQRT_F16", __builtin_sqrtf(x)), TRANS("RSQ_F16", f32(1.0 / __builtin_sqrt(f64(x)))),
  TRANS("EXP_F16", f32(std::exp2(f64(x)))), TRANS("LOG_F16", f32(std::log2(f64(x)))),
  H1("V_SIN_F16", f32(sin_rev(x))), H1("V_COS_F16", f32(cos_rev(x))),
  valu("V_DIV_FIXUP_F16", [](f16 a, f16 b, f16 c) -> f16 { return div_fixup(a, b, c); }).with(keep_high),
  valu("V_DIV_FIXUP_LEGACY_F16", [](f16 a, f16 b, f16 c) -> f16 { return div_fixup(a, b, c); }),

  valu("V_MOV_B16", [](u16 a) -> u16 { return a; }).undefined(same, 1),
  valu("V_NOT_B16", [](u16 a) -> u16 { return u16(~a); }).undefined(bit_xor),
  valu("V_CNDMASK_B16", [](u16 a, u16 b, bit m) -> u16 { return m ? b : a; }).undefined(select),
  SUM16("V_ADD_U16", u16, a + b), SUM16("V_SUB_U16", u16, a - b), SUM16("V_SUBREV_U16", u16, b - a), SUM16("V_MUL_LO_U16", u16, u32(a) * b),
  SUM16("V_ADD_NC_U16", u16, a + b), SUM16("V_SUB_NC_U16", u16, a - b), SUM16("V_ADD_I16", i16, a + b), SUM16("V_SUB_I16", i16, a - b),
  SUM16("V_ADD_NC_I16", i16, a + b), SUM16("V_SUB_NC_I16", i16, a - b),
  S16("V_ADD_U16 clamp", u16, sat_u(a + b)), S16("V_SUB_U16 clamp", u16, sat_u(a - b)),
  S16("V_SUBREV_U16 clamp", u16, sat_u(b - a)),
  S16("V_ADD_NC_U16 clamp", u16, sat_u(a + b)), S16("V_SUB_NC_U16 clamp", u16, sat_u(a - b)),
  S16("V_ADD_I16 clamp", i16, sat_i(a + b)), S16("V_SUB_I16 clamp", i16, sat_i(a - b)),
  S16("V_ADD_NC_I16 clamp", i16, sat_i(a + b)), S16("V_SUB_NC_I16 clamp", i16, sat_i(a - b)),
  S16("V_MIN_U16", u16, a < b ? a : b), S16("V_MAX_U16", u16, a > b ? a : b), S16("V_MIN_I16", i16, a < b ? a : b), S16("V_MAX_I16", i16, a > b ? a : b),
  valu("V_AND_B16", [](u16 a, u16 b) -> u16 { return a & b; }).undefined(bit_and),
  valu("V_OR_B16",  [](u16 a, u16 b) -> u16 { return a | b; }).undefined(bit_or),
  valu("V_XOR_B16", [](u16 a, u16 b) -> u16 { return a ^ b; }).undefined(bit_xor),
  valu("V_LSHLREV_B16", [](u16 a, u16 b) -> u16 { return u16(b << (a & 15)); }).undefined(same, 2),
  valu("V_LSHRREV_B16", [](u16 a, u16 b) -> u16 { return u16(b >> (a & 15)); }).undefined(same, 2),
  valu("V_ASHRREV_I16", [](u16 a, i16 b) -> i16 { return i16(b >> (a & 15)); }).undefined(same, 2),
  valu("V_MAD_U16", [](u16 a, u16 b, u16 c) -> u16 { return u16(u32(a) * b + c); }).undefined(carry).with(keep_high),
  valu("V_MAD_I16", [](i16 a, i16 b, i16 c) -> i16 { return i16(i32(a) * b + c); }).undefined(carry).with(keep_high),
  valu("V_MAD_LEGACY_U16", [](u16 a, u16 b, u16 c) -> u16 { return u16(u32(a) * b + c); }).undefined(carry),
  valu("V_MAD_LEGACY_I16", [](i16 a, i16 b, i16 c) -> i16 { return i16(i32(a) * b + c); }).undefined(carry),
  valu("V_MIN3_I16", [](i16 a, i16 b, i16 c) -> i16 { const i16 m = a < b ? a : b; return m < c ? m : c; }).with(keep_high),
  valu("V_MAX3_I16", [](i16 a, i16 b, i16 c) -> i16 { const i16 m = a > b ? a : b; return m > c ? m : c; }).with(keep_high),
  valu("V_MIN3_U16", [](u16 a, u16 b, u16 c) -> u16 { const u16 m = a < b ? a : b; return m < c ? m : c; }).with(keep_high),
  valu("V_MAX3_U16", [](u16 a, u16 b, u16 c) -> u16 { const u16 m = a > b ? a : b; return m > c ? m : c; }).with(keep_high),
  valu("V_MED3_I16", [](i16 a, i16 b, i16 c) -> i16 { return med3i(a, b, c); }).with(keep_high),
  valu("V_MED3_U16", [](u16 a, u16 b, u16 c) -> u16 { return med3i(a, b, c); }).with(keep_high),
  valu("V_PACK_B32_F16", [](u16 a, u16 b) -> u32 { return a | u32(b) << 16; }).undefined(same, 3),
};
// clang-format on

}  // namespace

std::span<const Row> vector_half_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
