// Two streams that depend on each other through events; host functions; times.
#include <hip/hip_runtime.h>

#include "check.h"

__global__ void set(int* p, int value) { p[threadIdx.x] = value + threadIdx.x; }
__global__ void add_from(int* p, const int* q, int times) {
  int x = p[threadIdx.x];
  for (int k = 0; k < times; k++) x += q[threadIdx.x];
  p[threadIdx.x] = x;
}

static void on_host(hipStream_t, hipError_t status, void* p) { *static_cast<int*>(p) += status == hipSuccess; }

int main() {
  hipStream_t one, two;
  HIP(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
  HIP(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
  hipEvent_t start, ready, stop;
  HIP(hipEventCreate(&start));
  HIP(hipEventCreateWithFlags(&ready, hipEventDisableTiming));
  HIP(hipEventCreate(&stop));
  int *a = device_zeros<int>(64), *b = device_zeros<int>(64);
  int *pinned = nullptr, calls = 0;
  HIP(hipHostMalloc((void**)&pinned, 64 * sizeof(int), 0));

  HIP(hipEventRecord(start, one));
  int want[64];
  for (int i = 0; i < 64; i++) want[i] = i;
  set<<<1, 64, 0, one>>>(a, 0);
  for (int round = 1; round <= 10; round++) {
    // b waits for a, then a for b.
    HIP(hipEventRecord(ready, one));
    HIP(hipStreamWaitEvent(two, ready, 0));
    set<<<1, 64, 0, two>>>(b, round);
    add_from<<<1, 64, 0, two>>>(b, a, 3);
    HIP(hipEventRecord(ready, two));
    HIP(hipStreamWaitEvent(one, ready, 0));
    add_from<<<1, 64, 0, one>>>(a, b, 1);
    HIP(hipStreamAddCallback(one, on_host, &calls, 0));
    for (int i = 0; i < 64; i++) want[i] += round + i + 3 * want[i];
  }
  HIP(hipMemcpyAsync(pinned, a, 64 * sizeof(int), hipMemcpyDeviceToHost, one));
  HIP(hipEventRecord(stop, one));
  HIP(hipEventSynchronize(stop));
  for (int i = 0; i < 64; i++) CHECK(pinned[i] == want[i]);
  CHECK(calls == 10);
  float ms = -1;
  HIP(hipEventElapsedTime(&ms, start, stop));
  CHECK(ms >= 0 && ms < 1e6f);
  HIP(hipEventQuery(stop));
  HIP(hipStreamQuery(one));
  EXPECT(hipEventElapsedTime(&ms, start, ready), hipErrorInvalidHandle);   // made without times

  HIP(hipStreamDestroy(one));
  HIP(hipStreamDestroy(two));
  EXPECT(hipStreamSynchronize(one), hipErrorInvalidHandle);
  for (hipEvent_t e : {start, ready, stop}) HIP(hipEventDestroy(e));
  HIP(hipHostFree(pinned));
  std::printf("streams: ok\n");
}
