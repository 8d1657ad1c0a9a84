#include "tools/explain/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/pipeline.h"
#include "ir/print.h"
#include "runtime/base/error.h"
#include "runtime/base/occupancy.h"
#include "tools/explain/assembly.h"

namespace lathe {

extern const char explain_page_html[];  // page.html, made a string at build time

namespace {

using nlohmann::json;

json describe_kernel(const KernelInfo& k, const GfxRow& gfx) {
  const Occupancy o = occupancy(needs_of(k, gfx), gfx);
  json rows = json::array();
  const auto row = [&](const std::string& name, const std::string& value) { rows.push_back({name, value}); };
  row("wavefront", fmt::format("{} lanes", k.wavefront_size));
  row("work-group", fmt::format("{} work-items", k.max_flat_workgroup_size));
  row("VGPRs", fmt::format("{}", k.vgpr_count));
  if (k.agpr_count) row("AGPRs", fmt::format("{}", k.agpr_count));
  row("SGPRs", fmt::format("{}", k.sgpr_count));
  row("spills", fmt::format("{} VGPRs, {} SGPRs", k.vgpr_spill_count, k.sgpr_spill_count));
  row("LDS", bytes_text(k.group_segment_fixed_size) + " a work-group");
  row("scratch", bytes_text(k.private_segment_fixed_size) + " a work-item");
  row("occupancy", fmt::format("{} of {} waves a SIMD, {} groups a compute unit", o.waves, o.most_waves, o.groups));
  row("limited by", o.limit);
  return rows;
}

// Text inside a <script> element must not close it.
std::string for_script(const json& data) {
  std::string text = data.dump();
  for (size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3) text.replace(at, 2, "<\\/");
  return text;
}

}  // namespace

std::string explain_page(const Program& program, const Target& target, const std::vector<NestAfterStep>& steps) {
  BuildOptions options;
  options.line_tables = true;
  const Module module = build(program, target.id(), options);
  const Lowering lowered = lower(program, target);
  const CodeObjectInfo info = module.info();
  const std::vector<AsmRow> assembly = read_assembly(module.source("asm"));

  json page = {{"name", program.name}, {"target", target.id()}, {"steps", json::array()}, {"kernels", json::array()}};
  for (const NestAfterStep& step : steps) {
    json lines = json::array();
    for (const NestLine& line : step.lines) lines.push_back({line.text, line.is_new});
    page["steps"].push_back({{"step", step.step}, {"remark", step.remark}, {"lines", lines}});
  }
  for (size_t i = 0; i < lowered.function.kernels.size(); ++i) {
    const Kernel& kernel = lowered.function.kernels[i];
    // The nest with its tensors' own dimensions reads better; its lines are the same as long as no statement was added.
    std::vector<std::string> lines = lines_of(to_string(kernel));
    if (i < lowered.nested.kernels.size()) {
      std::vector<std::string> nested = lines_of(to_string(lowered.nested.kernels[i]));
      if (nested.size() == lines.size()) lines = std::move(nested);
    }
    json rows = json::array();
    for (const AsmRow& row : assembly)
      if (row.kernel == kernel.name) rows.push_back({row.text, row.line, row.kind});
    json needs = json::array();
    for (const KernelInfo& k : info.kernels)
      if (k.name == kernel.name) needs = describe_kernel(k, *target.gfx);
    page["kernels"].push_back({{"name", kernel.name}, {"needs", needs}, {"lines", lines}, {"asm", rows}});
  }

  std::string html = explain_page_html;
  const std::string place = "/*DATA*/null";
  const size_t at = html.find(place);
  LATHE_CHECK(at != std::string::npos, "page.html has no place for its data");
  return html.replace(at, place.size(), for_script(page));
}

}  // namespace lathe
