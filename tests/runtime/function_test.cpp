#include <thread>

#include "runtime/module.h"
#include "tests/runtime/count_allocations.h"
#include "tests/runtime/test_package.h"

using namespace lathe;

namespace {

struct Fixture {
  Environment hip{"LATHE_HIP_LIBRARY", FAKE_HIP};
  FakeHip& control = fake(FAKE_HIP);
  Device gpu = open();
  const PackageData package = add_package({"gfx906"});

  Device open() {
    control.arch = "gfx906";
    control.devices = 2;
    return Device::open("hip:0");
  }
  Function load(const PackageData& package, std::string_view name = "add") {
    return gpu.load(write_package(package))[name];
  }
  Array ramp(int64_t n, float step = 1) {
    std::vector<float> values(static_cast<size_t>(n));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * step;
    return Array::from_host(gpu, values);
  }
};

ShapeExpr op(ShapeOp o, ShapeExpr a, ShapeExpr b) { return ShapeExpr::apply(o, {a, b}); }

}  // namespace

TEST_CASE_METHOD(Fixture, "a call binds n from the arrays and launches enough groups") {
  const Function add = load(package);
  for (int64_t n : {1, 63, 64, 65, 1000}) {
    const Array a = ramp(n), b = ramp(n, 2), c = Array::empty(gpu, f32, {n});
    control.launches.clear();
    add(a, b, c);
    REQUIRE(control.launches.size() == 1);
    CHECK(control.launches[0].grid == std::array<unsigned, 3>{static_cast<unsigned>((n + 63) / 64), 1, 1});
    CHECK(control.launches[0].block == std::array<unsigned, 3>{64, 1, 1});
    CHECK(control.launches[0].stream == nullptr);
    CHECK(c.to_host<float>() == ramp(n, 3).to_host<float>());
  }
}

TEST_CASE_METHOD(Fixture, "a call of extent zero launches nothing and succeeds (case I4)") {
  const Array none = Array::empty(gpu, f32, {0});
  load(package)(none, none, none);
  load(package, "add_twice")(none, none, none);
  CHECK(control.launches.empty());
}

TEST_CASE_METHOD(Fixture, "arrays may come as a list, on a stream of one's own") {
  const Function add = load(package);
  const Stream stream = Stream::create(gpu);
  const std::vector<Array> arrays{ramp(4), ramp(4), Array::empty(gpu, f32, {4})};
  add(arrays);
  add(stream, arrays);
  add(stream, arrays[0], arrays[1], arrays[2]);
  REQUIRE(control.launches.size() == 3);
  CHECK(control.launches[1].stream == stream.raw());
  CHECK(control.launches[2].stream == stream.raw());
}

TEST_CASE_METHOD(Fixture, "views are passed by their first element") {
  const Array a = ramp(10), c = Array::empty(gpu, f32, {4});
  load(package)(a.slice(0, 3, 7), a.slice(0, 6, 10), c);
  CHECK(c.to_host<float>() == std::vector<float>{9, 11, 13, 15});
}

TEST_CASE_METHOD(Fixture, "wrong arrays are refused with function, argument, expected and got") {
  const Function add = load(package);
  const Array four = ramp(4), five = ramp(5);
  auto message = [&](const Array& a, const Array& b, const Array& c) { return error_message([&] { add(a, b, c); }); };
  CHECK(error_message([&] { add(four, four); }) == "function \"add\": expected 3 arrays (A, B, C), got 2");
  CHECK(error_message([&] { add(); }) == "function \"add\": expected 3 arrays (A, B, C), got 0");
  CHECK(message(four, Array::empty(gpu, i32, {4}), four) == "function \"add\", argument \"B\": expected f32, got i32");
  CHECK(message(four, four, Array::empty(gpu, f32, {4, 1})) ==
        "function \"add\", argument \"C\": expected rank 1 [n], got rank 2 [4, 1]");
  CHECK(message(four, five, four) ==
        "function \"add\", argument \"B\": extent 0 of shape [5] is 5, expected 4 (n where n = 4)");
  CHECK(message(ramp(8).view({4}, {2}), four, four) ==
        "function \"add\", argument \"A\": expected a contiguous array, got shape [4] with strides [2] (hint: copy it into "
        "a new array first)");
  const Device other = Device::open("hip:1");
  CHECK(message(four, Array::empty(other, f32, {4}), four) ==
        "function \"add\", argument \"B\": expected an array on hip:0, got one on hip:1");
  CHECK(error_message([&] { add(Stream::create(other), four, four, four); }) ==
        "function \"add\": loaded on hip:0, called on a stream of hip:1");
  CHECK(control.launches.empty());
  add(four, ramp(4), Array::empty(Device::open("hip:0"), f32, {4}));  // another handle of the same device
  CHECK(control.launches.size() == 1);
}

