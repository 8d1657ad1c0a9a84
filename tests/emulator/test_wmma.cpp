// WMMA and SWMMAC against a product in double. Where elements stand is written down here once more, as the formulas
// of AMD's matrix instruction calculator and the ISA documents give them, apart from the emulator's own maps.
#include <catch2/catch.hpp>

#include <cmath>

#include "snippet.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

enum Type { F32, F16, BF16, FP8, BF8, FP6, BF6, FP4, I8, U8, I4, U4, I32 };
int bits(Type t) { return t == F32 || t == I32 ? 32 : t == F16 || t == BF16 ? 16 : t == FP8 || t == BF8 || t == I8 || t == U8 ? 8 : t == FP6 || t == BF6 ? 6 : 4; }
bool integer(Type t) { return t >= I8; }

double small_value(u32 code, int e_bits, int m_bits, int bias, bool infinities, bool one_nan) {
  const int e = int(code >> m_bits & ((1u << e_bits) - 1)), m = int(code & ((1u << m_bits) - 1)), top = (1 << e_bits) - 1;
  double x = e ? std::ldexp((1 << m_bits) + m, e - bias - m_bits) : std::ldexp(m, 1 - bias - m_bits);
  if (infinities && e == top) x = m ? NAN : INFINITY;
  if (one_nan && e == top && m == (1 << m_bits) - 1) x = NAN;
  return code >> (e_bits + m_bits) & 1 ? -x : x;
}
double value(Type t, u32 code) {
  switch (t) {
    case F32: return as_float(code);
    case F16: return half_value(code);
    case BF16: return bf16_value(code & 0xffff);
    case FP8: return small_value(code, 4, 3, 7, false, true);
    case BF8: return small_value(code, 5, 2, 15, true, false);
    case FP6: return small_value(code, 2, 3, 1, false, false);
    case BF6: return small_value(code, 3, 2, 3, false, false);
    case FP4: return small_value(code, 2, 1, 1, false, false);
    case I8: return int8_t(code);
    case U8: return code & 255;
    case I4: return i32(code << 28) >> 28;
    case U4: return code & 15;
    case I32: return i32(code);
  }
  return 0;
}
// The code of a small integer, for exact sums.
u32 code_of_integer(Type t, int x) {
  if (t == F32) return as_bits(float(x));
  if (t == F16) return half_bits(x);
  if (t == BF16) return as_bits(float(x)) >> 16;
  if (integer(t)) return u32(x) & (bits(t) == 32 ? ~0u : (1u << bits(t)) - 1);
  for (u32 c = 0; c < 1u << bits(t); c++)
    if (value(t, c) == x) return c;
  throw std::logic_error("no such code");
}

enum Generation { RDNA3, RDNA4, GFX1250 };
struct Case {
  Generation generation;
  std::string name;
  int m, k;
  Type a, b, c, d;
  bool sparse = false, tied = false;
  std::string modifiers = "";
  // What the modifiers mean.
  bool clamp = false, high_half = false;
  int negate_a_even = 0, negate_a_odd = 0, negate_b_even = 0, negate_b_odd = 0, negate_c = 0, abs_c = 0, index_set = 0;
};

struct At {
  int reg, bit, lane;
};

