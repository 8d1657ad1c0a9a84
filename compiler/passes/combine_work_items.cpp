// combine_work_items: a combination of any number of work-items becomes one of lanes of a wave, then one through LDS.
//
//   before  combine C_acc along thread_x in 256 by sum                        (waves of 64 lanes)
//   after   combine C_acc along thread_x in 64 by sum
//           alloc shared C_acc_runs: f32[4] {
//             if tx % 64 == 0 { C_acc_runs[tx / 64] = C_acc }
//             C_acc = select(tx % 4 < 4, C_acc_runs[tx % 4], 0.0)
//             combine C_acc along thread_x in 4 by sum }
//
// A run of lanes is as long as a power of two that divides the number of work-items can be: waves are never cut. Where
// there are more runs than lanes in one (extents with a large odd part, indices that are not neighbours), LDS is halved
// step by step instead. Either way the order is the one that CombineNode states, whatever the wave. It stands after
// split_kernels, which fixes the numbers of the work-items, and before place_storage and insert_barriers, for which the
// scratch is LDS like any other: what is written again in the next iteration gets its barrier.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/passes/passes.h"
#include "ir/visit.h"

namespace lathe {
namespace {

class WorkItems {
 public:
  WorkItems(const Kernel& k, int64_t wave) : kernel_(k), wave_(wave) {}

  Stmt run(const Stmt& s) {
    if (const auto* c = as<CombineNode>(s)) return lower(*c);
    return map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return run(child); });
  }

 private:
  Stmt lower(const CombineNode& c) {
    if (c.width == 1) return make_block({});
    // The number along the combined indices, and the indices that tell groups of work-items apart.
    Expr number = 0;
    std::vector<Expr> apart;
    std::vector<Expr> shape;
    int64_t stride = 1;
    bool neighbours = true;  // do the combined indices come first in the work-item's number?
    for (int d = 0; d < 3; ++d) {
      if (kernel_.block[d] == 1) continue;
      const bool combined = std::any_of(c.along.begin(), c.along.end(), [&](LoopKind k) { return dimension(k) == d; });
      if (combined) {
        neighbours &= apart.empty();
        number = number + kernel_.thread_index[d] * stride;
        stride *= kernel_.block[d];
      } else {
        apart.push_back(kernel_.thread_index[d]);
        shape.push_back(kernel_.block[d]);
      }
    }
    LATHE_CHECK(stride == c.width, fmt::format("{} work-items combine in runs of {}", stride, c.width));
    const int64_t lanes = neighbours ? std::min(c.width & -c.width, wave_) : 1, runs = c.width / lanes;
    const Stmt in_waves = lanes > 1 ? make_combine(c.values, c.combiner, c.along, lanes) : make_block({});
    if (runs == 1) return in_waves;

    const Expr run = lanes == 1 ? number : number / lanes;
    shape.push_back(runs);
    // partition_tails may have made copies of this statement: they share their scratch, as they share the accumulators.
    std::vector<Tensor>& scratch = scratch_[c.values[0].get()];
    if (scratch.empty())
      for (const Tensor& t : c.values) scratch.push_back(make_tensor(t.name() + "_runs", t.type(), shape));
    const auto place = [&](const Expr& at) {
      std::vector<Expr> indices = apart;
      indices.push_back(at);
      return indices;
    };
    std::vector<Stmt> steps, held;
    for (size_t i = 0; i < scratch.size(); ++i) held.push_back(make_store(scratch[i], place(run), value(c.values[i])));
    steps.push_back(make_branch(first_of(number, lanes), make_block(std::move(held))));
    int64_t padded = 1;
    while (padded < runs) padded *= 2;
    if (padded <= lanes) {
      const Expr at = number % padded;
      for (size_t i = 0; i < scratch.size(); ++i)
        steps.push_back(make_store(c.values[i], {}, select(at < runs, make_load(scratch[i], place(at)), c.combiner->identity[i])));
      steps.push_back(make_combine(c.values, c.combiner, c.along, padded));
    } else {
      for (int64_t distance = 1; distance < runs; distance *= 2) steps.push_back(halve(c, scratch, run, number, lanes, runs, distance, place));
      for (size_t i = 0; i < scratch.size(); ++i) steps.push_back(make_store(c.values[i], {}, make_load(scratch[i], place(0))));
    }
    Stmt body = make_block(std::move(steps));
    for (const Tensor& t : scratch) body = make_alloc(t, Scope::shared, body);
    return make_block({in_waves, body});
  }

  // Runs 0, 2·distance, 4·distance, … take in the one at `distance`.
  template <class Place>
  static Stmt halve(const CombineNode& c, const std::vector<Tensor>& scratch, const Expr& run, const Expr& number, int64_t lanes, int64_t runs,
                    int64_t distance, const Place& place) {
    Substitution map;
    for (size_t i = 0; i < scratch.size(); ++i) {
      map[c.combiner->lhs[i].node()] = make_load(scratch[i], place(run));
      map[c.combiner->rhs[i].node()] = select(run + distance < runs, make_load(scratch[i], place(run + distance)), c.combiner->identity[i]);
    }
    std::vector<Stmt> stmts;  // all components are computed before any is overwritten
    for (size_t i = 0; i < scratch.size(); ++i) stmts.push_back(make_store(c.values[i], {}, substitute(c.combiner->result[i], map)));
    for (size_t i = 0; i < scratch.size(); ++i) stmts.push_back(make_store(scratch[i], place(run), value(c.values[i])));
    return make_branch(first_of(number, lanes) && run % (2 * distance) == 0, make_block(std::move(stmts)));
  }

  static Expr first_of(const Expr& number, int64_t lanes) { return lanes == 1 ? true_() : number % lanes == 0; }
  static Expr value(const Tensor& t) { return make_load(t, {}); }

  const Kernel& kernel_;
  int64_t wave_;
  std::map<const TensorNode*, std::vector<Tensor>> scratch_;
};

}  // namespace

void combine_work_items(Lowering& l) {
  // RDNA runs waves of 32 and of 64, as the build options say: 32 lanes are neighbours in both.
  const int64_t wave = l.target.gfx->has_wave32 ? 32 : l.target.gfx->wave_size;
  for (Kernel& k : l.function.kernels) k.body = WorkItems(k, wave).run(k.body);
}

}  // namespace lathe