TEST_CASE_METHOD(Fixture, "an output that shares memory with another argument is refused") {
  const Function add = load(package);
  const Array a = ramp(8), b = ramp(8);
  CHECK(error_message([&] { add(a, b, a); }).find("argument \"C\": the output shares memory with argument \"A\"") != std::string::npos);
  const Array whole = ramp(12);
  CHECK(error_message([&] { add(whole.slice(0, 4, 12), b, whole.slice(0, 0, 8)); }).find("shares memory") != std::string::npos);
  CHECK(control.launches.empty());
  add(whole.slice(0, 6, 12), ramp(6), whole.slice(0, 0, 6));  // neighbours do not overlap
  CHECK(control.launches.size() == 1);
}

TEST_CASE_METHOD(Fixture, "extents that are expressions or constants are checked, not bound") {
  PackageData changed = package;
  auto& arguments = changed.functions[0].arguments;
  arguments[0].shape = {op(ShapeOp::mul, ShapeExpr::symbol(0), ShapeExpr::constant(2))};  // before n is bound
  const Function doubled = load(changed);
  doubled(ramp(8), ramp(4), ramp(4));
  CHECK(error_message([&] { doubled(ramp(7), ramp(4), ramp(4)); }) ==
        "function \"add\", argument \"A\": extent 0 of shape [7] is 7, expected 8 (n * 2 where n = 4)");
  arguments[0].shape = {ShapeExpr::constant(3)};
  CHECK(error_message([&] { load(changed)(ramp(7), ramp(4), ramp(4)); }) ==
        "function \"add\", argument \"A\": extent 0 of shape [7] is 7, expected 3");
}

TEST_CASE_METHOD(Fixture, "a broken promise is refused in the user's words") {
  PackageData changed = package;
  const ShapeExpr rest = op(ShapeOp::floor_mod, ShapeExpr::symbol(0), ShapeExpr::constant(4));
  changed.functions[0].promises = {{op(ShapeOp::eq, rest, ShapeExpr::constant(0)), "n is a multiple of 4"}};
  const Function add = load(changed);
  add(ramp(8), ramp(8), ramp(8));
  CHECK(error_message([&] { add(ramp(6), ramp(6), ramp(6)); }) ==
        "function \"add\": the promise \"n is a multiple of 4\" does not hold for n = 6");
  changed.functions[0].promises[0].text = "";
  CHECK(error_message([&] { load(changed)(ramp(6), ramp(6), ramp(6)); }) ==
        "function \"add\": the promise \"(n % 4) == 0\" does not hold for n = 6");
}

