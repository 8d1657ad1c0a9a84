#include "launch/dispatch.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "launch/counters.h"
#include "launch/report.h"
#include "launch/schedule.h"
#include "machine/fault.h"
#include "machine/grid_barrier.h"
#include "machine/races.h"

namespace lathe::emu {
namespace {

// Hidden arguments by their metadata kind (AMDGPUUsage, code object v4 and v5 metadata).
void fill_hidden(std::vector<u8>& bytes, const Launch& l, u64 queue) {
  auto put = [&](const KernelArg& a, u64 value) {
    std::memcpy(bytes.data() + a.offset, &value, std::min<u32>(a.size, 8));
  };
  const u32 dims = l.grid[2] * l.block[2] > 1 ? 3 : l.grid[1] * l.block[1] > 1 ? 2 : 1;
  for (const KernelArg& a : l.kernel->args) {
    const std::string& k = a.value_kind;
    if (k.compare(0, 7, "hidden_") != 0) continue;
    const char axis = k.back();
    const u32 d = axis == 'x' ? 0 : axis == 'y' ? 1 : 2;
    if (k.compare(0, 19, "hidden_block_count_") == 0) put(a, l.grid[d]);
    else if (k.compare(0, 18, "hidden_group_size_") == 0) put(a, l.block[d]);
    else if (k.compare(0, 17, "hidden_remainder_") == 0) put(a, 0);
    else if (k == "hidden_grid_dims") put(a, dims);
    else if (k == "hidden_dynamic_lds_size") put(a, l.dynamic_lds);
    else if (k == "hidden_private_base") put(a, 0x00020000);
    else if (k == "hidden_shared_base") put(a, 0x00010000);
    else if (k == "hidden_queue_ptr") put(a, queue);
    else put(a, 0);  // global offsets are zero; printf, hostcall, heap and the like are not there
  }
}

// The AQL packet that some kernels read their sizes from (HSA runtime specification, kernel dispatch packet).
struct Packet { u16 header, setup, block[3], reserved0; u32 grid[3], private_bytes, group_bytes; u64 kernel, kernarg, reserved2, signal; };
static_assert(sizeof(Packet) == 64);

struct Temporary {
  Allocation* a;
  explicit Temporary(u64 size, const char* name, bool track = false) : a(memory().allocate(size, Allocation::Kind::kernarg, name, track)) {}
  ~Temporary() { memory().release(a->base, Allocation::Kind::kernarg); }
};

}  // namespace

bool strict_mode() {
  const char* s = std::getenv("LATHE_EMULATOR");
  return !(s && std::strcmp(s, "fast") == 0);
}

// LATHE_EMULATOR_BARRIER=isa: waves that have ended count as arrived, as on silicon (see machine/barrier.cpp).
static bool ended_waves_count() {
  const char* s = std::getenv("LATHE_EMULATOR_BARRIER");
  return s && std::strcmp(s, "isa") == 0;
}

bool check_launch(const Launch& l) {
  const Kernel& k = *l.kernel;
  const Isa& isa = *k.object->isa;
  auto refuse = [&](std::string what) {
    set_report(fmt::format("lathe emulator: launch of {} on {} refused: {}", k.name, target_id(isa), what));
    return false;
  };
  u64 items = 1;
  for (u32 d = 0; d < 3; d++) {
    if (l.grid[d] == 0 || l.block[d] == 0) return refuse(fmt::format("grid {}x{}x{} of blocks {}x{}x{} has an extent of zero", l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2]));
    if (l.block[d] > 1024) return refuse(fmt::format("block extent {} is above 1024", l.block[d]));
    if (d > 0 && l.grid[d] > 65535) return refuse(fmt::format("grid extent {} in dimension {} is above 65535", l.grid[d], "xyz"[d]));
    items *= l.block[d];
  }
  if (items > 1024) return refuse(fmt::format("a block of {} work-items is above the device's 1024", items));
  if (items > k.max_flat_workgroup_size) return refuse(fmt::format("a block of {} work-items is above the {} that the kernel was compiled for (amdgpu-flat-work-group-size)", items, k.max_flat_workgroup_size));
  if (u64(l.grid[0]) * l.block[0] > 0xffffffffu) return refuse("more than 2^32 work-items in x");
  for (u32 d = 0; d < 3; d++)
    if (k.reqd_size[d] && k.reqd_size[d] != l.block[d]) return refuse(fmt::format("block extent {} in dimension {}, the kernel requires {}", l.block[d], "xyz"[d], k.reqd_size[d]));
  const u64 lds = u64(k.lds_bytes) + l.dynamic_lds;
  if (lds > isa.lds_bytes) return refuse(fmt::format("{} bytes of LDS ({} static, {} dynamic), the device has {}", lds, k.lds_bytes, l.dynamic_lds, isa.lds_bytes));
  return true;
}

