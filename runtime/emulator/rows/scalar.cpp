// Scalar arithmetic: SOP1, SOP2, SOPC, SOPK. Names and SCC rules as in AMD's ISA documents
// (Vega, CDNA3, RDNA3: chapter "Instructions", SOP2 ... SOPC).
#include "machine/salu.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

using enum Undef;

template <class T> constexpr int width = int(sizeof(T) * 8);
template <class T> T brev(T x) {
  T r = 0;
  for (int k = 0; k < width<T>; k++) r = T(r << 1 | (x >> k & 1));
  return r;
}
template <class T> T bfe(T x, u32 s1, bool) {
  const u32 offset = s1 & (width<T> - 1), w = (s1 >> 16) & 0x7f;
  if (w == 0) return 0;
  const T y = T(x >> offset);  // arithmetic for signed T: bits past the top are sign
  if (w >= u32(width<T>)) return y;
  using U = std::make_unsigned_t<T>;
  return T(T(U(y) << (width<T> - w)) >> (width<T> - w));
}
u64 quadmask(u64 x) {
  u64 r = 0;
  for (int k = 0; k < 16; k++) r |= u64((x >> (4 * k) & 15) != 0) << k;
  return r;
}
u64 wqm(u64 x) {
  u64 r = 0;
  for (int k = 0; k < 16; k++) if (x >> (4 * k) & 15) r |= u64(15) << (4 * k);
  return r;
}
u64 bitreplicate(u32 x) {
  u64 r = 0;
  for (int k = 0; k < 32; k++) if (x >> k & 1) r |= u64(3) << (2 * k);
  return r;
}

// clang-format off
#define BOTH(NAME, UNDEF, EXPR) \
  salu(NAME "_B32", [](u32 a, u32 b, bool& scc) -> u32 { const u32 r = EXPR; scc = r != 0; return r; }).undefined(UNDEF), \
  salu(NAME "_B64", [](u64 a, u64 b, bool& scc) -> u64 { const u64 r = EXPR; scc = r != 0; return r; }).undefined(UNDEF)
#define COMPARE(NAME, OP) \
  salu("S_CMP_" NAME "_I32", [](i32 a, i32 b, bool& scc) { scc = a OP b; }), \
  salu("S_CMP_" NAME "_U32", [](u32 a, u32 b, bool& scc) { scc = a OP b; }), \
  salu("S_CMPK_" NAME "_I32", [](i32 a, i32 b, bool& scc) { scc = a OP b; }).with(dst_read), \
  salu("S_CMPK_" NAME "_U32", [](u32 a, u32 b, bool& scc) { scc = a OP (b & 0xffff); }).with(dst_read)
#define FCOMPARE(NAME, EXPR) \
  salu("S_CMP_" NAME "_F32", [](f32 a, f32 b, bool& scc) { scc = EXPR; }), \
  salu("S_CMP_" NAME "_F16", [](f16 h, f16 i, bool& scc) { const f32 a = to_f32(h), b = to_f32(i); scc = EXPR; })

