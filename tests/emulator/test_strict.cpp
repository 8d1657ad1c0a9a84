// Every strict check: a kernel that trips exactly it, with its message, and neighbours that run clean.
#include <cstdlib>

#include "assembly.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

struct Case {
  std::string arch;
  Module m;
  explicit Case(const std::string& a) : arch(a), m(a, compile_opencl("strict.cl", a, "-O1")) {}
};
template <class F>
void each(F f) {
  for (const auto& arch : targets) {
    INFO(arch);
    Case c(arch);
    f(c.m, arch);
  }
}
std::string report() { return lathe_emulator_last_report(); }

}  // namespace

TEST_CASE("an access outside every allocation names lane and allocation", "[strict]") {
  each([](Module& m, const std::string& arch) {
    Buffer<i32> in(std::vector<i32>(100)), out(100);
    int n = 101;
    REQUIRE(launch(m["copy"], {2}, {64}, 0, out, in, n) == hipErrorIllegalAddress);
    REQUIRE_THAT(report(), Contains("read of 4 bytes") && Contains("0 bytes past the end of hipMalloc") && Contains("(400 bytes at") && Contains("kernel       copy on " + arch) && Contains("global_load") && Contains("work-group   (1, 0, 0)"));
    REQUIRE_THAT(report(), Contains("(work-item 36, 0, 0)"));
    // The process stays usable.
    n = 100;
    REQUIRE(launch(m["copy"], {2}, {64}, 0, out, in, n) == hipSuccess);
    REQUIRE(hipGetLastError() == hipErrorIllegalAddress);
    REQUIRE(hipGetLastError() == hipSuccess);
    int k = -65;
    REQUIRE(launch(m["stray"], {1}, {64}, 0, out, k) == hipErrorIllegalAddress);
    REQUIRE_THAT(report(), Contains("write of 4 bytes") && Contains("before the start of hipMalloc"));
  });
}

TEST_CASE("freed memory is named as such", "[strict]") {
  each([](Module& m, const std::string&) {
    void* p;
    REQUIRE(hipMalloc(&p, 256) == hipSuccess);
    Buffer<i32> in(std::vector<i32>(64));
    int n = 64;
    REQUIRE(launch(m["copy"], {1}, {64}, 0, p, in, n) == hipSuccess);
    REQUIRE(hipFree(p) == hipSuccess);
    REQUIRE(launch(m["copy"], {1}, {64}, 0, p, in, n) == hipErrorIllegalAddress);
    REQUIRE_THAT(report(), Contains("which was freed"));
    REQUIRE(hipFree(p) == hipErrorInvalidValue);
    REQUIRE_THAT(report(), Contains("hipFree") && Contains("freed"));
  });
}

TEST_CASE("undefined values are reported where they matter, and only there", "[strict]") {
  each([](Module& m, const std::string&) {
    Buffer<i32> fresh(64), out(128), in(std::vector<i32>(64, 5));
    int n = 64;
    REQUIRE(launch(m["add_one"], {1}, {64}, 0, out, fresh, n) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("undefined value reaches global memory") && Contains("global_store"));
    REQUIRE(launch(m["gather"], {1}, {64}, 0, out, fresh, in) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("undefined value reaches an address"));
    REQUIRE(launch(m["choose"], {1}, {64}, 0, out, fresh) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("undefined value reaches EXEC") || Contains("undefined value reaches a branch") || Contains("undefined value reaches an address"));
    REQUIRE(launch(m["uniform_choose"], {1}, {64}, 0, out, fresh) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("undefined value reaches a branch") || Contains("undefined value reaches EXEC"));
    REQUIRE(launch(m["undefined_lds"], {1}, {64}, 0, out) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("undefined value reaches global memory"));
    ok(launch(m["harmless"], {1}, {64}, 0, out, in, fresh));
    // Written by a kernel, it is defined.
    Buffer<i32> chain(64);
    ok(launch(m["copy"], {1}, {64}, 0, chain, in, n));
    ok(launch(m["add_one"], {1}, {64}, 0, out, chain, n));
    REQUIRE(out.get()[63] == 6);
  });
}

TEST_CASE("data races in LDS", "[strict]") {
  each([](Module& m, const std::string&) {
    Buffer<i32> out(256);
    REQUIRE(launch(m["race"], {1}, {128}, 0, out) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("data race in LDS") && Contains("with no barrier in between"));
    REQUIRE(launch(m["race_read"], {1}, {256}, 0, out) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("data race in LDS") || Contains("undefined value"));
    ok(launch(m["no_race"], {1}, {256}, 0, out));
    ok(launch(m["race"], {1}, {m["race"] ? 32u : 0u}, 0, out));  // one wave is no race
  });
}

TEST_CASE("a barrier that not all waves reach", "[strict]") {
  each([](Module& m, const std::string&) {
    Buffer<i32> out(256);
    REQUIRE(launch(m["early_exit"], {1}, {128}, 0, out) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("barrier not reached by all waves") && Contains("s_barrier"));
  });
}

TEST_CASE("LDS bounds, misaligned atomics, unknown instructions", "[strict]") {
  each([](Module& m, const std::string&) {
    Buffer<i32> out(std::vector<i32>(256));
    int k = 64;
    REQUIRE(launch(m["lds_outside"], {1}, {64}, 0, out, k) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("LDS read") && Contains("the work-group has 256 bytes"));
    REQUIRE(launch(m["misaligned"], {1}, {1}, 0, out) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("atomic of 4 bytes at 0x"));
    Buffer<float> f(64);
    REQUIRE(launch(m["unknown"], {1}, {64}, 0, f) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("no semantics for instruction S_INCPERFLEVEL") && Contains("s_incperflevel 3") && Contains("code offset 0x"));
  });
}

