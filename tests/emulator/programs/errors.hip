// What goes wrong, and that the program can go on after it.
#include <hip/hip_runtime.h>

#include "check.h"

__global__ void write(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void __launch_bounds__(128) bounded(int* p) { p[threadIdx.x] = 2; }
__global__ void needs_shared(int* p) {
  __shared__ int own[1024];
  extern __shared__ int more[];
  own[threadIdx.x] = threadIdx.x;
  more[threadIdx.x] = 1;
  __syncthreads();
  p[threadIdx.x] = own[threadIdx.x ^ 1] + more[threadIdx.x];
}
void ordinary() {}

int main() {
  int* p = device_zeros<int>(256);
  // Configurations.
  write<<<1, 2048>>>(p);
  EXPECT(hipGetLastError(), hipErrorInvalidConfiguration);
  HIP(hipGetLastError());                       // told once
  write<<<0, 64>>>(p);
  EXPECT(hipPeekAtLastError(), hipErrorInvalidConfiguration);
  EXPECT(hipGetLastError(), hipErrorInvalidConfiguration);
  write<<<dim3(1, 70000), 64>>>(p);
  EXPECT(hipGetLastError(), hipErrorInvalidConfiguration);
  needs_shared<<<1, 64, 1 << 20>>>(p);
  CHECK(hipGetLastError() != hipSuccess);
  needs_shared<<<1, 64, 1024>>>(p);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
  CHECK(host_copy(p, 64)[5] == 4 + 1);
  bounded<<<1, 256>>>(p);
  CHECK(hipGetLastError() != hipSuccess);
  bounded<<<1, 128>>>(p);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
  CHECK(host_copy(p, 128)[127] == 2);

  // Functions and symbols that are none.
  void* none[] = {&p};
  EXPECT(hipLaunchKernel((const void*)ordinary, dim3(1), dim3(1), none, 0, nullptr), hipErrorInvalidDeviceFunction);
  hipFuncAttributes attributes;
  EXPECT(hipFuncGetAttributes(&attributes, (const void*)ordinary), hipErrorInvalidDeviceFunction);
  EXPECT(hipGetLastError(), hipErrorInvalidDeviceFunction);
  HIP(hipFuncGetAttributes(&attributes, (const void*)bounded));
  CHECK(attributes.maxThreadsPerBlock == 128);
  HIP(hipFuncGetAttributes(&attributes, (const void*)needs_shared));
  CHECK(attributes.sharedSizeBytes == 4096);

  // A kernel that writes outside: known when the host waits, and the next one runs.
  write<<<2, 256>>>(p);
  EXPECT(hipDeviceSynchronize(), hipErrorIllegalAddress);
  (void)hipGetLastError();
  HIP(hipMemset(p, 0, 1024));
  write<<<1, 256>>>(p);
  HIP(hipDeviceSynchronize());
  for (int x : host_copy(p, 256)) CHECK(x == 1);
  HIP(hipFree(p));
  EXPECT(hipFree(p), hipErrorInvalidValue);
  std::printf("errors: ok\n");
}
