#include "runtime/host_array.h"

#include <catch2/catch.hpp>

#include "tests/error_message.h"

using namespace lathe;

TEST_CASE("host arrays hold values of their own type, and bits of types that C++ lacks") {
  const HostArray a = HostArray::from(std::vector<float>{1, 2, 3, 4}, {2, 2});
  CHECK(a.dtype() == f32);
  CHECK(a.values<float>()[3] == 4);
  CHECK(a.value(2) == 3);
  const HostArray half = HostArray::from(std::vector<uint16_t>{0x3c00, 0xc000}, {2}, f16);
  CHECK(half.value(0) == 1);
  CHECK(half.value(1) == -2);
  CHECK(HostArray::from(std::vector<int8_t>{-5}).value(0) == -5);
  CHECK(HostArray::from(std::vector<uint8_t>{1, 0}, {2}, boolean).value(0) == 1);
  CHECK(HostArray::from(std::vector<int64_t>{INT64_MIN}).value(0) == -0x1p63);
  CHECK(HostArray(i32, {2, 0}).size() == 0);
}

TEST_CASE("host arrays refuse what does not fit") {
  const HostArray a(f32, {2, 2});
  CHECK(error_message([&] { a.values<int>(); }) == "host array: its elements are f32, not i32");
  CHECK(error_message([&] { a.value(4); }) == "host array: element 4 of 4");
  CHECK(error_message([] { HostArray::from(std::vector<float>(3), {2, 2}); }) ==
        "host array: shape [2, 2] holds 4 elements, got 3");
  CHECK(error_message([] { HostArray::from(std::vector<float>(4), {4}, f16); }) ==
        "host array: its elements are f16, not f32");
  CHECK(error_message([] { HostArray(f32, {2}, std::vector<uint8_t>(7)); }) ==
        "host array: f32 of shape [2] takes 8 bytes, got 7");
  CHECK(error_message([] { HostArray(f32.with_lanes(4), {2}); }) == "host array: elements are scalars, not f32x4");
}
