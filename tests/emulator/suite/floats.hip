// Floats of every width, exact: sums, products, division, square root, rounding, minimum, fused forms.

#define FLOATS(NAME, T, SQRT) \
  KERNEL NAME(T* out, const T* x, const T* y, const T* z, int n) { \
    int i = index(); \
    if (i >= n) return; \
    T a = x[i], b = y[i], c = z[i], *o = out + i * 20; \
    o[0] = a + b, o[1] = a - b, o[2] = a * b, o[3] = a / b, o[4] = SQRT(a), o[5] = (T)1.0f / a; \
    o[6] = __builtin_elementwise_fma(a, b, c), o[7] = a * b + c, o[8] = __builtin_elementwise_fma(-a, b, c), o[9] = -a * (b - c); \
    o[10] = a < b ? a : c, o[11] = a == b ? (T)1.0f : a != a ? (T)2.0f : a >= c ? (T)3.0f : (T)4.0f; \
    o[12] = __builtin_elementwise_abs(a) + -__builtin_elementwise_abs(b), o[13] = __builtin_elementwise_copysign(a, b); \
    o[14] = (a + b) * (T)2.0f, o[15] = (a - b) * (T)0.5f, o[16] = (a + b) * (T)4.0f - c, o[17] = a * a * a, o[18] = (T)0.1f * a + (T)7.0f, o[19] = !(a < b) || !(c >= a) ? b : -c; \
  }
FLOATS(basic_f16, half, __builtin_elementwise_sqrt)
FLOATS(basic_f32, float, __builtin_elementwise_sqrt)
FLOATS(basic_f64, double, __builtin_elementwise_sqrt)

KERNEL basic_bf16(__bf16* out, const __bf16* x, const __bf16* y, const __bf16* z, int n) {
  int i = index();
  if (i >= n) return;
  __bf16 a = x[i], b = y[i], c = z[i], *o = out + i * 10;
  // clang 22 makes v_fma_mixlo_bf16 a, b, +0 of a product, which loses a negative zero: 0 is added here too.
  __bf16 product = (__bf16)((float)a * (float)b + 0.0f);
  o[0] = a + b, o[1] = a - b, o[2] = product, o[3] = a / b, o[4] = -a, o[5] = product + c, o[6] = a < b ? a : c, o[7] = (__bf16)((float)a * (float)b + (float)c);
  o[8] = a == b ? (__bf16)1.0f : a > c ? (__bf16)2.0f : (__bf16)3.0f, o[9] = (__bf16)(float)i;
}

#define ROUNDING(NAME, T) \
  KERNEL NAME(T* out, const T* x, int n) { \
    int i = index(); \
    if (i >= n) return; \
    T a = x[i], *o = out + i * 8; \
    o[0] = __builtin_elementwise_floor(a), o[1] = __builtin_elementwise_ceil(a), o[2] = __builtin_elementwise_trunc(a), o[3] = __builtin_elementwise_rint(a); \
    o[4] = __builtin_elementwise_roundeven(a), o[5] = __builtin_elementwise_round(a), o[6] = __builtin_elementwise_nearbyint(a), o[7] = a - __builtin_elementwise_floor(a); \
  }
ROUNDING(rounding_f16, half)
ROUNDING(rounding_f32, float)
ROUNDING(rounding_f64, double)

#define EXTREMES(NAME, T) \
  KERNEL NAME(T* out, const T* x, const T* y, const T* z, int n) { \
    int i = index(); \
    if (i >= n) return; \
    T a = x[i], b = y[i], c = z[i], *o = out + i * 8; \
    o[0] = __builtin_elementwise_minnum(a, b), o[1] = __builtin_elementwise_maxnum(a, b); \
    o[2] = __builtin_elementwise_maxnum(__builtin_elementwise_minnum(a, (T)1.0f), (T)0.0f); \
    o[3] = __builtin_elementwise_maxnum(__builtin_elementwise_minnum(a, b), c), o[4] = __builtin_elementwise_minnum(__builtin_elementwise_maxnum(a, b), c); \
    o[5] = a < b ? a : b, o[6] = a > b ? a : b, o[7] = __builtin_elementwise_minnum(__builtin_elementwise_minnum(a, -b), __builtin_elementwise_abs(c)); \
  }
