// Dot products on every generation that has them, against the ISA documents' formulas on the host.
#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

#include "snippet.h"

using namespace emu_test;

namespace {

enum class Result { f32, f16, bf16, integer };
using Want = std::function<u32(u32 a, u32 b, u32 c)>;
struct Case {
  const char* text;   // without operands after the third
  const char* targets;
  Result result;
  bool tied;
  Want want;
};

float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
u32 negate(u32 x, u32 mask) { return x ^ mask; }

// One rounding per sum, products exact; `flushing`: before gfx12. A product of halves is a float, and a sum of
// two floats made in double and rounded to float is rounded once (53 >= 2 * 24 + 2).
u32 dot2_half(u32 a, u32 b, u32 c, bool flushing) {
  double s = flushing ? flush(as_float(c)) : as_float(c);
  for (int k = 0; k < 32; k += 16) s = float(double(half_value(a >> k)) * half_value(b >> k) + s);
  return as_bits(flushing ? flush(float(s)) : float(s));
}
u32 dot2_bfloat(u32 a, u32 b, u32 c, bool flushing) {
  float s = flushing ? flush(as_float(c)) : as_float(c);
  for (int k = 0; k < 32; k += 16) {
    float x = bf16_value(a >> k & 0xffff), y = bf16_value(b >> k & 0xffff);
    if (flushing) x = flush(x), y = flush(y);
    s = std::fma(x, y, s);
  }
  return as_bits(flushing ? flush(s) : s);
}
template <int bits>
u32 dot_int(u32 a, u32 b, u32 c, bool a_signed, bool b_signed, bool clamp, bool unsigned_result = false) {
  auto field = [](u32 x, int k, bool sign) -> long long {
    const long long v = (x >> k) & ((1ll << bits) - 1);
    return sign && v >= (1ll << (bits - 1)) ? v - (1ll << bits) : v;
  };
  long long s = unsigned_result ? (long long)c : (long long)(i32)c;
  for (int k = 0; k < 32; k += bits) s += field(a, k, a_signed) * field(b, k, b_signed);
  if (!clamp) return u32(s);
  if (unsigned_result) return u32(std::min(s, 0xffffffffll));
  return u32(std::max(-0x80000000ll, std::min(s, 0x7fffffffll)));
}
double small_value(u32 code, int exponent_bits, int mantissa_bits) {  // OCP's FP8 and BF8
  const int e = code >> mantissa_bits & ((1 << exponent_bits) - 1), m = code & ((1 << mantissa_bits) - 1), bias = (1 << (exponent_bits - 1)) - 1;
  double v = e ? std::ldexp(1 + std::ldexp(m, -mantissa_bits), e - bias) : std::ldexp(m, 1 - bias - mantissa_bits);
  if (exponent_bits == 4 && (code & 0x7f) == 0x7f) v = NAN;
  if (exponent_bits == 5 && e == 31) v = m ? NAN : INFINITY;
  return code & 0x80 ? -v : v;
}
u32 dot4_small(u32 a, u32 b, u32 c, int ea, int eb) {
  float s = as_float(c);
  for (int k = 0; k < 32; k += 8) s = float(small_value(a >> k & 255, ea, 7 - ea) * small_value(b >> k & 255, eb, 7 - eb) + s);
  return as_bits(s);
}
u32 dot2_narrow_half(u32 a, u32 b, u32 c) {
  u32 s = c & 0xffff;
  for (int k = 0; k < 32; k += 16) {
    // Exact in long double but for 40 bits' distance, where the small operand cannot matter to 11 bits but as a sticky bit.
    const long double x = (long double)half_value(a >> k) * half_value(b >> k) + half_value(s);
    s = half_bits(double(x));
    const double d = double(x);
    if (d != x) s = half_bits(std::nextafter(d, x > d ? INFINITY : -INFINITY));
  }
  return s;
}
u32 to_bf16(float x) {
  if (x != x) return 0x7fc0;
  u32 u = as_bits(x);
  return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}
u32 dot2_narrow_bfloat(u32 a, u32 b, u32 c) {
  u32 s = c & 0xffff;
  for (int k = 0; k < 32; k += 16) {
    const float x = bf16_value(a >> k & 0xffff), y = bf16_value(b >> k & 0xffff), z = bf16_value(s);
    const long double exact = (long double)x * y + z;
    float f = float(exact);
    // Away from a tie that only the first rounding made.
    if (std::isfinite(f) && (as_bits(f) & 0xffff) == 0x8000 && (long double)f != exact) f = std::nextafter(f, exact > f ? INFINITY : -INFINITY);
    s = to_bf16(f);
  }
  return s;
}

// Half of a VOPD: registers of its own, since the halves' destinations must be an even and an odd one.
#define DUAL(T) "v_mov_b32 v20, %0\\nv_mov_b32 v21, %1\\nv_mov_b32 v22, %2\\nv_dual_dot2acc_f32_" T " v20, v21, v22 :: v_dual_mov_b32 v23, v24\\nv_mov_b32 %0, v20"
const Case cases[] = {
    {"v_dot2_f32_f16 %0, %1, %2, %3", "gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100", Result::f32, false, [](u32 a, u32 b, u32 c) { return dot2_half(a, b, c, true); }},
    {"v_dot2_f32_f16 %0, %1, %2, %3", "gfx1200 gfx1201", Result::f32, false, [](u32 a, u32 b, u32 c) { return dot2_half(a, b, c, false); }},
    {"v_dot2_f32_f16 %0, %1, %2, %3 neg_lo:[1,0,1] neg_hi:[0,1,0]", "gfx906 gfx942 gfx1030 gfx1100", Result::f32, false,
     [](u32 a, u32 b, u32 c) { return dot2_half(negate(a, 0x8000), negate(b, 0x80000000), negate(c, 0x80000000), true); }},
    {"v_dot2_f32_f16 %0, %1, %2, %3 op_sel:[1,0,0] op_sel_hi:[0,0,1]", "gfx906 gfx1030 gfx1100", Result::f32, false,
     [](u32 a, u32 b, u32 c) { return dot2_half(a >> 16 | a << 16, (b & 0xffff) | b << 16, c, true); }},
    {"v_dot2_f32_f16 %0, %1, %2, %3 clamp", "gfx906 gfx942 gfx1030 gfx1100", Result::f32, false,
     [](u32 a, u32 b, u32 c) { const float f = as_float(dot2_half(a, b, c, true)); return as_bits(f != f ? 0.0f : f < 0 ? 0.0f : f > 1 ? 1.0f : f); }},
    {"v_dot2c_f32_f16 %0, %1, %2", "gfx908 gfx90a gfx942 gfx950 gfx1030", Result::f32, true, [](u32 a, u32 b, u32 c) { return dot2_half(a, b, c, true); }},
    {"v_dot2acc_f32_f16 %0, %1, %2", "gfx1100", Result::f32, true, [](u32 a, u32 b, u32 c) { return dot2_half(a, b, c, true); }},
    {DUAL("f16"), "gfx1100", Result::f32, true, [](u32 a, u32 b, u32 c) { return dot2_half(a, b, c, true); }},
    {DUAL("f16"), "gfx1200", Result::f32, true, [](u32 a, u32 b, u32 c) { return dot2_half(a, b, c, false); }},
    {DUAL("bf16"), "gfx1100", Result::f32, true, [](u32 a, u32 b, u32 c) { return dot2_bfloat(a, b, c, true); }},
    {DUAL("bf16"), "gfx1200", Result::f32, true, [](u32 a, u32 b, u32 c) { return dot2_bfloat(a, b, c, false); }},
    {"v_dot2_f32_f16_e64_dpp %0, %1, %2, %3 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", "gfx1100", Result::f32, false, [](u32 a, u32 b, u32 c) { return dot2_half(a, b, c, true); }},
    {"v_dot2_f32_bf16 %0, %1, %2, %3", "gfx1100", Result::f32, false, [](u32 a, u32 b, u32 c) { return dot2_bfloat(a, b, c, true); }},
    {"v_dot2_f32_bf16 %0, %1, %2, %3", "gfx1200", Result::f32, false, [](u32 a, u32 b, u32 c) { return dot2_bfloat(a, b, c, false); }},
    {"v_dot2_f32_bf16 %0, %1, %2, %3 neg_lo:[0,1,0] neg_hi:[1,0,0]", "gfx1100", Result::f32, false,
     [](u32 a, u32 b, u32 c) { return dot2_bfloat(negate(a, 0x80000000), negate(b, 0x8000), c, true); }},
    {"v_dot2_f32_bf16 %0, %1, %2, %3", "gfx950", Result::f32, false,  // the accumulator comes last here
     [](u32 a, u32 b, u32 c) {
       auto f = [](u32 x) { return flush(bf16_value(x & 0xffff)); };
       return as_bits(flush(std::fma(f(a >> 16), f(b >> 16), f(a) * f(b)) + flush(as_float(c))));
     }},
    {"v_dot2c_f32_bf16 %0, %1, %2", "gfx950", Result::f32, true, [](u32 a, u32 b, u32 c) { return dot2_bfloat(a, b, c, true); }},
    {"v_dot2_f16_f16 %0, %1, %2, %3", "gfx1100 gfx1200", Result::f16, false, dot2_narrow_half},
    {"v_dot2_bf16_bf16 %0, %1, %2, %3", "gfx1100 gfx1200", Result::bf16, false, dot2_narrow_bfloat},
    {"v_dot4_f32_fp8_fp8 %0, %1, %2, %3", "gfx1200 gfx1201", Result::f32, false, [](u32 a, u32 b, u32 c) { return dot4_small(a, b, c, 4, 4); }},
    {"v_dot4_f32_fp8_bf8 %0, %1, %2, %3", "gfx1200 gfx1201", Result::f32, false, [](u32 a, u32 b, u32 c) { return dot4_small(a, b, c, 4, 5); }},
    {"v_dot4_f32_bf8_fp8 %0, %1, %2, %3", "gfx1200 gfx1201", Result::f32, false, [](u32 a, u32 b, u32 c) { return dot4_small(a, b, c, 5, 4); }},
    {"v_dot4_f32_bf8_bf8 %0, %1, %2, %3", "gfx1200 gfx1201", Result::f32, false, [](u32 a, u32 b, u32 c) { return dot4_small(a, b, c, 5, 5); }},

    {"v_dot2_i32_i16 %0, %1, %2, %3", "gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<16>(a, b, c, true, true, false); }},
    {"v_dot2_i32_i16 %0, %1, %2, %3 clamp", "gfx906 gfx942 gfx1030", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<16>(a, b, c, true, true, true); }},
    {"v_dot2_i32_i16 %0, %1, %2, %3 op_sel:[1,0,0] op_sel_hi:[1,0,0]", "gfx906 gfx1030", Result::integer, false,
     [](u32 a, u32 b, u32 c) { return dot_int<16>(a >> 16 | (a & 0xffff0000u), (b & 0xffff) | b << 16, c, true, true, false); }},
    {"v_dot2_u32_u16 %0, %1, %2, %3", "gfx906 gfx90a gfx1030", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<16>(a, b, c, false, false, false, true); }},
    {"v_dot2_u32_u16 %0, %1, %2, %3 clamp", "gfx906 gfx90a gfx1030", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<16>(a, b, c, false, false, true, true); }},
    {"v_dot2c_i32_i16 %0, %1, %2", "gfx908 gfx90a gfx942 gfx950", Result::integer, true, [](u32 a, u32 b, u32 c) { return dot_int<16>(a, b, c, true, true, false); }},
    {"v_dot4_i32_i8 %0, %1, %2, %3", "gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<8>(a, b, c, true, true, false); }},
    {"v_dot4_i32_i8 %0, %1, %2, %3 clamp", "gfx906 gfx942 gfx1030", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<8>(a, b, c, true, true, true); }},
    {"v_dot4_u32_u8 %0, %1, %2, %3", "gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1200 gfx1250", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<8>(a, b, c, false, false, false, true); }},
    {"v_dot4_u32_u8 %0, %1, %2, %3 clamp", "gfx906 gfx942 gfx1030 gfx1100 gfx1200", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<8>(a, b, c, false, false, true, true); }},
    {"v_dot4c_i32_i8 %0, %1, %2", "gfx908 gfx90a gfx942 gfx950 gfx1030", Result::integer, true, [](u32 a, u32 b, u32 c) { return dot_int<8>(a, b, c, true, true, false); }},
    {"v_dot8_i32_i4 %0, %1, %2, %3", "gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<4>(a, b, c, true, true, false); }},
    {"v_dot8_i32_i4 %0, %1, %2, %3 clamp", "gfx906 gfx1030", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<4>(a, b, c, true, true, true); }},
    {"v_dot8_u32_u4 %0, %1, %2, %3", "gfx906 gfx90a gfx1030 gfx1100 gfx1200", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<4>(a, b, c, false, false, false, true); }},
    {"v_dot8_u32_u4 %0, %1, %2, %3 clamp", "gfx906 gfx1030 gfx1100 gfx1200", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<4>(a, b, c, false, false, true, true); }},
    {"v_dot8c_i32_i4 %0, %1, %2", "gfx908 gfx90a gfx942 gfx950", Result::integer, true, [](u32 a, u32 b, u32 c) { return dot_int<4>(a, b, c, true, true, false); }},
    {"v_dot4_i32_iu8 %0, %1, %2, %3", "gfx1100 gfx1200 gfx1250", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<8>(a, b, c, false, false, false); }},
    {"v_dot4_i32_iu8 %0, %1, %2, %3 neg_lo:[1,0,0]", "gfx1100 gfx1200", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<8>(a, b, c, true, false, false); }},
    {"v_dot4_i32_iu8 %0, %1, %2, %3 neg_lo:[0,1,0] clamp", "gfx1100 gfx1200", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<8>(a, b, c, false, true, true); }},
    {"v_dot4_i32_iu8 %0, %1, %2, %3 neg_lo:[1,1,0] clamp", "gfx1100 gfx1200", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<8>(a, b, c, true, true, true); }},
    {"v_dot8_i32_iu4 %0, %1, %2, %3", "gfx1100 gfx1200", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<4>(a, b, c, false, false, false); }},
    {"v_dot8_i32_iu4 %0, %1, %2, %3 neg_lo:[1,0,0]", "gfx1100 gfx1200", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<4>(a, b, c, true, false, false); }},
    {"v_dot8_i32_iu4 %0, %1, %2, %3 neg_lo:[1,1,0] clamp", "gfx1100 gfx1200", Result::integer, false, [](u32 a, u32 b, u32 c) { return dot_int<4>(a, b, c, true, true, true); }},
};

