// Atomics of every kind from many blocks, in global and in shared memory.
#include <hip/hip_runtime.h>

#include <map>

#include "check.h"

__global__ void histogram(const unsigned char* in, int n, unsigned* bins) {
  __shared__ unsigned local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}
struct Totals {
  int least, most, sum, ands, ors, xors;
  unsigned wrap, down, taken;
  unsigned long long wide, widest;
  float floats;
  double doubles;
};
__global__ void all(Totals* t, unsigned* tickets) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMin(&t->least, 3 * i - 50);
  atomicMax(&t->most, 3 * i - 50);
  atomicSub(&t->sum, i);
  atomicAnd(&t->ands, ~(1 << (i % 20)));
  atomicOr(&t->ors, 1 << (i % 20));
  atomicXor(&t->xors, i);
  // atomicInc and atomicDec, for which HIP 5.2's headers use an intrinsic that LLVM 22 has no longer.
  __builtin_amdgcn_atomic_inc32(&t->wrap, 6u, __ATOMIC_RELAXED, "agent");
  __builtin_amdgcn_atomic_dec32(&t->down, 9u, __ATOMIC_RELAXED, "agent");
  atomicAdd(&t->wide, (unsigned long long)i << 20);
  atomicMax(&t->widest, (unsigned long long)i * i << 16);
  atomicAdd(&t->floats, 0.5f);
  atomicAdd(&t->doubles, 0.25);
  tickets[i] = atomicAdd(&t->taken, 1u);
}
// A maximum of floats by compare-and-swap, and a lock-free list by exchange.
__global__ void by_swap(const float* in, int* best, int* head, int* next) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int old = *best;
  while (in[i] > __int_as_float(old)) {
    const int seen = atomicCAS(best, old, __float_as_int(in[i]));
    if (seen == old) break;
    old = seen;
  }
  next[i] = atomicExch(head, i);
}

int main() {
  const int n = 4000;
  std::vector<unsigned char> in(n);
  std::vector<unsigned> want(256);
  for (int i = 0; i < n; i++) want[in[i] = (i * i) >> 3]++;
  unsigned* bins = device_zeros<unsigned>(256);
  histogram<<<4, 128>>>(device_copy(in), n, bins);
  CHECK(host_copy(bins, 256) == want);

  const int items = 4 * 96;
  Totals zero = {};
  zero.least = 1 << 30, zero.most = -(1 << 30), zero.ands = -1, zero.down = 4;
  Totals* dt = device_copy(std::vector<Totals>{zero});
  unsigned* tickets = device_zeros<unsigned>(items);
  all<<<4, 96>>>(dt, tickets);
  const Totals t = host_copy(dt, 1)[0];
  int xors = 0;
  for (int i = 0; i < items; i++) xors ^= i;
  CHECK(t.least == -50 && t.most == 3 * (items - 1) - 50);
  CHECK(t.sum == -items * (items - 1) / 2);
  CHECK(t.ands == ~0xfffff && t.ors == 0xfffff && t.xors == xors);
  CHECK(t.wrap == items % 7);                                            // 0 to 6, then 0 again
  unsigned down = 4;
  for (int i = 0; i < items; i++) down = down == 0 || down > 9 ? 9 : down - 1;
  CHECK(t.down == down);
  CHECK(t.wide == ((unsigned long long)items * (items - 1) / 2) << 20);
  CHECK(t.widest == (unsigned long long)(items - 1) * (items - 1) << 16);
  CHECK(t.floats == 0.5f * items && t.doubles == 0.25 * items);
  std::map<unsigned, int> seen;
  for (unsigned ticket : host_copy(tickets, items)) seen[ticket]++;
  CHECK(seen.size() == size_t(items) && seen.rbegin()->first == unsigned(items - 1));

  std::vector<float> values(128);
  for (int i = 0; i < 128; i++) values[i] = float((i * 37) % 101) / 4;
  int *best = device_zeros<int>(1), *head = device_copy(std::vector<int>{-1}), *next = device_zeros<int>(128);
  by_swap<<<2, 64>>>(device_copy(values), best, head, next);
  float most;
  HIP(hipMemcpy(&most, best, 4, hipMemcpyDeviceToHost));
  CHECK(most == 25);
  const auto links = host_copy(next, 128);
  int length = 0;
  for (int at = host_copy(head, 1)[0]; at != -1; at = links[at]) CHECK(++length <= 128);
  CHECK(length == 128);
  std::printf("atomics: ok\n");
}
