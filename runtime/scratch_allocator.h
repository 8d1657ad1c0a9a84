// Scratch memory for launches that need workspaces: blocks are kept and handed out again, so that a call in a
// loop allocates once. Private to the runtime.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace lathe {

// A block belongs to the stream it was last used on and is handed out again on that stream only: there, the next
// kernel starts after the last one that used it has ended, so no waiting is needed. All functions are thread safe.
class ScratchAllocator {
 public:
  struct Block {
    void* pointer = nullptr;
    size_t bytes = 0;
  };

  // A block of at least `bytes` for the next launches on `stream`: an idle one of that stream that fits (at most
  // twice too large), else a new one from `allocate`. No bytes: no memory.
  Block take(void* stream, size_t bytes, const std::function<void*(size_t)>& allocate);
  // Takes back a block once the launches that use it are in the stream's queue.
  void give(void* stream, Block block);
  // Hands every idle block (of one stream, or of all) to `release`, which must wait for the device first, as
  // hipFree does.
  void trim(const std::function<void(void*)>& release);
  void trim(void* stream, const std::function<void(void*)>& release);
  size_t idle_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::map<void*, std::vector<Block>> idle_;  // by stream; a handful each, so that a scan is quickest
};

}  // namespace lathe
