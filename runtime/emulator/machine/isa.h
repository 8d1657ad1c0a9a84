// What the emulator knows of each target, as features: decode, launch and rows ask for these and
// never for a target's name.
#pragma once

#include <string>
#include <string_view>

#include "types.h"

namespace lathe::emu {

// Encodings changed four times; each value names the first generation of its encoding family.
enum class Encoding : u8 { gfx9, gfx10, gfx11, gfx12 };

struct Isa {
  std::string_view name;       // "gfx942"
  u32 mach;                    // EF_AMDGPU_MACH of e_flags
  Encoding encoding;
  u8 wave_size;                // default; a gfx10+ kernel may choose the other
  bool sramecc, xnack;         // target features that the target id carries
  bool packed_work_item_ids;   // v0 holds x, y << 10, z << 20
  bool architected_scratch;    // flat scratch is set up by hardware, not by user SGPRs
  bool unified_agprs;          // AGPRs follow the VGPRs at accum_offset
  bool separate_agprs;         // gfx908: a second file
  bool kernarg_preload;
  bool scratch_sve;            // scratch instructions carry the SVE bit (gfx940, gfx11+)
  bool vgpr_msb;               // gfx1250: 1024 VGPRs through s_set_vgpr_msb
  bool ttmp_workgroup_ids;     // gfx12: ids arrive in ttmp9 and ttmp7
  u32 vgpr_granule32, vgpr_granule64;  // unit of GRANULATED_WORKITEM_VGPR_COUNT
  u32 lds_bytes;               // per work-group
  u32 compute_units;
  u64 memory_bytes;
  std::string_view generic;    // the generic target that covers it, or ""
  bool fma16_keeps_high;       // every 16-bit result keeps the other half (gfx10+)
  u8 cdna = 0;                 // generation of its matrix cores (CDNA1 to CDNA4), which round differently
  bool fp8_fnuz = false;       // FP8 and BF8 in gfx942's form, without -0 and infinities
  bool late_trans = false;     // the next instructions may read a transcendental result too early
};

const Isa* find_isa(std::string_view name);       // nullptr if unknown
const Isa* find_isa_by_mach(u32 mach);
std::string isa_names();                          // "gfx900 gfx906 ..."
std::string_view mach_name(u32 mach);             // also generic and foreign ones; "" if unknown
std::string target_id(const Isa&);                // "gfx942:sramecc+:xnack-"

}  // namespace lathe::emu
