// Steps that put a new stage between a tensor and its readers or its writer.
#include "ir/schedule/step_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "ir/schedule/step_context.h"
#include "ir/visit.h"

namespace lathe {
namespace {

Expr redirect(const Expr& e, const Tensor& from, const Tensor& to) {
  Expr mapped = map_children(e, [&](const Expr& child) { return redirect(child, from, to); });
  const auto* load = as<LoadNode>(mapped);
  return load && load->tensor.get() == from.get() ? make_load(to, load->indices) : mapped;
}

void cache_read(StepContext& c) {
  const std::string& name = c.step.results[0];
  c.new_tensor_name(name);
  Tensor source;
  std::vector<size_t> readers;
  for (size_t i = 1; i < c.step.tensors.size(); ++i) {
    Stage& reader = c.stage(c.step.tensors[i]);
    bool found = false;
    for (const Tensor& t : reads_of(reader))
      if (t.name() == c.step.tensors[0]) {
        source = t;
        found = true;
      }
    if (!found) {
      std::string known;
      for (const Tensor& t : reads_of(reader)) known += (known.empty() ? "" : ", ") + t.name();
      c.refuse(fmt::format("{} does not read {}", reader.name, c.step.tensors[0]), fmt::format("it reads {}", known));
    }
    readers.push_back(static_cast<size_t>(&reader - c.stages.data()));
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
    for (Expr& e : c.stages[r].body) e = redirect(e, source, copy);
  Stage s = make_stage(name, {copy}, *definition);
  s.scope = c.scope();
  c.stages.insert(c.stages.begin() + static_cast<int64_t>(*std::min_element(readers.begin(), readers.end())), std::move(s));
}

void cache_write(StepContext& c) {
  const std::string& name = c.step.results[0];
  c.new_tensor_name(name);
  Stage& s = c.stage(c.step.tensors[0]);
  if (s.body.size() > 1) c.refuse(fmt::format("{} has several outputs", s.name), "stage tensors with one output");
  if (s.touched() || !std::is_sorted(s.leaves.begin(), s.leaves.end()))
    c.refuse(fmt::format("{} has loops that steps changed", s.name), "cache_write before splitting, reordering, binding or compute_at");
  for (int l : s.leaves)
    if (s.loops[l].kind != LoopKind::serial) c.refuse(fmt::format("{} has bound loops", s.name), "cache_write before binding");

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
  producer.scope = c.scope();
  for (const Expr& condition : std::exchange(s.update_conditions, {})) producer.update_conditions.push_back(substitute(condition, fresh));
  // The old stage keeps its data loops only.
  s.reduce_axes.clear();
  s.loops.erase(s.loops.begin() + static_cast<int64_t>(s.axes.size()), s.loops.end());
  s.leaves.clear();
  for (int i = 0; i < static_cast<int>(s.loops.size()); ++i) s.leaves.push_back(i);
  c.stages.insert(c.stages.begin() + (&s - c.stages.data()), std::move(producer));
}

}  // namespace

std::vector<StepRow> cache_steps() {
  return {
      {"cache_read", "@T -> @R in @W for @T*", {"global", "shared", "register"}, cache_read,
       "C reads a copy of A: A_s[...] = A[...]"},
      {"cache_write", "@T -> @R in @W", {"global", "shared", "register"}, cache_write, "C is computed in C_r first: C[...] = C_r[...]"},
  };
}

}  // namespace lathe
