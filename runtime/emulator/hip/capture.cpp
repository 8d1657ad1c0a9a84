// Capturing a stream: its operations become a graph's nodes instead of work. A second stream joins by waiting for
// an event recorded in the capture, and must be waited for before the capture ends.
#include <algorithm>
#include <functional>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "hip/graph.h"

using namespace lathe::emu;

namespace {

std::atomic<int> under_way{0};       // captures; none is the common case and costs no lock
std::set<Capture*> all_under_way;    // with the graphs' lock
thread_local hipStreamCaptureMode thread_mode = hipStreamCaptureModeGlobal;
unsigned long long this_thread() { return std::hash<std::thread::id>{}(std::this_thread::get_id()); }

hipGraphNodeType type_of(const Operation& op) {
  switch (op.index()) {
    case 1: return hipGraphNodeTypeKernel;
    case 2: return hipGraphNodeTypeMemcpy;
    case 3: return hipGraphNodeTypeMemset;
    case 4: return hipGraphNodeTypeHost;
    default: return hipGraphNodeTypeEmpty;
  }
}
hipError_t spoil(Capture& c, hipError_t e, const std::string& why) {
  c.invalid = true;
  return refuse(e, why);
}
void leave(Capture& c) {
  for (auto& [stream, tail] : c.tails) stream->capture = nullptr;
  c.tails.clear();
  all_under_way.erase(&c);
  under_way--;
}
bool before(const hipGraphNode* a, const std::vector<hipGraphNode*>& tails) {
  std::set<const hipGraphNode*> seen;
  std::vector<const hipGraphNode*> todo(tails.begin(), tails.end());
  while (!todo.empty()) {
    const hipGraphNode* n = todo.back();
    todo.pop_back();
    if (n == a) return true;
    if (seen.insert(n).second) todo.insert(todo.end(), n->after.begin(), n->after.end());
  }
  return false;
}

hipError_t begin(const StreamRef& stream, hipStreamCaptureMode mode) {
  if (!stream) return done(hipErrorInvalidHandle);
  if (unsigned(mode) > hipStreamCaptureModeRelaxed) return done(hipErrorInvalidValue);
  std::lock_guard lock(graph_mutex());
  if (stream->null) return refuse(hipErrorStreamCaptureUnsupported, "hipStreamBeginCapture: the legacy default stream cannot be captured");
  if (stream->capture) return refuse(hipErrorIllegalState, "hipStreamBeginCapture: the stream is being captured already");
  static unsigned long long ids = 0;
  auto c = std::make_shared<Capture>();
  c->mode = mode, c->id = ++ids, c->thread = this_thread(), c->origin = stream.get();
  c->tails[stream] = {};
  all_under_way.insert(c.get());
  stream->capture = std::move(c);
  under_way++;
  return hipSuccess;
}
hipError_t end(const StreamRef& stream, hipGraph_t* out) {
  if (!out) return done(hipErrorInvalidValue);
  *out = nullptr;
  if (!stream) return done(hipErrorInvalidHandle);
  std::lock_guard lock(graph_mutex());
  const std::shared_ptr<Capture> c = stream->capture;
  if (!c) return refuse(hipErrorIllegalState, "hipStreamEndCapture: the stream is not being captured");
  if (c->origin != stream.get()) return spoil(*c, hipErrorStreamCaptureUnmatched, "hipStreamEndCapture: the capture began in another stream");
  if (c->mode != hipStreamCaptureModeRelaxed && c->thread != this_thread()) return refuse(hipErrorStreamCaptureWrongThread, "hipStreamEndCapture: the capture began in another thread");
  const auto own = c->tails[stream];
  bool joined = true;
  for (auto& [other, tails] : c->tails)
    for (const hipGraphNode* n : tails) joined = joined && before(n, own);
  leave(*c);
  if (c->invalid) return refuse(hipErrorStreamCaptureInvalidated, "hipStreamEndCapture: the capture broke off at an earlier call");
  if (!joined) return refuse(hipErrorStreamCaptureUnjoined, "hipStreamEndCapture: work of a stream that joined the capture is not waited for");
  *out = graphs().add(c->graph);
  return hipSuccess;
}
hipError_t info(const StreamRef& stream, hipStreamCaptureStatus* status, unsigned long long* id, hipGraph_t* graph, const hipGraphNode_t** nodes, size_t* count) {
  if (!status) return done(hipErrorInvalidValue);
  if (!stream) return done(hipErrorInvalidHandle);
  std::lock_guard lock(graph_mutex());
  const Capture* c = stream->capture.get();
  *status = !c ? hipStreamCaptureStatusNone : c->invalid ? hipStreamCaptureStatusInvalidated : hipStreamCaptureStatusActive;
  if (!c) return hipSuccess;
  if (id) *id = c->id;
  if (graph) *graph = c->graph.get();
  const auto& tails = c->tails.at(stream);
  if (nodes) *nodes = tails.data();
  if (count) *count = tails.size();
  return hipSuccess;
}

}  // namespace

