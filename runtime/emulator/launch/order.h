// In which order waves and work-groups run: any is allowed, so kernels must not depend on it. Reproducible.
#pragma once

#include <string>
#include <vector>

#include "machine/types.h"

namespace lathe::emu {

// LATHE_EMULATOR_ORDER: "forward", "backward", or a number, which shuffles waves and groups by that seed.
// Without it, groups start forward, and in strict mode the waves of group n run forward, backward or shuffled as n mod 3 says.
struct Order {
  enum class Kind : u8 { forward, backward, mixed, seeded } kind = Kind::forward;
  u64 seed = 0;
};

Order wanted_order(bool strict);                        // from the environment
u64 ordered_group(const Order&, u64 k, u64 groups);     // the k-th group to start; a permutation of [0, groups)
void order_waves(const Order&, u64 group, std::vector<u32>& turns);  // permutes [0, turns.size())
std::string order_text(const Order&, u64 group);        // "waves backward", for reports

}  // namespace lathe::emu
