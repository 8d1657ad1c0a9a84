// Launches by function handle: everything is checked and every argument taken before the call returns; the
// kernel runs when the stream gets there.
#include <cstring>

#include <fmt/format.h>

#include "hip/event.h"
#include "hip/fail.h"
#include "hip/kernel_launch.h"

using namespace lathe::emu;

namespace lathe::emu {

hipError_t make_kernel(const char* call, hipFunction_t handle, const Config& config, void** params, void** extra, KernelOp& out) {
  const FunctionRef f = find_function(handle);
  if (!f) return done(hipErrorInvalidHandle);
  if (params && extra) return refuse(hipErrorInvalidValue, fmt::format("{}: arguments are given twice", call));
  const Kernel& kernel = *f->kernel;
  const Isa& isa = *kernel.object->isa;
  if (config.lds > isa.lds_bytes) return refuse(hipErrorInvalidConfiguration, fmt::format("launch of {}: {} bytes of LDS, the device has {}", kernel.name, config.lds, isa.lds_bytes));
  Launch& l = out.launch;
  l.kernel = f->kernel;
  l.device = f->device;
  for (int d = 0; d < 3; d++) l.grid[d] = config.grid[d], l.block[d] = config.block[d];
  l.dynamic_lds = u32(config.lds);
  l.strict = strict_mode();
  l.cooperative = config.cooperative;
  if (!check_launch(l)) return done(hipErrorInvalidConfiguration);
  if (config.cooperative) {
    // Groups of such a launch may wait for each other, so all must be resident at once.
    const u64 groups = u64(l.grid[0]) * l.grid[1] * l.grid[2], room = u64(groups_per_unit(kernel, l.block[0] * l.block[1] * l.block[2], config.lds)) * isa.compute_units;
    if (groups > room) return refuse(hipErrorCooperativeLaunchTooLarge, fmt::format("{} of {}: {} groups, the device holds {} at once", call, kernel.name, groups, room));
  }
  l.kernarg.resize(kernel.kernarg_bytes);
  if (extra) {
    const void* buffer = nullptr;
    size_t size = 0;
    for (void** e = extra; *e != HIP_LAUNCH_PARAM_END; e += 2) {
      if (*e == HIP_LAUNCH_PARAM_BUFFER_POINTER) buffer = e[1];
      else if (*e == HIP_LAUNCH_PARAM_BUFFER_SIZE && e[1]) size = *static_cast<size_t*>(e[1]);
      else return done(hipErrorInvalidValue);
    }
    if (size && !buffer) return done(hipErrorInvalidValue);
    if (size) std::memcpy(l.kernarg.data(), buffer, std::min(size, l.kernarg.size()));
  } else {
    u32 n = 0;
    for (const KernelArg& a : kernel.args) {
      if (a.value_kind.compare(0, 7, "hidden_") == 0) continue;
      if (!params || !params[n]) return refuse(hipErrorInvalidValue, fmt::format("{} of {}: argument {} is missing", call, kernel.name, n));
      std::memcpy(l.kernarg.data() + a.offset, params[n++], a.size);
    }
  }
  // A dynamic_shared_pointer argument needs nothing: its offset is known at compile time.
  out.function = handle;
  return hipSuccess;
}

hipError_t launch_kernel(const char* call, hipFunction_t handle, const Config& config, hipStream_t s, void** params, void** extra, hipEvent_t start, hipEvent_t stop) {
  const FunctionRef f = find_function(handle);
  // A null stream is that of the function's device; a made one must be of that device.
  const StreamRef stream = !f ? nullptr : !s || s == hipStreamLegacy ? null_stream(f->device) : find_stream(s);
  if (!f || !stream) return done(hipErrorInvalidHandle);
  if (stream->device != f->device) return refuse(hipErrorInvalidHandle, fmt::format("{} of {}: the function is of device {}, the stream of device {}", call, f->kernel->name, f->device, stream->device));
  KernelOp op;
  if (const hipError_t e = make_kernel(call, handle, config, params, extra, op); e != hipSuccess) return e;
  op.fail = fail_now("launch");
  if (const hipError_t e = record_event(call, start, stream); e != hipSuccess) return e;
  if (const hipError_t e = submit(call, stream, std::move(op), false); e != hipSuccess) return e;
  return record_event(call, stop, stream);
}

}  // namespace lathe::emu

