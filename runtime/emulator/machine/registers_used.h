// Which registers an instruction reads and writes, for the checks of hazards.
#pragma once

#include <algorithm>
#include <string_view>

#include "isa.h"
#include "row.h"
#include "wave.h"

namespace lathe::emu {

struct Registers {
  u32 first = 0, count = 0;
  bool overlaps(const Registers& o) const { return count && o.count && first < o.first + o.count && o.first < first + count; }
};

inline bool named(const Inst& i, std::string_view a) { return i.row->name == a; }
inline bool starts(const Inst& i, std::string_view a) { return i.row->name.substr(0, a.size()) == a; }
inline bool is_mfma(const Inst& i) { return i.row->family == Family::mfma; }
// v_accvgpr_read and _write are matrix-core instructions on gfx908, plain moves later.
inline bool is_acc_move(const Inst& i) { return i.row->flags & (agpr_src | agpr_dst); }
inline bool is_valu(const Inst& i) { return i.row->family == Family::valu || i.row->family == Family::lane; }
inline bool is_salu(const Inst& i) { return i.row->family == Family::salu || i.cls == Class::salu; }
inline bool is_vmem(const Inst& i) { return i.row->family == Family::vmem; }
inline bool is_memory(const Inst& i) { return is_vmem(i) || i.row->family == Family::ds; }
inline bool is_double(const Inst& i) { return i.row->matrix_flags & matrix_double; }
inline bool is_wmma(const Inst& i) { return i.row->family == Family::wide && i.cls == Class::matrix; }
inline bool is_transcendental(const Inst& i) {
  for (std::string_view n : {"V_EXP_", "V_LOG_", "V_RCP_", "V_RSQ_", "V_SQRT_", "V_SIN_", "V_COS_"})
    if (starts(i, n)) return true;
  return false;
}

inline u32 data_dwords(const Inst& i) {
  const u32 one = i.row->mem_bytes < 4 ? 1 : i.row->mem_bytes / 4;
  if (is_vmem(i) && (i.row->mem_op == MemOp::cmpswap || i.row->mem_op == MemOp::fcmpswap)) return 2 * one;
  return one;
}
inline u32 loaded_dwords(const Inst& i) {
  if (i.row->mem_op == MemOp::store || (i.row->mem_flags & mem_to_lds) || (i.row->mem_op != MemOp::load && i.row->mem_op != MemOp::none && !i.mem.ret)) return 0;
  return (i.row->mem_bytes < 4 ? 1 : i.row->mem_bytes / 4) * (i.row->mem_flags & mem_two ? 2 : 1);
}
inline Registers vgpr_write(const Inst& i) {
  if (is_mfma(i)) return {i.dst.reg, i.row->operand_dwords[0]};
  if (is_memory(i)) return {i.dst.reg, loaded_dwords(i)};
  if (i.dst.kind != Kind::vgpr) return {};
  return {i.dst.reg, i.row->family == Family::wide ? std::max<u32>(1, i.wide[0]) : dwords(i.dst.type)};
}
inline Registers vgpr_source(const Inst& i, u32 k) {
  const Src& s = i.src[k];
  if (s.kind != Kind::vgpr || k >= i.nsrc) return {};
  if (is_mfma(i)) return {s.reg, k == 2 && !(i.row->matrix_flags & matrix_sparse) ? i.row->operand_dwords[0] : i.row->operand_dwords[k + 1]};
  return {s.reg, i.row->family == Family::wide ? std::max<u32>(1, i.wide[k + 1]) : dwords(s.type)};
}
inline bool reads_vgprs(const Inst& i, const Registers& r) {
  if (!r.count) return false;
  if (is_memory(i)) {
    const Mem& m = i.mem;
    if (m.has_vaddr && r.overlaps({m.addr, m.segment == Segment::buffer || m.has_saddr || i.row->family == Family::ds ? 1u : 2u})) return true;
    if (i.row->mem_op == MemOp::load) return false;
    return r.overlaps({m.data, data_dwords(i)}) || (i.row->family == Family::ds && r.overlaps({m.data1, data_dwords(i)}));
  }
  for (u32 k = 0; k < i.nsrc; k++)
    if (r.overlaps(vgpr_source(i, k))) return true;
  return i.second && reads_vgprs(*i.second, r);
}

}  // namespace lathe::emu
