// Whole programs and schedules on three GPUs: GEMM, convolution, reductions of every kind, several stages, gathers,
// types, symbolic shapes. Equal to the evaluator bit for bit, after every pass and on the device.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/compiler/harness.h"

using namespace lathe;
using namespace lathe::test;

namespace {

Program from_file(const std::string& name) {
  std::ifstream in(LATHE_SOURCE_DIR "/tests/programs/" + name);
  std::stringstream text;
  text << in.rdbuf();
  return parse_program(text.str(), name);
}

// `body` with `steps`, on all voices.
void agree_with(const std::string& body, const std::string& steps, const Symbols& symbols = {}, Values values = Values::fractions) {
  agree(body + "\nschedule {\n" + steps + "\n}\n", symbols, values);
}

}  // namespace

TEST_CASE("GEMM 256×192×320 and 255×191×319 equal plain loops bit for bit") {
  for (const char* file : {"gemm.te", "gemm_odd.te"}) {
    const Program p = from_file(file);
    const Arrays in = random_arrays(p, {}, 11, Values::fractions);
    const int64_t m = in[0].shape()[0], k = in[0].shape()[1], n = in[1].shape()[1];
    std::vector<float> expected(static_cast<size_t>(m * n), 0.0f);
    const auto a = in[0].values<float>(), b = in[1].values<float>();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t q = 0; q < k; ++q)
        for (int64_t j = 0; j < n; ++j) expected[i * n + j] = std::fma(a[i * k + q], b[q * n + j], expected[i * n + j]);
    for (const std::string& gpu : gpus) {
      INFO(file << " on " << gpu);
      const Arrays out = by_gpu(build(p, gpu), gpu, in);
      CHECK(std::equal(expected.begin(), expected.end(), out[2].values<float>().begin()));
    }
  }
}

TEST_CASE("convolutions of the issue: 1×1×5×5 with 2×2 pad 1; 1×16×28×28, 32 filters 3×3, stride 2, pad 1, dilation 1 and 2") {
  struct Shape4 {
    int channels, size, filters, kernel, stride, pad, dilation;
  };
  for (const Shape4& c : {Shape4{1, 5, 1, 2, 1, 1, 1}, {16, 28, 32, 3, 2, 1, 1}, {16, 28, 32, 3, 2, 1, 2}}) {
    const int out = (c.size + 2 * c.pad - c.dilation * (c.kernel - 1) - 1) / c.stride + 1;
    const std::string text = fmt::format(R"(
function conv(X: f32[1, {0}, {1}, {1}], W: f32[{2}, {0}, {3}, {3}], out Y)
P[n: 1, c: {0}, y: {7}, x: {7}] = select(y >= {5} && y < {5} + {1} && x >= {5} && x < {5} + {1}, X[n, c, y - {5}, x - {5}], 0.0)
Y[n: 1, f: {2}, y: {8}, x: {8}] = sum[c: {0}, r: {3}, s: {3}](P[n, c, y * {4} + r * {6}, x * {4} + s * {6}] * W[f, c, r, s])
schedule {{
  compute_inline P
  fuse Y.y, Y.x -> p
  split Y.p -> p0, p1 by 16, tail guard
  split Y.f -> f0, f1 by 4, tail guard
  reorder Y.n, Y.f0, Y.p0, Y.f1, Y.p1, Y.c, Y.r, Y.s
  bind Y.f0 to block_y
  bind Y.p0 to block_x
  bind Y.f1 to thread_y
  bind Y.p1 to thread_x
}}
)", c.channels, c.size, c.filters, c.kernel, c.stride, c.pad, c.dilation, c.size + 2 * c.pad, out);
    const Program p = parse_program(text);
    const Arrays in = random_arrays(p, {}, 3, Values::fractions);
    const auto x = in[0].values<float>(), w = in[1].values<float>();
    std::vector<float> expected;
    for (int f = 0; f < c.filters; ++f)
      for (int y = 0; y < out; ++y)
        for (int z = 0; z < out; ++z) {
          float sum = 0;
          for (int ch = 0; ch < c.channels; ++ch)
            for (int r = 0; r < c.kernel; ++r)
              for (int s = 0; s < c.kernel; ++s) {
                const int yy = y * c.stride + r * c.dilation - c.pad, xx = z * c.stride + s * c.dilation - c.pad;
                const bool in_image = yy >= 0 && yy < c.size && xx >= 0 && xx < c.size;
                sum = std::fma(in_image ? x[(ch * c.size + yy) * c.size + xx] : 0.0f,
                               w[((f * c.channels + ch) * c.kernel + r) * c.kernel + s], sum);
              }
          expected.push_back(sum);
        }
    if (c.size == 5) CHECK(out == 6);
    for (const std::string& gpu : gpus) {
      INFO(gpu << text);
      const Arrays result = by_gpu(build(p, gpu), gpu, in);
      CHECK(std::equal(expected.begin(), expected.end(), result[2].values<float>().begin(), result[2].values<float>().end()));
    }
  }
}

