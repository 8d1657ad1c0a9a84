// Devices, attributes, functions, occupancy, launches in their other forms, errors, and the table of what is not there.
#include <dlfcn.h>

#include <fstream>
#include <regex>
#include <set>

#include "hip_support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {
int device_for(const char* arch) {
  const int d = lathe_emulator_add_device(arch);
  check(hipSetDevice(d), "hipSetDevice");
  return d;
}
template <class F>
F* function(const char* name) {
  void* p = dlsym(RTLD_DEFAULT, name);
  if (!p) throw std::runtime_error(std::string("no ") + name);
  return reinterpret_cast<F*>(p);
}
}  // namespace

TEST_CASE("every attribute of HIP 5.2 that is a number has a value", "[hip][device]") {
  const int d = device_for("gfx90a");
  hipDeviceProp_t p;
  ok(hipGetDeviceProperties(&p, d));
  const auto value = [&](int attribute) {
    int v = -12345;
    INFO("attribute " << attribute);
    ok(hipDeviceGetAttribute(&v, hipDeviceAttribute_t(attribute), d));
    return v;
  };
  // Those that are text, bytes or an address are no numbers.
  const std::set<int> other = {hipDeviceAttributeLuid, hipDeviceAttributeLuidDeviceNodeMask, hipDeviceAttributeName, hipDeviceAttributeUuid,
                               hipDeviceAttributeArch, hipDeviceAttributeGcnArch, hipDeviceAttributeGcnArchName, hipDeviceAttributeHdpMemFlushCntl, hipDeviceAttributeHdpRegFlushCntl};
  for (int k = 0; k <= hipDeviceAttributeMemoryPoolsSupported; k++)
    if (!other.count(k)) REQUIRE(value(k) >= 0);
  for (int k = hipDeviceAttributeAmdSpecificBegin; k <= hipDeviceAttributeFineGrainSupport; k++)
    if (!other.count(k)) REQUIRE(value(k) >= 0);
  int v;
  for (int k : other) REQUIRE(hipDeviceGetAttribute(&v, hipDeviceAttribute_t(k), d) == hipErrorInvalidValue);
  REQUIRE(hipDeviceGetAttribute(&v, hipDeviceAttribute_t(5000), d) == hipErrorInvalidValue);
  REQUIRE(hipDeviceGetAttribute(&v, hipDeviceAttributeWarpSize, 99) == hipErrorInvalidDevice);
  REQUIRE(value(hipDeviceAttributeWarpSize) == 64);
  REQUIRE(value(hipDeviceAttributeMultiprocessorCount) == p.multiProcessorCount);
  REQUIRE(value(hipDeviceAttributeMaxThreadsPerMultiProcessor) == 2048);   // 4 SIMDs of 8 waves
  REQUIRE(p.maxThreadsPerMultiProcessor == 2048);
  REQUIRE(value(hipDeviceAttributeCooperativeLaunch) == 1);
  REQUIRE(value(hipDeviceAttributeComputeCapabilityMajor) == 9);
  REQUIRE(p.gcnArch == 910);
  (void)hipGetLastError();
}

