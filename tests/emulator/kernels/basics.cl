// Vector add, integers, loops, divergence, LDS, scratch, 3-D grids, atomics, calls.
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned char uchar;
typedef unsigned short ushort;

static int wi(void) { return __builtin_amdgcn_workitem_id_x(); }
static int wg(void) { return __builtin_amdgcn_workgroup_id_x(); }
static int gid(void) { return wg() * 64 + wi(); }

kernel void vector_add(global float* c, global const float* a, global const float* b, int n) {
  int i = gid();
  if (i < n) c[i] = a[i] + b[i];
}

// ---- integers: one output array per operation, inputs in two arrays ------------------------------

kernel void int_ops(global uint* out, global const uint* x, global const uint* y, int n) {
  int i = gid();
  if (i >= n) return;
  uint a = x[i], b = y[i];
  int s = (int)a, t = (int)b;
  global uint* o = out + i * 32;
  o[0] = a + b; o[1] = a - b; o[2] = a * b; o[3] = b ? a / b : 0; o[4] = b ? a % b : 0;
  o[5] = (t && !(s == (int)0x80000000 && t == -1)) ? s / t : 0; o[6] = (t && !(s == (int)0x80000000 && t == -1)) ? s % t : 0;
  o[7] = a << (b & 31); o[8] = a >> (b & 31); o[9] = s >> (b & 31);
  o[10] = a & b; o[11] = a | b; o[12] = a ^ b; o[13] = ~a;
  o[14] = s < t ? s : t; o[15] = a > b ? a : b;
  o[16] = __builtin_popcount(a); o[17] = a ? __builtin_clz(a) : 32; o[18] = a ? __builtin_ctz(a) : 32;
  o[19] = (uint)(((ulong)a * b) >> 32); o[20] = (uint)(((long)s * t) >> 32);
  o[21] = __builtin_bitreverse32(a); o[22] = (a << 7) | (a >> 25);
  o[23] = __builtin_bswap32(a); o[24] = (a >> 5) & 0x1ff; o[25] = (uint)((s << 3) >> 21);
  o[26] = __builtin_elementwise_add_sat(a, b); o[27] = __builtin_elementwise_sub_sat(a, b);
  o[28] = (uint)__builtin_elementwise_add_sat(s, t); o[29] = (uint)__builtin_elementwise_sub_sat(s, t);
  o[30] = a == b ? 1 : s > t ? 2 : 3; o[31] = (s < 0 ? -s : s);
}

kernel void long_ops(global ulong* out, global const ulong* x, global const ulong* y, int n) {
  int i = gid();
  if (i >= n) return;
  ulong a = x[i], b = y[i];
  long s = (long)a, t = (long)b;
  global ulong* o = out + i * 20;
  bool over = s == (long)0x8000000000000000ul && t == -1;
  o[0] = a + b; o[1] = a - b; o[2] = a * b; o[3] = b ? a / b : 0; o[4] = b ? a % b : 0;
  o[5] = t && !over ? s / t : 0; o[6] = t && !over ? s % t : 0;
  o[7] = a << (b & 63); o[8] = a >> (b & 63); o[9] = s >> (b & 63);
  o[10] = a & b; o[11] = a | b; o[12] = a ^ b; o[13] = ~a; o[14] = s < t; o[15] = a < b;
  o[16] = __builtin_popcountl(a); o[17] = a ? __builtin_clzl(a) : 64; o[18] = a ? __builtin_ctzl(a) : 64; o[19] = s < t ? s : t;
}

kernel void small_ints(global int* out, global const char* x, global const short* y, int n) {
  int i = gid();
  if (i >= n) return;
  char a = x[i];
  short b = y[i];
  uchar ua = (uchar)a;
  ushort ub = (ushort)b;
  global int* o = out + i * 16;
  o[0] = (char)(a + (char)b); o[1] = (char)(a * (char)b); o[2] = (short)(a + b); o[3] = (short)(a * b); o[4] = (ushort)(ua * ub);
  o[5] = a < b; o[6] = ua < ub; o[7] = (uchar)(ua >> 3); o[8] = (char)(a >> 3); o[9] = (ushort)(ub << 3); o[10] = (short)(b >> 2);
  o[11] = a > (char)b ? a : (char)b; o[12] = (ushort)(ub - ua); o[13] = b ? (short)((int)a / b) : 0; o[14] = ua; o[15] = ub;
}
kernel void byte_copy(global char* out, global const char* x, global short* out2, global const short* y, int n) {
  int i = gid();
  if (i >= n) return;
  out[i] = x[i] + 1;
  out2[i] = y[i] * 3;
}

