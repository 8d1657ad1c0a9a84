// Accesses that differ by constants alone, as unrolled loops leave them, taken as one: a group is asked about at once,
// and only where that is no proof are its parts.
#pragma once

#include <vector>

#include "compiler/certificate/accesses.h"
#include "compiler/certificate/refute.h"

namespace lathe::certificate {

// Where an access is, dimension by dimension: a sum without constant, and what is added to it. Lanes that stand side by
// side are part of the latter.
struct Where {
  std::vector<Linear> sum;
  std::vector<std::pair<int64_t, int64_t>> offset;  // least and most
  std::vector<Expr> first;                          // the index of the first lane
};
Where where(const Access& a, const Var& lane, Refuter& refuter);

struct Group {
  std::vector<const Access*> members;
  std::vector<Where> where;   // beside them
  Access wide;                // reaches all that its members do, and perhaps more; of one member it is that member
};
// `apart`: what is at different places, as barriers see them, is not of one group.
std::vector<Group> groups_of(const std::vector<const Access*>& accesses, const Var& lane, Refuter& refuter, bool apart);
// Two or more smaller ones; of one member, none.
std::vector<Group> parts_of(const Group& g);

}  // namespace lathe::certificate
