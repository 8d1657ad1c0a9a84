// One kernel launch: checks, kernel arguments, initial register state, work-groups over all cores.
#pragma once

#include "launch/code_object.h"
#include "machine/wave.h"

namespace lathe::emu {

struct Launch {
  Kernel* kernel = nullptr;
  u32 grid[3] = {1, 1, 1};    // work-groups
  u32 block[3] = {1, 1, 1};   // work-items
  u32 dynamic_lds = 0;
  std::vector<u8> kernarg;    // explicit arguments in place; hidden ones are added here
  int device = 0;
};

enum class LaunchResult { ok, invalid_configuration, illegal_address, failure };

// Runs to completion. A fault's report is kept for lathe_emulator_last_report and printed once.
LaunchResult run_launch(Launch&);

bool strict_mode();           // LATHE_EMULATOR=fast turns it off; read at each launch

}  // namespace lathe::emu
