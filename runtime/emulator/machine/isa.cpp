// The emulated targets, one row each. Sources: LLVM's AMDGPUUsage (processors, kernel descriptor,
// initial register state) and AMD's ISA documents; mach values from the ELF header section there.
#include "isa.h"

#include <fmt/format.h>

namespace lathe::emu {
namespace {

using enum Encoding;
constexpr u64 gib = u64(1) << 30;

// clang-format off
//  name      mach  encod  wave  ecc    xnack  packd  archs  unif   sepa   prel   sve    msb    ttmp   g32 g64 lds     cus  memory   generic          keeps, cdna, fnuz, trans
constexpr Isa isas[] = {
  {"gfx900",  0x2c, gfx9,  64, false, true,  false, false, false, false, false, false, false, false, 4,  4,  65536,  64,  16*gib,  "gfx9-generic",    false},
  {"gfx906",  0x2f, gfx9,  64, true,  true,  false, false, false, false, false, false, false, false, 4,  4,  65536,  60,  32*gib,  "gfx9-generic",    false},
  {"gfx908",  0x30, gfx9,  64, true,  true,  false, false, false, true,  false, false, false, false, 4,  4,  65536,  120, 32*gib,  "",                false, 1},
  {"gfx90a",  0x3f, gfx9,  64, true,  true,  true,  false, true,  false, true,  false, false, false, 8,  8,  65536,  104, 64*gib,  "",                false, 2},
  {"gfx942",  0x4c, gfx9,  64, true,  true,  true,  true,  true,  false, true,  true,  false, false, 8,  8,  65536,  304, 192*gib, "gfx9-4-generic",  false, 3, true},
  {"gfx950",  0x4f, gfx9,  64, true,  true,  true,  true,  true,  false, true,  true,  false, false, 8,  8,  163840, 256, 288*gib, "gfx9-4-generic",  false, 4},
  {"gfx1030", 0x36, gfx10, 32, false, false, false, false, false, false, false, false, false, false, 8,  4,  65536,  80,  16*gib,  "gfx10-3-generic", true},
  {"gfx1100", 0x41, gfx11, 32, false, false, true,  true,  false, false, false, true,  false, false, 8,  4,  65536,  96,  24*gib,  "gfx11-generic",   true, 0, false, true},
  {"gfx1101", 0x46, gfx11, 32, false, false, true,  true,  false, false, false, true,  false, false, 8,  4,  65536,  60,  16*gib,  "gfx11-generic",   true, 0, false, true},
  {"gfx1102", 0x47, gfx11, 32, false, false, true,  true,  false, false, false, true,  false, false, 8,  4,  65536,  32,  8*gib,   "gfx11-generic",   true, 0, false, true},
  {"gfx1103", 0x44, gfx11, 32, false, false, true,  true,  false, false, false, true,  false, false, 8,  4,  65536,  12,  8*gib,   "gfx11-generic",   true, 0, false, true},
  {"gfx1150", 0x43, gfx11, 32, false, false, true,  true,  false, false, false, true,  false, false, 8,  4,  65536,  16,  16*gib,  "gfx11-generic",   true},
  {"gfx1151", 0x4a, gfx11, 32, false, false, true,  true,  false, false, false, true,  false, false, 8,  4,  65536,  40,  16*gib,  "gfx11-generic",   true},
  {"gfx1200", 0x48, gfx12, 32, false, false, true,  true,  false, false, false, true,  false, true,  8,  4,  65536,  32,  16*gib,  "gfx12-generic",   true},
  {"gfx1201", 0x4e, gfx12, 32, false, false, true,  true,  false, false, false, true,  false, true,  8,  4,  65536,  64,  16*gib,  "gfx12-generic",   true},
  {"gfx1250", 0x49, gfx12, 32, false, true,  true,  true,  false, false, true,  true,  true,  true,  16, 16, 327680, 256, 288*gib, "",                true},
};
// Names for reports only: code objects that no device here can run.
struct Mach { u32 value; std::string_view name; };
constexpr Mach other_machs[] = {
  {0x2d, "gfx902"}, {0x2e, "gfx904"}, {0x31, "gfx909"}, {0x32, "gfx90c"}, {0x33, "gfx1010"}, {0x34, "gfx1011"}, {0x35, "gfx1012"},
  {0x37, "gfx1031"}, {0x38, "gfx1032"}, {0x39, "gfx1033"}, {0x3d, "gfx1035"}, {0x3e, "gfx1034"}, {0x42, "gfx1013"},
  {0x45, "gfx1036"}, {0x51, "gfx9-generic"}, {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"},
  {0x54, "gfx11-generic"}, {0x55, "gfx1152"}, {0x58, "gfx1153"}, {0x59, "gfx12-generic"}, {0x5a, "gfx1251"}, {0x5f, "gfx9-4-generic"},
};
// clang-format on

}  // namespace

const Isa* find_isa(std::string_view name) {
  for (const Isa& isa : isas)
    if (isa.name == name) return &isa;
  return nullptr;
}

std::string isa_names() {
  std::string names;
  for (const Isa& isa : isas) names += (names.empty() ? "" : " ") + std::string(isa.name);
  return names;
}

const Isa* find_isa_by_mach(u32 mach) {
  for (const Isa& isa : isas)
    if (isa.mach == mach) return &isa;
  return nullptr;
}

std::string_view mach_name(u32 mach) {
  if (const Isa* isa = find_isa_by_mach(mach)) return isa->name;
  for (const Mach& m : other_machs)
    if (m.value == mach) return m.name;
  return "";
}

std::string target_id(const Isa& isa) {
  return fmt::format("{}{}{}", isa.name, isa.sramecc ? ":sramecc+" : "", isa.xnack ? ":xnack-" : "");
}

}  // namespace lathe::emu