// ---- control flow --------------------------------------------------------------------------------

kernel void collatz(global uint* out, int n) {
  int i = gid();
  if (i >= n) return;
  uint v = i + 1, steps = 0;
  while (v != 1 && steps < 1000) { v = (v & 1) ? 3 * v + 1 : v / 2; steps++; }
  out[i] = steps;
}
kernel void nested(global int* out, int n) {
  int i = gid();
  if (i >= n) return;
  int r = 0;
  for (int a = 0; a < i % 7; a++) {
    if (a == 3) continue;
    for (int b = a; b < 10; b++) {
      if (b * a > 20) break;
      r += a * b + (i & 1 ? 1 : -1);
    }
  }
  switch (i % 5) {
    case 0: r += 100; break;
    case 1: r *= 2; break;
    case 2: r -= 7; break;
    default: r ^= 0x55;
  }
  out[i] = r;
}
__attribute__((noinline)) static int helper(int a, int b) { return a * 3 + b; }
__attribute__((noinline)) static int helper2(int a) { return helper(a, 5) - helper(a + 1, 2); }
kernel void calls(global int* out, int n) {
  int i = gid();
  if (i < n) out[i] = helper(i, 7) + helper2(i);
}

// ---- LDS -----------------------------------------------------------------------------------------

kernel void reduce(global int* out, global const int* x) {
  local int t[256];
  int i = wi();
  t[i] = x[wg() * 256 + i];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  for (int s = 128; s > 0; s >>= 1) {
    if (i < s) t[i] += t[i + s];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  }
  if (i == 0) out[wg()] = t[0];
}
kernel void transpose(global float* out, global const float* x, int n) {
  local float t[16][17];
  int tx = __builtin_amdgcn_workitem_id_x(), ty = __builtin_amdgcn_workitem_id_y();
  int bx = __builtin_amdgcn_workgroup_id_x(), by = __builtin_amdgcn_workgroup_id_y();
  t[ty][tx] = x[(by * 16 + ty) * n + bx * 16 + tx];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[(bx * 16 + ty) * n + by * 16 + tx] = t[tx][ty];
}
kernel void dynamic_lds(global int* out, local int* t, int n) {
  int i = wi();
  t[i] = i * i;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[wg() * n + i] = t[n - 1 - i];
}
kernel void lds_bytes(global uchar* out, global const uchar* x) {
  local uchar t[128];
  local double d[64];
  int i = wi();
  t[i] = x[i]; t[i + 64] = x[i + 64];
  d[i] = x[i] * 0.25;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[i] = t[127 - i];
  out[i + 64] = (uchar)(d[63 - i] * 4);
}

