#include "launch/occupancy.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/base/target.h"

namespace lathe::emu {
namespace {

u32 round_up(u32 x, u32 to) { return (x + to - 1) / to * to; }

// Registers are handed out in granules (LLVM's AMDGPUBaseInfo.cpp, getVGPRAllocGranule): 4 of GCN's 256 per SIMD, 8 of
// the 512 of a unified file, 16 or 24 of RDNA's 1024 or 1536, half as many for 64 lanes there.
u32 granule_of(u32 file, bool halved) {
  const u32 g = file >= 1536 ? 24 : file >= 1024 ? 16 : file / 64;
  return halved ? g / 2 : g;
}

// GRANULATED_WAVEFRONT_SGPR_COUNT of gfx9; later generations give every wave all SGPRs.
u32 sgprs_of(const Kernel& k) { return ((k.rsrc1 >> 6 & 15) / 2 + 1) * 16; }
constexpr u32 gfx9_sgprs = 800;
constexpr u32 barriers_per_unit = 16;

}  // namespace

Occupancy occupancy(const Kernel& k, u32 work_items, u64 lds_bytes) {
  const Isa& isa = *k.object->isa;
  const GfxRow& gfx = *find_gfx(isa.name);
  const bool gfx9 = isa.encoding == Encoding::gfx9;
  // A compute unit is half of an RDNA work-group processor: two SIMDs.
  const u32 simds = gfx9 ? 4 : 2;
  const bool halved = !gfx9 && k.lanes == 64;
  const u32 file = halved ? gfx.vgprs / 2 : gfx.vgprs;
  Occupancy o;
  o.most_waves = gfx.max_waves;
  o.limit = "nothing";
  if (!work_items || work_items > k.max_flat_workgroup_size) {
    o.limit = "the work-group's size";
    return o;
  }
  u32 waves = gfx.max_waves;
  const auto limited = [&](u32 to, std::string why) {
    if (to < waves) waves = to, o.limit = std::move(why);
  };
  // gfx908's AGPRs are a file of their own, as large as the first.
  const u32 registers = isa.separate_agprs ? std::max(k.vgprs, k.total_vgprs - k.agpr_base) : k.total_vgprs;
  if (registers) limited(file / round_up(registers, granule_of(file, halved)), fmt::format("VGPRs ({} of {})", registers, file));
  if (gfx9) limited(gfx9_sgprs / sgprs_of(k), fmt::format("SGPRs ({} of {})", sgprs_of(k), gfx9_sgprs));

  const u32 per_group = (work_items + k.lanes - 1) / k.lanes;
  // The waves of a group are dealt out to the SIMDs one by one.
  o.groups = (per_group + simds - 1) / simds > waves ? 0 : waves * simds / per_group;
  if (o.groups * per_group < waves * simds && per_group > 1 && o.limit == "nothing") o.limit = fmt::format("the work-group's size ({} waves)", per_group);
  if (per_group > 1 && o.groups > barriers_per_unit) o.groups = barriers_per_unit, o.limit = fmt::format("barriers ({} groups per compute unit)", barriers_per_unit);
  // LDS has the word where registers limit no less: LLVM takes as many of them as the occupancy that LDS leaves allows.
  const u64 lds_groups = lds_bytes ? isa.lds_bytes / lds_bytes : ~u64(0);
  if (lds_groups <= o.groups && lds_groups * per_group < gfx.max_waves * simds)
    o.groups = u32(lds_groups), o.limit = fmt::format("LDS ({} bytes per group of {})", lds_bytes, isa.lds_bytes);
  o.waves = (o.groups * per_group + simds - 1) / simds;
  return o;
}

}  // namespace lathe::emu
