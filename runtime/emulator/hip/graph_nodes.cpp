// The kinds of graph nodes: adding one, reading its parameters, setting them in a graph or in an instance of it.
#include <algorithm>

#include <fmt/format.h>

#include "hip/copy.h"
#include "hip/graph.h"
#include "hip/kernel_launch.h"

using namespace lathe::emu;

namespace {

// ---- parameters into operations ----

hipError_t kernel_of(const char* call, const hipKernelNodeParams* p, KernelOp& op) {
  if (!p || !p->func) return done(hipErrorInvalidValue);
  FunctionRef f;
  if (const hipError_t e = find_function(p->func, current_device(), f); e != hipSuccess) return e;
  const Config c{{p->gridDim.x, p->gridDim.y, p->gridDim.z}, {p->blockDim.x, p->blockDim.y, p->blockDim.z}, p->sharedMemBytes};
  return make_kernel(call, f.get(), c, p->kernelParams, p->extra, op);
}
hipError_t copy_of(const char* call, Planes dst, Planes src, Extent extent, hipMemcpyKind kind, Operation& op) {
  CopyOp c{call, dst, src, extent, kind, nullptr};
  if (const hipError_t e = check_copy(c); e != hipSuccess) return e;
  op = c;
  return hipSuccess;
}
hipError_t copy_of(const char* call, const hipMemcpy3DParms* p, Operation& op) {
  if (!p) return done(hipErrorInvalidValue);
  Planes dst, src;
  Extent extent;
  if (const hipError_t e = planes_of(call, *p, dst, src, extent); e != hipSuccess) return e;
  return copy_of(call, dst, src, extent, p->kind, op);
}
hipError_t copy_of(const char* call, void* dst, const void* src, size_t size, hipMemcpyKind kind, Operation& op) {
  return copy_of(call, Planes{static_cast<u8*>(dst)}, Planes{static_cast<u8*>(const_cast<void*>(src))}, Extent{size}, kind, op);
}
hipError_t symbol_place(const char* call, const void* symbol, size_t size, size_t offset, void*& at) {
  u64 address, whole;
  if (const hipError_t e = registered_variable(symbol, current_device(), &address, &whole); e != hipSuccess) return done(e);
  if (offset > whole || size > whole - offset) return refuse(hipErrorInvalidValue, fmt::format("{} of {} bytes at offset {}: the variable has {} bytes", call, size, offset, whole));
  at = reinterpret_cast<void*>(address + offset);
  return hipSuccess;
}
hipError_t fill_of(const char* call, const hipMemsetParams* p, Operation& op) {
  if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) || !p->width || !p->height) return done(hipErrorInvalidValue);
  u64 bytes;
  if (__builtin_mul_overflow(p->width, p->elementSize, &bytes)) return done(hipErrorInvalidValue);
  FillOp f{call, {static_cast<u8*>(p->dst), p->pitch}, {bytes, p->height, 1}, p->value, p->elementSize};
  if (const hipError_t e = check_fill(f); e != hipSuccess) return e;
  op = f;
  return hipSuccess;
}
hipError_t host_of(const hipHostNodeParams* p, Operation& op) {
  if (!p || !p->fn) return done(hipErrorInvalidValue);
  HostOp h;
  h.fn = p->fn, h.user = p->userData;
  op = h;
  return hipSuccess;
}

// ---- nodes ----

hipError_t add(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* after, size_t count, hipGraphNodeType type, Operation op) {
  if (!out || (count && !after)) return done(hipErrorInvalidValue);
  *out = nullptr;
  std::lock_guard lock(graph_mutex());
  const GraphRef g = graphs().find(graph);
  if (!g) return done(hipErrorInvalidValue);
  std::vector<hipGraphNode*> list(after, after + count);
  for (const hipGraphNode* a : list)
    if (std::none_of(g->nodes.begin(), g->nodes.end(), [&](const auto& n) { return n.get() == a; }) || std::count(list.begin(), list.end(), a) > 1) return done(hipErrorInvalidValue);
  *out = g->add(std::move(list), type, std::move(op));
  return hipSuccess;
}
// The node itself, or its copy in an instance; nullptr if it is none of that kind.
template <class Op>
hipGraphNode* node_of(hipGraphNode_t node, bool in_exec = false, hipGraphExec_t exec = nullptr) {
  hipGraphNode* n = in_exec ? exec_node(exec, node) : known_node(node) ? node : nullptr;
  return n && std::holds_alternative<Op>(n->op) ? n : nullptr;
}

