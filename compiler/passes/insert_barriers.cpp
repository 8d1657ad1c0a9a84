// insert_barriers: a barrier between every two accesses to LDS that work-items of one group could make in either order.
//
//   before  A_s[tx] = A[…]            C[…] = A_s[63 - tx]
//   after   A_s[tx] = A[…]  barrier   C[…] = A_s[63 - tx]
//
//   before  for k { A_s[(k + 1) % 2, tx] = A[…]            C[…] += A_s[k % 2, 63 - tx] }
//   after   for k { barrier  A_s[(k + 1) % 2, tx] = A[…]   C[…] += A_s[k % 2, 63 - tx] }
//
// Statements are read from the inside out. Of each, two sets of LDS accesses matter to those around it: what may happen
// before its first barrier, and what after its last one. In a block, a barrier is put before a statement whose first
// accesses conflict with the last ones before it; in a loop, at the head of the body, when the last accesses of an
// iteration conflict with the first ones of a later one. isl decides whether two accesses conflict: is there a pair of
// different work-items that reach one element, at least one of them writing? Within one iteration both have the same
// values of the loops around them, and from one iteration to the next the loop's variable is one more: that is what tells
// the versions of a pipelined tile apart. Branches on the work-item hold no barrier: their accesses count for the
// statement as a whole. It stands after split_kernels, and before anything that splits accesses into more of them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/passes/passes.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

struct Access {
  Tensor tensor;
  std::vector<Expr> indices;
  bool write;
  std::vector<Expr> known;            // what holds where it happens: loop ranges, branch conditions
  std::vector<const VarNode*> inner;  // loops around it that both accesses of a pair run by themselves
  bool any_work_item = false;         // LLVM may let it run where the branch around it is not taken
};
using Accesses = std::vector<Access>;

// A statement with its barriers, as those around it see it.
struct Placed {
  Stmt stmt;
  Accesses first, last;          // that may happen before its first barrier, and after its last one
  bool always_has_barrier = false;
};

// From one iteration of a loop to a later one.
struct Carried {
  const LoopNode* loop;
  bool next;  // to the very next one
};

class Barriers {
 public:
  explicit Barriers(const Kernel& k) : kernel_(k), work_items_(k.block[0] * k.block[1] * k.block[2]) {}

  Stmt run() {
    if (work_items_ == 1) return kernel_.body;
    std::vector<Expr> known;
    for (int d = 0; d < 3; ++d) known = with(known, kernel_.thread_index[d] >= 0 && kernel_.thread_index[d] < kernel_.block[d]);
    outside_ = known;
    return place(kernel_.body, known).stmt;
  }

 private:
  using Known = std::vector<Expr>;
  using Loops = std::vector<const VarNode*>;

  static Known with(Known known, const Expr& condition) {
    for (const Expr& c : conjuncts(condition)) known.push_back(c);
    return known;
  }
  static Known within(const Known& known, const LoopNode& l) { return with(known, l.begin <= l.var && l.var < l.end); }

  static void add(Accesses& to, const Accesses& from) { to.insert(to.end(), from.begin(), from.end()); }

  // ---- accesses of a statement, with what is known where each happens
  void collect(const Expr& e, const Known& known, const Loops& loops, Accesses& out) {
    if (const auto* a = as<ApplyNode>(e); a && a->op == Op::select && has_load(e)) {
      collect(a->args[0], known, loops, out);
      collect(a->args[1], with(known, a->args[0]), loops, out);
      return collect(a->args[2], with(known, !a->args[0]), loops, out);
    }
    if (const auto* load = as<LoadNode>(e); load && is_shared(*load->tensor)) {
      // A read at a constant place cannot fault: LLVM takes it out of branches, so whoever passes by may make it.
      const bool any = std::all_of(load->indices.begin(), load->indices.end(), [](const Expr& i) { return as_constant(i) != nullptr; });
      out.push_back({Tensor(load->tensor), load->indices, false, any ? outside_ : known, loops, any});
    }
    for_each_child(e, [&](const Expr& child) { collect(child, known, loops, out); });
  }

