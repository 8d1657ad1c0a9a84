// CDNA's matrix instructions, a row each: D = A x B + C over `blocks` independent blocks of M x N x K.
// Sources: AMD's CDNA1 to CDNA4 ISA documents, chapter "Matrix arithmetic instructions" (shapes, types), AMD's
// matrix instruction calculator and, for CDNA4, LLVM's scheduling model (passes of four cycles).
#pragma once

#include "machine/row.h"

namespace lathe::emu::LATHE_LEVEL {

enum class Elem : u8 { f64, f32, xf32, f16, bf16, i8, fp8, bf8, f8f6f4 };

constexpr u32 bits_of(Elem e) {
  switch (e) {
    case Elem::f64: return 64;
    case Elem::f32: case Elem::xf32: return 32;
    case Elem::f16: case Elem::bf16: return 16;
    case Elem::i8: case Elem::fp8: case Elem::bf8: case Elem::f8f6f4: return 8;
  }
  return 0;
}

struct MatrixOp {
  std::string_view name;
  u8 m, n, k, blocks;
  Elem a, b;
  u8 passes[3];        // CDNA1 and 2, CDNA3, CDNA4; 0: the generation lacks it
  u8 flags = 0;
  constexpr bool sparse() const { return flags & matrix_sparse; }
  // Values of A and of B that one lane holds.
  constexpr u32 a_per_lane() const { return u32(m) * k * blocks / 64 / (sparse() ? 2 : 1); }
  constexpr u32 b_per_lane() const { return u32(n) * k * blocks / 64; }
  constexpr u32 d_per_lane() const { return u32(m) * n * blocks / 64; }
};

// clang-format off
inline constexpr MatrixOp mfma_ops[] = {
  //                                M   N   K    blocks A          B          passes
  {"V_MFMA_F32_32X32X1F32",         32, 32, 1,   2,  Elem::f32,  Elem::f32,  {16, 16, 16}},
  {"V_MFMA_F32_16X16X1F32",         16, 16, 1,   4,  Elem::f32,  Elem::f32,  {8, 8, 8}},
  {"V_MFMA_F32_4X4X1F32",           4,  4,  1,   16, Elem::f32,  Elem::f32,  {2, 2, 2}},
  {"V_MFMA_F32_32X32X2F32",         32, 32, 2,   1,  Elem::f32,  Elem::f32,  {16, 16, 16}},
  {"V_MFMA_F32_16X16X4F32",         16, 16, 4,   1,  Elem::f32,  Elem::f32,  {8, 8, 8}},

  {"V_MFMA_F32_16X16X8XF32",        16, 16, 8,   1,  Elem::xf32, Elem::xf32, {0, 4, 0}},
  {"V_MFMA_F32_32X32X4XF32",        32, 32, 4,   1,  Elem::xf32, Elem::xf32, {0, 8, 0}},

  {"V_MFMA_F32_32X32X4F16",         32, 32, 4,   2,  Elem::f16,  Elem::f16,  {16, 16, 16}},
  {"V_MFMA_F32_16X16X4F16",         16, 16, 4,   4,  Elem::f16,  Elem::f16,  {8, 8, 8}},
  {"V_MFMA_F32_4X4X4F16",           4,  4,  4,   16, Elem::f16,  Elem::f16,  {2, 2, 2}},
  {"V_MFMA_F32_32X32X8F16",         32, 32, 8,   1,  Elem::f16,  Elem::f16,  {16, 8, 8}},
  {"V_MFMA_F32_16X16X16F16",        16, 16, 16,  1,  Elem::f16,  Elem::f16,  {8, 4, 4}},
  {"V_MFMA_F32_32X32X16_F16",       32, 32, 16,  1,  Elem::f16,  Elem::f16,  {0, 0, 8}},
  {"V_MFMA_F32_16X16X32_F16",       16, 16, 32,  1,  Elem::f16,  Elem::f16,  {0, 0, 4}},

  {"V_MFMA_F32_32X32X2BF16",        32, 32, 2,   2,  Elem::bf16, Elem::bf16, {16, 0, 0}},
  {"V_MFMA_F32_16X16X2BF16",        16, 16, 2,   4,  Elem::bf16, Elem::bf16, {8, 0, 0}},
  {"V_MFMA_F32_4X4X2BF16",          4,  4,  2,   16, Elem::bf16, Elem::bf16, {2, 0, 0}},
  {"V_MFMA_F32_32X32X4BF16",        32, 32, 4,   1,  Elem::bf16, Elem::bf16, {16, 0, 0}},
  {"V_MFMA_F32_16X16X8BF16",        16, 16, 8,   1,  Elem::bf16, Elem::bf16, {8, 0, 0}},
  {"V_MFMA_F32_32X32X4BF16_1K",     32, 32, 4,   2,  Elem::bf16, Elem::bf16, {16, 16, 16}},
  {"V_MFMA_F32_16X16X4BF16_1K",     16, 16, 4,   4,  Elem::bf16, Elem::bf16, {8, 8, 8}},
  {"V_MFMA_F32_4X4X4BF16_1K",       4,  4,  4,   16, Elem::bf16, Elem::bf16, {2, 2, 2}},
  {"V_MFMA_F32_32X32X8BF16_1K",     32, 32, 8,   1,  Elem::bf16, Elem::bf16, {16, 8, 8}},
  {"V_MFMA_F32_16X16X16BF16_1K",    16, 16, 16,  1,  Elem::bf16, Elem::bf16, {8, 4, 4}},
  {"V_MFMA_F32_32X32X16_BF16",      32, 32, 16,  1,  Elem::bf16, Elem::bf16, {0, 0, 8}},
  {"V_MFMA_F32_16X16X32_BF16",      16, 16, 32,  1,  Elem::bf16, Elem::bf16, {0, 0, 4}},

  {"V_MFMA_I32_32X32X4I8",          32, 32, 4,   2,  Elem::i8,   Elem::i8,   {16, 16, 16}},
  {"V_MFMA_I32_16X16X4I8",          16, 16, 4,   4,  Elem::i8,   Elem::i8,   {8, 8, 8}},
  {"V_MFMA_I32_4X4X4I8",            4,  4,  4,   16, Elem::i8,   Elem::i8,   {2, 2, 2}},
  {"V_MFMA_I32_32X32X8I8",          32, 32, 8,   1,  Elem::i8,   Elem::i8,   {16, 0, 0}},
  {"V_MFMA_I32_16X16X16I8",         16, 16, 16,  1,  Elem::i8,   Elem::i8,   {8, 0, 0}},
  {"V_MFMA_I32_32X32X16I8",         32, 32, 16,  1,  Elem::i8,   Elem::i8,   {0, 8, 8}},
  {"V_MFMA_I32_16X16X32I8",         16, 16, 32,  1,  Elem::i8,   Elem::i8,   {0, 4, 4}},
  {"V_MFMA_I32_32X32X32_I8",        32, 32, 32,  1,  Elem::i8,   Elem::i8,   {0, 0, 8}},
  {"V_MFMA_I32_16X16X64_I8",        16, 16, 64,  1,  Elem::i8,   Elem::i8,   {0, 0, 4}},

  {"V_MFMA_F64_16X16X4F64",         16, 16, 4,   1,  Elem::f64,  Elem::f64,  {8, 8, 16}, matrix_double},
  {"V_MFMA_F64_4X4X4F64",           4,  4,  4,   4,  Elem::f64,  Elem::f64,  {4, 4, 4},  matrix_double},

  {"V_MFMA_F32_16X16X32_BF8_BF8",   16, 16, 32,  1,  Elem::bf8,  Elem::bf8,  {0, 4, 4}},
  {"V_MFMA_F32_16X16X32_BF8_FP8",   16, 16, 32,  1,  Elem::bf8,  Elem::fp8,  {0, 4, 4}},
  {"V_MFMA_F32_16X16X32_FP8_BF8",   16, 16, 32,  1,  Elem::fp8,  Elem::bf8,  {0, 4, 4}},
  {"V_MFMA_F32_16X16X32_FP8_FP8",   16, 16, 32,  1,  Elem::fp8,  Elem::fp8,  {0, 4, 4}},
  {"V_MFMA_F32_32X32X16_BF8_BF8",   32, 32, 16,  1,  Elem::bf8,  Elem::bf8,  {0, 8, 8}},
  {"V_MFMA_F32_32X32X16_BF8_FP8",   32, 32, 16,  1,  Elem::bf8,  Elem::fp8,  {0, 8, 8}},
  {"V_MFMA_F32_32X32X16_FP8_BF8",   32, 32, 16,  1,  Elem::fp8,  Elem::bf8,  {0, 8, 8}},
  {"V_MFMA_F32_32X32X16_FP8_FP8",   32, 32, 16,  1,  Elem::fp8,  Elem::fp8,  {0, 8, 8}},

  // The passes are those of 6- and 4-bit operands; with an 8-bit one they double.
  {"V_MFMA_F32_16X16X128_F8F6F4",       16, 16, 128, 1, Elem::f8f6f4, Elem::f8f6f4, {0, 0, 4}, matrix_formats},
  {"V_MFMA_F32_32X32X64_F8F6F4",        32, 32, 64,  1, Elem::f8f6f4, Elem::f8f6f4, {0, 0, 8}, matrix_formats},
  {"V_MFMA_SCALE_F32_16X16X128_F8F6F4", 16, 16, 128, 1, Elem::f8f6f4, Elem::f8f6f4, {0, 0, 4}, matrix_formats},
  {"V_MFMA_SCALE_F32_32X32X64_F8F6F4",  32, 32, 64,  1, Elem::f8f6f4, Elem::f8f6f4, {0, 0, 8}, matrix_formats},

  {"V_SMFMAC_F32_16X16X32_F16",     16, 16, 32,  1,  Elem::f16,  Elem::f16,  {0, 4, 4}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X16_F16",     32, 32, 16,  1,  Elem::f16,  Elem::f16,  {0, 8, 8}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X32_BF16",    16, 16, 32,  1,  Elem::bf16, Elem::bf16, {0, 4, 4}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X16_BF16",    32, 32, 16,  1,  Elem::bf16, Elem::bf16, {0, 8, 8}, matrix_sparse},
  {"V_SMFMAC_I32_16X16X64_I8",      16, 16, 64,  1,  Elem::i8,   Elem::i8,   {0, 4, 4}, matrix_sparse},
  {"V_SMFMAC_I32_32X32X32_I8",      32, 32, 32,  1,  Elem::i8,   Elem::i8,   {0, 8, 8}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X64_BF8_BF8", 16, 16, 64,  1,  Elem::bf8,  Elem::bf8,  {0, 4, 4}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X64_BF8_FP8", 16, 16, 64,  1,  Elem::bf8,  Elem::fp8,  {0, 4, 4}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X64_FP8_BF8", 16, 16, 64,  1,  Elem::fp8,  Elem::bf8,  {0, 4, 4}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X64_FP8_FP8", 16, 16, 64,  1,  Elem::fp8,  Elem::fp8,  {0, 4, 4}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X32_BF8_BF8", 32, 32, 32,  1,  Elem::bf8,  Elem::bf8,  {0, 8, 8}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X32_BF8_FP8", 32, 32, 32,  1,  Elem::bf8,  Elem::fp8,  {0, 8, 8}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X32_FP8_BF8", 32, 32, 32,  1,  Elem::fp8,  Elem::bf8,  {0, 8, 8}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X32_FP8_FP8", 32, 32, 32,  1,  Elem::fp8,  Elem::fp8,  {0, 8, 8}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X64_F16",      16, 16, 64,  1, Elem::f16,  Elem::f16,  {0, 0, 4}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X32_F16",      32, 32, 32,  1, Elem::f16,  Elem::f16,  {0, 0, 8}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X64_BF16",     16, 16, 64,  1, Elem::bf16, Elem::bf16, {0, 0, 4}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X32_BF16",     32, 32, 32,  1, Elem::bf16, Elem::bf16, {0, 0, 8}, matrix_sparse},
  {"V_SMFMAC_I32_16X16X128_I8",      16, 16, 128, 1, Elem::i8,   Elem::i8,   {0, 0, 4}, matrix_sparse},
  {"V_SMFMAC_I32_32X32X64_I8",       32, 32, 64,  1, Elem::i8,   Elem::i8,   {0, 0, 8}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X128_BF8_BF8", 16, 16, 128, 1, Elem::bf8,  Elem::bf8,  {0, 0, 4}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X128_BF8_FP8", 16, 16, 128, 1, Elem::bf8,  Elem::fp8,  {0, 0, 4}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X128_FP8_BF8", 16, 16, 128, 1, Elem::fp8,  Elem::bf8,  {0, 0, 4}, matrix_sparse},
  {"V_SMFMAC_F32_16X16X128_FP8_FP8", 16, 16, 128, 1, Elem::fp8,  Elem::fp8,  {0, 0, 4}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X64_BF8_BF8",  32, 32, 64,  1, Elem::bf8,  Elem::bf8,  {0, 0, 8}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X64_BF8_FP8",  32, 32, 64,  1, Elem::bf8,  Elem::fp8,  {0, 0, 8}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X64_FP8_BF8",  32, 32, 64,  1, Elem::fp8,  Elem::bf8,  {0, 0, 8}, matrix_sparse},
  {"V_SMFMAC_F32_32X32X64_FP8_FP8",  32, 32, 64,  1, Elem::fp8,  Elem::fp8,  {0, 0, 8}, matrix_sparse},
};
// clang-format on

}  // namespace lathe::emu::LATHE_LEVEL
