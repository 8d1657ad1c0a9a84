// Printing and parsing are inverses: text → IR → text is the same text, text → IR → text → IR the same IR.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "ir/equal.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "runtime/base/error.h"

using namespace lathe;

static void round_trip_program(const std::string& text) {
  INFO(text);
  const Program p = parse_program(text, "a.te");
  CHECK(to_string(p) == text);
  CHECK(equal(p, parse_program(to_string(p), "b.te")));
}
static void round_trip_function(const std::string& text) {
  INFO(text);
  const LoweredFunction f = parse_function(text, "a.te");
  CHECK(to_string(f) == text);
  CHECK(equal(f, parse_function(to_string(f), "b.te")));
}
// A body over inputs of each type, x_ and y_ followed by the type's name.
static void round_trip_body(const std::string& body, const std::string& type = "") {
  std::string parameters;
  for (const DTypeRow& row : dtype_rows)
    for (const char* prefix : {"x_", "y_"}) parameters += fmt::format("{}{}: {}[n], ", prefix, row.name, row.name);
  round_trip_program(fmt::format("function f<n, m>({}T: i64[n, m], out R)\n\nR[i: n, j: m] = {}\n", parameters, body));
}

TEST_CASE("every operator of every type it takes prints and parses") {
  for (size_t o = 0; o < std::size(op_rows); ++o) {
    const OpRow& row = op_rows[o];
    for (const DTypeRow& t : dtype_rows) {
      std::vector<Expr> args;
      const std::string x = fmt::format("x_{}[i]", t.name), y = fmt::format("y_{}[i]", t.name);
      std::vector<std::string> operands = {x, y, x};
      if (row.typing == OpTyping::select) operands = {"x_bool[i]", x, y};
      operands.resize(static_cast<size_t>(row.arity));
      std::string text;
      if (row.form == OpForm::infix)
        text = fmt::format("{} {} {}", operands[0], row.text, operands[1]);
      else if (row.form == OpForm::prefix)
        text = fmt::format("{}{}", row.text, operands[0]);
      else
        text = fmt::format("{}({}{}{})", row.text, operands[0], row.arity > 1 ? ", " + operands[1] : "",
                           row.arity > 2 ? ", " + operands[2] : "");
      const DType type = t.type;
      bool takes = false;
      switch (row.typing) {
        case OpTyping::arithmetic: takes = !type.is_bool(); break;
        case OpTyping::integer:
          takes = type.is_int() || (type.is_bool() && static_cast<Op>(o) != Op::shl && static_cast<Op>(o) != Op::shr &&
                                    static_cast<Op>(o) != Op::trunc_div);
          break;
        case OpTyping::floating:
        case OpTyping::classify: takes = type.is_float(); break;
        case OpTyping::compare:
        case OpTyping::select: takes = true; break;
        case OpTyping::logical: takes = type.is_bool(); break;
      }
      if (takes)
        round_trip_body(text);
      else
        CHECK_THROWS_AS(round_trip_body(text), Error);
    }
  }
}

TEST_CASE("casts between all types") {
  for (const DTypeRow& from : dtype_rows)
    for (const DTypeRow& to : dtype_rows)
      if (from.type != to.type) round_trip_body(fmt::format("{}(x_{}[i])", to.name, from.name));
}

TEST_CASE("parentheses stand where the tree needs them and nowhere else") {
  for (const char* body : {
           "i - (j - n)", "i - j - n", "(i + j) * n", "i + j * n", "i / (j * n)", "i * (j / n)", "i % (j + n)", "-i - -j",
           "-(i - j)", "-(-i)", "-(i * j)", "-i * j", "i < j == j < n", "i < j && (j < n || i == j)",
           "i < j && j < n || i == j", "!(i < j)", "!x_bool[i] && y_bool[i]", "~(i + j)", "~i & j | n ^ m", "i & (j | n)",
           "(i ^ j) & n", "i << j >> n", "i << (j >> n)", "i + (j << n)", "(i << j) + n", "i - 1", "i + 1", "i - 1 - j",
           "i - (j - 1)", "i * 3 - 1", "(i - 1) * 3", "min(i - 1, j) - 2", "x_f32[i] - -1.0", "x_f32[i] + -1.0", "-x_f32[i]",
           "-1.0 - x_f32[i]", "-(x_f32[i] + 1.0)", "1.0 / (2.0 / x_f32[i])", "i == j != (x_bool[i] == y_bool[i])",
           "select(i < j, i, j) + T[T[i, j], (i + j) % m]", "i + -9223372036854775808", "i - (j + -9223372036854775808)",
       })
    round_trip_body(body);
}

