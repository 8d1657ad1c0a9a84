#include "compiler/codegen/index_facts.h"

#include <catch2/catch.hpp>

namespace lathe {
namespace {

TEST_CASE("ranges and multiples of index expressions") {
  Var n("n"), block("block"), thread("thread", i32), free("free");
  IndexFacts facts;
  facts.bind(n.node(), {0, INT64_MAX});
  facts.bind(block.node(), {0, 99});
  facts.bind(thread.node(), {0, 63});
  const Expr t = make_cast(i64, thread), at = block * Expr(64) + t;
  auto range = [&](const Expr& e, bool no_wrap = true) {
    const IndexRange r = facts.range(e, no_wrap);
    return std::pair(r.low, r.high);
  };
  CHECK(range(at) == std::pair<int64_t, int64_t>(0, 6399));
  CHECK(range(at / Expr(10)) == std::pair<int64_t, int64_t>(0, 639));
  CHECK(range(at % Expr(10)) == std::pair<int64_t, int64_t>(0, 9));
  CHECK(range(t - Expr(3)) == std::pair<int64_t, int64_t>(-3, 60));
  CHECK(range((t - Expr(3)) / Expr(2)) == std::pair<int64_t, int64_t>(-2, 30));
  CHECK(range(min(at, n)) == std::pair<int64_t, int64_t>(0, 6399));
  CHECK(range(free).first == INT64_MIN);
  CHECK(range(make_ramp(t, Expr(2), 4)) == std::pair<int64_t, int64_t>(0, 69));
  SECTION("n * 4 may wrap as data, but not as an index") {
    CHECK(facts.nonnegative(n * Expr(4), true));
    CHECK_FALSE(facts.nonnegative(n * Expr(4), false));
  }
  SECTION("multiples") {
    CHECK(facts.multiple(block * Expr(64)) == 64);
    CHECK(facts.multiple(block * Expr(64) + t * Expr(4)) == 4);
    CHECK(facts.multiple(block * Expr(64) + t) == 1);
    CHECK(facts.multiple(block * Expr(24)) == 8);
    CHECK(facts.multiple(block * Expr(64) / Expr(16)) == 4);
    CHECK(facts.multiple(make_ramp(block * Expr(8), Expr(1), 4)) == 1);
    CHECK(facts.multiple(Expr(0)) == (1 << 16));
  }
}

TEST_CASE("shared subexpressions do not cost exponential time") {
  Var x("x");
  IndexFacts facts;
  facts.bind(x.node(), {0, 1});
  Expr e = x;
  for (int i = 0; i < 60; ++i) e = make_apply(Op::max, {e + Expr(1), e});
  CHECK(facts.range(e, true).high == 61);
}

}  // namespace
}  // namespace lathe
