// Memory: allocation, copies, fills. Copies check both ranges against the allocations they claim to be in.
#include <cstring>

#include <fmt/format.h>

#include "hip/state.h"
#include "launch/report.h"

using namespace lathe::emu;

namespace {

std::string next_name(const char* call) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{} #{}", call, ++count);
}
hipError_t allocate(void** p, size_t size, Allocation::Kind kind, const char* call) {
  if (!p) return done(hipErrorInvalidValue);
  *p = nullptr;
  if (devices().empty()) return done(hipErrorNoDevice);
  if (size == 0) return hipSuccess;
  const Isa& isa = *devices()[size_t(current_device())].isa;
  if (kind == Allocation::Kind::device && size > isa.memory_bytes - std::min(isa.memory_bytes, memory().bytes_in_use(current_device()))) return done(hipErrorOutOfMemory);
  *p = reinterpret_cast<void*>(memory().allocate(size, kind, next_name(call), kind == Allocation::Kind::device && strict_mode(), current_device())->base);
  return hipSuccess;
}
hipError_t release(void* p, Allocation::Kind kind, const char* call) {
  if (!p) return hipSuccess;
  if (memory().release(u64(p), kind)) return done(take_pending_fault());
  set_report(fmt::format("lathe emulator: {}(0x{:x}) is not the start of a live allocation: {}", call, u64(p), memory().describe(u64(p))));
  return done(hipErrorInvalidValue);
}

// A range must not leave the allocation it starts in; a device range must be in one.
bool range_ok(const char* call, const void* p, size_t size, bool device) {
  if (size == 0) return true;
  if (!p) return false;
  Allocation* a = memory().find(u64(p));
  std::string freed;
  if (!a && !device && !memory().was_freed(u64(p), &freed)) return true;  // plain host memory
  if (a && size <= a->base + a->size - u64(p)) return true;
  const u64 bad = a ? a->base + a->size : u64(p);
  set_report(fmt::format("lathe emulator: {} of {} bytes at 0x{:x}: {}", call, size, u64(p), memory().describe(bad)));
  return false;
}
hipError_t copy(const char* call, void* dst, const void* src, size_t size, hipMemcpyKind kind) {
  if (const hipError_t e = take_pending_fault(); e != hipSuccess) return done(e);
  if (size == 0) return hipSuccess;
  if (!dst || !src) return done(hipErrorInvalidValue);
  if (unsigned(kind) > unsigned(hipMemcpyDefault)) return done(hipErrorInvalidMemcpyDirection);
  const bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  const bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (!range_ok(call, dst, size, to_device) || !range_ok(call, src, size, from_device)) return done(hipErrorInvalidValue);
  std::memmove(dst, src, size);
  memory().copy_defined(u64(dst), u64(src), size);
  return hipSuccess;
}
template <class T>
hipError_t fill(const char* call, void* dst, T value, size_t count) {
  if (const hipError_t e = take_pending_fault(); e != hipSuccess) return done(e);
  if (count == 0) return hipSuccess;
  if (!dst || count > SIZE_MAX / sizeof(T)) return done(hipErrorInvalidValue);
  if (!range_ok(call, dst, count * sizeof(T), true)) return done(hipErrorInvalidValue);
  if constexpr (sizeof(T) == 1) std::memset(dst, value, count);
  else
    for (size_t k = 0; k < count; k++) std::memcpy(static_cast<u8*>(dst) + k * sizeof(T), &value, sizeof(T));
  memory().mark_defined(u64(dst), count * sizeof(T));
  return hipSuccess;
}

}  // namespace

// clang-format off
LATHE_HIP hipError_t hipMalloc(void** p, size_t size) { HIP_TRY return allocate(p, size, Allocation::Kind::device, "hipMalloc"); HIP_END }
LATHE_HIP hipError_t hipFree(void* p) { HIP_TRY return release(p, Allocation::Kind::device, "hipFree"); HIP_END }
LATHE_HIP hipError_t hipHostMalloc(void** p, size_t size, unsigned) { HIP_TRY return allocate(p, size, Allocation::Kind::host, "hipHostMalloc"); HIP_END }
LATHE_HIP hipError_t hipHostFree(void* p) { HIP_TRY return release(p, Allocation::Kind::host, "hipHostFree"); HIP_END }
LATHE_HIP hipError_t hipMallocAsync(void** p, size_t size, hipStream_t) { HIP_TRY return allocate(p, size, Allocation::Kind::device, "hipMallocAsync"); HIP_END }
LATHE_HIP hipError_t hipFreeAsync(void* p, hipStream_t) { HIP_TRY return release(p, Allocation::Kind::device, "hipFreeAsync"); HIP_END }
LATHE_HIP hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned) { HIP_TRY if (!device || !memory().find(u64(host))) return done(hipErrorInvalidValue); *device = host; return hipSuccess; HIP_END }