TEST_CASE("the text that people write comes out in one form") {
  auto body = [](const std::string& text) {
    const std::string printed = to_string(parse_program("function f<n>(A: f32[n], out R)\nR[i: n] = " + text));
    return printed.substr(printed.find("= ") + 2);
  };
  CHECK(body("A[(((i)))]") == "A[i]\n");
  CHECK(body("A[i]*2") == "A[i] * 2.0\n");
  CHECK(body("2*A[i]") == "2.0 * A[i]\n");
  CHECK(body("A[i+0]+1e3 # a comment") == "A[i] + 1000.0\n");
  CHECK(body("A[1+i]") == "A[i + 1]\n");
  CHECK(body("A[i-(1)]") == "A[i - 1]\n");
  CHECK(body("f32(f64(A[i]))") == "f32(f64(A[i]))\n");
  CHECK(body("A[i] + f32(2)") == "A[i] + 2.0\n");
}

static void round_trip_constant(DType type, const Expr& value) {
  Tensor r = compute({1}, [&](Expr) { return value; }, "R");
  const Program p = make_program("f", {r});
  const std::string text = to_string(p);
  INFO(text);
  const Program q = parse_program(text);
  CHECK(equal(p, q));
  CHECK(to_string(q) == text);
  CHECK(q.outputs()[0].type() == type);
}

TEST_CASE("constants of every type keep every bit") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const DTypeRow& row : dtype_rows) {
    const DType t = row.type;
    if (t.is_float()) {
      for (double v : {0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 1e-3, 1e10, inf, -inf, std::nan(""), 4.9e-324, 1.4e-45, -1.4e-45, 6e-8,
                       1.17549435e-38, 1.7976931348623157e308, 3.4028234663852886e38, 65504.0, 448.0, 5e-40, 123456.789,
                       1e22, 1e21, 16777216.0})
        round_trip_constant(t, constant(t, v));
      if (t.bits <= 16)
        for (uint32_t code = 0; code < (1u << t.bits); code += t.bits == 16 ? 257 : 1)
          round_trip_constant(t, constant(t, decode_float(code, t)));
    } else {
      for (int64_t v : {int64_t{0}, int64_t{1}, int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{INT32_MIN}, int64_t{127}, int64_t{-128}})
        round_trip_constant(t, constant(t, v));
    }
  }
}

TEST_CASE("typed constants as they are written") {
  for (const char* body : {"i", "-5", "-9223372036854775808", "9223372036854775807", "u64(18446744073709551615)", "i8(-128)",
                           "u8(255)", "true", "false", "f32(inf)", "f32(-inf)", "f32(nan)", "f64(inf)", "f16(-inf)", "bf16(nan)",
                           "f8e5m2(inf)", "0.0", "-0.0", "f64(-0.0)", "f16(0.5)", "1e-45", "1.1754944e-38", "f64(5e-324)",
                           "f64(1.7976931348623157e+308)", "3.4028235e+38", "f8e4m3fn(448.0)", "f16(65504.0)", "0.1", "f64(0.1)",
                           "1e+20", "16777216.0"})
    round_trip_body(body);
}

