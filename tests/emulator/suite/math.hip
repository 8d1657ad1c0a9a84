// Transcendental functions of ocml, AMD's own device library: long programs of real-life arithmetic.

#define CONTROL(name, type, value) extern "C" CONSTANT __attribute__((device)) const type name = value;
CONTROL(__oclc_finite_only_opt, bool, 0)
CONTROL(__oclc_unsafe_math_opt, bool, 0)
CONTROL(__oclc_daz_opt, bool, 0)
CONTROL(__oclc_correctly_rounded_sqrt32, bool, 1)
CONTROL(__oclc_wavefrontsize64, bool, LANES == 64)
#if defined(__gfx900__)
CONTROL(__oclc_ISA_version, int, 9000)
#elif defined(__gfx906__)
CONTROL(__oclc_ISA_version, int, 9006)
#elif defined(__gfx908__)
CONTROL(__oclc_ISA_version, int, 9008)
#elif defined(__gfx90a__)
CONTROL(__oclc_ISA_version, int, 9010)
#elif defined(__GFX9__)
CONTROL(__oclc_ISA_version, int, 9400)
#elif defined(__GFX10__)
CONTROL(__oclc_ISA_version, int, 10300)
#elif defined(__GFX11__)
CONTROL(__oclc_ISA_version, int, 11000)
#else
CONTROL(__oclc_ISA_version, int, 12000)
#endif

#define ONE(f) extern "C" __attribute__((device)) float __ocml_##f##_f32(float); extern "C" __attribute__((device)) double __ocml_##f##_f64(double); extern "C" __attribute__((device)) half __ocml_##f##_f16(half);
#define TWO(f) extern "C" __attribute__((device)) float __ocml_##f##_f32(float, float); extern "C" __attribute__((device)) double __ocml_##f##_f64(double, double);
ONE(sin) ONE(cos) ONE(tan) ONE(exp) ONE(exp2) ONE(exp10) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p) ONE(tanh) ONE(sinh) ONE(cosh) ONE(asin) ONE(acos) ONE(atan) ONE(cbrt) ONE(erf) ONE(rsqrt)
TWO(pow) TWO(atan2) TWO(hypot) TWO(fmod) TWO(remainder)

// x and y of moderate size, u in (-1, 1), p positive.
#define FUNCTIONS(T, S) \
  KERNEL trigonometry_##S(T* out, const T* x, const T* y, const T* u, int n) { \
    int i = index(); \
    if (i >= n) return; \
    T* o = out + i * 7; \
    o[0] = __ocml_sin_##S(x[i]), o[1] = __ocml_cos_##S(x[i]), o[2] = __ocml_tan_##S(x[i]), o[3] = __ocml_asin_##S(u[i]), o[4] = __ocml_acos_##S(u[i]), o[5] = __ocml_atan_##S(x[i]), o[6] = __ocml_atan2_##S(x[i], y[i]); \
  } \
  KERNEL exponentials_##S(T* out, const T* x, const T* u, const T* p, int n) { \
    int i = index(); \
    if (i >= n) return; \
    T* o = out + i * 9; \
    o[0] = __ocml_exp_##S(x[i]), o[1] = __ocml_exp2_##S(x[i]), o[2] = __ocml_exp10_##S(x[i] * (T)0.25f), o[3] = __ocml_expm1_##S(u[i]), o[4] = __ocml_log_##S(p[i]), o[5] = __ocml_log2_##S(p[i]), o[6] = __ocml_log10_##S(p[i]), \
    o[7] = __ocml_log1p_##S(u[i]), o[8] = __ocml_pow_##S(p[i], u[i] * (T)4); \
  } \
  KERNEL hyperbolics_##S(T* out, const T* x, const T* y, const T* p, int n) { \
    int i = index(); \
    if (i >= n) return; \
    T* o = out + i * 9; \
    o[0] = __ocml_sinh_##S(x[i]), o[1] = __ocml_cosh_##S(x[i]), o[2] = __ocml_tanh_##S(x[i]), o[3] = __ocml_erf_##S(x[i]), o[4] = __ocml_cbrt_##S(x[i]), o[5] = __ocml_rsqrt_##S(p[i]), o[6] = __ocml_hypot_##S(x[i], y[i]), \
    o[7] = __ocml_fmod_##S(x[i] * (T)1000, y[i]), o[8] = __ocml_remainder_##S(x[i] * (T)1000, y[i]); \
  }
FUNCTIONS(float, f32)
FUNCTIONS(double, f64)
// Not sin and cos: in rocm-device-libs 5.2.3 their last step asks for v_cmp_class's mask 0x1f8, all that is finite, and
// gives NaN for it.
KERNEL halves(half* out, const half* x, const half* p, int n) {
  int i = index();
  if (i >= n) return;
  half* o = out + i * 6;
  o[0] = __ocml_exp_f16(x[i]), o[1] = __ocml_log_f16(p[i]), o[2] = __ocml_tanh_f16(x[i]), o[3] = __ocml_exp2_f16(x[i]), o[4] = __ocml_log2_f16(p[i]), o[5] = __ocml_rsqrt_f16(p[i]);
}
