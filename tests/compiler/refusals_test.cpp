// Every refusal of a schedule, by the steps themselves or by the passes: where, what and hint.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "compiler/build.h"
#include "ir/parse.h"
#include "tests/error_message.h"

using namespace lathe;

namespace {

// A producer, a consumer that reduces, and one that reads both.
const char* const chain = R"(
function chain<n>(A: f32[100, 64], B: f32[n, 64], out C, out D)

P[i: 100, j: 64] = A[i, j] * 2.0

C[i: 100, j: 64] = sum[k: 64](P[i, k] * A[j, k])

Q[i: n, j: 64] = B[i, j] + 1.0

D[i: n, j: 64] = Q[i, j] + Q[i, 63 - j]
)";

// What the last of `steps` is refused with.
std::string refusal(const std::vector<std::string>& steps, const char* program = chain) {
  Schedule s(parse_program(program, "test.te"));
  for (size_t i = 0; i + 1 < steps.size(); ++i) s.apply(parse_step(steps[i]));
  return error_message([&] { s.apply(parse_step(steps.back())); });
}

// What lowering the program with these steps is refused with.
std::string lowering_refusal(const char* program, const std::vector<std::string>& steps, const char* target = "gfx942") {
  Program p = parse_program(program, "test.te");
  for (const std::string& line : steps) p.steps.push_back(parse_step(line));
  return error_message([&] { build(p, target); });
}

}  // namespace

TEST_CASE("refusals: names of stages and loops") {
  CHECK(refusal({"split X.i -> a, b by 4, tail guard"}) ==
        "split X.i -> a, b by 4, tail guard: there is no stage X (hint: the stages are P, C, Q, D)");
  CHECK(refusal({"split C.x -> a, b by 4, tail guard"}) ==
        "split C.x -> a, b by 4, tail guard: C has no loop x (hint: the loops are C.i, C.j, C.k)");
  CHECK(refusal({"split C.i -> a, b by 4, tail guard", "unroll C.i"}) ==
        "unroll C.i: C.i was split or fused away (hint: the loops are C.a, C.b, C.j, C.k)");
  CHECK(refusal({"compute_inline P", "unroll P.i"}) ==
        "unroll P.i: P is inlined: it has no loops of its own (hint: compute_root it first)");
  CHECK(refusal({"split C.i -> a, k by 4, tail guard"}) ==
        "split C.i -> a, k by 4, tail guard: C has a loop k already (hint: give the new loop another name)");
  CHECK(refusal({"split C.i -> a, a by 4, tail guard"}) ==
        "split C.i -> a, a by 4, tail guard: C has a loop a already (hint: give the new loop another name)");
  CHECK(error_message([] {
          Schedule s(parse_program(chain, "test.te"));
          s.apply({"split", {{"C", "i"}}, {}, {"for", "b"}, {4}, "guard"});
        }) == "split C.i -> for, b by 4, tail guard: \"for\" is a word of the language (hint: choose another name)");
  CHECK(error_message([] {
          Schedule s(parse_program(chain, "test.te"));
          s.apply({"split", {{"C", "i"}}, {}, {"a b", "b"}, {4}, "guard"});
        }) == "split C.i -> a b, b by 4, tail guard: \"a b\" is not a name (hint: a name is letters, digits and _)");
}

TEST_CASE("refusals: split and split_parts") {
  CHECK(refusal({"split C.i -> a, b by 0, tail guard"}) ==
        "split C.i -> a, b by 0, tail guard: the factor 0 is out of range (hint: use 1 to 2147483648)");
  CHECK(refusal({"split C.i -> a, b by -3, tail guard"}) ==
        "split C.i -> a, b by -3, tail guard: the factor -3 is out of range (hint: use 1 to 2147483648)");
  CHECK(refusal({"split C.i -> a, b by 2147483649, tail guard"}) ==
        "split C.i -> a, b by 2147483649, tail guard: the factor 2147483649 is out of range (hint: use 1 to 2147483648)");
  CHECK(refusal({"split_parts C.i -> a, b into 0, tail guard"}) ==
        "split_parts C.i -> a, b into 0, tail guard: the number of parts 0 is out of range (hint: use 1 to 2147483648)");
  CHECK(refusal({"tile C.i, C.j -> a, b, c, d by 4, 0, tail guard"}) ==
        "tile C.i, C.j -> a, b, c, d by 4, 0, tail guard: the factor 0 is out of range (hint: use 1 to 2147483648)");
  CHECK(refusal({"bind C.i to block_x", "split C.i -> a, b by 4, tail guard"}) ==
        "split C.i -> a, b by 4, tail guard: C.i is block_x already (hint: split, fuse and reorder loops before they are "
        "bound, vectorized or unrolled)");
}

