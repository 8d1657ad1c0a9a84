// Devices: enumeration, choice, limits.
#include <cstring>

#include "hip/queue.h"
#include "machine/row.h"

using namespace lathe::emu;

extern "C" __attribute__((visibility("default"))) const char* lathe_emulator_cpu_level() { return best_row_set().level; }

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
  if (!name || size <= 0) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  const std::string& s = devices()[size_t(device)].name;
  const size_t n = std::min(s.size(), size_t(size) - 1);
  std::memcpy(name, s.data(), n);
  name[n] = 0;
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
  hipDeviceProp_t p;
  const hipError_t e = hipGetDeviceProperties(&p, device);
  if (e != hipSuccess || !major || !minor) return done(e != hipSuccess ? e : hipErrorInvalidValue);
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
LATHE_HIP hipError_t hipDeviceReset() {
  HIP_TRY
  if (devices().empty()) return done(hipErrorNoDevice);
  if (const hipError_t e = wait_all("hipDeviceReset"); e != hipSuccess) return e;
  (void)take_fault(current_device());
  memory().release_all(current_device());
  return hipSuccess;
  HIP_END
}
