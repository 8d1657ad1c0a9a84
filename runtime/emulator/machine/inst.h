// One decoded instruction, as compact as execution wants it: operands are already resolved to
// register numbers and constants, modifiers to bits, and `run` to the handler of its family.
#pragma once

#include "types.h"

namespace lathe::emu {

struct Wave;
struct Row;
struct Inst;

// Runs one instruction and returns the next one, or nullptr if the wave stops (barrier, end).
using Handler = const Inst* (*)(Wave&, const Inst*);

// What a row's lane loop works on: whole operands, 32 or 64 lanes each, in dwords or quadwords.
struct Lanes {
  void* d;            // result
  u32* flag;          // 0 or 1 per lane where the row yields a mask
  const void* s[4];
  u32 n;              // 32 or 64
};
using LaneFn = void (*)(const Lanes&);

// What an operand's bits mean; decides inline constants, modifiers and denormal handling.
enum class Ty : u8 { none, b16, f16, bf16, b32, f32, b64, i64, f64, mask, pk16, pkf16, pkbf16, pkf32, pkb32, mix, mixbf, lane, mods, mode };

constexpr u32 dwords(Ty t) {
  switch (t) {
    case Ty::none: return 0;
    case Ty::b64: case Ty::i64: case Ty::f64: case Ty::pkf32: case Ty::pkb32: return 2;
    default: return 1;
  }
}
constexpr bool is_16bit(Ty t) { return t == Ty::b16 || t == Ty::f16 || t == Ty::bf16; }
constexpr bool is_packed(Ty t) {
  return t == Ty::pk16 || t == Ty::pkf16 || t == Ty::pkbf16 || t == Ty::pkf32 || t == Ty::pkb32;
}
constexpr bool is_mix(Ty t) { return t == Ty::mix || t == Ty::mixbf; }
constexpr bool is_float(Ty t) {
  return t == Ty::f16 || t == Ty::f32 || t == Ty::f64 || t == Ty::pkf16 || t == Ty::pkf32 || t == Ty::bf16 ||
         t == Ty::pkbf16 || is_mix(t);
}

enum class Kind : u8 { none, vgpr, sgpr, constant, special };

struct Src {
  Kind kind = Kind::none;
  Ty type = Ty::none;
  u8 neg : 1 = 0, abs : 1 = 0;                 // per operand; for packed: neg = low half
  u8 neg_hi : 1 = 0, sel : 1 = 0, sel_hi : 1 = 0;  // op_sel, op_sel_hi; for 16-bit types sel = high half
  u8 sdwa_sel : 3 = 6;                         // 0-3 byte, 4-5 word, 6 dword
  u8 sdwa_sext : 1 = 0;
  u16 reg = 0;                                 // register number, or the special source's encoding
  union {
    u64 value = 0;                             // constant, scalar use
    const u32* lanes;                          // constant, vector use: 64 copies
  };
};

struct Dst {
  Kind kind = Kind::none;
  Ty type = Ty::none;
  u8 half : 1 = 0;           // 16-bit result goes to the high half
  u8 keep : 1 = 0;           // the other half is kept, else zeroed
  u8 sdwa_sel : 3 = 6;
  u8 sdwa_unused : 2 = 0;    // 0 pad with zero, 1 sign-extend, 2 preserve
  u16 reg = 0;
};

// Classes that the counters tell apart.
enum class Class : u8 { salu, valu, vopd, smem, lds, global, scratch, buffer, branch, wait, matrix, other, count };

struct Dpp {
  bool on = false, is8 = false;
  bool bound_ctrl = false, fetch_inactive = false;
  u8 row_mask = 15, bank_mask = 15;
  u16 ctrl = 0;
  u32 sel8 = 0;
};

enum class Segment : u8 { flat, global, scratch, buffer };

// Fields of memory instructions. Registers: addr, data are VGPRs; saddr an SGPR (pair, or SRSRC).
struct Mem {
  i32 offset = 0, offset1 = 0;
  u16 addr = 0, data = 0, data1 = 0, saddr = 0;
  Segment segment = Segment::global;
  bool has_vaddr = false, has_saddr = false, ret = false, lds = false;
  bool offen = false, idxen = false;
  bool scale = false;         // gfx1250: the register offset counts elements of the access's size
  bool signed_offset = false; // gfx1250: the VGPR beside an SGPR base is signed
  u8 format = 0;              // typed buffers: the format field
  u8 scope = 0;   // who sees it at once: 0 the wave, then work-group, device, system (cache bits; any above 0 may be an atomic access)
  Src soffset;
};

// Modifiers of matrix instructions; their operands A, B and C (or the sparse index) are src[0..2].
struct Matrix {
  u8 cbsz = 0, abid = 0, blgp = 0;
  bool scaled = false;
  u8 scale_byte[2] = {};     // of the scale registers of A and B
  u16 scale_reg[2] = {};
};

struct Inst {
  Handler run = nullptr;
  LaneFn lanes = nullptr;       // the row's lane loop
  const Row* row = nullptr;
  u64 pc = 0;                   // device address
  Handler behind = nullptr;     // the handler proper, where `run` first looks for hazards (machine/hazards.h)
  const struct Watch* watch = nullptr;  // what machine/rdna_hazards.h has to know of it
  u32 states = 0;               // wait states from the start of its run of decoded code
  const Inst* target = nullptr; // branch target, filled on first use
  u32 size = 0;
  i32 imm = 0;                  // SOPP/SOPK immediate; branch offset in dwords
  Class cls = Class::other;
  u8 tally = 0;                 // which counter it adds to (counters.h)
  u8 nsrc = 0;
  bool simple = false;          // all operands 32-bit or plain, no modifier: the fast path
  bool clamp = false;
  u8 vgpr_msb = 0;              // gfx1250: S_SET_VGPR_MSB's mode after this instruction
  u8 omod = 0;
  bool sdwa = false;
  bool float_result = false;
  Dst dst, sdst;
  Src src[5];
  u8 wide[6] = {};              // dwords of dst and of each source where more than the type says (WMMA)
  u32 mods = 0;                 // WMMA: the modifier bits as in `mods`; a scale prefix's own from bit 16
  Dpp dpp;
  Mem mem;
  Matrix matrix;
  const Inst* second = nullptr; // VOPD: the Y half
};

}  // namespace lathe::emu
