// Schedules: HOW a program's loops run, as a list of steps over the stages that compute its tensors.
//
//   Schedule s(C);
//   auto [bx, tx] = s[C].split(C.axis(0), 64);
//   s[C].bind(bx, block_x).bind(tx, thread_x);
//
// A schedule IS its steps (step.h): printable, parseable, replayable. What stands here beside them, stages with their
// loops, follows from replaying the steps. Every method makes one step and applies it; an illegal step throws a
// lathe::Error that names the step, the numbers and what would be legal, and leaves the schedule as it was.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/schedule/step.h"
#include "ir/stmt.h"
#include "runtime/base/error.h"

namespace lathe {

inline constexpr LoopKind block_x = LoopKind::block_x, block_y = LoopKind::block_y, block_z = LoopKind::block_z;
inline constexpr LoopKind virtual_thread = LoopKind::virtual_thread;
inline constexpr LoopKind thread_x = LoopKind::thread_x, thread_y = LoopKind::thread_y, thread_z = LoopKind::thread_z;
inline constexpr Scope shared = Scope::shared, registers = Scope::registers, global = Scope::global;

// One loop of a stage. Its variable is what the loop nest will use.
struct StageLoop {
  std::string name;
  bool is_reduction = false;
  LoopKind kind = LoopKind::serial;
  Var var;
  int64_t stages = 1;  // pipeline: what is computed inside it runs this number minus one of iterations ahead
};

// What a split does with the last iterations where the factor does not divide the extent.
enum class Tail : uint8_t {
  guard,          // skips what lies beyond the end; the bulk of the work runs without the condition
  predicate,      // the same, but the loop stays whole: every iteration and lane has the condition
  round_up,       // runs whole multiples: a local buffer grows to hold them, elsewhere the extent must be a multiple
  shift_inwards,  // the last tile starts at extent - factor: some elements are computed twice
};
std::string_view to_string(Tail tail);  // "guard", …

// How loops came from other loops. Indices are into Stage::loops.
struct LoopRelation {
  enum class Kind { split, fuse } kind;
  int outer, inner, fused;           // split: fused -> outer, inner; fuse: outer, inner -> fused
  int64_t factor = 0;                // split: the inner extent, or the outer one when `by_parts`
  bool by_parts = false;
  Tail tail = Tail::guard;
};

// How the elements of a tile stand in LDS, where that is not row-major.
struct StorageLayout {
  int aligned_axis = -1;           // storage_align: the stride along this axis is `offset` modulo `factor` elements
  int64_t factor = 1, offset = 0;
  int64_t vector = 0;              // swizzle: of row r, piece c of so many elements stands at c ^ r / rows % period
  int64_t rows = 1, period = 1;
  bool plain() const { return aligned_axis < 0 && vector == 0; }
};

enum class AttachKind { root, inlined, at, with };

struct Stage {
  std::string name;
  std::vector<Tensor> outputs;             // what it writes, one per component of `body`
  std::vector<Axis> axes;                  // data axes, then the reduction's in `reduce_axes`
  std::vector<Axis> reduce_axes;
  std::vector<Expr> body;                  // in terms of the axes' variables; reads other stages' tensors
  std::vector<Expr> update_conditions;     // of its reduction, on the axes: elsewhere nothing is combined (rfactor's tails)
  bool is_output = false;
  std::optional<Scope> scope;              // set_scope or cache_…; else it follows from where the stage is computed
  AttachKind attach = AttachKind::root;
  std::string store_stage, store_loop;     // store_at: the loop in which its memory is allocated; empty: that one
  bool double_buffered = false;
  StorageLayout layout;
  std::string attach_stage, attach_loop;   // at: inside that loop; with: sharing the loops down to it
  std::optional<BlockOrder> block_order;

  std::vector<StageLoop> loops;            // every loop ever made; the first ones are the axes, then the reduce_axes
  std::vector<LoopRelation> relations;     // in the order they were made
  std::vector<int> leaves;                 // the loops that run, outermost first

