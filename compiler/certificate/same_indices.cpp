// Both kernels are read side by side. Integers are compared as polynomials over variables and what is not a sum or a
// product; where these differ, isl is asked. Conversions between integer widths are looked through: that nothing is lost
// is asked apart, where the value is used.
#include "compiler/certificate/same_indices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "ir/equal.h"
#include "ir/print.h"
#include "ir/visit.h"

namespace lathe::certificate {
namespace {

// Coefficients by monomial, modulo 2^64; a monomial is its sorted atoms: variables, and what is not a sum or a product.
using Polynomial = std::map<std::vector<int>, uint64_t>;

Polynomial number(uint64_t k) { return k ? Polynomial{{{}, k}} : Polynomial{}; }
Polynomial sum(const Polynomial& a, const Polynomial& b, uint64_t factor) {
  Polynomial r = a;
  for (const auto& [m, c] : b)
    if ((r[m] += c * factor) == 0) r.erase(m);
  return r;
}
Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial r;
  for (const auto& [m, c] : a)
    for (const auto& [n, d] : b) {
      std::vector<int> both = m;
      both.insert(both.end(), n.begin(), n.end());
      std::sort(both.begin(), both.end());
      if ((r[both] += c * d) == 0) r.erase(both);
    }
  return r;
}

bool is_integer(const Expr& e) { return e.type().is_int() && e.type().lanes == 1; }

// The integer itself, whatever width it is computed in.
Expr widened(const Expr& e) {
  if (const auto* c = as<CastNode>(e); c && c->value.type().is_int()) return widened(c->value);
  if (const int64_t* k = as_constant(e)) return constant(i64, *k);
  if (const auto* a = as<ApplyNode>(e); a && is_integer(e) && a->op != Op::select) {
    std::vector<Expr> args;
    for (const Expr& x : a->args) args.push_back(widened(x));
    return make_apply(a->op, std::move(args));
  }
  return e.type() == i64 ? e : make_cast(i64, e);
}

Expr row_major(const Tensor& t, const std::vector<Expr>& indices) {
  Expr flat = constant(i64, int64_t{0});
  for (size_t d = 0; d < indices.size(); ++d) flat = flat * t.shape()[d] + widened(indices[d]);
  return flat;
}

class Comparison {
 public:
  Comparison(Questions& q, const Kernel& nested, const Kernel& flat) : questions_(q) {
    for (int d = 0; d < 3; ++d) {
      name(nested.block_index[d], flat.block_index[d]);
      name(nested.thread_index[d], flat.thread_index[d]);
    }
    for (size_t s = 0; s < nested.symbols.size() && s < flat.symbols.size(); ++s) name(nested.symbols[s], flat.symbols[s]);
    name(lanes_.lane, lanes_.lane);
    DomainRef domain;
    for (int d = 0; d < 3; ++d) {
      domain = under(domain, nested.block_index[d] >= 0 && nested.block_index[d] < nested.grid[d]);
      domain = under(domain, nested.thread_index[d] >= 0 && nested.thread_index[d] < nested.block[d]);
    }
    same(nested.body, flat.body, domain);
  }
  Answer answer;

 private:
  void name(const Var& a, const Var& b) {
    const int n = atoms_++;
    names_[a.node()] = n, names_[b.node()] = n;
    if (a.node() != b.node()) same_as_[b.node()] = a;
  }

  // ---- one side
  const Polynomial& polynomial(const Expr& e) {
    if (const auto found = polynomials_.find(e.get()); found != polynomials_.end()) return found->second;
    kept_exprs_.push_back(e);
    Polynomial p = compute(e);
    return polynomials_.emplace(e.get(), std::move(p)).first->second;
  }
  Polynomial compute(const Expr& e) {
    if (const auto* v = as<VarNode>(e)) {
      if (const auto found = names_.find(v); found != names_.end()) return {{{found->second}, 1}};
      return {{{atom("unbound " + v->name)}, 1}};
    }
    if (const int64_t* k = as_constant(e)) return number(static_cast<uint64_t>(*k));
    if (const auto* c = as<CastNode>(e); c && c->value.type().is_int()) return polynomial(c->value);
    if (const auto* a = as<ApplyNode>(e)) {
      if (a->op == Op::add) return sum(polynomial(a->args[0]), polynomial(a->args[1]), 1);
      if (a->op == Op::sub) return sum(polynomial(a->args[0]), polynomial(a->args[1]), ~uint64_t{0});
      if (a->op == Op::neg) return sum({}, polynomial(a->args[0]), ~uint64_t{0});
      if (a->op == Op::mul) return product(polynomial(a->args[0]), polynomial(a->args[1]));
    }
    return {{{atom(term(e))}, 1}};
  }
  // A polynomial by its number.
  int number_of(const Expr& e) {
    return numbers_.emplace(polynomial(e), static_cast<int>(numbers_.size())).first->second;
  }
  int atom(const std::string& term) {
    const auto [found, fresh] = terms_.emplace(term, 0);
    if (fresh) found->second = atoms_++;
    return found->second;
  }
  // Equal for what computes the same of the same.
  std::string term(const Expr& e) {
    const auto* c = as<CastNode>(e);
    const bool from_other = c && !c->value.type().is_int();  // i32(x) of a float: no polynomial looks into it
    if (is_integer(e) && e->kind != ExprKind::apply && e->kind != ExprKind::load && !from_other) return fmt::format("p{}", number_of(e));
    std::string s = fmt::format("{}", static_cast<int>(e->kind));
    if (const auto* r = as<RealNode>(e)) s += fmt::format("={:a}", r->value);
    if (const auto* a = as<ApplyNode>(e)) s += op_row(a->op).name;
    if (const auto* l = as<LoadNode>(e)) return fmt::format("{}[p{}]", l->tensor->name, number_of(row_major(Tensor(l->tensor), l->indices)));
    if (!e.type().is_int() || from_other) s += to_string(e.type());
    s += "(";
    for_each_child(e, [&](const Expr& x) { s += (is_integer(x) ? fmt::format("p{}", number_of(x)) : term(x)) + ","; });
    return s + ")";
  }