hipError_t set_kernel(const char* call, hipGraphNode* n, const hipKernelNodeParams* p) {
  if (!n) return done(hipErrorInvalidValue);
  KernelOp op;
  if (const hipError_t e = kernel_of(call, p, op); e != hipSuccess) return e;
  op.launch.cooperative = std::get<KernelOp>(n->op).launch.cooperative;
  n->op = std::move(op);
  n->kernel = *p;
  return hipSuccess;
}
// What a node that no call gave its parameters in this form has.
void describe_kernel(hipGraphNode& n) {
  KernelOp& op = std::get<KernelOp>(n.op);
  hipKernelNodeParams& p = n.kernel;
  const Launch& l = op.launch;
  p.gridDim = dim3(l.grid[0], l.grid[1], l.grid[2]), p.blockDim = dim3(l.block[0], l.block[1], l.block[2]);
  p.sharedMemBytes = l.dynamic_lds;
  if (!p.func) p.func = op.function;
  n.kernel_arguments.clear();
  for (const KernelArg& a : l.kernel->args)
    if (a.value_kind.compare(0, 7, "hidden_") != 0) n.kernel_arguments.push_back(op.launch.kernarg.data() + a.offset);
  n.kernel_arguments.push_back(nullptr);
  p.kernelParams = n.kernel_arguments.data(), p.extra = nullptr;
}
void describe_copy(hipGraphNode& n) {
  const CopyOp& c = std::get<CopyOp>(n.op);
  n.copy = {};
  n.copy.dstPtr = make_hipPitchedPtr(c.dst.p, c.dst.pitch ? c.dst.pitch : c.extent.width, c.extent.width, c.dst.pitch ? c.dst.slice / c.dst.pitch : c.extent.height);
  n.copy.srcPtr = make_hipPitchedPtr(c.src.p, c.src.pitch ? c.src.pitch : c.extent.width, c.extent.width, c.src.pitch ? c.src.slice / c.src.pitch : c.extent.height);
  n.copy.extent = make_hipExtent(c.extent.width, c.extent.height, c.extent.depth);
  n.copy.kind = c.kind;
}
hipError_t set_operation(hipGraphNode* n, const Operation& op) {
  if (!n) return done(hipErrorInvalidValue);
  n->op = op;
  return hipSuccess;
}
template <class Op, class Make>
hipError_t set(hipGraphNode_t node, bool in_exec, hipGraphExec_t exec, Make make) {
  std::lock_guard lock(graph_mutex());
  hipGraphNode* n = node_of<Op>(node, in_exec, exec);
  if (!n) return done(hipErrorInvalidValue);
  Operation op;
  const hipError_t e = make(op);
  return e == hipSuccess ? set_operation(n, op) : e;
}

hipError_t set_event(hipGraphNode_t node, bool wait, hipEvent_t handle, bool in_exec, hipGraphExec_t exec) {
  const EventRef event = find_event(handle);
  std::lock_guard lock(graph_mutex());
  hipGraphNode* n = node_of<EventOp>(node, in_exec, exec);
  if (!event || !n || std::get<EventOp>(n->op).wait != wait) return done(hipErrorInvalidValue);
  return set_operation(n, EventOp{event, wait});
}
hipError_t get_event(hipGraphNode_t node, bool wait, hipEvent_t* out) {
  std::lock_guard lock(graph_mutex());
  hipGraphNode* n = node_of<EventOp>(node);
  if (!out || !n || std::get<EventOp>(n->op).wait != wait) return done(hipErrorInvalidValue);
  *out = std::get<EventOp>(n->op).event.get();
  return hipSuccess;
}
hipError_t add_event(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, hipEvent_t handle, bool wait) {
  const EventRef event = find_event(handle);
  if (!event) return done(hipErrorInvalidValue);
  return add(out, g, after, n, wait ? hipGraphNodeTypeWaitEvent : hipGraphNodeTypeEventRecord, EventOp{event, wait});
}

}  // namespace

