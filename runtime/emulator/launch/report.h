// The one text that tells a user what went wrong.
#pragma once

#include <string>

#include "machine/wave.h"

namespace lathe::emu {

void set_report(std::string text);   // also prints it once on standard error
std::string last_report();
void clear_report();

}  // namespace lathe::emu
