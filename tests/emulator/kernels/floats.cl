// Float arithmetic of every width against the host. One output row per element.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef unsigned int uint;
typedef unsigned long ulong;
static int gid(void) { return __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x(); }

kernel void f32_ops(global float* out, global const float* x, global const float* y, global const float* z, int n) {
  int i = gid();
  if (i >= n) return;
  float a = x[i], b = y[i], c = z[i];
  global float* o = out + i * 24;
  o[0] = a + b; o[1] = a - b; o[2] = a * b; o[3] = a / b; o[4] = __builtin_fmaf(a, b, c); o[5] = __builtin_elementwise_sqrt(a);
  o[6] = __builtin_fminf(a, b); o[7] = __builtin_fmaxf(a, b); o[8] = __builtin_floorf(a); o[9] = __builtin_ceilf(a); o[10] = __builtin_truncf(a); o[11] = __builtin_rintf(a);
  o[12] = __builtin_fabsf(a); o[13] = -a; o[14] = __builtin_copysignf(a, b); o[15] = a * b + c; o[16] = a < b ? a : c; o[17] = 1.0f / a;
  o[18] = (a != a) ? 1 : (a == b) ? 2 : (a > b) ? 3 : 4; o[19] = __builtin_ldexpf(a, (int)c); o[20] = __builtin_roundf(a);
  o[21] = __builtin_fmaxf(__builtin_fminf(a, 1.0f), 0.0f); o[22] = -__builtin_fabsf(b) + c; o[23] = a * 2.0f - b;
}
kernel void f64_ops(global double* out, global const double* x, global const double* y, global const double* z, int n) {
  int i = gid();
  if (i >= n) return;
  double a = x[i], b = y[i], c = z[i];
  global double* o = out + i * 20;
  o[0] = a + b; o[1] = a - b; o[2] = a * b; o[3] = a / b; o[4] = __builtin_fma(a, b, c); o[5] = __builtin_elementwise_sqrt(a);
  o[6] = __builtin_fmin(a, b); o[7] = __builtin_fmax(a, b); o[8] = __builtin_floor(a); o[9] = __builtin_ceil(a); o[10] = __builtin_trunc(a); o[11] = __builtin_rint(a);
  o[12] = __builtin_fabs(a); o[13] = -a; o[14] = __builtin_copysign(a, b); o[15] = a * b + c; o[16] = a < b ? a : c; o[17] = 1.0 / a;
  o[18] = (a != a) ? 1 : (a == b) ? 2 : (a > b) ? 3 : 4; o[19] = __builtin_ldexp(a, (int)c);
}
kernel void f16_ops(global half* out, global const half* x, global const half* y, global const half* z, int n) {
  int i = gid();
  if (i >= n) return;
  half a = x[i], b = y[i], c = z[i];
  global half* o = out + i * 18;
  o[0] = a + b; o[1] = a - b; o[2] = a * b; o[3] = a / b; o[4] = __builtin_elementwise_fma(a, b, c); o[5] = __builtin_elementwise_sqrt(a);
  o[6] = __builtin_elementwise_minnum(a, b); o[7] = __builtin_elementwise_maxnum(a, b); o[8] = __builtin_elementwise_floor(a); o[9] = __builtin_elementwise_ceil(a);
  o[10] = __builtin_elementwise_trunc(a); o[11] = __builtin_elementwise_rint(a); o[12] = __builtin_elementwise_abs(a); o[13] = -a;
  o[14] = a < b ? a : c; o[15] = a == b ? (half)1 : (half)2; o[16] = (half)((float)a * (float)b + (float)c); o[17] = (half)((float)a / 3.0f);
}
typedef half half2 __attribute__((ext_vector_type(2)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef float float2 __attribute__((ext_vector_type(2)));
kernel void packed(global half2* out, global short2* sout, global float2* fout, global const half2* x, global const half2* y, global const short2* s, global const short2* t, int n) {
  int i = gid();
  if (i >= n) return;
  half2 a = x[i], b = y[i];
  out[i * 4] = a + b; out[i * 4 + 1] = a * b; out[i * 4 + 2] = __builtin_elementwise_fma(a, b, a.yx); out[i * 4 + 3] = __builtin_elementwise_maxnum(a, -b);
  short2 p = s[i], q = t[i];
  sout[i * 4] = p + q; sout[i * 4 + 1] = p * q; sout[i * 4 + 2] = p << (q & (short2)15); sout[i * 4 + 3] = __builtin_elementwise_max(p, q.yx);
  float2 f = {(float)a.x, (float)a.y}, g = {(float)b.x, (float)b.y};
  fout[i * 2] = f * g + f.yx; fout[i * 2 + 1] = __builtin_elementwise_fma(f, g, g.yx);
}
kernel void conversions(global int* out, global const float* x, global const double* y, global const int* z, global const half* h, int n) {
  int i = gid();
  if (i >= n) return;
  float a = x[i];
  double d = y[i];
  int k = z[i];
  half c = h[i];
  global int* o = out + i * 24;
  o[0] = __builtin_elementwise_canonicalize(a) >= -2147483648.0f && a < 2147483648.0f ? (int)a : 0;
  o[1] = a >= 0 && a < 4294967296.0f ? (int)(uint)a : 0;
  o[2] = __builtin_bit_cast(int, (float)k); o[3] = __builtin_bit_cast(int, (float)(uint)k);
  o[4] = __builtin_bit_cast(int, (float)d); o[5] = d >= -2147483648.0 && d < 2147483648.0 ? (int)d : 0;
  ulong w = __builtin_bit_cast(ulong, (double)a); o[6] = (int)w; o[7] = (int)(w >> 32);
  w = __builtin_bit_cast(ulong, (double)k); o[8] = (int)w; o[9] = (int)(w >> 32);
  o[10] = __builtin_bit_cast(short, (half)a); o[11] = __builtin_bit_cast(int, (float)c);
  o[12] = __builtin_bit_cast(short, (half)(short)k); o[13] = c > -32768 && c < 32768 ? (short)c : 0;
  long l = ((long)k << 20) ^ k; w = __builtin_bit_cast(ulong, (double)l); o[14] = (int)w; o[15] = (int)(w >> 32); o[16] = __builtin_bit_cast(int, (float)l);
  l = d > -9e18 && d < 9e18 ? (long)d : 0; o[17] = (int)l; o[18] = (int)(l >> 32);
  o[19] = __builtin_bit_cast(int, (float)(unsigned char)k); o[20] = __builtin_bit_cast(int, (float)(unsigned char)(k >> 16)); o[21] = __builtin_bit_cast(short, (half)d);
  o[22] = (signed char)k; o[23] = (unsigned short)k;
}
// What the hardware itself approximates.
kernel void hardware(global float* out, global const float* x, int n) {
  int i = gid();
  if (i >= n) return;
  float a = x[i];
  global float* o = out + i * 7;
  o[0] = __builtin_amdgcn_rcpf(a); o[1] = __builtin_amdgcn_rsqf(a); o[2] = __builtin_amdgcn_sqrtf(a); o[3] = __builtin_amdgcn_exp2f(a * 0.01f);
  o[4] = __builtin_amdgcn_logf(a); o[5] = __builtin_amdgcn_sinf(a); o[6] = __builtin_amdgcn_cosf(a);
}
kernel void float_reduce(global float* out, global const float* x, int n) {
  local float t[64];
  int i = __builtin_amdgcn_workitem_id_x();
  float s = 0;
  for (int k = i; k < n; k += 64) s += x[k];
  t[i] = s;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  for (int d = 32; d; d >>= 1) {
    if (i < d) t[i] += t[i + d];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  }
  if (i == 0) out[0] = t[0];
}
// NCHW convolution, stride, pad, dilation.
kernel void conv2d(global float* out, global const float* x, global const float* f, int c, int h, int w, int k, int r, int oh, int ow, int stride, int pad, int dil) {
  int i = gid();
  if (i >= k * oh * ow) return;
  int ox = i % ow, oy = i / ow % oh, kk = i / (ow * oh);
  float s = 0;
  for (int cc = 0; cc < c; cc++)
    for (int a = 0; a < r; a++)
      for (int b = 0; b < r; b++) {
        int iy = oy * stride - pad + a * dil, ix = ox * stride - pad + b * dil;
        if (iy >= 0 && iy < h && ix >= 0 && ix < w) s = __builtin_fmaf(x[(cc * h + iy) * w + ix], f[((kk * c + cc) * r + a) * r + b], s);
      }
  out[i] = s;
}
