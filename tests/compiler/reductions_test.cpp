// Reductions across work-items: inside a wave, across waves through LDS, every combiner, every kind of extent, on wave32 and
// wave64, with the cases of public reports that are about them. Equal to plain loops, after every pass and on the device.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/compiler/harness.h"
#include "tests/error_message.h"

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

std::vector<float> floats(const HostArray& a) {
  const auto values = a.values<float>();
  return {values.begin(), values.end()};
}

void agree_with(const std::string& body, const std::string& steps, const Symbols& symbols = {}) {
  agree(body + "\nschedule {\n" + steps + "\n}\n", symbols, Values::whole);
}

// One row a work-group, its elements over `threads` work-items.
std::string over(int threads, const std::string& stage = "C") {
  return fmt::format("  split {0}.k -> k0, k1 by {1}, tail guard\n  bind {0}.i to block_x\n  bind {0}.k1 to thread_x\n", stage, threads);
}

}  // namespace

TEST_CASE("every built-in reduction across work-items, in every type of register") {
  for (const char* type : {"f64", "f16", "i64", "i32", "u8"})
    for (const char* op : {"sum", "max"})
      agree_with(fmt::format("function f(A: {0}[2, 70], out C)\nC[i: 2] = {1}[k: 70](A[i, k])\n", type, op), over(64));
  for (const char* op : {"product", "min"})
    agree_with(fmt::format("function f(A: f32[2, 70], out C)\nC[i: 2] = {}[k: 70](A[i, k])\n", op), over(64));
  for (const char* op : {"any", "all"})
    agree_with(fmt::format("function f(A: i32[5, 30], out C)\nC[i: 5] = {}[k: 30](A[i, k] > i32(1 - i) || A[i, k] == -2)\n", op), over(32));
  for (const char* op : {"argmin", "argmax"})
    agree_with(fmt::format("function f(A: f32[3, 200], out C, out V)\n(C, V)[i: 3] = ({0}[k: 200](k, A[i, k]), {0}[k: 200](k, A[i, k]).1)\n", op),
               over(128));
}

TEST_CASE("work-items of any number: parts of a wave, several waves, no power of two") {
  for (int threads : {1, 2, 8, 11, 24, 96, 256, 320})
    agree_with("function f<n>(A: f32[2, n], out C)\nC[i: 2] = sum[k: n](A[i, k])\n", over(threads), {{"n", 333}});
  for (int64_t n : {0, 1, 64, 65}) agree_with("function f<n>(A: f32[2, n], out C)\nC[i: 2] = sum[k: n](A[i, k])\n", over(64), {{"n", n}});
}

TEST_CASE("rows along thread_y, columns of a reduction along thread_x, and the other way round") {
  const std::string body = "function f<m>(A: f32[m, 50], out C)\nC[i: m] = sum[k: 50](A[i, k])\n";
  for (const char* index : {"x", "y"})
    agree_with(body, fmt::format("  split C.i -> i0, i1 by 6, tail guard\n  split C.k -> k0, k1 by 8, tail guard\n  bind C.i0 to block_x\n"
                                 "  bind C.i1 to thread_{}\n  bind C.k1 to thread_{}\n", *index == 'x' ? "y" : "x", index), {{"m", 13}});
  // Both loops of the reduction, and the rows along the third index.
  agree_with(body, "  split C.i -> i0, i1 by 3, tail guard\n  split C.k -> k0, k1 by 4, tail guard\n  bind C.i0 to block_x\n"
                   "  bind C.i1 to thread_z\n  bind C.k0 to thread_y\n  bind C.k1 to thread_x\n", {{"m", 7}});
}

