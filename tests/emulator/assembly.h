// Kernels written in assembly for one check each: a list of (name, body), one code object per target. A body
// starts with s[4:5] = the buffer that is the only argument, v0 = work-item, v1 = 0, v2 = 4 * work-item, v3 to v9
// and v16 to v31 = 1, s8 = s9 = 0.
#pragma once

#include <utility>

#include "support.h"

namespace emu_test {

inline std::string assembly_kernel(const std::string& arch, const std::string& name, const std::string& body) {
  const bool gfx12 = arch.compare(0, 5, "gfx12") == 0, gfx9 = arch.compare(0, 4, "gfx9") == 0, agprs = arch == "gfx90a" || arch == "gfx942" || arch == "gfx950";
  std::string s = ".text\n.globl " + name + "\n.p2align 8\n.type " + name + ",@function\n" + name + ":\n";
  s += gfx12 ? "s_load_b64 s[4:5], s[0:1], 0x0\ns_wait_kmcnt 0\n" : "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n";
  s += "v_and_b32 v0, 0x3ff, v0\nv_mov_b32 v1, 0\nv_lshlrev_b32 v2, 2, v0\n";
  for (int k = 3; k < 32; k++)
    if (k < 10 || k >= 16) s += "v_mov_b32 v" + std::to_string(k) + ", 1\n";
  s += "s_mov_b32 s8, 0\ns_mov_b32 s9, 0\n";
  if (gfx9) s += "s_nop 7\n";
  s += body + "\ns_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel " + name + "\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_next_free_vgpr " + (agprs ? "96" : "64") + "\n.amdhsa_next_free_sgpr 40\n";
  s += ".amdhsa_kernarg_size 8\n.amdhsa_group_segment_fixed_size 1024\n";
  if (agprs) s += ".amdhsa_accum_offset 64\n";
  return s + ".end_amdhsa_kernel\n";
}

inline std::string assembly_object(const std::string& arch, const std::vector<std::pair<std::string, std::string>>& kernels) {
  const bool wave64 = arch.compare(0, 4, "gfx9") == 0;
  std::string s, metadata = ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n";
  for (const auto& [name, body] : kernels) {
    s += assembly_kernel(arch, name, body);
    metadata += "  - .name: " + name + "\n    .symbol: " + name + ".kd\n    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 1024\n";
    metadata += "    .private_segment_fixed_size: 0\n    .wavefront_size: " + std::string(wave64 ? "64" : "32") + "\n    .sgpr_count: 40\n    .vgpr_count: 64\n    .max_flat_workgroup_size: 256\n";
    metadata += "    .args:\n      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}\n";
  }
  return assemble(s + metadata + "...\n.end_amdgpu_metadata\n", arch);
}

}  // namespace emu_test
