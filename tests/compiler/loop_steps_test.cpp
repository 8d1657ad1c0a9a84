// Steps on loops and shapes, run by all voices: tails, promises, versions, virtual threads, unrolling by a number.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "ir/block_order.h"
#include "ir/print.h"
#include "ir/schedule/schedule.h"
#include "ir/visit.h"
#include "tests/compiler/harness.h"
#include "tests/error_message.h"

using namespace lathe;
using namespace lathe::test;

namespace {

void agree_with(const std::string& body, const std::string& steps, const Symbols& symbols = {}) {
  agree(body + "\nschedule {\n" + steps + "\n}\n", symbols);
}

std::string after(const std::string& pass, const std::string& body, const std::string& steps) {
  PipelineOptions options;
  options.stop_after = pass;
  return describe(lower(parse_program(body + "\nschedule {\n" + steps + "\n}\n", "test.te"), parse_target("gfx942"), options));
}

std::string refusal(const std::string& body, const std::string& steps) {
  return error_message([&] { build(parse_program(body + "\nschedule {\n" + steps + "\n}\n", "test.te"), "gfx942"); });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string rows = "function f<n>(A: f32[n, 8], B: f32[n], out C)\nC[i: n, j: 8] = A[i, j] * 2.0 + B[i]\n";
const std::string one = "function f<n>(A: f32[n], out C)\nC[i: n] = A[i] * 2.0 + 1.0\n";
const std::string chain = "function f(A: f32[70], out C)\nP[i: 70] = A[i] * 2.0\nC[i: 60] = P[i] + P[i + 9]\n";
const std::string matmul = "function f<m, n>(A: f32[m, 24], B: f32[24, n], out C)\nC[i: m, j: n] = sum[k: 24](A[i, k] * B[k, j])\n";

}  // namespace

TEST_CASE("tail predicate: the loop stays whole, each iteration and each lane has the condition") {
  const std::string steps = "  split C.i -> i0, i1 by 64, tail predicate\n  bind C.i0 to block_x\n  bind C.i1 to thread_x";
  const std::string text = after("partition_tails", one, steps);
  CHECK(has(text, "if i0 * 64 + i1 < n {"));
  CHECK(!has(text, "else"));
  for (int64_t n : {0, 1, 63, 64, 65}) agree_with(one, steps, {{"n", n}});
  agree_with(one, "  split C.i -> i0, i1 by 4, tail predicate\n  vectorize C.i1", {{"n", 11}});
  agree_with(matmul, "  split C.k -> k0, k1 by 7, tail predicate\n  split C.j -> j0, j1 by 8, tail predicate\n  bind C.j0 to block_x\n  bind C.j1 to thread_x",
             {{"m", 3}, {"n", 13}});
}

TEST_CASE("tail round_up: a local region grows to whole tiles, with no guard but the tensor's edge") {
  const std::string steps = R"(
  split C.i -> i0, i1 by 15, tail guard
  bind C.i0 to block_x
  bind C.i1 to thread_x
  set_scope P to shared
  compute_at P at C.i0
  split P.i -> a, b by 15, tail round_up
  bind P.b to thread_x)";
  const std::string text = after("build_loops", chain, steps);
  CHECK(has(text, "alloc shared P: f32[30]"));  // 24 are needed
  CHECK(!has(text, "a * 15 + b < 24"));
  agree_with(chain, steps);
  // The outer loop of a split grows as well, and what it was split from with it.
  agree_with(chain, "  split C.i -> i0, i1 by 15, tail guard\n  bind C.i0 to block_x\n  bind C.i1 to thread_x\n  set_scope P to shared\n"
                    "  compute_at P at C.i0\n  split P.i -> a, b by 5, tail round_up\n  split P.a -> c, d by 3, tail round_up\n  reorder P.c, P.b, P.d");
  CHECK(refusal(chain, "  split C.i -> i0, i1 by 15, tail guard\n  bind C.i0 to block_x\n  set_scope P to shared\n  compute_at P at C.i0\n"
                       "  split P.i -> a, b by 6, tail guard\n  split P.b -> c, d by 4, tail round_up") ==
        "split P.b -> c, d by 4, tail round_up: 4 does not divide the extent 6 (hint: use tail guard, or another factor)");
}

