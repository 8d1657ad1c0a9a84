// Every matrix instruction of CDNA1 to CDNA4 against the product in double precision and against the sums measured on
// silicon, bit by bit; modifiers, AGPRs, special values; strict mode's rules for undefined elements.
#include "mfma_model.h"

using namespace emu_test;
using Catch::Matchers::Contains;

extern "C" const char* lathe_emulator_missing_rows(const char* arch, const void* image, size_t size);

namespace {

const std::string cdna[] = {"gfx908", "gfx90a", "gfx942", "gfx950"};

// ---- operands --------------------------------------------------------------------------------------

struct FloatFormat { int exponent_bits, mantissa_bits, bias; };
FloatFormat format_of(Num n, bool ocp) {
  switch (n) {
    case Num::f64: return {11, 52, 1023};
    case Num::f32: case Num::xf32: return {8, 23, 127};
    case Num::f16: return {5, 10, 15};
    case Num::bf16: return {8, 7, 127};
    case Num::fp8: return {4, 3, ocp ? 7 : 8};
    case Num::bf8: return {5, 2, ocp ? 15 : 16};
    case Num::fp6: return {2, 3, 1};
    case Num::bf6: return {3, 2, 3};
    case Num::fp4: return {2, 1, 1};
    default: return {0, 0, 0};
  }
}
// A finite number whose exponent is at most `spread` away from 0; now and then a zero.
u64 random_code(Num n, std::mt19937_64& r, int spread, bool ocp) {
  if (n == Num::i8) return r() & 0xff;
  if (n == Num::i32) return r() & 0xffffffff;
  const FloatFormat f = format_of(n, ocp);
  if (r() % 17 == 0) return 0;
  const int low = std::max(f.bias - spread, bits_of(n) <= 8 ? 0 : 1), high = std::min(f.bias + spread, bits_of(n) <= 6 ? (1 << f.exponent_bits) - 1 : (1 << f.exponent_bits) - 2);
  const u64 e = u64(low + int(r() % u64(high - low + 1)));
  const u64 code = (r() & 1) << (f.exponent_bits + f.mantissa_bits) | e << f.mantissa_bits | (r() & ((u64(1) << f.mantissa_bits) - 1));
  return std::isnan(number(n, code, ocp)) ? 0 : code;  // FNUZ has its NaN at -0
}
void fill(std::vector<u32>& regs, int dwords, int values, Num n, std::mt19937_64& r, int spread, bool ocp) {
  regs.assign(size_t(64 * dwords), 0);
  for (int lane = 0; lane < 64; lane++)
    for (int v = 0; v < values; v++) set_code(regs, dwords, n, v, lane, random_code(n, r, spread, ocp));
}
Operands random_operands(const Shape& s, const std::string& arch, unsigned seed, int spread = 3) {
  std::mt19937_64 r(seed);
  const bool ocp = arch == "gfx950";
  Operands o;
  fill(o.a, s.a_dwords(), s.a_values(), s.a, r, spread, ocp);
  fill(o.b, s.b_dwords(), s.b_values(), s.b, r, spread, ocp);
  fill(o.c, s.d_dwords(), s.d_values(), s.d, r, 2 * spread, ocp);
  o.x.resize(128);
  for (u32& x : o.x) {
    x = u32(r());
    if (s.scaled) x = 0x7b7b7b7b + (u32(r()) & 0x07070707);
    if (!s.sparse) continue;
    for (int k = 0; k < 32; k += 4)  // two different ones of four, in order, as the format wants
      if ((x >> k & 3) >= (x >> (k + 2) & 3)) x = (x & ~(15u << k)) | (r() & 1 ? 0x4u : 0xeu) << k;
  }
  return o;
}

// ---- running ---------------------------------------------------------------------------------------

std::vector<u32> run(Module& m, size_t kernel, const Shape& s, const Operands& o) {
  Buffer<u32> a(o.a), b(o.b), c(o.c), x(o.x), d(std::vector<u32>(size_t(64 * s.d_dwords())));
  ok(launch(m["k" + std::to_string(kernel)], {1}, {64}, 0, a, b, c, d, x));
  return d.get();
}
std::string bits_text(u32 x) {
  char t[64];
  float f;
  std::memcpy(&f, &x, 4);
  std::snprintf(t, sizeof t, "0x%08x (%.9g)", x, double(f));
  return t;
}
// Compares all of D: exactly with the model, and within f32's (f64's) error bound with the product in double.
void compare(const Shape& s, const std::string& arch, const std::vector<u32>& d, const std::vector<Element>& want, bool bound = true) {
  for (const Element& e : want) {
    const u64 got = code_at(d, s.d_dwords(), s.d, e.value, e.lane);
    auto wrong = [&](const std::string& x, const std::string& y) {
      INFO(arch << " " << s.name << ": register " << e.value << ", lane " << e.lane);
      REQUIRE(x == y);
    };
    if (s.d == Num::i32) {
      i64 sum = i64(e.c);
      for (const Term& t : e.terms) sum += i64(t.a) * i64(t.b);
      if (u32(got) != u32(sum)) wrong(std::to_string(u32(got)), std::to_string(u32(sum)));
    } else if (s.d == Num::f64) {
      double sum = e.c;
      for (const Term& t : e.terms) sum = std::fma(t.a, t.b, sum);
      const double x = number(Num::f64, got, true);
      if (!(x == sum || (std::isnan(x) && std::isnan(sum)))) wrong(std::to_string(x), std::to_string(sum));
    } else {
      const float model = model_of(s, arch, e);
      u32 bits;
      std::memcpy(&bits, &model, 4);
      const bool same = u32(got) == bits || (std::isnan(model) && (got & 0x7fffffff) > 0x7f800000) || (model == 0 && (got << 33) == 0);
      if (!same) wrong(bits_text(u32(got)), bits_text(bits));
      if (!bound) continue;
      const double x = number(Num::f32, got, true), want_sum = product_sum(e), limit = double(e.terms.size() + 3) * 0x1p-24 * magnitude_sum(e);
      if (!(std::fabs(x - want_sum) <= limit)) wrong(std::to_string(x), std::to_string(want_sum));
    }
  }
  SUCCEED();
}

Form form(const Shape& s, const std::string& arch) {
  Form f;
  f.shape = s;
  f.d_agpr = arch == "gfx908";  // C and D can be nowhere else there
  return f;
}
bool flushes(const Shape& s, const std::string& arch, const Element& e) {
  if (arch != "gfx90a" || (s.a != Num::f16 && s.a != Num::bf16)) return false;
  const double smallest = std::ldexp(1.0, smallest_exponent(s.a, false));
  auto denormal = [&](double x) { return x != 0 && std::fabs(x) < smallest; };
  for (const Term& t : e.terms)
    if (denormal(t.a) || denormal(t.b)) return true;
  return false;
}
// The operand formats of f8f6f4, by their number in cbsz and blgp.
constexpr Num formats[] = {Num::fp8, Num::bf8, Num::fp6, Num::bf6, Num::fp4};

}  // namespace

