// A real client: Debian's librocrand1 5.3, whose code objects AMD's compiler built for gfx900, gfx906, gfx908, gfx90a
// and gfx1030. What it draws is compared with implementations of its generators written here from their papers:
//   Philox4x32-10   Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011)
//   XORWOW          Marsaglia: Xorshift RNGs (2003), section 3.1
//   MRG32k3a        L'Ecuyer: Good parameters and implementations for combined multiple recursive generators (1999)
//   Sobol           Joe, Kuo: Constructing Sobol sequences with better two-dimensional projections (2008)
// What the papers leave open are conventions of rocRAND 5.3: how a seed becomes a state (as its headers say), and in
// which order a call's elements come. Deduced, and held to here:
//   Philox: element i of a generator's life is word i % 4 of block i / 4; the key is the seed, the counter starts at 0.
//   XORWOW, MRG32k3a: 131072 engines, one after the other 2^67 and 2^76 steps apart; element i is the next number of
//     engine i % 131072, over the whole life of the generator. Normal numbers come in pairs from one engine.
//   Sobol: the first n elements are the first n points' first coordinates, the next n their second ones, and so on.
//
//   rocrand GENERATOR...   of philox, xorwow, mrg32k3a, sobol32, sobol64; ends with status 1 at the first difference
#include <hip/hip_runtime.h>
#include <rocrand/rocrand.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "check.h"

using u32 = uint32_t;
using u64 = uint64_t;

#define ROCRAND(call) CHECK((call) == ROCRAND_STATUS_SUCCESS)

constexpr u64 seed = 0x123456789abcdef;
constexpr u64 short_seed = 0x89abcdef;   // MRG32k3a's, whose seeding overflows with longer ones

// ---- generators ------------------------------------------------------------------------------------

std::array<u32, 4> philox_block(u64 block, u64 key) {
  std::array<u32, 4> c = {u32(block), u32(block >> 32), 0, 0};
  u32 k0 = u32(key), k1 = u32(key >> 32);
  for (int round = 0; round < 10; round++) {
    const u64 a = u64(0xD2511F53) * c[0], b = u64(0xCD9E8D57) * c[2];
    c = {u32(b >> 32) ^ c[1] ^ k0, u32(b), u32(a >> 32) ^ c[3] ^ k1, u32(a)};
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;   // golden ratio, sqrt(3) - 1
  }
  return c;
}

// A linear map over GF(2) on XORWOW's five words, by the images of its 160 unit vectors.
using Words = std::array<u32, 5>;
struct BitMatrix {
  std::vector<Words> columns{160};
  Words operator()(const Words& x) const {
    Words y{};
    for (int bit = 0; bit < 160; bit++)
      if (x[bit / 32] >> (bit % 32) & 1)
        for (int k = 0; k < 5; k++) y[k] ^= columns[bit][k];
    return y;
  }
};
struct Xorwow {
  Words x;
  u32 d;
  static Words step(const Words& x) {
    const u32 t = x[0] ^ (x[0] >> 2);
    return {x[1], x[2], x[3], x[4], x[4] ^ (x[4] << 4) ^ t ^ (t << 1)};
  }
  u32 next() {
    x = step(x);
    return (d += 362437) + x[4];
  }
  static Xorwow first(u64 s) {
    const u32 t0 = 1228688033u * (u32(s) ^ 0x2c7f967f), t1 = 2073658381u * (u32(s >> 32) ^ 0xa03697cb);
    return {{123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0}, 6615241 + t1 + t0};
  }
  // 2^67 steps; d's increment times 2^67 is 0 modulo 2^32.
  static std::function<Xorwow(const Xorwow&)> jump() {
    BitMatrix m;
    for (int bit = 0; bit < 160; bit++) {
      Words unit{};
      unit[bit / 32] = 1u << (bit % 32);
      m.columns[bit] = step(unit);
    }
    for (int k = 0; k < 67; k++) {
      BitMatrix square;
      for (int bit = 0; bit < 160; bit++) square.columns[bit] = m(m.columns[bit]);
      m = square;
    }
    return [m](const Xorwow& e) { return Xorwow{m(e.x), e.d}; };
  }
};

