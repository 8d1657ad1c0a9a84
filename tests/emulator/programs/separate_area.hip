#include "separate.h"

__device__ int calls = 100;
__constant__ float scale = 2;

__device__ float area(const Shape& s) {
  atomicAdd(&calls, 1);
  return scale * (s.kind == 0 ? s.a * s.b : s.a * s.b / 2);
}
__global__ void add_areas(float* out, const Shape* shapes, int n) {
  float total = 0;
  for (int i = 0; i < n; i++) total += area(shapes[i]);
  *out = total;
}
void total_area(float* out, const Shape* shapes, int n) { add_areas<<<1, 1>>>(out, shapes, n); }
