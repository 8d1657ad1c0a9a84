// All that must hold of a pair.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/fuzz/fault.h"
#include "tools/fuzz/pair.h"

namespace lathe::fuzz {

struct CheckOptions {
  std::vector<std::string> targets;
  bool certify = false;
};

struct CheckResult {
  bool refused = false;          // by every target; the steps that were taken off do not count
  size_t nodes = 0;              // of what code was generated from
  double evaluate = 0, lower = 0, build = 0, run = 0;  // milliseconds
};

// Throws Fault where a check fails: text that does not round-trip, a refusal without a hint, a pass or a target whose
// result differs from the evaluator's, something that the certificate disproves. Steps are taken off the end of a
// schedule that is refused as a whole, or becomes too large for LLVM to compile thousands of; some prefix of what is left
// is lowered too. `journal` is told the pair as it is checked.
CheckResult check_pair(Pair pair, const CheckOptions& options, const std::function<void(const std::string&)>& journal);

}  // namespace lathe::fuzz
