// infer_bounds: how much of each stage is computed where, and how far each loop runs.
//
//   before  C[i] = A_shared[i - 1] + A_shared[i + 1], A_shared computed at C.i0, C.i split by 64
//   after   A_shared: min [i0 * 64 - 1], extent [66]; C.i0 runs to ceil(n / 64), C.i1 to 64, guard i0 * 64 + i1 < n
//
// Consumers come first: what they read, with the loops around the producer held fixed, is the region the producer
// computes. The region is isl's exact hull of all accesses; an access that is not quasi-affine asks for the whole
// dimension. It stands before build_loops, which needs every extent.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/passes/passes.h"
#include "compiler/passes/with_facts.h"
#include "ir/print.h"
#include "ir/schedule/loop_values.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

class Inference {
 public:
  explicit Inference(Lowering& l) : l_(l), symbols_(symbol_facts(l.function)) {}

  void run() {
    for (size_t i = l_.stages.size(); i-- > 0;) infer(l_.stages[i]);
  }

 private:
  void infer(const Stage& s) {
    StageBounds& b = l_.bounds[s.name];
    const std::vector<EnclosingLoop> around = enclosing_loops(l_, s);
    sliding_.reset();
    b.scope = scope_of(s, around);
    if (!s.layout.plain() && b.scope != Scope::shared)
      throw Error(s.layout.vector > 0 ? "swizzle " + s.name : fmt::format("storage_align {}.{}", s.name, s.axes[static_cast<size_t>(s.layout.aligned_axis)].var.name()),
                  fmt::format("{} lives in {} memory", s.name, to_string(b.scope)), "only LDS has banks: set_scope it to shared");
    if (s.attach == AttachKind::at)
      region(s, b, around);
    else
      for (const Axis& a : s.axes) {
        b.min.push_back(0);
        b.extent.push_back(a.extent);
      }
    extents(s, b);
    if (s.store_stage.empty()) {
      b.store_min = b.min;
      b.store_extent = b.extent;
    }
    values(s, b);
    b.facts = symbols_;
    for (const EnclosingLoop& e : around)
      b.facts.add_range(e.stage->loops[e.loop].var, 0, l_.bounds.at(e.stage->name).loop_extent[e.loop]);
    for (int leaf : s.leaves)
      if (!s.loops[leaf].is_reduction) b.facts.add_range(s.loops[leaf].var, 0, b.loop_extent[leaf]);
    Facts stored = b.facts;  // an element is stored even if its reduction has nothing to add
    for (int leaf : s.leaves)
      if (s.loops[leaf].is_reduction) b.facts.add_range(s.loops[leaf].var, 0, b.loop_extent[leaf]);
    guards(s, b, stored);
  }

  // A stage that no step gave a scope lives where it is computed: inside a work-item's loops in registers, inside a
  // work-group's in LDS, at the root in global memory.
  Scope scope_of(const Stage& s, const std::vector<EnclosingLoop>& around) const {
    if (s.scope) {
      if (*s.scope != Scope::global && s.attach != AttachKind::at)
        throw Error("stage " + s.name, fmt::format("it lives in {} memory but is computed at the root", to_string(*s.scope)),
                    "compute_at it inside a loop of the stage that reads it");
      return *s.scope;
    }
    if (s.attach != AttachKind::at) return Scope::global;
    bool block = false;
    for (const EnclosingLoop& e : around) {
      if (is_thread(e.stage->loops[e.loop].kind)) return Scope::registers;
      block |= is_block(e.stage->loops[e.loop].kind);
    }
    return block ? Scope::shared : Scope::registers;
  }

  // Of the loops around a stage, which ones its memory outlives: those from the result on. Between its iterations values are
  // kept, so they run one after the other.
  size_t outlived(const Stage& s, const StageBounds& b, const std::vector<EnclosingLoop>& around) const {
    if (s.store_stage.empty()) return around.size();
    const std::string where = fmt::format("store_at {} at {}.{}", s.name, s.store_stage, s.store_loop);
    size_t first = 0;
    for (size_t i = 0; i < around.size(); ++i)
      if (around[i].stage->name == s.store_stage && around[i].stage->loops[around[i].loop].name == s.store_loop) first = i + 1;
    if (first == 0)
      throw Error(where, fmt::format("it is no loop around {}.{}, at which {} is computed", s.attach_stage, s.attach_loop, s.name),
                  "store it at an outer loop of the nest that it is computed in");
    for (size_t i = first; i < around.size(); ++i) {
      const StageLoop& loop = around[i].stage->loops[around[i].loop];
      if (b.scope == Scope::shared && is_thread(loop.kind)) continue;
      if (loop.kind != LoopKind::serial && loop.kind != LoopKind::unrolled)
        throw Error(where, fmt::format("{}.{} in between is {}: its iterations have no memory in common", around[i].stage->name, loop.name, to_string(loop.kind)),
                    "store it inside that loop");
    }
    return first;
  }

