// lay_out_storage: tiles in LDS stand there as their steps say, so that the lanes of a wave reach different banks.
//
//   before  storage_align S.i by 32 offset 1       alloc shared S: f32[64, 64] { … S[i, j] … }
//   after                                          alloc shared S: f32[64, 65] { … S[i, j] … }
//
//   before  swizzle S vector 4 rows 1 period 8     … S[i, j4 * 4 + v] …
//   after                                          … S[i, (j4 ^ i % 8) * 4 + v] …
//
// Padding makes rows longer: the dimensions inside the aligned axis become one, which has room at its end. Swizzling
// exchanges the pieces of a row among one another, differently from row to row; whole pieces stay together, so a vector of
// that length is still one access. Both map elements one to one, which is why barriers can be placed before: it stands
// after insert_barriers, which reasons about plain indices, and before vectorize_loops, which looks for the ramps in them.
#include <map>

#include "compiler/passes/passes.h"
#include "compiler/passes/with_facts.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

class Layouts {
 public:
  explicit Layouts(const Lowering& l) {
    add(l);
    for (const Lowering& version : l.merged) add(version);
  }

  void add(const Lowering& l) {
    for (const Stage& s : l.stages) {
      const StageBounds& b = l.bounds.at(s.name);
      if (!s.layout.plain() && b.scope == Scope::shared)
        for (const Tensor& t : b.stored) laid_out_[t.get()] = {&s, &b, {}};
    }
  }

  bool empty() const { return laid_out_.empty(); }

  Expr run(const Expr& e, const Facts& facts) {
    const Expr mapped = map_children(e, [&](const Expr& child) { return run(child, facts); });
    const auto* load = as<LoadNode>(mapped);
    const auto found = load ? laid_out_.find(load->tensor.get()) : laid_out_.end();
    if (found == laid_out_.end()) return mapped;
    return make_load(stored(Tensor(load->tensor), found->second), place(*load->tensor, load->indices, found->second, facts));
  }

  Stmt run(const Stmt& s, const Facts& facts) {
    if (const auto* l = as<LoopNode>(s)) {
      Facts inside = facts;
      inside.add_range(l->var, l->begin, l->end);
      return make_loop(l->loop, l->var, l->begin, l->end, run(l->body, inside));
    }
    const Stmt mapped = map_children(
        s, [&](const Expr& e) { return run(e, facts); }, [&](const Stmt& child) { return run(child, facts); });
    if (const auto* store = as<StoreNode>(mapped)) {
      const auto found = laid_out_.find(store->tensor.get());
      if (found == laid_out_.end()) return mapped;
      return make_store(stored(store->tensor, found->second), place(*store->tensor, store->indices, found->second, facts), store->value);
    }
    if (const auto* a = as<AllocNode>(mapped)) {
      const auto found = laid_out_.find(a->tensor.get());
      if (found != laid_out_.end()) return make_alloc(stored(a->tensor, found->second), a->scope, a->body);
    }
    return mapped;
  }

 private:
  struct LaidOut {
    const Stage* stage;
    const StageBounds* bounds;
    Tensor stored;
  };

  // Versions of a pipelined tile stand in dimensions before the tile's own.
  static size_t versions(const TensorNode& t, const LaidOut& l) { return t.shape.size() - l.stage->axes.size(); }

  static const Tensor& stored(const Tensor& t, LaidOut& l) {
    if (l.stored) return l.stored;
    std::vector<Expr> shape(t.shape().begin(), t.shape().begin() + static_cast<int64_t>(versions(*t, l)));
    for (const int64_t extent : stored_extents(*l.stage, *l.bounds)) shape.push_back(extent);
    return l.stored = make_tensor(t.name(), t.type(), std::move(shape));
  }

  std::vector<Expr> place(const TensorNode& t, std::vector<Expr> indices, const LaidOut& l, const Facts& facts) const {
    const StorageLayout& layout = l.stage->layout;
    const size_t first = versions(t, l), last = indices.size() - 1;
    if (layout.vector > 0) {
      Expr row = 0;
      for (size_t d = first; d < last; ++d) row = row * t.shape[d] + indices[d];
      // The remainder stays even where nothing exceeds it: by it the certificate knows which bits may change.
      const Expr turn = simplify(row / layout.rows, facts) % layout.period, column = indices[last];
      const Expr piece = simplify(column / layout.vector, facts), within = simplify(column % layout.vector, facts);
      indices[last] = (piece ^ turn) * layout.vector + within;
    }
    if (layout.aligned_axis >= 0) {
      Expr inner = 0;
      const size_t from = first + static_cast<size_t>(layout.aligned_axis) + 1;
      for (size_t d = from; d <= last; ++d) inner = inner * t.shape[d] + indices[d];
      indices.resize(from);
      indices.push_back(simplify(inner));
    }
    return indices;
  }

  std::map<const TensorNode*, LaidOut> laid_out_;
};

}  // namespace

void lay_out_storage(Lowering& l) {
  Layouts layouts(l);
  if (layouts.empty()) return;
  for (Kernel& k : l.function.kernels) k.body = layouts.run(k.body, kernel_facts(l.function, k));
}

}  // namespace lathe
