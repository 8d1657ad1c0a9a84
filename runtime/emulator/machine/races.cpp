// See races.h. A tag is launch 63:54, group 53:29, wave 28:23, stamp 22:5, flag 4, byte mask 3:0. The flag says of
// a write that it was atomic or has been read atomically, of a read that several groups have read. Wave 63:
// several waves of the group. The common case is one compare per dword: no tag of this launch, or one's own.
#include "races.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "fault.h"
#include "memory.h"
#include "program.h"
#include "row.h"
#include "shadow.h"

namespace lathe::emu {

namespace {

std::string group_text(const Group& g, u64 linear) {
  return fmt::format("({}, {}, {})", linear % g.grid[0], linear / g.grid[0] % g.grid[1], linear / g.grid[0] / g.grid[1]);
}

constexpr u64 flag = 16, who_shift = 23, several_waves = 63, group_mask = (1 << 25) - 1;
constexpr u64 launch_of(u64 t) { return t >> 54; }
constexpr u64 group_of(u64 t) { return t >> 29 & group_mask; }
constexpr u32 wave_of(u64 t) { return u32(t >> 23 & 63); }
constexpr u32 stamp_of(u64 t) { return u32(t >> 5 & 0x3ffff); }

u64 tag(const Wave& w) {
  const Group& g = *w.group;
  return u64(g.launch_tag) << 54 | (g.linear & group_mask) << 29 | u64(w.id) << 23 | u64(w.stamp) << 5;
}
u32 place(const Wave& w, const Inst* i, u32 lane) { return u32((i->pc - w.group->program->text_base) / 4) << 6 | lane; }

bool unwaited(const Group& g, const Wave& w, u32 other, u32 stamp) {
  for (const Unwaited& u : g.unwaited)
    if (u.wave == other && u.stamp == stamp && u.until >= w.epoch) return true;
  return false;
}

// The time at which this write was released, or 0.
u64 released_at(ReleaseLog& log, u64 t) {
  std::lock_guard lock(log.mutex);
  const auto it = log.groups.find(u32(group_of(t)));
  if (it == log.groups.end()) return 0;
  for (const ReleaseLog::Entry& e : it->second)
    if ((e.wave == wave_of(t) && stamp_of(t) <= e.own_upto) || stamp_of(t) <= e.all_upto) return e.time;
  return 0;
}

enum class Other { wrote, read };

[[noreturn]] void report(const Wave& w, const Inst*, u64 address, u32 lane, bool write, u64 other, u32 other_at, Other what, bool not_waited) {
  const Group& g = *w.group;
  const bool by_many = what == Other::read && (other & flag);
  const bool same_group = group_of(other) == (g.linear & group_mask) && !by_many;
  const Program& p = *g.program;
  const u64 pc = p.text_base + u64(other_at >> 6) * 4;
  std::string who = same_group ? "" : by_many ? fmt::format("several work-groups, one of them {}, ", group_text(g, group_of(other))) : fmt::format("work-group {}, ", group_text(g, group_of(other)));
  who += wave_of(other) == several_waves ? "one of several waves" : fmt::format("wave {}", wave_of(other));
  const char* missing = not_waited ? "the store was not waited for before the barrier" : same_group ? "with no barrier in between" : "with no release and acquire in between";
  raise(FaultKind::global_race,
        fmt::format("data race in global memory: this wave {} 0x{:x} ({}), which {}, lane {} {}, {}\n  other        {}   at code offset 0x{:x}{}", write ? "writes" : "reads", address,
                    memory().describe(address), who, other_at & 63, what == Other::wrote ? "wrote" : "read", missing, p.disassemble(pc), pc - p.text_base, p.source_text(pc)),
        int(lane));
}

// Another wave has touched this dword in this launch.
[[gnu::noinline]] void check(const Wave& w, const Inst* i, u64 address, u32 lane, bool write, u64 t, u32 at, Other what) {
  const Group& g = *w.group;
  const u32 other = wave_of(t), stamp = stamp_of(t);
  const bool by_many = what == Other::read && (t & flag);
  if (group_of(t) == (g.linear & group_mask) && !by_many) {
    if (other == several_waves ? stamp < w.epoch || w.synced > stamp : ordered_in_group(w, other, stamp)) {
      if (what == Other::wrote && !g.unwaited.empty() && unwaited(g, w, other, stamp)) report(w, i, address, lane, write, t, at, what, true);
      return;
    }
  } else if (w.horizon) {
    // Reads are complete when their values are used, which is before any release: taken as ordered.
    if (what == Other::read || !g.log) return;
    const u64 time = released_at(*g.log, t);
    if (time && time <= w.horizon) return;
  }
  report(w, i, address, lane, write, t, at, what, false);
}

// Several groups may store one value to one place: no order of the stores makes a difference, and where a relaxed
// atomic store looks like any other (all but gfx940 and gfx12) that is how flags are raised.
bool stores_same_value(const Wave& w, const Inst* i, const u8* p, u32 lane) {
  if (i->row->mem_flags & mem_to_lds) return false;  // the value comes from LDS
  const u32 bytes = i->row->mem_bytes;
  const bool hi = i->row->mem_flags & mem_d16_hi;
  if (bytes < 4) {
    const u32 x = w.v[size_t(i->mem.data) * w.lanes + lane] >> (hi ? 16 : 0);
    return std::memcmp(p, &x, bytes) == 0;
  }
  for (u32 k = 0; k < bytes / 4; k++)
    if (std::memcmp(p + 4 * k, &w.v[size_t(i->mem.data + k) * w.lanes + lane], 4) != 0) return false;
  return true;
}

struct Toucher {
  const Wave& w;
  const Inst* i;
  u64 mine;
  bool marked;   // atomic or coherent
  bool foreign(u64 t) const { return launch_of(t) == launch_of(mine) && ((t ^ mine) >> who_shift) != 0; }

