#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>

#include "runtime/base/code_object.h"
#include "runtime/base/package.h"
#include "runtime/base/error.h"
#include "runtime/base/occupancy.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace lathe {
namespace {

void show_code_object(std::span<const uint8_t> bytes, const std::string& where) {
  const CodeObjectInfo info = read_code_object(bytes, where);
  fmt::print("code object for {}, version {}, {} bytes\n", info.target.id(), info.version, bytes.size());
  for (const KernelInfo& k : info.kernels) {
    fmt::print("  kernel {}: wave {}, up to {} work-items\n", k.name, k.wavefront_size, k.max_flat_workgroup_size);
    fmt::print("    registers: {} VGPRs, {} AGPRs, {} SGPRs; spills: {} VGPRs, {} SGPRs\n", k.vgpr_count, k.agpr_count,
               k.sgpr_count, k.vgpr_spill_count, k.sgpr_spill_count);
    fmt::print("    memory: {} B LDS, {} B scratch per work-item\n", k.group_segment_fixed_size, k.private_segment_fixed_size);
    const Occupancy o = occupancy(needs_of(k, *info.target.gfx), *info.target.gfx);
    fmt::print("    occupancy: {} of {} waves a SIMD, {} groups a compute unit; limited by {}\n", o.waves, o.most_waves, o.groups, o.limit);
    if (k.vgpr_spill_count || k.sgpr_spill_count)
      fmt::print("    warning: registers are spilled to scratch: use smaller register tiles\n");
    fmt::print("    arguments: {} B, aligned to {}\n", k.kernarg_segment_size, k.kernarg_segment_align);
    for (const KernelParameter& p : k.parameters)
      fmt::print("      {:>4}  {:>2} B  {:<24} {}\n", p.offset, p.size, p.value_kind, p.name);
  }
}

std::string extents(const auto& shape, const std::vector<std::string>& symbols) {
  std::string text;
  for (const ShapeExpr& e : shape) text += (text.empty() ? "" : ", ") + to_string(e, symbols);
  return text;
}

void show_package(std::span<const uint8_t> bytes, const std::string& where) {
  const PackageData package = read_package(bytes, where);
  fmt::print("package, {} bytes, written by {}\n", bytes.size(), package.generator);
  for (const FunctionData& f : package.functions) {
    fmt::print("function {}\n", f.name);
    for (const ArgumentData& a : f.arguments)
      fmt::print("  {} {}: {}[{}]\n", a.is_output ? "out" : "in ", a.name, to_string(a.type), extents(a.shape, f.symbols));
    for (const WorkspaceData& w : f.workspaces)
      fmt::print("  workspace {}: {}[{}]\n", w.name, to_string(w.type), extents(w.shape, f.symbols));
    for (const LaunchData& l : f.launches)
      fmt::print("  launch {}: grid [{}], block [{}, {}, {}]\n", l.kernel, extents(l.grid, f.symbols), l.block[0], l.block[1], l.block[2]);
  }
  for (const CodeObjectData& object : package.code_objects) show_code_object(object.bytes, where + " " + object.target);
  for (const CertificateData& c : package.certificates) {
    fmt::print("certificate of {} for {}\n", c.function, c.target);
    for (const Claim& claim : c.claims) fmt::print("  {}\n", to_string(claim));
  }
  for (const SourceData& source : package.sources) fmt::print("source {} ({} bytes)\n", source.name, source.text.size());
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("inspect", "Show what is in a code object or a package");
  sub->add_option("file", *file, "A .hsaco or a .lathe file")->required();
  sub->callback([file] {
    const std::string text = read_text(*file);
    const std::span<const uint8_t> bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
    if (text.substr(0, 4) == "\177ELF")
      show_code_object(bytes, *file);
    else
      show_package(bytes, *file);
  });
}

}  // namespace lathe
