// Sums in three steps: shuffles in a wave, shared memory in a block, an atomic for all. And wave-wide votes.
#include <hip/hip_runtime.h>

#include "check.h"

__device__ int wave_sum(int x) {
  for (int step = warpSize / 2; step > 0; step /= 2) x += __shfl_down(x, step);
  return x;
}
__global__ void sum(const int* in, int n, int* out) {
  __shared__ int parts[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = wave_sum(i < n ? in[i] : 0);
  if (threadIdx.x % warpSize == 0) parts[threadIdx.x / warpSize] = x;
  __syncthreads();
  const int waves = blockDim.x / warpSize;
  if (threadIdx.x < warpSize) {
    x = wave_sum(threadIdx.x < waves ? parts[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(out, x);
  }
}
// The largest value and how many lanes hold it, by butterflies and ballots.
__global__ void largest(const float* in, float* most, int* holders) {
  const float own = in[blockIdx.x * warpSize + threadIdx.x];
  float x = own;
  for (int mask = 1; mask < warpSize; mask *= 2) x = fmaxf(x, __shfl_xor(x, mask));
  const unsigned long long who = __ballot(own == x);
  if (threadIdx.x == 0) most[blockIdx.x] = x, holders[blockIdx.x] = __popcll(who);
}
// Inclusive scan of a wave by __shfl_up; __any and __all on the way.
__global__ void scan(int* data, int* votes) {
  int x = data[threadIdx.x];
  for (int step = 1; step < warpSize; step *= 2) {
    const int other = __shfl_up(x, step);
    if (int(threadIdx.x) >= step) x += other;
  }
  data[threadIdx.x] = x;
  if (threadIdx.x == 0) votes[2] = warpSize;
  const int any = __any(x == 3), all = __all(x > 0);
  if (threadIdx.x == 0) votes[0] = any, votes[1] = all;
}

int main() {
  const int n = 5000;
  std::vector<int> in(n);
  int want = 0;
  for (int i = 0; i < n; i++) want += in[i] = (i * 7919) % 1000 - 400;
  int *din = device_copy(in), *dout = device_zeros<int>(1);
  sum<<<(n + 255) / 256, 256>>>(din, n, dout);
  CHECK(host_copy(dout, 1)[0] == want);

  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  const int wave = properties.warpSize, groups = 5;
  std::vector<float> values(groups * wave);
  for (int i = 0; i < groups * wave; i++) values[i] = float((i * 31) % 17);
  float *dvalues = device_copy(values), *dmost = device_zeros<float>(groups);
  int* dholders = device_zeros<int>(groups);
  largest<<<groups, wave>>>(dvalues, dmost, dholders);
  const auto most = host_copy(dmost, groups);
  const auto holders = host_copy(dholders, groups);
  for (int g = 0; g < groups; g++) {
    float m = 0;
    int count = 0;
    for (int i = 0; i < wave; i++) m = std::max(m, values[g * wave + i]);
    for (int i = 0; i < wave; i++) count += values[g * wave + i] == m;
    CHECK(most[g] == m);
    CHECK(holders[g] == count);
  }

  std::vector<int> ones(wave, 1);
  int *dscan = device_copy(ones), *dvotes = device_zeros<int>(3);
  scan<<<1, wave>>>(dscan, dvotes);
  const auto scanned = host_copy(dscan, wave);
  for (int i = 0; i < wave; i++) CHECK(scanned[i] == i + 1);
  const auto votes = host_copy(dvotes, 3);
  CHECK(votes[0] == 1 && votes[1] == 1 && votes[2] == wave);
  std::printf("reduction: ok\n");
}