u32 pick(std::mt19937& r, std::initializer_list<u32> special, u32 other) { return r() % 4 == 0 ? special.begin()[r() % special.size()] : other; }
u32 sixteen(std::mt19937& r, bool brain) {
  if (brain) {
    const u32 near = 0x3f80 + (r() & 0x1ff) - 0x100;
    return pick(r, {0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x5f80, 0x1f80}, r() % 2 ? near | (r() & 0x8000) : r() & 0xffff);
  }
  const u32 near = 0x3c00 + (r() & 0xfff) - 0x800;
  return pick(r, {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00}, r() % 2 ? near | (r() & 0x8000) : r() & 0xffff);
}

// Rows of three dwords: random bits, and values that meet each other's exponents.
std::vector<u32> inputs(const Case& c) {
  std::mt19937 r(7);
  std::vector<u32> v;
  const std::string text = c.text;
  const bool brain = text.find("bf16") != std::string::npos, small = text.find("fp8") != std::string::npos || text.find("bf8") != std::string::npos;
  for (int n = 0; n < 1024; n++) {
    u32 row[3];
    for (int k = 0; k < 3; k++) {
      if (c.result == Result::integer) row[k] = pick(r, {0, 0xffffffff, 0x80000000, 0x7fffffff, 0x80808080, 0x7f7f7f7f, 0x80008000, 0x88888888, 0x77777777}, k == 2 && n % 2 ? r() | 0x7fff0000 : r());
      else if (k < 2) row[k] = small ? (n % 2 ? r() : r() & 0xbfbfbfbf) : sixteen(r, brain) | sixteen(r, brain) << 16;
      else if (c.result == Result::f32) row[k] = pick(r, {0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000}, n % 2 ? as_bits(std::ldexp(float(i32(r())), int(r() % 60) - 50)) : r());
      else row[k] = sixteen(r, brain) | r() << 16;
    }
    v.insert(v.end(), row, row + 3);
  }
  return v;
}