LATHE_HIP hipError_t hipMemcpy(void* d, const void* s, size_t n, hipMemcpyKind k) { HIP_TRY return copy("hipMemcpy", d, s, n, k); HIP_END }
LATHE_HIP hipError_t hipMemcpyAsync(void* d, const void* s, size_t n, hipMemcpyKind k, hipStream_t) { HIP_TRY return copy("hipMemcpyAsync", d, s, n, k); HIP_END }
LATHE_HIP hipError_t hipMemcpyWithStream(void* d, const void* s, size_t n, hipMemcpyKind k, hipStream_t) { HIP_TRY return copy("hipMemcpyWithStream", d, s, n, k); HIP_END }
LATHE_HIP hipError_t hipMemcpyHtoD(hipDeviceptr_t d, void* s, size_t n) { HIP_TRY return copy("hipMemcpyHtoD", d, s, n, hipMemcpyHostToDevice); HIP_END }
LATHE_HIP hipError_t hipMemcpyDtoH(void* d, hipDeviceptr_t s, size_t n) { HIP_TRY return copy("hipMemcpyDtoH", d, s, n, hipMemcpyDeviceToHost); HIP_END }
LATHE_HIP hipError_t hipMemcpyDtoD(hipDeviceptr_t d, hipDeviceptr_t s, size_t n) { HIP_TRY return copy("hipMemcpyDtoD", d, s, n, hipMemcpyDeviceToDevice); HIP_END }
LATHE_HIP hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t d, void* s, size_t n, hipStream_t) { HIP_TRY return copy("hipMemcpyHtoDAsync", d, s, n, hipMemcpyHostToDevice); HIP_END }
LATHE_HIP hipError_t hipMemcpyDtoHAsync(void* d, hipDeviceptr_t s, size_t n, hipStream_t) { HIP_TRY return copy("hipMemcpyDtoHAsync", d, s, n, hipMemcpyDeviceToHost); HIP_END }
LATHE_HIP hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t d, hipDeviceptr_t s, size_t n, hipStream_t) { HIP_TRY return copy("hipMemcpyDtoDAsync", d, s, n, hipMemcpyDeviceToDevice); HIP_END }

LATHE_HIP hipError_t hipMemset(void* d, int v, size_t n) { HIP_TRY return fill("hipMemset", d, u8(v), n); HIP_END }
LATHE_HIP hipError_t hipMemsetAsync(void* d, int v, size_t n, hipStream_t) { HIP_TRY return fill("hipMemsetAsync", d, u8(v), n); HIP_END }
LATHE_HIP hipError_t hipMemsetD8(hipDeviceptr_t d, unsigned char v, size_t n) { HIP_TRY return fill("hipMemsetD8", d, v, n); HIP_END }
LATHE_HIP hipError_t hipMemsetD8Async(hipDeviceptr_t d, unsigned char v, size_t n, hipStream_t) { HIP_TRY return fill("hipMemsetD8Async", d, v, n); HIP_END }
LATHE_HIP hipError_t hipMemsetD16(hipDeviceptr_t d, unsigned short v, size_t n) { HIP_TRY return fill("hipMemsetD16", d, v, n); HIP_END }
LATHE_HIP hipError_t hipMemsetD16Async(hipDeviceptr_t d, unsigned short v, size_t n, hipStream_t) { HIP_TRY return fill("hipMemsetD16Async", d, v, n); HIP_END }
LATHE_HIP hipError_t hipMemsetD32(hipDeviceptr_t d, int v, size_t n) { HIP_TRY return fill("hipMemsetD32", d, v, n); HIP_END }
LATHE_HIP hipError_t hipMemsetD32Async(hipDeviceptr_t d, int v, size_t n, hipStream_t) { HIP_TRY return fill("hipMemsetD32Async", d, v, n); HIP_END }
// clang-format on

LATHE_HIP hipError_t hipMemGetInfo(size_t* available, size_t* total) {
  HIP_TRY
  if (devices().empty()) return done(hipErrorNoDevice);
  const u64 all = devices()[size_t(current_device())].isa->memory_bytes, used = memory().bytes_in_use(current_device());
  if (available) *available = all - std::min(all, used);
  if (total) *total = all;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t p) {
  HIP_TRY
  Allocation* a = memory().find(u64(p));
  if (!a) return done(hipErrorInvalidDevicePointer);
  if (base) *base = reinterpret_cast<hipDeviceptr_t>(a->base);
  if (size) *size = a->size;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipPointerGetAttributes(hipPointerAttribute_t* out, const void* p) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  Allocation* a = memory().find(u64(p));
  if (!a) return done(hipErrorInvalidValue);
  *out = {};
  out->memoryType = a->kind == Allocation::Kind::host ? hipMemoryTypeHost : hipMemoryTypeDevice;
  out->device = a->device;
  out->devicePointer = const_cast<void*>(p);
  out->hostPointer = a->kind == Allocation::Kind::host ? const_cast<void*>(p) : nullptr;
  return hipSuccess;
  HIP_END
}
