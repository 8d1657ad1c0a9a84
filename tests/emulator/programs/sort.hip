// A radix sort of 64-bit keys with values, by ballots, scans in shared memory and scattered stores; then a bitonic sort
// of one block, a kernel with much divergence and many barriers.
#include <hip/hip_runtime.h>

#include <algorithm>

#include "check.h"

constexpr int block_size = 128;

// Zeros of the bit go first: counts per block, then places.
__global__ void count_zeros(const unsigned long long* keys, int n, int bit, int* zeros) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  const int mine = i < n && !(keys[i] >> bit & 1);
  const int total = __syncthreads_count(mine);
  if (threadIdx.x == 0) zeros[blockIdx.x] = total;
}
__global__ void scatter(const unsigned long long* keys, const int* values, int n, int bit, const int* zeros_before, int zeros, unsigned long long* keys_out, int* values_out) {
  __shared__ int scan[block_size];
  const int i = blockIdx.x * block_size + threadIdx.x, t = threadIdx.x;
  const bool here = i < n, zero = here && !(keys[i] >> bit & 1);
  scan[t] = zero;
  __syncthreads();
  for (int step = 1; step < block_size; step *= 2) {
    const int other = t >= step ? scan[t - step] : 0;
    __syncthreads();
    scan[t] += other;
    __syncthreads();
  }
  if (!here) return;
  const int before = zeros_before[blockIdx.x] + scan[t] - zero;
  const int place = zero ? before : zeros + i - before;
  keys_out[place] = keys[i], values_out[place] = values[i];
}
__global__ void bitonic(float* data) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  s[t] = data[t];
  for (unsigned size = 2; size <= 256; size *= 2)
    for (unsigned step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      const unsigned other = t ^ step;
      if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
        const float x = s[t];
        s[t] = s[other], s[other] = x;
      }
    }
  __syncthreads();
  data[t] = s[t];
}

int main() {
  const int n = 700, blocks = (n + block_size - 1) / block_size;
  std::vector<unsigned long long> keys(n);
  std::vector<int> values(n);
  for (int i = 0; i < n; i++) keys[i] = (i * 0x9e3779b97f4a7c15ull) >> 52 << 8, values[i] = i;   // some are equal
  unsigned long long *k = device_copy(keys), *k2 = device_zeros<unsigned long long>(n);
  int *v = device_copy(values), *v2 = device_zeros<int>(n), *zeros = device_zeros<int>(blocks);
  for (int bit = 0; bit < 20; bit++) {
    count_zeros<<<blocks, block_size>>>(k, n, bit, zeros);
    auto counts = host_copy(zeros, blocks);
    int total = 0;
    for (int& c : counts) {
      const int mine = c;
      c = total, total += mine;
    }
    HIP(hipMemcpy(zeros, counts.data(), blocks * sizeof(int), hipMemcpyHostToDevice));
    scatter<<<blocks, block_size>>>(k, v, n, bit, zeros, total, k2, v2);
    std::swap(k, k2), std::swap(v, v2);
  }
  std::vector<int> order(values);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  CHECK(host_copy(v, n) == order);

  std::vector<float> data(256);
  for (int i = 0; i < 256; i++) data[i] = float((i * 73) % 199) - 50;
  float* d = device_copy(data);
  bitonic<<<1, 256>>>(d);
  std::sort(data.begin(), data.end());
  CHECK(host_copy(d, 256) == data);
  std::printf("sort: ok\n");
}
