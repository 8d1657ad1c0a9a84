// Code objects: wrong targets, generic targets, versions, truncated and altered files.
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {
hipError_t load(const std::string& arch, const void* bytes, hipModule_t* m) {
  check(hipSetDevice(lathe_emulator_add_device(arch.c_str())), "hipSetDevice");
  lathe_emulator_clear_report();
  return hipModuleLoadData(m, bytes);
}
}  // namespace

TEST_CASE("a code object for another target is refused by name of both", "[objects]") {
  const auto bytes = read_file(compile_opencl("basics.cl", "gfx906", "-O3"));
  hipModule_t m = nullptr;
  REQUIRE(load("gfx942", bytes.data(), &m) == hipErrorNoBinaryForGpu);
  REQUIRE_THAT(lathe_emulator_last_report(), Contains("code object is for gfx906") && Contains("the device is gfx942:sramecc+:xnack-"));
  const auto xnack = read_file(compile_opencl("basics.cl", "gfx942:xnack+", "-O3"));
  REQUIRE(load("gfx942", xnack.data(), &m) == hipErrorNoBinaryForGpu);
  REQUIRE_THAT(lathe_emulator_last_report(), Contains("gfx942:xnack+"));
}

TEST_CASE("generic targets and older code object versions run", "[objects]") {
  const std::vector<std::array<std::string, 3>> rows = {
      {"gfx906", "gfx9-generic", "-mcode-object-version=6"}, {"gfx942", "gfx9-4-generic", "-mcode-object-version=6"}, {"gfx1100", "gfx11-generic", "-mcode-object-version=6"},
      {"gfx906", "gfx906", "-mcode-object-version=4"},       {"gfx942", "gfx942", "-mcode-object-version=4"},         {"gfx1100", "gfx1100", "-mcode-object-version=5"}};
  for (const auto& [device, cpu, flags] : rows) {
    INFO(device << " " << cpu << " " << flags);
    Module m(device, compile_opencl("basics.cl", cpu, "-O2 " + flags));
    const int n = 100;
    std::vector<float> a(n, 2.0f), b(n, 3.0f);
    Buffer<float> da(a), db(b), dc(n);
    ok(launch(m["vector_add"], {2}, {64}, 0, dc, da, db, n));
    REQUIRE(dc.get()[99] == 5.0f);
    Buffer<i32> sizes(6);
    ok(launch(m["sizes"], {3, 2, 5}, {8, 4, 2}, 0, sizes));
    same(sizes.get(), {8, 4, 2, 24, 8, 10});
  }
}

TEST_CASE("truncated and altered files are errors, never crashes", "[objects]") {
  const auto bytes = read_file(compile_opencl("strict.cl", "gfx942", "-O1"));
  // The file ends at a page that cannot be read: a read past it would crash.
  const size_t page = size_t(sysconf(_SC_PAGESIZE)), room = (bytes.size() / page + 1) * page;
  char* map = static_cast<char*>(mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(mprotect(map + room, page, PROT_NONE) == 0);
  for (size_t size = 0; size < bytes.size(); size += size < 256 ? 1 : 97) {
    char* p = map + room - size;
    std::memcpy(p, bytes.data(), size);
    hipModule_t m = nullptr;
    const hipError_t e = load("gfx942", p, &m);
    INFO("first " << size << " bytes");
    if (e == hipSuccess) {
      // Only section headers and names may be missing: a loader does not need them.
      REQUIRE(size > bytes.size() / 2);
      REQUIRE(hipModuleUnload(m) == hipSuccess);
    } else {
      REQUIRE(e == hipErrorInvalidImage);
    }
  }
  munmap(map, room + page);

  std::mt19937 r(1);
  int loaded = 0;
  for (int k = 0; k < 600; k++) {
    auto altered = bytes;
    for (int f = 0; f <= int(r() % 4); f++) altered[r() % altered.size()] = char(r());
    for (int f = 0; f < 2; f++) altered[r() % 512] = char(r());
    hipModule_t m = nullptr;
    if (load("gfx942", altered.data(), &m) == hipSuccess) {
      loaded++;
      REQUIRE(hipModuleUnload(m) == hipSuccess);
    }
  }
  REQUIRE(loaded < 600);
  const char text[64] = "this is no ELF file at all";
  hipModule_t m = nullptr;
  REQUIRE(load("gfx942", text, &m) == hipErrorInvalidImage);
  REQUIRE_THAT(lathe_emulator_last_report(), Contains("not an ELF file"));
  REQUIRE(hipModuleLoad(&m, "/nonexistent.hsaco") == hipErrorFileNotFound);
}

TEST_CASE("devices, properties, modules and handles", "[objects]") {
  const int d = lathe_emulator_add_device("gfx90a");
  REQUIRE(d >= 0);
  REQUIRE(lathe_emulator_add_device("gfx90a") == d);
  REQUIRE(lathe_emulator_add_device("gfx9999") == -1);
  hipDeviceProp_t p;
  REQUIRE(hipGetDeviceProperties(&p, d) == hipSuccess);
  REQUIRE(std::string(p.gcnArchName) == "gfx90a:sramecc+:xnack-");
  REQUIRE(std::string(p.name) == "Lathe emulated gfx90a");
  REQUIRE(p.warpSize == 64);
  REQUIRE(hipSetDevice(1000) == hipErrorInvalidDevice);
  REQUIRE(hipModuleUnload(reinterpret_cast<hipModule_t>(&p)) == hipErrorInvalidHandle);
  Module m("gfx942", compile_opencl("strict.cl", "gfx942", "-O1"));
  hipFunction_t f;
  REQUIRE_THROWS_WITH(m["nothing"], Contains("hipErrorNotFound"));
  int n;
  REQUIRE(hipFuncGetAttribute(&n, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, m["sized"]) == hipSuccess);
  REQUIRE(n == 64);
  REQUIRE(hipFuncGetAttribute(&n, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, m["race"]) == hipSuccess);
  REQUIRE(n == 256);
  (void)f;

  hipStream_t s;
  hipEvent_t a, b;
  REQUIRE(hipStreamCreate(&s) == hipSuccess);
  REQUIRE(hipEventCreate(&a) == hipSuccess);
  REQUIRE(hipEventCreate(&b) == hipSuccess);
  REQUIRE(hipEventRecord(a, s) == hipSuccess);
  REQUIRE(hipEventRecord(b, s) == hipSuccess);
  float ms = -1;
  REQUIRE(hipEventElapsedTime(&ms, a, b) == hipSuccess);
  REQUIRE(ms >= 0);
  REQUIRE(hipStreamDestroy(s) == hipSuccess);
  REQUIRE(hipStreamDestroy(s) == hipErrorInvalidHandle);
  REQUIRE(hipStreamSynchronize(s) == hipErrorInvalidHandle);
  (void)hipGetLastError();

  // The packed form of arguments.
  Buffer<i32> in(std::vector<i32>(64, 9)), out(64);
  struct { void* out; void* in; int n; } args{out.data(), in.data(), 64};
  size_t size = sizeof args;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  ok(hipModuleLaunchKernel(m["copy"], 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  REQUIRE(out.get()[17] == 9);
}
