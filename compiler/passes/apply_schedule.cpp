// apply_schedule: replays the steps and inlines the stages that are computed where they are read.
//
//   before  P[i] = A[i] * 2;  C[i] = P[i] + 1;  compute_inline P
//   after   C[i] = A[i] * 2 + 1
//
// The versions of the schedule (specialize) are lowered beside it, each as if its condition were promised. It stands first: everything after it works on the stages that will have loops of their own.
#include <fmt/format.h>

#include <set>

#include "compiler/passes/passes.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

Expr inline_into(const Expr& e, const Stage& inlined) {
  const Expr mapped = map_children(e, [&](const Expr& child) { return inline_into(child, inlined); });
  const auto* load = as<LoadNode>(mapped);
  if (!load || load->tensor.get() != inlined.outputs[0].get()) return mapped;
  Substitution map;
  for (size_t d = 0; d < inlined.axes.size(); ++d) map[inlined.axes[d].var.node()] = load->indices[d];
  return substitute(inlined.body[0], map);
}

// An expression of that many nodes takes every pass and LLVM seconds.
constexpr int64_t max_inlined_nodes = 20000;

int64_t count(const std::vector<Expr>& body, const std::function<bool(const Expr&)>& counts) {
  int64_t n = 0;
  for (const Expr& e : body)
    walk(e, [&](const Expr& x) {
      n += counts(x);
      return true;
    });
  return n;
}

// Expressions are shared nodes but are walked as trees: inlining what is read twice, level by level, doubles each time.
void check_size(const Stage& reader, const Stage& inlined) {
  const auto is_read = [&](const Expr& x) {
    const auto* load = as<LoadNode>(x);
    return load && load->tensor.get() == inlined.outputs[0].get();
  };
  const auto any = [](const Expr&) { return true; };
  const int64_t reads = count(reader.body, is_read), size = count(reader.body, any) + reads * count(inlined.body, any);
  if (reads > 0 && size > max_inlined_nodes)
    throw Error("compute_inline " + inlined.name,
                fmt::format("{} reads it {} times: inlined, its expression would have {} nodes, at most {} are compiled", reader.name,
                            reads, size, max_inlined_nodes),
                fmt::format("leave {} at the root, or compute_at it", inlined.name));
}

// compute_with is legal when both nests begin alike. That the shared loops run equally far is for build_loops.
void check_companion(const Lowering& l, const Stage& stage) {
  const std::string where = fmt::format("compute_with {} at {}.{}", stage.name, stage.attach_stage, stage.attach_loop);
  const Stage& host = l.stage(stage.attach_stage);
  if (host.attach != AttachKind::root)
    throw Error(where, fmt::format("{} is computed inside {}", host.name, host.attach_stage), "share the loops of a stage at the root");
  if (!host.find_leaf(stage.attach_loop))
    throw Error(where, fmt::format("{}.{} was split or fused away after compute_with", host.name, stage.attach_loop),
                "put compute_with after the steps that change the loop");
  for (size_t i = 0; i < host.leaves.size(); ++i) {
    const StageLoop& theirs = host.loops[host.leaves[i]];
    if (i == stage.leaves.size())
      throw Error(where, fmt::format("{} has {} loops, {}.{} is number {}", stage.name, i, host.name, stage.attach_loop, i + 1), "share the loops further out");
    const StageLoop& own = stage.loops[stage.leaves[i]];
    if (own.is_reduction || theirs.is_reduction)
      throw Error(where, fmt::format("{}.{} and {}.{} are not both data loops", stage.name, own.name, host.name, theirs.name), "share the loops outside the reductions");
    if (own.kind != theirs.kind)
      throw Error(where, fmt::format("{}.{} is {}, {}.{} is {}", stage.name, own.name, to_string(own.kind), host.name, theirs.name, to_string(theirs.kind)),
                  "bind, unroll and vectorize the shared loops alike");
    if (!l.attached(stage, own).empty())
      throw Error(where, fmt::format("{} is computed inside {}.{}, which is shared", l.attached(stage, own)[0]->name, stage.name, own.name),
                  "compute it at a loop further in");
    if (theirs.name == stage.attach_loop) break;
  }
}

