// Operands of memory instructions: SMEM, DS, FLAT (GLOBAL, SCRATCH) and MUBUF. Bit positions are those of
// AMD's ISA documents, chapter "Microcode formats".
#include "decode/fields.h"
#include "machine/wave.h"

namespace lathe::emu {

void Decoder::smem(Inst& i, const Fields& f) {
  Mem& m = i.mem;
  m.segment = i.row->name.substr(0, 9) == "S_BUFFER_" ? Segment::buffer : Segment::global;
  m.saddr = u16(f.bits(0, 6) << 1);
  scalar_dst(i, f.bits(6, 7), Ty::b32);
  auto soffset = [&](u32 code) {
    if (sgpr_code(code) != sink_reg) m.soffset = source(code, Ty::b32, f, false, false);
  };
  switch (isa().encoding) {
    case Encoding::gfx9: {  // imm bit 17, soffset_en bit 14
      const bool imm = f.bits(17, 1), sgpr = f.bits(14, 1);
      if (imm) m.offset = i32(f.bits(32, 21) << 11) >> 11;
      else soffset(f.bits(32, 7));
      if (imm && sgpr) soffset(f.bits(57, 7));
      break;
    }
    case Encoding::gfx10: case Encoding::gfx11:
      m.offset = i32(f.bits(32, 21) << 11) >> 11;
      soffset(f.bits(57, 7));
      break;
    case Encoding::gfx12:
      m.offset = i32(f.bits(32, 24) << 8) >> 8;
      soffset(f.bits(57, 7));
      m.scale = isa().vgpr_msb && f.bits(56, 1);
      break;
  }
}

void Decoder::ds(Inst& i, const Fields& f) {
  Mem& m = i.mem;
  const Row& row = *i.row;
  m.addr = u16(f.bits(32, 8)), m.data = u16(f.bits(40, 8)), m.data1 = u16(f.bits(48, 8));
  m.has_vaddr = !(row.mem_flags & mem_no_address);
  if (row.mem_flags & mem_two) {
    const i32 unit = row.mem_bytes * (row.mem_flags & mem_st64 ? 64 : 1);
    m.offset = i32(f.bits(0, 8)) * unit, m.offset1 = i32(f.bits(8, 8)) * unit;
  } else {
    m.offset = i32(f.bits(0, 16));
  }
  u32 dst = f.bits(56, 8);
  if (isa().unified_agprs && f.bits(25, 1)) {
    dst = acc_register(dst);
    m.data = acc_register(m.data), m.data1 = acc_register(m.data1);
  }
  i.dst.kind = Kind::vgpr, i.dst.type = Ty::b32, i.dst.reg = u16(dst);
}

// Cache bits as a scope: gfx12 has one; gfx940's SC0 and SC1 make the same number; before, GLC says work-group or more.
u8 Decoder::scope(const Fields& f, bool buffer) const {
  switch (isa().encoding) {
    case Encoding::gfx12: return u8(f.bits(50, 2));
    case Encoding::gfx11: return f.bits(14, 1) ? 2 : 0;
    default: {
      const u32 glc = f.bits(buffer ? 14 : 16, 1);
      if (isa().encoding == Encoding::gfx9 && isa().scratch_sve) return u8(glc | f.bits(buffer ? 15 : 25, 1) << 1);
      return glc ? 2 : 0;
    }
  }
}

void Decoder::flat(Inst& i, const Fields& f) {
  Mem& m = i.mem;
  m.scope = scope(f, false);
  u32 segment, saddr, acc_bit = 0, sve = 0;
  u32 dst, data, addr;
  switch (isa().encoding) {
    case Encoding::gfx12:
      segment = f.bits(24, 2);
      saddr = f.bits(0, 7);
      dst = f.bits(32, 8), data = f.bits(55, 8), addr = f.bits(64, 8);
      m.offset = i32(f.bits(72, 24) << 8) >> 8;
      sve = f.bits(49, 1);
      m.scale = isa().vgpr_msb && f.bits(48, 1);
      m.signed_offset = isa().vgpr_msb;
      break;
    case Encoding::gfx11:
      segment = f.bits(16, 2);
      saddr = f.bits(48, 7);
      dst = f.bits(56, 8), data = f.bits(40, 8), addr = f.bits(32, 8);
      m.offset = i32(f.bits(0, 13) << 19) >> 19;
      sve = f.bits(55, 1);
      break;
    default:
      segment = f.bits(14, 2);
      saddr = f.bits(48, 7);
      dst = f.bits(56, 8), data = f.bits(40, 8), addr = f.bits(32, 8);
      // RDNA2 ISA document, FLAT encoding: 11 bits unsigned for FLAT. (gfx1010, which is no target here, ignored them.)
      if (isa().encoding == Encoding::gfx10) m.offset = segment == 0 ? i32(f.bits(0, 11)) : i32(f.bits(0, 12) << 20) >> 20;
      else m.offset = segment == 0 ? i32(f.bits(0, 12)) : i32(f.bits(0, 13) << 19) >> 19;
      if (isa().unified_agprs) acc_bit = f.bits(55, 1);
      if (isa().scratch_sve) sve = f.bits(13, 1), m.offset = segment == 0 ? i32(f.bits(0, 12)) : i32(f.bits(0, 13) << 19) >> 19;
      break;
  }
  m.lds = i.row->mem_flags & mem_to_lds;
  m.segment = segment == 0 ? Segment::flat : segment == 1 ? Segment::scratch : Segment::global;
  const bool off = saddr == 0x7f || sgpr_code(saddr) == sink_reg;
  if (m.segment == Segment::flat) {
    m.has_vaddr = true;
    m.has_saddr = isa().encoding == Encoding::gfx12 && !off;
    m.saddr = u16(sgpr_code(saddr));
  } else {
    m.has_saddr = !off;
    m.saddr = u16(sgpr_code(saddr));
    if (m.segment == Segment::global) m.has_vaddr = true;
    else m.has_vaddr = isa().scratch_sve ? sve : off && saddr != 0x7f ? true : off && isa().encoding == Encoding::gfx9;
  }
  if (acc_bit) dst = acc_register(dst), data = acc_register(data);
  m.addr = u16(addr), m.data = u16(data);
  i.dst.kind = Kind::vgpr, i.dst.type = Ty::b32, i.dst.reg = u16(dst);
  if (m.segment == Segment::scratch) i.cls = Class::scratch;
}

void Decoder::buffer(Inst& i, const Fields& f) {
  Mem& m = i.mem;
  m.segment = Segment::buffer;
  m.has_saddr = true;
  m.scope = scope(f, true);
  u32 data, addr, rsrc, soffset;
  switch (isa().encoding) {
    case Encoding::gfx12:
      soffset = f.bits(0, 7);
      data = f.bits(32, 8), rsrc = f.bits(41, 9), m.offen = f.bits(62, 1), m.idxen = f.bits(63, 1);
      addr = f.bits(64, 8);
      m.offset = i32(f.bits(72, 24) << 8) >> 8;
      m.saddr = u16(sgpr_code(rsrc));
      break;
    default:
      m.offset = i32(f.bits(0, 12));
      addr = f.bits(32, 8), data = f.bits(40, 8), m.saddr = u16(f.bits(48, 5) << 2), soffset = f.bits(56, 8);
      if (isa().encoding == Encoding::gfx11) m.offen = f.bits(54, 1), m.idxen = f.bits(55, 1);
      else m.offen = f.bits(12, 1), m.idxen = f.bits(13, 1);
      if (isa().unified_agprs && f.bits(55, 1)) data = acc_register(data);
  }
  m.lds = i.row->mem_flags & mem_to_lds;
  m.has_vaddr = m.offen || m.idxen;
  m.soffset = source(soffset, Ty::b32, f, false, false);
  m.addr = u16(addr), m.data = u16(data);
  i.cls = Class::buffer;
  i.dst.kind = Kind::vgpr, i.dst.type = Ty::b32, i.dst.reg = u16(data);
}

}  // namespace lathe::emu