namespace {

// HIP 6.5's structures, which Debian's headers lack.
struct Attribute {
  u32 id;
  u32 pad;
  union { int value; char bytes[64]; };
};
static_assert(sizeof(Attribute) == 72);
constexpr u32 attribute_cooperative = 2;
struct DriverConfig {
  u32 grid[3], block[3], lds;
  hipStream_t stream;
  const Attribute* attributes;
  u32 count;
};
static_assert(sizeof(DriverConfig) == 56);
struct RuntimeConfig {
  dim3 grid, block;
  size_t lds;
  hipStream_t stream;
  const Attribute* attributes;
  u32 count;
};
static_assert(sizeof(RuntimeConfig) == 56);

bool cooperative(const Attribute* all, u32 count) {
  for (u32 k = 0; all && k < count; k++)
    if (all[k].id == attribute_cooperative && all[k].value) return true;
  return false;
}
// The Ext calls count work-items, not groups.
hipError_t launch_global(const char* call, hipFunction_t f, const u32 (&items)[3], const u32 (&block)[3], size_t lds, hipStream_t s, void** params, void** extra, hipEvent_t start, hipEvent_t stop) {
  Config c{};
  for (int d = 0; d < 3; d++) {
    if (!block[d] || items[d] % block[d]) return refuse(hipErrorInvalidConfiguration, fmt::format("{}: {} work-items in {} are no multiple of the group's {}; groups of unequal size are not supported", call, items[d], "xyz"[d], block[d]));
    c.grid[d] = items[d] / block[d], c.block[d] = block[d];
  }
  c.lds = lds;
  return launch_kernel(call, f, c, s, params, extra, start, stop);
}

}  // namespace

