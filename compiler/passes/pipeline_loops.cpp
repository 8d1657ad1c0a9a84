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
// registers, one for each element that a work-item copies; a copy of more than `max_resting` bytes a work-item is not cut.
// A producer in registers that others ahead read (cache_read into register) is such a load by itself.
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

using Versions = std::map<const TensorNode*, Tensor>;  // a tensor and the one that holds all its versions

// `s` with slot `slot` of each versioned tensor in the place of the tensor.
Expr in_slot(const Expr& e, const Versions& versions, const Expr& slot) {
  const Expr mapped = map_children(e, [&](const Expr& child) { return in_slot(child, versions, slot); });
  const auto* load = as<LoadNode>(mapped);
  const auto found = load ? versions.find(load->tensor.get()) : versions.end();
  if (found == versions.end()) return mapped;
  std::vector<Expr> indices = {slot};
  indices.insert(indices.end(), load->indices.begin(), load->indices.end());
  return make_load(found->second, std::move(indices));
}

Stmt in_slot(const Stmt& s, const Versions& versions, const Expr& slot) {
  const Stmt mapped = map_children(
      s, [&](const Expr& e) { return in_slot(e, versions, slot); }, [&](const Stmt& child) { return in_slot(child, versions, slot); });
  const auto* store = as<StoreNode>(mapped);
  const auto found = store ? versions.find(store->tensor.get()) : versions.end();
  if (found == versions.end()) return mapped;
  std::vector<Expr> indices = {slot};
  indices.insert(indices.end(), store->indices.begin(), store->indices.end());
  return make_store(found->second, std::move(indices), store->value);
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
  // Which tensors are global is told by what they are not.
  explicit Cutter(const std::set<const TensorNode*>& staged) : staged_(staged) {}

  // nullopt: not a nest around one store of what is read from global memory, or too much of it.
  std::optional<Cut> run(const Stmt& s) {
    if (!descend(s)) return std::nullopt;
    int64_t bytes = 0;
    for (const Tensor& t : resting_) bytes += t.type().bytes();
    for (const LoopNode* l : loops_)
      if (!is_thread(l->loop) && __builtin_mul_overflow(bytes, *as_constant(l->end), &bytes)) return std::nullopt;
    if (resting_.empty() || bytes > max_resting) return std::nullopt;
    return Cut{with_new_loops(rebuild(s, loads())), with_new_loops(rebuild(s, make_store(store_->tensor, store_->indices, value_))), resting_};
  }

 private:
  bool descend(const Stmt& s) {
    if (const auto* l = as<LoopNode>(s)) {
      if (is_block(l->loop) || !is_constant(l->begin, 0) || !as_constant(l->end)) return false;
      loops_.push_back(l);
      return descend(l->body);
    }
    if (const auto* b = as<BranchNode>(s)) return !b->else_body && !has_load(b->condition) && descend(b->then_body);
    store_ = as<StoreNode>(s);
    if (!store_) return false;
    for (const Expr& i : store_->indices)
      if (has_load(i)) return false;
    value_ = rest(store_->value);
    return !reads_staged_;
  }

  // The value with what is read from global memory in registers. What is read under a condition is one piece with it.
  Expr rest(const Expr& e) {
    const auto* load = as<LoadNode>(e);
    const auto* a = as<ApplyNode>(e);
    const bool lazy = a && (a->op == Op::select || a->op == Op::logical_and || a->op == Op::logical_or) && has_load(e);
    if (!load && !lazy) return map_children(e, [&](const Expr& child) { return rest(child); });
    walk(e, [&](const Expr& x) {
      const auto* inside = as<LoadNode>(x);
      reads_staged_ |= inside && staged_.count(inside->tensor.get());
      return true;
    });
    std::vector<Expr> shape, indices;
    for (const LoopNode* l : loops_) {
      shape.push_back(l->end);
      indices.push_back(l->var);
    }
    const std::string number = resting_.empty() ? "" : std::to_string(resting_.size());
    resting_.push_back(make_tensor(store_->tensor.name() + "_ahead" + number, e.type(), std::move(shape)));
    loads_.push_back(make_store(resting_.back(), indices, e));
    return make_load(resting_.back(), std::move(indices));
  }

  Stmt loads() const { return make_block(loads_); }

  // The nest with another innermost statement. Registers have no addresses, so its loops are written out.
  static Stmt rebuild(const Stmt& s, const Stmt& innermost) {
    if (const auto* l = as<LoopNode>(s))
      return make_loop(l->loop == LoopKind::serial ? LoopKind::unrolled : l->loop, l->var, l->begin, l->end, rebuild(l->body, innermost));
    if (const auto* b = as<BranchNode>(s)) return make_branch(b->condition, rebuild(b->then_body, innermost));
    return innermost;
  }

  const std::set<const TensorNode*>& staged_;
  std::vector<const LoopNode*> loops_;
  const StoreNode* store_ = nullptr;
  Expr value_;
  std::vector<Tensor> resting_;
  std::vector<Stmt> loads_;
  bool reads_staged_ = false;
};

// One pipelined loop. What belongs to iteration k + distance stands around what belongs to iteration k.
class Pipeline {
 public:
  Pipeline(const Lowering& l, const Stage& host, const StageLoop& host_loop, const LoopNode& loop) : loop_(loop) {
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

  void sort(const std::vector<Stmt>& stmts, const std::set<const TensorNode*>& ahead) {
    std::set<const TensorNode*> late;
    for (const Stmt& s : stmts) {
      if (!writes_one_of(s, ahead)) {
        own_.push_back(s);
        continue;
      }
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
    return in_slot(s, versioned_, simplify(slot % versions_));
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
  Versions versioned_;
};

class Pipelines {
 public:
  explicit Pipelines(const Lowering& l) : l_(l) {
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
    for (const Stage* other : l_.attached(l_.stage(s.attach_stage), loop)) {
      if (l_.ahead(*other) > 0) continue;
      for (const Tensor& t : reads_of(s))
        for (const Tensor& o : other->outputs)
          if (t.same_as(o))
            throw Error(where, fmt::format("{} reads {}, which is computed in the same loop but not ahead", s.name, other->name),
                        fmt::format("double_buffer {} as well, or pipeline {}.{}", other->name, s.attach_stage, loop.name));
    }
  }

  const Lowering& l_;
  std::map<const VarNode*, std::pair<const Stage*, const StageLoop*>> loops_;
};

}  // namespace

void pipeline_loops(Lowering& l) { l.function.body = Pipelines(l).run(l.function.body); }

}  // namespace lathe
