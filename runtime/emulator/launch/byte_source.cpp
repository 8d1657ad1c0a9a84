#include "launch/byte_source.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace lathe::emu {

std::vector<u8> ByteSource::read(u64 at, u64 size) const {
  if (bounded_) {
    if (at >= size_) return {};
    return {start_ + at, start_ + at + std::min(size, size_ - at)};
  }
  std::vector<u8> out;
  constexpr u64 step = 1 << 20;
  while (out.size() < size) {
    const u64 done = out.size(), want = std::min(step, size - done);
    const u64 from = u64(start_) + at + done;
    if (from < at) break;
    out.resize(done + want);
    iovec local{out.data() + done, want}, remote{reinterpret_cast<void*>(from), want};
    const ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    out.resize(done + u64(std::max<ssize_t>(n, 0)));
    if (n == ssize_t(want) || n > 0) continue;
    // The kernel copies whole pages of a range or none: what is left before the page that cannot be read.
    const u64 to_page_end = 4096 - from % 4096;
    if (to_page_end >= want) break;
    size = done + to_page_end;
  }
  return out;
}

}  // namespace lathe::emu
