// What the passes work on, from a program with its schedule down to kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/isl/facts.h"
#include "ir/schedule/schedule.h"
#include "runtime/base/target.h"

namespace lathe {

// Where a stage is computed, and how much of its tensors: what infer_bounds finds out.
struct StageBounds {
  Scope scope = Scope::global;
  std::vector<Expr> min, extent;    // per data axis: the region's first element and size, in terms of enclosing loops
  std::vector<Expr> store_min, store_extent;  // the same of the memory's region: larger where store_at makes it outlive loops
  bool covers_reads = true;         // does the region hold every read, also of those elements that no reader needs?
  std::vector<Expr> loop_extent;    // per Stage::loops
  std::vector<Expr> value;          // per axis, then per reduce axis: its value in terms of the leaf loops
  std::vector<Expr> data_guards;    // conditions on the data axes that keep a store inside the region …
  std::vector<Expr> edge_guards;    // … and inside the tensor, whose edge the region may reach beyond …
  std::vector<Expr> reduce_guards;  // … and on the reduction axes that an update needs besides
  Facts facts;                      // ranges of the stage's own loops, the loops around it and the symbols
  std::vector<Tensor> local;        // beside Stage::outputs: the region as a tensor, where the scope is not global
  std::vector<Tensor> stored;       // and what is allocated for it: all its versions, where it is computed ahead
};

struct Lowering {
  Lowering(Target target, Program program) : target(std::move(target)), program(std::move(program)) {}

  Target target;
  Program program;
  std::vector<Stage> stages;                  // producers before consumers, no inlined ones
  std::map<std::string, StageBounds> bounds;  // by Stage::name
  std::vector<Var> predicated;                // loops that partition_tails leaves whole: conditions stay on each iteration
  LoweredFunction function;
  std::vector<Lowering> versions;             // until merge_versions: beside this one, for some shapes
  std::vector<Lowering> merged;               // what they were, for what later passes ask of their stages
  std::vector<std::pair<Var, BlockOrder>> block_orders;  // by a loop over work-groups of the kernel
  bool has_versions = false;                  // from then on: every nest stands under a condition
  Expr condition;                             // of a version: when it runs, if none before it does
  LoweredFunction nested;                     // as it was before flatten_storage: what the certificate reads beside it

  const Stage& stage(std::string_view name) const;
  // The stages computed inside loop `loop` of `stage`, producers first.
  std::vector<const Stage*> attached(const Stage& stage, const StageLoop& loop) const;
  // The stages whose memory is allocated in that loop by store_at, and that are computed further in.
  std::vector<const Stage*> stored(const Stage& stage, const StageLoop& loop) const;
  // How many iterations ahead a stage is computed in the loop that it is computed at (pipeline, double_buffer).
  int64_t ahead(const Stage& stage) const;
  // The stages that share the loops of `stage` down to `loop`.
  std::vector<const Stage*> companions(const Stage& stage, const StageLoop& loop) const;
  bool has_attached(const Stage& stage, size_t first_leaf) const;  // either, at this leaf or a deeper one
};

// The extents of a stage's tile as it lies in LDS. Throws Error where its swizzle does not fit it.
std::vector<int64_t> stored_extents(const Stage& stage, const StageBounds& bounds);

// The loops that enclose a stage, outermost first, across the stages it is computed in.
struct EnclosingLoop {
  const Stage* stage;
  int loop;  // into stage->loops
};
std::vector<EnclosingLoop> enclosing_loops(const Lowering& l, const Stage& stage);

}  // namespace lathe
