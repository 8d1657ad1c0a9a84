#include "tests/runtime/fake_hip.h"

#include <hip/hip_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

using lathe::FakeHip;

namespace {

FakeHip fake;
std::recursive_mutex mutex;
thread_local int current_device = 0;

// Counts a call; the status it must fail with, or success.
hipError_t enter(std::string_view call) {
  const std::lock_guard lock(mutex);
  if (const auto counter = fake.calls.find(call); counter != fake.calls.end()) ++counter->second;
  else fake.calls.emplace(call, 1);
  const auto fault = fake.faults.find(call);
  if (fault == fake.faults.end() || fault->second.after-- > 0) return hipSuccess;
  const auto status = static_cast<hipError_t>(fault->second.status);
  fake.faults.erase(fault);
  return status;
}

void add(int& counter, int change) {
  const std::lock_guard lock(mutex);
  counter += change;
}

template <class T>
void put(void* properties, size_t offset, T value) {
  std::memcpy(static_cast<char*>(properties) + offset, &value, sizeof value);
}

hipError_t fill(void* properties, size_t memory, size_t grid, size_t units, size_t arch) {
  std::strcpy(static_cast<char*>(properties), "Fake GPU");
  put(properties, memory, size_t{1} << 34);
  put(properties, units, 110);
  for (size_t i = 0; i < 3; ++i) put(properties, grid + 4 * i, fake.max_grid[i]);
  std::strcpy(static_cast<char*>(properties) + arch, fake.arch.c_str());
  return hipSuccess;
}

void vector_add(unsigned groups, void** parameters) {
  const auto* a = *static_cast<float**>(parameters[0]);
  const auto* b = *static_cast<float**>(parameters[1]);
  auto* c = *static_cast<float**>(parameters[2]);
  const long n = *static_cast<long*>(parameters[3]);
  for (long i = 0; i < n && i < 64l * groups; ++i) c[i] = a[i] + b[i];
}

#define ENTER(name)                                   \
  if (const hipError_t status = enter(#name); status) \
  return status

}  // namespace

extern "C" {

FakeHip* fake_hip() { return &fake; }

hipError_t hipInit(unsigned) {
  ENTER(hipInit);
  return static_cast<hipError_t>(fake.init_status);
}
hipError_t hipGetDeviceCount(int* count) {
  ENTER(hipGetDeviceCount);
  *count = fake.devices;
  return fake.devices ? hipSuccess : hipErrorNoDevice;
}
hipError_t hipSetDevice(int device) {
  ENTER(hipSetDevice);
  current_device = device;
  return device >= 0 && device < 16 ? hipSuccess : hipErrorInvalidDevice;
}
hipError_t hipDeviceSynchronize() {
  ENTER(hipDeviceSynchronize);
  return hipSuccess;
}
const char* hipGetErrorName(hipError_t status) {
  return status == hipErrorOutOfMemory    ? "hipErrorOutOfMemory"
         : status == hipErrorLaunchFailure ? "hipErrorLaunchFailure"
         : status == hipErrorInvalidValue  ? "hipErrorInvalidValue"
                                           : "hipErrorUnknown";
}
const char* hipGetErrorString(hipError_t status) {
  return status == hipErrorOutOfMemory ? "out of memory" : "something went wrong";
}
hipError_t hipMalloc(void** pointer, size_t bytes) {
  ENTER(hipMalloc);
  *pointer = std::malloc(bytes);
  add(fake.live_allocations, 1);
  return hipSuccess;
}
hipError_t hipFree(void* pointer) {
  ENTER(hipFree);
  std::free(pointer);
  add(fake.live_allocations, -1);
  return hipSuccess;
}
hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind) {
  ENTER(hipMemcpy);
  std::memcpy(to, from, bytes);
  return hipSuccess;
}
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind, hipStream_t) {
  ENTER(hipMemcpyAsync);
  std::memcpy(to, from, bytes);
  return hipSuccess;
}
hipError_t hipModuleLoadData(hipModule_t* module, const void*) {
  ENTER(hipModuleLoadData);
  *module = static_cast<hipModule_t>(std::malloc(1));
  add(fake.live_modules, 1);
  return hipSuccess;
}
hipError_t hipModuleUnload(hipModule_t module) {
  ENTER(hipModuleUnload);
  std::free(module);
  add(fake.live_modules, -1);
  return hipSuccess;
}
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t, const char* name) {
  ENTER(hipModuleGetFunction);
  // A function is its name, kept for good.
  static std::map<std::string, std::string> names;
  const std::lock_guard lock(mutex);
  *function = reinterpret_cast<hipFunction_t>(const_cast<char*>(names.emplace(name, name).first->second.c_str()));
  return hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned lds, hipStream_t stream, void** parameters, void**) {
  ENTER(hipModuleLaunchKernel);
  const std::lock_guard lock(mutex);
  const std::string_view kernel = reinterpret_cast<const char*>(function);
  if (kernel == "vector_add") vector_add(gx, parameters);
  if (!fake.record) return hipSuccess;
  lathe::FakeLaunch launch{std::string(kernel), {gx, gy, gz}, {bx, by, bz}, lds, stream, current_device, {}};
  if (kernel == "vector_add")
    for (int i = 0; i < 3; ++i) launch.pointers.push_back(*static_cast<void**>(parameters[i]));
  fake.launches.push_back(launch);
  return hipSuccess;
}
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned) {
  ENTER(hipStreamCreateWithFlags);
  *stream = static_cast<hipStream_t>(std::malloc(1));
  add(fake.live_streams, 1);
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  ENTER(hipStreamDestroy);
  std::free(stream);
  add(fake.live_streams, -1);
  return hipSuccess;
}
hipError_t hipStreamSynchronize(hipStream_t) {
  ENTER(hipStreamSynchronize);
  return hipSuccess;
}
hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned) {
  ENTER(hipStreamWaitEvent);
  return hipSuccess;
}
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
  ENTER(hipEventCreateWithFlags);
  *event = static_cast<hipEvent_t>(std::malloc(1));
  add(fake.live_events, 1);
  return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) {
  ENTER(hipEventDestroy);
  std::free(event);
  add(fake.live_events, -1);
  return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t, hipStream_t) {
  ENTER(hipEventRecord);
  return hipSuccess;
}
hipError_t hipEventSynchronize(hipEvent_t) {
  ENTER(hipEventSynchronize);
  return hipSuccess;
}
hipError_t hipEventQuery(hipEvent_t) {
  ENTER(hipEventQuery);
  return hipSuccess;
}
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t, hipEvent_t) {
  ENTER(hipEventElapsedTime);
  *milliseconds = 1.5f;
  return hipSuccess;
}

// The layouts are stated here a second time, from the same two headers, so that a slip in the runtime shows.
#ifdef FAKE_EMULATOR
hipError_t hipGetDevicePropertiesR0600(void* properties, int) {
  ENTER(hipGetDeviceProperties);
  return fill(properties, 288, 336, 388, 1160);
}
int lathe_emulator_add_device(const char* arch) {
  ++fake.calls["lathe_emulator_add_device"];
  if (std::strncmp(arch, "gfx9", 4) != 0) return -1;
  fake.arch = arch;
  return std::strcmp(arch, "gfx906") == 0 ? 1 : 0;
}
const char* lathe_emulator_last_report() { return fake.report.c_str(); }
#else
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int) {
  ENTER(hipGetDeviceProperties);
  return fill(properties, offsetof(hipDeviceProp_t, totalGlobalMem), offsetof(hipDeviceProp_t, maxGridSize),
              offsetof(hipDeviceProp_t, multiProcessorCount), offsetof(hipDeviceProp_t, gcnArchName));
}
#endif

}  // extern "C"
