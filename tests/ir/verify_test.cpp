// One violation of each rule of verify.h.
#include "ir/verify.h"

#include <catch2/catch.hpp>

#include "ir/parse.h"

using namespace lathe;
using Catch::Matchers::Contains;

namespace {

struct Setting {
  Var n{"n"}, i{"i"}, t{"t"};
  Tensor a = make_tensor("A", f32, {n}), b = make_tensor("B", f32, {n}), s = make_tensor("S", f32, {Expr(64)});
  LoweredFunction function(Stmt body) const {
    LoweredFunction f;
    f.name = "f";
    f.symbols = {n};
    f.arguments = {a, b};
    f.is_output = {false, true};
    f.body = std::move(body);
    return f;
  }
  Stmt copy(const Var& v) const { return make_store(b, {v}, a(v)); }
  Stmt loop(LoopKind kind, const Var& v, const Expr& end, Stmt body) const { return make_loop(kind, v, 0, end, std::move(body)); }
  std::string found(Stmt body, Form form = Form::looped) const {
    std::string text;
    for (const std::string& line : violations(function(std::move(body)), form)) text += line + "\n";
    return text;
  }
};

std::string found_in_kernel(const char* body, Form form = Form::kernels) {
  const LoweredFunction f = parse_function(
      std::string("function f<n>(A: f32[n], out B: f32[n])\n"
                  "kernel f<n>(A: f32[n], out B: f32[n]) grid [n, 1, 1] block [64, 1, 1] indices [bx, by, bz, tx, ty, tz] {") +
      body + "}");
  std::string text;
  for (const std::string& line : violations(f, form)) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("what is right has no violations") {
  const Setting x;
  CHECK(x.found(x.loop(LoopKind::serial, x.i, x.n, x.copy(x.i))) == "");
  CHECK(x.found(make_block({x.loop(LoopKind::serial, x.i, x.n, x.copy(x.i)), x.loop(LoopKind::serial, x.i, x.n, x.copy(x.i))})) == "");
  CHECK(found_in_kernel("for k in 0 .. 2 { if bx < n { barrier } } B[tx] = A[tx]") == "");
}

TEST_CASE("variables are in scope and bound once") {
  const Setting x;
  CHECK_THAT(x.found(x.copy(x.i)), Contains("B[i] = A[i]: i is used outside of what binds it"));
  CHECK_THAT(x.found(x.loop(LoopKind::serial, x.i, 2, x.loop(LoopKind::serial, x.i, 2, x.copy(x.i)))), Contains("i is bound twice"));
  CHECK_THAT(x.found(x.loop(LoopKind::serial, x.i, x.i, x.copy(x.i))), Contains("i is used outside of what binds it"));
}

TEST_CASE("tensors are known where they are used") {
  const Setting x;
  CHECK_THAT(x.found(make_store(x.s, {Expr(0)}, 0.0f)), Contains("S is used outside of its allocation"));
  CHECK(x.found(make_alloc(x.s, Scope::shared, make_store(x.s, {Expr(0)}, 0.0f))) == "");
  CHECK_THAT(x.found(make_block({make_alloc(x.s, Scope::shared, make_store(x.s, {Expr(0)}, 0.0f)), make_store(x.b, {Expr(0)}, x.s(0))})),
             Contains("S is used outside of its allocation"));
  CHECK_THAT(x.found(make_alloc(x.s, Scope::shared, make_alloc(x.s, Scope::shared, make_store(x.s, {Expr(0)}, 0.0f)))),
             Contains("the tensor S stands twice"));
  CHECK_THAT(x.found(make_store(x.a, {Expr(0)}, 0.0f)), Contains("A is an input and is stored to"));
}

TEST_CASE("reductions, vectors and loops that should be gone") {
  const Setting x;
  const ReduceAxis k = reduce_axis(x.n, "k");
  CHECK_THAT(x.found(make_store(x.b, {Expr(0)}, sum(x.a(k.var), k))), Contains("a reduction is left"));
  CHECK_THAT(x.found(make_store(x.b, {make_ramp(0, 1, 4)}, 0.0f)), Contains("a vector before vectorization: ramp(0, 1, 4)"));
  CHECK(found_in_kernel("B[ramp(0, 1, 4)] = 0.0", Form::vectorized) == "");
  CHECK_THAT(found_in_kernel("B[ramp(0, 1, 4)] = 0.0"), Contains("a vector before vectorization"));
  CHECK(found_in_kernel("for vectorized v in 0 .. 4 { B[v] = 0.0 }") == "");
  CHECK_THAT(found_in_kernel("for vectorized v in 0 .. 4 { B[v] = 0.0 }", Form::vectorized), Contains("a vectorized loop is left"));
  CHECK(found_in_kernel("for unrolled v in 0 .. 4 { B[v] = 0.0 }", Form::vectorized) == "");
  CHECK_THAT(found_in_kernel("for unrolled v in 0 .. 4 { B[v] = 0.0 }", Form::unrolled), Contains("an unrolled loop is left"));
  CHECK_THAT(found_in_kernel("for thread_x v in 0 .. 4 { B[v] = 0.0 }"), Contains("a bound loop is left inside a kernel"));
  CHECK_THAT(found_in_kernel("alloc shared S: f32[2, 2] { S[0, 0] = 0.0 }", Form::flat), Contains("S has 2 indices after flattening"));
  CHECK_THAT(x.found(x.copy(x.n), Form::kernels), Contains("a body is left beside the kernels"));
}

TEST_CASE("bound loops") {
  const Setting x;
  CHECK(x.found(x.loop(LoopKind::block_x, x.i, x.n, x.loop(LoopKind::thread_x, x.t, 4, x.copy(x.i)))) == "");
  CHECK_THAT(x.found(make_loop(LoopKind::block_x, x.i, 1, 4, x.copy(x.i))), Contains("a bound loop does not start at 0"));
  CHECK_THAT(x.found(x.loop(LoopKind::thread_x, x.t, x.n, x.copy(x.t))), Contains("the extent of a thread loop is not a number"));
  CHECK_THAT(x.found(x.loop(LoopKind::block_x, x.t, 4, x.loop(LoopKind::block_x, x.i, 4, x.copy(x.i)))), Contains("block_x is bound twice"));
  CHECK(x.found(x.loop(LoopKind::thread_x, x.t, 4, x.loop(LoopKind::thread_x, x.i, 4, x.copy(x.i)))) == "");
  CHECK_THAT(x.found(x.loop(LoopKind::thread_x, x.t, 4, x.loop(LoopKind::thread_x, x.i, 8, x.copy(x.i)))), Contains("thread_x has two extents"));
}

TEST_CASE("types of bounds and conditions") {
  const Setting x;
  CHECK_THAT(x.found(make_loop(LoopKind::serial, x.i, 0, constant(i32, int64_t{4}), x.copy(x.i))), Contains("a loop bound is i32, not i64"));
  CHECK_THAT(x.found(make_branch(x.n + 1, x.copy(x.n))), Contains("the condition is i64, not bool"));
}

TEST_CASE("barriers stand where all work-items arrive") {
  const Setting x;
  auto among_threads = [&](Stmt body) { return x.found(x.loop(LoopKind::thread_x, x.t, 64, std::move(body))); };
  CHECK(among_threads(make_barrier()) == "");
  CHECK(among_threads(make_branch(x.n < 4, make_barrier())) == "");
  CHECK_THAT(among_threads(make_branch(x.t < 4, make_barrier())), Contains("barrier: work-items of one group may not all arrive here"));
  CHECK_THAT(among_threads(make_loop(LoopKind::serial, x.i, 0, x.t, make_barrier())), Contains("may not all arrive here"));
  // Through a loop variable that starts differently …
  const Var j("j");
  CHECK_THAT(among_threads(make_loop(LoopKind::serial, x.i, x.t, x.t + 2, make_branch(x.i < 3, make_barrier()))), Contains("may not all arrive"));
  // … and through a register.
  Tensor r = make_tensor("r", f32, {Expr(1)});
  CHECK_THAT(among_threads(make_alloc(r, Scope::registers, make_block({make_store(r, {Expr(0)}, 0.0f), make_branch(r(0) < 1.0f, make_barrier())}))),
             Contains("may not all arrive here"));
  CHECK_THAT(found_in_kernel("if tx < 3 { barrier }"), Contains("may not all arrive here"));
  CHECK_THAT(found_in_kernel("for vectorized v in 0 .. 4 { barrier }"), Contains("may not all arrive here"));
  CHECK(found_in_kernel("if bx < 3 { barrier }") == "");
}

TEST_CASE("flags beside arguments and buffers") {
  const Setting x;
  LoweredFunction f = x.function(x.loop(LoopKind::serial, x.i, x.n, x.copy(x.i)));
  f.is_output.pop_back();
  CHECK_THAT(violations(f, Form::looped).at(0) + violations(f, Form::looped).at(1), Contains("1 flags for 2 arguments"));
}
