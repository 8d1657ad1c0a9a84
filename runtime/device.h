// A GPU: one that HIP drives, or an emulated one. The start of everything in the runtime.
//
//   Device gpu = Device::open();               // the first AMD GPU, else the emulated one
//   LoadedModule module = gpu.load(package);   // bytes of a .lathe file
//   module["myadd"](a, b, c);
//   gpu.synchronize();
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lathe {

class LoadedModule;
class Package;
struct DeviceState;

struct DeviceInfo {
  std::string name;       // "hip:0", "emulator:gfx942"
  std::string target_id;  // "gfx90a:sramecc+:xnack-"
  std::string product;    // the vendor's name for it
  size_t memory_bytes = 0;
  int compute_units = 0;
  std::array<int64_t, 3> max_grid{};  // work-groups along x, y, z that one launch takes
  bool is_emulated = false;
};

// A cheap handle; copies mean the same device. All of it may be called from any thread.
class Device {
 public:
  // Names: "hip:N" is the N-th AMD GPU; "emulator:ARCH" an emulated GPU of that processor; "emulator" one of
  // gfx942. No name: the environment's LATHE_DEVICE, else the first AMD GPU, else "emulator" and, once a process,
  // one line on standard error that says so. Throws Error when there is no such device.
  static Device open(std::string_view name = "");

  const DeviceInfo& info() const;
  const std::string& name() const { return info().name; }
  int ordinal() const;  // as hipSetDevice takes it

  // Verifies the package and loads the code object that fits: the exact processor, else its generic target. Throws
  // Error when the bytes are damaged or no code object fits (it names the device's id and those in the package).
  LoadedModule load(std::span<const uint8_t> package_bytes) const;
  LoadedModule load(const Package& package) const;

  // Waits for all work on the device. Throws Error when a kernel failed since the last wait.
  void synchronize() const;

  // Frees the scratch memory that idle streams keep for their next launches.
  void trim_scratch() const;

  bool operator==(const Device& other) const;

  DeviceState& state() const { return *state_; }                          // for the runtime's own use
  const std::shared_ptr<DeviceState>& shared_state() const { return state_; }  // for the runtime's own use

 private:
  explicit Device(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}

  std::shared_ptr<DeviceState> state_;
};

}  // namespace lathe
