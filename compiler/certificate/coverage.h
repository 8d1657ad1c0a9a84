// That every element of a tensor is written.
#pragma once

#include "compiler/certificate/groups.h"
#include "compiler/certificate/questions.h"

namespace lathe::certificate {

// `grid`: of questions in which work-groups may differ.
Answer written_everywhere(const Tensor& t, const std::vector<const Access*>& writes, const Var& lane, Questions& grid);

}  // namespace lathe::certificate
