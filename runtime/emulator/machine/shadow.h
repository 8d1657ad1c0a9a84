// Strict mode's bookkeeping of undefined bits and pending loads, for all families.
// The common case costs one OR per operand: `und` of a VGPR is zero when it is defined and arrived.
#pragma once

#include "wave.h"

namespace lathe::emu {

// In-order classes of events. gfx9 has one counter for loads and stores, in order.
enum : u8 { order_any = 0, order_lds = 1, order_load = 2, order_store = 3, order_async = 4 };
// Beside the bits of Event::counters: the event stands in line in that counter too, but does not end there.
constexpr u8 also_load = 64, also_ds = 128;
static_assert(int(Counter::count) <= 6);

// A load of `count` VGPRs from `first` was issued; their `real` shadow is already in und/all/bits.
void pend_vgprs(Wave&, const Inst*, u32 first, u32 count, u8 counters, u8 order, bool lds_write = false);
void pend_sgprs(Wave&, const Inst*, u32 first, u32 count, u8 counters, u8 order);
void pend_none(Wave&, const Inst*, u8 counters, u8 order, bool lds_write);

// s_waitcnt: completes what is certain to have completed when `counter` is at most `n`.
void wait_for(Wave&, Counter counter, u32 n);

// A register that is read or written while a load is on its way to it.
void check_arrived(const Wave&, u32 first, u32 count, const char* how);
void check_arrived_sgpr(const Wave&, u32 first, u32 count, const char* how);
// A load is about to write these; an earlier load of the same in-order kind may still be on its way.
void claim_for_load(Wave&, u32 first, u32 count, u8 order);
[[noreturn]] void report_pending(const Wave&, u32 reg, bool sgpr, const char* how);

// Undefined bits of one VGPR in one lane.
static inline u32 undef_bits(const Wave& w, u32 reg, u32 lane) {
  const u64 m = u64(1) << lane;
  if (!(w.und[reg] & m)) return 0;
  return w.all[reg] & m ? ~u32(0) : w.bits[size_t(reg) * w.lanes + lane];
}
// Sets them; the register must have arrived.
static inline void set_undef_bits(Wave& w, u32 reg, u32 lane, u32 bits) {
  const u64 m = u64(1) << lane;
  w.und[reg] = bits ? w.und[reg] | m : w.und[reg] & ~m;
  w.all[reg] = bits == ~u32(0) ? w.all[reg] | m : w.all[reg] & ~m;
  w.bits[size_t(reg) * w.lanes + lane] = bits;
}
static inline void set_defined(Wave& w, u32 reg, u64 lanes) {
  w.und[reg] &= ~lanes;
  w.all[reg] &= ~lanes;
}

// An undefined value got to where it matters.
[[noreturn]] void report_undefined(const Wave&, const char* where, const std::string& source, int lane);
// For addresses and stored values: raises if any active lane of these registers has undefined bits.
void require_defined(const Wave&, u32 first, u32 count, u64 lanes, const char* where);
void require_defined_sgpr(const Wave&, u32 first, u32 count, const char* where);

}  // namespace lathe::emu
