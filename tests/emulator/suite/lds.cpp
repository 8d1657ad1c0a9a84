#include "suite.h"

using namespace emu_suite;

namespace {

void lds_reverse(Gpu& g) {
  const auto x = ints<i32>(1024, 1);
  std::vector<i32> want;
  for (int i = 0; i < 1024; i++) want.push_back(x[(i & ~255) + 255 - (i & 255)]);
  Buffer<i32> out(1024);
  g.run({4}, {256}, out, Buffer<i32>(x));
  expect(out.get(), want);
}
void lds_dynamic(Gpu& g) {
  for (const int n : {7, 64, 150}) {
    const u32 a = 0, b = 608;
    std::vector<i64> want;
    for (int i = 0; i < 2 * n; i++) want.push_back((i % n + 1) % n * 3 + (i64(n - 1 - i % n) * (n - 1 - i % n) << 20));
    Buffer<i64> out(size_t(2 * n));
    g.run_lds(608 + 8 * 150, {2}, {unsigned(n)}, out, a, b, n);
    expect(out.get(), want);
  }
}
void lds_banks(Gpu& g) {
  for (const int stride : {1, 2, 4, 17, 32, 33}) {
    std::vector<i32> want;
    for (int i = 0; i < 128; i++) {
      u32 sum = 0;
      for (int k = 0; k < 8; k++) {
        const u32 at = u32(i * stride + k * 37) & 1023;
        sum = sum * 3 + at * at;
      }
      want.push_back(i32(sum));
    }
    Buffer<i32> out(128);
    g.run({1}, {128}, out, stride);
    expect(out.get(), want);
  }
}
void lds_tile(Gpu& g) {
  const int w = 45, h = 37;
  const auto x = uniform<f32>(size_t(w * h), 2, -9, 9);
  std::vector<f32> want(x.size());
  for (int r = 0; r < h; r++)
    for (int c = 0; c < w; c++) want[size_t(c * h + r)] = x[size_t(r * w + c)];
  Buffer<f32> out(x.size());
  g.run({3, 3}, {16, 16}, out, Buffer<f32>(x), w, h);
  expect(out.get(), want);
}
void lds_narrow(Gpu& g) {
  const auto x = ints<u8>(256, 3);
  std::vector<i32> want;
  auto b = [&](int k) { return i32(i16(x[size_t(k % 64 * 4 + k / 64)] * -129)); };
  for (int i = 0; i < 64; i++) {
    u32 sum = 0;
    for (int k = 0; k < 4; k++) sum = sum * 7 + u32(x[size_t(i * 5 + k) & 255] + i8(x[size_t(255 - i)]) + b((i * 3 + k * 64) & 255));
    want.push_back(i32(sum));
  }
  Buffer<i32> out(64);
  g.run({1}, {64}, out, Buffer<u8>(x));
  expect(out.get(), want);
}
void lds_wide(Gpu& g) {
  const auto x = ints<u32>(256, 4);
  auto t = x;  // with a 65th vector: the first one reversed
  for (size_t k = 0; k < 4; k++) t.push_back(x[3 - k]);
  std::vector<u32> want;
  for (size_t i = 0; i < 64; i++) {
    const size_t c = (i + 3) * 2, other = 63 - ((i * 7) & 63);
    const u32 add[4] = {t[c], t[c + 1], t[c + 1], t[c]};
    for (size_t k = 0; k < 4; k++) want.push_back(t[((i + 1) & 63) * 4 + k] + add[k]);
    for (size_t k = 0; k < 4; k++) want.push_back(t[i + 2 + k] ^ (k < 3 ? x[other * 4 + k] : 5));
  }
  Buffer<u32> out(512);
  g.run({1}, {64}, out, Buffer<u32>(x));
  expect(out.get(), want, 8);
}
void lds_structures(Gpu& g) {
  const auto x = ints<i32>(64, 5);
  std::vector<f64> want;
  for (int i = 0; i < 64; i++) {
    const i32 v = x[size_t(i * 11 + 5) & 63];
    want.push_back(i8(v) + i16(v >> 3) * 2.0 + i32(u32(v) * 5) + v * 0.125 + u8(v >> (i % 5)));
  }
  Buffer<f64> out(64);
  g.run({1}, {64}, out, Buffer<i32>(x));
  expect(out.get(), want);
}
void lds_strides(Gpu& g) {
  const auto x = uniform<f32>(512, 6, -4, 4);
  std::vector<f32> want;
  auto d = [&](int k) { return x[size_t(k % 64 * 4 + k / 64)] * 2.0; };
  for (int i = 0; i < 64; i++) {
    f32 sum = 0;
    for (int k = 0; k < 8; k += 2) sum += x[size_t(i + 64 * k)] * x[size_t(i + 64 * (k + 1))];
    want.push_back(sum + f32(d(63 - i + 64) - d(63 - i + 128)) + f32(d(i ^ 1)));
  }
  Buffer<f32> out(64);
  g.run({1}, {64}, out, Buffer<f32>(x));
  expect(out.get(), want);
}
void lds_stencil(Gpu& g) {
  const auto x = uniform<f32>(256, 7, -1, 1);
  std::vector<f32> want;
  for (size_t from : {0, 128}) {
    std::vector<f32> t(130, 0), u(130, 0);
    std::copy(x.begin() + long(from), x.begin() + long(from) + 128, t.begin() + 1);
    for (int s = 0; s < 9; s++, std::swap(t, u))
      for (size_t i = 1; i < 129; i++) u[i] = 0.25f * t[i - 1] + 0.5f * t[i] + 0.25f * t[i + 1];
    want.insert(want.end(), t.begin() + 1, t.end() - 1);
  }
  int steps = 9;
  Buffer<f32> out(256);
  g.run({2}, {128}, out, Buffer<f32>(x), steps);
  expect(out.get(), want);
}
void lds_large(Gpu& g) {
  std::vector<u32> want(256, 0);
  for (u32 i = 0; i < 256; i++)
    for (u32 k = 0; k < 63; k++) want[i] ^= u32((16127 - (i + 256 * k)) * 2654435761u) >> (k & 7);
  Buffer<u32> out(256);
  g.run({1}, {256}, out);
  expect(out.get(), want);
}

}  // namespace

TEST_CASE("suite: LDS", "[suite]") {
  run_theme("lds.cl", "", {
    {"lds_reverse", lds_reverse}, {"lds_dynamic", lds_dynamic}, {"lds_banks", lds_banks}, {"lds_tile", lds_tile}, {"lds_narrow", lds_narrow}, {"lds_wide", lds_wide},
    {"lds_structures", lds_structures}, {"lds_strides", lds_strides}, {"lds_stencil", lds_stencil}, {"lds_large", lds_large},
  });
}
