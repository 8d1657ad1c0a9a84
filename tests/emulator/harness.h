// Compiles OpenCL and assembly with clang (never with Lathe), and runs the result on the emulated GPU
// through HIP's own calls.
#pragma once

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

extern "C" {
int lathe_emulator_add_device(const char* arch);
const char* lathe_emulator_last_report();
void lathe_emulator_clear_report();
const char* lathe_emulator_counters_json();
void lathe_emulator_reset_counters();
const char* lathe_emulator_cpu_level();
}

namespace emu_test {

// gfx906, gfx942 and gfx1100, or what LATHE_EMULATOR_TEST_TARGETS lists (comma-separated).
extern const std::vector<std::string> targets;

// Code objects are kept by the hash of what made them, so a second run compiles nothing.
std::string compile_opencl(const std::string& file, const std::string& arch, const std::string& flags);
std::string compile_opencl_text(const std::string& text, const std::string& arch, const std::string& flags);
// The device side alone, without HIP's headers.
std::string compile_hip_text(const std::string& text, const std::string& arch, const std::string& flags);
std::string assembly_of(const std::string& file, const std::string& arch, const std::string& flags);
std::string assemble(const std::string& text, const std::string& arch);
std::vector<char> read_file(const std::string& path);
// The directory of the kernels.
std::string kernel_path(const std::string& name);

void check(hipError_t e, const char* what);

class Module {
 public:
  Module(const std::string& arch, const std::string& path);
  ~Module();
  Module(const Module&) = delete;
  hipFunction_t operator[](const std::string& name);

 private:
  hipModule_t module_;
};

template <class T>
class Buffer {
 public:
  explicit Buffer(size_t n) : n_(n) { check(hipMalloc(&p_, n * sizeof(T)), "hipMalloc"); }
  explicit Buffer(const std::vector<T>& v) : Buffer(v.size()) { check(hipMemcpy(p_, v.data(), n_ * sizeof(T), hipMemcpyHostToDevice), "hipMemcpy"); }
  ~Buffer() { (void)hipFree(p_); }
  Buffer(const Buffer&) = delete;
  void* data() const { return p_; }
  std::vector<T> get() const {
    std::vector<T> v(n_);
    check(hipMemcpy(v.data(), p_, n_ * sizeof(T), hipMemcpyDeviceToHost), "hipMemcpy");
    return v;
  }

 private:
  void* p_ = nullptr;
  size_t n_;
};

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

template <class T>
void* argument(T& t, void*& slot) {
  if constexpr (requires { t.data(); t.get(); }) {
    slot = t.data();
    return &slot;
  } else {
    return const_cast<std::remove_const_t<T>*>(&t);
  }
}

// Launches and waits; returns the first error.
template <class... A>
hipError_t launch(hipFunction_t f, Dim grid, Dim block, unsigned lds, A&&... args) {
  void* slots[sizeof...(A) + 1] = {};
  size_t k = 0;
  void* params[] = {argument(args, slots[k++])..., nullptr};
  lathe_emulator_clear_report();
  const hipError_t e = hipModuleLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, lds, nullptr, params, nullptr);
  return e != hipSuccess ? e : hipDeviceSynchronize();
}

}  // namespace emu_test
