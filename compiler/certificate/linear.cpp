// Equalities are solved for a variable and go; then variables go one by one, each pair of a lower and an upper bound
// giving a constraint on the rest (Fourier and Motzkin). Constraints are divided by what their coefficients have in
// common and the constant rounded inward, which is what makes this a proof about integers and not about fractions.
#include "compiler/certificate/linear.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace lathe::certificate {
namespace {

constexpr size_t most_rows = 300;  // beyond this isl is the quicker one

int64_t plus(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r) || r == INT64_MIN) throw Overflow{};
  return r;
}
int64_t times(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r) || r == INT64_MIN) throw Overflow{};
  return r;
}
int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// Coefficients of all variables, then the constant.
using Row = std::vector<int64_t>;

void add_multiple(Row& to, const Row& row, int64_t k) {
  for (size_t v = 0; v < to.size(); ++v)
    if (row[v]) to[v] = plus(to[v], times(row[v], k));
}
int64_t common_divisor(const Row& row) {
  int64_t g = 0;
  for (size_t v = 0; v + 1 < row.size(); ++v) g = std::gcd(g, row[v]);
  return g;
}

class Elimination {
 public:
  explicit Elimination(const LinearSystem& s) {
    std::map<int, size_t> columns;
    for (const auto* rows : {&s.zero, &s.at_least_zero})
      for (const Linear& l : *rows)
        for (const auto& [v, k] : l.terms) columns.emplace(v, 0);
    for (auto& [v, column] : columns) column = variables_++;
    const auto dense = [&](const Linear& l) {
      Row row(variables_ + 1, 0);
      for (const auto& [v, k] : l.terms) row[columns[v]] = k;
      row.back() = l.constant;
      return row;
    };
    for (const Linear& l : s.zero) zero_.push_back(dense(l));
    for (const Linear& l : s.at_least_zero) at_least_zero_.push_back(dense(l));
  }

  bool has_no_solution() {
    while (true) {
      if (!solve_equalities() || !tighten()) return true;
      if (!zero_.empty()) continue;  // two bounds met
      if (at_least_zero_.empty() || at_least_zero_.size() > most_rows || !eliminate()) return false;
    }
  }

 private:
  // Each equality goes with one variable; false: one has no solution.
  bool solve_equalities() {
    for (int steps = 0; !zero_.empty(); ++steps) {
      if (steps > 100) throw Overflow{};
      Row row = std::move(zero_.back());
      zero_.pop_back();
      const int64_t g = common_divisor(row);
      if (g == 0 || row.back() % g != 0) {
        if (row.back() != 0) return false;
        continue;
      }
      for (int64_t& k : row) k /= g;
      size_t least = variables_;
      for (size_t v = 0; v < variables_; ++v)
        if (row[v] && (least == variables_ || std::abs(row[v]) < std::abs(row[least]))) least = v;
      if (std::abs(row[least]) == 1) {
        for (auto* rows : {&zero_, &at_least_zero_})
          for (Row& r : *rows)
            if (r[least]) add_multiple(r, row, times(-r[least], row[least]));
        continue;
      }
      // No coefficient is 1: a new variable s in place of the one with the least, by which the others shrink. With
      // m = |k| + 1 and rest(x) = x - m · ⌊x / m + 1/2⌋ the equality says k/|k| · m · s = Σ rest(k_i) · x_i, where
      // rest(k) = -k/|k|.
      const int64_t m = plus(std::abs(row[least]), 1), sign = row[least] > 0 ? 1 : -1;
      Row x = row;
      for (int64_t& k : x) k = times(sign, plus(k, times(-m, floor_div(plus(times(2, k), m), times(2, m)))));
      x[least] = times(-sign, m);
      const auto replace = [&](Row& r) {
        const int64_t k = r[least];
        if (!k) return;
        r[least] = 0;
        add_multiple(r, x, k);
      };
      for (auto* rows : {&zero_, &at_least_zero_})
        for (Row& r : *rows) replace(r);
      replace(row);
      zero_.push_back(std::move(row));
    }
    return true;
  }

