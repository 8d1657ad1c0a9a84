// Graphs: operations as data, with what each comes after; made by calls or by capturing a stream. A launch puts
// the nodes into one stream in an order that their edges allow.
#pragma once

#include "hip/event.h"
#include "hip/operation.h"

// HIP's opaque node, given its meaning here.
struct hipGraphNode {
  lathe::emu::Operation op;
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  std::vector<hipGraphNode*> after;
  ihipGraph* graph = nullptr;
  const hipGraphNode* original = nullptr;   // in a clone
  bool enabled = true;
  // As the client gave them; pointers in them to arguments point into this node.
  hipKernelNodeParams kernel = {};
  std::vector<void*> kernel_arguments;
  hipMemcpy3DParms copy = {};
  hipAccessPolicyWindow window = {};
};

struct ihipGraph {
  std::vector<std::unique_ptr<hipGraphNode>> nodes;
  hipGraphNode* add(std::vector<hipGraphNode*> after, hipGraphNodeType, lathe::emu::Operation);
  std::vector<hipGraphNode*> order() const;       // topological; shorter than nodes if there is a cycle
  std::shared_ptr<ihipGraph> clone() const;
};

namespace lathe::emu {

using GraphRef = std::shared_ptr<ihipGraph>;

// A capture under way, of one stream and of those that joined it through events.
struct Capture {
  GraphRef graph = std::make_shared<ihipGraph>();
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  unsigned long long id = 0, thread = 0;
  ihipStream_t* origin = nullptr;
  std::map<StreamRef, std::vector<hipGraphNode*>> tails;  // what a stream's next operation comes after
  bool invalid = false;
};

// One lock for all graphs and captures. Taken before the scheduler's, never after.
std::recursive_mutex& graph_mutex();

// Hooks of the streams' calls; `was`: the capture took it. Each refuses what a capture cannot hold.
hipError_t capture(const char* call, const StreamRef&, const Operation&, bool wait, bool& was);
hipError_t capture_record(const char* call, const StreamRef&, const EventRef&, bool& was);
hipError_t capture_wait(const char* call, const StreamRef&, const EventRef&, bool& was);
hipError_t refuse_capture(const char* call, const StreamRef&);  // waiting, asking and the like end a capture

Handles<ihipGraph>& graphs();
// With the graphs' lock held.
bool known_node(hipGraphNode_t);
hipGraphNode* exec_node(hipGraphExec_t, hipGraphNode_t original);   // nullptr if there is none
WorkRef enqueue_graph(const ihipGraph&, const StreamRef&);

}  // namespace lathe::emu
