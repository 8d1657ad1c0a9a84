// See hazards.h. Numbers: AMD's ISA documents, section "Manually Inserted Wait States (NOPs)" (Vega 4.5, table
// 11; CDNA1, CDNA2 and CDNA3 4.5), cross-checked with what LLVM inserts. What is left of them on
// RDNA is in rdna_hazards.cpp.
#include "hazards.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "fault.h"
#include "program.h"
#include "registers_used.h"

namespace lathe::emu {
namespace {

constexpr u32 mask_size = 2;  // every target with these hazards has waves of 64
// SGPRs that a vector instruction writes: a lane read's result, a comparison's mask, a carry.
bool valu_writes_sgpr(const Inst& i) { return is_valu(i) && (i.dst.kind == Kind::sgpr || i.sdst.kind == Kind::sgpr); }
bool writes_sgprs(const Inst& i, const Registers& r) {
  return (i.dst.kind == Kind::sgpr && r.overlaps({i.dst.reg, std::max(1u, dwords(i.dst.type))})) || (i.sdst.kind == Kind::sgpr && r.overlaps({i.sdst.reg, mask_size}));
}
Registers scalar_source(const Src& s) {
  if (s.kind != Kind::sgpr) return {};
  return {s.reg, s.type == Ty::mask ? mask_size : std::max(1u, dwords(s.type))};
}
bool valu_writes_vgpr(const Inst& i) { return is_valu(i) && i.dst.kind == Kind::vgpr; }
bool valu_writes_exec(const Inst& i) { return is_valu(i) && (i.row->flags & cmpx); }
bool is_lane_select(const Inst& i) { return named(i, "V_READLANE_B32") || named(i, "V_WRITELANE_B32"); }
u32 passes(const Isa& isa, const Inst& i) {
  const u32 cdna = isa.cdna;
  return i.row->passes[cdna <= 2 ? 0 : cdna - 2];
}
// CDNA3 and later run f32 products on another path than the short types ("XDL").
bool is_xdl(const Isa& isa, const Inst& i) { return isa.cdna < 3 || !(i.row->name.size() > 3 && (i.row->name.substr(i.row->name.size() - 3) == "F32") && i.row->name.substr(i.row->name.size() - 4) != "XF32"); }

// CDNA4's short-type products of more than two passes take one wait state more.
u32 late(const Isa& isa, u32 passes) { return isa.cdna >= 4 && passes != 2 ? 1 : 0; }

// ---- the table -------------------------------------------------------------------------------------

struct Hazard {
  const char* name;
  bool (*on)(const Isa&);
  bool (*produces)(const Inst&);
  // Wait states that must stand between the two; 0 if they do not concern each other.
  u32 (*needs)(const Isa&, const Inst& p, const Inst& c);
  u32 most;
};

bool gfx9(const Isa& isa) { return isa.encoding == Encoding::gfx9; }
bool gfx940(const Isa& isa) { return isa.cdna >= 3; }
bool cdna1(const Isa& isa) { return isa.cdna == 1; }
bool cdna2(const Isa& isa) { return isa.cdna >= 2; }

// D of one matrix instruction as a source of the next (CDNA2 and CDNA3 4.5, "XDL write VGPR" rows).
u32 matrix_after_matrix(const Isa& isa, const Inst& p, const Inst& c) {
  if (!is_mfma(c)) return 0;
  const Registers d = vgpr_write(p), src_c = vgpr_source(c, 2);
  const u32 n = passes(isa, p);
  const bool sparse = c.row->matrix_flags & matrix_sparse;
  const Registers acc = sparse ? vgpr_write(c) : src_c;
  const bool ab = d.overlaps(vgpr_source(c, 0)) || d.overlaps(vgpr_source(c, 1)) || (sparse && d.overlaps(src_c));
  u32 need = 0;
  if (ab) need = is_double(p) ? (n == 4 ? 6 : 11) : isa.cdna >= 3 ? n + (is_xdl(isa, p) ? 3 + late(isa, n) : 2) : isa.cdna == 1 ? n + 2 : n + 3;
  if (d.overlaps(acc)) {
    const bool same = d.first == acc.first && d.count == acc.count;
    u32 more = 0;
    if (is_double(c) != is_double(p) && is_double(p) && isa.cdna < 3) more = 0;
    else if (same) more = is_double(p) && is_double(c) && n == 4 ? 4 : isa.cdna >= 3 && n == 2 ? 2 : 0;
    else if (is_double(p)) more = is_double(c) || !is_xdl(isa, c) ? (n == 4 ? 4 : 9) : 0;
    else if (isa.cdna >= 3) more = is_xdl(isa, c) && !is_xdl(isa, p) ? 0 : n + (is_xdl(isa, p) ? 1 + late(isa, n) : 0);
    else more = n;
    need = std::max(need, more);
  }
  return need;
}
// D read or overwritten by anything else.
u32 others_after_matrix(const Isa& isa, const Inst& p, const Inst& c) {
  if (is_mfma(c) || !(is_valu(c) || is_memory(c))) return 0;
  const Registers d = vgpr_write(p);
  const bool reads = reads_vgprs(c, d), writes = d.overlaps(vgpr_write(c));
  if (!reads && !writes) return 0;
  const u32 n = passes(isa, p);
  if (is_double(p)) return reads && is_memory(c) ? (n == 4 ? 9 : 18) : n == 4 ? 6 : 11;
  return isa.cdna >= 3 ? n + (is_xdl(isa, p) ? 3 + late(isa, n) : 2) : n + 3;
}
// gfx908: D lies in AGPRs, which only v_accvgpr_read and _write reach.
u32 acc_moves_after_matrix(const Isa& isa, const Inst& p, const Inst& c) {
  if (!is_acc_move(c)) return 0;
  const Registers d = vgpr_write(p);
  const u32 n = passes(isa, p);
  if (reads_vgprs(c, d)) return n + 2;
  return d.overlaps(vgpr_write(c)) ? n - 1 : 0;
}

// clang-format off
constexpr Hazard hazards[] = {
  {"a VALU instruction writes an SGPR, then a vector memory instruction reads it", gfx9,
   [](const Inst& p) -> bool { return valu_writes_sgpr(p); },
   [](const Isa&, const Inst& p, const Inst& c) -> u32 {
     if (!is_vmem(c)) return 0;
     const Registers base = c.mem.has_saddr ? Registers{c.mem.saddr, c.mem.segment == Segment::buffer ? 4u : c.mem.segment == Segment::scratch ? 1u : 2u} : Registers{};
     return writes_sgprs(p, base) || writes_sgprs(p, scalar_source(c.mem.soffset)) ? 5 : 0;
   }, 5},
  {"a VALU instruction writes an SGPR, then v_readlane or v_writelane takes its lane number from it", gfx9,
   [](const Inst& p) -> bool { return valu_writes_sgpr(p); },
   [](const Isa&, const Inst& p, const Inst& c) -> u32 { return is_lane_select(c) && writes_sgprs(p, scalar_source(c.src[1])) ? 4 : 0; }, 4},
  {"a VALU instruction writes VCC, then v_div_fmas reads it", gfx9,
   [](const Inst& p) -> bool { return is_valu(p) && writes_sgprs(p, {vcc_reg, 2}); },
   [](const Isa&, const Inst&, const Inst& c) -> u32 { return c.row->flags & vcc_last ? 4 : 0; }, 4},
  {"a VALU instruction writes a VGPR, then a DPP instruction reads it", gfx9,
   [](const Inst& p) -> bool { return valu_writes_vgpr(p); },
   [](const Isa&, const Inst& p, const Inst& c) -> u32 { return c.dpp.on && vgpr_write(p).overlaps(vgpr_source(c, 0)) ? 2 : 0; }, 2},
  {"a VALU instruction writes EXEC, then a DPP instruction follows", gfx9,
   [](const Inst& p) -> bool { return valu_writes_exec(p); },
   [](const Isa&, const Inst&, const Inst& c) -> u32 { return c.dpp.on ? 5 : 0; }, 5},
  {"a VALU instruction writes VCC or EXEC, then a VALU instruction reads VCCZ or EXECZ", gfx9,
   [](const Inst& p) -> bool { return valu_writes_exec(p) || (is_valu(p) && writes_sgprs(p, {vcc_reg, 2})); },
   [](const Isa&, const Inst& p, const Inst& c) -> u32 {
     if (!is_valu(c)) return 0;
     for (u32 k = 0; k < c.nsrc; k++)
       if (c.src[k].kind == Kind::special && ((c.src[k].reg == 251 && writes_sgprs(p, {vcc_reg, 2})) || (c.src[k].reg == 252 && valu_writes_exec(p)))) return 5;
     return 0;
   }, 5},
  {"s_setreg, then s_getreg or s_setreg of the same hardware register", gfx9,
   [](const Inst& p) -> bool { return starts(p, "S_SETREG_"); },
   [](const Isa&, const Inst& p, const Inst& c) -> u32 { return (starts(c, "S_GETREG_") || starts(c, "S_SETREG_")) && (p.imm & 63) == (c.imm & 63) ? 2 : 0; }, 2},
  {"a SALU instruction writes M0, then a message, an add-TID, an LDS-direct load or a relative move uses it", gfx9,
   [](const Inst& p) -> bool { return is_salu(p) && writes_sgprs(p, {m0_reg, 1}); },
   [](const Isa&, const Inst&, const Inst& c) -> u32 {
     const bool uses = starts(c, "S_SENDMSG") || named(c, "S_TTRACEDATA") || c.mem.lds || starts(c, "GLOBAL_LOAD_LDS") || starts(c, "DS_GWS") ||
                       c.row->name.find("ADDTID") != std::string_view::npos || starts(c, "S_MOVREL");
     return uses ? 1 : 0;
   }, 1},
  {"a store of more than 64 bits, then a VALU instruction overwrites its data", gfx9,
   [](const Inst& p) -> bool { return is_vmem(p) && p.row->mem_op != MemOp::load && data_dwords(p) > 2 && (p.mem.segment != Segment::buffer || p.mem.soffset.kind != Kind::sgpr); },
   [](const Isa& isa, const Inst& p, const Inst& c) -> u32 { return is_valu(c) && vgpr_write(c).overlaps({p.mem.data, data_dwords(p)}) ? (isa.cdna >= 3 ? 2 : 1) : 0; }, 2},

  // CDNA3 4.5 alone.
  {"a transcendental instruction writes a VGPR, then another VALU instruction reads it", gfx940,
   [](const Inst& p) -> bool { return is_valu(p) && is_transcendental(p); },
   [](const Isa&, const Inst& p, const Inst& c) -> u32 { return is_valu(c) && !is_transcendental(c) && reads_vgprs(c, vgpr_write(p)) ? 1 : 0; }, 1},
  {"a VALU instruction writes part of a VGPR (dst_sel, op_sel), then a VALU instruction reads it", gfx940,
   [](const Inst& p) -> bool { return valu_writes_vgpr(p) && ((p.sdwa && p.dst.sdwa_sel != 6) || p.dst.half); },
   [](const Isa&, const Inst& p, const Inst& c) -> u32 { return is_valu(c) && reads_vgprs(c, vgpr_write(p)) ? 1 : 0; }, 1},
  {"a VALU instruction writes an SGPR or VCC, then a VALU instruction reads it", gfx940,
   [](const Inst& p) -> bool { return valu_writes_sgpr(p); },
   [](const Isa&, const Inst& p, const Inst& c) -> u32 {
     if (!is_valu(c)) return 0;
     for (u32 k = 0; k < c.nsrc; k++)
       if (writes_sgprs(p, scalar_source(c.src[k]))) return 2;
     return 0;
   }, 2},
  {"a VALU instruction writes EXEC, then a lane is read or written", gfx940,
   [](const Inst& p) -> bool { return valu_writes_exec(p); },
   [](const Isa&, const Inst&, const Inst& c) -> u32 { return is_lane_select(c) || named(c, "V_READFIRSTLANE_B32") ? 4 : 0; }, 4},
  {"a VALU instruction writes a VGPR, then a lane of it is read", gfx940,
   [](const Inst& p) -> bool { return valu_writes_vgpr(p); },
   [](const Isa&, const Inst& p, const Inst& c) -> u32 { return (named(c, "V_READLANE_B32") || named(c, "V_READFIRSTLANE_B32")) && reads_vgprs(c, vgpr_write(p)) ? 1 : 0; }, 1},

  // Matrix cores.
  {"a VALU instruction writes EXEC, then a matrix instruction follows", [](const Isa& isa) { return isa.cdna != 0; },
   [](const Inst& p) -> bool { return valu_writes_exec(p); },
   [](const Isa&, const Inst&, const Inst& c) -> u32 { return is_mfma(c) ? 4 : 0; }, 4},
  {"a VALU instruction writes a VGPR, then a matrix instruction reads it", [](const Isa& isa) { return isa.cdna != 0; },
   [](const Inst& p) -> bool { return valu_writes_vgpr(p) && !is_acc_move(p); },
   [](const Isa& isa, const Inst& p, const Inst& c) -> u32 {
     return (is_mfma(c) || (isa.cdna == 1 && (c.row->flags & agpr_dst))) && reads_vgprs(c, vgpr_write(p)) ? 2 : 0;
   }, 2},
  {"v_accvgpr_write, then a matrix instruction reads it", cdna1,
   [](const Inst& p) -> bool { return p.row->flags & agpr_dst; },
   [](const Isa&, const Inst& p, const Inst& c) -> u32 {
     if (!is_mfma(c)) return 0;
     const Registers d = vgpr_write(p);
     return d.overlaps(vgpr_source(c, 0)) || d.overlaps(vgpr_source(c, 1)) ? 3 : d.overlaps(vgpr_source(c, 2)) ? 1 : 0;
   }, 3},
  {"a matrix instruction writes D, then another one reads it", [](const Isa& isa) { return isa.cdna != 0; },
   [](const Inst& p) -> bool { return is_mfma(p); }, matrix_after_matrix, 19},
  {"a matrix instruction writes D, then it is read or overwritten", cdna2,
   [](const Inst& p) -> bool { return is_mfma(p); }, others_after_matrix, 19},
  {"a matrix instruction writes D, then v_accvgpr_read or v_accvgpr_write uses it", cdna1,
   [](const Inst& p) -> bool { return is_mfma(p); }, acc_moves_after_matrix, 18},
  {"a matrix instruction reads C, then a VALU instruction overwrites it", cdna2,
   [](const Inst& p) -> bool { return is_mfma(p) && !is_double(p); },
   [](const Isa& isa, const Inst& p, const Inst& c) -> u32 {
     if (!is_valu(c) || !vgpr_write(c).overlaps(vgpr_source(p, 2))) return 0;
     const u32 n = passes(isa, p);
     return n == 2 ? 1 : n - 1;
   }, 15},
};
// clang-format on

// ---- at run time -----------------------------------------------------------------------------------

constexpr u32 longest = 19;

[[noreturn]] void report(const Wave& w, const Hazard& h, const Wave::Producer& p, u32 needed, u32 there) {
  const Program& program = *w.group->program;
  raise(FaultKind::hazard, fmt::format("hazard: {}: {} wait states are needed in between, {} there (s_nop)\n  first        {}   at code offset 0x{:x}{}", h.name, needed, there == 0 ? "none is" : fmt::format("{} are", there),
                                       program.disassemble(p.inst->pc), p.inst->pc - program.text_base, program.source_text(p.inst->pc)));
}

const Inst* run_with_hazards(Wave& w, const Inst* i) {
  const Isa& isa = *w.group->isa;
  const u32 now = w.time_shift + i->states;
  auto& list = w.producers;
  std::erase_if(list, [&](const Wave::Producer& p) { return now - p.time > longest + 1; });
  bool produces = false;
  for (const Hazard& h : hazards) {
    if (!h.on(isa)) continue;
    for (const Wave::Producer& p : list) {
      if (!h.produces(*p.inst)) continue;
      const u32 needed = h.needs(isa, *p.inst, *i), there = now - p.time - 1;
      if (there < needed) report(w, h, p, needed, there);
    }
    produces |= h.produces(*i);
  }
  if (produces) list.push_back({i, now});
  return i->behind(w, i);
}

// ---- before the first run --------------------------------------------------------------------------

struct Marker {
  const Isa& isa;
  const std::function<const Inst*(const Inst&)>& target;
  std::vector<const Hazard*> on;