// ---- kernels ----

LATHE_HIP hipError_t hipGraphAddKernelNode(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, const hipKernelNodeParams* p) {
  HIP_TRY
  KernelOp op;
  if (const hipError_t e = kernel_of("hipGraphAddKernelNode", p, op); e != hipSuccess) return e;
  const hipError_t e = add(out, g, after, n, hipGraphNodeTypeKernel, std::move(op));
  if (e == hipSuccess) (*out)->kernel.func = p->func;
  return e;
  HIP_END
}
LATHE_HIP hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* p) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  hipGraphNode* n = node_of<KernelOp>(node);
  if (!p || !n) return done(hipErrorInvalidValue);
  describe_kernel(*n);
  *p = n->kernel;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* p) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  return set_kernel("hipGraphKernelNodeSetParams", node_of<KernelOp>(node), p);
  HIP_END
}
LATHE_HIP hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams* p) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  return set_kernel("hipGraphExecKernelNodeSetParams", node_of<KernelOp>(node, true, exec), p);
  HIP_END
}
LATHE_HIP hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute, const hipKernelNodeAttrValue* value) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  hipGraphNode* n = node_of<KernelOp>(node);
  if (!n || !value) return done(hipErrorInvalidValue);
  switch (attribute) {
    case hipKernelNodeAttributeAccessPolicyWindow: n->window = value->accessPolicyWindow; return hipSuccess;  // a hint to caches
    case hipKernelNodeAttributeCooperative: std::get<KernelOp>(n->op).launch.cooperative = value->cooperative != 0; return hipSuccess;
    default: return done(hipErrorInvalidValue);
  }
  HIP_END
}
LATHE_HIP hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute, hipKernelNodeAttrValue* value) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  const hipGraphNode* n = node_of<KernelOp>(node);
  if (!n || !value) return done(hipErrorInvalidValue);
  switch (attribute) {
    case hipKernelNodeAttributeAccessPolicyWindow: value->accessPolicyWindow = n->window; return hipSuccess;
    case hipKernelNodeAttributeCooperative: value->cooperative = std::get<KernelOp>(n->op).launch.cooperative; return hipSuccess;
    default: return done(hipErrorInvalidValue);
  }
  HIP_END
}

// ---- copies ----

