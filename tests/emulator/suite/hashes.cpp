#include "suite.h"

using namespace emu_suite;

namespace {

// SHA-256 from its definition: constants are the fractional parts of roots of primes.
struct Sha {
  u32 start[8], k[64];
  Sha() {
    int found = 0;
    for (u32 p = 2; found < 64; p++) {
      bool prime = true;
      for (u32 d = 2; d * d <= p; d++) prime &= p % d != 0;
      if (!prime) continue;
      auto fraction = [](long double v) { return u32((v - std::floor(v)) * 4294967296.0L); };
      if (found < 8) start[found] = fraction(sqrtl(p));
      k[found++] = fraction(cbrtl(p));
    }
  }
  static u32 r(u32 x, int n) { return (x >> n) | (x << (32 - n)); }
  std::array<u32, 8> of(const u8* text, size_t n) const {
    std::vector<u8> m(text, text + n);
    m.push_back(0x80);
    m.resize(64, 0);
    m[62] = u8(n >> 5), m[63] = u8(n << 3);
    std::vector<u32> w;
    for (size_t t = 0; t < 16; t++) w.push_back(u32(m[4 * t] << 24 | m[4 * t + 1] << 16 | m[4 * t + 2] << 8 | m[4 * t + 3]));
    for (size_t t = 16; t < 64; t++)
      w.push_back((r(w[t - 2], 17) ^ r(w[t - 2], 19) ^ (w[t - 2] >> 10)) + w[t - 7] + (r(w[t - 15], 7) ^ r(w[t - 15], 18) ^ (w[t - 15] >> 3)) + w[t - 16]);
    u32 a = start[0], b = start[1], c = start[2], d = start[3], e = start[4], f = start[5], g = start[6], h = start[7];
    for (size_t t = 0; t < 64; t++) {
      const u32 t1 = h + (r(e, 6) ^ r(e, 11) ^ r(e, 25)) + ((e & f) | (~e & g)) + k[t] + w[t];
      const u32 t2 = (r(a, 2) ^ r(a, 13) ^ r(a, 22)) + ((a & b) | (c & (a | b)));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    return {start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e, start[5] + f, start[6] + g, start[7] + h};
  }
};
void sha256(Gpu& g) {
  const auto x = ints<u8>(64, 1);
  const Sha sha;
  std::vector<u32> want;
  for (size_t i = 0; i < 56; i++) {
    const auto h = sha.of(x.data(), i);
    want.insert(want.end(), h.begin(), h.end());
  }
  if (want[0] != 0xe3b0c442) throw std::runtime_error("the host's SHA-256 of the empty message is wrong");
  Buffer<u32> out(want.size());
  g.run({1}, {64}, out, Buffer<u8>(x));
  expect(out.get(), want, 8);
}
void crc32(Gpu& g) {
  const auto x = ints<u8>(200, 2);
  const int n = 130;
  std::vector<u32> want;
  for (size_t i = 0; i < 64; i++) {
    u32 c = ~0u;
    for (size_t k = i; k < i + 130; k++)
      for (int b = 0; b < 8; b++) c = (c >> 1) ^ (0xedb88320 & (0 - ((c ^ u32(x[k]) >> b) & 1)));
    want.push_back(~c);
  }
  Buffer<u32> out(64);
  g.run({1}, {64}, out, Buffer<u8>(x), n);
  expect(out.get(), want);
}
u32 rotl(u32 x, int k) { return (x << k) | (x >> (32 - k)); }
u64 rotl(u64 x, int k) { return (x << k) | (x >> (64 - k)); }
void xxhash32(Gpu& g) {
  const auto x = ints<u32>(39, 3);
  const int n = 39;
  std::vector<u32> want;
  for (u32 seed = 0; seed < 128; seed++) {
    const u32 prime[4] = {0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f};
    u32 lane[4] = {seed + prime[0] + prime[1], seed + prime[1], seed, seed - prime[0]};
    for (size_t k = 0; k < 36; k++) lane[k % 4] = rotl(lane[k % 4] + x[k] * prime[1], 13) * prime[0];
    u32 h = rotl(lane[0], 1) + rotl(lane[1], 7) + rotl(lane[2], 12) + rotl(lane[3], 18) + 4 * 39;
    for (size_t k = 36; k < 39; k++) h = rotl(h + x[k] * prime[2], 17) * prime[3];
    h ^= h >> 15, h *= prime[1], h ^= h >> 13, h *= prime[2], h ^= h >> 16;
    want.push_back(h);
  }
  Buffer<u32> out(128);
  g.run({2}, {64}, out, Buffer<u32>(x), n);
  expect(out.get(), want);
}
void siphash(Gpu& g) {
  const auto x = ints<u64>(9, 4);
  const int n = 9;
  const u64 k0 = 0x0706050403020100, k1 = 0x0f0e0d0c0b0a0908;
  std::vector<u64> want;
  for (u64 i = 0; i < 64; i++) {
    u64 v[4] = {k0, k1, k0, k1};
    const char name[] = "somepseudorandomlygeneratedbytes";
    for (size_t k = 0; k < 32; k++) v[k / 8] ^= u64(u8(name[k])) << (56 - 8 * (k % 8));
    auto turn = [&](int times) {
      for (; times; times--) {
        v[0] += v[1], v[1] = rotl(v[1], 13) ^ v[0], v[0] = rotl(v[0], 32);
        v[2] += v[3], v[3] = rotl(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = rotl(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = rotl(v[1], 17) ^ v[2], v[2] = rotl(v[2], 32);
      }
    };
    auto absorb = [&](u64 m) { v[3] ^= m, turn(2), v[0] ^= m; };
    for (const u64 m : x) absorb(m + i);
    absorb(u64(72) << 56);
    v[2] ^= 0xff, turn(4);
    want.push_back(v[0] ^ v[1] ^ v[2] ^ v[3]);
  }
  Buffer<u64> out(64);
  g.run({1}, {64}, out, Buffer<u64>(x), n, k0, k1);
  expect(out.get(), want);
}
void generators(Gpu& g) {
  const u32 seed = 0xdecafbad;
  std::vector<u32> want;
  for (u32 i = 0; i < 128; i++) {
    std::array<u32, 4> c = {i, 7, seed, 0};
    for (u32 r = 0; r < 10; r++) {
      const u64 left = u64(c[0]) * 0xd2511f53, right = u64(c[2]) * 0xcd9e8d57;
      c = {u32(right >> 32) ^ c[1] ^ (seed * 3 + r * 0x9e3779b9), u32(right), u32(left >> 32) ^ c[3] ^ ((i ^ 0x1234) + r * 0xbb67ae85), u32(left)};
    }
    want.insert(want.end(), c.begin(), c.end());
    c[0] |= 1;
    u32 sum = 0;
    for (int r = 0; r < 20; r++) {
      sum = sum * 5 + rotl(c[1] * 5, 7) * 9;
      const std::array<u32, 4> o = c;
      c[2] = o[2] ^ o[0] ^ (o[1] << 9), c[3] = rotl(o[3] ^ o[1], 11), c[1] = o[1] ^ o[2] ^ o[0], c[0] = o[0] ^ o[3] ^ o[1];
    }
    want.push_back(sum);
  }
  Buffer<u32> out(want.size());
  g.run({2}, {64}, out, seed);
  expect(out.get(), want, 5);
}
void base64(Gpu& g) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (const int n : {300, 301, 302}) {
    const auto x = ints<u8>(size_t(n), 5);
    std::vector<u8> want;
    for (size_t bit = 0; bit < size_t(n) * 8; bit += 6) {
      u32 c = 0;
      for (size_t k = bit; k < bit + 6; k++) c = c * 2 + (k < size_t(n) * 8 ? x[k / 8] >> (7 - k % 8) & 1 : 0);
      want.push_back(u8(letters[c]));
    }
    while (want.size() % 4) want.push_back('=');
    Buffer<u8> out(want.size());
    g.run({2}, {64}, out, Buffer<u8>(x), n);
    expect(out.get(), want, 4);
  }
}
void string_search(Gpu& g) {
  std::string text;
  for (const u8 c : ints<u8>(3000, 6)) text += char('a' + c % 3);
  const std::string pattern = text.substr(2000, 5);
  const int n = 3000, m = 5;
  u32 count = 0;
  for (size_t at = text.find(pattern); at != std::string::npos; at = text.find(pattern, at + 1)) count++;
  Buffer<i32> first(std::vector<i32>(1, INT32_MAX));
  Buffer<u32> found(std::vector<u32>(1, 0));
  g.run({47}, {64}, first, found, Buffer<char>(std::vector<char>(text.begin(), text.end())), n, Buffer<char>(std::vector<char>(pattern.begin(), pattern.end())), m);
  expect(first.get(), {i32(text.find(pattern))}), expect(found.get(), {count});
}
void big_multiply(Gpu& g) {
  const auto x = ints<u32>(1024, 7), y = ints<u32>(1024, 8);
  std::vector<u32> want;
  for (size_t i = 0; i < 64; i++) {
    u128 column = 0;
    for (size_t s = 0; s < 32; s++) {
      for (size_t j = 0; j < 16; j++)
        if (s >= j && s - j < 16) column += u64(x[i * 16 + j]) * y[i * 16 + s - j];
      want.push_back(u32(column)), column >>= 32;
    }
  }
  Buffer<u32> out(2048);
  g.run({1}, {64}, out, Buffer<u32>(x), Buffer<u32>(y));
  expect(out.get(), want, 32);
}
void decimal(Gpu& g) {
  const auto x = ints<u64>(150, 9);
  const int n = 150;
  std::vector<u8> want;
  for (const u64 v : x) {
    std::string s = std::to_string(v);
    s.resize(20, ' ');
    want.insert(want.end(), s.begin(), s.end());
  }
  Buffer<u8> out(want.size());
  g.run({3}, {64}, out, Buffer<u64>(x), n);
  expect(out.get(), want, 20);
}

}  // namespace

TEST_CASE("suite: hashes and text", "[suite]") {
  run_theme("hashes.hip", "", {
    {"sha256", sha256}, {"crc32", crc32}, {"xxhash32", xxhash32}, {"siphash", siphash}, {"generators", generators},
    {"base64", base64}, {"string_search", string_search}, {"big_multiply", big_multiply}, {"decimal", decimal},
  });
}