EXTREMES(extremes_f16, half)
EXTREMES(extremes_f32, float)
EXTREMES(extremes_f64, double)

// Exponents and classes: ldexp, frexp, fract by the instruction, tests for each class.
KERNEL exponents_f32(float* out, const float* x, const int* y, int n) {
  int i = index();
  if (i >= n) return;
  float a = x[i], *o = out + i * 6;
  int k = y[i];
  o[0] = __builtin_ldexpf(a, k), o[1] = __builtin_amdgcn_frexp_mantf(a), o[2] = __builtin_amdgcn_frexp_expf(a), o[3] = __builtin_amdgcn_fractf(a);
  o[4] = __builtin_isnan(a) + 2 * __builtin_isinf(a) + 4 * __builtin_isnormal(a) + 8 * __builtin_signbitf(a), o[5] = __builtin_amdgcn_classf(a, 0x90);
}
KERNEL exponents_f64(double* out, const double* x, const int* y, int n) {
  int i = index();
  if (i >= n) return;
  double a = x[i], *o = out + i * 6;
  int k = y[i];
  o[0] = __builtin_ldexp(a, k), o[1] = __builtin_amdgcn_frexp_mant(a), o[2] = __builtin_amdgcn_frexp_exp(a), o[3] = __builtin_amdgcn_fract(a);
  o[4] = __builtin_isnan(a) + 2 * __builtin_isinf(a) + 4 * __builtin_isnormal(a) + 8 * __builtin_signbit(a), o[5] = __builtin_amdgcn_class(a, 0x90);
}

typedef half half2 __attribute__((ext_vector_type(2)));
typedef float float2 __attribute__((ext_vector_type(2)));
KERNEL packed_f16(half2* out, const half2* x, const half2* y, const half2* z, int n) {
  int i = index();
  if (i >= n) return;
  half2 a = x[i], b = y[i], c = z[i], *o = out + i * 6;
  o[0] = a + b, o[1] = a * b.yx, o[2] = __builtin_elementwise_fma(a, b, -c), o[3] = __builtin_elementwise_minnum(a, b), o[4] = __builtin_elementwise_maxnum(-a, c.yx), o[5] = (a - b) * c.xx;
}
KERNEL packed_f32(float2* out, const float2* x, const float2* y, const float2* z, int n) {
  int i = index();
  if (i >= n) return;
  float2 a = x[i], b = y[i], c = z[i], *o = out + i * 4;
  o[0] = a + b.yx, o[1] = a * -b, o[2] = __builtin_elementwise_fma(a, b.xx, c.yx), o[3] = (a - b) * (float2){2.0f, 3.0f};
}
// f16 and f32 mixed, the matter of v_fma_mix.
KERNEL mixed(float* out, half* hout, const half* x, const half* y, const float* z, int n) {
  int i = index();
  if (i >= n) return;
  half a = x[i], b = y[i];
  float c = z[i], *o = out + i * 4;
  o[0] = __builtin_fmaf((float)a, (float)b, c), o[1] = __builtin_fmaf(-(float)a, c, (float)b), o[2] = __builtin_fmaf(c, c, __builtin_fabsf((float)a)), o[3] = (float)a + c;
  // clang 22 makes v_fma_mixlo_f16 a, c, +0 of the second, which loses a negative zero: 0 is added here too.
  hout[i * 2] = (half)__builtin_fmaf((float)a, (float)b, c), hout[i * 2 + 1] = (half)((float)a * c) + (half)0;
}
// Sum with error terms: any reassociation or contraction shows.
KERNEL compensated_sum(float* out, const float* x, int n) {
  int i = index();
  float sum = 0, error = 0;
  for (int k = 0; k < n; k++) {
    float term = x[(i * 7 + k) % n] - error, next = sum + term;
    error = (next - sum) - term;
    sum = next;
  }
  out[2 * i] = sum, out[2 * i + 1] = error;
}
