// Barriers: s_barrier, gfx12's split s_barrier_signal and s_barrier_wait, and gfx1250's named ones.
#pragma once

#include "wave.h"

namespace lathe::emu {

// A wave arrives; `members`, if not 0, sets how many have to. Strict mode: raises if the first wave of this
// phase arrived at another instruction of the work-group's barrier.
void signal_barrier(Wave&, const Inst*, u32 number, u32 members, bool strict);
// True if the phase that the wave signalled in is complete; the wave may then go on.
bool pass_barrier(Wave&, u32 number);
void join_barrier(Wave&, u32 number);
void leave_barrier(Wave&);
void init_barrier(Group&, u32 number, u32 members);
// A wave has ended: where ended waves count as arrived, this may complete a phase.
void end_of_wave(Wave&);
// New stamps; clears LDS's tags where the numbers run out.
void next_epoch(Group&);

}  // namespace lathe::emu
