// Launches by host address: what <<<...>>> becomes, and the calls that came before it.
#include <hip/hip_runtime_api.h>

#include "hip/kernel_launch.h"
#include "launch/report.h"

using namespace lathe::emu;

namespace {

struct Configuration {
  dim3 grid, block;
  size_t lds;
  hipStream_t stream;
  std::vector<u8> arguments;   // of hipSetupArgument
};
// <<<...>>> pushes and the kernel's stub pops; an argument of the call may itself launch in between.
thread_local std::vector<Configuration> pushed;

hipError_t launch(const char* call, const void* host, dim3 grid, dim3 block, size_t lds, hipStream_t stream, void** params, void** extra, hipEvent_t start = nullptr, hipEvent_t stop = nullptr) {
  if (!known_stream(stream)) return done(hipErrorInvalidHandle);
  hipFunction_t f;
  if (const hipError_t e = registered_function(host, stream_device(stream), &f); e != hipSuccess) return done(e);
  return launch_kernel(call, f, {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, lds}, stream, params, extra, start, stop);
}

}  // namespace

LATHE_HIP hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, hipStream_t stream) {
  HIP_TRY
  pushed.push_back({grid, block, lds, stream, {}});
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* lds, hipStream_t* stream) {
  HIP_TRY
  if (pushed.empty() || !grid || !block || !lds || !stream) return done(hipErrorInvalidValue);
  const Configuration& c = pushed.back();
  *grid = c.grid, *block = c.block, *lds = c.lds, *stream = c.stream;
  pushed.pop_back();
  return hipSuccess;
  HIP_END
}

LATHE_HIP hipError_t hipLaunchKernel(const void* host, dim3 grid, dim3 block, void** params, size_t lds, hipStream_t stream) {
  HIP_TRY
  return launch("hipLaunchKernel", host, grid, block, lds, stream, params, nullptr);
  HIP_END
}
LATHE_HIP hipError_t hipLaunchKernel_spt(const void* host, dim3 grid, dim3 block, void** params, size_t lds, hipStream_t stream) {
  HIP_TRY
  return launch("hipLaunchKernel_spt", host, grid, block, lds, stream ? stream : hipStreamPerThread, params, nullptr);
  HIP_END
}
LATHE_HIP hipError_t hipExtLaunchKernel(const void* host, dim3 grid, dim3 block, void** params, size_t lds, hipStream_t stream, hipEvent_t start, hipEvent_t stop, int) {
  HIP_TRY
  return launch("hipExtLaunchKernel", host, grid, block, lds, stream, params, nullptr, start, stop);
  HIP_END
}

// The interface before hipLaunchKernel: arguments one by one, at offsets that the caller knows.
LATHE_HIP hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t lds, hipStream_t stream) { return __hipPushCallConfiguration(grid, block, lds, stream); }
LATHE_HIP hipError_t hipSetupArgument(const void* value, size_t size, size_t offset) {
  HIP_TRY
  constexpr size_t most = 1 << 20;
  if (pushed.empty() || (size && !value) || size > most || offset > most) return done(hipErrorInvalidValue);
  std::vector<u8>& bytes = pushed.back().arguments;
  bytes.resize(std::max(bytes.size(), offset + size));
  std::copy_n(static_cast<const u8*>(value), size, bytes.data() + offset);
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipLaunchByPtr(const void* host) {
  HIP_TRY
  if (pushed.empty()) return done(hipErrorInvalidConfiguration);
  Configuration c = std::move(pushed.back());
  pushed.pop_back();
  size_t size = c.arguments.size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, c.arguments.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  return launch("hipLaunchByPtr", host, c.grid, c.block, c.lds, c.stream, nullptr, extra);
  HIP_END
}
