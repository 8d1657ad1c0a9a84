// Where WMMA's matrix elements stand: which lane, and which place among the lane's registers.
//
// A map says it bit by bit. The elements along one dimension are numbered; its digits, from the number's lowest bit
// up, say where that bit goes: `s` to the next bit of the slot within the lane's registers, `h` to lane bit 4, `q` to
// lane bit 5. Lane bits 3:0 are the other dimension. RDNA4's A in wave32, "sshs": k = 0..3 in slots 0..3 of lanes
// 0-15, k = 4..7 in slots 0..3 of lanes 16-31, k = 8..11 in slots 4..7 of lanes 0-15, and so on.
// Sources: RDNA3 ISA 7.9, RDNA4 ISA 7.12, AMD's matrix instruction calculator (the formulas of each instruction).
// gfx1250 continues RDNA4's pattern; a permutation of k that A and B share changes no product but the order of sums. Its sparse forms
// have B's map follow from A's: as many kept elements in a row of slots, twice as many k.
#pragma once

#include "machine/small_floats.h"

namespace lathe::emu {

struct Place {
  u8 lane = 0, slot = 0;
};
constexpr Place place(const char* map, u32 number) {
  Place p;
  u32 slot_bit = 0;
  for (u32 k = 0; map[k]; k++) {
    const u32 bit = number >> k & 1;
    if (map[k] == 's') p.slot = u8(p.slot | bit << slot_bit++);
    else p.lane = u8(p.lane | bit << (map[k] == 'h' ? 4 : 5));
  }
  return p;
}
constexpr u32 slots(const char* map) {
  u32 n = 1;
  for (; *map; map++)
    if (*map == 's') n *= 2;
  return n;
}

// Element types of the matrices; `by_format` is named by the instruction's own format fields.
enum class Elem : u8 { f32, f16, bf16, fp8, bf8, fp6, bf6, fp4, i8, i4, i32, by_format };
constexpr u32 bits(Elem e) {
  switch (e) {
    case Elem::f32: case Elem::i32: return 32;
    case Elem::f16: case Elem::bf16: return 16;
    case Elem::fp6: case Elem::bf6: return 6;
    case Elem::fp4: case Elem::i4: return 4;
    default: return 8;
  }
}

// How sums are rounded.
enum class Sums : u8 {
  dot,          // RDNA: "internally use the DOT instructions": rows/dot.cpp's sequence, in the type of C
  dot_flushed,  // RDNA3, whose dot products flush f32 denormals
  wide,         // gfx1250: in f32, rounded to D's type once
  integer,
};

struct WmmaShape {
  u8 m, k;                           // N is 16
  Elem a, b, c, d;
  Sums sums;
  const char* a_map[2];              // by wave size 32, 64: along k (of a sparse A: along the kept elements)
  const char* b_map[2];
  const char* d_map[2];              // along m
  bool sparse = false;
  bool d_halves = false;             // RDNA3's 16-bit C and D: one element per register, in the half OP_SEL[2] says
  bool replicated = false;           // RDNA3's A and B: each group of 16 lanes holds all of it
};

// f8f6f4: the formats' codes (LLVM: MATRIX_FMT_*), A's in OP_SEL, B's in OP_SEL_HI.
constexpr Elem format_of(u32 code) {
  constexpr Elem formats[] = {Elem::fp8, Elem::bf8, Elem::fp6, Elem::bf6, Elem::fp4};
  return code < 5 ? formats[code] : Elem::by_format;
}
// gfx1250's operands of 8 bits alternate between half-waves every 16 elements, narrower ones every 32, so that each
// block of 32 that has a scale of its own comes from 16-byte pieces.
constexpr const char* f8f6f4_map(Elem e) { return bits(e) == 8 ? "sssshss" : "ssssshs"; }

}  // namespace lathe::emu