LATHE_HIP hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned lds, hipStream_t s, void** params, void** extra) {
  HIP_TRY
  return launch_kernel("hipModuleLaunchKernel", f, {{gx, gy, gz}, {bx, by, bz}, lds}, s, params, extra);
  HIP_END
}
LATHE_HIP hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned lds, hipStream_t s, void** params) {
  HIP_TRY
  return launch_kernel("hipModuleLaunchCooperativeKernel", f, {{gx, gy, gz}, {bx, by, bz}, lds, true}, s, params, nullptr);
  HIP_END
}
LATHE_HIP hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t lds, hipStream_t s, void** params, void** extra, hipEvent_t start, hipEvent_t stop, uint32_t) {
  HIP_TRY
  return launch_global("hipExtModuleLaunchKernel", f, {gx, gy, gz}, {bx, by, bz}, lds, s, params, extra, start, stop);
  HIP_END
}
LATHE_HIP hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t lds, hipStream_t s, void** params, void** extra, hipEvent_t start, hipEvent_t stop) {
  HIP_TRY
  return launch_global("hipHccModuleLaunchKernel", f, {gx, gy, gz}, {bx, by, bz}, lds, s, params, extra, start, stop);
  HIP_END
}
// In HIP 5 these two are C++ functions: Debian's library exports them under these names, newer headers the C ones.
LATHE_HIP hipError_t _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t lds, hipStream_t s, void** params, void** extra, hipEvent_t start, hipEvent_t stop, uint32_t flags) {
  return hipExtModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, lds, s, params, extra, start, stop, flags);
}
LATHE_HIP hipError_t _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t lds, hipStream_t s, void** params, void** extra, hipEvent_t start, hipEvent_t stop) {
  return hipHccModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, lds, s, params, extra, start, stop);
}
LATHE_HIP hipError_t hipDrvLaunchKernelEx(const DriverConfig* c, hipFunction_t f, void** params, void** extra) {
  HIP_TRY
  if (!c) return done(hipErrorInvalidValue);
  return launch_kernel("hipDrvLaunchKernelEx", f, {{c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]}, c->lds, cooperative(c->attributes, c->count)}, c->stream, params, extra);
  HIP_END
}
LATHE_HIP hipError_t hipLaunchKernelExC(const RuntimeConfig* c, const void* host, void** params) {
  HIP_TRY
  if (!c) return done(hipErrorInvalidValue);
  const StreamRef stream = find_stream(c->stream);
  if (!stream) return done(hipErrorInvalidHandle);
  FunctionRef f;
  if (const hipError_t e = find_function(host, stream->device, f); e != hipSuccess) return e;
  return launch_kernel("hipLaunchKernelExC", f.get(), {{c->grid.x, c->grid.y, c->grid.z}, {c->block.x, c->block.y, c->block.z}, c->lds, cooperative(c->attributes, c->count)}, c->stream, params, nullptr);
  HIP_END
}
LATHE_HIP hipError_t hipLaunchCooperativeKernel(const void* host, dim3 grid, dim3 block, void** params, unsigned lds, hipStream_t s) {
  HIP_TRY
  const StreamRef stream = find_stream(s);
  if (!stream) return done(hipErrorInvalidHandle);
  FunctionRef f;
  if (const hipError_t e = find_function(host, stream->device, f); e != hipSuccess) return e;
  return launch_kernel("hipLaunchCooperativeKernel", f.get(), {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, lds, true}, s, params, nullptr);
  HIP_END
}
LATHE_HIP hipError_t hipLaunchCooperativeKernel_spt(const void* host, dim3 grid, dim3 block, void** params, unsigned lds, hipStream_t s) {
  return hipLaunchCooperativeKernel(host, grid, block, params, lds, s ? s : hipStreamPerThread);
}

namespace {
// One launch per device. The parts may not wait for each other across devices: that needs a barrier of all devices.
hipError_t launch_many(const char* call, hipLaunchParams* list, int count, unsigned flags, bool cooperative) {
  if (!list || count <= 0 || size_t(count) > devices().size() || flags > (hipCooperativeLaunchMultiDeviceNoPreSync | hipCooperativeLaunchMultiDeviceNoPostSync)) return done(hipErrorInvalidValue);
  std::vector<int> seen;
  for (int k = 0; k < count; k++) {
    const StreamRef stream = u64(list[k].stream) > 2 ? find_stream(list[k].stream) : nullptr;
    if (!stream) return refuse(hipErrorInvalidHandle, fmt::format("{}: part {} has no stream of its own", call, k));
    for (int d : seen)
      if (d == stream->device) return refuse(hipErrorInvalidDevice, fmt::format("{}: two parts are for device {}", call, d));
    seen.push_back(stream->device);
  }
  for (int k = 0; k < count; k++) {
    const hipLaunchParams& p = list[k];
    FunctionRef f;
    if (const hipError_t e = find_function(p.func, seen[size_t(k)], f); e != hipSuccess) return e;
    const Config c{{p.gridDim.x, p.gridDim.y, p.gridDim.z}, {p.blockDim.x, p.blockDim.y, p.blockDim.z}, p.sharedMem, cooperative};
    if (const hipError_t e = launch_kernel(call, f.get(), c, p.stream, p.args, nullptr); e != hipSuccess) return e;
  }
  return hipSuccess;
}
}  // namespace
LATHE_HIP hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams* list, int count, unsigned flags) {
  HIP_TRY
  return launch_many("hipLaunchCooperativeKernelMultiDevice", list, count, flags, true);
  HIP_END
}
LATHE_HIP hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams* list, int count, unsigned flags) {
  HIP_TRY
  return launch_many("hipExtLaunchMultiKernelMultiDevice", list, count, flags, false);
  HIP_END
}