// A or B along k (of a sparse A: only `kept` counts), `i` the other coordinate. `kk` is the instruction's K.
At dense(const Case& c, int wave, Type t, int kk, int k, int i) {
  const int w = bits(t);
  auto in = [&](int slot, int group16, int group32 = 0) { return At{slot * w / 32, slot * w % 32, i + 16 * group16 + 32 * group32}; };
  if (c.generation == RDNA3) return in(k, 0);
  if (c.generation == GFX1250) {
    // 16 bytes, or 32 narrow elements, in turn for lanes 0-15 and 16-31; only scales and mixed formats can tell.
    const int piece = w == 8 ? 16 : w < 8 ? 32 : kk / 2;
    return in(k / (2 * piece) * piece + k % piece, k / piece % 2);
  }
  if (wave == 32) {
    if (w == 16) return {2 * (k / 8) + (k / 2) % 2, 16 * (k % 2), 16 * ((k / 4) % 2) + i};
    if (w == 8) return {(k / 4) % 2, 8 * (k % 4), 16 * (k / 8) + i};
    if (kk == 16) return {0, 4 * (k % 8), 16 * (k / 8) + i};
    return {(k / 8) % 2, 4 * (k % 8), 16 * (k / 16) + i};
  }
  if (w == 16) return {(k / 2) % 2, 16 * (k % 2), 32 * ((k / 8) % 2) + 16 * ((k / 4) % 2) + i};
  if (w == 8) return {0, 8 * (k % 4), 32 * ((k / 4) % 2) + 16 * ((k / 8) % 2) + i};
  if (kk == 16) return {0, 4 * (k % 8), 16 * (k / 8) + i};
  return {0, 4 * (k % 8), 32 * ((k / 8) % 2) + 16 * ((k / 16) % 2) + i};
}
// SWMMAC: the register and first bit of the two kept elements of k's group of four; their index bits; B.
bool wide_k(Type t, int kk) { return bits(t) * kk == 1024; }  // gfx1250's: 64 halves or 128 bytes
At sparse_a(int wave, Type t, int kk, int k, int i) {
  const int w = bits(t);
  if (wide_k(t, kk) && w == 16) return {(k / 4) % 4 + 4 * (k / 32), 0, 16 * ((k / 16) % 2) + i};
  if (wide_k(t, kk) && w == 8) return {(k / 8) % 4 + 4 * (k / 64), 16 * ((k / 4) % 2), 16 * ((k / 32) % 2) + i};
  if (w == 16) return wave == 32 ? At{2 * (k / 16) + (k / 4) % 2, 0, 16 * ((k / 8) % 2) + i} : At{(k / 4) % 2, 0, 16 * (k / 8) + i};
  if (w == 8) return wave == 32 ? At{(k / 8) % 2, 16 * ((k / 4) % 2), 16 * (k / 16) + i} : At{0, 16 * ((k / 4) % 2), 32 * ((k / 8) % 2) + 16 * (k / 16) + i};
  if (kk == 32) return {0, 8 * ((k / 4) % 4), 16 * (k / 16) + i};
  return wave == 32 ? At{(k / 16) % 2, 8 * ((k / 4) % 4), 16 * (k / 32) + i} : At{0, 8 * ((k / 4) % 4), 32 * ((k / 16) % 2) + 16 * (k / 32) + i};
}
At sparse_index(int wave, Type t, int kk, int k, int i) {
  const int w = bits(t);
  if (wide_k(t, kk) && w == 16) return {0, 4 * ((k / 4) % 4) + 16 * (k / 32), 16 * ((k / 16) % 2) + i};
  if (wide_k(t, kk) && w == 8) return {k / 64, 4 * ((k / 4) % 8), 16 * ((k / 32) % 2) + i};
  if (w == 16) return wave == 32 ? At{0, 8 * (k / 16) + 4 * ((k / 4) % 2), 16 * ((k / 8) % 2) + i} : At{0, 4 * ((k / 4) % 2), 16 * (k / 8) + i};
  if (w == 8) return wave == 32 ? At{0, 4 * ((k / 4) % 4), 16 * (k / 16) + i} : At{0, 4 * ((k / 4) % 2), 32 * ((k / 8) % 2) + 16 * (k / 16) + i};
  if (kk == 32) return {0, 4 * ((k / 4) % 4), 16 * (k / 16) + i};
  return wave == 32 ? At{0, 4 * ((k / 4) % 8), 16 * (k / 32) + i} : At{0, 4 * ((k / 4) % 4), 32 * ((k / 16) % 2) + 16 * (k / 32) + i};
}
int index_set_bits(int wave, Type t, int kk) {
  if (bits(t) == 4) return kk == 64 && wave == 32 ? 32 : 16;
  return wave == 32 ? 16 : 8;
}
At sparse_b(int wave, Type t, int kk, int k, int j) {
  const int w = bits(t);
  if (wide_k(t, kk) && w == 16) return {(k / 2) % 8 + 8 * (k / 32), 16 * (k % 2), 16 * ((k / 16) % 2) + j};
  if (wide_k(t, kk) && w == 8) return {(k / 4) % 8 + 8 * (k / 64), 8 * (k % 4), 16 * ((k / 32) % 2) + j};
  if (w == 16) return wave == 32 ? At{4 * (k / 16) + (k / 2) % 4, 16 * (k % 2), 16 * ((k / 8) % 2) + j} : At{(k / 2) % 4, 16 * (k % 2), 16 * (k / 8) + j};
  if (w == 8) return wave == 32 ? At{(k / 4) % 4, 8 * (k % 4), 16 * (k / 16) + j} : At{(k / 4) % 2, 8 * (k % 4), 32 * ((k / 8) % 2) + 16 * (k / 16) + j};
  if (kk == 32) return wave == 32 ? At{(k / 8) % 2, 4 * (k % 8), 16 * (k / 16) + j} : At{0, 4 * (k % 8), 32 * ((k / 8) % 2) + 16 * (k / 16) + j};
  return wave == 32 ? At{(k / 8) % 4, 4 * (k % 8), 16 * (k / 32) + j} : At{(k / 8) % 2, 4 * (k % 8), 32 * ((k / 16) % 2) + 16 * (k / 32) + j};
}
// C and D.
At result(const Case& c, int wave, Type t, int i, int j) {
  if (c.generation == RDNA3) {
    const int rows = wave / 16;
    return {i / rows, bits(t) == 16 && c.high_half ? 16 : 0, 16 * (i % rows) + j};
  }
  const int tile = i / 16, r = i % 16;
  if (wave == 32) {
    if (bits(t) == 16) return {(r / 2) % 4, 16 * (r % 2), 16 * (r / 8) + j};
    return {8 * tile + r % 8, 0, 16 * (r / 8) + j};
  }
  if (bits(t) == 16) return {(r / 2) % 2, 16 * (r % 2), 32 * ((r / 4) % 2) + 16 * (r / 8) + j};
  return {r % 4, 0, 32 * ((r / 4) % 2) + 16 * (r / 8) + j};
}

struct Sizes {
  int a, b, c, d, index;
};
Sizes sizes(const Case& c, int wave) {
  Sizes s{};
  const int replicas = c.generation == RDNA3 ? wave / 16 : 1;
  auto regs = [&](int elements, Type t) { return std::max(1, elements * bits(t) / (32 * wave)); };
  s.a = regs(c.m * (c.sparse ? c.k / 2 : c.k) * replicas, c.a), s.b = regs(16 * c.k * replicas, c.b);
  const bool halves = c.generation == RDNA3 && bits(c.d) == 16;
  s.c = halves ? 256 / wave : regs(c.m * 16, c.c), s.d = halves ? 256 / wave : regs(c.m * 16, c.d);
  s.index = c.generation == GFX1250 && bits(c.a) == 8 ? 2 : 1;
  return s;
}

struct Problem {
  std::vector<u32> a, b, c, index;          // codes: a[m][k] dense (sparse: zero where not kept), b[k][n], c[m][n]
  std::vector<u32> scale_a, scale_b;        // per row and block, empty: none
};

