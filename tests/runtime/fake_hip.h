// A HIP library for tests of the runtime's own logic: devices with host memory, a kernel or two written in C++,
// counters, and faults on demand. Built twice: as libamdhip64.so (properties in HIP 5's layout) and as an emulator
// (properties in R0600's layout, plus the emulator's two entry points).
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

namespace lathe {

struct FakeLaunch {
  std::string kernel;
  std::array<unsigned, 3> grid, block;
  unsigned dynamic_lds = 0;
  void* stream = nullptr;
  int device = 0;
  std::vector<void*> pointers;  // vector_add's three
};

struct FakeHip {
  int devices = 1;
  int init_status = 0;                    // what hipInit returns
  std::string arch = "gfx90a:sramecc+:xnack-";
  std::array<int, 3> max_grid{0x7fffffff, 65536, 65536};
  std::string report;                     // lathe_emulator_last_report

  // hipMalloc … by name: the status its n-th next call returns (counted from 0), once.
  struct Fault {
    int after = 0, status = 0;
  };
  std::map<std::string, Fault, std::less<>> faults;

  std::map<std::string, int, std::less<>> calls;  // by name, since reset
  bool record = true;                             // launches
  int live_allocations = 0, live_modules = 0, live_streams = 0, live_events = 0;
  std::vector<FakeLaunch> launches;
};

}  // namespace lathe

extern "C" lathe::FakeHip* fake_hip();
