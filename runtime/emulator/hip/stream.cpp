// Streams: making, asking, waiting, host functions, waiting for values in memory.
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "hip/graph.h"
#include "hip/operation.h"

using namespace lathe::emu;

namespace {

hipError_t create(hipStream_t* out, unsigned flags, int priority, std::vector<u32> mask = {}) {
  if (!out || (flags & ~unsigned(hipStreamNonBlocking))) return done(hipErrorInvalidValue);
  if (devices().empty()) return done(hipErrorNoDevice);
  const StreamRef stream = make_stream(current_device(), flags, priority);
  stream->cu_mask = std::move(mask);
  *out = open_stream(stream);
  return hipSuccess;
}
hipError_t synchronize(const char* call, const StreamRef& stream) {
  if (!stream) return done(hipErrorInvalidHandle);
  if (const hipError_t e = refuse_capture(call, stream); e != hipSuccess) return e;
  if (const hipError_t e = wait_stream(call, stream); e != hipSuccess) return e;
  return done(take_fault(stream->device));
}
hipError_t query(const char* call, const StreamRef& stream) {
  if (!stream) return done(hipErrorInvalidHandle);
  if (const hipError_t e = refuse_capture(call, stream); e != hipSuccess) return e;
  if (!is_idle(stream)) return hipErrorNotReady;
  return done(take_fault(stream->device));
}
hipError_t get_flags(const StreamRef& stream, unsigned* flags) {
  if (!flags) return done(hipErrorInvalidValue);
  if (!stream) return done(hipErrorInvalidHandle);
  *flags = stream->flags;
  return hipSuccess;
}
hipError_t get_priority(const StreamRef& stream, int* priority) {
  if (!priority) return done(hipErrorInvalidValue);
  if (!stream) return done(hipErrorInvalidHandle);
  *priority = stream->priority;
  return hipSuccess;
}
hipError_t add_callback(const char* call, const StreamRef& stream, hipStream_t handle, hipStreamCallback_t callback, void* user, unsigned flags) {
  if (!callback || flags) return done(hipErrorInvalidValue);
  if (!stream) return done(hipErrorInvalidHandle);
  HostOp op;
  op.callback = callback, op.user = user, op.stream = handle;
  return submit(call, stream, op, false);
}
hipError_t host_func(const char* call, const StreamRef& stream, hipHostFn_t fn, void* user) {
  if (!fn) return done(hipErrorInvalidValue);
  if (!stream) return done(hipErrorInvalidHandle);
  HostOp op;
  op.fn = fn, op.user = user;
  return submit(call, stream, op, false);
}

// hipStreamWaitValue: the stream stands still until the value in memory fits; another stream or the host writes it.
template <class T>
hipError_t wait_value(const char* call, hipStream_t s, void* p, T value, unsigned flags, T mask) {
  const StreamRef stream = find_stream(s);
  if (!stream) return done(hipErrorInvalidHandle);
  if (!p || flags > hipStreamWaitValueNor || u64(p) % sizeof(T)) return done(hipErrorInvalidValue);
  if (!memory().find(u64(p))) return refuse(hipErrorInvalidValue, fmt::format("{} at 0x{:x}: {}", call, u64(p), memory().describe(u64(p))));
  if (const hipError_t e = refuse_capture(call, stream); e != hipSuccess) return e;
  (void)enqueue(stream, [=] {
    const Memory::Use use;
    // Whoever writes is not told to wake us: look again, ever less often.
    for (int pause = 1;; pause = std::min(pause * 2, 1000)) {
      if (!memory().find(u64(p))) return hipErrorIllegalAddress;
      const T x = __atomic_load_n(static_cast<T*>(p), __ATOMIC_ACQUIRE) & mask, v = value & mask;
      bool fits = false;
      switch (flags) {
        case hipStreamWaitValueGte: fits = std::make_signed_t<T>(x - v) >= 0; break;
        case hipStreamWaitValueEq: fits = x == v; break;
        case hipStreamWaitValueAnd: fits = (x & v) != 0; break;
        default: fits = (~(x | v) & mask) != 0; break;
      }
      if (fits) return hipSuccess;
      std::this_thread::sleep_for(std::chrono::microseconds(pause));
    }
  });
  return hipSuccess;
}
template <class T>
hipError_t write_value(const char* call, hipStream_t s, void* p, T value, unsigned flags) {
  const StreamRef stream = find_stream(s);
  if (!stream) return done(hipErrorInvalidHandle);
  if (!p || flags || u64(p) % sizeof(T)) return done(hipErrorInvalidValue);
  if (!memory().find(u64(p))) return refuse(hipErrorInvalidValue, fmt::format("{} at 0x{:x}: {}", call, u64(p), memory().describe(u64(p))));
  if (const hipError_t e = refuse_capture(call, stream); e != hipSuccess) return e;
  (void)enqueue(stream, [=] {
    const Memory::Use use;
    if (!memory().find(u64(p))) return hipErrorIllegalAddress;
    __atomic_store_n(static_cast<T*>(p), value, __ATOMIC_RELEASE);
    memory().mark_defined(u64(p), sizeof(T));
    return hipSuccess;
  });
  return hipSuccess;
}

}  // namespace

