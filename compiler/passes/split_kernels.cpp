// split_kernels: one kernel per root stage; loops over work-groups and work-items become its indices.
//
//   before  for block_x i0 in 0 .. (n + 63) / 64 { for thread_x i1 in 0 .. 64 { C[i0 * 64 + i1] = … } }
//   after   kernel add_C<n>(A, B, out C) grid [(n + 63) / 64, 1, 1] block [64, 1, 1] indices [bx, …, tx, …] {
//             C[bx * 64 + tx] = … }
//
// A statement outside every bound loop runs in one work-group of one work-item. It stands after partition_tails, which
// reasons about bound loops, and before insert_barriers, which reasons about work-items of one group.
#include <fmt/format.h>

#include <set>

#include "compiler/passes/passes.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

// Takes the bound loops away; their extents go to the kernel.
Stmt unbind(const Stmt& s, Kernel& k) {
  const auto* l = as<LoopNode>(s);
  if (!l || !is_bound(l->loop))
    return map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return unbind(child, k); });
  LATHE_CHECK(is_constant(l->begin, 0), "a bound loop that does not begin at 0");
  if (is_constant(l->end, 0) && is_thread(l->loop)) return make_block({});  // no work-item runs it; a group has one at least
  const int d = dimension(l->loop);
  const Var index = is_block(l->loop) ? k.block_index[d] : k.thread_index[d];
  if (is_block(l->loop))
    k.grid[d] = l->end;
  else
    k.block[d] = *as_constant(l->end);
  return unbind(substitute(l->body, {{l->var.node(), index}}), k);
}

// What a kernel reads and writes, in the order of the function's arguments, then the workspaces.
void collect_buffers(const LoweredFunction& f, Kernel& k) {
  std::set<const TensorNode*> reads, writes;
  std::set<const VarNode*> variables;
  walk(
      k.body,
      [&](const Stmt& s) {
        if (const auto* store = as<StoreNode>(s)) writes.insert(store->tensor.get());
        return true;
      },
      [&](const Expr& e) {
        if (const auto* load = as<LoadNode>(e)) reads.insert(load->tensor.get());
        if (const auto* v = as<VarNode>(e)) variables.insert(v);
        return true;
      });
  for (const auto* list : {&f.arguments, &f.workspaces})
    for (const Tensor& t : *list)
      if (reads.count(t.get()) || writes.count(t.get())) {
        k.buffers.push_back(t);
        k.written.push_back(writes.count(t.get()) != 0);
        for (const Expr& extent : t.shape())  // addresses will need the shapes
          walk(extent, [&](const Expr& e) {
            if (const auto* v = as<VarNode>(e)) variables.insert(v);
            return true;
          });
      }
  for (const Expr& extent : k.grid)
    walk(extent, [&](const Expr& e) {
      if (const auto* v = as<VarNode>(e)) variables.insert(v);
      return true;
    });
  for (const Var& symbol : f.symbols)
    if (variables.count(symbol.node())) k.symbols.push_back(symbol);
}

}  // namespace

void split_kernels(Lowering& l) {
  LoweredFunction& f = l.function;
  std::vector<Stmt> nests;
  if (const auto* block = as<BlockNode>(f.body))
    nests = block->stmts;
  else
    nests = {f.body};
  std::vector<const Stage*> roots;
  for (const Stage& s : l.stages)
    if (s.attach == AttachKind::root) roots.push_back(&s);
  static constexpr const char* index_names[] = {"bx", "by", "bz", "tx", "ty", "tz"};
  for (const Stage* root : roots) {
    Kernel k;
    k.name = roots.size() == 1 ? f.name : f.name + "_" + root->name;
    k.grid = {1, 1, 1};
    for (int d = 0; d < 3; ++d) {
      k.block_index[d] = Var(index_names[d]);
      k.thread_index[d] = Var(index_names[d + 3]);
    }
    // build_loops made one nest a root stage, in this order; partitioning may have cut a nest into several statements.
    std::vector<Stmt> own;
    for (const Stmt& nest : nests) {
      bool writes = false;
      walk(
          nest,
          [&](const Stmt& s) {
            if (const auto* store = as<StoreNode>(s))
              for (const Tensor& t : root->outputs) writes |= store->tensor.get() == t.get();
            return !writes;
          },
          [](const Expr&) { return false; });
      if (writes) own.push_back(nest);
    }
    k.body = unbind(make_block(std::move(own)), k);
    collect_buffers(f, k);
    f.kernels.push_back(std::move(k));
  }
  f.body = {};
}

}  // namespace lathe
