#include "tools/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/base/error.h"

namespace lathe {

std::string read_text(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw Error(path, "this is a directory", "name a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path, std::string("cannot be read: ") + std::strerror(errno), "check the path");
  std::stringstream text;
  text << in.rdbuf();
  if (in.bad()) throw Error(path, std::string("cannot be read: ") + std::strerror(errno), "check the file");
  return text.str();
}

void write_file(const std::string& path, std::span<const uint8_t> bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw Error(path, std::string("cannot be written: ") + std::strerror(errno), "check the path and the space left");
}

}  // namespace lathe
