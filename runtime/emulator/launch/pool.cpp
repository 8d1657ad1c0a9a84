#include "launch/pool.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace lathe::emu {
namespace {

struct Pool {
  std::mutex mutex;
  std::condition_variable wake, done;
  const std::function<void(u32)>* body = nullptr;
  u32 wanted = 0, started = 0, running = 0;
  u64 generation = 0;
  std::vector<std::thread> threads;

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return body && started < wanted; });
      const u32 id = ++started;
      const auto* mine = body;
      running++;
      lock.unlock();
      (*mine)(id);
      lock.lock();
      running--;
      done.notify_all();
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

void run_on_pool(u32 workers, const std::function<void(u32)>& body) {
  // Never joined: it may outlive main, like the allocations.
  static Pool* pool = new Pool;
  static std::mutex one_launch;
  std::lock_guard serial(one_launch);
  workers = std::min(workers, pool_size());
  if (workers > 1) {
    std::lock_guard lock(pool->mutex);
    while (pool->threads.size() + 1 < workers) {
      pool->threads.emplace_back([] { pool->work(); });
      pool->threads.back().detach();
    }
    pool->body = &body;
    pool->wanted = workers - 1, pool->started = 0;
    pool->wake.notify_all();
  }
  body(0);
  if (workers > 1) {
    std::unique_lock lock(pool->mutex);
    pool->wanted = pool->started;  // those that did not wake in time are not needed any more
    pool->done.wait(lock, [&] { return pool->running == 0; });
    pool->body = nullptr;
  }
}

}  // namespace lathe::emu