void put(std::vector<u32>& rows, int total, int first, At at, int width, u32 code) {
  const u32 mask = width == 32 ? ~0u : (1u << width) - 1;
  auto set = [&](int reg, int shift, u32 bits_, u32 m) {
    u32& x = rows[size_t(at.lane) * total + first + reg];
    x = (x & ~(m << shift)) | (bits_ << shift);
  };
  code &= mask;
  const int over = at.bit + width - 32;
  if (over > 0) {
    set(at.reg, at.bit, code & ((1u << (width - over)) - 1), (1u << (width - over)) - 1);
    set(at.reg + 1, 0, code >> (width - over), (1u << over) - 1);
  } else {
    set(at.reg, at.bit, code, mask);
  }
}

// Operand order of the rows: A, B, then C, or index and C (the last is tied where the case says so), then scales.
std::vector<u32> lay_out(const Case& c, int wave, const Problem& p, std::mt19937& r) {
  const Sizes s = sizes(c, wave);
  const int scales = p.scale_a.empty() ? 0 : p.scale_a.size() > size_t(c.m * 4) ? 2 : 1;
  const int at_b = s.a, at_index = s.a + s.b, at_c = at_index + (c.sparse ? s.index : 0), at_scale = at_c + s.c, total = at_scale + 2 * scales;
  std::vector<u32> rows(size_t(wave) * total);
  for (auto& x : rows) x = r();
  const int replicas = c.generation == RDNA3 ? wave / 16 : 1;
  for (int i = 0; i < c.m; i++)
    for (int k = 0; k < c.k; k++) {
      const u32 code = p.a[i * c.k + k];
      if (c.sparse) {
        const int slot = p.index[i * c.k + k];  // 0 or 1 where kept, else 2
        if (slot == 2) continue;
        At at = sparse_a(wave, c.a, c.k, k, i);
        at.bit += slot * bits(c.a);
        put(rows, total, 0, at, bits(c.a), code);
        At ix = sparse_index(wave, c.a, c.k, k, i);
        ix.bit += 2 * slot + c.index_set * index_set_bits(wave, c.a, c.k);
        put(rows, total, at_index, ix, 2, u32(k % 4));
        continue;
      }
      for (int g = 0; g < replicas; g++) {
        At at = dense(c, wave, c.a, c.k, k, i % 16);
        at.reg += i / 16 * (s.a / (c.m / 16));
        at.lane += 16 * g;
        put(rows, total, 0, at, bits(c.a), code);
      }
    }
  for (int k = 0; k < c.k; k++)
    for (int j = 0; j < 16; j++)
      for (int g = 0; g < replicas; g++) {
        At at = c.sparse ? sparse_b(wave, c.b, c.k, k, j) : dense(c, wave, c.b, c.k, k, j);
        at.lane += 16 * g;
        put(rows, total, at_b, at, bits(c.b), p.b[k * 16 + j]);
      }
  for (int i = 0; i < c.m; i++)
    for (int j = 0; j < 16; j++) put(rows, total, at_c, result(c, wave, c.c, i, j), bits(c.c), p.c[i * 16 + j]);
  if (scales) {
    const int blocks = scales * 4;
    for (int i = 0; i < c.m; i++)
      for (int q = 0; q < blocks; q++) put(rows, total, at_scale, {q / 4, 8 * (q % 4), i}, 8, p.scale_a[i * blocks + q]);
    for (int j = 0; j < 16; j++)
      for (int q = 0; q < blocks; q++) put(rows, total, at_scale + scales, {q / 4, 8 * (q % 4), j}, 8, p.scale_b[j * blocks + q]);
  }
  return rows;
}

Snippet snippet(const Case& c, int wave, const std::string& kernel, int scales) {
  const Sizes s = sizes(c, wave);
  Snippet k;
  k.name = kernel, k.out = s.d, k.tied = c.tied || c.sparse;
  k.in = {s.a, s.b};
  if (c.sparse) k.in.push_back(s.index), k.in.push_back(s.d);
  else k.in.push_back(s.c);
  k.text = "v_" + c.name + " %0, %1, %2, " + (c.sparse ? "%3" : c.tied ? "%0" : "%3");
  if (scales) k.in.push_back(scales), k.in.push_back(scales), k.text += ", %4, %5";
  k.text += " " + c.modifiers;
  // LLVM does not see into inline assembly: what has to stand between WMMA and VALU on gfx1250 stands here.
  if (c.generation == GFX1250) k.text += "\\nv_nop\\nv_nop\\nv_nop\\nv_nop\\nv_nop\\nv_nop\\nv_nop\\nv_nop";
  return k;
}

Problem random_problem(const Case& c, std::mt19937& r, bool exact) {
  Problem p;
  auto number = [&](Type t, bool accumulator) -> u32 {
    if (integer(t)) return accumulator && !exact && r() % 2 ? (r() % 2 ? 0x7fffffffu - r() % 100000 : 0x80000000u + r() % 100000) : accumulator ? u32(i32(r()) % 10000) : r();
    if (exact) return code_of_integer(t, accumulator ? int(r() % 9) - 4 : int(r() % 5) - 2);
    if (t == F32) return as_bits(std::ldexp(float(i32(r())), -31));
    if (t == F16) return half_bits(std::ldexp(double(i32(r())), -31));
    if (t == BF16) return as_bits(std::ldexp(float(i32(r())), -31)) >> 16;
    while (true) {  // small formats: every finite code, or what a sum in f16 can hold
      const u32 code = r() & ((1u << bits(t)) - 1);
      if (std::isfinite(value(t, code)) && (c.d != F16 || std::fabs(value(t, code)) <= 4)) return code;
    }
  };
  p.a.resize(c.m * c.k), p.b.resize(c.k * 16), p.c.resize(c.m * 16), p.index.assign(c.m * c.k, 2);
  for (auto& x : p.a) x = number(c.a, false);
  for (auto& x : p.b) x = number(c.b, false);
  for (auto& x : p.c) x = number(c.c, true);
  if (c.sparse)
    for (int i = 0; i < c.m; i++)
      for (int g = 0; g < c.k; g += 4) {
        const int first = int(r() % 3), second = first + 1 + int(r() % (3 - first));
        for (int k = 0; k < 4; k++) p.index[i * c.k + g + k] = k == first ? 0 : k == second ? 1 : 2;
      }
  return p;
}

