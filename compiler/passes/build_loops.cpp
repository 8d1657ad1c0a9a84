// build_loops: the loop nest of every stage, with the stages computed inside it, their memory and their guards.
//
//   before  C.i0 bound to block_x, C.i1 to thread_x, A_shared computed at C.i0
//   after   for block_x i0 in 0 .. (n + 63) / 64 {
//             alloc shared A_shared: f32[66] {
//               for ax0 … { if i0 * 64 + ax0 - 1 >= 0 && … { A_shared[ax0] = A[i0 * 64 + ax0 - 1] } }
//               for thread_x i1 in 0 .. 64 { if i0 * 64 + i1 < n { C[…] = A_shared[i1] + A_shared[i1 + 2] } } } }
//
// It stands after infer_bounds, whose numbers it writes down, and before every pass that works on statements.
#include <fmt/format.h>

#include <array>
#include <set>

#include "compiler/passes/passes.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

constexpr std::array threads = {LoopKind::thread_x, LoopKind::thread_y, LoopKind::thread_z};

// One index of a kernel's grid or block, and the loop that first asked for it.
struct BoundIndex {
  Expr extent;
  std::string loop;  // "C.i1"
};
using BoundIndices = std::map<LoopKind, BoundIndex>;

class Builder {
 public:
  explicit Builder(Lowering& l) : l_(l) {
    for (const Stage& s : l.stages) {
      StageBounds& b = l.bounds.at(s.name);
      for (const Tensor& t : s.outputs)
        b.local.push_back(b.scope == Scope::global ? t : make_tensor(t.name(), t.type(), b.store_extent));
      b.stored = b.local;
    }
  }

  void run() {
    std::vector<Stmt> nests;
    for (const Stage& s : l_.stages) {
      if (s.attach == AttachKind::at) continue;
      if (s.attach == AttachKind::root) nests.push_back(kernel_nest(s));
      for (const Tensor& t : s.outputs) {
        bool argument = false;
        for (const Tensor& a : l_.function.arguments) argument |= a.same_as(t);
        if (!argument) l_.function.workspaces.push_back(t);
      }
    }
    l_.function.body = make_block(std::move(nests));
  }

 private:
  Stmt kernel_nest(const Stage& s) {
    indices_.clear();
    shared_bytes_.clear();
    collect_indices(s);
    check_limits();
    Stmt nest = stage_nest(s);
    check_lds(s);
    return nest;
  }

  // ---- what the kernel of a root stage is launched with
  void collect_indices(const Stage& s) {
    const StageBounds& b = l_.bounds.at(s.name);
    for (int leaf : s.leaves) {
      const StageLoop& loop = s.loops[leaf];
      if (is_bound(loop.kind)) {
        const std::string name = s.name + "." + loop.name;
        const std::string where = fmt::format("bind {} to {}", name, to_string(loop.kind));
        if (is_block(loop.kind) && s.attach == AttachKind::at)
          throw Error(where, fmt::format("{} is computed inside {}", s.name, s.attach_stage),
                      "only stages at the root are spread over work-groups");
        // (A reduction across work-items leaves its result in each of them.)
        if (is_thread(loop.kind) && !loop.is_reduction && s.attach == AttachKind::at && b.scope == Scope::registers)
          throw Error(where, fmt::format("{} lives in registers, which belong to one work-item", s.name),
                      "put the stage in shared memory, or leave its loops unbound");
        if (is_thread(loop.kind) && !as_constant(b.loop_extent[leaf]))
          throw Error(where, fmt::format("its extent {} is not a constant", to_string(b.loop_extent[leaf])),
                      "split it by a constant and bind the inner loop");
        if (is_thread(loop.kind) && loop.is_reduction && is_constant(b.loop_extent[leaf], 0))
          throw Error(where, "its extent is 0: no work-item would be left to store the identity", "leave the loop unbound");
        auto [found, fresh] = indices_.emplace(loop.kind, BoundIndex{b.loop_extent[leaf], name});
        if (!fresh && !is_constant(simplify(found->second.extent - b.loop_extent[leaf]), 0))
          throw Error(where,
                      fmt::format("its extent is {}, but {} is bound to {} with extent {} in the same kernel",
                                  to_string(b.loop_extent[leaf]), found->second.loop, to_string(loop.kind),
                                  to_string(found->second.extent)),
                      "give both loops one extent, or use another index");
      }
      for (const Stage* child : l_.attached(s, loop)) collect_indices(*child);
      for (const Stage* companion : l_.companions(s, loop)) collect_indices(*companion);
      if (is_block(loop.kind) && s.block_order) l_.block_orders.emplace_back(loop.var, *s.block_order);
    }
  }

