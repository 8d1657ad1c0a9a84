// f32 arithmetic of the vector ALU. Transcendentals are computed in f64 and rounded once: at most
// 1 ulp, as the ISA documents promise, and flush denormals as the hardware does.
#include "machine/valu.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

using enum Undef;

f32 fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
// v_mad_f32 and v_mac_f32: two roundings, denormals always flushed.
f32 mad(f32 a, f32 b, f32 c) { return flushed(flushed(flushed(a) * flushed(b)) + flushed(c)); }
f32 mul_legacy(f32 a, f32 b) { return a == 0 || b == 0 ? 0.0f : a * b; }
bool denormal(f32 x) { return x != 0 && !(bits_to<u32>(x) & 0x7f800000u); }

// RDNA3 ISA, V_DIV_SCALE_F32: S0 is whichever of S1 (denominator) and S2 (numerator) is to be scaled.
// "1/S1 is denormal" is read at f32's own range, and where the quotient is denormal too the denominator is
// scaled down: the document's +64 there would overflow, and LLVM's expansion must divide correctly.
Out2<f32> div_scale(f32 s0, f32 s1, f32 s2) {
  if (s2 == 0 || s1 == 0) return {bits_to<f32>(0x7fc00000u), false};
  const bool rcp_denormal = std::fabs(1.0 / f64(s1)) < 0x1p-126;
  const bool quotient_denormal = std::fabs(f64(s2) / f64(s1)) < 0x1p-126;
  if (exponent(s2) - exponent(s1) >= 96) return {s0 == s1 ? std::ldexp(s0, 64) : s0, true};
  if (denormal(s1)) return {std::ldexp(s0, 64), false};
  if (rcp_denormal && quotient_denormal) return {s0 == s1 ? std::ldexp(s0, -64) : s0, true};
  if (rcp_denormal) return {std::ldexp(s0, -64), false};
  if (quotient_denormal) return {s0 == s2 ? std::ldexp(s0, 64) : s0, true};
  if (exponent(s2) <= 23) return {std::ldexp(s0, 64), false};
  return {s0, false};
}
// The scale undoes div_scale's: by 2^64 if the quotient was scaled down, by 2^-64 if it was scaled up;
// one rounding, or denormal quotients would be wrong by an ulp.
f32 div_fmas(f32 a, f32 b, f32 c, bit scaled) {
  if (!scaled) return fma(a, b, c);
  return f32(fma_odd(a, b, c) * (exponent(c) > 127 ? 0x1p64 : 0x1p-64));
}
f32 div_fixup(f32 q, f32 d, f32 n) {
  const u32 sign = u32(negative(d) ^ negative(n)) << 31;
  const f32 ad = std::fabs(d), an = std::fabs(n);
  if (is_nan(n)) return quiet(n);
  if (is_nan(d)) return quiet(d);
  if ((ad == 0 && an == 0) || (std::isinf(ad) && std::isinf(an))) return bits_to<f32>(0xffc00000u);
  if (ad == 0 || std::isinf(an)) return bits_to<f32>(sign | 0x7f800000u);
  if (std::isinf(ad) || an == 0) return bits_to<f32>(sign);
  if (exponent(n) - exponent(d) < -150) return bits_to<f32>(sign);  // underflow
  if (is_nan(q)) return bits_to<f32>(sign | 0x7f800000u);           // the iteration overflowed
  return bits_to<f32>(sign | (bits_to<u32>(q) & 0x7fffffffu));
}
f32 fract(f32 x) {
  const f32 r = x - std::floor(x);
  return r >= 1.0f ? bits_to<f32>(0x3f7fffffu) : r;
}

// clang-format off
// gfx12 has these for scalar registers too, still run by the vector ALU (RDNA4 ISA, V_S_*): any lane does, EXEC or not.
#define TRANS(NAME, EXPR) \
  arith("V_" NAME, [](f32 a) -> f32 { return EXPR; }), arith("V_S_" NAME, [](f32 a) -> f32 { return EXPR; }).with(RowFlag::scalar_dst)
