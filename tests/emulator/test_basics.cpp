// Integer, control flow, LDS, scratch, grids, atomics and lane kernels against the host.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "harness.h"
#include "support.h"

using namespace emu_test;
namespace {
template <class F>
void everywhere(F f) { emu_test::everywhere("basics.cl", "", f); }
}  // namespace

TEST_CASE("vector add", "[basics]") {
  everywhere([](Module& m, const std::string&) {
    for (int n : {1, 63, 64, 65, 1000}) {
      std::vector<float> a(n), b(n), want(n);
      for (int i = 0; i < n; i++) a[i] = i * 0.5f, b[i] = 100.0f - i, want[i] = a[i] + b[i];
      Buffer<float> da(a), db(b), dc(n);
      ok(launch(m["vector_add"], {blocks(n)}, {64}, 0, dc, da, db, n));
      same(dc.get(), want);
    }
  });
}

TEST_CASE("32-bit integers", "[basics]") {
  const int n = 500;
  const auto x64 = interesting64(n, 1), y64 = interesting64(n, 2);
  std::vector<u32> x(x64.begin(), x64.end()), y(y64.begin(), y64.end()), want;
  for (int i = 0; i < n; i++) {
    const u32 a = x[i], b = y[i];
    const i32 s = i32(a), t = i32(b);
    const bool over = s == INT32_MIN && t == -1;
    auto sat = [](i64 v) { return u32(i32(std::clamp<i64>(v, INT32_MIN, INT32_MAX))); };
    u32 rev = 0;
    for (int k = 0; k < 32; k++) rev |= (a >> k & 1) << (31 - k);
    const u32 o[32] = {a + b, a - b, a * b, b ? a / b : 0, b ? a % b : 0, t && !over ? u32(s / t) : 0, t && !over ? u32(s % t) : 0,
                       a << (b & 31), a >> (b & 31), u32(s >> (b & 31)), a & b, a | b, a ^ b, ~a, u32(std::min(s, t)), std::max(a, b),
                       u32(__builtin_popcount(a)), a ? u32(__builtin_clz(a)) : 32, a ? u32(__builtin_ctz(a)) : 32, u32(u64(a) * b >> 32), u32(u64(i64(s) * t) >> 32),
                       rev, a << 7 | a >> 25, __builtin_bswap32(a), a >> 5 & 0x1ff, u32(i32(a << 3) >> 21),
                       u64(a) + b > 0xffffffff ? 0xffffffff : a + b, a < b ? 0 : a - b, sat(i64(s) + t), sat(i64(s) - t), a == b ? 1u : s > t ? 2u : 3u, s < 0 ? 0 - a : a};
    want.insert(want.end(), o, o + 32);
  }
  everywhere([&](Module& m, const std::string&) {
    Buffer<u32> dx(x), dy(y), out(n * 32);
    ok(launch(m["int_ops"], {blocks(n)}, {64}, 0, out, dx, dy, n));
    same(out.get(), want);
  });
}

TEST_CASE("64-bit integers", "[basics]") {
  const int n = 400;
  const auto x = interesting64(n, 3), y = interesting64(n, 4);
  std::vector<u64> want;
  for (int i = 0; i < n; i++) {
    const u64 a = x[i], b = y[i];
    const i64 s = i64(a), t = i64(b);
    const bool over = s == INT64_MIN && t == -1;
    const u64 o[20] = {a + b, a - b, a * b, b ? a / b : 0, b ? a % b : 0, t && !over ? u64(s / t) : 0, t && !over ? u64(s % t) : 0, a << (b & 63), a >> (b & 63), u64(s >> (b & 63)),
                       a & b, a | b, a ^ b, ~a, u64(s < t), u64(a < b), u64(__builtin_popcountll(a)), a ? u64(__builtin_clzll(a)) : 64, a ? u64(__builtin_ctzll(a)) : 64, u64(std::min(s, t))};
    want.insert(want.end(), o, o + 20);
  }
  everywhere([&](Module& m, const std::string&) {
    Buffer<u64> dx(x), dy(y), out(n * 20);
    ok(launch(m["long_ops"], {blocks(n)}, {64}, 0, out, dx, dy, n));
    same(out.get(), want);
  });
}