  void check_limits() const {
    int64_t product = 1;
    std::string loops;
    for (const auto& [kind, index] : indices_) {
      if (!is_thread(kind)) continue;
      const int64_t extent = *as_constant(index.extent);
      if (extent > max_group_extent)
        throw Error(fmt::format("bind {} to {}", index.loop, to_string(kind)),
                    fmt::format("its extent {} exceeds {}", extent, max_group_extent),
                    fmt::format("split it by at most {} first", max_group_extent));
      product *= extent;
      loops += fmt::format("{}{} = {}", loops.empty() ? "" : ", ", index.loop, extent);
    }
    if (product > max_threads_per_group)
      throw Error("bind " + loops, fmt::format("the work-group has {} work-items, at most {} are possible", product, max_threads_per_group),
                  "use smaller split factors");
  }

  void check_lds(const Stage& root) const {
    int64_t total = 0;
    std::string list;
    for (const auto& [name, bytes] : shared_bytes_) {
      total += bytes;
      list += fmt::format("{}{} {} B", list.empty() ? "" : ", ", name, bytes);
    }
    if (total > l_.target.gfx->lds_bytes)
      throw Error("stage " + root.name,
                  fmt::format("its kernel stages {} B in LDS ({}), {} has {} B per work-group", total, list, l_.target.id(),
                              l_.target.gfx->lds_bytes),
                  "use smaller tiles");
  }

  // ---- loops
  Stmt stage_nest(const Stage& s, size_t from = 0) {
    StageBounds& b = l_.bounds.at(s.name);
    std::vector<Expr> guards = b.data_guards;
    if (!only_reads_local(s)) guards.insert(guards.end(), b.edge_guards.begin(), b.edge_guards.end());
    // Work-items along an index that the stage does not use would all write the same element: the first one does. The others skip
    // the whole nest where no barrier can be inside it.
    std::vector<std::pair<LoopKind, Var>> idle;
    std::vector<Expr> first;
    if (b.scope != Scope::registers)
      for (LoopKind kind : threads) {
        auto index = indices_.find(kind);
        bool used = index == indices_.end() || is_constant(index->second.extent, 1);
        for (int leaf : s.leaves) used |= s.loops[leaf].kind == kind;
        if (used) continue;
        idle.emplace_back(kind, Var(fmt::format("idle_{}", to_string(kind))));
        first.push_back(idle.back().second == 0);
      }
    const bool outside = !l_.has_attached(s, from) && across(s).empty();
    if (!outside) guards.insert(guards.end(), first.begin(), first.end());
    Stmt body = nest(s, from, guards, across(s).empty() && (outside || first.empty()));
    if (outside && !first.empty()) body = make_branch(conjunction(first), body);
    for (const auto& [kind, var] : idle) body = make_loop(kind, var, 0, indices_.at(kind).extent, body);
    return body;
  }

  // A stage in LDS or registers that reads only such tensors may compute elements beyond the tensor's edge: they lie in
  // its region, and whoever stores the result is guarded. What a reduction may add up is still guarded.
  bool only_reads_local(const Stage& s) const {
    if (l_.bounds.at(s.name).scope == Scope::global) return false;
    bool local = true;
    for (const Expr& e : s.body)
      walk(e, [&](const Expr& x) {
        const auto* load = as<LoadNode>(x);
        if (!load) return true;
        const StageBounds* producer = bounds_of(*load->tensor);
        local &= producer && producer->scope != Scope::global && producer->covers_reads;
        for (const Expr& i : load->indices) local &= !has_load(i);
        return true;
      });
    return local;
  }

  const StageBounds* bounds_of(const TensorNode& t, size_t* output = nullptr) const {
    for (const Stage& s : l_.stages)
      for (size_t o = 0; o < s.outputs.size(); ++o)
        if (s.outputs[o].get() == &t) {
          if (output) *output = o;
          return &l_.bounds.at(s.name);
        }
    return nullptr;
  }