// Tiled matrix product, 16x16 tiles, a[m][k] b[k][n].
#define SYNC() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
kernel void gemm(global float* c, global const float* a, global const float* b, int m, int n, int k) {
  local float ta[16][16], tb[16][16];
  int tx = __builtin_amdgcn_workitem_id_x(), ty = __builtin_amdgcn_workitem_id_y();
  int row = __builtin_amdgcn_workgroup_id_y() * 16 + ty, col = __builtin_amdgcn_workgroup_id_x() * 16 + tx;
  float sum = 0;
  for (int kk = 0; kk < k; kk += 16) {
    ta[ty][tx] = row < m && kk + tx < k ? a[row * k + kk + tx] : 0;
    tb[ty][tx] = col < n && kk + ty < k ? b[(kk + ty) * n + col] : 0;
    SYNC();
    for (int q = 0; q < 16; q++) sum = __builtin_fmaf(ta[ty][q], tb[q][tx], sum);
    SYNC();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

// ---- scratch -------------------------------------------------------------------------------------

kernel void scratch_sort(global int* out, global const int* x, int n) {
  int i = gid();
  if (i >= n) return;
  int v[24];
  for (int k = 0; k < 24; k++) v[k] = x[i * 24 + k];
  for (int p = 1; p < 24; p++) {
    int t = v[p], q = p - 1;
    while (q >= 0 && v[q] > t) { v[q + 1] = v[q]; q--; }
    v[q + 1] = t;
  }
  for (int k = 0; k < 24; k++) out[i * 24 + k] = v[k];
}
kernel void scratch_bytes(global uint* out, global const uchar* x, int n) {
  int i = gid();
  if (i >= n) return;
  uchar count[16];
  ulong wide[4];
  for (int k = 0; k < 16; k++) count[k] = 0;
  for (int k = 0; k < 4; k++) wide[k] = (ulong)i << (8 * k);
  for (int k = 0; k < 32; k++) count[x[i * 32 + k] & 15]++;
  uint r = 0;
  for (int k = 0; k < 16; k++) r = r * 3 + count[(k + i) & 15];
  out[i] = r + (uint)(wide[i & 3] >> 16);
}

// ---- grids ---------------------------------------------------------------------------------------

kernel void grid3(global int* out, int nx, int ny) {
  int x = __builtin_amdgcn_workgroup_id_x() * 4 + __builtin_amdgcn_workitem_id_x();
  int y = __builtin_amdgcn_workgroup_id_y() * 2 + __builtin_amdgcn_workitem_id_y();
  int z = __builtin_amdgcn_workgroup_id_z() * 3 + __builtin_amdgcn_workitem_id_z();
  out[(z * ny + y) * nx + x] = x * 10000 + y * 100 + z;
}
// What the implicit arguments say (block counts, sizes).
kernel void sizes(global int* out) {
  if (gid()) return;
  global uint* dummy = 0;
  out[0] = __builtin_amdgcn_workgroup_size_x(); out[1] = __builtin_amdgcn_workgroup_size_y(); out[2] = __builtin_amdgcn_workgroup_size_z();
  out[3] = __builtin_amdgcn_grid_size_x(); out[4] = __builtin_amdgcn_grid_size_y(); out[5] = __builtin_amdgcn_grid_size_z();
}

// ---- atomics and lanes ---------------------------------------------------------------------------

kernel void atomics(global int* out, global float* fout, int n) {
  int i = gid();
  if (i >= n) return;
  __scoped_atomic_fetch_add(&out[0], i, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_max(&out[1], i, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_min(&out[2], -i, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_or(&out[3], 1 << (i & 31), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_xor(&out[4], i * 77, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_and(&out[5], ~(1 << (i & 15)), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  int ticket = __scoped_atomic_fetch_add(&out[6], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  out[16 + ticket] = 1;
  int expected = 0;
  __scoped_atomic_compare_exchange_n(&out[7], &expected, 42, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_add((global ulong*)&out[8], (ulong)i << 33, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
kernel void lds_histogram(global uint* out, global const uint* x, int n) {
  local uint h[16];
  int i = wi();
  if (i < 16) h[i] = 0;
  SYNC();
  for (int k = i; k < n; k += 256) __scoped_atomic_fetch_add(&h[x[k] & 15], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  SYNC();
  if (i < 16) out[i] = h[i];
}
kernel void lanes(global int* out, global const int* x) {
  int i = wi();
  int v = x[i];
  out[i] = __builtin_amdgcn_ds_bpermute(((i * 7 + 3) & 31) * 4, v);
  out[64 + i] = __builtin_amdgcn_ds_swizzle(v, 0x041f);  // xor 1
  out[128 + i] = __builtin_amdgcn_readfirstlane(v + 5);
  out[192 + i] = __builtin_amdgcn_readlane(v, 9);
  out[256 + i] = __builtin_amdgcn_update_dpp(-1, v, 0x111, 0xf, 0xf, 0);  // row_shr:1
  out[320 + i] = __builtin_amdgcn_update_dpp(0, v, 0x1b, 0xf, 0xf, 1);    // quad_perm 3 2 1 0
  out[384 + i] = __builtin_amdgcn_mov_dpp(v, 0x140, 0xf, 0xf, 1);         // row_mirror
  out[448 + i] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  out[512 + i] = __builtin_amdgcn_ds_permute(((i ^ 5) & 31) * 4, v);
}
constant int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
kernel void constants(global int* out, int n) {
  int i = gid();
  if (i < n) out[i] = table[(i * 5) & 7];
}
