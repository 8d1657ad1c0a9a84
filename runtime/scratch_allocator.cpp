#include "runtime/scratch_allocator.h"

namespace lathe {

ScratchAllocator::Block ScratchAllocator::take(void* stream, size_t bytes,
                                               const std::function<void*(size_t)>& allocate) {
  if (bytes == 0) return {};
  {
    const std::lock_guard lock(mutex_);
    if (auto blocks = idle_.find(stream); blocks != idle_.end()) {
      Block* best = nullptr;
      for (Block& block : blocks->second)
        if (block.bytes >= bytes && block.bytes / 2 <= bytes && (!best || block.bytes < best->bytes)) best = &block;
      if (best) {
        const Block block = *best;
        *best = blocks->second.back();
        blocks->second.pop_back();
        return block;
      }
    }
  }
  // Sizes are rounded up to 256 bytes (hipMalloc's own alignment) so that nearly equal shapes share blocks.
  const size_t rounded = (bytes + 255) / 256 * 256;
  return {allocate(rounded), rounded};
}

void ScratchAllocator::give(void* stream, Block block) {
  if (!block.pointer) return;
  const std::lock_guard lock(mutex_);
  idle_[stream].push_back(block);
}

void ScratchAllocator::trim(const std::function<void(void*)>& release) {
  decltype(idle_) idle;
  {
    const std::lock_guard lock(mutex_);
    idle.swap(idle_);
  }
  for (const auto& [stream, blocks] : idle)
    for (const Block& block : blocks) release(block.pointer);
}

void ScratchAllocator::trim(void* stream, const std::function<void(void*)>& release) {
  std::vector<Block> blocks;
  {
    const std::lock_guard lock(mutex_);
    if (auto found = idle_.find(stream); found != idle_.end()) {
      blocks.swap(found->second);
      idle_.erase(found);
    }
  }
  for (const Block& block : blocks) release(block.pointer);
}

size_t ScratchAllocator::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  size_t total = 0;
  for (const auto& [stream, blocks] : idle_)
    for (const Block& block : blocks) total += block.bytes;
  return total;
}

}  // namespace lathe
