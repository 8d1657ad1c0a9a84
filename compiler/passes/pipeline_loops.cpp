// pipeline_loops: in a pipelined loop, what the loop uses is made in earlier iterations (pipeline, double_buffer).
//
//   before  for k in 0 .. 20 { alloc shared P: f32[64] { for thread_x t { P[t] = A[k, t] }  C += … P[…] … } }
//   after   alloc shared P: f32[2, 64] { alloc register P_ahead: f32[64] {
//             for thread_x t { P_ahead[t] = A[0, t] }  for thread_x t { P[0, t] = P_ahead[t] }
//             for k in 0 .. 19 {
//               for thread_x t { P_ahead[t] = A[k + 1, t] }
//               C += … P[k % 2, …] …
//               for thread_x t { P[(k + 1) % 2, t] = P_ahead[t] } }
//             C += … P[19 % 2, …] … } }
//
// With N stages, producers run N - 1 iterations ahead and their memory has N versions, so that one barrier an iteration
// is enough. A copy from global memory into LDS is cut in two: its loads are issued before the iteration's own work, and
// what they bring is stored into LDS after it, so that nobody waits for memory while there is work. In between it rests in
// registers, one for each element that a work-item copies, or in the stage in registers that it goes through anyhow; a copy of
// more than `max_resting` bytes a work-item is not cut.
// Registers have no addresses: where a version in registers is used, the loop runs N iterations at a time.
// It stands after build_loops, which says what belongs to whom, and before guard_tails and partition_tails, for which the
// prologue, the steady loop and the epilogue are loops like any other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/passes/passes.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

constexpr int64_t max_resting = 256;

using Wider = std::map<const TensorNode*, Tensor>;  // a tensor and the one that holds it many times, by dimensions in front

std::vector<Expr> with_front(std::vector<Expr> front, const std::vector<Expr>& indices) {
  front.insert(front.end(), indices.begin(), indices.end());
  return front;
}

// `s` with element [front…, …] of the wider tensors in the place of element […].
Expr widened(const Expr& e, const Wider& wider, const std::vector<Expr>& front) {
  const Expr mapped = map_children(e, [&](const Expr& child) { return widened(child, wider, front); });
  const auto* load = as<LoadNode>(mapped);
  const auto found = load ? wider.find(load->tensor.get()) : wider.end();
  return found == wider.end() ? mapped : make_load(found->second, with_front(front, load->indices));
}

Stmt widened(const Stmt& s, const Wider& wider, const std::vector<Expr>& front) {
  const Stmt mapped = map_children(
      s, [&](const Expr& e) { return widened(e, wider, front); }, [&](const Stmt& child) { return widened(child, wider, front); });
  const auto* store = as<StoreNode>(mapped);
  const auto found = store ? wider.find(store->tensor.get()) : wider.end();
  return found == wider.end() ? mapped : make_store(found->second, with_front(front, store->indices), store->value);
}

bool reads_one_of(const Stmt& s, const std::set<const TensorNode*>& tensors) {
  bool found = false;
  walk(
      s, [](const Stmt&) { return true; },
      [&](const Expr& e) {
        const auto* load = as<LoadNode>(e);
        found |= load && tensors.count(load->tensor.get());
        return !found;
      });
  return found;
}

bool writes_one_of(const Stmt& s, const std::set<const TensorNode*>& tensors) {
  bool found = false;
  walk(
      s,
      [&](const Stmt& x) {
        const auto* store = as<StoreNode>(x);
        found |= store && tensors.count(store->tensor.get());
        return !found;
      },
      [](const Expr&) { return false; });
  return found;
}

// A copy cut in two: loads into registers, and stores of what they brought.
struct Cut {
  Stmt loads, stores;
  std::vector<Tensor> resting;
};

class Cutter {
 public:
  explicit Cutter(const std::set<const TensorNode*>& staged) : staged_(staged) {}

  // nullopt: not a nest around one store of what is read from global memory, or too much of it.
  std::optional<Cut> run(const Stmt& s) {
    if (!descend(s) || reads_one_of(loads_, staged_) || resting_.empty()) return std::nullopt;
    int64_t bytes = 0;
    for (const Tensor& t : resting_) {
      int64_t own = t.type().bytes();
      for (size_t d = 0; d < t.shape().size(); ++d)
        if (d >= loops_.size() || !is_thread(loops_[d]->loop))
          if (__builtin_mul_overflow(own, *as_constant(t.shape()[d]), &own)) return std::nullopt;
      bytes = std::min(bytes + std::min(own, max_resting + 1), max_resting + 1);
    }
    if (bytes > max_resting) return std::nullopt;
    return Cut{with_new_loops(written_out(rebuild(s, loads_))), with_new_loops(written_out(rebuild(s, stores_))), resting_};
  }

