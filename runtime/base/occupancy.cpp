#include "runtime/base/occupancy.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe {
namespace {

uint32_t round_up(uint32_t x, uint32_t to) { return (x + to - 1) / to * to; }

// Registers are handed out in granules (LLVM's AMDGPUBaseInfo.cpp, getVGPRAllocGranule): 4 of GCN's 256 per SIMD, 8 of
// the 512 of a unified file, 16 or 24 of RDNA's 1024 or 1536, half as many for 64 lanes there.
uint32_t vector_granule(uint32_t file, bool halved) {
  const uint32_t g = file >= 1536 ? 24 : file >= 1024 ? 16 : file / 64;
  return halved ? g / 2 : g;
}

// gfx9 deals out scalar registers; later generations give every wave all of them.
constexpr uint32_t scalar_file = 800, scalar_granule = 16;
constexpr uint32_t barriers_per_unit = 16;

}  // namespace

KernelNeeds needs_of(const KernelInfo& kernel, const GfxRow& gfx) {
  // gfx908's AGPRs are a file of their own, as large as the first; later metadata counts both in vgpr_count.
  const bool separate = gfx.matrix == MatrixUnit::mfma && gfx.vgprs <= 256;
  return {separate ? std::max(kernel.vgpr_count, kernel.agpr_count) : kernel.vgpr_count, kernel.sgpr_count, kernel.wavefront_size,
          kernel.max_flat_workgroup_size, kernel.group_segment_fixed_size};
}

Occupancy occupancy(const KernelNeeds& needs, const GfxRow& gfx) {
  const bool gfx9 = gfx.major == 9;
  // A compute unit is half of an RDNA work-group processor: two SIMDs.
  const uint32_t simds = gfx9 ? 4 : 2;
  const bool halved = !gfx9 && needs.lanes == 64;
  const uint32_t file = halved ? gfx.vgprs / 2 : gfx.vgprs;
  Occupancy o;
  o.most_waves = gfx.max_waves;
  o.limit = "nothing";
  uint32_t waves = gfx.max_waves;
  const auto limited = [&](uint32_t to, std::string why) {
    if (to < waves) waves = to, o.limit = std::move(why);
  };
  if (needs.vector_registers)
    limited(file / round_up(needs.vector_registers, vector_granule(file, halved)), fmt::format("VGPRs ({} of {})", needs.vector_registers, file));
  if (gfx9 && needs.scalar_registers) {
    const uint32_t scalars = round_up(needs.scalar_registers, scalar_granule);
    limited(scalar_file / scalars, fmt::format("SGPRs ({} of {})", scalars, scalar_file));
  }
  const uint32_t per_group = (needs.work_items + needs.lanes - 1) / needs.lanes;
  if (!per_group) {
    o.limit = "the work-group's size";
    return o;
  }
  // The waves of a group are dealt out to the SIMDs one by one.
  o.groups = (per_group + simds - 1) / simds > waves ? 0 : waves * simds / per_group;
  if (o.groups * per_group < waves * simds && per_group > 1 && o.limit == "nothing") o.limit = fmt::format("the work-group's size ({} waves)", per_group);
  if (per_group > 1 && o.groups > barriers_per_unit) o.groups = barriers_per_unit, o.limit = fmt::format("barriers ({} groups per compute unit)", barriers_per_unit);
  // LDS has the word where registers limit no less: LLVM takes as many of them as the occupancy that LDS leaves allows.
  const uint64_t lds_groups = needs.lds_bytes ? gfx.lds_bytes / needs.lds_bytes : ~uint64_t{0};
  if (lds_groups <= o.groups && lds_groups * per_group < uint64_t{gfx.max_waves} * simds)
    o.groups = static_cast<uint32_t>(lds_groups), o.limit = fmt::format("LDS ({} bytes per group of {})", needs.lds_bytes, gfx.lds_bytes);
  o.waves = (o.groups * per_group + simds - 1) / simds;
  return o;
}

}  // namespace lathe
