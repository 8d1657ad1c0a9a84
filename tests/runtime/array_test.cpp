#include "runtime/array.h"

#include <fmt/format.h>

#include <numeric>

#include "tests/runtime/test_package.h"

using namespace lathe;

namespace {

struct Fixture {
  Environment hip{"LATHE_HIP_LIBRARY", FAKE_HIP};
  FakeHip& control = fake(FAKE_HIP);
  Device gpu = Device::open("hip:0");
};

std::vector<float> counting(int n) {
  std::vector<float> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0.f);
  return values;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "arrays take values to the device and back") {
  const std::vector<float> values = counting(12);
  const Array a = Array::from_host(gpu, values, {3, 4});
  CHECK(a.dtype() == f32);
  CHECK(a.shape() == Shape{3, 4});
  CHECK(a.strides() == Shape{4, 1});
  CHECK(a.byte_size() == 48);
  CHECK(a.to_host<float>() == values);
  CHECK(a.to_host() == HostArray::from(values, {3, 4}));
  CHECK(Array::from_host(gpu, HostArray::from(values, {12})).to_host<float>() == values);
  const Array half = Array::from_host(gpu, std::vector<uint16_t>{0x3c00}, {1}, f16);
  CHECK(half.to_host<uint16_t>() == std::vector<uint16_t>{0x3c00});
  CHECK(Array::from_host(gpu, std::vector<int>{5}).shape() == Shape{1});
}

TEST_CASE_METHOD(Fixture, "memory is shared by handles and views, and freed with the last") {
  {
    const Array a = Array::empty(gpu, f32, {4});
    Array b = a;
    const Array c = a.slice(0, 1, 3);
    CHECK(control.live_allocations == 1);
  }
  CHECK(control.live_allocations == 0);
}

TEST_CASE_METHOD(Fixture, "arrays of no elements take no memory") {
  const Array none = Array::empty(gpu, f32, {3, 0});
  CHECK(control.calls["hipMalloc"] == 0);
  CHECK(none.data() == nullptr);
  CHECK(none.to_host<float>().empty());
  CHECK(none.is_contiguous());
  CHECK(none.slice(0, 1, 2).shape() == Shape{1, 0});
}

TEST_CASE_METHOD(Fixture, "views select elements without copying") {
  const Array a = Array::from_host(gpu, counting(12), {3, 4});
  const Array column = a.slice(1, 2, 3);
  CHECK_FALSE(column.is_contiguous());
  CHECK(column.byte_offset() == 8);
  CHECK(column.to_host<float>() == std::vector<float>{2, 6, 10});
  CHECK(a.slice(0, 1, 3).to_host<float>() == std::vector<float>{4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(a.view({4, 3}, {1, 4}).to_host<float>() == std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(a.view({3}, {-4}, 11).to_host<float>() == std::vector<float>{11, 7, 3});
  CHECK(a.reshape({2, 6}).slice(0, 1, 2).to_host<float>() == std::vector<float>{6, 7, 8, 9, 10, 11});
  CHECK(a.view({2, 2}, {0, 0}, 5).to_host<float>() == std::vector<float>{5, 5, 5, 5});
}

TEST_CASE_METHOD(Fixture, "foreign memory is viewed, not owned") {
  std::vector<float> memory = counting(12);
  {
    const auto owner = std::make_shared<int>(0);
    const Array a = Array::wrap(gpu, memory.data(), f32, {2, 3}, {6, 2}, owner);
    CHECK(owner.use_count() == 2);
    CHECK(a.to_host<float>() == std::vector<float>{0, 2, 4, 6, 8, 10});
    CHECK(a.slice(0, 1, 2).data() == memory.data() + 6);
    const Array backwards = Array::wrap(gpu, memory.data() + 3, f32, {4}, {-1});
    CHECK(backwards.data() == memory.data() + 3);
    CHECK(backwards.to_host<float>() == std::vector<float>{3, 2, 1, 0});
  }
  CHECK(control.calls["hipFree"] == 0);
  CHECK(error_message([&] { Array::wrap(gpu, nullptr, f32, {2}); }) == "array: a null pointer cannot hold shape [2]");
  CHECK(error_message([&] { Array::wrap(gpu, memory.data(), f32, {2}, {1, 1}); }) == "array: 2 strides for shape [2]");
}

TEST_CASE_METHOD(Fixture, "views outside the memory are refused with the bytes they would reach") {
  const Array a = Array::from_host(gpu, counting(12), {3, 4});
  CHECK(error_message([&] { a.view({13}, {1}); }) ==
        "array view: shape [13] with strides [1] at element 0 reaches bytes 0 to 52 of 48");
  CHECK(error_message([&] { a.view({2}, {-1}); }) ==
        "array view: shape [2] with strides [-1] at element 0 reaches bytes -4 to 4 of 48");
  for (int64_t stride : {INT64_MAX, INT64_MIN, int64_t{1} << 59})
    CHECK(error_message([&] { a.view({3}, {stride}); }) ==
          fmt::format("array view: shape [3] with strides [{}] reaches outside any memory", stride));
  CHECK(error_message([&] { a.view({1}, {1}, INT64_MAX); }) ==
        "array view: element 9223372036854775807 is outside any memory");
  CHECK(error_message([&] { a.slice(2, 0, 1); }) == "array slice: axis 2 of shape [3, 4]");
  CHECK(error_message([&] { a.slice(0, 2, 4); }) == "array slice: [2, 4) of axis 0 of shape [3, 4]");
  CHECK(error_message([&] { a.reshape({5}); }) == "array reshape: 12 elements do not fill shape [5]");
  CHECK(error_message([&] { a.slice(1, 0, 1).reshape({3}); }) ==
        "array reshape: shape [3, 1] with strides [4, 1] is not contiguous");
}

TEST_CASE_METHOD(Fixture, "values of another type or number are refused") {
  Array a = Array::from_host(gpu, counting(4));
  CHECK(error_message([&] { a.to_host<int>(); }) == "array: its elements are f32, not i32");
  CHECK(error_message([&] { Array::from_host(gpu, counting(4), {2, 3}); }) == "array: shape [2, 3] holds 6 elements, got 4");
  CHECK(error_message([&] { Array::from_host(gpu, counting(4), {4}, f16); }) ==
        "array: f16 elements cannot be taken from f32 values");
  CHECK(error_message([&] { a.copy_from_host(HostArray(f32, {5})); }) ==
        "array copy: f32 of shape [5] into f32 of shape [4]");
  CHECK(error_message([&] { Array::empty(gpu, f32, {-1}); }) == "array: shape [-1] has a negative extent");
  CHECK(error_message([&] { Array::empty(gpu, f32.with_lanes(2), {1}); }) == "array: elements are scalars, not f32x2");
}

TEST_CASE_METHOD(Fixture, "running out of memory says how much was asked for, and leaves nothing behind") {
  control.faults["hipMalloc"] = {0, 2};
  CHECK(error_message([&] { Array::empty(gpu, f32, {1000}); }) ==
        "hipMalloc, 4000 bytes on hip:0: hipErrorOutOfMemory (2): out of memory");
  CHECK(control.live_allocations == 0);
  const Array a = Array::empty(gpu, f32, {1000});  // the device is still usable
  control.faults["hipMemcpy"] = {0, 1};
  CHECK(error_message([&] { a.to_host(); }) ==
        "hipMemcpy, 4000 bytes from hip:0: hipErrorInvalidValue (1): something went wrong");
}
