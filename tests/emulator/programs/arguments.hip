// What a kernel's arguments can be: structures with gaps, small and odd types, vectors, arrays, references to
// functions by template, many of them.
#include <hip/hip_runtime.h>

#include "check.h"

struct Odd {
  char tag;
  double weight;
  short pair[3];
  float4 box;
  bool on;
};
struct Nested {
  Odd odd;
  int lengths[40];
};

__global__ void one_structure(double* out, Nested s) {
  double x = s.odd.tag + s.odd.weight + s.odd.pair[2] + s.odd.box.w + s.odd.on;
  for (int i = 0; i < 40; i++) x += s.lengths[i] * (i == int(threadIdx.x));
  out[threadIdx.x] = x;
}
__global__ void many(double* out, char a, short b, int c, long d, unsigned char e, float f, double g, float3 h, uchar4 i, bool j, long long k, unsigned short l,
                     const int* m, double2 n, char o) {
  *out = a + b + c + double(d) + e + f + g + h.x + h.y + h.z + i.x + i.w + j + double(k) + l + *m + n.x + n.y + o;
}
template <class F>
__global__ void apply(F f, int* p) {
  p[threadIdx.x] = f(p[threadIdx.x]);
}
__global__ void no_arguments() {}

int main() {
  Nested s = {{'A', 0.5, {1, 2, 3}, {0, 0, 0, 8}, true}, {}};
  for (int i = 0; i < 40; i++) s.lengths[i] = 10 * i;
  double* out = device_zeros<double>(40);
  one_structure<<<1, 40>>>(out, s);
  const auto got = host_copy(out, 40);
  for (int i = 0; i < 40; i++) CHECK(got[i] == 'A' + 0.5 + 3 + 8 + 1 + 10 * i);

  int* m = device_copy(std::vector<int>{1000});
  many<<<1, 1>>>(out, -1, -2, -3, -4, 200, 0.5f, 0.25, {1, 2, 3}, {7, 0, 0, 9}, true, 1ll << 40, 65535, m, {0.125, 16}, 5);
  CHECK(host_copy(out, 1)[0] == -1 - 2 - 3 - 4 + 200 + 0.5 + 0.25 + 6 + 16 + 1 + double(1ll << 40) + 65535 + 1000 + 16.125 + 5);

  int* p = device_copy(std::vector<int>{1, 2, 3, 4});
  const int a = 10, b = 7;
  apply<<<1, 4>>>([a, b] __device__(int x) { return a * x + b; }, p);
  CHECK(host_copy(p, 4) == (std::vector<int>{17, 27, 37, 47}));
  no_arguments<<<2, 2>>>();
  HIP(hipDeviceSynchronize());

  // The calls that <<<>>> stands for.
  const int c = 3;
  auto f = [c] __device__(int x) { return x % c; };
  void* parameters[] = {&f, &p};
  HIP(hipLaunchKernel((const void*)apply<decltype(f)>, dim3(1), dim3(4), parameters, 0, nullptr));
  CHECK(host_copy(p, 4) == (std::vector<int>{2, 0, 1, 2}));
  double* to = out + 3;
  HIP(hipConfigureCall(dim3(1), dim3(40), 0, nullptr));
  HIP(hipSetupArgument(&to, sizeof to, 0));
  HIP(hipSetupArgument(&s, sizeof s, 16));    // float4 asks for 16 bytes
  EXPECT(hipLaunchByPtr((const void*)one_structure), hipSuccess);
  EXPECT(hipDeviceSynchronize(), hipErrorIllegalAddress);   // three elements too far: the last are outside
  std::printf("arguments: ok\n");
}
