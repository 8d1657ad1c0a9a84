// What a Device stands for. Private to the runtime.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/base/target.h"
#include "runtime/device.h"
#include "runtime/hip_api.h"
#include "runtime/scratch_allocator.h"

namespace lathe {

struct DeviceState {
  DeviceState(std::shared_ptr<const HipApi> api, int device_ordinal, std::string device_name);
  ~DeviceState();

  std::shared_ptr<const HipApi> hip;
  int ordinal;
  DeviceInfo info;
  std::optional<Target> target;  // empty: a processor that this version of Lathe does not know
  ScratchAllocator scratch;

  // HIP's calls act on the calling thread's current device: said before each, as other code may have changed it.
  void make_current() const { hip->check(hip->hipSetDevice(ordinal), "hipSetDevice", info.name); }

  // Device memory; throws Error with the size when there is not enough, after giving back all idle scratch.
  void* allocate(size_t bytes);
  // Frees what allocate gave. Waits for the device, as hipFree does. Never throws: it runs in destructors, and
  // a device that is lost has lost the memory too.
  void release(void* pointer) noexcept;
};

inline hipStream_t as_hip_stream(void* raw) { return static_cast<hipStream_t>(raw); }

}  // namespace lathe