LATHE_HIP hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, const hipMemcpy3DParms* p) {
  HIP_TRY
  Operation op;
  if (const hipError_t e = copy_of("hipGraphAddMemcpyNode", p, op); e != hipSuccess) return e;
  return add(out, g, after, n, hipGraphNodeTypeMemcpy, op);
  HIP_END
}
LATHE_HIP hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, void* dst, const void* src, size_t size, hipMemcpyKind kind) {
  HIP_TRY
  Operation op;
  if (const hipError_t e = copy_of("hipGraphAddMemcpyNode1D", dst, src, size, kind, op); e != hipSuccess) return e;
  return add(out, g, after, n, hipGraphNodeTypeMemcpy, op);
  HIP_END
}
LATHE_HIP hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, void* dst, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind) {
  HIP_TRY
  void* at;
  Operation op;
  if (const hipError_t e = symbol_place("hipGraphAddMemcpyNodeFromSymbol", symbol, size, offset, at); e != hipSuccess) return e;
  if (const hipError_t e = copy_of("hipGraphAddMemcpyNodeFromSymbol", dst, at, size, kind, op); e != hipSuccess) return e;
  return add(out, g, after, n, hipGraphNodeTypeMemcpy, op);
  HIP_END
}
LATHE_HIP hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, const void* symbol, const void* src, size_t size, size_t offset, hipMemcpyKind kind) {
  HIP_TRY
  void* at;
  Operation op;
  if (const hipError_t e = symbol_place("hipGraphAddMemcpyNodeToSymbol", symbol, size, offset, at); e != hipSuccess) return e;
  if (const hipError_t e = copy_of("hipGraphAddMemcpyNodeToSymbol", at, src, size, kind, op); e != hipSuccess) return e;
  return add(out, g, after, n, hipGraphNodeTypeMemcpy, op);
  HIP_END
}
LATHE_HIP hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* p) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  hipGraphNode* n = node_of<CopyOp>(node);
  if (!p || !n) return done(hipErrorInvalidValue);
  describe_copy(*n);
  *p = n->copy;
  return hipSuccess;
  HIP_END
}
// clang-format off
LATHE_HIP hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* p) { HIP_TRY return set<CopyOp>(node, false, nullptr, [&](Operation& op) { return copy_of("hipGraphMemcpyNodeSetParams", p, op); }); HIP_END }
LATHE_HIP hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* p) { HIP_TRY return set<CopyOp>(node, true, exec, [&](Operation& op) { return copy_of("hipGraphExecMemcpyNodeSetParams", p, op); }); HIP_END }
LATHE_HIP hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* dst, const void* src, size_t size, hipMemcpyKind kind) { HIP_TRY return set<CopyOp>(node, false, nullptr, [&](Operation& op) { return copy_of("hipGraphMemcpyNodeSetParams1D", dst, src, size, kind, op); }); HIP_END }
LATHE_HIP hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* dst, const void* src, size_t size, hipMemcpyKind kind) { HIP_TRY return set<CopyOp>(node, true, exec, [&](Operation& op) { return copy_of("hipGraphExecMemcpyNodeSetParams1D", dst, src, size, kind, op); }); HIP_END }
// clang-format on

namespace {
hipError_t symbol_copy(const char* call, const void* symbol, void* client, bool to_symbol, size_t size, size_t offset, hipMemcpyKind kind, Operation& op) {
  void* at;
  if (const hipError_t e = symbol_place(call, symbol, size, offset, at); e != hipSuccess) return e;
  return to_symbol ? copy_of(call, at, client, size, kind, op) : copy_of(call, client, at, size, kind, op);
}
}  // namespace
LATHE_HIP hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* dst, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind) {
  HIP_TRY
  return set<CopyOp>(node, false, nullptr, [&](Operation& op) { return symbol_copy("hipGraphMemcpyNodeSetParamsFromSymbol", symbol, dst, false, size, offset, kind, op); });
  HIP_END
}
LATHE_HIP hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node, void* dst, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind) {
  HIP_TRY
  return set<CopyOp>(node, true, exec, [&](Operation& op) { return symbol_copy("hipGraphExecMemcpyNodeSetParamsFromSymbol", symbol, dst, false, size, offset, kind, op); });
  HIP_END
}
LATHE_HIP hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol, const void* src, size_t size, size_t offset, hipMemcpyKind kind) {
  HIP_TRY
  return set<CopyOp>(node, false, nullptr, [&](Operation& op) { return symbol_copy("hipGraphMemcpyNodeSetParamsToSymbol", symbol, const_cast<void*>(src), true, size, offset, kind, op); });
  HIP_END
}
LATHE_HIP hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node, const void* symbol, const void* src, size_t size, size_t offset, hipMemcpyKind kind) {
  HIP_TRY
  return set<CopyOp>(node, true, exec, [&](Operation& op) { return symbol_copy("hipGraphExecMemcpyNodeSetParamsToSymbol", symbol, const_cast<void*>(src), true, size, offset, kind, op); });
  HIP_END
}

// ---- fills, host functions ----

