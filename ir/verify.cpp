#include "ir/verify.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "ir/equal.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {

std::string_view to_string(Form form) {
  switch (form) {
    case Form::looped: return "looped";
    case Form::kernels: return "kernels";
    case Form::vectorized: return "vectorized";
    case Form::unrolled: return "unrolled";
    case Form::flat: return "flat";
  }
  return "?";
}

namespace {

std::string first_line(const Stmt& s) {
  const std::string text = to_string(s);
  return text.substr(0, text.find('\n'));
}

class Verifier {
 public:
  Verifier(Form form, std::string place) : form_(form), place_(std::move(place)) {}

  void bind(const Var& v) {
    if (!v.defined()) return fail("a variable is empty");
    if (!variables_.insert(v.node()).second) fail(fmt::format("{} is bound twice", v.name()));
  }
  void bind_divergent(const Var& v) {
    bind(v);
    if (v.defined()) divergent_.insert(v.node());
  }
  bool add_tensor(const Tensor& t, bool may_store) {
    if (!t) {
      fail("a tensor is empty");
      return false;
    }
    for (const Expr& extent : t.shape()) check(extent);
    if (!tensors_.insert(t.get()).second) fail(fmt::format("the tensor {} stands twice", t.name()));
    if (may_store) stored_.insert(t.get());
    return true;
  }

  void check(const Expr& e) {
    if (!e.defined()) return fail("an expression is empty");
    if (const auto* v = as<VarNode>(e); v && !variables_.count(v))
      fail(fmt::format("{} is used outside of what binds it", v->name));
    if (e->kind == ExprKind::reduce) return fail("a reduction is left: " + to_string(e));
    if (e.type().lanes != 1 && form_ < Form::vectorized) fail("a vector before vectorization: " + to_string(e));
    if (const auto* load = as<LoadNode>(e)) {
      check_access(*load->tensor, load->indices, to_string(e));
      if (load->type.scalar() != load->tensor->type)
        fail(fmt::format("{} loads {} from {}", to_string(e), to_string(e.type()), to_string(load->tensor->type)));
    }
    for_each_child(e, [&](const Expr& child) { check(child); });
  }

  void check(const Stmt& s) {
    if (!s) return fail("a statement is empty");
    const Stmt outer = std::exchange(current_, s);
    switch (s->kind) {
      case StmtKind::loop: check_loop(*as<LoopNode>(s)); break;
      case StmtKind::branch: {
        const auto* b = as<BranchNode>(s);
        check(b->condition);
        if (b->condition.type() != boolean)
          fail(fmt::format("the condition is {}, not bool", to_string(b->condition.type())));
        const bool splits = is_divergent(b->condition);
        divergence_ += splits;
        check(b->then_body);
        if (b->else_body) check(b->else_body);
        divergence_ -= splits;
        break;
      }
      case StmtKind::store: {
        const auto* st = as<StoreNode>(s);
        for (const Expr& i : st->indices) check(i);
        check(st->value);
        check_access(*st->tensor, st->indices, st->tensor.name());
        if (tensors_.count(st->tensor.get()) && !stored_.count(st->tensor.get()))
          fail(fmt::format("{} is an input and is stored to", st->tensor.name()));
        if (st->value.type().scalar() != st->tensor.type())
          fail(fmt::format("{} is stored into {}", to_string(st->value.type()), to_string(st->tensor.type())));
        break;
      }
      case StmtKind::alloc: {
        const auto* a = as<AllocNode>(s);
        if (!add_tensor(a->tensor, true)) break;
        if (a->scope == Scope::registers) private_.insert(a->tensor.get());
        check(a->body);
        tensors_.erase(a->tensor.get());
        break;
      }
      case StmtKind::barrier:
        if (divergence_) fail("work-items of one group may not all arrive here");
        break;
      case StmtKind::combine: {
        const auto* c = as<CombineNode>(s);
        if (divergence_) fail("work-items of one group may not all arrive here");
        for (const Tensor& t : c->values) {
          if (!tensors_.count(t.get()) || !private_.count(t.get())) fail(fmt::format("{} is not in registers", t.name()));
          for (const Expr& extent : t.shape())
            if (!is_constant(extent, 1)) fail(fmt::format("{} has more than one element", t.name()));
        }
        break;
      }
      case StmtKind::block:
        current_ = outer;  // a block has no line of its own
        for (const Stmt& child : as<BlockNode>(s)->stmts) check(child);
        break;
    }
    current_ = outer;
  }

  std::vector<std::string> found;

 private:
  void fail(const std::string& what) {
    found.push_back(fmt::format("{}: {}", current_ ? first_line(current_) : place_, what));
  }

  void check_access(const TensorNode& t, const std::vector<Expr>& indices, const std::string& text) {
    if (!tensors_.count(&t)) fail(fmt::format("{} is used outside of its allocation", t.name));
    if (indices.size() != t.shape.size())
      fail(fmt::format("{} has {} indices, the tensor has {} extents", text, indices.size(), t.shape.size()));
    if (form_ >= Form::flat && indices.size() != 1) fail(fmt::format("{} has {} indices after flattening", text, indices.size()));
    for (const Expr& i : indices)
      if (i.defined() && !i.type().is_int()) fail(fmt::format("{} has an index of type {}", text, to_string(i.type())));
  }