struct Expected {
  double value, magnitude;  // sum, and sum of absolute values
  long long whole;
};
Expected expected(const Case& c, const Problem& p, int i, int j) {
  Expected e{};
  double x = value(c.c, p.c[i * 16 + j]);
  if (c.abs_c) x = std::fabs(x);
  if (c.negate_c) x = -x;
  e.value = x, e.magnitude = std::fabs(x), e.whole = i32(p.c[i * 16 + j]);
  const int blocks = p.scale_a.empty() ? 0 : int(p.scale_a.size()) / c.m;
  for (int k = 0; k < c.k; k++) {
    if (c.sparse && p.index[i * c.k + k] == 2) continue;
    double a = value(c.a, p.a[i * c.k + k]), b = value(c.b, p.b[k * 16 + j]);
    // NEG is by register half: of a sparse A by the kept element's place.
    const bool a_odd = c.sparse ? p.index[i * c.k + k] == 1 : k % 2;
    if (a_odd ? c.negate_a_odd : c.negate_a_even) a = -a;
    if (k % 2 ? c.negate_b_odd : c.negate_b_even) b = -b;
    double product = a * b;
    if (blocks) product *= std::ldexp(1.0, int(p.scale_a[i * blocks + k / (c.k / blocks)]) - 127) * std::ldexp(1.0, int(p.scale_b[j * blocks + k / (c.k / blocks)]) - 127);
    e.value += product, e.magnitude += std::fabs(product);
    if (integer(c.a)) e.whole += (long long)a * (long long)b;
  }
  return e;
}

// Bound of a sum of n products and C, each sum rounded to a format of `digits` bits.
double bound(const Case& c, const Expected& e, bool rounds_once) {
  auto unit = [](Type t) { return std::ldexp(1.0, t == F32 ? -24 : t == F16 ? -11 : -8); };
  const double least = c.d == F16 ? std::ldexp(1.0, -25) : 0;  // half the smallest denormal
  if (c.d == F32) return (c.k + 1) * unit(F32) * e.magnitude;
  if (rounds_once) return (c.k + 1) * unit(F32) * e.magnitude + unit(c.d) * e.magnitude + least;
  return 1.01 * (c.k + 1) * (unit(c.d) * e.magnitude + least);
}

std::string arch_flags(const std::string& arch, int wave) { return wave == 64 && arch.substr(0, 4) == "gfx1" ? "-O1 -mwavefrontsize64" : "-O1"; }
std::vector<std::string> archs(Generation g) {
  return g == RDNA3 ? std::vector<std::string>{"gfx1100"} : g == RDNA4 ? std::vector<std::string>{"gfx1200", "gfx1201"} : std::vector<std::string>{"gfx1250"};
}
std::vector<int> waves(Generation g) { return g == GFX1250 ? std::vector<int>{32} : std::vector<int>{32, 64}; }

