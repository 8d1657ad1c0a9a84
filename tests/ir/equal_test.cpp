#include "ir/equal.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "ir/parse.h"

using namespace lathe;

TEST_CASE("free variables are equal to themselves alone, whatever they are called") {
  const Var x("x"), y("x");
  CHECK(equal(x + 1, x + 1));
  CHECK(!equal(x + 1, y + 1));
  CHECK(!equal(x + 1, x + 2));
  CHECK(!equal(x + 1, x * 1));
  CHECK(equal(Expr(), Expr()));
  CHECK(!equal(x, Expr()));
}

TEST_CASE("types, signs of zero and NaNs count as bits do") {
  CHECK(!equal(constant(i32, int64_t{1}), constant(i64, int64_t{1})));
  CHECK(!equal(constant(f32, 0.0), constant(f32, -0.0)));
  CHECK(equal(constant(f32, std::nan("")), constant(f32, -std::nan(""))));
}

TEST_CASE("bound variables may be called anything") {
  Tensor b = make_tensor("B", i64, {Expr(8)});
  const Var i("i"), j("j"), n("n");
  auto loop = [&](const Var& v, const Expr& value) { return make_loop(LoopKind::serial, v, 0, 8, make_store(b, {v}, value)); };
  CHECK(equal(loop(i, i * 2), loop(j, j * 2)));
  CHECK(!equal(loop(i, i * 2), loop(j, n * 2)));
  CHECK(!equal(loop(i, n), loop(j, j)));
  // i is bound left and free right: not the same thing.
  CHECK(!equal(loop(i, i), loop(j, i)));
  CHECK(!equal(loop(i, Expr(1)), make_loop(LoopKind::unrolled, i, 0, 8, make_store(b, {i}, 1))));
}

TEST_CASE("two variables never stand for one") {
  Tensor b = make_tensor("B", i64, {Expr(8), Expr(8)});
  const Var i("i"), j("j"), k("k"), l("l");
  auto nest = [&](const Var& x, const Var& y, std::vector<Expr> indices) {
    return make_loop(LoopKind::serial, x, 0, 8, make_loop(LoopKind::serial, y, 0, 8, make_store(b, std::move(indices), 1)));
  };
  CHECK(equal(nest(i, j, {i, j}), nest(k, l, {k, l})));
  CHECK(!equal(nest(i, j, {i, j}), nest(k, l, {l, k})));
  CHECK(!equal(nest(i, j, {i, i}), nest(k, l, {k, l})));
  CHECK(!equal(nest(i, j, {i, j}), nest(k, l, {k, k})));
}

TEST_CASE("programs: symbols and axes by place, tensors by name") {
  auto program = [](const char* text) { return parse_program(text); };
  const Program p = program("function f<m, n>(A: f32[m, n], out B)\nB[i: m] = sum[k: n](A[i, k])");
  CHECK(equal(p, program("function f<x, y>(A: f32[x, y], out B)\nB[p: x] = sum[q: y](A[p, q])")));
  CHECK(!equal(p, program("function g<m, n>(A: f32[m, n], out B)\nB[i: m] = sum[k: n](A[i, k])")));
  CHECK(!equal(p, program("function f<m, n>(C: f32[m, n], out B)\nB[i: m] = sum[k: n](C[i, k])")));
  CHECK(!equal(p, program("function f<m, n>(A: f32[m, n], out B)\nB[i: n] = sum[k: m](A[k, i])")));
  CHECK(!equal(p, program("function f<m, n>(A: f32[m, n], out B)\nB[i: m] = product[k: n](A[i, k])")));
  CHECK(!equal(p, program("function f<m, n>(A: f16[m, n], out B)\nB[i: m] = f32(max[k: n](A[i, k]))")));
  CHECK(!equal(p, program("function f<m, n>(A: f32[m, n], out B)\nB[i: m] = sum[k: n](A[i, k])\nschedule { vectorize B.i }")));
}
