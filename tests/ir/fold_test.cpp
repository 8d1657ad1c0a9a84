// Folding and simplification never change a value: random small expressions, built once with numbers in place of the
// variables (so that everything folds), and once with variables that the evaluator reads from arrays.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "ir/print.h"
#include "ir/scalar.h"
#include "ir/tensor.h"
#include "runtime/base/error.h"
#include "tests/ir/arrays.h"

using namespace lathe;

namespace {

const DType types[] = {i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, f8e4m3fn, f8e5m2, boolean};

// A recipe for an expression, so that it can be built twice.
struct Recipe {
  enum Kind { variable, literal, apply, convert } kind;
  DType type;
  int variable_index = 0;
  Scalar value;
  Op op{};
  std::vector<Recipe> args;
};

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  Recipe make(DType type, int depth) {
    const int choice = static_cast<int>(random_() % 8);
    if (depth == 0 || choice == 0) return {Recipe::variable, type, static_cast<int>(random_() % 2), {}, {}, {}};
    if (choice == 1) return {Recipe::literal, type, 0, value(type), {}, {}};
    if (choice == 2) return {Recipe::convert, type, 0, {}, {}, {make(any_type(), depth - 1)}};
    while (true) {
      const auto op = static_cast<Op>(random_() % std::size(op_rows));
      DType operand = type;
      switch (op_row(op).typing) {
        case OpTyping::arithmetic: if (type.is_bool()) continue; break;
        case OpTyping::integer:
          if (type.is_float() || (type.is_bool() && (op == Op::shl || op == Op::shr || op == Op::trunc_div))) continue;
          break;
        case OpTyping::floating: if (!type.is_float()) continue; break;
        case OpTyping::compare:
          if (!type.is_bool()) continue;
          operand = any_type();
          break;
        case OpTyping::logical: if (!type.is_bool()) continue; break;
        case OpTyping::select: break;
        case OpTyping::classify:
          if (!type.is_bool()) continue;
          operand = f32;
          break;
      }
      Recipe r{Recipe::apply, type, 0, {}, op, {}};
      for (int i = 0; i < op_row(op).arity; ++i)
        r.args.push_back(make(op == Op::select && i == 0 ? boolean : operand, depth - 1));
      return r;
    }
  }

  Scalar value(DType type) {
    if (type.is_float()) {
      static const double special[] = {0.0, -0.0, 1, -1, 0.5, 2, 1e-40, 3e38, INFINITY, -INFINITY, NAN, 127.5, -128.5};
      if (random_() % 2) return round_real(special[random_() % std::size(special)], type);
      return round_real(std::ldexp(static_cast<double>(random_() % 2000) - 1000, static_cast<int>(random_() % 16) - 8), type);
    }
    static const int64_t special[] = {0, 1, -1, 2, 3, 7, 64, 127, -128, 255, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX};
    return wrap_integer(special[random_() % std::size(special)], type);
  }
  DType any_type() { return types[random_() % std::size(types)]; }

 private:
  std::mt19937 random_;
};

Expr literal(DType type, Scalar v) { return type.is_float() ? constant(type, v.real) : constant(type, v.integer); }

// `variables(type, index)` is what stands for a variable.
template <class F>
Expr build(const Recipe& r, F variables) {
  switch (r.kind) {
    case Recipe::variable: return variables(r.type, r.variable_index);
    case Recipe::literal: return literal(r.type, r.value);
    case Recipe::convert: return make_cast(r.type, build(r.args[0], variables));
    case Recipe::apply: {
      std::vector<Expr> args;
      for (const Recipe& a : r.args) args.push_back(build(a, variables));
      return make_apply(r.op, args);
    }
  }
  return {};
}

int index_of(DType type) {
  for (size_t i = 0; i < std::size(types); ++i)
    if (types[i] == type) return static_cast<int>(i);
  return -1;
}

}  // namespace

