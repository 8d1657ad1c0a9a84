// Allocations that the client asked for.
#pragma once

#include "hip/state.h"

namespace lathe::emu {

// Of the current device unless `device` names one. Zero bytes give a null pointer.
hipError_t allocate(const char* call, void** p, u64 size, Allocation::Kind kind, unsigned flags = 0, int device = -1);
// Waits until no stream works any more; a null pointer is fine.
hipError_t release(const char* call, void* p, std::initializer_list<Allocation::Kind> kinds);
// hip/memory_pool.cpp: memory of a pool goes by another call than hipFreeAsync.
void forget_pooled(void* p);
void forget_pooled(int device);   // all of it

}  // namespace lathe::emu
