// Steps that change what a reduction is made of.
#include "ir/schedule/step_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "ir/schedule/loop_values.h"
#include "ir/schedule/step_context.h"
#include "ir/visit.h"

namespace lathe {
namespace {

// The stage keeps its data loops, and `kept` as its one reduction loop, which stands where it stood.
void reduce_over(Stage& s, int kept, const Axis& axis) {
  const int axes = static_cast<int>(s.axes.size());
  std::vector<StageLoop> loops(s.loops.begin(), s.loops.begin() + axes);
  std::vector<int> moved(s.loops.size(), -1);
  for (int i = 0; i < axes; ++i) moved[i] = i;
  moved[kept] = axes;
  loops.push_back(s.loops[kept]);
  for (int i = axes; i < static_cast<int>(s.loops.size()); ++i)
    if (!s.loops[i].is_reduction) {
      moved[i] = static_cast<int>(loops.size());
      loops.push_back(s.loops[i]);
    }
  std::erase_if(s.relations, [&](const LoopRelation& r) { return s.loops[r.outer].is_reduction; });
  for (LoopRelation& r : s.relations) r.outer = moved[r.outer], r.inner = moved[r.inner], r.fused = moved[r.fused];
  std::erase_if(s.leaves, [&](int l) { return moved[l] < 0; });
  for (int& l : s.leaves) l = moved[l];
  s.loops = std::move(loops);
  s.reduce_axes = {axis};
}

void rfactor(StepContext& c) {
  Stage& s = c.stage(c.step.axes[0].stage);
  const int factored = c.plain_leaf(s, c.step.axes[0].axis);
  const std::string loop = s.name + "." + s.loops[factored].name;
  if (!s.loops[factored].is_reduction) c.refuse(fmt::format("{} is a data loop", loop), "rfactor a loop of the reduction");
  std::vector<int> others;
  for (int l : s.leaves)
    if (l != factored && s.loops[l].is_reduction) others.push_back(c.plain_leaf(s, s.loops[l].name));
  if (others.empty())
    c.refuse(fmt::format("{} is the only loop of the reduction: there are no partial results", loop), "split it first");
  for (const Stage& other : c.stages)
    if (other.attach == AttachKind::at && other.attach_stage == s.name)
      c.refuse(fmt::format("{} is computed inside {}", other.name, s.name), "put compute_at after rfactor");
  const ReduceNode& r = *find_reduce(s.body);
  const Expr reduction(&r);  // stays alive while the body changes
  if (c.step.results.size() != r.sources.size())
    c.refuse(fmt::format("{} new names for the {} components of {}", c.step.results.size(), r.sources.size(), r.combiner->name),
             "name one tensor a component");
  for (size_t i = 0; i < c.step.results.size(); ++i) {
    c.new_tensor_name(c.step.results[i]);
    if (std::count(c.step.results.begin(), c.step.results.end(), c.step.results[i]) > 1)
      c.refuse(fmt::format("{} stands twice", c.step.results[i]), "name each component differently");
  }

  std::vector<Expr> extents;
  for (const auto* axes : {&s.axes, &s.reduce_axes})
    for (const Axis& a : *axes) extents.push_back(a.extent);
  const std::vector<Expr> extent = loop_extents(s, extents), value = loop_values(s, extent);

  // The partial results: the loop first, then the data axes; reduced over the other loops.
  auto* definition = new DefinitionNode;
  const Definition owner(definition);
  definition->names = c.step.results;
  definition->axes.push_back({s.loops[factored].var, extent[factored]});
  const Axis whole{Var(s.loops[factored].name), extent[factored]};  // what is left of the reduction
  std::vector<Expr> shape = {extent[factored]}, indices = {whole.var};
  Substitution map;
  for (const Axis& a : s.axes) {
    definition->axes.push_back({Var(a.var.name()), a.extent});
    map[a.var.node()] = definition->axes.back().var;
    shape.push_back(a.extent);
    indices.push_back(a.var);
  }
  for (size_t i = 0; i < s.reduce_axes.size(); ++i) map[s.reduce_axes[i].var.node()] = value[s.axes.size() + i];
  std::vector<Axis> inner, all = definition->axes;
  for (int l : others) inner.push_back({s.loops[l].var, extent[l]});
  all.insert(all.end(), inner.begin(), inner.end());
  check_size(to_string(c.step), all);
  std::vector<Expr> sources;
  for (const Expr& e : r.sources) sources.push_back(substitute(e, map));
  std::vector<Tensor> partial;
  for (size_t i = 0; i < sources.size(); ++i) {
    definition->body.push_back(make_reduce(r.combiner, sources, inner, static_cast<int>(i)));
    partial.push_back(make_tensor(c.step.results[i], sources[i].type(), shape, owner, static_cast<int>(i)));
  }
  Stage producer = make_stage(partial[0].name(), partial, *definition);
  for (const Expr& condition : std::exchange(s.update_conditions, {})) producer.update_conditions.push_back(substitute(condition, map));
  for (const LoopRelation& relation : s.relations)
    if (s.loops[relation.fused].is_reduction && has_tail(relation, extent))
      producer.update_conditions.push_back(value[relation.fused] < extent[relation.fused]);

  std::vector<Expr> loads;
  for (const Tensor& t : partial) loads.push_back(make_load(t, indices));
  std::function<Expr(const Expr&)> finish = [&](const Expr& e) {
    if (const auto* component = as<ReduceNode>(e)) return make_reduce(r.combiner, loads, {whole}, component->index);
    return map_children(e, finish);
  };
  for (Expr& e : s.body) e = finish(e);
  reduce_over(s, factored, whole);
  s.loops[s.axes.size()].var = Var(whole.var.name());  // the old one is the partial results' axis
  c.stages.insert(c.stages.begin() + (&s - c.stages.data()), std::move(producer));
}

}  // namespace

std::vector<StepRow> reduction_steps() {
  return {
      {"rfactor", "@A -> @R*", {}, rfactor,
       "C[i] = sum[k0, k1](A[i, k0 * 64 + k1])  ->  C_rf[k0, i] = sum[k1](A[i, k0 * 64 + k1]); C[i] = sum[k0](C_rf[k0, i])"},
  };
}

}  // namespace lathe