TEST_CASE("refusals: fuse, tile, reorder") {
  CHECK(refusal({"fuse C.i -> f"}) == "fuse C.i -> f: there is one loop to fuse (hint: name two or more)");
  CHECK(refusal({"fuse C.i, D.j -> f"}) ==
        "fuse C.i, D.j -> f: the loops belong to two stages (hint: fuse loops of one stage)");
  CHECK(refusal({"fuse C.j, C.i -> f"}) ==
        "fuse C.j, C.i -> f: C.i does not stand right inside C.j (hint: reorder the loops first)");
  CHECK(refusal({"fuse C.i, C.i -> f"}) ==
        "fuse C.i, C.i -> f: C.i does not stand right inside C.i (hint: reorder the loops first)");
  CHECK(refusal({"fuse C.j, C.k -> f"}) ==
        "fuse C.j, C.k -> f: one loop is a reduction, the other is not (hint: fuse data loops with data loops)");
  CHECK(refusal({"tile C.i, C.i -> a, b, c, d by 4, 4, tail guard"}) ==
        "tile C.i, C.i -> a, b, c, d by 4, 4, tail guard: both loops are the same (hint: name two loops)");
  CHECK(refusal({"tile C.i, D.i -> a, b, c, d by 4, 4, tail guard"}) ==
        "tile C.i, D.i -> a, b, c, d by 4, 4, tail guard: the loops belong to two stages (hint: tile two loops of one "
        "stage)");
  CHECK(refusal({"reorder C.i, D.i"}) ==
        "reorder C.i, D.i: the loops belong to two stages (hint: reorder loops of one stage)");
  CHECK(refusal({"reorder C.j, C.i, C.j"}) == "reorder C.j, C.i, C.j: C.j stands twice (hint: name each loop once)");
}

TEST_CASE("refusals: rfactor") {
  CHECK(refusal({"rfactor C.i -> CF"}) == "rfactor C.i -> CF: C.i is a data loop (hint: rfactor a loop of the reduction)");
  CHECK(refusal({"rfactor C.k -> CF"}) ==
        "rfactor C.k -> CF: C.k is the only loop of the reduction: there are no partial results (hint: split it first)");
  const std::string split = "split C.k -> k0, k1 by 8, tail guard";
  CHECK(refusal({split, "compute_at P at C.k0", "rfactor C.k0 -> CF"}) ==
        "rfactor C.k0 -> CF: P is computed inside C (hint: put compute_at after rfactor)");
  CHECK(refusal({split, "unroll C.k1", "rfactor C.k0 -> CF"}) ==
        "rfactor C.k0 -> CF: C.k1 is unrolled already (hint: split, fuse and reorder loops before they are bound, vectorized or "
        "unrolled)");
  CHECK(refusal({split, "rfactor C.k0 -> CF, CG"}) ==
        "rfactor C.k0 -> CF, CG: 2 new names for the 1 components of sum (hint: name one tensor a component)");
  CHECK(refusal({split, "rfactor C.k0 -> P"}) ==
        "rfactor C.k0 -> P: there is a tensor P already (hint: choose another name)");
  const char* const tuple = "function f(A: f32[8, 8], out I, out V)\n(I, V)[i: 8] = (argmax[k: 8](k, A[i, k]), argmax[k: 8](k, A[i, k]).1)\n";
  CHECK(refusal({"split I.k -> k0, k1 by 2, tail guard", "rfactor I.k0 -> F, F"}, tuple) ==
        "rfactor I.k0 -> F, F: F stands twice (hint: name each component differently)");
}

TEST_CASE("refusals: bind") {
  CHECK(refusal({"bind C.k to block_x"}) ==
        "bind C.k to block_x: C.k is a reduction loop: work-groups cannot combine their results (hint: bind it to thread_x, "
        "thread_y or thread_z, or rfactor it and bind the loop of its partial results)");
  CHECK(refusal({"bind C.i to block_x", "bind C.j to block_x"}) ==
        "bind C.j to block_x: C.i is bound to block_x already (hint: use another index)");
  CHECK(refusal({"bind C.i to block_x", "bind C.i to block_y"}) ==
        "bind C.i to block_y: C.i is block_x already (hint: split, fuse and reorder loops before they are bound, "
        "vectorized or unrolled)");
  const char* wide = "function wide(A: f32[2048], out C)\nC[i: 2048] = A[i]\n";
  CHECK(refusal({"bind C.i to thread_x"}, wide) ==
        "bind C.i to thread_x: C.i has extent 2048, thread_x takes at most 1024 (hint: split it by at most 1024 first)");
  CHECK(refusal({"split_parts C.i -> a, b into 1, tail guard", "bind C.b to thread_x"}, wide) ==
        "bind C.b to thread_x: C.b has extent 2048, thread_x takes at most 1024 (hint: split it by at most 1024 first)");
}