std::vector<Case> all_cases() {
  std::vector<Case> v;
  const std::string k16 = "_16x16x16_", k32 = "_16x16x32_", k64 = "_16x16x64_", k128 = "_16x16x128_";
  for (Generation g : {RDNA3, RDNA4}) {
    v.push_back({g, "wmma_f32" + k16 + "f16", 16, 16, F16, F16, F32, F32});
    v.push_back({g, "wmma_f32" + k16 + "bf16", 16, 16, BF16, BF16, F32, F32});
    v.push_back({g, "wmma_f16" + k16 + "f16", 16, 16, F16, F16, F16, F16, false, true});
    v.push_back({g, "wmma_bf16" + k16 + "bf16", 16, 16, BF16, BF16, BF16, BF16, false, true});
    for (int width : {8, 4}) {
      const Type s = width == 8 ? I8 : I4, u = width == 8 ? U8 : U4;
      const std::string n = width == 8 ? "iu8" : "iu4";
      v.push_back({g, "wmma_i32" + k16 + n, 16, 16, u, u, I32, I32});
      v.push_back({g, "wmma_i32" + k16 + n, 16, 16, s, u, I32, I32, false, true, "neg_lo:[1,0,0]"});
      v.push_back({g, "wmma_i32" + k16 + n, 16, 16, u, s, I32, I32, false, false, "neg_lo:[0,1,0] clamp", true});
      v.push_back({g, "wmma_i32" + k16 + n, 16, 16, s, s, I32, I32, false, false, "neg_lo:[1,1,0] clamp", true});
    }
    Case n{g, "wmma_f32" + k16 + "f16", 16, 16, F16, F16, F32, F32, false, false, "neg_lo:[1,0,1] neg_hi:[0,1,1]"};
    n.negate_a_even = n.negate_b_odd = n.negate_c = n.abs_c = 1;
    v.push_back(n);
    n.name = "wmma_f32" + k16 + "bf16", n.a = n.b = BF16, n.modifiers = "neg_lo:[0,1,1] neg_hi:[1,0,0]";
    n.negate_a_even = n.negate_b_odd = n.abs_c = 0, n.negate_b_even = n.negate_a_odd = n.negate_c = 1;
    v.push_back(n);
  }
  for (Type t : {F16, BF16}) {  // RDNA3: the high halves of C and D
    const std::string n = t == F16 ? "f16" : "bf16";
    Case c{RDNA3, "wmma_" + n + k16 + n, 16, 16, t, t, t, t, false, true, "op_sel:[0,0,1]"};
    c.high_half = true;
    v.push_back(c);
  }
  v.push_back({RDNA4, "wmma_i32" + k32 + "iu4", 16, 32, I4, U4, I32, I32, false, false, "neg_lo:[1,0,0]"});
  const std::pair<std::string, std::pair<Type, Type>> eights[] = {{"fp8_fp8", {FP8, FP8}}, {"fp8_bf8", {FP8, BF8}}, {"bf8_fp8", {BF8, FP8}}, {"bf8_bf8", {BF8, BF8}}};
  for (const auto& [n, t] : eights) {
    v.push_back({RDNA4, "wmma_f32" + k16 + n, 16, 16, t.first, t.second, F32, F32});
    v.push_back({RDNA4, "swmmac_f32" + k32 + n, 16, 32, t.first, t.second, F32, F32, true});
  }
  v.push_back({RDNA4, "swmmac_f32" + k32 + "f16", 16, 32, F16, F16, F32, F32, true});
  v.push_back({RDNA4, "swmmac_f32" + k32 + "bf16", 16, 32, BF16, BF16, F32, F32, true});
  v.push_back({RDNA4, "swmmac_f16" + k32 + "f16", 16, 32, F16, F16, F16, F16, true});
  v.push_back({RDNA4, "swmmac_bf16" + k32 + "bf16", 16, 32, BF16, BF16, BF16, BF16, true});
  v.push_back({RDNA4, "swmmac_i32" + k32 + "iu8", 16, 32, I8, U8, I32, I32, true, true, "neg_lo:[1,0,0]"});
  v.push_back({RDNA4, "swmmac_i32" + k32 + "iu8", 16, 32, U8, I8, I32, I32, true, true, "neg_lo:[0,1,0] clamp", true});
  v.push_back({RDNA4, "swmmac_i32" + k32 + "iu4", 16, 32, I4, I4, I32, I32, true, true, "neg_lo:[1,1,0]"});
  v.push_back({RDNA4, "swmmac_i32" + k64 + "iu4", 16, 64, U4, I4, I32, I32, true, true, "neg_lo:[0,1,0]"});
  for (int set : {1, 2, 3}) {
    Case c{RDNA4, "swmmac_f32" + k32 + "f16", 16, 32, F16, F16, F32, F32, true, true, "index_key:" + std::to_string(set)};
    c.index_set = set;
    v.push_back(c);
    c.name = "swmmac_f32" + k32 + "bf8_fp8", c.a = BF8, c.b = FP8;
    v.push_back(c);
  }
  Case s{RDNA4, "swmmac_f32" + k32 + "f16", 16, 32, F16, F16, F32, F32, true, true, "neg_lo:[1,0,0] neg_hi:[0,1,0]"};
  s.negate_a_even = s.negate_b_odd = 1;
  v.push_back(s);

  const Generation g = GFX1250;
  v.push_back({g, "wmma_f32_16x16x4_f32", 16, 4, F32, F32, F32, F32});
  v.push_back({g, "wmma_f32" + k32 + "f16", 16, 32, F16, F16, F32, F32});
  v.push_back({g, "wmma_f32" + k32 + "bf16", 16, 32, BF16, BF16, F32, F32});
  v.push_back({g, "wmma_f16" + k32 + "f16", 16, 32, F16, F16, F16, F16});
  v.push_back({g, "wmma_bf16" + k32 + "bf16", 16, 32, BF16, BF16, BF16, BF16});
  v.push_back({g, "wmma_bf16f32" + k32 + "bf16", 16, 32, BF16, BF16, F32, BF16});
  v.push_back({g, "wmma_i32" + k64 + "iu8", 16, 64, I8, U8, I32, I32, false, false, "neg_lo:[1,0,0]"});
  v.push_back({g, "wmma_i32" + k64 + "iu8", 16, 64, I8, I8, I32, I32, false, false, "neg_lo:[1,1,0] clamp", true});
  for (const auto& [n, t] : eights)
    for (const std::string& shape : {k64, k128})
      for (Type d : {F32, F16}) v.push_back({g, std::string("wmma_") + (d == F32 ? "f32" : "f16") + shape + n, 16, shape == k64 ? 64 : 128, t.first, t.second, d, d});
  const std::pair<std::string, Type> formats[] = {{"FP8", FP8}, {"BF8", BF8}, {"FP6", FP6}, {"BF6", BF6}, {"FP4", FP4}};
  for (const auto& [na, ta] : formats)
    for (const auto& [nb, tb] : formats)
      v.push_back({g, "wmma_f32" + k128 + "f8f6f4", 16, 128, ta, tb, F32, F32, false, false, "matrix_a_fmt:MATRIX_FMT_" + na + " matrix_b_fmt:MATRIX_FMT_" + nb});
  for (Type d : {F32, F16}) {
    const std::string s = d == F32 ? "swmmac_f32" : "swmmac_f16";
    v.push_back({g, s + k64 + "f16", 16, 64, F16, F16, d, d, true});
    for (const auto& [n, t] : eights) v.push_back({g, s + k128 + n, 16, 128, t.first, t.second, d, d, true});
  }
  v.push_back({g, "swmmac_f32" + k64 + "bf16", 16, 64, BF16, BF16, F32, F32, true});
  v.push_back({g, "swmmac_bf16" + k64 + "bf16", 16, 64, BF16, BF16, BF16, BF16, true});
  v.push_back({g, "swmmac_i32" + k128 + "iu8", 16, 128, I8, U8, I32, I32, true, true, "neg_lo:[1,0,0]"});
  v.push_back({g, "wmma_f32_32x16x128_f4", 32, 128, FP4, FP4, F32, F32});
  return v;
}

// What LLVM refuses: index keys beyond the sets that a register holds.
bool legal(const Case& c, int wave) { return c.index_set * index_set_bits(wave, c.a, c.k) < 32; }

