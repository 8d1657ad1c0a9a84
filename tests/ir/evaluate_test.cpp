// The evaluator against values worked out by hand or by plain C++ loops.
#include "ir/evaluate.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/error_message.h"
#include "tests/ir/arrays.h"

using namespace lathe;
using Catch::Matchers::Contains;

static const float infinity = std::numeric_limits<float>::infinity();
static const float nan_value = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("vector add binds its symbol from the arrays") {
  std::vector<float> a{1, 2, 3}, b{10, 20, 30}, c(3);
  run("function add<n>(A: f32[n], B: f32[n], out C)\nC[i: n] = A[i] + B[i]", {view(a), view(b), view(c)});
  CHECK(c == std::vector<float>{11, 22, 33});
}

TEST_CASE("matmul accumulates by fma, in the order of the reduction axis") {
  const int m = 5, n = 7, k = 33;
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> a(m * k), b(k * n), c(m * n), expected(m * n);
  for (float& x : a) x = uniform(random);
  for (float& x : b) x = uniform(random);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int q = 0; q < k; ++q) sum = std::fmaf(a[i * k + q], b[q * n + j], sum);
      expected[i * n + j] = sum;
    }
  run("function matmul<m, n, k>(A: f32[m, k], B: f32[k, n], out C)\nC[i: m, j: n] = sum[q: k](A[i, q] * B[q, j])",
      {view(a, {m, k}), view(b, {k, n}), view(c, {m, n})});
  CHECK(c == expected);
}

TEST_CASE("a sum over two axes runs the last one innermost") {
  // 2^24 swallows ones that come after it: the order shows.
  std::vector<float> a{16777216, 1, 1, -16777216, 1, 1}, b(1);
  run("function f(A: f32[2, 3], out B)\nB[i: 1] = sum[x: 2, y: 3](A[x, y])", {view(a, {2, 3}), view(b)});
  CHECK(b[0] == 2);  // ((((2^24 + 1) + 1) - 2^24) + 1) + 1 = 0 + 2
  run("function f(A: f32[2, 3], out B)\nB[i: 1] = sum[y: 3, x: 2](A[x, y])", {view(a, {2, 3}), view(b)});
  CHECK(b[0] == 4);  // 2^24 - 2^24 first
}

TEST_CASE("f16 products accumulate in f32 and round once, at the store") {
  const int k = 3000;
  std::vector<uint16_t> a(k, static_cast<uint16_t>(encode_float(1, f16))), b(1);
  Tensor A = placeholder({k}, f16, "A");
  ReduceAxis r = reduce_axis(k, "k");
  Tensor B = compute({1}, [&](Expr) { return sum(A(r.var) * A(r.var), r); }, "B");
  const std::vector<BufferView> arguments{view(a, {k}, f16), view(b, {1}, f16)};
  evaluate(make_program("f", {A, B}), arguments);
  CHECK(decode_float(b[0], f16) == 3000);  // in f16 the sum would stop at 2048
  for (int i = 0; i < k; ++i) a[static_cast<size_t>(i)] = static_cast<uint16_t>(encode_float(0.1, f16));
  evaluate(make_program("f", {A, B}), arguments);
  const double x = decode_float(a[0], f16);
  float exact = 0;
  for (int i = 0; i < k; ++i) exact = std::fmaf(static_cast<float>(x), static_cast<float>(x), exact);
  CHECK(b[0] == encode_float(exact, f16));
}

TEST_CASE("bf16 sums accumulate in f32") {
  std::vector<uint16_t> a(1000, static_cast<uint16_t>(encode_float(1, bf16))), b(1);
  Tensor A = placeholder({1000}, bf16, "A");
  ReduceAxis r = reduce_axis(1000, "k");
  Tensor B = compute({1}, [&](Expr) { return sum(A(r.var), r); }, "B");
  evaluate(make_program("f", {A, B}), std::vector<BufferView>{view(a, {1000}, bf16), view(b, {1}, bf16)});
  CHECK(decode_float(b[0], bf16) == 1000);  // in bf16 it would stop at 256
}

