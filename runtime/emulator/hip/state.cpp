#include "hip/state.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "launch/counters.h"
#include "launch/report.h"

namespace lathe::emu {
namespace {
std::mutex device_mutex;
thread_local hipError_t last_error = hipSuccess;
thread_local int current = 0;

Devices& all_devices() {
  static Devices* all = [] {
    auto* v = new Devices;
    const char* s = std::getenv("LATHE_EMULATOR_ARCH");
    const std::string list = s ? s : "gfx942";
    for (size_t from = 0; from <= list.size();) {
      const size_t to = std::min(list.find(',', from), list.size());
      const std::string arch = list.substr(from, to - from);
      if (const Isa* isa = find_isa(arch)) {
        if (!v->add(*isa)) std::fprintf(stderr, "lathe emulator: LATHE_EMULATOR_ARCH asks for more than %zu devices\n", Devices::most);
      } else if (!arch.empty()) {
        std::fprintf(stderr, "lathe emulator: LATHE_EMULATOR_ARCH names %s, which is no target of the emulator\n", arch.c_str());
      }
      from = to + 1;
    }
    return v;
  }();
  return *all;
}
}  // namespace

bool Devices::add(const Isa& isa) {
  const size_t n = size();
  if (n == most) return false;
  items_[n] = {&isa, fmt::format("Lathe emulated {}", isa.name)};
  count_.store(n + 1, std::memory_order_release);
  return true;
}
const Devices& devices() { return all_devices(); }
int add_device(const std::string& arch) {
  Devices& all = all_devices();
  std::lock_guard lock(device_mutex);
  for (size_t k = 0; k < all.size(); k++)
    if (all[k].isa->name == arch) return int(k);
  const Isa* isa = find_isa(arch);
  return isa && all.add(*isa) ? int(all.size()) - 1 : -1;
}
bool valid_device(int ordinal) { return ordinal >= 0 && size_t(ordinal) < devices().size(); }
int& current_device() { return current; }

hipError_t done(hipError_t e) {
  if (e != hipSuccess) last_error = e;
  return e;
}
hipError_t take_last_error() {
  const hipError_t e = last_error;
  last_error = hipSuccess;
  return e;
}
hipError_t peek_last_error() { return last_error; }
hipError_t refuse(hipError_t e, const std::string& report) {
  set_report("lathe emulator: " + report);
  return done(e);
}
int fail_unsupported(const char* call) { return unsupported(call); }   // of hip/unsupported.cpp
hipError_t unsupported(const char* call) { return refuse(hipErrorNotSupported, fmt::format("{} is not supported", call)); }

}  // namespace lathe::emu

using namespace lathe::emu;

// ---- the emulator's own symbols ------------------------------------------------------------------

// The ordinal of a device of this architecture, made if there is none yet; -1 if it is no target.
LATHE_HIP int lathe_emulator_add_device(const char* arch) {
  try {
    return arch ? add_device(arch) : -1;
  } catch (...) {
    return -1;
  }
}
// The targets that there are, separated by spaces.
LATHE_HIP const char* lathe_emulator_targets() {
  static const std::string* names = new std::string(isa_names());
  return names->c_str();
}
// The full text of the last fault or refusal of this process; valid until the thread's next call.
LATHE_HIP const char* lathe_emulator_last_report() {
  static thread_local std::string text;
  text = last_report();
  return text.c_str();
}
LATHE_HIP void lathe_emulator_clear_report() { clear_report(); }
// Counters since start or reset, as a JSON object.
LATHE_HIP const char* lathe_emulator_counters_json() {
  static thread_local std::string text;
  text = counters_json();
  return text.c_str();
}
// The same as a table for people.
LATHE_HIP const char* lathe_emulator_counters_text() {
  static thread_local std::string text;
  text = counters_text();
  return text.c_str();
}
// Also counts cache lines and LDS bank conflicts from now on (LATHE_EMULATOR_COUNTERS=1).
LATHE_HIP void lathe_emulator_count_memory(int on) { set_counting_memory(on != 0); }
LATHE_HIP void lathe_emulator_reset_counters() { reset_counters(); }
// Names the CPU level in use: "baseline", "v3", "v4".
LATHE_HIP const char* lathe_emulator_cpu_level();
