// What HIP's calls share: devices, the error state, live handles.
#pragma once

#include <hip/hip_runtime_api.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "launch/dispatch.h"

// A symbol of HIP's ABI. Nothing may be thrown across it: see HIP_TRY.
#define LATHE_HIP extern "C" __attribute__((visibility("default")))

namespace lathe::emu {

struct Device {
  const Isa* isa;
  std::string name;   // "Lathe emulated gfx942"
};

// The devices: LATHE_EMULATOR_ARCH=gfx942[,gfx1100...] and what lathe_emulator_add_device added.
std::vector<Device>& devices();        // initialises on first use
int add_device(const std::string& arch);
bool valid_device(int ordinal);
int& current_device();                 // per thread

// HIP's error state: per thread, and one fault of a launch that waits to be told.
hipError_t done(hipError_t);           // remembers and returns it
hipError_t take_last_error();
hipError_t peek_last_error();
void set_pending_fault(hipError_t);
hipError_t take_pending_fault();       // hipSuccess if none
hipError_t unsupported(const char* call);

// Handles are pointers; a stale or foreign one is an error, never a crash.
template <class T>
class Handles {
 public:
  T* add(T* p) {
    std::lock_guard lock(mutex_);
    live_.insert(p);
    return p;
  }
  bool has(const T* p) {
    std::lock_guard lock(mutex_);
    return live_.count(const_cast<T*>(p)) != 0;
  }
  bool remove(T* p) {
    std::lock_guard lock(mutex_);
    return live_.erase(p) != 0;
  }

 private:
  std::mutex mutex_;
  std::set<T*> live_;
};

}  // namespace lathe::emu

#define HIP_TRY try {
#define HIP_END                                                                    \
  }                                                                                \
  catch (const std::bad_alloc&) { return ::lathe::emu::done(hipErrorOutOfMemory); } \
  catch (...) { return ::lathe::emu::done(hipErrorUnknown); }
