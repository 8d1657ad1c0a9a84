// Host threads that work-groups run on: one per core, kept alive, shared by all launches under way.
#pragma once

#include <functional>

#include "machine/types.h"

namespace lathe::emu {

u32 pool_size();
// Calls body(worker) on up to `workers` threads at once, the caller's included; returns when all are done.
// The caller always takes part, so that launches of different streams make progress beside each other however
// busy the others keep the pool. Idle threads go to the job of the highest priority.
void run_on_pool(u32 workers, const std::function<void(u32 worker)>& body, int priority = 0);

}  // namespace lathe::emu
