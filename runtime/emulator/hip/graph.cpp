// Graphs as structures: nodes, edges, copies, and their way into a stream.
#include "hip/graph.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "hip/kernel_launch.h"

using namespace lathe::emu;

hipGraphNode* ihipGraph::add(std::vector<hipGraphNode*> after, hipGraphNodeType type, Operation op) {
  auto node = std::make_unique<hipGraphNode>();
  node->op = std::move(op), node->type = type, node->after = std::move(after), node->graph = this;
  nodes.push_back(std::move(node));
  return nodes.back().get();
}
std::vector<hipGraphNode*> ihipGraph::order() const {
  // Kahn's algorithm over the nodes in the order they were made: the same graph gives the same order.
  std::map<const hipGraphNode*, size_t> missing;
  std::map<const hipGraphNode*, std::vector<hipGraphNode*>> next;
  std::vector<hipGraphNode*> out, ready;
  for (const auto& n : nodes) {
    missing[n.get()] = n->after.size();
    for (const hipGraphNode* a : n->after) next[a].push_back(n.get());
    if (n->after.empty()) ready.push_back(n.get());
  }
  for (size_t k = 0; k < ready.size(); k++) {
    out.push_back(ready[k]);
    for (hipGraphNode* n : next[ready[k]])
      if (--missing[n] == 0) ready.push_back(n);
  }
  return out;
}
std::shared_ptr<ihipGraph> ihipGraph::clone() const {
  auto copy = std::make_shared<ihipGraph>();
  std::map<const hipGraphNode*, hipGraphNode*> to;
  for (const auto& n : nodes) {
    auto c = std::make_unique<hipGraphNode>(*n);
    c->graph = copy.get(), c->original = n.get();
    c->kernel.kernelParams = nullptr, c->kernel_arguments.clear();   // pointed into the original
    if (auto* child = std::get_if<GraphOp>(&c->op)) child->graph = child->graph->clone();
    to[n.get()] = c.get();
    copy->nodes.push_back(std::move(c));
  }
  for (const auto& n : copy->nodes)
    for (hipGraphNode*& a : n->after) a = to[a];
  return copy;
}

struct hipGraphExec {
  GraphRef graph;                    // a clone; its nodes know their originals
  int device = 0;
  hipGraphNode* find(hipGraphNode_t original) const {
    for (const auto& n : graph->nodes)
      if (n->original == original) return n.get();
    return nullptr;
  }
};

namespace lathe::emu {

Handles<ihipGraph>& graphs() {
  static auto* h = new Handles<ihipGraph>;
  return *h;
}
Handles<hipGraphExec>& execs() {
  static auto* h = new Handles<hipGraphExec>;
  return *h;
}
hipGraphNode* exec_node(hipGraphExec_t exec, hipGraphNode_t original) {
  const auto e = execs().find(exec);
  return e ? e->find(original) : nullptr;
}

WorkRef enqueue_graph(const ihipGraph& g, const StreamRef& stream) {
  WorkRef last;
  for (hipGraphNode* n : g.order())
    if (n->enabled) last = enqueue_operation(stream, n->op);
  return last ? last : enqueue(stream, nullptr);
}

// A node of a live graph, or of a graph being captured, which has no handle yet.
bool known_node(hipGraphNode_t node) {
  if (!node) return false;
  return graphs().any([&](const ihipGraph& g) {
    std::vector<const ihipGraph*> todo{&g};
    while (!todo.empty()) {
      const ihipGraph* graph = todo.back();
      todo.pop_back();
      for (const auto& n : graph->nodes) {
        if (n.get() == node) return true;
        if (auto* child = std::get_if<GraphOp>(&n->op)) todo.push_back(child->graph.get());
      }
    }
    return false;
  });
}

}  // namespace lathe::emu