TEST_CASE("a combiner whose order counts keeps it when each work-item's share is a part of the loop") {
  // Products of 2×2 matrices, exact in wrapping i32.
  const std::string body = R"(
function f(A: i32[2, 100], B: i32[2, 100], out P, out Q, out R, out S)
combiner dot(a: i32, b: i32, c: i32, d: i32), (e: i32, f: i32, g: i32, h: i32) = (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h) identity (1, 0, 0, 1)
(P, Q, R, S)[i: 2] = (dot[k: 100](A[i, k], B[i, k], i32(1), A[i, k] + 1), dot[k: 100](A[i, k], B[i, k], i32(1), A[i, k] + 1).1, dot[k: 100](A[i, k], B[i, k], i32(1), A[i, k] + 1).2, dot[k: 100](A[i, k], B[i, k], i32(1), A[i, k] + 1).3)
)";
  for (int parts : {32, 64, 13, 100})
    agree_with(body, fmt::format("  split_parts P.k -> k0, k1 into {}, tail guard\n  bind P.i to block_x\n  bind P.k0 to thread_x\n", parts));
}

TEST_CASE("S1: dense 1×K · K×10, batches 1 to 15, K across work-items") {
  const Program p = parse_program("function dense<b>(X: f32[b, 37], W: f32[37, 10], out C)\nC[i: b, j: 10] = sum[k: 37](X[i, k] * W[k, j])\n"
                                  "schedule {\n  split C.k -> k0, k1 by 16, tail guard\n  bind C.i to block_x\n  bind C.j to thread_y\n  bind C.k1 to thread_x\n}\n");
  for (int64_t b : {1, 2, 15}) agree(p, {{"b", b}}, random_arrays(p, {{"b", b}}, 5, Values::whole));
}

TEST_CASE("S2: the maximum of 11 negative values across 32 and 64 work-items is the true one") {
  for (int threads : {32, 64, 256}) {
    const Program p = parse_program(fmt::format("function most(A: f32[1, 11], out C)\nC[i: 1] = max[k: 11](A[i, k])\nschedule {{\n{}}}\n", over(threads)));
    Arrays in = random_arrays(p, {}, 1, Values::whole);
    in[0] = HostArray::from(std::vector<float>{-9, -3, -5, -7.5f, -2.25f, -8, -100, -4, -6, -11, -3}, {1, 11}, f32);
    CHECK(floats(agree(p, {}, in)[1]) == std::vector<float>{-2.25f});
  }
}

TEST_CASE("S7: two reductions across work-items in one loop: a barrier before their scratch is written again") {
  const std::string body = R"(
function f(A: f32[5, 300], out C)
M[i: 5] = max[k: 300](A[i, k])
S[i: 5] = sum[k: 300](A[i, k] + M[i])
C[i: 5, j: 2] = S[i] * M[i] + f32(j)
)";
  std::string steps;
  for (const char* stage : {"M", "S"}) steps += fmt::format("  split {0}.k -> k0, k1 by 256, tail guard\n  bind {0}.k1 to thread_x\n  compute_at {0} at C.i\n", stage);
  for (const char* scope : {"shared", "register"})  // stored by the first work-item, or held by all
    agree_with(body, steps + fmt::format("  set_scope M to {0}\n  set_scope S to {0}\n", scope));
}

TEST_CASE("S9: argmax over 1028×1028 integers 0..7 across work-items gives the lowest index of many ties") {
  const Program p = parse_program(R"(
function top(A: i32[1028, 1028], out C)
C[] = argmax[p: 1028, q: 1028](p * 1028 + q, A[p, q])
schedule {
  fuse C.p, C.q -> k
  split C.k -> k0, k1 by 256, tail guard
  bind C.k1 to thread_x
}
)");
  std::vector<int32_t> values(1028 * 1028);
  uint32_t state = 1;
  for (int32_t& v : values) v = static_cast<int32_t>((state = state * 1664525 + 1013904223) >> 29);
  for (int i = 0; i < 700; ++i) values[i] %= 7;  // the first 7 comes late
  const int64_t expected = std::max_element(values.begin(), values.end()) - values.begin();
  CHECK(expected >= 700);
  Arrays in = random_arrays(p, {}, 1, Values::whole);
  in[0] = HostArray::from(values, {1028, 1028}, i32);
  for (const std::string& gpu : {"gfx942", "gfx1100"}) {
    INFO(gpu);
    CHECK(by_gpu(build(p, gpu), gpu, in)[1].values<int64_t>()[0] == expected);
  }
}

