// One decoded instruction as text, for the test that compares the decoder's operands with LLVM's:
//   NAME dst=v5+1 src=v3+2:f64,neg src=k0x3f800000:f32 offset=16
// Registers have the wave's own numbers (vcc 106, ttmp0 108, m0 124, exec 126, null 128); "~" marks an operand
// that the assembly may leave out.
#include <cstring>

#include <fmt/format.h>

#include "decode/decoder.h"
#include "decode/opcode_name.h"
#include "hip/state.h"
#include "machine/row.h"
#include "machine/wave.h"

namespace lathe::emu {
namespace {

constexpr const char* type_names[] = {"none", "b16", "f16", "bf16", "b32", "f32", "b64", "i64", "f64", "mask", "pk16", "pkf16", "pkbf16", "pkf32", "pkb32", "mix", "mixbf", "lane"};
const char* type_name(Ty t) { return size_t(t) < std::size(type_names) ? type_names[size_t(t)] : "other"; }

std::string reg(char file, u32 number, u32 count) { return fmt::format("{}{}+{}", file, number, count); }

std::string source_text(const Inst& i, const Src& s, u32 lanes, bool vector) {
  std::string t;
  const u32 wide = i.wide[1 + (&s - i.src)];
  const u32 n = s.type == Ty::mask ? lanes / 32 : std::max(dwords(s.type), wide);
  switch (s.kind) {
    case Kind::vgpr: t = reg('v', s.reg, n); break;
    case Kind::sgpr: t = reg('s', s.reg, n); break;
    case Kind::special: t = fmt::format("x{}", s.reg); break;
    case Kind::constant: {
      u64 value = s.value;
      if (vector) value = (n == 2 && s.type != Ty::pkf32) || s.type == Ty::mask ? *reinterpret_cast<const u64*>(s.lanes) : s.lanes[0];
      t = fmt::format("k0x{:x}", value);
      break;
    }
    case Kind::none: return "none";
  }
  t += fmt::format(":{}", type_name(s.type));
  if (s.neg) t += ",neg";
  if (s.abs) t += ",abs";
  if (s.neg_hi) t += ",neg_hi";
  if (s.sel) t += ",sel";
  if (s.sel_hi) t += ",sel_hi";
  if (i.sdwa) t += fmt::format(",sdwa{}{}", u32(s.sdwa_sel), s.sdwa_sext ? "s" : "");
  return t;
}

std::string describe_half(const Inst& i, const DecodeContext& c) {
  const Row& row = *i.row;
  std::string t(row.name);
  const bool vector = row.family == Family::valu || row.family == Family::lane || row.family == Family::wide;
  if (i.dst.kind == Kind::vgpr) t += " dst=" + reg('v', i.dst.reg, std::max<u32>(dwords(i.dst.type), i.wide[0])) + fmt::format(":{}{}", type_name(i.dst.type), i.dst.half && is_16bit(i.dst.type) ? ",half" : "");
  if (i.dst.kind == Kind::sgpr) t += " dst=" + reg('s', i.dst.reg, std::max(1u, dwords(i.dst.type)));
  if (i.sdst.kind == Kind::sgpr) t += " dst=" + reg('s', i.sdst.reg, c.lanes / 32);
  for (u32 k = 0; k < i.nsrc; k++) {
    const Src& s = i.src[k];
    if (s.type == Ty::lane || s.type == Ty::mods || s.type == Ty::mode || ((row.flags & truth_table) && k == i.nsrc - 1u)) continue;
    const bool implied = ((row.flags & acc) && k == i.nsrc - 1u) || (row.flags & vcc_last && k == i.nsrc - 1u) || (row.flags & dst_read && (s.kind == Kind::sgpr ? s.reg == i.dst.reg : i.dst.reg == sink_reg)) || (s.type == Ty::mask && s.kind == Kind::sgpr && s.reg == vcc_reg);
    t += std::string(" src=") + (implied ? "~" : "") + source_text(i, s, c.lanes, vector);
  }
  if (row.flags & truth_table) t += fmt::format(" bitop3={}", i.src[i.nsrc - 1].lanes[0]);
  if (i.clamp || row.name.ends_with(" clamp")) t += " clamp";
  if (i.omod) t += fmt::format(" omod={}", i.omod);
  if (i.sdwa && row.sig.dst != Ty::none) t += fmt::format(" dst_sel={} dst_unused={}", u32(i.dst.sdwa_sel), u32(i.dst.sdwa_unused));
  if (i.dpp.on && i.dpp.is8) t += fmt::format(" dpp8=0x{:x} fi={}", i.dpp.sel8, int(i.dpp.fetch_inactive));
  else if (i.dpp.on) t += fmt::format(" dpp=0x{:x} rows={} banks={} bound_ctrl={} fi={}", i.dpp.ctrl, i.dpp.row_mask, i.dpp.bank_mask, int(i.dpp.bound_ctrl), int(i.dpp.fetch_inactive));
  if (row.family == Family::salu || row.family == Family::control) t += fmt::format(" imm={}", i.imm);
  return t;
}

std::string describe_memory(const Inst& i) {
  const Row& row = *i.row;
  const Mem& m = i.mem;
  std::string t(row.name);
  const u32 elements = row.mem_bytes < 4 ? 1 : row.mem_bytes / 4, two = row.mem_flags & mem_two ? 2 : 1;
  const bool load = row.mem_op == MemOp::load, store = row.mem_op == MemOp::store, none = row.mem_op == MemOp::none;
  const bool compares = row.mem_op == MemOp::cmpswap || row.mem_op == MemOp::fcmpswap;
  if (row.family == Family::smem) {
    t += (store ? " data=" : " dst=") + reg('s', i.dst.reg, elements);
    t += " base=" + reg('s', m.saddr, m.segment == Segment::buffer ? 4 : 2);
    if (m.soffset.kind == Kind::sgpr) t += " soffset=" + reg('s', m.soffset.reg, 1);
    else if (m.soffset.kind == Kind::constant) t += fmt::format(" soffset=k0x{:x}", m.soffset.value);
  } else if (row.family == Family::ds) {
    if (load || m.ret || none) t += " dst=" + reg('v', i.dst.reg, elements * two);
    if (m.has_vaddr) t += " addr=" + reg('v', m.addr, 1);
    if (!load && row.name != "DS_SWIZZLE_B32") t += " data=" + reg('v', m.data, elements);
    if ((!load && two == 2) || compares || row.mem_op == MemOp::mskor || row.mem_op == MemOp::wrap) t += " data=" + reg('v', m.data1, elements);
  } else {
    const bool buffer = m.segment == Segment::buffer;
    const bool async = row.flags & no_dst;  // the LDS address is a VGPR's
    if (async && load) t += " dst=" + reg('v', i.dst.reg, 1);
    if (load ? !m.lds : m.ret) t += (load || !buffer ? " dst=" : " data=") + reg('v', i.dst.reg, elements * (buffer && compares ? 2 : 1));
    else if (buffer && !m.lds) t += " data=" + reg('v', m.data, elements * (compares ? 2 : 1));
    const bool wide = (m.segment == Segment::flat || m.segment == Segment::global) && !m.has_saddr;
    if (m.has_vaddr) t += " addr=" + reg('v', m.addr, wide || (m.offen && m.idxen) ? 2 : 1);
    if (async && !load) t += " data=" + reg('v', m.data, 1);
    else if (!load && !buffer) t += " data=" + reg('v', m.data, elements * (compares ? 2 : 1));
    if (m.has_saddr) t += " base=" + reg('s', m.saddr, buffer ? 4 : m.segment == Segment::scratch ? 1 : 2);
    if (buffer && m.soffset.kind == Kind::sgpr) t += " soffset=" + reg('s', m.soffset.reg, 1);
    else if (buffer && m.soffset.kind == Kind::constant) t += fmt::format(" soffset=k0x{:x}", m.soffset.value);
    else if (buffer) t += fmt::format(" soffset=x{}", m.soffset.reg);
    if (m.offen) t += " offen";
    if (m.idxen) t += " idxen";
    if (m.lds && buffer) t += " lds";
  }
  if (m.scale) t += " scale_offset";
  if (row.mem_flags & mem_two) {
    const i32 unit = row.mem_bytes * (row.mem_flags & mem_st64 ? 64 : 1);
    t += fmt::format(" offset0={} offset1={}", m.offset / unit, m.offset1 / unit);
  } else {
    t += fmt::format(" offset={}", m.offset);
  }
  return t;
}

}  // namespace
}  // namespace lathe::emu