constexpr Row rows[] = {
  hot_arith("V_ADD_F32", [](f32 a, f32 b) -> f32 { return a + b; }),
  hot_arith("V_SUB_F32", [](f32 a, f32 b) -> f32 { return a - b; }),
  arith("V_SUBREV_F32", [](f32 a, f32 b) -> f32 { return b - a; }),
  hot_arith("V_MUL_F32", [](f32 a, f32 b) -> f32 { return a * b; }),
  hot_arith("V_FMA_F32",  [](f32 a, f32 b, f32 c) -> f32 { return fma(a, b, c); }),
  hot_arith("V_FMAC_F32", [](f32 a, f32 b, f32 d) -> f32 { return fma(a, b, d); }).with(acc),
  arith("V_FMAAK_F32", [](f32 a, f32 b, f32 k) -> f32 { return fma(a, b, k); }).with(lit_last),
  arith("V_FMAMK_F32", [](f32 a, f32 k, f32 b) -> f32 { return fma(a, k, b); }).with(lit_mid),
  arith("V_MAD_F32",  [](f32 a, f32 b, f32 c) -> f32 { return mad(a, b, c); }),
  arith("V_MAC_F32",  [](f32 a, f32 b, f32 d) -> f32 { return mad(a, b, d); }).with(acc),
  arith("V_MADAK_F32", [](f32 a, f32 b, f32 k) -> f32 { return mad(a, b, k); }).with(lit_last),
  arith("V_MADMK_F32", [](f32 a, f32 k, f32 b) -> f32 { return mad(a, k, b); }).with(lit_mid),
  arith("V_MUL_LEGACY_F32", [](f32 a, f32 b) -> f32 { return mul_legacy(a, b); }),
  arith("V_MUL_DX9_ZERO_F32", [](f32 a, f32 b) -> f32 { return mul_legacy(a, b); }),
  arith("V_FMA_DX9_ZERO_F32", [](f32 a, f32 b, f32 c) -> f32 { return a == 0 || b == 0 ? c : fma(a, b, c); }),
  arith("V_FMA_LEGACY_F32",   [](f32 a, f32 b, f32 c) -> f32 { return a == 0 || b == 0 ? c : fma(a, b, c); }),
  hot_valu("V_MIN_F32", [](f32 a, f32 b) -> f32 { return isa_min(a, b); }),
  hot_valu("V_MAX_F32", [](f32 a, f32 b) -> f32 { return isa_max(a, b); }),
  valu("V_MIN_NUM_F32", [](f32 a, f32 b) -> f32 { return isa_min(a, b); }),
  valu("V_MAX_NUM_F32", [](f32 a, f32 b) -> f32 { return isa_max(a, b); }),
  valu("V_MIN3_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_min(isa_min(a, b), c); }),
  valu("V_MAX3_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_max(isa_max(a, b), c); }),
  valu("V_MED3_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_med3(a, b, c); }),
  valu("V_MAXMIN_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_min(isa_max(a, b), c); }),
  valu("V_MINMAX_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_max(isa_min(a, b), c); }),
  valu("V_MAXMIN_NUM_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_min(isa_max(a, b), c); }),
  valu("V_MINMAX_NUM_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_max(isa_min(a, b), c); }),
  valu("V_MIN3_NUM_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_min(isa_min(a, b), c); }),
  valu("V_MAX3_NUM_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_max(isa_max(a, b), c); }),
  valu("V_MED3_NUM_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_med3(a, b, c); }),
  valu("V_MINIMUM_F32", [](f32 a, f32 b) -> f32 { return isa_minimum(a, b); }),
  valu("V_MAXIMUM_F32", [](f32 a, f32 b) -> f32 { return isa_maximum(a, b); }),
  valu("V_MINIMUM3_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_minimum(isa_minimum(a, b), c); }),
  valu("V_MAXIMUM3_F32", [](f32 a, f32 b, f32 c) -> f32 { return isa_maximum(isa_maximum(a, b), c); }),
  arith("V_TRUNC_F32", [](f32 a) -> f32 { return std::trunc(a); }),
  arith("V_CEIL_F32",  [](f32 a) -> f32 { return std::ceil(a); }),
  arith("V_FLOOR_F32", [](f32 a) -> f32 { return std::floor(a); }),
  arith("V_RNDNE_F32", [](f32 a) -> f32 { return __builtin_rintf(a); }),
  arith("V_FRACT_F32", [](f32 a) -> f32 { return fract(a); }),
  arith("V_LDEXP_F32", [](f32 a, i32 b) -> f32 { return std::ldexp(a, b); }),
  valu("V_FREXP_EXP_I32_F32", [](f32 a) -> i32 { return frexp_exp(a); }),
  valu("V_FREXP_MANT_F32",    [](f32 a) -> f32 { return frexp_mant(a); }),
  arith("V_EXP_LEGACY_F32", [](f32 a) -> f32 { return flushed(f32(std::exp2(f64(flushed(a))))); }), arith("V_LOG_LEGACY_F32", [](f32 a) -> f32 { return f32(std::log2(f64(flushed(a)))); }),
  arith("V_FMAC_DX9_ZERO_F32", [](f32 a, f32 b, f32 d) -> f32 { return a == 0 || b == 0 ? d : fma(a, b, d); }).with(acc),
  TRANS("RCP_F32", flushed(f32(1.0 / f64(flushed(a))))),
  arith("V_RCP_IFLAG_F32", [](f32 a) -> f32 { return flushed(f32(1.0 / f64(flushed(a)))); }),
  TRANS("RSQ_F32", f32(1.0 / __builtin_sqrt(f64(flushed(a))))),
  TRANS("SQRT_F32", __builtin_sqrtf(flushed(a))),
  TRANS("EXP_F32", flushed(f32(std::exp2(f64(flushed(a)))))),
  TRANS("LOG_F32", f32(std::log2(f64(flushed(a))))),
  arith("V_SIN_F32",  [](f32 a) -> f32 { return flushed(f32(sin_rev(flushed(a)))); }),
  arith("V_COS_F32",  [](f32 a) -> f32 { return flushed(f32(cos_rev(flushed(a)))); }),
  valu("V_DIV_SCALE_F32", [](f32 a, f32 b, f32 c) -> Out2<f32> { return div_scale(a, b, c); }),
  arith("V_DIV_FMAS_F32", [](f32 a, f32 b, f32 c, bit vcc) -> f32 { return div_fmas(a, b, c, vcc); }).with(vcc_last),
  valu("V_DIV_FIXUP_F32", [](f32 a, f32 b, f32 c) -> f32 { return div_fixup(a, b, c); }),
};
// clang-format on

}  // namespace

std::span<const Row> vector_float_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
