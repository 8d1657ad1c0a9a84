// LLVM's opcode name taken apart: "GLOBAL_ATOMIC_ADD_SADDR_RTN_gfx11" is the base GLOBAL_ATOMIC_ADD,
// which returns. Rows are keyed by the base, which is steady across generations.
#pragma once

#include <string>
#include <string_view>

namespace lathe::emu {

struct OpcodeName {
  std::string base;
  std::string dual;      // VOPD: base of the Y half
  bool returns = false;  // atomics: old value wanted
};

OpcodeName take_apart(std::string_view llvm_name);

}  // namespace lathe::emu
