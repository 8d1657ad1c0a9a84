// Graphs, made by calls and by capturing streams.
#include "hip_support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

TEST_CASE("a captured fork and join replays exactly, as often as launched", "[hip][graph]") {
  Module m("gfx1100", hip_kernels());
  Buffer<i32> p(std::vector<i32>(64, 1)), q(std::vector<i32>(64)), r(64);
  Stream s, t;
  Event fork, join;
  int a = 3, b = 1, c = 2, d = 5;
  ok(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
  ok(start(s, m["step"], {1}, {64}, p, a, b));               // p = 3p + 1
  ok(hipEventRecord(fork, s));
  ok(hipStreamWaitEvent(t, fork, 0));
  hipStreamCaptureStatus status;
  ok(hipStreamIsCapturing(t, &status));
  REQUIRE(status == hipStreamCaptureStatusActive);
  ok(start(t, m["step"], {1}, {64}, q, c, d));               // q = 2q + 5
  ok(hipEventRecord(join, t));
  ok(hipStreamWaitEvent(s, join, 0));
  ok(start(s, m["sum"], {1}, {64}, r, p, q));
  hipGraph_t graph;
  ok(hipStreamEndCapture(s, &graph));
  ok(hipStreamIsCapturing(t, &status));
  REQUIRE(status == hipStreamCaptureStatusNone);
  same(p.get(), std::vector<i32>(64, 1));                    // nothing has run
  size_t nodes, edges, roots;
  ok(hipGraphGetNodes(graph, nullptr, &nodes));
  ok(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  ok(hipGraphGetRootNodes(graph, nullptr, &roots));
  REQUIRE(nodes == 3);
  REQUIRE(edges == 3);
  REQUIRE(roots == 1);
  hipGraphExec_t exec;
  ok(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  ok(hipGraphDestroy(graph));                                // the instance is on its own
  for (int k = 0; k < 3; k++) ok(hipGraphLaunch(exec, s));
  ok(hipStreamSynchronize(s));
  same(p.get(), std::vector<i32>(64, 40));                   // 1, 4, 13, 40
  same(r.get(), std::vector<i32>(64, 40 + 35));              // 0, 5, 15, 35
  ok(hipGraphExecDestroy(exec));
  REQUIRE(hipGraphLaunch(exec, s) == hipErrorInvalidValue);
}

TEST_CASE("what a capture cannot hold", "[hip][graph]") {
  Module m("gfx1100", hip_kernels());
  Buffer<i32> p(64);
  Stream s, t;
  Event e;
  hipGraph_t graph;
  REQUIRE(hipStreamEndCapture(s, &graph) == hipErrorIllegalState);
  REQUIRE(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal) == hipErrorStreamCaptureUnsupported);
  ok(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
  REQUIRE(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal) == hipErrorIllegalState);
  REQUIRE(hipStreamSynchronize(s) == hipErrorStreamCaptureUnsupported);
  hipStreamCaptureStatus status;
  ok(hipStreamIsCapturing(s, &status));
  REQUIRE(status == hipStreamCaptureStatusInvalidated);
  REQUIRE(hipStreamEndCapture(s, &graph) == hipErrorStreamCaptureInvalidated);
  REQUIRE(graph == nullptr);

  ok(hipStreamBeginCapture(s, hipStreamCaptureModeRelaxed));
  ok(hipEventRecord(e, s));
  REQUIRE(hipEventQuery(e) == hipErrorCapturedEvent);
  REQUIRE(hipEventSynchronize(e) == hipErrorCapturedEvent);
  ok(hipStreamWaitEvent(t, e, 0));
  ok(hipMemsetAsync(p.data(), 1, 256, t));
  REQUIRE(hipStreamEndCapture(t, &graph) == hipErrorStreamCaptureUnmatched);
  REQUIRE(hipStreamEndCapture(s, &graph) == hipErrorStreamCaptureInvalidated);

  ok(hipStreamBeginCapture(s, hipStreamCaptureModeRelaxed));
  ok(hipEventRecord(e, s));
  ok(hipStreamWaitEvent(t, e, 0));
  ok(hipMemsetAsync(p.data(), 1, 256, t));
  REQUIRE(hipStreamEndCapture(s, &graph) == hipErrorStreamCaptureUnjoined);
  Event outside;
  ok(hipEventRecord(outside, t));
  ok(hipStreamBeginCapture(s, hipStreamCaptureModeRelaxed));
  REQUIRE(hipStreamWaitEvent(s, outside, 0) == hipErrorStreamCaptureIsolation);
  REQUIRE(hipStreamEndCapture(s, &graph) == hipErrorStreamCaptureInvalidated);
  // The null stream waits for blocking streams, but not for one that only records.
  ok(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
  REQUIRE(hipMemset(p.data(), 1, 256) == hipErrorStreamCaptureImplicit);
  REQUIRE(hipStreamEndCapture(s, &graph) == hipErrorStreamCaptureInvalidated);
  Stream aside(hipStreamNonBlocking);
  ok(hipStreamBeginCapture(aside, hipStreamCaptureModeGlobal));
  ok(hipMemset(p.data(), 1, 256));
  ok(hipStreamEndCapture(aside, &graph));
  ok(hipGraphDestroy(graph));
  ok(hipStreamSynchronize(s));                               // the streams work as before
  ok(hipStreamSynchronize(t));
  (void)hipGetLastError();
}

TEST_CASE("a graph made by calls: every kind of node, edges and parameters", "[hip][graph]") {
  Module m("gfx1100", hip_kernels());
  Buffer<i32> p(64), q(64);
  Pinned<i32> back(64);
  hipGraph_t graph;
  ok(hipGraphCreate(&graph, 0));
  hipGraphNode_t fill, kernel, copy, host, empty;
  hipMemsetParams set = {p.data(), 4, 1, 0, 6, 64};
  ok(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
  void* pointer = p.data();
  int a = 7, b = 0;
  void* arguments[] = {&pointer, &a, &b};
  hipKernelNodeParams launch_params = {};
  launch_params.func = m["step"], launch_params.gridDim = dim3(1), launch_params.blockDim = dim3(64), launch_params.kernelParams = arguments;
  ok(hipGraphAddKernelNode(&kernel, graph, &fill, 1, &launch_params));
  a = 100;                                                   // taken at the call
  ok(hipGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, back.data(), p.data(), 256, hipMemcpyDeviceToHost));
  int seen = 0;
  struct Look { int* seen; i32* value; } look{&seen, back.data()};
  hipHostNodeParams call = {[](void* x) { auto& l = *static_cast<Look*>(x); *l.seen = *l.value; }, &look};
  ok(hipGraphAddHostNode(&host, graph, nullptr, 0, &call));
  ok(hipGraphAddEmptyNode(&empty, graph, &host, 1));
  ok(hipGraphAddDependencies(graph, &copy, &host, 1));
  REQUIRE(hipGraphAddDependencies(graph, &copy, &host, 1) == hipErrorInvalidValue);
  hipGraphNodeType type;
  ok(hipGraphNodeGetType(host, &type));
  REQUIRE(type == hipGraphNodeTypeHost);
  hipGraphExec_t exec;
  ok(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  Stream s;
  ok(hipGraphLaunch(exec, s));
  ok(hipStreamSynchronize(s));
  REQUIRE(back[63] == 42);
  REQUIRE(seen == 42);
  // Parameters of the instance, without touching the graph.
  hipKernelNodeParams got;
  ok(hipGraphKernelNodeGetParams(kernel, &got));
  REQUIRE(got.blockDim.x == 64);
  REQUIRE(*static_cast<int*>(got.kernelParams[1]) == 7);
  a = 10;
  ok(hipGraphExecKernelNodeSetParams(exec, kernel, &launch_params));
  ok(hipGraphLaunch(exec, s));
  ok(hipStreamSynchronize(s));
  REQUIRE(back[0] == 60);
  ok(hipGraphExecMemcpyNodeSetParams1D(exec, copy, q.data(), p.data(), 256, hipMemcpyDeviceToDevice));
  set.value = 8;
  ok(hipGraphExecMemsetNodeSetParams(exec, fill, &set));
  ok(hipGraphLaunch(exec, s));
  ok(hipStreamSynchronize(s));
  REQUIRE(back[0] == 60);
  REQUIRE(q.get()[5] == 80);
  // The graph still has the old ones; an update brings them back.
  hipGraphNode_t bad;
  hipGraphExecUpdateResult result;
  ok(hipGraphExecUpdate(exec, graph, &bad, &result));
  ok(hipGraphLaunch(exec, s));
  ok(hipStreamSynchronize(s));
  REQUIRE(back[0] == 42);
  ok(hipGraphDestroyNode(empty));
  REQUIRE(hipGraphExecUpdate(exec, graph, &bad, &result) == hipErrorGraphExecUpdateFailure);
  REQUIRE(result == hipGraphExecUpdateErrorTopologyChanged);

  // As a child, twice, and in a clone; a cycle is refused.
  hipGraph_t outer, clone;
  ok(hipGraphCreate(&outer, 0));
  hipGraphNode_t first, second, found;
  ok(hipGraphAddChildGraphNode(&first, outer, nullptr, 0, graph));
  hipMemcpy3DParms move = {};
  move.srcPtr = make_hipPitchedPtr(p.data(), 256, 256, 1), move.dstPtr = make_hipPitchedPtr(q.data(), 256, 256, 1);
  move.extent = make_hipExtent(256, 1, 1), move.kind = hipMemcpyDeviceToDevice;
  ok(hipGraphAddMemcpyNode(&second, outer, &first, 1, &move));
  ok(hipGraphClone(&clone, outer));
  ok(hipGraphNodeFindInClone(&found, second, clone));
  REQUIRE(found != second);
  hipGraphExec_t outer_exec;
  ok(hipGraphInstantiateWithFlags(&outer_exec, clone, 0));
  ok(hipMemset(q.data(), 0, 256));
  ok(hipGraphLaunch(outer_exec, s));
  ok(hipStreamSynchronize(s));
  REQUIRE(q.get()[7] == 42);
  ok(hipGraphAddDependencies(outer, &second, &first, 1));
  hipGraphExec_t none;
  REQUIRE(hipGraphInstantiate(&none, outer, nullptr, nullptr, 0) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("the graph has a cycle"));
  for (hipGraph_t g : {graph, outer, clone}) ok(hipGraphDestroy(g));
  for (hipGraphExec_t e : {exec, outer_exec}) ok(hipGraphExecDestroy(e));
  REQUIRE(hipGraphDestroy(graph) == hipErrorInvalidValue);
  (void)hipGetLastError();
}

TEST_CASE("events in graphs order against streams; a kernel that was unloaded is refused", "[hip][graph]") {
  Pinned<i32> out(64);
  Stream s, t;
  Event e, done_event;
  auto m = std::make_unique<Module>("gfx1100", hip_kernels());
  hipGraph_t graph;
  ok(hipGraphCreate(&graph, 0));
  hipGraphNode_t wait, kernel, record;
  ok(hipGraphAddEventWaitNode(&wait, graph, nullptr, 0, e));
  void* pointer = out.data();
  int v = 5;
  void* arguments[] = {&pointer, &v};
  hipKernelNodeParams params = {};
  params.func = (*m)["fill"], params.gridDim = dim3(1), params.blockDim = dim3(64), params.kernelParams = arguments;
  ok(hipGraphAddKernelNode(&kernel, graph, &wait, 1, &params));
  ok(hipGraphAddEventRecordNode(&record, graph, &kernel, 1, done_event));
  hipGraphExec_t exec;
  ok(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  {
    Gate gate(t);
    ok(hipEventRecord(e, t));
    ok(hipGraphLaunch(exec, s));
    REQUIRE(hipEventQuery(done_event) == hipErrorNotReady);
    REQUIRE(out[0] == 0);
  }
  ok(hipEventSynchronize(done_event));
  REQUIRE(out[0] == 5);
  m.reset();
  REQUIRE(hipGraphLaunch(exec, s) == hipErrorInvalidHandle);
  REQUIRE_THAT(last_report(), Contains("a kernel of the graph was unloaded"));
  ok(hipGraphExecDestroy(exec));
  ok(hipGraphDestroy(graph));
  (void)hipGetLastError();
}
