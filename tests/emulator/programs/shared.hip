// Dynamic shared memory, three-dimensional grids: a transposition through tiles, a stencil, a matrix product.
#include <hip/hip_runtime.h>

#include "check.h"

__global__ void transpose(float* out, const float* in, int rows, int columns) {
  extern __shared__ float tile[];
  const int width = blockDim.x + 1;
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && y < rows) tile[threadIdx.y * width + threadIdx.x] = in[y * columns + x];
  __syncthreads();
  x = blockIdx.y * blockDim.y + threadIdx.x, y = blockIdx.x * blockDim.x + threadIdx.y;
  if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x * width + threadIdx.y];
}
__global__ void cells(int* out, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
  out[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z;
}
template <int Tile>
__global__ void multiply(float* c, const float* a, const float* b, int n) {
  __shared__ float as[Tile][Tile], bs[Tile][Tile];
  const int row = blockIdx.y * Tile + threadIdx.y, column = blockIdx.x * Tile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += Tile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < Tile; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
// Several arrays in one piece of dynamic shared memory, used backwards.
__global__ void reverse(double* d, char* c) {
  extern __shared__ double space[];
  char* letters = (char*)(space + blockDim.x);
  space[threadIdx.x] = d[threadIdx.x], letters[threadIdx.x] = c[threadIdx.x];
  __syncthreads();
  d[threadIdx.x] = space[blockDim.x - 1 - threadIdx.x], c[threadIdx.x] = letters[blockDim.x - 1 - threadIdx.x];
}

int main() {
  const int rows = 50, columns = 37, t = 16;
  std::vector<float> in(rows * columns);
  for (size_t i = 0; i < in.size(); i++) in[i] = float(i);
  float *din = device_copy(in), *dout = device_zeros<float>(in.size());
  transpose<<<dim3((columns + t - 1) / t, (rows + t - 1) / t), dim3(t, t), t*(t + 1) * sizeof(float)>>>(dout, din, rows, columns);
  const auto turned = host_copy(dout, in.size());
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++) CHECK(turned[x * rows + y] == in[y * columns + x]);

  const int nx = 12, ny = 6, nz = 10;
  int* dcells = device_zeros<int>(nx * ny * nz);
  cells<<<dim3(3, 2, 5), dim3(4, 3, 2)>>>(dcells, nx, ny);
  const auto all = host_copy(dcells, nx * ny * nz);
  for (int i = 0; i < nx * ny * nz; i++) CHECK(all[i] == i % nx + 100 * (i / nx % ny) + 10000 * (i / nx / ny));

  const int n = 32;
  std::vector<float> a(n * n), b(n * n);
  for (int i = 0; i < n * n; i++) a[i] = float(i % 7 - 3), b[i] = float(i % 5 - 2);
  float *da = device_copy(a), *db = device_copy(b), *dc = device_zeros<float>(n * n);
  for (int tile : {8, 16}) {
    if (tile == 8) multiply<8><<<dim3(n / 8, n / 8), dim3(8, 8)>>>(dc, da, db, n);
    else multiply<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(dc, da, db, n);
    const auto c = host_copy(dc, n * n);
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        float want = 0;
        for (int k = 0; k < n; k++) want += a[y * n + k] * b[k * n + x];
        CHECK(c[y * n + x] == want);
      }
  }

  std::vector<double> d(100);
  std::vector<char> letters(100);
  for (int i = 0; i < 100; i++) d[i] = i / 8.0, letters[i] = char(i);
  double* dd = device_copy(d);
  char* dl = device_copy(letters);
  reverse<<<1, 100, 900>>>(dd, dl);
  const auto back = host_copy(dd, 100);
  const auto text = host_copy(dl, 100);
  for (int i = 0; i < 100; i++) CHECK(back[i] == d[99 - i] && text[i] == letters[99 - i]);
  std::printf("shared: ok\n");
}