// compute_at is legal when every reader of the stage runs inside the loop it was put in.
void check_attachment(const Lowering& l, const Stage& stage) {
  const std::string where = fmt::format("compute_at {} at {}.{}", stage.name, stage.attach_stage, stage.attach_loop);
  const Stage* host = nullptr;
  for (const Stage& s : l.stages)
    if (s.name == stage.attach_stage) host = &s;
  if (!host)
    throw Error(where, fmt::format("{} is inlined", stage.attach_stage), "compute it inside a stage that has loops");
  if (!host->find_leaf(stage.attach_loop))
    throw Error(where, fmt::format("{}.{} was split or fused away after compute_at", host->name, stage.attach_loop),
                "put compute_at after the steps that change the loop, or name one of the loops it became");
  // What the host does with its reduction's result runs after the reduction's loops.
  bool in_reduction = false;
  for (int leaf : host->leaves) {
    in_reduction |= host->loops[leaf].is_reduction;
    if (host->loops[leaf].name == stage.attach_loop) break;
  }
  for (const Expr& e : host->body)
    walk(e, [&](const Expr& x) {
      const auto* load = as<LoadNode>(x);
      for (const Tensor& o : stage.outputs)
        if (load && in_reduction && load->tensor.get() == o.get())
          throw Error(where, fmt::format("{} reads {} after its reduction, outside that loop", host->name, stage.name),
                      fmt::format("compute {} at a loop outside the reduction", stage.name));
      return !as<ReduceNode>(x);
    });
  for (const Stage& reader : l.stages) {
    bool reads = false;
    for (const Tensor& t : reads_of(reader))
      for (const Tensor& o : stage.outputs) reads |= o.same_as(t);
    if (!reads || &reader == host) continue;
    bool inside = false;
    std::set<const Stage*> seen;
    for (const Stage* s = &reader; s->attach == AttachKind::at && seen.insert(s).second; s = &l.stage(s->attach_stage)) {
      if (s->attach_stage != host->name) continue;
      // Inside the same loop or a deeper one.
      size_t own = 0, theirs = 0;
      for (size_t i = 0; i < host->leaves.size(); ++i) {
        if (host->loops[host->leaves[i]].name == stage.attach_loop) own = i;
        if (host->loops[host->leaves[i]].name == s->attach_loop) theirs = i;
      }
      inside = theirs >= own;
    }
    if (!inside)
      throw Error(where, fmt::format("{} reads {} too, and is not computed inside that loop", reader.name, stage.name),
                  fmt::format("compute {} at an outer loop, or leave it at the root", stage.name));
  }
  std::set<const Stage*> chain;
  for (const Stage* s = &stage; s->attach == AttachKind::at; s = &l.stage(s->attach_stage))
    if (!chain.insert(s).second) throw Error(where, "the stages are computed inside one another", "compute one at the root");
}

}  // namespace

namespace {

void apply(const Schedule& schedule, Lowering& l) {
  l.stages = schedule.stages();
  for (size_t i = 0; i < l.stages.size(); ++i) {
    if (l.stages[i].attach != AttachKind::inlined) continue;
    for (size_t j = i + 1; j < l.stages.size(); ++j) {
      check_size(l.stages[j], l.stages[i]);
      for (Expr& e : l.stages[j].body) e = inline_into(e, l.stages[i]);
    }
  }
  std::erase_if(l.stages, [](const Stage& s) { return s.attach == AttachKind::inlined; });
  for (const Stage& s : l.stages)
    if (s.attach == AttachKind::at)
      check_attachment(l, s);
    else if (s.attach == AttachKind::with)
      check_companion(l, s);
  l.function.name = l.program.name;
  l.function.symbols = l.program.symbols;
  l.function.arguments = l.program.arguments;
  for (const Tensor& t : l.program.arguments) l.function.is_output.push_back(!t.is_placeholder());
  for (const Expr& promise : schedule.promises()) l.function.promises.push_back({promise, to_string(promise)});
}

}  // namespace

void apply_schedule(Lowering& l) {
  const Schedule schedule(l.program);
  apply(schedule, l);
  for (const auto& [condition, steps] : schedule.versions()) {
    Lowering version(l.target, l.program);
    version.condition = condition;
    apply(*steps, version);
    l.versions.push_back(std::move(version));
  }
}

}  // namespace lathe