struct Mrg32k3a {
  static constexpr u64 m1 = 4294967087, m2 = 4294944443;
  using Vector = std::array<u64, 3>;
  using Matrix = std::array<Vector, 3>;
  Vector a, b;
  static Vector times(const Matrix& m, const Vector& v, u64 modulus) {
    Vector r{};
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) r[i] = (r[i] + m[i][k] * v[k] % modulus) % modulus;
    return r;
  }
  u32 next() {   // in [1, m1]
    const u64 p = (1403580 * a[1] + 810728 * (m1 - a[0])) % m1, q = (527612 * b[2] + 1370589 * (m2 - b[0])) % m2;
    a = {a[1], a[2], p}, b = {b[1], b[2], q};
    return u32(p > q ? p - q : p + m1 - q);
  }
  static Mrg32k3a first(u64 s) {
    const u64 x = u32(s) ^ 0x55555555, y = u32(s >> 32) ^ 0xAAAAAAAA;
    return {{x * (s % m1) % m1, y * (s % m1) % m1, x * (s % m1) % m1}, {y * (s % m2) % m2, x * (s % m2) % m2, y * (s % m2) % m2}};
  }
  static std::function<Mrg32k3a(const Mrg32k3a&)> jump() {
    Matrix p = {Vector{0, 1, 0}, {0, 0, 1}, {m1 - 810728, 1403580, 0}}, q = {Vector{0, 1, 0}, {0, 0, 1}, {m2 - 1370589, 0, 527612}};
    auto square = [](const Matrix& m, u64 modulus) {
      Matrix r{};
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          for (int k = 0; k < 3; k++) r[i][j] = (r[i][j] + m[i][k] * m[k][j] % modulus) % modulus;
      return r;
    };
    for (int k = 0; k < 76; k++) p = square(p, m1), q = square(q, m2);
    return [=](const Mrg32k3a& e) { return Mrg32k3a{times(p, e.a, m1), times(q, e.b, m2)}; };
  }
};

// Joe and Kuo's first eight dimensions: degree, polynomial's inner coefficients, first direction numbers.
struct SobolRow { int degree, inner; std::vector<u64> m; };
const SobolRow sobol_rows[] = {{0, 0, {}}, {1, 0, {1}}, {2, 1, {1, 3}}, {3, 1, {1, 3, 1}}, {3, 2, {1, 1, 1}}, {4, 1, {1, 1, 3, 3}}, {4, 4, {1, 3, 5, 13}}, {5, 2, {1, 1, 5, 5, 17}}};

template <class T>
T sobol_point(int dimension, u32 index) {
  constexpr int bits = 8 * sizeof(T);
  const SobolRow& row = sobol_rows[dimension];
  std::vector<u64> m = row.m;
  for (int k = row.degree; k < bits; k++) {
    if (row.degree == 0) {
      m.push_back(1);
      continue;
    }
    u64 x = m[k - row.degree] ^ (m[k - row.degree] << row.degree);
    for (int i = 1; i < row.degree; i++)
      if (row.inner >> (row.degree - 1 - i) & 1) x ^= m[k - i] << i;
    m.push_back(x);
  }
  const u32 gray = index ^ (index >> 1);
  T x = 0;
  for (int k = 0; k < 32; k++)
    if (gray >> k & 1) x ^= T(m[k]) << (bits - 1 - k);
  return x;
}

// ---- distributions ---------------------------------------------------------------------------------

// A 32-bit number becomes a float in (0, 1].
float uniform(u32 x) { return 0x1p-32f + float(x) * 0x1p-32f; }
double uniform_double(u64 x53) { return 0x1p-53 + double(x53) * 0x1p-53; }

