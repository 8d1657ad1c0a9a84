#include "launch/pool.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace lathe::emu {
namespace {

struct Job {
  const std::function<void(u32)>* body;
  u32 wanted;            // helpers beside the caller
  int priority;
  u32 started = 0, running = 0;
};

struct Pool {
  std::mutex mutex;
  std::condition_variable wake, done;
  std::vector<Job*> jobs;
  u32 threads = 0;

  Job* next() {
    Job* best = nullptr;
    for (Job* j : jobs)
      if (j->started < j->wanted && (!best || j->priority > best->priority)) best = j;
    return best;
  }
  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      Job* job = nullptr;
      wake.wait(lock, [&] { return (job = next()) != nullptr; });
      const u32 id = ++job->started;
      job->running++;
      lock.unlock();
      (*job->body)(id);
      lock.lock();
      if (--job->running == 0) done.notify_all();
    }
  }
};

}  // namespace

u32 pool_size() {
  static const u32 n = [] {
    if (const char* s = std::getenv("LATHE_EMULATOR_THREADS")) return u32(std::max(1, std::atoi(s)));
    return std::max(1u, std::thread::hardware_concurrency());
  }();
  return n;
}

void run_on_pool(u32 workers, const std::function<void(u32)>& body, int priority) {
  // Never joined: it may outlive main, like the allocations.
  static Pool* pool = new Pool;
  workers = std::min(workers, pool_size());
  if (workers <= 1) return body(0);
  Job job{&body, workers - 1, priority};
  {
    std::lock_guard lock(pool->mutex);
    while (pool->threads + 1 < workers) {
      std::thread([] { pool->work(); }).detach();
      pool->threads++;
    }
    pool->jobs.push_back(&job);
  }
  pool->wake.notify_all();
  body(0);
  std::unique_lock lock(pool->mutex);
  pool->jobs.erase(std::find(pool->jobs.begin(), pool->jobs.end(), &job));  // nobody joins any more
  pool->done.wait(lock, [&] { return job.running == 0; });
}

}  // namespace lathe::emu
