// Where the matrices of a CDNA matrix instruction stand in the 64 lanes and the registers of an operand.
// Source: CDNA3 and CDNA4 ISA documents, chapter "Matrix arithmetic instructions", layouts of A, B, C and D.
//
// A (and B, with columns for rows): a lane holds values of one row of one block, consecutive in k. Lanes run
// over the rows, then the blocks, then the groups of k:   lane = row + M * (block + blocks * group).
// C and D: a row of a block is N consecutive lanes of one register, which is why an operand row is a plain
// pointer here and nothing is gathered.
#pragma once

#include <bit>

#include "rows/mfma_table.h"

namespace lathe::emu::LATHE_LEVEL {

// A row of a matrix: value number `element` (counted within a lane) of N or M consecutive lanes.
struct Place {
  u32 element, lane;
};

// Every extent is a power of two, so that shifts do.
constexpr u32 log2(u32 power_of_two) { return u32(std::countr_zero(power_of_two)); }

// One of the two inputs.
struct SideMap {
  u32 rows, blocks, per_lane;
  bool chunked = false;  // 8-bit values of f8f6f4: the second 16 values of a lane follow all the first ones in k
  Place at(u32 k, u32 block) const {
    const u32 log_groups = 6 - log2(rows * blocks);
    u32 element, group;
    if (chunked) {
      element = k >> (4 + log_groups) << 4 | (k & 15);
      group = k >> 4 & ((1u << log_groups) - 1);
    } else {
      element = k & (per_lane - 1);
      group = k >> log2(per_lane);
    }
    return {element, rows * (block + blocks * group)};
  }
};

// Row i of a block of C or D. Rows come in strips of four (f64: one), a register each; strips, and blocks that
// leave room, stand side by side in the lanes.
static inline Place result_place(const MatrixOp& op, u32 i, u32 block) {
  const u32 log_height = op.flags & matrix_double ? 0 : 2, log_n = log2(op.n);
  const u32 log_width = log2(op.m) - log_height + log_n;          // of a block's strips side by side
  const u32 log_beside = log_width < 6 ? 6 - log_width : 0;       // blocks side by side
  const u32 log_across = 6 - log_n - log_beside;                  // strips side by side
  const u32 strip = i >> log_height, in_strip = i & ((1u << log_height) - 1);
  const u32 per_block = op.m * op.n >> 6;                         // registers of one block, if it fills any
  const u32 column = (strip & ((1u << log_across) - 1)) << log_beside | (block & ((1u << log_beside) - 1));
  return {(block >> log_beside) * per_block + (strip >> log_across << log_height) + in_strip, column << log_n};
}

// BLGP: the lane whose B a lane gets (CDNA3 ISA, "BLGP"): broadcast of one half, a rotation by 16, broadcast of
// one quarter.
static inline u32 blgp_lane(u32 blgp, u32 lane) {
  switch (blgp) {
    case 1: return lane % 32;
    case 2: return lane % 32 + 32;
    case 3: return (lane + 16) % 64;
    case 4: case 5: case 6: case 7: return lane % 16 + 16 * (blgp - 4);
    default: return lane;
  }
}
// CBSZ and ABID: 2^cbsz neighbouring blocks all get A from block number abid among them.
static inline u32 broadcast_block(u32 cbsz, u32 abid, u32 block) {
  const u32 size = 1u << cbsz;
  return (block & ~(size - 1)) + (abid & (size - 1));
}

}  // namespace lathe::emu::LATHE_LEVEL
