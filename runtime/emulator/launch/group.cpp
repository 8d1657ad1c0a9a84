// The life of a work-group: initial registers as the kernel descriptor asks for them (AMDGPUUsage,
// "Initial Kernel Execution State"), then wave after wave, each up to its next barrier.
#include "launch/group.h"

#include <cstring>

#include <fmt/format.h>

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

void Worker::next_epoch() {
  if (++group_.epoch < LdsTouches::epochs) return;
  std::fill(group_.touches.write.begin(), group_.touches.write.end(), 0);
  std::fill(group_.touches.read.begin(), group_.touches.read.end(), 0);
  group_.epoch = 1;
}

void Worker::reset(u32 x, u32 y, u32 z) {
  group_.id[0] = x, group_.id[1] = y, group_.id[2] = z;
  next_epoch();
  if (state_.strict) {
    std::memset(lds_defined_.data(), 0, lds_defined_.size());
    if (scratch_ && scratch_->defined) std::memset(scratch_->defined, 0, scratch_->size);
  }
  for (auto& w : waves_) init_wave(*w, x, y, z);
}

void Worker::run(u32 x, u32 y, u32 z) {
  Wave* current = nullptr;
  const Inst* at = nullptr;
  try {
    reset(x, y, z);
    group_.counters.groups++;
    group_.counters.waves += wave_count_;
    u32 alive = wave_count_;
    while (alive) {
      u32 waiting = 0, ended_now = 0;
      for (auto& w : waves_) {
        if (w->state == Wave::State::done) continue;
        current = w.get();
        w->state = Wave::State::running;
        run_wave(*w, at, group_.counters.executed);
        if (w->state == Wave::State::barrier) waiting++;
        else ended_now++, alive--;
      }
      // Hardware lets ended waves count as arrived; a kernel that relies on it is not portable.
      if (waiting && alive < wave_count_ && state_.strict) {
        for (auto& w : waves_)
          if (w->state == Wave::State::barrier) {
            current = w.get();
            at = w->resume - 1;
            raise(FaultKind::barrier_divergence, fmt::format("barrier not reached by all waves: {} of {} waits at this barrier while {} ended without reaching it", waiting, wave_count_, wave_count_ - alive));
          }
      }
      if (waiting && state_.strict) {
        // All waves must wait at the same barrier.
        const Inst* where = nullptr;
        for (auto& w : waves_)
          if (w->state == Wave::State::barrier) {
            if (where && where != w->resume) {
              current = w.get();
              at = w->resume - 1;
              raise(FaultKind::barrier_divergence, fmt::format("barrier not reached by all waves: this wave waits here, another at pc 0x{:x}", where[-1].pc));
            }
            where = w->resume;
          }
      }
      next_epoch();
    }
  } catch (const Fault& f) {
    std::string text = fmt::format("lathe emulator: {}\n  kernel       {} on {}\n", f.what, state_.kernel->name, target_id(*group_.isa));
    if (at) text += fmt::format("  instruction  {}   at code offset 0x{:x}\n", state_.program->disassemble(at->pc), at->pc - state_.program->text_base);
    text += fmt::format("  work-group   ({}, {}, {})", x, y, z);
    if (current) text += fmt::format(", wave {}", current->id);
    if (current && f.lane >= 0) {
      const u32 flat = current->id * current->lanes + u32(f.lane);
      const auto* b = state_.block;
      text += fmt::format(", lane {} (work-item {}, {}, {})", f.lane, flat % b[0], flat / b[0] % b[1], flat / (b[0] * b[1]));
    }
    throw FaultReport{int(f.kind), std::move(text)};
  }
}

}  // namespace lathe::emu
