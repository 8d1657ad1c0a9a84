#include "hip/fail.h"

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "machine/types.h"

namespace lathe::emu {
namespace {

struct Kind {
  const char* name;
  std::set<u64> at;
  std::atomic<u64> calls{0};
};
std::array<Kind, 2>& kinds() {
  static auto* all = [] {
    auto* k = new std::array<Kind, 2>{};
    (*k)[0].name = "malloc", (*k)[1].name = "launch";
    const char* s = std::getenv("LATHE_EMULATOR_FAIL");
    const std::string list = s ? s : "";
    for (size_t from = 0; from < list.size();) {
      const size_t to = std::min(list.find(',', from), list.size()), colon = std::min(list.find(':', from), to);
      const std::string_view name = std::string_view(list).substr(from, colon - from);
      u64 n = 0;
      const char* end = list.data() + to;
      const auto [stop, error] = std::from_chars(list.data() + std::min(colon + 1, to), end, n);
      bool known = false;
      for (Kind& kind : *k)
        if (name == kind.name && error == std::errc() && stop == end && n > 0) known = kind.at.insert(n).second || true;
      if (!known) std::fprintf(stderr, "lathe emulator: LATHE_EMULATOR_FAIL has \"%.*s\"; it takes malloc:n and launch:n\n", int(to - from), list.data() + from);
      from = to + 1;
    }
    return k;
  }();
  return *all;
}

}  // namespace

bool fail_now(const char* name) {
  for (Kind& kind : kinds())
    if (std::string_view(name) == kind.name) return kind.at.count(++kind.calls) != 0;
  return false;
}

}  // namespace lathe::emu
