#include "runtime/device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "runtime/library_search.h"
#include "tests/runtime/test_package.h"

using namespace lathe;

TEST_CASE("HIP 5's device properties are read at its offsets") {
  const Environment hip("LATHE_HIP_LIBRARY", FAKE_HIP);
  fake(FAKE_HIP).max_grid = {100, 200, 300};
  const Device gpu = Device::open("hip:0");
  CHECK(gpu.name() == "hip:0");
  CHECK(gpu.info().product == "Fake GPU");
  CHECK(gpu.info().target_id == "gfx90a:sramecc+:xnack-");
  CHECK(gpu.info().memory_bytes == size_t{1} << 34);
  CHECK(gpu.info().compute_units == 110);
  CHECK(gpu.info().max_grid == std::array<int64_t, 3>{100, 200, 300});
  CHECK_FALSE(gpu.info().is_emulated);
}

TEST_CASE("HIP 6's device properties are read at theirs, through the emulator's library") {
  const Environment emulator("LATHE_EMULATOR_LIBRARY", FAKE_EMULATOR);
  fake(FAKE_EMULATOR).max_grid = {100, 200, 300};
  const Device gpu = Device::open("emulator:gfx906");
  CHECK(gpu.name() == "emulator:gfx906");
  CHECK(gpu.ordinal() == 1);
  CHECK(gpu.info().product == "Fake GPU");
  CHECK(gpu.info().target_id == "gfx906");
  CHECK(gpu.info().memory_bytes == size_t{1} << 34);
  CHECK(gpu.info().compute_units == 110);
  CHECK(gpu.info().max_grid == std::array<int64_t, 3>{100, 200, 300});
  CHECK(gpu.info().is_emulated);
  CHECK(Device::open("emulator").name() == "emulator:gfx942");
}

TEST_CASE("two handles of one device are equal, two devices are not") {
  const Environment hip("LATHE_HIP_LIBRARY", FAKE_HIP), emulator("LATHE_EMULATOR_LIBRARY", FAKE_EMULATOR);
  fake(FAKE_HIP).devices = 2;
  fake(FAKE_EMULATOR);
  CHECK(Device::open("hip:1") == Device::open("hip:1"));
  CHECK(Device::open("hip:0") != Device::open("hip:1"));
  CHECK(Device::open("hip:0") != Device::open("emulator"));
}

