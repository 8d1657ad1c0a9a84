#include "compiler/certificate/questions.h"

#include <algorithm>
#include <utility>

namespace lathe::certificate {

Questions::Questions(const LoweredFunction& f, const Kernel& k, const KernelAccesses& a, bool one_group) : kernel_(k), accesses_(a) {
  for (const Var& s : f.symbols) space_.share(s);
  for (const Var& s : k.symbols) space_.share(s);
  if (one_group)
    for (const Var& b : k.block_index) space_.share(b);
  for (const Tensor& t : f.arguments)
    for (const Expr& extent : t.shape())
      if (!as_constant(extent)) promises_.push_back(extent >= 0);
  for (const LoweredFunction::Promise& p : f.promises) promises_.push_back(p.condition);
  Points facts = space_.everything();
  for (const Expr& p : promises_) facts = facts & space_.where(p);
  promised_.emplace(std::move(facts));
}

Points Questions::reached(const DomainRef& domain, int copy) {
  if (!domain) return *promised_;
  auto found = reached_.find({domain.get(), copy});
  if (found != reached_.end()) return found->second.second;
  const Points p = reached(domain->outer, copy) & space_.where(domain->condition, copy);
  reached_.emplace(std::pair{domain.get(), copy}, std::pair{domain, p});
  return p;
}

Points Questions::where(const DomainRef& domain, const Expr& condition, bool all) {
  if (all) return reached(domain, first) & space_.where(condition, first);
  std::vector<std::pair<Expr, std::set<const VarNode*>>> conditions;
  for (const Domain* d = domain.get(); d; d = d->outer.get()) conditions.emplace_back(d->condition, d->variables);
  for (const Expr& p : promises_) conditions.emplace_back(p, variables_in(p));
  std::set<const VarNode*> wanted = variables_in(condition);
  std::vector<const Node*> taken;
  std::vector<Expr> expressions;
  for (bool more = true; more;) {
    more = false;
    for (auto& [e, variables] : conditions) {
      if (!e.defined() || std::none_of(variables.begin(), variables.end(), [&](const VarNode* v) { return wanted.count(v); })) continue;
      wanted.insert(variables.begin(), variables.end());
      taken.push_back(e.get());
      expressions.push_back(std::exchange(e, Expr()));
      more = true;
    }
  }
  std::sort(taken.begin(), taken.end());
  auto found = together_.find(taken);
  if (found == together_.end()) {
    Points p = space_.everything();
    for (const Expr& e : expressions) p = p & space_.where(e, first);
    kept_.insert(kept_.end(), expressions.begin(), expressions.end());
    found = together_.emplace(std::move(taken), std::move(p)).first;
  }
  return found->second & space_.where(condition, first);
}

Points Questions::meet(const Access& a, const Access& b) {
  Points p = reached(a.domain, first) & reached(b.domain, second);
  for (size_t d = 0; d < a.indices.size(); ++d) p = p & space_.equal(a.indices[d], first, b.indices[d], second);
  return p;
}

Points Questions::different_items() {
  Points p = none();
  for (int d = 0; d < 3; ++d)
    if (kernel_.block[d] > 1) p = p | different(kernel_.thread_index[d]);
  return p;
}
Points Questions::different_groups() {
  Points p = none();
  for (const Var& b : kernel_.block_index) p = p | different(b);
  return p;
}
Points Questions::different(const Var& v) { return space_.less(v, first, v, second) | space_.less(v, second, v, first); }

Points Questions::within_kernel(const DomainRef& domain, int copy) {
  Points p = space_.everything();
  for (const Domain* d = domain.get(); d != accesses_.base.get(); d = d->outer.get()) p = p & space_.where(d->condition, copy);
  return p;
}

Points Questions::unordered(const Moment& a, const Moment& b) {
  Points p = within_kernel(a.domain, first) & within_kernel(b.domain, second);
  for (const BarrierAt& z : accesses_.barriers) {
    if (!z.divergent.empty()) continue;
    const Points after_a = before(a, first, z.moment, barrier) & before(z.moment, barrier, b, second);
    const Points after_b = before(b, second, z.moment, barrier) & before(z.moment, barrier, a, first);
    // Conditions on the work-item are left out, which makes nothing more ordered than it is: all of the group agree on
    // what a barrier stands under.
    p = p - ((after_a | after_b) & within_kernel(z.domain, barrier)).without_copy(barrier);
    if (p.is_empty()) break;
  }
  return p;
}

Points Questions::before(const Moment& a, int copy_a, const Moment& b, int copy_b) {
  Points p = none(), so_far = space_.everything();
  for (size_t level = 0;; ++level) {
    if (a.steps[level] < b.steps[level]) return p | so_far;
    if (a.steps[level] > b.steps[level]) return p;
    if (level >= a.loops.size() || level >= b.loops.size()) return p;
    // The same step of the same level leads into the same loop.
    const Var& v = a.loops[level];
    p = p | (so_far & space_.less(v, copy_a, v, copy_b));
    so_far = so_far & space_.equal(v, copy_a, v, copy_b);
  }
}

}  // namespace lathe::certificate
