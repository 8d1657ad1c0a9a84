// What HIP's calls share: devices, the error state, live handles.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "launch/dispatch.h"

// A symbol of HIP's ABI. Nothing may be thrown across it: see HIP_TRY.
#define LATHE_HIP extern "C" __attribute__((visibility("default")))

namespace lathe::emu {

struct Device {
  const Isa* isa = nullptr;
  std::string name;   // "Lathe emulated gfx942"
};

// The devices: LATHE_EMULATOR_ARCH=gfx942[,gfx1100...], a name twice for two of a kind, and what
// lathe_emulator_add_device added. They are never removed, so a look needs no lock.
class Devices {
 public:
  static constexpr size_t most = 64;
  size_t size() const { return count_.load(std::memory_order_acquire); }
  bool empty() const { return size() == 0; }
  const Device& operator[](size_t k) const { return items_[k]; }
  bool add(const Isa& isa);           // false if there are `most` already; the caller holds the lock

 private:
  Device items_[most];
  std::atomic<size_t> count_{0};
};
const Devices& devices();             // made on first use
int add_device(const std::string& arch);
bool valid_device(int ordinal);
int& current_device();                // per thread

// HIP's error state, per thread. (Faults of kernels wait at their device: hip/queue.h.)
hipError_t done(hipError_t);          // remembers and returns it
hipError_t take_last_error();
hipError_t peek_last_error();
hipError_t unsupported(const char* call);
// One line on standard error and in lathe_emulator_last_report(), then done(e).
hipError_t refuse(hipError_t e, const std::string& report);

// Handles are pointers; a stale or foreign one is an error, never a crash. Who found an object may go on with it
// after another thread has destroyed the handle.
template <class T>
class Handles {
 public:
  T* add(std::shared_ptr<T> p) {
    std::lock_guard lock(mutex_);
    T* raw = p.get();
    live_[raw] = std::move(p);
    return raw;
  }
  std::shared_ptr<T> find(const T* p) {
    std::lock_guard lock(mutex_);
    const auto it = live_.find(const_cast<T*>(p));
    return it == live_.end() ? nullptr : it->second;
  }
  bool has(const T* p) { return find(p) != nullptr; }
  template <class F>
  bool any(F f) {
    std::lock_guard lock(mutex_);
    for (auto& [raw, p] : live_)
      if (f(*p)) return true;
    return false;
  }
  std::shared_ptr<T> remove(T* p) {
    std::lock_guard lock(mutex_);
    const auto it = live_.find(p);
    if (it == live_.end()) return nullptr;
    std::shared_ptr<T> taken = std::move(it->second);
    live_.erase(it);
    return taken;
  }

 private:
  std::mutex mutex_;
  std::map<T*, std::shared_ptr<T>> live_;
};

}  // namespace lathe::emu

#define HIP_TRY try {
#define HIP_END                                                                    \
  }                                                                                \
  catch (const std::bad_alloc&) { return ::lathe::emu::done(hipErrorOutOfMemory); } \
  catch (...) { return ::lathe::emu::done(hipErrorUnknown); }
