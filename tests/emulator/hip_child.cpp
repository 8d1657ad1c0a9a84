// The process of test_hip_process.cpp.
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "harness.h"

using namespace emu_test;

namespace {

// Frees after main has returned, or in exit().
struct AtEnd {
  void* p = nullptr;
  ~AtEnd() {
    if (p) std::printf("freed %s\n", hipGetErrorName(hipFree(p)));
    std::fflush(stdout);
  }
};

hipFunction_t load(const char* path, const char* name) {
  hipModule_t m;
  hipFunction_t f;
  check(hipModuleLoad(&m, path), "hipModuleLoad");
  check(hipModuleGetFunction(&f, m, name), "hipModuleGetFunction");
  return f;
}
hipError_t run(hipFunction_t f, hipStream_t s, void* p, int value, unsigned groups) {
  void* params[] = {&p, &value};
  return hipModuleLaunchKernel(f, groups, 1, 1, 64, 1, 1, 0, s, params, nullptr);
}

int list_devices() {
  int n = 0;
  const hipError_t e = hipGetDeviceCount(&n);
  if (e != hipSuccess) std::printf("%s\n", hipGetErrorName(e));
  for (int k = 0; k < n; k++) {
    hipDeviceProp_t p;
    check(hipGetDeviceProperties(&p, k), "hipGetDeviceProperties");
    std::printf("%s %d\n", p.gcnArchName, p.pciBusID);
  }
  return 0;
}
int fail(const char* path) {
  void* p[4];
  for (int k = 0; k < 4; k++) std::printf("malloc %d %s\n", k + 1, hipGetErrorName(hipMalloc(&p[k], 4096)));
  hipFunction_t f = load(path, "fill");
  for (int k = 0; k < 4; k++) {
    check(run(f, nullptr, p[0], k, 1), "launch");
    std::printf("launch %d %s\n", k + 1, hipGetErrorName(hipDeviceSynchronize()));
  }
  return 0;
}
int end(const char* path, const std::string& how) {
  static AtEnd at_end;
  check(hipMalloc(&at_end.p, 1 << 20), "hipMalloc");
  hipFunction_t f = load(path, "fill");
  hipStream_t s;
  check(hipStreamCreate(&s), "hipStreamCreate");
  for (int k = 0; k < 20; k++) check(run(f, s, at_end.p, k, 200), "launch");
  if (how == "gate") {
    // Work that never ends: nothing waits for it here, and the free is of memory that was never used.
    at_end.p = nullptr;
    std::printf("freed hipSuccess\n");
    check(hipLaunchHostFunc(s, [](void*) { pause(); }, nullptr), "hipLaunchHostFunc");
    check(run(f, s, nullptr, 0, 1), "launch");
  }
  if (how == "exit") std::exit(7);
  return 7;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "devices") return list_devices();
  if (what == "fail" && argc > 2) return fail(argv[2]);
  if (what == "end" && argc > 3) return end(argv[2], argv[3]);
  return 2;
}
