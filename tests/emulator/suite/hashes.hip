// Integer programs of some length: hashes, checksums, generators, text, big numbers.

DEVICE u32 rotl(u32 x, int k) { return x << k | x >> (32 - k); }
DEVICE u32 rotr(u32 x, int k) { return x >> k | x << (32 - k); }

CONSTANT const u32 sha_k[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
// SHA-256 of item i's message: the first i bytes of x, i < 56.
KERNEL sha256(u32* out, const u8* x) {
  int i = item();
  if (i >= 56) return;
  u8 block[64];
  for (int k = 0; k < 64; k++) block[k] = k < i ? x[k] : k == i ? 0x80 : 0;
  block[62] = (u8)(i * 8 >> 8), block[63] = (u8)(i * 8);
  u32 w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, s[8];
  for (int k = 0; k < 16; k++) w[k] = (u32)block[4 * k] << 24 | block[4 * k + 1] << 16 | block[4 * k + 2] << 8 | block[4 * k + 3];
  for (int k = 16; k < 64; k++) w[k] = w[k - 16] + (rotr(w[k - 15], 7) ^ rotr(w[k - 15], 18) ^ w[k - 15] >> 3) + w[k - 7] + (rotr(w[k - 2], 17) ^ rotr(w[k - 2], 19) ^ w[k - 2] >> 10);
  for (int k = 0; k < 8; k++) s[k] = h[k];
  for (int k = 0; k < 64; k++) {
    u32 t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_k[k] + w[k];
    u32 t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + t1, s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = t1 + t2;
  }
  for (int k = 0; k < 8; k++) out[i * 8 + k] = h[k] + s[k];
}
// By a table that the group makes in LDS.
KERNEL crc32(u32* out, const u8* x, int n) {
  SHARED u32 table[256];
  for (int k = item(); k < 256; k += 64) {
    u32 c = k;
    for (int b = 0; b < 8; b++) c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
    table[k] = c;
  }
  barrier_all();
  u32 c = ~0u;
  for (int k = 0; k < n; k++) c = table[(c ^ x[item() + k]) & 255] ^ c >> 8;
  out[item()] = ~c;
}
KERNEL xxhash32(u32* out, const u32* x, int n) {
  const u32 p1 = 2654435761u, p2 = 2246822519u, p3 = 3266489917u, p4 = 668265263u;
  int i = index();
  u32 v[4] = {i + p1 + p2, i + p2, (u32)i, i - p1};
  for (int k = 0; k + 4 <= n; k += 4)
    for (int j = 0; j < 4; j++) v[j] = rotl(v[j] + x[k + j] * p2, 13) * p1;
  u32 h = rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18) + n * 4;
  for (int k = n & ~3; k < n; k++) h = rotl(h + x[k] * p3, 17) * p4;
  h = (h ^ h >> 15) * p2, h = (h ^ h >> 13) * p3;
  out[i] = h ^ h >> 16;
}
KERNEL siphash(u64* out, const u64* x, int n, u64 k0, u64 k1) {
  int i = index();
  u64 a = k0 ^ 0x736f6d6570736575ull, b = k1 ^ 0x646f72616e646f6dull, c = k0 ^ 0x6c7967656e657261ull, d = k1 ^ 0x7465646279746573ull;
  auto round = [&] {
    a += b, b = b << 13 | b >> 51, b ^= a, a = a << 32 | a >> 32, c += d, d = d << 16 | d >> 48, d ^= c;
    a += d, d = d << 21 | d >> 43, d ^= a, c += b, b = b << 17 | b >> 47, b ^= c, c = c << 32 | c >> 32;
  };
  for (int k = 0; k < n; k++) {
    u64 m = x[k] + i;
    d ^= m, round(), round(), a ^= m;
  }
  u64 last = (u64)(n * 8) << 56;
  d ^= last, round(), round(), a ^= last, c ^= 0xff;
  for (int k = 0; k < 4; k++) round();
  out[i] = a ^ b ^ c ^ d;
}
// Philox 4x32-10 and xoshiro128**.
KERNEL generators(u32* out, u32 seed) {
  u32 i = index(), c[4] = {i, 7, seed, 0}, k[2] = {seed * 3, i ^ 0x1234};
  for (int r = 0; r < 10; r++) {
    u64 p = (u64)0xd2511f53 * c[0], q = (u64)0xcd9e8d57 * c[2];
    u32 n0 = (u32)(q >> 32) ^ c[1] ^ k[0], n2 = (u32)(p >> 32) ^ c[3] ^ k[1];
    c[0] = n0, c[1] = (u32)q, c[2] = n2, c[3] = (u32)p;
    k[0] += 0x9e3779b9, k[1] += 0xbb67ae85;
  }
  u32 s[4] = {c[0] | 1, c[1], c[2], c[3]}, sum = 0;
  for (int r = 0; r < 20; r++) {
    sum = sum * 5 + rotl(s[1] * 5, 7) * 9;
    u32 t = s[1] << 9;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = rotl(s[3], 11);
  }
  for (int j = 0; j < 4; j++) out[i * 5 + j] = c[j];
  out[i * 5 + 4] = sum;
}
KERNEL base64(u8* out, const u8* x, int n) {
  int i = index();
  if (i * 3 >= n) return;
  u32 v = x[i * 3] << 16 | (i * 3 + 1 < n ? x[i * 3 + 1] << 8 : 0) | (i * 3 + 2 < n ? x[i * 3 + 2] : 0);
  for (int k = 0; k < 4; k++) {
    u32 c = v >> (18 - 6 * k) & 63;
    u8 letter = c < 26 ? 'A' + c : c < 52 ? 'a' + (c - 26) : c < 62 ? '0' + (c - 52) : c == 62 ? '+' : '/';
    out[i * 4 + k] = (k == 2 && i * 3 + 1 >= n) || (k == 3 && i * 3 + 2 >= n) ? '=' : letter;
  }
}
// Occurrences of a pattern; each item starts at its own place.
KERNEL string_search(int* first, u32* count, const u8* text, int n, const u8* pattern, int m) {
  int i = index();
  if (i + m > n) return;
  int k = 0;
  while (k < m && text[i + k] == pattern[k]) k++;
  if (k < m) return;
  __hip_atomic_fetch_add(count, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_min(first, i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
// 512 bits by 512 bits, one product a work-item.
KERNEL big_multiply(u32* out, const u32* x, const u32* y) {
  int i = item();
  const u32 *a = x + i * 16, *b = y + i * 16;
  u32 r[32] = {};
  for (int j = 0; j < 16; j++) {
    u64 carry = 0;
    for (int k = 0; k < 16; k++) {
      carry += (u64)a[j] * b[k] + r[j + k];
      r[j + k] = (u32)carry, carry >>= 32;
    }
    r[j + 16] = (u32)carry;
  }
  for (int k = 0; k < 32; k++) out[i * 32 + k] = r[k];
}
KERNEL decimal(u8* out, const u64* x, int n) {
  int i = index();
  if (i >= n) return;
  u8 digits[20];
  int count = 0;
  u64 v = x[i];
  do digits[count++] = '0' + v % 10;
  while (v /= 10);
  for (int k = 0; k < 20; k++) out[i * 20 + k] = k < count ? digits[count - 1 - k] : ' ';
}