  // The reduction loops of a stage that run as work-items.
  static std::vector<LoopKind> across(const Stage& s) {
    std::vector<LoopKind> kinds;
    for (size_t depth = 0; depth < s.leaves.size(); ++depth)
      if (is_across(s, depth)) kinds.push_back(s.loops[s.leaves[depth]].kind);
    return kinds;
  }
  static bool is_across(const Stage& s, size_t depth) {
    const StageLoop& loop = s.loops[s.leaves[depth]];
    return loop.is_reduction && is_thread(loop.kind);
  }

  bool is_reduction_leaf(const Stage& s, size_t depth) const { return s.loops[s.leaves[depth]].is_reduction; }

  // The depth from which all variables of the guards are known.
  size_t guard_depth(const Stage& s, const std::vector<Expr>& guards) const {
    size_t depth = 0;
    for (size_t i = 0; i < s.leaves.size(); ++i)
      for (const Expr& g : guards)
        if (uses(g, s.loops[s.leaves[i]].var)) depth = i + 1;
    return depth;
  }

  // Loops from `depth` inward. Guards stand as far out as their variables allow, but inside every loop that holds
  // another stage: its barriers must be reached by all work-items.
  Stmt nest(const Stage& s, size_t depth, const std::vector<Expr>& guards, bool may_guard) {
    if (may_guard && !guards.empty() && depth >= guard_depth(s, guards) && !l_.has_attached(s, depth))
      return make_branch(conjunction(guards), nest(s, depth, {}, false));
    const bool reduces = !s.reduce_axes.empty();
    if (reduces && depth < s.leaves.size() && is_reduction_leaf(s, depth)) return reduction(s, depth, guards);
    if (depth == s.leaves.size()) return stores(s, guards);
    Stmt body = nest(s, depth + 1, guards, may_guard);
    return loop(s, depth, with_children(s, depth, body));
  }

  Stmt loop(const Stage& s, size_t depth, Stmt body) const {
    const StageLoop& l = s.loops[s.leaves[depth]];
    return make_loop(l.kind, l.var, 0, l_.bounds.at(s.name).loop_extent[s.leaves[depth]], std::move(body));
  }