TEST_CASE("every matrix instruction, operands in VGPRs and AGPRs", "[mfma]") {
  for (const auto& arch : cdna) {
    std::vector<Form> forms;
    for (const Shape& s : shapes_of(arch)) {
      Form f = form(s, arch);
      forms.push_back(f);
      f.a_agpr = f.b_agpr = f.d_agpr = true;
      f.in_place = true;
      forms.push_back(f);
      f = form(s, arch);
      f.b_agpr = true, f.in_place = true;
      if (!s.sparse && arch != "gfx908") f.c = "1.0";  // silicon's bug there: LLVM refuses constants
      forms.push_back(f);
    }
    const std::string path = assemble(kernels_text(arch, forms), arch);
    const auto image = read_file(path);
    CHECK(std::string(lathe_emulator_missing_rows(arch.c_str(), image.data(), image.size())) == "");
    Module m(arch, path);
    for (size_t k = 0; k < forms.size(); k++) {
      const Shape& s = forms[k].shape;
      const Operands o = random_operands(s, arch, unsigned(k));
      double c = 1.0;
      if (s.d == Num::i32) c = 0x3f800000;  // the constant's bits
      compare(s, arch, run(m, k, s, o), elements_of(s, arch, o, {}, c, !forms[k].c.empty()));
    }
  }
}

TEST_CASE("far apart exponents and large sums round as measured", "[mfma]") {
  for (const auto& arch : cdna) {
    std::vector<Form> forms;
    for (const Shape& s : shapes_of(arch))
      if (s.d == Num::f32 && !s.formats) forms.push_back(form(s, arch));
    Module m(arch, assemble(kernels_text(arch, forms), arch));
    for (size_t k = 0; k < forms.size(); k++) {
      const Shape& s = forms[k].shape;
      for (const int spread : {8, 30, 70, 120}) {
        Operands o = random_operands(s, arch, unsigned(1000 * spread) + unsigned(k), spread);
        // The bound holds as long as nothing leaves f32's range.
        compare(s, arch, run(m, k, s, o), elements_of(s, arch, o), spread <= 30);
        if (spread > 8) continue;
        // C around the products, not only far above.
        std::mt19937_64 r(k);
        fill(o.c, s.d_dwords(), s.d_values(), s.d, r, 4, true);
        compare(s, arch, run(m, k, s, o), elements_of(s, arch, o));
        o.c.assign(o.c.size(), 0);
        compare(s, arch, run(m, k, s, o), elements_of(s, arch, o));
      }
    }
  }
}

