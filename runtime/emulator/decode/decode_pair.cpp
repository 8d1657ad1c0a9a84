// Dual instructions: VOPD of gfx11 and later, and gfx1250's three-source VOPD3. Both halves read their
// sources before either writes.
#include <cstring>

#include "decode/fields.h"
#include "decode/opcode_name.h"
#include "machine/wave.h"

namespace lathe::emu {
namespace {

const Inst* run_pair(Wave& w, const Inst* i) {
  const Inst* x = i->second;
  x[0].run(w, &x[0]);
  x[1].run(w, &x[1]);
  return i + 1;
}
const Inst* run_pair_swapped(Wave& w, const Inst* i) {
  const Inst* x = i->second;
  x[1].run(w, &x[1]);
  x[0].run(w, &x[0]);
  return i + 1;
}

// One register with its shadow, put aside.
struct Kept {
  u32 value[64], bits[64];
  u64 und = 0, all = 0;
  void save(Wave& w, u32 reg) {
    std::memcpy(value, w.vgpr(reg), 4 * w.lanes);
    if (!w.und) return;
    und = w.und[reg], all = w.all[reg];
    std::memcpy(bits, w.bits + size_t(reg) * w.lanes, 4 * w.lanes);
  }
  void restore(Wave& w, u32 reg) const {
    std::memcpy(w.vgpr(reg), value, 4 * w.lanes);
    if (!w.und) return;
    w.und[reg] = und, w.all[reg] = all;
    std::memcpy(w.bits + size_t(reg) * w.lanes, bits, 4 * w.lanes);
  }
};
// Each half reads what the other writes: X's result is put aside while Y runs.
const Inst* run_pair_crossed(Wave& w, const Inst* i) {
  const Inst* x = i->second;
  const u32 reg = x[0].dst.reg, n = dwords(x[0].dst.type);
  Kept before[2], after[2];
  for (u32 k = 0; k < n; k++) before[k].save(w, reg + k);
  x[0].run(w, &x[0]);
  for (u32 k = 0; k < n; k++) after[k].save(w, reg + k), before[k].restore(w, reg + k);
  x[1].run(w, &x[1]);
  for (u32 k = 0; k < n; k++) after[k].restore(w, reg + k);
  return i + 1;
}

bool reads_result(const Inst& reader, const Inst& writer) {
  const u32 from = writer.dst.reg, to = from + dwords(writer.dst.type);
  for (u32 s = 0; s < reader.nsrc; s++) {
    const Src& r = reader.src[s];
    if (r.kind == Kind::vgpr && r.reg < to && r.reg + dwords(r.type) > from) return true;
  }
  return false;
}

}  // namespace

void Decoder::vopd(Inst& i, const Fields& f, const OpcodeName& name) {
  const Row* rows[2] = {row_for(name.base), row_for(name.dual)};
  for (int k = 0; k < 2; k++)
    if (!rows[k]) return make_unknown(i, k ? name.dual : name.base);
  struct Half { u32 src[3], dst, neg; };
  Half halves[2];
  u32 table = 0;
  const bool three = f.format == Format::vopd3;
  if (three) {  // src2 of v_dual_cndmask is an SGPR; v_dual_bitop2's truth table stands in Y's src2
    halves[0] = {{f.bits(0, 9), 256 + f.bits(48, 8), f.bits(56, 8)}, f.bits(64, 8), f.bits(41, 3)};
    halves[1] = {{f.bits(32, 9), 256 + f.bits(72, 8), f.bits(80, 8)}, f.bits(88, 8), f.bits(44, 3)};
    table = f.bits(80, 8);
  } else {
    const u32 vdstx = f.bits(56, 8);
    halves[0] = {{f.bits(0, 9), 256 + f.bits(9, 8), 0}, vdstx, 0};
    halves[1] = {{f.bits(32, 9), 256 + f.bits(41, 8), 0}, f.bits(49, 7) << 1 | !(vdstx & 1), 0};
  }
  program.pairs_.push_back(std::make_unique<Inst[]>(2));
  Inst* block = program.pairs_.back().get();
  for (int k = 0; k < 2; k++) {
    Inst& h = block[k];
    const Row& row = *rows[k];
    const Half& from = halves[k];
    h.row = &row;
    h.pc = i.pc, h.size = i.size;
    h.cls = Class::valu;
    h.run = row.run[program.context.strict];
    const Sig& sig = row.sig;
    h.nsrc = sig.n;
    u32 vgprs = 1;  // src1 and src2 in order
    for (u32 s = 0; s < sig.n; s++) {
      u32 code;
      if (sig.src[s] == Ty::mask) {
        h.src[s].kind = Kind::sgpr, h.src[s].type = Ty::mask, h.src[s].reg = u16(three ? sgpr_code(from.src[2]) : vcc_reg);
        continue;
      }
      if (row.name == "V_BITOP2_B32" && s == 2) {
        h.src[s].kind = Kind::constant, h.src[s].type = Ty::b32, h.src[s].lanes = program.constant32(table);
        continue;
      }
      if ((row.flags & acc) && s == sig.n - 1u) code = 256 + from.dst;
      else if ((row.flags & lit_last) && s == 2) code = 255;
      else if ((row.flags & lit_mid) && s == 1) code = 255;
      else if (s == 0) code = from.src[0];
      else if (vgprs++ == 1) code = from.src[1];
      else code = 256 + from.src[2];
      h.src[s] = source(code, sig.src[s], f, true, false);
      if (is_packed(sig.src[s])) h.src[s].sel = 0, h.src[s].sel_hi = 1;
      h.src[s].neg = from.neg >> s & 1;
      if (is_packed(sig.src[s])) h.src[s].neg_hi = h.src[s].neg;
    }
    h.dst = vector_dst(from.dst, sig.dst, false, 0, false);
    add_msb(h);
    finish_valu(h, f);
    check_registers(h);
  }
  i.row = rows[0];
  i.cls = Class::vopd;
  i.second = block;
  i.run = !reads_result(block[1], block[0]) ? run_pair : !reads_result(block[0], block[1]) ? run_pair_swapped : run_pair_crossed;
}

}  // namespace lathe::emu