TEST_CASE_METHOD(Fixture, "a launch whose condition is false is left out") {
  PackageData changed = package;
  changed.functions[0].launches[0].condition = op(ShapeOp::gt, ShapeExpr::symbol(0), ShapeExpr::constant(4));
  const Function add = load(changed);
  add(ramp(4), ramp(4), ramp(4));
  CHECK(control.launches.empty());
  add(ramp(5), ramp(5), ramp(5));
  CHECK(control.launches.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a grid that the device cannot take is refused, never cut (case I2)") {
  PackageData changed = package;
  auto& grid = changed.functions[0].launches[0].grid;
  grid[1] = ShapeExpr::constant(2097153);
  const Array four = ramp(4);
  CHECK(error_message([&] { load(changed)(four, ramp(4), ramp(4)); }) ==
        "function \"add\": kernel \"vector_add\" needs 2097153 work-groups of 1 along y, hip:0 takes 65536 (hint: call it "
        "on parts of the arrays, or bind another axis there)");
  grid[1] = ShapeExpr::constant(1);
  grid[0] = ShapeExpr::constant(int64_t{1} << 26);  // 64 threads each: 2^32 work-items
  CHECK(error_message([&] { load(changed)(four, ramp(4), ramp(4)); }).find(
            "needs 67108864 work-groups of 64 along x, hip:0 takes 67108863") != std::string::npos);
  grid[0] = op(ShapeOp::sub, ShapeExpr::symbol(0), ShapeExpr::constant(9));
  CHECK(error_message([&] { load(changed)(four, ramp(4), ramp(4)); }) ==
        "function \"add\": kernel \"vector_add\": grid.x = n - 9 is -5 for n = 4");
  CHECK(control.launches.empty());
}

TEST_CASE_METHOD(Fixture, "an integer parameter that does not fit its type is refused") {
  PackageData changed = package;
  changed.functions[0].launches[0].arguments[3] = {
      KernelArgumentKind::expression, 0, op(ShapeOp::sub, ShapeExpr::symbol(0), ShapeExpr::constant(5)), u64};
  CHECK(error_message([&] { load(changed)(ramp(4), ramp(4), ramp(4)); }) ==
        "function \"add\": kernel \"vector_add\": n - 5 is -1 for n = 4 and does not fit u64");
}

TEST_CASE_METHOD(Fixture, "workspaces carry values from launch to launch and are reused by the next call") {
  const Function twice = load(package, "add_twice");
  const Array a = ramp(100), b = ramp(100, 2), c = Array::empty(gpu, f32, {100});
  const int before = control.calls["hipMalloc"];
  for (int i = 0; i < 3; ++i) twice(a, b, c);
  CHECK(c.to_host<float>() == ramp(100, 5).to_host<float>());
  REQUIRE(control.launches.size() == 6);
  CHECK(control.launches[0].pointers[2] == control.launches[1].pointers[0]);
  CHECK(control.calls["hipMalloc"] - before == 2);  // one for the workspace, one for the ramp to compare with
  const Stream stream = Stream::create(gpu);
  twice(stream, a, b, c);
  CHECK(control.launches[6].pointers[2] != control.launches[0].pointers[2]);  // the default stream may still use it
}

TEST_CASE_METHOD(Fixture, "a workspace larger than any memory is refused") {
  PackageData changed = package;
  changed.functions[1].workspaces[0].shape.push_back(ShapeExpr::constant(int64_t{1} << 60));
  const Array four = ramp(4);
  CHECK(error_message([&] { load(changed, "add_twice")(four, ramp(4), ramp(4)); }) ==
        "function \"add_twice\", workspace \"sum\": shape [4, 1152921504606846976] is larger than any memory for n = 4");
  CHECK(control.launches.empty());
}

TEST_CASE_METHOD(Fixture, "no memory for a workspace: an error before any launch, and a device that still works (case C2)") {
  const Function twice = load(package, "add_twice");
  const Array a = ramp(100), b = ramp(100), c = Array::empty(gpu, f32, {100});
  control.faults["hipMalloc"] = {0, 2};
  CHECK(error_message([&] { twice(a, b, c); }) ==
        "hipMalloc, 512 bytes on hip:0: hipErrorOutOfMemory (2): out of memory");
  CHECK(control.launches.empty());
  twice(a, b, c);
  CHECK(control.launches.size() == 2);
}

TEST_CASE_METHOD(Fixture, "idle scratch is given back when memory runs out, or on request") {
  load(package, "add_twice")(ramp(100), ramp(100), ramp(100));
  const int live = control.live_allocations;
  control.faults["hipMalloc"] = {0, 2};
  const Array kept = Array::empty(gpu, f32, {10});  // succeeds at the second try
  CHECK(control.live_allocations == live);          // the workspace went, the array came
  load(package, "add_twice")(ramp(100), ramp(100), ramp(100));
  gpu.trim_scratch();
  CHECK(control.live_allocations == live);
}

TEST_CASE_METHOD(Fixture, "a failing launch names kernel, function and sizes; the next one works") {
  const Function twice = load(package, "add_twice");
  const Array a = ramp(100), b = ramp(100), c = ramp(100);
  control.faults["hipModuleLaunchKernel"] = {1, 719};
  CHECK(error_message([&] { twice(a, b, c); }) ==
        "hipModuleLaunchKernel, kernel \"vector_add\" of function \"add_twice\", grid 2 x 1 x 1, block 64 x 1 x 1: "
        "hipErrorLaunchFailure (719): something went wrong");
  control.launches.clear();
  twice(a, b, c);
  CHECK(control.launches.size() == 2);
}

TEST_CASE_METHOD(Fixture, "nothing leaks, whatever call fails") {
  for (const char* call : {"hipMalloc", "hipMemcpy", "hipModuleLoadData", "hipModuleGetFunction",
                           "hipModuleLaunchKernel", "hipSetDevice"})
    for (int after = 0; after < 12; ++after) {
      control = {};
      control.arch = "gfx906";
      control.devices = 2;
      control.faults[call] = {after, 2};
      {
        const Device device = Device::open("hip:0");
        try {
          const LoadedModule module = device.load(write_package(package));
          const Array a = Array::from_host(device, std::vector<float>(9)), b = Array::empty(device, f32, {9});
          module["add_twice"](a, a, b);
          b.to_host();
        } catch (const Error&) {
        }
        control.faults.clear();
      }
      INFO(call << " after " << after);
      CHECK(control.live_allocations == 0);
      CHECK(control.live_modules == 0);
    }
}

TEST_CASE_METHOD(Fixture, "a warm call allocates nothing on the host's heap") {
  const Function twice = load(package, "add_twice"), add = load(package);
  const Array a = ramp(100), b = ramp(100), c = ramp(100);
  twice(a, b, c);
  control.record = false;
  allocations() = 0;
  add(a, b, c);
  twice(a, b, c);
  CHECK(allocations() == 0);
}

TEST_CASE_METHOD(Fixture, "threads may call one function at once") {
  const Function twice = load(package, "add_twice");
  std::vector<std::thread> threads;
  std::array<bool, 8> right{};
  for (size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      const Stream stream = Stream::create(gpu);
      const auto n = static_cast<int64_t>(100 + t);
      const Array a = ramp(n), b = ramp(n, 2), c = Array::empty(gpu, f32, {n});
      const std::vector<float> expected = ramp(n, 5).to_host<float>();
      right[t] = true;
      for (int i = 0; i < 50; ++i) {
        twice(stream, a, b, c);
        right[t] = right[t] && c.to_host<float>() == expected;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (bool r : right) CHECK(r);
}
