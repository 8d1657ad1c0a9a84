// insert_barriers: a barrier between every two accesses to LDS that work-items of one group could make in either order.
//
//   before  A_s[tx] = A[…]            C[…] = A_s[63 - tx]
//   after   A_s[tx] = A[…]  barrier   C[…] = A_s[63 - tx]
//
// Statements are read in order with the set of LDS accesses since the last barrier; before a statement whose access
// conflicts with one of them a barrier is put, at the level of the block that holds both. isl decides whether two
// accesses conflict: is there a pair of different work-items that reach one element, at least one of them writing?
// A loop's body is read twice, since its end meets its beginning. Branches on the work-item hold no barrier: their
// accesses count for the statement as a whole. It stands after split_kernels, and before anything that splits
// accesses into more of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/passes/passes.h"
#include "ir/simplify.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

struct Access {
  Tensor tensor;
  std::vector<Expr> indices;
  bool write;
  std::vector<Expr> known;            // what holds where it happens: loop ranges, branch conditions
  std::vector<const VarNode*> inner;  // loops around it inside the kernel: each work-item runs them by itself
  int site;                           // its number: the same place in the kernel, however often it is read
};

class Barriers {
 public:
  explicit Barriers(const Kernel& k) : kernel_(k), work_items_(k.block[0] * k.block[1] * k.block[2]) {}

  Stmt run() {
    if (work_items_ == 1) return kernel_.body;
    std::vector<Access> pending;
    Known known;
    for (int d = 0; d < 3; ++d)
      known = with(known, kernel_.thread_index[d] >= 0 && kernel_.thread_index[d] < kernel_.block[d], kernel_.thread_index[d].get());
    return place(kernel_.body, known, {}, pending);
  }

 private:
  using Loops = std::vector<const VarNode*>;
  using Path = std::vector<const void*>;
  struct Known {
    std::vector<Expr> conditions;
    Path path;  // the nodes that the conditions come from, an else as null before its condition
  };

  static Known with(Known known, const Expr& condition, const void* node, bool holds = true) {
    for (const Expr& c : conjuncts(condition)) known.conditions.push_back(c);
    if (!holds) known.path.push_back(nullptr);
    known.path.push_back(node);
    return known;
  }
  static Known within(const Known& known, const LoopNode& l) { return with(known, l.begin <= l.var && l.var < l.end, l.var.get()); }
  static Known if_true(const Known& known, const Expr& condition) { return with(known, condition, condition.get()); }
  static Known if_false(const Known& known, const Expr& condition) { return with(known, !condition, condition.get(), false); }

  Access access(const Tensor& tensor, const std::vector<Expr>& indices, bool write, const Known& known, const Loops& loops) const {
    Path key = known.path;
    key.push_back(tensor.get());
    key.push_back(write ? tensor.get() : nullptr);
    for (const Expr& i : indices) key.push_back(i.get());
    const int site = sites_.emplace(std::move(key), static_cast<int>(sites_.size())).first->second;
    return {tensor, indices, write, known.conditions, loops, site};
  }

  // Each place once: what is pending at a loop's end is pending at its beginning too, at every depth.
  static void add(std::vector<Access>& to, const std::vector<Access>& from) {
    std::set<int> present;
    for (const Access& a : to) present.insert(a.site);
    for (const Access& a : from)
      if (present.insert(a.site).second) to.push_back(a);
  }

  // ---- accesses of a statement, with what is known where each happens
  void collect(const Expr& e, const Known& known, const Loops& loops, std::vector<Access>& out) const {
    if (const auto* a = as<ApplyNode>(e); a && a->op == Op::select && has_load(e)) {
      const Known holds = if_true(known, a->args[0]), fails = if_false(known, a->args[0]);
      collect(a->args[0], known, loops, out);
      collect(a->args[1], holds, loops, out);
      return collect(a->args[2], fails, loops, out);
    }
    if (const auto* load = as<LoadNode>(e); load && is_shared(*load->tensor))
      out.push_back(access(Tensor(load->tensor), load->indices, false, known, loops));
    for_each_child(e, [&](const Expr& child) { collect(child, known, loops, out); });
  }

