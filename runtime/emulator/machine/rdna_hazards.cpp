// See rdna_hazards.h. AMD's RDNA documents leave most of these out; the list and the distances are those of LLVM 22
// (GCNHazardRecognizer, AMDGPUWaitSGPRHazards), tried out with llc: gfx1030 has none of them.
#include "rdna_hazards.h"

#include <span>

#include <fmt/format.h>

#include "fault.h"
#include "program.h"
#include "registers_used.h"

namespace lathe::emu {
namespace {

enum : u8 { wait_sa_sdst = 1, wait_va_vdst = 2 };
u8 waits_of(const Inst& i) {
  // LLVM leaves the wait out where a memory instruction or a wait for one stands between.
  if (is_memory(i) || i.row->family == Family::smem || starts(i, "S_WAIT_")) return wait_sa_sdst;
  if (!named(i, "S_WAITCNT_DEPCTR")) return 0;
  const u32 x = u32(i.imm);
  return u8((x & 1 ? 0 : wait_sa_sdst) | (x >> 12 & 15 ? 0 : wait_va_vdst));
}

bool is_nop(const Inst& i) { return named(i, "V_NOP"); }
bool is_vector(const Inst& i) { return is_valu(i) || i.row->family == Family::wide || is_nop(i); }
bool is_trans(const Inst& i) { return is_valu(i) && is_transcendental(i); }
bool writes_exec(const Inst& i) { return is_salu(i) && i.dst.kind == Kind::sgpr && i.dst.reg >= exec_reg && i.dst.reg < exec_reg + 2; }
bool writes(const Inst& i, const Registers& r) { return vgpr_write(i).overlaps(r) || (i.second && vgpr_write(*i.second).overlaps(r)); }
// All results of earlier VALU instructions have arrived once one of these is issued.
bool drains_valu(const Inst& i) { return is_memory(i) || (waits_of(i) & wait_va_vdst); }

// ---- between vector registers ----------------------------------------------------------------------

bool rdna3_late_trans(const Isa& isa, u32) { return isa.late_trans; }
bool rdna3_wave64(const Isa& isa, u32 lanes) { return isa.encoding == Encoding::gfx11 && lanes == 64; }
bool rdna3_and_4(const Isa& isa, u32) { return isa.encoding == Encoding::gfx11 || (isa.encoding == Encoding::gfx12 && !isa.vgpr_msb); }
bool since_rdna3(const Isa& isa, u32) { return isa.encoding >= Encoding::gfx11; }
bool gfx1250(const Isa& isa, u32) { return isa.vgpr_msb; }

// `path`: what was run from the producer, path[0], up to the consumer, which is not in it.
using Path = std::span<const Inst* const>;
template <class F>
bool any_between(Path path, F f) {
  for (const Inst* i : path.subspan(1))
    if (f(*i)) return true;
  return false;
}
template <class F>
u32 count_between(Path path, F f) {
  u32 n = 0;
  for (const Inst* i : path.subspan(1)) n += f(*i);
  return n;
}

struct PathHazard {
  const char *name, *wants;
  bool (*on)(const Isa&, u32 lanes);
  bool (*produces)(const Inst&);
  bool (*over)(Path);                       // nothing that follows can be a consumer
  bool (*hits)(Path, const Inst& consumer);
};

// Does a vector instruction read what `producer` wrote? Of a register's two halves, each is a result of its own.
bool reads_result(const Inst& c, const Inst& producer) {
  const Registers written = vgpr_write(producer);
  if (!reads_vgprs(c, written)) return false;
  if (!is_16bit(producer.dst.type) || c.second || c.row->family != Family::valu) return true;
  for (u32 k = 0; k < c.nsrc; k++)
    if (vgpr_source(c, k).overlaps(written) && (!is_16bit(c.src[k].type) || c.src[k].sel == producer.dst.half)) return true;
  return false;
}

bool trans_over(Path p) { return any_between(p, drains_valu) || count_between(p, is_vector) > 5 || count_between(p, is_trans) > 1; }
bool vector_between(Path p) { return any_between(p, is_vector); }

// Va by VALU, EXEC by SALU, Vb by VALU, then both read: at most two VALU instructions stand beside the write of EXEC and at
// most four between Vb and the reader. Of each source the last write counts.
bool forwarding_over(Path p) { return any_between(p, drains_valu) || count_between(p, is_vector) > 8; }
bool forwarding_hits(Path p, const Inst& c) {
  if (!is_vector(c)) return false;
  u32 sources = 0;
  Registers seen[4];
  for (u32 k = 0; k < c.nsrc && k < 4; k++) {
    const Registers s = vgpr_source(c, k);
    bool again = !s.count;
    for (u32 j = 0; j < sources; j++) again |= seen[j].first == s.first;
    if (!again) seen[sources++] = s;
  }
  if (sources < 2) return false;
  // The number of VALU instructions behind the last write of EXEC and behind each source's last write.
  constexpr int none = -1;
  int exec = none, before = none, after = none;
  bool from_producer = false;
  for (u32 pass = 0; pass < 2; pass++) {
    int valus = 0;
    u32 found = 0;
    for (size_t n = p.size(); n-- > 0;) {
      const Inst& i = *p[n];
      if (pass == 0 && exec == none && valus > 0 && writes_exec(i)) exec = valus;
      if (!is_vector(i)) continue;
      if (pass == 1)
        for (u32 j = 0; j < sources; j++)
          if (!(found >> j & 1) && writes(i, seen[j])) {
            found |= 1u << j;
            if (valus >= exec) {
              if (before == none || valus < before) before = valus, from_producer = n == 0;
            } else if (after == none || valus < after) {
              after = valus;
            }
          }
      valus++;
    }
    if (exec == none) return false;
  }
  if (before == none || after == none || !from_producer || after > 4) return false;
  return (exec - after - 1) + (before - exec) <= 2;
}

bool reads_as_matrix(const Inst& c, const Registers& d) {
  return d.overlaps(vgpr_source(c, 0)) || d.overlaps(vgpr_source(c, 1)) || (starts(c, "V_SWMMAC") && d.overlaps(vgpr_source(c, 2)));
}
// gfx1250 runs VALU instructions beside WMMA: so many of them have to stand between one and what touches its registers.
u32 beside_wmma(const Inst& i) {
  if (starts(i, "V_WMMA_F32_16X16X4_F32")) return 0;
  return (starts(i, "V_WMMA_I32") || starts(i, "V_SWMMAC_I32") ? 8 : 4) / (starts(i, "V_SWMMAC") ? 2 : 1);
}
bool wmma_over(Path p) { return count_between(p, is_vector) > 8; }

// clang-format off
constexpr PathHazard path_hazards[] = {
  {"v_cmpx writes EXEC, then v_permlane follows", "a VALU instruction other than v_nop", since_rdna3,
   [](const Inst& i) -> bool { return is_valu(i) && (i.row->flags & cmpx); },
   [](Path p) -> bool { return any_between(p, [](const Inst& i) { return is_vector(i) && !is_nop(i); }); },
   [](Path, const Inst& c) -> bool { return starts(c, "V_PERMLANE"); }},
  {"a transcendental instruction writes a VGPR, then a VALU instruction reads it", "more than five VALU instructions or s_waitcnt_depctr va_vdst(0)", rdna3_late_trans,
   is_trans, trans_over, [](Path p, const Inst& c) -> bool { return is_vector(c) && reads_result(c, *p[0]); }},
  {"a transcendental instruction, then a VALU instruction of another kind reads its result or overwrites its source", "a VALU instruction", gfx1250,
   is_trans, vector_between,
   [](Path p, const Inst& c) -> bool { return is_vector(c) && !is_trans(c) && (reads_result(c, *p[0]) || writes(c, vgpr_source(*p[0], 0))); }},
  {"VALU instructions write two VGPRs, one before and one after a write of EXEC, then a VALU instruction reads both", "s_waitcnt_depctr va_vdst(0)", rdna3_wave64,
   [](const Inst& i) -> bool { return is_vector(i) && i.dst.kind == Kind::vgpr; }, forwarding_over, forwarding_hits},
  {"a WMMA instruction writes D, then the next one reads it as A, B or index", "a VALU instruction", rdna3_and_4,
   is_wmma, vector_between,
   [](Path p, const Inst& c) -> bool { return is_wmma(c) && reads_as_matrix(c, vgpr_write(*p[0])); }},
  {"a WMMA instruction writes D, then another one reads it as A, B or index", "a number of VALU instructions (5, after I32 9, after sparse ones 3 and 5, to and from F32 1)", gfx1250,
   is_wmma, wmma_over,
   [](Path p, const Inst& c) -> bool {
     return is_wmma(c) && reads_as_matrix(c, vgpr_write(*p[0])) && count_between(p, is_vector) < (beside_wmma(c) ? beside_wmma(*p[0]) : 0) + 1;
   }},
  {"a WMMA instruction, then a VALU instruction reads or overwrites its D, or overwrites A, B or index", "a number of VALU instructions (4, after I32 8, after sparse ones 2 and 4)", gfx1250,
   is_wmma, wmma_over,
   [](Path p, const Inst& c) -> bool {
     if (!is_vector(c) || is_wmma(c) || is_trans(c) || count_between(p, is_vector) >= beside_wmma(*p[0])) return false;
     const Registers d = vgpr_write(*p[0]);
     return reads_vgprs(c, d) || writes(c, d) || writes(c, vgpr_source(*p[0], 0)) || writes(c, vgpr_source(*p[0], 1)) || (starts(*p[0], "V_SWMMAC") && writes(c, vgpr_source(*p[0], 2)));
   }},
};
// clang-format on
constexpr size_t longest_path = 48;

// ---- scalar registers ------------------------------------------------------------------------------

// GFX12.0: a VALU instruction has read an SGPR, SALU writes one of its pair, and that is read before the write has been
// waited for. (LLVM waits after some writes by VALU too; its rule for them is not known here.)
bool has_sgpr_hazards(const Isa& isa, u32 lanes) { return isa.encoding == Encoding::gfx12 && rdna3_and_4(isa, lanes); }

void add(SgprSet& set, u32 first, u32 count) {
  for (u32 r = first; r < first + count && r < vcc_reg; r++) set.set(r);  // LLVM treats VCC otherwise
}
void collect(const Inst& i, u32 lanes, Watch& w) {
  for (u32 k = 0; k < i.nsrc; k++) {
    const Src& s = i.src[k];
    if (s.kind != Kind::sgpr) continue;
    const u32 count = s.type == Ty::mask ? lanes / 32 : i.row->family == Family::wide ? std::max<u32>(1, i.wide[k + 1]) : std::max(1u, dwords(s.type));
    add(w.reads, s.reg, count);
  }
  if (i.dst.kind == Kind::sgpr) add(w.writes, i.dst.reg, i.dst.type == Ty::mask ? lanes / 32 : std::max(1u, dwords(i.dst.type)));
  if (i.sdst.kind == Kind::sgpr) add(w.writes, i.sdst.reg, lanes / 32);
  if (i.second) collect(*i.second, lanes, w);
}
SgprSet whole_pairs(const SgprSet& s) {
  static const SgprSet even = [] {
    SgprSet e;
    for (u32 k = 0; k < 128; k += 2) e.set(k);
    return e;
  }();
  const SgprSet low = (s | s >> 1) & even;
  return low | low << 1;
}

// ---- at run time -----------------------------------------------------------------------------------

[[noreturn]] void report(const Wave& w, const Inst& first, std::string what, std::string_view wants) {
  const Program& program = *w.group->program;
  raise(FaultKind::hazard, fmt::format("hazard: {}: {} is needed in between\n  first        {}   at code offset 0x{:x}{}", what, wants, program.disassemble(first.pc), first.pc - program.text_base, program.source_text(first.pc)));
}

bool leads_to(const Inst& last, const Inst& i) {
  if (named(last, "S_BRANCH") || named(last, "S_SETPC_B64")) return last.target == &i;
  return &last + 1 == &i || last.target == &i || (&last)[1].target == &i;
}
void check_path(Wave& w, const Inst* i) {
  RdnaHazards& h = w.rdna;
  const Isa& isa = *w.group->isa;
  // What ran unseen in between leaves nothing to say.
  if (!h.last || !leads_to(*h.last, *i)) h.path.clear();
  if (h.path.size() >= longest_path) h.path.erase(h.path.begin());
  for (size_t from = 0; from < h.path.size(); from++) {
    const Path p(h.path.data() + from, h.path.size() - from);
    for (const PathHazard& z : path_hazards)
      if (z.on(isa, w.lanes) && z.produces(*p[0]) && !z.over(p) && z.hits(p, *i)) report(w, *p[0], z.name, z.wants);
  }
  h.path.push_back(i);
  h.last = i;
}

void check_sgprs(Wave& w, const Inst* i, const Watch& k) {
  RdnaHazards& h = w.rdna;
  if (k.waits & wait_sa_sdst) h.by_salu.reset();
  if (const SgprSet late = k.reads & h.by_salu; late.any()) {
    const u32 r = u32(late._Find_first());
    report(w, *h.writer[r], fmt::format("SALU writes s{}, which an earlier VALU instruction read, then it is read", r), "s_waitcnt_depctr sa_sdst(0)");
  }
  if (k.valu) h.held |= whole_pairs(k.reads);
  if (k.writes.none()) return;
  h.by_salu &= ~k.writes;
  if (!k.salu) return;
  const SgprSet now = k.writes & h.held;
  h.by_salu |= now;
  for (size_t r = now._Find_first(); r < 128; r = now._Find_next(r)) h.writer[r] = i;
}

const Inst* run_watched(Wave& w, const Inst* i) {
  const Watch& k = *i->watch;
  if (k.on_path) check_path(w, i);
  if (k.waits || k.reads.any() || k.writes.any()) check_sgprs(w, i, k);
  return i->behind(w, i);
}

// ---- before the first run --------------------------------------------------------------------------

struct Watcher {
  const Isa& isa;
  u32 lanes;
  std::deque<Watch>& watches;
  const std::function<const Inst*(const Inst&)>& target;

