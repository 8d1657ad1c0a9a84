// Steps on loops and shapes, run by all voices: tails, promises, versions, virtual threads, unrolling by a number.
#include <fmt/format.h>

#include <catch2/catch.hpp>

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
