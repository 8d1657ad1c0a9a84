// Steps that say where a stage is computed and where its tensors live.
#include "ir/schedule/step_row.h"

#include <fmt/format.h>

#include "ir/schedule/step_context.h"
#include "ir/visit.h"

namespace lathe {
namespace {

void compute_at(StepContext& c) {
  Stage& s = c.stage(c.step.tensors[0]);
  Stage& consumer = c.stage(c.step.axes[0].stage);
  if (s.is_output)
    c.refuse(fmt::format("{} is an output: it is computed whole, at the root", s.name), "compute_at serves stages in between");
  if (consumer.loops[c.leaf(consumer, c.step.axes[0].axis)].kind == LoopKind::vectorized)
    c.refuse(fmt::format("{}.{} is vectorized", consumer.name, c.step.axes[0].axis), "compute it at a loop further out");
  if (!c.depends_on(consumer, s))
    c.refuse(fmt::format("{} does not read {}", consumer.name, s.name), "compute a stage inside one that needs it");
  if (s.scope == Scope::global)
    c.refuse(fmt::format("{} lives in global memory", s.name), "set_scope it to shared or register first");
  s.attach = AttachKind::at;
  s.attach_stage = consumer.name;
  s.attach_loop = c.step.axes[0].axis;
  s.store_stage = s.store_loop = "";
}

// Whether the loop stands around the one at which it is computed is seen when loops are built.
void store_at(StepContext& c) {
  Stage& s = c.stage(c.step.tensors[0]);
  Stage& host = c.stage(c.step.axes[0].stage);
  if (s.attach != AttachKind::at) c.refuse(fmt::format("{} is computed at the root", s.name), "compute_at it inside a loop first");
  if (host.loops[c.leaf(host, c.step.axes[0].axis)].kind == LoopKind::vectorized)
    c.refuse(fmt::format("{}.{} is vectorized", host.name, c.step.axes[0].axis), "store it at a loop further out");
  const bool same = host.name == s.attach_stage && c.step.axes[0].axis == s.attach_loop;
  s.store_stage = same ? "" : host.name;
  s.store_loop = same ? "" : c.step.axes[0].axis;
}

// P right before C in the order of the stages; those between them that one of the two needs come first, the others after.
void bring_together(StepContext& c, const std::string& p, const std::string& host) {
  std::vector<Stage> first, between, pair(2), last;
  const auto is_pair = [&](const Stage& s) { return s.name == p || s.name == host; };
  const Stage &a = c.stage(p), &b = c.stage(host);
  int seen = 0;
  for (const Stage& s : c.stages) {
    if (is_pair(s)) {
      pair[s.name == host] = s;
      ++seen;
    } else if (seen == 0 || (seen == 1 && (c.depends_on(a, s) || c.depends_on(b, s)))) {
      first.push_back(s);
    } else {
      (seen == 1 ? between : last).push_back(s);
    }
  }
  for (auto* part : {&pair, &between, &last}) first.insert(first.end(), part->begin(), part->end());
  c.stages = std::move(first);
}

void compute_with(StepContext& c) {
  Stage& s = c.stage(c.step.tensors[0]);
  Stage& host = c.stage(c.step.axes[0].stage);
  if (&s == &host) c.refuse("both are the same stage", "name two stages");
  if (host.loops[c.leaf(host, c.step.axes[0].axis)].kind == LoopKind::vectorized)
    c.refuse(fmt::format("{}.{} is vectorized", host.name, c.step.axes[0].axis), "share the loops further out");
  for (const Stage* one : {&s, &host})
    if (one->attach == AttachKind::at || (one == &host && one->attach == AttachKind::with))
      c.refuse(fmt::format("{} is computed {} {}", one->name, one->attach == AttachKind::at ? "inside" : "with", one->attach_stage),
             "both must be at the root");
  for (const Stage& other : c.stages)
    if (other.attach == AttachKind::with && other.attach_stage == s.name)
      c.refuse(fmt::format("{} is computed with {}", other.name, s.name), fmt::format("compute both with {}", host.name));
  if (c.depends_on(host, s) || c.depends_on(s, host))
    c.refuse("one of the two needs the other", "compute_at puts a stage inside one that reads it");
  s.attach = AttachKind::with;
  s.attach_stage = host.name;
  s.attach_loop = c.step.axes[0].axis;
  bring_together(c, s.name, host.name);
}

void compute_inline(StepContext& c) {
  Stage& s = c.stage(c.step.tensors[0]);
  if (s.is_output) c.refuse(fmt::format("{} is an output", s.name), "outputs are computed at the root");
  if (find_reduce(s.body))
    c.refuse(fmt::format("{} is a reduction: inlining would repeat it for every use", s.name), "compute_at it inside its consumer");
  if (s.body.size() > 1) c.refuse(fmt::format("{} has several outputs", s.name), "compute_at it inside its consumer");
  if (s.touched()) c.refuse(fmt::format("{} has loops that steps changed", s.name), "inline a stage before anything else");
  for (const Stage& other : c.stages)
    if ((other.attach == AttachKind::at || other.attach == AttachKind::with) && other.attach_stage == s.name)
      c.refuse(fmt::format("{} is computed {} it", other.name, other.attach == AttachKind::at ? "inside" : "with"), "compute_root that stage first");
  s.attach = AttachKind::inlined;
}

void compute_root(StepContext& c) {
  Stage& s = c.stage(c.step.tensors[0]);
  s.attach = AttachKind::root;
  s.attach_stage = s.attach_loop = s.store_stage = s.store_loop = "";
}

void set_scope(StepContext& c) {
  Stage& s = c.stage(c.step.tensors[0]);
  const Scope scope = c.scope();
  if (s.is_output && scope != Scope::global)
    c.refuse(fmt::format("{} is an output", s.name), "outputs live in global memory; use cache_write to stage one");
  if (scope == Scope::global && s.attach == AttachKind::at)
    c.refuse(fmt::format("{} is computed inside {}", s.name, s.attach_stage), "global tensors are computed at the root");
  s.scope = scope;
}

}  // namespace

std::vector<StepRow> place_steps() {
  return {
      {"compute_at", "@T at @A", {}, compute_at, "P is computed inside that loop, as far as one iteration needs it"},
      {"store_at", "@T at @A", {}, store_at, "P's memory outlives that loop: what earlier iterations computed is not computed again"},
      {"compute_with", "@T at @A", {}, compute_with, "P shares C's loops down to that one: one kernel computes both"},
      {"compute_inline", "@T", {}, compute_inline, "P's expression replaces its reads"},
      {"compute_root", "@T", {}, compute_root, "P gets its own loops again"},
      {"set_scope", "@T to @W", {"global", "shared", "register"}, set_scope,
       "where P lives; else registers inside work-item loops, LDS inside work-group loops"},
  };
}

}  // namespace lathe