TEST_CASE("infinities, NaNs, denormals and negative zeros", "[mfma]") {
  for (const auto& arch : cdna) {
    std::vector<Form> forms;
    for (const Shape& s : shapes_of(arch))
      if (s.d != Num::i32 && !s.scaled) forms.push_back(form(s, arch));
    Module m(arch, assemble(kernels_text(arch, forms), arch));
    const bool ocp = arch == "gfx950";
    for (size_t k = 0; k < forms.size(); k++) {
      const Shape& s = forms[k].shape;
      for (int round = 0; round < 3; round++) {
        Operands o = random_operands(s, arch, unsigned(k), 2);
        std::mt19937_64 r(k + 77);
        auto sprinkle = [&](std::vector<u32>& regs, int dwords, int values, Num n) {
          const FloatFormat f = format_of(n, ocp);
          const u64 ones = ((u64(1) << f.exponent_bits) - 1) << f.mantissa_bits, sign = u64(1) << (f.exponent_bits + f.mantissa_bits);
          // Round 0: denormals and zeros; then infinities; then NaNs too.
          for (int n2 = 0; n2 < 12; n2++) {
            u64 code = n2 % 2 ? sign : sign | 1 | (r() & ((u64(1) << f.mantissa_bits) - 1));
            if (round == 1 && n2 < 3) code = ones | (r() & 1 ? sign : 0);
            if (round == 2 && n2 < 4) code = n2 & 1 ? ones | 1 | (r() & 1 ? sign : 0) : ones;
            set_code(regs, dwords, n, int(r() % u64(values)), int(r() % 64), code);
          }
        };
        sprinkle(o.a, s.a_dwords(), s.a_values(), s.a);
        sprinkle(o.b, s.b_dwords(), s.b_values(), s.b);
        sprinkle(o.c, s.d_dwords(), s.d_values(), s.d);
        const auto want = elements_of(s, arch, o);
        const auto d = run(m, k, s, o);
        INFO("round " << round);
        compare(s, arch, d, want, false);
        // IEEE decides about NaN and infinity, whatever the order of the sum.
        for (const Element& e : want) {
          if (flushes(s, arch, e)) continue;  // infinity times what was flushed is a NaN
          const double x = number(s.d, code_at(d, s.d_dwords(), s.d, e.value, e.lane), ocp), y = product_sum(e);
          if (std::isnan(y) != std::isnan(x) || (std::isinf(y) && x != y)) {
            INFO(arch << " " << s.name << " " << e.value << " " << e.lane << ": " << x << " for " << y);
            REQUIRE(false);
          }
        }
      }
    }
  }
}

TEST_CASE("CDNA2 flushes f16 and bf16 denormals, the others keep them", "[mfma]") {
  for (const auto& arch : cdna) {
    const std::string spec = arch < "gfx942" && arch != "gfx90a" ? "f32_16x16x16f16" : arch == "gfx90a" ? "f32_16x16x16f16" : "f32_16x16x16_f16";
    const Shape s = shape_of(spec, "v_mfma_");
    Module m(arch, assemble(kernels_text(arch, {form(s, arch)}), arch));
    Operands o = random_operands(s, arch, 1);
    std::fill(o.a.begin(), o.a.end(), 0x00010001u);   // 2^-24, a denormal of f16
    std::fill(o.b.begin(), o.b.end(), 0x3c003c00u);   // 1
    std::fill(o.c.begin(), o.c.end(), 0x00000001u);   // a denormal of f32
    const auto d = run(m, 0, s, o);
    INFO(arch);
    if (arch == "gfx90a") REQUIRE(d == std::vector<u32>(d.size(), 0));
    else REQUIRE(d == std::vector<u32>(d.size(), 0x35800000u));  // 16 * 2^-24
  }
}

