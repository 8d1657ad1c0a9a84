// How long this thread has spent inside isl: what benchmarks show beside each pass.
#pragma once

#include <chrono>

namespace lathe {

// While one exists, time counts as isl's. They may nest.
class IslClock {
 public:
  IslClock() : outermost_(depth()++ == 0) {
    if (outermost_) start_ = std::chrono::steady_clock::now();
  }
  ~IslClock() {
    --depth();
    if (outermost_) total() += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }
  IslClock(const IslClock&) = delete;
  IslClock& operator=(const IslClock&) = delete;

  static double milliseconds() { return total(); }  // of the calling thread, since it began

 private:
  static int& depth() {
    thread_local int d = 0;
    return d;
  }
  static double& total() {
    thread_local double t = 0;
    return t;
  }
  bool outermost_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace lathe
