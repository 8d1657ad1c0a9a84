// A quick proof that conditions exclude each other: cases of linear constraints, each shown to have no solution
// (linear.h). It is asked before isl, and reads conditions by itself: what one of the two gets wrong the other does not.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/certificate/linear.h"
#include "ir/isl/points.h"
#include "ir/tensor.h"

namespace lathe::certificate {

class Refuter {
 public:
  // This variable is the same in every copy. Before its first use.
  void share(const Var& v) { shared_.insert(v.node()); }
  bool is_shared(const VarNode* v) const { return shared_.count(v); }
  // Nobody writes this tensor, so that two reads of one element give the same.
  void steady(const Tensor& t) { steady_.insert(t.get()); }
  void unsteady(const Tensor& t) { steady_.erase(t.get()); }

  // true: no values satisfy all conditions, whatever memory holds. false: perhaps some do.
  bool excludes(const std::vector<Condition>& all);

  // The value of an integer as a sum. Variables of it stand for the program's, for quotients and for terms that are not
  // affine; `variable_of` gives the number of the program's.
  Linear value(const Expr& e, int copy);
  int variable_of(const Var& v, int copy);
  // What a variable of a sum stands for: the program's, or null.
  const VarNode* program_variable(int v) const { return variables_[static_cast<size_t>(v)].of; }
  // The two variables of which it is the product, or -1.
  std::pair<int, int> factors(int v) const { return variables_[static_cast<size_t>(v)].factors; }

 private:
  // What may hold: all or any of parts, or a constraint. All of nothing always holds, any of nothing never does.
  struct Formula {
    enum class Kind : uint8_t { all, any, zero, at_least_zero } kind = Kind::all;
    Linear linear;
    std::vector<Formula> parts;
  };
  struct Variable {
    std::vector<Formula> definition;           // what ties it to others
    const VarNode* of = nullptr;               // the program's variable
    std::pair<int, int> factors = {-1, -1};    // of a product of two variables
  };
  struct Product {  // that was met, as a sum of products of two variables
    Linear a, b, sum;
  };
  struct Case {
    LinearSystem system;
    std::vector<const Formula*> any;
    std::set<int> seen;  // variables whose definitions are in
  };

  static Formula zero(Linear l);
  static Formula at_least_zero(Linear l);
  static Formula all(std::vector<Formula> parts) { return merge(Formula::Kind::all, Formula::Kind::any, std::move(parts)); }
  static Formula any(std::vector<Formula> parts) { return merge(Formula::Kind::any, Formula::Kind::all, std::move(parts)); }
  static Formula merge(Formula::Kind kind, Formula::Kind other, std::vector<Formula> parts);

  // Least and most of an integer, whatever its variables are; nothing that 64 bits do not hold.
  using Range = std::pair<int64_t, int64_t>;
  std::optional<Range> range(const Expr& e);
  std::optional<Range> computed_range(const ApplyNode& a);
  bool wraps(const Expr& e);
  int new_variable() { return variables_.emplace_back(), static_cast<int>(variables_.size()) - 1; }
  int unknown(const Expr& e, int copy);
  bool changes(const Expr& e) const;
  void write_key(const Expr& e, int copy, std::string& key);
  Linear compute(const Expr& e, int copy);
  Linear product(const Linear& a, const Linear& b);
  Linear quotient(const Linear& x, const Linear& by);
  Linear quotient(const Linear& x, int64_t k);
  Linear remainder(const Linear& x, int64_t k);
  std::optional<Linear> exclusive_or(const Expr& a, const Expr& b, int copy);
  Linear one_of(const Linear& a, Formula when_a, const Linear& b, Formula when_b);
  const Formula& where(const Expr& e, int copy, bool wanted);
  Formula read(const Expr& e, int copy, bool wanted);
  Formula read(const Condition& c);
  std::vector<Formula> lemmas(const Case& c) const;
  void about_products(const Case& c, std::vector<Formula>& lemmas) const;
  void about_exclusive_ors(const Case& c, std::vector<Formula>& lemmas) const;
  bool impossible_with(Case c, std::vector<Formula> lemmas);
  void add(const Formula& f, Case& to);
  void define(const Linear& l, Case& to);
  bool impossible(const Case& c);

  std::set<const VarNode*> shared_;
  std::set<const TensorNode*> steady_;
  std::vector<Variable> variables_;
  std::map<std::pair<const Node*, int>, int> numbers_;
  std::map<std::pair<const Node*, int>, Linear> values_;
  std::map<std::tuple<const Node*, int, bool>, Formula> formulas_;
  std::map<std::pair<Linear, int64_t>, int> quotients_;
  std::map<std::pair<Linear, Linear>, int> quotients_by_;   // by what is no number
  std::map<std::pair<int, int>, int> products_of_variables_;
  std::vector<Product> products_;
  struct ExclusiveOr {  // of two numbers below a power of two
    Linear a, b;
    int result;
  };
  std::map<std::pair<Linear, Linear>, int> exclusive_or_of_;
  std::vector<ExclusiveOr> exclusive_ors_;
  std::map<std::string, int> unknowns_;
  std::vector<Expr> kept_;        // the maps go by address
  std::deque<Formula> passing_;   // of this question alone: a case points to it; each read of what changes is one of its own
  int reads_ = 0, cases_left_ = 0, lemma_ways_left_ = 0;
};

}  // namespace lathe::certificate
