// Waves and groups that wait for each other make progress; those that never end are stopped with a report;
// the order in which they run is chosen by LATHE_EMULATOR_ORDER.
#include <cstdlib>

#include "support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

struct Setting {
  const char* name;
  Setting(const char* n, const char* value) : name(n) { setenv(n, value, 1); }
  ~Setting() { unsetenv(name); }
};
template <class F>
void each(F f) {
  for (const std::string arch : {"gfx906", "gfx942", "gfx1030", "gfx1100", "gfx1200"}) {
    INFO(arch);
    Module m(arch, compile_opencl("schedule.cl", arch, "-O1 -gline-tables-only"));
    f(m, arch);
  }
}
std::string report() { return lathe_emulator_last_report(); }

}  // namespace

TEST_CASE("groups that wait for each other end", "[strict][schedule]") {
  for (const char* mode : {"strict", "fast"}) {
    Setting s("LATHE_EMULATOR", mode);
    each([](Module& m, const std::string&) {
      int groups = 24;
      Buffer<i32> out(24 * 64), data(24 * 64), arrived(std::vector<i32>(1));
      ok(launch(m["grid_barrier"], {24}, {64}, 0, out, data, arrived, groups));
      REQUIRE(out.get()[0] == 64 * 3);
      REQUIRE(out.get()[24 * 64 - 1] == 63 * 3);
      Buffer<i32> sums(24), partial(24), flags(std::vector<i32>(24));
      ok(launch(m["backward_chain"], {24}, {64}, 0, sums, partial, flags, groups));
      REQUIRE(sums.get()[0] == 23 * 24 / 2);
      Buffer<i32> o(256), flag(std::vector<i32>(1));
      ok(launch(m["wave_flag"], {1}, {256}, 0, o, flag));
      REQUIRE(o.get()[63] == 5);
    });
  }
}

TEST_CASE("an endless kernel is stopped at its loop", "[strict][schedule]") {
  Setting limit("LATHE_EMULATOR_LIMIT", "200000"), patience("LATHE_EMULATOR_PATIENCE", "1");
  each([](Module& m, const std::string&) {
    Buffer<i32> out(64), flag(std::vector<i32>(1));
    int n = 1;
    REQUIRE(launch(m["endless"], {1}, {64}, 0, out, n) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("endless loop?") && Contains("the limit is 200000 (LATHE_EMULATOR_LIMIT)") && Contains("s_") && Contains("branch") && Contains("code offset") && Contains("source       ") && Contains(".cl:4"));
    REQUIRE(launch(m["endless_barrier"], {1}, {128}, 0, out, n) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("endless loop?"));
  });
  Setting higher("LATHE_EMULATOR_LIMIT", "1000000000");
  Module m("gfx942", compile_opencl("schedule.cl", "gfx942", "-O1"));
  Buffer<i32> out(64), flag(std::vector<i32>(1));
  REQUIRE(launch(m["lonely"], {3}, {64}, 0, out, flag) == hipErrorLaunchFailure);
  REQUIRE_THAT(report(), Contains("no progress for 1 s (LATHE_EMULATOR_PATIENCE)") && Contains("only poll memory") && Contains("0 groups have not begun"));
}

TEST_CASE("barriers that some waves miss", "[strict][schedule]") {
  each([](Module& m, const std::string& arch) {
    Buffer<i32> out(512);
    REQUIRE(launch(m["some_leave"], {1}, {256}, 0, out) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("barrier not reached by all waves") && Contains("ended without reaching it") && Contains(arch == "gfx1200" ? "s_barrier_wait" : "s_barrier"));
    {
      Setting s("LATHE_EMULATOR_BARRIER", "isa");
      ok(launch(m["some_leave"], {1}, {256}, 0, out));
      REQUIRE(out.get()[300] == 2);
    }
    REQUIRE(launch(m["two_barriers"], {1}, {128}, 0, out) == hipErrorLaunchFailure);
    REQUIRE_THAT(report(), Contains("barrier not reached by all waves: this wave waits here, wave ") && Contains("at pc 0x"));
  });
}

TEST_CASE("waves run in several orders", "[strict][schedule]") {
  Module m("gfx942", compile_opencl("schedule.cl", "gfx942", "-O1"));
  Buffer<i32> out(512);
  const auto missing = [&] {
    REQUIRE(launch(m["some_leave"], {3}, {256}, 0, out) == hipErrorLaunchFailure);
    return report();
  };
  REQUIRE_THAT(missing(), Contains("order        waves") && Contains("(LATHE_EMULATOR_ORDER not set)"));
  {
    Setting s("LATHE_EMULATOR_ORDER", "backward");
    REQUIRE_THAT(missing(), Contains("groups and waves backward (LATHE_EMULATOR_ORDER=backward)"));
  }
  Setting s("LATHE_EMULATOR_ORDER", "12345");
  REQUIRE_THAT(missing(), Contains("groups and waves shuffled (LATHE_EMULATOR_ORDER=12345)"));
}
