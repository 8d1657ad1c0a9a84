// Integer arithmetic of all widths.

#define ARITHMETIC(NAME, S, U) \
  KERNEL NAME(U* out, const U* x, const U* y, int n) { \
    int i = index(); \
    if (i >= n) return; \
    const int width = sizeof(U) * 8; \
    U a = x[i], b = y[i], *o = out + i * 24; \
    S s = a, t = b; \
    U k = b & (width - 1); \
    o[0] = a + b, o[1] = a - b, o[2] = a * b, o[3] = -a, o[4] = a & b, o[5] = a | b, o[6] = a ^ b, o[7] = ~(a ^ b); \
    o[8] = a & ~b, o[9] = a | ~b, o[10] = (U)(a << k), o[11] = a >> k, o[12] = s >> k, o[13] = a < b ? a : b; \
    o[14] = s < t ? s : t, o[15] = a > b ? a : b, o[16] = s > t ? s : t, o[17] = s < 0 ? -a : a; \
    o[18] = (a < b) | (s < t) << 1 | (a == b) << 2 | (s >= t) << 3, o[19] = a * b + a, o[20] = (U)((a + b) << 3), o[21] = (U)(a << 2) + b; \
    o[22] = (a & b) | (U)0x55, o[23] = a == b ? a + 1 : s > t ? b : a ^ 1; \
  }
ARITHMETIC(arithmetic_8, i8, u8)
ARITHMETIC(arithmetic_16, i16, u16)
ARITHMETIC(arithmetic_32, i32, u32)
ARITHMETIC(arithmetic_64, i64, u64)

// The divisor is never 0; the host leaves out the least number divided by -1.
#define DIVISION(NAME, S, U) \
  KERNEL NAME(U* out, const U* x, const U* y, int n) { \
    int i = index(); \
    if (i >= n) return; \
    U a = x[i], b = y[i], *o = out + i * 12; \
    S s = a, t = b == (U)-1 ? 3 : b; \
    o[0] = a / b, o[1] = a % b, o[2] = s / t, o[3] = s % t; \
    o[4] = a / 7, o[5] = a % 10, o[6] = s / -3, o[7] = s % 100, o[8] = a / 64, o[9] = s / 16, o[10] = s % 8, o[11] = a / (b | 1) * (b | 1) + a % (b | 1) - a; \
  }
DIVISION(division_8, i8, u8)
DIVISION(division_16, i16, u16)
DIVISION(division_32, i32, u32)
DIVISION(division_64, i64, u64)

KERNEL wide_products(u64* out, const u64* x, const u64* y, int n) {
  int i = index();
  if (i >= n) return;
  u64 a = x[i], b = y[i], *o = out + i * 12;
  u32 c = a, d = b;
  o[0] = (u64)((unsigned __int128)a * b >> 64);
  o[1] = (u64)((__int128)(i64)a * (i64)b >> 64);
  o[2] = (u64)c * d, o[3] = (i64)(i32)c * (i32)d;
  o[4] = (u64)c * d + a, o[5] = (i64)(i32)c * (i32)d + (i64)b;
  o[6] = (u64)(c & 0xffffff) * (d & 0xffffff), o[7] = (u32)((c & 0xffffff) * (d & 0xffffff)) + c;
  o[8] = ((i32)(c << 8) >> 8) * ((i32)(d << 8) >> 8), o[9] = (u16)c * (u16)d + (u16)(a >> 32);
  o[10] = (u64)((unsigned __int128)(a + b) * 0x9e3779b97f4a7c15ull >> 64), o[11] = a * 0xff51afd7ed558ccdull ^ a * b >> 33;
}
KERNEL int128(unsigned __int128* out, const unsigned __int128* x, const unsigned __int128* y, int n) {
  int i = index();
  if (i >= n) return;
  unsigned __int128 a = x[i], b = y[i], *o = out + i * 10;
  int k = (int)b & 127;
  o[0] = a + b, o[1] = a - b, o[2] = a * b, o[3] = a << k, o[4] = a >> k, o[5] = (__int128)a >> k;
  o[6] = a < b ? a : b, o[7] = (__int128)a < (__int128)b ? a : b, o[8] = a ^ (b & ~a), o[9] = (a == b) | (a < b) << 1 | ((__int128)a <= (__int128)b) << 2;
}

#define SATURATION(NAME, S, U) \
  KERNEL NAME(U* out, const U* x, const U* y, int n) { \
    int i = index(); \
    if (i >= n) return; \
    U a = x[i], b = y[i], r, *o = out + i * 8; \
    S s = a, t = b, q; \
    o[0] = __builtin_elementwise_add_sat(a, b), o[1] = __builtin_elementwise_sub_sat(a, b); \
    o[2] = __builtin_elementwise_add_sat(s, t), o[3] = __builtin_elementwise_sub_sat(s, t); \
    o[4] = __builtin_add_overflow(a, b, &r), o[5] = __builtin_sub_overflow(s, t, &q), o[6] = (r + q) | 1; \
    o[7] = a > b ? a - b : b - a; \
  }
SATURATION(saturation_8, i8, u8)
SATURATION(saturation_16, i16, u16)
SATURATION(saturation_32, i32, u32)
SATURATION(saturation_64, i64, u64)

// 256-bit sum and difference by carries, greatest common divisor, power modulo, integer square root.
KERNEL number_theory(u64* out, const u64* x, const u64* y, int n) {
  int i = index();
  if (i + 4 > n) return;
  u64* o = out + i * 12;
  bool carry = false, borrow = false;
  for (int k = 0; k < 4; k++) {
    u64 s, d;
    bool c = __builtin_add_overflow(x[i + k], y[i + k], &s);
    c |= __builtin_add_overflow(s, (u64)carry, &s);
    bool b = __builtin_sub_overflow(x[i + k], y[i + k], &d);
    b |= __builtin_sub_overflow(d, (u64)borrow, &d);
    carry = c, borrow = b, o[k] = s, o[4 + k] = d;
  }
  u64 a = x[i] | 1, b = y[i] | 1;
  while (b) {
    u64 r = a % b;
    a = b, b = r;
  }
  o[8] = a;
  const u64 m = 4294967291u;
  u64 p = 1, base = x[i] % m, e = y[i] & 0xffff;
  for (; e; e >>= 1) {
    if (e & 1) p = p * base % m;
    base = base * base % m;
  }
  o[9] = p;
  u64 lo = 0, hi = 1ull << 32, v = x[i];
  while (hi - lo > 1) {
    u64 mid = (lo + hi) / 2;
    if (mid * mid <= v) lo = mid;
    else hi = mid;
  }
  o[10] = lo;
  o[11] = carry | borrow << 1;
}
