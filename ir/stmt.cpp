#include "ir/stmt.h"

#include <fmt/format.h>

#include "runtime/base/error.h"

namespace lathe {

std::string_view to_string(LoopKind kind) {
  switch (kind) {
    case LoopKind::serial: return "serial";
    case LoopKind::vectorized: return "vectorized";
    case LoopKind::unrolled: return "unrolled";
    case LoopKind::virtual_thread: return "virtual";
    case LoopKind::block_x: return "block_x";
    case LoopKind::block_y: return "block_y";
    case LoopKind::block_z: return "block_z";
    case LoopKind::thread_x: return "thread_x";
    case LoopKind::thread_y: return "thread_y";
    case LoopKind::thread_z: return "thread_z";
  }
  return "?";
}

void StmtNode::destroy(const StmtNode* node) {
  switch (node->kind) {
    case StmtKind::loop: delete static_cast<const LoopNode*>(node); return;
    case StmtKind::branch: delete static_cast<const BranchNode*>(node); return;
    case StmtKind::store: delete static_cast<const StoreNode*>(node); return;
    case StmtKind::alloc: delete static_cast<const AllocNode*>(node); return;
    case StmtKind::barrier: delete static_cast<const BarrierNode*>(node); return;
    case StmtKind::combine: delete static_cast<const CombineNode*>(node); return;
    case StmtKind::block: delete static_cast<const BlockNode*>(node); return;
  }
}

Stmt make_loop(LoopKind kind, Var var, Expr begin, Expr end, Stmt body) {
  return new LoopNode(kind, std::move(var), std::move(begin), std::move(end), std::move(body));
}

Stmt make_branch(Expr condition, Stmt then_body, Stmt else_body) {
  if (const int64_t* c = as_constant(condition)) return *c ? then_body : else_body ? else_body : make_block({});
  if (!then_body) then_body = make_block({});
  return new BranchNode(std::move(condition), std::move(then_body), std::move(else_body));
}

Stmt make_store(Tensor tensor, std::vector<Expr> indices, Expr value) {
  const DType element = tensor.type(), given = value.type().scalar();
  LATHE_CHECK(element == given, fmt::format("store of {} into {} {}", to_string(given), to_string(element), tensor.name()));
  const int lanes = check_access(*tensor, indices), given_lanes = value.type().lanes;
  LATHE_CHECK(given_lanes == 1 || given_lanes == lanes,
              fmt::format("store of {} lanes to {} places of {}", given_lanes, lanes, tensor.name()));
  return new StoreNode(std::move(tensor), std::move(indices), std::move(value));
}

Stmt make_alloc(Tensor tensor, Scope scope, Stmt body) {
  return new AllocNode(std::move(tensor), scope, std::move(body));
}

Stmt make_barrier() { return new BarrierNode(); }

Stmt make_combine(std::vector<Tensor> values, Combiner combiner, std::vector<LoopKind> along, int64_t width) {
  LATHE_CHECK(values.size() == combiner->lhs.size() && !along.empty() && width >= 1, "combine by " + combiner->name);
  for (size_t i = 0; i < values.size(); ++i)
    LATHE_CHECK(values[i].type() == combiner->lhs[i].type(), fmt::format("{} combined by {}", values[i].name(), combiner->name));
  return new CombineNode(std::move(values), std::move(combiner), std::move(along), width);
}

Stmt make_block(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  for (Stmt& s : stmts) {
    if (!s) continue;
    if (const auto* inner = as<BlockNode>(s))
      flat.insert(flat.end(), inner->stmts.begin(), inner->stmts.end());
    else
      flat.push_back(std::move(s));
  }
  if (flat.size() == 1) return flat[0];
  return new BlockNode(std::move(flat));
}

}  // namespace lathe
