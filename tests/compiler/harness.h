// The voices of tools/fuzz/voices.h as Catch's checks: evaluator, passes and three emulated GPUs agree bit for bit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/parse.h"
#include "tools/fuzz/voices.h"

namespace lathe::test {

using namespace lathe::fuzz;

inline const std::vector<std::string> gpus = {"gfx906", "gfx942", "gfx1100"};

// Parses, fills, compares; a failed check shows what disagreed. Gives the arguments with the evaluator's outputs.
Arrays agree(std::string_view text, const Symbols& symbols = {}, Values values = Values::fractions);
Arrays agree(const Program& program, const Symbols& symbols, const Arrays& arrays);

}  // namespace lathe::test
