// A piece of a device's memory, owned or borrowed. Private to the runtime.
#pragma once

#include <memory>

#include "runtime/device_state.h"

namespace lathe {

class DeviceMemory {
 public:
  // Owned: freed with this object. No bytes: no memory, a null pointer.
  DeviceMemory(std::shared_ptr<DeviceState> device, size_t bytes)
      : device_(std::move(device)), pointer_(bytes ? device_->allocate(bytes) : nullptr), bytes_(bytes), owned_(true) {}
  // Borrowed: `keep_alive` stands for the owner, if it has one.
  DeviceMemory(std::shared_ptr<DeviceState> device, void* pointer, size_t bytes, std::shared_ptr<void> keep_alive)
      : device_(std::move(device)), pointer_(pointer), bytes_(bytes), keep_alive_(std::move(keep_alive)) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (owned_) device_->release(pointer_);
  }

  void* pointer() const { return pointer_; }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<DeviceState> device_;
  void* pointer_;
  size_t bytes_;
  bool owned_ = false;
  std::shared_ptr<void> keep_alive_;
};

}  // namespace lathe
