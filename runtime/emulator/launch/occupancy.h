// The occupancy of a loaded kernel: what its descriptor asks for, by the base's numbers of the device.
#pragma once

#include "launch/code_object.h"
#include "runtime/base/occupancy.h"

namespace lathe::emu {

using lathe::Occupancy;
Occupancy occupancy(const Kernel&, u32 work_items, u64 lds_bytes);

}  // namespace lathe::emu