TEST_CASE("CDNA3 rounds a C that is far below the products down, not to nearest", "[mfma]") {
  for (const std::string arch : {"gfx942", "gfx950"}) {
    const Shape s = shape_of("f32_16x16x16_bf16", "v_mfma_");
    Module m(arch, assemble(kernels_text(arch, {form(s, arch)}), arch));
    Operands o = random_operands(s, arch, 1);
    // One product, 2^45 * 2^45, and C beyond any f32 that is scaled to it.
    std::fill(o.a.begin(), o.a.end(), 0u), std::fill(o.b.begin(), o.b.end(), 0x56005600u);
    for (int row = 0; row < 16; row++) set_code(o.a, s.a_dwords(), s.a, 0, row, 0x5600);
    for (const auto& [c, want] : {std::pair{0x8d800000u, 0x6c7fffffu}, {0x0d800000u, 0x6c800000u}, {0x80000001u, 0x6c7fffffu}, {0u, 0x6c800000u}}) {
      INFO(arch << " " << bits_text(c));
      std::fill(o.c.begin(), o.c.end(), c);
      REQUIRE(run(m, 0, s, o) == std::vector<u32>(o.c.size(), want));
    }
  }
}

TEST_CASE("f32 matrix instructions honour MODE's denormal bits", "[mfma]") {
  for (const auto& arch : cdna) {
    const bool old = arch == "gfx908" || arch == "gfx90a";
    const Shape s = shape_of(old ? "f32_4x4x1f32:16" : "f32_4x4x1_16b_f32", "v_mfma_");
    Form kept = form(s, arch), flushed = kept;
    flushed.denormals = false;
    Module m(arch, assemble(kernels_text(arch, {kept, flushed}), arch));
    Operands o = random_operands(s, arch, 1);
    std::fill(o.a.begin(), o.a.end(), 0x00400000u);  // 2^-127
    std::fill(o.b.begin(), o.b.end(), 0x3f800000u);
    std::fill(o.c.begin(), o.c.end(), 0x00800000u);  // 2^-126
    REQUIRE(run(m, 0, s, o) == std::vector<u32>(o.c.size(), 0x00c00000u));
    REQUIRE(run(m, 1, s, o) == std::vector<u32>(o.c.size(), 0x00800000u));
    std::fill(o.a.begin(), o.a.end(), 0x80a00000u);  // the result is a denormal: -2^-128
    REQUIRE(run(m, 0, s, o) == std::vector<u32>(o.c.size(), 0x80200000u));
    REQUIRE(run(m, 1, s, o) == std::vector<u32>(o.c.size(), 0x80000000u));
  }
}

TEST_CASE("f8f6f4: every pair of formats, plain and scaled", "[mfma]") {
  const std::string arch = "gfx950";
  std::vector<Form> forms;
  std::vector<Modifiers> modifiers;
  for (const Shape& shape : shapes_of(arch)) {
    if (!shape.formats) continue;
    for (int a = 0; a < 5; a++)
      for (int b = 0; b < 5; b++) {
        Form f = form(shape, arch);
        f.shape.a = formats[a], f.shape.b = formats[b];
        f.d_agpr = (a + b) % 2;
        Modifiers m;
        m.cbsz = a, m.blgp = b;
        if (shape.scaled) {
          m.scale_byte[0] = a % 4, m.scale_byte[1] = (a + b) % 4;
          auto list = [](int x, int y) { return "[" + std::to_string(x) + "," + std::to_string(y) + ",0]"; };
          f.modifiers = " op_sel:" + list(m.scale_byte[0] & 1, m.scale_byte[1] & 1) + " op_sel_hi:" + list(m.scale_byte[0] >> 1, m.scale_byte[1] >> 1);
        }
        f.modifiers += " cbsz:" + std::to_string(a) + " blgp:" + std::to_string(b);
        forms.push_back(f), modifiers.push_back(m);
      }
  }
  Module m(arch, assemble(kernels_text(arch, forms), arch));
  for (size_t k = 0; k < forms.size(); k++) {
    const Shape& s = forms[k].shape;
    Operands o = random_operands(s, arch, unsigned(k), 3);
    INFO(forms[k].modifiers);
    compare(s, arch, run(m, k, s, o), elements_of(s, arch, o, modifiers[k]));
    if (!s.scaled) continue;
    // Far apart scales; one of them NaN.
    std::mt19937_64 r(k);
    for (u32& x : o.x) x = 0x40404040 + (u32(r()) & 0x7f7f7f7f);
    o.x[6] = 0xffffffff;
    compare(s, arch, run(m, k, s, o), elements_of(s, arch, o, modifiers[k]), false);
  }
}