TEST_CASE("folded, simplified and evaluated expressions have one value") {
  int compared = 0;
  for (unsigned seed = 1; seed <= 6000; ++seed) {
    Maker maker(seed);
    const DType type = maker.any_type();
    const Recipe recipe = maker.make(type, 4);

    std::vector<Tensor> inputs;
    std::vector<std::vector<uint64_t>> memory;
    std::vector<Scalar> values;
    for (DType t : types)
      for (int v = 0; v < 2; ++v) {
        inputs.push_back(placeholder({}, t, to_string(t) + "_" + std::to_string(v)));
        values.push_back(maker.value(t));
        const uint64_t bits = t.is_float() ? encode_float(values.back().real, t) : static_cast<uint64_t>(values.back().integer);
        memory.push_back({bits});
      }
    Expr with_loads, with_numbers;
    try {
      with_loads = build(recipe, [&](DType t, int v) { return inputs[static_cast<size_t>(index_of(t) * 2 + v)].at({}); });
      with_numbers = build(recipe, [&](DType t, int v) { return literal(t, values[static_cast<size_t>(index_of(t) * 2 + v)]); });
    } catch (const Error&) {
      continue;  // a division by a constant zero, or a literal that does not fit
    }
    INFO("seed " << seed << ": " << to_string(with_loads));
    REQUIRE(((with_numbers->kind == ExprKind::integer) || (with_numbers->kind == ExprKind::real)));
    Tensor out = compute({}, [&] { return with_loads; }, "result");
    std::vector<Tensor> arguments = inputs;
    arguments.push_back(out);
    std::vector<BufferView> views;
    for (size_t i = 0; i < inputs.size(); ++i)
      views.push_back({inputs[i].type(), {}, reinterpret_cast<std::byte*>(memory[i].data())});
    uint64_t result = 0;
    views.push_back({type, {}, reinterpret_cast<std::byte*>(&result)});
    evaluate(make_program("f", arguments), views);
    if (type.is_float()) {
      const double got = decode_float(result, type), expected = as<RealNode>(with_numbers)->value;
      if (std::isnan(expected))
        REQUIRE(std::isnan(got));
      else
        REQUIRE(std::bit_cast<uint64_t>(got) == std::bit_cast<uint64_t>(expected));
    } else {
      REQUIRE(wrap_integer(static_cast<int64_t>(result), type).integer == *as_constant(with_numbers));
    }
    ++compared;
  }
  CHECK(compared > 4000);
}

TEST_CASE("simplification of i64 sums and products") {
  const Var x("x"), y("y");
  auto text = [](const Expr& e) { return to_string(e); };
  CHECK(text(x + 0) == "x");
  CHECK(text(Expr(0) + x) == "x");
  CHECK(text(x * 1) == "x");
  CHECK(text(x * 0) == "0");
  CHECK(text(x - x) == "0");
  CHECK(text((x + 3) + 4) == "x + 7");
  CHECK(text((x + 3) - 3) == "x");
  CHECK(text(x - 1) == "x - 1");
  CHECK(text((x * 3) * 4) == "x * 12");
  CHECK(text(Expr(5) + x) == "x + 5");
  CHECK(text(x / 1) == "x");
  CHECK(text(x % 1) == "0");
  CHECK(text(min(Expr(x), Expr(x))) == "x");
  CHECK(text(select(true_(), x, y)) == "x");
  CHECK(text((x < y) && true_()) == "x < y");
  CHECK(text((x < y) || true_()) == "true");
  CHECK(text(x + INT64_MIN) == "x + -9223372036854775808");
}

TEST_CASE("float expressions are not simplified: x + 0 and x * 0 have values of their own") {
  const Var x("x", f32);
  CHECK(to_string(x + 0.0f) == "x + 0.0");
  CHECK(to_string(x * 0.0f) == "x * 0.0");
  CHECK(to_string(x - x) == "x - x");
  CHECK(to_string(x * 1.0f) == "x * 1.0");
}
