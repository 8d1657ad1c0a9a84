#include "launch/counters.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "launch/occupancy.h"

namespace lathe::emu {
namespace {

constexpr const char* class_names[] = {"salu", "valu", "vopd", "smem", "lds", "global", "scratch", "buffer", "branch", "wait", "matrix", "other"};
static_assert(std::size(class_names) == size_t(Class::count));

struct Record {
  std::string kernel, target;
  u32 grid[3] = {}, block[3] = {};
  u64 launches = 0;
  Occupancy occupancy;
  CounterSet counters;
};
using Key = std::tuple<std::string, std::string_view, u64, u64, u64, u64, u64, u64, u32>;

std::mutex mutex;
std::map<Key, Record>& records() {
  static auto* all = new std::map<Key, Record>;
  return *all;
}
std::atomic<int>& memory_switch() {
  static std::atomic<int> on = [] {
    const char* s = std::getenv("LATHE_EMULATOR_COUNTERS");
    return s && *s && std::strcmp(s, "0") != 0;
  }();
  return on;
}

// Needs the lock.
Record& record_of(const LaunchState& s) {
  const Kernel& k = *s.kernel;
  const Isa& isa = *k.object->isa;
  Record& r = records()[Key{k.name, isa.name, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2], s.lds_bytes}];
  if (r.kernel.empty()) {
    r.kernel = k.name, r.target = target_id(isa);
    for (int d = 0; d < 3; d++) r.grid[d] = s.grid[d], r.block[d] = s.block[d];
    r.occupancy = occupancy(k, s.block[0] * s.block[1] * s.block[2], s.lds_bytes);
  }
  return r;
}

// What the tallies say, by class of instruction.
struct Sums {
  u64 instructions[int(Class::count)] = {}, slots[int(Class::count)] = {}, matrix_cycles = 0;
  explicit Sums(const CounterSet& c) {
    for (int k = 0; k < 256; k++) {
      if (!c.executed[k]) continue;
      const Tally t = tally(u8(k));
      instructions[int(t.cls)] += c.executed[k];
      slots[int(t.cls)] += c.executed[k] * t.slots;
      matrix_cycles += c.executed[k] * t.matrix_cycles;
    }
  }
  u64 slots_of(std::initializer_list<Class> classes) const {
    u64 n = 0;
    for (Class c : classes) n += slots[int(c)];
    return n;
  }
  u64 valu() const { return slots_of({Class::valu, Class::vopd}); }
  u64 salu() const { return slots_of({Class::salu, Class::branch}); }
  u64 lds() const { return slots_of({Class::lds}); }
  u64 memory() const { return slots_of({Class::global, Class::buffer, Class::scratch, Class::smem}); }
};

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 32) out += fmt::format("\\u{:04x}", int(c));
    else out += c;
  }
  return out + "\"";
}

std::string members(const CounterSet& c) {
  const Sums s(c);
  std::string t = fmt::format("\"waves\": {}, \"groups\": {}, \"instructions\": {}", c.waves, c.groups, c.instructions());
  for (int k = 0; k < int(Class::count); k++) t += fmt::format(", \"{}\": {}", class_names[k], s.instructions[k]);
  t += fmt::format(", \"issue_slots\": {{\"valu\": {}, \"salu\": {}, \"lds\": {}, \"memory\": {}}}, \"matrix_cycles\": {}", s.valu(), s.salu(), s.lds(), s.memory(), s.matrix_cycles);
  const MemoryCounters& m = c.memory;
  if (!counting_memory()) return t;
  t += fmt::format(", \"lds_requests\": {}, \"lds_cycles\": {}, \"lds_bank_conflicts\": {}", m.lds_requests, m.lds_cycles, m.lds_conflicts);
  t += fmt::format(", \"global_requests\": {}, \"global_bytes\": {}, \"lines_64\": {}, \"lines_128\": {}", m.global_requests, m.bytes, m.lines64, m.lines128);
  return t + fmt::format(", \"bytes_by_line_use\": {{\"full\": {}, \"half\": {}, \"quarter\": {}, \"less\": {}}}", m.bytes_by_quality[0], m.bytes_by_quality[1], m.bytes_by_quality[2], m.bytes_by_quality[3]);
}

