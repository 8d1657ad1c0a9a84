// LLVM's MC disassembler behind two calls. The only header of the room that stands for LLVM; it includes
// none of it.
#pragma once

#include <string>
#include <string_view>

#include "machine/isa.h"

namespace lathe::emu {

struct Decoded {
  std::string_view opcode;  // LLVM's name, e.g. "V_ADD_F32_e32_gfx11"; empty if these bytes are none
  u32 size = 0;
};

// Thread-safe. `wave_size` matters on gfx10 and later (names of masks).
Decoded disassemble_one(const Isa&, u32 wave_size, const u8* bytes, u64 available, u64 pc);
std::string disassembly_text(const Isa&, u32 wave_size, const u8* bytes, u64 available, u64 pc);

}  // namespace lathe::emu
