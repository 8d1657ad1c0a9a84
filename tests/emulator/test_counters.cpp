// The counters against access patterns whose bank conflicts and cache lines are known by construction.
#include <algorithm>
#include <cstdlib>
#include <numeric>

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
    // As many lanes at a time as there are banks: a stride of s meets gcd(s, banks) of them in each bank that it uses.
    const bool wave64 = arch[3] == '9';
    const int banks = arch == "gfx950" || arch == "gfx1250" ? 64 : 32, together = wave64 ? banks : 32;
    for (int stride : {1, 2, 4, 32, 33, 31, 0}) {
      INFO("stride " << stride);
      const int meet = stride ? std::max(1, std::gcd(stride, banks) * together / banks) : 1, want = (meet - 1) * (64 / together);
      const i64 got = conflicts([&] { ok(launch(m["lds_load"], {1}, {64}, 0, out, stride, n)); });
      // A wave of 64 takes two phases; two waves of 32 take one each.
      REQUIRE(got == want);
      REQUIRE(counted("waves") == (wave64 ? 1 : 2));
    }
    // 16 bytes a lane: eight lanes at a time where there are 32 banks.
    for (auto [stride, want] : {std::pair{4, 0}, {32, banks == 32 ? 56 : 28}}) {
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
    if (arch == "gfx950" || arch == "gfx1250") continue;  // more LDS: it does not limit this kernel so
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
