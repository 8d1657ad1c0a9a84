// 32- and 64-bit integer and bit instructions of the vector ALU.
// Meaning as in AMD's ISA documents, VOP1, VOP2, VOP3 sections.
#include "machine/valu.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

using enum Undef;

u32 perm_byte(u64 data, u32 sel) {
  // RDNA3 ISA, V_PERM_B32: S0 is the high dword. 8..11 replicate a sign bit, 12 is zero, above is 0xff.
  if (sel >= 13) return 0xff;
  if (sel == 12) return 0;
  if (sel >= 8) return (data >> (16 * (sel - 8) + 15) & 1) ? 0xff : 0;
  return u32(data >> (8 * sel)) & 0xff;
}
u32 perm(u32 hi, u32 lo, u32 sel) {
  const u64 data = u64(hi) << 32 | lo;
  u32 r = 0;
  for (u32 k = 0; k < 4; k++) r |= perm_byte(data, (sel >> (8 * k)) & 0xff) << (8 * k);
  return r;
}
u32 brev32(u32 x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
i32 sext24(u32 x) { return i32(x << 8) >> 8; }
u32 bfe_u(u32 a, u32 b, u32 c) { const u32 o = b & 31, n = c & 31; return (a >> o) & ((1u << n) - 1); }
i32 bfe_i(u32 a, u32 b, u32 c) {
  const u32 o = b & 31, n = c & 31;
  if (n == 0) return 0;
  // Bits past the top read as the sign: shift right arithmetically first.
  const i32 y = i32(a) >> o;
  return i32(u32(y) << (32 - n)) >> (32 - n);
}
template <class T> T med3(T a, T b, T c) { const T lo = a < b ? a : b, hi = a < b ? b : a; return c < lo ? lo : c > hi ? hi : c; }
template <class T> T min2(T a, T b) { return a < b ? a : b; }
template <class T> T max2(T a, T b) { return a > b ? a : b; }
u32 sad_u8(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 32; k += 8) { const i32 d = i32(a >> k & 255) - i32(b >> k & 255); c += u32(d < 0 ? -d : d); }
  return c;
}
// Bytes whose reference, the second operand, is zero do not count.
u32 msad_u8(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 32; k += 8) { const i32 d = i32(a >> k & 255) - i32(b >> k & 255); if (b >> k & 255) c += u32(d < 0 ? -d : d); }
  return c;
}
i32 dot4_i(u32 a, u32 b, i32 c) { for (int k = 0; k < 32; k += 8) c = i32(u32(c) + u32(i32(i8(a >> k)) * i32(i8(b >> k)))); return c; }
u32 dot4_u(u32 a, u32 b, u32 c) { for (int k = 0; k < 32; k += 8) c += (a >> k & 255) * (b >> k & 255); return c; }
u32 sat_add(u32 a, u32 b) { const u32 r = a + b; return r < a ? ~0u : r; }
u32 sat_sub(u32 a, u32 b) { return a < b ? 0 : a - b; }
i32 clip(i64 x) { return x > 0x7fffffff ? 0x7fffffff : x < -i64(0x80000000) ? i32(0x80000000u) : i32(x); }

