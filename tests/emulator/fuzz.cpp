// Broken input must end in an error, never in a crash: code objects that clang made are cut short, overwritten and
// mixed up, their instructions replaced by random ones, then loaded and launched on the emulated GPU.
//
//   emulator_fuzz [--seconds 60] [--seed 1] [--iterations N]
//
// Every iteration has a seed of its own, printed when the process dies: `--seed THAT --iterations 1` repeats it.
// Run under the address sanitizer by `tools/lathe-dev sanitize`.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "harness.h"

using namespace emu_test;

extern "C" void __sanitizer_set_report_fd(void*) __attribute__((weak));

namespace {

uint64_t current_seed = 0;
int console = 2;

void say_seed(const char* what) {
  char line[128];
  const int n = std::snprintf(line, sizeof line, "emulator_fuzz: %s in --seed %llu --iterations 1\n", what, static_cast<unsigned long long>(current_seed));
  (void)!write(console, line, size_t(n));
}
void on_signal(int s) {
  say_seed(strsignal(s));
  signal(s, SIG_DFL);
  raise(s);
}

struct Seed {
  std::string arch;
  std::vector<char> bytes;
  size_t text = 0, text_size = 0;
};

template <class T>
T read_at(const std::vector<char>& b, size_t at) {
  T x;
  std::memcpy(&x, b.data() + at, sizeof x);
  return x;
}
// .text is the executable section of a file that clang made: no checks needed.
void find_text(Seed& s) {
  const auto sections = read_at<uint64_t>(s.bytes, 0x28);
  const auto count = read_at<uint16_t>(s.bytes, 0x3c);
  for (size_t k = 0; k < count; k++) {
    const size_t at = sections + 64 * k;
    if (read_at<uint64_t>(s.bytes, at + 8) & 4) s.text = read_at<uint64_t>(s.bytes, at + 24), s.text_size = read_at<uint64_t>(s.bytes, at + 32);
  }
}

using Random = std::mt19937_64;
size_t below(Random& r, size_t n) { return n ? size_t(r() % n) : 0; }

constexpr uint64_t interesting[] = {0, 1, 3, 4, 63, 64, 255, 256, 4096, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, ~uint64_t(0)};

void damage_bytes(std::vector<char>& b, Random& r) {
  // Headers and metadata are a small part of the file and decide most.
  const size_t from = r() % 2 ? 0 : below(r, b.size()), span = std::min(b.size() - from, r() % 2 ? size_t(1024) : b.size());
  for (size_t n = 1 + below(r, 8); n-- > 0;) {
    const size_t at = from + below(r, span);
    switch (r() % 4) {
      case 0: b[at] = char(r()); break;
      case 1: b[at] = char(b[at] ^ (1 << r() % 8)); break;
      case 2: {
        const uint64_t x = interesting[below(r, std::size(interesting))];
        const size_t width = std::min<size_t>(size_t(1) << r() % 4, b.size() - at);
        std::memcpy(b.data() + at, &x, width);
        break;
      }
      default: {
        const size_t to = below(r, b.size()), length = std::min(below(r, 64), b.size() - std::max(at, to));
        std::memmove(b.data() + to, b.data() + at, length);
      }
    }
  }
}
void damage_instructions(std::vector<char>& b, const Seed& s, Random& r) {
  for (size_t n = 1 + below(r, 12); n-- > 0;) {
    const size_t at = s.text + 4 * below(r, s.text_size / 4);
    uint32_t word = read_at<uint32_t>(b, at);
    switch (r() % 3) {
      case 0: word = uint32_t(r()); break;
      case 1: word ^= 1u << r() % 32; break;
      default: word = read_at<uint32_t>(b, s.text + 4 * below(r, s.text_size / 4));
    }
    std::memcpy(b.data() + at, &word, 4);
  }
}

struct Tally {
  size_t objects = 0, refused = 0, launches = 0, clean = 0;
  std::map<std::string, size_t> errors;
};

void run(const Seed& s, const std::vector<std::string>& kernels, Random& r, Tally& tally) {
  std::vector<char> bytes = s.bytes;
  switch (r() % 4) {
    case 0: bytes.resize(below(r, bytes.size())); break;
    case 1: damage_bytes(bytes, r); break;
    default: damage_instructions(bytes, s, r);
  }
  const std::vector<char> exact(bytes);
  if (hipSetDevice(lathe_emulator_add_device(s.arch.c_str())) != hipSuccess) return;
  tally.objects++;
  hipModule_t module;
  if (hipModuleLoadData(&module, exact.data()) != hipSuccess) {
    tally.refused++;
    return;
  }
  void* memory = nullptr;
  if (hipMalloc(&memory, 65536) == hipSuccess) {
    (void)hipMemset(memory, 0x11, 65536);
    // Arguments as a block, since damaged metadata may name any number of them.
    std::vector<uint64_t> arguments(512);
    for (auto& a : arguments) a = r() % 4 ? uint64_t(memory) + r() % 4096 * 4 : r();
    size_t size = arguments.size() * 8;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    for (const std::string& name : kernels) {
      hipFunction_t f;
      if (hipModuleGetFunction(&f, module, name.c_str()) != hipSuccess) continue;
      tally.launches++;
      hipError_t e = hipModuleLaunchKernel(f, unsigned(1 + r() % 3), 1, 1, unsigned(r() % 5 ? 64 : r() % 2048), 1, 1, unsigned(r() % 4096), nullptr, nullptr, extra);
      if (e == hipSuccess) e = hipDeviceSynchronize();
      tally.clean += e == hipSuccess;
      tally.errors[hipGetErrorName(e)]++;
      (void)hipGetLastError();
    }
    (void)hipFree(memory);
  }
  (void)hipModuleUnload(module);
}

}  // namespace