TEST_CASE("S11: softmax over 1 and 10 equal values is 1/K each, its sums across work-items") {
  for (int k : {1, 10}) {
    const Program p = parse_program(fmt::format(R"(
function softmax(A: f32[3, {0}], out Y)
M[i: 3] = max[k: {0}](A[i, k])
E[i: 3, j: {0}] = exp(A[i, j] - M[i])
S[i: 3] = sum[k: {0}](E[i, k])
Y[i: 3, j: {0}] = E[i, j] / S[i]
schedule {{
  split Y.j -> j0, j1 by 32, tail guard
  bind Y.i to block_x
  bind Y.j1 to thread_x
  split M.k -> k0, k1 by 32, tail guard
  bind M.k1 to thread_x
  split S.k -> k0, k1 by 32, tail guard
  bind S.k1 to thread_x
  split E.j -> j0, j1 by 32, tail guard
  bind E.j1 to thread_x
  compute_at S at Y.i
  compute_at E at Y.i
  compute_at M at Y.i
  set_scope M to register
  set_scope S to register
}}
)", k));
    Arrays in = random_arrays(p, {}, 1, Values::whole);
    in[0] = HostArray::from(std::vector<float>(static_cast<size_t>(3 * k), 2.5f), {3, k}, f32);
    for (float y : floats(agree(p, {}, in)[1])) CHECK(y == 1.0f / static_cast<float>(k));
  }
}

TEST_CASE("a tile inside the reduction is staged by all work-items; the bulk and the tail share their scratch") {
  agree_with("function f<n>(A: f32[2, n], out C)\nC[i: 2] = sum[k: n](A[i, k] * A[1 - i, k])\n",
             "  cache_read A -> AS in shared for C\n  split C.k -> k0, k1 by 128, tail guard\n  bind C.i to block_x\n  bind C.k1 to thread_x\n"
             "  compute_at AS at C.k0\n  bind AS.ax1 to thread_x\n", {{"n", 300}});
}

TEST_CASE("refusals: reductions across work-items") {
  const auto refusal = [](const std::string& body, const std::string& steps) {
    return error_message([&] { build(parse_program(body + "schedule {\n" + steps + "}\n", "test.te"), "gfx942"); });
  };
  CHECK(refusal("function f(A: f32[64, 64], out C)\nC[i: 64] = sum[k: 64](A[i, k])\n", "  reorder C.k, C.i\n  bind C.k to thread_x\n") ==
        "stage C: a data loop runs inside its reduction, of which a loop is bound to thread_x (hint: reorder the data loops outside "
        "of the reduction's loops)");
  CHECK(refusal("function f(A: f32[64, 64], out C)\nC[i: 64] = sum[k: 64](A[i, k])\n",
                "  split C.i -> i0, i1 by 4, tail guard\n  bind C.k to thread_x\n  vectorize C.i1\n") ==
        "stage C: a loop of its reduction is bound to thread_x, and C.i1 is vectorized (hint: unroll C.i1: work-items combine one element "
        "at a time)");
  CHECK(refusal("function f(A: f32[64, 0], out C)\nC[i: 64] = sum[k: 0](A[i, k])\n", "  bind C.k to thread_x\n") ==
        "bind C.k to thread_x: its extent is 0: no work-item would be left to store the identity (hint: leave the loop unbound)");
  CHECK(refusal("function f<n>(A: f32[64, n], out C)\nC[i: 64] = sum[k: n](A[i, k])\n", "  bind C.k to thread_x\n") ==
        "bind C.k to thread_x: its extent n is not a constant (hint: split it by a constant and bind the inner loop)");
}
