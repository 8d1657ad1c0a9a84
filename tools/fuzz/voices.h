// The voices on what a program computes: the evaluator (plain loops, no schedule), the evaluator of what each pass made,
// and the emulated GPU running the code object. They must agree bit for bit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/build.h"
#include "ir/evaluate.h"
#include "runtime/runtime.h"
#include "tools/fuzz/values.h"

namespace lathe::fuzz {

using Symbols = std::map<std::string, int64_t>;
using Arrays = std::vector<HostArray>;  // one per argument of the program, in order

// The shape of an argument once its symbols have values. Throws Error where one has none, or an extent is negative.
Shape shape_of(const Tensor& t, const Program& program, const Symbols& symbols);

// Inputs are filled; outputs start as 0xee bytes, so that what nobody writes shows.
Arrays random_arrays(const Program& program, const Symbols& symbols, uint64_t seed, Values values);

Arrays by_evaluator(const Program& program, Arrays arrays);
Arrays by_passes(const LoweredFunction& function, Arrays arrays);
Arrays by_gpu(const Module& module, const std::string& gpu, const Arrays& arrays);

// "" when all outputs are equal bit for bit (NaNs equal each other); else the first element that differs.
std::string difference(const Program& program, const Arrays& result, const Arrays& expected);

// Would the function be launched with arrays of these shapes?
bool promises_hold(const LoweredFunction& function, const Arrays& arrays);

// Says after which pass the result is no longer `expected`, and how; "" while it is. Goes into PipelineOptions::after_each.
class PassWatch {
 public:
  // What would run more than `most_stores` stores is passed over: 2e7 take a second and a half.
  PassWatch(const Program& program, const Arrays& arrays, const Arrays& expected, double most_stores = 2e7)
      : program_(program), arrays_(arrays), expected_(expected), most_stores_(most_stores) {}
  void operator()(const Pass& pass, const Lowering& l);
  const std::string& pass() const { return pass_; }    // the first one that differs; or ""
  const std::string& found() const { return found_; }  // what is different, and the program after it

 private:
  const Program& program_;
  const Arrays &arrays_, &expected_;
  double most_stores_;
  std::string pass_, found_;
};

// "" when evaluator, every pass that has a meaning of its own, and the named GPUs agree; else who differs, and where.
std::string disagreement(const Program& program, const Arrays& arrays, const std::vector<std::string>& on);

}  // namespace lathe::fuzz
