// Statements: the loops that compute tensors.
//
//   s ::= for kind v in begin .. end { s } | if e { s } else { s } | T[e, …] = e | alloc scope T { s }
//       | barrier | combine T, … along index, … in width by combiner | { s … }
#pragma once

#include <optional>
#include <vector>

#include "ir/tensor.h"

namespace lathe {

enum class StmtKind : uint8_t { loop, branch, store, alloc, barrier, block, combine };

// How the iterations of a loop run.
enum class LoopKind : uint8_t {
  serial, vectorized, unrolled,
  virtual_thread,                // one of several that each work-item plays: all keep step with its barriers
  block_x, block_y, block_z,     // one work-group each
  thread_x, thread_y, thread_z,  // one work-item each
};
std::string_view to_string(LoopKind kind);  // "serial", "vectorized", "unrolled", "virtual", "block_x", …
constexpr bool is_block(LoopKind k) { return k >= LoopKind::block_x && k <= LoopKind::block_z; }
constexpr bool is_thread(LoopKind k) { return k >= LoopKind::thread_x; }
constexpr bool is_bound(LoopKind k) { return k >= LoopKind::block_x; }
// 0, 1, 2 for x, y, z of a bound kind.
constexpr int dimension(LoopKind k) { return (static_cast<int>(k) - static_cast<int>(LoopKind::block_x)) % 3; }

struct StmtNode : Node {
  StmtKind kind;
  explicit StmtNode(StmtKind kind) : kind(kind) {}
  static void destroy(const StmtNode* node);
};

class Stmt : public Ref<StmtNode> {
 public:
  using Ref<StmtNode>::Ref;
};

struct LoopNode : StmtNode {
  LoopKind loop;
  Var var;
  Expr begin, end;  // runs while begin <= var < end
  Stmt body;
  LoopNode(LoopKind loop, Var var, Expr begin, Expr end, Stmt body)
      : StmtNode(StmtKind::loop), loop(loop), var(std::move(var)), begin(std::move(begin)), end(std::move(end)),
        body(std::move(body)) {}
};
struct BranchNode : StmtNode {
  Expr condition;
  Stmt then_body, else_body;  // else_body may be null
  BranchNode(Expr condition, Stmt then_body, Stmt else_body)
      : StmtNode(StmtKind::branch), condition(std::move(condition)), then_body(std::move(then_body)),
        else_body(std::move(else_body)) {}
};
struct StoreNode : StmtNode {
  Tensor tensor;
  std::vector<Expr> indices;
  Expr value;
  StoreNode(Tensor tensor, std::vector<Expr> indices, Expr value)
      : StmtNode(StmtKind::store), tensor(std::move(tensor)), indices(std::move(indices)), value(std::move(value)) {}
};
struct AllocNode : StmtNode {  // the tensor's memory exists while `body` runs
  Tensor tensor;
  Scope scope;
  Stmt body;
  AllocNode(Tensor tensor, Scope scope, Stmt body)
      : StmtNode(StmtKind::alloc), tensor(std::move(tensor)), scope(scope), body(std::move(body)) {}
};
struct BarrierNode : StmtNode {  // all work-items of the group arrive; LDS and global writes before it are seen after
  BarrierNode() : StmtNode(StmtKind::barrier) {}
};
// The work-items of a group, numbered along some of its indices (x before y before z), in runs of `width`: what those of
// a run hold in `values` becomes its combination, in each of them. Neighbours meet first, then pairs of neighbours, then
// pairs of those; where the width is no power of two, what is missing at its end is the identity. All work-items arrive.
struct CombineNode : StmtNode {
  std::vector<Tensor> values;   // in registers, one element each: the combiner's components
  Combiner combiner;
  std::vector<LoopKind> along;  // thread_x, …
  int64_t width;
  CombineNode(std::vector<Tensor> values, Combiner combiner, std::vector<LoopKind> along, int64_t width)
      : StmtNode(StmtKind::combine), values(std::move(values)), combiner(std::move(combiner)), along(std::move(along)), width(width) {}
};
struct BlockNode : StmtNode {
  std::vector<Stmt> stmts;
  explicit BlockNode(std::vector<Stmt> stmts) : StmtNode(StmtKind::block), stmts(std::move(stmts)) {}
};

template <class N>
const N* as(const Stmt& s);
template <> inline const LoopNode* as<LoopNode>(const Stmt& s) { return s && s->kind == StmtKind::loop ? static_cast<const LoopNode*>(s.get()) : nullptr; }
template <> inline const BranchNode* as<BranchNode>(const Stmt& s) { return s && s->kind == StmtKind::branch ? static_cast<const BranchNode*>(s.get()) : nullptr; }
template <> inline const StoreNode* as<StoreNode>(const Stmt& s) { return s && s->kind == StmtKind::store ? static_cast<const StoreNode*>(s.get()) : nullptr; }
template <> inline const AllocNode* as<AllocNode>(const Stmt& s) { return s && s->kind == StmtKind::alloc ? static_cast<const AllocNode*>(s.get()) : nullptr; }
template <> inline const CombineNode* as<CombineNode>(const Stmt& s) { return s && s->kind == StmtKind::combine ? static_cast<const CombineNode*>(s.get()) : nullptr; }
template <> inline const BlockNode* as<BlockNode>(const Stmt& s) { return s && s->kind == StmtKind::block ? static_cast<const BlockNode*>(s.get()) : nullptr; }

Stmt make_loop(LoopKind kind, Var var, Expr begin, Expr end, Stmt body);
Stmt make_branch(Expr condition, Stmt then_body, Stmt else_body = {});  // folds a constant condition
Stmt make_store(Tensor tensor, std::vector<Expr> indices, Expr value);
Stmt make_alloc(Tensor tensor, Scope scope, Stmt body);
Stmt make_barrier();
Stmt make_combine(std::vector<Tensor> values, Combiner combiner, std::vector<LoopKind> along, int64_t width);
Stmt make_block(std::vector<Stmt> stmts);  // flattens nested blocks, drops empty ones; one statement stands alone

// In which order the work-groups of a launch take on the blocks of the grid (block_order.h).
struct BlockOrder {
  int rows = 1, columns = 0;  // dimensions of the grid; the third one is outermost
  int64_t group = 1;          // so many rows walk the columns together
  int64_t chiplets = 1;       // work-groups are dealt to so many chiplets in turn; each chiplet takes a run of blocks
  bool operator==(const BlockOrder&) const = default;
};

// A kernel as code generation takes it: parameters in the order of its arguments, one work-group's work as `body`.
// In the body, block_index and thread_index are plain variables, every access has one flat index, and loops are serial.
struct Kernel {
  std::string name;
  std::vector<Tensor> buffers;  // global tensors, each a pointer
  std::vector<bool> written;    // beside `buffers`: does the kernel write it?
  std::vector<Var> symbols;     // shape symbols, each an i64, after the buffers
  std::vector<Expr> grid;       // work-groups along x, y, z: i64 expressions of the symbols
  Expr condition;               // on the symbols: where it does not hold the kernel is not run; empty: it always is
  int64_t block[3] = {1, 1, 1};  // work-items along x, y, z
  std::optional<BlockOrder> order;  // empty: the hardware's indices are the grid's
  Var block_index[3], thread_index[3];
  Stmt body;
};

// A function before and after the split of host from kernels: what `build` makes of a schedule.
struct LoweredFunction {
  // A condition on the symbols that the function needs, checked at every launch.
  struct Promise {
    Expr condition;
    std::string text;
  };
  std::string name;
  std::vector<Tensor> arguments;
  std::vector<bool> is_output;   // beside `arguments`
  std::vector<Var> symbols;      // shape symbols in order of first use by the arguments' shapes
  std::vector<Tensor> workspaces;
  std::vector<Promise> promises;
  Stmt body;                     // before the split; null after it
  std::vector<Kernel> kernels;   // after the split, in order of execution
};

}  // namespace lathe