TEST_CASE("reductions of each kind") {
  for (const char* kind : {"sum", "product", "min", "max"}) {
    round_trip_program(fmt::format("function f<m, n>(A: f32[m, n], out B)\n\nB[i: m] = {}[k: n](A[i, k])\n", kind));
    round_trip_program(fmt::format("function f(A: i32[3, 4], out B)\n\nB[] = {}[x: 3, y: 4](A[x, y] * A[x, y]) + i32(1)\n", kind));
  }
  for (const char* kind : {"any", "all"})
    round_trip_program(fmt::format("function f<n>(A: bool[n], out B)\n\nB[] = {}[k: n](A[k] || k == 3)\n", kind));
  for (const char* kind : {"argmin", "argmax"})
    round_trip_program(fmt::format(
        "function f<m, n>(A: f16[m, n], out I, out V)\n\n(I, V)[i: m] = ({0}[k: n](k, A[i, k]), {0}[k: n](k, A[i, k]).1)\n", kind));
  round_trip_program("function f<n>(A: f16[n], out B)\n\nB[] = f16(sum[k: n](f32(A[k]) * f32(A[k])))\n");
  round_trip_program("function f<n>(A: f32[n], out B)\n\nB[i: n] = sum[k: i + 1](A[k]) / f32(n)\n");
}

TEST_CASE("a tuple definition keeps one reduction, whatever comments stand around it") {
  const Program p = parse_program(R"(function f<n>(A: f32[n], out I, out V)
(I, V)[i: 1] = (argmax[k: n](k, A[k]) # (the place)
  , argmax[ q : n ]( q, A[q] ).1))");
  CHECK(p.computed().size() == 2);
  CHECK_THAT(to_string(p), Catch::Contains("(argmax[k: n](k, A[k]), argmax[k: n](k, A[k]).1)"));
}

TEST_CASE("combiners of a user's own") {
  round_trip_program(R"(function f<n>(A: i64[n], B: i64[n], out P, out Q)

combiner compose(a: i64, b: i64), (c: i64, d: i64) = (a * c, b * c + d) identity (1, 0)

(P, Q)[i: 1] = (compose[k: n](A[k], B[k]), compose[k: n](A[k], B[k]).1)
)");
  // Two combiners may call their operands alike, and one may be asked for inside an index.
  round_trip_program(R"(function f<n>(A: i64[n], B: f32[n], out P, out Q)

combiner first(a: i64), (b: i64) = (min(a, b)) identity (9)

P[i: 1] = B[first[k: n](A[k])]

combiner second(a: f32), (b: f32) = (max(a, b) + 1.0) identity (f32(-inf))

Q[i: 1] = second[k: n](B[k])
)");
}

TEST_CASE("axes keep their names in each definition, since a schedule calls loops by them") {
  round_trip_program(R"(function f<n>(A: f32[n], out C)

B[i: n] = A[i] + 1.0

S[i: n] = sum[k: n](B[k] * B[i])

C[i: n] = S[i] * B[i]

schedule {
  compute_inline B
  split S.i -> io, ii by 64, tail guard
  split C.i -> io, ii by 64, tail guard
}
)");
  // An axis may be called like a symbol or tensor that its definition does not read.
  round_trip_program("function f<n, k>(A: f32[n, k], out B)\n\nB[n: n] = sum[k: k](A[n, k])\n");
  round_trip_program("function f<n>(A: f32[n], out B)\n\nB[A: n] = A[A]\n");
}

TEST_CASE("tensors without axes, constant shapes, shapes of symbols, outputs between inputs") {
  round_trip_program("function f(A: f32[], out B)\n\nB[] = A[]\n");
  round_trip_program("function f(out B)\n\nB[i: 4] = f32(i)\n");
  round_trip_program("function f<n>(A: f32[n], out B, C: f32[(n + 7) / 8 * 8, 3])\n\nB[i: n] = A[i] + C[i, 0]\n");
  round_trip_program("function f<n>(A: f32[n], out B, out C)\n\nB[i: n] = A[i]\n\nC[i: n] = B[i]\n");
}

