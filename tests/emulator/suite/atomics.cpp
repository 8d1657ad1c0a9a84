#include "suite.h"

using namespace emu_suite;

namespace {

constexpr int count = 333, groups = (count + 63) / 64;

template <class T>
std::vector<T> start(T first) { return {0, 0, T(-1), 0, 0, first, 0, first, 0, 0, 0}; }
// The cells' values after all of x; the exchanged cell and its sum together are the sum of x.
template <class T>
std::vector<T> after(std::vector<T> t, const std::vector<T>& x) {
  using U = std::make_unsigned_t<T>;
  for (const T v : x) {
    t[0] = T(U(t[0]) + U(v)), t[1] = T(U(t[1]) - U(v)), t[2] &= v | 0x0f, t[3] |= v, t[4] ^= v, t[5] = std::min(t[5], v), t[6] = std::max(t[6], v);
    t[7] = T(std::min(U(t[7]), U(v))), t[8] = T(std::max(U(t[8]), U(v)));
  }
  t[9] = t[0], t[10] = 0;
  return t;
}
template <class T>
void exchanged(std::vector<T>& t, size_t at) {
  using U = std::make_unsigned_t<T>;
  t[at + 9] = T(U(t[at + 9]) + U(t[at + 10])), t[at + 10] = 0;
}
template <class T>
void in_global(Gpu& g) {
  const auto x = ints<T>(count, 1);
  const auto first = start<T>(x[0]);
  Buffer<T> t(first);
  int n = count;
  g.run({groups}, {64}, t, Buffer<T>(x), n);
  auto got = t.get();
  exchanged(got, 0);
  expect(got, after(first, x));
}
template <class T>
void in_lds(Gpu& g) {
  const auto x = ints<T>(count, 2);
  std::vector<T> want;
  for (int k = 0; k < groups; k++) {
    const auto part = after(start<T>(x[0]), std::vector<T>(x.begin() + 64 * k, x.begin() + std::min(count, 64 * (k + 1))));
    want.insert(want.end(), part.begin(), part.end());
  }
  Buffer<T> t(want.size());
  int n = count;
  g.run({groups}, {64}, t, Buffer<T>(x), n);
  auto got = t.get();
  for (size_t k = 0; k < got.size(); k += 11) exchanged(got, k);
  expect(got, want, 11);
}
void tickets(Gpu& g) {
  int n = 320;
  Buffer<u32> counters(std::vector<u32>(5, 0)), seen(std::vector<u32>(960, 0));
  Buffer<u64> wide(std::vector<u64>(1, 0));
  g.run({5}, {64}, counters, seen, wide, n);
  std::vector<u32> want(960, 1), cells(5, 0);
  std::fill(want.begin() + 320, want.begin() + 640, 2), std::fill(want.begin() + 640, want.end(), 3);
  expect(seen.get(), want);
  expect(wide.get(), std::vector<u64>{0x100000001ull * 320});
  cells[0] = 320;
  for (int k = 0; k < 320; k++) {
    cells[1] = cells[1] >= 9 ? 0 : cells[1] + 1;
    cells[3] += cells[2];
    cells[2] = cells[2] == 0 || cells[2] > 12 ? 12 : cells[2] - 1;
  }
  for (int k = 0; k < 5; k++)
    for (u32 j = 0, v = 0; j < 64; j++) cells[4] += v, v = v >= 6 ? 0 : v + 1;
  expect(counters.get(), cells);
}
template <class T>
std::vector<T> quarters(unsigned seed) {
  std::vector<T> x;
  for (const i32 k : ints<i32>(count, seed)) x.push_back(T(k % 1000) / 4);
  return x;
}
template <class T>
std::vector<T> float_cells(const std::vector<T>& x) {
  T sum = 0, low = 0, high = 0;
  for (const T v : x) sum += v, low = std::min(low, v), high = std::max(high, v);
  const T n = T(x.size());
  return {sum, low, high, n, n * (n - 1) / 2};
}
template <class T>
void float_in_global(Gpu& g) {
  const auto x = quarters<T>(3);
  Buffer<T> t(std::vector<T>(5, 0));
  int n = count;
  g.run({groups}, {64}, t, Buffer<T>(x), n);
  expect(t.get(), float_cells(x));
}
template <class T>
void float_in_lds(Gpu& g) {
  const auto x = quarters<T>(4);
  std::vector<T> want;
  for (int k = 0; k < groups; k++) {
    const auto part = float_cells(std::vector<T>(x.begin() + 64 * k, x.begin() + std::min(count, 64 * (k + 1))));
    want.insert(want.end(), part.begin(), part.end());
  }
  Buffer<T> t(want.size());
  int n = count;
  g.run({groups}, {64}, t, Buffer<T>(x), n);
  expect(t.get(), want, 5);
}
void global_half2_sum(Gpu& g) {
  std::vector<f16> x, want(2, 0);
  for (int k = 0; k < 2 * count; k++) x.push_back(f16(f32(k * 7 % 13 - 6) / 4)), want[size_t(k & 1)] += x.back();
  u32 chain = 0;
  for (int k = 0; k < count; k++) chain = chain * 3 + 1;
  Buffer<f16> t(std::vector<f16>(2, 0));
  Buffer<u32> cas(std::vector<u32>(1, 0));
  int n = count;
  g.run({groups}, {64}, t, cas, Buffer<f16>(x), n);
  expect(t.get(), want), expect(cas.get(), {chain});
}
void compare_and_swap(Gpu& g) {
  int n = count;
  Buffer<u64> wide(std::vector<u64>(1, 5));
  Buffer<u16> shorts(std::vector<u16>(4, 0));
  Buffer<u8> bytes(std::vector<u8>(8, 0));
  Buffer<u32> lds_out(std::vector<u32>(2, 0));
  g.run({groups}, {64}, wide, shorts, bytes, lds_out, n);
  const u32 sum = count * (count - 1) / 2;
  std::vector<u16> want(4, 0);
  std::vector<u8> byte_want(8, 0);
  for (int k = 0; k < count; k++) want[size_t(k & 3)] = u16(want[size_t(k & 3)] + k), byte_want[size_t(k & 7)]++;
  expect(wide.get(), {5 + (u64(sum) << 30)}), expect(shorts.get(), want), expect(bytes.get(), byte_want), expect(lds_out.get(), {sum, u32(groups)});
}
void orders_and_scopes(Gpu& g) {
  // One work-item: a scope as narrow as it is no race.
  Buffer<u32> t(std::vector<u32>{0, 0, 4, 7, 9});
  g.run({1}, {1}, t);
  expect(t.get(), {25, 4 + 24 * 5, 5, 7, 9});
}
void last_group(Gpu& g) {
  const auto x = ints<u32>(1024, 5);
  u32 total = 0;
  for (size_t k = 0; k < 16; k++) {
    u32 sum = 0;
    for (size_t j = 0; j < 64; j++) sum += x[64 * k + j];
    total = total * 31 + sum;
  }
  Buffer<u32> out(1), partial(16), counter(std::vector<u32>(1, 0));
  g.run({16}, {64}, out, partial, counter, Buffer<u32>(x));
  expect(out.get(), {total});
}
void generic(Gpu& g) {
  u32 sums[4] = {};
  for (u32 i = 0; i < 64; i++) sums[i & 3] += i;
  Buffer<u32> t(std::vector<u32>(2, 0)), lds_out(6);
  g.run({3}, {64}, t, lds_out);
  expect(t.get(), {3 * sums[0], 3 * sums[2]}), expect(lds_out.get(), {sums[1], sums[3], sums[1], sums[3], sums[1], sums[3]});
}

const std::vector<KernelTest> float_kernels = {
  {"global_f32", float_in_global<f32>}, {"global_f64", float_in_global<f64>}, {"lds_f32", float_in_lds<f32>}, {"lds_f64", float_in_lds<f64>}, {"global_half2_sum", global_half2_sum}};

}  // namespace

TEST_CASE("suite: atomics", "[suite]") {
  auto kernels = float_kernels;
  kernels.insert(kernels.end(), {
    {"global_i32", in_global<i32>}, {"global_i64", in_global<i64>}, {"lds_i32", in_lds<i32>}, {"lds_i64", in_lds<i64>}, {"tickets", tickets},
    {"compare_and_swap", compare_and_swap}, {"orders_and_scopes", orders_and_scopes}, {"last_group", last_group}, {"generic", generic},
  });
  run_theme("atomics.hip", "", kernels);
}
// The float kernels again with the hardware's instructions where loops of compare and swap stood.
TEST_CASE("suite: float atomics of the hardware", "[suite]") { run_theme("atomics.hip", "-munsafe-fp-atomics", float_kernels); }
