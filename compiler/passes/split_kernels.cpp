// split_kernels: one kernel per root stage; loops over work-groups and work-items become its indices.
//
//   before  for block_x i0 in 0 .. (n + 63) / 64 { for thread_x i1 in 0 .. 64 { C[i0 * 64 + i1] = … } }
//   after   kernel add_C<n>(A, B, out C) grid [(n + 63) / 64, 1, 1] block [64, 1, 1] indices [bx, …, tx, …] {
//             C[bx * 64 + tx] = … }
//
// Where the schedule has versions, each of their nests is a kernel that is run under its condition. A grid that could
// pass the hardware's limit along y or z is launched along x alone, and folded back in the kernel (ir/block_order.h). A
// statement outside every bound loop runs in one work-group of one work-item. It stands after partition_tails, which
// reasons about bound loops, and before insert_barriers, which reasons about work-items of one group.
#include <fmt/format.h>

#include <map>
#include <set>

#include "compiler/passes/passes.h"
#include "compiler/passes/with_facts.h"
#include "ir/block_order.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

using BlockOrders = std::vector<std::pair<Var, BlockOrder>>;

// Takes the bound loops away; their extents go to the kernel, and the order of its blocks.
Stmt unbind(const Stmt& s, const BlockOrders& orders, Kernel& k) {
  const auto* l = as<LoopNode>(s);
  if (!l || !is_bound(l->loop))
    return map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return unbind(child, orders, k); });
  LATHE_CHECK(is_constant(l->begin, 0), "a bound loop that does not begin at 0");
  if (is_constant(l->end, 0) && is_thread(l->loop)) return make_block({});  // no work-item runs it; a group has one at least
  const int d = dimension(l->loop);
  const Var index = is_block(l->loop) ? k.block_index[d] : k.thread_index[d];
  if (is_block(l->loop))
    k.grid[d] = l->end;
  else
    k.block[d] = *as_constant(l->end);
  for (const auto& [loop, order] : orders)
    if (loop.node() == l->var.node()) k.order = order;
  return unbind(substitute(l->body, {{l->var.node(), index}}), orders, k);
}

// hipDeviceProp_t::maxGridSize of AMD's GPUs along y and z, and what HIP counts in 32 bits (hipModuleLaunchKernel).
constexpr int64_t max_groups_y_z = 65535, max_work_items = (int64_t{1} << 32) - 1;

void keep_limits(const LoweredFunction& f, Kernel& k) {
  Facts facts = symbol_facts(f);
  if (k.condition.defined()) facts.assume(k.condition);
  for (int d = 1; d < 3; ++d)
    if (!k.order && !facts.prove(k.grid[d] <= max_groups_y_z)) k.order.emplace();
  const std::vector<Expr> grid = launched_grid(k);
  for (int d = 0; d < 3; ++d)
    if (const int64_t* groups = as_constant(grid[d]); groups && *groups > max_work_items / k.block[d])
      throw Error("kernel " + k.name, fmt::format("{} work-groups of {} work-items along {} are more than {} work-items", *groups, k.block[d], "xyz"[d], max_work_items),
                  "let each work-item compute several elements: leave an inner loop unbound");
}

// Memory in registers is each work-item's own: a dimension that goes by a work-item index, and nothing else, is gone with
// the loop over work-items.
//
//   before  alloc register R: f32[64, 4] { … R[tx, i] … }
//   after   alloc register R: f32[4] { … R[i] … }
class OwnRegisters {
 public:
  explicit OwnRegisters(const Kernel& k) : kernel_(k) {}

  Stmt run(const Stmt& s) {
    walk(
        s,
        [&](const Stmt& x) {
          if (const auto* a = as<AllocNode>(x); a && a->scope == Scope::registers) own_.emplace(a->tensor.get(), std::vector<const VarNode*>(a->tensor.rank()));
          if (const auto* store = as<StoreNode>(x)) look(*store->tensor, store->indices);
          return true;
        },
        [&](const Expr& e) {
          if (const auto* load = as<LoadNode>(e)) look(*load->tensor, load->indices);
          return true;
        });
    return rewrite(s);
  }

 private:
  // What each dimension goes by: a work-item index, `other_` for anything else, null before the first access.
  void look(const TensorNode& t, const std::vector<Expr>& indices) {
    const auto found = own_.find(&t);
    if (found == own_.end()) return;
    for (size_t d = 0; d < indices.size(); ++d) {
      const VarNode* index = other_.node();
      for (const Var& v : kernel_.thread_index)
        if (indices[d].same_as(v)) index = v.node();
      const VarNode*& by = found->second[d];
      by = !by || by == index ? index : other_.node();
    }
  }

  std::vector<Expr> kept(const TensorNode& t, const std::vector<Expr>& list) const {
    const auto found = own_.find(&t);
    if (found == own_.end()) return list;
    std::vector<Expr> result;
    for (size_t d = 0; d < list.size(); ++d)
      if (!found->second[d] || found->second[d] == other_.node()) result.push_back(list[d]);
    return result;
  }

