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
  int priority = 0;           // of the stream: which launch gets the idle host threads
  bool cooperative = false;   // groups may wait for each other: all run at once
  bool strict = true;         // as strict_mode() said when the client launched
};

enum class LaunchResult { ok, illegal_address, failure };

// Configuration against the limits of kernel and device: false with a report.
bool check_launch(const Launch&);

// Runs a checked launch to completion. A fault's report is kept for lathe_emulator_last_report and printed once.
LaunchResult run_launch(Launch&);

bool strict_mode();           // LATHE_EMULATOR=fast turns it off; asked at each launch

}  // namespace lathe::emu
