#include "runtime/base/shape_expr.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "runtime/base/error.h"

namespace lathe {
namespace {

constexpr size_t max_depth = 64;  // of the evaluation stack: it lives on the host's stack, no allocation a launch

enum class Style : uint8_t { leaf, infix, call };

struct ShapeOpRow {
  ShapeOp op;
  uint8_t operands;
  Style style;
  std::string_view text;
};

// In the order of the enum.
constexpr ShapeOpRow shape_op_rows[] = {
    {ShapeOp::constant, 0, Style::leaf, "constant"},
    {ShapeOp::symbol, 0, Style::leaf, "symbol"},
    {ShapeOp::add, 2, Style::infix, "+"},
    {ShapeOp::sub, 2, Style::infix, "-"},
    {ShapeOp::mul, 2, Style::infix, "*"},
    {ShapeOp::floor_div, 2, Style::infix, "/"},
    {ShapeOp::floor_mod, 2, Style::infix, "%"},
    {ShapeOp::min, 2, Style::call, "min"},
    {ShapeOp::max, 2, Style::call, "max"},
    {ShapeOp::eq, 2, Style::infix, "=="},
    {ShapeOp::ne, 2, Style::infix, "!="},
    {ShapeOp::lt, 2, Style::infix, "<"},
    {ShapeOp::le, 2, Style::infix, "<="},
    {ShapeOp::gt, 2, Style::infix, ">"},
    {ShapeOp::ge, 2, Style::infix, ">="},
    {ShapeOp::logical_and, 2, Style::infix, "&&"},
    {ShapeOp::logical_or, 2, Style::infix, "||"},
    {ShapeOp::logical_not, 1, Style::call, "!"},
    {ShapeOp::select, 3, Style::call, "select"},
};

const ShapeOpRow* find_row(ShapeOp op) {
  const auto index = static_cast<size_t>(op);
  return index < std::size(shape_op_rows) ? &shape_op_rows[index] : nullptr;
}

[[noreturn]] void fail(std::string what) { throw Error("shape expression", std::move(what)); }

int64_t divide(int64_t a, int64_t b, bool want_remainder) {
  const char* text = want_remainder ? " % " : " / ";
  if (b == 0) fail(std::to_string(a) + text + "0 divides by zero");
  if (b == -1) {  // the one quotient that does not fit is INT64_MIN / -1
    if (want_remainder) return 0;
    int64_t negated;
    if (__builtin_sub_overflow(int64_t{0}, a, &negated)) fail(std::to_string(a) + text + "-1 overflows 64 bits");
    return negated;
  }
  const int64_t remainder = a % b;
  const bool round_down = remainder != 0 && (remainder < 0) != (b < 0);
  if (want_remainder) return round_down ? remainder + b : remainder;
  return a / b - (round_down ? 1 : 0);
}

// `v` holds the operands in order.
int64_t apply_op(const ShapeOpRow& row, const int64_t* v) {
  const int64_t a = v[0], b = row.operands > 1 ? v[1] : 0;
  int64_t result = 0;
  auto checked = [&](bool overflow) {
    if (overflow)
      fail(std::to_string(a) + " " + std::string(row.text) + " " + std::to_string(b) + " overflows 64 bits");
    return result;
  };
  switch (row.op) {
    case ShapeOp::constant:
    case ShapeOp::symbol: break;  // no operands: evaluate() pushes them itself
    case ShapeOp::add: return checked(__builtin_add_overflow(a, b, &result));
    case ShapeOp::sub: return checked(__builtin_sub_overflow(a, b, &result));
    case ShapeOp::mul: return checked(__builtin_mul_overflow(a, b, &result));
    case ShapeOp::floor_div: return divide(a, b, false);
    case ShapeOp::floor_mod: return divide(a, b, true);
    case ShapeOp::min: return std::min(a, b);
    case ShapeOp::max: return std::max(a, b);
    case ShapeOp::eq: return a == b;
    case ShapeOp::ne: return a != b;
    case ShapeOp::lt: return a < b;
    case ShapeOp::le: return a <= b;
    case ShapeOp::gt: return a > b;
    case ShapeOp::ge: return a >= b;
    case ShapeOp::logical_and: return a && b;
    case ShapeOp::logical_or: return a || b;
    case ShapeOp::logical_not: return !a;
    case ShapeOp::select: return a ? b : v[2];
  }
  fail("unknown operation " + std::to_string(static_cast<int>(row.op)));
}

}  // namespace

ShapeExpr ShapeExpr::apply(ShapeOp op, std::initializer_list<ShapeExpr> operands) {
  const ShapeOpRow* row = find_row(op);
  if (!row || row->style == Style::leaf || operands.size() != row->operands)
    fail("operation " + (row ? std::string(row->text) : std::to_string(static_cast<int>(op))) + " does not take " +
         std::to_string(operands.size()) + " operands");
  ShapeExpr result;
  for (const ShapeExpr& operand : operands)
    result.steps.insert(result.steps.end(), operand.steps.begin(), operand.steps.end());
  result.steps.push_back({op, 0});
  return result;
}

std::string why_malformed(const ShapeExpr& expr, size_t symbol_count) {
  size_t depth = 0;
  for (size_t i = 0; i < expr.steps.size(); ++i) {
    const ShapeStep& step = expr.steps[i];
    const std::string place = "step " + std::to_string(i) + ": ";
    const ShapeOpRow* row = find_row(step.op);
    if (!row) return place + "unknown operation " + std::to_string(static_cast<int>(step.op));
    if (step.op == ShapeOp::symbol && (step.value < 0 || static_cast<uint64_t>(step.value) >= symbol_count))
      return place + "symbol " + std::to_string(step.value) + " of " + std::to_string(symbol_count);
    if (depth < row->operands)
      return place + std::string(row->text) + " takes " + std::to_string(row->operands) + " operands, " +
             std::to_string(depth) + " are there";
    depth += 1 - row->operands;
    if (depth > max_depth) return place + "more than " + std::to_string(max_depth) + " values at once";
  }
  if (depth != 1) return std::to_string(depth) + " results instead of one";
  return "";
}

int64_t evaluate(const ShapeExpr& expr, std::span<const int64_t> symbols) {
  std::array<int64_t, max_depth> stack;
  size_t depth = 0;
  for (const ShapeStep& step : expr.steps) {
    const ShapeOpRow* row = find_row(step.op);
    if (!row || depth < row->operands || depth + 1 - row->operands > max_depth ||
        (step.op == ShapeOp::symbol && (step.value < 0 || static_cast<uint64_t>(step.value) >= symbols.size())))
      fail("malformed, " + why_malformed(expr, symbols.size()));
    depth -= row->operands;
    int64_t value;
    if (step.op == ShapeOp::constant) value = step.value;
    else if (step.op == ShapeOp::symbol) value = symbols[static_cast<size_t>(step.value)];
    else value = apply_op(*row, &stack[depth]);
    stack[depth++] = value;
  }
  if (depth != 1) fail("malformed, " + why_malformed(expr, symbols.size()));
  return stack[0];
}

std::string to_string(const ShapeExpr& expr, std::span<const std::string> symbol_names) {
  if (std::string why = why_malformed(expr, symbol_names.size()); !why.empty()) return "<malformed: " + why + ">";
  struct Text {
    std::string text;
    bool is_infix;
  };
  std::vector<Text> stack;
  for (const ShapeStep& step : expr.steps) {
    const ShapeOpRow* row = find_row(step.op);
    const size_t first = stack.size() - row->operands;
    Text result{"", row->style == Style::infix};
    switch (row->style) {
      case Style::leaf:
        result.text = step.op == ShapeOp::constant ? std::to_string(step.value)
                                                   : symbol_names[static_cast<size_t>(step.value)];
        break;
      case Style::infix: {
        auto wrapped = [](const Text& t) { return t.is_infix ? "(" + t.text + ")" : t.text; };
        result.text = wrapped(stack[first]) + " " + std::string(row->text) + " " + wrapped(stack[first + 1]);
        break;
      }
      case Style::call:
        result.text = std::string(row->text) + "(";
        for (size_t i = first; i < stack.size(); ++i) result.text += (i == first ? "" : ", ") + stack[i].text;
        result.text += ")";
        break;
    }
    stack.resize(first);
    stack.push_back(std::move(result));
  }
  return stack[0].text;
}

}  // namespace lathe
