// A schedule step as data: what one line of a schedule says. The table of step_row.h gives each its grammar,
// which both printing and parsing read, so that they are inverses by construction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lathe {

class Lexer;

// A step names stages and axes by name, because it must survive printing; replaying it resolves them at once.
struct AxisName {
  std::string stage, axis;
  bool operator==(const AxisName&) const = default;
};

struct Step {
  std::string keyword;               // which step: a row of the table in step_row.h
  std::vector<AxisName> axes;        // the loops it acts on
  std::vector<std::string> tensors;  // the stages it acts on
  std::vector<std::string> results;  // the names of the loops or stages it makes
  std::vector<int64_t> numbers;
  std::string word;                  // tail, scope or index kind, one of the row's words
  std::string condition{};           // on the shape symbols, by their names, as to_string prints it: n % 16 == 0
  std::vector<Step> steps{};         // those of a version of the schedule
  bool operator==(const Step&) const = default;
};

std::string to_string(const Step& step);            // one line, or several where steps stand inside
std::string indented(const std::string& text);      // two spaces before every line
// Throws Error unless the step has what its row in the table asks for: a step made in C++ may lack parts.
void check_step(const Step& step);
Step parse_step(Lexer& lexer);                // reads one step; Error with line and column
Step parse_step(std::string_view text);       // the whole text is one step

}  // namespace lathe
