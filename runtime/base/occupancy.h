// How many waves and work-groups of a kernel a compute unit holds at once, and what limits them.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/code_object.h"
#include "runtime/base/target.h"

namespace lathe {

struct KernelNeeds {
  uint32_t vector_registers = 0;  // 32-bit, per lane; where accumulation registers are a file of their own, the larger count
  uint32_t scalar_registers = 0;  // per wave
  uint32_t lanes = 64;            // of a wave
  uint32_t work_items = 0;        // per group
  uint64_t lds_bytes = 0;         // per group, dynamic LDS included
};
KernelNeeds needs_of(const KernelInfo& kernel, const GfxRow& gfx);  // of the largest group it may be launched with

struct Occupancy {
  uint32_t waves = 0;        // per SIMD, of full work-groups
  uint32_t most_waves = 0;   // per SIMD, what the device holds
  uint32_t groups = 0;       // per compute unit; 0: not even one fits
  std::string limit;         // "nothing", "work-group size", "VGPRs (128 of 512)", "LDS (40960 bytes per group of 65536)" …
};
Occupancy occupancy(const KernelNeeds& needs, const GfxRow& gfx);

}  // namespace lathe
