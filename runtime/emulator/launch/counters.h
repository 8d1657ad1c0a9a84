// The counters of all launches since start or reset, summed by kernel and configuration.
#pragma once

#include <string>

#include "launch/group.h"

namespace lathe::emu {

// LATHE_EMULATOR_COUNTERS=1 (or lathe_emulator_count_memory) also counts lines and bank conflicts, which takes time.
bool counting_memory();
void set_counting_memory(bool on);

void add_counters(const LaunchState&, const CounterSet&);
void count_launch(const LaunchState&);
void reset_counters();

// A JSON object: totals, then one object per kernel and configuration in "launches".
std::string counters_json();
// The same as a table for people.
std::string counters_text();

}  // namespace lathe::emu
