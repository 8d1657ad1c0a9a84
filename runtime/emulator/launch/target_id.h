// Target ids ("gfx90a:sramecc+:xnack-") and which device may run code of which (AMDGPUUsage, "Target ID" and
// "Embedding Bundled Objects").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "machine/isa.h"

namespace lathe::emu {

enum class Feature : u8 { any, off, on };

struct TargetId {
  std::string processor;
  Feature sramecc = Feature::any, xnack = Feature::any;
};

std::optional<TargetId> parse_target_id(std::string_view text);
std::string to_string(const TargetId&);
// How well code of this target suits the device: 0 not at all; exact processors before generic ones, then code
// that was built for the device's feature setting before code that runs with any.
int suitability(const TargetId& code, const Isa& device);

}  // namespace lathe::emu