TEST_CASE("reductions of every kind, their loops split, reordered and unrolled") {
  const std::string steps = R"(
  split C.i -> i0, i1 by 4, tail guard
  bind C.i0 to block_x
  bind C.i1 to thread_x
  split C.k -> k0, k1 by 3, tail guard
  unroll C.k1
)";
  for (const char* type : {"f32", "f64", "i32", "i64"})
    for (const char* op : {"sum", "product", "min", "max"})
      agree_with(fmt::format("function f(A: {0}[9, 10], out C)\nC[i: 9] = {1}[k: 10](A[i, k])\n", type, op), steps, {}, Values::whole);
  for (const char* op : {"any", "all"})
    agree_with(fmt::format("function f(A: i32[9, 10], out C)\nC[i: 9] = {}[k: 10](A[i, k] > 2 || A[i, k] < -2)\n", op), steps);
  for (const char* op : {"argmin", "argmax"})
    for (const char* type : {"f32", "i32", "f16"})
      agree_with(fmt::format("function f(A: {0}[9, 10], out C, out V)\n(C, V)[i: 9] = ({1}[k: 10](k, A[i, k]), {1}[k: 10](k, A[i, k]).1)\n",
                             type, op), steps + "  reorder C.k1, C.k0\n", {}, Values::whole);
  // A combiner of the user's: complex product, whose order counts.
  agree_with(R"(
function f(A: f32[9, 10], B: f32[9, 10], out C, out D)
combiner turn(a: f32, b: f32), (c: f32, d: f32) = (a * c - b * d, a * d + b * c) identity (1.0, 0.0)
(C, D)[i: 9] = (turn[k: 10](A[i, k], B[i, k]), turn[k: 10](A[i, k], B[i, k]).1)
)", steps);
}

TEST_CASE("a uniform condition that chooses and branches (LLVM's issue 215745)") {
  const Program p = parse_program(R"(
function f(A: f32[4], out I, out V)
(I, V)[i: 1] = (argmax[k: 4](k, A[k]), argmax[k: 4](k, A[k]).1)
schedule {
  unroll I.i
  unroll I.k
}
)");
  Arrays in = random_arrays(p, {}, 1, Values::whole);
  in[0] = HostArray::from<float>({3, 1, 3, 0}, {4});
  CHECK(agree(p, {}, in)[1].value(0) == 0);
}

TEST_CASE("reductions with data loops inside, in place and through cache_write") {
  agree_with("function f(A: f32[13, 10], out C)\nC[i: 13] = sum[k: 10](A[i, k])\n",
             "  split C.i -> i0, i1 by 4, tail guard\n  reorder C.i0, C.k, C.i1\n  bind C.i0 to block_x\n  bind C.i1 to thread_x");
  agree_with("function f(A: f16[13, 10], out C)\nC[i: 13] = sum[k: 10](A[i, k]) + f16(1.0)\n",
             "  cache_write C -> CL in register\n  split C.i -> i0, i1 by 4, tail guard\n  bind C.i0 to thread_x\n"
             "  compute_at CL at C.i0\n  reorder CL.k, CL.i\n  unroll CL.i");
  agree_with("function f(A: f32[8, 12], B: f32[12, 20], out C)\nC[i: 8, j: 20] = sum[k: 12](A[i, k] * B[k, j]) * 2.0\n",
             "  cache_write C -> CL in register\n  split C.j -> j0, j1 by 8, tail guard\n  bind C.i to block_x\n  bind C.j0 to thread_x\n"
             "  vectorize C.j1\n  compute_at CL at C.j0\n  reorder CL.k, CL.i, CL.j\n  vectorize CL.j");
}

