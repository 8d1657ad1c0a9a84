// Control flow, waits, barriers, mode registers and EXEC manipulation.
#include "machine/barrier.h"
#include "machine/program.h"
#include "machine/races.h"
#include "machine/salu.h"
#include "rows/tables.h"

#include <fmt/format.h>

namespace lathe::emu::LATHE_LEVEL {
namespace {

// ---- branches ------------------------------------------------------------------------------------

const Inst* taken(Wave& w, const Inst* i) {
  const Inst* t = __atomic_load_n(&i->target, __ATOMIC_ACQUIRE);
  if (!t) {
    t = w.group->program->at(i->pc + 4 + u64(i64(i->imm) * 4), i->vgpr_msb);
    __atomic_store_n(&const_cast<Inst*>(i)->target, t, __ATOMIC_RELEASE);
  }
  return t;
}
// Every loop takes branches: here a wave gives the others their turn, so that one may wait for another.
const Inst* jump(Wave& w, const Inst* i, const Inst* to) {
  w.time_shift += i->states + 1 - to->states;
  if (--w.slice > 0) return to;
  w.resume = to;
  return nullptr;
}
enum class Cond { always, scc0, scc1, vccz, vccnz, execz, execnz };
template <Cond C, bool Strict>
const Inst* branch(Wave& w, const Inst* i) {
  if constexpr (Strict) {
    if constexpr (C == Cond::scc0 || C == Cond::scc1) {
      if (w.scc_und) report_undefined(w, "a branch", "SCC", -1);
    } else if constexpr (C == Cond::vccz || C == Cond::vccnz) {
      require_defined_sgpr(w, vcc_reg, w.lanes / 32, "a branch");
    }
  }
  bool t = true;
  if constexpr (C == Cond::scc0) t = !w.scc;
  if constexpr (C == Cond::scc1) t = w.scc;
  if constexpr (C == Cond::vccz) t = w.mask(vcc_reg) == 0;
  if constexpr (C == Cond::vccnz) t = w.mask(vcc_reg) != 0;
  if constexpr (C == Cond::execz) t = w.exec() == 0;
  if constexpr (C == Cond::execnz) t = w.exec() != 0;
  return t ? jump(w, i, taken(w, i)) : i + 1;
}
template <bool Strict>
const Inst* setpc(Wave& w, const Inst* i) {
  if constexpr (Strict) if (i->src[0].kind == Kind::sgpr) require_defined_sgpr(w, i->src[0].reg, 2, "a branch");
  return jump(w, i, w.group->program->at(scalar64(w, i->src[0]), i->vgpr_msb));
}
void write_pc(Wave& w, const Inst* i) {
  const u64 next = i->pc + i->size;
  w.s[i->dst.reg] = u32(next), w.s[i->dst.reg + 1] = u32(next >> 32);
  w.s_und[i->dst.reg] = w.s_und[i->dst.reg + 1] = 0;
}
template <bool Strict>
const Inst* swappc(Wave& w, const Inst* i) {
  if constexpr (Strict) if (i->src[0].kind == Kind::sgpr) require_defined_sgpr(w, i->src[0].reg, 2, "a branch");
  const u64 to = scalar64(w, i->src[0]);
  write_pc(w, i);
  return jump(w, i, w.group->program->at(to, i->vgpr_msb));
}
const Inst* call(Wave& w, const Inst* i) {
  write_pc(w, i);
  return jump(w, i, taken(w, i));
}
const Inst* getpc(Wave& w, const Inst* i) {
  write_pc(w, i);
  return i + 1;
}
const Inst* endpgm(Wave& w, const Inst*) {
  w.state = Wave::State::done;
  end_of_wave(w);
  return nullptr;
}

// ---- barriers and waits --------------------------------------------------------------------------

// A wave tells that it has arrived: what it wrote to LDS must have got there.
template <bool Strict>
void arrive(Wave& w, const Inst* i, u32 number, u32 members) {
  if constexpr (Strict) {
    const bool split = w.group->isa->encoding == Encoding::gfx12;
    if (w.group->waves.size() > 1)
      for (const Event& e : w.events)
        if (e.lds_write)
          raise(FaultKind::pending_register, fmt::format("{} while an LDS write is still in flight: no wait on {} since the write at pc 0x{:x}", split ? "s_barrier_signal" : "s_barrier", split ? "dscnt" : "lgkmcnt", e.inst->pc));
  }
  if (Strict && w.group->tracks) arrive_with_stores(w);
  signal_barrier(w, i, number, members, Strict);
}
const Inst* wait_here(Wave& w, const Inst* i, u32 number) {
  if (pass_barrier(w, number)) return i + 1;
  w.state = Wave::State::barrier;
  w.waits_on = u8(number);
  w.resume = i + 1;
  return nullptr;
}
template <bool Strict>
const Inst* barrier(Wave& w, const Inst* i) {
  arrive<Strict>(w, i, 0, 0);
  return wait_here(w, i, 0);
}
// Barrier numbers: -1 is the work-group's, 1 to 16 are named (gfx1250); M0 has the number in [5:0] and the count of members in [21:16]
// (LLVM AMDGPUUsage, llvm.amdgcn.s.barrier.signal.var and .init). Trap (-2) and cluster (-3, -4) barriers are not there.
u32 barrier_number(i32 code) {
  if (code == -1) return 0;
  if (code >= 1 && code <= 16) return u32(code);
  raise(FaultKind::unsupported, fmt::format("barrier number {}", code));
}
struct BarrierOperand { u32 number, members; };
template <bool Strict>
BarrierOperand barrier_operand(Wave& w, const Inst* i) {
  if (i->src[0].kind == Kind::constant) return {barrier_number(i32(i->src[0].value)), 0};
  if constexpr (Strict) require_defined_sgpr(w, m0_reg, 1, "a barrier number");
  const u32 m0 = w.s[m0_reg];
  return {barrier_number(i32(m0 & 63)), m0 >> 16 & 63};
}
template <bool Strict, bool First>
const Inst* barrier_signal(Wave& w, const Inst* i) {
  const BarrierOperand b = barrier_operand<Strict>(w, i);
  if (First) w.scc = w.group->barriers[b.number].signals == 0, w.scc_und = false;
  arrive<Strict>(w, i, b.number, b.members);
  return i + 1;
}
const Inst* barrier_wait(Wave& w, const Inst* i) {
  const u32 number = barrier_number(i->imm);
  return wait_here(w, i, number);
}
template <bool Strict>
const Inst* barrier_init(Wave& w, const Inst* i) {
  const BarrierOperand b = barrier_operand<Strict>(w, i);
  init_barrier(*w.group, b.number, b.members);
  return i + 1;
}
template <bool Strict>
const Inst* barrier_join(Wave& w, const Inst* i) {
  join_barrier(w, barrier_operand<Strict>(w, i).number);
  return i + 1;
}
const Inst* barrier_leave(Wave& w, const Inst* i) {
  leave_barrier(w);
  return i + 1;
}
// Signals so far in [22:16], members in [10:4], valid in bit 0 (LLVM AMDGPUUsage, llvm.amdgcn.s.get.barrier.state).
template <bool Strict>
const Inst* barrier_state(Wave& w, const Inst* i) {
  const Barrier& b = w.group->barriers[barrier_operand<Strict>(w, i).number];
  w.s[i->dst.reg] = b.signals << 16 | b.members << 4 | 1, w.s_und[i->dst.reg] = 0;
  return i + 1;
}
// A wave that sleeps waits for something: the others go first.
const Inst* sleep(Wave& w, const Inst* i) {
  w.polls++;
  w.slice = 1;
  return i + 1;
}
const Inst* halted(Wave&, const Inst*) { raise(FaultKind::unsupported, "s_sethalt: the kernel stopped itself (a trap)"); }
const Inst* sendmsg_rtn(Wave& w, const Inst* i) {
  w.s[i->dst.reg] = 0, w.s_und[i->dst.reg] = 0;  // the doorbell id of a trap's report
  return i + 1;
}
const Inst* nothing(Wave&, const Inst* i) { return i + 1; }

// After a wait: stores that have all arrived can be released to others.
const Inst* waited(Wave& w, const Inst* i) {
  if (w.wrote_global) release_point(w);
  return i + 1;
}
// Cache invalidations of the whole device's scope: buffer_wbinvl1 (gfx9), buffer_inv sc1 (gfx940), buffer_gl1_inv (gfx10,
// gfx11), global_inv scope:SCOPE_DEV (gfx12); AMDGPUUsage, "Memory Model", load atomic acquire at agent scope.
const Inst* invalidate(Wave& w, const Inst* i) {
  acquire(w);
  return i + 1;
}
const Inst* invalidate_scope(Wave& w, const Inst* i) {
  if (i->mem.scope >= 2) acquire(w);
  return i + 1;
}

// SIMM16 of s_waitcnt by generation: vmcnt, expcnt, lgkmcnt fields (ISA documents, S_WAITCNT).
const Inst* waitcnt(Wave& w, const Inst* i) {
  const u32 k = u32(i->imm);
  u32 vm, lgkm, exp, vm_all, lgkm_all;
  switch (w.group->isa->encoding) {
    case Encoding::gfx9: vm = (k & 15) | (k >> 14 & 3) << 4, exp = k >> 4 & 7, lgkm = k >> 8 & 15, vm_all = 63, lgkm_all = 15; break;
    case Encoding::gfx10: vm = (k & 15) | (k >> 14 & 3) << 4, exp = k >> 4 & 7, lgkm = k >> 8 & 63, vm_all = 63, lgkm_all = 63; break;
    default: vm = k >> 10 & 63, exp = k & 7, lgkm = k >> 4 & 63, vm_all = 63, lgkm_all = 63; break;
  }
  (void)exp;
  if (vm != vm_all) wait_for(w, Counter::load, vm);
  if (lgkm != lgkm_all) wait_for(w, Counter::ds, lgkm);
  return waited(w, i);
}
template <Counter C>
const Inst* wait_one(Wave& w, const Inst* i) {
  wait_for(w, C, u32(i->imm) & 0xffff);
  return waited(w, i);
}
const Inst* wait_idle(Wave& w, const Inst* i) {
  for (Counter c : {Counter::load, Counter::store, Counter::ds, Counter::km}) wait_for(w, c, 0);
  return waited(w, i);
}
const Inst* wait_load_ds(Wave& w, const Inst* i) {
  wait_for(w, Counter::load, u32(i->imm) >> 8 & 63);
  wait_for(w, Counter::ds, u32(i->imm) & 63);
  return i + 1;
}
const Inst* wait_store_ds(Wave& w, const Inst* i) {
  wait_for(w, Counter::store, u32(i->imm) >> 8 & 63);
  wait_for(w, Counter::ds, u32(i->imm) & 63);
  return waited(w, i);
}

// ---- EXEC ----------------------------------------------------------------------------------------

template <class T, class F>
const Inst* saveexec(Wave& w, const Inst* i, F f, bool strict, bool exec_and = false) {
  const bool wide = sizeof(T) == 8;
  if (strict && i->src[0].kind == Kind::sgpr) {
    check_arrived_sgpr(w, i->src[0].reg, wide ? 2 : 1, "read");
    const T bits = wide ? T(w.s_und[i->src[0].reg] | u64(w.s_und[i->src[0].reg + 1]) << 32) : T(w.s_und[i->src[0].reg]);
    const T old = T(wide ? Wave::bits_to_u64(&w.s[exec_reg]) : w.s[exec_reg]);
    // An AND with EXEC makes the undefined bits of inactive lanes defined.
    if (exec_and ? bits & old : bits) report_undefined(w, "EXEC", fmt::format("bits 0x{:x} of s{}", bits, i->src[0].reg), -1);
  }
  const T s = T(wide ? scalar64(w, i->src[0]) : scalar32(w, i->src[0]));
  const T old = T(wide ? Wave::bits_to_u64(&w.s[exec_reg]) : w.s[exec_reg]);
  const T now = f(s, old);
  w.s[i->dst.reg] = u32(old), w.s_und[i->dst.reg] = 0;
  if (wide) w.s[i->dst.reg + 1] = u32(u64(old) >> 32), w.s_und[i->dst.reg + 1] = 0;
  w.s[exec_reg] = u32(now);
  if (wide) w.s[exec_reg + 1] = u32(u64(now) >> 32);
  w.scc = now != 0, w.scc_und = false;
  return i + 1;
}
// The *_wrexec forms write the new EXEC to the destination instead of the old one.
template <class T, class F>
const Inst* wrexec(Wave& w, const Inst* i, F f) {
  const Inst* next = saveexec<T>(w, i, f, false);
  w.s[i->dst.reg] = w.s[exec_reg];
  if (sizeof(T) == 8) w.s[i->dst.reg + 1] = w.s[exec_reg + 1];
  return next;
}

// ---- hardware registers --------------------------------------------------------------------------

// simm16: id[5:0], offset[10:6], size-1[15:11]. MODE is register 1; others read as zero unless they say more.
// Time: instructions of the work-group so far, and some more at each look, so that waiting for it ends.
u64 time(Wave& w) { return (w.group->clock += 64) + w.group->counters.instructions(); }
u32 hwreg_read(Wave& w, u32 id) {
  switch (id) {
    case 1: return w.mode;
    case 2: return w.scc | (w.exec() == 0) << 9 | (w.mask(vcc_reg) == 0) << 10;  // STATUS
    case 4: return w.id & 15;                                                    // HW_ID
    case 15: case 29: return u32(time(w));                                       // SHADER_CYCLES
    case 20: return u32(u64(w.scratch));                                         // FLAT_SCRATCH_LO
    case 21: return u32(u64(w.scratch) >> 32);
    default: return 0;
  }
}
const Inst* getreg(Wave& w, const Inst* i) {
  const u32 k = u32(i->imm), size = (k >> 11 & 31) + 1, offset = k >> 6 & 31;
  w.s[i->dst.reg] = u32((u64(hwreg_read(w, k & 63)) >> offset) & ((u64(1) << size) - 1));
  w.s_und[i->dst.reg] = 0;
  return i + 1;
}
void hwreg_write(Wave& w, u32 k, u32 value) {
  const u32 id = k & 63, size = (k >> 11 & 31) + 1, offset = k >> 6 & 31;
  const u32 mask = u32(((u64(1) << size) - 1) << offset);
  if (id == 1) w.set_mode((w.mode & ~mask) | ((value << offset) & mask));
}
template <bool Strict>
const Inst* setreg(Wave& w, const Inst* i) {
  if constexpr (Strict) require_defined_sgpr(w, i->dst.reg, 1, "the MODE register");
  hwreg_write(w, u32(i->imm), w.s[i->dst.reg]);
  return i + 1;
}
const Inst* setreg_imm(Wave& w, const Inst* i) {
  hwreg_write(w, u32(i->imm), u32(i->src[0].value));
  return i + 1;
}
const Inst* round_mode(Wave& w, const Inst* i) {
  w.set_mode((w.mode & ~0xfu) | (u32(i->imm) & 0xf));
  return i + 1;
}
const Inst* denorm_mode(Wave& w, const Inst* i) {
  w.set_mode((w.mode & ~0xf0u) | (u32(i->imm) & 0xf) << 4);
  return i + 1;
}
const Inst* memtime(Wave& w, const Inst* i) {
  const u64 n = time(w);
  w.s[i->dst.reg] = u32(n), w.s[i->dst.reg + 1] = u32(n >> 32);
  w.s_und[i->dst.reg] = w.s_und[i->dst.reg + 1] = 0;
  return i + 1;
}
const Inst* trap(Wave&, const Inst* i) {
  raise(FaultKind::unsupported, fmt::format("s_trap {}: the kernel stopped itself", i->imm & 0xff));
}

// SGPR numbers that M0 adds to: the source's (movrels) or the destination's (movreld); the _2 form takes M0[9:0] for
// the one and M0[25:16] for the other.
template <bool Strict, bool From, bool To, u32 Count>
const Inst* scalar_movrel(Wave& w, const Inst* i) {
  if constexpr (Strict) require_defined_sgpr(w, m0_reg, 1, "a register number");
  const u32 m0 = w.s[m0_reg];
  const u32 from = i->src[0].reg + (From ? To ? m0 & 0x3ff : m0 : 0), to = i->dst.reg + (To ? From ? m0 >> 16 & 0x3ff : m0 : 0);
  if (i->src[0].kind == Kind::sgpr ? from + Count > vcc_reg + 2 : From) raise(FaultKind::bad_register, fmt::format("relative access to s{}", from));
  if (to + Count > vcc_reg + 2) raise(FaultKind::bad_register, fmt::format("relative access to s{}", to));
  const u64 constant = i->src[0].value;
  for (u32 k = 0; k < Count; k++) {
    const bool reg = i->src[0].kind == Kind::sgpr;
    if constexpr (Strict) {
      if (reg) check_arrived_sgpr(w, from + k, 1, "read");
      check_arrived_sgpr(w, to + k, 1, "overwritten");
    }
    w.s_und[to + k] = reg ? w.s_und[from + k] : 0;
    w.s[to + k] = reg ? w.s[from + k] : u32(constant >> (32 * k));
  }
  return i + 1;
}
const Inst* add_pc(Wave& w, const Inst* i) { return w.group->program->at(i->pc + i->size + scalar64(w, i->src[0]), i->vgpr_msb); }
const Inst* sendmsg_rtn64(Wave& w, const Inst* i) {
  w.s[i->dst.reg + 1] = 0, w.s_und[i->dst.reg + 1] = 0;
  return sendmsg_rtn(w, i);
}

constexpr Row ctl(std::string_view name, Handler h, Class cls = Class::other) { return control(name, h, h, cls); }
constexpr Sig one64{Ty::none, false, 1, {Ty::b64}}, to64{Ty::b64, false, 0, {}}, one_to64{Ty::b64, false, 1, {Ty::b64}};
constexpr Sig one_to32{Ty::b32, false, 1, {Ty::b32}}, to32{Ty::b32, false, 0, {}}, lit32{Ty::none, false, 1, {Ty::b32}};

// clang-format off
#define BRANCH(NAME, C) control(NAME, branch<Cond::C, false>, branch<Cond::C, true>, Class::branch)
#define BARRIER(NAME, FAST, STRICT, SIG) control("S_BARRIER_" NAME, FAST, STRICT, Class::wait, SIG)
#define SAVEEXEC(NAME, EXPR, AND) \
  control("S_" NAME "_SAVEEXEC_B64", [](Wave& w, const Inst* i) -> const Inst* { return saveexec<u64>(w, i, [](u64 s, u64 e) -> u64 { return EXPR; }, false); }, \
          [](Wave& w, const Inst* i) -> const Inst* { return saveexec<u64>(w, i, [](u64 s, u64 e) -> u64 { return EXPR; }, true, AND); }, Class::salu, one_to64, writes_scc), \
  control("S_" NAME "_SAVEEXEC_B32", [](Wave& w, const Inst* i) -> const Inst* { return saveexec<u32>(w, i, [](u32 s, u32 e) -> u32 { return EXPR; }, false); }, \
          [](Wave& w, const Inst* i) -> const Inst* { return saveexec<u32>(w, i, [](u32 s, u32 e) -> u32 { return EXPR; }, true, AND); }, Class::salu, one_to32, writes_scc)
#define WREXEC(NAME, EXPR) \
  control("S_" NAME "_WREXEC_B64", [](Wave& w, const Inst* i) -> const Inst* { return wrexec<u64>(w, i, [](u64 s, u64 e) -> u64 { return EXPR; }); }, \
          [](Wave& w, const Inst* i) -> const Inst* { return wrexec<u64>(w, i, [](u64 s, u64 e) -> u64 { return EXPR; }); }, Class::salu, one_to64, writes_scc), \
  control("S_" NAME "_WREXEC_B32", [](Wave& w, const Inst* i) -> const Inst* { return wrexec<u32>(w, i, [](u32 s, u32 e) -> u32 { return EXPR; }); }, \
          [](Wave& w, const Inst* i) -> const Inst* { return wrexec<u32>(w, i, [](u32 s, u32 e) -> u32 { return EXPR; }); }, Class::salu, one_to32, writes_scc)
constexpr Row rows[] = {
  BRANCH("S_BRANCH", always), BRANCH("S_CBRANCH_SCC0", scc0), BRANCH("S_CBRANCH_SCC1", scc1), BRANCH("S_CBRANCH_VCCZ", vccz), BRANCH("S_CBRANCH_VCCNZ", vccnz),
  BRANCH("S_CBRANCH_EXECZ", execz), BRANCH("S_CBRANCH_EXECNZ", execnz),
  control("S_SETPC_B64", setpc<false>, setpc<true>, Class::branch, one64), control("S_SWAPPC_B64", swappc<false>, swappc<true>, Class::branch, one_to64),
  control("S_GETPC_B64", getpc, getpc, Class::salu, to64), control("S_CALL_B64", call, call, Class::branch, to64),
  ctl("S_ENDPGM", endpgm, Class::branch), control("S_BARRIER", barrier<false>, barrier<true>, Class::wait),
  ctl("S_BARRIER_WAIT", barrier_wait, Class::wait), BARRIER("SIGNAL_IMM", (barrier_signal<false, false>), (barrier_signal<true, false>), lit32), BARRIER("SIGNAL_M0", (barrier_signal<false, false>), (barrier_signal<true, false>), lit32),
  BARRIER("SIGNAL_ISFIRST_IMM", (barrier_signal<false, true>), (barrier_signal<true, true>), lit32), BARRIER("SIGNAL_ISFIRST_M0", (barrier_signal<false, true>), (barrier_signal<true, true>), lit32),
  BARRIER("INIT_IMM", barrier_init<false>, barrier_init<true>, lit32), BARRIER("INIT_M0", barrier_init<false>, barrier_init<true>, lit32),
  BARRIER("JOIN_IMM", barrier_join<false>, barrier_join<true>, lit32), BARRIER("JOIN_M0", barrier_join<false>, barrier_join<true>, lit32), ctl("S_BARRIER_LEAVE", barrier_leave, Class::wait),
  control("S_GET_BARRIER_STATE_IMM", barrier_state<false>, barrier_state<true>, Class::salu, one_to32), control("S_GET_BARRIER_STATE_M0", barrier_state<false>, barrier_state<true>, Class::salu, one_to32),
  control("S_MOVRELS_B32", scalar_movrel<false, true, false, 1>, scalar_movrel<true, true, false, 1>, Class::salu, one_to32), control("S_MOVRELS_B64", scalar_movrel<false, true, false, 2>, scalar_movrel<true, true, false, 2>, Class::salu, one_to64),
  control("S_MOVRELD_B32", scalar_movrel<false, false, true, 1>, scalar_movrel<true, false, true, 1>, Class::salu, one_to32), control("S_MOVRELD_B64", scalar_movrel<false, false, true, 2>, scalar_movrel<true, false, true, 2>, Class::salu, one_to64),
  control("S_MOVRELSD_2_B32", scalar_movrel<false, true, true, 1>, scalar_movrel<true, true, true, 1>, Class::salu, one_to32),
  control("S_ADD_PC_I64", add_pc, add_pc, Class::branch, one64), control("S_SENDMSG_RTN_B64", sendmsg_rtn64, sendmsg_rtn64, Class::salu, to64), control("S_GET_SHADER_CYCLES_U64", memtime, memtime, Class::salu, to64),
  ctl("S_ENDPGM_SAVED", endpgm, Class::branch), ctl("S_WAKEUP", nothing), ctl("S_SETPRIO_INC_WG", nothing), ctl("S_WAIT_EVENT", nothing, Class::wait), ctl("S_WAIT_TENSORCNT", nothing, Class::wait), ctl("S_WAIT_ASYNCCNT", wait_one<Counter::async>, Class::wait), ctl("S_DCACHE_DISCARD", nothing), ctl("S_DCACHE_DISCARD_X2", nothing),
  ctl("V_CLREXCP", nothing, Class::valu), ctl("V_PIPEFLUSH", nothing, Class::valu), ctl("S_BUFFER_PREFETCH_DATA", nothing), ctl("GLOBAL_PREFETCH_B8", nothing), ctl("FLAT_PREFETCH_B8", nothing),
  ctl("S_SETHALT", halted), control("S_SENDMSG_RTN_B32", sendmsg_rtn, sendmsg_rtn, Class::salu, to32),

  ctl("S_WAITCNT", waitcnt, Class::wait), ctl("S_WAITCNT_VSCNT", wait_one<Counter::store>, Class::wait), ctl("S_WAITCNT_VMCNT", wait_one<Counter::load>, Class::wait),
  ctl("S_WAITCNT_LGKMCNT", wait_one<Counter::ds>, Class::wait), ctl("S_WAITCNT_EXPCNT", nothing, Class::wait), ctl("S_WAITCNT_DEPCTR", nothing, Class::wait),
  ctl("S_WAIT_LOADCNT", wait_one<Counter::load>, Class::wait), ctl("S_WAIT_STORECNT", wait_one<Counter::store>, Class::wait), ctl("S_WAIT_DSCNT", wait_one<Counter::ds>, Class::wait),
  ctl("S_WAIT_KMCNT", wait_one<Counter::km>, Class::wait), ctl("S_WAIT_EXPCNT", nothing, Class::wait), ctl("S_WAIT_SAMPLECNT", nothing, Class::wait), ctl("S_WAIT_BVHCNT", nothing, Class::wait),
  ctl("S_WAIT_LOADCNT_DSCNT", wait_load_ds, Class::wait), ctl("S_WAIT_STORECNT_DSCNT", wait_store_ds, Class::wait), ctl("S_WAIT_IDLE", wait_idle, Class::wait), ctl("S_WAIT_XCNT", nothing, Class::wait),

  ctl("S_NOP", nothing), ctl("S_SET_VGPR_MSB", nothing), ctl("S_SLEEP", sleep), control("S_SLEEP_VAR", sleep, sleep, Class::other, lit32), ctl("S_MONITOR_SLEEP", sleep), ctl("S_SETPRIO", nothing), ctl("S_CLAUSE", nothing), ctl("S_DELAY_ALU", nothing), ctl("S_INST_PREFETCH", nothing), ctl("S_SET_INST_PREFETCH_DISTANCE", nothing),
  ctl("S_SENDMSG", nothing), ctl("S_ICACHE_INV", nothing), ctl("S_DCACHE_INV", nothing), ctl("S_DCACHE_WB", nothing), ctl("S_DCACHE_INV_VOL", nothing), ctl("S_DCACHE_WB_VOL", nothing), ctl("S_GL1_INV", nothing),
  ctl("S_TTRACEDATA", nothing), ctl("S_VERSION", nothing), ctl("S_PREFETCH_INST", nothing), ctl("S_PREFETCH_DATA", nothing), ctl("S_PREFETCH_INST_PC_REL", nothing), ctl("S_PREFETCH_DATA_PC_REL", nothing),
  ctl("BUFFER_WBINVL1", invalidate), ctl("BUFFER_WBINVL1_VOL", invalidate), ctl("BUFFER_WBL2", nothing), ctl("BUFFER_INVL2", nothing), ctl("BUFFER_INV", invalidate_scope), ctl("BUFFER_GL0_INV", nothing), ctl("BUFFER_GL1_INV", invalidate),
  ctl("GLOBAL_INV", invalidate_scope), ctl("GLOBAL_WB", nothing), ctl("GLOBAL_WBINV", nothing), ctl("V_NOP", nothing, Class::valu), ctl("DS_NOP", nothing, Class::lds),
  ctl("S_TRAP", trap), ctl("S_ROUND_MODE", round_mode, Class::salu), ctl("S_DENORM_MODE", denorm_mode, Class::salu),
  ctl("S_SET_GPR_IDX_OFF", nothing, Class::salu),
  control("S_GETREG_B32", getreg, getreg, Class::salu, to32), control("S_SETREG_B32", setreg<false>, setreg<true>, Class::salu, to32), control("S_SETREG_IMM32_B32", setreg_imm, setreg_imm, Class::salu, lit32),
  control("S_MEMTIME", memtime, memtime, Class::smem, to64), control("S_MEMREALTIME", memtime, memtime, Class::smem, to64),

  SAVEEXEC("AND", s & e, true), SAVEEXEC("OR", s | e, false), SAVEEXEC("XOR", s ^ e, false), SAVEEXEC("ANDN2", s & ~e, false), SAVEEXEC("ORN2", s | ~e, false), SAVEEXEC("NAND", ~(s & e), true),
  SAVEEXEC("NOR", ~(s | e), false), SAVEEXEC("XNOR", ~(s ^ e), false), SAVEEXEC("ANDN1", ~s & e, true), SAVEEXEC("ORN1", ~s | e, false),
  // gfx11 names them s_and_not0/1_saveexec; LLVM keeps the base names above.
  WREXEC("ANDN1", ~s & e), WREXEC("ANDN2", s & ~e),
};
// clang-format on

}  // namespace

std::span<const Row> control_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
