// The certificate: what a second pair of eyes proves of the final statement. It shares no code with the passes, reads
// the kernels as code generation takes them, and asks isl by a wrapper of its own (ir/isl/points.h).
//
//   proved     bounds       vector_add: all 3 accesses are inside their tensors
//   disproved  order        gemm: AS[…] is written and AS[…] read by another work-item with no barrier in between
//                           (for bx = 0, tx = 1, tx' = 2, …)
//   undecided  bounds       gather: A[B[i]] depends on data
#pragma once

#include <string>
#include <vector>

#include "ir/stmt.h"
#include "runtime/base/package.h"
#include "runtime/base/target.h"

namespace lathe {

struct Certificate {
  std::vector<Claim> claims;
  Verdict verdict() const;            // the worst of them: disproved, undecided, proved
  std::string text() const;           // one claim a line
};

// `nested` is the function with tensors of several dimensions, `flat` the same one with one index per access, as code is
// generated from. Bounds and order are asked of the first, and that both say the same of the second.
Certificate certify(const LoweredFunction& nested, const LoweredFunction& flat, const Target& target);

}  // namespace lathe