  void region(const Stage& s, StageBounds& b, const std::vector<EnclosingLoop>& around) {
    const std::string where = fmt::format("compute_at {} at {}.{}", s.name, s.attach_stage, s.attach_loop);
    std::set<const VarNode*> fixed, kept;  // loops that the region is within one iteration of; and the memory's region
    const size_t outlives_from = outlived(s, b, around);
    for (size_t i = 0; i < around.size(); ++i) {
      const EnclosingLoop& e = around[i];
      const StageLoop& loop = e.stage->loops[e.loop];
      if (loop.kind == LoopKind::vectorized)
        throw Error(where, fmt::format("{}.{} is vectorized", e.stage->name, loop.name), "compute it at a loop further out");
      // All work-items of a group share one LDS region: it serves them all, and their virtual threads.
      if (b.scope == Scope::shared && (is_thread(loop.kind) || loop.kind == LoopKind::virtual_thread)) continue;
      fixed.insert(loop.var.node());
      if (i < outlives_from) kept.insert(loop.var.node());
    }
    for (const Var& symbol : l_.function.symbols) {
      fixed.insert(symbol.node());
      kept.insert(symbol.node());
    }
    const Facts::IsOuter is_outer = [&](const VarNode* v) { return fixed.count(v) != 0; };

    const size_t rank = s.axes.size();
    std::vector<std::vector<std::pair<Facts, Expr>>> reads(rank);
    for (const Stage& reader : l_.stages) {
      auto found = l_.bounds.find(reader.name);
      if (found == l_.bounds.end() || &reader == &s) continue;
      Substitution map;
      for (size_t a = 0; a < reader.axes.size(); ++a) map[reader.axes[a].var.node()] = found->second.value[a];
      for (size_t a = 0; a < reader.reduce_axes.size(); ++a)
        map[reader.reduce_axes[a].var.node()] = found->second.value[reader.axes.size() + a];
      for (const Expr& e : reader.body)
        walk(e, [&](const Expr& x) {
          if (const auto* load = as<LoadNode>(x))
            for (const Tensor& o : s.outputs)
              if (o.get() == load->tensor.get())
                for (size_t d = 0; d < rank; ++d) reads[d].emplace_back(found->second.facts, substitute(load->indices[d], map));
          return true;
        });
    }
    std::vector<Expr> last;  // the region's last element along each axis
    for (size_t d = 0; d < rank; ++d) {
      const auto hull = reads[d].empty() ? std::nullopt : Facts::hull(reads[d], is_outer);
      if (!hull) {  // an access that depends on data: all of it may be needed
        b.min.push_back(0);
        b.extent.push_back(s.axes[d].extent);
        b.covers_reads = false;
      } else {
        b.min.push_back(simplify(hull->min));
        const Expr size = simplify(hull->max - hull->min + 1);
        b.extent.push_back(hull->extent ? Expr(std::max<int64_t>(*hull->extent, 0)) : size);
        last.push_back(simplify(hull->max));
      }
      if (!s.store_stage.empty()) {
        const auto all = reads[d].empty() ? std::nullopt : Facts::hull(reads[d], [&](const VarNode* v) { return kept.count(v) != 0; });
        b.store_min.push_back(all ? simplify(all->min) : Expr(0));
        b.store_extent.push_back(!all ? s.axes[d].extent : all->extent ? Expr(std::max<int64_t>(*all->extent, 0)) : simplify(all->max - all->min + 1));
        if (!as_constant(b.store_extent[d]))
          throw Error(fmt::format("store_at {} at {}.{}", s.name, s.store_stage, s.store_loop),
                      fmt::format("{} elements of {} along {} are kept, which is not a constant", to_string(b.store_extent[d]), s.name, s.axes[d].var.name()),
                      "LDS and registers have a fixed size: store it at an inner loop");
      }
      if (!as_constant(b.extent[d]))
        throw Error(where, fmt::format("{} needs {} elements along {}, which is not a constant", s.name, to_string(b.extent[d]), s.axes[d].var.name()),
                    "LDS and registers have a fixed size: split the loops so that a tile of constant size is needed, or promise a constant shape");
    }
    if (outlives_from < around.size() && rank > 0 && last.size() == rank) slide(b, around, last);
  }