TEST_CASE("i8 sums accumulate in i32 and are converted back") {
  std::vector<int8_t> a(300, 100), narrow(1);
  std::vector<int32_t> wide(1);
  Tensor A = placeholder({300}, i8, "A");
  ReduceAxis r = reduce_axis(300, "k");
  Tensor B = compute({1}, [&](Expr) { return sum(A(r.var), r); }, "B");
  evaluate(make_program("f", {A, B}), std::vector<BufferView>{view(a), view(narrow)});
  CHECK(narrow[0] == static_cast<int8_t>(30000));
  ReduceAxis q = reduce_axis(300, "k");
  Tensor C = compute({1}, [&](Expr) { return sum(cast(i32, A(q.var)) * cast(i32, A(q.var)), q); }, "C");
  evaluate(make_program("f", {A, C}), std::vector<BufferView>{view(a), view(wide)});
  CHECK(wide[0] == 3000000);
}

TEST_CASE("each reduction over ordinary values, and over nothing its identity (case I4)") {
  struct Row {
    const char* reduction;
    float over_values, over_nothing;
  };
  for (const Row& r : {Row{"sum", 4, 0}, Row{"product", -60, 1}, Row{"min", -3, infinity}, Row{"max", 5, -infinity}}) {
    const std::string text = fmt::format("function f<n>(A: f32[n], out B)\nB[i: 1] = {}[k: n](A[k])", r.reduction);
    std::vector<float> a{4, -3, 5, -2 + 0}, empty, b{99};
    a = {4, -3, 5, 1, -3};
    a = {4, -3, 5};
    run(text, {view(a), view(b)});
    CHECK(b[0] == (std::string(r.reduction) == "sum" ? 6.0f : r.over_values));
    run(text, {view(empty), view(b)});
    CHECK(b[0] == r.over_nothing);
  }
  struct Bool {
    const char* reduction;
    std::vector<int32_t> values;
    int expected;
  };
  for (const Bool& r : {Bool{"any", {0, 0, 3}, 1}, Bool{"any", {0, 0}, 0}, Bool{"any", {}, 0}, Bool{"all", {1, 2}, 1},
                        Bool{"all", {1, 0}, 0}, Bool{"all", {}, 1}}) {
    std::vector<int32_t> a = r.values;
    std::vector<uint8_t> b{7};
    run(fmt::format("function f<n>(A: i32[n], out B)\nB[i: 1] = {}[k: n](A[k] != 0)", r.reduction),
        {view(a), view(b, {1}, boolean)});
    CHECK(b[0] == r.expected);
  }
}

TEST_CASE("identities of integer min and max are the type's own ends") {
  for (const DTypeRow& row : dtype_rows) {
    if (!row.type.is_int()) continue;
    std::vector<int64_t> none, low(1), high(1);
    const std::string name(row.name);
    run(fmt::format("function f<n>(A: {}[n], out B, out C)\nB[i: 1] = max[k: n](A[k])\nC[i: 1] = min[k: n](A[k])", name),
        {{row.type, {0}, nullptr}, view(low, {1}, row.type), view(high, {1}, row.type)});
    const auto ones = ~uint64_t{0} >> (64 - row.type.bits);
    CHECK(static_cast<uint64_t>(low[0]) == (row.type.is_signed() ? uint64_t{1} << (row.type.bits - 1) : 0));
    CHECK(static_cast<uint64_t>(high[0]) == (row.type.is_signed() ? ones >> 1 : ones));
  }
}

