#include "hip/event.h"

#include "hip/graph.h"

using namespace lathe::emu;

namespace {
Handles<ihipEvent_t>& events() {
  static auto* h = new Handles<ihipEvent_t>;
  return *h;
}
bool captured(ihipEvent_t& e) {
  std::lock_guard lock(e.mutex);
  return e.capture != nullptr;
}
}  // namespace

namespace lathe::emu {

EventRef find_event(hipEvent_t e) { return events().find(e); }
WorkRef recorded(ihipEvent_t& e) {
  std::lock_guard lock(e.mutex);
  return e.work;
}
void set_recorded(ihipEvent_t& e, const WorkRef& work) {
  std::lock_guard lock(e.mutex);
  e.work = work;
  e.capture = nullptr;
  e.nodes.clear();
}
hipError_t record_event(const char* call, hipEvent_t handle, const StreamRef& stream) {
  if (!handle) return hipSuccess;
  const EventRef event = find_event(handle);
  if (!event) return done(hipErrorInvalidHandle);
  if (event->device != stream->device) return refuse(hipErrorInvalidHandle, std::string(call) + ": event and stream are of different devices");
  bool was = false;
  if (const hipError_t e = capture_record(call, stream, event, was); e != hipSuccess || was) return e;
  set_recorded(*event, enqueue(stream, nullptr));
  return hipSuccess;
}

}  // namespace lathe::emu

LATHE_HIP hipError_t hipEventCreateWithFlags(hipEvent_t* out, unsigned flags) {
  HIP_TRY
  constexpr unsigned known = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess | hipEventReleaseToDevice | hipEventReleaseToSystem;
  if (!out || (flags & ~known)) return done(hipErrorInvalidValue);
  if ((flags & hipEventReleaseToDevice) && (flags & hipEventReleaseToSystem)) return done(hipErrorInvalidValue);
  if (devices().empty()) return done(hipErrorNoDevice);
  auto e = std::make_shared<ihipEvent_t>();
  e->flags = flags, e->device = current_device();
  *out = events().add(std::move(e));
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipEventCreate(hipEvent_t* out) { return hipEventCreateWithFlags(out, 0); }
LATHE_HIP hipError_t hipEventDestroy(hipEvent_t e) {
  HIP_TRY
  return done(events().remove(e) ? hipSuccess : hipErrorInvalidHandle);
  HIP_END
}
LATHE_HIP hipError_t hipEventRecord(hipEvent_t e, hipStream_t s) {
  HIP_TRY
  const StreamRef stream = find_stream(s);
  if (!e || !stream) return done(hipErrorInvalidHandle);
  return record_event("hipEventRecord", e, stream);
  HIP_END
}
LATHE_HIP hipError_t hipEventRecord_spt(hipEvent_t e, hipStream_t s) { return hipEventRecord(e, s ? s : hipStreamPerThread); }
LATHE_HIP hipError_t hipEventRecordWithFlags(hipEvent_t e, hipStream_t s, unsigned) { return hipEventRecord(e, s); }

LATHE_HIP hipError_t hipEventSynchronize(hipEvent_t handle) {
  HIP_TRY
  const EventRef event = find_event(handle);
  if (!event) return done(hipErrorInvalidHandle);
  if (captured(*event)) return done(hipErrorCapturedEvent);
  if (const hipError_t e = wait_work("hipEventSynchronize", recorded(*event)); e != hipSuccess) return e;
  return done(take_fault(event->device));
  HIP_END
}
LATHE_HIP hipError_t hipEventQuery(hipEvent_t handle) {
  HIP_TRY
  const EventRef event = find_event(handle);
  if (!event) return done(hipErrorInvalidHandle);
  if (captured(*event)) return done(hipErrorCapturedEvent);
  // Not ready is an answer, not an error that hipGetLastError keeps.
  if (!is_done(recorded(*event))) return hipErrorNotReady;
  return done(take_fault(event->device));
  HIP_END
}
LATHE_HIP hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop) {
  HIP_TRY
  if (!ms) return done(hipErrorInvalidValue);
  const EventRef a = find_event(start), b = find_event(stop);
  if (!a || !b) return done(hipErrorInvalidHandle);
  if ((a->flags | b->flags) & hipEventDisableTiming) return done(hipErrorInvalidHandle);
  if (a->device != b->device) return done(hipErrorInvalidHandle);
  const WorkRef from = recorded(*a), to = recorded(*b);
  if (!from || !to) return done(hipErrorInvalidHandle);
  if (!is_done(from) || !is_done(to)) return done(hipErrorNotReady);
  *ms = std::chrono::duration<float, std::milli>(to->finished - from->finished).count();
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipStreamWaitEvent(hipStream_t s, hipEvent_t handle, unsigned flags) {
  HIP_TRY
  const StreamRef stream = find_stream(s);
  const EventRef event = find_event(handle);
  if (!stream || !event) return done(hipErrorInvalidHandle);
  if (flags) return done(hipErrorInvalidValue);
  bool was = false;
  if (const hipError_t e = capture_wait("hipStreamWaitEvent", stream, event, was); e != hipSuccess || was) return e;
  // Never recorded: nothing to wait for.
  if (const WorkRef work = recorded(*event)) (void)enqueue(stream, nullptr, false, {work});
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipStreamWaitEvent_spt(hipStream_t s, hipEvent_t e, unsigned flags) { return hipStreamWaitEvent(s ? s : hipStreamPerThread, e, flags); }
