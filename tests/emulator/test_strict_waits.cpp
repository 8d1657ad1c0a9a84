// Clang's code objects with one wait after another replaced by s_nop: strict mode reports it, or it was not
// reached (an s_trap in its place does not trap), or it stands in a list here with the reason why nothing depends
// on it.
#include "support.h"

#include <cstdio>

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

struct Needless {
  const char *targets, *kernel, *wait, *why;
};
const Needless needless[] = {
    {"gfx906", "exchange", "s_waitcnt vmcnt(0)", "before a barrier: the waves of a group share one first-level cache, which keeps their order (AMDGPUUsage, memory model gfx6 to gfx9, work-group scope)"},
    {"gfx1200", "", "s_wait_alu depctr", "LLVM waits after writes by VALU too, which is not modelled, and on ways where no VALU instruction has read the register"},
    {"gfx1200", "tiles", "s_wait_loadcnt 0x0", "the loads were waited for before; this waits for the invalidation at work-group scope, and no global data goes from wave to wave"},
    {"gfx1200", "last_group", "s_wait_loadcnt 0x0", "before the acquire: the atomic was waited for where its value was used"},
    {"gfx1200", "last_group", "s_wait_kmcnt 0x0", "the wave that gets here has waited for the same loads before"},
};
const char* why_needless(const std::string& arch, const std::string& kernel, const std::string& wait) {
  for (const Needless& n : needless)
    if (arch == n.targets && (!*n.kernel || kernel == n.kernel) && wait.find(n.wait) != std::string::npos) return n.why;
  return nullptr;
}

struct Line {
  size_t at, end;
  std::string text;
};
std::vector<Line> waits_of(const std::string& text, const std::string& kernel) {
  std::vector<Line> lines;
  const size_t from = text.find("\n" + kernel + ":"), to = text.find(".section", from);
  REQUIRE(from != std::string::npos);
  for (size_t at = text.find("\ts_wait", from); at < to; at = text.find("\ts_wait", at + 1)) {
    const size_t end = text.find('\n', at);
    lines.push_back({at, end, text.substr(at, end - at)});
  }
  return lines;
}
hipError_t run(const std::string& object, const std::string& arch, const std::string& kernel, std::vector<i32>& result) {
  Module m(arch, object);
  std::vector<i32> in(1024);
  for (int k = 0; k < 1024; k++) in[k] = kernel == "last_group" ? 0 : k * 37 % 256;
  Buffer<i32> out(std::vector<i32>(1024)), data(in);
  int n = 4;
  const hipError_t e = launch(m[kernel], {4}, {256}, 0, out, data, n);
  if (e == hipSuccess) result = out.get();
  return e;
}

}  // namespace

TEST_CASE("every wait that is cut out is caught, or had nothing to wait for", "[strict][waits]") {
  int cut = 0, caught = 0, unreached = 0, listed = 0;
  for (const std::string arch : {"gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"}) {
    const std::string text = assembly_of("cuts.cl", arch, "-O3");
    for (const std::string kernel : {"exchange", "tiles", "last_group", "chase"}) {
      std::vector<i32> want, got;
      ok(run(assemble(text, arch), arch, kernel, want));
      for (const Line& line : waits_of(text, kernel)) {
        const auto with = [&](const char* other) {
          std::string changed = text;
          changed.replace(line.at, line.end - line.at, other);
          return run(assemble(changed, arch), arch, kernel, got);
        };
        INFO(arch << " " << kernel << " without" << line.text << " at " << line.at);
        cut++;
        if (with("\ts_nop 0") == hipErrorLaunchFailure) {
          REQUIRE_THAT(lathe_emulator_last_report(), Contains("before the wait that covers its load") || Contains("still in flight") || Contains("data race in global memory") || Contains("hazard: "));
          caught++;
          continue;
        }
        same(got, want);
        if (with("\ts_trap 3") == hipSuccess) {
          unreached++;
          continue;
        }
        REQUIRE(why_needless(arch, kernel, line.text) != nullptr);
        listed++;
      }
    }
  }
  std::printf("%d waits cut out one at a time: %d caught, %d not reached, %d of no consequence (listed with the reason)\n", cut, caught, unreached, listed);
  REQUIRE(caught >= 100);
}

TEST_CASE("a flat load into LDS stands in line with loads from memory", "[strict][waits]") {
  const auto kernel = [](const std::string& name, const std::string& wait, const std::string& reg) {
    return "kernel void " + name + "(global int* out) {\n  local int m[64];\n  int i = __builtin_amdgcn_workitem_id_x(), r;\n  m[i] = i;\n  int* p = (int*)(m + i);\n"
           "  __asm__ volatile(\"s_waitcnt lgkmcnt(0)\\nglobal_load_b32 v40, %1, off\\nflat_load_b32 v41, %2\\n" + wait + "\\nv_mov_b32 %0, " + reg +
           "\\ns_waitcnt vmcnt(0) lgkmcnt(0)\" : \"=&v\"(r) : \"v\"(out + i), \"v\"(p) : \"v40\", \"v41\", \"memory\");\n  out[64 + i] = r;\n}\n";
  };
  const std::string text = kernel("first", "s_waitcnt vmcnt(1)", "v40") + kernel("second", "s_waitcnt vmcnt(1)", "v41") + kernel("vmcnt_alone", "s_waitcnt vmcnt(0)", "v41") +
                           kernel("both", "s_waitcnt vmcnt(0) lgkmcnt(0)", "v41");
  Module m("gfx1100", compile_opencl_text(text, "gfx1100", "-O1 -cl-std=CL2.0"));
  Buffer<i32> out(std::vector<i32>(128));
  ok(launch(m["first"], {1}, {32}, 0, out));
  for (const char* early : {"second", "vmcnt_alone"}) {
    INFO(early);
    REQUIRE(launch(m[early], {1}, {32}, 0, out) != hipSuccess);
    REQUIRE_THAT(lathe_emulator_last_report(), Contains("v41 is read before the wait that covers its load"));
  }
  ok(launch(m["both"], {1}, {32}, 0, out));
  REQUIRE(out.get()[64 + 5] == 5);
}
