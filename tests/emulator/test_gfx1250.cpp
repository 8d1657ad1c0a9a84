// Instructions of gfx1250 alone, and byte sums in four registers, against the host.
#include <cmath>

#include "snippet.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

std::vector<u32> words(int n, unsigned seed) {
  const auto x = interesting64(n, seed);
  return {x.begin(), x.end()};
}
u32 bf16_bits(float x) {
  const u32 u = as_bits(x);
  return x != x ? 0x7fc0 : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

}  // namespace

TEST_CASE("lanes of a group: broadcast, up, down, exclusive or", "[rows][gfx1250]") {
  const std::string text =
      "kernel void k(global int* out, global const int* in, int choice, int width) {\n  int id = __builtin_amdgcn_workitem_id_x(), x = in[id];\n"
      "  out[id] = __builtin_amdgcn_permlane_bcast(x, choice, width);\n  out[32 + id] = __builtin_amdgcn_permlane_up(x, choice, width);\n"
      "  out[64 + id] = __builtin_amdgcn_permlane_down(x, choice, width);\n  out[96 + id] = __builtin_amdgcn_permlane_xor(x, choice, width);\n}\n"
      "kernel void odd(global int* out, global const int* in) { int id = __builtin_amdgcn_workitem_id_x(), x = in[id]; if (id & 1) out[id] = __builtin_amdgcn_permlane_xor(x, 1, 32); }\n";
  Module m("gfx1250", compile_opencl_text(text, "gfx1250", "-O1"));
  const auto x = words(32, 5);
  Buffer<u32> in(x), out(128);
  for (int width : {1, 2, 8, 32})
    for (int choice : {0, 1, 3, 7, 20}) {
      INFO("choice " << choice << " of " << width);
      ok(launch(m["k"], {1}, {32}, 0, out, in, choice, width));
      // As HIP's __shfl, __shfl_up, __shfl_down and __shfl_xor.
      std::vector<u32> want;
      for (int op = 0; op < 4; op++)
        for (int l = 0; l < 32; l++) {
          const int first = l / width * width, last = first + width - 1;
          int from = op == 0 ? first + choice % width : op == 1 ? l - choice : op == 2 ? l + choice : l ^ choice;
          if (from < first || from > last) from = l;
          want.push_back(x[from]);
        }
      same(out.get(), want);
    }
  int width = 12, choice = 0;
  REQUIRE(launch(m["k"], {1}, {32}, 0, out, in, choice, width) != hipSuccess);
  REQUIRE_THAT(lathe_emulator_last_report(), Contains("v_permlane with groups of 12 lanes"));
  REQUIRE(launch(m["odd"], {1}, {32}, 0, out, in) != hipSuccess);  // from lanes that are not in EXEC
  REQUIRE_THAT(lathe_emulator_last_report(), Contains("undefined value reaches global memory"));
}

TEST_CASE("mixed bf16 and f32, nibbles, shared and watched loads", "[rows][gfx1250]") {
  const std::string sources = "op_sel:[0,1,0] op_sel_hi:[1,1,0]";
  const std::vector<Snippet> all = {
    {"mix", "v_fma_mix_f32_bf16 %0, %1, %2, %3 " + sources, {1, 1, 1}},
    {"mix_modifiers", "v_fma_mix_f32_bf16 %0, -%1, |%2|, %3 op_sel_hi:[0,1,1]", {1, 1, 1}},
    {"mix_constant", "v_fma_mix_f32_bf16 %0, 2.0, %1, %2 op_sel_hi:[1,1,0]", {1, 1}},
    {"lo", "v_fma_mixlo_bf16 %0, %1, %2, %3 " + sources, {1, 1, 1, 1}, 1, true},
    {"hi", "v_fma_mixhi_bf16 %0, %1, %2, %3 " + sources, {1, 1, 1, 1}, 1, true},
    {"nibbles", "v_sat_pk4_i4_i8 %0, %1", {1, 1}, 1, true}, {"unsigned_nibbles", "v_sat_pk4_u4_u8 %0, %1", {1, 1}, 1, true},
  };
  std::string text = snippet_source(all);
  text += "typedef int v2i __attribute__((ext_vector_type(2)));\n"
          "kernel void loads(global uint* out, global uint* in) {\n  int id = __builtin_amdgcn_workitem_id_x();\n"
          "  out[id] = __builtin_amdgcn_global_load_monitor_b32((global int*)in + id, 0) + __builtin_amdgcn_cluster_load_b32((global int*)in + 32 + id, 0, 0);\n}\n";
  Module m("gfx1250", compile_opencl_text(text, "gfx1250", "-O1"));
  const int n = 64;
  std::mt19937 r(8);
  std::vector<u32> x(n), y(n), z(n);
  auto two = [&] { return bf16_bits(float(i32(r())) * 0x1p-28f) | bf16_bits(float(i32(r())) * 0x1p-30f) << 16; };
  for (int i = 0; i < n; i++) x[i] = two(), y[i] = two(), z[i] = as_bits(float(i32(r())) * 0x1p-29f);
  auto run = [&](const Snippet& k, auto want) {
    std::vector<u32> rows;
    for (int i = 0; i < n; i++)
      for (const auto* v : {&x, &y, &z, &x})
        if (rows.size() < size_t(i + 1) * k.in.size()) rows.push_back((*v)[i]);
    const auto got = run_snippet(m, k, rows);
    for (int i = 0; i < n; i++) {
      INFO(k.text << " of row " << i);
      if (got[i] != want(i)) REQUIRE(got[i] == want(i));
    }
  };
  auto low = [](u32 v) { return bf16_value(v & 0xffff); };
  auto high = [](u32 v) { return bf16_value(v >> 16); };
  auto plain = [&](int i) { return std::fma(low(x[i]), high(y[i]), as_float(z[i])); };
  run(all[0], [&](int i) { return as_bits(plain(i)); });
  run(all[1], [&](int i) { return as_bits(std::fma(-as_float(x[i]), std::fabs(low(y[i])), low(z[i]))); });
  run(all[2], [&](int i) { return as_bits(std::fma(2.0f, low(x[i]), as_float(y[i]))); });
  run(all[3], [&](int i) { return (x[i] & 0xffff0000u) | bf16_bits(plain(i)); });
  run(all[4], [&](int i) { return (x[i] & 0xffffu) | bf16_bits(plain(i)) << 16; });
  for (int is_signed : {1, 0})
    run(all[is_signed ? 5 : 6], [&](int i) {
      u32 w = y[i] & 0xffff0000u;
      for (int k = 0; k < 4; k++) w |= u32(is_signed ? std::clamp(int(int8_t(x[i] >> (8 * k))), -8, 7) : std::min(int(x[i] >> (8 * k) & 255), 15)) % 16 << (4 * k);
      return w;
    });
  Buffer<u32> in(x), out(32);
  ok(launch(m["loads"], {1}, {32}, 0, out, in));
  const auto got = out.get();
  for (int i = 0; i < 32; i++) REQUIRE(got[i] == x[i] + x[32 + i]);
}