void compare(const Case& c, int wave, const Problem& p, const std::vector<u32>& out, const std::vector<u32>& rows, int total, int c_at, bool exact) {
  const int n = sizes(c, wave).d;
  for (int i = 0; i < c.m; i++)
    for (int j = 0; j < 16; j++) {
      const At at = result(c, wave, c.d, i, j);
      const u32 word = out[size_t(at.lane) * n + at.reg], code = bits(c.d) == 32 ? word : word >> at.bit & 0xffff;
      const Expected e = expected(c, p, i, j);
      INFO("D[" << i << "][" << j << "] is " << value(c.d, code) << ", not " << e.value);
      if (integer(c.d)) {
        const long long want = c.clamp ? std::max(-0x80000000ll, std::min(e.whole, 0x7fffffffll)) : (long long)i32(u32(e.whole));
        if (i32(code) != want) REQUIRE(i32(code) == want);
        continue;
      }
      const double got = value(c.d, code);
      if (exact) {
        if (got != e.value) REQUIRE(got == e.value);
      } else if (!(std::fabs(got - e.value) <= bound(c, e, c.generation == GFX1250))) {
        REQUIRE(std::fabs(got - e.value) <= bound(c, e, c.generation == GFX1250));
      }
      // RDNA3 keeps the other half of each register.
      if (c.generation == RDNA3 && bits(c.d) == 16 && c.tied) {
        const u32 other = c.high_half ? 0xffff : 0xffff0000u;
        if ((word & other) != (rows[size_t(at.lane) * total + c_at + at.reg] & other)) REQUIRE((word & other) == (rows[size_t(at.lane) * total + c_at + at.reg] & other));
      }
    }
}

}  // namespace

TEST_CASE("WMMA and SWMMAC agree with a product in double", "[wmma]") {
  const auto cases = all_cases();
  for (Generation g : {RDNA3, RDNA4, GFX1250})
    for (const auto& arch : archs(g))
      for (int wave : waves(g)) {
        if (arch == "gfx1200" && wave == 64) continue;  // the same decoder tables as gfx1201's
        INFO(arch << " wave" << wave);
        std::vector<Snippet> snippets;
        std::vector<const Case*> chosen;
        for (const Case& c : cases)
          if (c.generation == g && legal(c, wave)) {
            chosen.push_back(&c);
            snippets.push_back(snippet(c, wave, "k" + std::to_string(snippets.size()), 0));
          }
        Module m(arch, compile_opencl_text(snippet_source(snippets), arch, arch_flags(arch, wave)));
        std::mt19937 r(5);
        for (size_t q = 0; q < chosen.size(); q++) {
          const Case& c = *chosen[q];
          INFO(snippets[q].text);
          for (int round = 0; round < 3; round++) {
            const bool exact = round == 0 && !integer(c.d);
            // 64 work-items: one wave of 64, or two of 32 with problems of their own.
            std::vector<Problem> problems;
            std::vector<u32> rows;
            for (int w = 0; w < 64 / wave; w++) {
              problems.push_back(random_problem(c, r, exact));
              const auto part = lay_out(c, wave, problems.back(), r);
              rows.insert(rows.end(), part.begin(), part.end());
            }
            const auto out = run_snippet(m, snippets[q], rows);
            const int total = int(rows.size()) / 64;
            for (int w = 0; w < 64 / wave; w++) {
              const std::vector<u32> own(out.begin() + w * wave * snippets[q].out, out.begin() + (w + 1) * wave * snippets[q].out);
              const std::vector<u32> in(rows.begin() + w * wave * total, rows.begin() + (w + 1) * wave * total);
              compare(c, wave, problems[w], own, in, total, total - sizes(c, wave).c, exact);
            }
          }
          SUCCEED();
        }
      }
}

TEST_CASE("WMMA with a scale per block of 32 or 16", "[wmma]") {
  const std::pair<std::string, Type> formats[] = {{"FP8", FP8}, {"BF8", BF8}, {"FP6", FP6}, {"BF6", BF6}, {"FP4", FP4}};
  std::vector<Case> cases;
  for (const auto& [na, ta] : formats)
    for (const auto& [nb, tb] : formats)
      for (const std::string& n : {std::string("wmma_scale_"), std::string("wmma_scale16_")})
        cases.push_back({GFX1250, n + "f32_16x16x128_f8f6f4", 16, 128, ta, tb, F32, F32, false, false, "matrix_a_fmt:MATRIX_FMT_" + na + " matrix_b_fmt:MATRIX_FMT_" + nb});
  cases.push_back({GFX1250, "wmma_scale_f32_32x16x128_f4", 32, 128, FP4, FP4, F32, F32});
  cases.push_back({GFX1250, "wmma_scale16_f32_32x16x128_f4", 32, 128, FP4, FP4, F32, F32});
  std::vector<Snippet> snippets;
  for (const Case& c : cases) snippets.push_back(snippet(c, 32, "k" + std::to_string(snippets.size()), c.name.find("scale16") != std::string::npos ? 2 : 1));
  Module m("gfx1250", compile_opencl_text(snippet_source(snippets), "gfx1250", "-O1"));
  std::mt19937 r(6);
  for (size_t q = 0; q < cases.size(); q++) {
    const Case& c = cases[q];
    const int blocks = 4 * snippets[q].in.back();
    INFO(snippets[q].text);
    std::vector<Problem> problems;
    std::vector<u32> rows;
    for (int w = 0; w < 2; w++) {
      Problem p = random_problem(c, r, false);
      p.scale_a.resize(c.m * blocks), p.scale_b.resize(16 * blocks);
      for (auto& x : p.scale_a) x = 117 + r() % 21;
      for (auto& x : p.scale_b) x = 117 + r() % 21;
      const auto part = lay_out(c, 32, p, r);
      rows.insert(rows.end(), part.begin(), part.end());
      problems.push_back(p);
    }
    const auto out = run_snippet(m, snippets[q], rows);
    for (int w = 0; w < 2; w++)
      compare(c, 32, problems[w], {out.begin() + w * 32 * snippets[q].out, out.begin() + (w + 1) * 32 * snippets[q].out}, {}, 0, 0, false);
    SUCCEED();
  }
}