// Box and Muller's pair, sine first, in double precision from the same two floats.
std::array<double, 2> normal_pair(float u, float v) {
  const double radius = std::sqrt(-2 * std::log(double(u))), angle = 2 * M_PI * double(v);
  return {radius * std::sin(angle), radius * std::cos(angle)};
}
// The library computes in f32 with the hardware's sine and logarithm: an angle up to 2 pi has an error of some 2^-21,
// the sine another 2^-20, and both grow with the radius, which is below 6.7.
bool close(float got, double want) { return std::fabs(got - want) < 2e-5 + 2e-6 * std::fabs(want); }

template <class T, class F>
std::vector<T> draw(size_t n, F call) {
  T* p = nullptr;
  HIP(hipMalloc((void**)&p, n * sizeof(T)));
  ROCRAND(call(p));
  auto values = host_copy(p, n);
  HIP(hipFree(p));
  return values;
}

// One engine's numbers as elements; MRG32k3a's lie in [1, m1] and are stretched with constants that the headers give.
struct Kind {
  u32 (*integer)(u32);
  float (*real)(u32);
};
const Kind by_power = {[](u32 x) { return x; }, uniform};
const Kind by_modulus = {[](u32 x) { return u32((x - 1) * 1.000000048661607); }, [](u32 x) { return float(double(x) * 2.3283065498378288e-10); }};

void check_poisson(const std::vector<u32>& values, double lambda) {
  // Chi-square over 0 to 20 with 21 classes: 20 degrees of freedom, 60 is passed with probability 7e-6.
  std::vector<double> counts(21), expected(21);
  double p = std::exp(-lambda), rest = 1;
  for (int k = 0; k < 20; k++) expected[k] = p * values.size(), rest -= p, p *= lambda / (k + 1);
  expected[20] = rest * values.size();
  for (u32 x : values) counts[std::min(x, 20u)]++;
  double chi = 0;
  for (int k = 0; k <= 20; k++)
    if (expected[k] > 5) chi += (counts[k] - expected[k]) * (counts[k] - expected[k]) / expected[k];
  CHECK(chi < 60);
}

// `next(n, width)`: the n * width numbers of the following n elements, width each.
void check_pseudo(rocrand_rng_type type, u64 seed, const Kind& kind, const std::function<std::vector<u32>(size_t n, int width)>& next, size_t first) {
  rocrand_generator g;
  ROCRAND(rocrand_create_generator(&g, type));
  ROCRAND(rocrand_set_seed(g, seed));
  for (size_t n : {first, size_t(1000)}) {
    const auto got = draw<u32>(n, [&](u32* p) { return rocrand_generate(g, p, n); });
    const auto numbers = next(n, 1);
    for (size_t i = 0; i < n; i++) CHECK(got[i] == kind.integer(numbers[i]));
  }
  {
    const auto got = draw<float>(500, [&](float* p) { return rocrand_generate_uniform(g, p, 500); });
    const auto numbers = next(500, 1);
    for (size_t i = 0; i < 500; i++) CHECK(got[i] == kind.real(numbers[i]));
  }
  for (bool log : {false, true}) {
    const size_t n = 1000;
    const auto got = draw<float>(n, [&](float* p) { return log ? rocrand_generate_log_normal(g, p, n, 0.5f, 0.25f) : rocrand_generate_normal(g, p, n, 3, 2); });
    const auto numbers = next(n / 2, 2);
    for (size_t i = 0; i < n; i++) {
      const double normal = normal_pair(kind.real(numbers[i / 2 * 2]), kind.real(numbers[i / 2 * 2 + 1]))[i % 2];
      if (log) CHECK(std::fabs(got[i] / std::exp(0.5 + 0.25 * normal) - 1) < 1e-5);
      else CHECK(close((got[i] - 3) / 2, normal));
    }
  }
  check_poisson(draw<u32>(4000, [&](u32* p) { return rocrand_generate_poisson(g, p, 4000, 6.5); }), 6.5);
  ROCRAND(rocrand_destroy_generator(g));
}

