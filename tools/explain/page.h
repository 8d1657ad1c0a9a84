// One self-contained HTML page: what each step did, what each kernel needs, its loop nest and its assembly side by side.
#pragma once

#include <string>
#include <vector>

#include "compiler/build.h"
#include "tools/explain/nests.h"

namespace lathe {

std::string explain_page(const Program& program, const Target& target, const std::vector<NestAfterStep>& steps);

}  // namespace lathe
