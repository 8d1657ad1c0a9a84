// For each group of writes a guess says which work-item writes an element, and in which iterations: indices are sums like
// bx · 64 + tx · 4 + lane, which a division takes apart. That the guess is right, and that it is allowed there, is asked
// of the refuter; where the guess does not do, isl is asked for the elements that no write reaches.
#include "compiler/certificate/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "ir/visit.h"

namespace lathe::certificate {
namespace {

constexpr size_t most_cells = 600;

// One guess, for all members of a group.
struct Guess {
  Substitution values;         // of the kernel's variables, by the element
  std::vector<Expr> rest;      // per dimension: what is left for the constants that members add
};

class Coverage {
 public:
  Coverage(const Tensor& t, const Var& lane, Questions& grid) : tensor_(t), lane_(lane), grid_(grid) {
    for (const Expr& extent : t.shape()) {
      element_.emplace_back("element");
      grid.space().share(element_.back());
      inside_.push_back(holds(element_.back() >= 0 && element_.back() < extent));
    }
  }

  bool guessed(const std::vector<const Access*>& writes) {
    const std::vector<Group> groups = groups_of(writes, lane_, grid_.refuter(), false);
    std::vector<Guess> guesses;
    Conditions misses;  // per group and member: it is not this one that writes the element
    size_t cells = 1;
    for (const Group& g : groups) {
      std::optional<Guess> guess = take_apart(g);
      if (!guess) return false;
      for (size_t m = 0; m < g.members.size(); ++m) {
        Substitution values = guess->values;
        Expr lane = constant(i64, int64_t{0});
        for (size_t d = 0; d < element_.size(); ++d)
          if (const auto& [least, most] = g.where[m].offset[d]; least != most) lane = guess->rest[d] - least;
        if (!values.count(lane_.node())) values[lane_.node()] = lane;
        misses.push_back(miss(*g.members[m], std::move(values)));
      }
      cells *= cells_of(g).size();
      if (cells > most_cells) return false;
      guesses.push_back(std::move(*guess));
    }
    const Conditions chosen = grid_.reached(nullptr, first) + inside_;
    return covered(groups, guesses, misses, 0, 0, chosen);
  }

  // The elements that no write reaches.
  Points missing(const std::vector<const Access*>& writes) {
    Points left = grid_.space().where(grid_.reached(nullptr, first) + inside_);
    for (const Access* w : writes) {
      Conditions reached = grid_.reached(w->domain, first);
      for (size_t d = 0; d < element_.size(); ++d) reached.push_back(equal(w->indices[d], first, element_[d], first));
      left = left - grid_.space().where(reached).without_copy(first);
      if (left.is_empty()) break;
    }
    return left;
  }

 private:
  // Every way in which constants can be met, group by group, with the members that add them.
  bool covered(const std::vector<Group>& groups, const std::vector<Guess>& guesses, const Conditions& misses, size_t group, size_t first_miss, const Conditions& chosen) {
    if (group == groups.size()) return grid_.excluded(chosen);
    const Group& g = groups[group];
    for (const Cell& cell : cells_of(g)) {
      Conditions here = chosen;
      for (size_t d = 0; d < cell.size(); ++d) {
        if (cell[d].first) here.push_back(holds(guesses[group].rest[d] >= *cell[d].first));
        if (cell[d].second) here.push_back(holds(guesses[group].rest[d] <= *cell[d].second));
      }
      for (size_t m = 0; m < g.members.size(); ++m) {
        bool holds_cell = true;
        for (size_t d = 0; d < cell.size(); ++d) {
          const auto& [least, most] = g.where[m].offset[d];
          holds_cell &= (!cell[d].first || *cell[d].first <= most) && (!cell[d].second || *cell[d].second >= least);
        }
        if (holds_cell) here.push_back(misses[first_miss + m]);
      }
      if (!covered(groups, guesses, misses, group + 1, first_miss + g.members.size(), here)) return false;
    }
    return true;
  }

  // Boxes, cut where members begin and end; open where a bound is missing.
  using Cell = std::vector<std::pair<std::optional<int64_t>, std::optional<int64_t>>>;
  std::vector<Cell> cells_of(const Group& g) const {
    std::vector<Cell> cells = {{}};
    for (size_t d = 0; d < element_.size(); ++d) {
      std::vector<int64_t> cuts;
      for (const Where& w : g.where) cuts.push_back(w.offset[d].first), cuts.push_back(w.offset[d].second + 1);
      std::sort(cuts.begin(), cuts.end());
      cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
      Cell pieces;
      if (cuts.size() == 2) {
        pieces.emplace_back();  // all members are alike
      } else {
        pieces.emplace_back(std::nullopt, cuts[0] - 1);
        for (size_t k = 0; k + 1 < cuts.size(); ++k) pieces.emplace_back(cuts[k], cuts[k + 1] - 1);
        pieces.emplace_back(cuts.back(), std::nullopt);
      }
      std::vector<Cell> next;
      for (const Cell& cell : cells)
        for (const auto& piece : pieces) {
          next.push_back(cell);
          next.back().push_back(piece);
        }
      cells = std::move(next);
      if (cells.size() > most_cells) break;
    }
    return cells;
  }

