// HIP without linking it: the library is opened at run time and its entry points are looked up once. Private to
// the runtime: the only header of it that includes HIP's.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lathe {

// What hipGetDeviceProperties tells of a device, as far as the runtime asks.
struct HipDeviceProperties {
  std::string product;    // "AMD Instinct MI300X"
  std::string arch;       // target id: "gfx942:sramecc+:xnack-"
  size_t memory_bytes = 0;
  int compute_units = 0;
  std::array<int64_t, 3> max_grid{};  // work-groups along x, y, z
};

class HipApi {
 public:
  // Opens the first of `candidates` (names or paths, as dlopen takes them) that is there. Throws Error when none
  // is, with all that dlopen said and the environment variable that would name it, or when the library lacks a
  // required entry point. `what` names the library in messages.
  static std::shared_ptr<const HipApi> open(std::string_view what, std::span<const std::string> candidates,
                                            std::string_view variable);

#define LATHE_HIP_ENTRY(name, need) decltype(&::name) name = nullptr;
#include "runtime/hip_entries.inc"
#undef LATHE_HIP_ENTRY
  // HIP's header overloads or renames these, so decltype cannot name them.
  hipError_t (*hipMalloc)(void**, size_t) = nullptr;

  // The emulated GPU's own two entry points; null in AMD's library. runtime/emulator/README.md documents them.
  int (*lathe_emulator_add_device)(const char* arch) = nullptr;
  const char* (*lathe_emulator_last_report)() = nullptr;

  bool is_emulator() const { return lathe_emulator_add_device != nullptr; }
  const std::string& path() const { return path_; }  // as given to dlopen
  void* handle() const { return handle_; }           // the same for the same library

  // The number of GPUs; 0 where HIP says that there is none.
  int device_count() const;
  HipDeviceProperties properties(int ordinal) const;

  // Throws Error unless `status` is success: the call, its argument, HIP's name and text for the status and,
  // where the emulated GPU stopped a kernel, its whole report.
  void check(hipError_t status, const char* call, std::string_view argument = {}) const {
    if (status != hipSuccess) fail(status, call, argument);
  }

 private:
  [[noreturn]] void fail(hipError_t status, const char* call, std::string_view argument) const;

  std::string path_;
  void* handle_ = nullptr;
  hipError_t (*get_properties_)(void*, int) = nullptr;  // of the newest layout that the library has
  bool properties_r0600_ = false;
};

}  // namespace lathe
