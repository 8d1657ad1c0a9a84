// place_storage: LDS is allocated once, for the whole kernel.
//
//   before  if bulk { for k0 … { alloc shared A_s: f32[512] { … } } } else { for k0 … { alloc shared A_s: f32[512] { … } } }
//   after   alloc shared A_s: f32[512] { if bulk { for k0 … { … } } else { for k0 … { … } } }
//
// A work-group owns its LDS from start to end: an allocation inside a loop or a branch is the same memory each time,
// and the copies that partition_tails makes of a loop nest would otherwise each take their own. Registers stay where
// they are, as small as their use. It stands after split_kernels, which says what one kernel is, and before
// insert_barriers, which looks at accesses across all of it.
#include "compiler/passes/passes.h"
#include "ir/visit.h"

namespace lathe {
namespace {

Stmt take_shared(const Stmt& s, std::vector<Tensor>& found) {
  if (const auto* a = as<AllocNode>(s); a && a->scope == Scope::shared) {
    bool known = false;
    for (const Tensor& t : found) known |= t.same_as(a->tensor);
    if (!known) found.push_back(a->tensor);
    return take_shared(a->body, found);
  }
  return map_children(
      s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return take_shared(child, found); });
}

}  // namespace

void place_storage(Lowering& l) {
  for (Kernel& k : l.function.kernels) {
    std::vector<Tensor> found;
    k.body = take_shared(k.body, found);
    for (auto t = found.rbegin(); t != found.rend(); ++t) k.body = make_alloc(*t, Scope::shared, k.body);
  }
}

}  // namespace lathe
