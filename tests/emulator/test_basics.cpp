#include <catch2/catch.hpp>

#include "harness.h"

using namespace emu_test;

TEST_CASE("vector add runs on every target", "[basics]") {
  for (const auto& arch : targets)
    for (const char* opt : {"-O0", "-O3"}) {
      INFO(arch << " " << opt);
      Module m(arch, compile_opencl("basics.cl", arch, opt));
      for (int n : {1, 63, 64, 65, 1000}) {
        std::vector<float> a(n), b(n);
        for (int i = 0; i < n; i++) a[i] = i * 0.5f, b[i] = 100.0f - i;
        Buffer<float> da(a), db(b), dc(n);
        REQUIRE(launch(m["vector_add"], {unsigned(n + 63) / 64}, {64}, 0, dc, da, db, n) == hipSuccess);
        const auto c = dc.get();
        for (int i = 0; i < n; i++) REQUIRE(c[i] == a[i] + b[i]);
      }
    }
}