TEST_CASE("tail round_up at the root: a multiple is promised, or refused") {
  const std::string steps = "  split C.i -> i0, i1 by 16, tail round_up\n  bind C.i0 to block_x\n  bind C.i1 to thread_x";
  CHECK(!has(after("guard_tails", one, steps), "if"));
  for (int64_t n : {0, 16, 48}) agree_with(one, steps, {{"n", n}});
  const Program p = parse_program(one + "schedule {\n" + steps + "\n}\n", "test.te");
  CHECK(error_message([&] { by_gpu(build(p, "gfx942"), "gfx942", random_arrays(p, {{"n", 17}}, 1, Values::whole)); }).find(
            "n % 16 == 0, needed because of \"split C.i -> i0, i1 by 16, tail round_up\"") != std::string::npos);
  CHECK(refusal(chain, "  split C.i -> i0, i1 by 16, tail round_up") ==
        "split C.i -> i0, i1 by 16, tail round_up: 16 does not divide the extent 60 (hint: use tail guard, or another factor)");
  CHECK(refusal("function f(A: f32[9, 10], out C)\nC[i: 9] = sum[k: 10](A[i, k])\n", "  split C.k -> k0, k1 by 4, tail round_up") ==
        "split C.k -> k0, k1 by 4, tail round_up: 4 does not divide the extent 10 (hint: use tail guard, or another factor)");
}

TEST_CASE("tail shift_inwards: the last tile starts further in") {
  // One work-item writes what two tiles share twice; two work-items leave it to the first.
  const std::string serial = "  split C.i -> i0, i1 by 4, tail shift_inwards\n  vectorize C.i1";
  CHECK(has(after("guard_tails", one, serial), "C[min(i0 * 4, n - 4) + i1]"));
  CHECK(!has(after("partition_tails", one, serial), "if"));
  const std::string bound = "  split C.i -> i0, i1 by 4, tail shift_inwards\n  bind C.i0 to block_x\n  bind C.i1 to thread_x";
  CHECK(has(after("guard_tails", one, bound), "if"));
  for (int64_t n : {4, 5, 8, 11})
    for (const std::string& steps : {serial, bound}) agree_with(one, steps, {{"n", n}});
  // What a tile needs lies inside: nothing guards the copy.
  const std::string staged = R"(
  split C.i -> i0, i1 by 16, tail shift_inwards
  bind C.i0 to block_x
  bind C.i1 to thread_x
  cache_read A -> AS in shared for C
  compute_at AS at C.i0
  bind AS.ax0 to thread_x)";
  CHECK(has(after("guard_tails", one, staged), "AS[ax0] = A[min(i0 * 16, n - 16) + ax0]"));
  for (int64_t n : {16, 17, 40}) agree_with(one, staged, {{"n", n}});
  agree_with(one, "  split_parts C.i -> i0, i1 into 3, tail shift_inwards\n  bind C.i0 to block_x", {{"n", 10}});
  agree_with(one, "  split_parts C.i -> i0, i1 into 3, tail shift_inwards", {{"n", 1}});
  // Sums kept in the elements themselves are not added up twice.
  agree_with(matmul, "  split C.j -> j0, j1 by 4, tail shift_inwards\n  reorder C.i, C.k, C.j0, C.j1\n  vectorize C.j1", {{"m", 3}, {"n", 6}});
  agree_with(matmul, "  tile C.i, C.j -> i0, j0, i1, j1 by 2, 4, tail shift_inwards\n  bind C.i0 to block_x\n  bind C.j1 to thread_x", {{"m", 3}, {"n", 6}});
  const Program p = parse_program(one + "schedule {\n" + serial + "\n}\n", "test.te");
  CHECK(error_message([&] { by_gpu(build(p, "gfx942"), "gfx942", random_arrays(p, {{"n", 3}}, 1, Values::whole)); }).find("n >= 4") != std::string::npos);
  CHECK(refusal("function f(A: f32[3], out C)\nC[i: 3] = A[i]\n", "  split C.i -> i0, i1 by 4, tail shift_inwards") ==
        "split C.i -> i0, i1 by 4, tail shift_inwards: the extent 3 is less than the factor (hint: use tail guard, or another factor)");
  CHECK(refusal(matmul, "  split C.k -> k0, k1 by 4, tail shift_inwards") ==
        "split C.k -> k0, k1 by 4, tail shift_inwards: C.k is a reduction loop: what is computed twice would count twice (hint: use tail guard)");
}