  void collect(const Stmt& s, const Known& known, Loops loops, std::vector<Access>& out) {
    if (const auto* l = as<LoopNode>(s)) {
      const Known inside = within(known, *l);
      loops.push_back(l->var.node());
      return collect(l->body, inside, loops, out);
    }
    if (const auto* b = as<BranchNode>(s)) {
      const Known holds = if_true(known, b->condition), fails = if_false(known, b->condition);
      collect(b->condition, known, loops, out);
      collect(b->then_body, holds, loops, out);
      if (b->else_body) collect(b->else_body, fails, loops, out);
      return;
    }
    if (const auto* a = as<AllocNode>(s)) {
      if (a->scope == Scope::shared) shared_.insert(a->tensor.get());
      return collect(a->body, known, loops, out);
    }
    if (const auto* store = as<StoreNode>(s)) {
      for (const Expr& i : store->indices) collect(i, known, loops, out);
      collect(store->value, known, loops, out);
      if (is_shared(*store->tensor)) out.push_back(access(store->tensor, store->indices, true, known, loops));
      return;
    }
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { collect(child, known, loops, out); });
  }

  bool is_shared(const TensorNode& t) const { return shared_.count(&t) != 0; }

  // ---- do two accesses meet in one element, made by different work-items?
  bool conflict(const Access& a, const Access& b) const {
    if (a.tensor.get() != b.tensor.get() || !(a.write || b.write)) return false;
    auto [known, fresh] = conflicts_.emplace(std::minmax(a.site, b.site), false);
    if (fresh) known->second = find_conflict(a, b);
    return known->second;
  }

  bool find_conflict(const Access& a, const Access& b) const {
    // The second work-item has its own thread indices and its own values of the loops around its access.
    const Substitution& second = renaming(b);
    Facts both;
    assume_relevant(both, a.known, a.indices, {});
    assume_relevant(both, b.known, b.indices, second);
    for (size_t i = 0; i < a.indices.size(); ++i) both.assume(make_cast(i64, a.indices[i]) == make_cast(i64, substitute(b.indices[i], second)));
    if (both.impossible()) return false;
    const Expr one = work_item(), other = substitute(one, second);
    for (const Expr& order : {one < other, one > other}) {
      Facts apart = both;
      apart.assume(order);
      if (!apart.impossible()) return true;
    }
    return false;
  }

  // Of what is known, the part about the variables of `indices` and the work-item: the rest would only make isl's
  // question larger. Fewer facts can only mean more barriers.
  void assume_relevant(Facts& facts, const std::vector<Expr>& known, const std::vector<Expr>& indices, const Substitution& renamed) const {
    std::set<const VarNode*> relevant;
    for (const Var& t : kernel_.thread_index) relevant.insert(t.node());
    for (const Expr& e : indices)
      uses_any(e, [&](const VarNode* v) {
        relevant.insert(v);
        return false;
      });
    for (const Expr& condition : known)
      if (!uses_any(condition, [&](const VarNode* v) { return relevant.count(v) == 0; })) facts.assume(substitute(condition, renamed));
  }

  // The work-item's number in its group.
  Expr work_item() const {
    const auto& t = kernel_.thread_index;
    return t[0] + t[1] * kernel_.block[0] + t[2] * (kernel_.block[0] * kernel_.block[1]);
  }

  const Substitution& renaming(const Access& b) const {
    for (int d = 0; d < 3; ++d) second(kernel_.thread_index[d].node());
    for (const VarNode* v : b.inner) second(v);
    return second_;
  }
  void second(const VarNode* v) const {
    if (!second_.count(v)) second_.emplace(v, Var(v->name + "_other"));
  }

  bool conflicts(const std::vector<Access>& before, const std::vector<Access>& now) const {
    for (const Access& a : before)
      for (const Access& b : now)
        if (conflict(a, b)) return true;
    return false;
  }

  // ---- places
  bool diverges(const Expr& e) const {
    return has_load(e) || uses_any(e, [&](const VarNode* v) {
             for (int d = 0; d < 3; ++d)
               if (kernel_.thread_index[d].node() == v) return true;
             return false;
           });
  }

  // Could barriers be put inside it? All work-items must then run it alike.
  bool is_uniform(const Stmt& s) const {
    if (const auto* l = as<LoopNode>(s)) return !diverges(l->begin) && !diverges(l->end);
    if (const auto* b = as<BranchNode>(s)) return !diverges(b->condition);
    return s->kind == StmtKind::alloc || s->kind == StmtKind::block;
  }

  // Rewrites `s`. `pending`: in, the accesses since the last barrier before it; out, those since the last one in it.
  Stmt place(const Stmt& s, const Known& known, Loops loops, std::vector<Access>& pending) {
    if (const auto* a = as<AllocNode>(s)) {
      if (a->scope == Scope::shared) shared_.insert(a->tensor.get());
      return make_alloc(a->tensor, a->scope, place(a->body, known, loops, pending));
    }
    if (const auto* block = as<BlockNode>(s)) {
      std::vector<Stmt> stmts;
      for (const Stmt& child : block->stmts) {
        Stmt placed = place(child, known, loops, pending);
        if (barrier_before_) stmts.push_back(make_barrier());
        barrier_before_ = false;
        stmts.push_back(placed);
      }
      return make_block(std::move(stmts));
    }
    std::vector<Access> own;
    collect(s, known, loops, own);
    if (own.empty()) return s;
    // Before the whole statement, not somewhere inside it: a barrier in a loop would run every time.
    if (conflicts(pending, own)) {
      barrier_before_ = true;
      pending.clear();
    }
    // A statement that reads nothing it writes needs no barrier inside: the copy into a tile, the sums over it.
    const bool reads_own = std::any_of(own.begin(), own.end(), [&](const Access& a) {
      return a.write && std::any_of(own.begin(), own.end(), [&](const Access& b) { return !b.write && b.tensor.same_as(a.tensor); });
    });
    if (reads_own && is_uniform(s)) {
      const bool barrier = std::exchange(barrier_before_, false);
      Stmt placed = place_inside(s, known, loops, pending);
      barrier_before_ = barrier;
      return placed;
    }
    LATHE_CHECK(!races(own), "work-items race within one statement:\n" + to_string(s));
    add(pending, own);
    return s;
  }

  // A loop or a branch that all work-items run alike.
  Stmt place_inside(const Stmt& s, const Known& known, const Loops& loops, std::vector<Access>& pending) {
    if (const auto* l = as<LoopNode>(s)) return place_loop(*l, known, loops, pending);
    const auto* b = as<BranchNode>(s);
    const Known holds = if_true(known, b->condition), fails = if_false(known, b->condition);
    std::vector<Access> in_then = pending, in_else = pending;
    Stmt then_body = own_block(b->then_body, holds, loops, in_then), else_body;
    if (b->else_body) else_body = own_block(b->else_body, fails, loops, in_else);
    pending = std::move(in_then);
    add(pending, in_else);
    return make_branch(b->condition, then_body, else_body);
  }

  // A statement without a place for a barrier reads no element that another work-item writes in it. (Work-items that
  // write one element in it write the same value: a stage's region may be covered more than once.)
  bool races(const std::vector<Access>& own) const {
    for (const Access& a : own)
      for (const Access& b : own)
        if (a.write && !b.write && conflict(a, b)) return true;
    return false;
  }

  // A statement that is not a block still needs a place for a barrier before it.
  Stmt own_block(const Stmt& s, const Known& known, const Loops& loops, std::vector<Access>& pending) {
    Stmt placed = place(s, known, loops, pending);
    const bool barrier = barrier_before_;
    barrier_before_ = false;
    return barrier ? make_block({make_barrier(), placed}) : placed;
  }

  Stmt place_loop(const LoopNode& l, const Known& known, Loops loops, std::vector<Access>& pending) {
    const Known inside = within(known, l);
    loops.push_back(l.var.node());
    // First as if it ran once, to learn what is pending at its end; then with that at its beginning as well. While an
    // outer loop learns, any access of the body may be pending at the end: learning at every depth would take twice as
    // long for each.
    std::vector<Access> at_end = pending;
    if (learning_) {
      collect(l.body, inside, loops, at_end);
    } else {
      learning_ = true;
      own_block(l.body, inside, loops, at_end);
      learning_ = false;
    }
    std::vector<Access> at_start = pending;
    add(at_start, at_end);
    Stmt body = own_block(l.body, inside, loops, at_start);
    // A barrier at the head of the body serves every iteration; what ran before the loop is then settled too. A loop
    // that may not run at all leaves what was pending before it.
    if (!always_runs(l, known)) add(at_start, pending);
    pending = std::move(at_start);
    return make_loop(l.loop, l.var, l.begin, l.end, body);
  }

  bool always_runs(const LoopNode& l, const Known& known) const {
    Facts facts;
    assume_relevant(facts, known.conditions, {l.begin, l.end}, {});
    return facts.prove(l.begin < l.end);
  }

  const Kernel& kernel_;
  int64_t work_items_;
  std::set<const TensorNode*> shared_;
  mutable Substitution second_;
  mutable std::map<Path, int> sites_;
  mutable std::map<std::pair<int, int>, bool> conflicts_;
  bool barrier_before_ = false;
  bool learning_ = false;
};

}  // namespace

void insert_barriers(Lowering& l) {
  for (Kernel& k : l.function.kernels) k.body = Barriers(k).run();
}

}  // namespace lathe