TEST_CASE("names, ids and settings of devices", "[hip][device]") {
  const int d = device_for("gfx1100");
  char name[64], id[64];
  ok(hipDeviceGetName(name, sizeof name, d));
  REQUIRE(std::string(name) == "Lathe emulated gfx1100");
  ok(hipDeviceGetName(name, 6, d));
  REQUIRE(std::string(name) == "Lathe");
  ok(hipDeviceGetPCIBusId(id, sizeof id, d));
  REQUIRE(hipDeviceGetPCIBusId(id, 5, d) == hipErrorInvalidValue);
  int back = -1;
  ok(hipDeviceGetByPCIBusId(&back, id));
  REQUIRE(back == d);
  REQUIRE(hipDeviceGetByPCIBusId(&back, "nonsense") == hipErrorInvalidValue);
  REQUIRE(hipDeviceGetByPCIBusId(&back, "0000:f0:00.0") == hipErrorInvalidDevice);
  hipUUID a, b;
  ok(hipDeviceGetUuid(&a, d));
  ok(hipDeviceGetUuid(&b, device_for("gfx906")));
  REQUIRE(std::memcmp(&a, &b, sizeof a) != 0);
  ok(hipSetDevice(d));
  unsigned flags;
  ok(hipSetDeviceFlags(hipDeviceScheduleBlockingSync | hipDeviceMapHost));
  ok(hipGetDeviceFlags(&flags));
  REQUIRE(flags == (hipDeviceScheduleBlockingSync | hipDeviceMapHost));
  ok(hipSetDeviceFlags(0));
  REQUIRE(hipSetDeviceFlags(0x1000) == hipErrorInvalidValue);
  size_t limit;
  ok(hipDeviceGetLimit(&limit, hipLimitMallocHeapSize));
  REQUIRE(limit == size_t(8) << 20);
  REQUIRE(hipDeviceGetLimit(&limit, hipLimit_t(77)) == hipErrorUnsupportedLimit);
  hipDeviceProp_t want = {};
  want.major = 12;
  const int newest = device_for("gfx1200");
  ok(hipChooseDevice(&back, &want));
  REQUIRE(back == newest);
  int driver, runtime;
  ok(hipDriverGetVersion(&driver));
  ok(hipRuntimeGetVersion(&runtime));
  REQUIRE(driver == HIP_VERSION);
  REQUIRE(runtime == HIP_VERSION);
  (void)hipGetLastError();
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_CASE("contexts choose the device", "[hip][device]") {
  const int one = device_for("gfx906"), two = device_for("gfx1100");
  hipCtx_t a, b, c;
  int d;
  ok(hipCtxGetCurrent(&a));
  ok(hipCtxCreate(&b, hipDeviceScheduleYield, one));
  ok(hipGetDevice(&d));
  REQUIRE(d == one);
  ok(hipCtxGetCurrent(&c));
  REQUIRE(c == b);
  ok(hipCtxPushCurrent(a));
  ok(hipCtxGetDevice(&d));
  REQUIRE(d == two);
  ok(hipCtxPopCurrent(&c));
  REQUIRE(c == a);
  ok(hipGetDevice(&d));
  REQUIRE(d == one);
  unsigned flags;
  ok(hipCtxGetFlags(&flags));
  REQUIRE(flags == hipDeviceScheduleYield);
  ok(hipCtxSynchronize());
  ok(hipCtxDestroy(b));
  REQUIRE(hipCtxPushCurrent(b) == hipErrorInvalidContext);
  REQUIRE(hipCtxDestroy(a) == hipErrorInvalidValue);          // a device's own
  ok(hipDevicePrimaryCtxRetain(&c, two));
  REQUIRE(c == a);
  int active;
  ok(hipDevicePrimaryCtxGetState(two, &flags, &active));
  REQUIRE(active == 1);
  ok(hipDevicePrimaryCtxRelease(two));
  (void)hipGetLastError();
}
#pragma GCC diagnostic pop

TEST_CASE("occupancy follows from registers, LDS and waves", "[hip][device]") {
  Module m("gfx906", hip_kernels("gfx906"));
  int n, grid, block;
  // 64 work-items: one wave each, 40 wave slots; 256 of a kernel with 16 KiB of LDS: 4 groups in 64 KiB.
  ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&n, m["fill"], 64, 0));
  REQUIRE(n == 40);
  ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&n, m["fill"], 256, 0));
  REQUIRE(n == 10);
  ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&n, m["fixed_lds"], 256, 0));
  REQUIRE(n == 4);
  ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&n, m["fill"], 64, 30000));
  REQUIRE(n == 2);
  ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&n, m["fixed_lds"], 512, 0));
  REQUIRE(n == 0);                                            // the kernel takes 256
  ok(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, m["fill"], 0, 0));
  REQUIRE(block % 64 == 0);
  ok(hipOccupancyMaxActiveBlocksPerMultiprocessor(&n, static_cast<const void*>(m["fill"]), block, 0));
  REQUIRE(n * block == 40 * 64);
  REQUIRE(grid == n * 60);
  REQUIRE(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&n, m["fill"], 0, 0) == hipErrorInvalidValue);
  hipFuncAttributes a;
  ok(hipFuncGetAttributes(&a, m["fixed_lds"]));
  REQUIRE(a.sharedSizeBytes == 16384);
  REQUIRE(a.maxThreadsPerBlock == 256);
  ok(hipFuncSetAttribute(m["fixed_lds"], hipFuncAttributeMaxDynamicSharedMemorySize, 49152));
  REQUIRE(hipFuncSetAttribute(m["fixed_lds"], hipFuncAttributeMaxDynamicSharedMemorySize, 49153) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("fixed_lds has at most 49152"));
  (void)hipGetLastError();
}

