#include "launch/target_id.h"

#include <fmt/format.h>

namespace lathe::emu {

std::optional<TargetId> parse_target_id(std::string_view text) {
  TargetId id;
  size_t colon = std::min(text.find(':'), text.size());
  id.processor = text.substr(0, colon);
  if (!id.processor.starts_with("gfx") || id.processor.size() < 4) return std::nullopt;
  while (colon < text.size()) {
    const size_t next = std::min(text.find(':', colon + 1), text.size());
    const std::string_view feature = text.substr(colon + 1, next - colon - 1);
    if (feature.size() < 2 || (feature.back() != '+' && feature.back() != '-')) return std::nullopt;
    const Feature value = feature.back() == '+' ? Feature::on : Feature::off;
    const std::string_view name = feature.substr(0, feature.size() - 1);
    if (name == "sramecc") id.sramecc = value;
    else if (name == "xnack") id.xnack = value;
    else return std::nullopt;
    colon = next;
  }
  return id;
}

std::string to_string(const TargetId& id) {
  auto feature = [](std::string_view name, Feature f) { return f == Feature::any ? std::string() : fmt::format(":{}{}", name, f == Feature::on ? '+' : '-'); };
  return id.processor + feature("sramecc", id.sramecc) + feature("xnack", id.xnack);
}

int suitability(const TargetId& code, const Isa& device) {
  const bool exact = code.processor == device.name, generic = !device.generic.empty() && code.processor == device.generic;
  if (!exact && !generic) return 0;
  // The emulated devices run with ECC on and with retry of page faults off, where they have these at all.
  if (code.sramecc != Feature::any && (!device.sramecc || code.sramecc != Feature::on)) return 0;
  if (code.xnack != Feature::any && (!device.xnack || code.xnack != Feature::off)) return 0;
  return 1 + (exact ? 4 : 0) + (code.sramecc != Feature::any) + (code.xnack != Feature::any);
}

}  // namespace lathe::emu