TEST_CASE("several kernels with workspaces") {
  agree_with(R"(
function softmax<m, n>(A: f32[m, n], out C)
M[i: m] = max[k: n](A[i, k])
E[i: m, j: n] = A[i, j] - M[i]
S[i: m] = sum[k: n](E[i, k] * E[i, k])
C[i: m, j: n] = E[i, j] / S[i]
)",
             R"(
  split M.i -> i0, i1 by 8, tail guard
  bind M.i0 to block_x
  bind M.i1 to thread_x
  fuse E.i, E.j -> f
  split E.f -> f0, f1 by 64, tail guard
  bind E.f0 to block_x
  bind E.f1 to thread_x
  bind S.i to block_x
  bind C.i to block_y
  split C.j -> j0, j1 by 32, tail guard
  bind C.j0 to block_x
  bind C.j1 to thread_x
)", {{"m", 5}, {"n", 70}});
}

TEST_CASE("compute_at at every level, in LDS and in registers") {
  const std::string body = R"(
function f(A: f32[20, 40], out C)
P[i: 20, j: 40] = A[i, j] * 2.0
C[i: 18, j: 38] = P[i, j] + P[i + 1, j + 2] + P[i + 2, j]
)";
  const std::string tiles = R"(
  tile C.i, C.j -> i0, j0, i1, j1 by 4, 16, tail guard
  bind C.i0 to block_y
  bind C.j0 to block_x
  bind C.i1 to thread_y
  bind C.j1 to thread_x
)";
  for (const char* loop : {"i0", "j0", "i1", "j1"})
    for (const char* scope : {"shared", "register"}) {
      if (std::string_view(loop) == "i0" && std::string_view(scope) == "register") continue;
      agree_with(body, tiles + fmt::format("  set_scope P to {}\n  compute_at P at C.{}", scope, loop));
    }
  agree_with(body, tiles + "  compute_at P at C.j0\n  split P.j -> a, b by 16, tail guard\n  bind P.b to thread_x\n");
  agree_with(body, tiles + "  compute_at P at C.j0\n  fuse P.i, P.j -> f\n  split P.f -> a, b by 64, tail guard\n"
                           "  split P.b -> c, d by 16, tail guard\n  bind P.c to thread_y\n  bind P.d to thread_x\n");
  agree_with(body, "  compute_inline P\n" + tiles);
}

TEST_CASE("chains: stages inside stages inside stages, and inlined ones between") {
  const std::string body = R"(
function f(A: f32[64], out C)
P[i: 64] = A[i] + 1.0
Q[i: 64] = P[i] * 2.0
R[i: 62] = Q[i] + Q[i + 2]
C[i: 60] = R[i] * R[i + 2]
)";
  const std::string tile = "  split C.i -> i0, i1 by 16, tail guard\n  bind C.i0 to block_x\n  bind C.i1 to thread_x\n";
  agree_with(body, tile + "  compute_at R at C.i0\n  compute_at Q at C.i0\n  compute_at P at C.i0\n");
  agree_with(body, tile + "  compute_at R at C.i0\n  compute_inline Q\n  compute_at P at C.i0\n");
  agree_with(body, tile + "  compute_at R at C.i1\n  compute_at Q at R.i\n  compute_at P at Q.i\n");
  agree_with(body, tile + "  compute_inline P\n  compute_inline Q\n  compute_inline R\n");
  agree_with(body, tile + "  compute_at R at C.i0\n  split R.i -> a, b by 16, tail guard\n  bind R.b to thread_x\n"
                          "  compute_at Q at C.i0\n  split Q.i -> a, b by 16, tail guard\n  bind Q.b to thread_x\n  compute_inline P\n");
  agree_with(body, tile + "  compute_at Q at R.i\n  compute_at P at R.i\n");
}

