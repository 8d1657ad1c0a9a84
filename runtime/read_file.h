// Private to the runtime.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace lathe {

// The whole file. Throws Error, naming it, when it cannot be opened or read.
std::vector<uint8_t> read_file(const std::filesystem::path& path);

}  // namespace lathe
