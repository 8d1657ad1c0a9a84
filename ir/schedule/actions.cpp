#include "ir/schedule/actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/print.h"
#include "ir/visit.h"
#include "runtime/base/error.h"
#include "runtime/base/target.h"

namespace lathe {
namespace {

// The constant extent of a loop where the steps alone say it (an axis of constant extent and what splits and fuses
// make of it); nullopt when it depends on a shape symbol or on where the stage is computed.
std::optional<int64_t> constant_extent(const Stage& stage, int loop) {
  const int axes = static_cast<int>(stage.axes.size()), roots = axes + static_cast<int>(stage.reduce_axes.size());
  if (loop < roots) {
    // Inside another stage, only the part that is needed is computed: its size is known when loops are built.
    if (loop < axes && stage.attach == AttachKind::at) return std::nullopt;
    const Axis& axis = loop < axes ? stage.axes[loop] : stage.reduce_axes[loop - axes];
    const int64_t* extent = as_constant(axis.extent);
    return extent ? std::optional(*extent) : std::nullopt;
  }
  for (const LoopRelation& r : stage.relations) {
    if (r.kind == LoopRelation::Kind::fuse && r.fused == loop) {
      const auto a = constant_extent(stage, r.outer), b = constant_extent(stage, r.inner);
      return a && b ? std::optional(*a * *b) : std::nullopt;
    }
    if (r.kind == LoopRelation::Kind::split && (r.outer == loop || r.inner == loop)) {
      if ((r.inner == loop) != r.by_parts) return r.factor;
      const auto whole = constant_extent(stage, r.fused);
      return whole ? std::optional((*whole + r.factor - 1) / r.factor) : std::nullopt;
    }
  }
  return std::nullopt;
}

class Action {
 public:
  Action(std::vector<Stage>& stages, const Step& step) : stages_(stages), step_(step), where_(to_string(step)) {}

