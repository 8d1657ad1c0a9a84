// Every operator and conversion, on every type, run on the emulated GPU against the host's Scalar arithmetic.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "elements.h"
#include "gpu.h"
#include "kernels.h"
#include "runtime/base/error.h"

namespace lathe::test {
namespace {

// The targets that the emulated GPU runs. LATHE_TEST_TARGETS=gfx906 narrows them.
std::vector<std::string> targets() {
  if (const char* one = std::getenv("LATHE_TEST_TARGETS")) return {one};
  return {"gfx906", "gfx942", "gfx1100"};
}

std::string show(Scalar v, DType type) {
  char text[64];
  if (type.is_float()) std::snprintf(text, sizeof text, "%a (%.9g)", v.real, v.real);
  else std::snprintf(text, sizeof text, "%lld", static_cast<long long>(v.integer));
  return text;
}

// A kernel, its inputs element by element, and what each result must be.
struct Case {
  std::string name;
  Kernel kernel;
  std::vector<DType> input_types;
  DType output;
  std::vector<std::vector<Scalar>> inputs;  // of each element
  std::function<Scalar(const std::vector<Scalar>&)> expected;
  // Largest distance from the expected value in units of the last place; 0: the very value.
  int64_t tolerance = 0;
};

// `lanes` above 1: as vectors; the inputs are filled up to whole vectors.
Case make_case(std::string name, std::vector<DType> types, DType output,
               std::function<Expr(const std::vector<Expr>&)> body, std::vector<std::vector<Scalar>> inputs,
               std::function<Scalar(const std::vector<Scalar>&)> expected, int lanes = 1) {
  Case c;
  Elementwise spec{name, types, output, std::move(body)};
  spec.lanes = lanes;
  while (inputs.size() % lanes) inputs.push_back(inputs[0]);
  c.kernel = elementwise(spec);
  c.name = std::move(name);
  c.input_types = std::move(types);
  c.output = output;
  c.inputs = std::move(inputs);
  c.expected = std::move(expected);
  return c;
}

std::vector<std::vector<Scalar>> combinations(const std::vector<std::vector<Scalar>>& axes) {
  std::vector<std::vector<Scalar>> all{{}};
  for (const auto& axis : axes) {
    std::vector<std::vector<Scalar>> next;
    for (const auto& prefix : all)
      for (const Scalar& v : axis) {
        next.push_back(prefix);
        next.back().push_back(v);
      }
    all = std::move(next);
  }
  return all;
}

int64_t largest_error = 0;  // of the last case with a tolerance

// Runs all cases from one code object a target.
void run(const std::string& group, const std::vector<Case>& cases) {
  for (const std::string& name : targets()) {
    const std::unique_ptr<Gpu> gpu = Gpu::open(name);
    if (!gpu) {
      WARN("no emulated GPU: skipped");
      return;
    }
    std::vector<Kernel> kernels;
    for (const Case& c : cases) kernels.push_back(c.kernel);
    const CompiledModule module = compile_kernels(kernels, parse_target(name), group);
    int failed_cases = 0;
    for (const Case& c : cases) {
      std::vector<Gpu::Buffer> buffers(c.input_types.size() + 1);
      for (const auto& element : c.inputs)
        for (size_t i = 0; i < element.size(); ++i) append_element(buffers[i].bytes, element[i], c.input_types[i]);
      const auto n = static_cast<int64_t>(c.inputs.size());
      buffers.back().bytes.assign(n * c.output.bytes(), 0xaa);
      try {
        gpu->launch(module.code_object, c.name, buffers, {n}, {(n + 63) / 64, 1, 1}, {64, 1, 1});
      } catch (const Error& error) {
        ++failed_cases;
        FAIL_CHECK(group << " " << c.name << " on " << name << ": " << error.what());
        continue;
      }
      int wrong = 0;
      largest_error = 0;
      for (int64_t i = 0; i < n; ++i) {
        const Scalar got = read_element(buffers.back().bytes, i, c.output), want = c.expected(c.inputs[i]);
        bool ok = same_value(got, want, c.output);
        if (!ok && c.tolerance > 0) {
          const int64_t distance = ulp_distance(got.real, want.real, c.output);
          largest_error = std::max(largest_error, distance);
          ok = distance <= c.tolerance;
        }
        if (ok || ++wrong > 3) continue;
        std::string operands;
        for (size_t k = 0; k < c.inputs[i].size(); ++k) operands += " " + show(c.inputs[i][k], c.input_types[k]);
        FAIL_CHECK(group << " " << c.name << " on " << name << ":" << operands << " gives " << show(got, c.output)
                         << ", not " << show(want, c.output));
      }
      if (wrong) FAIL_CHECK(group << " " << c.name << " on " << name << ": " << wrong << " of " << n << " are wrong");
      if (c.tolerance > 0) INFO(c.name << " on " << name << ": at most " << largest_error << " ulp");
      if (c.tolerance > 0 && std::getenv("LATHE_TEST_SHOW_ULP"))
        std::printf("%-8s %-10s %lld ulp\n", name.c_str(), c.name.c_str(), static_cast<long long>(largest_error));
      CHECK(wrong == 0);
    }
  }
}

bool takes(const OpRow& row, DType type) {
  switch (row.typing) {
    case OpTyping::arithmetic: return !type.is_bool();
    case OpTyping::integer: return type.is_int() || (type.is_bool() && row.name.substr(0, 3) == "bit");
    case OpTyping::floating: case OpTyping::classify: return type.is_float();
    case OpTyping::compare: return true;
    case OpTyping::logical: return type.is_bool();
    case OpTyping::select: return true;
  }
  return false;
}

bool is_function(Op op) {
  return op >= Op::exp && op <= Op::erf;
}

// The result as the host computes it. 1/sqrt is two operations, each rounded, of at least f32 (see the README).
Scalar host(Op op, DType type, const std::vector<Scalar>& x) {
  if (op == Op::rsqrt) {
    const DType wide = type.bits < 32 ? f32 : type;
    const Scalar root = apply_scalar(Op::sqrt, wide, x);
    const Scalar quotient[] = {{0, 1.0}, root};
    return round_real(apply_scalar(Op::div, wide, quotient).real, type);
  }
  return apply_scalar(op, type, x);
}

void run_operators(DType type, int lanes = 1) {
  std::vector<Case> cases;
  for (int index = 0; index < static_cast<int>(std::size(op_rows)); ++index) {
    const Op op = static_cast<Op>(index);
    const OpRow& row = op_rows[index];
    if (!takes(row, type) || is_function(op)) continue;
    const bool gives_bool =
        row.typing == OpTyping::compare || row.typing == OpTyping::logical || row.typing == OpTyping::classify;
    std::vector<DType> types(row.arity, type);
    if (op == Op::select) types[0] = boolean;
    std::vector<std::vector<Scalar>> axes;
    for (size_t i = 0; i < types.size(); ++i)
      axes.push_back(types.size() == 1 ? special_values(type)
                     : types.size() == 2 && (i == 0 || type.bits > 8) ? special_values(type)
                                                                      : few_values(types[i]));
    cases.push_back(make_case(
        std::string(row.name), types, gives_bool ? boolean : type,
        [op](const std::vector<Expr>& x) { return make_apply(op, x); }, combinations(axes),
        [op, type](const std::vector<Scalar>& x) { return host(op, type, x); }, lanes));
  }
  run(to_string(type.with_lanes(lanes)), cases);
}

TEST_CASE("operators on bool") { run_operators(boolean); }
TEST_CASE("operators on i8") { run_operators(i8); }
TEST_CASE("operators on i16") { run_operators(i16); }
TEST_CASE("operators on i32") { run_operators(i32); }
TEST_CASE("operators on i64") { run_operators(i64); }
TEST_CASE("operators on u8") { run_operators(u8); }
TEST_CASE("operators on u16") { run_operators(u16); }
TEST_CASE("operators on u32") { run_operators(u32); }
TEST_CASE("operators on u64") { run_operators(u64); }
TEST_CASE("operators on f64") { run_operators(f64); }
TEST_CASE("operators on f32") { run_operators(f32); }
TEST_CASE("operators on f16") { run_operators(f16); }
TEST_CASE("operators on bf16") { run_operators(bf16); }
TEST_CASE("operators on f8e4m3fn") { run_operators(f8e4m3fn); }
TEST_CASE("operators on f8e5m2") { run_operators(f8e5m2); }
TEST_CASE("operators on f8e4m3fnuz") { run_operators(f8e4m3fnuz); }
TEST_CASE("operators on f8e5m2fnuz") { run_operators(f8e5m2fnuz); }

TEST_CASE("operators on vectors of i32") { run_operators(i32, 4); }
TEST_CASE("operators on vectors of u8") { run_operators(u8, 8); }
TEST_CASE("operators on vectors of i64") { run_operators(i64, 2); }
TEST_CASE("operators on vectors of f64") { run_operators(f64, 2); }
TEST_CASE("operators on vectors of f32") { run_operators(f32, 3); }
TEST_CASE("operators on vectors of f16") { run_operators(f16, 8); }
TEST_CASE("operators on vectors of bf16") { run_operators(bf16, 4); }
TEST_CASE("operators on vectors of f8e5m2") { run_operators(f8e5m2, 4); }

void run_conversions(int lanes) {
  for (const DTypeRow& from : dtype_rows) {
    std::vector<Case> cases;
    for (const DTypeRow& to : dtype_rows) {
      std::vector<std::vector<Scalar>> inputs = combinations({special_values(from.type)});
      cases.push_back(make_case(
          "to_" + std::string(to.name), {from.type}, to.type,
          [&to](const std::vector<Expr>& x) { return make_cast(to.type, x[0]); }, inputs,
          [&](const std::vector<Scalar>& x) { return cast_scalar(x[0], from.type, to.type); }, lanes));
    }
    run(to_string(from.type.with_lanes(lanes)), cases);
  }
}

TEST_CASE("conversions from every type to every type") { run_conversions(1); }
TEST_CASE("conversions of vectors") { run_conversions(4); }

// Division by constants takes other paths than division by a variable.
TEST_CASE("integer division by constants") {
  for (DType type : {i32, i64, u32}) {
    std::vector<Case> cases;
    for (int64_t divisor : {1, 2, 3, 7, 16, 100, -1, -2, -7}) {
      if (divisor < 0 && !type.is_signed()) continue;
      for (Op op : {Op::div, Op::mod, Op::trunc_div, Op::trunc_mod})
        cases.push_back(make_case(
            std::string(op_row(op).name) + (divisor < 0 ? "_minus_" : "_") + std::to_string(std::abs(divisor)), {type},
            type, [=](const std::vector<Expr>& x) { return make_apply(op, {x[0], constant(type, divisor)}); },
            combinations({special_values(type)}),
            [=](const std::vector<Scalar>& x) {
              const Scalar operands[] = {x[0], {divisor, 0}};
              return apply_scalar(op, type, operands);
            }));
    }
    run(to_string(type) + " by constants", cases);
  }
}

// The device math library, within one unit in the last place over these values (LATHE_TEST_SHOW_ULP=1 prints each).
TEST_CASE("math functions") {
  for (DType type : {f16, bf16, f32, f64}) {
    std::vector<Case> cases;
    for (int index = static_cast<int>(Op::exp); index <= static_cast<int>(Op::erf); ++index) {
      const Op op = static_cast<Op>(index);
      std::vector<DType> types(op_row(op).arity, type);
      std::vector<std::vector<Scalar>> axes(types.size(), special_values(type));
      cases.push_back(make_case(
          std::string(op_row(op).name), types, type, [op](const std::vector<Expr>& x) { return make_apply(op, x); },
          combinations(axes), [op, type](const std::vector<Scalar>& x) { return apply_scalar(op, type, x); }));
      cases.back().tolerance = 1;
    }
    run("math " + to_string(type), cases);
  }
}

}  // namespace
}  // namespace lathe::test
