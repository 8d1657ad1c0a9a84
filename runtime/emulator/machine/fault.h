// How an instruction stops a launch: a Fault carries what happened; the runner adds kernel, wave,
// instruction and prints one report.
#pragma once

#include <string>

#include "types.h"

namespace lathe::emu {

enum class FaultKind : u8 {
  unknown_instruction, illegal_address, freed_memory, misaligned, pending_register, undefined_value,
  lds_race, lds_bounds, barrier_divergence, bad_register, limit, unsupported, global_race, hazard,
};

struct Fault {
  FaultKind kind;
  std::string what;
  int lane = -1;
};

[[noreturn]] void raise(FaultKind kind, std::string what, int lane = -1);

}  // namespace lathe::emu
