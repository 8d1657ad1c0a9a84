// An instruction's dwords and what its encoding is called: shared by the files that take operands out of them.
#pragma once

#include "decode/decoder.h"

namespace lathe::emu {

enum class Format : u8 { sop1, sop2, sopc, sopk, sopp, vop1, vop2, vopc, vop3, vop3p, vopd, vopd3, smem, ds, flat, buffer, other };

struct Decoder::Fields {
  u32 w[5] = {};        // the instruction's dwords
  u32 size = 0;
  Format format = Format::other;
  u32 literal = 0;
  bool has_literal = false;
  u64 literal64 = 0;    // gfx1250: source 254, and the literal of 64-bit v_fmaak and v_fmamk
  bool dpp = false, dpp8 = false, sdwa = false;
  u32 src0 = 0;         // its code, where the encoding has one
  u32 extra = 0;        // the DPP or SDWA dword
  u32 bits(u32 lo, u32 width) const {
    const u64 q = w[lo / 32] | u64(lo / 32 + 1 < 5 ? w[lo / 32 + 1] : 0) << 32;
    return u32(q >> (lo % 32)) & (width == 32 ? ~0u : (1u << width) - 1);
  }
};

// A row that stops the launch when it is executed, named for the report.
void make_unknown(Inst&, const std::string& name);

}  // namespace lathe::emu
