// Devices: enumeration, choice, limits, names; what one device may do with another's memory.
#include <cstring>

#include <fmt/format.h>

#include "hip/allocation.h"
#include "hip/properties.h"
#include "hip/queue.h"
#include "machine/row.h"

using namespace lathe::emu;

extern "C" __attribute__((visibility("default"))) const char* lathe_emulator_cpu_level() { return best_row_set().level; }

namespace {

// What clients set and get back. The emulated device has no use for it.
struct Settings {
  std::mutex mutex;
  unsigned flags[Devices::most] = {};
  hipFuncCache_t cache[Devices::most] = {};
  hipSharedMemConfig banks[Devices::most] = {};
  bool peers[Devices::most][Devices::most] = {};
  size_t stack = 1024, fifo = 1 << 20, heap = 8 << 20;   // limits, HIP's defaults
};
Settings& settings() {
  static auto* s = new Settings;
  return *s;
}
constexpr unsigned known_flags = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;

hipError_t copy_name(char* out, int size, const std::string& s) {
  if (!out || size <= 0) return done(hipErrorInvalidValue);
  const size_t n = std::min(s.size(), size_t(size) - 1);
  std::memcpy(out, s.data(), n);
  out[n] = 0;
  return hipSuccess;
}
// hipLimit_t as HIP 6 numbers it; 5.2 lacks the stack size.
size_t* limit_of(int limit) {
  Settings& s = settings();
  return limit == 0 ? &s.stack : limit == hipLimitPrintfFifoSize ? &s.fifo : limit == hipLimitMallocHeapSize ? &s.heap : nullptr;
}

}  // namespace

LATHE_HIP hipError_t hipInit(unsigned flags) {
  HIP_TRY
  if (flags) return done(hipErrorInvalidValue);
  return done(devices().empty() ? hipErrorNoDevice : hipSuccess);
  HIP_END
}
LATHE_HIP hipError_t hipDriverGetVersion(int* version) {
  if (!version) return done(hipErrorInvalidValue);
  *version = HIP_VERSION;
  return hipSuccess;
}
LATHE_HIP hipError_t hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }

