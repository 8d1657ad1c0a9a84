// Data races in global memory (strict mode): two accesses to the same bytes by different waves of a launch, at
// least one of them a plain write, with nothing that orders them.
//
// What orders them:
//  - in one work-group, a barrier between them (a store has to be waited for before it, where the waves of a
//    group may sit on several CUs); or the first wave then doing something atomic and the second one, after
//    that, reading atomically;
//  - in two work-groups, a release and an acquire: the first wave waits for its stores, then writes an atomic
//    or a flag; the second reads it atomically, waits, and invalidates its caches.
// Atomics and coherent accesses (cache bits: any scope above the wave's) never race themselves.
//
// Releases have a time, one clock per launch. An acquire tells a wave of all releases up to the time that it
// read: scalar clocks know too much order rather than too little, so a race may be missed in kernels that
// synchronise, and none is reported falsely.
#pragma once

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "wave.h"

namespace lathe::emu {

// Only for kernels with an instruction that acquires: who released what when.
struct ReleaseLog {
  struct Entry {
    u32 wave, own_upto;   // this wave's writes up to this stamp are complete
    u32 all_upto;         // and those of its whole group up to this one
    u64 time;
  };
  std::mutex mutex;
  u64 clock = 0;
  std::unordered_map<u32, std::vector<Entry>> groups;
  std::unordered_map<u64, u64> atomics;  // by address: the latest release that a reader of it learns of
};

enum class Touch : u8 { read, write, atomic };

// Holds the stretches of memory that an access touches, so that look at the tags, access and what it tells are one
// step: groups run on several host threads. Plain loads need none of it (they set their tag first and look then, as
// stores do: one of the two sees the other).
class Stretches {
 public:
  Stretches(u8* const* p, u64 exec, u32 bytes);
  ~Stretches();
  Stretches(const Stretches&) = delete;

 private:
  u64 held_[8] = {};
};

// Before and after a global access of the lanes in `exec` is done. `p`: the lanes' addresses.
void touch_global(Wave&, const Inst*, u8* const* p, u64 exec, u32 bytes, Touch);
void observe_global(Wave&, u8* const* p, u64 exec);
void observe_all(Wave&);   // the grid's barrier: all that was released so far
void touch_scalar(Wave&, const Inst*, Allocation*, u64 address, u32 bytes);

// All stores of the wave have arrived (a wait down to zero).
void release_point(Wave&);
// Atomics and coherent stores: what the wave wrote before is ordered before what reads them.
void close_writes(Wave&);
// A cache invalidation: the wave now knows what its atomic reads told it.
void acquire(Wave&);
// At a barrier: stores still on their way, and what the wave has learned.
void arrive_with_stores(Wave&);

// Whether what wave `other` did at `stamp` comes before what this wave does now; for LDS too.
bool ordered_in_group(const Wave&, u32 other, u32 stamp);

}  // namespace lathe::emu