  bool touched() const { return !relations.empty() || attach != AttachKind::root; }
  const StageLoop* find_leaf(std::string_view loop_name) const;
};

class Schedule;

// A loop of a stage, as steps name it.
struct LoopRef {
  std::string stage, name;
};

// A stage of a schedule, to put steps on. Loops are given as axes of the tensor (C.axis(0), C.reduce_axis(0)) or as
// what an earlier step returned.
class StageRef {
 public:
  class Loop {  // either form of naming a loop
   public:
    Loop(const LoopRef& ref) : name(ref.name) {}
    Loop(const Axis& axis) : name(axis.var.name()) {}
    std::string name;
  };

  // for i in n  →  for i0 in ceil(n / factor) { for i1 in factor { if i0 * factor + i1 < n … } }
  // round_up: no condition, n is a multiple; shift_inwards: no condition, i = min(i0 * factor, n - factor) + i1.
  std::array<LoopRef, 2> split(const Loop& loop, int64_t factor, Tail tail = Tail::guard);
  // The same with the number of outer iterations given.
  std::array<LoopRef, 2> split_parts(const Loop& loop, int64_t parts, Tail tail = Tail::guard);
  // for i in m { for j in n … }  →  for f in m * n { i = f / n; j = f % n … }. The loops stand next to one another.
  LoopRef fuse(const std::vector<Loop>& loops);
  // split both and reorder: outer i, outer j, inner i, inner j.
  std::array<LoopRef, 4> tile(const Loop& i, const Loop& j, int64_t factor_i, int64_t factor_j, Tail tail = Tail::guard);
  // The named loops take one another's places, in the order given; others stay.
  StageRef& reorder(const std::vector<Loop>& loops);
  // Iterations become work-groups or work-items, or with `virtual_thread` parts that each work-item plays side by side.
  StageRef& bind(const Loop& loop, LoopKind kind);
  StageRef& vectorize(const Loop& loop);
  StageRef& unroll(const Loop& loop);
  // for k in n  →  for k0 in ceil(n / most) { for unrolled k1 in most { if k0 * most + k1 < n … } }, for long and for
  // symbolic loops; one of at most `most` iterations is written out whole.
  StageRef& unroll(const Loop& loop, int64_t most);
  // Computed inside that loop of a stage that reads it, as far as one iteration needs it.
  StageRef& compute_at(const StageRef& consumer, const Loop& loop);
  // Its memory outlives that loop, up to an outer one: values of earlier iterations are used again, not computed again.
  // for y { P of rows y - 1 to y + 1; C of row y }  →  P of rows -1 to 1; for y { P of row y + 1; C of row y }
  StageRef& store_at(const StageRef& consumer, const Loop& loop);
  // Neither needs the other: one loop nest, one kernel, computes both, apart only inside the loop.
  //   for i { P[i] = … }  for i { C[i] = … }  →  for i { P[i] = …  C[i] = … }
  StageRef& compute_with(const StageRef& host, const Loop& loop);
  // Work-groups take on the blocks in another order:  for bi { for bj … }  →  for groups of `rows` bi { for bj { for bi in the group … } }
  StageRef& block_order(const Loop& bi, const Loop& bj, int64_t rows);
  // Hardware deals work-groups to the chiplets in turn; each chiplet gets a run of neighbouring blocks.
  StageRef& chiplet_order(const Loop& block, int64_t chiplets);
  StageRef& compute_inline();
  StageRef& compute_root();
  StageRef& set_scope(Scope scope);
  // for k { P = …; C += P }  →  P = … of 0; for k { P = … of k + 1; C += P of k }. `stages` - 1 iterations ahead, in as many
  // copies of P as stages; P is whatever is computed at that loop.
  StageRef& pipeline(const Loop& loop, int64_t stages);
  // The same in two stages, for this stage alone, at the loop it is computed at.
  StageRef& double_buffer();
  // The work-items of the kernel that it is computed in compute it together, `vector` elements side by side each:
  // for i { for j { P } }  →  for by_thread_x { for thread_x in 64 { for vectorized lane in 4 { P, if there is one } } }
  StageRef& cooperative(int64_t vector);
  // S[i, j] in LDS at i * 64 + j  →  at i * 65 + j: the stride along the axis is `offset` modulo `factor` elements.
  StageRef& storage_align(const Loop& axis, int64_t factor, int64_t offset);
  // S[i, c * vector + v] in LDS  →  at [i, (c ^ i / rows % period) * vector + v]
  StageRef& swizzle(int64_t vector, int64_t rows, int64_t period);