  // Where the region of the innermost loop's next iteration is the same but for moving on along one axis, what the one
  // before computed is left as it is.
  void slide(StageBounds& b, const std::vector<EnclosingLoop>& around, const std::vector<Expr>& last) {
    const EnclosingLoop& inner = around.back();
    const Var v = inner.stage->loops[inner.loop].var;
    std::optional<size_t> moving;
    for (size_t d = 0; d < last.size(); ++d) {
      if (!uses(b.min[d], v) && !uses(last[d], v)) continue;
      if (moving) return;
      moving = d;
    }
    const Substitution before = {{v.node(), v - 1}};
    Facts facts = symbols_;
    for (const EnclosingLoop& e : around) facts.add_range(e.stage->loops[e.loop].var, 0, l_.bounds.at(e.stage->name).loop_extent[e.loop]);
    facts.assume(v >= 1);
    if (moving && facts.prove(b.min[*moving] >= substitute(b.min[*moving], before)))
      sliding_ = {*moving, v == 0, simplify(substitute(last[*moving], before))};
    // Nothing moves: the first iteration computes it all.
    if (!moving) sliding_ = {0, v == 0, b.min[0] + b.extent[0]};
  }

  void extents(const Stage& s, StageBounds& b) {
    std::vector<Expr> axes = b.extent;
    for (const Axis& a : s.reduce_axes) axes.push_back(a.extent);
    b.loop_extent = loop_extents(s, axes, [&](const LoopRelation& r, std::vector<Expr>& extent) {
      if (r.tail == Tail::round_up) round_up(s, b, r, extent);
      if (r.tail == Tail::shift_inwards && !r.by_parts)
        require(s, r, extent[r.fused] >= r.factor, fmt::format("the extent {} is less than the factor", to_string(extent[r.fused])));
    });
    for (int leaf : s.leaves) {
      const StageLoop& loop = s.loops[leaf];
      const bool virtual_threads = loop.kind == LoopKind::virtual_thread;
      if (as_constant(b.loop_extent[leaf]) || (loop.kind != LoopKind::vectorized && loop.kind != LoopKind::unrolled && !virtual_threads)) continue;
      const std::string does = loop.kind == LoopKind::vectorized ? "vectorize" : virtual_threads ? "bind" : "unroll";
      throw Error(fmt::format("{} {}.{}{}", does, s.name, loop.name, virtual_threads ? " to virtual" : ""),
                  fmt::format("its extent {} is not a constant", to_string(b.loop_extent[leaf])),
                  fmt::format("split it by a small constant and {} the inner loop", does));
    }
  }

  // Whole multiples are computed: a region in local memory grows to hold them. Anywhere else, and in a reduction, which
  // would add up more than it should, the extent has to be a multiple.
  void round_up(const Stage& s, StageBounds& b, const LoopRelation& r, std::vector<Expr>& loops) {
    const Expr whole = loops[r.fused];
    const bool grows = s.attach == AttachKind::at && !s.loops[r.fused].is_reduction;
    const int64_t* size = as_constant(whole);
    if (grows && size && grow(s, b, loops, r.fused, (*size + r.factor - 1) / r.factor * r.factor)) return;
    require(s, r, whole % r.factor == 0, fmt::format("{} does not divide the extent {}", r.factor, to_string(whole)));
  }

  // Can the loop run to `extent`, further than it needs to? The outer one of a split reaches further than the split loop,
  // which is guarded or rounded up in turn; any other would run into the next iteration of the loop outside it.
  static bool grow(const Stage& s, StageBounds& b, std::vector<Expr>& loops, int loop, int64_t extent) {
    if (is_constant(loops[loop], extent)) return true;
    if (loop >= static_cast<int>(s.axes.size())) {
      const auto from = std::find_if(s.relations.begin(), s.relations.end(), [&](const LoopRelation& r) {
        return r.kind == LoopRelation::Kind::split && r.outer == loop;
      });
      if (from == s.relations.end()) return false;
      const int64_t* inner = as_constant(loops[from->inner]);
      if (from->tail == Tail::round_up && (!inner || !grow(s, b, loops, from->fused, extent * *inner))) return false;
    } else {
      b.extent[loop] = extent;
    }
    loops[loop] = extent;
    return true;
  }

  // What a tail needs of an extent: proved, checked at every launch, or refused.
  void require(const Stage& s, const LoopRelation& r, const Expr& condition, const std::string& otherwise) {
    if (symbols_.prove(condition)) return;
    const std::string where = fmt::format("split {}.{} -> {}, {} {} {}, tail {}", s.name, s.loops[r.fused].name, s.loops[r.outer].name,
                                          s.loops[r.inner].name, r.by_parts ? "into" : "by", r.factor, to_string(r.tail));
    if (symbols_.refute(condition)) throw Error(where, otherwise, "use tail guard, or another factor");
    l_.function.promises.push_back({condition, fmt::format("{}, needed because of \"{}\"", to_string(condition), where)});
    symbols_ = symbol_facts(l_.function);
  }