  Tensor own(const Tensor& t) {
    const std::vector<Expr> shape = kept(*t, t.shape());
    if (shape.size() == t.shape().size()) return t;
    auto [found, fresh] = narrow_.emplace(t.get(), Tensor());
    if (fresh) found->second = make_tensor(t.name(), t.type(), shape);
    return found->second;
  }

  Expr rewrite(const Expr& e) {
    const Expr mapped = map_children(e, [&](const Expr& child) { return rewrite(child); });
    const auto* load = as<LoadNode>(mapped);
    return load && own_.count(load->tensor.get()) ? make_load(own(Tensor(load->tensor)), kept(*load->tensor, load->indices)) : mapped;
  }

  Stmt rewrite(const Stmt& s) {
    const Stmt mapped = map_children(
        s, [&](const Expr& e) { return rewrite(e); }, [&](const Stmt& child) { return rewrite(child); });
    if (const auto* store = as<StoreNode>(mapped); store && own_.count(store->tensor.get()))
      return make_store(own(store->tensor), kept(*store->tensor, store->indices), store->value);
    if (const auto* a = as<AllocNode>(mapped)) return make_alloc(own(a->tensor), a->scope, a->body);
    return mapped;
  }

  const Kernel& kernel_;
  const Var other_{"other"};
  std::map<const TensorNode*, std::vector<const VarNode*>> own_;
  std::map<const TensorNode*, Tensor> narrow_;
};

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
  std::vector<Expr> launch = k.grid;
  if (k.condition.defined()) launch.push_back(k.condition);
  for (const Expr& part : launch)
    walk(part, [&](const Expr& e) {
      if (const auto* v = as<VarNode>(e)) variables.insert(v);
      return true;
    });
  for (const Var& symbol : f.symbols)
    if (variables.count(symbol.node())) k.symbols.push_back(symbol);
}

}  // namespace

namespace {

constexpr const char* index_names[] = {"bx", "by", "bz", "tx", "ty", "tz"};

void add_kernel(Lowering& l, std::string name, const Stmt& body, const Expr& condition = {}) {
  LoweredFunction& f = l.function;
  Kernel k;
  k.name = std::move(name);
  k.grid = {1, 1, 1};
  k.condition = condition;
  for (int d = 0; d < 3; ++d) {
    k.block_index[d] = Var(index_names[d]);
    k.thread_index[d] = Var(index_names[d + 3]);
  }
  k.body = OwnRegisters(k).run(unbind(body, l.block_orders, k));
  keep_limits(f, k);
  collect_buffers(f, k);
  f.kernels.push_back(std::move(k));
}

// The first of the function's tensors that `s` writes.
std::string written_in(const LoweredFunction& f, const Stmt& s) {
  std::string name;
  walk(
      s,
      [&](const Stmt& x) {
        const auto* store = as<StoreNode>(x);
        for (const auto* list : {&f.arguments, &f.workspaces})
          for (const Tensor& t : *list)
            if (store && name.empty() && store->tensor.get() == t.get()) name = t.name();
        return name.empty();
      },
      [](const Expr&) { return false; });
  return name;
}

}  // namespace

void split_kernels(Lowering& l) {
  LoweredFunction& f = l.function;
  std::vector<Stmt> nests;
  if (const auto* block = as<BlockNode>(f.body))
    nests = block->stmts;
  else
    nests = {f.body};
  if (l.has_versions) {
    std::vector<std::string> conditions;
    for (const Stmt& nest : nests) {
      const auto* version = as<BranchNode>(nest);
      if (version && (version->else_body || has_load(version->condition))) version = nullptr;
      const std::string when = version ? to_string(version->condition) : "true";
      if (conditions.empty() || conditions.back() != when) conditions.push_back(when);
      add_kernel(l, fmt::format("{}_v{}_{}", f.name, conditions.size(), written_in(f, nest)), version ? version->then_body : nest,
                 version ? version->condition : Expr());
    }
    f.body = {};
    return;
  }
  std::vector<const Stage*> roots;
  for (const Stage& s : l.stages)
    if (s.attach == AttachKind::root) roots.push_back(&s);
  for (const Stage* root : roots) {
    // build_loops made one nest a root stage, in this order; partitioning may have cut a nest into several statements.
    std::vector<Stmt> own;
    std::vector<const Stage*> together = {root};
    for (const Stage& s : l.stages)
      if (s.attach == AttachKind::with && s.attach_stage == root->name) together.push_back(&s);
    for (const Stmt& nest : nests) {
      bool writes = false;
      walk(
          nest,
          [&](const Stmt& s) {
            if (const auto* store = as<StoreNode>(s))
              for (const Stage* stage : together)
                for (const Tensor& t : stage->outputs) writes |= store->tensor.get() == t.get();
            return !writes;
          },
          [](const Expr&) { return false; });
      if (writes) own.push_back(nest);
    }
    add_kernel(l, roots.size() == 1 ? f.name : f.name + "_" + root->name, make_block(std::move(own)));
  }
  f.body = {};
}

}  // namespace lathe
