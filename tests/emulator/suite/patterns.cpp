#include <numeric>

#include "suite.h"

using namespace emu_suite;

namespace {

void histogram(Gpu& g) {
  const auto x = ints<u8>(5000, 1);
  std::vector<u32> want(256, 0);
  for (const u8 v : x) want[v]++;
  const int n = 5000;
  Buffer<u32> out(std::vector<u32>(256, 0));
  g.run({4}, {256}, out, Buffer<u8>(x), n);
  expect(out.get(), want);
}
void stencil_2d(Gpu& g) {
  const int w = 37, h = 21;
  const auto x = uniform<f32>(size_t(w * h), 2, -3, 3);
  auto at = [&](int r, int c) { return r < 0 || c < 0 || r >= h || c >= w ? 0.0f : x[size_t(r * w + c)]; };
  std::vector<f32> want;
  for (int r = 0; r < h; r++)
    for (int c = 0; c < w; c++) want.push_back((((4.0f * at(r, c) - at(r - 1, c)) - at(r + 1, c)) - at(r, c - 1)) - at(r, c + 1));
  Buffer<f32> out(x.size());
  g.run({3, 2}, {16, 16}, out, Buffer<f32>(x), w, h);
  expect(out.get(), want, size_t(w));
}
void matmul(Gpu& g) {
  const int m = 29, n = 35, k = 41;
  const auto a = uniform<f32>(size_t(m * k), 3, -1, 1), b = uniform<f32>(size_t(k * n), 4, -1, 1);
  std::vector<f32> want;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      f32 s = 0;
      for (int q = 0; q < k; q++) s = std::fma(a[size_t(i * k + q)], b[size_t(q * n + j)], s);
      want.push_back(s);
    }
  Buffer<f32> out(want.size());
  g.run({3, 2}, {8, 8}, out, Buffer<f32>(a), Buffer<f32>(b), m, n, k);
  expect(out.get(), want, size_t(n));
}
void bitonic_sort(Gpu& g) {
  const auto x = ints<u32>(1024, 5);
  auto want = x;
  std::sort(want.begin(), want.begin() + 512), std::sort(want.begin() + 512, want.end());
  Buffer<u32> out(1024);
  g.run({2}, {256}, out, Buffer<u32>(x));
  expect(out.get(), want);
}
void prefix_sum(Gpu& g) {
  const auto x = ints<u32>(768, 6);
  std::vector<u32> want, totals;
  for (size_t from = 0; from < 768; from += 256) {
    u32 sum = 0;
    for (size_t i = from; i < from + 256; i++) want.push_back(sum), sum += x[i];
    totals.push_back(sum);
  }
  Buffer<u32> out(768), out_totals(3);
  g.run({3}, {256}, out, out_totals, Buffer<u32>(x));
  expect(out.get(), want), expect(out_totals.get(), totals);
}
void compaction(Gpu& g) {
  const auto x = ints<u32>(768, 7);
  std::vector<u32> want(768, 0), counts;
  for (size_t from = 0; from < 768; from += 256) {
    const auto end = std::copy_if(x.begin() + long(from), x.begin() + long(from) + 256, want.begin() + long(from), [](u32 v) { return v % 2; });
    counts.push_back(u32(end - want.begin()) - u32(from));
  }
  Buffer<u32> out(768), out_counts(3);
  g.run({3}, {256}, out, out_counts, Buffer<u32>(x));
  expect(out.get(), want), expect(out_counts.get(), counts);
}
void tree_reduction(Gpu& g) {
  const auto x = uniform<f64>(1536, 8, -1e3, 1e3);
  std::vector<f64> want;
  for (size_t from = 0; from < x.size(); from += 512) {
    std::vector<f64> t(x.begin() + long(from), x.begin() + long(from) + 512);
    for (size_t d = 256; d; d /= 2)
      for (size_t i = 0; i < d; i++) t[i] += t[i + d];
    want.push_back(t[0]);
  }
  Buffer<f64> out(3);
  g.run({3}, {256}, out, Buffer<f64>(x));
  expect(out.get(), want);
}
void shortest_paths(Gpu& g) {
  auto d = ints<i32>(256, 9);
  for (size_t k = 0; k < 256; k++) d[k] = k % 17 == 0 ? 0 : k % 3 ? 1000000 : std::abs(d[k] % 1000) + 1;
  const auto weights = d;
  for (size_t k = 0; k < 16; k++)
    for (size_t i = 0; i < 16; i++)
      for (size_t j = 0; j < 16; j++) d[i * 16 + j] = std::min(d[i * 16 + j], d[i * 16 + k] + d[k * 16 + j]);
  Buffer<i32> out(256);
  g.run({1}, {256}, out, Buffer<i32>(weights));
  expect(out.get(), d);
}
void edit_distance(Gpu& g) {
  const int n = 100, m = 83;
  auto a = ints<u8>(100, 10), b = ints<u8>(83, 11);
  for (auto& c : a) c &= 3;
  for (auto& c : b) c &= 3;
  std::vector<std::vector<int>> d(n + 1, std::vector<int>(m + 1));
  for (int i = 0; i <= n; i++)
    for (int j = 0; j <= m; j++)
      d[size_t(i)][size_t(j)] = !i ? j : !j ? i : std::min({d[size_t(i - 1)][size_t(j - 1)] + (a[size_t(i - 1)] != b[size_t(j - 1)]), d[size_t(i - 1)][size_t(j)] + 1, d[size_t(i)][size_t(j - 1)] + 1});
  Buffer<i32> out(1);
  g.run({1}, {64}, out, Buffer<u8>(a), Buffer<u8>(b), n, m);
  expect(out.get(), {d[n][m]});
}
void life(Gpu& g) {
  const int w = 29, h = 23, steps = 5;
  auto x = ints<u8>(size_t(w * h), 12);
  for (auto& c : x) c &= 1;
  auto t = x;
  for (int s = 0; s < steps; s++) {
    auto next = t;
    for (int r = 0; r < h; r++)
      for (int c = 0; c < w; c++) {
        int alive = -t[size_t(r * w + c)];
        for (int dy : {h - 1, 0, 1})
          for (int dx : {w - 1, 0, 1}) alive += t[size_t((r + dy) % h * w + (c + dx) % w)];
        next[size_t(r * w + c)] = alive == 3 || (alive == 2 && t[size_t(r * w + c)]);
      }
    t = next;
  }
  Buffer<u8> out(x.size());
  g.run({1}, {128}, out, Buffer<u8>(x), w, h, steps);
  expect(out.get(), t, size_t(w));
}

}  // namespace

TEST_CASE("suite: patterns", "[suite]") {
  run_theme("patterns.cl", "", {
    {"histogram", histogram}, {"stencil_2d", stencil_2d}, {"matmul", matmul},
    {"bitonic_sort", bitonic_sort}, {"prefix_sum", prefix_sum}, {"compaction", compaction},
    {"tree_reduction", tree_reduction}, {"shortest_paths", shortest_paths}, {"edit_distance", edit_distance}, {"life", life},
  });
}