TEST_CASE("cooperative launches run all groups at once, or are refused", "[hip][device]") {
  Module m("gfx1100", hip_kernels());
  Buffer<i32> arrived(std::vector<i32>(1)), out(64 * 64);
  int groups = 40;                                            // many more than host threads, each waiting for all
  void *pa = arrived.data(), *po = out.data();
  void* params[] = {&pa, &po, &groups};
  const auto cooperative = function<hipError_t(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t, void**)>("hipModuleLaunchCooperativeKernel");
  ok(cooperative(m["meet"], 40, 1, 1, 64, 1, 1, 0, nullptr, params));
  ok(hipDeviceSynchronize());
  const auto got = out.get();
  for (int k = 0; k < 40 * 64; k++) REQUIRE(got[size_t(k)] == k);
  REQUIRE(cooperative(m["meet"], 1 << 20, 1, 1, 64, 1, 1, 0, nullptr, params) == hipErrorCooperativeLaunchTooLarge);
  REQUIRE_THAT(last_report(), Contains("1048576 groups, the device holds"));
  (void)hipGetLastError();
}

TEST_CASE("the barrier of a grid", "[hip][device]") {
  for (const char* arch : {"gfx906", "gfx942", "gfx1100"}) {
    INFO(arch);
    Module m(arch, hip_kernels(arch));
    Buffer<i32> turn(std::vector<i32>(24)), out(std::vector<i32>(1));
    int groups = 24, skip = -1;
    void *pt = turn.data(), *po = out.data();
    void* params[] = {&pt, &po, &groups, &skip};
    const auto cooperative = function<hipError_t(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t, void**)>("hipModuleLaunchCooperativeKernel");
    ok(cooperative(m["grid_sync"], 24, 1, 1, 128, 1, 1, 0, nullptr, params));
    ok(hipDeviceSynchronize());
    same(turn.get(), std::vector<i32>(24, 3));
    same(out.get(), {0});
    skip = 5;
    ok(cooperative(m["grid_sync"], 24, 1, 1, 128, 1, 1, 0, nullptr, params));
    REQUIRE(hipDeviceSynchronize() == hipErrorLaunchFailure);
    REQUIRE_THAT(last_report(), Contains("grid barrier not reached by all groups: 23 of 24 wait"));
    skip = -1;
    REQUIRE(launch(m["grid_sync"], {24}, {128}, 0, turn, out, groups, skip) == hipErrorLaunchFailure);
    REQUIRE_THAT(last_report(), Contains("grid barrier in a launch that is not cooperative"));
  }
  (void)hipGetLastError();
}