void check_philox() {
  u64 at = 0;
  check_pseudo(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, seed, by_power, [&](size_t n, int width) {
    std::vector<u32> numbers;
    for (const u64 end = at + n * width; at < end; at++) numbers.push_back(philox_block(at / 4, seed)[at % 4]);
    return numbers;
  }, 5000);
}
template <class Engine>
void check_engines(rocrand_rng_type type, u64 seed, const Kind& kind) {
  constexpr size_t engines = 131072;
  const auto jump = Engine::jump();
  std::vector<Engine> all{Engine::first(seed)};
  while (all.size() < engines) all.push_back(jump(all.back()));
  u64 at = 0;
  // The first draw goes once around all engines.
  check_pseudo(type, seed, kind, [&](size_t n, int width) {
    std::vector<u32> numbers;
    for (const u64 end = at + n; at < end; at++)
      for (int k = 0; k < width; k++) numbers.push_back(all[at % engines].next());
    return numbers;
  }, engines + 1000);
}

template <class T>
void check_sobol(rocrand_rng_type type, const std::function<rocrand_status(rocrand_generator, T*, size_t)>& integers) {
  const u32 dimensions = 8, n = 700;
  rocrand_generator g;
  ROCRAND(rocrand_create_generator(&g, type));
  ROCRAND(rocrand_set_quasi_random_generator_dimensions(g, dimensions));
  const auto got = draw<T>(dimensions * n, [&](T* p) { return integers(g, p, dimensions * n); });
  for (u32 d = 0; d < dimensions; d++)
    for (u32 i = 0; i < n; i++) CHECK(got[d * n + i] == sobol_point<T>(int(d), i));
  // The sequence goes on where the first call ended.
  const auto reals = draw<double>(dimensions * n, [&](double* p) { return rocrand_generate_uniform_double(g, p, dimensions * n); });
  for (u32 d = 0; d < dimensions; d++)
    for (u32 i = 0; i < n; i++) {
      const T x = sobol_point<T>(int(d), n + i);
      CHECK(reals[d * n + i] == (sizeof(T) == 8 ? uniform_double(u64(x) >> 11) : 0x1p-32 + double(x) * 0x1p-32));
    }
  if (sizeof(T) == 8) {
    // The library narrows the point to its low 32 bits first (its code: v_cvt_f32_u32 of the low dword), and those are zero
    // for the first 2^32 points: constant floats are its own fault, not the target's.
    const auto floats = draw<float>(dimensions * n, [&](float* p) { return rocrand_generate_uniform(g, p, dimensions * n); });
    for (u32 d = 0; d < dimensions; d++)
      for (u32 i = 0; i < n; i++) CHECK(floats[d * n + i] == std::fma(float(u32(sobol_point<T>(int(d), 2 * n + i))), 0x1p-32f, 0x1p-32f));
  }
  if (sizeof(T) == 4) {
    // Poisson by inversion: the least k whose distribution function reaches the point.
    const auto counts = draw<u32>(dimensions * n, [&](u32* p) { return rocrand_generate_poisson(g, p, dimensions * n, 6.5); });
    for (u32 d = 0; d < dimensions; d++)
      for (u32 i = 0; i < n; i++) {
        const double x = double(sobol_point<T>(int(d), 2 * n + i)) * 0x1p-32;
        double p = std::exp(-6.5), sum = p;
        u32 k = 0;
        while (sum < x) k++, p *= 6.5 / k, sum += p;
        CHECK(counts[d * n + i] == k || std::fabs(sum - x) < 1e-9);
      }
  }
  ROCRAND(rocrand_destroy_generator(g));
}

int main(int argc, char** argv) {
  for (int k = 1; k < argc; k++) {
    const std::string name = argv[k];
    if (name == "philox") check_philox();
    else if (name == "xorwow") check_engines<Xorwow>(ROCRAND_RNG_PSEUDO_XORWOW, seed, by_power);
    else if (name == "mrg32k3a") check_engines<Mrg32k3a>(ROCRAND_RNG_PSEUDO_MRG32K3A, short_seed, by_modulus);
    else if (name == "sobol32") check_sobol<u32>(ROCRAND_RNG_QUASI_SOBOL32, [](rocrand_generator g, u32* p, size_t n) { return rocrand_generate(g, p, n); });
    else CHECK(!"a generator's name");
  }
  std::printf("rocrand: ok\n");
}
