#include "grid_barrier.h"

#include <fmt/format.h>

#include "fault.h"

namespace lathe::emu {

u64 GridBarrier::arrive(u32 waves) {
  if (waves != groups_) raise(FaultKind::unsupported, fmt::format("grid barrier of {} waves in a launch of {} groups: one wave of each group is what the emulator knows", waves, groups_));
  std::lock_guard lock(mutex_);
  const u64 round = round_;
  if (++arrived_ == groups_) arrived_ = 0, round_++;
  return round;
}
bool GridBarrier::passed(u64 round) {
  std::lock_guard lock(mutex_);
  if (round_ != round) return true;
  if (arrived_ == alive_) raise(FaultKind::barrier_divergence, fmt::format("grid barrier not reached by all groups: {} of {} wait while the others ended without reaching it", arrived_, groups_));
  return false;
}
void GridBarrier::leave() {
  std::lock_guard lock(mutex_);
  alive_--;
}

}  // namespace lathe::emu
