// gfx1250's bf16 arithmetic and its hyperbolic tangent. Each result is rounded once, to nearest even.
#include "machine/valu.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

bf16 narrow(f64 x) { return to_bf16(to_f32_odd(x)); }
bf16 fma(bf16 a, bf16 b, bf16 c) { return narrow(fma_odd(to_f32(a), to_f32(b), to_f32(c))); }
bf16 min_num(bf16 a, bf16 b) { return to_bf16(isa_min(to_f32(a), to_f32(b))); }
bf16 max_num(bf16 a, bf16 b) { return to_bf16(isa_max(to_f32(a), to_f32(b))); }

// clang-format off
#define B1(NAME, EXPR) arith(NAME, [](bf16 a) -> bf16 { const f64 x = to_f32(a); return narrow(EXPR); })
constexpr Row rows[] = {
  packed_arith("V_PK_ADD_BF16", [](bf16 a, bf16 b) -> bf16 { return narrow(fma_odd(to_f32(a), 1.0, to_f32(b))); }),
  packed_arith("V_PK_MUL_BF16", [](bf16 a, bf16 b) -> bf16 { return to_bf16(to_f32(a) * to_f32(b)); }),
  packed_arith("V_PK_FMA_BF16", [](bf16 a, bf16 b, bf16 c) -> bf16 { return fma(a, b, c); }),
  packed("V_PK_MIN_NUM_BF16", [](bf16 a, bf16 b) -> bf16 { return min_num(a, b); }),
  packed("V_PK_MAX_NUM_BF16", [](bf16 a, bf16 b) -> bf16 { return max_num(a, b); }),
  B1("V_RCP_BF16", 1.0 / x), B1("V_RSQ_BF16", 1.0 / __builtin_sqrt(x)), B1("V_SQRT_BF16", __builtin_sqrt(x)),
  B1("V_EXP_BF16", std::exp2(x)), B1("V_LOG_BF16", std::log2(x)), B1("V_TANH_BF16", std::tanh(x)),
  B1("V_SIN_BF16", sin_rev(f32(x))), B1("V_COS_BF16", cos_rev(f32(x))),
  arith("V_TANH_F32", [](f32 a) -> f32 { return f32(std::tanh(f64(a))); }),
  arith("V_TANH_F16", [](f16 a) -> f16 { return to_f16(std::tanh(f64(to_f32(a)))); }),
};
// clang-format on

}  // namespace

std::span<const Row> vector_bf16_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
