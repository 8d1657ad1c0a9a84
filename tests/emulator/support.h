// What the test files share beside the harness.
#pragma once

#include <catch2/catch.hpp>

#include <random>

#include "harness.h"

namespace emu_test {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

template <class F>
void everywhere(const std::string& file, const std::string& flags, F f) {
  for (const auto& arch : targets)
    for (const char* opt : {"-O0", "-O3"}) {
      INFO(arch << " " << opt);
      Module m(arch, compile_opencl(file, arch, opt + std::string(" ") + flags));
      f(m, arch);
    }
}
// REQUIRE with the report beside it.
inline void ok(hipError_t e) {
  INFO(lathe_emulator_last_report());
  REQUIRE(hipGetErrorName(e) == std::string("hipSuccess"));
}
template <class T>
void same(const std::vector<T>& got, const std::vector<T>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t k = 0; k < got.size(); k++)
    if (got[k] != want[k]) {
      INFO("at " << k);
      REQUIRE(got[k] == want[k]);
    }
  SUCCEED();
}
inline unsigned blocks(int n) { return unsigned(n + 63) / 64; }

inline std::vector<u64> interesting64(int n, unsigned seed) {
  std::mt19937_64 r(seed);
  const u64 special[] = {0, 1, 2, 3, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 10, 1000003};
  std::vector<u64> v(n);
  for (auto& x : v) {
    const u64 k = r();
    x = k % 3 == 0 ? special[(k >> 8) % std::size(special)] : k % 3 == 1 ? r() : r() >> (r() % 64);
  }
  return v;
}

}  // namespace emu_test
