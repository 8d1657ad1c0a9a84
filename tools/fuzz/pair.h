// A pair: a program under a schedule, and what it is run on. As text it is a .te file whose first line gives the options
// of `lathe run` that repeat it:
//
//   # run: --set m=3 --random 7 --values special
#pragma once

#include <functional>
#include <string>

#include "ir/program.h"
#include "tools/fuzz/voices.h"

namespace lathe::fuzz {

struct Pair {
  Program program;
  Symbols symbols;
  uint64_t seed = 1;
  Values values = Values::whole;
};

std::string to_text(const Pair& pair);
// Throws Error where the text is no program, or the first line is not understood.
Pair parse_pair(const std::string& text, const std::string& file);

// The same seed gives the same pair on every machine. `journal` is told the pair as text before anything that could go
// wrong is done with it. Throws Fault.
Pair random_pair(uint64_t seed, const std::function<void(const std::string&)>& journal);

}  // namespace lathe::fuzz
