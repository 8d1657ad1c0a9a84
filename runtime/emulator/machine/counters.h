// What a launch counts. Instructions cost one increment: Inst::tally numbers the kinds that the counters tell apart.
// Lines and bank conflicts need every lane's address and are counted only when asked for.
#pragma once

#include "inst.h"

namespace lathe::emu {

struct Wave;
struct Isa;
struct DecodeContext;

// `slots`: how often the instruction takes its unit's issue port; `matrix_cycles`: how long it holds the matrix unit.
struct Tally {
  Class cls = Class::other;
  u8 slots = 1;
  u16 matrix_cycles = 0;
  bool operator==(const Tally&) const = default;
};
u8 tally_number(const DecodeContext&, const Inst&);
Tally tally(u8 number);

struct MemoryCounters {
  // LDS: `cycles` of its banks, of which `conflicts` because lanes met in a bank.
  u64 lds_requests = 0, lds_cycles = 0, lds_conflicts = 0;
  // Global memory: distinct bytes asked for, and the cache lines that hold them, request by request.
  u64 global_requests = 0, bytes = 0, lines64 = 0, lines128 = 0;
  // Bytes by how much of their 64-byte lines a request uses: all, at least a half, a quarter, less.
  u64 bytes_by_quality[4] = {};
  void add(const MemoryCounters&);
};

struct CounterSet {
  u64 executed[256] = {};   // by tally number
  u64 waves = 0, groups = 0;
  MemoryCounters memory;
  void add(const CounterSet&);
  u64 instructions() const;
};

// Called with the lanes' addresses when the group counts memory.
void count_lds(Wave&, const u32* at, u64 exec, u32 bytes, bool load);
void count_global(Wave&, const u64* at, u64 exec, u32 bytes);

}  // namespace lathe::emu
