#include "runtime/package.h"

#include "runtime/read_file.h"

namespace lathe {

Package Package::from_bytes(std::span<const uint8_t> bytes, std::string_view where) {
  return Package(read_package(bytes, where), std::string(where));
}

Package Package::from_file(const std::filesystem::path& path) { return from_bytes(read_file(path), path.string()); }

}  // namespace lathe
