// LATHE_EMULATOR_REPORT=counters or json: what the process ran, on standard error when it ends.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "launch/counters.h"

namespace lathe::emu {
namespace {

[[gnu::destructor]] void report_at_exit() {
  const char* kind = std::getenv("LATHE_EMULATOR_REPORT");
  if (!kind || !*kind) return;
  try {
    std::string out;
    if (std::strcmp(kind, "json") == 0) out = counters_json();
    else if (std::strcmp(kind, "counters") == 0) out = counters_text();
    else out = fmt::format("lathe emulator: LATHE_EMULATOR_REPORT is \"{}\": \"counters\" and \"json\" are known", kind);
    if (out.empty() || out.back() != '\n') out += '\n';
    std::fputs(out.c_str(), stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lathe emulator: no report: %s\n", e.what());
  }
}

}  // namespace
}  // namespace lathe::emu