 private:
  bool descend(const Stmt& s) {
    if (const auto* l = as<LoopNode>(s)) {
      if (is_block(l->loop) || !is_constant(l->begin, 0) || !as_constant(l->end)) return false;
      loops_.push_back(l);
      return descend(l->body);
    }
    if (const auto* b = as<BranchNode>(s)) return !b->else_body && !has_load(b->condition) && descend(b->then_body);
    if (const auto* a = as<AllocNode>(s)) return a->scope == Scope::registers && cut_at(*a);
    const auto* store = as<StoreNode>(s);
    if (!store) return false;
    for (const Expr& i : store->indices)
      if (has_load(i)) return false;
    std::vector<Stmt> loads;
    stores_ = make_store(store->tensor, store->indices, rest(*store, store->value, loads));
    loads_ = make_block(std::move(loads));
    return true;
  }

  // The value with what is read from global memory in registers. What is read under a condition is one piece with it.
  Expr rest(const StoreNode& store, const Expr& e, std::vector<Stmt>& loads) {
    const auto* a = as<ApplyNode>(e);
    const bool lazy = a && (a->op == Op::select || a->op == Op::logical_and || a->op == Op::logical_or) && has_load(e);
    if (!lazy && e->kind != ExprKind::load) return map_children(e, [&](const Expr& child) { return rest(store, child, loads); });
    const std::string number = resting_.empty() ? "" : std::to_string(resting_.size());
    resting_.push_back(make_tensor(store.tensor.name() + "_ahead" + number, e.type(), front_shape()));
    loads.push_back(make_store(resting_.back(), front(), e));
    return make_load(resting_.back(), front());
  }

  // A stage in registers that the copy goes through: its values rest where they are, one set for each iteration around.
  bool cut_at(const AllocNode& a) {
    const auto* block = as<BlockNode>(a.body);
    if (!block) return false;
    std::vector<Stmt> loads = block->stmts, stores = {loads.back()};
    loads.pop_back();
    std::set<const TensorNode*> own = {a.tensor.get()};
    bool global = false;
    walk(
        stores[0], [](const Stmt&) { return true; },
        [&](const Expr& e) {
          const auto* load = as<LoadNode>(e);
          global |= load && !staged_.count(load->tensor.get());
          return true;
        });
    for (const Stmt& s : loads)
      if (!writes_one_of(s, own)) return false;
    if (global || writes_one_of(stores[0], own)) return false;
    resting_ = {make_tensor(a.tensor.name(), a.tensor.type(), with_front(front_shape(), a.tensor.shape()))};
    const Wider wider = {{a.tensor.get(), resting_[0]}};
    loads_ = widened(make_block(std::move(loads)), wider, front());
    stores_ = widened(stores[0], wider, front());
    return true;
  }

  std::vector<Expr> front() const {
    std::vector<Expr> variables;
    for (const LoopNode* l : loops_) variables.push_back(l->var);
    return variables;
  }
  std::vector<Expr> front_shape() const {
    std::vector<Expr> shape;
    for (const LoopNode* l : loops_) shape.push_back(l->end);
    return shape;
  }

  // The nest with another innermost statement.
  static Stmt rebuild(const Stmt& s, const Stmt& innermost) {
    if (const auto* l = as<LoopNode>(s)) return make_loop(l->loop, l->var, l->begin, l->end, rebuild(l->body, innermost));
    if (const auto* b = as<BranchNode>(s)) return make_branch(b->condition, rebuild(b->then_body, innermost));
    return innermost;
  }

  // Registers have no addresses, so loops over them are written out.
  static Stmt written_out(const Stmt& s) {
    const auto* l = as<LoopNode>(s);
    if (!l) return map_children(s, [](const Expr& e) { return e; }, [](const Stmt& child) { return written_out(child); });
    const bool serial = l->loop == LoopKind::serial && as_constant(l->end);
    return make_loop(serial ? LoopKind::unrolled : l->loop, l->var, l->begin, l->end, written_out(l->body));
  }

  const std::set<const TensorNode*>& staged_;
  std::vector<const LoopNode*> loops_;
  std::vector<Tensor> resting_;
  Stmt loads_, stores_;
};

// One pipelined loop. What belongs to iteration k + distance stands around what belongs to iteration k.
class Pipeline {
 public:
  Pipeline(Lowering& l, const Stage& host, const StageLoop& host_loop, const LoopNode& loop) : loop_(loop) {
    LATHE_CHECK(is_constant(loop.begin, 0), "a pipelined loop that does not begin at 0");
    std::set<const TensorNode*> attached, ahead;
    for (const Stage& s : l.stages)
      if (l.bounds.at(s.name).scope != Scope::global)
        for (const Tensor& t : l.bounds.at(s.name).local) staged_.insert(t.get());
    for (const Stage* child : l.attached(host, host_loop)) {
      for (const Tensor& t : l.bounds.at(child->name).local) {
        attached.insert(t.get());
        if (l.ahead(*child) > 0) ahead.insert(t.get());
      }
      distance_ = std::max(distance_, l.ahead(*child));
    }
    versions_ = distance_ + 1;
    std::vector<Stmt> stmts;
    take_apart(loop.body, attached, ahead, stmts);
    sort(stmts, ahead);
    for (const Stage* child : l.attached(host, host_loop))
      for (Tensor& t : l.bounds.at(child->name).stored)
        if (const auto wide = versioned_.find(t.get()); wide != versioned_.end()) t = wide->second;
  }