TEST_CASE("cbsz, abid and blgp move blocks of A and lanes of B", "[mfma]") {
  for (const auto& arch : cdna) {
    const bool old = arch == "gfx908" || arch == "gfx90a";
    std::vector<Form> forms;
    std::vector<Modifiers> modifiers;
    for (const Shape& s : shapes_of(arch)) {
      if (s.sparse) {
        const int sets = 32 / (2 * s.a_values());
        for (int abid = 0; abid < sets; abid++) {
          Form f = form(s, arch);
          f.modifiers = " abid:" + std::to_string(abid);
          Modifiers mod;
          mod.abid = abid;
          forms.push_back(f), modifiers.push_back(mod);
        }
        continue;
      }
      if (s.formats || s.a == Num::f64) continue;
      const bool permutes = old || s.blocks > 1 || s.a == Num::f32;
      if (!permutes) continue;
      for (int cbsz = 0; (1 << cbsz) <= s.blocks; cbsz++)
        for (int blgp = cbsz == 0 ? 0 : 7; blgp < 8; blgp++) {
          const int abid = (1 << cbsz) - 1 - (cbsz > 1 ? 1 : 0);
          Form f = form(s, arch);
          f.modifiers = " cbsz:" + std::to_string(cbsz) + " abid:" + std::to_string(abid) + " blgp:" + std::to_string(blgp);
          Modifiers mod;
          mod.cbsz = cbsz, mod.abid = abid, mod.blgp = blgp;
          forms.push_back(f), modifiers.push_back(mod);
        }
    }
    Module m(arch, assemble(kernels_text(arch, forms), arch));
    for (size_t k = 0; k < forms.size(); k++) {
      const Shape& s = forms[k].shape;
      const Operands o = random_operands(s, arch, unsigned(k));
      INFO(forms[k].modifiers);
      compare(s, arch, run(m, k, s, o), elements_of(s, arch, o, modifiers[k]));
    }
  }
}

TEST_CASE("f64: blgp negates on CDNA3", "[mfma]") {
  for (const std::string arch : {"gfx942", "gfx950"}) {
    std::vector<Form> forms;
    for (const char* spec : {"f64_16x16x4_f64", "f64_4x4x4_4b_f64"})
      for (int neg = 0; neg < 8; neg++) {
        Form f = form(shape_of(spec, "v_mfma_"), arch);
        f.modifiers = " neg:[" + std::to_string(neg & 1) + "," + std::to_string(neg >> 1 & 1) + "," + std::to_string(neg >> 2) + "]";
        forms.push_back(f);
      }
    Module m(arch, assemble(kernels_text(arch, forms), arch));
    for (size_t k = 0; k < forms.size(); k++) {
      const Operands o = random_operands(forms[k].shape, arch, unsigned(k));
      Modifiers mod;
      mod.blgp = int(k % 8);
      compare(forms[k].shape, arch, run(m, k, forms[k].shape, o), elements_of(forms[k].shape, arch, o, mod));
    }
  }
}

namespace {

struct Expect {
  Form form;
  std::string message;   // empty: runs clean
};
void expect_all(const std::string& arch, const std::vector<Expect>& cases) {
  std::vector<Form> forms;
  for (const Expect& e : cases) forms.push_back(e.form);
  Module m(arch, assemble(kernels_text(arch, forms), arch));
  for (size_t k = 0; k < cases.size(); k++) {
    const Shape& s = forms[k].shape;
    const Operands o = random_operands(s, arch, unsigned(k));
    Buffer<u32> a(o.a), b(o.b), c(o.c), x(o.x), d(std::vector<u32>(size_t(64 * s.d_dwords())));
    INFO(arch << " case " << k << " " << s.name << forms[k].modifiers << "\n" << forms[k].before);
    const hipError_t e = launch(m["k" + std::to_string(k)], {1}, {64}, 0, a, b, c, d, x);
    INFO(lathe_emulator_last_report());
    if (cases[k].message.empty()) {
      REQUIRE(e == hipSuccess);
    } else {
      REQUIRE(e == hipErrorLaunchFailure);
      REQUIRE_THAT(lathe_emulator_last_report(), Contains(cases[k].message));
    }
  }
}

}  // namespace

