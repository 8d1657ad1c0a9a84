// The gfx table: every AMD GPU target that Lathe knows, one row each, and target ids such as
// `gfx90a:sramecc+:xnack-`. Ask a target for a feature or a number, never for its name.
//
// Sources: LLVM's AMDGPUUsage (processors, target features, generic processors, ELF e_flags) and
// AMD's ISA documents (register files, LDS, waves per SIMD).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lathe {

// How matrix instructions look on a target, if it has any.
enum class MatrixUnit : uint8_t { none, mfma, wmma };

struct GfxRow {
  std::string_view name;      // LLVM's processor name
  uint8_t major, minor, stepping;  // gfx90a is 9.0.10
  uint8_t elf_mach;           // EF_AMDGPU_MACH of its code objects
  std::string_view generic;   // the generic target whose objects it also runs, or ""
  bool is_generic;
  bool has_sramecc, has_xnack;  // the target id may carry this feature
  uint8_t wave_size;          // lanes of a wavefront, as Lathe compiles for it
  bool has_wave32;            // RDNA runs both sizes
  uint32_t lds_bytes;         // per work-group
  uint16_t vgprs;             // 32-bit registers per lane and SIMD (at wave_size)
  uint8_t max_waves;          // per SIMD
  MatrixUnit matrix;
  bool compiles;              // a named build target (others are known so that they can be refused by name)
};

std::span<const GfxRow> gfx_table();
const GfxRow* find_gfx(std::string_view name);  // nullptr when unknown
const GfxRow* find_gfx_by_mach(uint8_t elf_mach);

inline constexpr int max_threads_per_group = 1024;  // all targets here (HSA: workgroup max size)
inline constexpr int max_group_extent = 1024;       // along any one dimension
inline constexpr uint64_t max_grid_extent = 0x7fffffff;  // work-groups along x that hipModuleLaunchKernel takes

enum class Feature : uint8_t { any, off, on };  // sramecc and xnack in a target id

// A processor with its features. `any` runs with the feature on or off.
struct Target {
  const GfxRow* gfx = nullptr;
  Feature sramecc = Feature::any, xnack = Feature::any;
  std::string id() const;  // "gfx90a:sramecc+:xnack-"
};

// Throws Error on an unknown name (with the nearest known one), a feature the target does not have, or a
// feature named twice.
Target parse_target(std::string_view id);
// The target of a code object from its ELF e_flags (code object v4 and later). nullopt: mach unknown.
std::optional<Target> target_from_elf_flags(uint32_t e_flags);
// Does an object compiled for `object` run on `device`? Empty: yes; else the reason, naming both ids.
std::string why_incompatible(const Target& object, const Target& device);

}  // namespace lathe
