// The table of schedule steps: one row a step, in the file of steps/ that holds its action. Printer, parser, checks and
// `lathe explain --steps` read the row.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace lathe {

class StepContext;

struct StepRow {
  std::string_view keyword;
  // @A one axis (C.i)      @A* axes, comma between     @T one stage      @T* stages
  // @R one new name        @R* new names               @N a number       @N* numbers      @W one of `words`
  // @E a condition on the shape symbols                @S steps in braces
  // ?x the word x, with which the rest of the grammar may be left out; anything else is itself.
  std::string_view grammar;
  std::vector<std::string_view> words;
  // Changes the context's stages. Throws Error (where: the step's text) when the step is illegal; the stages are then in
  // an unknown state, so callers apply it to a copy.
  void (*apply)(StepContext&);
  std::string_view summary;  // before -> after
};

std::span<const StepRow> step_rows();
const StepRow* find_step_row(std::string_view keyword);  // null: there is no such step

// One per file of steps/.
std::vector<StepRow> loop_steps();
std::vector<StepRow> mark_steps();
std::vector<StepRow> place_steps();
std::vector<StepRow> cache_steps();
std::vector<StepRow> reduction_steps();
std::vector<StepRow> pipeline_steps();
std::vector<StepRow> layout_steps();
std::vector<StepRow> shape_steps();
std::vector<StepRow> grid_steps();

}  // namespace lathe
