// What a launch and a load cost on top of HIP: measured on the fake HIP, whose own launch costs next to nothing.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include "runtime/base/xxhash64.h"
#include "runtime/runtime.h"
#include "tests/runtime/fake_hip.h"

using namespace lathe;

namespace {

// Median time of one call in microseconds, over rounds of `calls`.
template <class Action>
double microseconds(int calls, Action&& action) {
  std::vector<double> rounds;
  for (int round = 0; round < 21; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) action();
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
    rounds.push_back(elapsed.count() / calls);
  }
  std::nth_element(rounds.begin(), rounds.begin() + 10, rounds.end());
  return rounds[10];
}

std::vector<uint8_t> package_of(const char* target, size_t padding) {
  std::ifstream file(std::string(RUNTIME_TEST_OBJECTS) + "/" + target + ".hsaco", std::ios::binary);
  const ShapeExpr n = ShapeExpr::symbol(0), one = ShapeExpr::constant(1);
  const ShapeExpr groups = ShapeExpr::apply(
      ShapeOp::floor_div, {ShapeExpr::apply(ShapeOp::add, {n, ShapeExpr::constant(63)}), ShapeExpr::constant(64)});
  FunctionData add;
  add.name = "add";
  add.symbols = {"n"};
  add.arguments = {{"A", f32, {n}, false}, {"B", f32, {n}, false}, {"C", f32, {n}, true}};
  add.launches = {{"vector_add", {groups, one, one}, {64, 1, 1}, 0,
                   {{KernelArgumentKind::argument, 0, {}, f32},
                    {KernelArgumentKind::argument, 1, {}, f32},
                    {KernelArgumentKind::argument, 2, {}, f32},
                    {KernelArgumentKind::expression, 0, n, i64}},
                   {}}};
  PackageData package{{add}, {}, {}, "bench"};
  package.code_objects.push_back({target, {std::istreambuf_iterator<char>(file), {}}});
  package.code_objects.push_back({"gfx1100", std::vector<uint8_t>(padding, 1)});
  return write_package(package);
}

}  // namespace

int main() {
  setenv("LATHE_HIP_LIBRARY", FAKE_HIP, 1);
  FakeHip& control = *reinterpret_cast<FakeHip* (*)()>(dlsym(dlopen(FAKE_HIP, RTLD_NOW), "fake_hip"))();
  control.arch = "gfx906";
  control.record = false;
  const Device gpu = Device::open("hip:0");
  const std::vector<uint8_t> bytes = package_of("gfx906", 0), large = package_of("gfx906", 8 << 20);
  const Function add = gpu.load(bytes)["add"];
  const Array a = Array::from_host(gpu, std::vector<float>(1));

  using Launch = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                         void**);
  const auto bare = reinterpret_cast<Launch>(dlsym(dlopen(FAKE_HIP, RTLD_NOW), "hipModuleLaunchKernel"));
  void* pointer = a.data();
  int64_t n = 1;
  void* parameters[] = {&pointer, &pointer, &pointer, &n};
  static char kernel[] = "vector_add";
  const double alone = microseconds(20000, [&] { bare(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr); });
  const double whole = microseconds(20000, [&] { add(a, a, a); });
  fmt::print("launch, fake hipModuleLaunchKernel alone   {:8.3f} us\n", alone);
  fmt::print("launch, function(a, b, c)                  {:8.3f} us   overhead {:.3f} us\n", whole, whole - alone);
  fmt::print("load a package of {:4} KiB                 {:8.1f} us\n", bytes.size() >> 10,
             microseconds(20, [&] { gpu.load(bytes); }));
  fmt::print("load a package of {:4} KiB                 {:8.1f} us\n", large.size() >> 10,
             microseconds(5, [&] { gpu.load(large); }));
  uint64_t sum = 0;
  const double checksum = microseconds(5, [&] { sum += xxhash64(large); });
  fmt::print("checksum of it                             {:8.1f} us   ({:x})\n", checksum, sum);
}
