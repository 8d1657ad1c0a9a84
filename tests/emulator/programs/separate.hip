#include "separate.h"

#include "check.h"

// A kernel of the same name as one in the other file, but of this file alone.
static __global__ void add_areas(float* out, const Shape* shapes) { out[threadIdx.x] = area(shapes[threadIdx.x]); }

int main() {
  const int n = 10;
  std::vector<Shape> shapes;
  float total = 0;
  for (int i = 0; i < n; i++) shapes.push_back({i % 2, 1.0f + i, 4.0f});
  Shape* d = device_copy(shapes);
  float* out = device_zeros<float>(n);
  add_areas<<<1, n>>>(out, d);
  const auto areas = host_copy(out, n);
  for (int i = 0; i < n; i++) {
    CHECK(areas[i] == 2 * (i % 2 ? 0.5f : 1) * (1 + i) * 4);
    total += areas[i];
  }
  total_area(out, d, n);
  CHECK(host_copy(out, 1)[0] == total);
  int count = 0;
  HIP(hipMemcpyFromSymbol(&count, HIP_SYMBOL(calls), sizeof count));
  CHECK(count == 100 + 2 * n);
  const float one = 1;
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(scale), &one, sizeof one));
  total_area(out, d, n);
  CHECK(host_copy(out, 1)[0] == total / 2);

  std::vector<Small<double, 3>> threes = {{{1, 2, 3}}, {{0.5, 0.25, 0.125}}};
  std::vector<Small<unsigned char, 5>> bytes = {{{1, 2, 3, 4, 250}}};
  double* dd = device_zeros<double>(2);
  unsigned char* db = device_zeros<unsigned char>(1);
  sums<<<1, 2>>>(dd, device_copy(threes));
  sums<<<1, 1>>>(db, device_copy(bytes));
  CHECK(host_copy(dd, 2)[1] == 0.875);
  CHECK(host_copy(db, 1)[0] == 4);
  std::printf("separate: ok\n");
}
