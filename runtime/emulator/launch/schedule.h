// Which work-group runs when. Each host thread starts groups one after another; a group whose waves all only
// poll (a grid-wide barrier, a flag that another group sets) stands back, stays resident, and others go on.
#pragma once

#include <atomic>
#include <optional>

#include "launch/group.h"

namespace lathe::emu {

// Limits against kernels that never end.
//  LATHE_EMULATOR_LIMIT     instructions per work-group, all waves together, 2^32 unless set
//  LATHE_EMULATOR_PATIENCE  seconds in which all resident groups may poll with nothing happening, 60 unless set
u64 instruction_limit();

// Runs all groups of the grid over the pool's threads. The first fault ends the launch and is returned.
std::optional<FaultReport> run_groups(LaunchState&);

}  // namespace lathe::emu