namespace {

bool in(const ihipGraph& g, const hipGraphNode* node) {
  return std::any_of(g.nodes.begin(), g.nodes.end(), [&](const auto& n) { return n.get() == node; });
}
// HIP's way to return lists: a null array asks for the count; room beyond it is filled with nulls.
hipError_t give(const std::vector<hipGraphNode*>& list, hipGraphNode_t* out, size_t* count) {
  if (!count) return done(hipErrorInvalidValue);
  if (!out) {
    *count = list.size();
    return hipSuccess;
  }
  for (size_t k = 0; k < *count; k++) out[k] = k < list.size() ? list[k] : nullptr;
  *count = std::min(*count, list.size());
  return hipSuccess;
}
std::vector<hipGraphNode*> followers(const hipGraphNode& node) {
  std::vector<hipGraphNode*> list;
  for (const auto& n : node.graph->nodes)
    if (std::find(n->after.begin(), n->after.end(), &node) != n->after.end()) list.push_back(n.get());
  return list;
}
hipError_t instantiate(const char* call, hipGraphExec_t* out, hipGraph_t graph) {
  if (!out) return done(hipErrorInvalidValue);
  *out = nullptr;
  std::lock_guard lock(graph_mutex());
  const GraphRef g = graphs().find(graph);
  if (!g) return done(hipErrorInvalidValue);
  if (g->order().size() != g->nodes.size()) return refuse(hipErrorInvalidValue, fmt::format("{}: the graph has a cycle", call));
  auto exec = std::make_shared<hipGraphExec>();
  exec->graph = g->clone(), exec->device = current_device();
  *out = execs().add(std::move(exec));
  return hipSuccess;
}
hipError_t launch(const char* call, hipGraphExec_t handle, const StreamRef& stream) {
  if (!stream) return done(hipErrorInvalidHandle);
  std::lock_guard lock(graph_mutex());
  const auto exec = execs().find(handle);
  if (!exec) return done(hipErrorInvalidValue);
  for (const auto& n : exec->graph->nodes)
    if (const auto* k = std::get_if<KernelOp>(&n->op)) {
      if (!known_function(k->function)) return refuse(hipErrorInvalidHandle, fmt::format("{}: a kernel of the graph was unloaded", call));
      if (k->launch.device != stream->device) return refuse(hipErrorInvalidHandle, fmt::format("{}: kernel {} is of device {}, the stream of device {}", call, k->launch.kernel->name, k->launch.device, stream->device));
    }
  return submit(call, stream, GraphOp{exec->graph}, false);
}
hipError_t edges(bool add, hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t count) {
  if (count && (!from || !to)) return done(hipErrorInvalidValue);
  std::lock_guard lock(graph_mutex());
  const GraphRef g = graphs().find(graph);
  if (!g) return done(hipErrorInvalidValue);
  for (size_t k = 0; k < count; k++) {
    if (!in(*g, from[k]) || !in(*g, to[k]) || from[k] == to[k]) return done(hipErrorInvalidValue);
    auto& after = to[k]->after;
    const auto it = std::find(after.begin(), after.end(), from[k]);
    if ((it != after.end()) == add) return done(hipErrorInvalidValue);   // there already, or not there
    if (add) after.push_back(from[k]);
    else after.erase(it);
  }
  return hipSuccess;
}

}  // namespace

LATHE_HIP hipError_t hipGraphCreate(hipGraph_t* out, unsigned flags) {
  HIP_TRY
  if (!out || flags) return done(hipErrorInvalidValue);
  *out = graphs().add(std::make_shared<ihipGraph>());
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGraphDestroy(hipGraph_t graph) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  return done(graphs().remove(graph) ? hipSuccess : hipErrorInvalidValue);
  HIP_END
}
LATHE_HIP hipError_t hipGraphClone(hipGraph_t* out, hipGraph_t graph) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  std::lock_guard lock(graph_mutex());
  const GraphRef g = graphs().find(graph);
  if (!g) return done(hipErrorInvalidValue);
  *out = graphs().add(g->clone());
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGraphNodeFindInClone(hipGraphNode_t* out, hipGraphNode_t original, hipGraph_t clone) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  std::lock_guard lock(graph_mutex());
  const GraphRef g = graphs().find(clone);
  if (!g || !original) return done(hipErrorInvalidValue);
  for (const auto& n : g->nodes)
    if (n->original == original) {
      *out = n.get();
      return hipSuccess;
    }
  return done(hipErrorInvalidValue);
  HIP_END
}
// clang-format off
LATHE_HIP hipError_t hipGraphAddDependencies(hipGraph_t g, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t n) { HIP_TRY return edges(true, g, from, to, n); HIP_END }
LATHE_HIP hipError_t hipGraphRemoveDependencies(hipGraph_t g, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t n) { HIP_TRY return edges(false, g, from, to, n); HIP_END }
LATHE_HIP hipError_t hipGraphInstantiate(hipGraphExec_t* out, hipGraph_t g, hipGraphNode_t* bad, char* log, size_t size) { HIP_TRY if (bad) *bad = nullptr; if (log && size) *log = 0; return instantiate("hipGraphInstantiate", out, g); HIP_END }
LATHE_HIP hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* out, hipGraph_t g, unsigned long long) { HIP_TRY return instantiate("hipGraphInstantiateWithFlags", out, g); HIP_END }
LATHE_HIP hipError_t hipGraphLaunch(hipGraphExec_t e, hipStream_t s) { HIP_TRY return launch("hipGraphLaunch", e, find_stream(s)); HIP_END }
LATHE_HIP hipError_t hipGraphLaunch_spt(hipGraphExec_t e, hipStream_t s) { HIP_TRY return launch("hipGraphLaunch_spt", e, find_stream_spt(s)); HIP_END }
LATHE_HIP hipError_t hipGraphUpload(hipGraphExec_t e, hipStream_t s) { HIP_TRY if (!find_stream(s)) return done(hipErrorInvalidHandle); return done(execs().has(e) ? hipSuccess : hipErrorInvalidValue); HIP_END }
LATHE_HIP hipError_t hipGraphExecDestroy(hipGraphExec_t e) { HIP_TRY std::lock_guard lock(graph_mutex()); return done(execs().remove(e) ? hipSuccess : hipErrorInvalidValue); HIP_END }
// clang-format on

