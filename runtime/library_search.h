// Which files might hold HIP, and which the emulated GPU, in the order in which to try them. Private to the runtime
// and to `lathe emulate`.
#pragma once

#include <string>
#include <vector>

namespace lathe {

// libamdhip64 by its names of HIP 5, 6 and 7, as the dynamic linker finds them, then in ROCm's own folder. The
// environment's LATHE_HIP_LIBRARY, if set, is the only candidate.
std::vector<std::string> hip_library_candidates();

// liblathe_emulator.so: beside the executable, beside the runtime (when that is inside a shared library), in ../lib
// of both, then where this build put it. The environment's LATHE_EMULATOR_LIBRARY, if set, is the only candidate.
std::vector<std::string> emulator_library_candidates();

}  // namespace lathe