TEST_CASE("WMMA takes inline constants as C", "[wmma]") {
  for (Generation g : {RDNA3, RDNA4, GFX1250})
    for (int wave : waves(g)) {
      const std::string arch = archs(g).back(), shape = g == GFX1250 ? "_16x16x32_" : "_16x16x16_";
      const int k = g == GFX1250 ? 32 : 16;
      INFO(arch << " wave" << wave);
      struct Constant {
        Case c;
        const char* text;
        u32 code;
      };
      const Constant constants[] = {{{g, "wmma_f32" + shape + "f16", 16, k, F16, F16, F32, F32}, "-4.0", as_bits(-4.0f)},
                                    {{g, "wmma_f16" + shape + "f16", 16, k, F16, F16, F16, F16}, "0.5", half_bits(0.5)},
                                    {{g, "wmma_bf16" + shape + "bf16", 16, k, BF16, BF16, BF16, BF16}, "2.0", 0x4000},
                                    {{g, g == GFX1250 ? "wmma_i32_16x16x64_iu8" : "wmma_i32" + shape + "iu8", 16, g == GFX1250 ? 64 : 16, U8, U8, I32, I32}, "-7", u32(-7)}};
      std::vector<Snippet> snippets;
      for (const auto& [c, text, code] : constants) {
        Snippet s = snippet(c, wave, "k" + std::to_string(snippets.size()), 0);
        s.in.resize(2), s.text = "v_" + c.name + " %0, %1, %2, " + text;
        snippets.push_back(s);
      }
      Module m(arch, compile_opencl_text(snippet_source(snippets), arch, arch_flags(arch, wave)));
      std::mt19937 r(13);
      for (size_t q = 0; q < snippets.size(); q++) {
        const Case& c = constants[q].c;
        INFO(snippets[q].text);
        Problem p = random_problem(c, r, true);
        for (auto& x : p.c) x = constants[q].code;
        const auto full = lay_out(c, wave, p, r);
        const size_t total = full.size() / wave, own = snippets[q].in[0] + snippets[q].in[1];
        std::vector<u32> rows;
        for (int lane = 0; lane < 64; lane++) rows.insert(rows.end(), full.begin() + lane % wave * total, full.begin() + lane % wave * total + own);
        const auto out = run_snippet(m, snippets[q], rows);
        compare(c, wave, p, {out.begin(), out.begin() + wave * snippets[q].out}, {}, 0, 0, !integer(c.d));
      }
    }
}

TEST_CASE("WMMA: infinities, NaNs and denormals", "[wmma]") {
  for (Generation g : {RDNA3, RDNA4})
    for (int wave : waves(g)) {
      const std::string arch = archs(g).back();
      INFO(arch << " wave" << wave);
      const Case half{g, "wmma_f32_16x16x16_f16", 16, 16, F16, F16, F32, F32}, brain{g, "wmma_f32_16x16x16_bf16", 16, 16, BF16, BF16, F32, F32};
      const std::vector<Snippet> snippets = {snippet(half, wave, "half_", 0), snippet(brain, wave, "brain", 0)};
      Module m(arch, compile_opencl_text(snippet_source(snippets), arch, arch_flags(arch, wave)));
      lathe_emulator_reset_counters();
      for (size_t q = 0; q < 2; q++) {
        const Case& c = q ? brain : half;
        const u32 inf = q ? 0x7f80 : 0x7c00, nan = q ? 0x7fc0 : 0x7e00;
        std::mt19937 r(9);
        Problem p = random_problem(c, r, true);
        p.a[0 * 16 + 3] = inf, p.a[1 * 16 + 5] = inf | 0x8000, p.a[2 * 16 + 7] = nan, p.b[9 * 16 + 4] = inf, p.b[2 * 16 + 6] = nan;
        p.c[5 * 16 + 5] = 0x7f800000, p.c[6 * 16 + 6] = 0x7fc00000, p.c[7 * 16 + 7] = 0xff800000;
        std::vector<u32> rows;
        for (int w = 0; w < 64 / wave; w++) {
          const auto part = lay_out(c, wave, p, r);
          rows.insert(rows.end(), part.begin(), part.end());
        }
        const auto out = run_snippet(m, snippets[q], rows);
        int infinite = 0, nans = 0;
        for (int i = 0; i < 16; i++)
          for (int j = 0; j < 16; j++) {
            const At at = result(c, wave, F32, i, j);
            const double got = as_float(out[size_t(at.lane) * snippets[q].out + at.reg]), want = expected(c, p, i, j).value;
            INFO("D[" << i << "][" << j << "] is " << got << ", not " << want);
            REQUIRE((got == want || (got != got && want != want)));
            infinite += std::isinf(want), nans += want != want;
          }
        REQUIRE(infinite > 10);
        REQUIRE(nans > 30);
      }
      // Two products, each by one wave of 64 or two of 32.
      const int waves_run = 2 * 64 / wave, cycles = g == RDNA3 ? 32 : 16;
      REQUIRE_THAT(lathe_emulator_counters_json(), Contains("\"matrix_cycles\": " + std::to_string(waves_run * cycles)));
      // Denormal halves count everywhere; denormal f32 of C and D are RDNA3's zeros, as its dot products have it.
      std::mt19937 r(10);
      Problem p = random_problem(half, r, true);
      for (auto& x : p.a) x = r() % 4;                       // up to 3 * 2^-24
      for (auto& x : p.b) x = half_bits(int(r() % 7) - 3);
      for (auto& x : p.c) x = 0;
      for (int j = 0; j < 16; j++) {
        p.c[3 * 16 + j] = 0x00000100 + u32(j);
        for (int k = 0; k < 16; k++) p.a[3 * 16 + k] = 0;
      }
      std::vector<u32> rows;
      for (int w = 0; w < 64 / wave; w++) {
        const auto part = lay_out(half, wave, p, r);
        rows.insert(rows.end(), part.begin(), part.end());
      }
      const auto out = run_snippet(m, snippets[0], rows);
      for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
          const At at = result(half, wave, F32, i, j);
          const u32 got = out[size_t(at.lane) * snippets[0].out + at.reg];
          if (i == 3) REQUIRE(got == (g == RDNA3 ? 0u : 0x00000100 + u32(j)));
          else REQUIRE(as_float(got) == float(expected(half, p, i, j).value));
        }
    }
}

