#include "runtime/base/shape_expr.h"

#include <catch2/catch.hpp>

#include "tests/error_message.h"

using namespace lathe;

static ShapeExpr number(int64_t v) { return ShapeExpr::constant(v); }
static ShapeExpr op(ShapeOp o, ShapeExpr a, ShapeExpr b) { return ShapeExpr::apply(o, {a, b}); }

TEST_CASE("shape expressions compute the grid of a split") {
  const ShapeExpr groups = op(ShapeOp::floor_div, op(ShapeOp::add, ShapeExpr::symbol(0), number(63)), number(64));
  const std::vector<std::string> names{"n"};
  CHECK(to_string(groups, names) == "(n + 63) / 64");
  for (auto [n, expected] : {std::pair<int64_t, int64_t>{0, 0}, {1, 1}, {64, 1}, {65, 2}, {1000003, 15626}})
    CHECK(evaluate(groups, std::vector{n}) == expected);
}

TEST_CASE("every operation of a shape expression") {
  struct Row {
    ShapeOp op;
    int64_t a, b, result;
    std::string text;
  };
  const Row rows[] = {
      {ShapeOp::add, 7, -9, -2, "7 + -9"},          {ShapeOp::sub, 7, 9, -2, "7 - 9"},
      {ShapeOp::mul, 7, -9, -63, "7 * -9"},         {ShapeOp::floor_div, 7, 2, 3, "7 / 2"},
      {ShapeOp::floor_div, -7, 2, -4, "-7 / 2"},    {ShapeOp::floor_div, 7, -2, -4, "7 / -2"},
      {ShapeOp::floor_div, -7, -2, 3, "-7 / -2"},   {ShapeOp::floor_div, -8, 2, -4, "-8 / 2"},
      {ShapeOp::floor_mod, -7, 2, 1, "-7 % 2"},     {ShapeOp::floor_mod, 7, -2, -1, "7 % -2"},
      {ShapeOp::floor_mod, -7, -2, -1, "-7 % -2"},  {ShapeOp::floor_mod, 8, 2, 0, "8 % 2"},
      {ShapeOp::floor_mod, INT64_MIN, -1, 0, "-9223372036854775808 % -1"},
      {ShapeOp::floor_div, 5, -1, -5, "5 / -1"},
      {ShapeOp::min, 3, -3, -3, "min(3, -3)"},      {ShapeOp::max, 3, -3, 3, "max(3, -3)"},
      {ShapeOp::eq, 3, 3, 1, "3 == 3"},             {ShapeOp::ne, 3, 3, 0, "3 != 3"},
      {ShapeOp::lt, 3, 3, 0, "3 < 3"},              {ShapeOp::le, 3, 3, 1, "3 <= 3"},
      {ShapeOp::gt, 4, 3, 1, "4 > 3"},              {ShapeOp::ge, 2, 3, 0, "2 >= 3"},
      {ShapeOp::logical_and, 2, 0, 0, "2 && 0"},    {ShapeOp::logical_or, 2, 0, 1, "2 || 0"},
  };
  for (const Row& row : rows) {
    const ShapeExpr e = op(row.op, number(row.a), number(row.b));
    CHECK(to_string(e, {}) == row.text);
    CHECK(evaluate(e, {}) == row.result);
  }
  CHECK(evaluate(ShapeExpr::apply(ShapeOp::logical_not, {number(5)}), {}) == 0);
  const ShapeExpr choice = ShapeExpr::apply(ShapeOp::select, {ShapeExpr::symbol(0), number(10), number(20)});
  CHECK(to_string(choice, std::vector<std::string>{"wide"}) == "select(wide, 10, 20)");
  CHECK(evaluate(choice, std::vector<int64_t>{1}) == 10);
  CHECK(evaluate(choice, std::vector<int64_t>{0}) == 20);
}

TEST_CASE("shape expressions refuse what has no exact value") {
  auto message = [](ShapeOp o, int64_t a, int64_t b) {
    return error_message([&] { evaluate(op(o, number(a), number(b)), {}); });
  };
  CHECK(message(ShapeOp::add, INT64_MAX, 1) == "shape expression: 9223372036854775807 + 1 overflows 64 bits");
  CHECK(message(ShapeOp::sub, INT64_MIN, 1) == "shape expression: -9223372036854775808 - 1 overflows 64 bits");
  CHECK(message(ShapeOp::mul, int64_t{1} << 62, 2) == "shape expression: 4611686018427387904 * 2 overflows 64 bits");
  CHECK(message(ShapeOp::floor_div, INT64_MIN, -1) ==
        "shape expression: -9223372036854775808 / -1 overflows 64 bits");
  CHECK(message(ShapeOp::floor_div, 3, 0) == "shape expression: 3 / 0 divides by zero");
  CHECK(message(ShapeOp::floor_mod, 3, 0) == "shape expression: 3 % 0 divides by zero");
}

TEST_CASE("malformed shape expressions are named, evaluated never") {
  struct Row {
    ShapeExpr expr;
    std::string why;
  };
  ShapeExpr deep = number(0);
  for (int i = 0; i < 64; ++i) deep.steps.insert(deep.steps.begin(), {ShapeOp::constant, 1});
  const Row rows[] = {
      {{}, "0 results instead of one"},
      {{{{ShapeOp::constant, 1}, {ShapeOp::constant, 2}}}, "2 results instead of one"},
      {{{{ShapeOp::constant, 1}, {ShapeOp::add, 0}}}, "step 1: + takes 2 operands, 1 are there"},
      {{{{ShapeOp::symbol, 1}}}, "step 0: symbol 1 of 1"},
      {{{{ShapeOp::symbol, -1}}}, "step 0: symbol -1 of 1"},
      {{{{static_cast<ShapeOp>(77), 0}}}, "step 0: unknown operation 77"},
      {deep, "step 64: more than 64 values at once"},
  };
  const std::vector<int64_t> symbols{5};
  for (const Row& row : rows) {
    CHECK(why_malformed(row.expr, 1) == row.why);
    CHECK(error_message([&] { evaluate(row.expr, symbols); }) == "shape expression: malformed, " + row.why);
  }
  CHECK(error_message([] { ShapeExpr::apply(ShapeOp::add, {number(1)}); }) ==
        "shape expression: operation + does not take 1 operands");
}
