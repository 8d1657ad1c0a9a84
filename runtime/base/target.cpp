#include "runtime/base/target.h"

#include <algorithm>
#include <vector>

#include "runtime/base/edit_distance.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

constexpr auto none = MatrixUnit::none, mfma = MatrixUnit::mfma, wmma = MatrixUnit::wmma;

// clang-format off
constexpr GfxRow rows[] = {
  // name             version    mach  generic            gen?   ecc    xnack  wave 32?    lds     vgprs waves matrix compiles
  {"gfx803",          8, 0, 3,   0x2a, "",                false, false, false, 64, false,  65536,  256, 10, none, false},
  {"gfx900",          9, 0, 0,   0x2c, "gfx9-generic",    false, false, true,  64, false,  65536,  256, 10, none, true},
  {"gfx902",          9, 0, 2,   0x2d, "gfx9-generic",    false, false, true,  64, false,  65536,  256, 10, none, false},
  {"gfx904",          9, 0, 4,   0x2e, "gfx9-generic",    false, false, true,  64, false,  65536,  256, 10, none, false},
  {"gfx906",          9, 0, 6,   0x2f, "gfx9-generic",    false, true,  true,  64, false,  65536,  256, 10, none, true},
  {"gfx908",          9, 0, 8,   0x30, "",                false, true,  true,  64, false,  65536,  256, 10, mfma, true},
  {"gfx909",          9, 0, 9,   0x31, "gfx9-generic",    false, false, true,  64, false,  65536,  256, 10, none, false},
  {"gfx90a",          9, 0, 10,  0x3f, "",                false, true,  true,  64, false,  65536,  512,  8, mfma, true},
  {"gfx90c",          9, 0, 12,  0x32, "gfx9-generic",    false, false, true,  64, false,  65536,  256, 10, none, false},
  {"gfx942",          9, 4, 2,   0x4c, "gfx9-4-generic",  false, true,  true,  64, false,  65536,  512,  8, mfma, true},
  {"gfx950",          9, 5, 0,   0x4f, "gfx9-4-generic",  false, true,  true,  64, false, 163840,  512,  8, mfma, true},
  {"gfx1010",        10, 1, 0,   0x33, "gfx10-1-generic", false, false, true,  32, true,   65536, 1024, 20, none, false},
  {"gfx1011",        10, 1, 1,   0x34, "gfx10-1-generic", false, false, true,  32, true,   65536, 1024, 20, none, false},
  {"gfx1012",        10, 1, 2,   0x35, "gfx10-1-generic", false, false, true,  32, true,   65536, 1024, 20, none, false},
  {"gfx1030",        10, 3, 0,   0x36, "gfx10-3-generic", false, false, false, 32, true,   65536, 1024, 16, none, true},
  {"gfx1031",        10, 3, 1,   0x37, "gfx10-3-generic", false, false, false, 32, true,   65536, 1024, 16, none, false},
  {"gfx1032",        10, 3, 2,   0x38, "gfx10-3-generic", false, false, false, 32, true,   65536, 1024, 16, none, false},
  {"gfx1033",        10, 3, 3,   0x39, "gfx10-3-generic", false, false, false, 32, true,   65536, 1024, 16, none, false},
  {"gfx1034",        10, 3, 4,   0x3e, "gfx10-3-generic", false, false, false, 32, true,   65536, 1024, 16, none, false},
  {"gfx1035",        10, 3, 5,   0x3d, "gfx10-3-generic", false, false, false, 32, true,   65536, 1024, 16, none, false},
  {"gfx1036",        10, 3, 6,   0x45, "gfx10-3-generic", false, false, false, 32, true,   65536, 1024, 16, none, false},
  {"gfx1100",        11, 0, 0,   0x41, "gfx11-generic",   false, false, false, 32, true,   65536, 1536, 16, wmma, true},
  {"gfx1101",        11, 0, 1,   0x46, "gfx11-generic",   false, false, false, 32, true,   65536, 1536, 16, wmma, true},
  {"gfx1102",        11, 0, 2,   0x47, "gfx11-generic",   false, false, false, 32, true,   65536, 1024, 16, wmma, false},
  {"gfx1103",        11, 0, 3,   0x44, "gfx11-generic",   false, false, false, 32, true,   65536, 1024, 16, wmma, false},
  {"gfx1150",        11, 5, 0,   0x43, "gfx11-generic",   false, false, false, 32, true,   65536, 1024, 16, wmma, false},
  {"gfx1151",        11, 5, 1,   0x4a, "gfx11-generic",   false, false, false, 32, true,   65536, 1536, 16, wmma, true},
  {"gfx1152",        11, 5, 2,   0x55, "gfx11-generic",   false, false, false, 32, true,   65536, 1024, 16, wmma, false},
  {"gfx1153",        11, 5, 3,   0x58, "gfx11-generic",   false, false, false, 32, true,   65536, 1024, 16, wmma, false},
  {"gfx1200",        12, 0, 0,   0x48, "gfx12-generic",   false, false, false, 32, true,   65536, 1536, 16, wmma, true},
  {"gfx1201",        12, 0, 1,   0x4e, "gfx12-generic",   false, false, false, 32, true,   65536, 1536, 16, wmma, true},
  {"gfx1250",        12, 5, 0,   0x49, "",                false, false, false, 32, false, 327680, 1024, 10, wmma, true},
  {"gfx9-generic",    9, 0, 0,   0x51, "",                true,  false, true,  64, false,  65536,  256, 10, none, true},
  {"gfx9-4-generic",  9, 4, 0,   0x5f, "",                true,  true,  true,  64, false,  65536,  512,  8, mfma, true},
  {"gfx10-3-generic",10, 3, 0,   0x53, "",                true,  false, false, 32, true,   65536, 1024, 16, none, true},
  {"gfx11-generic",  11, 0, 0,   0x54, "",                true,  false, false, 32, true,   65536, 1024, 16, wmma, true},
  {"gfx12-generic",  12, 0, 0,   0x59, "",                true,  false, false, 32, true,   65536, 1024, 16, wmma, true},
};
// clang-format on

