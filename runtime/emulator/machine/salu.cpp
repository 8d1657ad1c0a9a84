// Shadow of the scalar family: rarely entered, so kept out of the handlers.
#include "salu.h"

namespace lathe::emu::LATHE_LEVEL {

// True if every scalar source is defined and arrived.
bool scalar_clean(const Wave& w, const Inst* i) {
  u32 dirty = 0;
  for (u32 k = 0; k < i->nsrc; k++) {
    const Src& s = i->src[k];
    if (s.kind == Kind::sgpr) {
      dirty |= w.s_und[s.reg] | w.s_pend[s.reg];
      if (dwords(s.type) == 2) dirty |= w.s_und[s.reg + 1] | w.s_pend[s.reg + 1];
    } else if (s.kind == Kind::special) {
      dirty |= u32(s.reg == 253 && w.scc_und);
    }
  }
  if (!w.events.empty() && i->dst.kind == Kind::sgpr) check_arrived_sgpr(w, i->dst.reg, dwords(i->dst.type), "overwritten");
  return !dirty;
}

u64 scalar_shadow(const Wave& w, const Inst* i, const u64* values, ScalarOp op, bool reads_scc, bool& any) {
  u64 sh[4] = {};
  for (u32 k = 0; k < i->nsrc; k++) {
    const Src& s = i->src[k];
    if (s.kind == Kind::sgpr) {
      check_arrived_sgpr(w, s.reg, dwords(s.type), "read");
      sh[k] = w.s_und[s.reg] | (dwords(s.type) == 2 ? u64(w.s_und[s.reg + 1]) << 32 : 0);
    } else if (s.kind == Kind::special && s.reg == 253 && w.scc_und) {
      sh[k] = 1;
    }
    any |= sh[k] != 0;
  }
  const Row& row = *i->row;
  // s_addc and s_subb take SCC as the lowest carry; s_cselect chooses by it.
  const bool scc = w.scc_und && (reads_scc || row.undef == Undef::carry) && (row.flags & (writes_scc | reads_scc));
  if (reads_scc && w.scc_und) any = true;
  if (!any && !scc) return 0;
  const u64 all = dwords(row.sig.dst) == 2 ? ~u64(0) : 0xffffffffu;
  const u64 a = sh[0], b = sh[1];
  u64 r = all;
  switch (row.undef) {
    case Undef::bit_and: r = (a & b) | (a & values[1]) | (b & values[0]); break;
    case Undef::bit_or: r = (a & b) | (a & ~values[1]) | (b & ~values[0]); break;
    case Undef::bit_andn2: r = (a & b) | (a & ~values[1]) | (b & values[0]); break;
    case Undef::bit_orn2: r = (a & b) | (a & values[1]) | (b & ~values[0]); break;
    case Undef::bit_xor: r = a | b; break;
    case Undef::carry: {
      // Only s_addc/s_subb read SCC among these; s_add and s_sub are two-operand rows named so.
      const bool carry_in = row.name == "S_ADDC_U32" || row.name == "S_SUBB_U32";
      const u64 x = a | b | (carry_in && w.scc_und ? 1 : 0);
      r = x | -x;
      break;
    }
    case Undef::select: r = w.scc_und ? all : w.scc ? a : b; break;
    case Undef::same: {
      u64 control = 0, in[4];
      for (u32 k = 0; k < i->nsrc; k++) {
        const bool data = row.data_operands >> k & 1;
        if (!data) control |= sh[k];
        in[k] = data ? sh[k] : values[k];
      }
      bool scratch_scc = false;
      r = control ? all : op(in, scratch_scc);
      break;
    }
    default: break;
  }
  return r & all;
}

void scalar_dst_shadow(Wave& w, const Inst* i, u64 undefined) {
  const u32 n = dwords(i->dst.type);
  if (undefined && i->dst.reg + n > exec_reg && i->dst.reg < exec_reg + 2)
    report_undefined(w, "EXEC", "a source of this instruction", -1);
  w.s_und[i->dst.reg] = u32(undefined);
  if (n == 2) w.s_und[i->dst.reg + 1] = u32(undefined >> 32);
}

}  // namespace lathe::emu::LATHE_LEVEL
