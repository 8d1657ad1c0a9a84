// What a kernel does to memory, and when: the certificate's view of a statement. Read straight from the statement, with
// nothing taken over from the passes.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ir/stmt.h"

namespace lathe::certificate {

// The conditions under which a place is reached: loop ranges and branches, innermost first.
struct Domain {
  std::shared_ptr<const Domain> outer;
  Expr condition;
  std::set<const VarNode*> variables;  // in the condition
};
using DomainRef = std::shared_ptr<const Domain>;  // null: always
DomainRef under(DomainRef outer, const Expr& condition);  // one Domain per conjunct
std::set<const VarNode*> variables_in(const Expr& e);

// A moment between barriers: which step of each level, and the iteration of the loop that leads a level down. Only
// loops that hold barriers make levels; everything else happens within one step.
struct Moment {
  std::vector<int> steps;   // one more than loops
  std::vector<Var> loops;
  DomainRef domain;         // of the innermost of these loops
};

struct Access {
  Tensor tensor;
  std::vector<Expr> indices;   // scalars: a vector access has a lane variable of its own
  bool write = false;
  DomainRef domain;
  Moment moment;
  std::string text;            // "A[i + 1]", for people
};

struct BarrierAt {
  DomainRef domain;
  Moment moment;
  std::string divergent;       // what work-items of a group may see differently around it; empty: nothing
};

struct KernelAccesses {
  std::vector<Access> accesses;   // equal ones once
  std::vector<BarrierAt> barriers;
  std::vector<Tensor> shared;
  DomainRef base;                 // the ranges of block and thread indices, in which everything else stands
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
