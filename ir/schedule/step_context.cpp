#include "ir/schedule/step_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/print.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {

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

void StepContext::refuse(const std::string& what, const std::string& hint) const { throw Error(to_string(step), what, hint); }

Stage& StepContext::stage(const std::string& name) {
  std::string known;
  for (Stage& s : stages)
    for (const Tensor& t : s.outputs) {
      if (t.name() == name) {
        if (s.attach == AttachKind::inlined && step.keyword != "compute_root")
          refuse(fmt::format("{} is inlined: it has no loops of its own", name), "compute_root it first");
        return s;
      }
      known += (known.empty() ? "" : ", ") + t.name();
    }
  refuse(fmt::format("there is no stage {}", name), "the stages are " + known);
}

int StepContext::leaf(Stage& s, const std::string& name) const {
  std::string known;
  for (int l : s.leaves) {
    if (s.loops[l].name == name) return l;
    known += (known.empty() ? "" : ", ") + s.name + "." + s.loops[l].name;
  }
  for (const StageLoop& l : s.loops)
    if (l.name == name) refuse(fmt::format("{}.{} was split or fused away", s.name, name), "the loops are " + known);
  refuse(fmt::format("{} has no loop {}", s.name, name), known.empty() ? "it has no loops" : "the loops are " + known);
}

int StepContext::plain_leaf(Stage& s, const std::string& name) const {
  const int l = leaf(s, name);
  if (s.loops[l].kind != LoopKind::serial)
    refuse(fmt::format("{}.{} is {} already", s.name, name, to_string(s.loops[l].kind)),
           "split, fuse and reorder loops before they are bound, vectorized or unrolled");
  if (s.loops[l].stages > 1) refuse(fmt::format("{}.{} is pipelined already", s.name, name), "pipeline a loop after the steps that change it");
  return l;
}

void StepContext::unoccupied(const Stage& s, int loop) const {
  for (const Stage& other : stages)
    if ((other.attach == AttachKind::at || other.attach == AttachKind::with) && other.attach_stage == s.name && other.attach_loop == s.loops[loop].name)
      refuse(fmt::format("{} is computed inside {}.{}", other.name, s.name, s.loops[loop].name),
             "put compute_at after the steps that change the loop, or compute_root that stage first");
}

int StepContext::add_loop(Stage& s, const std::string& name, bool is_reduction) {
  if (is_reserved(name)) refuse(fmt::format("\"{}\" is a word of the language", name), "choose another name");
  for (const StageLoop& l : s.loops)
    if (l.name == name) refuse(fmt::format("{} has a loop {} already", s.name, name), "give the new loop another name");
  s.loops.push_back({name, is_reduction, LoopKind::serial, Var(name)});
  return static_cast<int>(s.loops.size()) - 1;
}

std::array<int, 2> StepContext::split(Stage& s, int loop, const std::array<std::string, 2>& names, int64_t factor, bool by_parts, Tail tail) {
  const bool reduction = s.loops[loop].is_reduction;
  const int outer = add_loop(s, names[0], reduction), inner = add_loop(s, names[1], reduction);
  s.relations.push_back({LoopRelation::Kind::split, outer, inner, loop, factor, by_parts, tail});
  auto at = std::find(s.leaves.begin(), s.leaves.end(), loop);
  *at = outer;
  s.leaves.insert(at + 1, inner);
  return {outer, inner};
}

void StepContext::new_tensor_name(const std::string& name) const {
  if (is_reserved(name)) refuse(fmt::format("\"{}\" is a word of the language", name), "choose another name");
  for (const Stage& s : stages) {
    for (const Tensor& t : s.outputs)
      if (t.name() == name) refuse(fmt::format("there is a tensor {} already", name), "choose another name");
    for (const Tensor& t : reads_of(s))
      if (t.name() == name) refuse(fmt::format("there is a tensor {} already", name), "choose another name");
  }
}

bool StepContext::reads(const Stage& reader, const Stage& produced) const {
  for (const Tensor& t : reads_of(reader))
    for (const Tensor& o : produced.outputs)
      if (o.same_as(t)) return true;
  return false;
}

bool StepContext::depends_on(const Stage& consumer, const Stage& producer) const {
  std::vector<const Stage*> needed = {&consumer};
  for (size_t i = stages.size(); i-- > 0;) {
    const bool is_read = std::any_of(needed.begin(), needed.end(), [&](const Stage* s) { return reads(*s, stages[i]); });
    if (!is_read) continue;
    if (&stages[i] == &producer) return true;
    needed.push_back(&stages[i]);
  }
  return false;
}

Scope StepContext::scope() const {
  for (Scope scope : {Scope::global, Scope::shared, Scope::registers})
    if (to_string(scope) == step.word) return scope;
  return Scope::global;
}

}  // namespace lathe