TEST_CASE("modifiers without meaning are refused", "[mfma]") {
  auto with = [](const char* spec, const char* modifiers, const std::string& arch) {
    Form f = form(shape_of(spec, "v_mfma_"), arch);
    f.modifiers = modifiers;
    return f;
  };
  expect_all("gfx908", {{with("f32_32x32x2f32", " cbsz:1", "gfx908"), "cbsz 1 has no meaning for V_MFMA_F32_32X32X2F32"},
                        {with("f32_32x32x1f32:2", " cbsz:2", "gfx908"), "cbsz 2 has no meaning"},
                        {with("f32_32x32x1f32:2", " cbsz:1 abid:2", "gfx908"), "abid 2 has no meaning"}});
  expect_all("gfx90a", {{with("f64_16x16x4f64", " blgp:1", "gfx90a"), "blgp 1 has no meaning"}});
  expect_all("gfx942", {{with("f32_32x32x8_f16", " blgp:1", "gfx942"), "blgp 1 has no meaning"}});
}

TEST_CASE("strict: an undefined element spoils its row, column or place, and no more", "[mfma][strict]") {
  const std::string lanes_below_32 = "  s_mov_b32 exec_lo, -1\n  s_mov_b32 exec_hi, 0\n", all_lanes = "  s_mov_b64 exec, -1\n";
  // Lanes of rows (columns) 0 to 7 of 16.
  const std::string half_of_rows = "  s_mov_b32 exec_lo, 0x00ff00ff\n  s_mov_b32 exec_hi, 0x00ff00ff\n";
  for (const auto& arch : cdna) {
    const bool old = arch == "gfx908" || arch == "gfx90a";
    const Shape s = shape_of(old ? "f32_16x16x16f16" : "f32_16x16x16_f16", "v_mfma_");
    std::string load_a = "  v_mul_u32_u24 v1, 8, v0\n  global_load_dwordx2 v[8:9], v1, s[8:9]\n  s_waitcnt vmcnt(0)\n";
    Form clean = form(s, arch);
    Form a = clean;  // A's rows 8 to 15 are not loaded; D has them in lanes 32 to 63
    a.load_a = false;
    a.before = half_of_rows + load_a + all_lanes;
    Form a_row = a;
    a_row.after = lanes_below_32;
    // B's columns 8 to 15: overwritten by a register nothing wrote.
    Form b = clean;
    b.before = "  s_mov_b32 exec_lo, 0xff00ff00\n  s_mov_b32 exec_hi, 0xff00ff00\n  v_mov_b32 v16, v90\n" + all_lanes;
    Form b_column = b;
    b_column.after = half_of_rows;
    // C's lanes 32 to 63, its second register only: register 1 of D there.
    Form c = clean;
    c.before = "  s_mov_b32 exec_lo, 0\n  s_mov_b32 exec_hi, -1\n";
    c.before += clean.d_agpr ? "  v_accvgpr_write_b32 a33, v90\n" : "  v_mov_b32 v33, v90\n";
    c.before += all_lanes;
    Form c_place = c;
    c_place.after = lanes_below_32;
    // EXEC does not matter to the instruction itself.
    Form exec = clean;
    exec.before = "  s_mov_b64 exec, 1\n";
    exec.after = all_lanes;
    Form pending = clean;
    pending.load_a = false;
    pending.before = "  v_mul_u32_u24 v1, 8, v0\n  global_load_dwordx2 v[8:9], v1, s[8:9]\n";
    Form overwritten = clean;
    overwritten.before = "  v_mul_u32_u24 v1, 8, v0\n  global_load_dwordx2 v[8:9], v1, s[8:9]\n  s_waitcnt vmcnt(0)\n";
    overwritten.before += old && arch == "gfx908" ? "" : "  global_load_dword v64, v1, s[8:9]\n";
    const std::string undefined = "undefined value reaches global memory";
    std::vector<Expect> cases = {{clean, ""}, {a, undefined}, {a_row, ""}, {b, undefined}, {b_column, ""}, {c, undefined}, {c_place, ""}, {exec, ""},
                                 {pending, "v8 is read before the wait that covers its load"}};
    if (arch != "gfx908") cases.push_back({overwritten, "v64 is overwritten before the wait that covers its load"});
    expect_all(arch, cases);
    Module m(arch, assemble(kernels_text(arch, {exec}), arch));
    const Operands o = random_operands(s, arch, 5);
    compare(s, arch, run(m, 0, s, o), elements_of(s, arch, o));
  }
}

