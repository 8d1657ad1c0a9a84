// The state of one wave and of its work-group. Registers are arrays of lanes, so that a row's loop is
// a host SIMD loop. Beside them stands the shadow: which bits nothing has written, and which registers
// a load is still on its way to.
#pragma once

#include <string>
#include <vector>

#include "counters.h"
#include "inst.h"
#include "isa.h"
#include "rdna_hazards.h"

namespace lathe::emu {

class Memory;
struct Allocation;
struct Kernel;
struct Program;

// SGPR file positions as in the operand encoding; M0 is always 124 here and writes to NULL go to 128.
constexpr u32 vcc_reg = 106, ttmp_reg = 108, m0_reg = 124, exec_reg = 126, sink_reg = 128, sgpr_file = 160;

// Counters a wait instruction names. gfx12 split them; older generations merge some (decode maps them).
enum class Counter : u8 { load, store, ds, km, exp, async, count };

struct Event {
  u8 counters;        // bit per Counter it holds open
  u8 order;           // events of one order class complete in the order of issue; 0: in any order
  bool sgpr;
  bool lds_write;
  u16 first, count;   // registers it will write
  u32 seq;
  const Inst* inst;
};

struct Group;

struct Wave {
  alignas(64) u32 s[sgpr_file];
  u32* v = nullptr;        // nv registers of `lanes` dwords
  u32 lanes = 64;
  u32 nv = 0;
  u64 full = 0;            // mask of the lanes that exist
  bool scc = false;
  u32 mode = 0;            // MODE register, ISA layout
  bool flush32_in = false, flush32_out = false, flush64_in = false, flush64_out = false;  // flush64: f16 too
  bool odd_rounding = false;  // some float rounding mode other than nearest even
  bool plain_mode = true;     // neither of them: float results are what the host computes
  u32 id = 0;              // within the work-group
  const Inst* resume = nullptr;
  enum class State : u8 { running, barrier, done } state = State::running;
  Group* group = nullptr;
  u8* scratch = nullptr;   // this wave's scratch, dwords interleaved over lanes
  u32 scratch_per_lane = 0;
  u64 first_lane_id = 0;   // flat work-item id of lane 0

  // Shadow state (strict mode).
  u64* und = nullptr;      // per VGPR: lanes with an undefined bit; all ones while a load is pending
  u64* all = nullptr;      // per VGPR: lanes whose 32 bits are all undefined (bits[] not consulted)
  u32* bits = nullptr;     // per VGPR and lane: undefined bits, valid where und & ~all
  u64* real = nullptr;     // per VGPR: the true `und` while a load is pending
  u32* pend = nullptr;     // per VGPR: sequence number of the pending load, or 0
  u32 s_und[sgpr_file];    // per SGPR: undefined bits
  u32 s_pend[sgpr_file];
  bool scc_und = false;
  u8* scratch_defined = nullptr;  // per byte: defined bits
  std::vector<Event> events;
  u32 seq = 0;

  // Last allocation a vector access hit: the next one most likely hits it again.
  u64 hit_lo = 1, hit_hi = 0;
  Allocation* hit = nullptr;

  // Scheduling: a wave that loops gives the others their turn (launch/group.cpp).
  i32 slice = 0;           // taken branches until then
  u32 polls = 0;           // atomics, coherent loads and sleeps in this turn: what a wave that waits for others does

  // Ordering within the group (strict mode). An access carries `stamp`; what another wave did at a stamp
  // below `epoch` came before this wave's last barrier. Between a split barrier's signal and its wait,
  // `stamp` is already that of the next epoch.
  u32 epoch = 1, stamp = 1;
  u32 barrier_phase[17] = {};  // per barrier: the phase this wave has signalled or joined in
  u8 joined = 0;               // the named barrier that it has joined (gfx1250), or 0
  u8 waits_on = 0;             // in state `barrier`: which one
  u64 grid_round = 0;          // the round of the grid's barrier it waits for, or 0