  // Divides and rounds, keeps the tightest of parallel ones, and makes equalities of bounds that meet; false: two bounds
  // contradict each other.
  bool tighten() {
    struct Range {
      std::optional<int64_t> least, most;
    };
    std::map<Row, Range> ranges;  // of sums whose first coefficient is positive, without a constant
    for (Row& row : at_least_zero_) {
      const int64_t g = common_divisor(row);
      if (g == 0) {
        if (row.back() < 0) return false;
        continue;
      }
      int64_t constant = floor_div(row.back(), g);
      row.pop_back();
      const bool upper = *std::find_if(row.begin(), row.end(), [](int64_t k) { return k != 0; }) < 0;
      for (int64_t& k : row) k = upper ? -(k / g) : k / g;
      Range& range = ranges[std::move(row)];
      if (upper) range.most = range.most ? std::min(*range.most, constant) : constant;
      else range.least = range.least ? std::max(*range.least, -constant) : -constant;
      if (range.least && range.most && *range.least > *range.most) return false;
    }
    at_least_zero_.clear();
    for (const auto& [row, range] : ranges) {
      const auto push = [&](std::vector<Row>& to, int64_t sign, int64_t constant) {
        Row& r = to.emplace_back(row);
        for (int64_t& k : r) k *= sign;
        r.push_back(constant);
      };
      if (range.least && range.most && *range.least == *range.most) {
        push(zero_, 1, -*range.least);
        continue;
      }
      if (range.least) push(at_least_zero_, 1, -*range.least);
      if (range.most) push(at_least_zero_, -1, *range.most);
    }
    return true;
  }

  // Takes the variable that makes the fewest rows out of them, and first those with which no fraction is let in: with
  // coefficients of 1 in all lower bounds, or in all upper ones. false: that would be too many rows.
  bool eliminate() {
    size_t best = variables_, best_cost = most_rows * most_rows;
    for (size_t v = 0; v < variables_; ++v) {
      size_t lower = 0, upper = 0;
      int64_t largest_lower = 0, largest_upper = 0;
      for (const Row& r : at_least_zero_) {
        lower += r[v] > 0, upper += r[v] < 0;
        largest_lower = std::max(largest_lower, r[v]), largest_upper = std::max(largest_upper, -r[v]);
      }
      if (lower + upper == 0) continue;
      const bool exact = lower == 0 || upper == 0 || largest_lower == 1 || largest_upper == 1;
      const size_t cost = lower * upper + most_rows - lower - upper + (exact ? 0 : 4);
      if (cost < best_cost) best = v, best_cost = cost;
    }
    if (best == variables_ || best_cost > 2 * most_rows) return false;
    std::vector<Row> rest, lower, upper;
    for (Row& r : at_least_zero_) (r[best] == 0 ? rest : r[best] > 0 ? lower : upper).push_back(std::move(r));
    for (const Row& l : lower)
      for (const Row& u : upper) {
        const int64_t g = std::gcd(l[best], u[best]);
        Row r(variables_ + 1, 0);
        add_multiple(r, l, -u[best] / g);
        add_multiple(r, u, l[best] / g);
        rest.push_back(std::move(r));
      }
    at_least_zero_ = std::move(rest);
    return true;
  }

  size_t variables_ = 0;
  std::vector<Row> zero_, at_least_zero_;
};

}  // namespace

Linear operator+(const Linear& a, const Linear& b) {
  Linear r;
  r.constant = plus(a.constant, b.constant);
  auto x = a.terms.begin(), y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->first < y->first)) r.terms.push_back(*x++);
    else if (x == a.terms.end() || y->first < x->first) r.terms.push_back(*y++);
    else {
      const int64_t k = plus(x->second, y->second);
      if (k) r.terms.emplace_back(x->first, k);
      ++x, ++y;
    }
  }
  return r;
}
Linear operator*(const Linear& a, int64_t k) {
  Linear r;
  if (k == 0) return r;
  r.constant = times(a.constant, k);
  for (const auto& [v, c] : a.terms) r.terms.emplace_back(v, times(c, k));
  return r;
}
Linear operator-(const Linear& a, const Linear& b) { return a + b * -1; }

bool has_no_solution(const LinearSystem& s) { return Elimination(s).has_no_solution(); }

}  // namespace lathe::certificate
