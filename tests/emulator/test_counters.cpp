// The counters against access patterns whose bank conflicts and cache lines are known by construction.
#include <cstdlib>

#include "support.h"

extern "C" {
const char* lathe_emulator_counters_text();
void lathe_emulator_count_memory(int on);
}

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

i64 counted(const std::string& key) {
  const std::string json = lathe_emulator_counters_json(), k = "\"" + key + "\": ";
  const size_t at = json.find(k);
  REQUIRE(at != std::string::npos);
  return std::atoll(json.c_str() + at + k.size());
}
struct Counting {
  Counting() { lathe_emulator_count_memory(1); }
  ~Counting() { lathe_emulator_count_memory(0); }
};
// Runs `f` alone and returns how much it adds to what `prepare` alone counts.
template <class F>
i64 conflicts(F f) {
  lathe_emulator_reset_counters();
  f();
  return counted("lds_bank_conflicts");
}

}  // namespace

TEST_CASE("bank conflicts of LDS loads by stride", "[counters]") {
  Counting on;
  for (const auto& arch : targets) {
    INFO(arch);
    Module m(arch, compile_opencl("counters.cl", arch, "-O2"));
    Buffer<i32> out(256);
    int n = 4096;
    // 32 banks of a dword, 32 lanes at a time: a stride of s meets gcd(s, 32) lanes in a bank.
    for (auto [stride, want] : {std::pair{1, 0}, {2, 2}, {4, 6}, {32, 62}, {33, 0}, {31, 0}, {0, 0}}) {
      INFO("stride " << stride);
      const bool wave64 = arch[3] == '9';
      const i64 got = conflicts([&] { ok(launch(m["lds_load"], {1}, {64}, 0, out, stride, n)); });
      // A wave of 64 takes two phases; two waves of 32 take one each.
      REQUIRE(got == want);
      REQUIRE(counted("waves") == (wave64 ? 1 : 2));
    }
    // 16 bytes a lane: eight lanes at a time.
    for (auto [stride, want] : {std::pair{4, 0}, {32, 56}}) {
      INFO("wide, stride " << stride);
      REQUIRE(conflicts([&] { ok(launch(m["lds_load_wide"], {1}, {64}, 0, out, stride, n)); }) == want);
    }
  }
}

TEST_CASE("cache lines of global loads by stride", "[counters]") {
  Counting on;
  for (const auto& arch : targets) {
    INFO(arch);
    Module m(arch, compile_opencl("counters.cl", arch, "-O2"));
    Buffer<i32> in(std::vector<i32>(64 * 64)), out(1);
    struct { int stride, lines64, lines128; const char* use; } cases[] = {{1, 4, 2, "full"}, {2, 8, 4, "half"}, {4, 16, 8, "quarter"}, {32, 64, 64, "less"}, {0, 1, 1, "less"}};
    for (const auto& c : cases) {
      INFO("stride " << c.stride);
      lathe_emulator_reset_counters();
      int stride = c.stride;
      ok(launch(m["global_load"], {1}, {64}, 0, out, in, stride));
      const int waves = arch[3] == '9' || stride ? 1 : 2;  // the same line, once a wave
      REQUIRE(counted("lines_64") == c.lines64 * waves);
      REQUIRE(counted("lines_128") == c.lines128 * waves);
      REQUIRE(counted("global_bytes") == (stride ? 256 : 4 * waves));
      REQUIRE(counted(c.use) == counted("global_bytes"));
    }
  }
}

TEST_CASE("counters per kernel and configuration, with what limits occupancy", "[counters]") {
  for (const auto& arch : targets) {
    INFO(arch);
    Module m(arch, compile_opencl("counters.cl", arch, "-O2"));
    Buffer<i32> out(256);
    lathe_emulator_reset_counters();
    for (int k = 0; k < 3; k++) ok(launch(m["big_lds"], {1}, {256}, 0, out));
    const std::string text = lathe_emulator_counters_text(), json = lathe_emulator_counters_json();
    REQUIRE_THAT(text, Contains("big_lds on " + arch) && Contains("3 launches of 1x1x1 groups of 256x1x1"));
    // 40 KiB of the 64 KiB: one group per compute unit, dealt out to four SIMDs on gfx9, two on RDNA.
    REQUIRE_THAT(text, Contains(arch[3] == '9' ? "1 of " : "4 of ") && Contains("limited by LDS (40960 bytes per group of 65536)"));
    REQUIRE_THAT(json, Contains("\"kernel\": \"big_lds\"") && Contains("\"launches\": 3"));
    REQUIRE_THAT(json, !Contains("lds_bank_conflicts"));
    REQUIRE(counted("instructions") > 0);
    lathe_emulator_reset_counters();
    REQUIRE(std::string(lathe_emulator_counters_text()) == "no launches\n");
  }
}
