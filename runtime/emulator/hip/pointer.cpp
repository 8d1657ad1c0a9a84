// What is known of a pointer: its allocation, as attributes; hints about managed memory.
#include <cstring>

#include <fmt/format.h>

#include "hip/operation.h"

using namespace lathe::emu;
using Of = Allocation::Kind;

namespace {

bool for_host(const Allocation& a) { return a.kind == Of::host || a.kind == Of::registered || a.kind == Of::managed; }
hipMemoryType type_of(const Allocation& a) { return a.kind == Of::host || a.kind == Of::registered ? hipMemoryTypeHost : hipMemoryTypeDevice; }

// Hints, kept per managed allocation and told again: the memory itself is everywhere at once.
struct Advice {
  bool read_mostly = false, coarse = false;
  int preferred = hipInvalidDeviceId, prefetched = hipInvalidDeviceId;
  std::vector<int> accessed_by;
};
std::mutex advice_mutex;
std::map<u32, Advice>& advices() {  // by the allocation's id, which is never used again
  static auto* m = new std::map<u32, Advice>;
  return *m;
}
bool device_or_host(int device) { return device == hipCpuDeviceId || valid_device(device); }

Allocation* managed(const char* call, const void* p, size_t count, hipError_t& e) {
  Allocation* a = memory().find(u64(p));
  e = hipErrorInvalidValue;
  if (a && for_host(*a) && count && count <= a->base + a->size - u64(p)) return a;
  (void)refuse(e, fmt::format("{} of {} bytes at 0x{:x}: not managed memory of that size: {}", call, count, u64(p), memory().describe(u64(p))));
  return nullptr;
}

template <class T>
void put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
}
template <class T>
hipError_t given(void* out, T value) {
  put(out, value);
  return hipSuccess;
}
hipError_t attribute(void* out, hipPointer_attribute which, const void* p) {
  const Allocation* a = memory().find(u64(p));
  if (!a) return hipErrorInvalidValue;
  switch (which) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: return given(out, type_of(*a));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: return given(out, p);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER: return for_host(*a) ? given(out, p) : hipErrorInvalidValue;
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: return given(out, false);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID: return given(out, u64(a->id));
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: return given(out, a->kind == Of::managed);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return given(out, a->device);
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE: return given(out, false);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: return given(out, a->base);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return given(out, a->size);
    case HIP_POINTER_ATTRIBUTE_MAPPED: return given(out, true);
    case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return given(out, hipMemHandleTypeNone);
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return given(out, false);
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS: return given(out, hipMemAccessFlagsProtReadWrite);
    case HIP_POINTER_ATTRIBUTE_CONTEXT: case HIP_POINTER_ATTRIBUTE_P2P_TOKENS: case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return hipErrorNotSupported;
    default: return hipErrorInvalidValue;
  }
}

hipError_t range_attribute(void* out, size_t size, hipMemRangeAttribute which, const Advice& advice) {
  auto number = [&](int value) { return size == 4 ? given(out, value) : hipErrorInvalidValue; };
  switch (which) {
    case hipMemRangeAttributeReadMostly: return number(advice.read_mostly);
    case hipMemRangeAttributePreferredLocation: return number(advice.preferred);
    case hipMemRangeAttributeLastPrefetchLocation: return number(advice.prefetched);
    case hipMemRangeAttributeCoherencyMode: return number(advice.coarse ? hipMemRangeCoherencyModeCoarseGrain : hipMemRangeCoherencyModeFineGrain);
    case hipMemRangeAttributeAccessedBy: {
      if (size == 0 || size % 4) return hipErrorInvalidValue;
      for (size_t k = 0; k < size / 4; k++) put(static_cast<int*>(out) + k, k < advice.accessed_by.size() ? advice.accessed_by[k] : hipInvalidDeviceId);
      return hipSuccess;
    }
    default: return hipErrorInvalidValue;
  }
}

}  // namespace

