// Chooses the CPU level and finds rows by name.
#include "row.h"

#include <cstdlib>
#include <string>
#include <unordered_map>

namespace lathe::emu {

#define LATHE_LEVEL_DECL(L) namespace L { const RowSet& row_set(); }
LATHE_LEVEL_DECL(baseline)
#ifdef LATHE_HAVE_V3
LATHE_LEVEL_DECL(v3)
#endif
#ifdef LATHE_HAVE_V4
LATHE_LEVEL_DECL(v4)
#endif

// LATHE_EMULATOR_CPU takes a lower level than the host's best, to compare them.
const RowSet& best_row_set() {
  const char* wanted = std::getenv("LATHE_EMULATOR_CPU");
  [[maybe_unused]] const auto allowed = [&](std::string_view level) { return !wanted || !*wanted || wanted >= level; };
#ifdef LATHE_HAVE_V4
  if (allowed("v4") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) return v4::row_set();
#endif
#ifdef LATHE_HAVE_V3
  if (allowed("v3") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) return v3::row_set();
#endif
  return baseline::row_set();
}

const Row* find_row(std::string_view name) {
  static const auto* index = [] {
    auto* m = new std::unordered_map<std::string, const Row*>;
    for (auto table : best_row_set().tables)
      for (const Row& row : table) {
        if (row.name[0] != '*') {
          (*m)[std::string(row.name)] = &row;
          continue;
        }
        for (const char* segment : {"FLAT", "GLOBAL", "SCRATCH", "BUFFER"}) (*m)[segment + std::string(row.name.substr(1))] = &row;
      }
    return m;
  }();
  const auto it = index->find(std::string(name));
  return it == index->end() ? nullptr : it->second;
}

}  // namespace lathe::emu
