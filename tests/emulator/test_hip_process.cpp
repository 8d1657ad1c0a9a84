// What needs a process of its own: its environment, its start, its end. hip_child.cpp is that process.
#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "hip_support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {
struct Result {
  int code;
  std::string output;
};
Result child(const std::string& environment, const std::string& arguments) {
  FILE* pipe = popen((environment + " timeout 60 " LATHE_HIP_CHILD " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  Result r;
  std::array<char, 4096> part;
  while (const size_t n = fread(part.data(), 1, part.size(), pipe)) r.output.append(part.data(), n);
  const int status = pclose(pipe);
  r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  INFO(r.output);
  return r;
}
}  // namespace

TEST_CASE("the same target twice is two devices", "[hip][process]") {
  const Result r = child("LATHE_EMULATOR_ARCH=gfx90a,gfx90a,gfx1100", "devices");
  INFO(r.output);
  REQUIRE(r.code == 0);
  REQUIRE(r.output == "gfx90a:sramecc+:xnack- 1\ngfx90a:sramecc+:xnack- 2\ngfx1100 3\n");
}

TEST_CASE("no known device is no device", "[hip][process]") {
  const Result r = child("LATHE_EMULATOR_ARCH=gfx1", "devices");
  REQUIRE_THAT(r.output, Contains("LATHE_EMULATOR_ARCH names gfx1, which is no target") && Contains("hipErrorNoDevice"));
}

TEST_CASE("faults on request", "[hip][process]") {
  const std::string kernels = hip_kernels("gfx942");
  Result r = child("LATHE_EMULATOR_FAIL=malloc:2,launch:3", "fail " + kernels);
  INFO(r.output);
  REQUIRE(r.code == 0);
  REQUIRE_THAT(r.output, Contains("malloc 1 hipSuccess\n") && Contains("malloc 2 hipErrorOutOfMemory\n") && Contains("malloc 3 hipSuccess\n"));
  REQUIRE_THAT(r.output, Contains("launch 2 hipSuccess\n") && Contains("launch 3 hipErrorLaunchFailure\n") && Contains("launch 4 hipSuccess\n"));
  REQUIRE_THAT(r.output, Contains("LATHE_EMULATOR_FAIL asks for it"));
  r = child("LATHE_EMULATOR_FAIL=malloc:x,launch:0", "fail " + kernels);
  REQUIRE_THAT(r.output, Contains("has \"malloc:x\"") && Contains("has \"launch:0\"") && !Contains("hipErrorOutOfMemory"));
}

TEST_CASE("a process ends cleanly with work in its streams, and frees in static destructors", "[hip][process]") {
  const std::string kernels = hip_kernels("gfx942");
  for (const char* how : {"return", "exit", "gate"}) {
    INFO(how);
    const Result r = child("", std::string("end ") + kernels + " " + how);
    INFO(r.output);
    REQUIRE(r.code == 7);
    REQUIRE(r.output == "freed hipSuccess\n");
  }
}
