#include "runtime/hip_api.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstring>
#include <vector>

#include "runtime/base/error.h"

namespace lathe {
namespace {

// Where the fields stand in hipDeviceProp_t. HIP 6 changed the struct (and the function's name, to ...R0600);
// the header at hand describes only one of the two, hence byte offsets. Sources: hip_runtime_api.h of HIP 5.2
// and of HIP 6.0 (hipDeviceProp_tR0600).
struct PropertyLayout {
  size_t total_memory, max_grid, compute_units, arch;
};
constexpr PropertyLayout layout_5{256, 296, 336, 396};
constexpr PropertyLayout layout_r0600{288, 336, 388, 1160};
constexpr size_t property_bytes = 8192;  // 792 in HIP 5.2, 1472 in R0600; room for what comes

// HIP 5.2's header is the one most builds have: let it vouch for its own layout.
#if HIP_VERSION_MAJOR == 5
static_assert(offsetof(hipDeviceProp_t, totalGlobalMem) == layout_5.total_memory);
static_assert(offsetof(hipDeviceProp_t, maxGridSize) == layout_5.max_grid);
static_assert(offsetof(hipDeviceProp_t, multiProcessorCount) == layout_5.compute_units);
static_assert(offsetof(hipDeviceProp_t, gcnArchName) == layout_5.arch);
#endif

template <class T>
T field(const std::vector<char>& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string text_field(const std::vector<char>& bytes, size_t offset) {
  const char* text = bytes.data() + offset;
  return std::string(text, strnlen(text, 256));
}

template <class Pointer>
void look_up(void* handle, const char* name, Pointer& pointer) {
  pointer = reinterpret_cast<Pointer>(dlsym(handle, name));
}

// Codes with which HIP reports that a kernel went wrong, as opposed to a call.
bool is_kernel_fault(hipError_t status) {
  const int code = static_cast<int>(status);
  return code == hipErrorIllegalAddress || code == hipErrorLaunchFailure || code == hipErrorAssert ||
         code == hipErrorLaunchOutOfResources || code == hipErrorLaunchTimeOut || code == hipErrorNotSupported ||
         code == hipErrorUnknown;
}

}  // namespace

std::shared_ptr<const HipApi> HipApi::open(std::string_view what, std::span<const std::string> candidates,
                                           std::string_view variable) {
  auto api = std::make_shared<HipApi>();
  std::string tried;
  for (const std::string& candidate : candidates) {
    // Never closed: HIP keeps threads of its own, which must not lose their code.
    api->handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (api->handle_) {
      api->path_ = candidate;
      break;
    }
    tried += fmt::format("\n  {}", dlerror());
  }
  if (!api->handle_)
    throw Error(std::string(what), "no library found:" + tried, fmt::format("{} can name its path", variable));

  auto require = [&](const char* name, bool found) {
    if (!found) throw Error(std::string(what), fmt::format("{} has no entry point {}", api->path_, name));
  };
  constexpr bool required = true, optional = false;
#define LATHE_HIP_ENTRY(name, need)         \
  look_up(api->handle_, #name, api->name);  \
  if (need) require(#name, api->name != nullptr);
#include "runtime/hip_entries.inc"
#undef LATHE_HIP_ENTRY
  look_up(api->handle_, "hipMalloc", api->hipMalloc);
  require("hipMalloc", api->hipMalloc != nullptr);
  look_up(api->handle_, "lathe_emulator_add_device", api->lathe_emulator_add_device);
  look_up(api->handle_, "lathe_emulator_last_report", api->lathe_emulator_last_report);

  // HIP 6 and later answer under R0600; their plain name stands for the old layout, as R0000 does.
  look_up(api->handle_, "hipGetDevicePropertiesR0600", api->get_properties_);
  api->properties_r0600_ = api->get_properties_ != nullptr;
  for (const char* name : {"hipGetDevicePropertiesR0000", "hipGetDeviceProperties"})
    if (!api->get_properties_) look_up(api->handle_, name, api->get_properties_);
  require("hipGetDeviceProperties", api->get_properties_ != nullptr);
  return api;
}

int HipApi::device_count() const {
  auto means_none = [](hipError_t status) { return status == hipErrorNoDevice || status == hipErrorInvalidDevice; };
  const hipError_t ready = hipInit(0);
  if (means_none(ready)) return 0;
  check(ready, "hipInit");
  int count = 0;
  const hipError_t counted = hipGetDeviceCount(&count);
  if (means_none(counted)) return 0;
  check(counted, "hipGetDeviceCount");
  return count;
}

HipDeviceProperties HipApi::properties(int ordinal) const {
  std::vector<char> bytes(property_bytes);
  check(get_properties_(bytes.data(), ordinal), "hipGetDeviceProperties", fmt::format("device {}", ordinal));
  const PropertyLayout& at = properties_r0600_ ? layout_r0600 : layout_5;
  HipDeviceProperties result;
  result.product = text_field(bytes, 0);
  result.arch = text_field(bytes, at.arch);
  result.memory_bytes = field<size_t>(bytes, at.total_memory);
  result.compute_units = field<int>(bytes, at.compute_units);
  for (size_t i = 0; i < 3; ++i) result.max_grid[i] = field<int>(bytes, at.max_grid + i * sizeof(int));
  return result;
}

void HipApi::fail(hipError_t status, const char* call, std::string_view argument) const {
  const char* name = hipGetErrorName(status);
  const char* text = hipGetErrorString(status);
  std::string what = fmt::format("{} ({}): {}", name ? name : "unknown error", static_cast<int>(status),
                                 text ? text : "no text");
  if (lathe_emulator_last_report && is_kernel_fault(status))
    if (const char* report = lathe_emulator_last_report(); report && *report) what += fmt::format("\n{}", report);
  throw Error(argument.empty() ? std::string(call) : fmt::format("{}, {}", call, argument), what);
}

}  // namespace lathe