std::string feature_suffix(std::string_view name, Feature feature) {
  if (feature == Feature::any) return "";
  return ":" + std::string(name) + (feature == Feature::on ? "+" : "-");
}

Feature feature_from_flags(uint32_t two_bits) {
  return two_bits == 3 ? Feature::on : two_bits == 2 ? Feature::off : Feature::any;
}

}  // namespace

std::span<const GfxRow> gfx_table() { return rows; }

const GfxRow* find_gfx(std::string_view name) {
  for (const GfxRow& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

const GfxRow* find_gfx_by_mach(uint8_t elf_mach) {
  for (const GfxRow& row : rows)
    if (row.elf_mach == elf_mach) return &row;
  return nullptr;
}

std::string Target::id() const {
  return std::string(gfx->name) + feature_suffix("sramecc", sramecc) + feature_suffix("xnack", xnack);
}

Target parse_target(std::string_view id) {
  const std::string where = "target \"" + std::string(id) + "\"";
  const std::string_view name = id.substr(0, id.find(':'));
  Target target;
  target.gfx = find_gfx(name);
  if (!target.gfx) {
    const GfxRow* nearest = &rows[0];
    for (const GfxRow& row : rows)
      if (edit_distance(row.name, name) < edit_distance(nearest->name, name)) nearest = &row;
    throw Error(where, "unknown target \"" + std::string(name) + "\"",
                "did you mean " + std::string(nearest->name) + "? `lathe targets` lists all");
  }
  std::string_view rest = id.substr(name.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    std::string_view part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(part.size());
    const std::string_view feature = part.empty() ? part : part.substr(0, part.size() - 1);
    const bool sramecc = feature == "sramecc", xnack = feature == "xnack";
    if (part.empty() || (part.back() != '+' && part.back() != '-') || (!sramecc && !xnack))
      throw Error(where, "\"" + std::string(part) + "\" is not a target feature",
                  "features are sramecc+, sramecc-, xnack+, xnack-, as in gfx90a:sramecc+:xnack-");
    if (!(sramecc ? target.gfx->has_sramecc : target.gfx->has_xnack))
      throw Error(where, std::string(name) + " has no feature " + std::string(feature),
                  "leave out :" + std::string(part));
    Feature& slot = sramecc ? target.sramecc : target.xnack;
    if (slot != Feature::any)
      throw Error(where, "feature " + std::string(feature) + " is given twice", "name each feature once");
    slot = part.back() == '+' ? Feature::on : Feature::off;
  }
  return target;
}

std::optional<Target> target_from_elf_flags(uint32_t e_flags) {
  Target target;
  target.gfx = find_gfx_by_mach(static_cast<uint8_t>(e_flags & 0xff));
  if (!target.gfx) return std::nullopt;
  target.xnack = feature_from_flags((e_flags >> 8) & 3);
  target.sramecc = feature_from_flags((e_flags >> 10) & 3);
  return target;
}

std::string why_incompatible(const Target& object, const Target& device) {
  const std::string both = "code object for " + object.id() + " on device " + device.id();
  if (object.gfx != device.gfx && object.gfx->name != device.gfx->generic)
    return both + ": a " + std::string(object.gfx->name) + " object does not run on " + std::string(device.gfx->name);
  auto clash = [](Feature wanted, Feature has) {
    return wanted != Feature::any && has != Feature::any && wanted != has;
  };
  if (clash(object.xnack, device.xnack)) return both + ": xnack settings differ";
  if (clash(object.sramecc, device.sramecc)) return both + ": sramecc settings differ";
  return "";
}

}  // namespace lathe