  // A dword has one tag for its readers. Several of them share it for the bytes that all have read; where they read
  // different bytes the last one takes it, so that none is said to have read what it has not.
  void read(Touches& t, u64 k, u64 address, u64 bytes, u32 lane) const {
    u64 r = __atomic_load_n(&t.read[k], __ATOMIC_RELAXED);
    while (!marked && r != (mine | bytes)) {
      u64 now = r;
      if (launch_of(r) != launch_of(mine)) now = mine | bytes;
      else if (r & flag) break;
      else if (group_of(r) != group_of(mine)) now = r & bytes ? mine | flag | (r & bytes) : mine | bytes;
      else if (stamp_of(r) < w.epoch) now = mine | bytes;
      else if (wave_of(r) == w.id) now = mine | (r & 15) | bytes;
      else if (wave_of(r) == several_waves) now = mine | several_waves << who_shift | (r & 15);
      else now = r & bytes ? mine | several_waves << who_shift | (r & bytes) : mine | bytes;
      if (now == r) break;
      // The place first: whoever sees the tag finds it.
      __atomic_store_n(&t.read_at[k], place(w, i, lane), __ATOMIC_RELEASE);
      if (__atomic_compare_exchange_n(&t.read[k], &r, now, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) break;
    }
    const u64 c = __atomic_load_n(&t.write[k], __ATOMIC_ACQUIRE);
    if (__builtin_expect(!foreign(c), 1) || !(c & bytes) || (c & flag)) return;
    if (marked) __atomic_fetch_or(&t.write[k], flag, __ATOMIC_RELAXED);  // it was an atomic store, then
    else check(w, i, address, lane, false, c, t.write_at[k], Other::wrote);
  }
  // Against the last write; the place of it stands beside the tag until this access leaves its own.
  void check_written(Touches& t, u64 k, u64 address, u64 bytes, u32 lane, const u8* p) const {
    const u64 c = __atomic_load_n(&t.write[k], __ATOMIC_RELAXED);
    if (__builtin_expect(foreign(c), 0) && (c & bytes) && !(c & flag) && !marked && !stores_same_value(w, i, p, lane))
      check(w, i, address, lane, true, c, t.write_at[k], Other::wrote);
  }
  void write(Touches& t, u64 k, u64 address, u64 bytes, u32 lane) const {
    const u64 c = __atomic_load_n(&t.write[k], __ATOMIC_RELAXED);
    u64 now = mine | bytes | (marked ? flag : 0);
    if (c >> 5 == now >> 5) now |= c & 15;
    __atomic_store_n(&t.write_at[k], place(w, i, lane), __ATOMIC_RELAXED);
    __atomic_exchange_n(&t.write[k], now, __ATOMIC_SEQ_CST);
    if (marked) return;
    const u64 r = __atomic_load_n(&t.read[k], __ATOMIC_SEQ_CST);
    if (__builtin_expect(foreign(r) || (launch_of(r) == launch_of(mine) && (r & flag)), 0) && (r & bytes)) check(w, i, address, lane, true, r, t.read_at[k], Other::read);
  }
};

// The dwords of an access that starts or ends within one, with the mask of its bytes.
template <class F>
void each_part(u64 from, u32 bytes, F f) {
  for (u64 b = from; b < from + bytes;) {
    const u64 k = b / 4, end = std::min(from + bytes, k * 4 + 4);
    f(k, ((u64(1) << (end - k * 4)) - 1) & ~((u64(1) << (b & 3)) - 1));
    b = end;
  }
}

// Time of the wave's last release before `stamp`.
u64 release_before(ReleaseLog& log, u64 t) {
  u64 time = 0;
  const auto it = log.groups.find(u32(group_of(t)));
  if (it == log.groups.end()) return 0;
  for (const ReleaseLog::Entry& e : it->second)
    if (e.wave == wave_of(t) && e.own_upto < stamp_of(t)) time = std::max(time, e.time);
  return time;
}
// The allocation of an address that is known to be inside one.
struct Finder {
  const Wave& w;
  Touches* touches = nullptr;
  u64 lo = 1, hi = 0;
  void find(u64 a) {
    if (a >= lo && a < hi) return;
    Allocation* m = w.hit && a >= w.hit_lo && a < w.hit_hi ? w.hit : memory().find(a);
    touches = m ? memory().touches(*m) : nullptr;
    lo = m ? m->base : a, hi = m ? m->base + m->size : a + 1;
  }
  // If this address was last written by a plain store, which may have been an atomic one: the release before it.
  u64 plain_release(ReleaseLog& log, u64 a) {
    find(a);
    if (!touches) return 0;
    const u64 c = __atomic_load_n(&touches->write[(a - lo) / 4], __ATOMIC_RELAXED);
    return launch_of(c) == w.group->launch_tag ? release_before(log, c) : 0;
  }
};

bool stores_open(const Wave& w) {
  constexpr u8 global = 1 << int(Counter::load) | 1 << int(Counter::store);
  for (const Event& e : w.events)
    if (e.count == 0 && (e.counters & global)) return true;
  return false;
}
void bump(Wave& w) {
  Group& g = *w.group;
  if (g.epoch + 2 >= LdsTouches::epochs) return;  // a barrier will start the numbers anew
  w.stamp = ++g.epoch;
  w.closings.push_back(w.stamp);
}
// What the wave did so far is complete, but for stores that are still on their way.
void log_release(Wave& w) {
  Group& g = *w.group;
  const u32 own_upto = w.wrote_global ? 0 : w.stamp;
  if (own_upto) bump(w);
  std::lock_guard lock(g.log->mutex);
  w.last_release = ++g.log->clock;
  w.logged_epoch = w.epoch;
  g.log->groups[u32(g.linear & group_mask)].push_back({w.id, own_upto, w.epoch - 1, w.last_release});
}

std::atomic<bool> stretch_locks[512];

}  // namespace

Stretches::Stretches(u8* const* p, u64 exec, u32 bytes) {
  // 4 KiB each, told apart by the low bits of the page's number.
  for (u64 m = exec; m; m &= m - 1) {
    const u64 a = u64(p[__builtin_ctzll(m)]);
    for (const u64 page : {a >> 12, (a + bytes - 1) >> 12}) held_[page >> 6 & 7] |= u64(1) << (page & 63);
  }
  // In rising order, so that two accesses never wait for each other.
  for (u32 k = 0; k < 8; k++)
    for (u64 m = held_[k]; m; m &= m - 1) {
      std::atomic<bool>& lock = stretch_locks[k * 64 + u32(__builtin_ctzll(m))];
      for (u32 spins = 0; lock.exchange(true, std::memory_order_acquire); spins++)
        if (spins > 1000) std::this_thread::yield();
    }
}

Stretches::~Stretches() {
  for (u32 k = 0; k < 8; k++)
    for (u64 m = held_[k]; m; m &= m - 1) stretch_locks[k * 64 + u32(__builtin_ctzll(m))].store(false, std::memory_order_release);
}

bool ordered_in_group(const Wave& w, u32 other, u32 stamp) {
  if (stamp < w.epoch) return true;
  if (w.synced <= stamp) return false;
  const std::vector<u32>& closings = w.group->waves[other]->closings;
  const auto c = std::upper_bound(closings.begin(), closings.end(), stamp);
  return c != closings.end() && *c <= w.synced;
}

void touch_global(Wave& w, const Inst* i, u8* const* p, u64 exec, u32 bytes, Touch what) {
  Group& g = *w.group;
  const bool marked = what == Touch::atomic || i->mem.scope;
  if (what != Touch::read) {
    if (marked && g.log) {
      // What a reader of this atomic learns: the releases up to the wave's last, and all that the wave knows.
      if (w.epoch > w.logged_epoch) log_release(w);
      if (w.wrote) close_writes(w);
      std::lock_guard lock(g.log->mutex);
      const u64 time = std::max(w.last_release, w.horizon);
      Finder f{w};
      for (u64 m = exec; m; m &= m - 1) {
        const u64 a = u64(p[__builtin_ctzll(m)]);
        u64& known = g.log->atomics[a];
        // A read-modify-write carries on what was released through this address before.
        known = what == Touch::atomic ? std::max({known, time, f.plain_release(*g.log, a)}) : time;
      }
    } else if (marked) {
      if (w.wrote) close_writes(w);
    } else {
      if (g.log && w.epoch > w.logged_epoch) log_release(w);
      w.wrote = w.wrote_global = true;
    }
  }
  const Toucher t{w, i, tag(w), marked};
  Finder f{w};
  // A dword keeps one writer. Where several lanes write parts of one, all look at the last one before any takes its place.
  if (what != Touch::read)
    for (u64 m = exec; m; m &= m - 1) {
      const u32 lane = u32(__builtin_ctzll(m));
      const u64 a = u64(p[lane]);
      f.find(a);
      if (f.touches) each_part(a - f.lo, bytes, [&](u64 k, u64 mask) { t.check_written(*f.touches, k, a, mask, lane, p[lane]); });
    }
  for (u64 m = exec; m; m &= m - 1) {
    const u32 lane = u32(__builtin_ctzll(m));
    const u64 a = u64(p[lane]);
    f.find(a);
    if (!f.touches) continue;
    each_part(a - f.lo, bytes, [&](u64 k, u64 mask) {
      if (what == Touch::read) t.read(*f.touches, k, a, mask, lane);
      else t.write(*f.touches, k, a, mask, lane);
    });
  }
}

// An atomic read has got its value.
void observe_global(Wave& w, u8* const* p, u64 exec) {
  Group& g = *w.group;
  w.synced = g.epoch;
  if (!g.log) return;
  Finder f{w};
  std::lock_guard lock(g.log->mutex);
  for (u64 m = exec; m; m &= m - 1) {
    const u64 a = u64(p[__builtin_ctzll(m)]);
    const auto it = g.log->atomics.find(a);
    if (it != g.log->atomics.end()) w.observed = std::max(w.observed, it->second);
    w.observed = std::max(w.observed, f.plain_release(*g.log, a));
  }
}

void observe_all(Wave& w) {
  Group& g = *w.group;
  w.synced = g.epoch;
  w.horizon = ~u64(0);  // no log: everything counts as known
  if (!g.log) return;
  std::lock_guard lock(g.log->mutex);
  w.observed = w.horizon = std::max<u64>(1, g.log->clock);
}

void touch_scalar(Wave& w, const Inst* i, Allocation* m, u64 address, u32 bytes) {
  Touches* t = m ? memory().touches(*m) : nullptr;
  if (!t) return;
  const Toucher toucher{w, i, tag(w), false};
  for (u64 k = (address - m->base) / 4, end = (address - m->base + bytes + 3) / 4; k < end; k++) toucher.read(*t, k, m->base + 4 * k, 15, 0);
}

void release_point(Wave& w) {
  Group& g = *w.group;
  if (!w.wrote_global || stores_open(w)) return;
  w.wrote_global = false;
  if (!g.tracks) return;
  for (Unwaited& u : g.unwaited)
    if (u.wave == w.id && u.until == ~0u) u.until = g.epoch;
  if (!g.log && !g.unwaited_matters) return;
  if (g.log) log_release(w);
  else bump(w);
}

void close_writes(Wave& w) {
  w.wrote = false;
  bump(w);
}

void acquire(Wave& w) {
  if (!w.group->tracks) return;
  constexpr u8 load = 1 << int(Counter::load);
  for (const Event& e : w.events)
    if (e.count && (e.counters & load)) return;  // the atomic read may not be back yet
  // Decoded only after the launch began: there is no log to consult, so everything counts as known.
  w.horizon = w.group->log ? std::max(w.horizon, w.observed) : ~u64(0);
}

void arrive_with_stores(Wave& w) {
  Group& g = *w.group;
  g.horizon = std::max(g.horizon, w.horizon);
  if (g.unwaited_matters && w.wrote_global && stores_open(w)) g.unwaited.push_back({w.id, w.stamp, ~0u});
}

}  // namespace lathe::emu