TEST_CASE("I3: a group of 2048 work-items is refused before LLVM, with number and limit") {
  const char* p = "function f(A: f32[64, 32], out C)\nC[i: 64, j: 32] = A[i, j]\n";
  CHECK(refusal({"bind C.i to thread_y", "bind C.j to thread_x"}, p) ==
        "bind C.j to thread_x: the work-group would have 2048 work-items, at most 1024 are possible (hint: use smaller "
        "split factors)");
  // In a stage computed inside another one, extents are known when loops are built.
  const char* two = R"(
function f(A: f32[64, 64], out C)
P[i: 64, j: 64] = A[i, j] + 1.0
C[i: 64, j: 64] = P[i, j] + P[i, 63 - j]
)";
  CHECK(lowering_refusal(two, {"bind C.i to block_x", "bind C.j to thread_x", "set_scope P to shared",
                               "compute_at P at C.i", "split P.j -> j0, j1 by 32, tail guard", "bind P.j1 to thread_y"}) ==
        "bind C.j = 64, P.j1 = 32: the work-group has 2048 work-items, at most 1024 are possible (hint: use smaller split "
        "factors)");
  const char* wide = R"(
function f(A: f32[64, 2048], out C)
P[i: 64, j: 2048] = A[i, j] + 1.0
C[i: 64] = sum[j: 2048](P[i, j])
)";
  CHECK(lowering_refusal(wide, {"bind C.i to block_x", "set_scope P to shared", "compute_at P at C.i",
                                "bind P.j to thread_x"}) ==
        "bind P.j to thread_x: its extent 2048 exceeds 1024 (hint: split it by at most 1024 first)");
}

TEST_CASE("refusals: two loops on one index with different extents") {
  const char* p = R"(
function f(A: f32[64, 64], out C)
P[i: 64, j: 64] = A[i, j] + 1.0
C[i: 64, j: 64] = P[i, j] + P[i, 63 - j]
)";
  CHECK(lowering_refusal(p, {"bind C.i to block_x", "bind C.j to thread_x", "set_scope P to shared",
                             "compute_at P at C.i", "split P.j -> j0, j1 by 32, tail guard", "bind P.j1 to thread_x"}) ==
        "bind C.j to thread_x: its extent is 64, but P.j1 is bound to thread_x with extent 32 in the same kernel (hint: "
        "give both loops one extent, or use another index)");
}

TEST_CASE("refusals: vectorize and unroll") {
  CHECK(refusal({"vectorize C.k"}) ==
        "vectorize C.k: C.k is a reduction loop: its lanes would write one element (hint: vectorize a data loop)");
  CHECK(refusal({"vectorize C.i"}) ==
        "vectorize C.i: C.i has extent 100, at most 64 can be vectorized (hint: split it by a smaller factor first)");
  CHECK(refusal({"unroll D.j", "vectorize D.j"}) ==
        "vectorize D.j: D.j is unrolled already (hint: split, fuse and reorder loops before they are bound, vectorized or "
        "unrolled)");
  const char* wide = "function wide(A: f32[200000], out C)\nC[i: 200000] = A[i]\n";
  CHECK(refusal({"unroll C.i"}, wide) ==
        "unroll C.i: C.i has extent 200000, at most 1024 can be unrolled (hint: split it by a smaller factor first)");
  CHECK(lowering_refusal(chain, {"vectorize D.i"}) ==
        "vectorize D.i: its extent n is not a constant (hint: split it by a small constant and vectorize the inner loop)");
  CHECK(lowering_refusal(chain, {"unroll D.i"}) ==
        "unroll D.i: its extent n is not a constant (hint: split it by a small constant and unroll the inner loop)");
}

TEST_CASE("R5: an unroll that would give 200,000 statements is refused with the count") {
  const char* wide = "function wide(A: f32[200000], out C)\nC[i: 200000] = A[i]\n";
  CHECK(lowering_refusal(wide, {"split C.i -> i0, i1 by 1000, tail guard", "unroll C.i0", "unroll C.i1"}) ==
        "kernel wide: unrolling gives 200000 statements, at most 4096 are compiled (hint: unroll fewer loops, or split "
        "them by smaller factors first)");
}

