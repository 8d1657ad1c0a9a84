// Queues of work on a device, and marks in them.
#pragma once

#include <memory>

#include "runtime/device.h"

namespace lathe {

class Event;

// Work on one stream runs in order; work on two streams runs in any, but for waits on events. Cheap handle. Calls
// without a stream use the device's default one, which waits for, and is waited for by, every stream made here.
class Stream {
 public:
  static Stream create(const Device& device);
  // A hipStream_t that others own; null is the default stream. Scratch memory of past launches stays tied to the
  // handle: call device.trim_scratch() before such a stream is destroyed.
  static Stream wrap(const Device& device, void* hip_stream);

  const Device& device() const { return device_; }
  void* raw() const;  // hipStream_t

  void synchronize() const;               // throws Error when a kernel on it failed
  void wait(const Event& event) const;    // work given from now on starts after the event

 private:
  struct Handle;
  Stream(Device device, std::shared_ptr<const Handle> handle)
      : device_(std::move(device)), handle_(std::move(handle)) {}

  Device device_;
  std::shared_ptr<const Handle> handle_;
};

// A mark in a stream: waited for by the host or another stream, or two of them timed. Cheap handle.
class Event {
 public:
  static Event create(const Device& device);

  void* raw() const;  // hipEvent_t

  void record(const Stream& stream) const;  // marks the end of all work given to the stream so far
  void record() const;                      // on the default stream
  bool is_done() const;
  void synchronize() const;

 private:
  friend float elapsed_ms(const Event& start, const Event& stop);
  struct Handle;
  Event(Device device, std::shared_ptr<const Handle> handle)
      : device_(std::move(device)), handle_(std::move(handle)) {}

  Device device_;
  std::shared_ptr<const Handle> handle_;
};

// Milliseconds of device time from one mark to another. Both must be done.
float elapsed_ms(const Event& start, const Event& stop);

}  // namespace lathe
