// Runs work-groups: a Worker owns registers, LDS and scratch of one group at a time, and reuses them.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "launch/dispatch.h"
#include "launch/order.h"

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
  int priority = 0;             // of the stream
  Order order;
  u64 instruction_limit = 0;    // per work-group
  std::atomic<u64>* events = nullptr;  // counts turns of waves that did more than poll, groups begun and ended
  u32 launch_tag = 1;           // of this launch's accesses, 1 to 1023
  class GridBarrier* grid_barrier = nullptr;  // of a cooperative launch
  ReleaseLog* log = nullptr;    // if the kernel acquires anywhere
  bool ended_count = false;     // waves that ended count as arrived at barriers
};

class Worker {
 public:
  explicit Worker(const LaunchState&);
  ~Worker();
  // Starts on group (x, y, z), number `linear` of the grid.
  void begin(u32 x, u32 y, u32 z, u64 linear);
  // Runs the group on: true if it has ended, false if all its waves only poll, which other groups may have
  // to answer. Call it again then. A fault leaves as FaultReport.
  bool run();
  // What the group can no longer do, told by the launch: waves that poll in vain.
  [[noreturn]] void give_up(const std::string& why);
  static u64 bytes_needed(const LaunchState&);
  const CounterSet& counters() const { return group_.counters; }

 private:
  void reset(u32 x, u32 y, u32 z);
  bool run_waves();
  bool run_round(bool& polled);
  void check_barriers();
  [[noreturn]] void report(const struct Fault&);
  void init_wave(Wave&, u32 x, u32 y, u32 z);
  const LaunchState& state_;
  u32 wave_count_ = 0;
  std::vector<std::unique_ptr<Wave>> waves_;
  std::vector<u32> registers_, bits_, pend_;
  std::vector<u64> masks_;
  std::vector<u8> lds_, lds_defined_;
  Allocation* scratch_ = nullptr;
  Group group_;
  std::vector<u32> turns_;           // the order in which the waves take their turns
  u64 executed_before_ = 0;          // instructions, when the group began
  const Wave* current_ = nullptr;    // for reports
  const Inst* at_ = nullptr;
};

struct FaultReport {
  int kind;
  std::string text;
};

}  // namespace lathe::emu
