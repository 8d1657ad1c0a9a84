// Loads that transpose: each lane names one piece of a row of a tile in memory and gets a column of the tile.
#include "support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

struct Form {
  std::string arch, builtin, type;
  int bits, dwords, tile;   // bits of an element, dwords of a lane's piece, lanes that share a tile
  bool global = false;
  int rows() const { return dwords * 32 / bits; }
};
const Form forms[] = {
  {"gfx950", "ds_read_tr16_b64_v4i16", "v4s", 16, 2, 16}, {"gfx950", "ds_read_tr8_b64_v2i32", "v2i", 8, 2, 16},
  {"gfx950", "ds_read_tr4_b64_v2i32", "v2i", 4, 2, 16}, {"gfx950", "ds_read_tr6_b96_v3i32", "v3i", 6, 3, 16},
  {"gfx1250", "ds_load_tr16_b128_v8i16", "v8s", 16, 4, 8}, {"gfx1250", "ds_load_tr8_b64_v2i32", "v2i", 8, 2, 8},
  {"gfx1250", "ds_load_tr4_b64_v2i32", "v2i", 4, 2, 16}, {"gfx1250", "ds_load_tr6_b96_v3i32", "v3i", 6, 3, 16},
  {"gfx1250", "global_load_tr16_b128_v8i16", "v8s", 16, 4, 8, true}, {"gfx1250", "global_load_tr8_b64_v2i32", "v2i", 8, 2, 8, true},
  {"gfx1250", "global_load_tr4_b64_v2i32", "v2i", 4, 2, 16, true}, {"gfx1250", "global_load_tr6_b96_v3i32", "v3i", 6, 3, 16, true},
  {"gfx1201", "global_load_tr_b128_v8i16", "v8s", 16, 4, 8, true},
};

// Lane l loads at byte at[l]; `some` leaves the upper lanes out.
std::string source(const Form& f) {
  std::string s = "typedef short v4s __attribute__((ext_vector_type(4))); typedef short v8s __attribute__((ext_vector_type(8)));\n"
                  "typedef int v2i __attribute__((ext_vector_type(2))); typedef int v3i __attribute__((ext_vector_type(3)));\n"
                  "kernel void load(global uint* out, global char* in, global const uint* at, int some) {\n  int id = __builtin_amdgcn_workitem_id_x();\n";
  if (!f.global) s += "  local char m[4096];\n  for (int k = id * 64; k < id * 64 + 64; k++) m[k] = in[k];\n  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, \"workgroup\");\n";
  s += "  if (some && id >= 16) return;\n  union { " + f.type + " v; uint d[" + std::to_string(f.dwords == 3 ? 4 : f.dwords) + "]; } r;\n";
  s += "  r.v = __builtin_amdgcn_" + f.builtin + "((" + (f.global ? "global " : "local ") + f.type + "*)(" + (f.global ? "in" : "m") + " + at[id]));\n";
  return s + "  for (int k = 0; k < " + std::to_string(f.dwords) + "; k++) out[id * " + std::to_string(f.dwords) + " + k] = r.d[k];\n}\n";
}
u32 element(const void* bytes, int at, int bits) {
  u32 r = 0;
  for (int b = 0; b < bits; b++) r |= u32(static_cast<const unsigned char*>(bytes)[(at + b) / 8] >> ((at + b) % 8) & 1) << b;
  return r;
}

}  // namespace

TEST_CASE("transposing loads give columns of tiles", "[rows][transposed]") {
  for (const Form& f : forms) {
    INFO(f.arch << " " << f.builtin);
    const int lanes = f.arch == "gfx950" ? 64 : 32, rows = f.rows(), pieces = f.tile / rows, piece = f.dwords * 4;
    Module m(f.arch, compile_opencl_text(source(f), f.arch, "-O1"));
    std::vector<char> memory(4096);
    std::mt19937 r(3);
    for (char& c : memory) c = char(r());
    // Tiles one after the other, their rows apart by more than their length.
    const int stride = 16 * (pieces + 1), tile_bytes = rows * stride;
    REQUIRE(tile_bytes * (lanes / f.tile) <= 4096);
    std::vector<u32> at(64);
    for (int l = 0; l < lanes; l++) at[l] = u32(l / f.tile * tile_bytes + l % f.tile / pieces * stride + l % f.tile % pieces * piece);
    Buffer<char> in(memory);
    Buffer<u32> out(64 * f.dwords), where(at);
    int some = 0;
    ok(launch(m["load"], {1}, {unsigned(lanes)}, 0, out, in, where, some));
    const auto got = out.get();
    for (int l = 0; l < lanes; l++)
      for (int k = 0; k < rows; k++) {
        const u32 want = element(memory.data() + l / f.tile * tile_bytes + k * stride, l % f.tile * f.bits, f.bits);
        INFO("lane " << l << " element " << k);
        if (element(&got[size_t(l) * f.dwords], k * f.bits, f.bits) != want) REQUIRE(element(&got[size_t(l) * f.dwords], k * f.bits, f.bits) == want);
      }
    some = 1;
    REQUIRE(launch(m["load"], {1}, {unsigned(lanes)}, 0, out, in, where, some) != hipSuccess);
    REQUIRE_THAT(lathe_emulator_last_report(), Contains("a transposing load with lanes that are not in EXEC"));
    if (f.global) continue;
    some = 0;
    for (u32& a : at) a += 4;
    Buffer<u32> misaligned(at);
    REQUIRE(launch(m["load"], {1}, {unsigned(lanes)}, 0, out, in, misaligned, some) != hipSuccess);
    REQUIRE_THAT(lathe_emulator_last_report(), Contains("transposing LDS load at 0x4: not a multiple of "));
  }
}

TEST_CASE("transposing loads whose lanes are not known", "[rows][transposed]") {
  const std::string text = "typedef int v2i __attribute__((ext_vector_type(2)));\nkernel void k(global v2i* out, global v2i* in) {\n"
                           "  int id = __builtin_amdgcn_workitem_id_x();\n  out[id] = __builtin_amdgcn_global_load_tr_b64_v2i32(in + id);\n}\n";
  Module m("gfx1200", compile_opencl_text(text, "gfx1200", "-O1"));
  Buffer<u32> out(64), in(std::vector<u32>(64));
  REQUIRE(launch(m["k"], {1}, {32}, 0, out, in) != hipSuccess);
  REQUIRE_THAT(lathe_emulator_last_report(), Contains("a transposing load of 8-bit elements: its permutation is not known"));
}
