// Three voices on one program: the evaluator (plain loops, no schedule), the evaluator of what each pass made, and the
// emulated GPU running the code object. They must agree bit for bit.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/build.h"
#include "ir/evaluate.h"
#include "ir/parse.h"
#include "runtime/runtime.h"

namespace lathe::test {

using Symbols = std::map<std::string, int64_t>;
using Arrays = std::vector<HostArray>;  // one per argument of the program, in order

inline const std::vector<std::string> gpus = {"gfx906", "gfx942", "gfx1100"};

// The shape of an argument once its symbols have values.
Shape shape_of(const Tensor& t, const Program& program, const Symbols& symbols);

// Small whole numbers: sums and products of a few of them are exact in every type, so any order of summation gives the
// same bits. Fractions: floats whose sums round, so that equality says that the order of summation is the same.
enum class Values { whole, fractions };
Arrays random_arrays(const Program& program, const Symbols& symbols, uint64_t seed, Values values);

// Outputs start as 0xee bytes, so what nobody writes shows.
Arrays by_evaluator(const Program& program, Arrays arrays);
Arrays by_passes(const LoweredFunction& function, Arrays arrays);
Arrays by_gpu(const Module& module, const std::string& gpu, const Arrays& arrays);

// "" when all outputs are equal bit for bit (NaNs equal each other); else the first element that differs.
std::string difference(const Program& program, const Arrays& result, const Arrays& expected);

// "" when evaluator, every pass that has a meaning of its own, and the named GPUs agree; else who differs, and where.
std::string disagreement(const Program& program, const Symbols& symbols, const Arrays& arrays,
                         const std::vector<std::string>& on = gpus);

// Parses, fills, compares; a failed check shows what disagreed. Gives the arguments with the evaluator's outputs.
Arrays agree(std::string_view text, const Symbols& symbols = {}, Values values = Values::fractions);
Arrays agree(const Program& program, const Symbols& symbols, const Arrays& arrays);

}  // namespace lathe::test
