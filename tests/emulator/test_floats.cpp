// Floats of every width, conversions, convolution. The host computes the same operations in IEEE
// arithmetic; results must agree bit for bit (any NaN equals any NaN).
#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "harness.h"
#include "support.h"

using namespace emu_test;

namespace {

float bits_f(u32 u) { float f; std::memcpy(&f, &u, 4); return f; }
double bits_d(u64 u) { double f; std::memcpy(&f, &u, 8); return f; }

std::vector<float> floats(int n, unsigned seed) {
  std::mt19937 r(seed);
  const u32 special[] = {0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x40490fdb, 0x3f000000, 0x4b000001, 0x4f000000, 0x00ffffff, 0x7e800000, 0x3effffff, 0xc0200000};
  std::vector<float> v(n);
  for (auto& x : v) {
    const u32 k = r();
    x = k % 4 == 0 ? bits_f(special[(k >> 8) % std::size(special)]) : k % 4 == 1 ? float(i32(r()) % 2000) / 16 : k % 4 == 2 ? bits_f(r()) : float(i32(r())) * 1e-6f;
    if (x != x) x = bits_f(0x7fc00000);
  }
  return v;
}
std::vector<double> doubles(int n, unsigned seed) {
  std::mt19937_64 r(seed);
  const u64 special[] = {0, u64(1) << 63, 1, 0xfffffffffffff, u64(1) << 52, 0x3ff0000000000000, 0xbff0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x400921fb54442d18, 0x7fd0000000000000, 0x4330000000000001};
  std::vector<double> v(n);
  for (auto& x : v) {
    const u64 k = r();
    x = k % 4 == 0 ? bits_d(special[(k >> 8) % std::size(special)]) : k % 4 == 1 ? double(i64(r() % 4000) - 2000) / 16 : k % 4 == 2 ? bits_d(r()) : double(i64(r())) * 1e-15;
    if (x != x) x = bits_d(0x7ff8000000000000);
  }
  return v;
}
std::vector<_Float16> halfs(int n, unsigned seed) {
  std::mt19937 r(seed);
  std::vector<_Float16> v(n);
  for (auto& x : v) {
    const u32 k = r();
    uint16_t u = uint16_t(r());
    if (k % 3 == 0) x = _Float16(float(i32(r() % 400) - 200) / 8);
    else {
      if ((u & 0x7fff) > 0x7c00) u = 0x7e00;
      std::memcpy(&x, &u, 2);
    }
  }
  return v;
}

// Bit-for-bit, but a NaN is a NaN.
template <class T, class U>
void same_bits(const std::vector<T>& got, const std::vector<T>& want, int per_row) {
  REQUIRE(got.size() == want.size());
  for (size_t k = 0; k < got.size(); k++) {
    U g, w;
    std::memcpy(&g, &got[k], sizeof g), std::memcpy(&w, &want[k], sizeof w);
    if (g != w && !(got[k] != got[k] && want[k] != want[k])) {
      INFO("row " << k / per_row << " operation " << k % per_row << ": got " << std::hex << u64(g) << ", want " << u64(w) << " (" << double(got[k]) << ", " << double(want[k]) << ")");
      REQUIRE(g == w);
    }
  }
  SUCCEED();
}

template <class T>
T minnum(T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b; }
template <class T>
T maxnum(T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b; }
int to_int(float c) { return c != c ? 0 : c >= 2147483648.0f ? INT32_MAX : c < -2147483648.0f ? INT32_MIN : int(c); }
int to_int(double c) { return c != c ? 0 : c >= 2147483648.0 ? INT32_MAX : c < -2147483648.0 ? INT32_MIN : int(c); }
_Float16 half_of(float x) { return _Float16(x); }

}  // namespace