constexpr Row rows[] = {
  // SOP2
  salu("S_ADD_U32",  [](u32 a, u32 b, bool& scc) -> u32 { const u64 r = u64(a) + b; scc = r >> 32; return u32(r); }).undefined(carry),
  salu("S_SUB_U32",  [](u32 a, u32 b, bool& scc) -> u32 { scc = b > a; return a - b; }).undefined(carry),
  salu("S_ADD_I32",  [](u32 a, u32 b, bool& scc) -> u32 { const u32 r = a + b; scc = (~(a ^ b) & (a ^ r)) >> 31; return r; }).undefined(carry),
  salu("S_SUB_I32",  [](u32 a, u32 b, bool& scc) -> u32 { const u32 r = a - b; scc = ((a ^ b) & (a ^ r)) >> 31; return r; }).undefined(carry),
  salu("S_ADDC_U32", [](u32 a, u32 b, bool& scc) -> u32 { const u64 r = u64(a) + b + scc; scc = r >> 32; return u32(r); }).undefined(carry),
  salu("S_SUBB_U32", [](u32 a, u32 b, bool& scc) -> u32 { const u64 r = u64(a) - b - scc; scc = r >> 63; return u32(r); }).undefined(carry),
  salu("S_ADD_U64",  [](u64 a, u64 b) -> u64 { return a + b; }).undefined(carry),
  salu("S_SUB_U64",  [](u64 a, u64 b) -> u64 { return a - b; }).undefined(carry),
  salu("S_MUL_U64",  [](u64 a, u64 b) -> u64 { return a * b; }).undefined(carry),
  salu("S_MIN_I32",  [](i32 a, i32 b, bool& scc) -> i32 { scc = a < b; return a < b ? a : b; }),
  salu("S_MIN_U32",  [](u32 a, u32 b, bool& scc) -> u32 { scc = a < b; return a < b ? a : b; }),
  salu("S_MAX_I32",  [](i32 a, i32 b, bool& scc) -> i32 { scc = a >= b; return a >= b ? a : b; }),
  salu("S_MAX_U32",  [](u32 a, u32 b, bool& scc) -> u32 { scc = a >= b; return a >= b ? a : b; }),
  salu("S_CSELECT_B32", [](u32 a, u32 b, bool scc) -> u32 { return scc ? a : b; }).undefined(select),
  salu("S_CSELECT_B64", [](u64 a, u64 b, bool scc) -> u64 { return scc ? a : b; }).undefined(select),
  BOTH("S_AND",  bit_and, a & b), BOTH("S_OR", bit_or, a | b), BOTH("S_XOR", bit_xor, a ^ b), BOTH("S_XNOR", bit_xor, ~(a ^ b)),
  BOTH("S_NAND", bit_and, ~(a & b)), BOTH("S_NOR", bit_or, ~(a | b)),
  BOTH("S_ANDN2", bit_andn2, a & ~b), BOTH("S_ORN2", bit_orn2, a | ~b),
  salu("S_LSHL_B32", [](u32 a, u32 b, bool& scc) -> u32 { const u32 r = a << (b & 31); scc = r != 0; return r; }).undefined(same, 1),
  salu("S_LSHL_B64", [](u64 a, u32 b, bool& scc) -> u64 { const u64 r = a << (b & 63); scc = r != 0; return r; }).undefined(same, 1),
  salu("S_LSHR_B32", [](u32 a, u32 b, bool& scc) -> u32 { const u32 r = a >> (b & 31); scc = r != 0; return r; }).undefined(same, 1),
  salu("S_LSHR_B64", [](u64 a, u32 b, bool& scc) -> u64 { const u64 r = a >> (b & 63); scc = r != 0; return r; }).undefined(same, 1),
  salu("S_ASHR_I32", [](i32 a, u32 b, bool& scc) -> i32 { const i32 r = a >> (b & 31); scc = r != 0; return r; }).undefined(same, 1),
  salu("S_ASHR_I64", [](i64 a, u32 b, bool& scc) -> i64 { const i64 r = a >> (b & 63); scc = r != 0; return r; }).undefined(same, 1),
  salu("S_BFM_B32",  [](u32 a, u32 b) -> u32 { return ((1u << (a & 31)) - 1) << (b & 31); }),
  salu("S_BFM_B64",  [](u32 a, u32 b) -> u64 { return ((u64(1) << (a & 63)) - 1) << (b & 63); }),
  salu("S_MUL_I32",    [](u32 a, u32 b) -> u32 { return a * b; }).undefined(carry),
  salu("S_MUL_HI_U32", [](u32 a, u32 b) -> u32 { return u32(u64(a) * b >> 32); }),
  salu("S_MUL_HI_I32", [](i32 a, i32 b) -> i32 { return i32(i64(a) * b >> 32); }),
  salu("S_BFE_U32", [](u32 a, u32 b, bool& scc) -> u32 { const u32 r = bfe<u32>(a, b & 0x7f001f, false); scc = r != 0; return r; }).undefined(same, 1),
  salu("S_BFE_I32", [](i32 a, u32 b, bool& scc) -> i32 { const i32 r = bfe<i32>(a, b & 0x7f001f, true); scc = r != 0; return r; }).undefined(same, 1),
  salu("S_BFE_U64", [](u64 a, u32 b, bool& scc) -> u64 { const u64 r = bfe<u64>(a, b, false); scc = r != 0; return r; }).undefined(same, 1),
  salu("S_BFE_I64", [](i64 a, u32 b, bool& scc) -> i64 { const i64 r = bfe<i64>(a, b, true); scc = r != 0; return r; }).undefined(same, 1),
  salu("S_ABSDIFF_I32", [](i32 a, i32 b, bool& scc) -> u32 { const u32 r = u32(a) - u32(b); const u32 m = i32(r) < 0 ? 0 - r : r; scc = m != 0; return m; }),
  salu("S_LSHL1_ADD_U32", [](u32 a, u32 b, bool& scc) -> u32 { const u64 r = (u64(a) << 1) + b; scc = r >> 32 != 0; return u32(r); }).undefined(any),
  salu("S_LSHL2_ADD_U32", [](u32 a, u32 b, bool& scc) -> u32 { const u64 r = (u64(a) << 2) + b; scc = r >> 32 != 0; return u32(r); }).undefined(any),
  salu("S_LSHL3_ADD_U32", [](u32 a, u32 b, bool& scc) -> u32 { const u64 r = (u64(a) << 3) + b; scc = r >> 32 != 0; return u32(r); }).undefined(any),
  salu("S_LSHL4_ADD_U32", [](u32 a, u32 b, bool& scc) -> u32 { const u64 r = (u64(a) << 4) + b; scc = r >> 32 != 0; return u32(r); }).undefined(any),
  salu("S_PACK_LL_B32_B16", [](u32 a, u32 b) -> u32 { return (a & 0xffff) | b << 16; }).undefined(same, 3),
  salu("S_PACK_LH_B32_B16", [](u32 a, u32 b) -> u32 { return (a & 0xffff) | (b & 0xffff0000u); }).undefined(same, 3),
  salu("S_PACK_HH_B32_B16", [](u32 a, u32 b) -> u32 { return a >> 16 | (b & 0xffff0000u); }).undefined(same, 3),
  salu("S_PACK_HL_B32_B16", [](u32 a, u32 b) -> u32 { return a >> 16 | b << 16; }).undefined(same, 3),
  // SOP1
  salu("S_MOV_B32",  [](u32 a) -> u32 { return a; }).undefined(same, 1),
  salu("S_MOV_B64",  [](u64 a) -> u64 { return a; }).undefined(same, 1),
  salu("S_CMOV_B32", [](u32 a, u32 d, bool scc) -> u32 { return scc ? a : d; }).with(dst_read).undefined(select),
  salu("S_CMOV_B64", [](u64 a, u64 d, bool scc) -> u64 { return scc ? a : d; }).with(dst_read).undefined(select),
  salu("S_NOT_B32",  [](u32 a, bool& scc) -> u32 { scc = ~a != 0; return ~a; }).undefined(bit_xor),
  salu("S_NOT_B64",  [](u64 a, bool& scc) -> u64 { scc = ~a != 0; return ~a; }).undefined(bit_xor),
  salu("S_BREV_B32", [](u32 a) -> u32 { return brev(a); }).undefined(same, 1),
  salu("S_BREV_B64", [](u64 a) -> u64 { return brev(a); }).undefined(same, 1),
  salu("S_BCNT0_I32_B32", [](u32 a, bool& scc) -> u32 { const u32 r = u32(std::popcount(~a)); scc = r != 0; return r; }),
  salu("S_BCNT0_I32_B64", [](u64 a, bool& scc) -> u32 { const u32 r = u32(std::popcount(~a)); scc = r != 0; return r; }),
  salu("S_BCNT1_I32_B32", [](u32 a, bool& scc) -> u32 { const u32 r = u32(std::popcount(a)); scc = r != 0; return r; }),
  salu("S_BCNT1_I32_B64", [](u64 a, bool& scc) -> u32 { const u32 r = u32(std::popcount(a)); scc = r != 0; return r; }),
  salu("S_FF0_I32_B32", [](u32 a) -> u32 { return ~a ? u32(std::countr_one(a)) : ~0u; }),
  salu("S_FF0_I32_B64", [](u64 a) -> u32 { return ~a ? u32(std::countr_one(a)) : ~0u; }),
  salu("S_FF1_I32_B32", [](u32 a) -> u32 { return a ? u32(std::countr_zero(a)) : ~0u; }),
  salu("S_FF1_I32_B64", [](u64 a) -> u32 { return a ? u32(std::countr_zero(a)) : ~0u; }),
  salu("S_FLBIT_I32_B32", [](u32 a) -> u32 { return a ? u32(std::countl_zero(a)) : ~0u; }),
  salu("S_FLBIT_I32_B64", [](u64 a) -> u32 { return a ? u32(std::countl_zero(a)) : ~0u; }),
  salu("S_FLBIT_I32",     [](u32 a) -> u32 { const u32 x = i32(a) < 0 ? ~a : a; return x ? u32(std::countl_zero(x)) : ~0u; }),
  salu("S_FLBIT_I32_I64", [](u64 a) -> u32 { const u64 x = i64(a) < 0 ? ~a : a; return x ? u32(std::countl_zero(x)) : ~0u; }),
  salu("S_SEXT_I32_I8",  [](u32 a) -> u32 { return u32(i32(i8(a))); }).undefined(same, 1),
  salu("S_SEXT_I32_I16", [](u32 a) -> u32 { return u32(i32(i16(a))); }).undefined(same, 1),
  salu("S_BITSET0_B32", [](u32 a, u32 d) -> u32 { return d & ~(1u << (a & 31)); }).with(dst_read).undefined(same, 2),
  salu("S_BITSET1_B32", [](u32 a, u32 d) -> u32 { return d | 1u << (a & 31); }).with(dst_read).undefined(any),
  salu("S_BITSET0_B64", [](u32 a, u64 d) -> u64 { return d & ~(u64(1) << (a & 63)); }).with(dst_read).undefined(same, 2),
  salu("S_BITSET1_B64", [](u32 a, u64 d) -> u64 { return d | u64(1) << (a & 63); }).with(dst_read).undefined(any),
  salu("S_ABS_I32", [](u32 a, bool& scc) -> u32 { const u32 r = i32(a) < 0 ? 0 - a : a; scc = r != 0; return r; }),
  salu("S_QUADMASK_B32", [](u32 a, bool& scc) -> u32 { const u32 r = u32(quadmask(a)); scc = r != 0; return r; }),
  salu("S_QUADMASK_B64", [](u64 a, bool& scc) -> u64 { const u64 r = quadmask(a); scc = r != 0; return r; }),
  salu("S_WQM_B32", [](u32 a, bool& scc) -> u32 { const u32 r = u32(wqm(a)); scc = r != 0; return r; }),
  salu("S_WQM_B64", [](u64 a, bool& scc) -> u64 { const u64 r = wqm(a); scc = r != 0; return r; }),
  salu("S_BITREPLICATE_B64_B32", [](u32 a) -> u64 { return bitreplicate(a); }).undefined(same, 1),
  // SOPC
  COMPARE("EQ", ==), COMPARE("LG", !=), COMPARE("GT", >), COMPARE("GE", >=), COMPARE("LT", <), COMPARE("LE", <=),
  salu("S_CMP_EQ_U64", [](u64 a, u64 b, bool& scc) { scc = a == b; }),
  salu("S_CMP_LG_U64", [](u64 a, u64 b, bool& scc) { scc = a != b; }),
  salu("S_BITCMP0_B32", [](u32 a, u32 b, bool& scc) { scc = !(a >> (b & 31) & 1); }),
  salu("S_BITCMP1_B32", [](u32 a, u32 b, bool& scc) { scc = a >> (b & 31) & 1; }),
  salu("S_BITCMP0_B64", [](u64 a, u32 b, bool& scc) { scc = !(a >> (b & 63) & 1); }),
  salu("S_BITCMP1_B64", [](u64 a, u32 b, bool& scc) { scc = a >> (b & 63) & 1; }),
  // SOPK: the immediate is the last source
  salu("S_MOVK_I32",  [](u32 k) -> u32 { return k; }).undefined(same, 1),
  salu("S_CMOVK_I32", [](u32 d, u32 k, bool scc) -> u32 { return scc ? k : d; }).with(dst_read),
  salu("S_ADDK_I32",  [](u32 d, u32 k, bool& scc) -> u32 { const u32 r = d + k; scc = (~(d ^ k) & (d ^ r)) >> 31; return r; }).with(dst_read).undefined(carry),
  salu("S_MULK_I32",  [](u32 d, u32 k) -> u32 { return d * k; }).with(dst_read).undefined(carry),
  // Scalar floats of gfx11.5 and gfx12
  salu("S_ADD_F32", [](f32 a, f32 b) -> f32 { return a + b; }),
  salu("S_SUB_F32", [](f32 a, f32 b) -> f32 { return a - b; }),
  salu("S_MUL_F32", [](f32 a, f32 b) -> f32 { return a * b; }),
  salu("S_FMAC_F32", [](f32 a, f32 b, f32 d) -> f32 { return __builtin_fmaf(a, b, d); }).with(dst_read),
  salu("S_FMAAK_F32", [](f32 a, f32 b, f32 k) -> f32 { return __builtin_fmaf(a, b, k); }).with(lit_last),
  salu("S_FMAMK_F32", [](f32 a, f32 k, f32 b) -> f32 { return __builtin_fmaf(a, k, b); }).with(lit_mid),
  salu("S_CEIL_F32",  [](f32 a) -> f32 { return __builtin_ceilf(a); }),
  salu("S_FLOOR_F32", [](f32 a) -> f32 { return __builtin_floorf(a); }),
  salu("S_TRUNC_F32", [](f32 a) -> f32 { return __builtin_truncf(a); }),
  salu("S_RNDNE_F32", [](f32 a) -> f32 { return __builtin_rintf(a); }),
  salu("S_CVT_I32_F32", [](f32 a) -> i32 { return to_i32(a); }),
  salu("S_CVT_U32_F32", [](f32 a) -> u32 { return to_u32(a); }),
  salu("S_CVT_F32_F16", [](u32 a) -> f32 { return to_f32(f16{u16(a)}); }),
  salu("S_CVT_F16_F32", [](f32 a) -> u32 { return to_f16(a).bits; }),
  salu("S_MIN_F32", [](f32 a, f32 b) -> f32 { return isa_min(a, b); }), salu("S_MAX_F32", [](f32 a, f32 b) -> f32 { return isa_max(a, b); }),
  salu("S_MIN_NUM_F32", [](f32 a, f32 b) -> f32 { return isa_min(a, b); }), salu("S_MAX_NUM_F32", [](f32 a, f32 b) -> f32 { return isa_max(a, b); }),
  salu("S_MINIMUM_F32", [](f32 a, f32 b) -> f32 { return isa_minimum(a, b); }), salu("S_MAXIMUM_F32", [](f32 a, f32 b) -> f32 { return isa_maximum(a, b); }),
  salu("S_CVT_F32_I32", [](i32 a) -> f32 { return f32(a); }),
  salu("S_CVT_F32_U32", [](u32 a) -> f32 { return f32(a); }),
  // f16 of gfx11.5 and gfx12
  salu("S_ADD_F16", [](f16 a, f16 b) -> f16 { const f32 x = to_f32(a), y = to_f32(b); return to_f16(x + y); }),
  salu("S_SUB_F16", [](f16 a, f16 b) -> f16 { const f32 x = to_f32(a), y = to_f32(b); return to_f16(x - y); }),
  salu("S_MUL_F16", [](f16 a, f16 b) -> f16 { const f32 x = to_f32(a), y = to_f32(b); return to_f16(x * y); }),
  salu("S_MIN_F16", [](f16 a, f16 b) -> f16 { return to_f16(isa_min(to_f32(a), to_f32(b))); }),
  salu("S_MAX_F16", [](f16 a, f16 b) -> f16 { return to_f16(isa_max(to_f32(a), to_f32(b))); }),
  salu("S_MIN_NUM_F16", [](f16 a, f16 b) -> f16 { return to_f16(isa_min(to_f32(a), to_f32(b))); }),
  salu("S_MAX_NUM_F16", [](f16 a, f16 b) -> f16 { return to_f16(isa_max(to_f32(a), to_f32(b))); }),
  salu("S_MINIMUM_F16", [](f16 a, f16 b) -> f16 { return to_f16(isa_minimum(to_f32(a), to_f32(b))); }),
  salu("S_MAXIMUM_F16", [](f16 a, f16 b) -> f16 { return to_f16(isa_maximum(to_f32(a), to_f32(b))); }),
  salu("S_FMAC_F16", [](f16 a, f16 b, f16 d) -> f16 { return to_f16(fma_odd(to_f32(a), to_f32(b), to_f32(d))); }).with(dst_read),
  salu("S_CEIL_F16", [](f16 a) -> f16 { return to_f16(__builtin_ceilf(to_f32(a))); }),
  salu("S_FLOOR_F16", [](f16 a) -> f16 { return to_f16(__builtin_floorf(to_f32(a))); }),
  salu("S_TRUNC_F16", [](f16 a) -> f16 { return to_f16(__builtin_truncf(to_f32(a))); }),
  salu("S_RNDNE_F16", [](f16 a) -> f16 { return to_f16(__builtin_rintf(to_f32(a))); }),
  salu("S_CVT_HI_F32_F16", [](u32 a) -> f32 { return to_f32(f16{u16(a >> 16)}); }),
  salu("S_CVT_PK_RTZ_F16_F32", [](f32 a, f32 b) -> u32 { return to_f16_rtz(a).bits | u32(to_f16_rtz(b).bits) << 16; }),
  FCOMPARE("LT", a < b), FCOMPARE("EQ", a == b), FCOMPARE("LE", a <= b), FCOMPARE("GT", a > b), FCOMPARE("GE", a >= b),
  FCOMPARE("LG", a < b || a > b), FCOMPARE("O", a == a && b == b), FCOMPARE("U", a != a || b != b),
  FCOMPARE("NGE", !(a >= b)), FCOMPARE("NLG", !(a < b || a > b)), FCOMPARE("NGT", !(a > b)), FCOMPARE("NLE", !(a <= b)),
  FCOMPARE("NEQ", !(a == b)), FCOMPARE("NLT", !(a < b)),
};
// clang-format on

}  // namespace

std::span<const Row> scalar_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
