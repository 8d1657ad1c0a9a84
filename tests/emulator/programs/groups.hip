// Cooperative groups: the block as a group, tiles of it, and ranks within.
#include <hip/hip_runtime.h>
// After the header that it needs.
#include <hip/hip_cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

template <int Size>
__global__ void tiles(int* sums, int* ranks) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<Size>(block);
  int x = int(block.thread_rank());
  for (int step = Size / 2; step > 0; step /= 2) x += tile.shfl_xor(x, step);
  sums[block.thread_rank()] = x;
  ranks[block.thread_rank()] = int(tile.thread_rank());
}
__global__ void rotate(int* p) {
  __shared__ int copy[256];
  const cg::thread_block block = cg::this_thread_block();
  const unsigned me = block.thread_rank();
  copy[me] = p[me];
  block.sync();
  p[me] = copy[(me + 1) % block.size()];
}
template <int Size>
void check_tiles(int* sums, int* ranks) {
  tiles<Size><<<1, dim3(16, 8)>>>(sums, ranks);
  const auto s = host_copy(sums, 128), r = host_copy(ranks, 128);
  for (int i = 0; i < 128; i++) {
    CHECK(r[i] == i % Size);
    int want = 0;
    for (int k = 0; k < Size; k++) want += i / Size * Size + k;
    CHECK(s[i] == want);
  }
}

int main() {
  int *sums = device_zeros<int>(128), *ranks = device_zeros<int>(128);
  check_tiles<2>(sums, ranks);
  check_tiles<8>(sums, ranks);
  check_tiles<32>(sums, ranks);
  std::vector<int> v(192);
  for (int i = 0; i < 192; i++) v[i] = i * i;
  int* p = device_copy(v);
  rotate<<<1, 192>>>(p);
  const auto w = host_copy(p, 192);
  for (int i = 0; i < 192; i++) CHECK(w[i] == v[(i + 1) % 192]);
  std::printf("groups: ok\n");
}