TEST_CASE("8- and 16-bit integers", "[basics]") {
  const int n = 300;
  const auto x64 = interesting64(n, 5), y64 = interesting64(n, 6);
  std::vector<int8_t> x(n);
  std::vector<int16_t> y(n);
  std::vector<i32> want;
  for (int i = 0; i < n; i++) {
    x[i] = int8_t(x64[i]), y[i] = int16_t(y64[i] * 31);
    const int8_t a = x[i];
    const int16_t b = y[i];
    const uint8_t ua = uint8_t(a);
    const uint16_t ub = uint16_t(b);
    const i32 o[16] = {int8_t(a + int8_t(b)), int8_t(a * int8_t(b)), int16_t(a + b), int16_t(a * b), uint16_t(ua * ub), a < b, ua < ub, uint8_t(ua >> 3), int8_t(a >> 3), uint16_t(ub << 3), int16_t(b >> 2),
                       std::max(a, int8_t(b)), uint16_t(ub - ua), b ? int16_t(a / b) : 0, ua, ub};
    want.insert(want.end(), o, o + 16);
  }
  everywhere([&](Module& m, const std::string&) {
    Buffer<int8_t> dx(x), out1(n);
    Buffer<int16_t> dy(y), out2(n);
    Buffer<i32> out(n * 16);
    ok(launch(m["small_ints"], {blocks(n)}, {64}, 0, out, dx, dy, n));
    same(out.get(), want);
    ok(launch(m["byte_copy"], {blocks(n)}, {64}, 0, out1, dx, out2, dy, n));
    const auto o1 = out1.get();
    const auto o2 = out2.get();
    for (int i = 0; i < n; i++) REQUIRE((o1[i] == int8_t(x[i] + 1) && o2[i] == int16_t(y[i] * 3)));
  });
}

TEST_CASE("loops, divergence, calls", "[basics]") {
  const int n = 300;
  std::vector<u32> steps(n);
  std::vector<i32> nested(n), calls(n);
  for (int i = 0; i < n; i++) {
    u32 v = u32(i) + 1;
    while (v != 1) v = v & 1 ? 3 * v + 1 : v / 2, steps[i]++;
    int r = 0;
    for (int a = 0; a < i % 7; a++) {
      if (a == 3) continue;
      for (int b = a; b < 10; b++) {
        if (b * a > 20) break;
        r += a * b + (i & 1 ? 1 : -1);
      }
    }
    switch (i % 5) {
      case 0: r += 100; break;
      case 1: r *= 2; break;
      case 2: r -= 7; break;
      default: r ^= 0x55;
    }
    nested[i] = r;
    calls[i] = i * 3 + 7 + (i * 3 + 5) - ((i + 1) * 3 + 2);
  }
  everywhere([&](Module& m, const std::string&) {
    Buffer<u32> a(n);
    Buffer<i32> b(n), c(n);
    ok(launch(m["collatz"], {blocks(n)}, {64}, 0, a, n));
    same(a.get(), steps);
    ok(launch(m["nested"], {blocks(n)}, {64}, 0, b, n));
    same(b.get(), nested);
    ok(launch(m["calls"], {blocks(n)}, {64}, 0, c, n));
    same(c.get(), calls);
  });
}