TEST_CASE("launches in their other forms", "[hip][device]") {
  Module m("gfx1100", hip_kernels());
  Buffer<i32> p(128);
  void* pointer = p.data();
  int v = 9;
  void* params[] = {&pointer, &v};
  Event before, after;
  // The Ext form counts work-items.
  const auto ext = function<hipError_t(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, hipStream_t, void**, void**, hipEvent_t, hipEvent_t, uint32_t)>("hipExtModuleLaunchKernel");
  ok(ext(m["fill"], 128, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr, before, after, 0));
  ok(hipEventSynchronize(after));
  float ms = -1;
  ok(hipEventElapsedTime(&ms, before, after));
  REQUIRE(ms >= 0);
  same(p.get(), std::vector<i32>(128, 9));
  REQUIRE(ext(m["fill"], 100, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr, nullptr, nullptr, 0) == hipErrorInvalidConfiguration);
  REQUIRE_THAT(last_report(), Contains("100 work-items in x are no multiple"));
  struct { unsigned grid[3], block[3], lds; hipStream_t stream; void* attributes; unsigned count; } config = {{2, 1, 1}, {64, 1, 1}, 0, nullptr, nullptr, 0};
  v = 10;
  ok(function<hipError_t(const void*, hipFunction_t, void**, void**)>("hipDrvLaunchKernelEx")(&config, m["fill"], params, nullptr));
  ok(hipDeviceSynchronize());
  same(p.get(), std::vector<i32>(128, 10));
  // Dynamic LDS through the argument that stands for it.
  REQUIRE(hipModuleLaunchKernel(m["fill"], 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("argument 0 is missing"));
  REQUIRE(hipModuleLaunchKernel(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr) == hipErrorInvalidHandle);
  REQUIRE(hipModuleLaunchKernel(m["fill"], 1, 1, 1, 64, 1, 1, 0, reinterpret_cast<hipStream_t>(&config), params, nullptr) == hipErrorInvalidHandle);
  (void)hipGetLastError();
}

TEST_CASE("functions by name", "[hip][device]") {
  const auto get = function<hipError_t(const char*, void**, int, uint64_t, int*)>("hipGetProcAddress");
  void *p, *q;
  int result = -1;
  ok(get("hipMalloc", &p, 502, 0, &result));
  REQUIRE(result == 0);
  REQUIRE(p == dlsym(RTLD_DEFAULT, "hipMalloc"));
  ok(get("hipMemcpy", &p, 502, 2, nullptr));                  // for the per-thread default stream
  REQUIRE(p == dlsym(RTLD_DEFAULT, "hipMemcpy_spt"));
  ok(get("hipGetDeviceProperties", &p, 502, 0, nullptr));
  ok(get("hipGetDeviceProperties", &q, 600, 0, nullptr));
  REQUIRE(p != q);
  REQUIRE(q == dlsym(RTLD_DEFAULT, "hipGetDevicePropertiesR0600"));
  REQUIRE(get("hipNoSuchThing", &p, 502, 0, &result) == hipErrorNotFound);
  REQUIRE(result == 1);
  (void)hipGetLastError();
}

TEST_CASE("error names and texts", "[hip][device]") {
  std::set<std::string> names;
  for (int e : {0, 1, 2, 3, 4, 9, 12, 13, 17, 21, 98, 100, 101, 200, 201, 209, 301, 400, 500, 600, 700, 704, 705, 712, 713, 719, 720, 801, 900, 908, 910, 999, 1052, 1053}) {
    names.insert(hipGetErrorName(hipError_t(e)));
    REQUIRE(std::string(hipGetErrorString(hipError_t(e))) != "");
  }
  REQUIRE(names.size() == 34);
  REQUIRE(name_of(hipErrorCooperativeLaunchTooLarge) == "hipErrorCooperativeLaunchTooLarge");
  REQUIRE(name_of(hipError_t(12345)) == "hipErrorUnknown");
  const char* text;
  const auto drv = function<hipError_t(hipError_t, const char**)>("hipDrvGetErrorName");
  ok(drv(hipErrorNotReady, &text));
  REQUIRE(std::string(text) == "hipErrorNotReady");
  REQUIRE(drv(hipError_t(12345), &text) == hipErrorInvalidValue);
  (void)hipGetLastError();
}

TEST_CASE("every function that HIP's header declares is there; what is missing says so", "[hip][device]") {
  const auto text = [](const char* path) {
    const auto bytes = read_file(path);
    return std::string(bytes.begin(), bytes.end());
  }(LATHE_HIP_HEADER);
  const std::regex declaration("\\bhipError_t\\s+(hip\\w+)\\s*\\(");
  int seen = 0;
  const std::set<std::string> inline_only = {"hipOccupancyMaxPotentialBlockSizeWithFlags", "hip_init"};
  for (auto it = std::sregex_iterator(text.begin(), text.end(), declaration); it != std::sregex_iterator(); ++it, seen++) {
    const std::string name = (*it)[1];
    if (inline_only.count(name)) continue;
    INFO(name);
    REQUIRE(dlsym(RTLD_DEFAULT, name.c_str()));
  }
  REQUIRE(seen > 350);
  hipArray* array;
  hipChannelFormatDesc desc = hipCreateChannelDesc(8, 16, 0, 0, hipChannelFormatKindUnsigned);
  REQUIRE(desc.y == 16);
  lathe_emulator_clear_report();
  REQUIRE(hipMallocArray(&array, &desc, 16, 16, 0) == hipErrorNotSupported);
  REQUIRE(last_report() == "lathe emulator: hipMallocArray is not supported");
  REQUIRE(hipGetLastError() == hipErrorNotSupported);
  // Versions, as AMD's library has them: what a program linked against it asks for.
  void* self = dlopen(nullptr, RTLD_NOW);
  const std::pair<const char*, const char*> versioned[] = {{"hipMalloc", "hip_4.2"}, {"hipGraphLaunch", "hip_4.3"}, {"hipMallocAsync", "hip_5.1"}, {"hipMemcpy_spt", "hip_5.2"}, {"hipLaunchHostFunc", "hip_5.3"}, {"hipGetDevicePropertiesR0600", "hip_6.0"}};
  for (const auto& [name, version] : versioned) {
    INFO(name);
    REQUIRE(dlvsym(self, name, version) == dlsym(self, name));
    REQUIRE(dlvsym(self, name, "hip_0.1") == nullptr);
  }
  dlclose(self);
}