TEST_CASE("strict: undefined sparse indices and scales, by the bits that are used", "[mfma][strict]") {
  const std::string lanes_below_32 = "  s_mov_b32 exec_lo, -1\n  s_mov_b32 exec_hi, 0\n", all_lanes = "  s_mov_b64 exec, -1\n";
  // Bits 15:8 of v6 become undefined in the lanes of rows 8 to 15.
  const std::string spoil = "  s_mov_b32 exec_lo, 0xff00ff00\n  s_mov_b32 exec_hi, 0xff00ff00\n  v_and_b32 v90, 0xff00, v90\n  v_or_b32 v6, v6, v90\n" + all_lanes;
  Form index = form(shape_of("f32_16x16x32_f16", "v_smfmac_"), "gfx942");
  index.before = spoil;
  index.modifiers = " abid:1";
  Form rows = index;
  rows.after = lanes_below_32;
  Form other = index;
  other.modifiers = " abid:2";
  expect_all("gfx942", {{index, "undefined value reaches global memory"}, {rows, ""}, {other, ""}});
  Form scale = form(shape_of("scale_f32_16x16x128_f8f6f4", "v_mfma_"), "gfx950");
  scale.before = spoil;
  scale.modifiers = " op_sel:[1,0,0] op_sel_hi:[0,0,0]";
  Form scale_rows = scale;
  scale_rows.after = lanes_below_32;
  Form scale_other = scale;
  scale_other.modifiers = " op_sel:[0,0,0] op_sel_hi:[0,0,0]";
  expect_all("gfx950", {{scale, "undefined value reaches global memory"}, {scale_rows, ""}, {scale_other, ""}});
}

TEST_CASE("strict: matrix operands beyond the registers of the descriptor", "[mfma][strict]") {
  for (const auto& arch : cdna) {
    const bool old = arch == "gfx908" || arch == "gfx90a", agpr = arch == "gfx908";
    const Shape s = shape_of(old ? "f32_16x16x16f16" : "f32_16x16x16_f16", "v_mfma_");
    const std::string cd = agpr ? "a[32:35]" : "v[32:35]";
    Form high = form(s, arch), crossing = high;
    // 96 VGPRs and, from there on, 96 AGPRs.
    high.before = "  s_nop 7\n  " + s.name + " " + (agpr ? "a[94:97]" : "a[94:97]") + ", v[8:9], v[16:17], " + (agpr ? "a[32:35]" : "a[32:35]") + "\n";
    crossing.before = "  s_nop 7\n  " + s.name + " " + cd + ", v[96:97], v[16:17], " + cd + "\n";
    expect_all(arch, {{high, "beyond the registers that the kernel descriptor allocates"}, {crossing, "beyond the registers that the kernel descriptor allocates"}});
  }
}

TEST_CASE("operands that silicon cannot take are refused", "[mfma]") {
  // LLVM's assembler refuses these too, so they are given as bits: v_mfma_f32_32x32x2f32, opcode 0x44 of VOP3P-MAI.
  auto raw = [](const std::string& arch, u32 d, u32 c) {
    Form f = form(shape_of(arch == "gfx942" ? "f32_32x32x2_f32" : "f32_32x32x2f32", "v_mfma_"), arch);
    const u64 bits = u64(0xd3c40000u | d) | u64(256 + 8) << 32 | u64(256 + 16) << 41 | u64(c) << 50;
    f.before = "  s_nop 7\n  .long " + std::to_string(u32(bits)) + ", " + std::to_string(u32(bits >> 32)) + "\n";
    return f;
  };
  expect_all("gfx908", {{raw("gfx908", 32, 242), "with a constant for C, which gfx908 reads wrongly"}, {raw("gfx908", 32, 256 + 32), ""}});
  expect_all("gfx942", {{raw("gfx942", 32, 242), ""}, {raw("gfx942", 32, 256 + 36), "C and D overlap in part"}});
}

TEST_CASE("scaled products of formats or operands that do not exist are no instruction", "[mfma]") {
  // LLVM's disassembler dies of these: formats past the last, an SGPR as A, B or C.
  Form f = form(shape_of("scale_f32_16x16x128_f8f6f4", "v_mfma_"), "gfx950");
  for (const char* second : {"0xd3ad8f4d, 0x04420d08", "0xd3ad884d, 0xa4420d08", "0xd3ad884d, 0x84420c08", "0xd3ad884d, 0x84400d08", "0xd3ad884d, 0x80b20d08"}) {
    f.before = std::string("  s_nop 7\n  .long 0xd3ac0000, 0x00020f06, ") + second + "\n";
    expect_all("gfx950", {{f, "are no instruction of this target"}});
  }
}

