// Random small programs under random schedules: every step goes through try_apply, so what comes out is a program and
// the steps that were accepted. The same seed gives the same pair, on every machine.
#pragma once

#include <cstdint>

#include "tests/compiler/harness.h"

namespace lathe::test {

struct RandomCase {
  Program program;
  Symbols symbols;
  int refused = 0;  // prefixes of the schedule that lowering refused
};

RandomCase random_case(uint64_t seed);

}  // namespace lathe::test
