// Random numbers that are the same on every machine (distributions of the standard library differ between libraries).
#pragma once

#include <cstdint>
#include <vector>

namespace lathe::fuzz {

class Dice {  // splitmix64
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool one_in(int64_t n) { return below(n) == 0; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

 private:
  uint64_t state_;
};

}  // namespace lathe::fuzz