  Watch& watch(const Inst& i) const {
    Inst& m = const_cast<Inst&>(i);
    if (m.watch) return const_cast<Watch&>(*m.watch);
    watches.emplace_back();
    m.watch = &watches.back();
    m.behind = m.run, m.run = run_watched;
    return watches.back();
  }
  // All ways on from path[0]; at every consumer that is in reach the whole way there is watched.
  void follow(const PathHazard& z, std::vector<const Inst*>& path, const Inst* i, u32& budget) const {
    const size_t start = path.size();
    while (i && path.size() < longest_path && budget) {
      if (i->target) {  // goes on in another run; branches have no target before they first ran
        i = i->target;
        continue;
      }
      budget--;
      if (z.hits(path, *i)) {
        for (const Inst* p : path) watch(*p).on_path = true;
        watch(*i).on_path = true;
      }
      path.push_back(i);
      if (z.over(path) || named(*i, "S_ENDPGM") || named(*i, "S_SETPC_B64")) break;
      if (named(*i, "S_BRANCH") || starts(*i, "S_CBRANCH")) {
        if (const Inst* t = target(*i)) follow(z, path, t, budget);
        if (named(*i, "S_BRANCH")) break;
      }
      i++;
    }
    path.resize(start);
  }
};

}  // namespace

void watch_rdna_hazards(const Isa& isa, u32 lanes, std::deque<std::vector<Inst>>& runs, std::deque<Watch>& watches, const std::function<const Inst*(const Inst&)>& target) {
  const Watcher all{isa, lanes, watches, target};
  if (has_sgpr_hazards(isa, lanes))
    for (auto& run : runs)
      for (const Inst& i : run) {
        if (i.target) continue;
        Watch k;
        k.valu = is_vector(i), k.salu = is_salu(i) && !k.valu, k.waits = waits_of(i);
        if (k.valu || k.salu) collect(i, lanes, k);
        if (k.waits || k.reads.any() || k.writes.any()) all.watch(i) = k;
      }
  std::vector<const Inst*> path;
  for (const PathHazard& z : path_hazards) {
    if (!z.on(isa, lanes)) continue;
    for (auto& run : runs)
      for (size_t k = 0; k + 1 < run.size(); k++)
        if (!run[k].target && z.produces(run[k])) {
          path.assign(1, &run[k]);
          u32 budget = 2000;  // loops without VALU instructions have many ways through them
          all.follow(z, path, &run[k + 1], budget);
        }
  }
}

}  // namespace lathe::emu