double percent(u64 part, u64 whole) { return whole ? 100.0 * double(part) / double(whole) : 0; }

std::string table(const Record& r) {
  const CounterSet& c = r.counters;
  const Sums s(c);
  const u64 n = c.instructions();
  std::string t = fmt::format("{} on {}: {} launch{} of {}x{}x{} groups of {}x{}x{}, {} waves\n", r.kernel, r.target, r.launches, r.launches == 1 ? "" : "es", r.grid[0], r.grid[1], r.grid[2],
                              r.block[0], r.block[1], r.block[2], c.waves);
  const auto row = [&](const char* name, const std::string& value) { t += fmt::format("  {:<16} {}\n", name, value); };
  std::string classes;
  for (int k = 0; k < int(Class::count); k++)
    if (s.instructions[k]) classes += fmt::format("{}{} {:.1f} %", classes.empty() ? "" : ", ", class_names[k], percent(s.instructions[k], n));
  row("instructions", fmt::format("{}: {}", n, classes));
  row("issue slots", fmt::format("VALU {}, SALU {}, LDS {}, memory {}", s.valu(), s.salu(), s.lds(), s.memory()));
  if (s.matrix_cycles) row("matrix cycles", fmt::format("{}", s.matrix_cycles));
  const MemoryCounters& m = c.memory;
  if (m.lds_requests) row("LDS", fmt::format("{} requests, {} cycles, {} of them bank conflicts ({:.1f} %)", m.lds_requests, m.lds_cycles, m.lds_conflicts, percent(m.lds_conflicts, m.lds_cycles)));
  if (m.global_requests) {
    row("global memory", fmt::format("{} requests, {} bytes in {} lines of 64 bytes, {} of 128", m.global_requests, m.bytes, m.lines64, m.lines128));
    row("line use", fmt::format("whole lines {:.1f} %, half {:.1f} %, quarter {:.1f} %, less {:.1f} % of the bytes", percent(m.bytes_by_quality[0], m.bytes), percent(m.bytes_by_quality[1], m.bytes),
                                percent(m.bytes_by_quality[2], m.bytes), percent(m.bytes_by_quality[3], m.bytes)));
  }
  const Occupancy& o = r.occupancy;
  row("occupancy", fmt::format("{} of {} waves per SIMD, limited by {}", o.waves, o.most_waves, o.limit));
  return t;
}

}  // namespace

bool counting_memory() { return memory_switch(); }
void set_counting_memory(bool on) { memory_switch() = on; }

void count_launch(const LaunchState& s) {
  std::lock_guard lock(mutex);
  record_of(s).launches++;
}
void add_counters(const LaunchState& s, const CounterSet& c) {
  std::lock_guard lock(mutex);
  record_of(s).counters.add(c);
}
void reset_counters() {
  std::lock_guard lock(mutex);
  records().clear();
}

std::string counters_json() {
  std::lock_guard lock(mutex);
  CounterSet total;
  std::string launches;
  for (const auto& [key, r] : records()) {
    total.add(r.counters);
    const Occupancy& o = r.occupancy;
    launches += fmt::format("{}{{\"kernel\": {}, \"target\": {}, \"launches\": {}, \"grid\": [{}, {}, {}], \"block\": [{}, {}, {}], {}, \"occupancy\": {{\"waves\": {}, \"most_waves\": {}, \"limit\": {}}}}}",
                            launches.empty() ? "" : ", ", quoted(r.kernel), quoted(r.target), r.launches, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.block[1], r.block[2], members(r.counters), o.waves, o.most_waves, quoted(o.limit));
  }
  return fmt::format("{{{}, \"launches\": [{}]}}", members(total), launches);
}

std::string counters_text() {
  std::lock_guard lock(mutex);
  std::string t;
  for (const auto& [key, r] : records()) t += table(r);
  return t.empty() ? "no launches\n" : t;
}

}  // namespace lathe::emu
