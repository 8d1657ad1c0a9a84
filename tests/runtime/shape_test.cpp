#include "runtime/shape.h"

#include <catch2/catch.hpp>

#include "tests/error_message.h"

using namespace lathe;

TEST_CASE("elements of a shape") {
  CHECK(element_count(Shape{}, 4, "x") == 1);
  CHECK(element_count(Shape{3, 4}, 4, "x") == 12);
  CHECK(element_count(Shape{3, 0, 4}, 4, "x") == 0);
  CHECK(element_count(Shape{INT64_MAX, INT64_MAX, 0}, 4, "x") == 0);
  CHECK(error_message([] { element_count(Shape{3, -1}, 4, "x"); }) == "x: shape [3, -1] has a negative extent");
  CHECK(error_message([] { element_count(Shape{int64_t{1} << 32, int64_t{1} << 32}, 1, "x"); }) ==
        "x: shape [4294967296, 4294967296] is larger than any memory");
  CHECK(error_message([] { element_count(Shape{int64_t{1} << 61}, 8, "x"); }) ==
        "x: shape [2305843009213693952] is larger than any memory");
}

TEST_CASE("strides and contiguity") {
  CHECK(contiguous_strides(Shape{2, 3, 4}) == Shape{12, 4, 1});
  CHECK(contiguous_strides(Shape{}) == Shape{});
  CHECK(is_contiguous(Shape{2, 3}, Shape{3, 1}));
  CHECK(is_contiguous(Shape{1, 3}, Shape{77, 1}));
  CHECK(is_contiguous(Shape{0, 3}, Shape{9, 9}));
  CHECK_FALSE(is_contiguous(Shape{2, 3}, Shape{4, 1}));
  CHECK_FALSE(is_contiguous(Shape{2, 3}, Shape{1, 2}));
}
