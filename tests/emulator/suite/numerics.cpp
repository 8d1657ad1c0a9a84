#include <numeric>

#include "suite.h"

using namespace emu_suite;

namespace {

void mandelbrot(Gpu& g) {
  const int w = 30, h = 20, most = 60;
  std::vector<i32> want;
  for (int i = 0; i < w * h; i++) {
    const f64 re = (i % w) * 3.0 / w - 2.0, im = (i / w) * 2.0 / h - 1.0;
    f64 x = 0, y = 0;
    int k = 0;
    while (k < most && !(x * x + y * y > 4)) {
      const f64 next = x * x - y * y + re;
      y = 2 * x * y + im, x = next, k++;
    }
    want.push_back(k);
  }
  Buffer<i32> out(want.size());
  g.run({blocks(w * h)}, {64}, out, w, h, most);
  expect(out.get(), want, size_t(w));
}
void n_body(Gpu& g) {
  auto b = uniform<f32>(256, 1, -2, 2);
  for (size_t k = 3; k < 256; k += 4) b[k] = std::fabs(b[k]) + 0.1f;
  const f32 dt = 0.015625f;
  std::vector<f32> want;
  for (size_t i = 0; i < 256; i += 4) {
    f32 a[3] = {};
    for (size_t k = 0; k < 256; k += 4) {
      const f32 d[3] = {b[k] - b[i], b[k + 1] - b[i + 1], b[k + 2] - b[i + 2]};
      const f32 d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01f, f = b[k + 3] / (d2 * std::sqrt(d2));
      for (size_t c = 0; c < 3; c++) a[c] += d[c] * f;
    }
    for (size_t c = 0; c < 3; c++) want.push_back(b[i + c] + a[c] * dt);
    want.push_back(b[i + 3]);
  }
  Buffer<f32> out(256);
  g.run({1}, {64}, out, Buffer<f32>(b), dt);
  expect(out.get(), want, 4);
}
void fft(Gpu& g) {
  using Complex = std::array<f64, 2>;
  const auto x = uniform<f64>(512, 2, -1, 1);
  std::vector<f64> twiddles, want;
  for (int k = 0; k < 64; k++) twiddles.push_back(std::cos(k * M_PI / 64)), twiddles.push_back(-std::sin(k * M_PI / 64));
  // Even and odd halves, recursively.
  auto transform = [&](auto self, std::vector<Complex> v) -> std::vector<Complex> {
    const size_t n = v.size();
    if (n == 1) return v;
    std::vector<Complex> even, odd;
    for (size_t k = 0; k < n; k++) (k % 2 ? odd : even).push_back(v[k]);
    even = self(self, even), odd = self(self, odd);
    for (size_t k = 0; k < n / 2; k++) {
      const f64 wr = twiddles[k * (128 / n) * 2], wi = twiddles[k * (128 / n) * 2 + 1];
      const Complex r = {odd[k][0] * wr - odd[k][1] * wi, odd[k][0] * wi + odd[k][1] * wr};
      v[k] = {even[k][0] + r[0], even[k][1] + r[1]}, v[k + n / 2] = {even[k][0] - r[0], even[k][1] - r[1]};
    }
    return v;
  };
  for (size_t from = 0; from < 512; from += 256) {
    std::vector<Complex> v;
    for (size_t k = 0; k < 128; k++) v.push_back({x[from + 2 * k], x[from + 2 * k + 1]});
    for (const Complex& c : transform(transform, v)) want.push_back(c[0]), want.push_back(c[1]);
  }
  Buffer<f64> out(512);
  g.run({2}, {64}, out, Buffer<f64>(x), Buffer<f64>(twiddles));
  expect(out.get(), want, 2);
}
void solve(Gpu& g) {
  const int n = 70;
  const auto x = uniform<f64>(size_t(n) * 42, 3, -5, 5);
  std::vector<f64> want;
  for (int s = 0; s < n; s++) {
    std::vector<std::vector<f64>> a;
    for (int r = 0; r < 6; r++) a.emplace_back(x.begin() + (s * 6 + r) * 7, x.begin() + (s * 6 + r + 1) * 7);
    for (size_t k = 0; k < 6; k++) {
      const auto pivot = std::max_element(a.begin() + long(k), a.end(), [&](auto& p, auto& q) { return std::fabs(p[k]) < std::fabs(q[k]); });
      std::swap(a[k], *pivot);
      for (size_t r = k + 1; r < 6; r++) {
        const f64 f = a[r][k] / a[k][k];
        for (size_t c = k; c < 7; c++) a[r][c] = a[r][c] - f * a[k][c];
      }
    }
    std::vector<f64> v(6);
    for (size_t k = 6; k-- > 0;) {
      f64 t = a[k][6];
      for (size_t c = k + 1; c < 6; c++) t = t - a[k][c] * v[c];
      v[k] = t / a[k][k];
    }
    want.insert(want.end(), v.begin(), v.end());
  }
  Buffer<f64> out(want.size());
  g.run({2}, {64}, out, Buffer<f64>(x), n);
  expect(out.get(), want, 6);
}
f32 tree(std::vector<f32> t) {
  for (size_t d = t.size() / 2; d; d /= 2)
    for (size_t i = 0; i < d; i++) t[i] += t[i + d];
  return t[0];
}
void spmv(Gpu& g) {
  const auto lengths = ints<u8>(12, 4);
  std::vector<i32> starts = {0}, columns;
  for (const u8 l : lengths) starts.push_back(starts.back() + l % 190);
  for (int k = 0; k < starts.back(); k++) columns.push_back(k * 37 % 500);
  const auto values = uniform<f32>(columns.size(), 5, -3, 3), x = uniform<f32>(500, 6, -3, 3);
  std::vector<f32> want;
  for (size_t r = 0; r + 1 < starts.size(); r++) {
    std::vector<f32> t(64, 0);
    for (int k = starts[r]; k < starts[r + 1]; k++) t[size_t(k - starts[r]) % 64] += values[size_t(k)] * x[size_t(columns[size_t(k)])];
    want.push_back(tree(t));
  }
  Buffer<f32> out(12);
  g.run({12}, {64}, out, Buffer<i32>(starts), Buffer<i32>(columns), Buffer<f32>(values), Buffer<f32>(x));
  expect(out.get(), want);
}
void layer_norm(Gpu& g) {
  const auto x = uniform<f16>(512, 7, -8, 8);
  const auto scale = uniform<f32>(128, 8, 0.5, 2);
  std::vector<f16> want;
  for (size_t row = 0; row < 512; row += 128) {
    std::vector<f32> t;
    for (size_t k = 0; k < 128; k++) t.push_back(f32(x[row + k]));
    const f32 mean = tree(t) / 128;
    for (f32& v : t) v -= mean;
    auto squares = t;
    for (f32& v : squares) v *= v;
    const f32 deviation = std::sqrt(tree(squares) / 128 + 1e-5f);
    for (size_t k = 0; k < 128; k++) want.push_back(f16(t[k] / deviation * scale[k]));
  }
  Buffer<f16> out(512);
  g.run({4}, {128}, out, Buffer<f16>(x), Buffer<f32>(scale));
  expect(out.get(), want, 128);
}
void softmax(Gpu& g) {
  const int n = 150;
  const auto x = uniform<f32>(450, 9, -6, 6);
  std::vector<long double> want;
  for (size_t row = 0; row < 450; row += 150) {
    const f32 most = *std::max_element(x.begin() + long(row), x.begin() + long(row) + 150);
    long double sum = 0;
    for (size_t k = row; k < row + 150; k++) sum += expl((long double)(x[k]) - most);
    for (size_t k = row; k < row + 150; k++) want.push_back(expl((long double)(x[k]) - most) / sum);
  }
  Buffer<f32> out(450);
  g.run({3}, {64}, out, Buffer<f32>(x), n);
  // The exponent is up to 17 and off by half an ulp and by log2(e)'s own error: about 8 ulp of its power. The rest is
  // one ulp for v_exp_f32 and rounding in the sum and the quotient.
  expect_near(out.get(), want, 16, size_t(n));
}
void quantized_matmul(Gpu& g) {
  const int n = 13, k = 52;
  const auto a = ints<i8>(size_t(n * k), 10);
  const auto b = ints<u8>(size_t(n * k), 11);
  std::vector<i32> want;
  for (int i = 0; i < n * n; i++) {
    i32 s = 0, u = 0;
    for (int q = 0; q < k; q++) {
      const i8 p = a[size_t(i / n * k + q)];
      const u8 r = b[size_t(i % n * k + q)];
      s += p * i8(r), u += u8(p) * r;
    }
    want.push_back(s * 3 + u);
  }
  Buffer<i32> out(want.size());
  g.run({blocks(n * n)}, {64}, out, Buffer<i8>(a), Buffer<u8>(b), n, k);
  expect(out.get(), want, size_t(n));
}
void polynomials(Gpu& g) {
  rows<f64, 4>(g, [](f64* o, f32 x) {
    f16 h = 0;
    f32 f = 0;
    f64 d = 0, r = 1;
    for (int k = 9; k > 0; k--) {
      h = f16(f32(f16(f32(h) * f32(f16(x)))) + f32(k));
      f = f * x + 1.0f / f32(k), d = std::fma(d, f64(x), 1.0 / (k * k));
    }
    for (int k = 0; k < 8; k++) r = 0.5 * (r + (f64(x) + 4) / r);
    o[0] = f64(h), o[1] = f, o[2] = d, o[3] = r;
  }, uniform<f32>(200, 12, -2, 2));
}

}  // namespace

TEST_CASE("suite: numerics", "[suite]") {
  run_theme("numerics.cl", "-cl-fp32-correctly-rounded-divide-sqrt", {
    {"mandelbrot", mandelbrot}, {"n_body", n_body}, {"fft", fft}, {"solve", solve}, {"spmv", spmv}, {"layer_norm", layer_norm}, {"softmax", softmax},
    {"quantized_matmul", quantized_matmul},
    {"polynomials", polynomials},
  });
}