  void run() {
    switch (step_.kind) {
      case StepKind::split: return split(step_.axes[0], step_.results[0], step_.results[1], step_.numbers[0], false);
      case StepKind::split_parts: return split(step_.axes[0], step_.results[0], step_.results[1], step_.numbers[0], true);
      case StepKind::fuse: return fuse();
      case StepKind::tile: return tile();
      case StepKind::reorder: return reorder(step_.axes);
      case StepKind::bind: return bind();
      case StepKind::vectorize: return mark(LoopKind::vectorized);
      case StepKind::unroll: return mark(LoopKind::unrolled);
      case StepKind::compute_at: return compute_at();
      case StepKind::compute_inline: return compute_inline();
      case StepKind::compute_root: return compute_root();
      case StepKind::cache_read: return cache_read();
      case StepKind::cache_write: return cache_write();
      case StepKind::set_scope: return set_scope();
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const { throw Error(where_, what, hint); }

  Stage& stage(const std::string& name) {
    std::string known;
    for (Stage& s : stages_)
      for (const Tensor& t : s.outputs) {
        if (t.name() == name) {
          if (s.attach == AttachKind::inlined && step_.kind != StepKind::compute_root)
            refuse(fmt::format("{} is inlined: it has no loops of its own", name), "compute_root it first");
          return s;
        }
        known += (known.empty() ? "" : ", ") + t.name();
      }
    refuse(fmt::format("there is no stage {}", name), "the stages are " + known);
  }

  int leaf(Stage& s, const std::string& name) {
    std::string known;
    for (int l : s.leaves) {
      if (s.loops[l].name == name) return l;
      known += (known.empty() ? "" : ", ") + s.name + "." + s.loops[l].name;
    }
    for (const StageLoop& l : s.loops)
      if (l.name == name) refuse(fmt::format("{}.{} was split or fused away", s.name, name), "the loops are " + known);
    refuse(fmt::format("{} has no loop {}", s.name, name), known.empty() ? "it has no loops" : "the loops are " + known);
  }

  int plain_leaf(Stage& s, const std::string& name) {
    const int l = leaf(s, name);
    if (s.loops[l].kind != LoopKind::serial)
      refuse(fmt::format("{}.{} is {} already", s.name, name, to_string(s.loops[l].kind)),
             "split, fuse and reorder loops before they are bound, vectorized or unrolled");
    return l;
  }

  // A loop that another stage is computed in stays as it is.
  void unoccupied(const Stage& s, int loop) const {
    for (const Stage& other : stages_)
      if (other.attach == AttachKind::at && other.attach_stage == s.name && other.attach_loop == s.loops[loop].name)
        refuse(fmt::format("{} is computed inside {}.{}", other.name, s.name, s.loops[loop].name),
               "put compute_at after the steps that change the loop, or compute_root that stage first");
  }

  int add_loop(Stage& s, const std::string& name, bool is_reduction) {
    if (is_reserved(name)) refuse(fmt::format("\"{}\" is a word of the language", name), "choose another name");
    for (const StageLoop& l : s.loops)
      if (l.name == name) refuse(fmt::format("{} has a loop {} already", s.name, name), "give the new loop another name");
    s.loops.push_back({name, is_reduction, LoopKind::serial, Var(name)});
    return static_cast<int>(s.loops.size()) - 1;
  }

  void split(const AxisName& axis, const std::string& outer_name, const std::string& inner_name, int64_t factor, bool parts) {
    Stage& s = stage(axis.stage);
    const int l = plain_leaf(s, axis.axis);
    unoccupied(s, l);
    if (factor < 1 || factor > (int64_t{1} << 31))
      refuse(fmt::format("{} {} is out of range", parts ? "the number of parts" : "the factor", factor), "use 1 to 2147483648");
    const bool reduction = s.loops[l].is_reduction;
    const int outer = add_loop(s, outer_name, reduction), inner = add_loop(s, inner_name, reduction);
    s.relations.push_back({LoopRelation::Kind::split, outer, inner, l, factor, parts});
    auto at = std::find(s.leaves.begin(), s.leaves.end(), l);
    *at = outer;
    s.leaves.insert(at + 1, inner);
  }

  void fuse() {
    if (step_.axes.size() < 2) refuse("there is one loop to fuse", "name two or more");
    Stage& s = stage(step_.axes[0].stage);
    int fused = plain_leaf(s, step_.axes[0].axis);
    unoccupied(s, fused);
    for (size_t i = 1; i < step_.axes.size(); ++i) {
      if (step_.axes[i].stage != s.name) refuse("the loops belong to two stages", "fuse loops of one stage");
      const int next = plain_leaf(s, step_.axes[i].axis);
      unoccupied(s, next);
      auto at = std::find(s.leaves.begin(), s.leaves.end(), fused);
      if (at + 1 == s.leaves.end() || at[1] != next)
        refuse(fmt::format("{}.{} does not stand right inside {}.{}", s.name, s.loops[next].name, s.name, s.loops[fused].name),
               "reorder the loops first");
      if (s.loops[fused].is_reduction != s.loops[next].is_reduction)
        refuse("one loop is a reduction, the other is not", "fuse data loops with data loops");
      const bool last = i + 1 == step_.axes.size();
      const int merged = add_loop(s, last ? step_.results[0] : fmt::format("{}_part{}", step_.results[0], i), s.loops[next].is_reduction);
      s.relations.push_back({LoopRelation::Kind::fuse, fused, next, merged});
      at = std::find(s.leaves.begin(), s.leaves.end(), fused);
      *at = merged;
      s.leaves.erase(at + 1);
      fused = merged;
    }
  }

  void tile() {
    const auto& r = step_.results;
    const AxisName &i = step_.axes[0], &j = step_.axes[1];
    if (i == j) refuse("both loops are the same", "name two loops");
    if (i.stage != j.stage) refuse("the loops belong to two stages", "tile two loops of one stage");
    split(i, r[0], r[2], step_.numbers[0], false);
    split(j, r[1], r[3], step_.numbers[1], false);
    reorder({{i.stage, r[0]}, {i.stage, r[1]}, {i.stage, r[2]}, {i.stage, r[3]}});
  }

  void reorder(const std::vector<AxisName>& axes) {
    Stage& s = stage(axes[0].stage);
    std::vector<int> wanted;
    for (const AxisName& a : axes) {
      if (a.stage != s.name) refuse("the loops belong to two stages", "reorder loops of one stage");
      const int l = leaf(s, a.axis);
      if (std::find(wanted.begin(), wanted.end(), l) != wanted.end())
        refuse(fmt::format("{}.{} stands twice", s.name, a.axis), "name each loop once");
      wanted.push_back(l);
    }
    size_t next = 0;
    for (int& l : s.leaves)
      if (std::find(wanted.begin(), wanted.end(), l) != wanted.end()) l = wanted[next++];
  }

  void bind() {
    Stage& s = stage(step_.axes[0].stage);
    const int l = plain_leaf(s, step_.axes[0].axis);
    LoopKind kind = LoopKind::serial;
    for (LoopKind k : {block_x, block_y, block_z, thread_x, thread_y, thread_z})
      if (to_string(k) == step_.word) kind = k;
    if (s.loops[l].is_reduction)
      refuse(fmt::format("{}.{} is a reduction loop: its iterations depend on one another", s.name, s.loops[l].name),
             "bind data loops; split the reduction off with a stage of its own");
    for (int other : s.leaves)
      if (s.loops[other].kind == kind)
        refuse(fmt::format("{}.{} is bound to {} already", s.name, s.loops[other].name, step_.word), "use another index");
    s.loops[l].kind = kind;
    if (!is_thread(kind)) return;
    int64_t product = 1;
    for (int other : s.leaves) {
      if (!is_thread(s.loops[other].kind)) continue;
      const auto extent = constant_extent(s, other);
      if (!extent) continue;
      if (*extent > max_group_extent)
        refuse(fmt::format("{}.{} has extent {}, {} takes at most {}", s.name, s.loops[other].name, *extent,
                           to_string(s.loops[other].kind), max_group_extent),
               fmt::format("split it by at most {} first", max_group_extent));
      product *= *extent;
    }
    if (product > max_threads_per_group)
      refuse(fmt::format("the work-group would have {} work-items, at most {} are possible", product, max_threads_per_group),
             "use smaller split factors");
  }

  void mark(LoopKind kind) {
    Stage& s = stage(step_.axes[0].stage);
    const int l = plain_leaf(s, step_.axes[0].axis);
    const auto extent = constant_extent(s, l);
    const bool vector = kind == LoopKind::vectorized;
    if (vector) unoccupied(s, l);
    if (vector && s.loops[l].is_reduction)
      refuse(fmt::format("{}.{} is a reduction loop: its lanes would write one element", s.name, s.loops[l].name),
             "vectorize a data loop");
    const int64_t most = vector ? 64 : 1024;
    if (extent && *extent > most)
      refuse(fmt::format("{}.{} has extent {}, at most {} can be {}", s.name, s.loops[l].name, *extent, most, to_string(kind)),
             "split it by a smaller factor first");
    s.loops[l].kind = kind;
  }

  bool reads(const Stage& reader, const Stage& produced) const {
    for (const Tensor& t : reads_of(reader))
      for (const Tensor& o : produced.outputs)
        if (o.same_as(t)) return true;
    return false;
  }

  // Does `consumer` need `producer`, perhaps through other stages? Producers stand before consumers.
  bool depends_on(const Stage& consumer, const Stage& producer) const {
    std::vector<const Stage*> needed = {&consumer};
    for (size_t i = stages_.size(); i-- > 0;) {
      const bool is_read = std::any_of(needed.begin(), needed.end(), [&](const Stage* s) { return reads(*s, stages_[i]); });
      if (!is_read) continue;
      if (&stages_[i] == &producer) return true;
      needed.push_back(&stages_[i]);
    }
    return false;
  }

  void compute_at() {
    Stage& s = stage(step_.tensors[0]);
    Stage& consumer = stage(step_.axes[0].stage);
    if (s.is_output)
      refuse(fmt::format("{} is an output: it is computed whole, at the root", s.name), "compute_at serves stages in between");
    if (consumer.loops[leaf(consumer, step_.axes[0].axis)].kind == LoopKind::vectorized)
      refuse(fmt::format("{}.{} is vectorized", consumer.name, step_.axes[0].axis), "compute it at a loop further out");
    if (!depends_on(consumer, s))
      refuse(fmt::format("{} does not read {}", consumer.name, s.name), "compute a stage inside one that needs it");
    if (s.scope == Scope::global)
      refuse(fmt::format("{} lives in global memory", s.name), "set_scope it to shared or register first");
    s.attach = AttachKind::at;
    s.attach_stage = consumer.name;
    s.attach_loop = step_.axes[0].axis;
  }

  void compute_inline() {
    Stage& s = stage(step_.tensors[0]);
    if (s.is_output) refuse(fmt::format("{} is an output", s.name), "outputs are computed at the root");
    if (find_reduce(s.body))
      refuse(fmt::format("{} is a reduction: inlining would repeat it for every use", s.name), "compute_at it inside its consumer");
    if (s.body.size() > 1) refuse(fmt::format("{} has several outputs", s.name), "compute_at it inside its consumer");
    if (s.touched()) refuse(fmt::format("{} has loops that steps changed", s.name), "inline a stage before anything else");
    for (const Stage& other : stages_)
      if (other.attach == AttachKind::at && other.attach_stage == s.name)
        refuse(fmt::format("{} is computed inside it", other.name), "compute_root that stage first");
    s.attach = AttachKind::inlined;
  }

  void compute_root() {
    Stage& s = stage(step_.tensors[0]);
    s.attach = AttachKind::root;
    s.attach_stage = s.attach_loop = "";
  }

  Scope scope_of_word() const {
    for (Scope scope : {Scope::global, Scope::shared, Scope::registers})
      if (to_string(scope) == step_.word) return scope;
    return Scope::global;
  }

  void new_tensor_name(const std::string& name) const {
    if (is_reserved(name)) refuse(fmt::format("\"{}\" is a word of the language", name), "choose another name");
    for (const Stage& s : stages_) {
      for (const Tensor& t : s.outputs)
        if (t.name() == name) refuse(fmt::format("there is a tensor {} already", name), "choose another name");
      for (const Tensor& t : reads_of(s))
        if (t.name() == name) refuse(fmt::format("there is a tensor {} already", name), "choose another name");
    }
  }

  static Expr redirect(const Expr& e, const Tensor& from, const Tensor& to) {
    Expr mapped = map_children(e, [&](const Expr& child) { return redirect(child, from, to); });
    const auto* load = as<LoadNode>(mapped);
    return load && load->tensor.get() == from.get() ? make_load(to, load->indices) : mapped;
  }

  void cache_read() {
    const std::string& name = step_.results[0];
    new_tensor_name(name);
    Tensor source;
    std::vector<size_t> readers;
    for (size_t i = 1; i < step_.tensors.size(); ++i) {
      Stage& reader = stage(step_.tensors[i]);
      bool found = false;
      for (const Tensor& t : reads_of(reader))
        if (t.name() == step_.tensors[0]) {
          source = t;
          found = true;
        }
      if (!found) {
        std::string known;
        for (const Tensor& t : reads_of(reader)) known += (known.empty() ? "" : ", ") + t.name();
        refuse(fmt::format("{} does not read {}", reader.name, step_.tensors[0]), fmt::format("it reads {}", known));
      }
      readers.push_back(static_cast<size_t>(&reader - stages_.data()));
    }
    // The copy: name[i, j, …] = source[i, j, …], axes named ax0, ax1, …
    auto* definition = new DefinitionNode;
    const Definition owner(definition);
    std::vector<Expr> indices;
    for (int d = 0; d < source.rank(); ++d) {
      definition->axes.push_back({Var(fmt::format("ax{}", d)), source.shape()[d]});
      indices.push_back(definition->axes.back().var);
    }
    definition->names = {name};
    definition->body = {make_load(source, indices)};
    const Tensor copy = make_tensor(name, source.type(), source.shape(), owner);
    for (size_t r : readers)
      for (Expr& e : stages_[r].body) e = redirect(e, source, copy);
    Stage s = make_stage(name, {copy}, *definition);
    s.scope = scope_of_word();
    stages_.insert(stages_.begin() + static_cast<int64_t>(*std::min_element(readers.begin(), readers.end())), std::move(s));
  }

  void cache_write() {
    const std::string& name = step_.results[0];
    new_tensor_name(name);
    Stage& s = stage(step_.tensors[0]);
    if (s.body.size() > 1) refuse(fmt::format("{} has several outputs", s.name), "stage tensors with one output");
    if (s.touched() || !std::is_sorted(s.leaves.begin(), s.leaves.end()))
      refuse(fmt::format("{} has loops that steps changed", s.name), "cache_write before splitting, reordering, binding or compute_at");
    for (int l : s.leaves)
      if (s.loops[l].kind != LoopKind::serial) refuse(fmt::format("{} has bound loops", s.name), "cache_write before binding");

    // The new stage takes the body, or the reduction in it with its accumulator's type; the old one finishes it.
    const ReduceNode* reduction = find_reduce(s.body);
    const Expr kernel = reduction ? Expr(reduction) : s.body[0];
    auto* definition = new DefinitionNode;
    const Definition owner(definition);
    Substitution fresh;
    std::vector<Expr> indices;
    for (const Axis& a : s.axes) {
      definition->axes.push_back({Var(a.var.name()), a.extent});
      fresh[a.var.node()] = definition->axes.back().var;
      indices.push_back(a.var);
    }
    definition->names = {name};
    definition->body = {substitute(kernel, fresh)};
    const Tensor written = make_tensor(name, kernel.type(), s.outputs[0].shape(), owner);
    std::function<Expr(const Expr&)> finish = [&](const Expr& e) {
      return e.same_as(kernel) ? make_load(written, indices) : map_children(e, finish);
    };
    s.body = {finish(s.body[0])};
    Stage producer = make_stage(name, {written}, *definition);
    producer.scope = scope_of_word();
    // The old stage keeps its data loops only.
    s.reduce_axes.clear();
    s.loops.erase(s.loops.begin() + static_cast<int64_t>(s.axes.size()), s.loops.end());
    s.leaves.clear();
    for (int i = 0; i < static_cast<int>(s.loops.size()); ++i) s.leaves.push_back(i);
    stages_.insert(stages_.begin() + (&s - stages_.data()), std::move(producer));
  }

  void set_scope() {
    Stage& s = stage(step_.tensors[0]);
    const Scope scope = scope_of_word();
    if (s.is_output && scope != Scope::global)
      refuse(fmt::format("{} is an output", s.name), "outputs live in global memory; use cache_write to stage one");
    if (scope == Scope::global && s.attach == AttachKind::at)
      refuse(fmt::format("{} is computed inside {}", s.name, s.attach_stage), "global tensors are computed at the root");
    s.scope = scope;
  }

  std::vector<Stage>& stages_;
  const Step& step_;
  std::string where_;
};

}  // namespace

Stage make_stage(std::string name, std::vector<Tensor> outputs, const DefinitionNode& definition) {
  Stage s;
  s.name = std::move(name);
  s.outputs = std::move(outputs);
  s.axes = definition.axes;
  s.body = definition.body;
  if (const ReduceNode* r = find_reduce(s.body)) s.reduce_axes = r->axes;
  for (const Axis& a : s.axes) s.loops.push_back({a.var.name(), false, LoopKind::serial, Var(a.var.name())});
  for (const Axis& a : s.reduce_axes) s.loops.push_back({a.var.name(), true, LoopKind::serial, Var(a.var.name())});
  for (size_t i = 0; i < s.loops.size(); ++i) s.leaves.push_back(static_cast<int>(i));
  return s;
}

void apply_step(std::vector<Stage>& stages, const Step& step) {
  check_step(step);
  Action(stages, step).run();
}

}  // namespace lathe
