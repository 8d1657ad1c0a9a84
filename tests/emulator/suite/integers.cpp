#include <numeric>

#include "suite.h"

using namespace emu_suite;

namespace {

template <class S, class U>
void arithmetic(Gpu& g) {
  rows<U, 24>(g, [](U* o, U a, U b) {
    const S s = S(a), t = S(b);
    const int k = int(b & U(sizeof(U) * 8 - 1));
    const U r[24] = {U(a + b), U(a - b), U(u64(a) * b), U(0 - a), U(a & b), U(a | b), U(a ^ b), U(~(a ^ b)),
                     U(a & ~b), U(a | ~b), U(u64(a) << k), U(a >> k), U(s >> k), std::min(a, b), U(std::min(s, t)), std::max(a, b), U(std::max(s, t)), s < 0 ? U(0 - a) : a,
                     U((a < b) + 2 * (s < t) + 4 * (a == b) + 8 * (s >= t)), U(u64(a) * b + a), U((u64(a) + b) * 8), U(u64(a) * 4 + b), U((a & b) | 0x55), a == b ? U(a + 1) : s > t ? b : U(a ^ 1)};
    std::copy(r, r + 24, o);
  }, ints<U>(600, 1), ints<U>(600, 2));
}

template <class S, class U>
void division(Gpu& g) {
  rows<U, 12>(g, [](U* o, U a, U b) {
    const S s = S(a), t = b == U(-1) ? S(3) : S(b);
    const U r[12] = {U(a / b), U(a % b), U(s / t), U(s % t), U(a / 7), U(a % 10), U(s / -3), U(s % 100), U(a >> 6), U(s / 16), U(s % 8), 0};
    std::copy(r, r + 12, o);
  }, ints<U>(500, 3), without_zero(ints<U>(500, 4)));
}

template <class S, class U>
void saturation(Gpu& g) {
  rows<U, 8>(g, [](U* o, U a, U b) {
    const i128 s = S(a), t = S(b), least = std::numeric_limits<S>::min(), most = std::numeric_limits<S>::max();
    const U sum = U(a + b);
    o[0] = sum < a ? U(~U(0)) : sum, o[1] = a < b ? U(0) : U(a - b);
    o[2] = U(std::clamp(s + t, least, most)), o[3] = U(std::clamp(s - t, least, most));
    o[4] = sum < a, o[5] = s - t < least || s - t > most, o[6] = U(U(a + b + a - b) | 1), o[7] = a > b ? U(a - b) : U(b - a);
  }, ints<U>(600, 5), ints<U>(600, 6));
}

void wide_products(Gpu& g) {
  rows<u64, 12>(g, [](u64* o, u64 a, u64 b) {
    const u32 c = u32(a), d = u32(b);
    const u64 s24 = c % (1 << 24), t24 = d % (1 << 24);
    const i64 sc = s24 >> 23 ? i64(s24) - (1 << 24) : i64(s24), sd = t24 >> 23 ? i64(t24) - (1 << 24) : i64(t24);
    const u64 r[12] = {u64(u128(a) * b >> 64), u64(u128(i128(i64(a)) * i64(b)) >> 64), u64(c) * d, u64(i64(i32(c)) * i32(d)), u64(c) * d + a, u64(i64(i32(c)) * i32(d)) + b,
                       s24 * t24, u32(u32(s24 * t24) + c), u64(i64(i32(u32(sc * sd)))), u64(i64(i32(u32(u16(c)) * u16(d) + u16(a >> 32)))),
                       u64(u128(a + b) * 0x9e3779b97f4a7c15ull >> 64), (a * 0xff51afd7ed558ccdull) ^ (a * b >> 33)};
    std::copy(r, r + 12, o);
  }, ints<u64>(500, 7), ints<u64>(500, 8));
}

void int128(Gpu& g) {
  rows<u128, 10>(g, [](u128* o, u128 a, u128 b) {
    const int k = int(b & 127);
    const i128 s = i128(a), t = i128(b);
    const u128 r[10] = {a + b, a - b, a * b, a << k, a >> k, u128(s >> k), std::min(a, b), u128(std::min(s, t)), a ^ (b & ~a), u128((a == b) + 2 * (a < b) + 4 * (s <= t))};
    std::copy(r, r + 10, o);
  }, ints<u128>(300, 9), ints<u128>(300, 10));
}

void number_theory(Gpu& g) {
  const auto x = ints<u64>(64, 11), y = ints<u64>(64, 12);
  const int n = 61;  // the last work-item that has four words reads up to element 60
  std::vector<u64> want;
  for (int i = 0; i + 4 <= n; i++) {
    u64 sum[4], difference[4];
    u128 carry = 0, borrow = 0;
    for (int k = 0; k < 4; k++) {
      carry += u128(x[i + k]) + y[i + k];
      sum[k] = u64(carry), carry >>= 64;
      const u128 d = u128(x[i + k]) - y[i + k] - borrow;
      difference[k] = u64(d), borrow = d >> 127;
    }
    want.insert(want.end(), sum, sum + 4);
    want.insert(want.end(), difference, difference + 4);
    want.push_back(std::gcd(x[i] | 1, y[i] | 1));
    u128 p = 1;
    for (u64 e = 0; e < (y[i] & 0xffff); e++) p = p * (x[i] % 4294967291u) % 4294967291u;
    want.push_back(u64(p));
    u64 root = std::min<u64>(u64(std::sqrt((long double)(x[i]))), 0xffffffff);
    want.push_back(root);
    want.push_back(u64(carry) | u64(borrow) << 1);
  }
  Buffer<u64> out(want.size());
  g.run({1}, {64}, out, Buffer<u64>(x), Buffer<u64>(y), n);
  expect(out.get(), want, 12);
}

}  // namespace

TEST_CASE("suite: integers", "[suite]") {
  run_theme("integers.hip", "", {
    {"arithmetic_8", arithmetic<i8, u8>}, {"arithmetic_16", arithmetic<i16, u16>}, {"arithmetic_32", arithmetic<i32, u32>}, {"arithmetic_64", arithmetic<i64, u64>},
    {"division_8", division<i8, u8>}, {"division_16", division<i16, u16>}, {"division_32", division<i32, u32>}, {"division_64", division<i64, u64>},
    {"wide_products", wide_products}, {"int128", int128}, {"number_theory", number_theory},
    {"saturation_8", saturation<i8, u8>}, {"saturation_16", saturation<i16, u16>}, {"saturation_32", saturation<i32, u32>}, {"saturation_64", saturation<i64, u64>},
  });
}
