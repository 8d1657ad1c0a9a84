// Graphs: a captured one and one made node by node, run several times; a parameter changed in between.
#include <hip/hip_runtime.h>

#include "check.h"

__global__ void add(int* p, int by) { p[threadIdx.x] += by; }
__global__ void times(int* p, const int* q) { p[threadIdx.x] *= q[threadIdx.x]; }

int main() {
  std::vector<int> v(64), w(64);
  for (int i = 0; i < 64; i++) v[i] = i, w[i] = i % 3 + 1;
  int *p = device_copy(v), *q = device_copy(w);
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));

  // What is captured does not run.
  hipGraph_t graph;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  add<<<1, 64, 0, stream>>>(p, 5);
  times<<<1, 64, 0, stream>>>(p, q);
  HIP(hipStreamEndCapture(stream, &graph));
  HIP(hipStreamSynchronize(stream));
  CHECK(host_copy(p, 64) == v);
  hipGraphExec_t run;
  HIP(hipGraphInstantiate(&run, graph, nullptr, nullptr, 0));
  for (int round = 0; round < 3; round++) {
    HIP(hipGraphLaunch(run, stream));
    for (int i = 0; i < 64; i++) v[i] = (v[i] + 5) * w[i];
  }
  HIP(hipStreamSynchronize(stream));
  CHECK(host_copy(p, 64) == v);
  HIP(hipGraphExecDestroy(run));
  HIP(hipGraphDestroy(graph));

  // copy to p, then add, then copy back.
  std::vector<int> result(64);
  int by = 7;
  void* arguments[] = {&p, &by};
  hipKernelNodeParams kernel = {};
  kernel.func = (void*)add;
  kernel.gridDim = dim3(1), kernel.blockDim = dim3(64);
  kernel.kernelParams = arguments;
  hipGraphNode_t in, node, out;
  HIP(hipGraphCreate(&graph, 0));
  HIP(hipGraphAddMemcpyNode1D(&in, graph, nullptr, 0, p, w.data(), 64 * sizeof(int), hipMemcpyHostToDevice));
  HIP(hipGraphAddKernelNode(&node, graph, &in, 1, &kernel));
  HIP(hipGraphAddMemcpyNode1D(&out, graph, &node, 1, result.data(), p, 64 * sizeof(int), hipMemcpyDeviceToHost));
  HIP(hipGraphInstantiate(&run, graph, nullptr, nullptr, 0));
  HIP(hipGraphLaunch(run, stream));
  HIP(hipStreamSynchronize(stream));
  for (int i = 0; i < 64; i++) CHECK(result[i] == w[i] + 7);
  by = 100;
  HIP(hipGraphExecKernelNodeSetParams(run, node, &kernel));
  HIP(hipGraphLaunch(run, stream));
  HIP(hipStreamSynchronize(stream));
  for (int i = 0; i < 64; i++) CHECK(result[i] == w[i] + 100);
  HIP(hipGraphExecDestroy(run));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(stream));
  std::printf("graphs: ok\n");
}
