// Vector instructions with operands of their own: lane reads and writes, permutes, swaps, VOPD.
#include "machine/salu.h"
#include "machine/valu.h"
#include "rows/tables.h"

#include <fmt/format.h>

namespace lathe::emu::LATHE_LEVEL {
namespace {

using enum Undef;

// Value and shadow of operand k in one lane.
u32 lane_value(Wave& w, const Src& s, u32 lane) {
  if (s.kind == Kind::vgpr) return w.vgpr(s.reg)[lane];
  return s.kind == Kind::constant ? s.lanes[0] : scalar32(w, s);
}
u32 lane_undef(Wave& w, const Src& s, u32 lane) {
  if (s.kind == Kind::vgpr) {
    check_arrived(w, s.reg, 1, "read");
    return undef_bits(w, s.reg, lane);
  }
  if (s.kind == Kind::sgpr) {
    check_arrived_sgpr(w, s.reg, 1, "read");
    return w.s_und[s.reg];
  }
  return 0;
}
u32 control_value(Wave& w, const Src& s, bool strict, const char* what) {
  if (strict && lane_undef(w, s, 0)) report_undefined(w, what, "it", -1);
  return lane_value(w, s, 0);
}

template <bool Strict>
const Inst* readfirstlane(Wave& w, const Inst* i) {
  const u64 exec = w.exec();
  const u32 lane = exec ? u32(__builtin_ctzll(exec)) : 0;
  w.s[i->dst.reg] = lane_value(w, i->src[0], lane);
  if constexpr (Strict) {
    check_arrived_sgpr(w, i->dst.reg, 1, "overwritten");
    w.s_und[i->dst.reg] = lane_undef(w, i->src[0], lane);
  }
  return i + 1;
}
template <bool Strict>
const Inst* readlane(Wave& w, const Inst* i) {
  const u32 lane = control_value(w, i->src[1], Strict, "v_readlane's lane number") & (w.lanes - 1);
  w.s[i->dst.reg] = lane_value(w, i->src[0], lane);
  if constexpr (Strict) {
    check_arrived_sgpr(w, i->dst.reg, 1, "overwritten");
    w.s_und[i->dst.reg] = lane_undef(w, i->src[0], lane);
  }
  return i + 1;
}
template <bool Strict>
const Inst* writelane(Wave& w, const Inst* i) {
  const u32 lane = control_value(w, i->src[1], Strict, "v_writelane's lane number") & (w.lanes - 1);
  const u32 x = lane_value(w, i->src[0], 0);
  if constexpr (Strict) {
    check_arrived(w, i->dst.reg, 1, "overwritten");
    set_undef_bits(w, i->dst.reg, lane, lane_undef(w, i->src[0], 0));
  }
  w.vgpr(i->dst.reg)[lane] = x;
  return i + 1;
}

// Generic gather over lanes: `from(lane)` is the lane whose src[0] each active lane gets.
template <bool Strict, class F>
const Inst* gather(Wave& w, const Inst* i, F from) {
  const u64 exec = w.exec();
  u32 out[64], undefined[64];
  u64 write = exec;
  const bool fetch_inactive = i->src[0].sel, bound_ctrl = i->src[1].sel;  // op_sel[0] = FI, op_sel[1] = bound_ctrl
  for (u32 l = 0; l < w.lanes; l++) {
    if (!(exec >> l & 1)) continue;
    const u32 f = from(l);
    const bool live = fetch_inactive || (exec >> f & 1);
    if (!live && !bound_ctrl) write &= ~(u64(1) << l);
    out[l] = live ? lane_value(w, i->src[0], f) : 0;
    if constexpr (Strict) undefined[l] = live ? lane_undef(w, i->src[0], f) : 0;
  }
  if constexpr (Strict) {
    check_arrived(w, i->dst.reg, 1, "overwritten");
    for (u64 m = write; m; m &= m - 1) set_undef_bits(w, i->dst.reg, u32(__builtin_ctzll(m)), undefined[__builtin_ctzll(m)]);
  }
  blend(w.vgpr(i->dst.reg), out, write, w.lanes);
  return i + 1;
}
template <bool Strict>
const Inst* permlane16(Wave& w, const Inst* i) {
  const u64 sel = control_value(w, i->src[1], Strict, "v_permlane16's selector") | u64(control_value(w, i->src[2], Strict, "v_permlane16's selector")) << 32;
  return gather<Strict>(w, i, [&](u32 l) { return (l & ~15u) | u32(sel >> (4 * (l & 15)) & 15); });
}
template <bool Strict>
const Inst* permlanex16(Wave& w, const Inst* i) {
  const u64 sel = control_value(w, i->src[1], Strict, "v_permlanex16's selector") | u64(control_value(w, i->src[2], Strict, "v_permlanex16's selector")) << 32;
  return gather<Strict>(w, i, [&](u32 l) { return ((l & ~15u) ^ 16u) | u32(sel >> (4 * (l & 15)) & 15); });
}
template <bool Strict>
const Inst* permlane64(Wave& w, const Inst* i) {
  if (w.lanes == 32) return i + 1;  // a no-op in wave32
  u32 out[64], undefined[64];
  for (u32 l = 0; l < 64; l++) {
    out[l] = lane_value(w, i->src[0], l ^ 32);
    if constexpr (Strict) undefined[l] = lane_undef(w, i->src[0], l ^ 32);
  }
  if constexpr (Strict) for (u64 m = w.exec(); m; m &= m - 1) set_undef_bits(w, i->dst.reg, u32(__builtin_ctzll(m)), undefined[__builtin_ctzll(m)]);
  blend(w.vgpr(i->dst.reg), out, w.exec(), w.lanes);
  return i + 1;
}
template <bool Strict>
const Inst* swap(Wave& w, const Inst* i) {
  const u64 exec = w.exec();
  const u32 a = i->dst.reg, b = i->src[0].reg;
  if constexpr (Strict) check_arrived(w, a, 1, "swapped"), check_arrived(w, b, 1, "swapped");
  for (u64 m = exec; m; m &= m - 1) {
    const u32 l = u32(__builtin_ctzll(m));
    std::swap(w.vgpr(a)[l], w.vgpr(b)[l]);
    if constexpr (Strict) {
      const u32 ua = undef_bits(w, a, l), ub = undef_bits(w, b, l);
      set_undef_bits(w, a, l, ub), set_undef_bits(w, b, l, ua);
    }
  }
  return i + 1;
}

// RDNA3 ISA, V_SWAP_B16: two halves of registers trade places, the other halves stay.
template <bool Strict>
const Inst* swap16(Wave& w, const Inst* i) {
  const u32 a = i->dst.reg, b = i->src[0].reg, shift_a = i->dst.half ? 16 : 0, shift_b = i->src[0].sel ? 16 : 0;
  if constexpr (Strict) check_arrived(w, a, 1, "swapped"), check_arrived(w, b, 1, "swapped");
  const auto put = [](u32 word, u32 shift, u32 half) { return (word & ~(0xffffu << shift)) | half << shift; };
  for (u64 m = w.exec(); m; m &= m - 1) {
    const u32 l = u32(__builtin_ctzll(m));
    const u32 from_a = w.vgpr(a)[l] >> shift_a & 0xffff, from_b = w.vgpr(b)[l] >> shift_b & 0xffff;
    w.vgpr(a)[l] = put(w.vgpr(a)[l], shift_a, from_b);  // one after the other: both may be halves of one register
    w.vgpr(b)[l] = put(w.vgpr(b)[l], shift_b, from_a);
    if constexpr (Strict) {
      const u32 ua = undef_bits(w, a, l) >> shift_a & 0xffff, ub = undef_bits(w, b, l) >> shift_b & 0xffff;
      set_undef_bits(w, a, l, put(undef_bits(w, a, l), shift_a, ub));
      set_undef_bits(w, b, l, put(undef_bits(w, b, l), shift_b, ua));
    }
  }
  return i + 1;
}

// CDNA4 ISA, V_PERMLANE16_SWAP_B32 and V_PERMLANE32_SWAP_B32: the odd rows of `Row` lanes of the first register trade
// places with the even rows of the second. A lane whose partner is not in EXEC gets 0 under bound_ctrl, else nothing.
template <bool Strict, u32 Row>
const Inst* permlane_swap(Wave& w, const Inst* i) {
  const u64 exec = w.exec();
  const u32 a = i->dst.reg, b = i->src[0].reg;
  // The only source has op_sel[0]; op_sel[1] is in the VOP3 form alone.
  const bool fetch_inactive = i->src[0].sel, bound_ctrl = i->size == 8 && (*reinterpret_cast<const u32*>(i->pc) >> 12 & 1);
  if constexpr (Strict) check_arrived(w, a, 1, "swapped"), check_arrived(w, b, 1, "swapped");
  for (u32 l = 0; l < w.lanes; l++) {
    if (!(l & Row)) continue;
    const u32 other = l - Row;  // of the second register
    const u32 va = w.vgpr(a)[l], vb = w.vgpr(b)[other];
    u32 ua = 0, ub = 0;
    if constexpr (Strict) ua = undef_bits(w, a, l), ub = undef_bits(w, b, other);
    auto give = [&](u32 reg, u32 to, u32 from, u32 value, u32 undefined) {
      const bool live = fetch_inactive || (exec >> from & 1);
      if (!(exec >> to & 1) || (!live && !bound_ctrl)) return;
      w.vgpr(reg)[to] = live ? value : 0;
      if constexpr (Strict) set_undef_bits(w, reg, to, live ? undefined : 0);
    };
    give(a, l, other, vb, ub), give(b, other, l, va, ua);
  }
  return i + 1;
}
template <bool Strict, u32 Flip>
const Inst* permlane16_var(Wave& w, const Inst* i) {
  if constexpr (Strict) require_defined(w, i->src[1].reg, 1, w.exec(), "v_permlane16_var's selector");
  const u32* sel = w.vgpr(i->src[1].reg);
  return gather<Strict>(w, i, [&](u32 l) { return ((l & ~15u) ^ Flip) | (sel[l] & 15); });
}

// gfx1250, within groups of lanes whose size is the last operand (HIP's __shfl family, amd_hip_vector_functions: what
// each reads, and that a lane without a partner in its group keeps its own). What an inactive lane gives is not known.
enum class Partner : u8 { broadcast, up, down, exclusive_or };
template <bool Strict, Partner P>
const Inst* permlane_group(Wave& w, const Inst* i) {
  const u32 choice = control_value(w, i->src[1], Strict, "v_permlane's lane number"), width = control_value(w, i->src[2], Strict, "v_permlane's group size");
  if (!width || (width & (width - 1)) || width > w.lanes) raise(FaultKind::unsupported, fmt::format("v_permlane with groups of {} lanes", width));
  const u64 exec = w.exec();
  u32 out[64], undefined[64];
  for (u64 m = exec; m; m &= m - 1) {
    const u32 l = u32(__builtin_ctzll(m)), at = l & (width - 1), base = l - at;
    u32 from = l;
    switch (P) {
      case Partner::broadcast: from = base + (choice & (width - 1)); break;
      case Partner::up: from = choice > at ? l : l - choice; break;
      case Partner::down: from = choice >= width - at ? l : l + choice; break;
      case Partner::exclusive_or: from = choice >= width ? l : base + (at ^ choice); break;
    }
    out[l] = lane_value(w, i->src[0], from);
    if constexpr (Strict) undefined[l] = exec >> from & 1 ? lane_undef(w, i->src[0], from) : ~0u;
  }
  if constexpr (Strict) {
    check_arrived(w, i->dst.reg, 1, "overwritten");
    for (u64 m = exec; m; m &= m - 1) set_undef_bits(w, i->dst.reg, u32(__builtin_ctzll(m)), undefined[__builtin_ctzll(m)]);
  }
  blend(w.vgpr(i->dst.reg), out, exec, w.lanes);
  return i + 1;
}

// ---- relative register numbers -------------------------------------------------------------------

void move_by(Wave& w, u16& reg, u32 by, u32 dwords_wanted) {
  const u32 r = reg + by;
  if (r + dwords_wanted > w.nv) raise(FaultKind::bad_register, fmt::format("relative access to v{}: the kernel has {} registers", r, w.nv));
  reg = u16(r);
}

// gfx9: between s_set_gpr_idx_on and _off, M0[7:0] is added to the VGPR numbers that M0[15:12] selects
// (src0, src1, src2, dst). The instructions in between are run as changed copies (Vega ISA, "VGPR indexing").
template <bool Strict>
const Inst* gpr_idx_on(Wave& w, const Inst* i) {
  if constexpr (Strict) if (i->src[0].kind == Kind::sgpr) require_defined_sgpr(w, i->src[0].reg, 1, "a register number");
  w.s[m0_reg] = (w.s[m0_reg] & ~0xf0ffu) | (scalar32(w, i->src[0]) & 0xff) | (u32(i->src[1].value) & 15) << 12;
  w.s_und[m0_reg] = 0;
  const Inst* k = i + 1;
  for (; k->row->name != "S_SET_GPR_IDX_OFF"; k++) {
    if (k->cls == Class::branch) raise(FaultKind::unsupported, "a branch while VGPR indexing is on");
    if (k->row->family != Family::valu && k->row->family != Family::lane) {
      k->run(w, k);
      continue;
    }
    const u32 by = w.s[m0_reg] & 0xff, which = w.s[m0_reg] >> 12 & 15;
    Inst copy = *k;
    copy.run = k->row->run[Strict];
    for (u32 s = 0; s < copy.nsrc && s < 3; s++)
      if (copy.src[s].kind == Kind::vgpr && (which >> s & 1)) move_by(w, copy.src[s].reg, by, dwords(copy.src[s].type));
    if (copy.dst.kind == Kind::vgpr && (which >> 3 & 1)) move_by(w, copy.dst.reg, by, dwords(copy.dst.type));
    copy.run(w, &copy);
  }
  return k + 1;
}
template <bool Strict>
const Inst* gpr_idx_idx(Wave& w, const Inst* i) {
  if constexpr (Strict) if (i->src[0].kind == Kind::sgpr) require_defined_sgpr(w, i->src[0].reg, 1, "a register number");
  w.s[m0_reg] = (w.s[m0_reg] & ~0xffu) | (scalar32(w, i->src[0]) & 0xff);
  return i + 1;
}
// gfx10+: v_movrels reads VGPR[src0 + M0], v_movreld writes VGPR[vdst + M0]; the _2 form takes M0[9:0]
// for the source and M0[25:16] for the destination.
template <bool Strict, bool From, bool To, bool Split>
const Inst* movrel(Wave& w, const Inst* i) {
  static const Row* mov = find_row("V_MOV_B32");
  if constexpr (Strict) require_defined_sgpr(w, m0_reg, 1, "a register number");
  const u32 m0 = w.s[m0_reg];
  Inst copy = *i;
  copy.row = mov, copy.lanes = mov->lanes;
  if (From) move_by(w, copy.src[0].reg, Split ? m0 & 0x3ff : m0, 1);
  if (To) move_by(w, copy.dst.reg, Split ? m0 >> 16 & 0x3ff : m0, 1);
  mov->run[Strict](w, &copy);
  return i + 1;
}

template <bool Strict>
const Inst* swaprel(Wave& w, const Inst* i) {
  if constexpr (Strict) require_defined_sgpr(w, m0_reg, 1, "a register number");
  Inst copy = *i;
  move_by(w, copy.src[0].reg, w.s[m0_reg] & 0x3ff, 1), move_by(w, copy.dst.reg, w.s[m0_reg] >> 16 & 0x3ff, 1);
  swap<Strict>(w, &copy);
  return i + 1;
}

constexpr Row lane_op(std::string_view name, Handler fast, Handler strict, Sig sig, u16 flags = 0) {
  Row row;
  row.name = name;
  row.family = Family::lane;
  row.cls = Class::valu;
  row.sig = sig;
  row.run[0] = fast, row.run[1] = strict;
  row.flags = flags;
  return row;
}
constexpr Sig sig1{Ty::b32, false, 1, {Ty::b32}}, sig2{Ty::b32, false, 2, {Ty::b32, Ty::b32}}, sig3{Ty::b32, false, 3, {Ty::b32, Ty::b32, Ty::b32}};

// clang-format off
constexpr Row rows[] = {
  lane_op("V_READFIRSTLANE_B32", readfirstlane<false>, readfirstlane<true>, sig1, scalar_dst),
  lane_op("V_READLANE_B32", readlane<false>, readlane<true>, sig2, scalar_dst),
  lane_op("V_WRITELANE_B32", writelane<false>, writelane<true>, sig2),
  lane_op("V_PERMLANE16_B32", permlane16<false>, permlane16<true>, sig3),
  lane_op("V_PERMLANEX16_B32", permlanex16<false>, permlanex16<true>, sig3),
  lane_op("V_PERMLANE64_B32", permlane64<false>, permlane64<true>, sig1),
  control("S_SET_GPR_IDX_ON", gpr_idx_on<false>, gpr_idx_on<true>, Class::salu, Sig{Ty::none, false, 2, {Ty::b32, Ty::b32}}),
  control("S_SET_GPR_IDX_IDX", gpr_idx_idx<false>, gpr_idx_idx<true>, Class::salu, Sig{Ty::none, false, 1, {Ty::b32}}),
  lane_op("V_MOVRELS_B32", movrel<false, true, false, false>, movrel<true, true, false, false>, sig1),
  lane_op("V_MOVRELD_B32", movrel<false, false, true, false>, movrel<true, false, true, false>, sig1),
  lane_op("V_MOVRELSD_B32", movrel<false, true, true, false>, movrel<true, true, true, false>, sig1),
  lane_op("V_MOVRELSD_2_B32", movrel<false, true, true, true>, movrel<true, true, true, true>, sig1),
  lane_op("V_PERMLANE16_SWAP_B32", permlane_swap<false, 16>, permlane_swap<true, 16>, sig1),
  lane_op("V_PERMLANE32_SWAP_B32", permlane_swap<false, 32>, permlane_swap<true, 32>, sig1),
  lane_op("V_SWAPREL_B32", swaprel<false>, swaprel<true>, sig1),
  lane_op("V_PERMLANE16_VAR_B32", permlane16_var<false, 0>, permlane16_var<true, 0>, sig2), lane_op("V_PERMLANEX16_VAR_B32", permlane16_var<false, 16>, permlane16_var<true, 16>, sig2),
  lane_op("V_PERMLANE_BCAST_B32", permlane_group<false, Partner::broadcast>, permlane_group<true, Partner::broadcast>, sig3),
  lane_op("V_PERMLANE_UP_B32", permlane_group<false, Partner::up>, permlane_group<true, Partner::up>, sig3),
  lane_op("V_PERMLANE_DOWN_B32", permlane_group<false, Partner::down>, permlane_group<true, Partner::down>, sig3),
  lane_op("V_PERMLANE_XOR_B32", permlane_group<false, Partner::exclusive_or>, permlane_group<true, Partner::exclusive_or>, sig3),
  lane_op("V_SWAP_B32", swap<false>, swap<true>, sig1), lane_op("V_SWAP_B16", swap16<false>, swap16<true>, Sig{Ty::b16, false, 1, {Ty::b16}}),
  valu("V_MBCNT_LO_U32_B32", [](u32 a, u32 b, lane_id l) -> u32 { return u32(std::popcount(a & (l.value >= 32 ? ~0u : (1u << l.value) - 1))) + b; }),
  valu("V_MBCNT_HI_U32_B32", [](u32 a, u32 b, lane_id l) -> u32 { return u32(std::popcount(a & (l.value >= 32 ? (1u << (l.value - 32)) - 1 : 0u))) + b; }),
};
// clang-format on

}  // namespace

std::span<const Row> lane_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
