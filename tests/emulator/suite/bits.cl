// Bit operations, byte shuffles and the packed-byte instructions.

KERNEL counts(global int* out, global const ulong* x, int n) {
  int i = index();
  if (i >= n) return;
  ulong a = x[i];
  uint b = (uint)a;
  ushort c = (ushort)a;
  uchar d = (uchar)a;
  global int* o = out + i * 14;
  o[0] = a ? __builtin_clzl(a) : 64; o[1] = a ? __builtin_ctzl(a) : 64; o[2] = __builtin_popcountl(a);
  o[3] = b ? __builtin_clz(b) : 32; o[4] = b ? __builtin_ctz(b) : 32; o[5] = __builtin_popcount(b);
  o[6] = c ? __builtin_clzs(c) : 16; o[7] = __builtin_popcount(c); o[8] = d ? __builtin_clz(d) - 24 : 8; o[9] = __builtin_popcount(d);
  o[10] = b ? __builtin_clrsb((int)b) : 31; o[11] = __builtin_parityl(a); o[12] = __builtin_ffsl(a); o[13] = 63 - (a ? __builtin_clzl(a) : 64);
}
KERNEL reversals(global ulong* out, global const ulong* x, int n) {
  int i = index();
  if (i >= n) return;
  ulong a = x[i];
  global ulong* o = out + i * 8;
  o[0] = __builtin_bitreverse64(a); o[1] = __builtin_bitreverse32((uint)a); o[2] = __builtin_bitreverse16((ushort)a); o[3] = __builtin_bitreverse8((uchar)a);
  // Not bswap64: at -O0 for gfx1100 clang 22 copies only the lower half of each word on the way to v_perm_b32.
  o[4] = (ulong)__builtin_bswap32((uint)a) << 32 | __builtin_bswap32((uint)(a >> 32)); o[5] = __builtin_bswap32((uint)a); o[6] = __builtin_bswap16((ushort)a);
  o[7] = (a >> 1 & 0x5555555555555555ul) | (a & 0x5555555555555555ul) << 1;
}
KERNEL fields(global uint* out, global const uint* x, global const uint* y, int n) {
  int i = index();
  if (i >= n) return;
  uint a = x[i], b = y[i], at = b & 31, width = b >> 5 & 31;
  global uint* o = out + i * 12;
  o[0] = __builtin_amdgcn_ubfe(a, at, width); o[1] = (uint)__builtin_amdgcn_sbfe((int)a, at, width);
  o[2] = a >> 5 & 0x1ff; o[3] = (uint)((int)(a << 6) >> 19); o[4] = (a & b) | (~a & 0x12345678); o[5] = (a & 0xff00ff) | (b & ~0xff00ffu);
  o[6] = ((1u << width) - 1) << at; o[7] = a >> at & ((1u << width) - 1); o[8] = (a & b) | at; o[9] = a | b | at; o[10] = a ^ b ^ at; o[11] = (a ^ b) + at;
}
KERNEL rotations(global ulong* out, global const ulong* x, global const ulong* y, int n) {
  int i = index();
  if (i >= n) return;
  ulong a = x[i], b = y[i];
  uint c = (uint)a, d = (uint)b, k = d & 31;
  global ulong* o = out + i * 10;
  o[0] = (c << k) | (c >> (-k & 31)); o[1] = (c >> 13) | (c << 19); o[2] = a << (b & 63) | a >> (-b & 63); o[3] = a << 41 | a >> 23;
  o[4] = __builtin_amdgcn_alignbit(c, d, k); o[5] = __builtin_amdgcn_alignbyte(c, d, d); o[6] = (ushort)((ushort)c << (d & 15) | (ushort)c >> (-d & 15));
  o[7] = (uint)(((ulong)c << 32 | d) >> k); o[8] = (uchar)((uchar)c << (d & 7) | (uchar)c >> (-d & 7)); o[9] = ((c << 3) + d) ^ ((c + d) << 5);
}
KERNEL permutes(global uint* out, global const uint* x, global const uint* y, global const uint* z, int n) {
  int i = index();
  if (i >= n) return;
  uint a = x[i], b = y[i], s = z[i];
  global uint* o = out + i * 6;
  o[0] = __builtin_amdgcn_perm(a, b, s & 0x07070707); o[1] = __builtin_amdgcn_perm(a, b, s & 0x0f0f0f0f); o[2] = __builtin_amdgcn_perm(a, b, 0x0c010d04);
  uchar4 p = __builtin_astype(a, uchar4), q = __builtin_astype(b, uchar4);
  o[3] = __builtin_astype((uchar4)(p.w, q.x, p.y, q.z), uint);
  o[4] = __builtin_astype(__builtin_shufflevector(__builtin_astype(a, ushort2), __builtin_astype(b, ushort2), 1, 2), uint);
  o[5] = __builtin_astype((ushort2)((ushort)(a >> 8), (ushort)(b + 1)), uint);
}
KERNEL packed_bytes(global uint* out, global const uint* x, global const uint* y, global const uint* z, int n) {
  int i = index();
  if (i >= n) return;
  uint a = x[i], b = y[i], c = z[i];
  uchar4 p = __builtin_astype(a, uchar4), q = __builtin_astype(b, uchar4);
  global uint* o = out + i * 8;
  o[0] = __builtin_astype(p + q, uint); o[1] = __builtin_astype(p * q, uint); o[2] = __builtin_astype(__builtin_elementwise_max(p, q), uint);
  o[3] = __builtin_astype(__builtin_elementwise_sub_sat(p, q), uint); o[4] = __builtin_astype((uchar4)(p > q ? p : q) ^ (uchar4)3, uint);
  o[5] = __builtin_amdgcn_lerp(a, b, c); o[6] = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  o[7] = __builtin_amdgcn_cvt_pk_u8_f32((float)p.y + 0.25f, c & 3, a);
}
KERNEL absolute_differences(global uint* out, global const uint* x, global const uint* y, global const uint* z, int n) {
  int i = index();
  if (i >= n) return;
  uint a = x[i], b = y[i], c = z[i];
  global uint* o = out + i * 4;
  o[0] = __builtin_amdgcn_sad_u8(a, b, c); o[1] = __builtin_amdgcn_msad_u8(a, b, c); o[2] = __builtin_amdgcn_sad_hi_u8(a, b, c); o[3] = __builtin_amdgcn_sad_u16(a, b, c);
}
KERNEL byte_floats(global float* out, global const uint* x, int n) {
  int i = index();
  if (i >= n) return;
  uchar4 p = __builtin_astype(x[i], uchar4);
  char4 s = __builtin_astype(x[i], char4);
  global float* o = out + i * 8;
  o[0] = p.x; o[1] = p.y; o[2] = p.z; o[3] = p.w; o[4] = s.x; o[5] = s.w; o[6] = (float)p.x * (1.0f / 255); o[7] = (float)(p.y + p.z);
}
