#include "launch/order.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

#include <fmt/format.h>

namespace lathe::emu {

Order wanted_order(bool strict) {
  const char* s = std::getenv("LATHE_EMULATOR_ORDER");
  if (!s || !*s) return {strict ? Order::Kind::mixed : Order::Kind::forward};
  if (std::strcmp(s, "forward") == 0) return {Order::Kind::forward};
  if (std::strcmp(s, "backward") == 0) return {Order::Kind::backward};
  return {Order::Kind::seeded, std::strtoull(s, nullptr, 10)};
}

u64 ordered_group(const Order& o, u64 k, u64 groups) {
  if (o.kind == Order::Kind::backward) return groups - 1 - k;
  if (o.kind != Order::Kind::seeded || groups < 2) return k;
  // A step that shares no factor with the count visits every group once.
  std::mt19937_64 random(o.seed);
  const u64 start = random() % groups;
  u64 step = random() % groups | 1;
  while (std::gcd(step, groups) != 1) step++;
  return (start + u64(static_cast<unsigned __int128>(step) * k % groups)) % groups;
}

namespace {
enum class Waves { forward, backward, shuffled };
Waves waves_of(const Order& o, u64 group) {
  switch (o.kind) {
    case Order::Kind::forward: return Waves::forward;
    case Order::Kind::backward: return Waves::backward;
    case Order::Kind::mixed: return Waves(group % 3);
    case Order::Kind::seeded: return Waves::shuffled;
  }
  return Waves::forward;
}
}  // namespace

void order_waves(const Order& o, u64 group, std::vector<u32>& turns) {
  std::iota(turns.begin(), turns.end(), 0u);
  const Waves w = waves_of(o, group);
  if (w == Waves::backward) std::reverse(turns.begin(), turns.end());
  if (w != Waves::shuffled) return;
  std::mt19937_64 random(o.seed ^ (group + 1) * 0x9e3779b97f4a7c15u);
  for (size_t k = turns.size(); k > 1; k--) std::swap(turns[k - 1], turns[random() % k]);
}

std::string order_text(const Order& o, u64 group) {
  static constexpr const char* names[] = {"forward", "backward", "shuffled"};
  const char* waves = names[int(waves_of(o, group))];
  switch (o.kind) {
    case Order::Kind::mixed: return fmt::format("waves {} (LATHE_EMULATOR_ORDER not set)", waves);
    case Order::Kind::seeded: return fmt::format("groups and waves shuffled (LATHE_EMULATOR_ORDER={})", o.seed);
    default: return fmt::format("groups and waves {} (LATHE_EMULATOR_ORDER={})", waves, waves);
  }
}

}  // namespace lathe::emu
