// What each schedule step does to the stages, and when it refuses.
#pragma once

#include <vector>

#include "ir/schedule/schedule.h"

namespace lathe {

Stage make_stage(std::string name, std::vector<Tensor> outputs, const DefinitionNode& definition);

// Changes `stages` as the step says. Throws Error (where: the step's text) when it is illegal; the stages are then in
// an unknown state, so callers apply it to a copy.
void apply_step(std::vector<Stage>& stages, const Step& step);

}  // namespace lathe
