// One instruction per kernel, written as inline assembly: what builtins do not reach, with every modifier. Each
// work-item loads its operands from a row of dwords and stores the result.
#pragma once

#include "support.h"

namespace emu_test {

struct Snippet {
  std::string name;           // of the kernel
  std::string text;           // %0 is the result, %1, %2 ... the sources
  std::vector<int> in;        // dwords of each source
  int out = 1;                // dwords of the result
  bool tied = false;          // the last source is the result's old value (not counted as %n)
  std::string clobbers = "";  // registers that the text names itself: "\"v40\", \"v41\""
};

inline std::string vector_type(int dwords) { return dwords == 1 ? "uint" : "u" + std::to_string(dwords); }

inline std::string snippet_source(const std::vector<Snippet>& all) {
  std::string s = "typedef unsigned int uint;\n";
  for (int n = 2; n <= 32; n++) s += "typedef uint u" + std::to_string(n) + " __attribute__((ext_vector_type(" + std::to_string(n) + ")));\n";
  for (const Snippet& k : all) {
    int total = 0;
    for (int d : k.in) total += d;
    s += "kernel void " + k.name + "(global uint* out, global const uint* in) {\n  uint id = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();\n";
    s += "  global const uint* p = in + id * " + std::to_string(total) + ";\n";
    std::string operands;
    int at = 0;
    for (size_t n = 0; n < k.in.size(); n++) {
      const std::string var = "s" + std::to_string(n);
      s += "  " + vector_type(k.in[n]) + " " + var + ";\n";
      for (int d = 0; d < k.in[n]; d++) s += "  " + var + (k.in[n] > 1 ? "[" + std::to_string(d) + "]" : "") + " = p[" + std::to_string(at++) + "];\n";
      if (k.tied && n + 1 == k.in.size()) break;
      operands += std::string(n ? ", " : "") + "\"v\"(" + var + ")";
    }
    s += "  " + vector_type(k.out) + " r" + (k.tied ? " = s" + std::to_string(k.in.size() - 1) : "") + ";\n";
    s += "  __asm__ volatile(\"" + k.text + "\" : \"" + (k.tied ? "+v" : "=&v") + "\"(r) : " + operands + (k.clobbers.empty() ? "" : " : " + k.clobbers) + ");\n";
    for (int d = 0; d < k.out; d++) s += "  out[id * " + std::to_string(k.out) + " + " + std::to_string(d) + "] = r" + (k.out > 1 ? "[" + std::to_string(d) + "]" : "") + ";\n";
    s += "}\n";
  }
  return s;
}

// Runs one kernel over whole waves of 64 work-items.
inline std::vector<u32> run_snippet(Module& m, const Snippet& k, const std::vector<u32>& rows) {
  size_t total = 0;
  for (int d : k.in) total += d;
  const unsigned n = unsigned(rows.size() / total);
  Buffer<u32> in(rows), out(size_t(n) * k.out);
  INFO(k.name << ": " << k.text);
  ok(launch(m[k.name], {n / 64}, {64}, 0, out, in));
  return out.get();
}

inline float as_float(u32 u) { float f; std::memcpy(&f, &u, 4); return f; }
inline u32 as_bits(float f) { u32 u; std::memcpy(&u, &f, 4); return u; }
inline float half_value(u32 u) { _Float16 h; const uint16_t b = uint16_t(u); std::memcpy(&h, &b, 2); return float(h); }
inline u32 half_bits(double x) { const _Float16 h = _Float16(x); uint16_t b; std::memcpy(&b, &h, 2); return b; }
inline float bf16_value(u32 u) { return as_float(u << 16); }

}  // namespace emu_test
