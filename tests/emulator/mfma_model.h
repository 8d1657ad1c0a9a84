// What a matrix instruction should give: the matrices behind the registers, the product in double precision, and the
// sums as they were measured on silicon (arXiv 2511.10909), straight from their description.
#pragma once

#include "mfma_forms.h"

namespace emu_test {

// x * 2^e; ldexp is slow.
inline double scaled(double x, int e) {
  if (e < -1000 || e > 1000) return std::ldexp(x, e);
  const u64 bits = u64(e + 1023) << 52;
  double p;
  std::memcpy(&p, &bits, 8);
  return x * p;
}

struct Operands {
  std::vector<u32> a, b, c, x;    // dwords, [lane][register]; x: sparse index or scales
};

// One product of a sum: its factors, their exponents, the exponent that block scales add.
struct Term {
  double a, b;
  int ea, eb, scale;
};
struct Element {
  int value, lane;                // where D has it
  double c;
  std::vector<Term> terms;        // in the order of k
};

struct Modifiers {
  int cbsz = 0, abid = 0, blgp = 0;
  int scale_byte[2] = {};
};

inline int exponent_of(double x, Num n, bool ocp) {
  if (x == 0) return -126;
  if (!std::isfinite(x)) return 128;
  return std::max(std::ilogb(x), smallest_exponent(n, ocp));
}
// BLGP's tables of the ISA document: which lane's B each lane gets.
inline int blgp_source(int blgp, int lane) {
  switch (blgp) {
    case 1: return lane < 32 ? lane : lane - 32;
    case 2: return lane < 32 ? lane + 32 : lane;
    case 3: return lane < 48 ? lane + 16 : lane - 48;
    default: return blgp >= 4 ? 16 * (blgp - 4) + lane % 16 : lane;
  }
}

inline std::vector<Element> elements_of(const Shape& s, const std::string& arch, const Operands& o, const Modifiers& m = {}, double constant_c = 0, bool c_is_constant = false) {
  const bool ocp = arch == "gfx950", broadcasts = !s.formats && !s.sparse, bytes_a = s.formats && bits_of(s.a) == 8, bytes_b = s.formats && bits_of(s.b) == 8;
  const int ak = s.sparse ? s.k / 2 : s.k;
  auto index = [&](int block, int row, int k, int rows, int ks) { return size_t((block * rows + row) * ks + k); };
  std::vector<double> a(size_t(s.blocks * s.m * ak)), b(size_t(s.blocks * s.n * s.k));
  std::vector<int> from(a.size());  // sparse: which k a stored value of A stands for
  std::vector<int> ea(a.size()), eb(b.size());
  for (int lane = 0; lane < 64; lane++) {
    for (int v = 0; v < s.a_values(); v++) {
      const InputAt at = input_at(s.m, s.blocks, s.a_values(), bytes_a, v, lane);
      const size_t k = index(at.block, at.row, at.k, s.m, ak);
      a[k] = number(s.a, code_at(o.a, s.a_dwords(), s.a, v, lane), ocp);
      ea[k] = exponent_of(a[k], s.a, ocp);
      if (s.sparse) {
        const int bits = 2 * s.a_values(), shift = m.cbsz ? 0 : m.abid * bits % 32;
        from[k] = at.k / 2 * 4 + int(o.x[size_t(lane)] >> (shift + 2 * v) & 3);
      }
    }
    for (int v = 0; v < s.b_values(); v++) {
      const InputAt at = input_at(s.n, s.blocks, s.b_values(), bytes_b, v, lane);
      const int source = broadcasts && s.a != Num::f64 ? blgp_source(m.blgp, lane) : lane;
      const size_t k = index(at.block, at.row, at.k, s.n, s.k);
      b[k] = number(s.b, code_at(o.b, s.b_dwords(), s.b, v, source), ocp);
      eb[k] = exponent_of(b[k], s.b, ocp);
    }
  }
  auto scale_of = [&](int side, int row, int rows, int k) { return s.scaled ? int(o.x[size_t(2 * (row + k / 32 * rows) + side)] >> (8 * m.scale_byte[side]) & 255) : 127; };
  std::vector<Element> all;
  all.reserve(size_t(64 * s.d_values()));
  for (int lane = 0; lane < 64; lane++)
    for (int v = 0; v < s.d_values(); v++) {
      const ResultAt at = result_at(s, v, lane);
      Element e{v, lane, c_is_constant ? constant_c : number(s.d, code_at(o.c, s.d_dwords(), s.d, v, lane), ocp), {}};
      e.terms.reserve(size_t(ak));
      const int a_block = broadcasts ? at.block / (1 << m.cbsz) * (1 << m.cbsz) + m.abid : at.block;
      for (int p = 0; p < ak; p++) {
        const size_t k = index(a_block, at.row, p, s.m, ak);
        const int bk = s.sparse ? from[k] : p;
        const size_t l = index(at.block, at.column, bk, s.n, s.k);
        Term t{a[k], b[l], ea[k], eb[l], 0};
        const int sa = scale_of(0, at.row, s.m, p), sb = scale_of(1, at.column, s.n, p);
        if (sa == 255) t.a = NAN;
        if (sb == 255) t.b = NAN;
        t.scale = sa + sb - 254;
        if (s.a == Num::f64 && m.blgp & 1) t.a = -t.a;
        if (s.a == Num::f64 && m.blgp & 2) t.b = -t.b;
        e.terms.push_back(t);
      }
      if (s.a == Num::f64 && m.blgp & 4) e.c = -e.c;
      all.push_back(e);
    }
  return all;
}

inline double product_sum(const Element& e) {
  double sum = e.c;
  for (const Term& t : e.terms) sum += scaled(t.a * t.b, t.scale);
  return sum;
}
inline double magnitude_sum(const Element& e) {
  double sum = std::fabs(e.c);
  for (const Term& t : e.terms) sum += std::fabs(scaled(t.a * t.b, t.scale));
  return sum;
}

// ---- the measured sums -----------------------------------------------------------------------------

inline float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

inline float chain_model(const Element& e) {
  float sum = float(e.c);
  for (const Term& t : e.terms) sum = std::fma(float(t.a), float(t.b), sum);
  return sum;
}
inline float pairs_model(const Element& e, size_t group, bool flush, Num n) {
  auto f = [&](float x) { return flush ? flushed(x) : x; };
  auto in = [&](double x) { return flush && x != 0 && std::fabs(x) < scaled(1.0, smallest_exponent(n, false)) ? 0.0f : float(x); };
  float sum = f(float(e.c));
  for (size_t p = 0; p < e.terms.size(); p += group) {
    float x[4] = {};
    for (size_t q = 0; q < group; q++) x[q] = f(in(e.terms[p + q].a) * in(e.terms[p + q].b));
    const float tree = group == 2 ? f(x[0] + x[1]) : f(f(x[0] + x[1]) + f(x[2] + x[3]));
    sum = f(sum + tree);
  }
  return sum;
}
inline float fused_model(const Element& e, size_t group, bool split) {
  // Doubles hold every sum here: at most 16 products of 24 bits, cut off at 24 bits below the largest.
  float acc = float(e.c);
  for (size_t p = 0; p < e.terms.size(); p += group) {
    double plain = acc;
    bool up = false, down = false;
    for (size_t q = p; q < p + group; q++) {
      const double x = scaled(e.terms[q].a * e.terms[q].b, e.terms[q].scale);
      plain += x, up |= x >= 0x1p128, down |= x <= -0x1p128;
    }
    if (!std::isfinite(plain)) { acc = float(plain); continue; }
    if (up || down) { acc = up && down ? NAN : up ? INFINITY : -INFINITY; continue; }
    // Products of one parity (or all), cut off 24 bits below the largest exponent.
    auto cut = [&](size_t first, size_t step) {
      int top = -1000;
      double sum = 0;
      auto exponent = [&](size_t q) { return e.terms[q].ea + e.terms[q].eb + e.terms[q].scale; };
      for (size_t q = p + first; q < p + group; q += step) top = std::max(top, exponent(q));
      for (size_t q = p + first; q < p + group; q += step) sum += std::trunc(scaled(e.terms[q].a * e.terms[q].b, e.terms[q].scale + 24 - top));
      return std::pair(sum, top);
    };
    auto floor_at = [](double x, int unit) { return scaled(std::floor(scaled(x, -unit)), unit); };
    auto [sum, top] = cut(0, split ? 2 : 1);
    double value = scaled(sum, top - 24);
    if (split) {
      const auto [odd, odd_top] = cut(1, 2);
      const int both = std::max(top, odd_top);
      value = floor_at(value, both - 24) + floor_at(scaled(odd, odd_top - 24), both - 24);
      top = both;
    }
    const int ec = acc == 0 ? -126 : std::max(std::ilogb(acc), -126), m = std::max(top, ec);
    double c = floor_at(acc, m - 24);
    if (split && ec < m - 25) c = 0;
    acc = float(floor_at(value, m - 31) + c);
  }
  return acc;
}
inline float model_of(const Shape& s, const std::string& arch, const Element& e) {
  const bool fused = arch == "gfx942" || arch == "gfx950";
  switch (s.a) {
    case Num::f32: return chain_model(e);
    case Num::xf32: return fused_model(e, 4, false);
    case Num::f16: case Num::bf16:
      if (fused) return fused_model(e, std::min<size_t>(8, e.terms.size()), false);
      return pairs_model(e, s.a == Num::f16 || s.one_k ? 4 : 2, arch == "gfx90a", s.a);
    default: return fused_model(e, 16, true);
  }
}

}  // namespace emu_test
