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
std::atomic<int> pending{hipSuccess};
int add_locked(std::vector<Device>& all, const std::string& arch) {
  for (size_t k = 0; k < all.size(); k++)
    if (all[k].isa->name == arch) return int(k);
  const Isa* isa = find_isa(arch);
  if (!isa) return -1;
  all.push_back({isa, fmt::format("Lathe emulated {}", arch)});
  return int(all.size()) - 1;
}
}  // namespace

std::vector<Device>& devices() {
  static std::vector<Device>* all = [] {
    auto* v = new std::vector<Device>;
    v->reserve(256);
    const char* s = std::getenv("LATHE_EMULATOR_ARCH");
    std::string list = s ? s : "gfx942";
    for (size_t from = 0; from <= list.size();) {
      const size_t to = std::min(list.find(',', from), list.size());
      const std::string arch = list.substr(from, to - from);
      if (const Isa* isa = find_isa(arch)) v->push_back({isa, fmt::format("Lathe emulated {}", arch)});
      else if (!arch.empty()) std::fprintf(stderr, "lathe emulator: LATHE_EMULATOR_ARCH names %s, which is no target of the emulator\n", arch.c_str());
      from = to + 1;
    }
    return v;
  }();
  return *all;
}
int add_device(const std::string& arch) {
  auto& all = devices();
  std::lock_guard lock(device_mutex);
  return add_locked(all, arch);
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
void set_pending_fault(hipError_t e) {
  int none = hipSuccess;
  pending.compare_exchange_strong(none, int(e));
}
hipError_t take_pending_fault() { return hipError_t(pending.exchange(hipSuccess)); }
hipError_t unsupported(const char* call) {
  std::fprintf(stderr, "lathe emulator: %s is not supported\n", call);
  return done(hipErrorNotSupported);
}

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