TEST_CASE("refusals: compute_at, compute_inline") {
  CHECK(refusal({"compute_at C at D.i"}) ==
        "compute_at C at D.i: C is an output: it is computed whole, at the root (hint: compute_at serves stages in "
        "between)");
  CHECK(refusal({"compute_at P at D.i"}) ==
        "compute_at P at D.i: D does not read P (hint: compute a stage inside one that needs it)");
  CHECK(refusal({"compute_at P at P.i"}) ==
        "compute_at P at P.i: P does not read P (hint: compute a stage inside one that needs it)");
  CHECK(refusal({"compute_at P at C.x"}) ==
        "compute_at P at C.x: C has no loop x (hint: the loops are C.i, C.j, C.k)");
  CHECK(refusal({"set_scope P to global", "compute_at P at C.i"}) ==
        "compute_at P at C.i: P lives in global memory (hint: set_scope it to shared or register first)");
  CHECK(refusal({"compute_inline C"}) == "compute_inline C: C is an output (hint: outputs are computed at the root)");
  CHECK(refusal({"split P.i -> a, b by 4, tail guard", "compute_inline P"}) ==
        "compute_inline P: P has loops that steps changed (hint: inline a stage before anything else)");
  const char* three = R"(
function f(A: f32[64, 8], out C)
R[i: 64] = sum[k: 8](A[i, k])
P[i: 64] = R[i] + 1.0
C[i: 64] = P[i] * 2.0
)";
  CHECK(refusal({"compute_inline R"}, three) ==
        "compute_inline R: R is a reduction: inlining would repeat it for every use (hint: compute_at it inside its "
        "consumer)");
  CHECK(refusal({"compute_at R at P.i", "compute_inline P"}, three) ==
        "compute_inline P: R is computed inside it (hint: compute_root that stage first)");
  CHECK(refusal({"compute_inline P", "compute_at R at P.i"}, three) ==
        "compute_at R at P.i: P is inlined: it has no loops of its own (hint: compute_root it first)");
  const char* tuple = R"(
function f(A: f32[64, 8], out C)
(I, V)[i: 64] = (A[i, 0], A[i, 1])
C[i: 64] = I[i] + V[i]
)";
  CHECK(refusal({"compute_inline I"}, tuple) ==
        "compute_inline I: I has several outputs (hint: compute_at it inside its consumer)");
}

TEST_CASE("asking whether a stage needs another one takes no time even where many paths lead back") {
  std::string text = "A0[i: 64] = A[i]\nB0[i: 64] = A[i]\n";
  for (int k = 1; k < 40; ++k)
    text += fmt::format("A{0}[i: 64] = A{1}[i] + B{1}[i]\nB{0}[i: 64] = A{1}[i] - B{1}[i]\n", k, k - 1);
  text = "function f(A: f32[64], out C, out D)\n" + text + "C[i: 64] = A39[i] + B39[i]\nZ[i: 64] = A[i]\nD[i: 64] = Z[i]\n";
  CHECK(refusal({"compute_at Z at C.i"}, text.c_str()) ==
        "compute_at Z at C.i: C does not read Z (hint: compute a stage inside one that needs it)");
}

TEST_CASE("refusals: where a stage is computed, as the whole schedule says it") {
  const char* two = R"(
function f(A: f32[64], out C, out D)
P[i: 64] = A[i] + 1.0
C[i: 64] = P[i] * 2.0
D[i: 64] = P[i] * 3.0
)";
  CHECK(lowering_refusal(two, {"compute_at P at C.i"}) ==
        "compute_at P at C.i: D reads P too, and is not computed inside that loop (hint: compute P at an outer loop, or "
        "leave it at the root)");
  const char* three = R"(