using namespace lathe::emu;

// "missing NAME" if there is no row for it.
LATHE_HIP const char* lathe_emulator_describe(const char* arch, unsigned lanes, const void* bytes, size_t size) {
  static thread_local std::string text;
  static thread_local std::unique_ptr<Program> program;
  static thread_local u32 uses = 0;
  const Isa* isa = arch ? find_isa(arch) : nullptr;
  if (!isa) return "error: no such target";
  if (!program || program->context.isa != isa || program->context.lanes != lanes || ++uses % 4096 == 0) {
    program = std::make_unique<Program>();
    program->context.isa = isa, program->context.lanes = lanes;
    program->context.vgprs = 2048;  // registers past the end would replace the handler
    if (!isa->unified_agprs && !isa->separate_agprs) program->context.agpr_base = 2048;
  }
  alignas(8) u8 copy[24] = {};
  std::memcpy(copy, bytes, std::min<size_t>(size, sizeof copy));
  program->set_text(u64(copy), size);
  Decoder decoder{*program};
  Inst i;
  decoder.decode(u64(copy), i);
  const Row* known = find_row(i.row->name[0] == '*' ? "GLOBAL" + std::string(i.row->name.substr(1)) : std::string(i.row->name));
  if (known != i.row) return (text = fmt::format("missing {}", i.row->name)).c_str();
  const Family family = i.row->family;
  if (i.second) text = describe_half(i.second[0], program->context) + " :: " + describe_half(i.second[1], program->context);
  else if (family == Family::smem || family == Family::ds || family == Family::vmem) text = describe_memory(i);
  else text = describe_half(i, program->context);
  return text.c_str();
}