  // Wait states (strict mode, machine/hazards.h): an instruction runs at time_shift + its `states`.
  u32 time_shift = 0;
  struct Producer {
    const Inst* inst;
    u32 time;
  };
  std::vector<Producer> producers;  // of hazards, the latest last
  RdnaHazards rdna;

  // Ordering without barriers (strict mode, machine/races.h).
  std::vector<u32> closings;   // stamps at which this wave's earlier writes were complete and it did something atomic
  u32 synced = 0;              // newest stamp in the group when this wave last read atomically
  bool wrote = false;          // plain writes since the last closing
  bool wrote_global = false;   // global stores since the last complete wait
  u64 horizon = 0;             // releases up to this time are known to this wave
  u64 observed = 0;            // time that its atomic reads have seen, not yet acquired
  u64 last_release = 0;        // time of its own last release
  u32 logged_epoch = 0;

  u64 exec() const { return lanes == 64 ? bits_to_u64(&s[exec_reg]) : s[exec_reg]; }
  u64 mask(u32 reg) const { return lanes == 64 ? bits_to_u64(&s[reg]) : s[reg]; }
  void set_mask(u32 reg, u64 value) {
    s[reg] = u32(value);
    if (lanes == 64) s[reg + 1] = u32(value >> 32);
  }
  static u64 bits_to_u64(const u32* p) {
    u64 r;
    __builtin_memcpy(&r, p, 8);
    return r;
  }
  u32* vgpr(u32 reg) { return v + size_t(reg) * lanes; }
  void set_mode(u32 value) {
    mode = value;
    flush32_in = !(value & 0x10), flush32_out = !(value & 0x20);
    flush64_in = !(value & 0x40), flush64_out = !(value & 0x80);
    odd_rounding = (value & 0xf) != 0;
    plain_mode = (value & 0xff) == 0xf0;
  }
};

// Who touched an LDS dword since the last barrier (strict mode's race check), packed so that the check of
// a whole dword is one compare: epoch << 14 | wave << 8 | flag << 4 | byte mask. The flag says "atomic"
// of a write and "several waves" of a read.
struct LdsTouches {
  std::vector<u32> write, read;
  static constexpr u32 epochs = 1 << 18;
};

// The work-group's barrier (number 0) or a named one (1 to 16, gfx1250): complete once `members` waves have signalled.
struct Barrier {
  u32 members = 0, signals = 0, phase = 0;
  const Inst* at = nullptr;  // where the first wave of this phase signalled
  u32 first = 0;             // and which one it was
};

struct ReleaseLog;

// A wave that came to a barrier with global stores on their way, where others may read before they arrive.
struct Unwaited {
  u32 wave, stamp, until;  // until: the group's newest stamp when they had arrived
};

struct Group {
  const Kernel* kernel = nullptr;
  Program* program = nullptr;
  Memory* memory = nullptr;
  const Isa* isa = nullptr;
  std::vector<Wave*> waves;
  u8* lds = nullptr;
  u32 lds_size = 0;
  u8* lds_defined = nullptr;        // per byte: defined bits (strict mode)
  LdsTouches touches;
  u32 epoch = 1;                    // the newest stamp in the group
  Barrier barriers[17];
  class GridBarrier* grid_barrier = nullptr;  // in a cooperative launch
  u32 alive = 0;                    // waves that have not ended
  bool ended_count = false;         // waves that ended count as arrived at barriers, as on silicon
  u32 id[3] = {};
  u64 linear = 0;                   // number in the grid, x fastest
  // Races in global memory (machine/races.h).
  bool tracks = false;              // more than one wave may touch the same memory
  bool unwaited_matters = false;    // waves of a group may sit on several CUs: stores have to be waited for before a barrier
  u32 launch_tag = 0;
  u32 grid[3] = {1, 1, 1};
  ReleaseLog* log = nullptr;        // if the kernel acquires anywhere
  u64 horizon = 0;                  // of all waves that came to a barrier
  std::vector<Unwaited> unwaited;
  u64 scratch_base = 0;
  CounterSet counters;
  bool count_memory = false;        // lines and bank conflicts too
  u64 clock = 0;                    // what s_memtime and its kin have shown: time passes when it is asked for
};

}  // namespace lathe::emu
