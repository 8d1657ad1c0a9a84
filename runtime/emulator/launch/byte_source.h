// The bytes of an image whose length the caller may not have said: HIP hands over a bare pointer.
#pragma once

#include <span>
#include <vector>

#include "machine/types.h"

namespace lathe::emu {

class ByteSource {
 public:
  explicit ByteSource(std::span<const u8> bytes) : start_(bytes.data()), size_(bytes.size()), bounded_(true) {}
  // Process memory of unknown extent. It is read through the kernel, so that a length that lies, in a header
  // that is cut off, ends in fewer bytes and not in a crash.
  explicit ByteSource(const void* memory) : start_(static_cast<const u8*>(memory)) {}

  // Up to `size` bytes from offset `at`; fewer where they end.
  std::vector<u8> read(u64 at, u64 size) const;

 private:
  const u8* start_;
  u64 size_ = 0;
  bool bounded_ = false;
};

}  // namespace lathe::emu
