// Reads AMDGPU code objects (ELF files) without LLVM: which target, which kernels, and what each needs. Every
// offset is checked against the file before it is followed.
//
// Sources: LLVM's AMDGPUUsage, "ELF Code Object" and "Code Object V3-V6 Metadata".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/target.h"

namespace lathe {

struct KernelParameter {
  std::string name;        // may be empty
  uint32_t offset = 0, size = 0;  // bytes in the kernel's argument block
  std::string value_kind;  // "global_buffer", "by_value", "hidden_block_count_x", …
};

// A kernel's entry in the metadata note. Registers are per lane (vector) or per wave (scalar); sizes in bytes.
struct KernelInfo {
  std::string name;    // as hipModuleGetFunction takes it
  std::string symbol;  // of its descriptor: "<name>.kd"
  uint32_t vgpr_count = 0, agpr_count = 0, sgpr_count = 0;
  uint32_t vgpr_spill_count = 0, sgpr_spill_count = 0;
  uint32_t group_segment_fixed_size = 0;    // LDS per work-group
  uint32_t private_segment_fixed_size = 0;  // scratch per work-item
  uint32_t kernarg_segment_size = 0, kernarg_segment_align = 0;
  uint32_t wavefront_size = 0;
  uint32_t max_flat_workgroup_size = 0;     // work-items
  std::vector<KernelParameter> parameters;
};

struct CodeObjectInfo {
  Target target;
  std::string target_id;                // of the metadata: "amdgcn-amd-amdhsa--gfx90a:sramecc+"
  int version = 0;                      // code object version: 4, 5 or 6
  std::vector<KernelInfo> kernels;      // in the file's order
};

// Throws Error on anything but a whole AMDGPU HSA code object of version 4 to 6 with metadata: truncated or
// altered files included. `where` names the bytes in messages.
CodeObjectInfo read_code_object(std::span<const uint8_t> bytes, std::string_view where);

}  // namespace lathe
