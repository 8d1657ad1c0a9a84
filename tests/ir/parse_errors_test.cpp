// Bad text gets a lathe::Error with file, line and column, and nothing else.
#include <catch2/catch.hpp>
#include <random>

#include "ir/equal.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "tests/error_message.h"

using namespace lathe;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

static const std::string sample = R"(# A sample with a bit of everything.
function sample<m, n>(A: f32[m, n], B: f16[n], out C, out I, out V)

combiner compose(a: i64, b: f32), (c: i64, d: f32) = (a + c, select(b < d, -b, d)) identity (0, f32(-inf))

T[i: m] = exp2(f32(B[0])) + max[k: n](A[i, k] * 2.5e-1)

C[i: m, j: n] = select(i + j >= 1 && j < n - 1, A[i, j + 1], f32(nan)) / T[i]

(I, V)[i: m] = (compose[k: n](k, A[i, k]), compose[k: n](k, A[i, k]).1)

schedule {
  split C.j -> jo, ji by 64, tail guard
  reorder C.jo, C.i, C.ji
  bind C.ji to thread_x
  compute_inline T
  cache_read A -> As in shared for C
}
)";

static const std::string lowered_sample = R"(function f<n>(A: f32[n], out B: f32[n]) workspaces (W: f32[n]) {
  for block_x x in 0 .. (n + 63) / 64 {
    alloc shared S: f32[64] {
      for thread_x t in 0 .. 64 {
        if x * 64 + t < n {
          S[t] = A[x * 64 + t]
        } else {
          S[t] = 0.0
        }
        barrier
        B[ramp(x * 64, 1, 4)] = S[ramp(t, 1, 4)] + broadcast(W[0], 4)
      }
    }
  }
}

kernel k<n>(A: f32[n], out B: f32[n]) grid [n, 1, 1] block [1, 1, 1] indices [a, b, c, d, e, g] {
  B[a] = A[a]
}
)";

