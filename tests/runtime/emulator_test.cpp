// The whole runtime on the emulated GPU: packages around kernels that clang compiled, run instruction by instruction.
#include <algorithm>

#include "runtime/runtime.h"
#include "tests/runtime/test_package.h"

using namespace lathe;

namespace {

const std::vector<std::string> targets = {"gfx906", "gfx942", "gfx1100"};

// Values whose sums round, so that equality bit for bit says something.
std::vector<float> values(int64_t n, float seed) {
  std::vector<float> result(static_cast<size_t>(n));
  for (size_t i = 0; i < result.size(); ++i) result[i] = seed / static_cast<float>(i + 1) + static_cast<float>(i);
  return result;
}

}  // namespace

TEST_CASE("vector add on every emulated generation equals the host bit for bit") {
  const PackageData package = add_package(targets);
  for (const std::string& target : targets) {
    INFO(target);
    const Device gpu = Device::open("emulator:" + target);
    CHECK(gpu.info().target_id.starts_with(target));
    CHECK(gpu.info().is_emulated);
    const LoadedModule module = gpu.load(write_package(package));
    CHECK(module.target_id() == target);
    for (int64_t n : {0, 1, 63, 64, 65, 1000, 100003}) {
      const std::vector<float> x = values(n, 3), y = values(n, 7);
      const Array a = Array::from_host(gpu, x), b = Array::from_host(gpu, y), c = Array::empty(gpu, f32, {n});
      std::vector<float> sum(x.size()), sum_twice(x.size());
      for (size_t i = 0; i < sum.size(); ++i) {
        sum[i] = x[i] + y[i];
        sum_twice[i] = sum[i] + y[i];
      }
      module["add"](a, b, c);
      CHECK(c.to_host<float>() == sum);
      module["add_twice"](Stream::create(gpu), a, b, c);
      gpu.synchronize();
      CHECK(c.to_host<float>() == sum_twice);
    }
  }
}

TEST_CASE("values pass through LDS and a barrier") {
  const ShapeExpr one = ShapeExpr::constant(1);
  FunctionData reverse;
  reverse.name = "reverse";
  reverse.arguments = {{"x", f32, {ShapeExpr::constant(64)}, true}};
  reverse.launches = {{"reverse64", {one, one, one}, {64, 1, 1}, 0, {{KernelArgumentKind::argument, 0, {}, f32}}, {}}};
  PackageData package = add_package(targets);
  package.functions = {reverse};
  for (const std::string& target : targets) {
    INFO(target);
    const Device gpu = Device::open("emulator:" + target);
    std::vector<float> expected = values(64, 5);
    const Array x = Array::from_host(gpu, expected);
    gpu.load(write_package(package))["reverse"](x);
    std::reverse(expected.begin(), expected.end());
    CHECK(x.to_host<float>() == expected);
  }
}

TEST_CASE("a generic code object runs on an emulated device of its family") {
  const Device gpu = Device::open("emulator:gfx1100");
  const LoadedModule module = gpu.load(write_package(add_package({"gfx906", "gfx11-generic"})));
  CHECK(module.target_id() == "gfx11-generic");
  const Array a = Array::from_host(gpu, values(100, 1)), c = Array::empty(gpu, f32, {100});
  module["add"](a, a, c);
  CHECK(c.to_host<float>()[99] == 2 * values(100, 1)[99]);
}

TEST_CASE("an access outside every allocation is an Error with the emulator's report") {
  PackageData package = add_package({"gfx942"});
  package.functions[0].launches[0].arguments[3].expression = ShapeExpr::constant(1 << 20);  // not the arrays' n
  package.functions[0].launches[0].grid[0] = ShapeExpr::constant(1 << 14);
  const Device gpu = Device::open("emulator:gfx942");
  const LoadedModule module = gpu.load(write_package(package));
  const Array a = Array::from_host(gpu, values(64, 1)), c = Array::empty(gpu, f32, {64});
  const std::string message = error_message([&] {
    module["add"](a, a, c);
    gpu.synchronize();
  });
  CAPTURE(message);
  CHECK(message.find("vector_add") != std::string::npos);
  CHECK(message.find("0x") != std::string::npos);
  CHECK(message.find("lane") != std::string::npos);
}

TEST_CASE("streams, events and views work on the emulated device") {
  const Device gpu = Device::open("emulator:gfx906");
  const Function add = gpu.load(write_package(add_package({"gfx906"})))["add"];
  const Array a = Array::from_host(gpu, values(256, 2)), c = Array::empty(gpu, f32, {100}), d = Array::empty(gpu, f32, {100});
  const Stream first = Stream::create(gpu), second = Stream::create(gpu);
  const Event start = Event::create(gpu), done = Event::create(gpu);
  start.record(first);
  add(first, a.slice(0, 0, 100), a.slice(0, 100, 200), c);
  done.record(first);
  second.wait(done);
  add(second, c, c, d);
  second.synchronize();
  CHECK(done.is_done());
  CHECK(elapsed_ms(start, done) >= 0);
  const std::vector<float> x = values(256, 2), result = d.to_host<float>();
  for (size_t i = 0; i < 100; ++i) CHECK(result[i] == (x[i] + x[i + 100]) + (x[i] + x[i + 100]));
}

TEST_CASE("packages for another target and unknown processors are refused by name") {
  CHECK(error_message([] { Device::open("emulator:gfx1").name(); }).find(
            "device \"emulator:gfx1\": the emulator has no processor \"gfx1\"") == 0);
  const Device gpu = Device::open("emulator:gfx906");
  CHECK(error_message([&] { gpu.load(write_package(add_package({"gfx942"}))); }).find(
            "; the package has code objects for gfx942") != std::string::npos);
}