TEST_CASE("undefined bits that a truth table drops", "[strict][gfx1250]") {
  // v_lshlrev_b16 leaves the upper half as it was: undefined. And with 15 drops it, or does not.
  const auto kernel = [](const std::string& name, const std::string& last) {
    return "kernel void " + name + "(global uint* out) {\n  uint r;\n  __asm__ volatile(\"v_lshlrev_b16 v200, 3, %1\\n" + last + "\" : \"=v\"(r) : \"v\"(__builtin_amdgcn_workitem_id_x()) : \"v200\", \"v201\", \"v202\");\n"
           "  out[__builtin_amdgcn_workitem_id_x()] = r;\n}\n";
  };
  const std::string text = kernel("both", "v_bitop3_b32 %0, v200, 15, 0 bitop3:0xc0") + kernel("either", "v_bitop3_b32 %0, v200, 15, 0 bitop3:0xfc") +
                           kernel("pair", "v_dual_mov_b32 v201, 0 :: v_dual_bitop2_b32 v202, 15, v200 bitop3:0x40\\nv_mov_b32 %0, v202");
  Module m("gfx1250", compile_opencl_text("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" + text, "gfx1250", "-O1"));
  Buffer<u32> out(32);
  for (const char* clean : {"both", "pair"}) {
    INFO(clean);
    ok(launch(m[clean], {1}, {32}, 0, out));
    const auto got = out.get();
    for (u32 i = 0; i < 32; i++) REQUIRE(got[i] == (i << 3 & 15));
  }
  REQUIRE(launch(m["either"], {1}, {32}, 0, out) != hipSuccess);
  REQUIRE_THAT(lathe_emulator_last_report(), Contains("undefined value reaches global memory"));
}

TEST_CASE("four masked sums of differences of bytes", "[rows]") {
  const Snippet k{"mqsad", "v_mqsad_u32_u8 %0, %1, %2, %3", {2, 1, 4}, 4}, saturated{"saturated", "v_mqsad_u32_u8 %0, %1, %2, %3 clamp", {2, 1, 4}, 4};
  const int n = 64;
  const auto x = words(7 * n, 17);
  for (const std::string arch : {"gfx906", "gfx942", "gfx1100", "gfx1250"}) {
    INFO(arch);
    Module m(arch, compile_opencl_text(snippet_source({k, saturated}), arch, "-O1"));
    const auto got = run_snippet(m, k, x), top = run_snippet(m, saturated, x);
    for (int i = 0; i < n; i++) {
      const u32* row = &x[7 * i];
      for (int s = 0; s < 4; s++) {
        u32 sum = row[3 + s];
        for (int b = 0; b < 4; b++) {
          const int byte = s + b, a = int(row[byte / 4] >> (8 * (byte % 4)) & 255), ref = int(row[2] >> (8 * b) & 255);
          if (ref) sum += u32(std::abs(a - ref));
        }
        REQUIRE(got[4 * i + s] == sum);
        REQUIRE(top[4 * i + s] == (sum < row[3 + s] ? ~0u : sum));
      }
    }
  }
}