function f(A: f32[64, 64], out C)
P[i: 64, j: 64] = A[i, j] + 1.0
Q[i: 64, j: 64] = P[i, j] * 2.0
C[i: 64, j: 64] = P[i, j] + Q[i, j]
)";
  CHECK(lowering_refusal(three, {"compute_at Q at C.i", "compute_at P at C.j"}) ==
        "compute_at P at C.j: Q reads P too, and is not computed inside that loop (hint: compute P at an outer loop, or "
        "leave it at the root)");
  CHECK(lowering_refusal(three, {"compute_inline Q", "compute_at P at C.i", "split C.i -> a, b by 4, tail guard"}) ==
        "split C.i -> a, b by 4, tail guard: P is computed inside C.i (hint: put compute_at after the steps that change "
        "the loop, or compute_root that stage first)");
  CHECK(lowering_refusal(three, {"compute_inline Q", "compute_at P at C.j", "vectorize C.j"}) ==
        "vectorize C.j: P is computed inside C.j (hint: put compute_at after the steps that change the loop, or "
        "compute_root that stage first)");
  CHECK(lowering_refusal(three, {"compute_inline Q", "vectorize C.j", "compute_at P at C.j"}) ==
        "compute_at P at C.j: C.j is vectorized (hint: compute it at a loop further out)");
  CHECK(lowering_refusal(three, {"set_scope Q to shared"}) ==
        "stage Q: it lives in shared memory but is computed at the root (hint: compute_at it inside a loop of the stage "
        "that reads it)");
  const char* after = R"(
function f(A: f32[64, 64], B: f32[64], out C)
P[i: 64] = B[i] + 1.0
C[i: 64] = sum[k: 64](A[i, k]) * P[i]
)";
  CHECK(lowering_refusal(after, {"compute_at P at C.k"}) ==
        "compute_at P at C.k: C reads P after its reduction, outside that loop (hint: compute P at a loop outside the "
        "reduction)");
  const char* symbolic = R"(
function f<n>(A: f32[n, n], out C)
P[i: n, j: n] = A[i, j] + 1.0
C[i: n] = sum[k: n](P[i, k])
)";
  CHECK(lowering_refusal(symbolic, {"compute_at P at C.i"}) ==
        "compute_at P at C.i: P needs n elements along j, which is not a constant (hint: LDS and registers have a fixed "
        "size: split the loops so that a tile of constant size is needed, or promise a constant shape)");
}

TEST_CASE("refusals: bind of stages inside other stages") {
  const char* p = R"(
function f<n>(A: f32[64, 64], B: f32[n], out C)
P[i: 64, j: 64] = A[i, j] + 1.0
C[i: 64, j: 64] = P[i, j] + P[i, 63 - j]
)";
  CHECK(lowering_refusal(p, {"bind C.j to thread_x", "compute_at P at C.i", "bind P.j to block_x"}) ==
        "bind P.j to block_x: P is computed inside C (hint: only stages at the root are spread over work-groups)");
  CHECK(lowering_refusal(p, {"bind C.j to thread_x", "compute_at P at C.j", "bind P.j to thread_x"}) ==
        "bind P.j to thread_x: P lives in registers, which belong to one work-item (hint: put the stage in shared memory, "
        "or leave its loops unbound)");
  const char* both = "function f(A: f32[64, 64], B: f32[64, 64], out C)\nC[i: 64, j: 64] = A[i, j] + B[i, j]\n";
  CHECK(lowering_refusal(both, {"bind C.j to thread_x", "cache_read A -> AS in shared for C", "compute_at AS at C.j",
                                "cache_read B -> BS in register for C", "compute_at BS at C.j"}) == "");
  const char* symbolic = "function f<n>(A: f32[n], out C)\nC[i: n] = A[i]\n";
  CHECK(lowering_refusal(symbolic, {"bind C.i to thread_x"}) ==
        "bind C.i to thread_x: its extent n is not a constant (hint: split it by a constant and bind the inner loop)");
}

