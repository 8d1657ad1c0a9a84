#include "suite.h"

using namespace emu_suite;

namespace {

template <class T>
T reversed(T x) {
  T r = 0;
  for (size_t k = 0; k < sizeof(T) * 8; k++) r = T(r | T(T(x >> k & 1) << (sizeof(T) * 8 - 1 - k)));
  return r;
}
template <class T>
T swapped(T x) {
  T r = 0;
  for (size_t k = 0; k < sizeof(T); k++) r = T(r | T(T(x >> (8 * k) & 0xff) << (8 * (sizeof(T) - 1 - k))));
  return r;
}
template <class T>
T rotated(T x, unsigned k) {
  k %= sizeof(T) * 8;
  return k ? T(x << k | x >> (sizeof(T) * 8 - k)) : x;
}
int leading(u64 x, int width) {
  int k = 0;
  while (k < width && !(x >> (width - 1 - k) & 1)) k++;
  return k;
}
int trailing(u64 x, int width) {
  int k = 0;
  while (k < width && !(x >> k & 1)) k++;
  return k;
}
int ones(u64 x) {
  int n = 0;
  for (; x; x >>= 1) n += int(x & 1);
  return n;
}
u32 byte(u64 x, unsigned k) { return u32(x >> (8 * k) & 0xff); }
u32 bytes(u32 a, u32 b, u32 c, u32 d) { return (a & 0xff) | (b & 0xff) << 8 | (c & 0xff) << 16 | d << 24; }
template <class F>
u32 each_byte(F f) { return bytes(f(0u), f(1u), f(2u), f(3u)); }

void counts(Gpu& g) {
  rows<i32, 14>(g, [](i32* o, u64 a) {
    const i32 s = i32(a);
    int sign = 0;  // bits after the first that equal it
    while (sign < 31 && (u32(s) >> (30 - sign) & 1) == u32(s) >> 31) sign++;
    const i32 r[14] = {leading(a, 64), trailing(a, 64), ones(a), leading(u32(a), 32), trailing(u32(a), 32), ones(u32(a)), leading(u16(a), 16), ones(u16(a)), leading(u8(a), 8), ones(u8(a)),
                       sign, ones(a) & 1, a ? trailing(a, 64) + 1 : 0, 63 - leading(a, 64)};
    std::copy(r, r + 14, o);
  }, ints<u64>(500, 1));
}
void reversals(Gpu& g) {
  rows<u64, 8>(g, [](u64* o, u64 a) {
    o[0] = reversed(a), o[1] = reversed(u32(a)), o[2] = reversed(u16(a)), o[3] = reversed(u8(a)), o[4] = swapped(a), o[5] = swapped(u32(a)), o[6] = swapped(u16(a)), o[7] = 0;
    for (int k = 0; k < 64; k++) o[7] |= (a >> (k ^ 1) & 1) << k;
  }, ints<u64>(300, 2));
}
void fields(Gpu& g) {
  rows<u32, 12>(g, [](u32* o, u32 a, u32 b) {
    const u32 at = b & 31, width = b >> 5 & 31, mask = u32((u64(1) << width) - 1), field = a >> at & mask;
    const u32 bits_left = std::min(width, 32 - at), top = bits_left ? field >> (bits_left - 1) & 1 : 0;
    o[0] = field;
    // The field is cut off at bit 31 before it is extended (ISA document, V_BFE_I32).
    o[1] = top ? field | ~u32((u64(1) << bits_left) - 1) : field;
    o[2] = a >> 5 & 0x1ff, o[3] = u32(i32(a << 6) >> 19);
    o[4] = (a & b) | (~a & 0x12345678), o[5] = (a & 0xff00ff) | (b & 0xff00ff00), o[6] = mask << at, o[7] = field, o[8] = (a & b) | at, o[9] = a | b | at, o[10] = a ^ b ^ at, o[11] = (a ^ b) + at;
  }, ints<u32>(500, 3), ints<u32>(500, 4));
}
void rotations(Gpu& g) {
  rows<u64, 10>(g, [](u64* o, u64 a, u64 b) {
    const u32 c = u32(a), d = u32(b);
    const u64 pair = u64(c) << 32 | d;
    o[0] = rotated(c, d), o[1] = rotated(c, 19), o[2] = rotated(a, unsigned(b & 63)), o[3] = rotated(a, 41), o[4] = u32(pair >> (d & 31)), o[5] = u32(pair >> (8 * (d & 3)));
    o[6] = rotated(u16(c), d & 15), o[7] = u32(pair >> (d & 31)), o[8] = rotated(u8(c), d & 7), o[9] = u32(c * 8 + d) ^ u32((c + d) * 32);
  }, ints<u64>(500, 5), ints<u64>(500, 6));
}
// V_PERM_B32: selectors 0-3 are the second operand's bytes, 4-7 the first's, 8-11 signs of words, 12 zero, above it 0xff.
u32 permuted(u32 a, u32 b, u32 selectors) {
  const u64 all = u64(a) << 32 | b;
  return each_byte([&](u32 k) -> u32 {
    const u32 s = byte(selectors, k);
    if (s < 8) return byte(all, s);
    if (s < 12) return all >> (16 * (s - 8) + 15) & 1 ? 0xff : 0;
    return s == 12 ? 0 : 0xff;
  });
}
void permutes(Gpu& g) {
  rows<u32, 6>(g, [](u32* o, u32 a, u32 b, u32 s) {
    o[0] = permuted(a, b, s & 0x07070707), o[1] = permuted(a, b, s & 0x0f0f0f0f), o[2] = permuted(a, b, 0x0c010d04);
    o[3] = bytes(byte(a, 3), byte(b, 0), byte(a, 1), byte(b, 2)), o[4] = a >> 16 | b << 16, o[5] = (a >> 8 & 0xffff) | (b + 1) << 16;
  }, ints<u32>(400, 7), ints<u32>(400, 8), ints<u32>(400, 9));
}
void packed_bytes(Gpu& g) {
  rows<u32, 8>(g, [](u32* o, u32 a, u32 b, u32 c) {
    auto p = [&](u32 k) { return byte(a, k); };
    auto q = [&](u32 k) { return byte(b, k); };
    o[0] = each_byte([&](u32 k) { return p(k) + q(k); }), o[1] = each_byte([&](u32 k) { return p(k) * q(k); }), o[2] = each_byte([&](u32 k) { return std::max(p(k), q(k)); });
    o[3] = each_byte([&](u32 k) { return p(k) > q(k) ? p(k) - q(k) : 0; }), o[4] = each_byte([&](u32 k) { return std::max(p(k), q(k)) ^ 3; });
    o[5] = each_byte([&](u32 k) { return (p(k) + q(k) + (byte(c, k) & 1)) >> 1; }), o[6] = 0;
    for (u32 k = 0; k < 4; k++) o[6] += p(k) * q(k);
    // V_CVT_PK_U8_F32 rounds to nearest; the other bytes stay.
    const u32 at = 8 * (c & 3);
    o[7] = (a & ~(0xffu << at)) | p(1) << at;
  }, ints<u32>(400, 10), ints<u32>(400, 11), ints<u32>(400, 12));
}
void absolute_differences(Gpu& g) {
  rows<u32, 4>(g, [](u32* o, u32 a, u32 b, u32 c) {
    u32 sum = 0, masked = 0;
    for (u32 k = 0; k < 4; k++) {
      const u32 d = u32(std::abs(int(byte(a, k)) - int(byte(b, k))));
      sum += d, masked += byte(b, k) ? d : 0;
    }
    o[0] = sum + c, o[1] = masked + c, o[2] = (sum << 16) + c, o[3] = c;
    for (u32 k = 0; k < 2; k++) o[3] += u32(std::abs(int(a >> (16 * k) & 0xffff) - int(b >> (16 * k) & 0xffff)));
  }, ints<u32>(400, 13), ints<u32>(400, 14), ints<u32>(400, 15));
}
void byte_floats(Gpu& g) {
  rows<f32, 8>(g, [](f32* o, u32 a) {
    for (u32 k = 0; k < 4; k++) o[k] = f32(byte(a, k));
    o[4] = f32(i8(a)), o[5] = f32(i8(a >> 24)), o[6] = f32(byte(a, 0)) * (1.0f / 255), o[7] = f32(byte(a, 1) + byte(a, 2));
  }, ints<u32>(300, 16));
}

}  // namespace

TEST_CASE("suite: bits", "[suite]") {
  run_theme("bits.cl", "", {
    {"counts", counts}, {"reversals", reversals}, {"fields", fields}, {"rotations", rotations}, {"permutes", permutes}, {"packed_bytes", packed_bytes},
    {"absolute_differences", absolute_differences}, {"byte_floats", byte_floats},
  });
}
