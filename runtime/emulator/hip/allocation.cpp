// Allocating and freeing: device, pinned, managed and registered memory.
#include "hip/allocation.h"

#include <fmt/format.h>

#include "hip/fail.h"
#include "hip/operation.h"

using namespace lathe::emu;
using Of = Allocation::Kind;

namespace lathe::emu {

hipError_t allocate(const char* call, void** p, u64 size, Of kind, unsigned flags, int device) {
  if (!p) return done(hipErrorInvalidValue);
  *p = nullptr;
  if (devices().empty()) return done(hipErrorNoDevice);
  if (size == 0) return hipSuccess;
  if (device < 0) device = current_device();
  const bool on_device = kind == Of::device || kind == Of::managed;
  if (on_device) {
    if (fail_now("malloc")) return refuse(hipErrorOutOfMemory, fmt::format("{} of {} bytes fails: LATHE_EMULATOR_FAIL asks for it", call, size));
    const u64 all = devices()[size_t(device)].isa->memory_bytes, used = memory().bytes_in_use(device);
    if (size > all - std::min(all, used)) return done(hipErrorOutOfMemory);
  }
  static std::atomic<unsigned> count{0};
  // The host writes to shared memory without telling, so only device memory has a record of undefined bytes.
  Allocation* a = memory().allocate(size, kind, fmt::format("{} #{}", call, ++count), kind == Of::device && strict_mode(), device);
  a->flags = flags;
  *p = reinterpret_cast<void*>(a->base);
  return hipSuccess;
}
hipError_t release(const char* call, void* p, std::initializer_list<Of> kinds) {
  if (!p) return hipSuccess;
  if (const hipError_t e = wait_all(call); e != hipSuccess) return e;
  for (Of kind : kinds)
    if (memory().release(u64(p), kind)) {
      forget_pooled(p);
      return hipSuccess;
    }
  return refuse(hipErrorInvalidValue, fmt::format("{}(0x{:x}) is not the start of a live allocation of its kind: {}", call, u64(p), memory().describe(u64(p))));
}

}  // namespace lathe::emu

namespace {

// Rows start at multiples of this, as on AMD's runtime.
constexpr u64 row_alignment = 256;

hipError_t pitched(const char* call, void** p, size_t* pitch, u64 width, u64 height, u64 depth) {
  if (!p || !pitch) return done(hipErrorInvalidValue);
  u64 rows, bytes;
  if (width > ~u64(0) - row_alignment) return done(hipErrorOutOfMemory);
  const u64 row = (width + row_alignment - 1) / row_alignment * row_alignment;
  if (__builtin_mul_overflow(height, depth, &rows) || __builtin_mul_overflow(row, rows, &bytes)) return done(hipErrorOutOfMemory);
  const hipError_t e = allocate(call, p, bytes, Of::device);
  *pitch = e == hipSuccess ? row : 0;
  return e;
}
hipError_t host(const char* call, void** p, size_t size, unsigned flags) {
  constexpr unsigned known = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined | hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent;
  if ((flags & ~known) || ((flags & hipHostMallocCoherent) && (flags & hipHostMallocNonCoherent))) return done(hipErrorInvalidValue);
  return allocate(call, p, size, Of::host, flags);
}
Allocation* shared(const void* p) {
  Allocation* a = memory().find(u64(p));
  return a && (a->kind == Of::host || a->kind == Of::registered || a->kind == Of::managed) ? a : nullptr;
}

}  // namespace