namespace lathe::emu {

std::recursive_mutex& graph_mutex() {
  static auto* m = new std::recursive_mutex;
  return *m;
}

hipError_t refuse_capture(const char* call, const StreamRef& stream) {
  if (under_way == 0) return hipSuccess;
  std::lock_guard lock(graph_mutex());
  if (!stream->capture) return hipSuccess;
  return spoil(*stream->capture, hipErrorStreamCaptureUnsupported, fmt::format("{}: the stream is being captured", call));
}
hipError_t capture(const char* call, const StreamRef& stream, const Operation& op, bool wait, bool& was) {
  if (under_way == 0) return hipSuccess;
  std::lock_guard lock(graph_mutex());
  const std::shared_ptr<Capture> c = stream->capture;
  // The null stream's work would come after a blocking stream's that is being captured.
  if (stream->null)
    for (Capture* other : all_under_way)
      if (other->origin->device == stream->device && other->origin->blocking()) return spoil(*other, hipErrorStreamCaptureImplicit, fmt::format("{} in the null stream, while a blocking stream is being captured", call));
  if (!c) return hipSuccess;
  if (c->invalid) return done(hipErrorStreamCaptureInvalidated);
  if (wait) return spoil(*c, hipErrorStreamCaptureUnsupported, fmt::format("{} waits for a stream that is being captured", call));
  if (std::holds_alternative<FreeOp>(op)) return spoil(*c, hipErrorStreamCaptureUnsupported, fmt::format("{} cannot be captured", call));
  hipGraphNode* node = c->graph->add(c->tails[stream], type_of(op), op);
  c->tails[stream] = {node};
  was = true;
  return hipSuccess;
}
hipError_t capture_record(const char*, const StreamRef& stream, const EventRef& event, bool& was) {
  if (under_way == 0) return hipSuccess;
  std::lock_guard lock(graph_mutex());
  const std::shared_ptr<Capture> c = stream->capture;
  if (!c) return hipSuccess;
  if (c->invalid) return done(hipErrorStreamCaptureInvalidated);
  std::lock_guard of_event(event->mutex);
  event->capture = c;
  event->nodes = c->tails[stream];
  was = true;
  return hipSuccess;
}
hipError_t capture_wait(const char* call, const StreamRef& stream, const EventRef& event, bool& was) {
  if (under_way == 0) return hipSuccess;
  std::lock_guard lock(graph_mutex());
  std::shared_ptr<Capture> of_event;
  std::vector<hipGraphNode*> nodes;
  {
    std::lock_guard e(event->mutex);
    of_event = event->capture, nodes = event->nodes;
  }
  if (of_event && of_event->tails.empty()) of_event = nullptr;   // that capture has ended
  const std::shared_ptr<Capture> mine = stream->capture;
  if (!of_event && !mine) return hipSuccess;
  if (mine && mine->invalid) return done(hipErrorStreamCaptureInvalidated);
  if (!of_event) return spoil(*mine, hipErrorStreamCaptureIsolation, fmt::format("{}: the event was recorded outside the capture", call));
  if (mine && mine != of_event) return spoil(*mine, hipErrorStreamCaptureMerge, fmt::format("{} would merge two captures", call));
  if (stream->null) return spoil(*of_event, hipErrorStreamCaptureImplicit, fmt::format("{}: the legacy default stream cannot join a capture", call));
  if (!mine) stream->capture = of_event;
  auto& tails = of_event->tails[stream];
  for (hipGraphNode* n : nodes)
    if (std::find(tails.begin(), tails.end(), n) == tails.end()) tails.push_back(n);
  was = true;
  return hipSuccess;
}

}  // namespace lathe::emu

