// Functions: their handles, their attributes, and how many groups of one a compute unit holds.
#include <algorithm>

#include <fmt/format.h>

#include "hip/kernel_launch.h"
#include "launch/occupancy.h"

using namespace lathe::emu;

namespace {

Handles<ihipModuleSymbol_t>& functions() {
  static auto* h = new Handles<ihipModuleSymbol_t>;
  return *h;
}

hipError_t max_groups(const char* call, int* out, const void* function, int threads, size_t lds) {
  if (!out || threads <= 0) return done(hipErrorInvalidValue);
  FunctionRef f;
  if (const hipError_t e = find_function(function, current_device(), f); e != hipSuccess) return e;
  *out = int(groups_per_unit(*f->kernel, u32(threads), lds));
  return hipSuccess;
}
hipError_t best_block(const char* call, int* grid, int* block, const void* function, size_t lds, int limit) {
  if (!grid || !block || limit < 0) return done(hipErrorInvalidValue);
  FunctionRef f;
  if (const hipError_t e = find_function(function, current_device(), f); e != hipSuccess) return e;
  const Kernel& k = *f->kernel;
  const u32 most = std::min<u32>(k.max_flat_workgroup_size, limit ? u32(limit) : ~0u);
  // The largest block among those that fill a unit best.
  u32 best = 0, best_items = 0;
  for (u32 threads = most; threads > 0; threads = threads % k.lanes ? threads / k.lanes * k.lanes : threads - k.lanes) {
    const u32 items = groups_per_unit(k, threads, lds) * threads;
    if (items > best_items) best = threads, best_items = items;
  }
  if (!best) return refuse(hipErrorInvalidConfiguration, fmt::format("{}: no group of {} fits a compute unit", call, k.name));
  *block = int(best);
  *grid = int(best_items / best * k.object->isa->compute_units);
  return hipSuccess;
}

}  // namespace

namespace lathe::emu {

hipFunction_t add_function(Kernel& kernel, int device) { return functions().add(std::make_shared<ihipModuleSymbol_t>(ihipModuleSymbol_t{&kernel, device})); }
void remove_function(hipFunction_t f) { (void)functions().remove(f); }
bool known_function(hipFunction_t f) { return functions().has(f); }
FunctionRef find_function(hipFunction_t f) { return functions().find(f); }
hipError_t find_function(const void* function, int device, FunctionRef& out) {
  auto* f = static_cast<hipFunction_t>(const_cast<void*>(function));
  out = functions().find(f);
  if (!out) {
    if (const hipError_t e = registered_function(function, device, &f); e != hipSuccess) return done(e);
    out = functions().find(f);
  }
  return out ? hipSuccess : done(hipErrorInvalidDeviceFunction);
}

u32 groups_per_unit(const Kernel& k, u32 threads, u64 dynamic_lds) { return occupancy(k, threads, k.lds_bytes + dynamic_lds).groups; }

}  // namespace lathe::emu

