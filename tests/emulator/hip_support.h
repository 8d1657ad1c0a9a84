// What the tests of HIP's calls share: streams and events that end with their scope, and a gate that holds a
// stream up without any timing.
#pragma once

#include <condition_variable>
#include <mutex>

#include "support.h"

namespace emu_test {

inline std::string name_of(hipError_t e) { return hipGetErrorName(e); }
inline std::string last_report() { return lathe_emulator_last_report(); }

class Stream {
 public:
  explicit Stream(unsigned flags = hipStreamDefault) { check(hipStreamCreateWithFlags(&s_, flags), "hipStreamCreateWithFlags"); }
  ~Stream() { if (s_) (void)hipStreamDestroy(s_); }
  Stream(const Stream&) = delete;
  operator hipStream_t() const { return s_; }
  hipStream_t release() { return std::exchange(s_, nullptr); }

 private:
  hipStream_t s_ = nullptr;
};
class Event {
 public:
  explicit Event(unsigned flags = hipEventDefault) { check(hipEventCreateWithFlags(&e_, flags), "hipEventCreateWithFlags"); }
  ~Event() { (void)hipEventDestroy(e_); }
  Event(const Event&) = delete;
  operator hipEvent_t() const { return e_; }

 private:
  hipEvent_t e_ = nullptr;
};

// A host function that stands in its stream until the test opens the gate.
class Gate {
 public:
  explicit Gate(hipStream_t s) {
    check(hipLaunchHostFunc(s, [](void* p) { static_cast<Gate*>(p)->pass(); }, this), "hipLaunchHostFunc");
  }
  ~Gate() {
    open();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return passed_; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
    passed_ = true;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false, passed_ = false;
};

template <class T>
class Pinned {
 public:
  explicit Pinned(size_t n, T value = T()) : n_(n) {
    check(hipHostMalloc(reinterpret_cast<void**>(&p_), n * sizeof(T), 0), "hipHostMalloc");
    std::fill(p_, p_ + n, value);
  }
  ~Pinned() { (void)hipHostFree(p_); }
  Pinned(const Pinned&) = delete;
  T* data() const { return p_; }
  T& operator[](size_t k) const { return p_[k]; }

 private:
  T* p_ = nullptr;
  size_t n_;
};

// A launch that does not wait.
template <class... A>
hipError_t start(hipStream_t s, hipFunction_t f, Dim grid, Dim block, A&&... args) {
  void* slots[sizeof...(A) + 1] = {};
  size_t k = 0;
  void* params[] = {argument(args, slots[k++])..., nullptr};
  return hipModuleLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, 0, s, params, nullptr);
}

// One small kernel file for one target: HIP's calls are the same on all.
inline std::string hip_kernels(const std::string& arch = "gfx1100") { return compile_opencl("hip.cl", arch, "-O2"); }

}  // namespace emu_test