  // Indices are sums of the kernel's variables, each with a range of its own below the next coefficient: the element's
  // coordinate, less what is known, divided by one coefficient after the other.
  std::optional<Guess> take_apart(const Group& g) {
    Guess guess;
    std::map<int, Expr> quotients;  // values of variables that are not the program's
    Refuter& refuter = grid_.refuter();
    try {
      for (size_t d = 0; d < element_.size(); ++d) {
        Expr left = element_[d];
        std::vector<std::pair<int64_t, const VarNode*>> unknown;
        const auto& terms = g.where[0].sum[d].terms;
        for (const auto& [v, k] : terms) {
          const VarNode* variable = refuter.program_variable(v);
          if (!variable) {
            const auto [x, y] = refuter.factors(v);
            const auto value_of = [&](int f) {
              if (const VarNode* p = refuter.program_variable(f)) return grid_.is_shared(p) ? Expr(Var(p)) : Expr();
              const auto known = quotients.find(f);
              return known == quotients.end() ? Expr() : known->second;
            };
            if (quotients.count(v)) left = left - quotients[v] * k;
            else if (x >= 0 && value_of(x).defined() && value_of(y).defined()) left = left - value_of(x) * value_of(y) * k;
            else if (k == 1 && terms.size() == 1) quotients[v] = element_[d];
            else return std::nullopt;
          } else if (grid_.is_shared(variable)) {
            left = left - Var(variable) * k;
          } else if (const auto known = guess.values.find(variable); known != guess.values.end()) {
            left = left - known->second * k;
          } else {
            unknown.emplace_back(k, variable);
          }
        }
        std::sort(unknown.begin(), unknown.end(), [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
        if (!unknown.empty() && unknown[0].first < 0) {
          left = g.where[0].offset[d].first - left;
          for (auto& [k, v] : unknown) k = -k;
          if (unknown.back().first == 1) {
            for (const auto& [k, v] : unknown) guess.values[v] = left / k, left = left % k;
            guess.rest.push_back(constant(i64, g.where[0].offset[d].first));
            continue;
          }
          return std::nullopt;
        }
        const bool last_takes_all = !unknown.empty() && unknown.back().first == 1;
        if (last_takes_all) left = left - g.where[0].offset[d].first;
        for (const auto& [k, v] : unknown) {
          if (k <= 0) return std::nullopt;
          guess.values[v] = left / k, left = left % k;
        }
        guess.rest.push_back(last_takes_all ? constant(i64, g.where[0].offset[d].first) : left);
      }
    } catch (const Overflow&) {
      return std::nullopt;
    }
    return guess;
  }

  // It is not at this access, with these values, that the element is written.
  Condition miss(const Access& a, Substitution values) const {
    // Variables that say nothing of where it writes: any value will do, such as a loop's first.
    std::vector<const Domain*> chain;
    for (const Domain* d = a.domain.get(); d; d = d->outer.get()) chain.insert(chain.begin(), d);
    Expr here = true_();
    for (const Domain* d : chain) {
      const auto* c = as<ApplyNode>(d->condition);
      if (const auto* v = c && c->op == Op::le ? as<VarNode>(c->args[1]) : nullptr; v && !values.count(v)) values[v] = substitute(c->args[0], values);
      walk(d->condition, [&](const Expr& x) {
        if (const auto* v = as<VarNode>(x); v && !values.count(v) && !grid_.is_shared(v)) values[v] = constant(v->type, int64_t{0});
        return true;
      });
      here = here && substitute(d->condition, values);
    }
    for (size_t d = 0; d < element_.size(); ++d) here = here && make_cast(i64, substitute(a.indices[d], values)) == element_[d];
    return holds(!here);
  }

  const Tensor& tensor_;
  const Var& lane_;
  Questions& grid_;
  std::vector<Var> element_;
  Conditions inside_;
};

}  // namespace

Answer written_everywhere(const Tensor& t, const std::vector<const Access*>& writes, const Var& lane, Questions& grid) {
  Coverage coverage(t, lane, grid);
  if (coverage.guessed(writes)) return {};
  const std::string what = fmt::format("an element of {} is not written", t.name());
  try {
    return grid.nowhere(what, coverage.missing(writes));
  } catch (const TooCostly&) {
    return {Verdict::undecided, what + ": too many cases"};
  }
}

}  // namespace lathe::certificate
