// Kernels on their way into a stream or a graph: function handles, checked launches, how many groups a unit holds.
#pragma once

#include "hip/module.h"
#include "hip/operation.h"

namespace lathe::emu {

using FunctionRef = std::shared_ptr<ihipModuleSymbol_t>;
FunctionRef find_function(hipFunction_t);
// A host address that start-up code registered, or a handle. Remembers the error in `out`'s stead.
hipError_t find_function(const void* host_or_handle, int device, FunctionRef& out);

struct Config {
  u32 grid[3], block[3];
  size_t lds = 0;
  bool cooperative = false;
};
// Everything checked and the arguments taken: what a launch or a graph's node runs.
hipError_t make_kernel(const char* call, hipFunction_t, const Config&, void** params, void** extra, KernelOp& out);
// Into the stream, between two events if there are any.
hipError_t launch_kernel(const char* call, hipFunction_t, const Config&, hipStream_t, void** params, void** extra, hipEvent_t start = nullptr, hipEvent_t stop = nullptr);

// Groups of `threads` work-items that a compute unit holds at once; 0 if not even one.
u32 groups_per_unit(const Kernel&, u32 threads, u64 dynamic_lds);

}  // namespace lathe::emu
