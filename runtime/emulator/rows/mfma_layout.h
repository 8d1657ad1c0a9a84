// Where the matrices of a CDNA matrix instruction stand in the 64 lanes and the registers of an operand.
// Source: CDNA3 and CDNA4 ISA documents, chapter "Matrix arithmetic instructions", layouts of A, B, C and D.
//
// A (and B, with columns for rows): a lane holds values of one row of one block, consecutive in k. Lanes run
// over the rows, then the blocks, then the groups of k:   lane = row + M * (block + blocks * group).
// C and D: a row of a block is N consecutive lanes of one register, which is why an operand row is a plain
// pointer here and nothing is gathered.
#pragma once

#include "rows/mfma_table.h"

namespace lathe::emu::LATHE_LEVEL {

// A row of a matrix: value number `element` (counted within a lane) of N or M consecutive lanes.
struct Place {
  u32 element, lane;
};

// One of the two inputs.
struct SideMap {
  u32 rows, blocks, per_lane;
  bool chunked = false;  // 8-bit values of f8f6f4: the second 16 values of a lane follow all the first ones in k
  Place at(u32 k, u32 block) const {
    const u32 groups = 64 / (rows * blocks);
    u32 element, group;
    if (chunked) {
      element = k / (16 * groups) * 16 + k % 16;
      group = k / 16 % groups;
    } else {
      element = k % per_lane;
      group = k / per_lane;
    }
    return {element, rows * (block + blocks * group)};
  }
};

// Row i of a block of C or D. Rows come in strips of four (f64: one), a register each; strips, and blocks that
// leave room, stand side by side in the lanes.
static inline Place result_place(const MatrixOp& op, u32 i, u32 block) {
  const u32 height = op.flags & matrix_double ? 1 : 4;
  const u32 strips = op.m / height;
  const u32 beside = 64 / (strips * op.n) > 1 ? 64 / (strips * op.n) : 1;  // blocks side by side
  const u32 across = 64 / (op.n * beside);                                 // strips side by side
  const u32 strip = i / height;
  const u32 per_block = op.m * op.n / 64;                                  // registers of one block, if it fills any
  return {block / beside * per_block + strip / across * height + i % height, (strip % across * beside + block % beside) * op.n};
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
