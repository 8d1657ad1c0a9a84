// That the flat kernel, from which code is generated, says the same as the one with several dimensions.
#pragma once

#include "compiler/certificate/questions.h"

namespace lathe::certificate {

// Every flat index is the row-major sum of the nested one, everything else is the same, and no 32-bit computation loses
// a bit of what it is used for.
Answer same_indices(Questions& questions, const Kernel& nested, const Kernel& flat);

}  // namespace lathe::certificate
