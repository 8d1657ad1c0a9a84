#include "runtime/module.h"

#include <fstream>

#include "runtime/package.h"
#include "tests/runtime/test_package.h"

using namespace lathe;

namespace {

struct Fixture {
  Environment hip{"LATHE_HIP_LIBRARY", FAKE_HIP};
  FakeHip& control = fake(FAKE_HIP);

  Device device(const std::string& arch) {
    control.arch = arch;
    return Device::open("hip:0");
  }
  std::string picked(const std::string& arch, const std::vector<std::string>& targets) {
    return device(arch).load(write_package(add_package(targets))).target_id();
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the exact processor wins over its generic target") {
  CHECK(picked("gfx1100", {"gfx11-generic", "gfx1100", "gfx906"}) == "gfx1100");
  CHECK(picked("gfx1102", {"gfx906", "gfx11-generic", "gfx1100"}) == "gfx11-generic");
  CHECK(picked("gfx90a:sramecc+:xnack-", {"gfx906", "gfx90a"}) == "gfx90a");
}

TEST_CASE_METHOD(Fixture, "a package without a fitting code object is refused with both sides' ids (case R3)") {
  auto message = [&](const std::string& arch, const std::vector<std::string>& targets) {
    return error_message([&] { picked(arch, targets); });
  };
  CHECK(message("gfx908", {"gfx906", "gfx942"}) ==
        "package: device hip:0 is a gfx908; the package has code objects for gfx906, gfx942 (hint: build it for gfx908 too)");
  CHECK(message("gfx803", {"gfx906"}) ==
        "package: device hip:0 is a gfx803; the package has code objects for gfx906 (hint: build it for gfx803 too)");
  CHECK(message("gfx1399", {"gfx906"}) ==
        "package: device hip:0 is a gfx1399, a processor this version of Lathe does not know");
  PackageData xnack = add_package({"gfx90a"});
  xnack.code_objects[0].target = "gfx90a:xnack+";
  CHECK(error_message([&] { device("gfx90a:sramecc+:xnack-").load(write_package(xnack)); }) ==
        "package: device hip:0 is a gfx90a:sramecc+:xnack-; the package has code objects for gfx90a:xnack+ (code object "
        "for gfx90a:xnack+ on device gfx90a:sramecc+:xnack-: xnack settings differ) (hint: build it for gfx90a too)");
  PackageData none = add_package({});
  CHECK(error_message([&] { device("gfx906").load(write_package(none)); }) ==
        "package: device hip:0 is a gfx906; the package has code objects for nothing (hint: build it for gfx906 too)");
}

TEST_CASE_METHOD(Fixture, "a code object that is not what the package says is refused before HIP sees it") {
  auto message = [&](void (*damage)(PackageData&)) {
    PackageData package = add_package({"gfx906"});
    damage(package);
    return error_message([&] { device("gfx906").load(write_package(package)); });
  };
  CHECK(message([](PackageData& p) { p.code_objects[0].bytes = test_object("gfx942"); }) ==
        "package, code object for gfx906: it was compiled for gfx942");
  CHECK(message([](PackageData& p) { p.code_objects[0].bytes.resize(1000); }).find(
            "package, code object for gfx906: cut short") == 0);
  CHECK(message([](PackageData& p) { p.functions[0].launches[0].kernel = "vector_sub"; }) ==
        "package, code object for gfx906: the code object for gfx906 has no kernel \"vector_sub\"");
  CHECK(message([](PackageData& p) { p.functions[0].launches[0].arguments.pop_back(); }) ==
        "package, code object for gfx906: kernel \"vector_add\" takes 4 parameters, the package passes 3");
  CHECK(message([](PackageData& p) { p.functions[0].launches[0].arguments[3].type = i32; }) ==
        "package, code object for gfx906: kernel \"vector_add\" takes 8 bytes as parameter 3, the package passes 4");
  CHECK(message([](PackageData& p) { p.functions[0].launches[0].block = {128, 1, 1}; }) ==
        "package, code object for gfx906: kernel \"vector_add\" was compiled for at most 64 threads in a group, the "
        "package asks for 128");
  CHECK(message([](PackageData& p) { p.functions[0].launches[0].dynamic_lds_bytes = 66304; }) ==
        "package, code object for gfx906: kernel \"vector_add\" needs 66304 bytes of LDS, gfx906 has 65536");
  CHECK(control.calls["hipModuleLoadData"] == 0);
}

TEST_CASE_METHOD(Fixture, "functions are found by name") {
  const LoadedModule module = device("gfx906").load(write_package(add_package({"gfx906"})));
  CHECK(module.function_names() == std::vector<std::string_view>{"add", "add_twice"});
  CHECK(module["add"].data().arguments[2].name == "C");
  CHECK(error_message([&] { module["sub"]; }) ==
        "package: there is no function \"sub\" (hint: the package has add, add_twice)");
}

TEST_CASE_METHOD(Fixture, "a module is unloaded, after a wait, with its last handle") {
  const Device gpu = device("gfx906");
  {
    const Function add = gpu.load(write_package(add_package({"gfx906"})))["add"];
    CHECK(control.live_modules == 1);
    control.calls.clear();
  }
  CHECK(control.calls["hipDeviceSynchronize"] == 1);
  CHECK(control.live_modules == 0);
}

TEST_CASE_METHOD(Fixture, "HIP's failures at load name call and code object, and leak nothing") {
  const Device gpu = device("gfx906");
  const std::vector<uint8_t> bytes = write_package(add_package({"gfx906"}));
  control.faults["hipModuleLoadData"] = {0, 1};
  CHECK(error_message([&] { gpu.load(bytes); }) ==
        "hipModuleLoadData, package, code object for gfx906: hipErrorInvalidValue (1): something went wrong");
  control.faults["hipModuleGetFunction"] = {1, 1};
  CHECK(error_message([&] { gpu.load(bytes); }) ==
        "hipModuleGetFunction, kernel \"vector_add\" of package, code object for gfx906: hipErrorInvalidValue (1): "
        "something went wrong");
  CHECK(control.live_modules == 0);
  CHECK(gpu.load(bytes).target_id() == "gfx906");
}

TEST_CASE_METHOD(Fixture, "packages come from files, and damage names the file") {
  const std::string path = std::string(RUNTIME_TEST_OBJECTS) + "/add.lathe";
  const std::vector<uint8_t> bytes = write_package(add_package({"gfx906"}));
  auto write = [&](size_t size) {
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()),
                                                static_cast<std::streamsize>(size));
  };
  write(bytes.size());
  CHECK(Package::from_file(path).data() == add_package({"gfx906"}));
  CHECK(device("gfx906").load(Package::from_file(path)).target_id() == "gfx906");
  write(100);
  CHECK(error_message([&] { Package::from_file(path); }) ==
        path + ": cut short: 100 of " + std::to_string(bytes.size()) + " bytes");
}
