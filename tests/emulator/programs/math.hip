// Device math from ROCm's libraries: floats, doubles, halves (as clang's _Float16: HIP 5.2's hip_fp16.h does not compile
// with clang 22), integers. Divisions, fma and roundings are exact, and the square root of doubles; the rest may be 2
// units of the last place off, erff 4.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstring>

#include "check.h"

__global__ void floats(float* out, const float* in, int n) {
  const int i = threadIdx.x;
  const float x = in[i];
  out[0 * n + i] = sinf(x);
  out[1 * n + i] = expf(x / 8);
  out[2 * n + i] = logf(fabsf(x) + 0.01f);
  out[3 * n + i] = powf(fabsf(x), 0.7f);
  out[4 * n + i] = sqrtf(fabsf(x));
  out[5 * n + i] = tanhf(x);
  out[6 * n + i] = atan2f(x, 3.0f);
  out[7 * n + i] = erff(x / 4);
  out[8 * n + i] = fmodf(x, 0.7f);
  out[9 * n + i] = x / 3.0f;
  out[10 * n + i] = rintf(x) + floorf(x) + truncf(x);
}
__global__ void doubles(double* out, const float* in, int n) {
  const int i = threadIdx.x;
  const double x = in[i];
  out[0 * n + i] = cos(x);
  out[1 * n + i] = exp(x / 8);
  out[2 * n + i] = log(fabs(x) + 0.01);
  out[3 * n + i] = sqrt(fabs(x));
  out[4 * n + i] = x / 7.0;
  out[5 * n + i] = cbrt(x);
  out[6 * n + i] = fma(x, x, -x);
}
__global__ void halves(_Float16* out, const float* in) {
#pragma clang fp contract(off)
  const int i = threadIdx.x;
  const _Float16 h = in[i];
  out[i] = _Float16(h * _Float16(0.3f)) + _Float16(1.25f);
}
__global__ void integers(unsigned* out, const unsigned* in, int n) {
  const int i = threadIdx.x;
  const unsigned x = in[i];
  out[0 * n + i] = __popc(x);
  out[1 * n + i] = __clz(x);
  out[2 * n + i] = __ffs(x);
  out[3 * n + i] = __brev(x);
  out[4 * n + i] = __umulhi(x, x + 3);
  out[5 * n + i] = x / (in[n - 1 - i] | 1);
  out[6 * n + i] = unsigned((x * 0x9e3779b97f4a7c15ull) % ((unsigned long long)(x | 1) << 5 | 3));
  out[7 * n + i] = __byte_perm(x, ~x, 0x5140);
}

// Steps between two numbers of the type, for close ones.
template <class T>
double apart(T got, double want) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) == std::isnan(want) ? 0 : 1e9;
  const T w = T(want);
  if (got == w) return 0;
  const double step = std::nextafter(std::fabs(w), T(INFINITY)) - std::fabs(w);
  return std::fabs(double(got) - want) / step;
}

int main() {
  const int n = 256;
  std::vector<float> x(n);
  for (int i = 0; i < n; i++) x[i] = (i - 128) * 0.37f + 0.01f;
  float* dx = device_copy(x);

  float* df = device_zeros<float>(11 * n);
  floats<<<1, n>>>(df, dx, n);
  const auto f = host_copy(df, 11 * n);
  for (int i = 0; i < n; i++) {
    const double v = x[i], a = std::fabs(x[i]);
    CHECK(apart(f[0 * n + i], std::sin(v)) <= 2);
    CHECK(apart(f[1 * n + i], std::exp(double(x[i] / 8))) <= 2);
    CHECK(apart(f[2 * n + i], std::log(double(std::fabs(x[i]) + 0.01f))) <= 2);
    CHECK(apart(f[3 * n + i], std::pow(a, double(0.7f))) <= 2);
    CHECK(apart(f[4 * n + i], std::sqrt(a)) <= 1);
    CHECK(apart(f[5 * n + i], std::tanh(v)) <= 2);
    CHECK(apart(f[6 * n + i], std::atan2(v, 3.0)) <= 2);
    CHECK(apart(f[7 * n + i], std::erf(double(x[i] / 4))) <= 4);
    CHECK(f[8 * n + i] == std::fmod(x[i], 0.7f));
    CHECK(f[9 * n + i] == x[i] / 3.0f);
    CHECK(f[10 * n + i] == std::rint(x[i]) + std::floor(x[i]) + std::trunc(x[i]));
  }
  double* dd = device_zeros<double>(7 * n);
  doubles<<<1, n>>>(dd, dx, n);
  const auto d = host_copy(dd, 7 * n);
  for (int i = 0; i < n; i++) {
    const double v = x[i], a = std::fabs(v);
    CHECK(apart(d[0 * n + i], std::cos(v)) <= 2);
    CHECK(apart(d[1 * n + i], std::exp(v / 8)) <= 2);
    CHECK(apart(d[2 * n + i], std::log(a + 0.01)) <= 2);
    CHECK(d[3 * n + i] == std::sqrt(a));
    CHECK(d[4 * n + i] == v / 7.0);
    CHECK(apart(d[5 * n + i], std::cbrt(v)) <= 2);
    CHECK(d[6 * n + i] == std::fma(v, v, -v));
  }
  unsigned short* dh = device_zeros<unsigned short>(n);
  halves<<<1, n>>>((_Float16*)dh, dx);
  const auto h = host_copy(dh, n);
  for (int i = 0; i < n; i++) {
    const float want = float(_Float16(_Float16(_Float16(x[i]) * _Float16(0.3f)) + _Float16(1.25f)));
    _Float16 got;
    std::memcpy(&got, &h[i], 2);
    CHECK(float(got) == want);
  }
  std::vector<unsigned> u(n);
  for (int i = 0; i < n; i++) u[i] = i < 32 ? 1u << i : i * 2654435761u;
  unsigned* du = device_zeros<unsigned>(8 * n);
  integers<<<1, n>>>(du, device_copy(u), n);
  const auto r = host_copy(du, 8 * n);
  for (int i = 0; i < n; i++) {
    const unsigned v = u[i];
    unsigned reversed = 0;
    for (int b = 0; b < 32; b++) reversed |= (v >> b & 1) << (31 - b);
    CHECK(r[0 * n + i] == unsigned(__builtin_popcount(v)));
    CHECK(r[1 * n + i] == unsigned(__builtin_clz(v)));
    CHECK(r[2 * n + i] == unsigned(__builtin_ffs(int(v))));
    CHECK(r[3 * n + i] == reversed);
    CHECK(r[4 * n + i] == unsigned((unsigned long long)v * (v + 3) >> 32));
    CHECK(r[5 * n + i] == v / (u[n - 1 - i] | 1));
    CHECK(r[6 * n + i] == unsigned((v * 0x9e3779b97f4a7c15ull) % ((unsigned long long)(v | 1) << 5 | 3)));
    // Selectors 0, 4, 1, 5 from the low byte on: the first bytes of both, then the second.
    CHECK(r[7 * n + i] == ((v & 255) | (~v & 255) << 8 | (v >> 8 & 255) << 16 | (~v >> 8 & 255) << 24));
  }
  std::printf("math: ok\n");
}