  Stmt run() const {
    std::vector<Stmt> parts;
    const Expr extent = loop_.end;
    for (int64_t d = 0; d < distance_; ++d)
      parts.push_back(make_branch(Expr(d) < extent, make_block({at(early_, d, d), at(late_, d, d)})));
    const Expr steady = simplify(extent - distance_);  // iterations that have one to stage
    const bool in_registers = std::any_of(versioned_.begin(), versioned_.end(), [&](const auto& v) { return scopes_.at(v.first) == Scope::registers; });
    add(parts, in_registers ? by_versions(steady) : one_by_one(steady));
    Stmt whole = make_block(std::move(parts));
    for (const AllocNode* a : moved_) {
      const auto wide = versioned_.find(a->tensor.get());
      whole = make_alloc(wide == versioned_.end() ? a->tensor : wide->second, a->scope, whole);
    }
    for (const Tensor& t : resting_) whole = make_alloc(t, Scope::registers, whole);
    return whole;
  }

 private:
  static void add(std::vector<Stmt>& to, const std::vector<Stmt>& from) { to.insert(to.end(), from.begin(), from.end()); }

  // The body's statements, without the allocations that stand among them. The memory of what runs ahead outlives an iteration.
  void take_apart(const Stmt& s, const std::set<const TensorNode*>& attached, const std::set<const TensorNode*>& ahead, std::vector<Stmt>& out) {
    if (const auto* a = as<AllocNode>(s); a && attached.count(a->tensor.get())) {
      (ahead.count(a->tensor.get()) ? moved_ : kept_).push_back(a);
      scopes_[a->tensor.get()] = a->scope;
      return take_apart(a->body, attached, ahead, out);
    }
    if (const auto* block = as<BlockNode>(s)) {
      for (const Stmt& child : block->stmts) take_apart(child, attached, ahead, out);
      return;
    }
    out.push_back(s);
  }

  std::string written_by(const Stmt& s) const {
    for (const AllocNode* a : moved_)
      if (writes_one_of(s, {a->tensor.get()})) return a->tensor.name();
    return "";
  }

  void sort(const std::vector<Stmt>& stmts, const std::set<const TensorNode*>& ahead) {
    std::set<const TensorNode*> late;
    for (const Stmt& s : stmts) {
      if (!writes_one_of(s, ahead)) {
        own_.push_back(s);
        continue;
      }
      for (const AllocNode* a : kept_)  // perhaps by a stage that is computed inside it
        if (reads_one_of(s, {a->tensor.get()}))
          throw Error("double_buffer " + written_by(s), fmt::format("{}, which is computed in the same loop but not ahead, is read for it", a->tensor.name()),
                      fmt::format("double_buffer {} as well, or pipeline the loop", a->tensor.name()));
      bool shared = reads_one_of(s, late);
      for (const TensorNode* t : ahead) shared |= scopes_.at(t) == Scope::shared && writes_one_of(s, {t});
      if (!shared) {
        early_.push_back(s);
        continue;
      }
      for (const TensorNode* t : ahead)
        if (writes_one_of(s, {t})) late.insert(t);
      if (const auto cut = Cutter(staged_).run(s)) {
        early_.push_back(cut->loads);
        late_.push_back(cut->stores);
        resting_.insert(resting_.end(), cut->resting.begin(), cut->resting.end());
      } else {
        late_.push_back(s);
      }
    }
    for (const AllocNode* a : moved_) {
      bool used = false;
      for (const Stmt& s : own_) used |= reads_one_of(s, {a->tensor.get()});
      if (!used) continue;  // only others ahead read it, in the same iteration
      std::vector<Expr> shape = a->tensor.shape();
      shape.insert(shape.begin(), Expr(versions_));
      versioned_[a->tensor.get()] = make_tensor(a->tensor.name(), a->tensor.type(), std::move(shape));
    }
  }

  Stmt at(const std::vector<Stmt>& stmts, const Expr& k, const Expr& slot) const {
    const Stmt s = with_new_loops(substitute(make_block(stmts), {{loop_.var.node(), k}}));
    return widened(s, versioned_, {simplify(slot % versions_)});
  }