LATHE_HIP hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t handle) {
  HIP_TRY
  if (!value) return done(hipErrorInvalidValue);
  const FunctionRef f = find_function(handle);
  if (!f) return done(hipErrorInvalidHandle);
  const Kernel& k = *f->kernel;
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = int(k.max_flat_workgroup_size); break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = int(k.lds_bytes); break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = 0; break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = int(k.private_bytes); break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = int(k.total_vgprs); break;
    // "ISA version times ten", as AMD's runtime tells it.
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION: case HIP_FUNC_ATTRIBUTE_BINARY_VERSION: *value = 100; break;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = int(k.object->isa->lds_bytes - k.lds_bytes); break;
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = 0; break;
    default: return done(hipErrorInvalidValue);
  }
  return hipSuccess;
  HIP_END
}
// The function's host address, as clang registered it, or a hipFunction_t.
LATHE_HIP hipError_t hipFuncGetAttributes(hipFuncAttributes* out, const void* function) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  FunctionRef f;
  if (const hipError_t e = find_function(function, current_device(), f); e != hipSuccess) return e;
  const Kernel& k = *f->kernel;
  *out = {};
  out->binaryVersion = out->ptxVersion = 100;
  out->localSizeBytes = k.private_bytes, out->sharedSizeBytes = k.lds_bytes;
  out->maxThreadsPerBlock = int(k.max_flat_workgroup_size), out->numRegs = int(k.total_vgprs);
  out->maxDynamicSharedSizeBytes = int(k.object->isa->lds_bytes - k.lds_bytes);
  return hipSuccess;
  HIP_END
}
// Nothing to set: all of the LDS is always there for dynamic use, and there are no caches to share out.
LATHE_HIP hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value) {
  HIP_TRY
  FunctionRef f;
  if (const hipError_t e = find_function(function, current_device(), f); e != hipSuccess) return e;
  const Kernel& k = *f->kernel;
  const int most = int(k.object->isa->lds_bytes - k.lds_bytes);
  switch (attribute) {
    case hipFuncAttributeMaxDynamicSharedMemorySize:
      if (value >= 0 && value <= most) return hipSuccess;
      return refuse(hipErrorInvalidValue, fmt::format("hipFuncSetAttribute: {} bytes of dynamic LDS, {} has at most {}", value, k.name, most));
    case hipFuncAttributePreferredSharedMemoryCarveout: return done(value >= -1 && value <= 100 ? hipSuccess : hipErrorInvalidValue);
    default: return done(hipErrorInvalidValue);
  }
  HIP_END
}
LATHE_HIP hipError_t hipFuncSetCacheConfig(const void* function, hipFuncCache_t config) {
  HIP_TRY
  FunctionRef f;
  if (const hipError_t e = find_function(function, current_device(), f); e != hipSuccess) return e;
  return done(unsigned(config) <= hipFuncCachePreferEqual ? hipSuccess : hipErrorInvalidValue);
  HIP_END
}
LATHE_HIP hipError_t hipFuncSetSharedMemConfig(const void* function, hipSharedMemConfig config) {
  HIP_TRY
  FunctionRef f;
  if (const hipError_t e = find_function(function, current_device(), f); e != hipSuccess) return e;
  return done(unsigned(config) <= hipSharedMemBankSizeEightByte ? hipSuccess : hipErrorInvalidValue);
  HIP_END
}
LATHE_HIP const char* hipKernelNameRef(hipFunction_t handle) {
  try {
    const FunctionRef f = find_function(handle);
    return f ? f->kernel->name.c_str() : nullptr;
  } catch (...) {
    return nullptr;
  }
}
LATHE_HIP const char* hipKernelNameRefByPtr(const void* function, hipStream_t s) {
  try {
    const StreamRef stream = find_stream(s);
    FunctionRef f;
    return stream && find_function(function, stream->device, f) == hipSuccess ? f->kernel->name.c_str() : nullptr;
  } catch (...) {
    return nullptr;
  }
}
LATHE_HIP hipError_t hipGetFuncBySymbol(hipFunction_t* out, const void* symbol) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  return done(registered_function(symbol, current_device(), out));
  HIP_END
}

// clang-format off
LATHE_HIP hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* n, hipFunction_t f, int threads, size_t lds) { HIP_TRY return max_groups("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", n, f, threads, lds); HIP_END }
LATHE_HIP hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* n, hipFunction_t f, int threads, size_t lds, unsigned flags) { HIP_TRY if (flags > 1) return done(hipErrorInvalidValue); return max_groups("hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", n, f, threads, lds); HIP_END }
LATHE_HIP hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* n, const void* f, int threads, size_t lds) { HIP_TRY return max_groups("hipOccupancyMaxActiveBlocksPerMultiprocessor", n, f, threads, lds); HIP_END }
LATHE_HIP hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* n, const void* f, int threads, size_t lds, unsigned flags) { HIP_TRY if (flags > 1) return done(hipErrorInvalidValue); return max_groups("hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", n, f, threads, lds); HIP_END }
LATHE_HIP hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t f, size_t lds, int limit) { HIP_TRY return best_block("hipModuleOccupancyMaxPotentialBlockSize", grid, block, f, lds, limit); HIP_END }
LATHE_HIP hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, hipFunction_t f, size_t lds, int limit, unsigned flags) { HIP_TRY if (flags > 1) return done(hipErrorInvalidValue); return best_block("hipModuleOccupancyMaxPotentialBlockSizeWithFlags", grid, block, f, lds, limit); HIP_END }
LATHE_HIP hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* f, size_t lds, int limit) { HIP_TRY return best_block("hipOccupancyMaxPotentialBlockSize", grid, block, f, lds, limit); HIP_END }
// clang-format on
