// Pairs tried in a process of their own, so that a crash or a hang is one more finding.
#pragma once

#include <string>

#include "tools/fuzz/check_pair.h"
#include "tools/fuzz/worker.h"

namespace lathe::fuzz {

struct Outcome {
  std::string kind, detail;  // of what failed; kind is "" where all is well
  std::string text;          // the pair, as far as it had come
  CheckResult result;        // where all is well
};

class Trial {
 public:
  Trial(CheckOptions options, double seconds);
  Outcome seed(uint64_t seed, bool certify);
  Outcome text(const std::string& te, bool certify);  // a text that is no program is well

 private:
  Outcome ask(const std::string& request);
  Worker worker_;
};

}  // namespace lathe::fuzz
