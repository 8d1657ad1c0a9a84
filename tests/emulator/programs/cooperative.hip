// A grid that waits for all its blocks: cooperative launches.
#include <hip/hip_runtime.h>
// After the header that it needs.
#include <hip/hip_cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

// Every round, each block reads what the others wrote in the one before.
__global__ void rounds(int* data, int count) {
  const cg::grid_group grid = cg::this_grid();
  const int n = int(grid.size()), me = int(grid.thread_rank());
  for (int k = 0; k < count; k++) {
    const int x = data[(me + 37) % n] + data[me];
    grid.sync();
    data[me] = x;
    grid.sync();
  }
}

int main() {
  int supported = 0;
  HIP(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
  CHECK(supported == 1);
  const int blocks = 6, size = 96, n = blocks * size;
  std::vector<int> v(n);
  for (int i = 0; i < n; i++) v[i] = i % 11;
  int *data = device_copy(v), count = 5;
  void* arguments[] = {&data, &count};
  HIP(hipLaunchCooperativeKernel((const void*)rounds, dim3(blocks), dim3(size), arguments, 0, nullptr));
  for (int k = 0; k < count; k++) {
    std::vector<int> w(n);
    for (int i = 0; i < n; i++) w[i] = v[(i + 37) % n] + v[i];
    v = w;
  }
  CHECK(host_copy(data, n) == v);
  // More blocks than the device holds at once.
  EXPECT(hipLaunchCooperativeKernel((const void*)rounds, dim3(1 << 20), dim3(size), arguments, 0, nullptr), hipErrorCooperativeLaunchTooLarge);
  std::printf("cooperative: ok\n");
}
