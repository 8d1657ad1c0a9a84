// Random programs under random legal schedules: evaluator, every pass, and two emulated GPUs agree bit for bit.
//
//   LATHE_RANDOM_FIRST=1000 LATHE_RANDOM_COUNT=500 random_tests     other seeds, with a line for each on standard error
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>

#include "ir/print.h"
#include "tests/compiler/random_program.h"

using namespace lathe;
using namespace lathe::test;

namespace {

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

TEST_CASE("random programs under random schedules") {
  const uint64_t first = from_environment("LATHE_RANDOM_FIRST", 1), count = from_environment("LATHE_RANDOM_COUNT", 150);
  const bool loud = std::getenv("LATHE_RANDOM_COUNT") != nullptr;
  int refused = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    if (loud) fmt::print(stderr, "seed {}", seed);
    INFO("seed " << seed);
    const RandomCase c = random_case(seed);
    INFO(to_string(c.program));
    const auto start = std::chrono::steady_clock::now();
    std::string outcome;
    try {
      const Arrays arrays = random_arrays(c.program, c.symbols, seed, Values::whole);
      // Waves of 64 and of 32, in turn.
      outcome = disagreement(c.program, c.symbols, arrays, {seed % 2 ? "gfx942" : "gfx1100"});
      CHECK(outcome == "");
    } catch (const Error& e) {  // schedules may be refused as a whole: by an Error that says what would be legal
      ++refused;
      if (loud) fmt::print(stderr, " refused {}", e.what());
      CHECK(!e.hint().empty());
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (loud) fmt::print(stderr, " {:.2f} s{}\n", spent.count(), outcome.empty() ? "" : " FAILED");
  }
  INFO(refused << " of " << count << " schedules were refused");
  CHECK(refused < static_cast<int>(count / 2));
}
