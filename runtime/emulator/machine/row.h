// One row per instruction: its LLVM base name, the shape of its operands and its meaning.
// Families (valu.h, salu.h, ...) offer the constructors that turn a one-line lambda into a row.
#pragma once

#include <span>
#include <string_view>

#include "inst.h"
#include "isa.h"

namespace lathe::emu {

enum class Family : u8 {
  valu,      // any VOP1, VOP2, VOP3, VOP3P or VOPC arithmetic: operands by signature
  lane,      // VALU with its own operand logic: readlane, permlane, swap ...
  salu,      // SOP1, SOP2, SOPC, SOPK by signature
  control,   // branches, waits, barriers: handler alone
  smem,
  ds,
  vmem,      // FLAT, GLOBAL, SCRATCH, MUBUF
  mfma,      // VOP3P-MAI: CDNA's matrix instructions
  wide,      // WMMA and wide conversions: register groups as the row's shape says
};

// How undefined bits pass through (valgrind's rule: moving is fine, and the result is as undefined as
// its operands make it).
enum class Undef : u8 {
  any,       // one undefined bit anywhere makes the whole result undefined
  same,      // a pure permutation of bits: the row applied to the shadows of the data operands
  bit_and, bit_or, bit_xor, bit_andn2, bit_orn2,
  carry,     // add, sub, mul: undefined from the lowest undefined bit upward; operands outside a given data set are control
  lshl_add,  // (a << b) + c: bits shifted out do not matter
  add_lshl,  // (a + b) << c
  select,    // mask chooses one of two
  and_or, bfi,
  truth,     // v_bitop3: a bit that comes out the same whatever the undefined bits are is defined
  byte,      // only byte number `data_operands` of the source matters
};

struct Sig {
  Ty dst = Ty::none;
  bool mask_out = false;     // also, or only, writes a lane mask
  u8 n = 0;
  Ty src[4] = {};
};

enum RowFlag : u32 {
  acc = 1,        // the destination is the last source too (v_fmac)
  lit_last = 2,   // the last source is a trailing literal (v_fmaak)
  lit_mid = 4,    // the middle source is (v_fmamk)
  cmpx = 8,       // result goes to EXEC
  keep_high = 16, // 16-bit result keeps the other half on gfx9 too
  scalar_dst = 32,
  reads_scc = 64, writes_scc = 128,
  no_dst = 256,
  vcc_last = 512, // the mask operand is VCC in every encoding (v_div_fmas)
  dst_read = 1024,// SOPK/SOP1 forms that read their destination (s_addk, s_cmov)
  mods_mix = 2048,// op_sel_hi chooses f16 or f32 per operand
  d_hi = 4096,    // writes the high half (v_fma_mixhi)
  agpr_src = 8192, agpr_dst = 16384,  // v_accvgpr_read, _write, _mov
  truth_table = 32768,                // v_bitop3: the modifiers' bits are a table, given as the last source
  byte_src = 1 << 16,  // OP_SEL[1:0], reversed, is the byte of the source (v_cvt_f32_fp8)
  byte_dst = 1 << 17,  // OP_SEL[3:2] is the byte of the destination; the others are kept (v_cvt_sr_fp8_f32)
};

enum class MemOp : u8 {
  none, load, store,
  add, sub, rsub, umin, umax, smin, smax, and_, or_, xor_, inc, dec, swap, cmpswap,
  fadd, fmin, fmax, fcmpswap, pk_fadd_f16, pk_fadd_bf16, mskor, sub_clamp, cond_sub, wrap,
};
enum MemFlag : u8 {
  mem_signed = 1, mem_d16 = 2, mem_d16_hi = 4,
  mem_two = 8,          // ds_read2 / ds_write2
  mem_st64 = 16,        // their offsets count 64 elements
  mem_compare_first = 32, // ds_cmpst: data0 is the comparand (gfx11's ds_cmpstore: data0 is the new value)
  mem_no_address = 64,  // the address is M0's, not a VGPR's
  mem_to_lds = 128,     // between memory and LDS, past the registers
};

enum MatrixFlag : u8 {
  matrix_sparse = 1,    // the third source is the index of a 4:2 sparse A; the destination is C
  matrix_formats = 2,   // cbsz and blgp name the formats of A and B, which decide how many registers they take
  matrix_double = 4,    // f64: blgp negates
};

struct Row {
  std::string_view name;
  Family family = Family::valu;
  Sig sig = {};
  LaneFn lanes = nullptr;         // of the family valu
  Handler run[2] = {};            // [strict]
  Handler simple[2] = {};         // the fast path of family valu
  Undef undef = Undef::any;
  u8 data_operands = 0;           // for Undef::same: bit per operand that is data, not control
  u32 flags = 0;
  MemOp mem_op = MemOp::none;
  u8 mem_bytes = 0, mem_flags = 0;
  u8 turn_bits = 0, turn_lanes = 0;  // loads that transpose elements of so many bits within groups of so many lanes
  u8 operand_dwords[4] = {};      // matrix rows: registers of D, A, B, and C or the sparse index
  u8 passes[3] = {};              // matrix rows: passes of 4 cycles on CDNA1 and 2, CDNA3, CDNA4 (WMMA: RDNA3, RDNA4, gfx1250); 0: not there
  u8 matrix_flags = 0;
  Class cls = Class::valu;
  const void* shape = nullptr;    // of the family wide: the row's own description
  void (*prepare)(const Isa&, u32 lanes, Inst&) = nullptr;  // of the family wide: sets Inst::wide

  constexpr Row with(u32 more) const {
    Row r = *this;
    r.flags |= more;
    return r;
  }
  constexpr Row transposed(u8 bits, u8 lanes) const {
    Row r = *this;
    r.turn_bits = bits, r.turn_lanes = lanes;
    return r;
  }
  constexpr Row undefined(Undef u, u8 data = 0) const {
    Row r = *this;
    r.undef = u;
    r.data_operands = data;
    return r;
  }
};

// The tables of one CPU level: the same rows, compiled for a different host instruction set.
struct RowSet {
  const char* level;
  std::span<const std::span<const Row>> tables;
};
const RowSet& best_row_set();                 // for this host's CPU
const Row* find_row(std::string_view base_name);

}  // namespace lathe::emu