// clang-format off
LATHE_HIP hipError_t hipStreamCreate(hipStream_t* out) { HIP_TRY return create(out, 0, 0); HIP_END }
LATHE_HIP hipError_t hipStreamCreateWithFlags(hipStream_t* out, unsigned flags) { HIP_TRY return create(out, flags, 0); HIP_END }
LATHE_HIP hipError_t hipStreamCreateWithPriority(hipStream_t* out, unsigned flags, int priority) { HIP_TRY return create(out, flags, priority); HIP_END }
LATHE_HIP hipError_t hipStreamSynchronize(hipStream_t s) { HIP_TRY return synchronize("hipStreamSynchronize", find_stream(s)); HIP_END }
LATHE_HIP hipError_t hipStreamSynchronize_spt(hipStream_t s) { HIP_TRY return synchronize("hipStreamSynchronize_spt", find_stream_spt(s)); HIP_END }
LATHE_HIP hipError_t hipStreamQuery(hipStream_t s) { HIP_TRY return query("hipStreamQuery", find_stream(s)); HIP_END }
LATHE_HIP hipError_t hipStreamQuery_spt(hipStream_t s) { HIP_TRY return query("hipStreamQuery_spt", find_stream_spt(s)); HIP_END }
LATHE_HIP hipError_t hipStreamGetFlags(hipStream_t s, unsigned* flags) { HIP_TRY return get_flags(find_stream(s), flags); HIP_END }
LATHE_HIP hipError_t hipStreamGetFlags_spt(hipStream_t s, unsigned* flags) { HIP_TRY return get_flags(find_stream_spt(s), flags); HIP_END }
LATHE_HIP hipError_t hipStreamGetPriority(hipStream_t s, int* priority) { HIP_TRY return get_priority(find_stream(s), priority); HIP_END }
LATHE_HIP hipError_t hipStreamGetPriority_spt(hipStream_t s, int* priority) { HIP_TRY return get_priority(find_stream_spt(s), priority); HIP_END }
LATHE_HIP hipError_t hipStreamAddCallback(hipStream_t s, hipStreamCallback_t f, void* user, unsigned flags) { HIP_TRY return add_callback("hipStreamAddCallback", find_stream(s), s, f, user, flags); HIP_END }
LATHE_HIP hipError_t hipStreamAddCallback_spt(hipStream_t s, hipStreamCallback_t f, void* user, unsigned flags) { HIP_TRY return add_callback("hipStreamAddCallback_spt", find_stream_spt(s), s, f, user, flags); HIP_END }
LATHE_HIP hipError_t hipLaunchHostFunc(hipStream_t s, hipHostFn_t f, void* user) { HIP_TRY return host_func("hipLaunchHostFunc", find_stream(s), f, user); HIP_END }
LATHE_HIP hipError_t hipLaunchHostFunc_spt(hipStream_t s, hipHostFn_t f, void* user) { HIP_TRY return host_func("hipLaunchHostFunc_spt", find_stream_spt(s), f, user); HIP_END }
LATHE_HIP hipError_t hipStreamWaitValue32(hipStream_t s, void* p, uint32_t v, unsigned flags, uint32_t mask) { HIP_TRY return wait_value<u32>("hipStreamWaitValue32", s, p, v, flags, mask); HIP_END }
LATHE_HIP hipError_t hipStreamWaitValue64(hipStream_t s, void* p, uint64_t v, unsigned flags, uint64_t mask) { HIP_TRY return wait_value<u64>("hipStreamWaitValue64", s, p, v, flags, mask); HIP_END }
LATHE_HIP hipError_t hipStreamWriteValue32(hipStream_t s, void* p, uint32_t v, unsigned flags) { HIP_TRY return write_value<u32>("hipStreamWriteValue32", s, p, v, flags); HIP_END }
LATHE_HIP hipError_t hipStreamWriteValue64(hipStream_t s, void* p, uint64_t v, unsigned flags) { HIP_TRY return write_value<u64>("hipStreamWriteValue64", s, p, v, flags); HIP_END }
// clang-format on

