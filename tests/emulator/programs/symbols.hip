// Device variables by name: constants, tables, counters, from host to device and back, whole and in part.
#include <hip/hip_runtime.h>

#include "check.h"

__constant__ float coefficients[4] = {1, 2, 3, 4};
__constant__ int shift;
__device__ int counter = 5;
__device__ unsigned table[256];
__device__ struct Pair { short a; double b; } pair = {7, 0.125};
static __device__ int hidden = 9;

__global__ void polynomial(float* y, const float* x) {
  const int i = threadIdx.x;
  float v = 0;
  for (int k = 3; k >= 0; k--) v = v * x[i] + coefficients[k];
  y[i] = v;
}
__global__ void fill() {
  table[threadIdx.x] = threadIdx.x << shift;
  atomicAdd(&counter, 1);
  if (threadIdx.x == 0) pair.a += 1, pair.b *= 2, hidden += 1;
}

int main() {
  // As the program declares them.
  float c[4];
  HIP(hipMemcpyFromSymbol(c, HIP_SYMBOL(coefficients), sizeof c));
  CHECK(c[0] == 1 && c[3] == 4);
  size_t size = 0;
  HIP(hipGetSymbolSize(&size, HIP_SYMBOL(table)));
  CHECK(size == 1024);

  // A part of a constant, then a kernel that reads it.
  const float last[2] = {-1, 0.5f};
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), last, sizeof last, 2 * sizeof(float)));
  std::vector<float> x(64);
  for (int i = 0; i < 64; i++) x[i] = 0.25f * i;
  float *dx = device_copy(x), *dy = device_zeros<float>(64);
  polynomial<<<1, 64>>>(dy, dx);
  const auto y = host_copy(dy, 64);
  for (int i = 0; i < 64; i++) CHECK(y[i] == ((0.5f * x[i] - 1) * x[i] + 2) * x[i] + 1);

  // Kernels write, the host reads; asynchronous copies on a stream.
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  const int three = 3;
  HIP(hipMemcpyToSymbolAsync(HIP_SYMBOL(shift), &three, sizeof three, 0, hipMemcpyHostToDevice, stream));
  fill<<<1, 256, 0, stream>>>();
  int count = 0;
  HIP(hipMemcpyFromSymbolAsync(&count, HIP_SYMBOL(counter), sizeof count, 0, hipMemcpyDeviceToHost, stream));
  HIP(hipStreamSynchronize(stream));
  CHECK(count == 5 + 256);
  unsigned part[2];
  HIP(hipMemcpyFromSymbol(part, HIP_SYMBOL(table), sizeof part, 254 * sizeof(unsigned)));
  CHECK(part[0] == 254u << 3 && part[1] == 255u << 3);
  Pair p;
  HIP(hipMemcpyFromSymbol(&p, HIP_SYMBOL(pair), sizeof p));
  CHECK(p.a == 8 && p.b == 0.25);
  int h = 0;
  HIP(hipMemcpyFromSymbol(&h, HIP_SYMBOL(hidden), sizeof h));
  CHECK(h == 10);

  // The address is an ordinary device address.
  unsigned* address = nullptr;
  HIP(hipGetSymbolAddress((void**)&address, HIP_SYMBOL(table)));
  CHECK(host_copy(address + 7, 1)[0] == 7u << 3);
  HIP(hipMemset(address, 0, size));
  CHECK(host_copy(address + 7, 1)[0] == 0);

  // What cannot be.
  int local = 0;
  EXPECT(hipMemcpyToSymbol(HIP_SYMBOL(table), c, 4, 1024), hipErrorInvalidValue);
  EXPECT(hipMemcpyToSymbol(HIP_SYMBOL(local), c, 4), hipErrorInvalidSymbol);
  EXPECT(hipGetSymbolSize(&size, HIP_SYMBOL(local)), hipErrorInvalidSymbol);
  EXPECT(hipMemcpyToSymbol(HIP_SYMBOL(table), c, 4, 0, hipMemcpyDeviceToHost), hipErrorInvalidMemcpyDirection);
  HIP(hipStreamDestroy(stream));
  std::printf("symbols: ok\n");
}
