#include "suite.h"

using namespace emu_suite;

namespace {

// Rounds once to T what was computed exactly, or in f32 for f16 (24 bits hold a sum, product, quotient and root of
// 11-bit numbers well enough for one more rounding: 24 >= 2 * 11 + 2).
template <class T> using wide_of = std::conditional_t<std::is_same_v<T, f64>, f64, f32>;

template <class T>
T fused(T a, T b, T c) {
  if constexpr (std::is_same_v<T, f64>) return std::fma(a, b, c);
  else if constexpr (std::is_same_v<T, f32>) return std::fma(a, b, c);
  else {
    // The product of two f16 is exact in f64; the sum is rounded to odd there, so that f16 rounds once.
    const f64 p = f64(a) * f64(b), s = p + f64(c), t = s - p, error = (p - (s - t)) + (f64(c) - t);
    if (error != 0 && std::isfinite(s) && !(bits<u64>(s) & 1)) return T(std::nextafter(s, error > 0 ? INFINITY : -INFINITY));
    return T(s);
  }
}

template <class T>
void basic(Gpu& g) {
  using W = wide_of<T>;
  rows<T, 20>(g, [](T* o, T x, T y, T z) {
    const W a = W(x), b = W(y), c = W(z);
    auto sum = [](T p, T q) { return T(W(p) + W(q)); };
    auto times = [](T p, T q) { return T(W(p) * W(q)); };
    const T minus_z = T(-c), tenth = T(0.1f);
    const T r[20] = {T(a + b), T(a - b), T(a * b), T(a / b), T(std::sqrt(a)), T(W(1) / a),
                     fused(x, y, z), sum(T(a * b), z), fused(T(-a), y, z), times(T(-a), T(b - c)),
                     a < b ? x : z, T(a == b ? 1.f : a != a ? 2.f : a >= c ? 3.f : 4.f), T(std::fabs(a) - std::fabs(b)), T(std::copysign(a, b)),
                     times(T(a + b), T(2.f)), times(T(a - b), T(0.5f)), sum(times(T(a + b), T(4.f)), minus_z), times(T(a * a), x), sum(times(tenth, x), T(7.f)), !(a < b) || !(c >= a) ? y : minus_z};
    std::copy(r, r + 20, o);
  }, floats<T>(900, 1), floats<T>(900, 2), floats<T>(900, 3));
}
void basic_bf16(Gpu& g) {
  const auto x = floats<bf16>(900, 4), y = floats<bf16>(900, 5), z = floats<bf16>(900, 6);
  int i = 0;
  rows<bf16, 10>(g, [&](bf16* o, bf16 x, bf16 y, bf16 z) {
    const float a = x, b = y, c = z;
    const bf16 r[10] = {a + b, a - b, a * b + 0.0f, a / b, -a, float(bf16(a * b + 0.0f)) + c, a < b ? a : c, a * b + c, a == b ? 1.f : a > c ? 2.f : 3.f, float(i++)};
    std::copy(r, r + 10, o);
  }, x, y, z);
}

template <class T>
void rounding(Gpu& g) {
  using W = wide_of<T>;
  rows<T, 8>(g, [](T* o, T x) {
    const W a = W(x);
    const T r[8] = {T(std::floor(a)), T(std::ceil(a)), T(std::trunc(a)), T(std::nearbyint(a)), T(std::nearbyint(a)), T(std::round(a)), T(std::nearbyint(a)), T(a - std::floor(a))};
    std::copy(r, r + 8, o);
  }, floats<T>(1500, 7));
}

// minNum and maxNum of IEEE 754-2008; -0 is below +0, as the instructions have it.
template <class T> T least(T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(f64(a)) ? a : b) : a < b ? a : b; }
template <class T> T most(T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(f64(a)) ? b : a) : a > b ? a : b; }
template <class T>
void extremes(Gpu& g) {
  rows<T, 8>(g, [](T* o, T a, T b, T c) {
    const T one = T(1.f), zero = T(0.f), minus_b = T(-b), abs_c = T(std::fabs(f64(c)));
    const T r[8] = {least(a, b), most(a, b), most(least(a, one), zero), most(least(a, b), c), least(most(a, b), c), a < b ? a : b, a > b ? a : b, least(least(a, minus_b), abs_c)};
    std::copy(r, r + 8, o);
  }, floats<T>(1200, 8), floats<T>(1200, 9), floats<T>(1200, 10));
}

template <class T>
void exponents(Gpu& g) {
  auto y = ints<i32>(1000, 12);
  for (auto& k : y) k = k % 300;
  rows<T, 6>(g, [](T* o, T a, i32 k) {
    int e = 0;
    const T m = std::isfinite(a) ? std::frexp(a, &e) : a;  // frexp_exp gives 0 for infinity and NaN (ISA document)
    // The largest number below one bounds fract, for tiny negative numbers.
    T fract = a - std::floor(a);
    if (fract >= 1) fract = std::nextafter(T(1), T(0));
    const bool subnormal = a != 0 && std::fabs(a) < std::numeric_limits<T>::min();
    const T r[6] = {std::ldexp(a, k), m, T(e), fract, T(int(a != a) + 2 * int(std::isinf(a)) + 4 * int(std::isnormal(a)) + 8 * int(std::signbit(a))), T(subnormal)};
    std::copy(r, r + 6, o);
  }, floats<T>(1000, 11), y);
}