// clang-format off
LATHE_HIP hipError_t hipMalloc(void** p, size_t size) { HIP_TRY return allocate("hipMalloc", p, size, Of::device); HIP_END }
LATHE_HIP hipError_t hipExtMallocWithFlags(void** p, size_t size, unsigned flags) { HIP_TRY if (flags > 3) return done(hipErrorInvalidValue); return allocate("hipExtMallocWithFlags", p, size, Of::device, flags); HIP_END }
LATHE_HIP hipError_t hipMallocManaged(void** p, size_t size, unsigned flags) { HIP_TRY if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return done(hipErrorInvalidValue); return allocate("hipMallocManaged", p, size, Of::managed, flags); HIP_END }
LATHE_HIP hipError_t hipHostMalloc(void** p, size_t size, unsigned flags) { HIP_TRY return host("hipHostMalloc", p, size, flags); HIP_END }
LATHE_HIP hipError_t hipHostAlloc(void** p, size_t size, unsigned flags) { HIP_TRY return host("hipHostAlloc", p, size, flags); HIP_END }
LATHE_HIP hipError_t hipExtHostAlloc(void** p, size_t size, unsigned flags) { HIP_TRY return host("hipExtHostAlloc", p, size, flags); HIP_END }
LATHE_HIP hipError_t hipMallocHost(void** p, size_t size) { HIP_TRY return host("hipMallocHost", p, size, 0); HIP_END }
LATHE_HIP hipError_t hipMemAllocHost(void** p, size_t size) { HIP_TRY return host("hipMemAllocHost", p, size, 0); HIP_END }
LATHE_HIP hipError_t hipMallocPitch(void** p, size_t* pitch, size_t width, size_t height) { HIP_TRY return pitched("hipMallocPitch", p, pitch, width, height, 1); HIP_END }
LATHE_HIP hipError_t hipMemAllocPitch(hipDeviceptr_t* p, size_t* pitch, size_t width, size_t height, unsigned) { HIP_TRY return pitched("hipMemAllocPitch", p, pitch, width, height, 1); HIP_END }

LATHE_HIP hipError_t hipFree(void* p) { HIP_TRY return release("hipFree", p, {Of::device, Of::managed}); HIP_END }
LATHE_HIP hipError_t hipHostFree(void* p) { HIP_TRY return release("hipHostFree", p, {Of::host}); HIP_END }
LATHE_HIP hipError_t hipFreeHost(void* p) { HIP_TRY return release("hipFreeHost", p, {Of::host}); HIP_END }
// clang-format on

LATHE_HIP hipError_t hipMalloc3D(hipPitchedPtr* out, hipExtent e) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  *out = {};
  const hipError_t r = pitched("hipMalloc3D", &out->ptr, &out->pitch, e.width, e.height, e.depth);
  if (r == hipSuccess) out->xsize = e.width, out->ysize = e.height;
  return r;
  HIP_END
}

LATHE_HIP hipError_t hipHostRegister(void* p, size_t size, unsigned flags) {
  HIP_TRY
  constexpr unsigned known = hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory | hipExtHostRegisterCoarseGrained;
  if (!p || !size || (flags & ~known) || size > ~u64(p)) return done(hipErrorInvalidValue);
  if (devices().empty()) return done(hipErrorNoDevice);
  // Every page must be there: kernels will use them without asking.
  if (const u64 there = readable_client(p, size); there < size) return refuse(hipErrorInvalidValue, fmt::format("hipHostRegister of {} bytes at 0x{:x}: nothing is mapped at 0x{:x}", size, u64(p), u64(p) + there));
  Allocation* a = memory().adopt(u64(p), size, Of::registered, "hipHostRegister", current_device());
  if (!a) return refuse(hipErrorHostMemoryAlreadyRegistered, fmt::format("hipHostRegister of {} bytes at 0x{:x}: {}", size, u64(p), memory().describe(u64(p))));
  a->flags = flags;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipHostUnregister(void* p) {
  HIP_TRY
  if (!p) return done(hipErrorInvalidValue);
  if (const hipError_t e = wait_all("hipHostUnregister"); e != hipSuccess) return e;
  if (memory().release(u64(p), Of::registered)) return hipSuccess;
  return refuse(hipErrorHostMemoryNotRegistered, fmt::format("hipHostUnregister(0x{:x}): no registration starts there", u64(p)));
  HIP_END
}
LATHE_HIP hipError_t hipHostGetDevicePointer(void** device, void* p, unsigned flags) {
  HIP_TRY
  const Memory::Use use;
  if (!device || flags || !shared(p)) return done(hipErrorInvalidValue);
  *device = p;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipHostGetFlags(unsigned* flags, void* p) {
  HIP_TRY
  const Memory::Use use;
  const Allocation* a = shared(p);
  if (!flags || !a) return done(hipErrorInvalidValue);
  *flags = a->flags;
  return hipSuccess;
  HIP_END
}

LATHE_HIP hipError_t hipMemGetInfo(size_t* available, size_t* total) {
  HIP_TRY
  if (devices().empty()) return done(hipErrorNoDevice);
  const u64 all = devices()[size_t(current_device())].isa->memory_bytes, used = memory().bytes_in_use(current_device());
  if (available) *available = all - std::min(all, used);
  if (total) *total = all;
  return hipSuccess;
  HIP_END
}