// Runs `action` and returns what it wrote to standard error.
template <class Action>
static std::string standard_error(Action&& action) {
  std::fflush(stderr);
  const int saved = dup(2);
  std::FILE* file = std::tmpfile();
  dup2(fileno(file), 2);
  action();
  std::fflush(stderr);
  dup2(saved, 2);
  close(saved);
  std::rewind(file);
  std::string text(1000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST_CASE("the default is LATHE_DEVICE, else the first GPU, else the emulated one, said once") {
  const Environment hip("LATHE_HIP_LIBRARY", FAKE_HIP), emulator("LATHE_EMULATOR_LIBRARY", FAKE_EMULATOR);
  FakeHip& gpus = fake(FAKE_HIP);
  fake(FAKE_EMULATOR);
  {
    const Environment device("LATHE_DEVICE", "emulator:gfx906");
    CHECK(standard_error([] { CHECK(Device::open().name() == "emulator:gfx906"); }) == "");
  }
  const Environment device("LATHE_DEVICE", nullptr);
  CHECK(standard_error([] { CHECK(Device::open().name() == "hip:0"); }) == "");
  gpus.init_status = 101;  // what HIP 5.2 returns without a driver
  CHECK(standard_error([] { CHECK(Device::open().name() == "emulator:gfx942"); }) ==
        "lathe: no AMD GPU here, running on the emulated gfx942 (LATHE_DEVICE chooses another)\n");
  gpus.init_status = 0;
  gpus.devices = 0;
  CHECK(standard_error([] { CHECK(Device::open().name() == "emulator:gfx942"); }) == "");
  const Environment no_hip("LATHE_HIP_LIBRARY", "/nonexistent/libamdhip64.so");
  CHECK(standard_error([] { CHECK(Device::open().name() == "emulator:gfx942"); }) == "");
}

TEST_CASE("a HIP that fails for another reason is not taken for a machine without a GPU") {
  const Environment hip("LATHE_HIP_LIBRARY", FAKE_HIP), device("LATHE_DEVICE", nullptr);
  fake(FAKE_HIP).init_status = 999;
  CHECK(error_message([] { Device::open(); }) == "hipInit: hipErrorUnknown (999): something went wrong");
}

TEST_CASE("devices that are not there are refused by name") {
  const Environment hip("LATHE_HIP_LIBRARY", FAKE_HIP), emulator("LATHE_EMULATOR_LIBRARY", FAKE_EMULATOR);
  FakeHip& gpus = fake(FAKE_HIP);
  fake(FAKE_EMULATOR);
  auto message = [](const char* name) { return error_message([&] { Device::open(name); }); };
  CHECK(message("hip:3") == "device \"hip:3\": " FAKE_HIP " finds 1 AMD GPU (hint: \"emulator\" is a device on every machine)");
  gpus.devices = 0;
  CHECK(message("hip:0") ==
        "device \"hip:0\": " FAKE_HIP " finds no AMD GPU (hint: \"emulator\" is a device on every machine)");
  for (const char* bad : {"x", "", "-1", "1x"})
    CHECK(message((std::string("hip:") + bad).c_str()) ==
          fmt::format("device \"hip:{}\": \"{}\" is not a device's number (hint: AMD GPUs are hip:0, hip:1 and so on)",
                      bad, bad));
  CHECK(message("cuda:0") ==
        "device \"cuda:0\": not a device's name (hint: names are hip:0, emulator, emulator:gfx1100)");
  CHECK(message("emulator:gfx1") ==
        "device \"emulator:gfx1\": the emulator has no processor \"gfx1\" (hint: for example emulator:gfx906, "
        "emulator:gfx942, emulator:gfx1100)");
}

TEST_CASE("libraries that are not what they should be are refused with what dlopen said or lacks") {
  fake(FAKE_HIP);
  {
    const Environment hip("LATHE_HIP_LIBRARY", "/nonexistent/libamdhip64.so");
    CHECK(error_message([] { Device::open("hip:0"); }) ==
          "HIP: no library found:\n  /nonexistent/libamdhip64.so: cannot open shared object file: No such file or "
          "directory (hint: LATHE_HIP_LIBRARY can name its path)");
  }
  {
    const Environment emulator("LATHE_EMULATOR_LIBRARY", "/nonexistent/e.so");
    CHECK(error_message([] { Device::open("emulator"); }) ==
          "emulated GPU: no library found:\n  /nonexistent/e.so: cannot open shared object file: No such file or "
          "directory (hint: LATHE_EMULATOR_LIBRARY can name its path)");
  }
  {
    const Environment hip("LATHE_HIP_LIBRARY", "libm.so.6");
    CHECK(error_message([] { Device::open("hip:0"); }) == "HIP: libm.so.6 has no entry point hipInit");
  }
  const Environment emulator("LATHE_EMULATOR_LIBRARY", FAKE_HIP);
  CHECK(error_message([] { Device::open("emulator"); }) ==
        "device \"emulator:gfx942\": " FAKE_HIP
        " is not the emulated GPU: it has no entry point lathe_emulator_add_device");
}

TEST_CASE("where the libraries are looked for") {
  const Environment hip("LATHE_HIP_LIBRARY", nullptr), emulator("LATHE_EMULATOR_LIBRARY", nullptr);
  CHECK(hip_library_candidates() == std::vector<std::string>{"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                                                             "libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so"});
  const std::vector<std::string> candidates = emulator_library_candidates();
  REQUIRE(candidates.size() >= 2);
  const std::string executable = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  CHECK(candidates[0] == executable + "/liblathe_emulator.so");
}

TEST_CASE("a failing wait names call and device, and carries the emulator's report of a kernel fault") {
  const Environment emulator("LATHE_EMULATOR_LIBRARY", FAKE_EMULATOR);
  FakeHip& control = fake(FAKE_EMULATOR);
  const Device gpu = Device::open("emulator");
  control.report = "kernel add, lane 3: address 0x10 is in no allocation";
  control.faults["hipDeviceSynchronize"] = {1, 719};
  gpu.synchronize();
  CHECK(error_message([&] { gpu.synchronize(); }) ==
        "hipDeviceSynchronize, emulator:gfx942: hipErrorLaunchFailure (719): something went wrong\n"
        "kernel add, lane 3: address 0x10 is in no allocation");
  gpu.synchronize();
  control.faults["hipDeviceSynchronize"] = {0, 1};  // a call's own mistake has no report
  CHECK(error_message([&] { gpu.synchronize(); }) ==
        "hipDeviceSynchronize, emulator:gfx942: hipErrorInvalidValue (1): something went wrong");
}