TEST_CASE("LDS with barriers", "[basics]") {
  everywhere([](Module& m, const std::string&) {
    std::vector<i32> x(256 * 5), want(5);
    for (size_t i = 0; i < x.size(); i++) x[i] = i32(i * 7919 % 1000), want[i / 256] += x[i];
    Buffer<i32> dx(x), out(5);
    ok(launch(m["reduce"], {5}, {256}, 0, out, dx));
    same(out.get(), want);

    const int n = 48;
    std::vector<float> a(n * n), t(n * n);
    for (int i = 0; i < n * n; i++) a[i] = float(i), t[(i % n) * n + i / n] = float(i);
    Buffer<float> da(a), dt(n * n);
    ok(launch(m["transpose"], {3, 3}, {16, 16}, 0, dt, da, n));
    same(dt.get(), t);

    Buffer<i32> dyn(200);
    int items = 100;
    u32 lds_pointer_size = 0;
    (void)lds_pointer_size;
    ok(launch(m["dynamic_lds"], {2}, {100}, 400, dyn, lds_pointer_size, items));
    const auto d = dyn.get();
    for (int i = 0; i < 200; i++) REQUIRE(d[i] == (99 - i % 100) * (99 - i % 100));

    std::vector<uint8_t> bytes(128);
    for (int i = 0; i < 128; i++) bytes[i] = uint8_t(i * 37);
    Buffer<uint8_t> db(bytes), ob(128);
    ok(launch(m["lds_bytes"], {1}, {64}, 0, ob, db));
    const auto o = ob.get();
    for (int i = 0; i < 64; i++) REQUIRE((o[i] == bytes[127 - i] && o[64 + i] == bytes[63 - i]));
  });
}

TEST_CASE("tiled matrix product", "[basics]") {
  const int mm = 50, nn = 37, kk = 41;
  std::vector<float> a(mm * kk), b(kk * nn), c(mm * nn);
  std::mt19937 r(7);
  for (auto& x : a) x = float(int(r() % 2001) - 1000) / 64;
  for (auto& x : b) x = float(int(r() % 2001) - 1000) / 77;
  for (int i = 0; i < mm; i++)
    for (int j = 0; j < nn; j++) {
      float s = 0;
      for (int q = 0; q < kk; q++) s = std::fma(a[i * kk + q], b[q * nn + j], s);
      c[i * nn + j] = s;
    }
  everywhere([&](Module& m, const std::string&) {
    Buffer<float> da(a), db(b), dc(mm * nn);
    ok(launch(m["gemm"], {3, 4}, {16, 16}, 0, dc, da, db, mm, nn, kk));
    same(dc.get(), c);
  });
}

TEST_CASE("scratch arrays", "[basics]") {
  const int n = 100;
  std::vector<i32> x(n * 24), sorted;
  std::mt19937 r(9);
  for (auto& v : x) v = i32(r() % 1000);
  sorted = x;
  for (int i = 0; i < n; i++) std::sort(sorted.begin() + i * 24, sorted.begin() + i * 24 + 24);
  std::vector<uint8_t> bytes(n * 32);
  for (auto& v : bytes) v = uint8_t(r());
  std::vector<u32> counts(n);
  for (int i = 0; i < n; i++) {
    uint8_t c[16] = {};
    for (int k = 0; k < 32; k++) c[bytes[i * 32 + k] & 15]++;
    u32 v = 0;
    for (int k = 0; k < 16; k++) v = v * 3 + c[(k + i) & 15];
    counts[i] = v + u32((u64(i) << (8 * (i & 3))) >> 16);
  }
  everywhere([&](Module& m, const std::string&) {
    Buffer<i32> dx(x), out(n * 24);
    ok(launch(m["scratch_sort"], {blocks(n)}, {64}, 0, out, dx, n));
    same(out.get(), sorted);
    Buffer<uint8_t> db(bytes);
    Buffer<u32> oc(n);
    ok(launch(m["scratch_bytes"], {blocks(n)}, {64}, 0, oc, db, n));
    same(oc.get(), counts);
  });
}

