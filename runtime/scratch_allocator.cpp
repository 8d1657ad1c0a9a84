#include "runtime/scratch_allocator.h"

namespace lathe {

ScratchAllocator::Block ScratchAllocator::take(void* stream, size_t bytes,
                                               const std::function<void*(size_t)>& allocate) {
  if (bytes == 0) return {};
  {
    const std::lock_guard lock(mutex_);
    if (auto blocks = idle_.find(stream); blocks != idle_.end()) {
      auto fit = blocks->second.lower_bound(bytes);
      if (fit != blocks->second.end() && fit->first / 2 <= bytes) {
        const Block block{fit->second, fit->first};
        blocks->second.erase(fit);
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
  idle_[stream].emplace(block.bytes, block.pointer);
}

void ScratchAllocator::trim(const std::function<void(void*)>& release) {
  decltype(idle_) idle;
  {
    const std::lock_guard lock(mutex_);
    idle.swap(idle_);
  }
  for (const auto& [stream, blocks] : idle)
    for (const auto& [bytes, pointer] : blocks) release(pointer);
}

void ScratchAllocator::trim(void* stream, const std::function<void(void*)>& release) {
  std::multimap<size_t, void*> blocks;
  {
    const std::lock_guard lock(mutex_);
    if (auto found = idle_.find(stream); found != idle_.end()) {
      blocks.swap(found->second);
      idle_.erase(found);
    }
  }
  for (const auto& [bytes, pointer] : blocks) release(pointer);
}

size_t ScratchAllocator::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  size_t total = 0;
  for (const auto& [stream, blocks] : idle_)
    for (const auto& [bytes, pointer] : blocks) total += bytes;
  return total;
}

}  // namespace lathe
