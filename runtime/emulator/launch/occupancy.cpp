#include "launch/occupancy.h"

#include <algorithm>

namespace lathe::emu {
namespace {

// GRANULATED_WAVEFRONT_SGPR_COUNT of gfx9.
u32 sgprs_of(const Kernel& k) { return ((k.rsrc1 >> 6 & 15) / 2 + 1) * 16; }

}  // namespace

Occupancy occupancy(const Kernel& k, u32 work_items, u64 lds_bytes) {
  const Isa& isa = *k.object->isa;
  // gfx908's AGPRs are a file of their own, as large as the first.
  const u32 registers = isa.separate_agprs ? std::max(k.vgprs, k.total_vgprs - k.agpr_base) : k.total_vgprs;
  const u32 fitting = work_items <= k.max_flat_workgroup_size ? work_items : 0;
  return lathe::occupancy({registers, sgprs_of(k), k.lanes, fitting, lds_bytes}, *find_gfx(isa.name));
}

}  // namespace lathe::emu
