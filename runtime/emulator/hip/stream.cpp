// Streams and events. Work runs at once on the calling thread, which is one of the orders a stream allows.
#include <chrono>

#include "hip/state.h"

using namespace lathe::emu;

struct ihipStream_t {
  int device;
  unsigned flags;
};
struct ihipEvent_t {
  unsigned flags;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
};

namespace {
Handles<ihipStream_t>& streams() {
  static auto* h = new Handles<ihipStream_t>;
  return *h;
}
Handles<ihipEvent_t>& events() {
  static auto* h = new Handles<ihipEvent_t>;
  return *h;
}
// The null stream, hipStreamLegacy (1) and hipStreamPerThread (2) need no object.
bool stream_ok(hipStream_t s) { return u64(s) <= 2 || streams().has(s); }
}  // namespace

namespace lathe::emu {
bool known_stream(hipStream_t s) { return stream_ok(s); }
int stream_device(hipStream_t s) { return u64(s) > 2 ? s->device : current_device(); }
}

LATHE_HIP hipError_t hipStreamCreateWithFlags(hipStream_t* out, unsigned flags) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  if (devices().empty()) return done(hipErrorNoDevice);
  *out = streams().add(new ihipStream_t{current_device(), flags});
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipStreamCreate(hipStream_t* out) { return hipStreamCreateWithFlags(out, 0); }
LATHE_HIP hipError_t hipStreamCreateWithPriority(hipStream_t* out, unsigned flags, int) { return hipStreamCreateWithFlags(out, flags); }
LATHE_HIP hipError_t hipStreamDestroy(hipStream_t s) {
  HIP_TRY
  if (!streams().remove(s)) return done(hipErrorInvalidHandle);
  delete s;
  return done(take_pending_fault());
  HIP_END
}
LATHE_HIP hipError_t hipStreamSynchronize(hipStream_t s) {
  HIP_TRY
  if (!stream_ok(s)) return done(hipErrorInvalidHandle);
  return done(take_pending_fault());
  HIP_END
}
LATHE_HIP hipError_t hipStreamQuery(hipStream_t s) { return hipStreamSynchronize(s); }
LATHE_HIP hipError_t hipStreamGetFlags(hipStream_t s, unsigned* flags) {
  HIP_TRY
  if (!flags || !stream_ok(s)) return done(hipErrorInvalidValue);
  *flags = u64(s) > 2 ? s->flags : 0;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipStreamWaitEvent(hipStream_t s, hipEvent_t e, unsigned) {
  HIP_TRY
  return done(stream_ok(s) && events().has(e) ? hipSuccess : hipErrorInvalidHandle);
  HIP_END
}

LATHE_HIP hipError_t hipEventCreateWithFlags(hipEvent_t* out, unsigned flags) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  auto* e = new ihipEvent_t;
  e->flags = flags;
  *out = events().add(e);
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipEventCreate(hipEvent_t* out) { return hipEventCreateWithFlags(out, 0); }
LATHE_HIP hipError_t hipEventRecord(hipEvent_t e, hipStream_t s) {
  HIP_TRY
  if (!events().has(e) || !stream_ok(s)) return done(hipErrorInvalidHandle);
  e->recorded = true;
  e->time = std::chrono::steady_clock::now();
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipEventSynchronize(hipEvent_t e) {
  HIP_TRY
  if (!events().has(e)) return done(hipErrorInvalidHandle);
  return done(take_pending_fault());
  HIP_END
}
LATHE_HIP hipError_t hipEventQuery(hipEvent_t e) { return hipEventSynchronize(e); }
LATHE_HIP hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop) {
  HIP_TRY
  if (!ms) return done(hipErrorInvalidValue);
  if (!events().has(start) || !events().has(stop) || !start->recorded || !stop->recorded) return done(hipErrorInvalidHandle);
  *ms = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipEventDestroy(hipEvent_t e) {
  HIP_TRY
  if (!events().remove(e)) return done(hipErrorInvalidHandle);
  delete e;
  return hipSuccess;
  HIP_END
}
