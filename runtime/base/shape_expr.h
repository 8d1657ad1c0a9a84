// Shape expressions: integers that depend on the shapes of a launch's arrays (extents, grid sizes, scratch
// sizes, promises). A package carries them as small postfix programs over the function's symbols, so that the
// runtime evaluates them without knowing the compiler's expressions.
//
//   ceil(n / 64)  is  symbol 0, constant 63, add, constant 64, floor_div
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace lathe {

// One row per operation in `shape_op_rows` (shape_expr.cpp): name, operands, meaning. The numbers are part of
// the package format: append, never renumber.
enum class ShapeOp : uint8_t {
  constant = 0,  // pushes step.value
  symbol = 1,    // pushes symbols[step.value]
  add = 2,
  sub = 3,
  mul = 4,
  floor_div = 5,  // rounds toward negative infinity; a zero divisor is an Error
  floor_mod = 6,  // has the divisor's sign; a zero divisor is an Error
  min = 7,
  max = 8,
  eq = 9,  // comparisons and logic give 0 or 1; anything but 0 is true
  ne = 10,
  lt = 11,
  le = 12,
  gt = 13,
  ge = 14,
  logical_and = 15,
  logical_or = 16,
  logical_not = 17,
  select = 18,  // condition, if true, if false; all three are evaluated
};

struct ShapeStep {
  ShapeOp op = ShapeOp::constant;
  int64_t value = 0;  // of a constant; the index of a symbol; else 0
  bool operator==(const ShapeStep&) const = default;
};

struct ShapeExpr {
  std::vector<ShapeStep> steps;  // empty: no expression (an absent condition)

  static ShapeExpr constant(int64_t value) { return {{{ShapeOp::constant, value}}}; }
  static ShapeExpr symbol(int64_t index) { return {{{ShapeOp::symbol, index}}}; }
  // `op` applied to its operands in order: apply(ShapeOp::add, {a, b}). Throws Error on a wrong count.
  static ShapeExpr apply(ShapeOp op, std::initializer_list<ShapeExpr> operands);

  bool empty() const { return steps.empty(); }
  bool is_constant() const { return steps.size() == 1 && steps[0].op == ShapeOp::constant; }
  bool is_symbol() const { return steps.size() == 1 && steps[0].op == ShapeOp::symbol; }
  bool operator==(const ShapeExpr&) const = default;
};

// The value for the given symbols. Exact: overflow of 64 bits, a division by zero, a symbol out of range and a
// malformed program are Errors.
int64_t evaluate(const ShapeExpr& expr, std::span<const int64_t> symbols);

// Infix text, fully parenthesized but for the outermost: "(n + 63) / 64"; / and % are the floor forms.
std::string to_string(const ShapeExpr& expr, std::span<const std::string> symbol_names);

// Empty: a well-formed program over `symbol_count` symbols (every operand present, one result left, known
// operations, stack depth at most 64); else why not.
std::string why_malformed(const ShapeExpr& expr, size_t symbol_count);

}  // namespace lathe
