// The barrier of all groups of a cooperative launch (ds_gws_barrier, "global wave sync"), one wave of each group.
#pragma once

#include <condition_variable>
#include <mutex>

#include "types.h"

namespace lathe::emu {

class GridBarrier {
 public:
  explicit GridBarrier(u32 groups) : groups_(groups), alive_(groups) {}
  // Of the group that the calling thread runs. A Fault if not all groups can come any more.
  void wait(u32 waves);
  void leave();     // that group has ended
  void cancel();    // a group stopped with a fault: the others must not wait for it

  // Which one ds_gws_barrier means on this thread; nullptr outside a cooperative launch.
  static GridBarrier*& here();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  u32 groups_, alive_, arrived_ = 0;
  u64 round_ = 0;
  bool broken_ = false;
};

}  // namespace lathe::emu
