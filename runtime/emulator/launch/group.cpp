// The life of a work-group: initial registers as the kernel descriptor asks for them (AMDGPUUsage,
// "Initial Kernel Execution State"), then wave after wave, each up to its next barrier.
#include "launch/group.h"

#include <cstring>

#include <fmt/format.h>

#include "machine/barrier.h"
#include "machine/fault.h"
#include "machine/shadow.h"

namespace lathe::emu {
namespace {

// MODE as hardware sets it from COMPUTE_PGM_RSRC1: round [3:0], denorm [7:4], dx10_clamp 8, ieee 9.
u32 initial_mode(const Kernel& k) {
  const u32 r = k.rsrc1;
  u32 mode = (r >> 12 & 0xff);
  const bool gfx12 = k.object->isa->encoding == Encoding::gfx12;
  mode |= (gfx12 ? 1 : r >> 21 & 1) << 8 | (gfx12 ? 1 : r >> 23 & 1) << 9;
  mode |= (r >> 26 & 1) << 23;  // FP16_OVFL
  return mode;
}

// Runs a wave until it stops; the pc of a fault is where `at` stands.
void run_wave(Wave& w, const Inst*& at, u64* executed) {
  const Inst* i = w.resume;
  while (i) {
    at = i;
    executed[i->tally]++;
    i = i->run(w, i);
  }
}

}  // namespace

Worker::Worker(const LaunchState& s) : state_(s) {
  const Kernel& k = *s.kernel;
  const u32 lanes = k.lanes;
  const u32 items = s.block[0] * s.block[1] * s.block[2];
  wave_count_ = (items + lanes - 1) / lanes;
  const size_t nv = k.total_vgprs;
  registers_.resize(size_t(wave_count_) * nv * lanes);
  if (s.strict) {
    bits_.resize(registers_.size());
    masks_.resize(size_t(wave_count_) * nv * 3);
    pend_.resize(size_t(wave_count_) * nv);
    lds_defined_.resize(s.lds_bytes + 16);
  }
  lds_.resize(s.lds_bytes + 16);
  group_.kernel = s.kernel;
  group_.program = s.program;
  group_.memory = &memory();
  group_.isa = k.object->isa;
  group_.count_memory = s.count_memory;
  group_.ended_count = s.ended_count;
  for (u32 d = 0; d < 3; d++) group_.grid[d] = s.grid[d];
  group_.grid_barrier = s.grid_barrier;
  group_.launch_tag = s.launch_tag;
  group_.log = s.log;
  const Isa& isa = *group_.isa;
  // In work-group-processor mode (gfx10 to gfx12) and threadgroup-split mode (gfx90a on) the waves of a group sit on several CUs,
  // each with its own first-level cache (AMDGPUUsage, "Memory Model").
  group_.unwaited_matters = isa.encoding == Encoding::gfx9 ? (isa.unified_agprs && (k.rsrc3 >> 16 & 1)) : !isa.vgpr_msb && (k.rsrc1 >> 29 & 1);
  group_.lds = lds_.data();
  group_.lds_size = s.lds_bytes;
  group_.lds_defined = s.strict ? lds_defined_.data() : nullptr;
  if (s.strict && wave_count_ > 1) group_.touches.write.resize(s.lds_bytes / 4 + 2), group_.touches.read.resize(s.lds_bytes / 4 + 2);
  if (s.private_bytes) {
    scratch_ = memory().allocate(u64(s.private_bytes) * lanes * wave_count_, Allocation::Kind::scratch, "scratch", s.strict);
    group_.scratch_base = scratch_->base;
  }
  for (u32 n = 0; n < wave_count_; n++) {
    auto w = std::make_unique<Wave>();
    w->lanes = lanes, w->nv = u32(nv), w->id = n;
    w->group = &group_;
    w->v = registers_.data() + size_t(n) * nv * lanes;
    if (s.strict) {
      w->bits = bits_.data() + size_t(n) * nv * lanes;
      w->und = masks_.data() + size_t(n) * nv * 3, w->all = w->und + nv, w->real = w->all + nv;
      w->pend = pend_.data() + size_t(n) * nv;
    }
    if (scratch_) {
      const u64 size = u64(s.private_bytes) * lanes;
      w->scratch = reinterpret_cast<u8*>(scratch_->base + n * size);
      w->scratch_defined = scratch_->defined ? scratch_->defined + n * size : nullptr;
      w->scratch_per_lane = s.private_bytes;
    }
    group_.waves.push_back(w.get());
    waves_.push_back(std::move(w));
  }
}

Worker::~Worker() {
  if (scratch_) memory().release(scratch_->base, Allocation::Kind::scratch);
}

void Worker::init_wave(Wave& w, u32 x, u32 y, u32 z) {
  const LaunchState& s = state_;
  const Kernel& k = *s.kernel;
  const Isa& isa = *group_.isa;
  const u32 lanes = w.lanes, items = s.block[0] * s.block[1] * s.block[2];
  const u32 first = w.id * lanes, here = std::min(lanes, items - first);
  w.full = lanes == 64 ? ~u64(0) : 0xffffffffu;
  std::memset(w.s, 0, sizeof w.s);
  if (s.strict) {
    std::memset(w.s_und, 0xff, sizeof w.s_und);
    std::memset(w.s_pend, 0, sizeof w.s_pend);
    for (u32 r = 0; r < w.nv; r++) w.und[r] = w.all[r] = w.full;
    std::memset(w.pend, 0, 4 * w.nv);
  }
  w.scc = false, w.scc_und = s.strict;
  w.events.clear();
  w.seq = 0;
  w.hit = nullptr, w.hit_lo = 1, w.hit_hi = 0;
  w.state = Wave::State::running;
  w.set_mode(initial_mode(k));
  w.epoch = w.stamp = group_.epoch;
  w.time_shift = 0;
  w.producers.clear();
  w.rdna.clear();
  w.closings.clear();
  w.synced = 0, w.wrote = w.wrote_global = false;
  w.horizon = w.observed = w.last_release = 0, w.logged_epoch = w.epoch;
  std::memset(w.barrier_phase, 0, sizeof w.barrier_phase);
  w.joined = w.waits_on = 0;
  w.grid_round = 0;
  auto scalar = [&](u32 reg, u32 value) { w.s[reg] = value, w.s_und[reg] = 0; };

  // User SGPRs in the documented order.
  u32 next = 0;
  auto add = [&](u32 value) { scalar(next++, value); };
  auto add64 = [&](u64 value) { add(u32(value)), add(u32(value >> 32)); };
  const u16 p = k.properties;
  if (p & 1) {  // private segment buffer: swizzled by lane, 4-byte elements
    const u64 base = group_.scratch_base;
    add(u32(base));
    add(u32(base >> 32) | (isa.encoding == Encoding::gfx9 ? 1u << 31 : 1u << 30));
    add(~u32(0));
    add((lanes == 64 ? 3u : 2u) << 21 | 1u << 23);
  }
  if (p & 2) add64(s.dispatch_packet);
  if (p & 4) add64(s.queue);
  if (p & 8) add64(s.kernarg);
  if (p & 16) add64(s.dispatch_id);
  if (p & 32) add64(group_.scratch_base);
  if (p & 64) add(s.private_bytes);
  const u32 user = isa.encoding == Encoding::gfx12 && isa.vgpr_msb ? k.rsrc2 >> 1 & 63 : k.rsrc2 >> 1 & 31;
  const u32 preload = k.preload & 127, preload_from = k.preload >> 7;
  for (u32 n = 0; n < preload && isa.kernarg_preload; n++) {
    u32 value = 0;
    const u64 at = 4 * (u64(preload_from) + n);
    if (at + 4 <= k.kernarg_bytes) std::memcpy(&value, reinterpret_cast<const u8*>(s.kernarg) + at, 4);
    add(value);
  }
  if (user > next) next = user;

  // System SGPRs.
  if (isa.ttmp_workgroup_ids) {
    scalar(ttmp_reg + 9, x);
    scalar(ttmp_reg + 7, (y & 0xffff) | z << 16);
    scalar(ttmp_reg + 8, 0);
  } else {
    if (k.rsrc2 >> 7 & 1) add(x);
    if (k.rsrc2 >> 8 & 1) add(y);
    if (k.rsrc2 >> 9 & 1) add(z);
    if (k.rsrc2 >> 10 & 1) add(wave_count_);  // work-group info
  }
  if ((k.rsrc2 & 1) && !isa.architected_scratch) add(u32(u64(s.private_bytes) * lanes * w.id));  // scratch wave offset
  scalar(vcc_reg, 0), scalar(vcc_reg + 1, 0);
  if (s.strict) w.s_und[vcc_reg] = w.s_und[vcc_reg + 1] = ~0u;
  const u64 exec = here == 64 ? ~u64(0) : (u64(1) << here) - 1;
  scalar(exec_reg, u32(exec)), scalar(exec_reg + 1, u32(exec >> 32));
  if (isa.encoding == Encoding::gfx9) scalar(m0_reg, 0xffffffffu);

  // Work-item ids.
  const u32 id_mode = k.rsrc2 >> 11 & 3;
  for (u32 l = 0; l < lanes; l++) {
    const u32 flat = first + l;
    const u32 ix = flat % s.block[0], iy = flat / s.block[0] % s.block[1], iz = flat / (s.block[0] * s.block[1]);
    if (isa.packed_work_item_ids) {
      w.vgpr(0)[l] = ix | iy << 10 | iz << 20;
    } else {
      w.vgpr(0)[l] = ix;
      if (id_mode >= 1 && w.nv > 1) w.vgpr(1)[l] = iy;
      if (id_mode >= 2 && w.nv > 2) w.vgpr(2)[l] = iz;
    }
  }
  if (s.strict) {
    const u32 n = isa.packed_work_item_ids ? 1 : std::min(3u, id_mode + 1);
    for (u32 r = 0; r < n && r < w.nv; r++) w.und[r] = w.all[r] = 0;
  }
  w.resume = s.program->at(k.entry + (preload && isa.kernarg_preload ? 0 : 0));
}

void Worker::reset(u32 x, u32 y, u32 z) {
  group_.id[0] = x, group_.id[1] = y, group_.id[2] = z;
  // Room for the stamps of a long group; LDS keeps those of earlier groups.
  if (group_.epoch > LdsTouches::epochs / 2) group_.epoch = LdsTouches::epochs;
  next_epoch(group_);
  group_.tracks = state_.strict && (wave_count_ > 1 || u64(state_.grid[0]) * state_.grid[1] * state_.grid[2] > 1);
  group_.unwaited.clear();
  group_.horizon = 0;
  for (Barrier& b : group_.barriers) b = {};
  group_.alive = wave_count_;
  if (state_.strict) {
    std::memset(lds_defined_.data(), 0, lds_defined_.size());
    if (scratch_ && scratch_->defined) std::memset(scratch_->defined, 0, scratch_->size);
  }
  for (auto& w : waves_) init_wave(*w, x, y, z);
}

namespace {
// Taken branches until a wave has to let the others run.
constexpr i32 turn = 4096;

u64 total(const CounterSet& c) {
  u64 n = 0;
  for (u64 k : c.executed) n += k;
  return n;
}
}  // namespace

void Worker::begin(u32 x, u32 y, u32 z, u64 linear) {
  current_ = nullptr, at_ = nullptr;
  group_.linear = linear;
  turns_.resize(wave_count_);
  order_waves(state_.order, linear, turns_);
  try {
    reset(x, y, z);
  } catch (const Fault& f) {
    report(f);
  }
  group_.counters.groups++;
  group_.counters.waves += wave_count_;
  executed_before_ = total(group_.counters);
}

bool Worker::run() {
  try {
    return run_waves();
  } catch (const Fault& f) {
    report(f);
  }
}

bool Worker::run_waves() {
  while (group_.alive) {
    bool polled = true;
    const bool moved = run_round(polled);
    check_barriers();
    if (!moved && polled) return false;
    state_.events->fetch_add(1, std::memory_order_relaxed);
  }
  return true;
}

// One turn for every wave that can run. True if one of them got past a barrier or ended; `polled` stays true
// only if all that ran were waiting for something.
bool Worker::run_round(bool& polled) {
  bool moved = false;
  for (u32 n : turns_) {
    Wave& w = *waves_[n];
    if (w.state == Wave::State::done) continue;
    if (w.state == Wave::State::barrier) {
      if (!pass_barrier(w, w.waits_on)) continue;
      moved = true;
    }
    current_ = &w;
    w.state = Wave::State::running;
    w.slice = turn, w.polls = 0;
    run_wave(w, at_, group_.counters.executed);
    // Also of waves that stop at a barrier: a loop may have one.
    if (const u64 executed = total(group_.counters) - executed_before_; executed > state_.instruction_limit)
      raise(FaultKind::limit, fmt::format("endless loop? this work-group has run {} instructions, the limit is {} (LATHE_EMULATOR_LIMIT)", executed, state_.instruction_limit));
    // A wave that stops before its turn is over has reached a barrier, its end, or sleeps.
    if (w.state == Wave::State::running) {
      polled &= w.polls != 0;
    } else {
      moved = true;
    }
  }
  return moved;
}

// Waves wait and none can run any more.
void Worker::check_barriers() {
  if (!group_.alive) return;
  const Wave* waiting = nullptr;
  for (auto& w : waves_) {
    if (w->state == Wave::State::running) return;
    if (w->state != Wave::State::barrier) continue;
    if (group_.barriers[w->waits_on].phase != w->barrier_phase[w->waits_on]) return;
    if (!waiting) waiting = w.get();
  }
  current_ = waiting;
  at_ = waiting->resume - 1;
  const Barrier& b = group_.barriers[waiting->waits_on];
  if (waiting->waits_on)
    raise(FaultKind::barrier_divergence, fmt::format("named barrier {} will never be complete: {} of {} members have signalled and no wave can run", waiting->waits_on, b.signals, b.members));
  raise(FaultKind::barrier_divergence, fmt::format("barrier not reached by all waves: {} of {} waits at this barrier while {} ended without reaching it", b.signals, wave_count_, wave_count_ - group_.alive));
}

void Worker::give_up(const std::string& why) {
  report(Fault{FaultKind::limit, why, -1});
}

void Worker::report(const Fault& f) {
  const auto* b = state_.block;
  std::string text = fmt::format("lathe emulator: {}\n  kernel       {} on {}\n", f.what, state_.kernel->name, target_id(*group_.isa));
  if (at_) text += fmt::format("  instruction  {}   at code offset 0x{:x}", state_.program->disassemble(at_->pc), at_->pc - state_.program->text_base) + state_.program->source_text(at_->pc) + "\n";
  text += fmt::format("  work-group   ({}, {}, {})", group_.id[0], group_.id[1], group_.id[2]);
  if (current_) text += fmt::format(", wave {}", current_->id);
  if (current_ && f.lane >= 0) {
    const u32 flat = current_->id * current_->lanes + u32(f.lane);
    text += fmt::format(", lane {} (work-item {}, {}, {})", f.lane, flat % b[0], flat / b[0] % b[1], flat / (b[0] * b[1]));
  }
  text += fmt::format("\n  order        {}", order_text(state_.order, group_.linear));
  throw FaultReport{int(f.kind), std::move(text)};
}

u64 Worker::bytes_needed(const LaunchState& s) {
  const u64 items = u64(s.block[0]) * s.block[1] * s.block[2], lanes = s.kernel->lanes;
  const u64 padded = (items + lanes - 1) / lanes * lanes;
  return padded * (u64(s.kernel->total_vgprs) * (s.strict ? 9 : 4) + s.private_bytes * 2) + u64(s.lds_bytes) * 4 + 65536;
}

}  // namespace lathe::emu
