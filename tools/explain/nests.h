// What each schedule step did: the loop nest after it, and which of its lines are new.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "runtime/base/target.h"

namespace lathe {

struct NestLine {
  std::string text;
  bool is_new;  // it did not stand in the nest before the step
};

struct NestAfterStep {
  std::string step;             // as the schedule writes it; empty: no step yet
  std::vector<NestLine> lines;
  std::string remark;           // why there are stages instead of loops: what later steps have to settle first
};

// One entry for the plain program, then one a step. Throws Error when a step is illegal.
std::vector<NestAfterStep> nests_after_steps(const Program& program, const Target& target);

// A text's lines, without their ends.
std::vector<std::string> lines_of(std::string_view text);

// "1536 B", "2 KiB": whole kibibytes as such.
std::string bytes_text(int64_t bytes);

}  // namespace lathe