LATHE_HIP hipError_t hipGetDeviceCount(int* count) {
  HIP_TRY
  if (!count) return done(hipErrorInvalidValue);
  *count = int(devices().size());
  return done(*count ? hipSuccess : hipErrorNoDevice);
  HIP_END
}
LATHE_HIP hipError_t hipGetDevice(int* device) {
  if (!device) return done(hipErrorInvalidValue);
  *device = current_device();
  return hipSuccess;
}
LATHE_HIP hipError_t hipSetDevice(int device) {
  HIP_TRY
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  current_device() = device;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipSetValidDevices(int* list, int count) {
  HIP_TRY
  if (count < 0 || (count && !list)) return done(hipErrorInvalidValue);
  for (int k = 0; k < count; k++)
    if (!valid_device(list[k])) return done(hipErrorInvalidDevice);
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  HIP_TRY
  if (!device) return done(hipErrorInvalidValue);
  if (!valid_device(ordinal)) return done(hipErrorInvalidDevice);
  *device = ordinal;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGetName(char* name, int size, hipDevice_t device) {
  HIP_TRY
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  return copy_name(name, size, devices()[size_t(device)].name);
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  HIP_TRY
  if (!uuid) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  std::memcpy(uuid->bytes, properties(device).uuid, sizeof uuid->bytes);
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGetPCIBusId(char* out, int size, int device) {
  HIP_TRY
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  const std::string id = pci_bus_id(device);
  if (size <= int(id.size())) return done(hipErrorInvalidValue);   // a part of it would name another device
  return copy_name(out, size, id);
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGetByPCIBusId(int* device, const char* id) {
  HIP_TRY
  if (!device || !id) return done(hipErrorInvalidValue);
  // "domain:bus:device.function", without the function, or without the domain.
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
    domain = function = 0;
    if (std::sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2) return done(hipErrorInvalidValue);
  }
  if (domain || slot || function || !valid_device(int(bus) - 1)) return done(hipErrorInvalidDevice);
  *device = int(bus) - 1;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  HIP_TRY
  if (!bytes) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  *bytes = devices()[size_t(device)].isa->memory_bytes;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  HIP_TRY
  if (!major || !minor) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  const PropertiesR0600 p = properties(device);
  *major = p.major, *minor = p.minor;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceSynchronize() {
  HIP_TRY
  if (devices().empty()) return done(hipErrorNoDevice);
  if (const hipError_t e = wait_device("hipDeviceSynchronize", current_device()); e != hipSuccess) return e;
  return done(take_fault(current_device()));
  HIP_END
}
// Waits, forgets a fault, and frees what the client still has on the device.
LATHE_HIP hipError_t hipDeviceReset() {
  HIP_TRY
  if (devices().empty()) return done(hipErrorNoDevice);
  if (const hipError_t e = wait_all("hipDeviceReset"); e != hipSuccess) return e;
  (void)take_fault(current_device());
  memory().release_all(current_device());
  forget_pooled(current_device());
  return hipSuccess;
  HIP_END
}

// ---- settings ----

LATHE_HIP hipError_t hipSetDeviceFlags(unsigned flags) {
  HIP_TRY
  if (flags & ~known_flags) return done(hipErrorInvalidValue);
  if (devices().empty()) return done(hipErrorNoDevice);
  std::lock_guard lock(settings().mutex);
  settings().flags[current_device()] = flags;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGetDeviceFlags(unsigned* flags) {
  HIP_TRY
  if (!flags) return done(hipErrorInvalidValue);
  std::lock_guard lock(settings().mutex);
  *flags = settings().flags[current_device()];
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config) {
  HIP_TRY
  if (unsigned(config) > hipFuncCachePreferEqual) return done(hipErrorInvalidValue);
  std::lock_guard lock(settings().mutex);
  settings().cache[current_device()] = config;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  HIP_TRY
  if (!config) return done(hipErrorInvalidValue);
  std::lock_guard lock(settings().mutex);
  *config = settings().cache[current_device()];
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config) {
  HIP_TRY
  if (unsigned(config) > hipSharedMemBankSizeEightByte) return done(hipErrorInvalidValue);
  std::lock_guard lock(settings().mutex);
  settings().banks[current_device()] = config;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  HIP_TRY
  if (!config) return done(hipErrorInvalidValue);
  std::lock_guard lock(settings().mutex);
  *config = settings().banks[current_device()];
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGetLimit(size_t* value, hipLimit_t limit) {
  HIP_TRY
  if (!value) return done(hipErrorInvalidValue);
  std::lock_guard lock(settings().mutex);
  const size_t* l = limit_of(limit);
  if (!l) return done(hipErrorUnsupportedLimit);
  *value = *l;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
  HIP_TRY
  std::lock_guard lock(settings().mutex);
  size_t* l = limit_of(limit);
  if (!l) return done(hipErrorUnsupportedLimit);
  *l = value;
  return hipSuccess;
  HIP_END
}

// ---- other devices ----

// All memory is one address space: access works without being enabled, which calls still have to do in order.
LATHE_HIP hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  HIP_TRY
  if (!can) return done(hipErrorInvalidValue);
  if (!valid_device(device) || !valid_device(peer)) return done(hipErrorInvalidDevice);
  *can = device != peer;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  HIP_TRY
  if (flags) return done(hipErrorInvalidValue);
  if (!valid_device(peer) || peer == current_device()) return done(hipErrorInvalidDevice);
  std::lock_guard lock(settings().mutex);
  bool& on = settings().peers[current_device()][peer];
  if (on) return done(hipErrorPeerAccessAlreadyEnabled);
  on = true;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceDisablePeerAccess(int peer) {
  HIP_TRY
  if (!valid_device(peer) || peer == current_device()) return done(hipErrorInvalidDevice);
  std::lock_guard lock(settings().mutex);
  bool& on = settings().peers[current_device()][peer];
  if (!on) return done(hipErrorPeerAccessNotEnabled);
  on = false;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  HIP_TRY
  if (!value) return done(hipErrorInvalidValue);
  if (!valid_device(from) || !valid_device(to) || from == to) return done(hipErrorInvalidDevice);
  switch (attribute) {
    case hipDevP2PAttrPerformanceRank: *value = 0; return hipSuccess;
    case hipDevP2PAttrAccessSupported: case hipDevP2PAttrNativeAtomicSupported: *value = 1; return hipSuccess;
    case hipDevP2PAttrHipArrayAccessSupported: *value = 0; return hipSuccess;
    default: return done(hipErrorInvalidValue);
  }
  HIP_END
}
// One hop over xGMI (HSA_AMD_LINK_INFO_TYPE_XGMI is 4).
LATHE_HIP hipError_t hipExtGetLinkTypeAndHopCount(int from, int to, uint32_t* type, uint32_t* hops) {
  HIP_TRY
  if (!type || !hops) return done(hipErrorInvalidValue);
  if (!valid_device(from) || !valid_device(to) || from == to) return done(hipErrorInvalidDevice);
  *type = 4, *hops = 1;
  return hipSuccess;
  HIP_END
}
