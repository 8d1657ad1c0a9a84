// Matrix instructions as tests see them, written down apart from the emulator: names and shapes as AMD's assembler
// has them, layouts by the formulas of AMD's matrix instruction calculator (from register and lane to coordinates),
// and an assembly kernel around each instruction.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support.h"

namespace emu_test {

enum class Num { f64, f32, xf32, f16, bf16, i8, fp8, bf8, fp6, bf6, fp4, i32 };

inline int bits_of(Num n) {
  switch (n) {
    case Num::f64: return 64;
    case Num::f32: case Num::xf32: case Num::i32: return 32;
    case Num::f16: case Num::bf16: return 16;
    case Num::i8: case Num::fp8: case Num::bf8: return 8;
    case Num::fp6: case Num::bf6: return 6;
    case Num::fp4: return 4;
  }
  return 0;
}

// One number of a format as a double; 8-bit formats are OCP's or FNUZ.
inline double number(Num n, u64 code, bool ocp) {
  auto parts = [&](int eb, int mb, int bias) {
    const int sign = int(code >> (eb + mb) & 1), e = int(code >> mb & ((1u << eb) - 1)), m = int(code & ((1u << mb) - 1));
    const double x = e ? std::ldexp(1.0 + m / double(1 << mb), e - bias) : std::ldexp(m / double(1 << mb), 1 - bias);
    return sign ? -x : x;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  auto as_float = [](u32 x) { float f; std::memcpy(&f, &x, 4); return double(f); };
  switch (n) {
    case Num::f64: { double d; std::memcpy(&d, &code, 8); return d; }
    case Num::f32: return as_float(u32(code));
    case Num::xf32: return as_float(std::isnan(as_float(u32(code))) ? u32(code) : u32(code) & 0xffffe000u);
    case Num::f16:
      if ((code & 0x7c00) == 0x7c00) return code & 0x3ff ? nan : code & 0x8000 ? -inf : inf;
      return parts(5, 10, 15);
    case Num::bf16: return as_float(u32(code) << 16);
    case Num::i8: return double(int8_t(code));
    case Num::i32: return double(i32(code));
    case Num::fp8: return ocp ? ((code & 0x7f) == 0x7f ? nan : parts(4, 3, 7)) : (code == 0x80 ? nan : parts(4, 3, 8));
    case Num::bf8:
      if (!ocp) return code == 0x80 ? nan : parts(5, 2, 16);
      if ((code & 0x7c) == 0x7c) return code & 3 ? nan : code & 0x80 ? -inf : inf;
      return parts(5, 2, 15);
    case Num::fp6: return parts(2, 3, 1);
    case Num::bf6: return parts(3, 2, 3);
    case Num::fp4: return parts(2, 1, 1);
  }
  return 0;
}
// The exponent of a format's smallest normal number.
inline int smallest_exponent(Num n, bool ocp) {
  switch (n) {
    case Num::f16: return -14;
    case Num::fp8: return ocp ? -6 : -7;
    case Num::bf8: return ocp ? -14 : -15;
    case Num::fp6: case Num::fp4: return 0;
    case Num::bf6: return -2;
    default: return -126;
  }
}

struct Shape {
  std::string name;          // "v_mfma_f32_32x32x8_f16"
  int m = 0, n = 0, k = 0, blocks = 1;
  Num a = Num::f32, b = Num::f32, d = Num::f32;
  bool sparse = false, scaled = false, formats = false, one_k = false;
  int a_values() const { return m * k * blocks / 64 / (sparse ? 2 : 1); }
  int b_values() const { return n * k * blocks / 64; }
  int d_values() const { return m * n * blocks / 64; }
  int a_dwords() const { return (a_values() * bits_of(a) + 31) / 32; }
  int b_dwords() const { return (b_values() * bits_of(b) + 31) / 32; }
  int d_dwords() const { return d_values() * bits_of(d) / 32; }
};

inline Num num_named(const std::string& s) {
  const std::pair<const char*, Num> names[] = {{"f64", Num::f64}, {"f32", Num::f32}, {"xf32", Num::xf32}, {"f16", Num::f16}, {"bf16", Num::bf16}, {"i8", Num::i8},
                                               {"fp8", Num::fp8}, {"bf8", Num::bf8}, {"i32", Num::i32}, {"f8f6f4", Num::fp8}};
  for (const auto& [name, n] : names)
    if (s == name) return n;
  throw std::runtime_error("no number format " + s);
}
// "f32_32x32x4f16:2" (CDNA1 and 2: blocks after the colon), "f32_32x32x4_2b_f16", "f32_16x16x32_bf8_fp8".
inline Shape shape_of(std::string spec, const std::string& mnemonic) {
  Shape s;
  if (const size_t colon = spec.find(':'); colon != std::string::npos) s.blocks = std::stoi(spec.substr(colon + 1)), spec.resize(colon);
  s.name = mnemonic + spec;
  s.sparse = mnemonic.find("smfmac") != std::string::npos;
  s.scaled = spec.find("scale_") == 0;
  if (s.scaled) spec = spec.substr(6);
  if (spec.size() > 3 && spec.substr(spec.size() - 3) == "_1k") s.one_k = true, spec.resize(spec.size() - 3);
  s.d = num_named(spec.substr(0, 3));
  size_t used = 0;
  std::string rest = spec.substr(4);
  auto next = [&] { const int x = std::stoi(rest, &used); rest = rest.substr(used); return x; };
  s.m = next(), rest = rest.substr(1), s.n = next(), rest = rest.substr(1), s.k = next();
  std::vector<std::string> parts;
  for (size_t at = 0; at < rest.size();) {
    const size_t to = std::min(rest.find('_', at), rest.size());
    if (to > at) parts.push_back(rest.substr(at, to - at));
    at = to + 1;
  }
  if (parts[0].back() == 'b' && std::isdigit(static_cast<unsigned char>(parts[0][0]))) s.blocks = std::stoi(parts[0]), parts.erase(parts.begin());
  s.a = s.b = num_named(parts[0]);
  if (parts.size() > 1) s.b = num_named(parts[1]);
  s.formats = parts[0] == "f8f6f4";
  return s;
}

// Every matrix instruction of a target.
inline std::vector<Shape> shapes_of(const std::string& arch) {
  const std::vector<std::string> cdna1 = {
      "f32_32x32x1f32:2", "f32_16x16x1f32:4", "f32_4x4x1f32:16", "f32_32x32x2f32", "f32_16x16x4f32", "f32_32x32x4f16:2", "f32_16x16x4f16:4",
      "f32_4x4x4f16:16", "f32_32x32x8f16", "f32_16x16x16f16", "i32_32x32x4i8:2", "i32_16x16x4i8:4", "i32_4x4x4i8:16", "i32_32x32x8i8",
      "i32_16x16x16i8", "f32_32x32x2bf16:2", "f32_16x16x2bf16:4", "f32_4x4x2bf16:16", "f32_32x32x4bf16", "f32_16x16x8bf16"};
  const std::vector<std::string> cdna2 = {
      "f32_32x32x4bf16_1k:2", "f32_16x16x4bf16_1k:4", "f32_4x4x4bf16_1k:16", "f32_32x32x8bf16_1k", "f32_16x16x16bf16_1k", "f64_16x16x4f64", "f64_4x4x4f64:4"};
  const std::vector<std::string> cdna3 = {
      "f32_32x32x1_2b_f32", "f32_16x16x1_4b_f32", "f32_4x4x1_16b_f32", "f32_32x32x2_f32", "f32_16x16x4_f32", "f32_32x32x4_2b_f16", "f32_16x16x4_4b_f16",
      "f32_4x4x4_16b_f16", "f32_32x32x8_f16", "f32_16x16x16_f16", "i32_32x32x4_2b_i8", "i32_16x16x4_4b_i8", "i32_4x4x4_16b_i8", "i32_32x32x16_i8",
      "i32_16x16x32_i8", "f32_32x32x4_2b_bf16", "f32_16x16x4_4b_bf16", "f32_4x4x4_16b_bf16", "f32_32x32x8_bf16", "f32_16x16x16_bf16",
      "f64_16x16x4_f64", "f64_4x4x4_4b_f64", "f32_16x16x32_bf8_bf8", "f32_16x16x32_bf8_fp8", "f32_16x16x32_fp8_bf8", "f32_16x16x32_fp8_fp8",
      "f32_32x32x16_bf8_bf8", "f32_32x32x16_bf8_fp8", "f32_32x32x16_fp8_bf8", "f32_32x32x16_fp8_fp8"};
  const std::vector<std::string> xf32 = {"f32_16x16x8_xf32", "f32_32x32x4_xf32"};
  const std::vector<std::string> cdna4 = {"f32_32x32x16_f16", "f32_16x16x32_f16", "f32_32x32x16_bf16", "f32_16x16x32_bf16", "i32_32x32x32_i8", "i32_16x16x64_i8",
                                          "f32_32x32x64_f8f6f4", "f32_16x16x128_f8f6f4", "scale_f32_32x32x64_f8f6f4", "scale_f32_16x16x128_f8f6f4"};
  const std::vector<std::string> sparse3 = {
      "f32_16x16x32_f16", "f32_32x32x16_f16", "f32_16x16x32_bf16", "f32_32x32x16_bf16", "i32_16x16x64_i8", "i32_32x32x32_i8",
      "f32_16x16x64_bf8_bf8", "f32_16x16x64_bf8_fp8", "f32_16x16x64_fp8_bf8", "f32_16x16x64_fp8_fp8",
      "f32_32x32x32_bf8_bf8", "f32_32x32x32_bf8_fp8", "f32_32x32x32_fp8_bf8", "f32_32x32x32_fp8_fp8"};
  const std::vector<std::string> sparse4 = {
      "f32_16x16x64_f16", "f32_32x32x32_f16", "f32_16x16x64_bf16", "f32_32x32x32_bf16", "i32_16x16x128_i8", "i32_32x32x64_i8",
      "f32_16x16x128_bf8_bf8", "f32_16x16x128_bf8_fp8", "f32_16x16x128_fp8_bf8", "f32_16x16x128_fp8_fp8",
      "f32_32x32x64_bf8_bf8", "f32_32x32x64_bf8_fp8", "f32_32x32x64_fp8_bf8", "f32_32x32x64_fp8_fp8"};
  std::vector<Shape> all;
  auto add = [&](const std::vector<std::string>& list, const char* mnemonic) {
    for (const auto& spec : list) all.push_back(shape_of(spec, mnemonic));
  };
  if (arch == "gfx908" || arch == "gfx90a") add(cdna1, "v_mfma_");
  if (arch == "gfx90a") add(cdna2, "v_mfma_");
  if (arch == "gfx942" || arch == "gfx950") add(cdna3, "v_mfma_"), add(sparse3, "v_smfmac_");
  if (arch == "gfx942") add(xf32, "v_mfma_");
  if (arch == "gfx950") add(cdna4, "v_mfma_"), add(sparse4, "v_smfmac_");
  return all;
}

// ---- layouts: the calculator's formulas ------------------------------------------------------------

struct InputAt { int row, block, k; };      // row of A or column of B
struct ResultAt { int row, column, block; };

// Value number `value` of a lane, for an input with `rows` rows; per_lane values in a lane.
inline InputAt input_at(int rows, int blocks, int per_lane, bool bytes_of_f8f6f4, int value, int lane) {
  const int group = lane / (rows * blocks);
  int k = per_lane * group + value;
  if (bytes_of_f8f6f4) k = value < 16 ? 16 * group + value : 16 * (64 / rows) + 16 * group + value - 16;
  return {lane % rows, lane / rows % blocks, k};
}
inline ResultAt result_at(const Shape& s, int value, int lane) {
  if (s.d == Num::f64) return s.m == 16 ? ResultAt{4 * value + lane / 16, lane % 16, 0} : ResultAt{lane / 16, lane % 4, lane / 4 % 4};
  if (s.m == 32) return {8 * (value / 4) % 32 + 4 * (lane / 32) + value % 4, lane % 32, value / 16};
  if (s.m == 16) return {4 * (lane / 16) + value % 4, lane % 16, value / 4};
  return {value % 4, lane % 4, lane / 4};
}

// Value number `value` of a lane's registers, dwords at [lane * dwords + r].
inline u64 code_at(const std::vector<u32>& regs, int dwords, Num n, int value, int lane) {
  const int width = bits_of(n), bit = value * width;
  const u32* p = &regs[size_t(lane * dwords)];
  if (width == 64) return p[2 * value] | u64(p[2 * value + 1]) << 32;
  const u64 two = p[bit / 32] | (bit / 32 + 1 < dwords ? u64(p[bit / 32 + 1]) << 32 : 0);
  return two >> (bit % 32) & ((u64(1) << width) - 1);
}
inline void set_code(std::vector<u32>& regs, int dwords, Num n, int value, int lane, u64 code) {
  const int width = bits_of(n), bit = value * width;
  u32* p = &regs[size_t(lane * dwords)] + bit / 32;
  if (width == 64) {
    p[0] = u32(code), p[1] = u32(code >> 32);
    return;
  }
  const u64 mask = ((u64(1) << width) - 1) << (bit % 32);
  p[0] = u32((p[0] & ~mask) | code << (bit % 32));
  if (mask >> 32) p[1] = u32((p[1] & ~(mask >> 32)) | code >> (32 - bit % 32));
}

// ---- kernels ---------------------------------------------------------------------------------------

// How one instruction is written: which operands are AGPRs, a constant for C, modifiers, formats of f8f6f4.
struct Form {
  Shape shape;
  bool a_agpr = false, b_agpr = false, d_agpr = false;
  std::string c;                  // an inline constant, or empty for registers
  std::string modifiers;          // " cbsz:1 abid:1"
  bool in_place = false;          // D is C
  std::string before, after;      // more assembly, around the instruction
  bool load_a = true;             // else `before` does it
  bool denormals = true;          // MODE's denormal bits for f32
};

// All forms of one target in one code object, kernels k0, k1, ... with arguments (A, B, C, D, X): X holds the sparse
// index or the scales, two dwords a lane. Lanes hold their registers one after the other in memory.
inline std::string kernels_text(const std::string& arch, const std::vector<Form>& forms) {
  std::string t = ".text\n", metadata;
  const bool unified = arch != "gfx908";
  auto range = [](char file, int first, int count) {
    return count == 1 ? file + std::to_string(first) : std::string(1, file) + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
  };
  for (size_t n = 0; n < forms.size(); n++) {
    const Form& f = forms[n];
    const Shape& s = f.shape;
    const std::string name = "k" + std::to_string(n);
    t += ".globl " + name + "\n.p2align 8\n.type " + name + ",@function\n" + name + ":\n";
    t += "  s_load_dwordx8 s[8:15], s[0:1], 0x0\n  s_load_dwordx2 s[16:17], s[0:1], 0x20\n  s_waitcnt lgkmcnt(0)\n";
    auto addresses = [&](int dwords) { t += "  v_mul_u32_u24 v1, " + std::to_string(4 * dwords) + ", v0\n"; };
    auto load = [&](char file, int first, int dwords, const char* base) {
      addresses(dwords);
      for (int r = 0; r < dwords; r++) t += "  global_load_dword " + range('v', first + r, 1) + ", v1, " + base + " offset:" + std::to_string(4 * r) + "\n";
      t += "  s_waitcnt vmcnt(0)\n";
      if (file == 'a')
        for (int r = 0; r < dwords; r++) t += "  v_accvgpr_write_b32 " + range('a', first + r, 1) + ", " + range('v', first + r, 1) + "\n";
    };
    const int a = 8, b = 16, c = 32, d = f.in_place || s.sparse ? 32 : 64;
    if (f.load_a) load(f.a_agpr ? 'a' : 'v', a, s.a_dwords(), "s[8:9]");
    load(f.b_agpr ? 'a' : 'v', b, s.b_dwords(), "s[10:11]");
    if (f.c.empty()) load(f.d_agpr ? 'a' : 'v', c, s.d_dwords(), "s[12:13]");
    if (s.sparse) load('v', 6, 1, "s[16:17]");
    if (s.scaled) load('v', 6, 2, "s[16:17]");
    t += f.before + "  s_nop 7\n";
    const char df = f.d_agpr ? 'a' : 'v';
    t += "  " + s.name + " " + range(df, d, s.d_dwords()) + ", " + range(f.a_agpr ? 'a' : 'v', a, s.a_dwords()) + ", " + range(f.b_agpr ? 'a' : 'v', b, s.b_dwords()) + ", ";
    t += s.sparse ? "v6" : f.c.empty() ? range(df, c, s.d_dwords()) : f.c;
    if (s.scaled) t += ", v6, v7";
    t += f.modifiers + "\n  s_nop 15\n  s_nop 15\n" + f.after;
    addresses(s.d_dwords());
    if (f.d_agpr)
      for (int r = 0; r < s.d_dwords(); r++) t += "  v_accvgpr_read_b32 " + range('v', d + r, 1) + ", " + range('a', d + r, 1) + "\n";
    t += "  s_nop 7\n";
    for (int r = 0; r < s.d_dwords(); r++) t += "  global_store_dword v1, " + range('v', d + r, 1) + ", s[14:15] offset:" + std::to_string(4 * r) + "\n";
    t += "  s_endpgm\n.L" + name + "_end:\n.size " + name + ", .L" + name + "_end-" + name + "\n";
    t += ".rodata\n.p2align 6\n.amdhsa_kernel " + name + "\n  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n  .amdhsa_kernarg_size 40\n";
    t += unified ? "  .amdhsa_next_free_vgpr 192\n  .amdhsa_accum_offset 96\n" : "  .amdhsa_next_free_vgpr 96\n";
    t += std::string("  .amdhsa_float_denorm_mode_32 ") + (f.denormals ? "3" : "0") + "\n";
    t += "  .amdhsa_next_free_sgpr 32\n.end_amdhsa_kernel\n.text\n";
    metadata += "  - .name: " + name + "\n    .symbol: " + name + ".kd\n    .kernarg_segment_size: 40\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n"
                "    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 32\n    .vgpr_count: 96\n    .max_flat_workgroup_size: 64\n    .args:\n";
    for (int k = 0; k < 5; k++)
      metadata += "      - {.offset: " + std::to_string(8 * k) + ", .size: 8, .value_kind: global_buffer, .address_space: global}\n";
  }
  return t + ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n" + metadata + "...\n.end_amdgpu_metadata\n";
}

}  // namespace emu_test