TEST_CASE("launch configurations are checked", "[strict]") {
  each([](Module& m, const std::string&) {
    Buffer<i32> out(256);
    REQUIRE(launch(m["race"], {1}, {2048}, 0, out) == hipErrorInvalidConfiguration);
    REQUIRE_THAT(report(), Contains("block extent 2048"));
    REQUIRE(launch(m["race"], {1}, {32, 64}, 0, out) == hipErrorInvalidConfiguration);
    REQUIRE_THAT(report(), Contains("2048 work-items"));
    REQUIRE(launch(m["race"], {0}, {64}, 0, out) == hipErrorInvalidConfiguration);
    REQUIRE(launch(m["sized"], {1}, {65}, 0, out) == hipErrorInvalidConfiguration);
    REQUIRE_THAT(report(), Contains("amdgpu-flat-work-group-size"));
    REQUIRE(launch(m["race"], {1}, {64}, 1 << 20, out) == hipErrorInvalidConfiguration);
    REQUIRE_THAT(report(), Contains("bytes of LDS"));
  });
}

TEST_CASE("a code object with a wait cut out is caught", "[strict]") {
  for (const auto& arch : targets) {
    const std::string text = assembly_of("waits.cl", arch, "-O3");
    auto range = [&](const std::string& kernel) {
      const size_t from = text.find("\n" + kernel + ":"), to = text.find("s_endpgm", from);
      REQUIRE(from != std::string::npos);
      return std::pair(from, to);
    };
    std::vector<float> a(256, 1.5f);
    std::vector<i32> x(256, 3);
    // Every wait of vector_add and of reduce, one at a time.
    for (const std::string kernel : {"vector_add", "reduce"}) {
      const auto [from, to] = range(kernel);
      int cut = 0;
      for (size_t at = text.find("s_wait", from); at < to; at = text.find("s_wait", at + 1)) {
        const size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        // Store counters order memory for other waves; registers do not depend on them. gfx1250's xcnt guards the
        // address registers of accesses that may be replayed after a page fault; here none is.
        if (line.find("vscnt") != std::string::npos || line.find("xcnt") != std::string::npos || line.find("storecnt 0x") != std::string::npos || line.find("bvhcnt") != std::string::npos || line.find("samplecnt") != std::string::npos || line.find("alu") != std::string::npos || line.find("depctr") != std::string::npos) continue;
        std::string without = text;
        without.replace(at, end - at, "; cut");
        INFO(arch << " " << kernel << " without: " << line << " at " << at);
        Module m(arch, assemble(without, arch));
        hipError_t e;
        if (kernel == "vector_add") {
          Buffer<float> da(a), db(a), dc(256);
          int n = 200;
          e = launch(m[kernel], {4}, {64}, 0, dc, da, db, n);
        } else {
          Buffer<i32> dx(x), out(1);
          e = launch(m[kernel], {1}, {256}, 0, out, dx);
        }
        REQUIRE(e == hipErrorLaunchFailure);
        REQUIRE_THAT(report(), Contains("before the wait that covers its load") || Contains("still in flight"));
        cut++;
      }
      REQUIRE(cut >= 2);
    }
  }
}

TEST_CASE("fast mode leaves the checks out", "[strict]") {
  setenv("LATHE_EMULATOR", "fast", 1);
  each([](Module& m, const std::string&) {
    Buffer<i32> fresh(64), out(128);
    int n = 64;
    ok(launch(m["add_one"], {1}, {64}, 0, out, fresh, n));
    ok(launch(m["race"], {1}, {128}, 0, out));
    n = 65;
    // Bounds stay: without them the host would crash.
    REQUIRE(launch(m["add_one"], {2}, {64}, 0, out, fresh, n) == hipErrorIllegalAddress);
  });
  unsetenv("LATHE_EMULATOR");
}

TEST_CASE("strict: a VGPR's number does not reach the AGPRs behind", "[strict]") {
  // 64 VGPRs, 32 AGPRs.
  const std::vector<std::pair<std::string, std::string>> kernels = {
    {"source", "v_mov_b32 v3, v70"}, {"result", "v_mov_b32 v70, 0"}, {"address", "global_load_dword v3, v70, s[4:5]\ns_waitcnt vmcnt(0)"},
    {"acc", "v_accvgpr_write_b32 a8, v3\ns_nop 4\nglobal_store_dword v2, a8, s[4:5]\nv_accvgpr_read_b32 v4, a8\ns_waitcnt vmcnt(0)"},
    {"acc_address", "v_accvgpr_write_b32 a8, v3\ns_nop 4\nglobal_store_dword v70, a8, s[4:5]\ns_waitcnt vmcnt(0)"}};
  for (const std::string arch : {"gfx90a", "gfx942"}) {
    INFO(arch);
    Module m(arch, assembly_object(arch, kernels));
    Buffer<i32> data(std::vector<i32>(64));
    for (const char* bad : {"source", "result", "address", "acc_address"}) {
      INFO(bad);
      REQUIRE(launch(m[bad], {1}, {64}, 0, data) == hipErrorLaunchFailure);
      REQUIRE_THAT(lathe_emulator_last_report(), Contains("names v70 beyond the registers that the kernel descriptor allocates (64)"));
    }
    ok(launch(m["acc"], {1}, {64}, 0, data));
    REQUIRE(data.get() == std::vector<i32>(64, 1));
  }
}
