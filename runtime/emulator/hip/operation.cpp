#include "hip/operation.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "hip/event.h"
#include "hip/graph.h"
#include "launch/report.h"

namespace lathe::emu {
namespace {

using Of = Allocation::Kind;

// Bytes from the first to past the last; false if that does not fit into an address space.
bool span_of(const Planes& at, const Extent& e, u64& bytes) {
  u64 rows, planes;
  return !__builtin_mul_overflow(e.height - 1, at.pitch, &rows) && !__builtin_mul_overflow(e.depth - 1, at.slice, &planes) &&
         !__builtin_add_overflow(rows, planes, &bytes) && !__builtin_add_overflow(bytes, e.width, &bytes) && bytes <= ~u64(at.p);
}

// A range must not leave the allocation it starts in; a device's range must be in one.
hipError_t check_range(const char* call, const char* what, const Planes& at, const Extent& e, bool device) {
  u64 size;
  if (!at.p) return refuse(hipErrorInvalidValue, fmt::format("{}: the {} is a null pointer", call, what));
  if (!span_of(at, e, size)) return refuse(hipErrorInvalidValue, fmt::format("{}: {} bytes x {} rows x {} planes at the {} leave the address space", call, e.width, e.height, e.depth, what));
  const Allocation* a = memory().find(u64(at.p));
  std::string freed;
  if (!a && !device && !memory().was_freed(u64(at.p), &freed)) return hipSuccess;  // plain host memory
  if (a && size <= a->base + a->size - u64(at.p)) return hipSuccess;
  const u64 bad = a ? a->base + a->size : u64(at.p);
  return refuse(hipErrorInvalidValue, fmt::format("{} of {} bytes, {} at 0x{:x}: {}", call, size, what, u64(at.p), memory().describe(bad)));
}

template <class F>
bool each_row(const Extent& e, F f) {
  for (u64 z = 0; z < e.depth; z++)
    for (u64 y = 0; y < e.height; y++)
      if (!f(y, z)) return false;
  return true;
}
u8* row_of(const Planes& at, u64 y, u64 z) { return at.p + y * at.pitch + z * at.slice; }

// Rows that lie end to end are one row.
void flatten(Extent& e, Planes* a, Planes* b) {
  auto dense = [&](const Planes* p) { return !p || ((e.height == 1 || p->pitch == e.width) && (e.depth == 1 || p->slice == e.width * e.height)); };
  if (dense(a) && dense(b)) e = {e.width * e.height * e.depth, 1, 1};
}

bool overlap(const CopyOp& c) {
  u64 d = 0, s = 0;
  (void)span_of(c.dst, c.extent, d), (void)span_of(c.src, c.extent, s);
  if (c.dst.p == c.src.p || c.dst.p >= c.src.p + s || c.src.p >= c.dst.p + d) return false;
  // The boxes meet; the rows may lie between each other.
  std::vector<const u8*> rows;
  each_row(c.extent, [&](u64 y, u64 z) { return rows.push_back(row_of(c.src, y, z)), true; });
  std::sort(rows.begin(), rows.end());
  return !each_row(c.extent, [&](u64 y, u64 z) {
    const u8* row = row_of(c.dst, y, z);
    const auto next = std::upper_bound(rows.begin(), rows.end(), row);
    return !(next != rows.end() && *next < row + c.extent.width) && !(next != rows.begin() && row < *std::prev(next) + c.extent.width);
  });
}

hipError_t run(EmptyOp&, int) { return hipSuccess; }
hipError_t run(KernelOp& k, int) {
  const Memory::Use use;
  if (k.fail) {
    set_report(fmt::format("lathe emulator: launch of {} fails: LATHE_EMULATOR_FAIL asks for it", k.launch.kernel->name));
    return hipErrorLaunchFailure;
  }
  Launch launch = k.launch;          // run_launch completes the arguments
  switch (run_launch(launch)) {
    case LaunchResult::ok: return hipSuccess;
    case LaunchResult::illegal_address: return hipErrorIllegalAddress;
    case LaunchResult::failure: return hipErrorLaunchFailure;
  }
  return hipErrorUnknown;
}
hipError_t run(CopyOp& c, int) {
  const Memory::Use use;
  Extent e = c.extent;
  Planes src = c.src;
  if (c.staged) src = {c.staged->data(), e.width, e.width * e.height};
  // Something may have been freed since the call.
  if (hipError_t x = check_range(c.call, "destination", c.dst, e, false); x != hipSuccess) return x;
  if (!c.staged)
    if (hipError_t x = check_range(c.call, "source", c.src, e, false); x != hipSuccess) return x;
  flatten(e, &c.dst, &src);
  const bool ours = memory().find(u64(c.dst.p)) && (c.staged || memory().find(u64(c.src.p)));
  const bool whole = each_row(e, [&](u64 y, u64 z) {
    u8 *to = row_of(c.dst, y, z), *from = row_of(src, y, z);
    if (ours) std::memmove(to, from, e.width);
    else if (!read_client(to, from, e.width)) return false;
    memory().copy_defined(u64(to), u64(from), e.width);
    return true;
  });
  if (whole) return hipSuccess;
  set_report(fmt::format("lathe emulator: {} of {} bytes from 0x{:x} to 0x{:x}: host memory that is not there or may not be written", c.call, e.width, u64(src.p), u64(c.dst.p)));
  return hipErrorInvalidValue;
}
hipError_t run(FillOp& f, int) {
  const Memory::Use use;
  Extent e = f.extent;
  if (hipError_t x = check_range(f.call, "destination", f.dst, e, true); x != hipSuccess) return x;
  flatten(e, &f.dst, nullptr);
  each_row(e, [&](u64 y, u64 z) {
    u8* to = row_of(f.dst, y, z);
    if (f.element == 1) std::memset(to, int(f.value), e.width);
    else
      for (u64 k = 0; k < e.width; k += f.element) std::memcpy(to + k, &f.value, f.element);
    memory().mark_defined(u64(to), e.width);
    return true;
  });
  return hipSuccess;
}
hipError_t run(HostOp& h, int device) {
  const InHostFunction here;
  if (h.fn) h.fn(h.user);
  else h.callback(h.stream, fault_of(device), h.user);
  return hipSuccess;
}
hipError_t run(FreeOp& f, int) {
  if (memory().release(u64(f.p), Of::device)) return hipSuccess;
  set_report(fmt::format("lathe emulator: {}(0x{:x}): freed meanwhile: {}", f.call, u64(f.p), memory().describe(u64(f.p))));
  return hipErrorInvalidValue;
}

bool always_runs(const Operation& op) { return std::holds_alternative<HostOp>(op) || std::holds_alternative<FreeOp>(op); }
std::function<hipError_t()> runner(Operation op, int device) {
  if (std::holds_alternative<EmptyOp>(op)) return nullptr;
  return [op = std::move(op), device]() mutable {
    return std::visit([&](auto& x) -> hipError_t {
      if constexpr (requires { run(x, device); }) return run(x, device);
      else return hipErrorUnknown;   // events and graphs are orders of work, not work
    }, op);
  };
}

}  // namespace

hipError_t check_copy(const CopyOp& c) {
  if (unsigned(c.kind) > unsigned(hipMemcpyDefault)) return refuse(hipErrorInvalidMemcpyDirection, fmt::format("{}: {} is no direction of a copy", c.call, int(c.kind)));
  if (c.extent.empty()) return hipSuccess;
  const Memory::Use use;
  const bool to_device = c.kind == hipMemcpyHostToDevice || c.kind == hipMemcpyDeviceToDevice;
  const bool from_device = c.kind == hipMemcpyDeviceToHost || c.kind == hipMemcpyDeviceToDevice;
  for (const Planes* at : {&c.dst, &c.src}) {
    if (c.extent.height > 1 && at->pitch < c.extent.width) return refuse(hipErrorInvalidPitchValue, fmt::format("{}: rows of {} bytes do not fit a pitch of {}", c.call, c.extent.width, at->pitch));
    if (c.extent.depth > 1 && at->slice < at->pitch * (c.extent.height - 1) + c.extent.width) return refuse(hipErrorInvalidPitchValue, fmt::format("{}: {} rows of pitch {} do not fit a plane of {} bytes", c.call, c.extent.height, at->pitch, at->slice));
  }
  if (hipError_t e = check_range(c.call, "destination", c.dst, c.extent, to_device); e != hipSuccess) return e;
  if (hipError_t e = check_range(c.call, "source", c.src, c.extent, from_device); e != hipSuccess) return e;
  if (overlap(c)) return refuse(hipErrorInvalidValue, fmt::format("{}: source at 0x{:x} and destination at 0x{:x} overlap", c.call, u64(c.src.p), u64(c.dst.p)));
  return hipSuccess;
}
hipError_t check_fill(const FillOp& f) {
  if (f.extent.empty()) return hipSuccess;
  const Memory::Use use;
  if (f.extent.height > 1 && f.dst.pitch < f.extent.width) return refuse(hipErrorInvalidPitchValue, fmt::format("{}: rows of {} bytes do not fit a pitch of {}", f.call, f.extent.width, f.dst.pitch));
  if (u64(f.dst.p) % f.element) return refuse(hipErrorInvalidValue, fmt::format("{}: 0x{:x} is not aligned to {} bytes", f.call, u64(f.dst.p), f.element));
  return check_range(f.call, "destination", f.dst, f.extent, true);
}

bool read_client(void* to, const void* from, size_t size) {
  // The kernel looks whether the pages are there; a plain copy would end the process if not.
  while (size) {
    const iovec local{to, size}, remote{const_cast<void*>(from), size};
    const ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (n < 0 && (errno == EPERM || errno == ENOSYS)) {   // a sandbox that forbids it
      std::memmove(to, from, size);
      return true;
    }
    if (n <= 0) return false;
    to = static_cast<u8*>(to) + n, from = static_cast<const u8*>(from) + n, size -= size_t(n);
  }
  return true;
}

u64 readable_client(const void* from, u64 size) {
  // One byte of each page, many pages a call.
  constexpr u64 page = 4096, most = 1024;
  u8 bytes[most];
  for (u64 at = u64(from), end = at + size; at < end;) {
    iovec remote[most];
    u64 n = 0, next = at;
    for (; n < most && next < end; n++, next = (next / page + 1) * page) remote[n] = {reinterpret_cast<void*>(next), 1};
    const iovec local{bytes, n};
    const ssize_t got = process_vm_readv(getpid(), &local, 1, remote, n, 0);
    if (got < 0 && (errno == EPERM || errno == ENOSYS)) return size;
    if (got < ssize_t(n)) return got <= 0 ? at - u64(from) : u64(remote[got].iov_base) - u64(from);
    at = next;
  }
  return size;
}

WorkRef enqueue_operation(const StreamRef& stream, Operation op) {
  if (auto* k = std::get_if<KernelOp>(&op)) k->launch.priority = -stream->priority;
  if (auto* e = std::get_if<EventOp>(&op)) {
    const WorkRef work = e->wait ? enqueue(stream, nullptr, false, {recorded(*e->event)}) : enqueue(stream, nullptr);
    if (!e->wait) set_recorded(*e->event, work);
    return work;
  }
  if (auto* g = std::get_if<GraphOp>(&op)) return enqueue_graph(*g->graph, stream);
  const bool always = always_runs(op);
  return enqueue(stream, runner(std::move(op), stream->device), always);
}

hipError_t submit(const char* call, const StreamRef& stream, Operation op, bool wait) {
  bool captured = false;
  if (const hipError_t e = capture(call, stream, op, wait, captured); e != hipSuccess || captured) return e;
  if (auto* c = std::get_if<CopyOp>(&op); c && !wait) {
    // Pageable memory: a copy from it has taken the bytes when the call returns, a copy to it has ended.
    const bool to_client = !memory().find(u64(c->dst.p)), from_client = !memory().find(u64(c->src.p));
    if (to_client) {
      wait = true;
    } else if (from_client) {
      auto rows = std::make_shared<std::vector<u8>>(c->extent.width * c->extent.height * c->extent.depth);
      u8* to = rows->data();
      if (!each_row(c->extent, [&](u64 y, u64 z) {
            const bool ok = read_client(to, row_of(c->src, y, z), c->extent.width);
            to += c->extent.width;
            return ok;
          }))
        return refuse(hipErrorInvalidValue, fmt::format("{} of {} bytes from 0x{:x}: host memory that is not there", call, rows->size(), u64(c->src.p)));
      c->staged = std::move(rows);
    }
  }
  if (!wait) {
    (void)enqueue_operation(stream, std::move(op));
    return hipSuccess;
  }
  const bool always = always_runs(op);
  return done(run_and_wait(call, stream, runner(std::move(op), stream->device), always));
}

}  // namespace lathe::emu