  // `slot` is k, or a number that leaves the same remainder.
  Stmt use(const Expr& k, const Expr& slot) const {
    Stmt s = at(own_, k, slot);
    for (const AllocNode* a : kept_) s = make_alloc(a->tensor, a->scope, s);
    return s;
  }

  Stmt iteration(const Expr& k, const Expr& slot, const Expr& stages = true_()) const {
    const Expr next = simplify(k + distance_), next_slot = simplify(slot + distance_);
    return make_block({make_branch(stages, at(early_, next, next_slot)), use(k, slot), make_branch(stages, at(late_, next, next_slot))});
  }

  std::vector<Stmt> one_by_one(const Expr& steady) const {
    std::vector<Stmt> parts;
    const int64_t* count = as_constant(steady);
    const Var k(loop_.var.name());
    if (!count || *count > 0) parts.push_back(make_loop(LoopKind::serial, k, 0, steady, iteration(k, k)));
    const Var e(loop_.var.name());
    if (distance_ == 1) {
      parts.push_back(make_branch(steady >= 0, use(steady, steady)));
    } else if (count) {
      parts.push_back(make_loop(LoopKind::serial, e, std::max<int64_t>(*count, 0), loop_.end, use(e, e)));
    } else {
      const Expr last = simplify(steady + e);
      parts.push_back(make_loop(LoopKind::serial, e, 0, distance_, make_branch(last >= 0, use(last, last))));
    }
    return parts;
  }

  // As many iterations at a time as there are versions, so that each is named by a number.
  std::vector<Stmt> by_versions(const Expr& steady) const {
    std::vector<Stmt> parts;
    const int64_t* count = as_constant(steady);
    const Expr rounds = simplify(max(steady, Expr(0)) / versions_);
    if (!is_constant(rounds, 0)) {
      const Var round(loop_.var.name());
      std::vector<Stmt> body;
      for (int64_t v = 0; v < versions_; ++v) body.push_back(iteration(simplify(round * versions_ + v), v));
      parts.push_back(make_loop(LoopKind::serial, round, 0, rounds, make_block(std::move(body))));
    }
    const int64_t most = count ? *count + distance_ - *as_constant(rounds) * versions_ : versions_ - 1 + distance_;
    for (int64_t j = 0; j < most; ++j) {
      const Expr k = simplify(rounds * versions_ + j);
      parts.push_back(make_branch(k < loop_.end, iteration(k, j, k < steady)));
    }
    return parts;
  }

  const LoopNode& loop_;
  int64_t distance_ = 0, versions_ = 1;
  std::set<const TensorNode*> staged_;                // all that lives in LDS or registers
  std::vector<const AllocNode*> moved_, kept_;
  std::map<const TensorNode*, Scope> scopes_;
  std::vector<Stmt> early_, own_, late_;
  std::vector<Tensor> resting_;
  Wider versioned_;
};

class Pipelines {
 public:
  explicit Pipelines(Lowering& l) : l_(l) {
    for (const Stage& s : l.stages) {
      for (const StageLoop& loop : s.loops) {
        if (loop.stages > 1 && l.attached(s, loop).empty())
          throw Error(fmt::format("pipeline {}.{} stages {}", s.name, loop.name, loop.stages), "nothing is computed at that loop",
                      "compute_at what it reads there first: a tile that is used in one iteration");
        for (const Stage* child : l.attached(s, loop))
          if (l.ahead(*child) > 0) {
            loops_[loop.var.node()] = {&s, &loop};
            check(*child, loop);
          }
      }
    }
  }

  Stmt run(const Stmt& s) const {
    const Stmt inner = map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return run(child); });
    const auto* l = as<LoopNode>(inner);
    const auto found = l ? loops_.find(l->var.node()) : loops_.end();
    return found == loops_.end() ? inner : Pipeline(l_, *found->second.first, *found->second.second, *l).run();
  }

 private:
  void check(const Stage& s, const StageLoop& loop) const {
    const std::string where = s.double_buffered ? "double_buffer " + s.name : fmt::format("pipeline {}.{} stages {}", s.attach_stage, loop.name, loop.stages);
    if (loop.kind != LoopKind::serial)
      throw Error(where, fmt::format("{}.{} is {}", s.attach_stage, loop.name, to_string(loop.kind)),
                  "compute it at a loop whose iterations run one after the other");
    if (!s.store_stage.empty())
      throw Error(where, fmt::format("{} is stored at {}.{}: it keeps the values of earlier iterations", s.name, s.store_stage, s.store_loop),
                  "use one of the two steps");
  }

  Lowering& l_;
  std::map<const VarNode*, std::pair<const Stage*, const StageLoop*>> loops_;
};

}  // namespace

void pipeline_loops(Lowering& l) { l.function.body = Pipelines(l).run(l.function.body); }

}  // namespace lathe