TEST_CASE("f32 arithmetic", "[floats]") {
  const int n = 2000;
  const auto x = floats(n, 1), y = floats(n, 2);
  auto z = floats(n, 3);
  for (int i = 0; i < n; i += 3) z[i] = float(i % 300 - 150);
  std::vector<float> want;
  for (int i = 0; i < n; i++) {
    const float a = x[i], b = y[i], c = z[i];
    const float o[24] = {a + b, a - b, a * b, a / b, std::fma(a, b, c), std::sqrt(a), minnum(a, b), maxnum(a, b), std::floor(a), std::ceil(a), std::trunc(a), std::nearbyint(a),
                         std::fabs(a), -a, std::copysign(a, b), a * b + c, a < b ? a : c, 1.0f / a, a != a ? 1.f : a == b ? 2.f : a > b ? 3.f : 4.f, std::ldexp(a, to_int(c)), std::round(a),
                         maxnum(minnum(a, 1.0f), 0.0f), -std::fabs(b) + c, a * 2.0f - b};
    want.insert(want.end(), o, o + 24);
  }
  everywhere("floats.cl", "-ffp-contract=off -cl-fp32-correctly-rounded-divide-sqrt", [&](Module& m, const std::string&) {
    Buffer<float> dx(x), dy(y), dz(z), out(n * 24);
    ok(launch(m["f32_ops"], {blocks(n)}, {64}, 0, out, dx, dy, dz, n));
    same_bits<float, u32>(out.get(), want, 24);
  });
}

TEST_CASE("f64 arithmetic", "[floats]") {
  const int n = 1500;
  const auto x = doubles(n, 4), y = doubles(n, 5);
  auto z = doubles(n, 6);
  for (int i = 0; i < n; i += 3) z[i] = double(i % 2000 - 1000);
  std::vector<double> want;
  for (int i = 0; i < n; i++) {
    const double a = x[i], b = y[i], c = z[i];
    const double o[20] = {a + b, a - b, a * b, a / b, std::fma(a, b, c), std::sqrt(a), minnum(a, b), maxnum(a, b), std::floor(a), std::ceil(a), std::trunc(a), std::nearbyint(a),
                          std::fabs(a), -a, std::copysign(a, b), a * b + c, a < b ? a : c, 1.0 / a, a != a ? 1. : a == b ? 2. : a > b ? 3. : 4., std::ldexp(a, to_int(c))};
    want.insert(want.end(), o, o + 20);
  }
  everywhere("floats.cl", "-ffp-contract=off -cl-fp32-correctly-rounded-divide-sqrt", [&](Module& m, const std::string&) {
    Buffer<double> dx(x), dy(y), dz(z), out(n * 20);
    ok(launch(m["f64_ops"], {blocks(n)}, {64}, 0, out, dx, dy, dz, n));
    same_bits<double, u64>(out.get(), want, 20);
  });
}

TEST_CASE("f16 arithmetic", "[floats]") {
  const int n = 2000;
  const auto x = halfs(n, 7), y = halfs(n, 8), z = halfs(n, 9);
  std::vector<_Float16> want;
  for (int i = 0; i < n; i++) {
    const float a = float(x[i]), b = float(y[i]), c = float(z[i]);
    // fma in f80: the product is exact, and 64 bits are enough for one rounding but for absurd cases.
    const long double exact = (long double)a * b + c;
    const _Float16 o[18] = {half_of(a + b), half_of(a - b), half_of(a * b), half_of(a / b), _Float16(exact), half_of(std::sqrt(a)), half_of(minnum(a, b)), half_of(maxnum(a, b)), half_of(std::floor(a)),
                            half_of(std::ceil(a)), half_of(std::trunc(a)), half_of(std::nearbyint(a)), half_of(std::fabs(a)), half_of(-a), half_of(a < b ? a : c), half_of(a == b ? 1 : 2), half_of(a * b + c), half_of(a / 3.0f)};
    want.insert(want.end(), o, o + 18);
  }
  everywhere("floats.cl", "-ffp-contract=off -cl-fp32-correctly-rounded-divide-sqrt", [&](Module& m, const std::string&) {
    Buffer<_Float16> dx(x), dy(y), dz(z), out(n * 18);
    ok(launch(m["f16_ops"], {blocks(n)}, {64}, 0, out, dx, dy, dz, n));
    same_bits<_Float16, uint16_t>(out.get(), want, 18);
  });
}

