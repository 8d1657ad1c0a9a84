// Device code in several translation units, linked on the device (-fgpu-rdc).
#pragma once

#include <hip/hip_runtime.h>

struct Shape {
  int kind;
  float a, b;
};
__device__ float area(const Shape&);          // in separate_area.hip
extern __device__ int calls;                  // there too
extern __constant__ float scale;

template <class T, int N>
struct Small {
  T v[N];
  __host__ __device__ T sum() const {
    T s = v[0];
    for (int i = 1; i < N; i++) s += v[i];
    return s;
  }
};
template <class T, int N>
__global__ void sums(T* out, const Small<T, N>* in) {
  out[threadIdx.x] = in[threadIdx.x].sum();
}
void total_area(float* out, const Shape* shapes, int n);   // launches a kernel of the other file
