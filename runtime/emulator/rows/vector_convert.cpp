// Conversions of the vector ALU. Float to integer saturates and takes NaN to 0 (ISA documents, V_CVT_*).
#include "machine/valu.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

using enum Undef;

i32 clip(i32 x, i32 lo, i32 hi) { return x < lo ? lo : x > hi ? hi : x; }
u32 norm_i16(f32 x) { return x != x ? 0 : u32(i32(__builtin_rintf(x < -1 ? -32767.0f : x > 1 ? 32767.0f : x * 32767.0f))) & 0xffff; }
u32 norm_u16(f32 x) { return x != x ? 0 : u32(__builtin_rintf(x < 0 ? 0.0f : x > 1 ? 65535.0f : x * 65535.0f)); }
u32 to_u8(f32 x) { return x != x || x <= 0 ? 0 : x >= 255 ? 255 : u32(x); }

// clang-format off
constexpr Row rows[] = {
  valu("V_CVT_F32_I32", [](i32 a) -> f32 { return f32(a); }),
  valu("V_CVT_F32_U32", [](u32 a) -> f32 { return f32(a); }),
  valu("V_CVT_I32_F32", [](f32 a) -> i32 { return to_i32(a); }),
  valu("V_CVT_U32_F32", [](f32 a) -> u32 { return to_u32(a); }),
  valu("V_CVT_RPI_I32_F32", [](f32 a) -> i32 { return to_i32(std::floor(a + 0.5f)); }),
  valu("V_CVT_FLR_I32_F32", [](f32 a) -> i32 { return to_i32(std::floor(a)); }),
  valu("V_CVT_NEAREST_I32_F32", [](f32 a) -> i32 { return to_i32(std::floor(a + 0.5f)); }),
  valu("V_CVT_FLOOR_I32_F32", [](f32 a) -> i32 { return to_i32(std::floor(a)); }),
  valu("V_CVT_F64_I32", [](i32 a) -> f64 { return a; }),
  valu("V_CVT_F64_U32", [](u32 a) -> f64 { return a; }),
  valu("V_CVT_I32_F64", [](f64 a) -> i32 { return to_i32(a); }),
  valu("V_CVT_U32_F64", [](f64 a) -> u32 { return to_u32(a); }),
  arith("V_CVT_F32_F64", [](f64 a) -> f32 { return f32(a); }),
  arith("V_CVT_F64_F32", [](f32 a) -> f64 { return a; }),
  valu("V_CVT_F16_F32", [](f32 a) -> f16 { return to_f16(a); }),
  valu("V_CVT_F32_F16", [](f16 a) -> f32 { const f32 x = to_f32(a); return x != x ? quiet(x) : x; }),
  valu("V_CVT_F16_U16", [](u16 a) -> f16 { return to_f16(f32(a)); }),
  valu("V_CVT_F16_I16", [](i16 a) -> f16 { return to_f16(f32(a)); }),
  valu("V_CVT_U16_F16", [](f16 a) -> u16 { const u32 r = to_u32(to_f32(a)); return u16(r > 0xffff ? 0xffff : r); }),
  valu("V_CVT_I16_F16", [](f16 a) -> i16 { return i16(clip(to_i32(to_f32(a)), -32768, 32767)); }),
  valu("V_CVT_I32_I16", [](i16 a) -> i32 { return a; }),
  valu("V_CVT_U32_U16", [](u16 a) -> u32 { return a; }).undefined(same, 1),
  valu("V_CVT_F32_UBYTE0", [](u32 a) -> f32 { return f32(a & 255); }).undefined(byte, 0),
  valu("V_CVT_F32_UBYTE1", [](u32 a) -> f32 { return f32(a >> 8 & 255); }).undefined(byte, 1),
  valu("V_CVT_F32_UBYTE2", [](u32 a) -> f32 { return f32(a >> 16 & 255); }).undefined(byte, 2),
  valu("V_CVT_F32_UBYTE3", [](u32 a) -> f32 { return f32(a >> 24); }).undefined(byte, 3),
  valu("V_CVT_PKRTZ_F16_F32", [](f32 a, f32 b) -> u32 { return to_f16_rtz(a).bits | u32(to_f16_rtz(b).bits) << 16; }),
  valu("V_CVT_PK_RTZ_F16_F32", [](f32 a, f32 b) -> u32 { return to_f16_rtz(a).bits | u32(to_f16_rtz(b).bits) << 16; }),
  valu("V_CVT_PK_F16_F32", [](f32 a, f32 b) -> u32 { return to_f16(a).bits | u32(to_f16(b).bits) << 16; }),
  valu("V_CVT_PK_BF16_F32", [](f32 a, f32 b) -> u32 { return to_bf16(a).bits | u32(to_bf16(b).bits) << 16; }),
  valu("V_CVT_F32_BF16", [](bf16 a) -> f32 { return to_f32(a); }),
  valu("V_CVT_PKNORM_I16_F32", [](f32 a, f32 b) -> u32 { return norm_i16(a) | norm_i16(b) << 16; }),
  valu("V_CVT_PKNORM_U16_F32", [](f32 a, f32 b) -> u32 { return norm_u16(a) | norm_u16(b) << 16; }),
  valu("V_CVT_PK_NORM_I16_F32", [](f32 a, f32 b) -> u32 { return norm_i16(a) | norm_i16(b) << 16; }),
  valu("V_CVT_PK_NORM_U16_F32", [](f32 a, f32 b) -> u32 { return norm_u16(a) | norm_u16(b) << 16; }),
  valu("V_CVT_PK_I16_I32", [](i32 a, i32 b) -> u32 { return (u32(clip(a, -32768, 32767)) & 0xffff) | u32(clip(b, -32768, 32767)) << 16; }),
  valu("V_CVT_PK_U16_U32", [](u32 a, u32 b) -> u32 { return (a > 0xffff ? 0xffff : a) | (b > 0xffff ? 0xffffu : b) << 16; }),
  valu("V_CVT_PK_I16_F32", [](f32 a, f32 b) -> u32 { return (u32(clip(to_i32(a), -32768, 32767)) & 0xffff) | u32(clip(to_i32(b), -32768, 32767)) << 16; }),
  valu("V_CVT_PK_U16_F32", [](f32 a, f32 b) -> u32 { const u32 x = to_u32(a), y = to_u32(b); return (x > 0xffff ? 0xffff : x) | (y > 0xffff ? 0xffffu : y) << 16; }),
  valu("V_CVT_PK_U8_F32", [](f32 a, u32 b, u32 c) -> u32 { const u32 s = 8 * (b & 3); return (c & ~(255u << s)) | to_u8(a) << s; }),
  valu("V_CVT_OFF_F32_I4", [](u32 a) -> f32 { return f32(i32(a << 28) >> 28) / 16.0f; }),
  valu("V_SAT_PK_U8_I16", [](u32 a) -> u16 { return u16(clip(i16(a), 0, 255) | clip(i16(a >> 16), 0, 255) << 8); }),
};
// clang-format on

}  // namespace

std::span<const Row> vector_convert_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