LATHE_HIP hipError_t hipGraphAddMemsetNode(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, const hipMemsetParams* p) {
  HIP_TRY
  Operation op;
  if (const hipError_t e = fill_of("hipGraphAddMemsetNode", p, op); e != hipSuccess) return e;
  return add(out, g, after, n, hipGraphNodeTypeMemset, op);
  HIP_END
}
LATHE_HIP hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* p) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  const hipGraphNode* n = node_of<FillOp>(node);
  if (!p || !n) return done(hipErrorInvalidValue);
  const FillOp& f = std::get<FillOp>(n->op);
  *p = {f.dst.p, f.element, f.extent.height, f.dst.pitch, f.value, f.extent.width / f.element};
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGraphAddHostNode(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, const hipHostNodeParams* p) {
  HIP_TRY
  Operation op;
  if (const hipError_t e = host_of(p, op); e != hipSuccess) return e;
  return add(out, g, after, n, hipGraphNodeTypeHost, op);
  HIP_END
}
LATHE_HIP hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* p) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  const hipGraphNode* n = node_of<HostOp>(node);
  if (!p || !n) return done(hipErrorInvalidValue);
  *p = {std::get<HostOp>(n->op).fn, std::get<HostOp>(n->op).user};
  return hipSuccess;
  HIP_END
}
// clang-format off
LATHE_HIP hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* p) { HIP_TRY return set<FillOp>(node, false, nullptr, [&](Operation& op) { return fill_of("hipGraphMemsetNodeSetParams", p, op); }); HIP_END }
LATHE_HIP hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* p) { HIP_TRY return set<FillOp>(node, true, exec, [&](Operation& op) { return fill_of("hipGraphExecMemsetNodeSetParams", p, op); }); HIP_END }
LATHE_HIP hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* p) { HIP_TRY return set<HostOp>(node, false, nullptr, [&](Operation& op) { return host_of(p, op); }); HIP_END }
LATHE_HIP hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams* p) { HIP_TRY return set<HostOp>(node, true, exec, [&](Operation& op) { return host_of(p, op); }); HIP_END }

// ---- points, events, graphs in graphs ----

LATHE_HIP hipError_t hipGraphAddEmptyNode(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n) { HIP_TRY return add(out, g, after, n, hipGraphNodeTypeEmpty, EmptyOp{}); HIP_END }
LATHE_HIP hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, hipEvent_t e) { HIP_TRY return add_event(out, g, after, n, e, false); HIP_END }
LATHE_HIP hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, hipEvent_t e) { HIP_TRY return add_event(out, g, after, n, e, true); HIP_END }
LATHE_HIP hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* out) { HIP_TRY return get_event(node, false, out); HIP_END }
LATHE_HIP hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t e) { HIP_TRY return set_event(node, false, e, false, nullptr); HIP_END }
LATHE_HIP hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t e) { HIP_TRY return set_event(node, false, e, true, exec); HIP_END }
LATHE_HIP hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* out) { HIP_TRY return get_event(node, true, out); HIP_END }
LATHE_HIP hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t e) { HIP_TRY return set_event(node, true, e, false, nullptr); HIP_END }
LATHE_HIP hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t e) { HIP_TRY return set_event(node, true, e, true, exec); HIP_END }
// clang-format on

LATHE_HIP hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, size_t n, hipGraph_t child) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  const GraphRef c = graphs().find(child);
  if (!c || child == g || c->order().size() != c->nodes.size()) return done(hipErrorInvalidValue);
  return add(out, g, after, n, hipGraphNodeTypeGraph, GraphOp{c->clone()});
  HIP_END
}
// The child as it is in the parent; it has a handle as long as it lives, but belongs to the node.
LATHE_HIP hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* out) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  const hipGraphNode* n = node_of<GraphOp>(node);
  if (!out || !n) return done(hipErrorInvalidValue);
  *out = graphs().add(std::get<GraphOp>(n->op).graph);
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child) {
  HIP_TRY
  return set<GraphOp>(node, true, exec, [&](Operation& op) {
    const GraphRef c = graphs().find(child);
    if (!c || c->order().size() != c->nodes.size()) return done(hipErrorInvalidValue);
    op = GraphOp{c->clone()};
    return hipSuccess;
  });
  HIP_END
}
