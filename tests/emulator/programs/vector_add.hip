// The first program of every HIP course, and a second kernel over a grid-stride loop.
#include <hip/hip_runtime.h>

#include "check.h"

__global__ void add(float* c, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void saxpy(double* y, const double* x, double a, size_t n) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) y[i] += a * x[i];
}

int main() {
  const int n = 1000;
  std::vector<float> a(n), b(n);
  std::vector<double> x(n), y(n);
  for (int i = 0; i < n; i++) a[i] = 0.5f * i, b[i] = 3.0f - i, x[i] = i, y[i] = 1.0 / (i + 1);
  float *da = device_copy(a), *db = device_copy(b), *dc = device_zeros<float>(n);
  double *dx = device_copy(x), *dy = device_copy(y);

  add<<<(n + 255) / 256, 256>>>(dc, da, db, n);
  HIP(hipGetLastError());
  saxpy<<<3, 64>>>(dy, dx, 0.25, n);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());

  const auto c = host_copy(dc, n);
  const auto z = host_copy(dy, n);
  for (int i = 0; i < n; i++) {
    CHECK(c[i] == a[i] + b[i]);
    CHECK(z[i] == y[i] + 0.25 * x[i]);
  }
  for (void* p : {(void*)da, (void*)db, (void*)dc, (void*)dx, (void*)dy}) HIP(hipFree(p));
  std::printf("vector_add: ok\n");
}
