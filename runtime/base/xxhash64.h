// XXH64: a 64-bit checksum that reads several bytes a cycle, so that verifying a package costs less than
// copying it. It finds damage; it is no defence against a forger.
#pragma once

#include <cstdint>
#include <span>

namespace lathe {

// Source: xxHash fast digest algorithm, specification 0.1.1, "XXH64 algorithm description".
uint64_t xxhash64(std::span<const uint8_t> bytes, uint64_t seed = 0);

}  // namespace lathe
