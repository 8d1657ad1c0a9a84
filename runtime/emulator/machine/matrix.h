// How long a matrix instruction occupies the matrix core.
#pragma once

#include "inst.h"
#include "isa.h"
#include "row.h"

namespace lathe::emu {

// Passes of four cycles; 0 for what is no matrix instruction of this target. An 8-bit operand of f8f6f4 takes twice
// the time of 6- and 4-bit ones (AMD's peak rates of MI355X; LLVM's hazard tables).
static inline u32 matrix_passes(const Inst& i, const Isa& isa) {
  const Row& row = *i.row;
  if (row.cls != Class::matrix) return 0;
  // WMMA has a column for RDNA3, RDNA4 and gfx1250.
  if (row.family == Family::wide) return row.passes[isa.encoding == Encoding::gfx11 ? 0 : isa.vgpr_msb ? 2 : 1];
  if (row.family != Family::mfma || isa.cdna == 0) return 0;
  const u32 passes = row.passes[isa.cdna <= 2 ? 0 : isa.cdna - 2];
  const bool bytes = (row.matrix_flags & matrix_formats) && (i.matrix.cbsz <= 1 || i.matrix.blgp <= 1);
  return bytes ? 2 * passes : passes;
}

}  // namespace lathe::emu
