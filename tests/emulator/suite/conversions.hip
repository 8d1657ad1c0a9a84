// Conversions between all types. Values out of the destination's range are left out where C leaves them undefined.

#define TO_FLOATS(NAME, T) \
  KERNEL NAME(double* d, float* f, half* h, __bf16* b, const T* x, int n) { \
    int i = index(); \
    if (i >= n) return; \
    T a = x[i]; \
    d[i] = (double)a, f[i] = (float)a, h[i] = (half)a, b[i] = (__bf16)(float)a; \
  }
TO_FLOATS(from_i8, i8)
TO_FLOATS(from_u16, u16)
TO_FLOATS(from_i32, i32)
TO_FLOATS(from_u32, u32)
TO_FLOATS(from_i64, i64)
TO_FLOATS(from_u64, u64)
TO_FLOATS(from_f64, double)
TO_FLOATS(from_f32, float)
TO_FLOATS(from_f16, half)

// The host gives numbers that fit.
#define TO_INTEGERS(NAME, T) \
  KERNEL NAME(i64* out, const T* x, const T* narrow, int n) { \
    int i = index(); \
    if (i >= n) return; \
    T a = x[i], b = narrow[i]; \
    i64* o = out + i * 8; \
    o[0] = (i64)a, o[1] = (u64)(a < 0 ? -a : a), o[2] = (i32)b, o[3] = (u32)(b < 0 ? -b : b), o[4] = (i16)(i32)b, o[5] = (u8)(i32)b, o[6] = (i8)(i32)b, o[7] = (bool)a; \
  }
TO_INTEGERS(to_integers_f64, double)
TO_INTEGERS(to_integers_f32, float)
KERNEL to_integers_f16(i64* out, const half* x, int n) {
  int i = index();
  if (i >= n) return;
  half a = x[i];
  i64* o = out + i * 4;
  o[0] = (i64)a, o[1] = (i32)a, o[2] = (u32)(a < (half)0 ? -a : a), o[3] = (i16)(a < (half)32767 && a > (half)-32767 ? a : (half)5);
}

// Narrowing and widening of integers; sign and zero extension meet at every width.
KERNEL integers_of_all_widths(i64* out, const i64* x, int n) {
  int i = index();
  if (i >= n) return;
  i64 a = x[i], *o = out + i * 10;
  o[0] = (i8)a, o[1] = (u8)a, o[2] = (i16)a, o[3] = (u16)a, o[4] = (i32)a, o[5] = (u32)a, o[6] = (i16)(i8)a, o[7] = (u16)(i8)a, o[8] = (u32)(i16)a, o[9] = a ? -(i64)(bool)a : (i64)7;
}
// The conversion instructions saturate; NaN gives 0 (ISA document, V_CVT_I32_F32 and kin).
KERNEL saturating(int* out, const float* x, const double* y, int n) {
  int i = index();
  if (i >= n) return;
  float a = x[i];
  double d = y[i];
  int* o = out + i * 4;
  o[0] = a != a ? 0 : a >= 0x1p31f ? 0x7fffffff : a <= -0x1p31f ? (int)0x80000000 : (int)a;
  o[1] = !(a > 0) ? 0 : a >= 0x1p32f ? -1 : (int)(u32)a;
  o[2] = d != d ? 0 : d >= 2147483647.0 ? 0x7fffffff : d <= -2147483648.0 ? (int)0x80000000 : (int)d;
  o[3] = a != a ? 0 : (int)__builtin_elementwise_maxnum(__builtin_elementwise_minnum(__builtin_elementwise_rint(a), 127.0f), -128.0f);
}
typedef half half2 __attribute__((ext_vector_type(2)));
typedef __bf16 bf16x2 __attribute__((ext_vector_type(2)));
typedef float float2 __attribute__((ext_vector_type(2)));
KERNEL pairs(half2* h, bf16x2* b, float2* f, const float2* x, const half2* y, int n) {
  int i = index();
  if (i >= n) return;
  h[i] = __builtin_convertvector(x[i], half2), b[i] = __builtin_convertvector(x[i], bf16x2), f[i] = __builtin_convertvector(y[i], float2);
}
KERNEL from_bf16(float* f, double* d, half* h, const __bf16* x, int n) {
  int i = index();
  if (i >= n) return;
  f[i] = x[i], d[i] = x[i], h[i] = (half)(float)x[i];
}