LATHE_HIP hipError_t hipPointerGetAttributes(hipPointerAttribute_t* out, const void* p) {
  HIP_TRY
  const Memory::Use use;
  if (!out) return done(hipErrorInvalidValue);
  const Allocation* a = memory().find(u64(p));
  if (!a) return done(hipErrorInvalidValue);
  *out = {};
  out->memoryType = type_of(*a);
  out->device = a->device;
  out->devicePointer = const_cast<void*>(p);
  out->hostPointer = for_host(*a) ? const_cast<void*>(p) : nullptr;
  out->isManaged = a->kind == Of::managed;
  out->allocationFlags = a->flags;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipPointerGetAttribute(void* out, hipPointer_attribute which, hipDeviceptr_t p) {
  HIP_TRY
  const Memory::Use use;
  if (!out) return done(hipErrorInvalidValue);
  return done(attribute(out, which, p));
  HIP_END
}
// All at once; what a pointer does not have is zero, which is no error.
LATHE_HIP hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute* which, void** out, hipDeviceptr_t p) {
  HIP_TRY
  const Memory::Use use;
  if (!count || !which || !out) return done(hipErrorInvalidValue);
  for (unsigned k = 0; k < count; k++) {
    if (!out[k]) return done(hipErrorInvalidValue);
    if (attribute(out[k], which[k], p) == hipSuccess) continue;
    switch (which[k]) {
      case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: case HIP_POINTER_ATTRIBUTE_IS_MANAGED: case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
      case HIP_POINTER_ATTRIBUTE_MAPPED: case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: put(out[k], false); break;
      case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS: put(out[k], u32(0)); break;
      default: put(out[k], u64(0)); break;
    }
  }
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute which, hipDeviceptr_t p) {
  HIP_TRY
  return done(value && which == HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS && memory().find(u64(p)) ? hipSuccess : hipErrorInvalidValue);
  HIP_END
}
LATHE_HIP hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t p) {
  HIP_TRY
  const Memory::Use use;
  const Allocation* a = memory().find(u64(p));
  if (!a) return done(hipErrorInvalidDevicePointer);
  if (base) *base = reinterpret_cast<hipDeviceptr_t>(a->base);
  if (size) *size = a->size;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipMemPtrGetInfo(void* p, size_t* size) {
  HIP_TRY
  const Memory::Use use;
  if (!size) return done(hipErrorInvalidValue);
  const Allocation* a = p ? memory().find(u64(p)) : nullptr;
  if (p && (!a || a->base != u64(p))) return done(hipErrorInvalidValue);
  *size = a ? a->size : 0;
  return hipSuccess;
  HIP_END
}

LATHE_HIP hipError_t hipMemPrefetchAsync(const void* p, size_t count, int device, hipStream_t s) {
  HIP_TRY
  const Memory::Use use;
  hipError_t e;
  const Allocation* a = managed("hipMemPrefetchAsync", p, count, e);
  if (!a) return e;
  if (!device_or_host(device)) return done(hipErrorInvalidDevice);
  if (!find_stream(s)) return done(hipErrorInvalidHandle);
  std::lock_guard lock(advice_mutex);
  advices()[a->id].prefetched = device;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipMemAdvise(const void* p, size_t count, hipMemoryAdvise advice, int device) {
  HIP_TRY
  const Memory::Use use;
  hipError_t e;
  const Allocation* a = managed("hipMemAdvise", p, count, e);
  if (!a) return e;
  if (!device_or_host(device)) return done(hipErrorInvalidDevice);
  std::lock_guard lock(advice_mutex);
  Advice& x = advices()[a->id];
  switch (advice) {
    case hipMemAdviseSetReadMostly: x.read_mostly = true; break;
    case hipMemAdviseUnsetReadMostly: x.read_mostly = false; break;
    case hipMemAdviseSetPreferredLocation: x.preferred = device; break;
    case hipMemAdviseUnsetPreferredLocation: x.preferred = hipInvalidDeviceId; break;
    case hipMemAdviseSetAccessedBy: std::erase(x.accessed_by, device), x.accessed_by.push_back(device); break;
    case hipMemAdviseUnsetAccessedBy: std::erase(x.accessed_by, device); break;
    case hipMemAdviseSetCoarseGrain: x.coarse = true; break;
    case hipMemAdviseUnsetCoarseGrain: x.coarse = false; break;
    default: return done(hipErrorInvalidValue);
  }
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipMemRangeGetAttribute(void* out, size_t size, hipMemRangeAttribute which, const void* p, size_t count) {
  HIP_TRY
  const Memory::Use use;
  if (!out) return done(hipErrorInvalidValue);
  hipError_t e;
  const Allocation* a = managed("hipMemRangeGetAttribute", p, count, e);
  if (!a) return e;
  std::lock_guard lock(advice_mutex);
  return done(range_attribute(out, size, which, advices()[a->id]));
  HIP_END
}
LATHE_HIP hipError_t hipMemRangeGetAttributes(void** out, size_t* sizes, hipMemRangeAttribute* which, size_t n, const void* p, size_t count) {
  HIP_TRY
  if (!out || !sizes || !which || !n) return done(hipErrorInvalidValue);
  for (size_t k = 0; k < n; k++)
    if (const hipError_t e = hipMemRangeGetAttribute(out[k], sizes[k], which[k], p, count); e != hipSuccess) return e;
  return hipSuccess;
  HIP_END
}