// clang-format off
LATHE_HIP hipError_t hipStreamBeginCapture(hipStream_t s, hipStreamCaptureMode mode) { HIP_TRY return begin(find_stream(s), mode); HIP_END }
LATHE_HIP hipError_t hipStreamBeginCapture_spt(hipStream_t s, hipStreamCaptureMode mode) { HIP_TRY return begin(find_stream_spt(s), mode); HIP_END }
LATHE_HIP hipError_t hipStreamEndCapture(hipStream_t s, hipGraph_t* out) { HIP_TRY return end(find_stream(s), out); HIP_END }
LATHE_HIP hipError_t hipStreamEndCapture_spt(hipStream_t s, hipGraph_t* out) { HIP_TRY return end(find_stream_spt(s), out); HIP_END }
LATHE_HIP hipError_t hipStreamIsCapturing(hipStream_t s, hipStreamCaptureStatus* status) { HIP_TRY return info(find_stream(s), status, nullptr, nullptr, nullptr, nullptr); HIP_END }
LATHE_HIP hipError_t hipStreamIsCapturing_spt(hipStream_t s, hipStreamCaptureStatus* status) { HIP_TRY return info(find_stream_spt(s), status, nullptr, nullptr, nullptr, nullptr); HIP_END }
LATHE_HIP hipError_t hipStreamGetCaptureInfo(hipStream_t s, hipStreamCaptureStatus* status, unsigned long long* id) { HIP_TRY return info(find_stream(s), status, id, nullptr, nullptr, nullptr); HIP_END }
LATHE_HIP hipError_t hipStreamGetCaptureInfo_spt(hipStream_t s, hipStreamCaptureStatus* status, unsigned long long* id) { HIP_TRY return info(find_stream_spt(s), status, id, nullptr, nullptr, nullptr); HIP_END }
LATHE_HIP hipError_t hipStreamGetCaptureInfo_v2(hipStream_t s, hipStreamCaptureStatus* status, unsigned long long* id, hipGraph_t* graph, const hipGraphNode_t** nodes, size_t* count) { HIP_TRY return info(find_stream(s), status, id, graph, nodes, count); HIP_END }
LATHE_HIP hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t s, hipStreamCaptureStatus* status, unsigned long long* id, hipGraph_t* graph, const hipGraphNode_t** nodes, size_t* count) { HIP_TRY return info(find_stream_spt(s), status, id, graph, nodes, count); HIP_END }
// clang-format on

LATHE_HIP hipError_t hipStreamUpdateCaptureDependencies(hipStream_t s, hipGraphNode_t* nodes, size_t count, unsigned flags) {
  HIP_TRY
  const StreamRef stream = find_stream(s);
  if (!stream) return done(hipErrorInvalidHandle);
  if ((count && !nodes) || flags > hipStreamSetCaptureDependencies) return done(hipErrorInvalidValue);
  std::lock_guard lock(graph_mutex());
  const std::shared_ptr<Capture> c = stream->capture;
  if (!c) return done(hipErrorIllegalState);
  std::vector<hipGraphNode*> tails;
  if (flags == hipStreamAddCaptureDependencies) tails = c->tails[stream];
  for (size_t k = 0; k < count; k++) {
    const bool ours = std::any_of(c->graph->nodes.begin(), c->graph->nodes.end(), [&](const auto& n) { return n.get() == nodes[k]; });
    if (!ours) return done(hipErrorInvalidValue);
    if (std::find(tails.begin(), tails.end(), nodes[k]) == tails.end()) tails.push_back(nodes[k]);
  }
  c->tails[stream] = std::move(tails);
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  if (!mode || unsigned(*mode) > hipStreamCaptureModeRelaxed) return done(hipErrorInvalidValue);
  std::swap(*mode, thread_mode);
  return hipSuccess;
}
