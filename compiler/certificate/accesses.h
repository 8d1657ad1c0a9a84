// What a kernel does to memory, and when: the certificate's view of a statement. Read straight from the statement, with
// nothing taken over from the passes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/certificate/order.h"
#include "ir/stmt.h"

namespace lathe::certificate {

// The conditions under which a place is reached: loop ranges and branches, innermost first.
struct Domain {
  std::shared_ptr<const Domain> outer;
  Expr condition;
  int depth = 1;
};
using DomainRef = std::shared_ptr<const Domain>;  // null: always
DomainRef under(DomainRef outer, const Expr& condition);  // one Domain per conjunct
DomainRef common(DomainRef a, DomainRef b);               // what is around both

struct Access {
  Tensor tensor;
  std::vector<Expr> indices;   // scalars: a vector access has a lane variable of its own
  bool write = false;
  int lanes = 1;
  DomainRef domain;
  Place place;
  std::string text() const;    // "A[i + 1]", for people
};

struct BarrierAt {
  std::string divergent;       // what work-items of a group may see differently around it; empty: nothing
};

struct KernelAccesses {
  std::vector<Access> accesses;
  std::vector<BarrierAt> barriers;
  std::vector<Tensor> shared;
  Var lane;                       // of vector accesses
};
KernelAccesses accesses_of(const Kernel& kernel);

// The lanes of vectors, as one variable for all: a domain of every number of lanes within another is made once, so that
// equal questions are seen to be equal.
class Lanes {
 public:
  const Var lane{"lane"};
  DomainRef within(const DomainRef& domain, int lanes);

 private:
  std::map<std::pair<const Domain*, int>, std::pair<DomainRef, DomainRef>> known_;
};

// Lane `lane` of a vector, as a scalar expression; a scalar is itself.
Expr lane_of(const Expr& e, const Expr& lane);

}  // namespace lathe::certificate
