// VOP3P: packed pairs and the mixed-precision fma.
#include "machine/valu.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {

// f32 or one half of a register as f16, by op_sel_hi; fetched as f32 already.
struct mix { f32 value; };
template <> struct lane_type<mix> { static constexpr Ty ty = Ty::mix; using store = u32; };
struct mixbf { f32 value; };
template <> struct lane_type<mixbf> { static constexpr Ty ty = Ty::mixbf; using store = u32; };

namespace {

using enum Undef;

f16 fma16(f16 a, f16 b, f16 c) { return to_f16(fma_odd(to_f32(a), to_f32(b), to_f32(c))); }
bool is_nan(f16 x) { return (x.bits & 0x7fff) > 0x7c00; }
f16 quiet(f16 x) { return f16{u16(x.bits | 0x200)}; }
f16 choose(f16 a, f16 b, bool less) {
  const f32 x = to_f32(a), y = to_f32(b);
  f16 r = (less ? x < y : x > y) ? a : b;
  if (x == y) r = ((a.bits >> 15) != 0) == less ? a : b;
  if (is_nan(b)) r = a;
  if (is_nan(a)) r = b;
  if (is_nan(b) && !(b.bits & 0x200)) r = quiet(b);
  if (is_nan(a) && (is_nan(b) || !(a.bits & 0x200))) r = quiet(a);
  return r;
}
u16 sat_u(i32 x) { return u16(x < 0 ? 0 : x > 0xffff ? 0xffff : x); }
i16 sat_i(i32 x) { return i16(x < -0x8000 ? -0x8000 : x > 0x7fff ? 0x7fff : x); }

// clang-format off
#define PK2(NAME, T, EXPR) packed(NAME, [](T a, T b) -> T { return EXPR; })
#define PK2_SUM(NAME, T, EXPR) PK2(NAME, T, EXPR).undefined(carry)
#define PK2_SHIFT(NAME, T, EXPR) PK2(NAME, T, EXPR).undefined(same, 2)
#define PK3(NAME, T, EXPR) packed(NAME, [](T a, T b, T c) -> T { return EXPR; })
#define PKA2(NAME, T, EXPR) packed_arith(NAME, [](T a, T b) -> T { return EXPR; })
#define PKA3(NAME, T, EXPR) packed_arith(NAME, [](T a, T b, T c) -> T { return EXPR; })
constexpr Row rows[] = {
  PKA2("V_PK_ADD_F16", f16, to_f16(to_f32(a) + to_f32(b))),
  PKA2("V_PK_MUL_F16", f16, to_f16(to_f32(a) * to_f32(b))),
  PKA3("V_PK_FMA_F16", f16, fma16(a, b, c)),
  PK2("V_PK_MIN_F16", f16, choose(a, b, true)), PK2("V_PK_MAX_F16", f16, choose(a, b, false)),
  PK2("V_PK_MIN_NUM_F16", f16, choose(a, b, true)), PK2("V_PK_MAX_NUM_F16", f16, choose(a, b, false)),
  PK2_SUM("V_PK_ADD_U16", u16, u16(a + b)), PK2_SUM("V_PK_SUB_U16", u16, u16(a - b)), PK2_SUM("V_PK_MUL_LO_U16", u16, u16(u32(a) * b)),
  PK2_SUM("V_PK_ADD_I16", i16, i16(a + b)), PK2_SUM("V_PK_SUB_I16", i16, i16(a - b)),
  PK2("V_PK_ADD_U16 clamp", u16, sat_u(a + b)), PK2("V_PK_SUB_U16 clamp", u16, sat_u(a - b)),
  PK2("V_PK_ADD_I16 clamp", i16, sat_i(a + b)), PK2("V_PK_SUB_I16 clamp", i16, sat_i(a - b)),
  PK2("V_PK_MIN_U16", u16, a < b ? a : b), PK2("V_PK_MAX_U16", u16, a > b ? a : b), PK2("V_PK_MIN_I16", i16, a < b ? a : b), PK2("V_PK_MAX_I16", i16, a > b ? a : b),
  PK2_SHIFT("V_PK_LSHLREV_B16", u16, u16(b << (a & 15))), PK2_SHIFT("V_PK_LSHRREV_B16", u16, u16(b >> (a & 15))), PK2_SHIFT("V_PK_ASHRREV_I16", i16, i16(b >> (a & 15))),
  PK3("V_PK_MAD_U16", u16, u16(u32(a) * b + c)).undefined(carry), PK3("V_PK_MAD_I16", i16, i16(i32(a) * b + c)).undefined(carry),
  PKA2("V_PK_ADD_F32", f32, a + b), PKA2("V_PK_MUL_F32", f32, a * b), PKA3("V_PK_FMA_F32", f32, __builtin_fmaf(a, b, c)),
  valu("V_PK_MOV_B32", [](pk<u32> a, pk<u32> b) -> pk<u32> { return {a.lo, b.hi}; }).undefined(same, 3),
  PKA3("V_PK_FMAC_F16", f16, fma16(a, b, c)).with(acc),

  arith("V_FMA_MIX_F32", [](mix a, mix b, mix c) -> f32 { return __builtin_fmaf(a.value, b.value, c.value); }),
  // Rounded to f32 first, then converted (RDNA3 ISA, V_FMA_MIXLO_F16).
  arith("V_FMA_MIXLO_F16", [](mix a, mix b, mix c) -> f16 { return to_f16(__builtin_fmaf(a.value, b.value, c.value)); }).with(keep_high),
  arith("V_FMA_MIXHI_F16", [](mix a, mix b, mix c) -> f16 { return to_f16(__builtin_fmaf(a.value, b.value, c.value)); }).with(keep_high | d_hi),
  arith("V_FMA_MIX_F32_BF16", [](mixbf a, mixbf b, mixbf c) -> f32 { return __builtin_fmaf(a.value, b.value, c.value); }),
  arith("V_FMA_MIXLO_BF16", [](mixbf a, mixbf b, mixbf c) -> bf16 { return to_bf16(__builtin_fmaf(a.value, b.value, c.value)); }).with(keep_high),
  arith("V_FMA_MIXHI_BF16", [](mixbf a, mixbf b, mixbf c) -> bf16 { return to_bf16(__builtin_fmaf(a.value, b.value, c.value)); }).with(keep_high | d_hi),
  arith("V_MAD_MIX_F32", [](mix a, mix b, mix c) -> f32 { return a.value * b.value + c.value; }),
  arith("V_MAD_MIXLO_F16", [](mix a, mix b, mix c) -> f16 { return to_f16(a.value * b.value + c.value); }).with(keep_high),
  arith("V_MAD_MIXHI_F16", [](mix a, mix b, mix c) -> f16 { return to_f16(a.value * b.value + c.value); }).with(keep_high | d_hi),
};
// clang-format on

}  // namespace

std::span<const Row> vector_packed_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