 private:
  friend class Schedule;
  StageRef(Schedule& schedule, std::string name) : schedule_(&schedule), name_(std::move(name)) {}
  StageRef& step(Step s);
  AxisName axis(const Loop& loop) const { return {name_, loop.name}; }
  Schedule* schedule_;
  std::string name_;
};

class Schedule {
 public:
  explicit Schedule(const Tensor& output) : Schedule(std::vector{output}) {}
  explicit Schedule(std::vector<Tensor> outputs);
  explicit Schedule(const Program& program);  // replays its steps

  StageRef operator[](const Tensor& tensor);

  // `readers` read a copy of `tensor` that lives in `scope`:  B[i] = f(A[i])  →  A_s[i] = A[i]; B[i] = f(A_s[i])
  Tensor cache_read(const Tensor& tensor, Scope scope, const std::vector<Tensor>& readers);
  // `tensor` is computed in `scope` first:  C[i] = f(i)  →  C_r[i] = f(i); C[i] = C_r[i]
  Tensor cache_write(const Tensor& tensor, Scope scope);
  // The results over the other reduction loops become a stage with `loop` as its first axis; `tensor` reduces over that:
  //   C[i] = sum[k: n](A[i, k])  →  C_rf[k0, i] = sum[k1: 64](A[i, k0 * 64 + k1]); C[i] = sum[k0](C_rf[k0, i])
  // One tensor for each component of the combiner.
  std::vector<Tensor> rfactor(const Tensor& tensor, const StageRef::Loop& loop);

  // The caller's word on shapes, checked at every launch:  s.promise(n % 16 == 0)  →  no guard for what 16 divides
  Schedule& promise(const Expr& condition);
  // Where the condition holds at a launch, the schedule so far and `steps` run instead of what follows here; of several
  // versions, the first whose condition holds:  C  →  if n % 64 == 0 { C with its steps } else { C }
  Schedule& specialize(const Expr& condition, const std::function<void(Schedule&)>& steps);

  // What the two steps do to a copy (steps/shapes.cpp).
  void add_promise(const Expr& condition);
  void add_version(const Expr& condition, const std::vector<Step>& steps);

  void apply(const Step& step);
  std::optional<Error> try_apply(const Step& step);  // the refusal, as data

  const std::vector<Step>& steps() const { return steps_; }
  // Producers before consumers; inlined stages included.
  const std::vector<Stage>& stages() const { return stages_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  const std::vector<Var>& symbols() const { return symbols_; }       // of the shapes
  const std::vector<Expr>& promises() const { return promises_; }
  struct Version {
    Expr condition;
    std::shared_ptr<const Schedule> schedule;  // its promises end with the condition
  };
  const std::vector<Version>& versions() const { return versions_; }
  const Stage* find_stage(std::string_view name) const;       // by the name of any of its outputs
  const Stage* producer_of(const TensorNode& tensor) const;   // null for placeholders
  Tensor find_tensor(std::string_view name) const;            // a stage's output or a placeholder that is read; or null
  uint64_t hash() const;                                      // of the steps' text

 private:
  std::vector<Tensor> outputs_;
  std::vector<Stage> stages_;
  std::vector<Step> steps_;
  std::vector<Var> symbols_;
  std::vector<Expr> promises_;
  std::vector<Version> versions_;
};

std::string to_string(const Schedule& schedule);  // one step a line

// The tensors that a stage's body reads, each once, in order of first read.
std::vector<Tensor> reads_of(const Stage& stage);

}  // namespace lathe
