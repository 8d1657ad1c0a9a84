#include "hip/queue.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

namespace lathe::emu {
namespace {

struct DeviceQueue {
  StreamRef null;
  std::vector<StreamRef> streams;    // made ones, until closed and empty
  u64 epoch = 1, failed = 0;         // work of epoch <= failed does not run
  hipError_t fault = hipSuccess;
};

// One lock for all queues: pieces of work are coarse, orders between streams then need no further thought.
struct Scheduler {
  std::mutex mutex;
  std::condition_variable finished;
  DeviceQueue devices[Devices::most];
  Handles<ihipStream_t> handles;
};
Scheduler& scheduler() {
  static auto* s = new Scheduler;    // outlives static destructors of the client
  return *s;
}

thread_local int host_functions = 0;

// ---- with the lock held ----

StreamRef& null_of(Scheduler& s, int device) {
  StreamRef& null = s.devices[device].null;
  if (!null) {
    null = std::make_shared<ihipStream_t>();
    null->device = device;
    null->null = true;
  }
  return null;
}

void block(Work& w, const WorkRef& by) {
  if (!by || by->done || by.get() == &w) return;
  by->followers.push_back(&w);
  w.blockers++;
}

// A closed stream without work leaves its device; the caller drops what is returned last.
StreamRef retire_if_closed(Scheduler& s, ihipStream_t& stream) {
  if (!stream.closing || !stream.queue.empty()) return nullptr;
  stream.wake.notify_all();          // its thread ends
  auto& all = s.devices[stream.device].streams;
  const auto it = std::find_if(all.begin(), all.end(), [&](const StreamRef& r) { return r.get() == &stream; });
  if (it == all.end()) return nullptr;
  StreamRef gone = std::move(*it);
  all.erase(it);
  return gone;
}

// Takes every point at the heads of the stream, and of those that waited for them, that nothing blocks; wakes
// who runs the rest.
void advance(Scheduler& s, ihipStream_t* first) {
  std::vector<ihipStream_t*> todo{first};
  std::vector<StreamRef> gone;
  bool any = false;
  while (!todo.empty()) {
    ihipStream_t& stream = *todo.back();
    todo.pop_back();
    while (!stream.queue.empty() && !stream.running && stream.queue.front()->blockers == 0) {
      Work& head = *stream.queue.front();
      if (head.run) {
        stream.wake.notify_all();
        break;
      }
      const WorkRef keep = stream.queue.front();
      stream.queue.pop_front();
      keep->done = true;
      keep->finished = std::chrono::steady_clock::now();
      any = true;
      for (Work* f : keep->followers)
        if (--f->blockers == 0) todo.push_back(f->stream);
      keep->followers.clear();
      keep->stream = nullptr;
    }
    if (StreamRef g = retire_if_closed(s, stream)) gone.push_back(std::move(g));
  }
  if (any) s.finished.notify_all();
}

// Runs the head of the stream; the lock is released meanwhile.
void run_head(Scheduler& s, std::unique_lock<std::mutex>& lock, ihipStream_t& stream) {
  const WorkRef work = stream.queue.front();
  DeviceQueue& device = s.devices[stream.device];
  stream.running = true;
  if (work->always || work->epoch > device.failed) {
    lock.unlock();
    try {
      work->result = work->run();
    } catch (const std::bad_alloc&) {
      work->result = hipErrorOutOfMemory;
    } catch (...) {
      work->result = hipErrorUnknown;
    }
    work->run = nullptr;             // what it keeps alive goes without the lock
    lock.lock();
    if (work->result != hipSuccess && !work->on_caller) {
      if (device.fault == hipSuccess) device.fault = work->result;
      device.failed = device.epoch;
    }
  } else {
    work->run = nullptr;
  }
  stream.running = false;
  advance(s, &stream);
}

bool head_ready(const ihipStream_t& stream) {
  return !stream.queue.empty() && !stream.running && stream.queue.front()->blockers == 0 && stream.queue.front()->run;
}

void work_for(StreamRef stream) {
  current_device() = stream->device;   // for what host functions ask
  Scheduler& s = scheduler();
  std::unique_lock lock(s.mutex);
  while (true) {
    stream->wake.wait(lock, [&] { return (head_ready(*stream) && !stream->queue.front()->on_caller) || (stream->closing && stream->queue.empty()); });
    if (stream->queue.empty()) return;
    run_head(s, lock, *stream);
  }
}

WorkRef submit(Scheduler& s, const StreamRef& owner, std::function<hipError_t()> run, bool always, bool on_caller, const std::vector<WorkRef>& after) {
  ihipStream_t& stream = *owner;
  auto work = std::make_shared<Work>();
  work->run = std::move(run);
  work->always = always, work->on_caller = on_caller;
  work->stream = &stream;
  DeviceQueue& device = s.devices[stream.device];
  work->epoch = device.epoch;
  if (work->run && !on_caller && !stream.has_thread) {
    std::thread(work_for, owner).detach();
    stream.has_thread = true;
  }
  if (stream.null) {
    for (const StreamRef& other : device.streams)
      if (other->blocking()) block(*work, other->last);
  } else if (stream.blocking() && device.null) {
    block(*work, device.null->last);
  }
  for (const WorkRef& w : after) block(*work, w);
  stream.queue.push_back(work);
  stream.last = work;
  advance(s, &stream);
  return work;
}

hipError_t take_fault_locked(DeviceQueue& d) {
  const hipError_t e = d.fault;
  d.fault = hipSuccess;
  if (e != hipSuccess) d.epoch++;
  return e;
}

hipError_t may_wait(const char* call) {
  if (host_functions == 0) return hipSuccess;
  return refuse(hipErrorNotSupported, fmt::format("{} waits inside a host function of a stream, which holds that stream up", call));
}

// ---- per-thread default streams ----

struct PerThread {
  std::map<int, StreamRef> streams;
  static void close(const StreamRef& stream) {
    Scheduler& s = scheduler();
    std::lock_guard lock(s.mutex);
    stream->closing = true;
    (void)retire_if_closed(s, *stream);
  }
};
thread_local PerThread* per_thread = nullptr;
struct PerThreadEnd {
  ~PerThreadEnd() {
    if (per_thread)
      for (auto& [device, stream] : per_thread->streams) PerThread::close(stream);
    delete per_thread;
    per_thread = nullptr;            // a later destructor of this thread makes a new one, which stays
  }
};
StreamRef thread_stream(int device) {
  static thread_local PerThreadEnd end;
  (void)end;
  if (!per_thread) per_thread = new PerThread;
  StreamRef& stream = per_thread->streams[device];
  if (!stream) stream = make_stream(device, 0, 0);
  return stream;
}

}  // namespace

StreamRef make_stream(int device, unsigned flags, int priority) {
  auto stream = std::make_shared<ihipStream_t>();
  stream->device = device, stream->flags = flags;
  stream->priority = std::clamp(priority, greatest_priority, least_priority);
  Scheduler& s = scheduler();
  std::lock_guard lock(s.mutex);
  s.devices[device].streams.push_back(stream);
  return stream;
}
StreamRef null_stream(int device) {
  Scheduler& s = scheduler();
  std::lock_guard lock(s.mutex);
  return null_of(s, device);
}
StreamRef find_stream(hipStream_t handle) {
  if (devices().empty()) return nullptr;
  if (!handle || handle == hipStreamLegacy) return null_stream(current_device());
  if (handle == hipStreamPerThread) return thread_stream(current_device());
  return scheduler().handles.find(handle);
}
StreamRef find_stream_spt(hipStream_t handle) { return find_stream(handle ? handle : hipStreamPerThread); }
hipStream_t open_stream(const StreamRef& stream) { return scheduler().handles.add(stream); }
bool close_stream(hipStream_t handle) {
  Scheduler& s = scheduler();
  const StreamRef stream = s.handles.remove(handle);
  if (!stream) return false;
  std::lock_guard lock(s.mutex);
  stream->closing = true;
  (void)retire_if_closed(s, *stream);
  return true;
}

WorkRef enqueue(const StreamRef& stream, std::function<hipError_t()> run, bool always, const std::vector<WorkRef>& after) {
  Scheduler& s = scheduler();
  std::lock_guard lock(s.mutex);
  return submit(s, stream, std::move(run), always, false, after);
}
hipError_t run_and_wait(const char* call, const StreamRef& stream, std::function<hipError_t()> run, bool always) {
  if (const hipError_t e = may_wait(call); e != hipSuccess) return e;
  Scheduler& s = scheduler();
  std::unique_lock lock(s.mutex);
  const WorkRef work = submit(s, stream, std::move(run), always, true, {});
  stream->wake.wait(lock, [&] { return work->done || (head_ready(*stream) && stream->queue.front() == work); });
  if (!work->done) run_head(s, lock, *stream);
  const hipError_t fault = take_fault_locked(s.devices[stream->device]);
  return work->result != hipSuccess ? work->result : fault;
}

hipError_t wait_work(const char* call, const WorkRef& work) {
  if (!work) return hipSuccess;
  Scheduler& s = scheduler();
  std::unique_lock lock(s.mutex);
  if (work->done) return hipSuccess;
  if (const hipError_t e = may_wait(call); e != hipSuccess) return e;
  s.finished.wait(lock, [&] { return work->done; });
  return hipSuccess;
}
hipError_t wait_stream(const char* call, const StreamRef& stream) {
  // The null stream's turn comes when the blocking streams' work is done: a point in it waits for those.
  if (stream->null) return wait_work(call, enqueue(stream, nullptr));
  WorkRef last;
  {
    std::lock_guard lock(scheduler().mutex);
    last = stream->last;
  }
  return wait_work(call, last);
}
hipError_t wait_device(const char* call, int device) {
  std::vector<WorkRef> all;
  {
    Scheduler& s = scheduler();
    std::lock_guard lock(s.mutex);
    const DeviceQueue& d = s.devices[device];
    if (d.null) all.push_back(d.null->last);
    for (const StreamRef& stream : d.streams) all.push_back(stream->last);
  }
  for (const WorkRef& w : all)
    if (const hipError_t e = wait_work(call, w); e != hipSuccess) return e;
  return hipSuccess;
}
hipError_t wait_all(const char* call) {
  for (size_t d = 0; d < devices().size(); d++)
    if (const hipError_t e = wait_device(call, int(d)); e != hipSuccess) return e;
  return hipSuccess;
}
bool is_done(const WorkRef& work) {
  std::lock_guard lock(scheduler().mutex);
  return !work || work->done;
}
bool is_idle(const StreamRef& stream) {
  Scheduler& s = scheduler();
  std::lock_guard lock(s.mutex);
  if (!stream->queue.empty()) return false;
  if (stream->null)
    for (const StreamRef& other : s.devices[stream->device].streams)
      if (other->blocking() && !other->queue.empty()) return false;
  return true;
}

bool all_idle() {
  Scheduler& s = scheduler();
  std::lock_guard lock(s.mutex);
  for (const DeviceQueue& d : s.devices) {
    if (d.null && !d.null->queue.empty()) return false;
    for (const StreamRef& stream : d.streams)
      if (!stream->queue.empty()) return false;
  }
  return true;
}
bool known_stream(hipStream_t s) { return find_stream(s) != nullptr; }
int stream_device(hipStream_t s) {
  const StreamRef stream = find_stream(s);
  return stream ? stream->device : current_device();
}

hipError_t take_fault(int device) {
  Scheduler& s = scheduler();
  std::lock_guard lock(s.mutex);
  return take_fault_locked(s.devices[device]);
}
hipError_t fault_of(int device) {
  Scheduler& s = scheduler();
  std::lock_guard lock(s.mutex);
  return s.devices[device].fault;
}

InHostFunction::InHostFunction() { host_functions++; }
InHostFunction::~InHostFunction() { host_functions--; }

}  // namespace lathe::emu
