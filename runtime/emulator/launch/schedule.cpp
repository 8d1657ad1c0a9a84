#include "launch/schedule.h"

#include <chrono>
#include <cstdlib>
#include <deque>
#include <mutex>

#include <fmt/format.h>

#include "launch/counters.h"
#include "launch/pool.h"
#include "machine/fault.h"
#include "machine/grid_barrier.h"

namespace lathe::emu {
namespace {

using Clock = std::chrono::steady_clock;

u64 number_from_environment(const char* name, u64 otherwise) {
  const char* s = std::getenv(name);
  const u64 n = s ? std::strtoull(s, nullptr, 10) : 0;
  return n ? n : otherwise;
}

// Registers and LDS of groups that stand back, over all threads.
constexpr u64 resident_bytes = u64(1) << 30;

struct Grid {
  Grid(const LaunchState& s, u64 n, u32 threads, u64 resident) : launch(s), groups(n), threads(threads), resident_per_thread(resident) {}
  const LaunchState& launch;
  u64 groups;
  u32 threads;
  u64 resident_per_thread;
  std::atomic<u64> next{0};
  std::atomic<u64> events{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::optional<FaultReport> fault;

  void fail(FaultReport f) {
    stop = true;
    std::lock_guard lock(mutex);
    if (!fault) fault = std::move(f);
  }
};

void begin(Grid& grid, Worker& worker, u64 k) {
  const u64 g = ordered_group(grid.launch.order, k, grid.groups);
  const u32* n = grid.launch.grid;
  worker.begin(u32(g % n[0]), u32(g / n[0] % n[1]), u32(g / n[0] / n[1]), g);
}

// The body of one host thread.
void run_on_this_thread(Grid& grid) {
  std::deque<std::unique_ptr<Worker>> standing_back;
  std::vector<std::unique_ptr<Worker>> idle;
  const u64 patience = number_from_environment("LATHE_EMULATOR_PATIENCE", 60);
  u64 seen = ~u64(0);
  Clock::time_point since;
  const auto collect = [&](const Worker& w) { add_counters(grid.launch, w.counters()); };
  while (!grid.stop) {
    std::unique_ptr<Worker> worker;
    u64 k = grid.groups;
    if (standing_back.size() < grid.resident_per_thread) k = grid.next.fetch_add(1);
    if (k < grid.groups) {
      if (idle.empty()) idle.push_back(std::make_unique<Worker>(grid.launch));
      worker = std::move(idle.back());
      idle.pop_back();
      begin(grid, *worker, k);
      grid.events++;
    } else if (!standing_back.empty()) {
      worker = std::move(standing_back.front());
      standing_back.pop_front();
    } else {
      break;
    }
    if (worker->run()) {
      if (grid.launch.grid_barrier) grid.launch.grid_barrier->leave();
      grid.events++;
      idle.push_back(std::move(worker));
      continue;
    }
    const u64 now = grid.events;
    if (now != seen) {
      seen = now, since = Clock::now();
    } else if (Clock::now() - since > std::chrono::seconds(patience)) {
      const u64 begun = std::min<u64>(grid.next, grid.groups);
      worker->give_up(fmt::format("no progress for {} s (LATHE_EMULATOR_PATIENCE): all waves of the {} groups that run only poll memory; {} groups have not begun, {} at most can be resident",
                                  patience, standing_back.size() + 1, grid.groups - begun, grid.resident_per_thread * grid.threads));
    }
    standing_back.push_back(std::move(worker));
  }
  for (auto& w : idle) collect(*w);
  for (auto& w : standing_back) collect(*w);
}

}  // namespace

u64 instruction_limit() { return number_from_environment("LATHE_EMULATOR_LIMIT", u64(1) << 32); }

std::optional<FaultReport> run_groups(LaunchState& s) {
  const u64 groups = u64(s.grid[0]) * s.grid[1] * s.grid[2];
  const u32 threads = u32(std::min<u64>(groups, pool_size()));
  Grid grid(s, groups, threads, std::max<u64>(4, resident_bytes / threads / Worker::bytes_needed(s)));
  s.events = &grid.events;
  run_on_pool(threads, [&](u32) {
    try {
      run_on_this_thread(grid);
    } catch (const FaultReport& f) {
      grid.fail(f);
    } catch (const std::exception& e) {
      grid.fail(FaultReport{int(FaultKind::unsupported), fmt::format("lathe emulator: launch of {} failed: {}", s.kernel->name, e.what())});
    }
  }, s.priority);
  return std::move(grid.fault);
}

}  // namespace lathe::emu
