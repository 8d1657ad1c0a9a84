#include "runtime/stream.h"

#include "runtime/device_state.h"

namespace lathe {

struct Stream::Handle {
  std::shared_ptr<DeviceState> device;
  hipStream_t stream = nullptr;
  bool owned = false;

  Handle(std::shared_ptr<DeviceState> state, hipStream_t raw, bool own)
      : device(std::move(state)), stream(raw), owned(own) {}
  Handle(const Handle&) = delete;
  ~Handle() {
    if (!owned) return;
    device->scratch.trim(stream, [this](void* idle) { device->release(idle); });
    (void)device->hip->hipSetDevice(device->ordinal);
    (void)device->hip->hipStreamDestroy(stream);
  }
};

struct Event::Handle {
  std::shared_ptr<DeviceState> device;
  hipEvent_t event = nullptr;

  Handle(std::shared_ptr<DeviceState> state, hipEvent_t raw) : device(std::move(state)), event(raw) {}
  Handle(const Handle&) = delete;
  ~Handle() { (void)device->hip->hipEventDestroy(event); }
};

Stream Stream::create(const Device& device) {
  const DeviceState& state = device.state();
  state.make_current();
  hipStream_t stream = nullptr;
  state.hip->check(state.hip->hipStreamCreateWithFlags(&stream, hipStreamDefault), "hipStreamCreateWithFlags",
                   state.info.name);
  return Stream(device, std::make_shared<Handle>(device.shared_state(), stream, true));
}

Stream Stream::wrap(const Device& device, void* hip_stream) {
  return Stream(device, std::make_shared<Handle>(device.shared_state(), as_hip_stream(hip_stream), false));
}

void* Stream::raw() const { return handle_->stream; }

void Stream::synchronize() const {
  const DeviceState& state = device_.state();
  state.make_current();
  state.hip->check(state.hip->hipStreamSynchronize(handle_->stream), "hipStreamSynchronize", state.info.name);
}

void Stream::wait(const Event& event) const {
  const DeviceState& state = device_.state();
  state.make_current();
  state.hip->check(state.hip->hipStreamWaitEvent(handle_->stream, static_cast<hipEvent_t>(event.raw()), 0),
                   "hipStreamWaitEvent", state.info.name);
}

Event Event::create(const Device& device) {
  const DeviceState& state = device.state();
  state.make_current();
  hipEvent_t event = nullptr;
  state.hip->check(state.hip->hipEventCreateWithFlags(&event, hipEventDefault), "hipEventCreateWithFlags",
                   state.info.name);
  return Event(device, std::make_shared<Handle>(device.shared_state(), event));
}

void* Event::raw() const { return handle_->event; }

void Event::record(const Stream& stream) const {
  const DeviceState& state = device_.state();
  state.make_current();
  state.hip->check(state.hip->hipEventRecord(handle_->event, as_hip_stream(stream.raw())), "hipEventRecord",
                   state.info.name);
}

void Event::record() const { record(Stream::wrap(device_, nullptr)); }

bool Event::is_done() const {
  const DeviceState& state = device_.state();
  const hipError_t status = state.hip->hipEventQuery(handle_->event);
  if (status == hipErrorNotReady) return false;
  state.hip->check(status, "hipEventQuery", state.info.name);
  return true;
}

void Event::synchronize() const {
  const DeviceState& state = device_.state();
  state.hip->check(state.hip->hipEventSynchronize(handle_->event), "hipEventSynchronize", state.info.name);
}

float elapsed_ms(const Event& start, const Event& stop) {
  const DeviceState& state = start.device_.state();
  float milliseconds = 0;
  state.hip->check(state.hip->hipEventElapsedTime(&milliseconds, start.handle_->event, stop.handle_->event),
                   "hipEventElapsedTime", state.info.name);
  return milliseconds;
}

}  // namespace lathe
