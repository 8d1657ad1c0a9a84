// What a stream or a graph can do, as data: kept, copied, changed and run again.
#pragma once

#include <variant>

#include "hip/queue.h"

struct ihipGraph;  // hip/graph.h

namespace lathe::emu {

// Rows of bytes: `pitch` from row to row, `slice` from plane to plane.
struct Planes {
  u8* p = nullptr;
  u64 pitch = 0, slice = 0;
};
struct Extent {
  u64 width = 0, height = 1, depth = 1;   // bytes, rows, planes
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

struct KernelOp {
  Launch launch;
  hipFunction_t function = nullptr;  // its module may be unloaded before a graph comes to it
  bool fail = false;                 // fault injection
};
struct CopyOp {
  const char* call;
  Planes dst, src;
  Extent extent;
  hipMemcpyKind kind;
  std::shared_ptr<std::vector<u8>> staged;   // the rows of a pageable source, taken at the call
};
struct FillOp {
  const char* call;
  Planes dst;
  Extent extent;
  u32 value, element;                // element: 1, 2 or 4 bytes
};
struct HostOp {
  hipHostFn_t fn = nullptr;
  hipStreamCallback_t callback = nullptr;    // the older form, told the stream and its error
  void* user = nullptr;
  hipStream_t stream = nullptr;
};
struct FreeOp {
  const char* call;
  void* p;
};
struct EmptyOp {};
struct EventOp {
  std::shared_ptr<ihipEvent_t> event;
  bool wait;
};
struct GraphOp { std::shared_ptr<ihipGraph> graph; };

using Operation = std::variant<EmptyOp, KernelOp, CopyOp, FillOp, HostOp, FreeOp, EventOp, GraphOp>;

// Refuses what cannot be right, with a report that names the call.
hipError_t check_copy(const CopyOp&);
hipError_t check_fill(const FillOp&);

// Puts it at the stream's end, or into the graph that the stream is captured to. `wait`: returns when it is done,
// and tells a fault that waited.
hipError_t submit(const char* call, const StreamRef&, Operation, bool wait);
// The stream's next work, never captured: what submit and a graph's launch do.
WorkRef enqueue_operation(const StreamRef&, Operation);

// Memory of the client that no allocation covers: it may not be there at all. False if it is not.
bool read_client(void* to, const void* from, size_t size);
// How many bytes from there on can be read, up to `size`.
u64 readable_client(const void* from, u64 size);

}  // namespace lathe::emu