LATHE_HIP hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  const GraphRef g = graphs().find(graph);
  if (!g || !count || !from != !to) return done(hipErrorInvalidValue);
  std::vector<hipGraphNode*> starts, ends;
  for (const auto& n : g->nodes)
    for (hipGraphNode* a : n->after) starts.push_back(a), ends.push_back(n.get());
  size_t room = *count;
  (void)give(starts, from, &room);
  return give(ends, to, count);
  HIP_END
}
LATHE_HIP hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* out, size_t* count) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  const GraphRef g = graphs().find(graph);
  if (!g) return done(hipErrorInvalidValue);
  std::vector<hipGraphNode*> list;
  for (const auto& n : g->nodes) list.push_back(n.get());
  return give(list, out, count);
  HIP_END
}
LATHE_HIP hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* out, size_t* count) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  const GraphRef g = graphs().find(graph);
  if (!g) return done(hipErrorInvalidValue);
  std::vector<hipGraphNode*> list;
  for (const auto& n : g->nodes)
    if (n->after.empty()) list.push_back(n.get());
  return give(list, out, count);
  HIP_END
}
LATHE_HIP hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* out, size_t* count) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  return known_node(node) ? give(node->after, out, count) : done(hipErrorInvalidValue);
  HIP_END
}
LATHE_HIP hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* out, size_t* count) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  return known_node(node) ? give(followers(*node), out, count) : done(hipErrorInvalidValue);
  HIP_END
}
LATHE_HIP hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  if (!type || !known_node(node)) return done(hipErrorInvalidValue);
  *type = node->type;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  if (!known_node(node)) return done(hipErrorInvalidValue);
  for (hipGraphNode* f : followers(*node)) std::erase(f->after, node);
  std::erase_if(node->graph->nodes, [&](const auto& n) { return n.get() == node; });
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  hipGraphNode* n = exec_node(exec, node);
  if (!n) return done(hipErrorInvalidValue);
  n->enabled = enabled != 0;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned* enabled) {
  HIP_TRY
  std::lock_guard lock(graph_mutex());
  const hipGraphNode* n = exec_node(exec, node);
  if (!n || !enabled) return done(hipErrorInvalidValue);
  *enabled = n->enabled;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGraphExecUpdate(hipGraphExec_t handle, hipGraph_t graph, hipGraphNode_t* bad, hipGraphExecUpdateResult* result) {
  HIP_TRY
  if (!bad || !result) return done(hipErrorInvalidValue);
  *bad = nullptr, *result = hipGraphExecUpdateError;
  std::lock_guard lock(graph_mutex());
  const auto exec = execs().find(handle);
  const GraphRef g = graphs().find(graph);
  if (!exec || !g) return done(hipErrorInvalidValue);
  // Node by node as they were made: the same number, kinds and edges.
  const auto fails = [&](hipGraphExecUpdateResult why, hipGraphNode* node) {
    *result = why, *bad = node;
    return done(hipErrorGraphExecUpdateFailure);
  };
  const GraphRef fresh = g->clone();
  auto& old = exec->graph->nodes;
  if (fresh->nodes.size() != old.size()) return fails(hipGraphExecUpdateErrorTopologyChanged, nullptr);
  std::map<const hipGraphNode*, size_t> index;
  for (size_t k = 0; k < old.size(); k++) index[old[k].get()] = index[fresh->nodes[k].get()] = k;
  for (size_t k = 0; k < old.size(); k++) {
    const hipGraphNode &a = *old[k], &b = *fresh->nodes[k];
    if (a.op.index() != b.op.index()) return fails(hipGraphExecUpdateErrorNodeTypeChanged, g->nodes[k].get());
    std::set<size_t> before, now;
    for (const hipGraphNode* n : a.after) before.insert(index[n]);
    for (const hipGraphNode* n : b.after) now.insert(index[n]);
    if (before != now) return fails(hipGraphExecUpdateErrorTopologyChanged, g->nodes[k].get());
  }
  for (size_t k = 0; k < old.size(); k++) fresh->nodes[k]->original = old[k]->original;
  exec->graph = fresh;
  *result = hipGraphExecUpdateSuccess;
  return hipSuccess;
  HIP_END
}