TEST_CASE("refusals: cache_read, cache_write, set_scope") {
  CHECK(refusal({"cache_read B -> S in shared for C"}) ==
        "cache_read B -> S in shared for C: C does not read B (hint: it reads P, A)");
  CHECK(refusal({"cache_read A -> P in shared for C"}) ==
        "cache_read A -> P in shared for C: there is a tensor P already (hint: choose another name)");
  CHECK(refusal({"cache_read A -> B in shared for C"}) ==
        "cache_read A -> B in shared for C: there is a tensor B already (hint: choose another name)");
  CHECK(refusal({"cache_read A -> AS in shared for X"}) ==
        "cache_read A -> AS in shared for X: there is no stage X (hint: the stages are P, C, Q, D)");
  CHECK(refusal({"cache_write X -> XL in register"}) ==
        "cache_write X -> XL in register: there is no stage X (hint: the stages are P, C, Q, D)");
  CHECK(refusal({"cache_write C -> P in register"}) ==
        "cache_write C -> P in register: there is a tensor P already (hint: choose another name)");
  CHECK(refusal({"split C.i -> a, b by 4, tail guard", "cache_write C -> CL in register"}) ==
        "cache_write C -> CL in register: C has loops that steps changed (hint: cache_write before splitting, "
        "reordering, binding or compute_at)");
  CHECK(refusal({"bind C.i to block_x", "cache_write C -> CL in register"}) ==
        "cache_write C -> CL in register: C has bound loops (hint: cache_write before binding)");
  CHECK(refusal({"reorder C.k, C.i", "cache_write C -> CL in register"}) ==
        "cache_write C -> CL in register: C has loops that steps changed (hint: cache_write before splitting, "
        "reordering, binding or compute_at)");
  const char* tuple = "function f(A: f32[64, 8], out I, out V)\n(I, V)[i: 64] = (A[i, 0], A[i, 1])\n";
  CHECK(refusal({"cache_write I -> IL in register"}, tuple) ==
        "cache_write I -> IL in register: I has several outputs (hint: stage tensors with one output)");
  CHECK(refusal({"set_scope C to shared"}) ==
        "set_scope C to shared: C is an output (hint: outputs live in global memory; use cache_write to stage one)");
  CHECK(refusal({"compute_at P at C.i", "set_scope P to global"}) ==
        "set_scope P to global: P is computed inside C (hint: global tensors are computed at the root)");
}

TEST_CASE("a data loop inside a reduction needs a place of its own for sums that are used further") {
  const char* p = "function f(A: f16[64, 64], out C)\nC[i: 64] = sum[k: 64](A[i, k])\n";
  CHECK(lowering_refusal(p, {"reorder C.k, C.i"}) ==
        "stage C: a data loop runs inside a reduction loop, and the result is converted or used further (hint: cache_write "
        "C first, so that the sums have a place of their own)");
}

TEST_CASE("R1: LDS over the limit is refused before LLVM; buffers, bytes and the limit are named") {
  const char* p = R"(
function f(A: f32[259, 64], out C)
P[i: 259, j: 64] = A[i, j] + 1.0
C[i: 259, j: 64] = P[258 - i, j] + 1.0
)";
  const std::vector<std::string> whole = {"split_parts C.i -> i0, i1 into 1, tail guard", "bind C.i0 to block_x",
                                          "set_scope P to shared", "compute_at P at C.i0", "bind C.j to thread_x"};
  CHECK(lowering_refusal(p, whole, "gfx942") ==
        "stage C: its kernel stages 66304 B in LDS (P 66304 B), gfx942 has 65536 B per work-group (hint: use smaller tiles)");
  CHECK(lowering_refusal(p, whole, "gfx1100") ==
        "stage C: its kernel stages 66304 B in LDS (P 66304 B), gfx1100 has 65536 B per work-group (hint: use smaller "
        "tiles)");
  CHECK(lowering_refusal(p, whole, "gfx950") == "");  // 160 KiB there
  const char* large = R"(
function f(A: f32[272, 1024], B: f32[100], out C)
P[i: 272, j: 1024] = A[i, j] + 1.0
Q[i: 100] = B[i] * 2.0
C[i: 272, j: 1024] = P[271 - i, j] + Q[i % 100]
)";
  std::vector<std::string> both = whole;
  both.back() = "compute_at Q at C.i0";
  both.push_back("set_scope Q to shared");
  CHECK(lowering_refusal(large, both, "gfx950") ==
        "stage C: its kernel stages 1114512 B in LDS (P 1114112 B, Q 400 B), gfx950 has 163840 B per work-group (hint: use "
        "smaller tiles)");
}

