// Test values of every type, and how they are compared and shown.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace emu_suite {

using u8 = uint8_t;
using i8 = int8_t;
using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;
using f16 = _Float16;
using f32 = float;
using f64 = double;
using u128 = unsigned __int128;
using i128 = __int128;

template <class To, class From>
To bits(From x) {
  static_assert(sizeof(To) == sizeof(From));
  To r;
  std::memcpy(&r, &x, sizeof r);
  return r;
}

// bfloat16, which g++ 12 lacks: the upper half of an f32, rounded to nearest even.
struct bf16 {
  u16 raw = 0;
  bf16() = default;
  bf16(float x) {
    const u32 b = bits<u32>(x);
    raw = x != x ? u16(b >> 16 | 0x40) : u16((b + 0x7fff + (b >> 16 & 1)) >> 16);
  }
  operator float() const { return bits<float>(u32(raw) << 16); }
};

template <class T> constexpr bool is_float = std::is_floating_point_v<T> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
template <size_t N> struct uint_of;
template <> struct uint_of<1> { using type = u8; };
template <> struct uint_of<2> { using type = u16; };
template <> struct uint_of<4> { using type = u32; };
template <> struct uint_of<8> { using type = u64; };
template <class T> using raw_of = typename uint_of<sizeof(T)>::type;

template <class T>
bool same_value(T a, T b) {
  if constexpr (is_float<T>) return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
  else return a == b;
}
template <class T>
std::string show(T x) {
  char s[64];
  if constexpr (sizeof(T) == 16) std::snprintf(s, sizeof s, "0x%016llx%016llx", (unsigned long long)(u128(x) >> 64), (unsigned long long)x);
  else if constexpr (is_float<T>) std::snprintf(s, sizeof s, "%.17g (0x%llx)", double(float(x)) == double(x) ? double(float(x)) : double(x), (unsigned long long)bits<raw_of<T>>(x));
  else std::snprintf(s, sizeof s, "%lld (0x%llx)", (long long)x, (unsigned long long)std::make_unsigned_t<T>(x));
  return s;
}
template <class T>
double ulp_of(double x) {
  constexpr int digits = std::is_same_v<T, f64> ? 53 : std::is_same_v<T, f32> ? 24 : std::is_same_v<T, f16> ? 11 : 8;
  constexpr int least = std::is_same_v<T, f64> ? -1022 : std::is_same_v<T, f16> ? -14 : -126;
  int e = least;
  if (x != 0 && std::isfinite(x)) std::frexp(x, &e), e--;
  return std::ldexp(1.0, std::max(e, least) - digits + 1);
}

// Random integers of all magnitudes, a third of them at the edges.
template <class T>
std::vector<T> ints(size_t n, unsigned seed) {
  std::mt19937_64 r(seed);
  constexpr int width = sizeof(T) * 8;
  std::vector<T> v(n);
  for (auto& x : v) {
    const u64 k = r(), edge = u64(1) << (k >> 8) % width;
    x = T(k % 3 == 0 ? edge + (k >> 20) % 3 - 1 : k % 3 == 1 ? r() : r() >> r() % 64);
    if constexpr (sizeof(T) == 16) x = (x << (k >> 32) % 127) ^ T(r());
  }
  return v;
}
template <class T>
std::vector<T> without_zero(std::vector<T> v) {
  for (auto& x : v)
    if (!x) x = 1;
  return v;
}
// Random numbers of every exponent, small ones, and the special values.
template <class T>
std::vector<T> floats(size_t n, unsigned seed) {
  using U = raw_of<T>;
  std::mt19937_64 r(seed);
  constexpr int mantissa = std::is_same_v<T, f64> ? 52 : std::is_same_v<T, f32> ? 23 : std::is_same_v<T, f16> ? 10 : 7;
  const U inf = U(U(~U(0)) >> 1 >> mantissa << mantissa), one = bits<U>(T(1.0f));
  const U special[] = {0, 1, U((U(1) << mantissa) - 1), U(U(1) << mantissa), one, U(one - 1), U(one + 1), U(inf - 1), inf, U(inf | inf >> 1), bits<U>(T(0.5f)), bits<U>(T(1.5f)), bits<U>(T(2.5f)), bits<U>(T(3.0f))};
  std::vector<T> v(n);
  for (auto& x : v) {
    const u64 k = r();
    U u = U(r());
    if (k % 4 == 0) u = U(special[(k >> 8) % std::size(special)] | (k >> 40 & 1) << (sizeof(T) * 8 - 1));
    x = k % 4 == 1 ? T(float(i64(r() % 4001) - 2000) / 16) : k % 4 == 2 ? T(float(i64(r())) * 1e-19f) : bits<T>(u);
    if (x != x) x = bits<T>(U(inf | U(1) << (mantissa - 1)));
  }
  return v;
}
// Uniform in [lo, hi).
template <class T>
std::vector<T> uniform(size_t n, unsigned seed, double lo, double hi) {
  std::mt19937_64 r(seed);
  std::vector<T> v(n);
  for (auto& x : v) x = T(lo + (hi - lo) * double(r() >> 11) * 0x1p-53);
  return v;
}

}  // namespace emu_suite