TEST_CASE("packed halves, shorts and floats", "[floats]") {
  const int n = 500;
  const auto x = halfs(2 * n, 10), y = halfs(2 * n, 11);
  std::vector<int16_t> s(2 * n), t(2 * n), swant;
  std::mt19937 r(12);
  for (auto& v : s) v = int16_t(r());
  for (auto& v : t) v = int16_t(r());
  std::vector<_Float16> want;
  std::vector<float> fwant;
  for (int i = 0; i < n; i++) {
    float a[2], b[2];
    for (int k = 0; k < 2; k++) a[k] = float(x[2 * i + k]), b[k] = float(y[2 * i + k]);
    for (int k = 0; k < 2; k++) want.push_back(half_of(a[k] + b[k]));
    for (int k = 0; k < 2; k++) want.push_back(half_of(a[k] * b[k]));
    for (int k = 0; k < 2; k++) want.push_back(_Float16((long double)a[k] * b[k] + a[1 - k]));
    for (int k = 0; k < 2; k++) want.push_back(half_of(maxnum(a[k], -b[k])));
    for (int k = 0; k < 2; k++) swant.push_back(int16_t(s[2 * i + k] + t[2 * i + k]));
    for (int k = 0; k < 2; k++) swant.push_back(int16_t(s[2 * i + k] * t[2 * i + k]));
    for (int k = 0; k < 2; k++) swant.push_back(int16_t(s[2 * i + k] << (t[2 * i + k] & 15)));
    for (int k = 0; k < 2; k++) swant.push_back(std::max(s[2 * i + k], t[2 * i + 1 - k]));
    for (int k = 0; k < 2; k++) fwant.push_back(a[k] * b[k] + a[1 - k]);
    for (int k = 0; k < 2; k++) fwant.push_back(std::fma(a[k], b[k], b[1 - k]));
  }
  everywhere("floats.cl", "-ffp-contract=off -cl-fp32-correctly-rounded-divide-sqrt", [&](Module& m, const std::string&) {
    Buffer<_Float16> dx(x), dy(y), out(n * 8);
    Buffer<int16_t> ds(s), dt(t), sout(n * 8);
    Buffer<float> fout(n * 4);
    ok(launch(m["packed"], {blocks(n)}, {64}, 0, out, sout, fout, dx, dy, ds, dt, n));
    same_bits<_Float16, uint16_t>(out.get(), want, 8);
    same(sout.get(), swant);
    same_bits<float, u32>(fout.get(), fwant, 4);
  });
}

TEST_CASE("conversions", "[floats]") {
  const int n = 1000;
  const auto x = floats(n, 13);
  const auto y = doubles(n, 14);
  const auto h = halfs(n, 15);
  const auto z64 = interesting64(n, 16);
  std::vector<i32> z(z64.begin(), z64.end()), want;
  auto f2i = [](float f) { i32 r; std::memcpy(&r, &f, 4); return r; };
  auto h2i = [](_Float16 f) { int16_t r; std::memcpy(&r, &f, 2); return i32(r); };
  auto pair = [&](double d, i32* o) { u64 w; std::memcpy(&w, &d, 8); o[0] = i32(w), o[1] = i32(w >> 32); };
  for (int i = 0; i < n; i++) {
    const float a = x[i];
    const double d = y[i];
    const i32 k = z[i];
    const float c = float(h[i]);
    i32 o[24];
    o[0] = a >= -2147483648.0f && a < 2147483648.0f ? i32(a) : 0;
    o[1] = a >= 0 && a < 4294967296.0f ? i32(u32(a)) : 0;
    o[2] = f2i(float(k)), o[3] = f2i(float(u32(k))), o[4] = f2i(float(d)), o[5] = d >= -2147483648.0 && d < 2147483648.0 ? i32(d) : 0;
    pair(double(a), o + 6), pair(double(k), o + 8);
    o[10] = h2i(_Float16(a)), o[11] = f2i(c), o[12] = h2i(_Float16(float(int16_t(k)))), o[13] = c > -32768 && c < 32768 ? int16_t(c) : 0;
    i64 l = i64(u64(i64(k)) << 20) ^ k;
    pair(double(l), o + 14);
    o[16] = f2i(float(l));
    l = d > -9e18 && d < 9e18 ? i64(d) : 0;
    o[17] = i32(l), o[18] = i32(l >> 32), o[19] = f2i(float(uint8_t(k))), o[20] = f2i(float(uint8_t(k >> 16))), o[21] = h2i(_Float16(d)), o[22] = int8_t(k), o[23] = uint16_t(k);
    // NaN payloads may differ
    want.insert(want.end(), o, o + 24);
  }
  everywhere("floats.cl", "-ffp-contract=off -cl-fp32-correctly-rounded-divide-sqrt", [&](Module& m, const std::string&) {
    Buffer<float> dx(x);
    Buffer<double> dy(y);
    Buffer<i32> dz(z), out(n * 24);
    Buffer<_Float16> dh(h);
    ok(launch(m["conversions"], {blocks(n)}, {64}, 0, out, dx, dy, dz, dh, n));
    auto got = out.get();
    for (int i = 0; i < n; i++)
      for (int k = 0; k < 24; k++) {
        const bool nan = (k == 4 && y[i] != y[i]) || ((k == 6 || k == 7 || k == 10) && x[i] != x[i]) || (k == 11 && h[i] != h[i]) || (k == 21 && y[i] != y[i]);
        if (nan || got[i * 24 + k] == want[i * 24 + k]) continue;
        INFO("row " << i << " conversion " << k << " float " << x[i] << " double " << y[i] << " int " << z[i]);
        REQUIRE(got[i * 24 + k] == want[i * 24 + k]);
      }
  });
}