LATHE_HIP hipError_t hipStreamDestroy(hipStream_t s) {
  HIP_TRY
  if (const StreamRef stream = u64(s) > 2 ? find_stream(s) : nullptr)
    if (const hipError_t e = refuse_capture("hipStreamDestroy", stream); e != hipSuccess) return e;
  // Returns at once; the work that is in it still runs.
  return done(u64(s) > 2 && close_stream(s) ? hipSuccess : hipErrorInvalidHandle);
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = least_priority;
  if (greatest) *greatest = greatest_priority;
  return hipSuccess;
}
LATHE_HIP hipError_t hipStreamGetDevice(hipStream_t s, hipDevice_t* device) {
  HIP_TRY
  if (!device) return done(hipErrorInvalidValue);
  const StreamRef stream = find_stream(s);
  if (!stream) return done(hipErrorInvalidHandle);
  *device = stream->device;
  return hipSuccess;
  HIP_END
}
LATHE_HIP int hipGetStreamDeviceId(hipStream_t s) {
  try {
    const StreamRef stream = find_stream(s);
    return stream ? stream->device : -1;
  } catch (...) {
    return -1;
  }
}
// A mask of compute units is kept and told; all units are alike here, so it changes nothing.
LATHE_HIP hipError_t hipExtStreamCreateWithCUMask(hipStream_t* out, uint32_t size, const uint32_t* mask) {
  HIP_TRY
  if (!size || !mask) return done(hipErrorInvalidValue);
  return create(out, 0, 0, std::vector<u32>(mask, mask + size));
  HIP_END
}
LATHE_HIP hipError_t hipExtStreamGetCUMask(hipStream_t s, uint32_t size, uint32_t* mask) {
  HIP_TRY
  if (!size || !mask) return done(hipErrorInvalidValue);
  const StreamRef stream = find_stream(s);
  if (!stream) return done(hipErrorInvalidHandle);
  const u32 units = devices()[size_t(stream->device)].isa->compute_units;
  if (size < (units + 31) / 32) return done(hipErrorInvalidValue);
  for (u32 k = 0; k < size; k++) {
    const u32 all = k * 32 + 32 <= units ? ~0u : k * 32 >= units ? 0 : (1u << (units - k * 32)) - 1;
    mask[k] = stream->cu_mask.empty() ? all : k < stream->cu_mask.size() ? stream->cu_mask[k] & all : 0;
  }
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipStreamAttachMemAsync(hipStream_t s, void* p, size_t, unsigned flags) {
  HIP_TRY
  if (!find_stream(s)) return done(hipErrorInvalidHandle);
  const Allocation* a = memory().find(u64(p));
  if (!a || a->kind != Allocation::Kind::managed || (flags != hipMemAttachGlobal && flags != hipMemAttachHost && flags != hipMemAttachSingle)) return done(hipErrorInvalidValue);
  return hipSuccess;
  HIP_END
}