TEST_CASE("promises: checked at launch, and guards that follow from them vanish") {
  const std::string tiles = "  split C.i -> i0, i1 by 16, tail guard\n  bind C.i0 to block_x\n  bind C.i1 to thread_x\n";
  CHECK(has(after("guard_tails", one, tiles), "if"));
  CHECK(!has(after("guard_tails", one, tiles + "  promise n % 16 == 0"), "if"));
  CHECK(has(after("narrow_indices", rows, "  bind C.i to block_x\n  bind C.j to thread_x\n  promise n <= 4096"), "i32("));
  CHECK(!has(after("narrow_indices", rows, "  bind C.i to block_x\n  bind C.j to thread_x"), "i32("));
  agree_with(one, tiles + "  promise n % 16 == 0\n  promise n <= 4096 && n != 0", {{"n", 32}});
  const Program p = parse_program(one + "schedule {\n" + tiles + "  promise n % 16 == 0\n}\n", "test.te");
  CHECK(error_message([&] { by_gpu(build(p, "gfx942"), "gfx942", random_arrays(p, {{"n", 17}}, 1, Values::whole)); }).find("n % 16 == 0") !=
        std::string::npos);
  CHECK(refusal(one, "  promise q < 3") == "promise q < 3: there is no shape symbol q (hint: the symbols are n)");
  CHECK(refusal(chain, "  promise q < 3") == "promise q < 3: there is no shape symbol q (hint: every shape is constant)");
  CHECK(refusal(one, "  promise n < 0") ==
        "promise n < 0: no shape is such that it holds (hint: extents are 0 or more; use a condition that some shape meets)");
  CHECK(refusal(one, "  promise n % 4 == 0\n  promise n % 8 == 1") ==
        "promise n % 8 == 1: it contradicts what is promised already (hint: extents are 0 or more; use a condition that some shape meets)");
  CHECK(refusal(one, "  promise f32(n) < 3.0").find("is no number that a launch can compute") != std::string::npos);
}

TEST_CASE("the same promise from C++") {
  const Var n("n");
  const Tensor A = placeholder({n}, f32, "A"), C = compute({n}, [&](Expr i) { return A(i) + 1.0f; }, "C");
  Schedule s(C);
  s.promise(n % 16 == 0).specialize(n <= 4096, [&](Schedule& v) { v[C].split(C.axis(0), 16); });
  CHECK(to_string(s) == "promise n % 16 == 0\nspecialize when n <= 4096 {\n  split C.i -> i0, i1 by 16, tail guard\n}\n");
  CHECK(s.versions().size() == 1);
}

TEST_CASE("specialize: each version has its own steps and its condition as a fact; the first that holds runs") {
  const std::string steps = R"(
  bind C.i to block_x
  specialize when n % 64 == 0 {
    cache_read B -> BG in global for C
  }
  specialize when n >= 8 {
    split C.j -> j0, j1 by 4, tail guard
    vectorize C.j1
    bind C.j0 to thread_x
  })";
  const std::string text = after("split_kernels", rows, steps);
  CHECK(has(text, "kernel f_v1_BG<n>(B: f32[n], out BG: f32[n]) grid [1, 1, 1] block [1, 1, 1] indices [bx, by, bz, tx, ty, tz] when n % 64 == 0"));
  for (int64_t n : {0, 1, 7, 8, 9, 64}) agree_with(rows, steps, {{"n", n}});
  const std::string tiled = R"(
  specialize when n % 64 == 0 {
    split C.i -> i0, i1 by 64, tail guard
    bind C.i0 to block_x
    bind C.i1 to thread_x
  }
  bind C.i to block_x)";
  const std::string kernels = after("guard_tails", one, tiled);
  CHECK(!has(kernels, "i1 < n"));
  for (int64_t n : {0, 63, 64, 128}) agree_with(one, tiled, {{"n", n}});
  // What a version needs beyond its condition is promised for it alone.
  const std::string needs = "  specialize when n >= 64 {\n    split C.i -> i0, i1 by 16, tail round_up\n    bind C.i1 to thread_x\n  }";
  for (int64_t n : {5, 80}) agree_with(one, needs, {{"n", n}});
  const Program p = parse_program(one + "schedule {\n" + needs + "\n}\n", "test.te");
  CHECK(error_message([&] { by_gpu(build(p, "gfx942"), "gfx942", random_arrays(p, {{"n", 65}}, 1, Values::whole)); }).find("when n >= 64") !=
        std::string::npos);
  // A promise that decides leaves one version.
  CHECK(!has(after("split_kernels", one, "  promise n % 64 == 0\n" + tiled), "when"));
  CHECK(refusal(one, "  promise n % 64 == 1\n" + tiled).find("it contradicts what is promised already") != std::string::npos);
}

