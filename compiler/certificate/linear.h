// Linear constraints on integers, and a quick proof that no integers satisfy them: the Omega test (Pugh, 1991) without
// its splinters. Some tens of microseconds where isl takes some hundreds; what it cannot prove is isl's to say.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace lathe::certificate {

// A sum that leaves 64 bits: thrown by all of these, and by no one else caught than the one who asks a question.
struct Overflow {};

// Sum of coefficient · variable, in order of variables and with no zeros, plus a constant.
struct Linear {
  std::vector<std::pair<int, int64_t>> terms;
  int64_t constant = 0;
  auto operator<=>(const Linear&) const = default;
};
Linear operator+(const Linear& a, const Linear& b);
Linear operator-(const Linear& a, const Linear& b);
Linear operator*(const Linear& a, int64_t k);

struct LinearSystem {
  std::vector<Linear> zero, at_least_zero;
};
// true: no integers satisfy all of `s`. false: perhaps some do.
bool has_no_solution(const LinearSystem& s);

}  // namespace lathe::certificate
