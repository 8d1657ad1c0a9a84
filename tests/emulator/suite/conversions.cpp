#include "suite.h"

using namespace emu_suite;

namespace {

template <class T>
void to_floats(Gpu& g, const std::vector<T>& x) {
  const int n = int(x.size());
  std::vector<f64> d;
  std::vector<f32> f;
  std::vector<f16> h;
  std::vector<bf16> b;
  for (const T a : x) d.push_back(f64(a)), f.push_back(f32(a)), h.push_back(f16(a)), b.push_back(bf16(f32(a)));
  Buffer<f64> dd(x.size());
  Buffer<f32> df(x.size());
  Buffer<f16> dh(x.size());
  Buffer<bf16> db(x.size());
  g.run({blocks(n)}, {64}, dd, df, dh, db, Buffer<T>(x), n);
  expect(dd.get(), d), expect(df.get(), f), expect(dh.get(), h), expect(db.get(), b);
}
template <class T> void from_ints(Gpu& g) { to_floats<T>(g, ints<T>(1000, 1)); }
template <class T> void from_floats(Gpu& g) { to_floats<T>(g, floats<T>(1500, 2)); }

template <class T>
void to_integers(Gpu& g) {
  auto x = floats<T>(1000, 3), narrow = floats<T>(1000, 4);
  for (auto& a : x)
    if (!(std::fabs(a) < T(9e18))) a = T(12345.75);
  for (auto& a : narrow)
    if (!(std::fabs(a) < T(2147483000))) a = T(-77.5);
  rows<i64, 8>(g, [](i64* o, T a, T b) {
    const i64 r[8] = {i64(a), i64(u64(std::fabs(a))), i32(b), i64(u32(std::fabs(b))), i16(i32(b)), u8(i32(b)), i8(i32(b)), a != 0};
    std::copy(r, r + 8, o);
  }, x, narrow);
}
void to_integers_f16(Gpu& g) {
  auto x = floats<f16>(1000, 5);
  for (auto& a : x)
    if (!(std::fabs(f32(a)) < 65000)) a = f16(-3.5f);
  rows<i64, 4>(g, [](i64* o, f16 x) {
    const f32 a = f32(x);
    o[0] = i64(a), o[1] = i32(a), o[2] = i64(std::fabs(a)), o[3] = a < f32(f16(32767.f)) && a > f32(f16(-32767.f)) ? i16(a) : 5;
  }, x);
}
void integers_of_all_widths(Gpu& g) {
  rows<i64, 10>(g, [](i64* o, i64 a) {
    auto sign = [](i64 v, int width) { return i64(u64(v) << (64 - width)) >> (64 - width); };
    auto zero = [](i64 v, int width) { return i64(u64(v) << (64 - width) >> (64 - width)); };
    const i64 r[10] = {sign(a, 8), zero(a, 8), sign(a, 16), zero(a, 16), sign(a, 32), zero(a, 32), sign(a, 8), zero(sign(a, 8), 16), zero(sign(a, 16), 32), a ? -1 : 7};
    std::copy(r, r + 10, o);
  }, ints<i64>(600, 6));
}
void saturating(Gpu& g) {
  rows<i32, 4>(g, [](i32* o, f32 a, f64 d) {
    o[0] = a != a ? 0 : i32(std::clamp<f64>(std::trunc(f64(a)), -2147483648.0, 2147483647.0));
    o[1] = a != a ? 0 : i32(u32(std::clamp<f64>(std::trunc(f64(a)), 0.0, 4294967295.0)));
    o[2] = d != d ? 0 : i32(std::clamp(std::trunc(d), -2147483648.0, 2147483647.0));
    o[3] = a != a ? 0 : i32(std::clamp(std::nearbyint(a), -128.f, 127.f));
  }, floats<f32>(1500, 7), floats<f64>(1500, 8));
}
void pairs(Gpu& g) {
  const int n = 500;
  const auto x = floats<f32>(2 * n, 9);
  const auto y = floats<f16>(2 * n, 10);
  Buffer<f16> h(2 * n);
  Buffer<bf16> b(2 * n);
  Buffer<f32> f(2 * n);
  g.run({blocks(n)}, {64}, h, b, f, Buffer<f32>(x), Buffer<f16>(y), n);
  expect(h.get(), std::vector<f16>(x.begin(), x.end())), expect(b.get(), std::vector<bf16>(x.begin(), x.end())), expect(f.get(), std::vector<f32>(y.begin(), y.end()));
}
void from_bf16(Gpu& g) {
  const int n = 1000;
  const auto x = floats<bf16>(n, 11);
  std::vector<f32> f(x.begin(), x.end());
  Buffer<f32> df(n);
  Buffer<f64> dd(n);
  Buffer<f16> dh(n);
  g.run({blocks(n)}, {64}, df, dd, dh, Buffer<bf16>(x), n);
  expect(df.get(), f), expect(dd.get(), std::vector<f64>(f.begin(), f.end())), expect(dh.get(), std::vector<f16>(f.begin(), f.end()));
}

}  // namespace

TEST_CASE("suite: conversions", "[suite]") {
  run_theme("conversions.hip", "", {
    {"from_i8", from_ints<i8>}, {"from_u16", from_ints<u16>}, {"from_i32", from_ints<i32>}, {"from_u32", from_ints<u32>}, {"from_i64", from_ints<i64>}, {"from_u64", from_ints<u64>},
    {"from_f64", from_floats<f64>}, {"from_f32", from_floats<f32>}, {"from_f16", from_floats<f16>}, {"from_bf16", from_bf16},
    {"to_integers_f64", to_integers<f64>}, {"to_integers_f32", to_integers<f32>}, {"to_integers_f16", to_integers_f16},
    {"integers_of_all_widths", integers_of_all_widths}, {"saturating", saturating}, {"pairs", pairs},
  });
}