TEST_CASE("specialize: refusals leave nothing behind") {
  Schedule s(parse_program(one, "test.te"));
  const auto refused = [&](const char* step) {
    const auto error = s.try_apply(parse_step(step));
    CHECK(s.steps().empty());
    return error ? std::string(error->what()) : "";
  };
  CHECK(refused("specialize when n < 0 { unroll C.i }") ==
        "specialize when n < 0 {\n  unroll C.i\n}: no shape is such that it holds (hint: extents are 0 or more; use a condition that some shape meets)");
  CHECK(refused("specialize when n > 0 { unroll C.x }") == "unroll C.x: C has no loop x (hint: the loops are C.i)");
  CHECK(error_message([] { parse_step("specialize when n > 0 { specialize when n > 1 { } }"); }).find("specialize stands inside specialize") !=
        std::string::npos);
  CHECK(!s.try_apply(parse_step("specialize when n > 0 { }")));
}

TEST_CASE("virtual threads: what they share is done once, their sums stand side by side, barriers are the work-item's") {
  const std::string gemm = R"(
  split C.i -> v, i1 by 8, tail guard
  split C.j -> j0, j1 by 8, tail guard
  reorder C.v, C.j0, C.i1, C.j1
  bind C.j0 to block_x
  bind C.i1 to thread_y
  bind C.j1 to thread_x
  bind C.v to virtual
  split C.k -> k0, k1 by 8, tail guard
  cache_read A -> AS in shared for C
  compute_at AS at C.k0
  cache_read B -> BS in shared for C
  compute_at BS at C.k0
  bind BS.ax0 to thread_y
  bind BS.ax1 to thread_x)";
  const std::string fixed = "function f(A: f32[16, 24], B: f32[24, 20], out C)\nC[i: 16, j: 20] = sum[k: 24](A[i, k] * B[k, j])\n";
  const std::string text = after("virtual_threads", fixed, gemm);
  CHECK(has(text, "AS: f32[16, 8]"));  // both virtual threads' rows
  CHECK(has(text, "C_acc: f32[2]"));
  agree_with(fixed, gemm);
  agree_with(one, "  split C.i -> b, i1 by 32, tail guard\n  split C.i1 -> v, t by 8, tail guard\n  bind C.b to block_x\n  bind C.v to virtual\n"
                  "  bind C.t to thread_x", {{"n", 45}});
  CHECK(refusal(one, "  bind C.i to virtual") ==
        "bind C.i to virtual: its extent n is not a constant (hint: split it by a small constant and bind the inner loop)");
  CHECK(refusal(chain, "  split C.i -> a, b by 1, tail guard\n  fuse C.a, C.b -> c\n  compute_inline P\n  unroll C.c\n  bind C.c to virtual").find(
            "C.c is unrolled already") != std::string::npos);
  CHECK(refusal("function f(A: f32[70], out C)\nC[i: 70] = A[i]\n", "  bind C.i to virtual") ==
        "bind C.i to virtual: C.i has extent 70, at most 64 can be virtual (hint: split it by a smaller factor first)");
}