TEST_CASE("a short D may overlap C in part; v_accvgpr_mov", "[mfma]") {
  for (const std::string arch : {"gfx90a", "gfx942", "gfx950"}) {
    const Shape s = shape_of(arch == "gfx90a" ? "f32_16x16x4f32" : "f32_16x16x4_f32", "v_mfma_");
    Form f = form(s, arch);
    // D goes one register pair beside C, then to where D is stored from.
    f.before = "  s_nop 7\n  " + s.name + " v[34:37], v8, v16, v[32:35]\n  s_nop 15\n";
    f.after = "  v_mov_b32 v64, v34\n  v_mov_b32 v65, v35\n  v_mov_b32 v66, v36\n  v_mov_b32 v67, v37\n";
    Form moved = form(s, arch);
    moved.a_agpr = true;
    moved.before = "  v_accvgpr_mov_b32 a20, a8\n  v_accvgpr_write_b32 a8, 0\n  v_accvgpr_mov_b32 a8, a20\n";
    Module m(arch, assemble(kernels_text(arch, {f, moved}), arch));
    const Operands o = random_operands(s, arch, 9);
    for (size_t k = 0; k < 2; k++) compare(s, arch, run(m, k, s, o), elements_of(s, arch, o));
  }
}

TEST_CASE("counters know how long a matrix instruction takes", "[mfma][counters]") {
  struct Case { const char *arch, *spec, *mnemonic, *modifiers; int a, b; int cycles; };
  const Case cases[] = {{"gfx908", "f32_32x32x8f16", "v_mfma_", "", 0, 0, 64}, {"gfx90a", "f64_4x4x4f64:4", "v_mfma_", "", 0, 0, 16},
                        {"gfx942", "f32_32x32x8_f16", "v_mfma_", "", 0, 0, 32}, {"gfx942", "f32_4x4x4_16b_f16", "v_mfma_", "", 0, 0, 8},
                        {"gfx942", "i32_16x16x64_i8", "v_smfmac_", "", 0, 0, 16}, {"gfx950", "f64_16x16x4_f64", "v_mfma_", "", 0, 0, 64},
                        {"gfx950", "f32_16x16x128_f8f6f4", "v_mfma_", " cbsz:4 blgp:2", 4, 2, 16}, {"gfx950", "f32_16x16x128_f8f6f4", "v_mfma_", " cbsz:4 blgp:1", 4, 1, 32}};
  for (const Case& c : cases) {
    Form f = form(shape_of(c.spec, c.mnemonic), c.arch);
    f.modifiers = c.modifiers;
    if (f.shape.formats) f.shape.a = formats[c.a], f.shape.b = formats[c.b];
    Module m(c.arch, assemble(kernels_text(c.arch, {f}), c.arch));
    lathe_emulator_reset_counters();
    run(m, 0, f.shape, random_operands(f.shape, c.arch, 1));
    const std::string json = lathe_emulator_counters_json(), key = "\"matrix_cycles\": ";
    INFO(c.arch << " " << f.shape.name << f.modifiers);
    REQUIRE(json.find(key) != std::string::npos);
    REQUIRE(std::atoi(json.c_str() + json.find(key) + key.size()) == c.cycles);
  }
}

TEST_CASE("a tiled GEMM as clang compiles it from builtins", "[mfma]") {
  for (const auto& arch : cdna)
    for (const char* opt : {"-O0", "-O3"}) {
      INFO(arch << " " << opt);
      Module m(arch, compile_opencl("mfma.cl", arch, opt));
      int mm = 64, nn = 96, kk = 40;
      std::mt19937 r(3);
      std::vector<uint16_t> a(size_t(mm * kk)), b(size_t(kk * nn));
      auto half = [&] { return uint16_t(0x3800 + (r() & 0x7ff) + (r() & 1) * 0x8000); };  // 0.5 to 2, either sign
      for (auto& x : a) x = half();
      for (auto& x : b) x = half();
      Buffer<uint16_t> da(a), db(b);
      Buffer<float> dc(std::vector<float>(size_t(mm * nn)));
      ok(launch(m["gemm"], {unsigned(nn / 32), unsigned(mm / 32)}, {64}, 0, dc, da, db, nn, kk));
      const auto c = dc.get();
      for (int i = 0; i < mm; i++)
        for (int j = 0; j < nn; j++) {
          double sum = 0, size = 0;
          for (int k = 0; k < kk; k++) {
            const double x = number(Num::f16, a[size_t(i * kk + k)], true) * number(Num::f16, b[size_t(k * nn + j)], true);
            sum += x, size += std::fabs(x);
          }
          if (!(std::fabs(c[size_t(i * nn + j)] - sum) <= (kk + 3) * 0x1p-24 * size)) REQUIRE(c[size_t(i * nn + j)] == sum);
        }
      SUCCEED();
    }
}
