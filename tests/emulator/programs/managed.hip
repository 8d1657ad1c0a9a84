// Managed variables: the host uses them by name, before and after kernels do.
#include <hip/hip_runtime.h>

#include "check.h"

__managed__ int total = 40;
__managed__ float grid[2][32];
__managed__ int* chosen;

__global__ void work(int k) {
  atomicAdd(&total, k);
  grid[blockIdx.x][threadIdx.x] = grid[blockIdx.x][threadIdx.x] * 0 + blockIdx.x * 100 + threadIdx.x;
}
__global__ void through_pointer() { *chosen = 77; }

int main() {
  CHECK(total == 40);   // before any call to HIP
  total += 1;
  for (auto& row : grid)
    for (float& x : row) x = 1;
  work<<<2, 32>>>(2);
  HIP(hipDeviceSynchronize());
  CHECK(total == 41 + 2 * 64);
  for (int b = 0; b < 2; b++)
    for (int t = 0; t < 32; t++) CHECK(grid[b][t] == b * 100 + t);

  HIP(hipMallocManaged((void**)&chosen, sizeof(int)));
  *chosen = 1;
  through_pointer<<<1, 1>>>();
  HIP(hipDeviceSynchronize());
  CHECK(*chosen == 77);
  HIP(hipFree(chosen));

  // As a symbol too.
  int value = 7;
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(total), &value, sizeof value));
  CHECK(total == 7);
  std::printf("managed: ok\n");
}