TEST_CASE("unroll by a number: long and symbolic loops, so many iterations at a time") {
  for (int64_t n : {0, 1, 4, 11}) agree_with(one, "  unroll C.i by 4", {{"n", n}});
  agree_with(matmul, "  bind C.j to block_x\n  unroll C.k by 5", {{"m", 2}, {"n", 6}});
  CHECK(has(after("build_loops", matmul, "  unroll C.k by 24"), "for unrolled k in 0 .. 24"));
  CHECK(has(after("build_loops", one, "  unroll C.i by 4"), "for unrolled i1 in 0 .. 4"));
  CHECK(refusal(one, "  unroll C.i by 0") == "unroll C.i by 0: 0 iterations at a time are out of range (hint: use 1 to 1024)");
  const std::string wide = "function wide(A: f32[200000], out C)\nC[i: 200000] = A[i]\n";
  CHECK(refusal(wide, "  unroll C.i by 8") == "");
}

TEST_CASE("compute_with: two stages share loops and are one kernel") {
  const std::string two = "function f<n>(A: f32[n, 12], out C, out D)\nC[i: n, j: 12] = A[i, j] * 2.0\nD[i: n, j: 10] = A[i, j] + A[i, j + 2]\n";
  const std::string steps = R"(
  split C.i -> i0, i1 by 8, tail guard
  bind C.i0 to block_x
  bind C.i1 to thread_y
  bind C.j to thread_x
  split D.i -> i0, i1 by 8, tail guard
  bind D.i0 to block_x
  bind D.i1 to thread_y
  compute_with C at D.i1)";
  CHECK(lower(parse_program(two + "schedule {" + steps + "\n}\n"), parse_target("gfx942")).function.kernels.size() == 1);
  for (int64_t n : {0, 5, 16}) agree_with(two, steps, {{"n", n}});
  // Cut loops, reductions inside, and stages inside of both.
  const std::string sums = "function f(A: f32[50, 9], out C, out D)\nP[i: 50, k: 9] = A[i, k] + 1.0\nC[i: 50] = sum[k: 9](P[i, k])\n"
                           "D[i: 50] = max[k: 9](A[i, k])\n";
  agree_with(sums, "  split C.i -> a, b by 16, tail guard\n  split D.i -> a, b by 16, tail guard\n  compute_with C at D.b\n  compute_at P at C.k");
  agree_with(sums, "  split C.i -> a, b by 16, tail guard\n  split D.i -> a, b by 16, tail guard\n  bind C.a to block_x\n  bind D.a to block_x\n"
                   "  compute_with D at C.a\n  bind D.b to thread_x");
  // What stands between them and reads one of them comes after both.
  const std::string between = "function f(A: f32[20], out C, out D, out E)\nC[i: 20] = A[i] + 1.0\nE[i: 20] = C[i] * 2.0\nD[i: 20] = A[i] - 1.0\n";
  agree_with(between, "  compute_with D at C.i");
  agree_with(between, "  compute_with C at D.i");
  CHECK(refusal(between, "  compute_with E at C.i") ==
        "compute_with E at C.i: one of the two needs the other (hint: compute_at puts a stage inside one that reads it)");
  CHECK(refusal(between, "  compute_with C at C.i") == "compute_with C at C.i: both are the same stage (hint: name two stages)");
  CHECK(refusal(between, "  bind C.i to thread_x\n  compute_with C at D.i") ==
        "compute_with C at D.i: C.i is thread_x, D.i is serial (hint: bind, unroll and vectorize the shared loops alike)");
  CHECK(refusal(two, "  compute_with C at D.j") ==
        "compute_with C at D.j: C.j runs to 12, D.j to 10 (hint: share loops of equal extents, or promise that they are equal)");
  CHECK(refusal(sums, "  compute_with C at D.k").find("are not both data loops") != std::string::npos);
  CHECK(refusal(between, "  compute_with C at D.i\n  split D.i -> a, b by 4, tail guard").find("C is computed inside D.i") != std::string::npos);
}

