#include "grid_barrier.h"

#include <fmt/format.h>

#include "fault.h"

namespace lathe::emu {

GridBarrier*& GridBarrier::here() {
  static thread_local GridBarrier* barrier = nullptr;
  return barrier;
}

void GridBarrier::wait(u32 waves) {
  if (waves != groups_) raise(FaultKind::unsupported, fmt::format("grid barrier of {} waves in a launch of {} groups: one wave of each group is what the emulator knows", waves, groups_));
  std::unique_lock lock(mutex_);
  arrived_++;
  if (arrived_ == groups_) {
    arrived_ = 0;
    round_++;
    changed_.notify_all();
    return;
  }
  if (arrived_ == alive_) broken_ = true, changed_.notify_all();   // some have ended: they never come
  const u64 round = round_;
  changed_.wait(lock, [&] { return round_ != round || broken_; });
  if (round_ == round) raise(FaultKind::barrier_divergence, fmt::format("grid barrier not reached by all groups: {} of {} wait while the others ended without reaching it", arrived_, groups_));
}
void GridBarrier::leave() {
  std::lock_guard lock(mutex_);
  alive_--;
  if (arrived_ > 0 && arrived_ == alive_) broken_ = true, changed_.notify_all();
}
void GridBarrier::cancel() {
  std::lock_guard lock(mutex_);
  broken_ = true;
  changed_.notify_all();
}

}  // namespace lathe::emu
