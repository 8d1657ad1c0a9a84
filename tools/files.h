// Whole files in and out, with errors that name them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lathe {

std::string read_text(const std::string& path);
void write_file(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace lathe
