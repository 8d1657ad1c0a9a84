// virtual_threads: a loop over virtual threads is sunk to the statements that differ from one of them to the next.
//
//   before  for virtual v in 0 .. 2 { alloc register acc: f32[] { acc[] = 0.0
//             for k … { A_s[tx] = A[k, tx]  acc[] = acc[] + A_s[v * 32 + tx % 32] }  C[v, tx] = acc[] } }
//   after   alloc register acc: f32[2] { for unrolled v … { acc[v] = 0.0 }
//             for k … { A_s[tx] = A[k, tx]  for unrolled v … { acc[v] = acc[v] + A_s[v * 32 + tx % 32] } }
//             for unrolled v … { C[v, tx] = acc[v] } }
//
// So a work-item plays all its virtual threads side by side: what they share is done once, their barriers are the
// work-item's, and their independent operations hide one another's latency. Registers get a dimension for the virtual
// thread where what is stored there depends on it. It stands after place_storage, which takes LDS out of the loops, and
// before insert_barriers, which must see each statement once.
#include <map>
#include <set>

#include "compiler/passes/passes.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

class Sink {
 public:
  Sink(const LoopNode& l, int64_t count) : var_(l.var), begin_(l.begin), count_(count) {
    size_t known;
    do {
      known = differs_.size();
      find(l.body, false);
    } while (differs_.size() != known);
  }

  Stmt run(const Stmt& s) {
    if (!depends(s)) return s;
    if (const auto* l = as<LoopNode>(s)) {
      const bool whole = depends(l->begin) || depends(l->end) || l->loop == LoopKind::vectorized;
      if (!whole) return make_loop(l->loop, l->var, l->begin, l->end, run(l->body));
    } else if (const auto* b = as<BranchNode>(s)) {
      if (!depends(b->condition)) return make_branch(b->condition, run(b->then_body), b->else_body ? run(b->else_body) : Stmt());
    } else if (const auto* a = as<AllocNode>(s)) {
      if (!differs_.count(a->tensor.get())) return make_alloc(a->tensor, a->scope, run(a->body));
      std::vector<Expr> shape = a->tensor.shape();
      shape.insert(shape.begin(), count_);
      const Tensor wide = make_tensor(a->tensor.name(), a->tensor.type(), std::move(shape));
      widened_[a->tensor.get()] = wide;
      return make_alloc(wide, a->scope, run(a->body));
    } else if (s->kind == StmtKind::block) {
      return map_children(
          s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return run(child); });
    }
    // Each repetition binds variables and memory of its own.
    const Var v(var_.name());
    return make_loop(LoopKind::unrolled, v, begin_, begin_ + count_, substitute(widen(s), {{var_.node(), v}}));
  }

 private:
  bool depends(const Expr& e) const {
    bool found = false;
    walk(e, [&](const Expr& x) {
      if (const auto* load = as<LoadNode>(x)) found |= differs_.count(load->tensor.get()) != 0;
      found |= x.same_as(var_);
      return !found;
    });
    return found;
  }

  bool depends(const Stmt& s) const {
    bool found = false;
    walk(
        s,
        [&](const Stmt& x) {
          if (const auto* st = as<StoreNode>(x)) found |= differs_.count(st->tensor.get()) != 0;
          return !found;
        },
        [&](const Expr& e) {
          found |= depends(e);
          return false;
        });
    return found;
  }

  // The registers that hold something else in each virtual thread: what is stored, where, or whether, depends on it.
  void find(const Stmt& s, bool differs) {
    if (const auto* l = as<LoopNode>(s)) return find(l->body, differs || depends(l->begin) || depends(l->end));
    if (const auto* b = as<BranchNode>(s)) {
      differs |= depends(b->condition);
      find(b->then_body, differs);
      if (b->else_body) find(b->else_body, differs);
      return;
    }
    if (const auto* a = as<AllocNode>(s))
      if (a->scope == Scope::registers) own_.insert(a->tensor.get());
    if (const auto* st = as<StoreNode>(s)) {
      differs |= depends(st->value);
      for (const Expr& i : st->indices) differs |= depends(i);
      if (differs && own_.count(st->tensor.get())) differs_.insert(st->tensor.get());
      return;
    }
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { find(child, differs); });
  }

  Expr at() const { return simplify(Expr(var_) - begin_); }

  Expr widen(const Expr& e) const {
    const Expr mapped = map_children(e, [&](const Expr& child) { return widen(child); });
    const auto* load = as<LoadNode>(mapped);
    const auto wide = load ? widened_.find(load->tensor.get()) : widened_.end();
    if (wide == widened_.end()) return mapped;
    std::vector<Expr> indices = load->indices;
    indices.insert(indices.begin(), at());
    return make_load(wide->second, std::move(indices));
  }

  Stmt widen(const Stmt& s) const {
    const Stmt mapped = map_children(
        s, [&](const Expr& e) { return widen(e); }, [&](const Stmt& child) { return widen(child); });
    const auto* st = as<StoreNode>(mapped);
    const auto wide = st ? widened_.find(st->tensor.get()) : widened_.end();
    if (wide == widened_.end()) return mapped;
    std::vector<Expr> indices = st->indices;
    indices.insert(indices.begin(), at());
    return make_store(wide->second, std::move(indices), st->value);
  }

  Var var_;
  Expr begin_;
  int64_t count_;
  std::set<const TensorNode*> own_, differs_;
  std::map<const TensorNode*, Tensor> widened_;
};

Stmt sink(const Stmt& s) {
  const Stmt inner = map_children(
      s, [](const Expr& e) { return e; }, [](const Stmt& child) { return sink(child); });
  const auto* l = as<LoopNode>(inner);
  if (!l || l->loop != LoopKind::virtual_thread) return inner;
  const Expr size = simplify(l->end - l->begin);
  const int64_t* count = as_constant(size);
  LATHE_CHECK(count, "a loop over virtual threads without a constant extent");
  return *count <= 0 ? make_block({}) : Sink(*l, *count).run(l->body);
}

}  // namespace

void virtual_threads(Lowering& l) {
  for (Kernel& k : l.function.kernels) k.body = sink(k.body);
}

}  // namespace lathe
