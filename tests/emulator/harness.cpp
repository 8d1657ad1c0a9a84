#include "harness.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>

namespace emu_test {

const std::vector<std::string> targets = [] {
  const char* s = std::getenv("LATHE_EMULATOR_TEST_TARGETS");
  const std::string list = s ? s : "gfx906,gfx942,gfx1100";
  std::vector<std::string> v;
  for (size_t from = 0; from < list.size();) {
    const size_t to = std::min(list.find(',', from), list.size());
    v.push_back(list.substr(from, to - from));
    from = to + 1;
  }
  return v;
}();

namespace {

std::string cache_dir() {
  const std::string d = LATHE_TEST_CACHE;
  std::filesystem::create_directories(d);
  return d;
}
std::string hashed(const std::string& what) {
  // FNV-1a: only has to be the same in the next run.
  uint64_t h = 1469598103934665603ull;
  for (unsigned char c : what) h = (h ^ c) * 1099511628211ull;
  char s[17];
  std::snprintf(s, sizeof s, "%016llx", static_cast<unsigned long long>(h));
  return s;
}
std::string run_clang(const std::string& text, const std::string& suffix, const std::string& args) {
  const std::string name = cache_dir() + "/" + hashed(text + "|" + args), out = name + ".hsaco";
  if (std::filesystem::exists(out)) return out;
  const std::string in = name + suffix, part = name + "." + std::to_string(getpid());
  std::ofstream(in) << text;
  const std::string command = std::string(LATHE_CLANG) + " " + args + " " + in + " -o " + part + " 2> " + name + ".log";
  if (std::system(command.c_str()) != 0) {
    const auto log = read_file(name + ".log");
    throw std::runtime_error(command + "\n" + std::string(log.begin(), log.end()));
  }
  std::filesystem::rename(part, out);
  return out;
}

// LATHE_EMULATOR_TEST_FLAGS: every case under other settings (-mwavefrontsize64, -mcode-object-version=4).
std::string more_flags() {
  const char* s = std::getenv("LATHE_EMULATOR_TEST_FLAGS");
  return s ? " " + std::string(s) : "";
}

}  // namespace

std::vector<char> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
std::string kernel_path(const std::string& name) { return std::string(LATHE_TEST_KERNELS) + "/" + name; }

std::string compile_opencl_text(const std::string& text, const std::string& arch, const std::string& flags) {
  return run_clang(text, ".cl", "-x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -mcpu=" + arch + more_flags() + " -nogpulib -Wno-everything " + flags);
}
std::string compile_hip_text(const std::string& text, const std::string& arch, const std::string& flags) {
  return run_clang(text, ".hip", "-x hip --offload-arch=" + arch + " --offload-device-only --no-gpu-bundle-output -nogpulib -nogpuinc -Wno-everything " + flags);
}
std::string compile_opencl(const std::string& file, const std::string& arch, const std::string& flags) {
  const auto text = read_file(kernel_path(file));
  return compile_opencl_text(std::string(text.begin(), text.end()), arch, flags);
}
std::string assembly_of(const std::string& file, const std::string& arch, const std::string& flags) {
  const auto s = read_file(compile_opencl(file, arch, "-S " + flags));
  return {s.begin(), s.end()};
}
std::string assemble(const std::string& text, const std::string& arch) {
  return run_clang(text, ".s", "-x assembler --target=amdgcn-amd-amdhsa -mcpu=" + arch + more_flags());
}

void check(hipError_t e, const char* what) {
  if (e != hipSuccess) throw std::runtime_error(std::string(what) + ": " + hipGetErrorName(e) + "\n" + lathe_emulator_last_report());
}

Module::Module(const std::string& arch, const std::string& path) {
  const int device = lathe_emulator_add_device(arch.c_str());
  if (device < 0) throw std::runtime_error("no such device: " + arch);
  check(hipSetDevice(device), "hipSetDevice");
  const auto bytes = read_file(path);
  check(hipModuleLoadData(&module_, bytes.data()), "hipModuleLoadData");
}
Module::~Module() { (void)hipModuleUnload(module_); }
hipFunction_t Module::operator[](const std::string& name) {
  hipFunction_t f = nullptr;
  check(hipModuleGetFunction(&f, module_, name.c_str()), name.c_str());
  return f;
}

}  // namespace emu_test
