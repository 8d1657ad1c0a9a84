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
CounterSet counters;
constexpr const char* class_names[] = {"salu", "valu", "vopd", "smem", "lds", "global", "scratch", "buffer", "branch", "wait", "matrix", "other"};
static_assert(std::size(class_names) == size_t(Class::count));
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

void add_counters(const CounterSet& c) {
  std::lock_guard lock(mutex);
  for (int k = 0; k < int(Class::count); k++) counters.instructions[k] += c.instructions[k];
  counters.waves += c.waves, counters.groups += c.groups;
}
CounterSet total_counters() {
  std::lock_guard lock(mutex);
  return counters;
}
void reset_counters() {
  std::lock_guard lock(mutex);
  counters = {};
}
std::string counters_json() {
  const CounterSet c = total_counters();
  u64 total = 0;
  for (u64 n : c.instructions) total += n;
  std::string s = fmt::format("{{\"waves\": {}, \"groups\": {}, \"instructions\": {}", c.waves, c.groups, total);
  for (int k = 0; k < int(Class::count); k++) s += fmt::format(", \"{}\": {}", class_names[k], c.instructions[k]);
  return s + "}";
}

}  // namespace lathe::emu