TEST_CASE("block order: a bijection for every grid, whatever the numbers") {
  for (const auto& [x, y, z] : {std::tuple{5, 7, 1}, {8, 16, 1}, {1, 13, 2}, {6, 1, 3}, {3, 4, 5}})
    for (const BlockOrder& order : {BlockOrder{}, BlockOrder{1, 0, 4, 1}, BlockOrder{0, 1, 3, 8}, BlockOrder{1, 2, 2, 3}, BlockOrder{1, 0, 100, 5}}) {
      Kernel k;
      k.grid = {Expr(x), Expr(y), Expr(z)};
      k.order = order;
      const Var group("group", u32);
      const auto block = ordered_block(k, group);
      std::set<std::array<int64_t, 3>> seen;
      for (int64_t p = 0; p < x * y * z; ++p) {
        std::array<int64_t, 3> at{};
        for (size_t d = 0; d < 3; ++d) {
          const Expr value = substitute(block[d], {{group.node(), constant(u32, p)}});
          REQUIRE(as_constant(value));
          at[d] = *as_constant(value);
        }
        CHECK((at[0] < x && at[1] < y && at[2] < z));
        seen.insert(at);
        // Groups of rows walk the columns together.
        if (order == BlockOrder{1, 0, 4, 1} && p < 4 && y >= 4) CHECK(at == std::array<int64_t, 3>{0, p, 0});
      }
      CHECK(seen.size() == static_cast<size_t>(x * y * z));
    }
}

TEST_CASE("block_order and chiplet_order: every block runs, in text and on the device") {
  const std::string tiles = R"(
  tile C.i, C.j -> bi, bj, ti, tj by 4, 8, tail guard
  bind C.bi to block_y
  bind C.bj to block_x
  bind C.ti to thread_y
  bind C.tj to thread_x
)";
  const std::string both = tiles + "  block_order C.bi, C.bj grouped by 3\n  chiplet_order C.bi over 8";
  CHECK(has(after("split_kernels", matmul, both), "order [by, bx] grouped 3 chiplets 8"));
  for (const auto& [m, n] : {std::pair{1, 1}, {30, 17}, {33, 64}}) {
    agree_with(matmul, both, {{"m", m}, {"n", n}});
    agree_with(matmul, tiles + "  chiplet_order C.bj over 4", {{"m", m}, {"n", n}});
    agree_with(matmul, tiles + "  block_order C.bj, C.bi grouped by 2", {{"m", m}, {"n", n}});
  }
  const LoweredFunction f = lower(parse_program(matmul + "schedule {\n" + both + "\n}\n"), parse_target("gfx942")).function;
  const std::string text = to_string(parse_function(to_string(f)));
  CHECK(has(text, "order [by, bx] grouped 3 chiplets 8"));
  CHECK(to_string(parse_function(text)) == text);
  CHECK(refusal(matmul, "  block_order C.i, C.j grouped by 3") ==
        "block_order C.i, C.j grouped by 3: C.i is serial, not bound to work-groups (hint: bind it to block_x, block_y or block_z first)");
  CHECK(refusal(matmul, tiles + "  block_order C.bi, C.bi grouped by 3") ==
        "block_order C.bi, C.bi grouped by 3: both loops are the same (hint: name the loop over rows and the one over columns)");
  CHECK(refusal(matmul, tiles + "  block_order C.bi, C.bj grouped by 0") ==
        "block_order C.bi, C.bj grouped by 0: groups of 0 rows are out of range (hint: use 1 to 4096)");
  CHECK(refusal(matmul, tiles + "  chiplet_order C.bi over 0") ==
        "chiplet_order C.bi over 0: 0 chiplets are out of range (hint: use 1 to 4096, on gfx942 8)");
}

TEST_CASE("I2: a grid that passes the limit along y is folded; one of 2^32 work-items is refused") {
  const std::string rows_on_y = "  bind C.i to block_y\n  bind C.j to thread_x";
  agree("function f(A: i8[70001, 1], out C)\nC[i: 70001, j: 1] = A[i, j] + i8(1)\nschedule {\n" + rows_on_y + "\n}\n");
  CHECK(has(after("split_kernels", rows, rows_on_y), "order [by, bx] grouped 1 chiplets 1"));
  CHECK(!has(after("split_kernels", rows, "  promise n <= 65535\n" + rows_on_y), "order"));
  const std::string huge = "function f(A: i8[4294967296], out C)\nC[i: 4294967296] = A[i]\n";
  CHECK(refusal(huge, "  split C.i -> i0, i1 by 64, tail guard\n  bind C.i0 to block_x\n  bind C.i1 to thread_x") ==
        "kernel f: 67108864 work-groups of 64 work-items along x are more than 4294967295 work-items (hint: let each work-item compute "
        "several elements: leave an inner loop unbound)");
}