TEST_CASE("refusals: targets, outputs, arguments") {
  const char* p = "function f(A: f32[64], out C)\nC[i: 64] = A[i]\n";
  CHECK(lowering_refusal(p, {}, "gfx000").find("gfx000") != std::string::npos);
  CHECK(lowering_refusal(p, {}, "gfx942:sramecc").find("gfx942:sramecc") != std::string::npos);
  const Tensor A = placeholder({64}, f32, "A");
  CHECK(error_message([&] { Schedule s(A); }) ==
        "schedule: an output is not a computed tensor (hint: give tensors made with compute)");
  CHECK(error_message([&] { Schedule s(std::vector<Tensor>{}); }) ==
        "schedule: there is no output (hint: give a computed tensor)");
  const Tensor C = compute({64}, [&](Expr i) { return A(i) + 1.0f; }, "C");
  const Tensor D = compute({64}, [&](Expr i) { return A(i) + 2.0f; }, "D");
  Schedule s(C);
  CHECK(error_message([&] { s[A].unroll(C.axis(0)); }) ==
        "schedule: A is not a stage of this schedule (hint: stages are the computed tensors that the outputs need, and "
        "caches)");
  CHECK(error_message([&] { build(s, {A}, "gfx942", "f"); }) ==
        "function f: no argument is computed (hint: add an output, a tensor made with compute)");
  CHECK(error_message([&] { build(s, {A, D}, "gfx942", "f"); }) ==
        "build f: the schedule's output C is not an argument (hint: add it to the arguments)");
  CHECK(error_message([&] { build(s, {A, C, D}, "gfx942", "f"); }) ==
        "build f: D is an output, but not of the schedule (hint: make the schedule of all outputs: Schedule({C, D}))");
  CHECK(error_message([&] { build(s, {A, C}, "gfx942", "f").source("ptx"); }) ==
        "Module::source: there is no source \"ptx\" (hint: use te, ir, llvm or asm)");
  PipelineOptions options;
  options.stop_after = "vectorise";
  CHECK(error_message([&] { lower(to_program(s, {A, C}, "f"), parse_target("gfx942"), options); })
            .starts_with("--stop-after: there is no pass vectorise (hint: the passes are apply_schedule, check_accesses, infer_bounds, "));
}

TEST_CASE("refusals: pipeline and double_buffer") {
  const std::string at = "compute_at P at C.k";
  CHECK(refusal({"pipeline C.k stages 1"}) ==
        "pipeline C.k stages 1: 1 stages are not possible (hint: use 2 to 8: that many copies of each tile are kept)");
  CHECK(refusal({"pipeline C.k stages 2", "split C.k -> a, b by 4, tail guard"}) ==
        "split C.k -> a, b by 4, tail guard: C.k is pipelined already (hint: pipeline a loop after the steps that change it)");
  CHECK(refusal({"unroll C.k", "pipeline C.k stages 2"}) ==
        "pipeline C.k stages 2: C.k is unrolled already (hint: split, fuse and reorder loops before they are bound, vectorized "
        "or unrolled)");
  CHECK(refusal({at, "double_buffer P", "pipeline C.k stages 2"}) ==
        "pipeline C.k stages 2: P is double-buffered there already (hint: use one of the two steps)");
  CHECK(refusal({at, "pipeline C.k stages 2", "double_buffer P"}) ==
        "double_buffer P: P is computed ahead already (hint: one pipeline or double_buffer is enough)");
  CHECK(refusal({"double_buffer P"}) ==
        "double_buffer P: P is computed at the root (hint: compute_at it inside the loop that uses it tile by tile)");
  CHECK(refusal({"bind C.i to block_x", "compute_at P at C.i", "double_buffer P"}) ==
        "double_buffer P: C.i, at which it is computed, is not a serial loop (hint: compute it at a loop whose iterations run "
        "one after the other)");
  CHECK(lowering_refusal(chain, {"pipeline C.k stages 2"}) ==
        "pipeline C.k stages 2: nothing is computed at that loop (hint: compute_at what it reads there first: a tile that is "
        "used in one iteration)");
  CHECK(lowering_refusal(chain, {"compute_at P at C.i", "double_buffer P", "bind C.i to block_x"}) ==
        "double_buffer P: C.i is block_x (hint: compute it at a loop whose iterations run one after the other)");
  CHECK(lowering_refusal(chain, {"cache_read P -> PS in shared for C", "compute_at PS at C.i", "compute_at P at C.i", "double_buffer PS"}) ==
        "double_buffer PS: P, which is computed in the same loop but not ahead, is read for it (hint: double_buffer P as well, or "
        "pipeline the loop)");
  const char* big = "function f(A: f32[64, 10000], out C)\nC[i: 64, j: 10000] = A[i, 9999 - j]\n";
  CHECK(lowering_refusal(big, {"cache_read A -> AS in shared for C", "compute_at AS at C.i", "pipeline C.i stages 2"}) ==
        "stage C: its kernel stages 80000 B in LDS (AS 80000 B), gfx942 has 65536 B per work-group (hint: use smaller tiles)");
}

