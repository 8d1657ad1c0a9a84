// How fast the emulated GPU is: an f32 FMA loop and an LDS-tiled GEMM (size: first argument, 1024), strict and fast,
// with the same FMAs in a plain host loop beside them as the limit. Prints; asserts nothing.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "harness.h"

using namespace emu_test;

namespace {
// CPU time of the process, so that a busy machine does not change the figures: run with one thread.
double seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }
double wall_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double counted(const char* key) {
  const std::string j = lathe_emulator_counters_json(), k = std::string("\"") + key + "\": ";
  return std::atof(j.c_str() + j.find(k) + k.size());
}
__attribute__((target("avx2,fma"), noinline)) float host_fma(int n) {
  float x[8][64], a[64], b[64];
  for (int k = 0; k < 8; k++)
    for (int l = 0; l < 64; l++) x[k][l] = float(k + l), a[l] = 0.5f, b[l] = 1.0f;
  for (int j = 0; j < n; j++)
    for (int k = 0; k < 8; k++) {
      for (int l = 0; l < 64; l++) x[k][l] = __builtin_fmaf(x[k][l], a[l], b[l]);
      asm volatile("" ::: "memory");
    }
  float s = 0;
  for (auto& r : x)
    for (float v : r) s += v;
  return s;
}
// As many multiplications and additions as one 32 x 32 x 8 matrix instruction, in registers.
__attribute__((target("avx2,fma"), noinline)) float host_matrix(int n) {
  typedef float f32x8 __attribute__((vector_size(32)));
  f32x8 x[8] = {}, a = f32x8{} + 0.5f;
  for (int j = 0; j < n; j++)
    for (int k = 0; k < 128; k++) {
      for (auto& y : x) y = y * a + a;
      asm volatile("" : "+m"(a));
    }
  float s = 0;
  for (auto& y : x) s += y[0];
  return s;
}
}  // namespace

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::max(64, std::atoi(argv[1]) / 64 * 64) : 1024;
  std::printf("CPU level %s, threads %s\n", lathe_emulator_cpu_level(), std::getenv("LATHE_EMULATOR_THREADS") ? std::getenv("LATHE_EMULATOR_THREADS") : "all");
  {
    const double t = seconds();
    volatile float s = host_fma(2000000);
    (void)s;
    std::printf("host SIMD limit     %7.1f M wave64-FMAs/s on one core\n", 16e6 / (seconds() - t) / 1e6);
  }
  {
    const double t = seconds();
    volatile float s = host_matrix(50000);
    (void)s;
    std::printf("host SIMD limit     %7.2f us for the multiplications and additions of 32 x 32 x 8\n", (seconds() - t) / 50000 * 1e6);
  }
  // Matrix instructions: 32 x 32 x 8 of f16, operands and accumulators in registers.
  for (const std::string arch : {"gfx908", "gfx90a", "gfx942", "gfx950"})
    for (const char* mode : {"strict", "fast"}) {
      setenv("LATHE_EMULATOR", mode, 1);
      Module m(arch, compile_opencl("mfma.cl", arch, "-O3"));
      std::vector<uint16_t> halves(512);
      for (size_t k = 0; k < halves.size(); k++) halves[k] = uint16_t(0x3000 + (k * 2654435761u >> 20 & 0x0fff) + (k * 40503u >> 7 & 1) * 0x8000);
      Buffer<uint16_t> in(halves);
      Buffer<float> out(256 * 16 * 64);
      int n = 64;  // as a GEMM with K = 512
      check(launch(m["mfma_loop"], {1}, {64}, 0, out, in, n), "mfma_loop");
      const double t = seconds();
      check(launch(m["mfma_loop"], {256}, {64}, 0, out, in, n), "mfma_loop");
      std::printf("%-8s %-6s mfma_f32_32x32x8f16 %6.2f us each on one core\n", arch.c_str(), mode, (seconds() - t) / (256 * 4.0 * n) * 1e6);
    }
  for (const auto& arch : targets)
    for (const char* mode : {"strict", "fast"}) {
      setenv("LATHE_EMULATOR", mode, 1);
      Module m(arch, compile_opencl("bench.cl", arch, "-O3"));
      Buffer<float> out(64 * 64);
      float a = 0.5f, b = 1.0f;
      int n = 2;
      check(launch(m["fma_loop"], {64}, {64}, 0, out, a, b, n), "fma_loop");
      n = 4000;
      lathe_emulator_reset_counters();
      double t = seconds();
      check(launch(m["fma_loop"], {32}, {64}, 0, out, a, b, n), "fma_loop");
      double dt = seconds() - t;
      std::printf("%-8s %-6s fma_loop %7.1f M wave-instructions/s (%.2f s of CPU)\n", arch.c_str(), mode, counted("instructions") / dt / 1e6, dt);
      const double wall = wall_seconds();
      std::vector<float> va(size_t(size) * size, 1.0f), vb(size_t(size) * size, 2.0f);
      Buffer<float> da(va), db(vb), dc(size_t(size) * size);
      lathe_emulator_reset_counters();
      t = seconds();
      check(launch(m["gemm_tiled"], {unsigned(size) / 64, unsigned(size) / 64}, {256}, 0, dc, da, db, size, size), "gemm_tiled");
      dt = seconds() - t;
      std::printf("%-8s %-6s gemm %d^3 %6.2f s of wall time, %.2f s of CPU, %.1f M wave-instructions, %.1f M/s\n", arch.c_str(), mode, size, wall_seconds() - wall, dt, counted("instructions") / 1e6, counted("instructions") / dt / 1e6);
    }
}
