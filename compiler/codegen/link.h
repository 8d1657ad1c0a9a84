// lld in this process: one relocatable object to one code object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lathe {

// Links `object` into a shared object, as the HSA loader takes it. lld keeps global state: calls take turns.
// Throws Error with lld's own words when it refuses. `where` names the module in messages.
std::vector<uint8_t> link_code_object(std::span<const char> object, const std::string& where);

}  // namespace lathe
