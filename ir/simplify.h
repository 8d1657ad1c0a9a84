// Integer expressions in a canonical linear form: like terms together, constants last, and divisions and remainders
// that the facts decide taken out.
#pragma once

#include <vector>

#include "ir/isl/facts.h"

namespace lathe {

// e = constant + sum of coefficient * term; no term is a sum, a constant or a product with a constant.
struct LinearForm {
  struct Term {
    Expr term;
    int64_t coefficient;
  };
  std::vector<Term> terms;  // in order of first appearance, no two equal, no coefficient 0
  int64_t constant = 0;
};

LinearForm linear_form(const Expr& e);
Expr to_expr(const LinearForm& form, DType type);

// The same value, simpler: every integer sum in linear form.
Expr simplify(const Expr& e);
// And with x / c and x % c resolved where `facts` bound the parts of x:  (t * 4 + v) / 8, 0 <= v < 4  →  t / 2
Expr simplify(const Expr& e, const Facts& facts);

// The conjuncts of a condition: a && b && c → {a, b, c}.
std::vector<Expr> conjuncts(const Expr& condition);
Expr conjunction(const std::vector<Expr>& conditions);  // true when there are none

}  // namespace lathe
