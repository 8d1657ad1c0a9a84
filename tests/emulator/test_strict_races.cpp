// Data races in global memory: reported with both accesses, and never where atomics and fences order them.
#include "support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

template <class F>
void each(F f) {
  for (const std::string arch : {"gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"})
    for (const char* opt : {"-O1", "-O3"}) {
      INFO(arch << " " << opt);
      Module m(arch, compile_opencl("races.cl", arch, std::string(opt) + " -gline-tables-only"));
      f(m, arch);
    }
}
std::string report() { return lathe_emulator_last_report(); }
std::vector<i32> zeros(size_t n) { return std::vector<i32>(n); }

}  // namespace

TEST_CASE("data races between work-groups", "[strict][races]") {
  each([](Module& m, const std::string& arch) {
    Buffer<i32> out(zeros(256)), data(zeros(256));
    REQUIRE(launch(m["write_write"], {4}, {64}, 0, out) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("data race in global memory: this wave writes 0x") && Contains("of hipMalloc") && Contains("which work-group (") && Contains("wrote, with no release and acquire in between"));
    REQUIRE_THAT(report(), Contains("kernel       write_write on " + arch) && Contains("_store_") && Contains("other        global_store") && Contains("source       ") && Contains(".cl:10"));
    ok(launch(m["write_write"], {1}, {64}, 0, out));
    ok(launch(m["same_value"], {4}, {64}, 0, out));
    REQUIRE(launch(m["write_read"], {4}, {64}, 0, out, data) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("data race in global memory: this wave ") && Contains("other        global_"));
    REQUIRE(launch(m["overwrite"], {4}, {64}, 0, out, data) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("data race in global memory: this wave "));
    REQUIRE(launch(m["scalar_read"], {4}, {64}, 0, out, data) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("data race in global memory: this wave "));
    Buffer<char> c(std::vector<char>(16));
    ok(launch(m["bytes"], {4}, {32}, 0, c));
    // Two groups, since a dword keeps one writer and a third in between may hide the race; and zeros, since a store of what
    // stands there is let pass.
    Buffer<char> zeros(std::vector<char>(16));
    REQUIRE(launch(m["shared_byte"], {2}, {64}, 0, zeros) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("data race in global memory: this wave writes"));
  });
}

TEST_CASE("data races in global memory between the waves of a group", "[strict][races]") {
  each([](Module& m, const std::string& arch) {
    Buffer<i32> out(zeros(256)), data(zeros(256));
    int sync = 0;
    REQUIRE(launch(m["waves"], {1}, {128}, 0, out, data, sync) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("data race in global memory: this wave ") && Contains("with no barrier in between"));
    sync = 1;
    ok(launch(m["waves"], {1}, {128}, 0, out, data, sync));
    // Where the waves may sit on several CUs, the store has to arrive before the barrier.
    const hipError_t e = launch(m["barrier_alone"], {1}, {128}, 0, out, data);
    if (arch[3] == '1') {
      REQUIRE(e == hipErrorLaunchFailure);
      REQUIRE_THAT(report(), Contains("the store was not waited for before the barrier"));
    } else {
      ok(e);
    }
  });
}

TEST_CASE("atomics, fences and flags order accesses", "[strict][races]") {
  each([](Module& m, const std::string&) {
    Buffer<i32> bins(zeros(8)), x(zeros(256));
    ok(launch(m["histogram"], {4}, {64}, 0, bins, x));
    REQUIRE(bins.get()[0] == 256);
    int groups = 8;
    {
      Buffer<i32> out(1), partial(8), count(zeros(1));
      ok(launch(m["last_block"], {8}, {64}, 0, out, partial, count, groups));
      REQUIRE(out.get()[0] == 36);
    }
    for (const char* broken : {"last_block_unreleased", "last_block_unacquired"}) {
      INFO(broken);
      Buffer<i32> out(1), partial(8), count(zeros(1));
      REQUIRE(launch(m[broken], {8}, {64}, 0, out, partial, count, groups) == hipErrorLaunchFailure);
      REQUIRE_THAT(report(), Contains("data race in global memory: this wave reads") && Contains("with no release and acquire in between"));
    }
    {
      Buffer<i32> counter(zeros(1)), lock(zeros(1));
      int release = 1;
      ok(launch(m["spin_lock"], {40}, {64}, 0, counter, lock, release));
      REQUIRE(counter.get()[0] == 40);
      release = 0;
      REQUIRE(launch(m["spin_lock"], {40}, {64}, 0, counter, lock, release) == hipErrorLaunchFailure);
      REQUIRE_THAT(report(), Contains("data race in global memory"));
    }
    Buffer<i32> data(zeros(41)), turn(zeros(1));
    ok(launch(m["turns"], {40}, {64}, 0, data, turn));
    REQUIRE(data.get()[40] == 80);
    Buffer<i32> out(64), all(256);
    ok(launch(m["last_wave"], {1}, {256}, 0, out, all));
    REQUIRE(out.get()[1] == 4 + 64 + 128 + 192);
  });
}

TEST_CASE("data races in LDS through flat accesses", "[strict][races]") {
  const std::string text =
      "kernel void race(global int* out, int to_lds, int sync) {\n  local int m[128];\n  int i = __builtin_amdgcn_workitem_id_x();\n  int* p = to_lds ? (int*)m : (int*)(out + 128);\n"
      "  m[i] = 0;\n  __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");\n"
      "  p[i] = i;\n  if (sync) { __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\"); }\n"
      "  out[i] = p[i ^ 64];\n}\n"
      "kernel void count(global int* out, int to_lds) {\n  local int m[1];\n  int i = __builtin_amdgcn_workitem_id_x();\n  int* p = to_lds ? (int*)m : (int*)out;\n  if (i == 0) m[0] = 0;\n"
      "  __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");\n"
      "  __scoped_atomic_fetch_add(p, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);\n"
      "  __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");\n  out[i] = m[0];\n}\n";
  for (const std::string arch : {"gfx906", "gfx942", "gfx1100", "gfx1250"}) {
    INFO(arch);
    Module m(arch, compile_opencl_text(text, arch, "-O1 -cl-std=CL2.0"));
    Buffer<i32> out(zeros(256));
    int to_lds = 1, sync = 0;
    REQUIRE(launch(m["race"], {1}, {128}, 0, out, to_lds, sync) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("data race in LDS: wave ") && Contains("with no barrier in between") && Contains("flat_"));
    sync = 1;
    ok(launch(m["race"], {1}, {128}, 0, out, to_lds, sync));
    REQUIRE(out.get()[3] == 67);
    ok(launch(m["count"], {1}, {128}, 0, out, to_lds));
    REQUIRE(out.get()[100] == 128);
  }
}
