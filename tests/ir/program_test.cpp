// What the language in C++ accepts and refuses, before any text.
#include "ir/program.h"

#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "ir/print.h"
#include "tests/error_message.h"

using namespace lathe;
using Catch::Matchers::Contains;

TEST_CASE("a program lists its symbols in order of first use, producers before consumers") {
  const Var n("n"), m("m");
  Tensor a = placeholder({m, n}, f32, "A");
  Tensor b = compute({m, n}, [&](Expr i, Expr j) { return a(i, j) + 1.0f; }, "B");
  Tensor c = compute({n, m}, [&](Expr i, Expr j) { return b(j, i); }, "C");
  const Program p = make_program("f", {a, c});
  REQUIRE(p.symbols.size() == 2);
  CHECK(p.symbols[0].same_as(m));
  REQUIRE(p.computed().size() == 2);
  CHECK(p.computed()[0].name() == "B");
  REQUIRE(p.outputs().size() == 1);
  CHECK(to_string(p) == "function f<m, n>(A: f32[m, n], out C)\n\nB[i: m, j: n] = A[i, j] + 1.0\n\nC[i: n, j: m] = B[j, i]\n");
}

TEST_CASE("refusals of make_program") {
  const Var n("n"), m("m");
  Tensor a = placeholder({n}, f32, "A");
  Tensor b = compute({n}, [&](Expr i) { return a(i); }, "B");
  auto refused = [](std::vector<Tensor> arguments, const char* name = "f") {
    return error_message([&] { make_program(name, arguments); });
  };
  CHECK(refused({a, b}) == "");
  CHECK_THAT(refused({a}), Contains("no argument is computed"));
  CHECK_THAT(refused({b}), Contains("B reads A, which is not among the arguments"));
  CHECK_THAT(refused({a, b, b}), Contains("B stands twice among the arguments"));
  CHECK_THAT(refused({a, b}, "sum"), Contains("\"sum\" is a word of the language"));
  CHECK_THAT(refused({a, b}, ""), Contains("\"\" cannot name a function"));
  CHECK_THAT(refused({a, Tensor(), b}), Contains("argument 1 is an empty tensor"));
  Tensor twin = compute({n}, [&](Expr i) { return b(i); }, "B");
  CHECK_THAT(refused({a, twin}), Contains("two tensors or symbols are called B"));
  Tensor reads_m = compute({n}, [&](Expr i) { return a(i) * cast(f32, m); }, "C");
  CHECK_THAT(refused({a, reads_m}), Contains("C reads the variable m, which no argument's shape binds"));
  Tensor half = placeholder({m * 2}, f32, "H");
  Tensor of_half = compute({n}, [&](Expr i) { return half(i) + a(i); }, "D");
  CHECK_THAT(refused({half, a, of_half}), Contains("the symbol m is no argument's extent by itself"));
  const Var other("n");
  Tensor clash = placeholder({other}, f32, "E");
  Tensor sum_of = compute({n}, [&](Expr i) { return clash(i) + a(i); }, "F");
  CHECK_THAT(refused({a, clash, sum_of}), Contains("two tensors or symbols are called n"));
  Tensor hidden = compute_list({n}, [&](const std::vector<Expr>& i) { return a(i[0]) * cast(f32, n); }, "G", {"n"});
  CHECK_THAT(refused({a, hidden}), Contains("G reads the symbol n, and an axis around it is called so too"));
  ReduceAxis k = reduce_axis(n, "k");
  Tensor escaped = compute({n}, [&](Expr i) { return sum(a(k.var), k) + cast(f32, k.var); }, "K");
  CHECK_THAT(refused({a, escaped}), Contains("K reads the variable k"));
}

TEST_CASE("refusals of the language") {
  const Var n("n");
  Tensor a = placeholder({n}, f32, "A");
  auto refused = [](auto action) { return error_message(action); };
  CHECK_THAT(refused([&] { placeholder({n}, f32, "a b"); }), Contains("\"a b\" cannot name a tensor"));
  CHECK_THAT(refused([&] { placeholder({n}, f32, "f32"); }), Contains("\"f32\" is a word of the language"));
  CHECK_THAT(refused([&] { placeholder({a(0)}, f32, "B"); }), Contains("is not an i64"));
  CHECK_THAT(refused([&] { placeholder({cast(i64, a(0))}, f32, "B"); }), Contains("depends on the elements of a tensor"));
  CHECK_THAT(refused([&] { placeholder({Expr(-1)}, f32, "B"); }), Contains("tensor B, extent 0: the extent is -1"));
  CHECK_THAT(refused([&] { compute({n}, [&](Expr i, Expr j) { return a(i); }, "B"); }), Contains("the body takes 2 indices, the shape has rank 1"));
  CHECK_THAT(refused([&] { compute_list({n}, [&](const std::vector<Expr>& i) { return a(i[0]); }, "B", {"for"}); }),
             Contains("\"for\" is a word of the language"));
  CHECK_THAT(refused([&] { compute({n}, [&](Expr i) { return make_ramp(i, 1, 4); }, "B"); }), Contains("the body gives a vector, i64x4"));
  CHECK_THAT(refused([&] { reduce_axis(-1, "k"); }), Contains("the extent is -1"));
  CHECK_THAT(refused([&] { a(0, 1); }), Contains("2 indices for a tensor of rank 1"));
  CHECK_THAT(refused([&] { a(a(0)); }), Contains("an index is not an integer"));
  CHECK_THAT(refused([&] { sum(a(0), std::vector<ReduceAxis>{}); }), Contains("there is no axis to reduce over"));
  CHECK_THAT(refused([&] { any(a(0), reduce_axis(n, "k")); }), Contains("the source must be bool"));
  CHECK_THAT(refused([&] { a(0) + Expr(); }), Contains("an operand is an empty expression"));
  const Var l("l", f32), r("r", f32);
  CHECK_THAT(refused([&] { make_combiner("sum", {l}, {r}, {l + r}, {0.0f}); }), Contains("\"sum\" is a word of the language"));
}

TEST_CASE("two sources under one combiner and axis are two reductions, and refused") {
  const Var n("n");
  Tensor a = placeholder({n}, f32, "A"), b = placeholder({n}, f32, "B");
  const Var l("l", f32), r("r", f32);
  const Combiner c = make_combiner("longest", {l}, {r}, {max(Expr(l), Expr(r))}, {0.0f});
  const ReduceAxis k = reduce_axis(n, "k");
  CHECK_THAT(error_message([&] { compute({1}, [&](Expr) { return reduce(c, {a(k.var)}, {k})[0] + reduce(c, {b(k.var)}, {k})[0]; }, "C"); }),
             Contains("the body has more than one reduction"));
}

TEST_CASE("a height past the limit is refused where it is made") {
  const Var x("x", f32);
  CHECK_THAT(error_message([&] {
               Expr e = x;
               for (int i = 0; i < 100000; ++i) e = e + x;
             }),
             Contains("expression: nested more than 1000 deep"));
}
