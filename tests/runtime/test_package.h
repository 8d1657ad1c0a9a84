// Packages for the runtime's tests, around kernels that clang compiled (tests/base/kernels.cl).
#pragma once

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "runtime/base/package.h"
#include "tests/error_message.h"
#include "tests/runtime/fake_hip.h"

namespace lathe {

inline std::vector<uint8_t> test_object(const std::string& target) {
  std::ifstream file(std::string(RUNTIME_TEST_OBJECTS) + "/" + target + ".hsaco", std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline ShapeExpr ceil_div(ShapeExpr n, int64_t by) {
  return ShapeExpr::apply(ShapeOp::floor_div, {ShapeExpr::apply(ShapeOp::add, {n, ShapeExpr::constant(by - 1)}),
                                               ShapeExpr::constant(by)});
}

inline LaunchData vector_add_launch() {
  const ShapeExpr n = ShapeExpr::symbol(0), one = ShapeExpr::constant(1);
  return {"vector_add", {ceil_div(n, 64), one, one}, {64, 1, 1}, 0,
          {{KernelArgumentKind::argument, 0, {}, f32},
           {KernelArgumentKind::argument, 1, {}, f32},
           {KernelArgumentKind::argument, 2, {}, f32},
           {KernelArgumentKind::expression, 0, n, i64}},
          {}};
}

// add(A, B, C): C = A + B, with n elements.
// add_twice(A, B, C): C = (A + B) + B, by two launches through a workspace.
inline PackageData add_package(const std::vector<std::string>& targets) {
  const ShapeExpr n = ShapeExpr::symbol(0);
  FunctionData add;
  add.name = "add";
  add.symbols = {"n"};
  add.arguments = {{"A", f32, {n}, false}, {"B", f32, {n}, false}, {"C", f32, {n}, true}};
  add.launches = {vector_add_launch()};
  FunctionData twice = add;
  twice.name = "add_twice";
  twice.workspaces = {{"sum", f32, {n}}};
  twice.launches = {vector_add_launch(), vector_add_launch()};
  twice.launches[0].arguments[2] = {KernelArgumentKind::workspace, 0, {}, f32};
  twice.launches[1].arguments[0] = {KernelArgumentKind::workspace, 0, {}, f32};
  PackageData package{{add, twice}, {}, {}, "test"};
  for (const std::string& target : targets) package.code_objects.push_back({target, test_object(target)});
  return package;
}

// The control block of the fake library at `path`, all counters and faults reset.
inline FakeHip& fake(const char* path) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle);
  FakeHip& control = *reinterpret_cast<FakeHip* (*)()>(dlsym(handle, "fake_hip"))();
  control = {};
  return control;
}

// Sets an environment variable for one scope.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    if (value) setenv(name, value, 1);
    else unsetenv(name);
  }
  Environment(const Environment&) = delete;
  ~Environment() {
    if (old_) setenv(name_, old_->c_str(), 1);
    else unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace lathe