LaunchResult run_launch(Launch& l) {
  Kernel& k = *l.kernel;
  LaunchState s;
  s.kernel = &k;
  s.strict = l.strict;
  s.count_memory = counting_memory();
  s.priority = l.priority;
  s.order = wanted_order(s.strict);
  s.instruction_limit = instruction_limit();
  s.ended_count = !s.strict || ended_waves_count();
  for (u32 d = 0; d < 3; d++) s.grid[d] = l.grid[d], s.block[d] = l.block[d];
  s.lds_bytes = k.lds_bytes + l.dynamic_lds;
  // A dynamic stack gets what HIP's runtime gives by default.
  s.private_bytes = (k.private_bytes + 3 + (k.dynamic_stack ? 16384 : 0)) & ~3u;
  static std::atomic<u64> dispatches{0};
  s.dispatch_id = ++dispatches;
  s.launch_tag = u32(1 + s.dispatch_id % 1023);
  if (s.launch_tag == 1) memory().forget_touches();  // the tags begin anew

  std::optional<FaultReport> fault;
  try {
    // Kernel arguments stand in blocks of 64 bytes: compilers widen loads up to there. What is past the
    // arguments is undefined.
    Temporary kernarg((u64(k.kernarg_bytes) + 64) & ~u64(63), "kernel arguments", s.strict), packet(sizeof(Packet), "dispatch packet"), queue(256, "queue");
    l.kernarg.resize(k.kernarg_bytes);
    fill_hidden(l.kernarg, l, queue.a->base);
    if (!l.kernarg.empty()) std::memcpy(reinterpret_cast<void*>(kernarg.a->base), l.kernarg.data(), l.kernarg.size());
    memory().mark_defined(kernarg.a->base, l.kernarg.size());
    Packet p = {};
    p.setup = 3;
    for (u32 d = 0; d < 3; d++) p.block[d] = u16(l.block[d]), p.grid[d] = l.grid[d] * l.block[d];
    p.private_bytes = s.private_bytes, p.group_bytes = s.lds_bytes, p.kernarg = kernarg.a->base;
    std::memcpy(reinterpret_cast<void*>(packet.a->base), &p, sizeof p);
    u32 apertures[2] = {0x00010000, 0x00020000};
    std::memcpy(reinterpret_cast<void*>(queue.a->base + 64), apertures, sizeof apertures);
    s.kernarg = kernarg.a->base, s.dispatch_packet = packet.a->base, s.queue = queue.a->base;
    s.program = &k.program(s.strict);
    ReleaseLog log;
    if (s.strict) {
      s.program->prepare(k.entry);
      if (s.program->acquires) s.log = &log;
    }

    count_launch(s);
    GridBarrier barrier{s.grid[0] * s.grid[1] * s.grid[2]};
    if (l.cooperative) s.grid_barrier = &barrier;
    fault = run_groups(s);
  } catch (const std::exception& e) {
    fault = FaultReport{int(FaultKind::unsupported), fmt::format("lathe emulator: launch of {} failed: {}", k.name, e.what())};
  }
  if (!fault) return LaunchResult::ok;
  set_report(fault->text);
  const auto kind = FaultKind(fault->kind);
  return kind == FaultKind::illegal_address || kind == FaultKind::freed_memory ? LaunchResult::illegal_address : LaunchResult::failure;
}

}  // namespace lathe::emu
