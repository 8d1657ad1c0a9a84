// Hazards that the ISA leaves to software (strict mode): an instruction needs so many wait states after an
// earlier one that wrote what it reads. Before a kernel first runs, the pairs that any path may bring too close
// are found; only those instructions then look, at run time, whether they were.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "wave.h"

namespace lathe::emu {

u32 wait_states(const Inst&);  // 1; s_nop n: n + 1

// `target`: what a direct branch leads to, or nullptr.
void mark_hazards(const Isa&, std::deque<std::vector<Inst>>& runs, const std::function<const Inst*(const Inst&)>& target);

}  // namespace lathe::emu
