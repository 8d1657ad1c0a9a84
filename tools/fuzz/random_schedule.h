// Random legal schedules: every step goes through try_apply. What a step takes is read from its row's grammar, so a new
// row is drawn from the day it stands in the table; some schedules begin as people write them for a GPU.
#pragma once

#include <functional>

#include "ir/schedule/schedule.h"
#include "tools/fuzz/dice.h"

namespace lathe::fuzz {

// `before_each` is told every step before it is tried, also those that are then refused. Throws Fault when a step is
// refused without saying what would be legal.
void random_schedule(Dice& dice, Schedule& schedule, const std::function<void(const Step&)>& before_each);

}  // namespace lathe::fuzz
