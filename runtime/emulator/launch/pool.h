// Host threads that work-groups run on: one per core, kept alive.
#pragma once

#include <functional>

#include "machine/types.h"

namespace lathe::emu {

u32 pool_size();
// Calls body(worker) on up to `workers` threads at once, the caller's included; returns when all are done.
void run_on_pool(u32 workers, const std::function<void(u32 worker)>& body);

}  // namespace lathe::emu
