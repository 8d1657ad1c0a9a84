// The kernel suite: small kernels written for it, compiled by clang for every target at every level, their results
// compared with values that plain host code computes. A theme is one kernel source and one test file.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>

#include "tests/emulator/support.h"
#include "values.h"

namespace emu_suite {

using namespace emu_test;

// One code object on its device, and the kernel whose turn it is.
struct Gpu {
  std::string arch;   // gfx90a
  std::string level;  // -O2
  unsigned lanes;     // of a wave
  Module& module;
  const char* kernel;

  template <class... A>
  void run(Dim grid, Dim block, A&&... args) { run_lds(0, grid, block, std::forward<A>(args)...); }
  // With `lds` bytes of dynamic LDS.
  template <class... A>
  void run_lds(unsigned lds, Dim grid, Dim block, A&&... args) {
    const hipError_t e = launch(module[kernel], grid, block, lds, std::forward<A>(args)...);
    if (e != hipSuccess) throw std::runtime_error(std::string(hipGetErrorName(e)) + "\n" + lathe_emulator_last_report());
  }
};

// Equal bit for bit; any NaN equals any NaN. `per_row` is for the message alone.
template <class T>
void expect(const std::vector<T>& got, const std::vector<T>& want, size_t per_row = 1) {
  if (got.size() != want.size()) throw std::runtime_error("sizes differ");
  for (size_t k = 0; k < got.size(); k++)
    if (!same_value(got[k], want[k]))
      throw std::runtime_error("row " + std::to_string(k / per_row) + " column " + std::to_string(k % per_row) + ": got " + show(got[k]) + ", want " + show(want[k]));
}
// Within `ulps` units in the last place of T at the wanted value; NaN and infinity exactly.
template <class T>
void expect_near(const std::vector<T>& got, const std::vector<long double>& want, double ulps, size_t per_row = 1) {
  for (size_t k = 0; k < want.size(); k++) {
    const long double w = want[k], off = std::fabs((long double)(got[k]) - w) / ulp_of<T>(double(w));
    const bool right = w != w || std::isinf(double(T(w))) ? same_value(got[k], T(w)) : off <= ulps;
    if (!right)
      throw std::runtime_error("row " + std::to_string(k / per_row) + " column " + std::to_string(k % per_row) + ": got " + show(got[k]) + ", want " + show(double(w)) + ", " +
                               std::to_string(double(off)) + " ulp off");
  }
}

// A kernel (O* out, const I* in…, int n) that writes a row of W results for each element; `host` writes the same row.
template <class O, size_t W, class... I, class F>
void rows(Gpu& g, F host, const std::vector<I>&... in) {
  int n = int(std::min({in.size()...}));
  std::vector<O> want(size_t(n) * W);
  for (int i = 0; i < n; i++) host(&want[size_t(i) * W], in[size_t(i)]...);
  Buffer<O> out(want.size());
  g.run({blocks(n)}, {64}, out, Buffer<I>(in)..., n);
  expect(out.get(), want, W);
}

struct KernelTest {
  const char* kernel;
  std::function<void(Gpu&)> run;
};
// Compiles `file` for every target, level and wave size, runs all its kernels on each; every difference is a failed
// check with kernel, target and level. A table of what ran is printed.
void run_theme(const char* file, const char* flags, const std::vector<KernelTest>& kernels);

}  // namespace emu_suite