// Either an Error, or IR that prints and parses again.
static bool parses_or_refuses(const std::string& text) {
  try {
    const Program p = parse_program(text, "x.te");
    REQUIRE(equal(p, parse_program(to_string(p), "y.te")));
    return true;
  } catch (const Error&) {
    return false;
  }
}
static bool function_parses_or_refuses(const std::string& text) {
  try {
    const LoweredFunction f = parse_function(text, "x.te");
    REQUIRE(equal(f, parse_function(to_string(f), "y.te")));
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST_CASE("a file cut at any byte is refused with a place, or is whole") {
  REQUIRE(parses_or_refuses(sample));
  int whole = 0;
  for (size_t length = 0; length < sample.size(); ++length) {
    const std::string message = error_message([&] { parse_program(sample.substr(0, length), "x.te"); });
    if (message.empty()) ++whole;
    else REQUIRE_THAT(message, StartsWith("x.te:"));
  }
  CHECK(whole == 4);  // after the last definition and its two newlines, and without the final newline
  REQUIRE(function_parses_or_refuses(lowered_sample));
  for (size_t length = 0; length < lowered_sample.size(); ++length) {
    const std::string message = error_message([&] { parse_function(lowered_sample.substr(0, length), "x.te"); });
    if (!message.empty()) REQUIRE_THAT(message, StartsWith("x.te:"));
  }
}

TEST_CASE("random damage never does worse than an Error") {
  std::mt19937 random(7);
  for (int n = 0; n < 6000; ++n) {
    for (const bool lowered : {false, true}) {
      std::string text = lowered ? lowered_sample : sample;
      for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
        const size_t at = random() % text.size();
        switch (random() % 4) {
          case 0: text[at] = static_cast<char>(random()); break;
          case 1: text.erase(at, 1 + random() % 4); break;
          case 2: text.insert(at, text.substr(random() % text.size(), random() % 8)); break;
          case 3: text[at] = "()[]{}<>,.:=+-*/%&|^~!#019aA"[random() % 28]; break;
        }
      }
      INFO(text);
      lowered ? function_parses_or_refuses(text) : parses_or_refuses(text);
    }
  }
}

static std::string refused(const std::string& text) {
  return error_message([&] { parse_program(text, "x.te"); });
}
static std::string refused_body(const std::string& body) {
  return refused("function f<n>(A: f32[n], B: i32[n], out C)\nC[i: n] = " + body);
}

TEST_CASE("refusals name file, line and column, what was wrong, and what would be right") {
  CHECK(refused("") == "x.te:1:1: expected \"function\", found the end of the text");
  CHECK_THAT(refused("function f<n>(A: f32[n], out C)\nC[i: n] = A[i"), StartsWith("x.te:2:14: expected \"]\", found the end"));
  CHECK_THAT(refused("function f<n>(A: f33[n], out C)"), StartsWith("x.te:1:18: \"f33\" is not a type (hint: types are"));
  CHECK_THAT(refused("function f<n>(A: f32x4[n], out C)"), StartsWith("x.te:1:18: \"f32x4\" is not a type"));
  CHECK_THAT(refused("function f<n>(A: f32[n], out C)"), StartsWith("x.te:1:30: output C is never computed (hint: add a line"));
  CHECK_THAT(refused("function f<n, n>(A: f32[n], out C)"), StartsWith("x.te:1:15: symbol n stands twice"));
  CHECK_THAT(refused("function f<n>(A: f32[n], A: f32[n], out C)"), StartsWith("x.te:1:26: there is already a tensor A"));
  CHECK_THAT(refused("function f<n>(A: f32[n], out C, out C)"), StartsWith("x.te:1:37: C stands twice among the arguments"));
  CHECK_THAT(refused("function f<n>(sum: f32[n], out C)"), StartsWith("x.te:1:15: \"sum\" is a word of the language"));
  CHECK_THAT(refused("function f<n>(A: f32[q], out C)"), StartsWith("x.te:1:22: nothing here is called q"));
  CHECK_THAT(refused("function f<n>(A: f32[-3], out C)"), Contains("x.te:1:15: tensor A, extent 0: the extent is -3"));
  CHECK_THAT(refused("function f<n>(A: f32[2.5], out C)"), Contains("the extent 2.5 is not an i64"));
  CHECK_THAT(refused("function f<n>(A: f32[4], out C)\nC[i: 4] = A[i]"), StartsWith("x.te:1:11: symbol n is in no argument's shape"));
  CHECK_THAT(refused("function f<n>(A: f32[n * 2], out C)\nC[i: 4] = A[i]"), Contains("the symbol n is no argument's extent by itself"));
  CHECK_THAT(refused("function f<n>(A: f32[n], out C)\nC[i: n, i: n] = 1.0"), Contains("x.te:2:1: compute C: two axes are called i"));
  CHECK_THAT(refused("function f<n>(A: f32[n], out C)\nC[i: n] = sum[i: n](A[i])"), Contains("a reduction axis and another axis are both called i"));
  CHECK_THAT(refused("function f<n>(A: f32[n], out C)\nC[n: n] = A[n] + f32(n)\nC[i: n] = 1.0"), Contains("there is already a tensor C"));
  CHECK_THAT(refused("function f<k>(A: f32[k, k], out C)\nC[i: k] = sum[k: k](A[i, k]) + f32(k)\n junk"), Contains("x.te:3:6: expected \"[\""));
  CHECK_THAT(refused_body("A[i] + B[i]"), StartsWith("x.te:2:16: +(f32, i32): operands must be of one type (hint: convert with a cast"));
  CHECK_THAT(refused_body("A[i] & A[i]"), Contains("&(f32, f32): operands must be integers"));
  CHECK_THAT(refused_body("sqrt(B[i])"), Contains("x.te:2:11: sqrt(i32): operands must be floats"));
  CHECK_THAT(refused_body("sqrt(A[i], A[i])"), Contains("sqrt takes 1 operands, here are 2"));
  CHECK_THAT(refused_body("A[i] && A[i]"), Contains("&&(f32, f32): operands must be bools"));
  CHECK_THAT(refused_body("select(A[i], A[i], A[i])"), Contains("operands must be a bool and two values of one type"));
  CHECK_THAT(refused_body("B[i] / 0"), Contains("x.te:2:16: /: division by a constant zero"));
  CHECK_THAT(refused_body("B[i] + 3000000000"), Contains("the constant 3000000000 does not fit i32"));
  CHECK_THAT(refused_body("99999999999999999999"), StartsWith("x.te:2:11: 99999999999999999999 does not fit i64"));
  CHECK_THAT(refused_body("-9223372036854775809"), StartsWith("x.te:2:11: -9223372036854775809 does not fit i64"));
  CHECK_THAT(refused_body("u8(256)"), Contains("256 does not fit u8"));
  CHECK_THAT(refused_body("u8(-1)"), Contains("-1 does not fit u8"));
  CHECK_THAT(refused_body("1e999"), StartsWith("x.te:2:11: 1e999 does not fit f32 (hint: infinity is written f32(inf))"));
  CHECK_THAT(refused_body("f64(1e999)"), Contains("1e999 does not fit f64"));
  CHECK_THAT(refused_body("A[i, i]"), Contains("x.te:2:11: A[…]: 2 indices for a tensor of rank 1"));
  CHECK_THAT(refused_body("A[A[i]]"), Contains("an index is not an integer"));
  CHECK_THAT(refused_body("D[i]"), StartsWith("x.te:2:11: nothing here is called D"));
  CHECK_THAT(refused_body("i[0]"), Contains("i is a variable, it has no elements"));
  CHECK_THAT(refused_body("frob(A[i])"), Contains("there is no function frob"));
  CHECK_THAT(refused_body("sum[](A[i])"), Contains("there is no axis to reduce over"));
  CHECK_THAT(refused_body("sum[k: 2.0](A[k])"), Contains("the extent 2.0 is not an i64"));
  CHECK_THAT(refused_body("sum[k: -2](A[k])"), Contains("the extent is -2"));
  CHECK_THAT(refused_body("argmax[k: n](A[k])"), Contains("argmax does not reduce 1 values"));
  CHECK_THAT(refused_body("sum[k: n](A[k]).1"), Contains("component 1 of 1"));
  CHECK_THAT(refused_body("sum[k: n](A[k]) + sum[k: n](A[k] * 2.0)"), Contains("the body has more than one reduction"));
  CHECK_THAT(refused_body("sum[k: n](max[l: n](A[k] + A[l]))"), Contains("a reduction stands inside another one"));
  CHECK_THAT(refused_body("sum[k: n](A[k]) + f32(k)"), Contains("nothing here is called k"));
  CHECK_THAT(refused_body("ramp(i, 1, 4)"), Contains("the body gives a vector, i64x4"));
  CHECK_THAT(refused_body("ramp(A[i], A[i], 4)"), Contains("base and stride are not scalars of one integer type"));
  CHECK_THAT(refused_body("ramp(i, 1, 5000)"), Contains("5000 lanes"));
  CHECK_THAT(refused_body("A[i] A[i]"), StartsWith("x.te:2:19: expected \":\", found \"]\""));
  CHECK_THAT(refused_body("A[i] \xc3\xa9"), StartsWith("x.te:2:16: unexpected byte 0xc3"));
  CHECK_THAT(refused_body("A[i]\n\nschedule {\n  splat C.i\n}"), StartsWith("x.te:5:3: \"splat\" is not a schedule step (hint: did you mean split?)"));
  CHECK_THAT(refused_body("A[i]\nschedule {\n"), Contains("the schedule is not closed"));
  CHECK_THAT(refused_body("A[i]\nschedule { bind C.i to warp }"), Contains("x.te:3:24: \"warp\" does not fit bind"));
  CHECK_THAT(refused_body("A[i]\nschedule { split C.i -> a, b by 99999999999999999999, tail guard }"), Contains("does not fit 64 bits"));
}

TEST_CASE("combiners are functions of their operands, with constants for identities") {
  auto with = [](const std::string& combiner) {
    return refused("function f<n>(A: i64[n], out C)\ncombiner " + combiner + "\nC[i: 1] = c[k: n](A[k])");
  };
  CHECK(with("c(a: i64), (b: i64) = (a + b) identity (0)") == "");
  CHECK_THAT(with("c(a: i64), (b: i64) = (a + b) identity (A[0])"), Contains("the identity of component 0 is not a constant"));
  CHECK_THAT(with("c(a: i64), (b: i64) = (a + A[0]) identity (0)"), Contains("component 0 reads something other than the operands"));
  CHECK_THAT(with("c(a: i64), (b: i64) = (a + n) identity (0)"), Contains("component 0 reads something other than the operands"));
  CHECK_THAT(with("c(a: i64), (b: f32) = (a) identity (0)"), Contains("component 0 has types i64, f32 and result i64"));
  CHECK_THAT(with("c(a: i64), (b: i64) = (a, b) identity (0)"), Contains("1 left operands, 1 right ones, 2 results, 1 identities"));
  CHECK_THAT(with("sum(a: i64), (b: i64) = (a) identity (0)"), Contains("\"sum\" is a word of the language"));
}

TEST_CASE("refusals of lowered text") {
  auto lowered = [](const std::string& body) {
    return error_message([&] { parse_function("function f<n>(A: f32[n], out B: f32[n]) {\n" + body + "\n}", "x.te"); });
  };
  CHECK(lowered("B[0] = A[0]") == "");
  CHECK_THAT(lowered("for i in 0.5 .. n { }"), StartsWith("x.te:2:10: a loop's first value is i64, not f32"));
  CHECK_THAT(lowered("for i in 0 .. i32(4) { }"), Contains("a loop's end is i64, not i32"));
  CHECK_THAT(lowered("if n { }"), Contains("the condition is i64, not bool"));
  CHECK_THAT(lowered("B[0] = 1"), Contains("B is f32, the value is i64"));
  CHECK_THAT(lowered("B[0, 0] = 1.0"), Contains("2 indices for a tensor of rank 1"));
  CHECK_THAT(lowered("B[0.5] = 1.0"), Contains("an index is not an integer"));
  CHECK_THAT(lowered("B[0] = A[ramp(0, 1, 4)]"), Contains("4 lanes are stored to 1 places"));
  CHECK_THAT(lowered("B[ramp(0, 1, 4)] = A[ramp(0, 1, 2)]"), Contains("2 lanes are stored to 4 places"));
  CHECK_THAT(lowered("D[0] = 1.0"), StartsWith("x.te:2:1: nothing here is called D"));
  CHECK_THAT(lowered("alloc shared A: f32[4] { }"), Contains("there is already a tensor A"));
  CHECK_THAT(lowered("alloc shared S: f32[4] { }\nB[0] = S[0]"), Contains("nothing here is called S"));
  CHECK_THAT(lowered("for i in 0 .. 4 { }\nB[i] = 1.0"), Contains("nothing here is called i"));
  CHECK_THAT(lowered("for i in 0 .. 4 {"), Contains("the block is not closed"));
  auto kernel = [](const std::string& grid, const std::string& block) {
    return error_message([&] {
      parse_function("kernel k(out B: f32[4]) grid [" + grid + "] block [" + block + "] indices [a, b, c, d, e, f] { }", "x.te");
    });
  };
  CHECK(kernel("1, 1, 1", "1, 1, 1") == "");
  CHECK_THAT(kernel("1, 1", "1, 1, 1"), Contains("expected \",\""));
  CHECK_THAT(kernel("1, 1.0, 1", "1, 1, 1"), Contains("an extent of the grid is i64, not f32"));
  CHECK_THAT(kernel("1, 1, 1", "1, 0, 1"), Contains("the block's extent 1 is 0"));
}

TEST_CASE("deep nesting is refused long before the stack ends") {
  auto nested = [](const std::string& open, const std::string& inner, const std::string& close, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += open;
    text += inner;
    for (int i = 0; i < times; ++i) text += close;
    return text;
  };
  CHECK(refused_body(nested("(", "A[i]", ")", 100)) == "");
  CHECK_THAT(refused_body(nested("(", "A[i]", ")", 100000)), Contains("nested more than 400 deep"));
  CHECK_THAT(refused_body(nested("-", "A[i]", "", 100000)), Contains("nested more than 400 deep"));
  CHECK_THAT(refused_body(nested("sqrt(", "A[i]", ")", 100000)), Contains("nested more than 400 deep"));
  CHECK_THAT(refused_body(nested("A[i64(", "0.0", ")]", 100000)), Contains("nested more than 400 deep"));
  CHECK(refused_body("A[i]" + nested(" + A[i]", "", "", 900)) == "");
  CHECK_THAT(refused_body("A[i]" + nested(" + A[i]", "", "", 100000)), Contains("expression: nested more than 1000 deep"));
  // A long chain inside each of many parentheses: either alone would pass.
  const std::string chain = nested(" + A[i]", "", "", 500);
  CHECK_THAT(refused_body(nested("(", "A[i]", chain + ")", 300)), Contains("nested more than 1000 deep"));
  const std::string loops = nested("for i in 0 .. 2 { ", "", "}", 100000);
  CHECK_THAT(error_message([&] { parse_function("function f() { " + loops + "}", "x.te"); }), Contains("nested more than 400 deep"));
}

TEST_CASE("the tallest expression that is allowed goes through everything") {
  const std::string text = "function f<n>(A: f32[n], out C)\nC[i: n] = A[i]" + [] {
    std::string chain;
    for (int i = 0; i < 990; ++i) chain += " + A[i]";
    return chain;
  }();
  const Program p = parse_program(text);
  CHECK(equal(p, parse_program(to_string(p))));
}
