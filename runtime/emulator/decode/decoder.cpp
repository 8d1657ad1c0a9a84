// Operand fields by encoding. Bit positions are those of AMD's ISA documents (Vega, CDNA3, RDNA2, RDNA3,
// RDNA4: chapter "Microcode formats").
#include "decode/decoder.h"

#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "decode/disassembler.h"
#include "decode/fields.h"
#include "decode/opcode_name.h"
#include "machine/fault.h"
#include "machine/wave.h"

namespace lathe::emu {

namespace {

Format format_of(const Isa& isa, u32 w) {
  const bool gfx9 = isa.encoding == Encoding::gfx9, gfx12 = isa.encoding == Encoding::gfx12;
  if (!(w >> 31)) return (w >> 25) == 0x3f ? Format::vop1 : (w >> 25) == 0x3e ? Format::vopc : Format::vop2;
  if ((w >> 23) == 0x17d) return Format::sop1;
  if ((w >> 23) == 0x17e) return Format::sopc;
  if ((w >> 23) == 0x17f) return Format::sopp;
  if ((w >> 28) == 0xb) return Format::sopk;
  if ((w >> 30) == 2) return Format::sop2;
  const u32 top = w >> 26;
  if (gfx9) {
    switch (top) {
      case 0x34: return (w >> 23) == 0x1a7 ? Format::vop3p : Format::vop3;
      case 0x30: return Format::smem;
      case 0x36: return Format::ds;
      case 0x37: return Format::flat;
      case 0x38: return Format::buffer;
    }
    return Format::other;
  }
  if ((w >> 24) == 0xcc) return Format::vop3p;
  if ((w >> 24) == 0xcf && isa.vgpr_msb) return Format::vopd3;
  switch (top) {
    case 0x35: return Format::vop3;
    case 0x32: return Format::vopd;
    case 0x3d: return Format::smem;
    case 0x36: return Format::ds;
    case 0x37: return Format::flat;
    case 0x38: return Format::buffer;
    case 0x3b: return gfx12 ? Format::flat : Format::other;
    case 0x31: return gfx12 ? Format::buffer : Format::other;
  }
  return Format::other;
}

constexpr u32 float_inline[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
constexpr u16 half_inline[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
constexpr u64 double_inline[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x4000000000000000,
                                 0xc000000000000000, 0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

// Rows whose opcode has none yet keep their name here, for the report.
const Row* nameless_row(const std::string& name, const Inst* (*run)(Wave&, const Inst*)) {
  static std::mutex mutex;
  static auto* names = new std::set<std::string>;
  static auto* rows = new std::map<std::string, std::unique_ptr<Row>>;
  std::lock_guard lock(mutex);
  auto& slot = (*rows)[name];
  if (!slot) {
    slot = std::make_unique<Row>();
    slot->name = *names->insert(name).first;
    slot->run[0] = slot->run[1] = run;
    slot->family = Family::control;
    slot->cls = Class::other;
  }
  return slot.get();
}

const Inst* run_unknown(Wave&, const Inst* i) {
  raise(FaultKind::unknown_instruction, fmt::format("no semantics for instruction {}", i->row->name));
}
const Inst* run_undecodable(Wave&, const Inst* i) {
  raise(FaultKind::unknown_instruction, fmt::format("the bytes at pc 0x{:x} are no instruction of this target ({})", i->pc, i->row->name));
}
const Inst* run_bad_register(Wave&, const Inst* i) {
  raise(FaultKind::bad_register, fmt::format("instruction names {}{} beyond the registers that the kernel descriptor allocates ({})", "v", i->imm, i->size));
}
const Inst* run_scalar_scale(Wave&, const Inst* i) {
  raise(FaultKind::unsupported, fmt::format("{} with a scale that is no VGPR", i->row->name));
}

}  // namespace

void make_unknown(Inst& i, const std::string& name) {
  i.row = nameless_row(name, run_unknown);
  i.run = run_unknown;
}

// ---- operands ------------------------------------------------------------------------------------

// The encoding's scalar codes with M0 and NULL brought to one place: gfx9 has M0 at 124, gfx10 adds NULL
// at 125, gfx11 swaps them.
u32 Decoder::sgpr_code(u32 code) const {
  if (isa().encoding >= Encoding::gfx11) {
    if (code == 124) return sink_reg;
    if (code == 125) return m0_reg;
  } else if (code == 125) {
    return sink_reg;
  }
  return code;
}

Src Decoder::source(u32 code, Ty type, const Fields& f, bool vector, bool short16) {
  Src s;
  s.type = type;
  auto constant = [&](u64 value) {
    s.kind = Kind::constant;
    if (!vector) s.value = value;
    else if ((dwords(type) == 2 && type != Ty::pkf32) || type == Ty::mask) s.lanes = program.constant64(value);
    else s.lanes = program.constant32(u32(value));
  };
  if (code >= 256) {
    s.kind = Kind::vgpr;
    s.reg = u16(code - 256);
    if (short16 && is_16bit(type) && isa().encoding >= Encoding::gfx11 && (s.reg & 0x80)) s.reg &= 0x7f, s.sel = 1;
    return s;
  }
  const u32 scalar = sgpr_code(code);
  if (scalar == sink_reg) {
    constant(0);  // NULL reads as zero
  } else if (scalar < 128) {
    s.kind = Kind::sgpr;
    s.reg = u16(scalar);
  } else if (code <= 208) {
    const i64 value = code <= 192 ? i64(code) - 128 : 192 - i64(code);
    constant(dwords(type) == 2 ? (type == Ty::pkf32 || type == Ty::pkb32 ? u64(u32(value)) | u64(u32(value)) << 32 : u64(value)) : is_16bit(type) ? u64(u16(value)) : u64(u32(value)));
  } else if (code >= 240 && code <= 248) {
    const u32 k = code - 240;
    switch (type) {
      case Ty::f16: case Ty::b16: case Ty::pkf16: constant(half_inline[k]); break;
      case Ty::f64: case Ty::b64: case Ty::i64: constant(double_inline[k]); break;
      case Ty::bf16: case Ty::pkbf16: constant(float_inline[k] >> 16); break;
      case Ty::pkf32: case Ty::pkb32: constant(u64(float_inline[k]) | u64(float_inline[k]) << 32); break;
      default: constant(float_inline[k]);
    }
  } else if (code == 254 && isa().vgpr_msb) {
    constant(f.literal64);
  } else if (code == 255) {
    const u32 k = f.literal;
    switch (type) {
      case Ty::f64: constant(u64(k) << 32); break;
      case Ty::i64: constant(u64(i64(i32(k)))); break;
      case Ty::pkf32: case Ty::pkb32: constant(u64(k) | u64(k) << 32); break;
      case Ty::b16: case Ty::f16: case Ty::bf16: constant(k & 0xffff); break;
      default: constant(k);
    }
  } else {
    s.kind = Kind::special;
    s.reg = u16(code);
  }
  return s;
}

Dst Decoder::vector_dst(u32 reg, Ty type, bool short16, u32 half, bool keep) {
  Dst d;
  d.kind = Kind::vgpr;
  d.type = type;
  d.reg = u16(reg);
  if (is_16bit(type)) {
    d.half = half & 1;
    d.keep = keep || isa().fma16_keeps_high || d.half;
    if (short16 && isa().encoding >= Encoding::gfx11 && (reg & 0x80)) d.reg &= 0x7f, d.half = 1;
  }
  return d;
}

void Decoder::scalar_dst(Inst& i, u32 code, Ty type) {
  i.dst.kind = Kind::sgpr;
  i.dst.type = type;
  i.dst.reg = u16(sgpr_code(code));
}

// ---- scalar --------------------------------------------------------------------------------------

void Decoder::salu(Inst& i, const Fields& f) {
  const Row& row = *i.row;
  const Sig& sig = row.sig;
  const u32 w = f.w[0];
  auto src = [&](u32 k, u32 code) { i.src[k] = source(code, sig.src[k], f, false, false); };
  auto imm = [&](u32 k, u32 value) { i.src[k].kind = Kind::constant, i.src[k].type = sig.src[k], i.src[k].value = value; };
  i.nsrc = sig.n;
  const u32 sdst = w >> 16 & 0x7f;
  switch (f.format) {
    case Format::sop1:
      if (sig.dst != Ty::none) scalar_dst(i, sdst, sig.dst);
      if (sig.n > 0) src(0, w & 0xff);
      if (row.flags & dst_read) src(1, sdst);
      break;
    case Format::sop2:
      if (sig.dst != Ty::none) scalar_dst(i, sdst, sig.dst);
      src(0, w & 0xff);
      if (row.flags & lit_mid) src(1, 255), src(2, w >> 8 & 0xff);
      else if (sig.n > 1) src(1, w >> 8 & 0xff);
      if (row.flags & lit_last) src(2, 255);
      if (row.flags & dst_read) src(2, sdst);
      break;
    case Format::sopc:
      src(0, w & 0xff);
      if (row.name == "S_SET_GPR_IDX_ON") imm(1, w >> 8 & 0xff);
      else src(1, w >> 8 & 0xff);
      break;
    case Format::sopk: {
      i.imm = i32(i16(w));
      if (row.family == Family::control) {
        if (sig.n == 1) imm(0, f.literal);
        scalar_dst(i, sdst, Ty::b32);
        break;
      }
      if (sig.dst != Ty::none) scalar_dst(i, sdst, sig.dst);
      u32 k = 0;
      if (row.flags & dst_read) src(k++, sdst);
      if (k < sig.n) imm(k, u32(i.imm));
      break;
    }
    default:  // sopp
      i.imm = i32(i16(w));
      i.nsrc = 0;
  }
}

// ---- vector --------------------------------------------------------------------------------------

void Decoder::valu(Inst& i, const Fields& f) {
  const Row& row = *i.row;
  const Sig& sig = row.sig;
  const bool e32 = f.format != Format::vop3;
  const u32 w = f.w[0];
  const bool gfx9 = isa().encoding == Encoding::gfx9;
  i.nsrc = sig.n;
  u32 codes[4] = {};
  u32 ncodes;
  if (e32) {
    codes[0] = w & 0x1ff;
    codes[1] = 256 + (w >> 9 & 0xff);
    ncodes = f.format == Format::vop1 ? 1 : 2;
    if (f.dpp || f.dpp8) codes[0] = 256 + (f.extra & 0xff);
    if (f.sdwa) codes[0] = (f.extra >> 23 & 1 ? 0 : 256) + (f.extra & 0xff), codes[1] = (f.extra >> 31 ? 0 : 256) + (w >> 9 & 0xff);
  } else {
    codes[0] = f.bits(32, 9), codes[1] = f.bits(41, 9), codes[2] = f.bits(50, 9);
    ncodes = 3;
    if (f.dpp || f.dpp8) codes[0] = 256 + (f.extra & 0xff);
  }
  const u32 vdst = e32 ? w >> 17 & 0xff : f.bits(0, 8);
  const bool vop3b = sig.mask_out && sig.dst != Ty::none && !e32;
  // VOP3's modifiers; VOP3B has its SDST where abs and op_sel would be.
  const u32 neg = e32 ? 0 : f.bits(61, 3), abs = e32 || vop3b ? 0 : f.bits(8, 3), opsel = e32 || vop3b ? 0 : f.bits(11, 4);
  if (!e32) i.clamp = f.bits(15, 1), i.omod = u8(f.bits(59, 2));
  for (u32 k = 0; k < sig.n; k++) {
    Src& s = i.src[k];
    const Ty t = sig.src[k];
    if (t == Ty::lane) {
      s.kind = Kind::constant, s.type = t;
      s.lanes = program.lane_numbers();
      continue;
    }
    if (t == Ty::mods || t == Ty::mode) {
      s = own_operand(t, f);
      continue;
    }
    if (t == Ty::mask && (e32 || (row.flags & vcc_last) || k >= ncodes)) {
      s.kind = Kind::sgpr, s.type = t, s.reg = vcc_reg;
      continue;
    }
    u32 code = codes[k];
    if ((row.flags & acc) && k == sig.n - 1u) code = 256 + vdst;
    else if ((row.flags & lit_last) && k == sig.n - 1u) code = dwords(t) == 2 ? 254 : 255;
    else if ((row.flags & lit_mid) && k == 1) code = dwords(t) == 2 ? 254 : 255;
    else if ((row.flags & lit_mid) && k == 2) code = codes[1];
    s = source(code, t, f, true, e32);
    if (row.flags & agpr_src && s.kind == Kind::vgpr) s.reg = acc_register(s.reg);
    if (!e32) {
      s.neg = neg >> k & 1, s.abs = abs >> k & 1;
      if ((is_16bit(t) || row.family == Family::lane) && !((row.flags & acc) && k == sig.n - 1u)) s.sel = opsel >> k & 1;
      if ((row.flags & acc) && k == sig.n - 1u && is_16bit(t)) s.sel = opsel >> 3 & 1;
    }
    if (is_packed(t)) s.sel = 0, s.sel_hi = 1, s.neg_hi = s.neg;  // whole registers: VOP2 and VOP3 have no OP_SEL_HI
  }
  // Integers have neither sign nor magnitude to change, whatever the bits say; v_mov, v_cndmask, v_pack_b32_f16
  // and v_cmp_class take floats, though their rows say bits.
  const bool float_bits = row.name.substr(0, 9) == "V_CNDMASK" || row.name == "V_MOV_B32" || row.name == "V_PACK_B32_F16" || row.name.find("_CLASS_") != std::string_view::npos;
  const auto no_modifiers = [&] {
    for (u32 k = 0; k < sig.n; k++)
      if (!is_float(i.src[k].type) && !float_bits) i.src[k].neg = i.src[k].abs = 0;
  };
  if (row.family == Family::lane && !e32) i.src[1].sel = opsel >> 1 & 1;  // bound_ctrl of v_permlane*
  // Byte selects of gfx12's FP8 conversions are SDWA's in other bits. OP_SEL[0:1]: the bits stand reversed.
  if (row.flags & byte_src) i.sdwa = true, i.src[0].sdwa_sel = u8((opsel & 1) << 1 | (opsel >> 1 & 1)), i.src[0].sel = 0;
  if (row.flags & byte_dst) i.sdwa = true, i.dst.sdwa_sel = u8(opsel >> 2), i.dst.sdwa_unused = 2;
  if (row.flags & truth_table) {  // table bits [7:6] in omod, [5:3] in abs, [2:0] in neg
    for (u32 k = 0; k < 3; k++) i.src[k].neg = i.src[k].abs = 0;
    i.src[3].kind = Kind::constant, i.src[3].type = Ty::b32;
    i.src[3].lanes = program.constant32(f.bits(59, 2) << 6 | f.bits(8, 3) << 3 | f.bits(61, 3));
    i.omod = 0;
  }
  if (f.dpp || f.dpp8) dpp(i, f);
  if (f.dpp && e32) {
    const u32 x = f.extra;
    i.src[0].neg = x >> 20 & 1, i.src[0].abs = x >> 21 & 1;
    if (sig.n > 1 && i.src[1].type != Ty::mask) i.src[1].neg = x >> 22 & 1, i.src[1].abs = x >> 23 & 1;
  } else if (f.sdwa) {
    i.sdwa = true;
    const u32 x = f.extra;
    i.src[0].sdwa_sel = x >> 16 & 7, i.src[0].sdwa_sext = x >> 19 & 1, i.src[0].neg = x >> 20 & 1, i.src[0].abs = x >> 21 & 1;
    if (ncodes > 1 && sig.n > 1) i.src[1].sdwa_sel = x >> 24 & 7, i.src[1].sdwa_sext = x >> 27 & 1, i.src[1].neg = x >> 28 & 1, i.src[1].abs = x >> 29 & 1;
    if (f.format != Format::vopc) i.clamp = x >> 13 & 1, i.omod = x >> 14 & 3;
  }
  no_modifiers();
  // Outside VOP3P one sign bit stands for both halves.
  for (u32 k = 0; k < sig.n; k++)
    if (is_packed(i.src[k].type)) i.src[k].neg_hi = i.src[k].neg;

  if (row.flags & RowFlag::scalar_dst) {
    Inst& j = i;
    j.dst.kind = Kind::sgpr, j.dst.type = sig.dst, j.dst.reg = u16(sgpr_code(vdst));
  } else if (sig.dst != Ty::none) {
    const Dst byte = i.dst;
    i.dst = vector_dst(vdst, sig.dst, e32, (row.flags & d_hi) ? 1 : opsel >> 3, row.flags & keep_high);
    if (row.flags & byte_dst) i.dst.sdwa_sel = byte.sdwa_sel, i.dst.sdwa_unused = byte.sdwa_unused;
    if (row.flags & agpr_dst) i.dst.reg = acc_register(i.dst.reg);
    if (f.sdwa) i.dst.sdwa_sel = f.extra >> 8 & 7, i.dst.sdwa_unused = f.extra >> 11 & 3;
    if (f.sdwa && is_16bit(i.dst.type)) i.dst.keep = 0;
  }
  if (sig.mask_out) {
    u32 code = vcc_reg;
    if (vop3b) code = f.bits(8, 7);
    else if (!e32) code = f.bits(0, 8);
    else if (f.sdwa && f.format == Format::vopc && (f.extra >> 15 & 1)) code = f.extra >> 8 & 0x7f;
    i.sdst.kind = Kind::sgpr, i.sdst.type = Ty::mask, i.sdst.reg = u16(sgpr_code(code));
    if ((row.flags & cmpx) && !gfx9) i.sdst.kind = Kind::none;  // gfx10+: EXEC alone
  }
  finish_valu(i, f);
}

void Decoder::dpp(Inst& i, const Fields& f) {
  Dpp& d = i.dpp;
  const u32 x = f.extra;
  d.on = true;
  if (f.dpp8) {
    d.is8 = true, d.sel8 = x >> 8;
    d.fetch_inactive = f.src0 == 234;  // FI is in the choice of the code
    return;
  }
  d.ctrl = x >> 8 & 0x1ff;
  d.fetch_inactive = x >> 18 & 1, d.bound_ctrl = x >> 19 & 1;
  d.bank_mask = x >> 24 & 15, d.row_mask = x >> 28;
}

// What a row reads beside its operands: the modifiers' bits, or MODE.
Src Decoder::own_operand(Ty type, const Fields& f) {
  Src s;
  s.type = type;
  s.kind = type == Ty::mods ? Kind::constant : Kind::special;
  const bool wide = f.format == Format::vop3 || f.format == Format::vop3p;
  if (type == Ty::mods) s.lanes = program.constant32(wide ? modifiers(f, 0) : 0);
  return s;
}
u32 Decoder::modifiers(const Fields& f, u32 at) {
  return f.bits(at + 61, 3) | f.bits(at + 8, 3) << 3 | f.bits(at + 11, 4) << 6 | f.bits(at + 59, 2) << 10 | f.bits(at + 15, 1) << 12;
}

// Matrices and wide conversions: register groups whose sizes the row's own description gives. A 16-byte form
// is a scale instruction (its two sources become the fourth and fifth) and the matrix instruction itself.
void Decoder::wide(Inst& i, const Fields& f) {
  const Row& row = *i.row;
  const u32 at = f.size == 16 && f.format == Format::vop3p ? 64 : 0;
  i.mods = modifiers(f, at) | (at ? modifiers(f, 0) << 16 : 0);
  i.nsrc = row.sig.n;
  const u32 codes[] = {f.bits(at + 32, 9), f.bits(at + 41, 9), f.bits(at + 50, 9), f.bits(32, 9), f.bits(41, 9)};
  for (u32 k = 0; k < row.sig.n && k < 3; k++) {
    const u32 code = (row.flags & acc) && k == row.sig.n - 1u ? 256 + f.bits(at, 8) : codes[k];
    Src& s = i.src[k];
    s = source(code, row.sig.src[k], f, true, false);
    if (f.format == Format::vop3) {
      if (is_float(s.type)) s.neg = i.mods >> k & 1, s.abs = i.mods >> (3 + k) & 1;
      if (is_16bit(s.type)) s.sel = i.mods >> (6 + k) & 1;
    }
  }
  if (at) {
    i.nsrc = 5;
    for (u32 k = 3; k < 5; k++) i.src[k] = source(codes[k], Ty::b32, f, true, false);
  }
  i.dst = vector_dst(f.bits(at, 8), row.sig.dst, false, 0, false);
  if (row.prepare) row.prepare(isa(), program.context.lanes, i);
}

void Decoder::vop3p(Inst& i, const Fields& f) {
  const Row& row = *i.row;
  const Sig& sig = row.sig;
  i.nsrc = sig.n;
  const u32 codes[] = {f.dpp || f.dpp8 ? 256 + (f.extra & 0xff) : f.bits(32, 9), f.bits(41, 9), f.bits(50, 9)};
  if (f.dpp || f.dpp8) dpp(i, f);
  const u32 neg = f.bits(61, 3), neg_hi = f.bits(8, 3), opsel = f.bits(11, 3);
  const u32 opsel_hi = f.bits(59, 2) | f.bits(14, 1) << 2;
  i.clamp = f.bits(15, 1);
  for (u32 k = 0; k < sig.n; k++) {
    Src& s = i.src[k];
    if (sig.src[k] == Ty::mods || sig.src[k] == Ty::mode) {
      s = own_operand(sig.src[k], f);
      continue;
    }
    const u32 code = (row.flags & acc) && k == sig.n - 1u ? 256 + f.bits(0, 8) : codes[k];
    s = source(code, sig.src[k], f, true, false);
    if (row.flags & agpr_src && s.kind == Kind::vgpr) s.reg = acc_register(s.reg);
    if (is_packed(sig.src[k]) || is_mix(sig.src[k])) {
      s.neg = neg >> k & 1, s.neg_hi = neg_hi >> k & 1, s.sel = opsel >> k & 1, s.sel_hi = opsel_hi >> k & 1;
      if (sig.src[k] == Ty::pkb32) s.sel_hi = s.sel;  // v_pk_mov_b32: op_sel chooses for both results, op_sel_hi is not used
      if (is_mix(sig.src[k]) && s.sel_hi && s.kind == Kind::constant && code >= 240 && code <= 248)
        s.lanes = program.constant32(sig.src[k] == Ty::mix ? half_inline[code - 240] : float_inline[code - 240] >> 16);
      if ((row.flags & acc) && k == sig.n - 1u) s.sel = 0, s.sel_hi = 1, s.neg = s.neg_hi = 0;
    } else if (is_float(sig.src[k])) {  // of integers NEG says which are signed: a row reads it as an operand
      s.neg = neg >> k & 1;
      s.abs = sig.src[k] == Ty::f32 ? neg_hi >> k & 1 : 0;
    }
  }
  i.dst = vector_dst(f.bits(0, 8), sig.dst, false, (row.flags & d_hi) ? 1 : 0, row.flags & keep_high);
  if (row.flags & agpr_dst) i.dst.reg = acc_register(i.dst.reg);
  finish_valu(i, f);
}

// VOP3P-MAI. The scaled form of gfx950 is two encodings in a row: V_MFMA_LD_SCALE_B32 with the scales as its
// sources, then the matrix instruction (CDNA4 ISA, "VOP3P-MAI" and "VOP3PX2").
void Decoder::mfma(Inst& i, const Fields& f) {
  const Row& row = *i.row;
  const DecodeContext& c = program.context;
  Matrix& m = i.matrix;
  const u32 at = f.size == 16 ? 64 : 0;
  m.cbsz = u8(f.bits(at + 8, 3)), m.abid = u8(f.bits(at + 11, 4)), m.blgp = u8(f.bits(at + 61, 3));
  u32 count[4];  // registers of D, A, B, C
  for (u32 k = 0; k < 4; k++) count[k] = row.operand_dwords[k];
  if (row.matrix_flags & matrix_formats) {
    auto registers = [](u32 format) { return format <= 1 ? 8u : format <= 3 ? 6u : 4u; };  // 32 values of 8, 6 or 4 bits
    count[1] = registers(m.cbsz), count[2] = registers(m.blgp);
  }
  u32 top = 0, limit = c.vgprs;
  auto uses = [&](u32 reg, u32 n, bool agpr) {
    const u32 end = reg + n, own = agpr ? c.vgprs : std::min(c.vgprs, c.agpr_base);
    if (end > own) top = end, limit = own;
  };
  auto vgpr = [&](Src& s, u32 code, u32 n, bool agpr) {
    s.kind = Kind::vgpr, s.type = Ty::b32;
    s.reg = agpr ? acc_register(code - 256) : u16(code - 256);
    uses(s.reg, n, agpr);
  };
  // C and D are AGPRs always on gfx908, by the ACC_CD bit later.
  const bool acc_cd = isa().separate_agprs || f.bits(at + 15, 1);
  const u32 codes[3] = {f.bits(at + 32, 9), f.bits(at + 41, 9), f.bits(at + 50, 9)};
  i.nsrc = 3;
  for (u32 k = 0; k < 3; k++) {
    const bool sparse_index = k == 2 && (row.matrix_flags & matrix_sparse);
    const bool agpr = k == 2 ? !sparse_index && acc_cd : f.bits(at + 59 + k, 1);
    if (codes[k] >= 256) vgpr(i.src[k], codes[k], count[k + 1], agpr);
    else i.src[k] = source(codes[k], row.matrix_flags & matrix_double ? Ty::f64 : Ty::b32, f, false, false);
  }
  i.dst.kind = Kind::vgpr, i.dst.type = Ty::b32;
  i.dst.reg = acc_cd ? acc_register(f.bits(at, 8)) : u16(f.bits(at, 8));
  uses(i.dst.reg, count[0], acc_cd);
  if (at) {
    m.scaled = true;
    for (u32 k = 0; k < 2; k++) {
      const u32 code = f.bits(32 + 9 * k, 9);
      m.scale_byte[k] = u8(f.bits(11 + k, 1) | f.bits(59 + k, 1) << 1);
      m.scale_reg[k] = u16(code - 256);
      if (code < 256) i.run = run_scalar_scale;
      else uses(m.scale_reg[k], 1, false);
    }
  }
  if (top) limit_registers(i, top, limit);
}

void Decoder::finish_valu(Inst& i, const Fields&) {
  const Row& row = *i.row;
  i.lanes = row.lanes;
  if (row.family != Family::valu) {
    i.clamp = false, i.omod = 0;
    return;
  }
  i.float_result = is_float(row.sig.dst);
  bool simple = !i.clamp && !i.omod && !i.sdwa && !i.dpp.on;
  for (u32 k = 0; k < i.nsrc; k++) {
    const Src& s = i.src[k];
    i.float_result |= is_float(s.type);
    simple &= !s.neg && !s.abs && !s.neg_hi;
    if (s.type == Ty::mask) simple &= s.kind == Kind::sgpr;
    else if (is_16bit(s.type)) simple &= !s.sel;
    else simple &= s.type == Ty::b32 || s.type == Ty::f32 || s.type == Ty::pkf32 || s.type == Ty::lane;
    simple &= k < 3;
  }
  simple &= row.sig.dst == Ty::pkf32 || row.sig.dst == Ty::none || row.sig.dst == Ty::b32 || row.sig.dst == Ty::f32;
  simple &= !(row.flags & RowFlag::scalar_dst);
  i.simple = simple;
  if (simple) i.run = row.simple[program.context.strict];
}

// gfx1250's instructions name 256 VGPRs; S_SET_VGPR_MSB gives two more bits for each of src0, src1, src2 and
// the destination. Memory instructions take src0's for the address, src1's and src2's for stored data, the
// destination's for loaded data; MUBUF's one data field follows the destination.
void Decoder::add_msb(Inst& i) const {
  if (!vgpr_msb) return;
  const auto bits = [&](u32 slot) { return u16((vgpr_msb >> (2 * slot) & 3) << 8); };
  const Row& row = *i.row;
  if (row.family == Family::vmem || row.family == Family::ds) {
    Mem& m = i.mem;
    m.addr = u16(m.addr | bits(0));
    m.data = u16(m.data | bits(m.segment == Segment::buffer && row.family == Family::vmem ? 3 : 1));
    m.data1 = u16(m.data1 | bits(2));
    i.dst.reg = u16(i.dst.reg | bits(3));
    return;
  }
  for (u32 k = 0; k < i.nsrc; k++)
    if (i.src[k].kind == Kind::vgpr) i.src[k].reg = u16(i.src[k].reg | bits((row.flags & acc) && k == i.nsrc - 1u ? 3 : std::min(k, 2u)));
  if (i.dst.kind == Kind::vgpr) i.dst.reg = u16(i.dst.reg | bits(3));
}

// ---- one instruction -----------------------------------------------------------------------------

void Decoder::check_registers(Inst& i) {
  u32 top = 0;
  for (u32 k = 0; k < i.nsrc; k++)
    if (i.src[k].kind == Kind::vgpr) top = std::max(top, i.src[k].reg + std::max(std::max(1u, dwords(i.src[k].type)), u32(i.wide[k + 1])));
  const bool memory = i.row->family == Family::vmem || i.row->family == Family::ds;
  const u32 mem_dwords = i.row->mem_bytes < 4 ? 1 : i.row->mem_bytes / 4;
  if (memory) {
    const bool load = i.row->mem_op == MemOp::load, store = i.row->mem_op == MemOp::store;
    const u32 two = i.row->mem_flags & mem_two ? 2 : 1;
    if (i.mem.has_vaddr) top = std::max(top, i.mem.addr + 1u);
    if ((load && !i.mem.lds) || i.mem.ret) top = std::max(top, i.dst.reg + mem_dwords * two);
    if ((store && !i.mem.lds) || (!load && !store)) top = std::max(top, i.mem.data + (i.row->mem_op == MemOp::none ? 1u : mem_dwords));
    if (i.row->family == Family::ds && i.row->mem_op == MemOp::none) top = std::max(top, i.dst.reg + 1u);
    if (i.row->name == "DS_SWIZZLE_B32") top = std::max(i.mem.addr, i.dst.reg) + 1u;
  } else if (i.dst.kind == Kind::vgpr) {
    top = std::max(top, i.dst.reg + std::max(std::max(1u, dwords(i.dst.type)), u32(i.wide[0])));
  }
  // A number in a VGPR's field does not reach AGPRs, which follow the VGPRs in the same file.
  const DecodeContext& c = program.context;
  const u32 plain = std::min(c.vgprs, c.agpr_base), limit = reaches_agprs ? c.vgprs : plain;
  if (top > limit) limit_registers(i, top, limit);
  else if (memory && i.mem.has_vaddr && i.mem.addr >= plain) limit_registers(i, i.mem.addr + 1u, plain);
}

void Decoder::limit_registers(Inst& i, u32 top, u32 limit) {
  i.run = run_bad_register;
  i.imm = i32(top - 1);
  i.size = limit;
}

// Targets that differ from the others in what an instruction does have rows of their own: "NAME fnuz" for
// gfx942's FP8, "NAME gfx9" and so on for an encoding family.
const Row* Decoder::row_for(const std::string& name) const {
  static constexpr const char* family[] = {" gfx9", " gfx10", " gfx11", " gfx12"};
  const Row* row = isa().fp8_fnuz ? find_row(name + " fnuz") : nullptr;
  if (!row) row = find_row(name + family[int(isa().encoding)]);
  return row ? row : find_row(name);
}

u32 Decoder::decode(u64 pc, Inst& i) {
  const DecodeContext& c = program.context;
  reaches_agprs = false;
  const u64 available = program.text_base + program.text_size - pc;
  const u8* bytes = reinterpret_cast<const u8*>(pc);
  i.pc = pc;
  const Decoded d = disassemble_one(*c.isa, c.lanes, bytes, std::min<u64>(available, 20), pc);
  if (d.opcode.empty() || d.size == 0 || d.size > 20) {
    u32 word = 0;
    std::memcpy(&word, bytes, std::min<u64>(4, available));
    i.row = nameless_row(fmt::format("0x{:08x}", word), run_undecodable);
    i.run = run_undecodable;
    i.size = 4;
    return 4;
  }
  i.size = d.size;
  i.vgpr_msb = vgpr_msb;
  Fields f;
  f.size = d.size;
  std::memcpy(f.w, bytes, d.size);
  f.format = format_of(*c.isa, f.w[0]);

  const OpcodeName name = take_apart(d.opcode);
  // Words after the base encoding: literal, DPP or SDWA.
  u32 base = 4;
  switch (f.format) {
    case Format::vop3: case Format::vop3p: case Format::vopd: case Format::smem: case Format::ds: base = 8; break;
    case Format::flat: case Format::buffer: base = c.isa->encoding == Encoding::gfx12 ? 12 : 8; break;
    case Format::vopd3: base = 12; break;
    default: break;
  }
  const bool prefixed = d.size == 16 && f.format == Format::vop3p;  // scales, then the matrix instruction
  if (d.size > base && base / 4 < 5 && !prefixed) {
    const u32 extra = f.w[base / 4];
    u32 code = 0;
    if (f.format == Format::vop1 || f.format == Format::vop2 || f.format == Format::vopc) code = f.w[0] & 0x1ff;
    else if (f.format == Format::vop3 || f.format == Format::vop3p) code = f.w[1] & 0x1ff;
    f.src0 = code;
    if (code == 249 && f.format != Format::vop3 && f.format != Format::vop3p) f.sdwa = true, f.extra = extra;
    else if (code == 250) f.dpp = true, f.extra = extra;
    else if ((code == 233 || code == 234) && c.isa->encoding >= Encoding::gfx10) f.dpp8 = true, f.extra = extra;
    else f.has_literal = true, f.literal = extra;
    if (d.size >= base + 8) std::memcpy(&f.literal64, bytes + base, 8);
  }

  if (f.format == Format::vopd || f.format == Format::vopd3) {
    vopd(i, f, name);
    return d.size;
  }
  // SDWA has a clamp bit for all; there, what cannot overflow ignores it.
  const bool sdwa_clamp = f.sdwa && f.format != Format::vopc && (f.extra >> 13 & 1);
  const bool clamped = ((f.format == Format::vop3 || f.format == Format::vop3p) && f.bits(15, 1)) || sdwa_clamp;
  const Row* row = row_for(name.base);
  // Saturating integer forms have rows of their own.
  if (row && clamped && row->family == Family::valu && !is_float(row->sig.dst) && row->sig.dst != Ty::none) {
    bool converts = true;  // from float to integer: saturates in any case
    for (u32 k = 0; k < row->sig.n; k++) converts &= is_float(row->sig.src[k]);
    const Row* saturating = row_for(name.base + " clamp");
    if (saturating || !(sdwa_clamp || converts) || row->sig.mask_out) row = saturating;
    if (!row) {
      make_unknown(i, name.base + " clamp");
      return d.size;
    }
  }
  if (!row || f.format == Format::other) {
    make_unknown(i, name.base);
    return d.size;
  }
  i.row = row;
  i.cls = row->cls;
  i.run = row->run[c.strict];
  i.mem.ret = name.returns;
  switch (row->family) {
    case Family::valu: case Family::lane:
      if (f.format == Format::vop3p) vop3p(i, f);
      else valu(i, f);
      break;
    case Family::wide: wide(i, f); break;
    case Family::salu: case Family::control:
      if (f.format == Format::flat || f.format == Format::buffer) i.mem.scope = scope(f, f.format == Format::buffer);  // cache control
      if (f.format == Format::smem) scalar_dst(i, f.bits(6, 7), row->sig.dst);  // s_memtime
      else if (f.format == Format::sop1 || f.format == Format::sop2 || f.format == Format::sopc || f.format == Format::sopk || f.format == Format::sopp) salu(i, f);
      break;
    case Family::smem: smem(i, f); break;
    case Family::ds: ds(i, f); break;
    case Family::vmem:
      if (f.format == Format::buffer) buffer(i, f);
      else flat(i, f);
      break;
    case Family::mfma:
      mfma(i, f);
      return d.size;
  }
  if (i.clamp && row->family == Family::valu && !is_float(row->sig.dst)) i.clamp = false;  // the row saturates itself
  add_msb(i);
  check_registers(i);
  if (row->name == "S_SET_VGPR_MSB") vgpr_msb = u8(i.imm);
  i.vgpr_msb = vgpr_msb;
  return d.size;
}

}  // namespace lathe::emu
