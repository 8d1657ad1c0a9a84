// Sets of integer points, for the certificate. A point gives a value to every variable of a statement, or of two runs of
// it at once: variables come in copies. On purpose nothing here is shared with facts.h, which the passes rest on: what
// they believe is checked, not believed.
//
// A set is exact, or it holds more points than it should: terms that are not quasi-affine become unknown integers, and
// conditions on data are left out. An empty set proves that something cannot happen, exact or not; only a point of an
// exact set shows that it can.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace lathe {

class Points;

// What a point may satisfy: a condition of the program in one copy, or two values of two copies held against each other.
struct Condition {
  enum class Kind : uint8_t { holds, equal, less, any };
  Kind kind;
  Expr a, b;                                     // holds: a, a scalar bool; equal, less: a in its copy, b in its own
  int copy_a = 0, copy_b = 0;
  std::vector<std::vector<Condition>> choices;   // any: one of these has all that hold
};
Condition holds(Expr condition, int copy = 0);
Condition equal(Expr a, int copy_a, Expr b, int copy_b);
Condition less(Expr a, int copy_a, Expr b, int copy_b);
Condition any_of(std::vector<std::vector<Condition>> choices);

// A question was too costly for isl, and is left open.
struct TooCostly {};

// Makes sets, and names the variables of each copy. One thread at a time.
class PointSpace {
 public:
  PointSpace();
  ~PointSpace();
  PointSpace(const PointSpace&) = delete;
  PointSpace& operator=(const PointSpace&) = delete;

  // This variable is the same in every copy: a shape symbol, or what two runs have in common. Before its first use.
  void share(const Var& v);

  Points where(const std::vector<Condition>& all) const;

  struct State;

 private:
  friend class Points;
  std::shared_ptr<State> state_;
};

class Points {
 public:
  Points operator&(const Points& other) const;
  Points operator|(const Points& other) const;
  // Without the points of `other`, where that is exact; else all stay, since some of them may not be in it.
  Points operator-(const Points& other) const;
  bool is_empty() const;  // throws TooCostly, as all of these may
  bool exact() const { return exact_; }
  // What is left when the copy's own variables may have any value: the shadow on the others.
  Points without_copy(int copy) const;
  // "n = 17, tx = 3, tx' = 4": the values of one point, named as in the program, a prime per copy.
  std::string example() const;

 private:
  friend class PointSpace;
  struct Set;
  Points(std::shared_ptr<PointSpace::State> state, std::shared_ptr<const Set> set, bool exact);
  std::shared_ptr<PointSpace::State> state_;  // before the set, which dies first
  std::shared_ptr<const Set> set_;
  bool exact_;
};

}  // namespace lathe