TEST_CASE("argmax and argmin: the lowest index wins a tie, the first NaN wins all (case N3)") {
  struct Row {
    std::vector<float> values;
    int64_t largest, smallest;
  };
  for (const Row& r : {Row{{1, 3, 3, 2}, 1, 0}, Row{{2, 1, 1, 2}, 0, 1}, Row{{5}, 0, 0}, Row{{1, nan_value, 9, nan_value}, 1, 1},
                       Row{{nan_value, 9}, 0, 0}, Row{{-infinity, -infinity}, 0, 0}, Row{{infinity, infinity}, 0, 0},
                       Row{{0.0f, -0.0f}, 0, 0}, Row{{-3, -1, -2}, 1, 0}}) {
    std::vector<float> a = r.values, value(1);
    std::vector<int64_t> index(1);
    for (bool largest : {true, false}) {
      const std::string text = fmt::format(
          "function f<n>(A: f32[n], out I, out V)\n(I, V)[i: 1] = ({0}[k: n](k, A[k]), {0}[k: n](k, A[k]).1)",
          largest ? "argmax" : "argmin");
      run(text, {view(a), view(index), view(value)});
      const int64_t expected = largest ? r.largest : r.smallest;
      CHECK(index[0] == expected);
      const float v = a[static_cast<size_t>(expected)];
      CHECK((std::isnan(v) ? std::isnan(value[0]) : value[0] == v));
    }
  }
}

TEST_CASE("argmax over two axes gives the row-major position") {
  std::vector<int32_t> a{1, 7, 2, 7, 7, 0};
  std::vector<int64_t> index(1);
  Tensor A = placeholder({2, 3}, i32, "A");
  ReduceAxis x = reduce_axis(2, "x"), y = reduce_axis(3, "y");
  Tensor I = compute({1}, [&](Expr) { return argmax(A(x.var, y.var), {x, y}); }, "I");
  evaluate(make_program("f", {A, I}), std::vector<BufferView>{view(a, {2, 3}), view(index)});
  CHECK(index[0] == 1);
}

TEST_CASE("a user's combiner keeps its order: composition of affine maps does not commute") {
  // x -> a x + b, first map first.
  std::vector<int64_t> a{2, 3, 5}, b{1, 1, 1}, p(1), q(1);
  run(R"(function f<n>(A: i64[n], B: i64[n], out P, out Q)
combiner compose(a: i64, b: i64), (c: i64, d: i64) = (a * c, b * c + d) identity (1, 0)
(P, Q)[i: 1] = (compose[k: n](A[k], B[k]), compose[k: n](A[k], B[k]).1))",
      {view(a), view(b), view(p), view(q)});
  CHECK(p[0] == 30);
  CHECK(q[0] == (1 * 3 + 1) * 5 + 1);
}

TEST_CASE("softmax as a chain of stages (case S11)") {
  const char* text = R"(function softmax<m, n>(A: f32[m, n], out Y)
M[i: m] = max[k: n](A[i, k])
E[i: m, j: n] = exp(A[i, j] - M[i])
S[i: m] = sum[k: n](E[i, k])
Y[i: m, j: n] = E[i, j] / S[i])";
  for (int n : {1, 10}) {
    std::vector<float> a(static_cast<size_t>(n), 3.5f), y(static_cast<size_t>(n));
    run(text, {view(a, {1, n}), view(y, {1, n})});
    for (float v : y) CHECK(v == 1.0f / static_cast<float>(n));
  }
  std::vector<float> a{0, std::log(3.0f)}, y(2);
  run(text, {view(a, {1, 2}), view(y, {1, 2})});
  CHECK(y[0] == Approx(0.25f));
  CHECK(y[1] == Approx(0.75f));
}

TEST_CASE("a convolution pads through select, which does not read what it does not take") {
  std::vector<float> a(25), w{1, 2, 3, 4}, c(36), expected(36);
  for (int i = 0; i < 25; ++i) a[static_cast<size_t>(i)] = static_cast<float>(i + 1);
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 6; ++x) {
      float sum = 0;
      for (int r = 0; r < 2; ++r)
        for (int s = 0; s < 2; ++s) {
          const int iy = y + r - 1, ix = x + s - 1;
          const float v = iy >= 0 && iy < 5 && ix >= 0 && ix < 5 ? a[static_cast<size_t>(iy * 5 + ix)] : 0;
          sum = std::fmaf(v, w[static_cast<size_t>(r * 2 + s)], sum);
        }
      expected[static_cast<size_t>(y * 6 + x)] = sum;
    }
  run(R"(function conv(A: f32[5, 5], W: f32[2, 2], out C)
C[y: 6, x: 6] = sum[r: 2, s: 2](select(y + r >= 1 && y + r < 6 && x + s >= 1 && x + s < 6, A[y + r - 1, x + s - 1], 0.0) * W[r, s]))",
      {view(a, {5, 5}), view(w, {2, 2}), view(c, {6, 6})});
  CHECK(c == expected);
}