TEST_CASE("WMMA in strict mode: undefined elements, repeated lanes, pending and missing registers", "[wmma][strict]") {
  for (Generation g : {RDNA3, RDNA4}) {
    const std::string arch = archs(g).back();
    INFO(arch);
    const Case c{g, "wmma_f32_16x16x16_f16", 16, 16, F16, F16, F32, F32};
    const Snippet k = snippet(c, 32, "product", 0);
    // Stores only what `keep` marks, so that undefined results are seen one by one.
    std::string source = snippet_source({k});
    const size_t at = source.find("(global uint* out, global const uint* in)");
    source.replace(at, 41, "(global uint* out, global const uint* in, global const uint* keep)");
    for (size_t from = source.find("  out[id"); from != std::string::npos; from = source.find("  out[id", from + 40)) {
      const size_t open = source.find('[', from), close = source.find(']', open);
      source.insert(from, "  if (keep" + source.substr(open, close - open + 1) + ")");
    }
    const std::string path = compile_opencl_text(source, arch, "-O1");
    Module m(arch, path);
    std::mt19937 r(12);
    Problem p = random_problem(c, r, true);
    auto rows = lay_out(c, 32, p, r);
    const int total = int(rows.size()) / 32;
    // The register of A[5][0..1] in lane 5 (and its repetition) is never written.
    Buffer<u32> in(rows.size()), out(32 * k.out);
    std::vector<int> holes = {5 * total};
    if (g == RDNA3) holes.push_back(21 * total);
    size_t from = 0;
    for (int hole : holes) {
      check(hipMemcpy(static_cast<u32*>(in.data()) + from, rows.data() + from, (hole - from) * 4, hipMemcpyHostToDevice), "hipMemcpy");
      from = hole + 1;
    }
    check(hipMemcpy(static_cast<u32*>(in.data()) + from, rows.data() + from, (rows.size() - from) * 4, hipMemcpyHostToDevice), "hipMemcpy");
    std::vector<u32> keep(32 * k.out);
    for (int i = 0; i < 16; i++)
      for (int j = 0; j < 16; j++) {
        const At d = result(c, 32, F32, i, j);
        keep[d.lane * k.out + d.reg] = i != 5;
      }
    ok(launch(m["product"], {1}, {32}, 0, out, in, Buffer<u32>(keep)));
    const At spoiled = result(c, 32, F32, 5, 7);
    keep[spoiled.lane * k.out + spoiled.reg] = 1;
    REQUIRE(launch(m["product"], {1}, {32}, 0, out, in, Buffer<u32>(keep)) == hipErrorLaunchFailure);
    REQUIRE_THAT(lathe_emulator_last_report(), Contains("undefined value reaches global memory"));

    if (g == RDNA3) {
      rows[(16 + 3) * total] ^= 1;
      REQUIRE(launch(m["product"], {1}, {32}, 0, out, Buffer<u32>(rows), Buffer<u32>(keep)) == hipErrorLaunchFailure);
      REQUIRE_THAT(lathe_emulator_last_report(), Contains("lane 19 of v") && Contains("differs from lane 3"));
    }
    // Without the waits between loads and product.
    std::string text;
    {
      const auto s = read_file(compile_opencl_text(source, arch, "-S -O1"));
      text.assign(s.begin(), s.end());
    }
    const size_t product = text.find("v_wmma");
    REQUIRE(product != std::string::npos);
    for (const char* wait : {"s_waitcnt vmcnt", "s_wait_loadcnt"})
      for (size_t w = text.find(wait); w != std::string::npos && w < product; w = text.find(wait, w + 1)) text.replace(w, 1, ";");
    Module pending(arch, assemble(text, arch));
    REQUIRE(launch(pending["product"], {1}, {32}, 0, out, Buffer<u32>(rows), Buffer<u32>(keep)) == hipErrorLaunchFailure);
    REQUIRE_THAT(lathe_emulator_last_report(), Contains("before the wait that covers its load"));
    // A range whose last register the descriptor does not allocate.
    const auto s = read_file(compile_opencl_text(source, arch, "-S -O1"));
    text.assign(s.begin(), s.end());
    const size_t a = text.find("], v[", text.find("v_wmma")) + 3, end = text.find(']', a) + 1;
    text.replace(a, end - a, g == RDNA3 ? "v[200:207]" : "v[204:207]");
    Module few(arch, assemble(text, arch));
    REQUIRE(launch(few["product"], {1}, {32}, 0, out, Buffer<u32>(rows), Buffer<u32>(keep)) == hipErrorLaunchFailure);
    REQUIRE_THAT(lathe_emulator_last_report(), Contains("names v207 beyond the registers that the kernel descriptor allocates") && Contains("v_wmma"));
  }
}