TEST_CASE("a vector loop around a tail whose copies allocate the same accumulator") {
  agree_with("function f(A: f32[4, 7], B: f32[7, 2], out C)\nC[i: 4, j: 2] = sum[k: 7](A[i, k] * B[k, j]) + 1.0\n",
             "  reorder C.j, C.i\n  split C.i -> i0, i1 by 3, tail guard\n  vectorize C.j");
}

TEST_CASE("a region that is the whole dimension does not cover what is read beyond an edge") {
  agree_with(R"(
function f(A: f32[12, 7], out C)
S[i: 12] = sum[k: 7](A[i, k])
C[i: 12, j: 7] = A[i, j] + S[i]
)",
             R"(
  fuse C.i, C.j -> f
  split C.f -> f0, f1 by 16, tail guard
  bind C.f1 to thread_x
  cache_read A -> AS in shared for S
  compute_at S at C.f1
  compute_at AS at S.k
)");
}

TEST_CASE("gathers, and stages that are gathered from") {
  const std::string body = R"(
function f(A: f32[16], I: i64[40], out C)
P[i: 16] = A[i] + 1.0
C[i: 40] = P[min(max(I[i], 0), 15)] * 2.0
)";
  agree_with(body, "  split C.i -> i0, i1 by 16, tail guard\n  bind C.i0 to block_x\n  bind C.i1 to thread_x\n", {}, Values::whole);
  agree_with(body, "  split C.i -> i0, i1 by 16, tail guard\n  bind C.i0 to block_x\n  bind C.i1 to thread_x\n"
                   "  set_scope P to shared\n  compute_at P at C.i0\n  bind P.i to thread_x\n", {}, Values::whole);
  agree_with(body, "  compute_inline P\n  split C.i -> i0, i1 by 4, tail guard\n  vectorize C.i1\n", {}, Values::whole);
}

TEST_CASE("types: f16, bf16, f64, i8, u8, i16, bool") {
  const std::string steps = "  split C.i -> i0, i1 by 8, tail guard\n  bind C.i0 to thread_x\n  vectorize C.i1\n";
  for (const char* type : {"f16", "bf16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64"})
    agree_with(fmt::format("function f(A: {0}[43], B: {0}[43], out C)\nC[i: 43] = A[i] * B[42 - i] + A[i]\n", type), steps);
  for (const char* type : {"f16", "bf16", "i8", "u8"})
    agree_with(fmt::format("function f(A: {0}[12, 20], B: {0}[20, 12], out C)\nC[i: 12, j: 12] = sum[k: 20](A[i, k] * B[k, j])\n", type),
               "  split C.i -> i0, i1 by 5, tail guard\n  bind C.i0 to block_x\n  bind C.i1 to thread_x\n");
  agree_with("function f(A: bool[43], B: f32[43], out C)\nC[i: 43] = A[i] && B[i] > 0.0 || !A[42 - i]\n", steps);
  agree_with("function f(A: f32[43], out C)\nC[i: 43] = i32(A[i] * 100.0)\n", steps);
}

TEST_CASE("symbolic shapes in several dimensions: fuse, tile, vectorize and unroll with tails") {
  const std::string body = "function f<m, n>(A: f32[m, n], B: f32[n], out C)\nC[i: m, j: n] = A[i, j] * B[j] + 1.0\n";
  for (const auto& [m, n] : {std::pair{1, 1}, {3, 7}, {16, 64}, {17, 65}}) {
    const Symbols s{{"m", m}, {"n", n}};
    agree_with(body, "  fuse C.i, C.j -> f\n  split C.f -> f0, f1 by 32, tail guard\n  bind C.f0 to block_x\n  bind C.f1 to thread_x\n", s);
    agree_with(body, "  tile C.i, C.j -> a, b, c, d by 4, 16, tail guard\n  bind C.a to block_y\n  bind C.b to block_x\n"
                     "  bind C.c to thread_y\n  bind C.d to thread_x\n", s);
    agree_with(body, "  split C.j -> j0, j1 by 4, tail guard\n  bind C.i to block_x\n  split C.j0 -> a, b by 8, tail guard\n"
                     "  bind C.b to thread_x\n  vectorize C.j1\n", s);
    agree_with(body, "  split C.j -> j0, j1 by 5, tail guard\n  unroll C.j1\n  split_parts C.i -> a, b into 3, tail guard\n  bind C.a to block_x\n", s);
  }
}
