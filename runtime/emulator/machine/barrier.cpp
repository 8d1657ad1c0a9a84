// See barrier.h. "If some waves have already terminated, this waits on only the surviving waves" (RDNA3 ISA,
// S_BARRIER): so silicon goes on, which the fast mode does too. OpenCL (6.15.8) and HIP leave it undefined
// unless every work-item of the group reaches the barrier, and so strict mode reports it; see launch/group.cpp.
#include "barrier.h"

#include <algorithm>

#include <fmt/format.h>

#include "fault.h"

namespace lathe::emu {
namespace {

void complete(Group& g, Barrier& b) {
  b.phase++;
  b.signals = 0;
  b.at = nullptr;
  next_epoch(g);
}
u32 members(const Group& g, u32 number) {
  if (number) return g.barriers[number].members;
  return g.ended_count ? g.alive : u32(g.waves.size());
}

}  // namespace

void next_epoch(Group& g) {
  if (++g.epoch < LdsTouches::epochs) return;
  std::fill(g.touches.write.begin(), g.touches.write.end(), 0);
  std::fill(g.touches.read.begin(), g.touches.read.end(), 0);
  g.epoch = 1;
  g.tracks = false;  // tags in global memory still carry the old numbers
  for (Wave* w : g.waves) w->epoch = w->stamp = 1, w->closings.clear(), w->synced = 0;
}

void signal_barrier(Wave& w, const Inst* i, u32 number, u32 count, bool strict) {
  Group& g = *w.group;
  Barrier& b = g.barriers[number];
  if (count) b.members = count;
  if (!b.signals) b.at = i, b.first = w.id;
  else if (strict && number == 0 && b.at != i)
    raise(FaultKind::barrier_divergence, fmt::format("barrier not reached by all waves: this wave waits here, wave {} at pc 0x{:x}", b.first, b.at->pc));
  b.signals++;
  w.barrier_phase[number] = b.phase;
  if (b.signals >= members(g, number)) complete(g, b);
  else w.stamp = g.epoch + 1;
}

bool pass_barrier(Wave& w, u32 number) {
  Group& g = *w.group;
  if (g.barriers[number].phase == w.barrier_phase[number]) return false;
  w.barrier_phase[number] = g.barriers[number].phase;
  w.epoch = w.stamp = g.epoch;
  w.closings.clear();
  w.horizon = std::max(w.horizon, g.horizon);
  return true;
}

void join_barrier(Wave& w, u32 number) {
  w.joined = u8(number);
  w.barrier_phase[number] = w.group->barriers[number].phase;
}
// A wave that leaves is no longer waited for.
void leave_barrier(Wave& w) {
  if (!w.joined) return;
  Barrier& b = w.group->barriers[w.joined];
  w.joined = 0;
  if (b.members) b.members--;
  if (b.signals && b.signals >= b.members) complete(*w.group, b);
}
void init_barrier(Group& g, u32 number, u32 count) {
  g.barriers[number].members = count;
  g.barriers[number].signals = 0;
}

void end_of_wave(Wave& w) {
  Group& g = *w.group;
  g.alive--;
  Barrier& b = g.barriers[0];
  if (g.ended_count && b.signals && b.signals >= g.alive) complete(g, b);
}

}  // namespace lathe::emu
