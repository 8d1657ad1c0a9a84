// The one text that tells a user what went wrong, and the counters.
#pragma once

#include <string>

#include "machine/wave.h"

namespace lathe::emu {

void set_report(std::string text);   // also prints it once on standard error
std::string last_report();
void clear_report();

void add_counters(const CounterSet&);
CounterSet total_counters();
void reset_counters();
std::string counters_json();

}  // namespace lathe::emu
