#include "runtime/read_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "runtime/base/error.h"

namespace lathe {

std::vector<uint8_t> read_file(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) throw Error(path.string(), std::string("cannot be opened: ") + std::strerror(errno));
  std::vector<uint8_t> bytes;
  size_t size = 0;
  for (size_t got = 1; got > 0; size += got) {
    if (bytes.size() - size < 4096) bytes.resize(bytes.size() * 2 + (1 << 16));  // no size in advance: pipes work too
    got = std::fread(bytes.data() + size, 1, bytes.size() - size, file.get());
  }
  if (std::ferror(file.get())) throw Error(path.string(), std::string("cannot be read: ") + std::strerror(errno));
  bytes.resize(size);
  return bytes;
}

}  // namespace lathe