  // ---- both sides
  void differ(const std::string& what) { answer.worse(Verdict::disproved, what); }

  void same_integer(const Expr& a, const Expr& b, const DomainRef& domain, const std::string& where) {
    if (!equal(a, b)) {
      // What the program itself computes in 32 bits may wrap; what a pass narrowed may not.
      walk(a, [&](const Expr& x) {
        if (x.type() == i32) wraps_by_itself_.insert(number_of(x));
        return true;
      });
      fits(b, domain);
    }
    if (polynomial(a) == polynomial(b)) return;
    const Expr x = widened(a), y = substitute(widened(b), same_as_);
    answer.worse(questions_.never(fmt::format("{}: {} became {}", where, to_string(a), to_string(b)), questions_.reached(domain, first) + Conditions{holds(x != y)}));
  }

  void same(const Expr& a, const Expr& b, const DomainRef& domain, const std::string& where) {
    if (a.type().lanes != b.type().lanes) return differ(fmt::format("{}: {} became {}", where, to_string(a), to_string(b)));
    if (a.type().lanes > 1) {
      return same(lane_of(a, lanes_.lane), lane_of(b, lanes_.lane), lanes_.within(domain, a.type().lanes), where);
    }
    const auto *load_a = as<LoadNode>(a), *load_b = as<LoadNode>(b);
    if (load_a && load_b) return same_access(Tensor(load_a->tensor), load_a->indices, Tensor(load_b->tensor), load_b->indices, domain);
    if (is_integer(a) && is_integer(b) && !has_load(a)) return same_integer(a, b, domain, where);
    const auto *apply_a = as<ApplyNode>(a), *apply_b = as<ApplyNode>(b);
    if (apply_a && apply_b && apply_a->op == apply_b->op && apply_a->args.size() == apply_b->args.size()) {
      for (size_t k = 0; k < apply_a->args.size(); ++k) same(apply_a->args[k], apply_b->args[k], domain, where);
      return;
    }
    const auto *cast_a = as<CastNode>(a), *cast_b = as<CastNode>(b);
    if (cast_a && cast_b && a.type() == b.type()) return same(cast_a->value, cast_b->value, domain, where);
    if (term(a) != term(b)) differ(fmt::format("{}: {} became {}", where, to_string(a), to_string(b)));
  }

  void same_access(const Tensor& a, const std::vector<Expr>& x, const Tensor& b, const std::vector<Expr>& y, const DomainRef& domain) {
    const std::string where = "index of " + a.name();
    if (a.name() != b.name() || y.size() != 1) return differ(fmt::format("an access of {} became one of {}", a.name(), b.name()));
    for (const Expr& i : x)
      if (has_load(i)) return same_gather(a, x, y[0], domain);
    same_integer(row_major(a, x), y[0], domain, where);
  }
  // Indices that are loaded are compared as terms.
  void same_gather(const Tensor& a, const std::vector<Expr>& x, const Expr& y, const DomainRef& domain) {
    if (polynomial(row_major(a, x)) != polynomial(y)) answer.worse(Verdict::undecided, fmt::format("index of {}: {} depends on data", a.name(), to_string(y)));
    fits(y, domain);
  }

