// FP8 and BF8 conversions without a scale, and the stochastic conversions to f16 and bf16. Rows named "fnuz" are
// gfx942's, whose formats differ. Overflow: RDNA4 ISA 7.6.2's table, which MODE.FP16_OVFL chooses from.
#include "machine/small_encode.h"
#include "machine/valu.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

template <SmallFormat F> pk<u32> from_codes(u16 a) { return {bits_to<u32>(decode_small<F>(a)), bits_to<u32>(decode_small<F>(a >> 8))}; }
// Exact: every FP8 number is an f16 number.
template <SmallFormat F> f16 half_from_code(u32 a) { return to_f16(decode_small<F>(a)); }
template <SmallFormat F> u32 halves_from_codes(u16 a) { return half_from_code<F>(a).bits | u32(half_from_code<F>(a >> 8).bits) << 16; }

template <SmallFormat F> u16 to_codes(f32 a, f32 b, mode_bits m) {
  const SmallRounding how{.saturate = m.fp16_ovfl()};
  return u16(to_small(F, a, how) | to_small(F, b, how) << 8);
}
template <SmallFormat F> u16 halves_to_codes(pk<f16> a, mode_bits m) { return to_codes<F>(to_f32(a.lo), to_f32(a.hi), m); }
template <SmallFormat F> u32 to_code(f32 a, u32 random, mode_bits m, u8 source_mantissa = 23) {
  return to_small(F, a, {.stochastic = true, .random = random, .source_mantissa = source_mantissa, .saturate = m.fp16_ovfl()});
}
// The same rounding into f16 and bf16: the random number's top 13 or 16 bits count.
constexpr SmallFormat f16_format{5, 10, 15, SmallSpecial::ieee}, bf16_format{8, 7, 127, SmallSpecial::ieee};
f16 to_f16_random(f32 a, u32 random, mode_bits m) {
  if (is_nan(a)) return to_f16(a);
  const bool infinite = a - a != 0;  // FP16_OVFL keeps true infinities of f16 (ISA documents, MODE)
  return f16{u16(to_small(f16_format, a, {.stochastic = true, .random = random, .saturate = m.fp16_ovfl() && !infinite}))};
}
bf16 to_bf16_random(f32 a, u32 random) {
  if (is_nan(a)) return to_bf16(a);
  return bf16{u16(to_small(bf16_format, a, {.stochastic = true, .random = random}))};
}

// clang-format off
#define FP8_ROWS(NAME, VARIANT, F) \
  valu("V_CVT_F32_" NAME VARIANT, [](u32 a) -> u32 { return bits_to<u32>(decode_small<F>(a)); }).with(byte_src), \
  valu("V_CVT_PK_F32_" NAME VARIANT, [](u16 a) -> pk<u32> { return from_codes<F>(a); }), \
  valu("V_CVT_PK_" NAME "_F32" VARIANT, [](f32 a, f32 b, mode_bits m) -> u16 { return to_codes<F>(a, b, m); }).with(keep_high), \
  valu("V_CVT_SR_" NAME "_F32" VARIANT, [](f32 a, u32 r, mode_bits m) -> u32 { return to_code<F>(a, r, m); }).with(byte_dst)
// gfx1250 converts from and to f16 as well.
#define FP8_F16_ROWS(NAME, F) \
  valu("V_CVT_F16_" NAME, [](u32 a) -> f16 { return half_from_code<F>(a); }).with(byte_src), \
  valu("V_CVT_PK_F16_" NAME, [](u16 a) -> u32 { return halves_from_codes<F>(a); }), \
  valu("V_CVT_PK_" NAME "_F16", [](pk<f16> a, mode_bits m) -> u16 { return halves_to_codes<F>(a, m); }).with(keep_high), \
  valu("V_CVT_SR_" NAME "_F16", [](f16 a, u32 r, mode_bits m) -> u32 { return to_code<F>(to_f32(a), r, m, 10); }).with(byte_dst)
constexpr Row rows[] = {
  FP8_ROWS("FP8", "", fp8_ocp), FP8_ROWS("BF8", "", bf8_ocp),
  FP8_ROWS("FP8", " fnuz", fp8_fnuz), FP8_ROWS("BF8", " fnuz", bf8_fnuz),
  FP8_F16_ROWS("FP8", fp8_ocp), FP8_F16_ROWS("BF8", bf8_ocp),
  valu("V_CVT_SR_F16_F32", [](f32 a, u32 r, mode_bits m) -> f16 { return to_f16_random(a, r, m); }).with(keep_high),
  valu("V_CVT_SR_BF16_F32", [](f32 a, u32 r) -> bf16 { return to_bf16_random(a, r); }).with(keep_high),
  // gfx1250: the second number is rounded with the next random number, as CDNA4's packed conversions do it.
  valu("V_CVT_SR_PK_F16_F32", [](f32 a, f32 b, u32 r, mode_bits m) -> u32 { return to_f16_random(a, r, m).bits | u32(to_f16_random(b, next_random(r), m).bits) << 16; }),
  valu("V_CVT_SR_PK_BF16_F32", [](f32 a, f32 b, u32 r) -> u32 { return to_bf16_random(a, r).bits | u32(to_bf16_random(b, next_random(r)).bits) << 16; }),
  // One step of a linear feedback register (CDNA4 ISA): the next random number of the packed conversions.
  valu("V_PRNG_B32", [](u32 a) -> u32 { return next_random(a); }),
};
// clang-format on

}  // namespace

std::span<const Row> vector_fp8_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
