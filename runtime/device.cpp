#include "runtime/device.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "runtime/base/error.h"
#include "runtime/device_state.h"
#include "runtime/library_search.h"

namespace lathe {

DeviceState::DeviceState(std::shared_ptr<const HipApi> api, int device_ordinal, std::string device_name)
    : hip(std::move(api)), ordinal(device_ordinal) {
  const HipDeviceProperties properties = hip->properties(ordinal);
  info = {std::move(device_name),    properties.arch,          properties.product,   properties.memory_bytes,
          properties.compute_units, properties.max_grid, hip->is_emulator()};
  if (find_gfx(info.target_id.substr(0, info.target_id.find(':')))) target = parse_target(info.target_id);
}

void* DeviceState::allocate(size_t bytes) {
  make_current();
  void* pointer = nullptr;
  hipError_t status = hip->hipMalloc(&pointer, bytes);
  if (status == hipErrorOutOfMemory && scratch.idle_bytes() > 0) {
    scratch.trim([this](void* idle) { release(idle); });
    status = hip->hipMalloc(&pointer, bytes);
  }
  hip->check(status, "hipMalloc", fmt::format("{} bytes on {}", bytes, info.name));
  return pointer;
}

void DeviceState::release(void* pointer) noexcept {
  if (!pointer) return;
  (void)hip->hipSetDevice(ordinal);
  (void)hip->hipFree(pointer);
}

DeviceState::~DeviceState() {
  scratch.trim([this](void* idle) { release(idle); });
}

namespace {

constexpr std::string_view default_arch = "gfx942";

std::shared_ptr<const HipApi> open_hip_library() {
  return HipApi::open("HIP", hip_library_candidates(), "LATHE_HIP_LIBRARY");
}

std::shared_ptr<DeviceState> open_hip(std::string_view name, std::string_view number) {
  const auto hip = open_hip_library();
  const int count = hip->device_count();
  int ordinal = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
  if (error != std::errc{} || end != number.data() + number.size() || ordinal < 0)
    throw Error(fmt::format("device \"{}\"", name), fmt::format("\"{}\" is not a device's number", number),
                "AMD GPUs are hip:0, hip:1 and so on");
  if (ordinal >= count)
    throw Error(fmt::format("device \"{}\"", name),
                count == 0 ? fmt::format("{} finds no AMD GPU", hip->path())
                           : fmt::format("{} finds {} AMD GPU{}", hip->path(), count, count == 1 ? "" : "s"),
                "\"emulator\" is a device on every machine");
  return std::make_shared<DeviceState>(hip, ordinal, std::string(name));
}

std::shared_ptr<DeviceState> open_emulator(std::string_view arch) {
  const auto hip = HipApi::open("emulated GPU", emulator_library_candidates(), "LATHE_EMULATOR_LIBRARY");
  const std::string name = fmt::format("emulator:{}", arch);
  if (!hip->is_emulator())
    throw Error(fmt::format("device \"{}\"", name),
                hip->path() + " is not the emulated GPU: it has no entry point lathe_emulator_add_device");
  hip->check(hip->hipInit(0), "hipInit", name);
  const int ordinal = hip->lathe_emulator_add_device(std::string(arch).c_str());
  if (ordinal < 0)
    throw Error(fmt::format("device \"{}\"", name), fmt::format("the emulator has no processor \"{}\"", arch),
                "for example emulator:gfx906, emulator:gfx942, emulator:gfx1100");
  return std::make_shared<DeviceState>(hip, ordinal, name);
}

// The first AMD GPU, or nothing where there is no HIP or HIP finds none.
std::shared_ptr<DeviceState> open_first_gpu() {
  std::shared_ptr<const HipApi> hip;
  try {
    hip = open_hip_library();
  } catch (const Error&) {
    return nullptr;  // HIP is not installed: a machine without an AMD GPU
  }
  if (hip->device_count() == 0) return nullptr;
  return std::make_shared<DeviceState>(hip, 0, "hip:0");
}

std::shared_ptr<DeviceState> open_named(std::string_view name) {
  if (name.starts_with("hip:")) return open_hip(name, name.substr(4));
  if (name == "emulator") return open_emulator(default_arch);
  if (name.starts_with("emulator:")) return open_emulator(name.substr(9));
  throw Error(fmt::format("device \"{}\"", name), "not a device's name",
              "names are hip:0, emulator, emulator:gfx1100");
}

std::shared_ptr<DeviceState> open_default() {
  if (const char* name = std::getenv("LATHE_DEVICE"); name && *name) return open_named(name);
  if (auto gpu = open_first_gpu()) return gpu;
  static std::once_flag said;
  std::call_once(said, [] {
    fmt::print(stderr, "lathe: no AMD GPU here, running on the emulated {} (LATHE_DEVICE chooses another)\n",
               default_arch);
  });
  return open_emulator(default_arch);
}

}  // namespace

Device Device::open(std::string_view name) { return Device(name.empty() ? open_default() : open_named(name)); }

const DeviceInfo& Device::info() const { return state_->info; }

int Device::ordinal() const { return state_->ordinal; }

void Device::synchronize() const {
  state_->make_current();
  state_->hip->check(state_->hip->hipDeviceSynchronize(), "hipDeviceSynchronize", name());
}

void Device::trim_scratch() const {
  state_->scratch.trim([this](void* idle) { state_->release(idle); });
}

bool Device::operator==(const Device& other) const {
  return state_->hip->handle() == other.state_->hip->handle() && ordinal() == other.ordinal();
}

}  // namespace lathe