TEST_CASE("every schedule step") {
  round_trip_program(R"(function f<n>(A: f32[n, n], out C)

B[i: n, j: n] = A[i, j]

C[i: n, j: n] = B[i, j]

schedule {
  split C.i -> io, ii by 32, tail guard
  split_parts C.j -> jo, ji into 4, tail guard
  fuse C.io, C.jo -> f
  tile C.i, C.j -> io, jo, ii, ji by 8, 16, tail guard
  reorder C.io, C.jo, C.ii, C.ji
  bind C.io to block_x
  bind C.jo to block_y
  bind C.ii to thread_y
  bind C.ji to thread_x
  vectorize C.ji
  unroll C.ii
  compute_at B at C.jo
  compute_inline B
  compute_root B
  cache_read A -> As in shared for B, C
  cache_write C -> Cl in register
  set_scope B to shared
}
)");
}

TEST_CASE("lowered functions and kernels") {
  round_trip_function(R"(function f<n>(A: f32[n], out B: f32[n]) workspaces (W: f32[n], V: i32[4]) {
  for block_x x in 0 .. (n + 63) / 64 {
    alloc shared S: f32[64] {
      for thread_x t in 0 .. 64 {
        alloc register r: f16[2, 2] {
          if x * 64 + t < n {
            r[0, 0] = f16(A[x * 64 + t])
          } else {
            r[0, 0] = f16(0.0)
          }
          S[t] = f32(r[0, 0])
          barrier
          for unrolled u in 0 .. 2 {
            for vectorized v in 0 .. 4 {
              for k in u .. min(n, 4) {
                B[k] = S[k] + W[k]
              }
            }
          }
        }
      }
    }
  }
  for block_y y in 0 .. 1 {
    for block_z z in 0 .. 1 {
      for thread_y a in 0 .. 1 {
        for thread_z b in 0 .. 1 {
          alloc global G: u64[1] {
            G[0] = u64(18446744073709551615)
          }
        }
      }
    }
  }
}
)");
  round_trip_function(R"(function f<n>(A: f32[n], out B: f32[n])

kernel f<n>(A: f32[n], out B: f32[n]) grid [(n + 255) / 256, 1, 1] block [64, 1, 1] indices [bx, by, bz, tx, ty, tz] {
  B[ramp(bx * 256 + tx * 4, 1, 4)] = A[ramp(bx * 256 + tx * 4, 1, 4)] * broadcast(2.0, 4)
  if bx < 3 {
    B[i32(bx) * i32(4) + i32(tx)] = select(tx < 2, 0.0, f32(nan))
  }
}

kernel g() grid [1, 1, 1] block [1, 2, 3] indices [a, b, c, d, e, f] {
}
)");
  round_trip_function("kernel k(out B: i32[2]) grid [1, 1, 1] block [1, 1, 1] indices [a, b, c, d, e, f] {\n  B[0] = i32(1)\n}\n");
}

TEST_CASE("names of loops that stand side by side, or inside each other, are told apart") {
  const Var i("i"), j("i"), k("i");
  Tensor b = make_tensor("B", i64, {Expr(8)});
  const Stmt inner = make_loop(LoopKind::serial, j, 0, 2, make_store(b, {j}, i + j));
  const Stmt s = make_block({make_loop(LoopKind::serial, i, 0, 4, inner), make_loop(LoopKind::serial, k, 0, 4, make_store(b, {k}, k))});
  LoweredFunction f;
  f.name = "f";
  f.arguments = {b};
  f.is_output = {true};
  f.body = s;
  const LoweredFunction g = parse_function(to_string(f));
  CHECK(equal(f, g));
  CHECK(to_string(g) == to_string(f));
}

TEST_CASE("names that are words of the language are changed in statements") {
  Tensor b = make_tensor("sum", i64, {Expr(8)});
  const Var v("for");
  LoweredFunction f;
  f.name = "f";
  f.arguments = {b};
  f.is_output = {true};
  f.body = make_loop(LoopKind::serial, v, 0, 8, make_store(b, {v}, v));
  CHECK(equal(parse_function(to_string(f)).body, parse_function(to_string(parse_function(to_string(f)))).body) == false);
  CHECK_THAT(to_string(f), Catch::Contains("for for_1 in 0 .. 8") && Catch::Contains("sum_1[for_1] = for_1"));
}