  void values(const Stage& s, StageBounds& b) {
    std::vector<Expr> value = loop_values(s, b.loop_extent);
    for (size_t i = 0; i < s.axes.size() + s.reduce_axes.size(); ++i)
      b.value.push_back(i < s.axes.size() ? simplify(b.min[i] + value[i]) : value[i]);
    split_values_ = std::move(value);
  }

  // The loops that run in place of `loop`.
  static std::vector<int> leaves_of(const Stage& s, int loop) {
    std::set<int> from = {loop};
    for (const LoopRelation& r : s.relations) {
      if (r.kind == LoopRelation::Kind::split && from.count(r.fused)) from.insert({r.outer, r.inner});
      if (r.kind == LoopRelation::Kind::fuse && (from.count(r.outer) || from.count(r.inner))) from.insert(r.fused);
    }
    std::vector<int> leaves;
    for (int leaf : s.leaves)
      if (from.count(leaf)) leaves.push_back(leaf);
    return leaves;
  }

  // May the last two tiles both write what they share? One work-item may, in turn; two would race, and sums that are
  // kept in the elements themselves, updated inside a reduction loop, would add up twice.
  bool may_write_twice(const Stage& s, const LoopRelation& r) const {
    const std::vector<int> tiles = leaves_of(s, r.fused);
    bool reduces = false, may = true;
    for (int leaf : s.leaves) {
      reduces |= s.loops[leaf].is_reduction;
      if (std::find(tiles.begin(), tiles.end(), leaf) != tiles.end()) may &= !reduces && !is_bound(s.loops[leaf].kind);
    }
    return may;
  }

  void guards(const Stage& s, StageBounds& b, Facts& stored) {
    auto need = [&](const Expr& condition, std::vector<Expr>& guards) {
      if (!(&guards == &b.reduce_guards ? b.facts : stored).prove(condition)) guards.push_back(condition);
    };
    for (const LoopRelation& r : s.relations) {
      if (!has_tail(r, b.loop_extent) || r.tail == Tail::round_up) continue;
      if (r.tail == Tail::shift_inwards) {  // the first tile that holds an element writes it
        if (!may_write_twice(s, r)) need(split_values_[r.fused] >= split_values_[r.outer] * b.loop_extent[r.inner], b.data_guards);
        continue;
      }
      const Expr inside = split_values_[r.fused] < b.loop_extent[r.fused];
      need(inside, s.loops[r.fused].is_reduction ? b.reduce_guards : b.data_guards);
      if (r.tail == Tail::predicate)
        for (int leaf : leaves_of(s, r.inner)) l_.predicated.push_back(s.loops[leaf].var);
      // Whoever is read inside this region need not cover what the tail leaves out.
      if (s.attach == AttachKind::at && as_constant(b.loop_extent[r.fused])) b.facts.assume(inside), stored.assume(inside);
    }
    Substitution map;
    for (size_t i = 0; i < b.value.size(); ++i) map[(i < s.axes.size() ? s.axes[i] : s.reduce_axes[i - s.axes.size()]).var.node()] = b.value[i];
    for (const Expr& condition : s.update_conditions) need(substitute(condition, map), b.reduce_guards);
    if (s.attach != AttachKind::at) return;
    if (sliding_) need(sliding_->first_iteration || simplify(b.value[sliding_->axis] - sliding_->known) > 0, b.data_guards);
    for (size_t d = 0; d < s.axes.size() && !s.store_stage.empty(); ++d) {
      need(b.value[d] >= b.store_min[d], b.data_guards);
      need(b.value[d] < simplify(b.store_min[d] + b.store_extent[d]), b.data_guards);
    }
    for (size_t d = 0; d < s.axes.size(); ++d) {
      need(b.value[d] >= 0, b.edge_guards);
      need(b.value[d] < s.axes[d].extent, b.edge_guards);
    }
  }

  Lowering& l_;
  // Of the stage at hand: what is left to compute after the first iteration, elements past `known` along `axis`.
  struct Sliding {
    size_t axis;
    Expr first_iteration, known;
  };

  Facts symbols_;
  std::optional<Sliding> sliding_;
  std::vector<Expr> split_values_;
};

}  // namespace

void infer_bounds(Lowering& l) { Inference(l).run(); }

}  // namespace lathe
