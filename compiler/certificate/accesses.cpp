#include "compiler/certificate/accesses.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "ir/print.h"
#include "ir/visit.h"

namespace lathe::certificate {
namespace {

bool holds_barrier(const Stmt& s) {
  bool found = false;
  walk(
      s,
      [&](const Stmt& x) {
        found |= x->kind == StmtKind::barrier;
        return !found;
      },
      [](const Expr&) { return false; });
  return found;
}

class Reader {
 public:
  explicit Reader(const Kernel& kernel) {
    DomainRef domain;
    for (int d = 0; d < 3; ++d) {
      domain = under(domain, kernel.block_index[d] >= 0 && kernel.block_index[d] < kernel.grid[d]);
      domain = under(domain, kernel.thread_index[d] >= 0 && kernel.thread_index[d] < kernel.block[d]);
      differs_.insert(kernel.thread_index[d].node());
    }
    result.lane = lanes_.lane;
    read(kernel.body, domain, "");
  }

  KernelAccesses result;

 private:
  // What in `e` work-items of one group may see differently; empty: nothing.
  std::string divergence(const Expr& e) const {
    std::string what;
    walk(e, [&](const Expr& x) {
      if (const auto* v = as<VarNode>(x); v && differs_.count(v)) what = v->name;
      if (x->kind == ExprKind::load) what = to_string(x);
      return what.empty();
    });
    return what.empty() ? "" : fmt::format("{} (through {})", to_string(e), what);
  }

  void read(const Stmt& s, const DomainRef& domain, const std::string& divergent) {
    switch (s->kind) {
      case StmtKind::block:
        for (const Stmt& child : as<BlockNode>(s)->stmts) read(child, domain, divergent);
        return;
      case StmtKind::barrier:
        result.barriers.push_back({divergent});
        sequence_->runs.push_back(divergent.empty() ? true_() : false_());
        sequence_->runs.push_back(false_());
        return;
      case StmtKind::combine:  // orders no memory, but all work-items arrive as at a barrier
        if (!divergent.empty()) result.barriers.push_back({divergent});
        return;
      case StmtKind::alloc: {
        const auto* a = as<AllocNode>(s);
        if (a->scope == Scope::shared) result.shared.push_back(a->tensor);
        return read(a->body, domain, divergent);
      }
      case StmtKind::branch: {
        const auto* b = as<BranchNode>(s);
        read(b->condition, domain);
        const std::string now = divergent.empty() ? divergence(b->condition) : divergent;
        const DomainRef then_domain = under(domain, b->condition), else_domain = b->else_body ? under(domain, !b->condition) : nullptr;
        if (!holds_barrier(s)) {
          read(b->then_body, then_domain, now);
          if (b->else_body) read(b->else_body, else_domain, now);
          return;
        }
        const Expr then_runs = below({}, [&] { read(b->then_body, then_domain, now); });
        const Expr else_runs = b->else_body ? below({}, [&] { read(b->else_body, else_domain, now); }) : false_();
        const bool known = then_runs.defined() && else_runs.defined();
        return passed(known ? (b->condition && then_runs) || (!b->condition && else_runs) : Expr());
      }
      case StmtKind::loop: {
        const auto* l = as<LoopNode>(s);
        read(l->begin, domain), read(l->end, domain);
        std::string now = divergence(l->begin);
        if (now.empty()) now = divergence(l->end);
        const DomainRef inside = under(domain, l->begin <= l->var && l->var < l->end);
        if (!now.empty()) differs_.insert(l->var.node());
        if (!divergent.empty()) now = divergent;
        if (holds_barrier(l->body)) {
          const Expr runs = below({l->var, l->begin, l->end}, [&] { read(l->body, inside, now); });
          passed(runs.defined() && !uses(runs, l->var) ? l->begin < l->end && runs : Expr());
        } else {
          read(l->body, inside, now);
        }
        differs_.erase(l->var.node());
        return;
      }
      case StmtKind::store: {
        const auto* store = as<StoreNode>(s);
        for (const Expr& i : store->indices) read(i, domain);
        read(store->value, domain);
        add(store->tensor, store->indices, true, store->value.type().lanes, domain);
        return;
      }
    }
  }

