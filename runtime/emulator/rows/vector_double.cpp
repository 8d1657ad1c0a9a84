// f64 arithmetic of the vector ALU.
#include "machine/valu.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

bool denormal(f64 x) { return x != 0 && exponent(x) == 0; }

// As V_DIV_SCALE_F32 at f64's range: thresholds 768 and 53, scale 2^128.
Out2<f64> div_scale(f64 s0, f64 s1, f64 s2) {
  if (s2 == 0 || s1 == 0) return {bits_to<f64>(u64(0x7ff8) << 48), false};
  const bool rcp_denormal = std::fabs(1.0 / s1) < 0x1p-1022, quotient_denormal = std::fabs(s2 / s1) < 0x1p-1022;
  if (exponent(s2) - exponent(s1) >= 768) return {s0 == s1 ? std::ldexp(s0, 128) : s0, true};
  if (denormal(s1)) return {std::ldexp(s0, 128), false};
  if (rcp_denormal && quotient_denormal) return {s0 == s1 ? std::ldexp(s0, -128) : s0, true};
  if (rcp_denormal) return {std::ldexp(s0, -128), false};
  if (quotient_denormal) return {s0 == s2 ? std::ldexp(s0, 128) : s0, true};
  if (exponent(s2) <= 53) return {std::ldexp(s0, 128), false};
  return {s0, false};
}
f64 div_fmas(f64 a, f64 b, f64 c, bit scaled) {
  if (!scaled) return __builtin_fma(a, b, c);
  // One rounding at the end: the product is exact in 113 bits, the sum leaves a sticky bit.
  using quad = __float128;
  const quad p = quad(a) * quad(b), s = p + quad(c), t = s - p, e = (p - (s - t)) + (quad(c) - t);
  const f64 scale = exponent(c) > 1023 ? 0x1p128 : 0x1p-128;
  quad r = s * quad(scale);
  if (e != 0 && s - s == 0) {
    unsigned __int128 u;
    __builtin_memcpy(&u, &r, 16);
    if (!(u & 1)) {
      if ((e < 0) == (s > 0)) u -= 1;
      u |= 1;
      __builtin_memcpy(&r, &u, 16);
    }
  }
  return f64(r);
}
f64 div_fixup(f64 q, f64 d, f64 n) {
  const u64 sign = u64(negative(d) ^ negative(n)) << 63;
  const f64 ad = std::fabs(d), an = std::fabs(n);
  if (is_nan(n)) return quiet(n);
  if (is_nan(d)) return quiet(d);
  if ((ad == 0 && an == 0) || (std::isinf(ad) && std::isinf(an))) return bits_to<f64>(u64(0xfff8) << 48);
  if (ad == 0 || std::isinf(an)) return bits_to<f64>(sign | u64(0x7ff0) << 48);
  if (std::isinf(ad) || an == 0) return bits_to<f64>(sign);
  if (exponent(n) - exponent(d) < -1075) return bits_to<f64>(sign);
  if (is_nan(q)) return bits_to<f64>(sign | u64(0x7ff0) << 48);
  return bits_to<f64>(sign | (bits_to<u64>(q) & ~u64(0) >> 1));
}
f64 fract(f64 x) {
  const f64 r = x - std::floor(x);
  return r >= 1.0 ? bits_to<f64>(0x3fefffffffffffffu) : r;
}

// 2 / pi to 1201 fractional bits, the first one on top (RDNA3 ISA, V_TRIG_PREOP_F64); what lies beyond reads as 0.
constexpr u64 two_over_pi[19] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000};

// The 53 bits of 2 / pi from bit `segment * 53` on, further along for large inputs, at their place value.
f64 trig_preop(f64 a, u32 segment) {
  const i32 exponent = i32(std::bit_cast<u64>(a) >> 52 & 0x7ff);
  const i32 shift = i32(segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  u64 bits = 0;
  for (i32 k = 0; k < 53; k++) {
    const i32 at = shift + k;
    bits = bits << 1 | (at < 1216 ? two_over_pi[at / 64] >> (63 - at % 64) & 1 : 0);
  }
  return std::ldexp(f64(bits), -53 - shift + (exponent >= 1968 ? 128 : 0));
}

// clang-format off
constexpr Row rows[] = {
  arith("V_ADD_F64", [](f64 a, f64 b) -> f64 { return a + b; }),
  arith("V_MUL_F64", [](f64 a, f64 b) -> f64 { return a * b; }),
  arith("V_FMA_F64", [](f64 a, f64 b, f64 c) -> f64 { return __builtin_fma(a, b, c); }),
  arith("V_FMAAK_F64", [](f64 a, f64 b, f64 k) -> f64 { return __builtin_fma(a, b, k); }).with(lit_last),
  arith("V_FMAMK_F64", [](f64 a, f64 k, f64 b) -> f64 { return __builtin_fma(a, k, b); }).with(lit_mid),
  arith("V_FMAC_F64", [](f64 a, f64 b, f64 d) -> f64 { return __builtin_fma(a, b, d); }).with(acc),
  valu("V_MIN_F64", [](f64 a, f64 b) -> f64 { return isa_min(a, b); }),
  valu("V_MAX_F64", [](f64 a, f64 b) -> f64 { return isa_max(a, b); }),
  valu("V_MIN_NUM_F64", [](f64 a, f64 b) -> f64 { return isa_min(a, b); }),
  valu("V_MAX_NUM_F64", [](f64 a, f64 b) -> f64 { return isa_max(a, b); }),
  valu("V_MINIMUM_F64", [](f64 a, f64 b) -> f64 { return isa_minimum(a, b); }),
  valu("V_MAXIMUM_F64", [](f64 a, f64 b) -> f64 { return isa_maximum(a, b); }),
  arith("V_TRUNC_F64", [](f64 a) -> f64 { return std::trunc(a); }),
  arith("V_CEIL_F64",  [](f64 a) -> f64 { return std::ceil(a); }),
  arith("V_FLOOR_F64", [](f64 a) -> f64 { return std::floor(a); }),
  arith("V_RNDNE_F64", [](f64 a) -> f64 { return __builtin_rint(a); }),
  arith("V_FRACT_F64", [](f64 a) -> f64 { return fract(a); }),
  arith("V_TRIG_PREOP_F64", [](f64 a, u32 b) -> f64 { return trig_preop(a, b); }),
  arith("V_LDEXP_F64", [](f64 a, i32 b) -> f64 { return std::ldexp(a, b); }),
  valu("V_FREXP_EXP_I32_F64", [](f64 a) -> i32 { return frexp_exp(a); }),
  valu("V_FREXP_MANT_F64",    [](f64 a) -> f64 { return frexp_mant(a); }),
  arith("V_RCP_F64",  [](f64 a) -> f64 { return 1.0 / a; }),
  arith("V_RSQ_F64",  [](f64 a) -> f64 { return 1.0 / __builtin_sqrt(a); }),
  arith("V_SQRT_F64", [](f64 a) -> f64 { return __builtin_sqrt(a); }),
  valu("V_DIV_SCALE_F64", [](f64 a, f64 b, f64 c) -> Out2<f64> { return div_scale(a, b, c); }),
  arith("V_DIV_FMAS_F64", [](f64 a, f64 b, f64 c, bit vcc) -> f64 { return div_fmas(a, b, c, vcc); }).with(vcc_last),
  valu("V_DIV_FIXUP_F64", [](f64 a, f64 b, f64 c) -> f64 { return div_fixup(a, b, c); }),
};
// clang-format on

}  // namespace

std::span<const Row> vector_double_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
