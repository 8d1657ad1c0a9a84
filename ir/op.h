// The operators of the expression language, one row each: its name in text, how many operands it takes,
// how it prints, and how its result is typed. Printer, parser, evaluator and code generation read this table.
#pragma once

#include <cstdint>
#include <string_view>

namespace lathe {

// How an operator is written in text.
enum class OpForm : uint8_t {
  infix,   // a + b
  prefix,  // -a, !a
  call,    // min(a, b)
};

// Which operand types an operator takes, and what it gives.
enum class OpTyping : uint8_t {
  arithmetic,  // all operands of one numeric type, which is also the result's
  integer,     // all operands of one integer type (or bool, for the bit operators), the result's too
  floating,    // all operands of one float type, the result's too
  compare,     // operands of one type, a bool results
  logical,     // bools, a bool results
  select,      // (bool, T, T) -> T; the branch not taken is not evaluated
  classify,    // float -> bool
};

// X(name, text, arity, form, precedence, typing); a higher precedence binds tighter.
// Meanings are those of DESIGN.md's numerics contract: div and mod of integers round toward negative infinity,
// min and max propagate NaN, fmin and fmax ignore it, round is half to even.
#define LATHE_OPS(X)                                    \
  X(logical_or, "||", 2, infix, 1, logical)             \
  X(logical_and, "&&", 2, infix, 2, logical)            \
  X(bit_or, "|", 2, infix, 3, integer)                  \
  X(bit_xor, "^", 2, infix, 4, integer)                 \
  X(bit_and, "&", 2, infix, 5, integer)                 \
  X(eq, "==", 2, infix, 6, compare)                     \
  X(ne, "!=", 2, infix, 6, compare)                     \
  X(lt, "<", 2, infix, 7, compare)                      \
  X(le, "<=", 2, infix, 7, compare)                     \
  X(gt, ">", 2, infix, 7, compare)                      \
  X(ge, ">=", 2, infix, 7, compare)                     \
  X(shl, "<<", 2, infix, 8, integer)                    \
  X(shr, ">>", 2, infix, 8, integer)                    \
  X(add, "+", 2, infix, 9, arithmetic)                  \
  X(sub, "-", 2, infix, 9, arithmetic)                  \
  X(mul, "*", 2, infix, 10, arithmetic)                 \
  X(div, "/", 2, infix, 10, arithmetic)                 \
  X(mod, "%", 2, infix, 10, arithmetic)                 \
  X(neg, "-", 1, prefix, 11, arithmetic)                \
  X(logical_not, "!", 1, prefix, 11, logical)           \
  X(bit_not, "~", 1, prefix, 11, integer)               \
  X(trunc_div, "trunc_div", 2, call, 12, integer)       \
  X(trunc_mod, "trunc_mod", 2, call, 12, arithmetic)    \
  X(min, "min", 2, call, 12, arithmetic)                \
  X(max, "max", 2, call, 12, arithmetic)                \
  X(fmin, "fmin", 2, call, 12, floating)                \
  X(fmax, "fmax", 2, call, 12, floating)                \
  X(select, "select", 3, call, 12, select)              \
  X(fma, "fma", 3, call, 12, floating)                  \
  X(abs, "abs", 1, call, 12, arithmetic)                \
  X(sqrt, "sqrt", 1, call, 12, floating)                \
  X(rsqrt, "rsqrt", 1, call, 12, floating)              \
  X(floor, "floor", 1, call, 12, floating)              \
  X(ceil, "ceil", 1, call, 12, floating)                \
  X(round, "round", 1, call, 12, floating)              \
  X(trunc, "trunc", 1, call, 12, floating)              \
  X(exp, "exp", 1, call, 12, floating)                  \
  X(exp2, "exp2", 1, call, 12, floating)                \
  X(log, "log", 1, call, 12, floating)                  \
  X(log2, "log2", 1, call, 12, floating)                \
  X(pow, "pow", 2, call, 12, floating)                  \
  X(sin, "sin", 1, call, 12, floating)                  \
  X(cos, "cos", 1, call, 12, floating)                  \
  X(tanh, "tanh", 1, call, 12, floating)                \
  X(erf, "erf", 1, call, 12, floating)                  \
  X(is_nan, "is_nan", 1, call, 12, classify)

enum class Op : uint8_t {
#define X(name, ...) name,
  LATHE_OPS(X)
#undef X
};

struct OpRow {
  std::string_view name, text;
  int arity;
  OpForm form;
  int precedence;
  OpTyping typing;
};

inline constexpr OpRow op_rows[] = {
#define X(name, text, arity, form, precedence, typing) \
  {#name, text, arity, OpForm::form, precedence, OpTyping::typing},
    LATHE_OPS(X)
#undef X
};

constexpr const OpRow& op_row(Op op) { return op_rows[static_cast<int>(op)]; }

}  // namespace lathe