  void check_loop(const LoopNode& l) {
    check(l.begin);
    check(l.end);
    for (const Expr& e : {l.begin, l.end})
      if (e.type() != i64) fail(fmt::format("a loop bound is {}, not i64", to_string(e.type())));
    if (form_ >= Form::vectorized && l.loop == LoopKind::vectorized) fail("a vectorized loop is left");
    if (form_ >= Form::vectorized && l.loop == LoopKind::virtual_thread) fail("a loop over virtual threads is left");
    if (form_ >= Form::unrolled && l.loop == LoopKind::unrolled) fail("an unrolled loop is left");
    bool fresh = false;
    if (is_bound(l.loop)) {
      if (form_ >= Form::kernels) fail("a bound loop is left inside a kernel");
      // A stage computed inside work-item loops names the same work-items again, for its own loops.
      const auto [around, is_new] = indices_.emplace(l.loop, l.end);
      fresh = is_new;
      if (!fresh && is_block(l.loop)) fail(fmt::format("{} is bound twice", to_string(l.loop)));
      if (!fresh && !equal(around->second, l.end)) fail(fmt::format("{} has two extents", to_string(l.loop)));
      if (!is_constant(l.begin, 0)) fail("a bound loop does not start at 0");
      if (is_thread(l.loop) && !as_constant(l.end)) fail("the extent of a thread loop is not a number");
    }
    // Lanes of a vectorized loop are no work-items, but a barrier makes no sense among them.
    const bool bounds_differ = !is_thread(l.loop) && (is_divergent(l.begin) || is_divergent(l.end));
    const bool splits = bounds_differ || l.loop == LoopKind::vectorized;
    bind(l.var);
    if (l.var.defined() && (is_thread(l.loop) || bounds_differ)) divergent_.insert(l.var.node());
    divergence_ += splits;
    check(l.body);
    divergence_ -= splits;
    if (l.var.defined()) {
      variables_.erase(l.var.node());
      divergent_.erase(l.var.node());
    }
    if (fresh) indices_.erase(l.loop);
  }

  // May work-items of one group see different values?
  bool is_divergent(const Expr& e) const {
    bool found_one = false;
    walk(e, [&](const Expr& x) {
      if (const auto* v = as<VarNode>(x)) found_one |= divergent_.count(v) != 0;
      if (const auto* load = as<LoadNode>(x)) found_one |= private_.count(load->tensor.get()) != 0;
      return !found_one;
    });
    return found_one;
  }

  Form form_;
  std::string place_;  // the function or kernel
  Stmt current_;       // the innermost statement
  std::set<const VarNode*> variables_, divergent_;
  std::set<const TensorNode*> tensors_, stored_, private_;
  std::map<LoopKind, Expr> indices_;  // of the bound loops around, with their extents
  int divergence_ = 0;          // conditions and loops around that work-items may see differently
};

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<std::string> violations(const Kernel& k, Form form) {
  Verifier v(form, "kernel " + k.name);
  for (const Var& s : k.symbols) v.bind(s);
  for (size_t i = 0; i < k.buffers.size(); ++i) v.add_tensor(k.buffers[i], i < k.written.size() && k.written[i]);
  if (k.written.size() != k.buffers.size())
    v.found.push_back(fmt::format("kernel {}: {} flags for {} buffers", k.name, k.written.size(), k.buffers.size()));
  if (k.grid.size() != 3) v.found.push_back(fmt::format("kernel {}: {} grid extents", k.name, k.grid.size()));
  for (const Expr& e : k.grid) v.check(e);
  if (k.condition.defined()) v.check(k.condition);
  for (int d = 0; d < 3; ++d)
    if (k.block[d] < 1) v.found.push_back(fmt::format("kernel {}: block extent {} is {}", k.name, d, k.block[d]));
  for (const Var& index : k.block_index) v.bind(index);
  for (const Var& index : k.thread_index) v.bind_divergent(index);
  v.check(k.body);
  return v.found;
}

}  // namespace

std::vector<std::string> violations(const LoweredFunction& f, Form form) {
  std::vector<std::string> all;
  if (form >= Form::kernels) {
    if (f.body) all.push_back(fmt::format("function {}: a body is left beside the kernels", f.name));
    for (const Kernel& k : f.kernels) append(all, violations(k, form));
    return all;
  }
  Verifier v(form, "function " + f.name);
  for (const Var& s : f.symbols) v.bind(s);
  for (size_t i = 0; i < f.arguments.size(); ++i) v.add_tensor(f.arguments[i], i < f.is_output.size() && f.is_output[i]);
  for (const Tensor& t : f.workspaces) v.add_tensor(t, true);
  if (f.is_output.size() != f.arguments.size())
    v.found.push_back(fmt::format("function {}: {} flags for {} arguments", f.name, f.is_output.size(), f.arguments.size()));
  if (!f.kernels.empty()) v.found.push_back(fmt::format("function {}: it has kernels already", f.name));
  v.check(f.body);
  append(all, v.found);
  return all;
}

void verify(const LoweredFunction& f, Form form, std::string_view after) {
  const std::vector<std::string> found = violations(f, form);
  if (found.empty()) return;
  std::string text = fmt::format("after {}, form {}:\n", after, to_string(form));
  for (const std::string& line : found) text += "  " + line + "\n";
  LATHE_CHECK(found.empty(), text + to_string(f));
}

}  // namespace lathe