  static void mark(const Inst& i) {
    Inst& m = const_cast<Inst&>(i);
    if (m.behind) return;
    m.behind = m.run, m.run = run_with_hazards;
  }
  // All instructions that may run within the hazard's reach after `p`; `between`: wait states so far.
  void follow(const Inst& p, std::span<const Hazard* const> from, const Inst* i, u32 between, u32 reach) const {
    while (i && between < reach) {
      if (i->target) {  // goes on in another run; branches have no target before they first ran
        i = i->target;
        continue;
      }
      for (const Hazard* h : from)
        if (h->needs(isa, p, *i) > between) mark(p), mark(*i);
      if (named(*i, "S_ENDPGM") || named(*i, "S_SETPC_B64")) return;
      between += wait_states(*i);
      if (is_branch(*i)) {
        if (const Inst* t = target(*i)) follow(p, from, t, between, reach);
        if (named(*i, "S_BRANCH")) return;
      }
      i++;
    }
  }
  static bool is_branch(const Inst& i) { return named(i, "S_BRANCH") || starts(i, "S_CBRANCH"); }
};

}  // namespace

u32 wait_states(const Inst& i) { return named(i, "S_NOP") ? (u32(i.imm) & 15) + 1 : 1; }

void mark_hazards(const Isa& isa, std::deque<std::vector<Inst>>& runs, const std::function<const Inst*(const Inst&)>& target) {
  Marker m{isa, target, {}};
  for (const Hazard& h : hazards)
    if (h.on(isa)) m.on.push_back(&h);
  if (m.on.empty()) return;
  std::vector<const Hazard*> from;
  for (auto& run : runs)
    for (size_t k = 0; k + 1 < run.size(); k++) {
      const Inst& p = run[k];
      from.clear();
      u32 reach = 0;
      for (const Hazard* h : m.on)
        if (h->produces(p)) from.push_back(h), reach = std::max(reach, h->most);
      if (reach) m.follow(p, from, &p + 1, 0, reach);
    }
}

}  // namespace lathe::emu