// Bit (a, b, c) of the table, a being the high index bit (CDNA4 ISA, V_BITOP3_B32).
u32 bitop3(u32 a, u32 b, u32 c, u32 t) {
  u32 r = 0;
  for (u32 k = 0; k < 8; k++)
    if (t >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  return r;
}

// clang-format off
constexpr Row rows[] = {
  hot_valu("V_MOV_B32", [](u32 a) -> u32 { return a; }).undefined(same, 1),
  valu("V_MOV_B64", [](u64 a) -> u64 { return a; }).undefined(same, 1),
  valu("V_ACCVGPR_READ_B32",  [](u32 a) -> u32 { return a; }).undefined(same, 1).with(agpr_src),
  valu("V_ACCVGPR_WRITE_B32", [](u32 a) -> u32 { return a; }).undefined(same, 1).with(agpr_dst),
  valu("V_ACCVGPR_MOV_B32",   [](u32 a) -> u32 { return a; }).undefined(same, 1).with(agpr_src | agpr_dst),
  valu("V_NOT_B32", [](u32 a) -> u32 { return ~a; }).undefined(bit_xor),
  valu("V_CNDMASK_B32", [](u32 a, u32 b, bit m) -> u32 { return m ? b : a; }).undefined(select),

  // gfx9 calls the carry-less form v_add_u32, gfx10+ v_add_nc_u32; LLVM's base name stays V_ADD_U32 in both.
  hot_valu("V_ADD_U32", [](u32 a, u32 b) -> u32 { return a + b; }).undefined(carry),
  valu("V_SUB_U32", [](u32 a, u32 b) -> u32 { return a - b; }).undefined(carry),
  valu("V_SUBREV_U32", [](u32 a, u32 b) -> u32 { return b - a; }).undefined(carry),
  hot_valu("V_ADD_NC_U32", [](u32 a, u32 b) -> u32 { return a + b; }).undefined(carry),
  valu("V_SUB_NC_U32", [](u32 a, u32 b) -> u32 { return a - b; }).undefined(carry),
  valu("V_SUBREV_NC_U32", [](u32 a, u32 b) -> u32 { return b - a; }).undefined(carry),
  valu("V_ADD_U32 clamp", [](u32 a, u32 b) -> u32 { return sat_add(a, b); }),
  valu("V_SUB_U32 clamp", [](u32 a, u32 b) -> u32 { return sat_sub(a, b); }),
  valu("V_SUBREV_U32 clamp", [](u32 a, u32 b) -> u32 { return sat_sub(b, a); }), valu("V_SUBREV_NC_U32 clamp", [](u32 a, u32 b) -> u32 { return sat_sub(b, a); }),
  valu("V_ADD_NC_U32 clamp", [](u32 a, u32 b) -> u32 { return sat_add(a, b); }),
  valu("V_SUB_NC_U32 clamp", [](u32 a, u32 b) -> u32 { return sat_sub(a, b); }),
  valu("V_ADD_I32", [](u32 a, u32 b) -> u32 { return a + b; }).undefined(carry),
  valu("V_SUB_I32", [](u32 a, u32 b) -> u32 { return a - b; }).undefined(carry),
  valu("V_ADD_NC_I32", [](u32 a, u32 b) -> u32 { return a + b; }).undefined(carry),
  valu("V_SUB_NC_I32", [](u32 a, u32 b) -> u32 { return a - b; }).undefined(carry),
  valu("V_ADD_I32 clamp", [](i32 a, i32 b) -> i32 { return clip(i64(a) + b); }),
  valu("V_SUB_I32 clamp", [](i32 a, i32 b) -> i32 { return clip(i64(a) - b); }),
  valu("V_ADD_NC_I32 clamp", [](i32 a, i32 b) -> i32 { return clip(i64(a) + b); }),
  valu("V_SUB_NC_I32 clamp", [](i32 a, i32 b) -> i32 { return clip(i64(a) - b); }),
  valu("V_ADD_CO_U32", [](u32 a, u32 b) -> Out2<u32> { const u32 r = a + b; return {r, r < a}; }).undefined(carry),
  valu("V_SUB_CO_U32", [](u32 a, u32 b) -> Out2<u32> { return {a - b, b > a}; }).undefined(carry),
  valu("V_SUBREV_CO_U32", [](u32 a, u32 b) -> Out2<u32> { return {b - a, a > b}; }).undefined(carry),
#define WITH_CARRY(ADD, SUB, SUBREV) \
  valu(ADD, [](u32 a, u32 b, bit c) -> Out2<u32> { const u32 t = a + b, r = t + c.value; return {r, ((t < a) | (r < t)) != 0}; }).undefined(carry), \
  valu(SUB, [](u32 a, u32 b, bit c) -> Out2<u32> { const u32 t = a - b; return {t - c.value, ((b > a) | (c.value > t)) != 0}; }).undefined(carry), \
  valu(SUBREV, [](u32 a, u32 b, bit c) -> Out2<u32> { const u32 t = b - a; return {t - c.value, ((a > b) | (c.value > t)) != 0}; }).undefined(carry)
  WITH_CARRY("V_ADDC_CO_U32", "V_SUBB_CO_U32", "V_SUBBREV_CO_U32"), WITH_CARRY("V_ADDC_U32", "V_SUBB_U32", "V_SUBBREV_U32"),
  WITH_CARRY("V_ADD_CO_CI_U32", "V_SUB_CO_CI_U32", "V_SUBREV_CO_CI_U32"),

  valu("V_MUL_LO_U32", [](u32 a, u32 b) -> u32 { return a * b; }).undefined(carry),
  valu("V_MUL_LO_I32", [](u32 a, u32 b) -> u32 { return a * b; }).undefined(carry),
  valu("V_MUL_HI_U32", [](u32 a, u32 b) -> u32 { return u32(u64(a) * b >> 32); }),
  valu("V_MUL_HI_I32", [](i32 a, i32 b) -> i32 { return i32(i64(a) * b >> 32); }),
  valu("V_MUL_I32_I24", [](u32 a, u32 b) -> u32 { return u32(sext24(a)) * u32(sext24(b)); }).undefined(carry),
  valu("V_MUL_U32_U24", [](u32 a, u32 b) -> u32 { return (a & 0xffffff) * (b & 0xffffff); }).undefined(carry),
  valu("V_MUL_HI_I32_I24", [](u32 a, u32 b) -> u32 { return u32(i64(sext24(a)) * sext24(b) >> 32); }),
  valu("V_MUL_HI_U32_U24", [](u32 a, u32 b) -> u32 { return u32(u64(a & 0xffffff) * (b & 0xffffff) >> 32); }),
  valu("V_MAD_I32_I24", [](u32 a, u32 b, u32 c) -> u32 { return u32(sext24(a)) * u32(sext24(b)) + c; }).undefined(carry),
  valu("V_MAD_U32_U24", [](u32 a, u32 b, u32 c) -> u32 { return (a & 0xffffff) * (b & 0xffffff) + c; }).undefined(carry),
  valu("V_MAD_U64_U32", [](u32 a, u32 b, u64 c) -> Out2<u64> { const u64 p = u64(a) * b, r = p + c; return {r, r < p}; }).undefined(carry),
  valu("V_MAD_I64_I32", [](i32 a, i32 b, u64 c) -> Out2<u64> { const i64 p = i64(a) * b; const u64 r = u64(p) + c; return {r, (__int128(p) + i64(c)) != i64(r)}; }).undefined(carry),
  valu("V_MAD_U32_U16", [](u16 a, u16 b, u32 c) -> u32 { return u32(a) * b + c; }).undefined(carry),
  valu("V_MAD_I32_I16", [](i16 a, i16 b, u32 c) -> u32 { return u32(i32(a) * b) + c; }).undefined(carry),

  hot_valu("V_AND_B32", [](u32 a, u32 b) -> u32 { return a & b; }).undefined(bit_and),
  hot_valu("V_OR_B32",  [](u32 a, u32 b) -> u32 { return a | b; }).undefined(bit_or),
  valu("V_XOR_B32", [](u32 a, u32 b) -> u32 { return a ^ b; }).undefined(bit_xor),
  valu("V_XNOR_B32", [](u32 a, u32 b) -> u32 { return ~(a ^ b); }).undefined(bit_xor),
  valu("V_AND_OR_B32", [](u32 a, u32 b, u32 c) -> u32 { return (a & b) | c; }).undefined(and_or),
  valu("V_OR3_B32",  [](u32 a, u32 b, u32 c) -> u32 { return a | b | c; }).undefined(same, 7),
  valu("V_XOR3_B32", [](u32 a, u32 b, u32 c) -> u32 { return a ^ b ^ c; }).undefined(bit_xor),
  valu("V_XAD_U32",  [](u32 a, u32 b, u32 c) -> u32 { return (a ^ b) + c; }).undefined(carry),
  hot_valu("V_ADD3_U32", [](u32 a, u32 b, u32 c) -> u32 { return a + b + c; }).undefined(carry),
  valu("V_ADD_LSHL_U32", [](u32 a, u32 b, u32 c) -> u32 { return (a + b) << (c & 31); }).undefined(add_lshl),
  hot_valu("V_LSHL_ADD_U32", [](u32 a, u32 b, u32 c) -> u32 { return (a << (b & 31)) + c; }).undefined(lshl_add),
  valu("V_LSHL_ADD_U64", [](u64 a, u32 b, u64 c) -> u64 { return (a << (b & 7)) + c; }).undefined(lshl_add),
  valu("V_LSHL_OR_B32", [](u32 a, u32 b, u32 c) -> u32 { return a << (b & 31) | c; }).undefined(same, 5),
  valu("V_BFI_B32", [](u32 a, u32 b, u32 c) -> u32 { return (a & b) | (~a & c); }).undefined(bfi),

  hot_valu("V_LSHLREV_B32", [](u32 a, u32 b) -> u32 { return b << (a & 31); }).undefined(same, 2),
  valu("V_LSHRREV_B32", [](u32 a, u32 b) -> u32 { return b >> (a & 31); }).undefined(same, 2),
  valu("V_ASHRREV_I32", [](u32 a, i32 b) -> i32 { return b >> (a & 31); }).undefined(same, 2),
  valu("V_LSHLREV_B64", [](u32 a, u64 b) -> u64 { return b << (a & 63); }).undefined(same, 2),
  valu("V_LSHRREV_B64", [](u32 a, u64 b) -> u64 { return b >> (a & 63); }).undefined(same, 2),
  valu("V_ASHRREV_I64", [](u32 a, i64 b) -> i64 { return b >> (a & 63); }).undefined(same, 2),
  valu("V_BFM_B32", [](u32 a, u32 b) -> u32 { return ((1u << (a & 31)) - 1) << (b & 31); }),
  valu("V_BFE_U32", [](u32 a, u32 b, u32 c) -> u32 { return bfe_u(a, b, c); }).undefined(same, 1),
  valu("V_BFE_I32", [](u32 a, u32 b, u32 c) -> i32 { return bfe_i(a, b, c); }).undefined(same, 1),
  valu("V_BFREV_B32", [](u32 a) -> u32 { return brev32(a); }).undefined(same, 1),
  valu("V_ALIGNBIT_B32",  [](u32 a, u32 b, u32 c) -> u32 { return u32((u64(a) << 32 | b) >> (c & 31)); }).undefined(same, 3),
  valu("V_ALIGNBYTE_B32", [](u32 a, u32 b, u32 c) -> u32 { return u32((u64(a) << 32 | b) >> (8 * (c & 3))); }).undefined(same, 3),
  valu("V_PERM_B32", [](u32 a, u32 b, u32 c) -> u32 { return perm(a, b, c); }).undefined(same, 3),
  valu("V_BITOP3_B16", [](u16 a, u16 b, u16 c, u32 t) -> u16 { return u16(bitop3(a, b, c, t)); }).with(truth_table).undefined(truth),
  valu("V_BITOP3_B32", [](u32 a, u32 b, u32 c, u32 t) -> u32 { return bitop3(a, b, c, t); }).with(truth_table).undefined(truth),
  // VOPD3's half of a v_bitop3 whose third source is 0
  valu("V_BITOP2_B32", [](u32 a, u32 b, u32 t) -> u32 { return bitop3(a, b, 0, t); }).with(truth_table).undefined(truth),
  // gfx12's and gfx1250's own names
  // gfx1250: no carry out.
  valu("V_MAD_NC_U64_U32", [](u32 a, u32 b, u64 c) -> u64 { return u64(a) * b + c; }).undefined(carry),
  valu("V_MAD_NC_I64_I32", [](i32 a, i32 b, u64 c) -> u64 { return u64(i64(a) * b) + c; }).undefined(carry),
  valu("V_MAD_CO_U64_U32", [](u32 a, u32 b, u64 c) -> Out2<u64> { const u64 p = u64(a) * b, r = p + c; return {r, r < p}; }).undefined(carry),
  valu("V_MAD_CO_I64_I32", [](i32 a, i32 b, u64 c) -> Out2<u64> { const i64 p = i64(a) * b; const u64 r = u64(p) + c; return {r, (__int128(p) + i64(c)) != i64(r)}; }).undefined(carry),
  valu("V_MAD_U32", [](u32 a, u32 b, u32 c) -> u32 { return a * b + c; }).undefined(carry),
  valu("V_ADD_U64", [](u64 a, u64 b) -> u64 { return a + b; }).undefined(carry), valu("V_SUB_U64", [](u64 a, u64 b) -> u64 { return a - b; }).undefined(carry),
  valu("V_MUL_U64", [](u64 a, u64 b) -> u64 { return a * b; }).undefined(carry),
  valu("V_MIN_I64", [](i64 a, i64 b) -> i64 { return min2(a, b); }), valu("V_MAX_I64", [](i64 a, i64 b) -> i64 { return max2(a, b); }),
  valu("V_MIN_U64", [](u64 a, u64 b) -> u64 { return min2(a, b); }), valu("V_MAX_U64", [](u64 a, u64 b) -> u64 { return max2(a, b); }),
  valu("V_BCNT_U32_B32", [](u32 a, u32 b) -> u32 { return u32(std::popcount(a)) + b; }),
  valu("V_FFBH_U32", [](u32 a) -> u32 { return a ? u32(__builtin_clz(a)) : ~0u; }),
  valu("V_FFBL_B32", [](u32 a) -> u32 { return a ? u32(__builtin_ctz(a)) : ~0u; }),
  valu("V_FFBH_I32", [](u32 a) -> u32 { const u32 x = i32(a) < 0 ? ~a : a; return x ? u32(__builtin_clz(x)) : ~0u; }),
  valu("V_CLZ_I32_U32", [](u32 a) -> u32 { return a ? u32(__builtin_clz(a)) : ~0u; }),
  valu("V_CTZ_I32_B32", [](u32 a) -> u32 { return a ? u32(__builtin_ctz(a)) : ~0u; }),
  valu("V_CLS_I32", [](u32 a) -> u32 { const u32 x = i32(a) < 0 ? ~a : a; return x ? u32(__builtin_clz(x)) : ~0u; }),

  valu("V_MIN_I32", [](i32 a, i32 b) -> i32 { return min2(a, b); }), valu("V_MAX_I32", [](i32 a, i32 b) -> i32 { return max2(a, b); }),
  valu("V_MIN_U32", [](u32 a, u32 b) -> u32 { return min2(a, b); }), valu("V_MAX_U32", [](u32 a, u32 b) -> u32 { return max2(a, b); }),
  valu("V_MIN3_I32", [](i32 a, i32 b, i32 c) -> i32 { return min2(min2(a, b), c); }), valu("V_MAX3_I32", [](i32 a, i32 b, i32 c) -> i32 { return max2(max2(a, b), c); }),
  valu("V_MIN3_U32", [](u32 a, u32 b, u32 c) -> u32 { return min2(min2(a, b), c); }), valu("V_MAX3_U32", [](u32 a, u32 b, u32 c) -> u32 { return max2(max2(a, b), c); }),
  valu("V_MED3_I32", [](i32 a, i32 b, i32 c) -> i32 { return med3(a, b, c); }), valu("V_MED3_U32", [](u32 a, u32 b, u32 c) -> u32 { return med3(a, b, c); }),
  valu("V_MAXMIN_I32", [](i32 a, i32 b, i32 c) -> i32 { return min2(max2(a, b), c); }), valu("V_MINMAX_I32", [](i32 a, i32 b, i32 c) -> i32 { return max2(min2(a, b), c); }),
  valu("V_MAXMIN_U32", [](u32 a, u32 b, u32 c) -> u32 { return min2(max2(a, b), c); }), valu("V_MINMAX_U32", [](u32 a, u32 b, u32 c) -> u32 { return max2(min2(a, b), c); }),
  valu("V_SAD_U8", [](u32 a, u32 b, u32 c) -> u32 { return sad_u8(a, b, c); }),
  valu("V_MSAD_U8", [](u32 a, u32 b, u32 c) -> u32 { return msad_u8(a, b, c); }),
  valu("V_SAD_U32", [](u32 a, u32 b, u32 c) -> u32 { return (a > b ? a - b : b - a) + c; }),
  valu("V_SAD_U16", [](u32 a, u32 b, u32 c) -> u32 { const i32 l = i32(a & 0xffff) - i32(b & 0xffff), h = i32(a >> 16) - i32(b >> 16); return c + u32(l < 0 ? -l : l) + u32(h < 0 ? -h : h); }),
  valu("V_SAD_HI_U8", [](u32 a, u32 b, u32 c) -> u32 { return (sad_u8(a, b, 0) << 16) + c; }),
  valu("V_LERP_U8", [](u32 a, u32 b, u32 c) -> u32 { u32 r = 0; for (int k = 0; k < 32; k += 8) r |= (((a >> k & 255) + (b >> k & 255) + (c >> k & 1)) >> 1) << k; return r; }),

  // Byte dot products. VOP3P's own sign bits (v_dot4_i32_iu8) come with the matrix instructions.
  valu("V_DOT4_I32_I8",  [](u32 a, u32 b, i32 c) -> i32 { return dot4_i(a, b, c); }),
  valu("V_DOT4_U32_U8",  [](u32 a, u32 b, u32 c) -> u32 { return dot4_u(a, b, c); }),
  valu("V_DOT4C_I32_I8", [](u32 a, u32 b, i32 d) -> i32 { return dot4_i(a, b, d); }).with(acc),
};
// clang-format on

}  // namespace

std::span<const Row> vector_integer_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
