// The certificate's own prover against isl: what it says cannot hold, isl must find empty, too.
#include <catch2/catch.hpp>
#include <random>

#include "compiler/certificate/refute.h"
#include "ir/print.h"

using namespace lathe;
using namespace lathe::certificate;

namespace {

// Random conditions on a few variables in two copies, of the kinds that kernels have.
class Conditions {
 public:
  explicit Conditions(uint64_t seed) : random_(seed) {}
  std::vector<Condition> make() {
    std::vector<Condition> all;
    for (const Var& v : variables)
      for (int copy : {0, 1}) all.push_back(holds(v >= 0 && v < int64_t{1} + below(40), copy));
    for (int n = 1 + below(3); n > 0; --n)
      switch (below(4)) {
        case 0: all.push_back(equal(value(2), 0, value(2), 1)); break;
        case 1: all.push_back(less(value(2), 0, value(2), 1)); break;
        case 2: all.push_back(holds(condition(2), below(2))); break;
        default: all.push_back(any_of({{less(value(1), 0, value(1), 1)}, {less(value(1), 1, value(1), 0), holds(condition(1), 0)}}));
      }
    return all;
  }
  const std::vector<Var> variables = {Var("a"), Var("b"), Var("c")};

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  Expr value(int depth) {
    if (depth == 0 || below(5) == 0) return below(4) ? Expr(variables[static_cast<size_t>(below(3))]) : Expr(int64_t{below(70)} - 10);
    const Expr x = value(depth - 1), k = int64_t{1} << below(6), odd = int64_t{1} + below(9);
    switch (below(9)) {
      case 0:
      case 1: return x + value(depth - 1);
      case 2: return x * (below(2) ? k : odd) + value(depth - 1);
      case 3: return x - value(depth - 1);
      case 4: return x / (below(2) ? k : odd);
      case 5: return x % (below(2) ? k : odd);
      case 6: return min(x, value(depth - 1));
      case 7: return max(x, value(depth - 1));
      default: return select(condition(depth - 1), x, value(depth - 1));
    }
  }
  Expr condition(int depth) {
    const Expr x = value(depth), y = value(depth);
    switch (below(8)) {
      case 0: return x < y;
      case 1: return x <= y;
      case 2: return x > y;
      case 3: return x >= y;
      case 4: return x == y;
      case 5: return x != y;
      case 6: return depth ? condition(depth - 1) && condition(depth - 1) : x < y;
      default: return depth ? condition(depth - 1) || !condition(depth - 1) : x > y;
    }
  }
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("what is refuted is empty, and little that is empty is not refuted") {
  int empty = 0, refuted = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Conditions random(seed);
    const std::vector<Condition> all = random.make();
    Refuter refuter;
    const bool excluded = refuter.excludes(all);
    PointSpace space;
    try {
      const Points points = space.where(all);
      const bool is_empty = points.is_empty();
      empty += is_empty, refuted += excluded && is_empty;
      if (excluded && !is_empty) FAIL("seed " << seed << " is refuted, but not empty: " << points.example());
    } catch (const TooCostly&) {
    }
  }
  INFO(refuted << " of " << empty << " empty ones are refuted");
  REQUIRE(empty > 100);
  REQUIRE(refuted * 100 >= empty * 95);
}

TEST_CASE("arithmetic that wraps is no arithmetic on integers") {
  const Tensor a = placeholder({8}, i32, "A"), u = placeholder({8}, u64, "U");
  const Var i("i");
  Refuter refuter;
  const Expr load = a(i), far = u(i);
  // load + 2^31 - 1 may be negative; (load % 9) + 1 may not.
  REQUIRE_FALSE(refuter.excludes({holds(cast(i64, load % constant(i32, int64_t{100}) + constant(i32, int64_t{INT32_MAX})) < 0)}));
  REQUIRE(refuter.excludes({holds(cast(i64, load % constant(i32, int64_t{9}) + constant(i32, int64_t{1})) < 1)}));
  REQUIRE(refuter.excludes({holds(cast(i64, far % constant(u64, int64_t{10}) * constant(u64, int64_t{7})) > 63)}));
  REQUIRE_FALSE(refuter.excludes({holds(cast(i64, far) < 0)}));
}

TEST_CASE("exclusive ors keep rows apart, and stay inside them") {
  const Var x("x"), y("y");
  const Expr place = x ^ (y % 8);
  const std::vector<Condition> inside = {holds(x >= 0 && x < 32, 0), holds(x >= 0 && x < 32, 1), equal(y, 0, y, 1)};
  const auto with = [&](Condition c) {
    std::vector<Condition> all = inside;
    all.push_back(std::move(c));
    return all;
  };
  Refuter refuter;
  REQUIRE(refuter.excludes(with(holds(place < 0))));
  REQUIRE(refuter.excludes(with(holds(place >= 32))));
  REQUIRE_FALSE(refuter.excludes(with(holds(place == 31))));
  std::vector<Condition> meet = with(equal(place, 0, place, 1));
  REQUIRE_FALSE(refuter.excludes(meet));
  meet.push_back(any_of({{less(x, 0, x, 1)}, {less(x, 1, x, 0)}}));
  REQUIRE(refuter.excludes(meet));
  // In different rows they may meet.
  REQUIRE_FALSE(refuter.excludes({inside[0], inside[1], equal(place, 0, place, 1), less(x, 0, x, 1)}));
}

TEST_CASE("two reads give the same only of what nobody writes") {
  const Tensor a = placeholder({8}, i64, "A");
  const Var i("i");
  const std::vector<Condition> both = {holds(a(i) < 3), holds(a(i) > 5)};
  Refuter careful, knowing;
  knowing.steady(a);
  REQUIRE_FALSE(careful.excludes(both));
  REQUIRE(knowing.excludes(both));
}