extern "C" void __asan_on_error() { say_seed("address sanitizer"); }

int main(int argc, char** argv) {
  double seconds = 60;
  uint64_t seed = 1, iterations = ~uint64_t(0);
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string name = argv[k];
    if (name == "--seconds") seconds = std::atof(argv[k + 1]);
    else if (name == "--seed") seed = std::strtoull(argv[k + 1], nullptr, 10);
    else if (name == "--iterations") iterations = std::strtoull(argv[k + 1], nullptr, 10);
    else return std::fprintf(stderr, "usage: emulator_fuzz [--seconds S] [--seed N] [--iterations N]\n"), 2;
  }
  setenv("LATHE_EMULATOR_LIMIT", "20000", 0);
  setenv("LATHE_EMULATOR_PATIENCE", "1", 0);
  const std::vector<std::string> kernels = {"vector_add", "int_ops", "gemm", "copy", "stray", "fma_loop"};
  std::vector<Seed> seeds;
  for (const char* arch : {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201"})
    for (const char* file : {"basics.cl", "strict.cl"}) {
      Seed s{arch, read_file(compile_opencl(file, arch, "-O2"))};
      find_text(s);
      seeds.push_back(std::move(s));
    }
  // The emulator reports every fault on standard error; thousands are expected here.
  console = dup(2);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, 2);
  if (__sanitizer_set_report_fd) __sanitizer_set_report_fd(reinterpret_cast<void*>(intptr_t(console)));
  else
    for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(s, on_signal);
  signal(SIGABRT, on_signal);

  Tally tally;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t k = 0; k < iterations; k++) {
    if (iterations == ~uint64_t(0) && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    current_seed = seed + k;
    Random r(current_seed * 0x9e3779b97f4a7c15u);
    run(seeds[below(r, seeds.size())], kernels, r, tally);
  }
  std::printf("%zu damaged objects: %zu refused at load; %zu launches, %zu clean\n", tally.objects, tally.refused, tally.launches, tally.clean);
  for (const auto& [name, n] : tally.errors) std::printf("  %-32s %zu\n", name.c_str(), n);
  return 0;
}
