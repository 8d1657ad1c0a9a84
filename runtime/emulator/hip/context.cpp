// Contexts, HIP's oldest and long deprecated interface: a context is a device with flags; a thread has a stack of
// them, and the top one's device is the current device.
#include "hip/queue.h"

using namespace lathe::emu;

struct ihipCtx_t {
  int device = 0;
  unsigned flags = 0;
  bool primary = false;
  int retained = 0;
};

namespace {

Handles<ihipCtx_t>& contexts() {
  static auto* h = new Handles<ihipCtx_t>;
  return *h;
}
std::mutex primary_mutex;
std::shared_ptr<ihipCtx_t> primary(int device) {
  static auto* all = new std::map<int, std::shared_ptr<ihipCtx_t>>;
  auto& p = (*all)[device];
  if (!p) {
    p = std::make_shared<ihipCtx_t>();
    p->device = device, p->primary = true;
    contexts().add(p);
  }
  return p;
}
thread_local std::vector<hipCtx_t> stack;

std::shared_ptr<ihipCtx_t> current_context() {
  std::lock_guard lock(primary_mutex);
  // hipSetDevice may have chosen another device since.
  const auto top = stack.empty() ? nullptr : contexts().find(stack.back());
  return top && top->device == current_device() ? top : primary(current_device());
}
hipError_t use(const std::shared_ptr<ihipCtx_t>& c) {
  if (c) current_device() = c->device;
  return hipSuccess;
}

}  // namespace

LATHE_HIP hipError_t hipCtxCreate(hipCtx_t* out, unsigned flags, hipDevice_t device) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  auto c = std::make_shared<ihipCtx_t>();
  c->device = device, c->flags = flags;
  *out = contexts().add(c);
  stack.push_back(*out);
  return use(c);
  HIP_END
}
LATHE_HIP hipError_t hipCtxDestroy(hipCtx_t handle) {
  HIP_TRY
  const auto c = contexts().find(handle);
  if (!c || c->primary) return done(hipErrorInvalidValue);
  contexts().remove(handle);
  std::erase(stack, handle);
  return use(stack.empty() ? nullptr : contexts().find(stack.back()));
  HIP_END
}
LATHE_HIP hipError_t hipCtxPushCurrent(hipCtx_t handle) {
  HIP_TRY
  const auto c = contexts().find(handle);
  if (!c) return done(hipErrorInvalidContext);
  stack.push_back(handle);
  return use(c);
  HIP_END
}
LATHE_HIP hipError_t hipCtxPopCurrent(hipCtx_t* out) {
  HIP_TRY
  if (stack.empty()) return done(hipErrorInvalidContext);
  if (out) *out = stack.back();
  stack.pop_back();
  return use(stack.empty() ? nullptr : contexts().find(stack.back()));
  HIP_END
}
LATHE_HIP hipError_t hipCtxSetCurrent(hipCtx_t handle) {
  HIP_TRY
  const auto c = handle ? contexts().find(handle) : nullptr;
  if (handle && !c) return done(hipErrorInvalidContext);
  if (!stack.empty()) stack.pop_back();
  if (c) stack.push_back(handle);
  return use(c);
  HIP_END
}
LATHE_HIP hipError_t hipCtxGetCurrent(hipCtx_t* out) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  if (devices().empty()) return done(hipErrorNoDevice);
  *out = current_context().get();
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipCtxGetDevice(hipDevice_t* out) { return hipGetDevice(out); }
LATHE_HIP hipError_t hipCtxGetApiVersion(hipCtx_t handle, int* out) {
  HIP_TRY
  if (!out || (handle && !contexts().has(handle))) return done(hipErrorInvalidValue);
  *out = 4;   // what HIP says since its first version
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipCtxGetFlags(unsigned* out) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  if (devices().empty()) return done(hipErrorNoDevice);
  *out = current_context()->flags;
  return hipSuccess;
  HIP_END
}
// clang-format off
LATHE_HIP hipError_t hipCtxGetCacheConfig(hipFuncCache_t* out) { return hipDeviceGetCacheConfig(out); }
LATHE_HIP hipError_t hipCtxSetCacheConfig(hipFuncCache_t config) { return hipDeviceSetCacheConfig(config); }
LATHE_HIP hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* out) { return hipDeviceGetSharedMemConfig(out); }
LATHE_HIP hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config) { return hipDeviceSetSharedMemConfig(config); }
LATHE_HIP hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
LATHE_HIP hipError_t hipCtxEnablePeerAccess(hipCtx_t c, unsigned flags) { HIP_TRY const auto peer = contexts().find(c); return peer ? hipDeviceEnablePeerAccess(peer->device, flags) : done(hipErrorInvalidContext); HIP_END }
LATHE_HIP hipError_t hipCtxDisablePeerAccess(hipCtx_t c) { HIP_TRY const auto peer = contexts().find(c); return peer ? hipDeviceDisablePeerAccess(peer->device) : done(hipErrorInvalidContext); HIP_END }
// clang-format on

LATHE_HIP hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* out, hipDevice_t device) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  std::lock_guard lock(primary_mutex);
  const auto p = primary(device);
  p->retained++;
  *out = p.get();
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  HIP_TRY
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  std::lock_guard lock(primary_mutex);
  const auto p = primary(device);
  if (p->retained > 0) p->retained--;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned* flags, int* active) {
  HIP_TRY
  if (!flags || !active) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  std::lock_guard lock(primary_mutex);
  const auto p = primary(device);
  *flags = p->flags, *active = p->retained > 0 || device == current_device();
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  HIP_TRY
  return done(valid_device(device) ? hipSuccess : hipErrorInvalidDevice);
  HIP_END
}
LATHE_HIP hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned) {
  HIP_TRY
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  return done(hipErrorContextAlreadyInUse);   // it is active from the start, as in HIP
  HIP_END
}