void packed_f16(Gpu& g) {
  const size_t n = 400;
  const auto x = floats<f16>(2 * n, 13), y = floats<f16>(2 * n, 14), z = floats<f16>(2 * n, 15);
  std::vector<f16> want;
  for (size_t i = 0; i < n; i++)
    for (int row = 0; row < 6; row++)
      for (size_t k = 0; k < 2; k++) {
        const f16 a = x[2 * i + k], b = y[2 * i + k], c = z[2 * i + k], other_b = y[2 * i + 1 - k], other_c = z[2 * i + 1 - k], first_c = z[2 * i];
        const f16 r[6] = {f16(f32(a) + f32(b)), f16(f32(a) * f32(other_b)), fused<f16>(a, b, -c), least<f16>(a, b), most<f16>(-a, other_c), f16(f32(f16(f32(a) - f32(b))) * f32(first_c))};
        want.push_back(r[row]);
      }
  int count = int(n);
  Buffer<f16> out(want.size());
  g.run({blocks(count)}, {64}, out, Buffer<f16>(x), Buffer<f16>(y), Buffer<f16>(z), count);
  expect(out.get(), want, 12);
}
void packed_f32(Gpu& g) {
  const size_t n = 400;
  const auto x = floats<f32>(2 * n, 16), y = floats<f32>(2 * n, 17), z = floats<f32>(2 * n, 18);
  std::vector<f32> want;
  for (size_t i = 0; i < n; i++)
    for (int row = 0; row < 4; row++)
      for (size_t k = 0; k < 2; k++) {
        const f32 a = x[2 * i + k], b = y[2 * i + k], other_b = y[2 * i + 1 - k], first_b = y[2 * i], other_c = z[2 * i + 1 - k];
        const f32 r[4] = {a + other_b, a * -b, std::fma(a, first_b, other_c), (a - b) * (k ? 3.0f : 2.0f)};
        want.push_back(r[row]);
      }
  int count = int(n);
  Buffer<f32> out(want.size());
  g.run({blocks(count)}, {64}, out, Buffer<f32>(x), Buffer<f32>(y), Buffer<f32>(z), count);
  expect(out.get(), want, 8);
}
void mixed(Gpu& g) {
  const int n = 800;
  const auto x = floats<f16>(n, 19), y = floats<f16>(n, 20);
  const auto z = floats<f32>(n, 21);
  std::vector<f32> want;
  std::vector<f16> half_want;
  for (int i = 0; i < n; i++) {
    const f32 a = f32(x[i]), b = f32(y[i]), c = z[i];
    const f32 r[4] = {std::fma(a, b, c), std::fma(-a, c, b), std::fma(c, c, std::fabs(a)), a + c};
    want.insert(want.end(), r, r + 4);
    half_want.push_back(f16(std::fma(a, b, c))), half_want.push_back(f16(f32(f16(a * c)) + 0.0f));
  }
  Buffer<f32> out(want.size());
  Buffer<f16> half_out(half_want.size());
  g.run({blocks(n)}, {64}, out, half_out, Buffer<f16>(x), Buffer<f16>(y), Buffer<f32>(z), n);
  expect(out.get(), want, 4);
  expect(half_out.get(), half_want, 2);
}
void compensated_sum(Gpu& g) {
  const int n = 101;
  const auto x = uniform<f32>(n, 22, -1e6, 1e6);
  std::vector<f32> want;
  for (int i = 0; i < 128; i++) {
    f32 sum = 0, error = 0;
    for (int k = 0; k < n; k++) {
      const f32 term = x[(i * 7 + k) % n] - error, next = sum + term;
      error = (next - sum) - term;
      sum = next;
    }
    want.push_back(sum), want.push_back(error);
  }
  Buffer<f32> out(want.size());
  g.run({2}, {64}, out, Buffer<f32>(x), n);
  expect(out.get(), want, 2);
}

}  // namespace

TEST_CASE("suite: floats", "[suite]") {
  run_theme("floats.hip", "", {
    {"basic_f16", basic<f16>}, {"basic_f32", basic<f32>}, {"basic_f64", basic<f64>}, {"basic_bf16", basic_bf16},
    {"rounding_f16", rounding<f16>}, {"rounding_f32", rounding<f32>}, {"rounding_f64", rounding<f64>},
    {"extremes_f16", extremes<f16>}, {"extremes_f32", extremes<f32>}, {"extremes_f64", extremes<f64>}, {"exponents_f32", exponents<f32>}, {"exponents_f64", exponents<f64>},
    {"packed_f16", packed_f16}, {"packed_f32", packed_f32}, {"mixed", mixed}, {"compensated_sum", compensated_sum},
  });
}
