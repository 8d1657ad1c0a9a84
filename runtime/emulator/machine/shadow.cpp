// See shadow.h. Wait rules: AMD's ISA documents, "Manually inserted wait states" and "data dependency
// resolution": loads of one kind return in order, scalar loads in any order, so a scalar load has
// certainly arrived only once its counter was waited down to zero.
#include "shadow.h"

#include <fmt/format.h>

#include "fault.h"

namespace lathe::emu {

void raise(FaultKind kind, std::string what, int lane) { throw Fault{kind, std::move(what), lane}; }

namespace {
const char* counter_name(const Wave& w, u8 counters) {
  const bool split = w.group && w.group->isa->encoding == Encoding::gfx12;
  if (counters & (1 << int(Counter::ds)) && counters & (1 << int(Counter::load))) return "vmcnt and lgkmcnt";
  if (counters & (1 << int(Counter::load))) return split ? "loadcnt" : "vmcnt";
  if (counters & (1 << int(Counter::ds))) return split ? "dscnt" : "lgkmcnt";
  if (counters & (1 << int(Counter::km))) return split ? "kmcnt" : "lgkmcnt";
  return "its counter";
}
void complete(Wave& w, const Event& e) {
  for (u32 r = e.first; r < u32(e.first) + e.count; r++) {
    if (e.sgpr) {
      if (w.s_pend[r] == e.seq) w.s_pend[r] = 0;
    } else if (w.pend[r] == e.seq) {
      w.pend[r] = 0;
      w.und[r] = w.real[r];
    }
  }
}
}  // namespace

void pend_vgprs(Wave& w, const Inst* i, u32 first, u32 count, u8 counters, u8 order, bool lds_write) {
  const u32 seq = ++w.seq;
  for (u32 r = first; r < first + count; r++) {
    w.real[r] = w.und[r];
    w.und[r] = ~u64(0);
    w.pend[r] = seq;
  }
  w.events.push_back(Event{counters, order, false, lds_write, u16(first), u16(count), seq, i});
}
void pend_sgprs(Wave& w, const Inst* i, u32 first, u32 count, u8 counters, u8 order) {
  const u32 seq = ++w.seq;
  for (u32 r = first; r < first + count; r++) w.s_pend[r] = seq;
  w.events.push_back(Event{counters, order, true, false, u16(first), u16(count), seq, i});
}
void pend_none(Wave& w, const Inst* i, u8 counters, u8 order, bool lds_write) {
  w.events.push_back(Event{counters, order, false, lds_write, 0, 0, ++w.seq, i});
}

void wait_for(Wave& w, Counter counter, u32 n) {
  const u8 mask = u8(1 << int(counter)), beside = counter == Counter::load ? also_load : counter == Counter::ds ? also_ds : 0;
  // An event is certainly done once at most as many are open as were issued after it in its own order.
  u32 later[8] = {};
  size_t keep = w.events.size();
  for (size_t k = w.events.size(); k-- > 0;) {
    Event& e = w.events[k];
    bool done = false;
    if (e.counters & mask) {
      const bool returned = n <= (e.order ? later[e.order & 7] : 0u);
      if (e.order) later[e.order & 7]++;
      // A flat access holds two counters: which one counts is not known before it returns.
      if (returned) e.counters &= u8(~mask);
      done = (e.counters & ~(also_load | also_ds)) == 0;
      if (done) complete(w, e);
    } else if (e.counters & beside) {
      later[counter == Counter::load ? order_load : order_lds]++;
    }
    if (!done) {
      --keep;
      if (keep != k) w.events[keep] = e;
    }
  }
  w.events.erase(w.events.begin(), w.events.begin() + long(keep));
}

void report_pending(const Wave& w, u32 reg, bool sgpr, const char* how) {
  const u32 seq = sgpr ? w.s_pend[reg] : w.pend[reg];
  for (const Event& e : w.events)
    if (e.seq == seq)
      raise(FaultKind::pending_register,
            fmt::format("{}{} is {} before the wait that covers its load: no wait on {} since the load at pc 0x{:x}",
                        sgpr ? "s" : "v", reg, how, counter_name(w, e.counters), e.inst->pc));
  raise(FaultKind::pending_register, fmt::format("{}{} is {} before its load has arrived", sgpr ? "s" : "v", reg, how));
}
void check_arrived(const Wave& w, u32 first, u32 count, const char* how) {
  for (u32 r = first; r < first + count; r++)
    if (w.pend[r]) report_pending(w, r, false, how);
}
void claim_for_load(Wave& w, u32 first, u32 count, u8 order) {
  for (u32 r = first; r < first + count; r++) {
    if (!w.pend[r]) continue;
    bool in_order = false;
    for (const Event& e : w.events) in_order |= e.seq == w.pend[r] && order && e.order == order;
    if (!in_order) report_pending(w, r, false, "loaded into again");
    w.pend[r] = 0;
    w.und[r] = w.real[r];
  }
}
void check_arrived_sgpr(const Wave& w, u32 first, u32 count, const char* how) {
  for (u32 r = first; r < first + count; r++)
    if (w.s_pend[r]) report_pending(w, r, true, how);
}

void report_undefined(const Wave&, const char* where, const std::string& source, int lane) {
  raise(FaultKind::undefined_value, fmt::format("undefined value reaches {}: nothing wrote {}", where, source), lane);
}
void require_defined(const Wave& w, u32 first, u32 count, u64 lanes, const char* where) {
  for (u32 r = first; r < first + count; r++) {
    if (!w.und[r]) continue;
    if (w.pend[r]) report_pending(w, r, false, "read");
    if (const u64 bad = w.und[r] & lanes) {
      const int lane = __builtin_ctzll(bad);
      report_undefined(w, where, fmt::format("bits 0x{:x} of v{}", undef_bits(w, r, u32(lane)), r), lane);
    }
  }
}
void require_defined_sgpr(const Wave& w, u32 first, u32 count, const char* where) {
  for (u32 r = first; r < first + count; r++) {
    if (w.s_pend[r]) report_pending(w, r, true, "read");
    if (w.s_und[r]) report_undefined(w, where, fmt::format("bits 0x{:x} of s{}", w.s_und[r], r), -1);
  }
}

}  // namespace lathe::emu
