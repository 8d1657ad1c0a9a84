// A verified package in memory: what was in a .lathe file.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/package.h"

namespace lathe {

// A cheap handle on contents that do not change; one package may be loaded on many devices.
class Package {
 public:
  // Both throw Error, naming `where` or the path, on bytes that are not a whole, unaltered package.
  static Package from_bytes(std::span<const uint8_t> bytes, std::string_view where = "package");
  static Package from_file(const std::filesystem::path& path);

  const PackageData& data() const { return *data_; }
  const std::string& where() const { return where_; }

 private:
  Package(PackageData data, std::string where)
      : data_(std::make_shared<const PackageData>(std::move(data))), where_(std::move(where)) {}

  std::shared_ptr<const PackageData> data_;
  std::string where_;
};

}  // namespace lathe
