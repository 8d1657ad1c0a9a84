// Lowered statements and kernels in the evaluator.
#include <catch2/catch.hpp>

#include "ir/print.h"
#include "tests/error_message.h"
#include "tests/ir/arrays.h"

using namespace lathe;
using Catch::Matchers::Contains;

TEST_CASE("loops of every kind run") {
  std::vector<float> a(24), b(24);
  for (int i = 0; i < 24; ++i) a[static_cast<size_t>(i)] = static_cast<float>(i);
  run_lowered(R"(function f<n>(A: f32[n], out B: f32[n]) {
  for block_x x in 0 .. (n + 11) / 12 {
    for thread_x t in 0 .. 2 {
      for k in 0 .. 3 {
        for vectorized v in 0 .. 2 {
          B[x * 12 + t * 6 + k * 2 + v] = A[x * 12 + t * 6 + k * 2 + v] + 1.0
        }
      }
    }
  }
})",
              {view(a), view(b)});
  for (int i = 0; i < 24; ++i) CHECK(b[static_cast<size_t>(i)] == static_cast<float>(i + 1));
}

TEST_CASE("work-items meet at barriers: a tile is reversed through shared memory, with registers of their own") {
  std::vector<float> a{1, 2, 3, 4, 5, 6, 7, 8}, b(8);
  run_lowered(R"(function f<n>(A: f32[n], out B: f32[n]) {
  for block_x x in 0 .. n / 4 {
    alloc shared S: f32[4] {
      for thread_x t in 0 .. 4 {
        alloc register r: f32[1] {
          r[0] = A[x * 4 + t]
          for k in 0 .. 2 {
            S[t] = r[0]
            barrier
            r[0] = S[3 - t] + 10.0
            barrier
          }
          B[x * 4 + t] = r[0]
        }
      }
    }
  }
})",
              {view(a), view(b)});
  CHECK(b == std::vector<float>{21, 22, 23, 24, 25, 26, 27, 28});
}

TEST_CASE("two dimensions of work-items, a barrier under a uniform condition") {
  std::vector<float> a{1, 2, 3, 4, 5, 6}, b(6);
  run_lowered(R"(function f<m, n>(A: f32[m, n], out B: f32[m, n]) {
  alloc shared S: f32[2, 3] {
    for thread_y y in 0 .. 2 {
      for thread_x x in 0 .. 3 {
        if m == 2 {
          S[y, x] = A[y, x]
          barrier
        }
        B[y, x] = S[1 - y, 2 - x]
      }
    }
  }
})",
              {view(a, {2, 3}), view(b, {2, 3})});
  CHECK(b == std::vector<float>{6, 5, 4, 3, 2, 1});
}

TEST_CASE("kernels run in order, with buffers and symbols called like the function's") {
  LoweredFunction f = parse_function(R"(function f<n>(A: f32[n], out B: f32[n]) workspaces (W: f32[n])

kernel first<n>(A: f32[n], out W: f32[n]) grid [(n + 3) / 4, 1, 1] block [4, 1, 1] indices [bx, by, bz, tx, ty, tz] {
  if bx * 4 + tx < n {
    W[bx * 4 + tx] = A[bx * 4 + tx] * 2.0
  }
}

kernel second<n>(W: f32[n], out B: f32[n]) grid [n, 1, 1] block [1, 1, 1] indices [bx, by, bz, tx, ty, tz] {
  B[bx] = W[n - 1 - bx] + 1.0
}
)");
  std::vector<float> a{1, 2, 3, 4, 5}, b(5);
  evaluate(f, std::vector<BufferView>{view(a), view(b)});
  CHECK(b == std::vector<float>{11, 9, 7, 5, 3});
  f.kernels.pop_back();
  f.kernels[0].buffers[1] = make_tensor("X", f32, f.kernels[0].buffers[1].shape());
  CHECK_THAT(error_message([&] { evaluate(f, std::vector<BufferView>{view(a), view(b)}); }),
             Contains("X is no argument, workspace or allocation"));
}

TEST_CASE("vectors: all lanes are read before one is written") {
  std::vector<int32_t> a{1, 2, 3, 4}, b(4);
  run_lowered(R"(function f(A: i32[4], out B: i32[4]) {
  B[ramp(0, 1, 4)] = A[ramp(3, -1, 4)] + broadcast(i32(10), 4)
  B[ramp(0, 1, 4)] = B[ramp(3, -1, 4)]
  B[ramp(0, 2, 2)] = select(ramp(0, 1, 2) < 1, i32(7), B[ramp(1, 2, 2)])
})",
              {view(a), view(b)});
  CHECK(b == std::vector<int32_t>{7, 12, 14, 14});
}

TEST_CASE("refusals of lowered statements") {
  std::vector<float> a(4), b(4);
  auto refused = [&](const std::string& body) {
    return error_message([&] { run_lowered("function f<n>(A: f32[n], out B: f32[n]) {" + body + "}", {view(a), view(b)}); });
  };
  CHECK(refused("for i in 0 .. n { B[i] = A[i] }") == "");
  CHECK_THAT(refused("B[0] = B[1]"), Contains("evaluate(f): B[1]: is read before anything was written there"));
  CHECK_THAT(refused("alloc register r: f32[2] { r[1] = 1.0 B[0] = r[0] }"), Contains("r[0]: is read before anything was written"));
  CHECK_THAT(refused("for i in 0 .. n + 1 { B[i] = 0.0 }"), Contains("B: index 4 of axis 0 lies outside the extent 4"));
  CHECK_THAT(refused("B[0 - 1] = 0.0"), Contains("B: index -1 of axis 0 lies outside the extent 4"));
  CHECK_THAT(refused("alloc shared S: f32[n - 5] { B[0] = 0.0 }"), Contains("S: extent 0 of the shape is -1"));
  CHECK_THAT(refused("for thread_x t in 0 .. 4 { if t < 2 { barrier } }"),
             Contains("a barrier stands inside a condition that work-items do not agree on"));
  CHECK_THAT(refused("for thread_x t in 0 .. 4 { for k in 0 .. t { barrier } }"),
             Contains("a barrier stands inside the loop over k that work-items do not agree on"));
  // Memory of one iteration is not that of the next.
  CHECK_THAT(refused("for i in 0 .. 2 { alloc register r: f32[1] { if i == 0 { r[0] = 1.0 } B[i] = r[0] } }"),
             Contains("r[0]: is read before anything was written"));
}
