// Runs work-groups: one Worker per host thread owns registers, LDS and scratch, and reuses them.
#pragma once

#include <memory>
#include <string>

#include "launch/dispatch.h"

namespace lathe::emu {

// What every group of a launch shares.
struct LaunchState {
  Kernel* kernel = nullptr;
  Program* program = nullptr;
  bool strict = true;
  bool count_memory = false;    // lines and bank conflicts too
  u32 grid[3], block[3];
  u32 lds_bytes = 0;
  u32 private_bytes = 0;        // per lane
  u64 kernarg = 0, dispatch_packet = 0, queue = 0, dispatch_id = 0;
};

class Worker {
 public:
  explicit Worker(const LaunchState&);
  ~Worker();
  // Runs one group to its end; a fault leaves as FaultReport.
  void run(u32 x, u32 y, u32 z);
  const CounterSet& counters() const { return group_.counters; }

 private:
  void reset(u32 x, u32 y, u32 z);
  void next_epoch();
  void init_wave(Wave&, u32 x, u32 y, u32 z);
  const LaunchState& state_;
  u32 wave_count_ = 0;
  std::vector<std::unique_ptr<Wave>> waves_;
  std::vector<u32> registers_, bits_, pend_;
  std::vector<u64> masks_;
  std::vector<u8> lds_, lds_defined_;
  Allocation* scratch_ = nullptr;
  Group group_;
};

struct FaultReport {
  int kind;
  std::string text;
};

}  // namespace lathe::emu