bool agree(Result kind, u32 got, u32 want) {
  auto nan = [&](u32 x) {
    return kind == Result::f32 ? (x & 0x7fffffff) > 0x7f800000 : kind == Result::f16 ? (x & 0x7fff) > 0x7c00 : kind == Result::bf16 ? (x & 0x7fff) > 0x7f80 : false;
  };
  if (kind == Result::f16 || kind == Result::bf16) got &= 0xffff, want &= 0xffff;
  return got == want || (nan(got) && nan(want));
}

}  // namespace

TEST_CASE("dot products agree with the ISA documents' formulas", "[dot]") {
  for (const std::string arch : {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1200", "gfx1201", "gfx1250"}) {
    INFO(arch);
    std::vector<Snippet> snippets;
    std::vector<const Case*> chosen;
    for (const Case& c : cases) {
      if ((std::string(c.targets) + " ").find(arch + " ") == std::string::npos) continue;
      chosen.push_back(&c);
      const bool dual = std::string(c.text).find("v_dual") != std::string::npos;
      snippets.push_back({"k" + std::to_string(snippets.size()), c.text, {1, 1, 1}, 1, c.tied, dual ? "\"v20\", \"v21\", \"v22\", \"v23\", \"v24\"" : ""});
    }
    REQUIRE(!chosen.empty());
    Module m(arch, compile_opencl_text(snippet_source(snippets), arch, "-O1"));
    for (size_t k = 0; k < chosen.size(); k++) {
      const Case& c = *chosen[k];
      const auto rows = inputs(c);
      const auto got = run_snippet(m, snippets[k], rows);
      for (size_t n = 0; n < got.size(); n++) {
        const u32 want = c.want(rows[3 * n], rows[3 * n + 1], rows[3 * n + 2]);
        if (agree(c.result, got[n], want)) continue;
        INFO(c.text << " row " << n << std::hex << ": " << rows[3 * n] << ", " << rows[3 * n + 1] << ", " << rows[3 * n + 2] << " gave " << got[n] << ", not " << want);
        REQUIRE(got[n] == want);
      }
      SUCCEED();
    }
  }
}
