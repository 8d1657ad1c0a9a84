// From bytes to Inst: the row by LLVM's base name, the operands from the encoding's own bit fields.
#pragma once

#include <span>

#include "machine/program.h"
#include "machine/row.h"

namespace lathe::emu {

struct Decoder {
  Program& program;
  u8 vgpr_msb = 0;  // gfx1250: high bits of VGPR numbers, as the last S_SET_VGPR_MSB left them
  bool reaches_agprs = false;  // some operand of the instruction is an AGPR

  // Decodes one instruction at pc into `out` and returns its size. Never fails: what cannot be decoded or
  // has no row becomes an instruction that stops the launch when it is executed.
  u32 decode(u64 pc, Inst& out);

 private:
  struct Fields;
  const Isa& isa() const { return *program.context.isa; }
  Src source(u32 code, Ty type, const Fields&, bool vector, bool short16);
  Dst vector_dst(u32 reg, Ty type, bool short16, u32 half, bool keep);
  void scalar_dst(Inst&, u32 code, Ty type);
  u32 sgpr_code(u32 code) const;
  void salu(Inst&, const Fields&);
  void valu(Inst&, const Fields&);
  void vop3p(Inst&, const Fields&);
  void dpp(Inst&, const Fields&);
  void mfma(Inst&, const Fields&);
  void smem(Inst&, const Fields&);
  void ds(Inst&, const Fields&);
  u8 scope(const Fields&, bool buffer) const;
  void flat(Inst&, const Fields&);
  void buffer(Inst&, const Fields&);
  void vopd(Inst&, const Fields&, const struct OpcodeName&);
  void add_msb(Inst&) const;
  Src own_operand(Ty type, const Fields&);
  static u32 modifiers(const Fields&, u32 at);
  void wide(Inst&, const Fields&);
  const Row* row_for(const std::string& name) const;
  void finish_valu(Inst&, const Fields&);
  u16 acc_register(u32 number) {
    reaches_agprs = true;
    return u16(program.context.agpr_base + number);
  }
  void check_registers(Inst&);
  void limit_registers(Inst&, u32 top, u32 limit);
};

}  // namespace lathe::emu