TEST_CASE("a gather reads through an index tensor, and running sums through an extent of the axis (case S10)") {
  std::vector<float> a{10, 20, 30}, c(4);
  std::vector<int32_t> b{2, 0, 1, 2};
  run("function gather<m, n>(A: f32[m], B: i32[n], out C)\nC[i: n] = A[i64(B[i])]", {view(a), view(b), view(c)});
  CHECK(c == std::vector<float>{30, 10, 20, 30});
  std::vector<float> ones(8, 1), sums(8);
  run("function scan<n>(A: f32[n], out C)\nC[i: n] = sum[k: i + 1](A[k])", {view(ones), view(sums)});
  CHECK(sums == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("one output may read another") {
  std::vector<float> a{1, 2}, b(2), c(2);
  run("function f<n>(A: f32[n], out B, out C)\nB[i: n] = A[i] * 2.0\nC[i: n] = B[i] + A[i]", {view(a), view(b), view(c)});
  CHECK(b == std::vector<float>{2, 4});
  CHECK(c == std::vector<float>{3, 6});
}

TEST_CASE("the outputs' places among the arguments do not matter") {
  std::vector<float> a{1, 2}, c(2);
  run("function f<n>(out C, A: f32[n])\nC[i: n] = -A[i]", {view(c), view(a)});
  CHECK(c == std::vector<float>{-1, -2});
}

TEST_CASE("an output of a tuple that nobody takes is still computed in its place") {
  std::vector<float> a{1, 5, 2};
  std::vector<int64_t> index(1);
  run("function f<n>(A: f32[n], out I)\n(I, V)[i: 1] = (argmax[k: n](k, A[k]), argmax[k: n](k, A[k]).1)", {view(a), view(index)});
  CHECK(index[0] == 1);
}

TEST_CASE("tensors without axes, and extents of zero (case I4)") {
  std::vector<float> a{2}, b(1), none;
  run("function f(A: f32[], out B)\nB[] = A[] * A[]", {view(a, {}), view(b, {})});
  CHECK(b[0] == 4);
  run("function f<n>(A: f32[n], out B)\nB[i: n] = A[i]", {view(none), view(none)});
  run("function f<m, n>(A: f32[m, n], out B)\nB[i: m, j: n] = A[i, j]", {{f32, {3, 0}, nullptr}, {f32, {3, 0}, nullptr}});
  b = {9};
  run("function f<n>(A: f32[n], out B)\nB[i: 1] = sum[k: n](A[k]) + 1.0", {view(none), view(b)});
  CHECK(b[0] == 1);
}

TEST_CASE("elements of every type are read and written as their bits") {
  for (const DTypeRow& row : dtype_rows) {
    std::vector<uint64_t> memory(64), copy(64);
    const int bytes = row.type.bytes();
    auto* raw = reinterpret_cast<uint8_t*>(memory.data());
    for (int i = 0; i < 512; ++i) raw[i] = row.type.is_bool() ? static_cast<uint8_t>(i % 2) : static_cast<uint8_t>(i * 7 + 1);
    const int64_t n = 512 / bytes;
    run(fmt::format("function f<n>(A: {0}[n], out B)\nB[i: n] = A[i]", row.name), {view(memory, {n}, row.type), view(copy, {n}, row.type)});
    for (int64_t i = 0; i < n; ++i) {
      uint64_t x = 0, y = 0;
      std::memcpy(&x, raw + i * bytes, static_cast<size_t>(bytes));
      std::memcpy(&y, reinterpret_cast<uint8_t*>(copy.data()) + i * bytes, static_cast<size_t>(bytes));
      if (row.type.is_float() && std::isnan(decode_float(x, row.type)))
        REQUIRE(std::isnan(decode_float(y, row.type)));
      else
        REQUIRE(x == y);
    }
  }
}

TEST_CASE("&& and || stop at the first operand that decides") {
  std::vector<int32_t> a{1, 0, 1};
  std::vector<uint8_t> b(4);
  run("function f<n>(A: i32[n], out B)\nB[i: n + 1] = i < n && A[i] != 0", {view(a), view(b, {4}, boolean)});
  CHECK(b == std::vector<uint8_t>{1, 0, 1, 0});
  run("function f<n>(A: i32[n], out B)\nB[i: n + 1] = i >= n || A[i] != 0", {view(a), view(b, {4}, boolean)});
  CHECK(b == std::vector<uint8_t>{1, 0, 1, 1});
}

TEST_CASE("integer division by zero gives 0") {
  std::vector<int32_t> a{7, -7, 5}, b{2, 2, 0}, c(3), d(3);
  run("function f<n>(A: i32[n], B: i32[n], out C, out D)\nC[i: n] = A[i] / B[i]\nD[i: n] = A[i] % B[i]",
      {view(a), view(b), view(c), view(d)});
  CHECK(c == std::vector<int32_t>{3, -4, 0});
  CHECK(d == std::vector<int32_t>{1, 1, 0});
}

TEST_CASE("refusals of the evaluator") {
  std::vector<float> a(6), b(6), c(6);
  const char* add = "function add<n>(A: f32[n], B: f32[n], out C)\nC[i: n] = A[i] + B[i]";
  auto refused = [](const char* text, std::vector<BufferView> arguments) {
    return error_message([&] { run(text, arguments); });
  };
  CHECK(refused(add, {view(a), view(b)}) ==
        "evaluate(add): 3 arguments expected, 2 given (hint: pass inputs and outputs in the function's order)");
  CHECK_THAT(refused(add, {view(a), view(b, {5}), view(c)}),
             Contains("evaluate(add), argument B: expected f32[n = 6], got f32[5]"));
  CHECK_THAT(refused(add, {view(a), view(b, {6}, i32), view(c)}),
             Contains("evaluate(add), argument B: expected f32[n = 6], got i32[6]"));
  CHECK_THAT(refused(add, {view(a, {2, 3}), view(b), view(c)}),
             Contains("evaluate(add), argument A: expected f32[n = 6], got f32[2, 3]"));
  CHECK_THAT(refused(add, {view(a, {2, 3}), view(b, {2, 3}), view(c, {2, 3})}),
             Contains("evaluate(add), argument A: expected f32[n], got f32[2, 3]"));
  CHECK_THAT(refused(add, {view(a), {f32, {6}, nullptr}, view(c)}), Contains("argument B: the array has no memory"));
  CHECK_THAT(refused("function f<n>(A: f32[n], out B)\nB[i: n * 2] = A[i / 2]", {view(a), view(b)}),
             Contains("argument B: expected f32[n * 2 = 12], got f32[6]"));
  CHECK_THAT(refused("function f<n>(A: f32[n], out B)\nB[i: n] = A[i + 1]", {view(a), view(b)}),
             Contains("evaluate(f): A: index 6 of axis 0 lies outside the extent 6"));
  CHECK_THAT(refused("function f<m, n>(A: f32[m, n], out B)\nB[i: m, j: n] = A[i, j - 2]", {view(a, {2, 3}), view(b, {2, 3})}),
             Contains("A: index -2 of axis 1 lies outside the extent 3") && Contains("A has the shape [2, 3]"));
  CHECK_THAT(refused("function f<n>(A: f32[n], out B)\nT[i: n - 9] = A[i]\nB[i: n] = A[i] + T[0]", {view(a), view(b)}),
             Contains("evaluate(f): T: extent 0 of the shape is -3"));
  CHECK_THAT(refused("function f<n>(A: f32[n], out B)\nT[i: n * 1000000000000000000] = A[0]\nB[i: n] = A[i] + T[0]", {view(a), view(b)}),
             Contains("evaluate(f): T: there is no memory for"));
}
