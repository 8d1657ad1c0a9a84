#include "launch/report.h"

#include <cstdio>
#include <mutex>

#include <fmt/format.h>

namespace lathe::emu {
namespace {
std::mutex mutex;
std::string& report() {
  static auto* s = new std::string;
  return *s;
}
}  // namespace

void set_report(std::string text) {
  std::lock_guard lock(mutex);
  report() = std::move(text);
  std::fprintf(stderr, "%s\n", report().c_str());
}
std::string last_report() {
  std::lock_guard lock(mutex);
  return report();
}
void clear_report() {
  std::lock_guard lock(mutex);
  report().clear();
}

}  // namespace lathe::emu