TEST_CASE("grids of three dimensions and the implicit sizes", "[basics]") {
  everywhere([](Module& m, const std::string&) {
    const int nx = 12, ny = 10, nz = 9;
    Buffer<i32> out(nx * ny * nz), sizes(6);
    ok(launch(m["grid3"], {3, 5, 3}, {4, 2, 3}, 0, out, nx, ny));
    const auto o = out.get();
    for (int z = 0; z < nz; z++)
      for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) REQUIRE(o[(z * ny + y) * nx + x] == x * 10000 + y * 100 + z);
    ok(launch(m["sizes"], {3, 2, 5}, {8, 4, 2}, 0, sizes));
    same(sizes.get(), {8, 4, 2, 24, 8, 10});
  });
}

TEST_CASE("atomics", "[basics]") {
  everywhere([](Module& m, const std::string&) {
    const int n = 1000;
    std::vector<i32> start(16 + n, 0);
    start[5] = -1;
    Buffer<i32> out(start);
    Buffer<float> f(std::vector<float>(4));
    ok(launch(m["atomics"], {blocks(n)}, {64}, 0, out, f, n));
    const auto o = out.get();
    i32 x = 0, mask = 0;
    u64 wide = 0;
    for (int i = 0; i < n; i++) x ^= i * 77, mask |= 1 << (i & 15), wide += u64(i) << 33;
    REQUIRE(o[0] == n * (n - 1) / 2);
    REQUIRE(o[1] == n - 1);
    REQUIRE(o[2] == 1 - n);
    REQUIRE(o[3] == -1);
    REQUIRE(o[4] == x);
    REQUIRE(o[5] == ~mask);
    REQUIRE(o[6] == n);
    REQUIRE(o[7] == 42);
    REQUIRE((u64(u32(o[8])) | u64(u32(o[9])) << 32) == wide);
    for (int i = 0; i < n; i++) REQUIRE(o[16 + i] == 1);

    std::vector<u32> data(5000), want(16);
    for (size_t i = 0; i < data.size(); i++) data[i] = u32(i * i + 3 * i), want[data[i] & 15]++;
    Buffer<u32> d(data), h(16);
    ok(launch(m["lds_histogram"], {1}, {256}, 0, h, d, int(data.size())));
    same(h.get(), want);
  });
}

TEST_CASE("lanes talk to each other", "[basics]") {
  everywhere([](Module& m, const std::string& arch) {
    const int lanes = arch.compare(0, 4, "gfx1") == 0 ? 32 : 64;
    std::vector<i32> x(64);
    for (int i = 0; i < 64; i++) x[i] = i * i + 11;
    Buffer<i32> dx(x), out(std::vector<i32>(640));
    ok(launch(m["lanes"], {1}, {unsigned(lanes)}, 0, out, dx));
    const auto o = out.get();
    for (int i = 0; i < lanes; i++) {
      REQUIRE(o[i] == x[(i * 7 + 3) & 31]);
      REQUIRE(o[64 + i] == x[i ^ 1]);
      REQUIRE(o[128 + i] == x[0] + 5);
      REQUIRE(o[192 + i] == x[9]);
      REQUIRE(o[256 + i] == (i % 16 ? x[i - 1] : -1));
      REQUIRE(o[320 + i] == x[(i & ~3) | (3 - (i & 3))]);
      REQUIRE(o[384 + i] == x[(i & ~15) | (15 - (i & 15))]);
      REQUIRE(o[448 + i] == i);
      if (i < 32) REQUIRE(o[512 + i] == x[(lanes == 64 ? 32 : 0) + (i ^ 5)]);
    }
  });
}

TEST_CASE("constant tables", "[basics]") {
  everywhere([](Module& m, const std::string&) {
    const int t[8] = {3, 1, 4, 1, 5, 9, 2, 6}, n = 100;
    Buffer<i32> out(n);
    ok(launch(m["constants"], {blocks(n)}, {64}, 0, out, n));
    const auto o = out.get();
    for (int i = 0; i < n; i++) REQUIRE(o[i] == t[(i * 5) & 7]);
  });
}
