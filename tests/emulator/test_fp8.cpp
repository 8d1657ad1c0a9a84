// FP8 and BF8 conversions without a scale: every code, every rounding, overflow, stochastic rounding.
#include <catch2/catch.hpp>

#include <cmath>

#include "small_reference.h"

using namespace emu_test;

namespace {

const std::vector<std::string> targets_fp8 = {"gfx942", "gfx950", "gfx1200", "gfx1201", "gfx1250"};
const Format* formats_of(const std::string& arch) { return arch == "gfx942" ? fnuz : ocp; }
bool rdna(const std::string& arch) { return arch.substr(0, 5) == "gfx12"; }

}  // namespace

TEST_CASE("every FP8 and BF8 code is decoded, from every byte", "[fp8]") {
  for (const std::string& arch : targets_fp8)
    for (int which = 0; which < 2; which++) {
      const Format& f = formats_of(arch)[which];
      INFO(arch << " " << f.name);
      std::vector<Snippet> s;
      for (int byte = 0; byte < 4; byte++)
        s.push_back({"b" + std::to_string(byte), std::string("v_cvt_f32_") + f.name + (rdna(arch) ? "_e64 %0, %1 byte_sel:" + std::to_string(byte) : "_sdwa %0, %1 src0_sel:BYTE_" + std::to_string(byte)), {1}});
      s.push_back({"plain", std::string("v_cvt_f32_") + f.name + "_e32 %0, %1", {1}});
      s.push_back({"lo", std::string("v_cvt_pk_f32_") + f.name + "_e32 %0, %1", {1}, 2});
      s.push_back({"hi", std::string("v_cvt_pk_f32_") + f.name + (rdna(arch) ? "_e64 %0, %1 op_sel:[1,0]" : "_sdwa %0, %1 src0_sel:WORD_1"), {1}, 2});
      Module m(arch, compile_opencl_text(snippet_source(s), arch, "-O1"));
      std::vector<u32> rows(256);
      for (u32 k = 0; k < 256; k++) rows[k] = k | (k ^ 0x55) << 8 | (255 - k) << 16 | (k * 7 & 255) << 24;
      auto check = [&](u32 got, u32 code, const std::string& what) {
        const double want = value(f, code);
        INFO(what << " code " << code << " gave " << as_float(got));
        if (want != want) REQUIRE(as_float(got) != as_float(got));
        else REQUIRE(got == as_bits(float(want)));
      };
      for (const Snippet& k : s) {
        const auto got = run_snippet(m, k, rows);
        for (u32 n = 0; n < 256; n++) {
          const u32 byte = k.name[0] == 'b' ? u32(k.name[1] - '0') : k.name == "hi" ? 2 : 0;
          check(got[n * k.out], rows[n] >> (8 * byte) & 255, k.text);
          if (k.out == 2) check(got[n * 2 + 1], rows[n] >> (8 * byte + 8) & 255, k.text);
        }
      }
    }
}

TEST_CASE("f32 becomes FP8 and BF8 with one rounding, ties to even, overflow as MODE says", "[fp8]") {
  for (const std::string& arch : targets_fp8)
    for (int which = 0; which < 2; which++) {
      const Format& f = formats_of(arch)[which];
      const std::string cvt = std::string("v_cvt_pk_") + f.name + "_f32", set = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\\n";
      INFO(arch << " " << f.name);
      std::vector<Snippet> s = {{"lo", cvt + " %0, %1, %2", {1, 1, 1}, 1, true}, {"saturate", set + cvt + " %0, %1, %2", {1, 1, 1}, 1, true}};
      if (!rdna(arch)) s.push_back({"hi", cvt + " %0, %1, %2 op_sel:[0,0,1]", {1, 1, 1}, 1, true});
      Module m(arch, compile_opencl_text(snippet_source(s), arch, "-O1"));
      const auto x = around_codes(f);
      std::vector<u32> rows;
      for (size_t k = 0; k < x.size(); k++) rows.insert(rows.end(), {as_bits(x[k]), as_bits(x[x.size() - 1 - k]), 0xabcd1234});
      for (const Snippet& k : s) {
        const auto got = run_snippet(m, k, rows);
        const bool saturate = k.name == "saturate", high = k.name == "hi";
        for (size_t n = 0; n < x.size(); n++) {
          const u32 pair = high ? got[n] >> 16 : got[n] & 0xffff;
          REQUIRE((high ? got[n] & 0xffff : got[n] >> 16) == (high ? 0x1234u : 0xabcdu));
          for (int half = 0; half < 2; half++) {
            const float from = half ? x[x.size() - 1 - n] : x[n];
            const u32 code = pair >> (8 * half) & 255, want = encode(f, from, saturate);
            if (same_code(f, code, want)) continue;
            INFO(k.text << ": " << from << " (" << std::hex << as_bits(from) << ") gave " << code << ", not " << want);
            REQUIRE(code == want);
          }
        }
      }
    }
}

TEST_CASE("stochastic rounding goes up exactly when the random bits carry", "[fp8]") {
  for (const std::string& arch : targets_fp8)
    for (int which = 0; which < 2; which++) {
      const Format& f = formats_of(arch)[which];
      const std::string cvt = std::string("v_cvt_sr_") + f.name + "_f32 %0, %1, %2", set = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\\n";
      INFO(arch << " " << f.name);
      std::vector<Snippet> s;
      for (int byte = 0; byte < 4; byte++)
        s.push_back({"b" + std::to_string(byte), cvt + (rdna(arch) ? " byte_sel:" + std::to_string(byte) : std::string(" op_sel:[0,0,") + (byte & 1 ? "1," : "0,") + (byte & 2 ? "1]" : "0]")), {1, 1, 1}, 1, true});
      s.push_back({"saturate", set + cvt, {1, 1, 1}, 1, true});
      Module m(arch, compile_opencl_text(snippet_source(s), arch, "-O1"));
      const auto x = around_codes(f);
      std::mt19937 r(11);
      std::vector<u32> rows;
      for (float y : x) rows.insert(rows.end(), {as_bits(y), r() % 5 == 0 ? (r() % 2 ? 0u : ~0u) : u32(r()), 0x11223344});
      for (const Snippet& k : s) {
        const auto got = run_snippet(m, k, rows);
        const int byte = k.name[0] == 'b' ? k.name[1] - '0' : 0;
        for (size_t n = 0; n < x.size(); n++) {
          const u32 others = ~(255u << (8 * byte));
          REQUIRE((got[n] & others) == (0x11223344u & others));
          const u32 code = got[n] >> (8 * byte) & 255, want = encode_random(f, x[n], rows[3 * n + 1], k.name == "saturate");
          if (same_code(f, code, want)) continue;
          INFO(k.text << ": " << x[n] << " with " << std::hex << rows[3 * n + 1] << " gave " << code << ", not " << want);
          REQUIRE(code == want);
        }
      }
    }
}