  void read(const Expr& e, const DomainRef& domain) {
    if (!has_load(e)) return;
    if (const auto* a = as<ApplyNode>(e); a && e.type().lanes == 1) {
      // Only the operands that are needed are asked for.
      if (a->op == Op::select) {
        read(a->args[0], domain);
        read(a->args[1], under(domain, a->args[0]));
        return read(a->args[2], under(domain, !a->args[0]));
      }
      if (a->op == Op::logical_and || a->op == Op::logical_or) {
        read(a->args[0], domain);
        return read(a->args[1], under(domain, a->op == Op::logical_and ? a->args[0] : !a->args[0]));
      }
    } else if (a && a->op == Op::select) {
      // Lane by lane: each lane is a scalar select.
      return read(lane_of(e, lanes_.lane), lanes_.within(domain, e.type().lanes));
    }
    if (const auto* load = as<LoadNode>(e)) add(Tensor(load->tensor), load->indices, false, e.type().lanes, domain);
    for_each_child(e, [&](const Expr& child) { read(child, domain); });
  }

  struct Loop {
    Var var;
    Expr begin, end;
  };
  // Reads a loop's body or a branch's side, of which the barriers are looked at apart, and says when it surely runs one.
  template <class F>
  Expr below(Loop loop, F read_it) {
    const auto inner = std::make_shared<Sequence>(Sequence{sequence_, static_cast<int>(sequence_->runs.size()), loop.var, loop.begin, loop.end, {false_()}});
    const auto outer = std::exchange(sequence_, inner);
    read_it();
    sequence_ = outer;
    return runs_barrier(*inner);
  }
  void passed(Expr runs) {
    sequence_->runs.push_back(std::move(runs));
    sequence_->runs.push_back(false_());
  }

  void add(const Tensor& tensor, const std::vector<Expr>& indices, bool write, int lanes, DomainRef domain) {
    Access a{tensor, {}, write, lanes, std::move(domain), {sequence_, static_cast<int>(sequence_->runs.size()) - 1}};
    if (lanes > 1) a.domain = lanes_.within(a.domain, lanes);
    for (const Expr& i : indices) a.indices.push_back(lane_of(i, lanes_.lane));
    result.accesses.push_back(std::move(a));
  }

  Lanes lanes_;
  std::shared_ptr<Sequence> sequence_ = std::make_shared<Sequence>(Sequence{{}, 0, {}, {}, {}, {false_()}});
  std::set<const VarNode*> differs_;     // variables that work-items of a group see differently
};

}  // namespace

DomainRef under(DomainRef outer, const Expr& condition) {
  if (const auto* a = as<ApplyNode>(condition); a && a->op == Op::logical_and) return under(under(std::move(outer), a->args[0]), a->args[1]);
  const int depth = outer ? outer->depth + 1 : 1;
  return std::make_shared<Domain>(Domain{std::move(outer), condition, depth});
}

DomainRef Lanes::within(const DomainRef& domain, int lanes) {
  auto& [kept, inside] = known_[{domain.get(), lanes}];
  if (!inside) kept = domain, inside = under(domain, lane >= 0 && lane < static_cast<int64_t>(lanes));
  return inside;
}

DomainRef common(DomainRef a, DomainRef b) {
  while (a != b) {
    DomainRef& deeper = !b || (a && a->depth >= b->depth) ? a : b;
    deeper = deeper->outer;
  }
  return a;
}

std::string Access::text() const {
  std::string text;
  for (const Expr& i : indices) text += (text.empty() ? "" : ", ") + to_string(i);
  return fmt::format("{}[{}]", tensor.name(), text);
}

KernelAccesses accesses_of(const Kernel& kernel) { return std::move(Reader(kernel).result); }

Expr lane_of(const Expr& e, const Expr& lane) {
  if (e.type().lanes == 1) return e;
  if (const auto* r = as<RampNode>(e)) return r->base + r->stride * make_cast(r->base.type(), lane);
  if (const auto* b = as<BroadcastNode>(e)) return b->value;
  if (const auto* c = as<CastNode>(e)) return make_cast(e.type().scalar(), lane_of(c->value, lane));
  if (const auto* a = as<ApplyNode>(e)) {
    std::vector<Expr> args;
    for (const Expr& x : a->args) args.push_back(lane_of(x, lane));
    return make_apply(a->op, std::move(args));
  }
  if (const auto* l = as<LoadNode>(e)) {
    std::vector<Expr> indices;
    for (const Expr& i : l->indices) indices.push_back(lane_of(i, lane));
    return make_load(l->tensor, std::move(indices));
  }
  return e;
}

}  // namespace lathe::certificate
