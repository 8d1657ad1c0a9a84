// The barrier of all groups of a cooperative launch (ds_gws_barrier, "global wave sync"), one wave of each group.
// Nobody blocks in it: a wave that waits gives way to others and asks again.
#pragma once

#include <mutex>

#include "types.h"

namespace lathe::emu {

class GridBarrier {
 public:
  explicit GridBarrier(u32 groups) : groups_(groups), alive_(groups) {}
  u64 arrive(u32 waves);    // gives the round to ask for; never 0
  bool passed(u64 round);   // a Fault if not all groups can come any more
  void leave();             // a group has ended

 private:
  std::mutex mutex_;
  u32 groups_, alive_, arrived_ = 0;
  u64 round_ = 1;
};

}  // namespace lathe::emu
