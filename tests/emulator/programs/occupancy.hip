// How many blocks a multiprocessor holds: less shared memory, fewer registers, smaller blocks give more.
#include <hip/hip_runtime.h>

#include "check.h"

__global__ void light(int* p) { p[threadIdx.x] = threadIdx.x; }
__global__ void shared_hungry(int* p) {
  __shared__ int all[8192];                     // 32 KB: two blocks in 64
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) all[i] = p[i % blockDim.x];
  __syncthreads();
  p[threadIdx.x] = all[(threadIdx.x * 77) % 8192];
}
__global__ void __launch_bounds__(256) bounded(int* p) { p[threadIdx.x] = 1; }

static int blocks(const void* kernel, int size, size_t lds) {
  int n = -1;
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, size, lds));
  return n;
}

int main() {
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  const int lds = int(properties.maxSharedMemoryPerMultiProcessor);

  const int one = blocks((const void*)light, properties.warpSize, 0);
  CHECK(one >= 16);
  for (int size = properties.warpSize; size <= 1024; size *= 2) CHECK(blocks((const void*)light, size, 0) == one * properties.warpSize / size);
  CHECK(blocks((const void*)light, properties.warpSize - 1, 0) == one);       // part of a wave takes a whole one
  CHECK(blocks((const void*)shared_hungry, 64, 0) == lds / 32768);
  CHECK(blocks((const void*)light, 64, lds / 4) == 4);
  CHECK(blocks((const void*)light, 64, lds) == 1);
  CHECK(blocks((const void*)light, 64, lds + 1) == 0);

  int grid = 0, block = 0;
  HIP(hipOccupancyMaxPotentialBlockSize(&grid, &block, (const void*)bounded, 0, 0));
  CHECK(block == 256 && grid >= properties.multiProcessorCount);
  HIP(hipOccupancyMaxPotentialBlockSize(&grid, &block, (const void*)light, 0, 128));
  CHECK(block == 128);
  int n = 0;
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, (const void*)light, 256, 0, hipOccupancyDefault));
  CHECK(n == one * properties.warpSize / 256);
  EXPECT(hipOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void*)light, 0, 0), hipErrorInvalidValue);
  EXPECT(hipOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, (const void*)light, 64, 0), hipErrorInvalidValue);
  EXPECT(hipOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void*)blocks, 64, 0), hipErrorInvalidDeviceFunction);
  std::printf("occupancy: ok\n");
}