  void collect(const Stmt& s, const Known& known, Loops loops, Accesses& out) {
    if (const auto* l = as<LoopNode>(s)) {
      loops.push_back(l->var.node());
      return collect(l->body, within(known, *l), loops, out);
    }
    if (const auto* b = as<BranchNode>(s)) {
      collect(b->condition, known, loops, out);
      collect(b->then_body, with(known, b->condition), loops, out);
      if (b->else_body) collect(b->else_body, with(known, !b->condition), loops, out);
      return;
    }
    if (const auto* a = as<AllocNode>(s)) {
      if (a->scope == Scope::shared) shared_.insert(a->tensor.get());
      return collect(a->body, known, loops, out);
    }
    if (const auto* store = as<StoreNode>(s)) {
      for (const Expr& i : store->indices) collect(i, known, loops, out);
      collect(store->value, known, loops, out);
      if (is_shared(*store->tensor)) out.push_back({store->tensor, store->indices, true, known, loops});
      return;
    }
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { collect(child, known, loops, out); });
  }

  bool is_shared(const TensorNode& t) const { return shared_.count(&t) != 0; }

  // ---- do two accesses meet in one element, made by different work-items?
  bool conflicts(const Accesses& before, const Accesses& now, const Carried* carried = nullptr) {
    for (const Access& a : before)
      for (const Access& b : now)
        if (conflict(a, b, carried)) return true;
    return false;
  }

  bool conflict(const Access& a, const Access& b, const Carried* carried) {
    if (a.tensor.get() != b.tensor.get() || !(a.write || b.write)) return false;
    // The second work-item has its own thread indices and its own values of the loops that only its access is in.
    Substitution first, second;
    for (const Var& t : kernel_.thread_index) second.emplace(t.node(), renamed(t.node()));
    for (const VarNode* v : b.inner) second.emplace(v, renamed(v));
    Facts both;
    if (carried) {
      const Var& now = carried->loop->var;
      const Var before = renamed(now.node());
      first.emplace(now.node(), before);
      both.assume(carried->next ? before == now - 1 : before < now);
    }
    assume_relevant(both, a.known, a.indices, first);
    assume_relevant(both, b.known, b.indices, second);
    for (size_t i = 0; i < a.indices.size(); ++i)
      both.assume(make_cast(i64, substitute(a.indices[i], first)) == make_cast(i64, substitute(b.indices[i], second)));
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
  void assume_relevant(Facts& facts, const std::vector<Expr>& known, const std::vector<Expr>& indices, const Substitution& renaming) const {
    std::set<const VarNode*> relevant;
    for (const Var& t : kernel_.thread_index) relevant.insert(t.node());
    for (const Expr& e : indices)
      uses_any(e, [&](const VarNode* v) {
        relevant.insert(v);
        return false;
      });
    for (const Expr& condition : known)
      if (!uses_any(condition, [&](const VarNode* v) { return relevant.count(v) == 0; })) facts.assume(substitute(condition, renaming));
  }

  // The work-item's number in its group.
  Expr work_item() const {
    const auto& t = kernel_.thread_index;
    return t[0] + t[1] * kernel_.block[0] + t[2] * (kernel_.block[0] * kernel_.block[1]);
  }

  Var renamed(const VarNode* v) {
    auto [found, fresh] = renamed_.emplace(v, Var());
    if (fresh) found->second = Var(v->name + "_other");
    return found->second;
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

  Placed place(const Stmt& s, const Known& known) {
    if (const auto* a = as<AllocNode>(s)) {
      if (a->scope == Scope::shared) shared_.insert(a->tensor.get());
      Placed p = place(a->body, known);
      p.stmt = make_alloc(a->tensor, a->scope, p.stmt);
      return p;
    }
    if (const auto* block = as<BlockNode>(s)) return place_block(*block, known);
    Accesses own;
    collect(s, known, {}, own);
    // A statement that reads nothing it writes needs no barrier inside: the copy into a tile, the sums over it.
    const bool reads_own = std::any_of(own.begin(), own.end(), [&](const Access& a) {
      return a.write && std::any_of(own.begin(), own.end(), [&](const Access& b) { return !b.write && b.tensor.same_as(a.tensor); });
    });
    if (reads_own && is_uniform(s)) {
      if (const auto* l = as<LoopNode>(s)) return place_loop(*l, known);
      if (const auto* b = as<BranchNode>(s)) return place_branch(*b, known);
    }
    LATHE_CHECK(!reads_own || !races(own), "work-items race within one statement:\n" + to_string(s));
    return {s, own, own, false};
  }

  Placed place_block(const BlockNode& block, const Known& known) {
    Placed result;
    std::vector<Stmt> stmts;
    for (const Stmt& s : block.stmts) {
      Placed p = place(s, known);
      if (conflicts(result.last, p.first)) {
        stmts.push_back(make_barrier());
        result.always_has_barrier = true;
        result.last.clear();
      }
      if (!result.always_has_barrier) add(result.first, p.first);
      if (p.always_has_barrier) result.last.clear();
      add(result.last, p.last);
      result.always_has_barrier |= p.always_has_barrier;
      stmts.push_back(p.stmt);
    }
    result.stmt = make_block(std::move(stmts));
    return result;
  }

  Placed place_branch(const BranchNode& b, const Known& known) {
    Placed result = place(b.then_body, with(known, b.condition));
    Placed other;
    if (b.else_body) other = place(b.else_body, with(known, !b.condition));
    result.stmt = make_branch(b.condition, result.stmt, other.stmt);
    add(result.first, other.first);
    add(result.last, other.last);
    result.always_has_barrier &= other.always_has_barrier;
    return result;
  }

  Placed place_loop(const LoopNode& l, const Known& known) {
    Placed p = place(l.body, within(known, l));
    const Carried carried{&l, p.always_has_barrier};
    if (conflicts(p.last, p.first, &carried)) {
      // At the head it serves what ran before the loop as well.
      p.stmt = make_block({make_barrier(), p.stmt});
      p.first.clear();
      p.always_has_barrier = true;
    }
    p.always_has_barrier &= always_runs(l, known);
    for (Accesses* accesses : {&p.first, &p.last})
      for (Access& a : *accesses) a.inner.push_back(l.var.node());
    p.stmt = make_loop(l.loop, l.var, l.begin, l.end, p.stmt);
    return p;
  }

  // A statement without a place for a barrier reads no element that another work-item writes in it. (Work-items that
  // write one element in it write the same value: a stage's region may be covered more than once.)
  bool races(const Accesses& own) {
    for (const Access& a : own)
      for (const Access& b : own)
        if (a.write && !b.write && !b.any_work_item && conflict(a, b, nullptr)) return true;
    return false;
  }

  bool always_runs(const LoopNode& l, const Known& known) const {
    Facts facts;
    assume_relevant(facts, known, {l.begin, l.end}, {});
    return facts.prove(l.begin < l.end);
  }

  const Kernel& kernel_;
  int64_t work_items_;
  Known outside_;  // of all branches and loops
  std::set<const TensorNode*> shared_;
  std::map<const VarNode*, Var> renamed_;
};

}  // namespace

void insert_barriers(Lowering& l) {
  for (Kernel& k : l.function.kernels) k.body = Barriers(k).run();
}

}  // namespace lathe