TEST_CASE("refusals: cooperative, storage_align and swizzle") {
  CHECK(refusal({"cooperative P vector 4"}) ==
        "cooperative P vector 4: P is computed at the root (hint: compute_at it inside the kernel whose work-items shall share the "
        "work)");
  CHECK(refusal({"compute_at P at C.i", "cooperative P vector 4"}) ==
        "cooperative P vector 4: the kernel has one work-item (hint: bind loops of the stages around it to thread_x, thread_y or "
        "thread_z first)");
  CHECK(refusal({"compute_at P at C.i", "bind C.j to thread_x", "unroll P.j", "cooperative P vector 4"}) ==
        "cooperative P vector 4: P has loops that steps changed (hint: this step fuses, splits and binds them all by itself)");
  CHECK(refusal({"compute_at P at C.i", "bind C.j to thread_x", "cooperative P vector 65"}) ==
        "cooperative P vector 65: vectors of 65 elements are not possible (hint: use 1 to 64)");
  CHECK(refusal({"compute_at P at C.i", "set_scope P to register", "bind C.j to thread_x", "cooperative P vector 4"}) ==
        "cooperative P vector 4: P lives in register memory (hint: only LDS has banks: cache_read or set_scope into shared first)");
  CHECK(refusal({"storage_align C.i by 32 offset 1"}) ==
        "storage_align C.i by 32 offset 1: C lives in global memory (hint: only LDS has banks: cache_read or set_scope into shared "
        "first)");
  CHECK(refusal({"storage_align P.x by 32 offset 1"}) ==
        "storage_align P.x by 32 offset 1: P has no axis x (hint: the axes are P.i, P.j)");
  CHECK(refusal({"storage_align P.j by 32 offset 1"}) ==
        "storage_align P.j by 32 offset 1: P.j is the innermost axis: its elements stand side by side (hint: align an axis further "
        "out)");
  CHECK(refusal({"storage_align P.i by 32 offset 32"}) ==
        "storage_align P.i by 32 offset 32: a stride of 32 modulo 32 is not possible (hint: use a factor of 1 to 4096 and an offset "
        "below it)");
  CHECK(refusal({"swizzle P vector 4 rows 1 period 6"}) ==
        "swizzle P vector 4 rows 1 period 6: the period 6 is not a power of two (hint: use 2, 4, 8, 16, 32 or 64)");
  CHECK(refusal({"swizzle P vector 0 rows 1 period 8"}) ==
        "swizzle P vector 0 rows 1 period 8: pieces of 0 elements in turns of 1 rows are not possible (hint: use 1 to 64 elements "
        "and 1 to 4096 rows)");
  const char* line = "function f(A: f32[64], out C)\nP[i: 64] = A[i]\nC[i: 64] = P[63 - i]\n";
  CHECK(refusal({"swizzle P vector 4 rows 1 period 8"}, line) ==
        "swizzle P vector 4 rows 1 period 8: P has one axis, and no rows (hint: swizzle tiles of two axes or more)");
  const std::vector<std::string> in_lds = {"compute_at P at C.i", "set_scope P to shared"};
  CHECK(lowering_refusal(chain, {in_lds[0], in_lds[1], "swizzle P vector 4 rows 1 period 32"}) ==
        "swizzle P vector 4 rows 1 period 32: its rows have 64 elements, no multiple of 32 pieces of 4 (hint: use a shorter period or "
        "shorter pieces, or longer rows)");
  CHECK(lowering_refusal(chain, {in_lds[0], "swizzle P vector 4 rows 1 period 8"}) ==
        "swizzle P: P lives in register memory (hint: only LDS has banks: set_scope it to shared)");
}

TEST_CASE("refusals: store_at") {
  CHECK(refusal({"store_at P at C.i"}) == "store_at P at C.i: P is computed at the root (hint: compute_at it inside a loop first)");
  CHECK(lowering_refusal(chain, {"compute_at P at C.i", "store_at P at C.j"}) ==
        "store_at P at C.j: it is no loop around C.i, at which P is computed (hint: store it at an outer loop of the nest that it is "
        "computed in)");
  CHECK(lowering_refusal(chain, {"compute_at P at C.j", "store_at P at C.i", "bind C.j to thread_x"}) ==
        "store_at P at C.i: C.j in between is thread_x: its iterations have no memory in common (hint: store it inside that loop)");
  const char* window = "function f<n>(A: f32[n], out C)\nP[i: n] = A[i]\nC[i: n, j: n] = P[i] + P[j]\n";
  CHECK(lowering_refusal(window, {"compute_at P at C.j", "store_at P at C.i"}) ==
        "store_at P at C.i: n elements of P along i are kept, which is not a constant (hint: LDS and registers have a fixed size: store "
        "it at an inner loop)");
  CHECK(lowering_refusal(chain, {"compute_at P at C.j", "store_at P at C.i", "double_buffer P"}) ==
        "double_buffer P: P is stored at C.i: it keeps the values of earlier iterations (hint: use one of the two steps)");
}
