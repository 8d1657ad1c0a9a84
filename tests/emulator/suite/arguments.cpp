#include <numeric>

#include "suite.h"

using namespace emu_suite;

namespace {

void scalars(Gpu& g) {
  const bool a = true;
  const i8 b = -100;
  const u8 c = 200;
  const i16 d = -30000;
  const u16 e = 60000;
  const f16 f = f16(-1.5f);
  const bf16 h = 3.25f;
  const i32 j = -2000000000;
  const u32 k = 4000000000u;
  const f32 l = 0.1f;
  const i64 m = -(i64(1) << 40);
  const u64 n = 0xf234567890abc000u;
  const f64 o = 1e-300;
  const i8 last = -1;
  Buffer<f64> out(14);
  g.run({1}, {64}, out, a, b, c, d, e, f, h, j, k, l, m, n, o, last);
  expect(out.get(), {1, -100, 200, -30000, 60000, -1.5, 3.25, -2e9, 4e9, f64(0.1f), f64(m), f64(n >> 12), 1e-300, -1});
}
void vector_arguments(Gpu& g) {
  // Vectors of three take the room of four.
  const std::array<u8, 4> a = {1, 2, 3, 250};
  alignas(8) const std::array<f32, 2> b = {0.5f, -0.25f};
  alignas(16) const std::array<f32, 4> c = {10, 20, 30, 0}, e = {100, 200, 300, 400};
  alignas(8) const std::array<u16, 4> d = {1000, 2000, 3000, 0};
  alignas(32) const std::array<f64, 4> f = {1e6, 2e6, 3e6, 4e6};
  alignas(64) std::array<i32, 16> h;
  std::iota(h.begin(), h.end(), -8);
  // std::array has data(), which the harness takes for a buffer.
  struct { std::array<u8, 4> v; } wa{a};
  struct { std::array<f32, 2> v; } wb{b};
  struct { std::array<f32, 4> v; } wc{c}, we{e};
  struct { std::array<u16, 4> v; } wd{d};
  struct { std::array<f64, 4> v; } wf{f};
  struct { std::array<i32, 16> v; } wh{h};
  std::vector<f64> want;
  for (size_t i = 0; i < 16; i++) want.push_back(a[i & 3] + f64(b[i & 1]) + f64(c[i % 3]) + d[i % 3] + f64(e[i & 3]) + f[i & 3] + h[i]);
  Buffer<f64> out(16);
  g.run({1}, {64}, out, wa, wb, wc, wd, we, wf, wh);
  expect(out.get(), want);
}
struct Inner { char tag; f64 weight; i16 pair[3]; };
struct Outer { i32 count; Inner items[3]; const void* numbers; f32 scale; u8 last; };
void structure(Gpu& g) {
  const auto x = ints<i32>(50, 1);
  const Buffer<i32> dx(x);
  const Outer s{50, {{'a', 0.5, {1, -2, 3}}, {'b', -7, {40, 50, 60}}, {'c', 1e3, {700, 800, 900}}}, dx.data(), 0.25f, 9};
  const int shift = 13;
  std::vector<f64> want;
  for (int i = 0; i < 50; i++) {
    const Inner& t = s.items[i % 3];
    want.push_back(t.tag + t.weight + t.pair[i & 1] + f64(f32(x[size_t(i + shift) % 50]) * 0.25f) + 9);
  }
  Buffer<f64> out(50);
  g.run({1}, {64}, out, s, shift);
  expect(out.get(), want);
}
struct Table { u32 words[256]; u32 mask; u16 add; };
void large_structure(Gpu& g) {
  const auto x = ints<u32>(256, 2);
  Table t{};
  std::copy(x.begin(), x.end(), t.words);
  t.mask = 0x00ffff0f, t.add = 60001;
  const int n = 300;
  std::vector<u32> want;
  for (size_t i = 0; i < 300; i++) want.push_back((x[i * 7 % 256] & 0x00ffff0f) + 60001);
  Buffer<u32> out(300);
  g.run({blocks(n)}, {64}, out, t, n);
  expect(out.get(), want);
}
struct List { const void *next, *values; i32 count; };
void pointers_in_structures(Gpu& g) {
  const auto x = ints<u32>(20, 3), y = ints<u32>(7, 4);
  const Buffer<u32> dx(x), dy(y);
  // Every byte is given, the padding too.
  List second{}, first{};
  second.values = dy.data(), second.count = 7;
  const Buffer<List> tail(std::vector<List>{second});
  first.next = tail.data(), first.values = dx.data(), first.count = 20;
  const Buffer<List> head(std::vector<List>{first});
  const int n = 100;
  std::vector<u32> want;
  for (size_t i = 0; i < 100; i++) {
    u32 sum = 0;
    for (const auto* v : {&x, &y})
      for (size_t k = 0; k < v->size(); k++) sum = sum * 31 + (*v)[(k + i) % v->size()];
    want.push_back(sum);
  }
  Buffer<u32> out(100);
  g.run({blocks(n)}, {64}, out, head, n);
  expect(out.get(), want);
}
void few(Gpu& g) {
  std::vector<u32> want(128);
  std::iota(want.begin(), want.end(), 0u);
  const u8 nothing = 0;
  Buffer<u32> out(128);
  g.run({2}, {64}, out, nothing);
  expect(out.get(), want);
}
void grid(Gpu& g) {
  for (const Dim block : {Dim{4, 4, 4}, Dim{16, 3, 2}, Dim{1, 1, 70}, Dim{5, 7, 3}}) {
    const u32 w = 13, h = 11, d = 9;
    std::vector<u32> want;
    for (u32 z = 0; z < d; z++)
      for (u32 y = 0; y < h; y++)
        for (u32 x = 0; x < w; x++) want.push_back(x | y << 10 | z << 20);
    Buffer<u32> out(want.size());
    g.run({(w + block.x - 1) / block.x, (h + block.y - 1) / block.y, (d + block.z - 1) / block.z}, block, out, w, h, d);
    expect(out.get(), want);
  }
}
void extents(Gpu& g) {
  Buffer<u32> out(6);
  g.run({5, 4, 3}, {8, 6, 2}, out);
  expect(out.get(), {8, 6, 2, 40, 24, 6});
}
void partial_waves(Gpu& g) {
  for (const Dim block : {Dim{7, 5, 3}, Dim{33, 2, 1}, Dim{1, 1, 1}, Dim{10, 10, 10}}) {
    const size_t n = block.x * block.y * block.z;
    const auto x = ints<u32>(4 * n, 5);
    std::vector<u32> want;
    for (size_t k = 0; k < 4; k++) want.push_back(std::accumulate(x.begin() + long(k * n), x.begin() + long((k + 1) * n), 0u));
    Buffer<u32> out(4);
    g.run({2, 2}, block, out, Buffer<u32>(x));
    expect(out.get(), want);
  }
}

}  // namespace

TEST_CASE("suite: arguments and grids", "[suite]") {
  run_theme("arguments.hip", "", {
    {"scalars", scalars}, {"vector_arguments", vector_arguments}, {"structure", structure}, {"large_structure", large_structure}, {"pointers_in_structures", pointers_in_structures},
    {"few", few}, {"grid", grid}, {"extents", extents}, {"partial_waves", partial_waves},
  });
}
