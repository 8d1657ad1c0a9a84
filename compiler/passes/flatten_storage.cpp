// flatten_storage: every tensor becomes one row-major array with one index.
//
//   before  C[i, j]             for C: f32[m, 64]
//   after   C[i * 64 + j]       for C: f32[m * 64]
//
// It stands after everything that reasons about dimensions, and before narrow_indices, which looks at the sums this
// pass makes.
#include "compiler/passes/passes.h"
#include "ir/simplify.h"
#include "ir/visit.h"

namespace lathe {
namespace {

class Flattener {
 public:
  Tensor flat(const Tensor& t) {
    auto [found, fresh] = flat_.emplace(t.get(), Tensor());
    if (fresh) {
      Expr size = 1;
      for (const Expr& extent : t.shape()) size = size * extent;
      found->second = make_tensor(t.name(), t.type(), {simplify(size)});
      keep_.push_back(t);
    }
    return found->second;
  }

  // Row-major; vectors stay ramps: a sum of ramps and lane-independent parts is a ramp.
  Expr index(const Tensor& t, std::vector<Expr> indices) const {
    for (Expr& i : indices) i = make_cast(i64, i);  // a gather's index may be narrower than the sum it goes into
    Expr base = 0, stride = 0;
    int lanes = 1;
    bool ramps = true;
    for (const Expr& i : indices) {
      lanes = std::max<int>(lanes, i.type().lanes);
      ramps &= i.type().lanes == 1 || as<RampNode>(i) || as<BroadcastNode>(i);
    }
    if (lanes == 1 || ramps) {
      for (size_t d = 0; d < indices.size(); ++d) {
        const auto* ramp = as<RampNode>(indices[d]);
        const auto* broadcast = as<BroadcastNode>(indices[d]);
        base = base * t.shape()[d] + (ramp ? ramp->base : broadcast ? broadcast->value : indices[d]);
        stride = stride * t.shape()[d] + (ramp ? ramp->stride : Expr(0));
      }
      base = simplify(base);
      return lanes == 1 ? base : make_ramp(base, simplify(stride), lanes);
    }
    Expr sum = 0;
    for (size_t d = 0; d < indices.size(); ++d) sum = sum * t.shape()[d] + indices[d];
    return sum;
  }

  Expr run(const Expr& e) {
    const Expr mapped = map_children(e, [&](const Expr& child) { return run(child); });
    const auto* load = as<LoadNode>(mapped);
    return load ? make_load(flat(Tensor(load->tensor)), {index(Tensor(load->tensor), load->indices)}) : mapped;
  }

  Stmt run(const Stmt& s) {
    const Stmt mapped = map_children(
        s, [&](const Expr& e) { return run(e); }, [&](const Stmt& child) { return run(child); });
    if (const auto* store = as<StoreNode>(mapped))
      return make_store(flat(store->tensor), {index(store->tensor, store->indices)}, store->value);
    if (const auto* c = as<CombineNode>(mapped)) {
      std::vector<Tensor> values;
      for (const Tensor& t : c->values) values.push_back(flat(t));
      return make_combine(std::move(values), c->combiner, c->along, c->width);
    }
    if (const auto* alloc = as<AllocNode>(mapped)) return make_alloc(flat(alloc->tensor), alloc->scope, alloc->body);
    return mapped;
  }

 private:
  std::map<const TensorNode*, Tensor> flat_;
  std::vector<Tensor> keep_;  // the map's keys stay alive
};

}  // namespace

void flatten_storage(Lowering& l) {
  l.nested = l.function;
  for (Kernel& k : l.function.kernels) {
    Flattener f;
    k.body = f.run(k.body);
    for (Tensor& t : k.buffers) t = f.flat(t);
  }
}

}  // namespace lathe