  void same(const Stmt& a, const Stmt& b, const DomainRef& domain) {
    if (a->kind != b->kind) return differ("a statement became one of another kind");
    switch (a->kind) {
      case StmtKind::barrier: return;
      case StmtKind::combine: {
        const auto *x = as<CombineNode>(a), *y = as<CombineNode>(b);
        bool same = x->combiner.same_as(y->combiner) && x->along == y->along && x->width == y->width && x->values.size() == y->values.size();
        for (size_t i = 0; same && i < x->values.size(); ++i) same = x->values[i].name() == y->values[i].name();
        if (!same) differ("a combination of work-items became another one");
        return;
      }
      case StmtKind::block: {
        const auto &x = as<BlockNode>(a)->stmts, &y = as<BlockNode>(b)->stmts;
        if (x.size() != y.size()) return differ(fmt::format("a block of {} statements became one of {}", x.size(), y.size()));
        for (size_t k = 0; k < x.size(); ++k) same(x[k], y[k], domain);
        return;
      }
      case StmtKind::alloc: {
        const auto *x = as<AllocNode>(a), *y = as<AllocNode>(b);
        Expr size = constant(i64, int64_t{1});
        for (const Expr& extent : x->tensor.shape()) size = size * extent;
        if (x->scope != y->scope || x->tensor.name() != y->tensor.name()) differ(fmt::format("the allocation of {} became that of {}", x->tensor.name(), y->tensor.name()));
        else if (y->tensor.rank() != 1) differ(fmt::format("{} is not flat", y->tensor.name()));
        else same_integer(size, y->tensor.shape()[0], domain, "size of " + x->tensor.name());
        return same(x->body, y->body, domain);
      }
      case StmtKind::branch: {
        const auto *x = as<BranchNode>(a), *y = as<BranchNode>(b);
        same(x->condition, y->condition, domain, "a condition");
        if (bool(x->else_body) != bool(y->else_body)) return differ("a branch lost or won an else");
        same(x->then_body, y->then_body, under(domain, x->condition));
        if (x->else_body) same(x->else_body, y->else_body, under(domain, !x->condition));
        return;
      }
      case StmtKind::loop: {
        const auto *x = as<LoopNode>(a), *y = as<LoopNode>(b);
        if (x->loop != y->loop) return differ(fmt::format("loop {} became {}", x->var.name(), to_string(y->loop)));
        same(x->begin, y->begin, domain, "begin of loop " + x->var.name());
        same(x->end, y->end, domain, "end of loop " + x->var.name());
        name(x->var, y->var);
        return same(x->body, y->body, under(domain, x->begin <= x->var && x->var < x->end));
      }
      case StmtKind::store: {
        const auto *x = as<StoreNode>(a), *y = as<StoreNode>(b);
        DomainRef inside = domain;
        std::vector<Expr> i = x->indices, j = y->indices;
        const int lanes = x->value.type().lanes;
        if (lanes > 1) {
          inside = lanes_.within(domain, lanes);
          for (Expr& e : i) e = lane_of(e, lanes_.lane);
          for (Expr& e : j) e = lane_of(e, lanes_.lane);
        }
        same_access(x->tensor, i, y->tensor, j, inside);
        return same(x->value, y->value, domain, "value stored to " + x->tensor.name());
      }
    }
  }

  // ---- widths: arithmetic that wraps is exact where only sums and products follow, so it is enough to look at values
  // where something else reads them: as an index, wider, divided, compared.
  void fits(const Expr& e, const DomainRef& domain) {
    if (e.type().lanes > 1) {
      return fits(lane_of(e, lanes_.lane), lanes_.within(domain, e.type().lanes));
    }
    if (e.type() == i32 && !has_load(e)) in_range(e, domain);
    inside(e, domain);
  }
  void inside(const Expr& e, const DomainRef& domain) {
    const auto* a = as<ApplyNode>(e);
    if (a && a->op == Op::select) {
      fits(a->args[0], domain);
      fits(a->args[1], under(domain, a->args[0]));
      return fits(a->args[2], under(domain, !a->args[0]));
    }
    const bool wraps = a && (a->op == Op::add || a->op == Op::sub || a->op == Op::mul || a->op == Op::neg);
    const auto* c = as<CastNode>(e);
    const bool narrows = c && c->value.type().is_int() && e.type().bits <= c->value.type().bits;
    for_each_child(e, [&](const Expr& x) { wraps || narrows ? inside(x, domain) : fits(x, domain); });
  }
  void in_range(const Expr& e, const DomainRef& domain) {
    if (const int64_t* k = as_constant(e); k && *k == static_cast<int32_t>(*k)) return;
    const int n = number_of(e);
    if (wraps_by_itself_.count(n) || !asked_.emplace(domain.get(), n).second) return;
    kept_.push_back(domain);
    const Expr x = substitute(widened(e), same_as_);
    answer.worse(questions_.never(fmt::format("{} does not fit 32 bits", to_string(e)),
                                  questions_.reached(domain, first) + Conditions{holds(x < int64_t{INT32_MIN} || x > int64_t{INT32_MAX})}));
  }

  Questions& questions_;
  Lanes lanes_;
  int atoms_ = 0;
  std::map<const VarNode*, int> names_;                        // atoms of variables …
  std::map<std::string, int> terms_;                           // … and of the rest
  std::unordered_map<const Node*, Polynomial> polynomials_;
  std::map<Polynomial, int> numbers_;
  Substitution same_as_;
  std::set<std::pair<const Domain*, int>> asked_;
  std::set<int> wraps_by_itself_;
  std::vector<DomainRef> kept_;  // asked_ and polynomials_ go by address
  std::vector<Expr> kept_exprs_;
};

}  // namespace

Answer same_indices(Questions& questions, const Kernel& nested, const Kernel& flat) { return std::move(Comparison(questions, nested, flat).answer); }

}  // namespace lathe::certificate