TEST_CASE("hardware approximations stay within an ulp", "[floats]") {
  const int n = 1000;
  std::vector<float> x(n);
  std::mt19937 r(20);
  for (auto& v : x) v = std::ldexp(float(r() % 100000 + 1) / 100000, int(r() % 12) - 4);
  everywhere("floats.cl", "", [&](Module& m, const std::string&) {
    Buffer<float> dx(x), out(n * 7);
    ok(launch(m["hardware"], {blocks(n)}, {64}, 0, out, dx, n));
    const auto o = out.get();
    for (int i = 0; i < n; i++) {
      const double a = x[i], pi2 = 6.283185307179586;
      const double want[7] = {1 / a, 1 / std::sqrt(a), std::sqrt(a), std::exp2(double(x[i] * 0.01f)), std::log2(a), std::sin((a - std::floor(a)) * pi2), std::cos((a - std::floor(a)) * pi2)};
      for (int k = 0; k < 7; k++) REQUIRE(std::fabs(o[i * 7 + k] - want[k]) <= std::fabs(want[k]) * 1.2e-7 + (k >= 5 ? 1e-7 : 1e-37));
    }
  });
}

TEST_CASE("float reduction and convolution", "[floats]") {
  const int c = 3, h = 14, w = 13, k = 5, rr = 3, stride = 2, pad = 1, dil = 2;
  const int oh = (h + 2 * pad - dil * (rr - 1) - 1) / stride + 1, ow = (w + 2 * pad - dil * (rr - 1) - 1) / stride + 1;
  std::mt19937 r(21);
  std::vector<float> x(c * h * w), f(k * c * rr * rr), want(k * oh * ow);
  for (auto& v : x) v = float(i32(r() % 2000) - 1000) / 33;
  for (auto& v : f) v = float(i32(r() % 2000) - 1000) / 57;
  for (int i = 0; i < k * oh * ow; i++) {
    const int ox = i % ow, oy = i / ow % oh, kk = i / (ow * oh);
    float s = 0;
    for (int cc = 0; cc < c; cc++)
      for (int a = 0; a < rr; a++)
        for (int b = 0; b < rr; b++) {
          const int iy = oy * stride - pad + a * dil, ix = ox * stride - pad + b * dil;
          if (iy >= 0 && iy < h && ix >= 0 && ix < w) s = std::fma(x[(cc * h + iy) * w + ix], f[((kk * c + cc) * rr + a) * rr + b], s);
        }
    want[i] = s;
  }
  float t[64] = {}, sum;
  for (size_t q = 0; q < x.size(); q++) t[q % 64] += x[q];
  for (int d = 32; d; d >>= 1)
    for (int q = 0; q < d; q++) t[q] += t[q + d];
  sum = t[0];
  everywhere("floats.cl", "", [&](Module& m, const std::string&) {
    Buffer<float> dx(x), df(f), out(want.size()), one(1);
    int n = int(x.size());
    ok(launch(m["conv2d"], {blocks(int(want.size()))}, {64}, 0, out, dx, df, c, h, w, k, rr, oh, ow, stride, pad, dil));
    same_bits<float, u32>(out.get(), want, ow);
    ok(launch(m["float_reduce"], {1}, {64}, 0, one, dx, n));
    REQUIRE(one.get()[0] == sum);
  });
}
