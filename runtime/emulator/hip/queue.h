// Streams as queues of work. Order: work of one stream in the order it came; the null stream of a device and its
// blocking streams wait for each other (HIP's "legacy default stream"); events tie any two streams. A stream gets
// a host thread of its own with the first piece of work that needs one.
//
// Faults: a kernel's fault waits at its device. Until a synchronising call has told it, kernels, copies and fills
// that the client gave before that call do not run (they would work on what the faulty kernel left behind); what
// comes after the telling runs again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <vector>

#include "hip/state.h"

namespace lathe::emu {

struct Capture;  // hip/graph.h

struct Work {
  std::function<hipError_t()> run;   // empty: only a point in the order
  bool always = false;               // runs behind a fault too: releases, host functions
  bool on_caller = false;            // a waiting client thread runs it
  ihipStream_t* stream = nullptr;    // as long as it is not done
  u64 epoch = 0;
  u32 blockers = 0;                  // works of other streams that must be done first
  std::vector<Work*> followers;
  bool done = false;
  hipError_t result = hipSuccess;
  std::chrono::steady_clock::time_point finished;
};
using WorkRef = std::shared_ptr<Work>;
using StreamRef = std::shared_ptr<ihipStream_t>;

}  // namespace lathe::emu

// HIP's opaque handle, given its meaning here. The queue's fields are the scheduler's, under its lock.
struct ihipStream_t {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  bool null = false;                 // the legacy default stream of its device
  std::vector<lathe::emu::u32> cu_mask;
  bool blocking() const { return !null && !(flags & hipStreamNonBlocking); }

  std::deque<lathe::emu::WorkRef> queue;  // the first may be running
  lathe::emu::WorkRef last;
  bool running = false, has_thread = false, closing = false;
  std::condition_variable wake;
  std::shared_ptr<lathe::emu::Capture> capture;  // under the graphs' lock
};

namespace lathe::emu {

constexpr int least_priority = 1, greatest_priority = -1;
#ifndef hipStreamLegacy
#define hipStreamLegacy ((hipStream_t)1)
#endif

StreamRef make_stream(int device, unsigned flags, int priority);
// The client's handle: null, legacy, per-thread or made. nullptr if it is none. null_stream() is the current
// device's; calls named ..._spt take the thread's stream for a null handle.
StreamRef find_stream(hipStream_t);
StreamRef find_stream_spt(hipStream_t);
StreamRef null_stream(int device);
hipStream_t open_stream(const StreamRef&);
bool close_stream(hipStream_t);      // its work still runs; false if it is no made stream

// Puts work at the stream's end, after `after` too.
WorkRef enqueue(const StreamRef&, std::function<hipError_t()> run, bool always = false, const std::vector<WorkRef>& after = {});
// Runs it in the stream's order on the calling thread. Its own error, else a fault that waited at the device.
hipError_t run_and_wait(const char* call, const StreamRef&, std::function<hipError_t()> run, bool always = false);

// Waiting from inside a host function of a stream may wait for that very stream: refused (hipErrorNotSupported),
// with the call's name.
hipError_t wait_work(const char* call, const WorkRef&);
hipError_t wait_stream(const char* call, const StreamRef&);
hipError_t wait_device(const char* call, int device);
hipError_t wait_all(const char* call);
bool is_done(const WorkRef&);
bool is_idle(const StreamRef&);
bool all_idle();

hipError_t take_fault(int device);   // hipSuccess if none waits
hipError_t fault_of(int device);     // leaves it there

// Set while a thread runs a host function of a stream.
struct InHostFunction {
  InHostFunction();
  ~InHostFunction();
};

}  // namespace lathe::emu
