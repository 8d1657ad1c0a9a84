// unroll_loops: an unrolled loop becomes its iterations.
//
//   before  for unrolled i in 0 .. 2 { C_r[i] = 0.0 }
//   after   C_r[0] = 0.0  C_r[1] = 0.0
//
// Register tiles are then indexed by constants, which is what lets LLVM keep them in registers. The number of
// statements is counted before anything is copied: more than `max_statements` is refused. It stands after
// vectorize_loops and before flatten_storage, so that each copy's indices fold.
#include <fmt/format.h>

#include "compiler/passes/passes.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

// LLVM's time grows faster than the number of statements: 1024 fma statements take 0.4 s, 2048 stores 2 s, 4096 of them
// 6 s (measured). A vector counts as one statement for every four lanes.
constexpr int64_t max_statements = 4096;

int64_t trip_count(const LoopNode& l) {
  const Expr size = simplify(l.end - l.begin);
  const int64_t* count = as_constant(size);
  if (!count)
    throw Error("unroll " + l.var.name(), fmt::format("its extent {} is not a constant", to_string(size)),
                "split it by a constant and unroll the inner loop");
  return std::max<int64_t>(*count, 0);
}

int64_t statements(const Stmt& s) {
  if (const auto* store = as<StoreNode>(s)) return (store->value.type().lanes + 3) / 4;
  int64_t inside = 0;
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { inside += statements(child); });
  if (const auto* l = as<LoopNode>(s); l && l->loop == LoopKind::unrolled) {
    int64_t total = 0;
    if (__builtin_mul_overflow(inside, trip_count(*l), &total)) return INT64_MAX / 2;
    return total;
  }
  return std::min(inside + 1, INT64_MAX / 2);
}

Stmt unroll(const Stmt& s) {
  const Stmt inner = map_children(
      s, [](const Expr& e) { return e; }, [](const Stmt& child) { return unroll(child); });
  const auto* l = as<LoopNode>(inner);
  if (!l || l->loop != LoopKind::unrolled) return inner;
  std::vector<Stmt> copies;
  for (int64_t i = 0; i < trip_count(*l); ++i) copies.push_back(substitute(l->body, {{l->var.node(), l->begin + i}}));
  return make_block(std::move(copies));
}

}  // namespace

void unroll_loops(Lowering& l) {
  for (Kernel& k : l.function.kernels) {
    const int64_t count = statements(k.body);
    if (count > max_statements)
      throw Error("kernel " + k.name, fmt::format("unrolling gives {} statements, at most {} are compiled", count, max_statements),
                  "unroll fewer loops, or split them by smaller factors first");
    k.body = unroll(k.body);
  }
}

}  // namespace lathe