  Stmt with_children(const Stage& s, size_t depth, Stmt rest) {
    for (const Stage* c : l_.companions(s, s.loops[s.leaves[depth]])) rest = make_block({companion_nest(*c, s, depth), rest});
    const auto children = l_.attached(s, s.loops[s.leaves[depth]]);
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      rest = make_block({stage_nest(**child), rest});
      if ((*child)->store_stage.empty()) rest = allocated(**child, rest);
    }
    for (const Stage* child : l_.stored(s, s.loops[s.leaves[depth]])) rest = allocated(*child, rest);
    return rest;
  }

  Stmt allocated(const Stage& s, Stmt body) {
    const StageBounds& b = l_.bounds.at(s.name);
    for (const Tensor& t : b.local) {
      body = make_alloc(t, b.scope, body);
      if (b.scope != Scope::shared) continue;
      int64_t bytes = t.type().bytes();
      for (int64_t extent : stored_extents(s, b))
        if (__builtin_mul_overflow(bytes, extent, &bytes)) bytes = INT64_MAX / 4;
      if (__builtin_mul_overflow(bytes, l_.ahead(s) + 1, &bytes)) bytes = INT64_MAX / 4;
      shared_bytes_[t.name()] = bytes;
    }
    return body;
  }

  // What a stage does inside the loops that it shares with `host`, down to the one at `depth`.
  Stmt companion_nest(const Stage& s, const Stage& host, size_t depth) {
    const StageBounds &own = l_.bounds.at(s.name), &theirs = l_.bounds.at(host.name);
    Substitution shared;
    for (size_t i = 0; i <= depth; ++i) {
      const Expr &a = own.loop_extent[s.leaves[i]], &b = theirs.loop_extent[host.leaves[i]];
      if (!theirs.facts.prove(a == b))
        throw Error(fmt::format("compute_with {} at {}.{}", s.name, host.name, s.attach_loop),
                    fmt::format("{}.{} runs to {}, {}.{} to {}", s.name, s.loops[s.leaves[i]].name, to_string(a), host.name,
                                host.loops[host.leaves[i]].name, to_string(b)),
                    "share loops of equal extents, or promise that they are equal");
      shared[s.loops[s.leaves[i]].var.node()] = host.loops[host.leaves[i]].var;
    }
    return substitute(stage_nest(s, depth + 1), shared);
  }

  // ---- elements
  Substitution axis_values(const Stage& s) const {
    const StageBounds& b = l_.bounds.at(s.name);
    Substitution map;
    for (size_t a = 0; a < s.axes.size(); ++a) map[s.axes[a].var.node()] = b.value[a];
    for (size_t a = 0; a < s.reduce_axes.size(); ++a) map[s.reduce_axes[a].var.node()] = b.value[s.axes.size() + a];
    return map;
  }

  // Accesses to tensors in LDS and registers count from the region's first element.
  Expr localize(const Expr& e) const {
    const Expr mapped = map_children(e, [&](const Expr& child) { return localize(child); });
    const auto* load = as<LoadNode>(mapped);
    if (!load) return mapped;
    size_t output = 0;
    const StageBounds* b = bounds_of(*load->tensor, &output);
    if (!b) return mapped;
    return make_load(b->local[output], local_indices(*b, load->indices));
  }

  static std::vector<Expr> local_indices(const StageBounds& b, const std::vector<Expr>& indices) {
    if (b.scope == Scope::global) return indices;
    std::vector<Expr> result;
    for (size_t d = 0; d < indices.size(); ++d) result.push_back(simplify(indices[d] - b.store_min[d]));
    return result;
  }

  Expr element(const Stage& s, const Expr& e) const { return localize(substitute(e, axis_values(s))); }

  std::vector<Expr> store_indices(const Stage& s) const {
    const StageBounds& b = l_.bounds.at(s.name);
    return local_indices(b, {b.value.begin(), b.value.begin() + static_cast<int64_t>(s.axes.size())});
  }

  static Stmt guarded(const std::vector<Expr>& guards, Stmt body) {
    return guards.empty() ? body : make_branch(conjunction(guards), std::move(body));
  }

  Stmt stores(const Stage& s, const std::vector<Expr>& guards) const {
    const StageBounds& b = l_.bounds.at(s.name);
    std::vector<Stmt> result;
    for (size_t o = 0; o < s.outputs.size(); ++o)
      result.push_back(make_store(b.local[o], store_indices(s), element(s, without_reduction(s, s.body[o]))));
    return guarded(guards, make_block(std::move(result)));
  }

  // A reduction over no axis cannot be written; one whose axes all have a loop never gets here.
  static Expr without_reduction(const Stage& s, const Expr& e) {
    LATHE_CHECK(s.reduce_axes.empty(), "a reduction without a loop in " + s.name);
    return e;
  }

  // ---- reductions: start values, updates, and what is done with the result
  Stmt reduction(const Stage& s, size_t depth, const std::vector<Expr>& guards) {
    const StageBounds& b = l_.bounds.at(s.name);
    const ReduceNode& r = *find_reduce(s.body);
    const size_t components = r.sources.size();
    bool data_inside = false;
    for (size_t i = depth; i < s.leaves.size(); ++i) data_inside |= !is_reduction_leaf(s, i);
    bool bare = s.body.size() == components;  // the stage's outputs are the accumulators themselves
    for (size_t o = 0; o < s.body.size() && bare; ++o) {
      const auto* component = as<ReduceNode>(s.body[o]);
      bare = component && component->index == static_cast<int>(o);
    }
    const std::vector<LoopKind> work_items = across(s);
    if (data_inside && !work_items.empty())
      throw Error("stage " + s.name, fmt::format("a data loop runs inside its reduction, of which a loop is bound to {}", to_string(work_items[0])),
                  "reorder the data loops outside of the reduction's loops");
    for (int leaf : s.leaves)
      if (!work_items.empty() && s.loops[leaf].kind == LoopKind::vectorized)
        throw Error("stage " + s.name, fmt::format("a loop of its reduction is bound to {}, and {}.{} is vectorized", to_string(work_items[0]), s.name, s.loops[leaf].name),
                    fmt::format("unroll {}.{}: work-items combine one element at a time", s.name, s.loops[leaf].name));
    if (data_inside && !bare)
      throw Error("stage " + s.name, "a data loop runs inside a reduction loop, and the result is converted or used further",
                  fmt::format("cache_write {} first, so that the sums have a place of their own", s.name));
    const bool in_place = bare && work_items.empty() && (data_inside || b.scope != Scope::global);

    std::vector<Tensor> accumulators;
    for (size_t c = 0; c < components; ++c)
      accumulators.push_back(in_place ? b.local[c]
                                      : make_tensor(fmt::format("{}_acc{}", s.name, components > 1 ? std::to_string(c) : ""),
                                                    r.sources[c].type(), {}));
    const std::vector<Expr> at = in_place ? store_indices(s) : std::vector<Expr>{};
    const std::vector<Expr> start_guards = in_place ? guards : std::vector<Expr>{};

    // Start values, over the data loops that run inside the reduction.
    std::vector<Stmt> start;
    for (size_t c = 0; c < components; ++c) start.push_back(make_store(accumulators[c], at, r.combiner->identity[c]));
    Stmt init = guarded(start_guards, make_block(std::move(start)));
    Substitution fresh;
    for (size_t i = s.leaves.size(); i-- > depth;) {
      if (is_reduction_leaf(s, i)) continue;
      const StageLoop& loop = s.loops[s.leaves[i]];
      const Var var(loop.name);
      fresh[loop.var.node()] = var;
      init = make_loop(loop.kind, var, 0, b.loop_extent[s.leaves[i]], init);
    }
    init = substitute(init, fresh);

    std::vector<Expr> update_guards = start_guards;
    update_guards.insert(update_guards.end(), b.reduce_guards.begin(), b.reduce_guards.end());
    // The accumulator outside the data guards: the sources may lie beyond a tensor's edge.
    if (!in_place) update_guards.insert(update_guards.begin(), guards.begin(), guards.end());
    Stmt update = guarded(update_guards, update_stores(s, r, accumulators, at));
    for (size_t i = s.leaves.size(); i-- > depth;) {
      update = with_children(s, i, update);
      if (!is_across(s, i)) update = loop(s, i, update);
    }

    if (in_place) return make_block({init, update});
    std::function<Expr(const Expr&)> finish = [&](const Expr& e) {
      if (const auto* component = as<ReduceNode>(e)) return make_load(accumulators[component->index], {});
      return map_children(e, finish);
    };
    std::vector<Stmt> results;
    for (size_t o = 0; o < s.outputs.size(); ++o)
      results.push_back(make_store(b.local[o], store_indices(s), element(s, finish(s.body[o]))));
    // Each work-item reduces its share; then they combine. The first one stores what is not its own.
    std::vector<Expr> result_guards = guards;
    Stmt combination = make_block({});
    int64_t width = 1;
    for (size_t i = depth; i < s.leaves.size(); ++i) {
      if (!is_across(s, i)) continue;
      width *= *as_constant(b.loop_extent[s.leaves[i]]);
      if (b.scope != Scope::registers) result_guards.push_back(s.loops[s.leaves[i]].var == 0);
    }
    if (!work_items.empty()) combination = make_combine(accumulators, r.combiner, work_items, width);
    Stmt whole = make_block({init, update, combination, guarded(result_guards, make_block(std::move(results)))});
    for (const Tensor& a : accumulators) whole = make_alloc(a, Scope::registers, whole);
    for (size_t i = s.leaves.size(); i-- > depth;)
      if (is_across(s, i)) whole = loop(s, i, whole);
    return whole;
  }

  Stmt update_stores(const Stage& s, const ReduceNode& r, const std::vector<Tensor>& accumulators, const std::vector<Expr>& at) {
    // Sources first: the accumulators are already local, with their own indices.
    std::vector<Expr> sources;
    for (const Expr& e : r.sources) sources.push_back(element(s, e));
    const Expr local = make_reduce(r.combiner, sources, r.axes, 0);
    std::vector<Expr> old;
    for (const Tensor& a : accumulators) old.push_back(make_load(a, at));
    const std::vector<Expr> updated = combine(*as<ReduceNode>(local), old);
    if (updated.size() == 1) return make_store(accumulators[0], at, updated[0]);
    // All components are computed before any is overwritten.
    std::vector<Stmt> stmts;
    std::vector<Tensor> next;
    for (size_t c = 0; c < updated.size(); ++c) {
      next.push_back(make_tensor(fmt::format("{}_next{}", s.name, c), updated[c].type(), {}));
      stmts.push_back(make_store(next[c], {}, updated[c]));
    }
    for (size_t c = 0; c < updated.size(); ++c) stmts.push_back(make_store(accumulators[c], at, make_load(next[c], {})));
    Stmt body = make_block(std::move(stmts));
    for (const Tensor& t : next) body = make_alloc(t, Scope::registers, body);
    return body;
  }

  Lowering& l_;
  BoundIndices indices_;
  std::map<std::string, int64_t> shared_bytes_;
};

}  // namespace

void build_loops(Lowering& l) { Builder(l).run(); }

}  // namespace lathe
