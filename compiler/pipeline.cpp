#include "compiler/pipeline.h"

#include <fmt/format.h>

#include <chrono>

#include "compiler/passes/passes.h"
#include "ir/isl/clock.h"
#include "ir/print.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

constexpr Pass passes[] = {
    {"apply_schedule", "replay the steps, inline what is inlined", apply_schedule, {}},
    {"check_accesses", "no definition reads outside a tensor", check_accesses, {}},
    {"infer_bounds", "how much of each stage is computed where", infer_bounds, {}},
    {"build_loops", "loop nests, memory and guards", build_loops, Form::looped},
    {"pipeline_loops", "stage the next tiles while one is used", pipeline_loops, Form::looped},
    {"merge_versions", "versions stand side by side under their conditions", merge_versions, Form::looped},
    {"guard_tails", "drop every guard that always holds", guard_tails, Form::looped},
    {"partition_tails", "run the bulk unguarded, predicate the tail", partition_tails, Form::looped},
    // From here on there are kernels: no loop over work-groups or work-items is left.
    {"split_kernels", "one kernel per root stage, bound loops become indices", split_kernels, Form::kernels},
    {"combine_work_items", "reductions across work-items: lanes of a wave, then LDS", combine_work_items, Form::kernels},
    {"place_storage", "LDS is allocated once for the whole kernel", place_storage, Form::kernels},
    {"virtual_threads", "each work-item plays its virtual threads side by side", virtual_threads, Form::kernels},
    {"insert_barriers", "order LDS accesses of different work-items", insert_barriers, Form::kernels},
    {"lay_out_storage", "pad and swizzle tiles in LDS", lay_out_storage, Form::kernels},
    {"vectorize_loops", "vectorized loops become vectors", vectorize_loops, Form::vectorized},
    {"unroll_loops", "unrolled loops become their iterations", unroll_loops, Form::unrolled},
    // From here on every access has one index.
    {"flatten_storage", "tensors become row-major arrays", flatten_storage, Form::flat},
    {"narrow_indices", "32-bit indices where provably enough", narrow_indices, Form::flat},
};

}  // namespace

std::span<const Pass> pipeline() { return passes; }

Lowering lower(const Program& program, const Target& target, const PipelineOptions& options, std::vector<PassTime>* times) {
  bool known = options.stop_after.empty();
  std::string names;
  for (const Pass& pass : passes) {
    known |= pass.name == options.stop_after;
    names += (names.empty() ? "" : ", ") + std::string(pass.name);
  }
  if (!known) throw Error("--stop-after", fmt::format("there is no pass {}", options.stop_after), "the passes are " + names);

  Lowering l(target, program);
  for (const Pass& pass : passes) {
    const auto start = std::chrono::steady_clock::now();
    const double isl_before = IslClock::milliseconds();
    for (Lowering& version : l.versions) pass.run(version);
    pass.run(l);
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
    if (options.verify && pass.form) verify(l.function, *pass.form, pass.name);
    if (times) times->push_back({std::string(pass.name), spent.count(), IslClock::milliseconds() - isl_before});
    if (options.after_each) options.after_each(pass, l);
    if (pass.name == options.stop_after) break;
  }
  return l;
}

std::string describe(const Lowering& l) {
  if (l.function.body || !l.function.kernels.empty()) return to_string(l.function);
  std::string text;
  for (const Stage& s : l.stages) {
    text += fmt::format("stage {}", s.name);
    if (s.attach == AttachKind::at) text += fmt::format(" at {}.{}", s.attach_stage, s.attach_loop);
    if (s.attach == AttachKind::with) text += fmt::format(" with {}.{}", s.attach_stage, s.attach_loop);
    auto found = l.bounds.find(s.name);
    if (found != l.bounds.end()) {
      const StageBounds& b = found->second;
      text += fmt::format(" in {}", to_string(b.scope));
      for (size_t d = 0; d < b.min.size(); ++d)
        text += fmt::format("\n  {}: from {}, {} elements", s.axes[d].var.name(), to_string(b.min[d]), to_string(b.extent[d]));
      for (int leaf : s.leaves)
        text += fmt::format("\n  for {} {} in 0 .. {}", to_string(s.loops[leaf].kind), s.loops[leaf].name, to_string(b.loop_extent[leaf]));
      for (const auto* guards : {&b.data_guards, &b.edge_guards, &b.reduce_guards})
        for (const Expr& g : *guards) text += "\n  guard " + to_string(g);
    }
    text += "\n";
  }
  return text;
}

}  // namespace lathe
