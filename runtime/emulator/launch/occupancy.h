// How many waves and work-groups of a kernel a compute unit holds at once, and what limits them.
#pragma once

#include <string>

#include "launch/code_object.h"

namespace lathe::emu {

struct Occupancy {
  u32 waves = 0;        // per SIMD, of full work-groups
  u32 most_waves = 0;   // per SIMD, what the device holds
  u32 groups = 0;       // per compute unit; 0: not even one fits
  std::string limit;    // "nothing", "work-group size", "VGPRs (128 of 512)", "LDS (40960 bytes per group)" ...
};
Occupancy occupancy(const Kernel&, u32 work_items, u64 lds_bytes);

}  // namespace lathe::emu
