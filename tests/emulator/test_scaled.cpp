// Conversions with a scale: gfx950's V_CVT_SCALEF32_* in all their forms, gfx1250's wider ones.
#include <catch2/catch.hpp>

#include <cmath>

#include "small_reference.h"

using namespace emu_test;

namespace {

enum Kind { F32, F16, BF16, FP8, BF8, FP6, BF6, FP4 };
const Format& format(Kind k) { return k == FP8 ? ocp[0] : k == BF8 ? ocp[1] : narrow[k - FP6]; }
int width(Kind k) { return k == F32 ? 32 : k <= BF16 ? 16 : format(k).bits(); }
int mantissa(Kind k) { return k == F32 ? 23 : k == F16 ? 10 : 7; }
const char* name(Kind k) { return k == F32 ? "f32" : k == F16 ? "f16" : k == BF16 ? "bf16" : format(k).name; }
double number(Kind k, u32 code) { return k == F32 ? as_float(code) : k == F16 ? half_value(code) : k == BF16 ? bf16_value(code & 0xffff) : value(format(k), code); }
u32 round_bf16(double x) {
  const u32 u = as_bits(float(x));  // exact: small floats have few bits
  return x != x ? 0x7fc0 : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

struct Case {
  std::string text;
  Kind from, to;
  int count;
  int src_bit = 0, dst_bit = -1;  // where OP_SEL points; a destination part keeps the rest
  bool random = false, two = false, scaled = true;
};

std::vector<Case> gfx950_cases() {
  std::vector<Case> v;
  const std::string p = "v_cvt_scalef32_";
  for (Kind n : {FP8, BF8}) {
    const std::string s = name(n);
    for (int hi : {0, 1}) {
      v.push_back({p + "pk_" + s + "_f32 %0, %1, %2, %3" + (hi ? " op_sel:[0,0,0,1]" : ""), F32, n, 2, 0, 16 * hi, false, true});
      for (Kind f : {F16, BF16}) v.push_back({p + "pk_" + s + "_" + name(f) + " %0, %1, %2" + (hi ? " op_sel:[0,0,1]" : ""), f, n, 2, 0, 16 * hi});
      for (Kind t : {F32, F16, BF16}) v.push_back({p + "pk_" + name(t) + "_" + s + " %0, %1, %2" + (hi ? " op_sel:[1,0,0]" : ""), n, t, 2, 16 * hi});
    }
    for (int byte = 0; byte < 4; byte++) {
      const std::string dst = std::string(",0,") + (byte & 1 ? "1," : "0,") + (byte & 2 ? "1]" : "0]");
      v.push_back({p + "sr_" + s + "_f32 %0, %1, %2, %3 op_sel:[0" + dst, F32, n, 1, 0, 8 * byte, true});
      for (Kind f : {F16, BF16}) v.push_back({p + "sr_" + s + "_" + name(f) + " %0, %1, %2, %3 op_sel:[" + (byte % 2 ? "1" : "0") + dst, f, n, 1, 16 * (byte % 2), 8 * byte, true});
      v.push_back({p + "f32_" + s + " %0, %1, %2 op_sel:[" + (byte & 1 ? "1," : "0,") + (byte & 2 ? "1,0]" : "0,0]"), n, F32, 1, 8 * byte});
      v.push_back({p + "f16_" + s + " %0, %1, %2 op_sel:[" + (byte & 1 ? "1," : "0,") + (byte & 2 ? "1,0]" : "0,0]"), n, F16, 1, 8 * byte, 0});
    }
  }
  for (int byte = 0; byte < 4; byte++) {
    const std::string dst3 = std::string(" op_sel:[0,0,") + (byte & 1 ? "1," : "0,") + (byte & 2 ? "1]" : "0]"), src = std::string(" op_sel:[") + (byte & 1 ? "1," : "0,") + (byte & 2 ? "1,0]" : "0,0]");
    v.push_back({p + "pk_fp4_f32 %0, %1, %2, %3" + dst3, F32, FP4, 2, 0, 8 * byte, false, true});
    v.push_back({p + "sr_pk_fp4_f32 %0, %1, %2, %3" + dst3, F32, FP4, 2, 0, 8 * byte, true});
    for (Kind f : {F16, BF16}) {
      v.push_back({p + "pk_fp4_" + name(f) + " %0, %1, %2" + dst3, f, FP4, 2, 0, 8 * byte});
      v.push_back({p + "sr_pk_fp4_" + name(f) + " %0, %1, %2, %3" + dst3, f, FP4, 2, 0, 8 * byte, true});
    }
    for (Kind t : {F32, F16, BF16}) v.push_back({p + "pk_" + name(t) + "_fp4 %0, %1, %2" + src, FP4, t, 2, 8 * byte});
  }
  for (Kind n : {FP6, BF6}) {
    const std::string s = name(n);
    v.push_back({p + "2xpk16_" + s + "_f32 %0, %1, %2, %3", F32, n, 32, 0, -1, false, true});
    v.push_back({p + "sr_pk32_" + s + "_f32 %0, %1, %2, %3", F32, n, 32, 0, -1, true});
    for (Kind f : {F16, BF16}) {
      v.push_back({p + "pk32_" + s + "_" + name(f) + " %0, %1, %2", f, n, 32});
      v.push_back({p + "sr_pk32_" + s + "_" + name(f) + " %0, %1, %2, %3", f, n, 32, 0, -1, true});
    }
    for (Kind t : {F32, F16, BF16}) v.push_back({p + "pk32_" + name(t) + "_" + s + " %0, %1, %2", n, t, 32});
  }
  v.push_back({"v_cvt_sr_f16_f32 %0, %1, %2", F32, F16, 1, 0, 0, true, false, false});
  v.push_back({"v_cvt_sr_f16_f32 %0, %1, %2 op_sel:[0,0,1]", F32, F16, 1, 0, 16, true, false, false});
  v.push_back({"v_cvt_sr_bf16_f32 %0, %1, %2 op_sel:[0,0,1]", F32, BF16, 1, 0, 16, true, false, false});
  return v;
}
std::vector<Case> gfx1250_cases() {
  std::vector<Case> v;
  for (Kind n : {FP8, BF8, FP4, FP6, BF6})
    for (Kind f : {F32, F16, BF16}) {
      const int count = n == FP6 || n == BF6 ? 16 : 8;
      const std::string tail = "pk" + std::to_string(count) + "_" + name(n) + "_" + name(f);
      v.push_back({"v_cvt_scalef32_" + tail + " %0, %1, %2", f, n, count});
      v.push_back({"v_cvt_scalef32_sr_" + tail + " %0, %1, %2, %3", f, n, count, 0, -1, true});
    }
  v.push_back({"v_cvt_sr_pk_f16_f32 %0, %1, %2, %3", F32, F16, 2, 0, -1, true, true, false});
  v.push_back({"v_cvt_sr_pk_bf16_f32 %0, %1, %2, %3", F32, BF16, 2, 0, -1, true, true, false});
  for (Kind n : {FP8, BF8}) {
    const std::string s = name(n);
    v.push_back({"v_cvt_pk_f16_" + s + "_e32 %0, %1", n, F16, 2, 0, -1, false, false, false});
    v.push_back({"v_cvt_pk_f16_" + s + "_e64 %0, %1 op_sel:[1,0]", n, F16, 2, 16, -1, false, false, false});
    v.push_back({"v_cvt_pk_" + s + "_f16 %0, %1", F16, n, 2, 0, 0, false, false, false});
    for (int byte = 0; byte < 4; byte++) {
      v.push_back({"v_cvt_f16_" + s + "_e64 %0, %1 byte_sel:" + std::to_string(byte), n, F16, 1, 8 * byte, 0, false, false, false});
      v.push_back({"v_cvt_sr_" + s + "_f16 %0, %1, %2 byte_sel:" + std::to_string(byte), F16, n, 1, 0, 8 * byte, true, false, false});
    }
  }
  return v;
}

int dwords(int count, Kind k) { return (count * width(k) + 31) / 32; }
u32 field(const u32* p, int at, int w) {
  u32 x = 0;
  for (int b = 0; b < w; b++) x |= (p[(at + b) / 32] >> ((at + b) % 32) & 1) << b;
  return x;
}

u32 pick_code(Kind k, std::mt19937& r) {
  if (k > BF16) return r() & ((1u << width(k)) - 1);
  if (r() % 16 == 0) {
    const u32 special[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, 1};
    const float f = as_float(special[r() % 7]);
    return k == F32 ? as_bits(f) : k == F16 ? half_bits(f) : as_bits(f) >> 16;
  }
  // Few mantissa bits make ties, many make sticky bits.
  const double x = std::ldexp(double(i32(r()) >> (r() % 2 ? 26 : 0)), int(r() % 24) - (r() % 2 ? 40 : 14));
  return k == F32 ? as_bits(float(x)) : k == F16 ? half_bits(x) : as_bits(float(x)) >> 16;
}

void run(const std::string& arch, const std::vector<Case>& cases, const std::string& before = "") {
  std::vector<Snippet> snippets;
  for (const Case& c : cases) {
    Snippet s{"k" + std::to_string(snippets.size()), before + c.text, {}, dwords(c.count, c.to), c.dst_bit >= 0};
    for (int k = 0; k < (c.two ? 2 : 1); k++) s.in.push_back(dwords(c.two ? c.count / 2 : c.count, c.from));
    if (c.random) s.in.push_back(1);
    if (c.scaled) s.in.push_back(1);
    if (s.tied) s.in.push_back(1);
    snippets.push_back(s);
  }
  Module m(arch, compile_opencl_text(snippet_source(snippets), arch, "-O1"));
  std::mt19937 r(21);
  const bool saturate = !before.empty();
  for (size_t q = 0; q < cases.size(); q++) {
    const Case& c = cases[q];
    const Snippet& s = snippets[q];
    int total = 0;
    for (int d : s.in) total += d;
    const int n = 256, each = s.in[0];
    std::vector<u32> rows(size_t(n) * total);
    for (int i = 0; i < n; i++) {
      u32* p = &rows[size_t(i) * total];
      for (int d = 0; d < total; d++) p[d] = r();
      if (width(c.from) >= 16)
        for (int e = 0; e < each * (c.two ? 2 : 1) * 32 / width(c.from); e++) {
          const int bit = e * width(c.from);
          const u32 code = pick_code(c.from, r);
          p[bit / 32] = width(c.from) == 32 ? code : (p[bit / 32] & ~(0xffffu << (bit % 32))) | code << (bit % 32);
        }
      if (c.scaled) {
        const u32 exponents[] = {0, 1, 254, 255, 100, 150};
        // Only the exponent counts: sign and mantissa are random.
        u32& scale = p[(c.two ? 2 : 1) * each + c.random];
        scale = (scale & 0x807fffffu) | (r() % 8 == 0 ? exponents[r() % 6] : 120 + r() % 15) << 23;
      }
    }
    const auto out = run_snippet(m, s, rows);
    for (int i = 0; i < n; i++) {
      const u32* p = &rows[size_t(i) * total];
      u32 seed = c.random ? p[(c.two ? 2 : 1) * each] : 0;
      const u32 e = c.scaled ? p[(c.two ? 2 : 1) * each + c.random] >> 23 & 255 : 127;
      const double scale = e == 255 ? NAN : std::ldexp(1.0, int(e) - 127);
      if (c.dst_bit >= 0 && c.to != F32) {
        const int w = c.count * width(c.to);
        const u32 kept = w == 32 ? 0 : ~(((1u << w) - 1) << c.dst_bit);
        INFO(s.text << " row " << i);
        REQUIRE((out[i] & kept) == (p[total - 1] & kept));
      }
      for (int k = 0; k < c.count; k++) {
        const u32 from = c.two ? field(p + (k % 2) * each, c.src_bit + k / 2 * width(c.from), width(c.from)) : field(p, c.src_bit + k * width(c.from), width(c.from));
        double x = number(c.from, from);
        const bool negative = std::signbit(x);
        x = scale != scale ? std::copysign(NAN, negative ? -1.0 : 1.0) : c.from > BF16 ? x * scale : x / scale;
        const u32 got = field(&out[size_t(i) * s.out], std::max(0, c.dst_bit) + k * width(c.to), width(c.to));
        u32 want;
        bool equal;
        // FP16_OVFL clamps f16 results that overflow, and keeps true infinities.
        const auto half = [&](double y) { return saturate && std::isfinite(x) && std::fabs(y) >= 65520 ? (y < 0 ? 0xfbffu : 0x7bffu) : half_bits(y); };
        if (c.to > BF16) {
          want = c.random ? encode_random(format(c.to), x, seed, saturate, mantissa(c.from)) : encode(format(c.to), x, saturate);
          equal = same_code(format(c.to), got, want);
        } else if (c.random) {  // f32 to f16 or bf16
          const Format f = c.to == F16 ? Format{"f16", 5, 10, 15, true, false, false} : Format{"bf16", 8, 7, 127, true, false, false};
          const double step = std::ldexp(1.0, std::max(std::ilogb(x == 0 ? 1.0 : x), 1 - f.bias) - f.mantissa_bits);
          const int bits = 23 - f.mantissa_bits;
          double a = std::fabs(x), units = std::floor(a / step), part = std::floor((a / step - units) * std::ldexp(1.0, bits));
          if (part + (seed >> (32 - bits)) >= std::ldexp(1.0, bits)) units++;
          const double y = std::copysign(std::isfinite(x) ? units * step : x, x);
          want = c.to == F16 ? half(y) : as_bits(float(y)) >> 16;
          equal = got == want || x != x;
          if (x != x) REQUIRE(number(c.to, got) != number(c.to, got));
        } else {
          want = c.to == F32 ? as_bits(float(x)) : c.to == F16 ? half(x) : round_bf16(x);
          equal = got == want || (x != x && number(c.to, got) != number(c.to, got));
        }
        if (!equal) {
          INFO(s.text << " row " << i << " element " << k << ": " << number(c.from, from) << " scale 2^" << int(e) - 127 << " seed " << std::hex << seed << " gave " << got << ", not " << want);
          REQUIRE(got == want);
        }
        if (c.random) seed = seed << 1 ^ (seed >> 31 ? 197 : 0);
      }
    }
    SUCCEED();
  }
}

}  // namespace

TEST_CASE("gfx950 converts with scales, packed, one by one and stochastically", "[scaled]") { run("gfx950", gfx950_cases()); }
TEST_CASE("gfx950's scaled conversions saturate where MODE says so", "[scaled]") {
  run("gfx950", gfx950_cases(), "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\\n");
}
TEST_CASE("gfx1250 converts 8 and 16 elements at a time, and between FP8 and f16", "[scaled]") { run("gfx1250", gfx1250_cases()); }
