// Hazards that RDNA leaves to software: each with the two instructions too close, with what has to stand between them, and
// with what looks alike and is none.
#include "support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

struct Case {
  std::vector<std::string> archs;
  bool wave64;
  std::string says, wants, first, second;
  std::vector<std::string> enough, not_enough;
};

// v40 to v95 and s40 to s47 are defined; inline assembly is what LLVM puts no waits into.
std::string source(const Case& c) {
  std::string s;
  auto kernel = [&](const std::string& name, const std::string& between) {
    s += "kernel void " + name + "(global int* out) {\n  local volatile int area[64];\n  area[__builtin_amdgcn_workitem_id_x()] = 0;\n  __asm__ volatile(\"";
    for (int k = 40; k < 96; k++) s += "v_mov_b32 v" + std::to_string(k) + ", 0\\n";
    for (int k = 40; k < 48; k++) s += "s_mov_b32 s" + std::to_string(k) + ", 0\\n";
    s += "s_mov_b64 vcc, 0\\n" + c.first + "\\n" + between + (between.empty() ? "" : "\\n") + c.second + "\" ::: \"vcc\"";
    for (int k = 40; k < 96; k++) s += ", \"v" + std::to_string(k) + "\"";
    for (int k = 40; k < 48; k++) s += ", \"s" + std::to_string(k) + "\"";
    s += ");\n}\n";
  };
  kernel("short_", "");
  for (size_t k = 0; k < c.enough.size(); k++) kernel("enough_" + std::to_string(k), c.enough[k]);
  for (size_t k = 0; k < c.not_enough.size(); k++) kernel("not_enough_" + std::to_string(k), c.not_enough[k]);
  return s;
}

const std::string vdst = "s_waitcnt_depctr 0x0fff", five = "v_mov_b32 v90, 0\\nv_mov_b32 v91, 0\\nv_mov_b32 v92, 0\\nv_mov_b32 v93, 0\\nv_mov_b32 v94, 0";
const std::vector<Case> cases = {
  {{"gfx1100", "gfx1150", "gfx1200", "gfx1250"}, false, "v_cmpx writes EXEC, then v_permlane follows", "a VALU instruction other than v_nop is needed",
   "v_cmpx_eq_u32 v40, v40", "v_permlane16_b32 v41, v42, s40, s41", {"v_mov_b32 v43, 0"}, {"v_nop", "s_nop 7"}},
  {{"gfx1100", "gfx1103"}, false, "a transcendental instruction writes a VGPR, then a VALU instruction reads it", "s_waitcnt_depctr va_vdst(0) is needed",
   "v_rcp_f32 v41, v40", "v_add_f32 v42, v41, v40", {vdst, five + "\\nv_mov_b32 v95, 0", "v_rcp_f32 v44, v40\\nv_rcp_f32 v45, v40", "ds_load_b32 v46, v40\\ns_waitcnt lgkmcnt(0)"},
   {"v_mov_b32 v90, 0", "s_nop 7", "v_rcp_f32 v44, v40", "s_waitcnt_depctr 0xfffe", five}},
  {{"gfx1250"}, false, "reads its result or overwrites its source", "a VALU instruction is needed", "v_rcp_f32 v41, v40", "v_add_f32 v42, v41, v42", {"v_nop"}, {"s_nop 7"}},
  {{"gfx1250"}, false, "reads its result or overwrites its source", "a VALU instruction is needed", "v_rcp_f32 v41, v40", "v_mov_b32 v40, 1", {"v_nop"}, {}},
  {{"gfx1100", "gfx1150"}, true, "one before and one after a write of EXEC", "s_waitcnt_depctr va_vdst(0) is needed",
   "v_mov_b32 v41, 1\\ns_mov_b64 exec, exec\\nv_mov_b32 v42, 1", "v_add_nc_u32 v43, v41, v42", {vdst, five}, {"v_mov_b32 v90, 0", "s_nop 7"}},
  {{"gfx1100"}, false, "a WMMA instruction writes D, then the next one reads it as A, B or index", "a VALU instruction is needed",
   "v_wmma_f32_16x16x16_f16 v[48:55], v[56:63], v[64:71], v[48:55]", "v_wmma_f32_16x16x16_f16 v[72:79], v[64:71], v[48:55], v[72:79]", {"v_nop"}, {"s_nop 7"}},
  {{"gfx1200"}, false, "a WMMA instruction writes D, then the next one reads it as A, B or index", "a VALU instruction is needed",
   "v_wmma_f32_16x16x16_f16 v[48:55], v[56:59], v[60:63], v[48:55]", "v_wmma_f32_16x16x16_f16 v[72:79], v[48:51], v[60:63], v[72:79]", {"v_nop"}, {"s_nop 7"}},
  {{"gfx1250"}, false, "writes D, then another one reads it as A, B or index", "a number of VALU instructions",
   "v_wmma_f32_16x16x32_f16 v[48:55], v[56:63], v[64:71], v[48:55]", "v_wmma_f32_16x16x32_f16 v[72:79], v[48:55], v[64:71], v[72:79]", {five}, {"v_nop\\nv_nop\\nv_nop\\nv_nop", "s_nop 7"}},
  {{"gfx1250"}, false, "reads or overwrites its D, or overwrites A, B or index", "a number of VALU instructions",
   "v_wmma_f32_16x16x32_f16 v[48:55], v[56:63], v[64:71], v[48:55]", "v_mov_b32 v56, 0", {"v_nop\\nv_nop\\nv_nop\\nv_nop"}, {"v_nop\\nv_nop\\nv_nop", "s_nop 7"}},
  {{"gfx1250"}, false, "reads or overwrites its D, or overwrites A, B or index", "a number of VALU instructions",
   "v_wmma_i32_16x16x64_iu8 v[48:55], v[56:63], v[64:71], v[48:55]", "v_add_f32 v90, v90, v50", {five + "\\nv_nop\\nv_nop\\nv_nop"}, {five + "\\nv_nop\\nv_nop"}},
  {{"gfx1200"}, false, "SALU writes s40, which an earlier VALU instruction read, then it is read", "s_waitcnt_depctr sa_sdst(0) is needed",
   "v_mov_b32 v41, s40\\ns_mov_b32 s40, 0", "v_mov_b32 v42, s40", {"s_wait_alu 0xfffe"}, {"s_wait_alu 0xf1ff", five}},
  {{"gfx1200"}, false, "SALU writes s41, which an earlier VALU instruction read, then it is read", "s_waitcnt_depctr sa_sdst(0) is needed",
   "v_mov_b32 v41, s40\\ns_mov_b32 s41, 0", "s_mov_b32 s42, s41", {"s_wait_alu 0xfffe"}, {"v_nop"}},
};

}  // namespace

TEST_CASE("hazards of RDNA", "[strict][hazards]") {
  for (const Case& c : cases)
    for (const std::string& arch : c.archs) {
      INFO(arch << ": " << c.first << " / " << c.second);
      Module m(arch, compile_opencl_text(source(c), arch, std::string("-O1") + (c.wave64 ? " -mwavefrontsize64" : "")));
      Buffer<i32> out(64);
      auto trips = [&](const std::string& name) {
        INFO(name);
        REQUIRE(launch(m[name], {1}, {32}, 0, out) == hipErrorLaunchFailure);
        REQUIRE_THAT(lathe_emulator_last_report(), Contains("hazard: ") && Contains(c.says) && Contains(c.wants) && Contains("first        "));
      };
      trips("short_");
      for (size_t k = 0; k < c.not_enough.size(); k++) trips("not_enough_" + std::to_string(k));
      for (size_t k = 0; k < c.enough.size(); k++) {
        INFO("with " << c.enough[k]);
        ok(launch(m["enough_" + std::to_string(k)], {1}, {32}, 0, out));
      }
    }
}

TEST_CASE("what looks like a hazard of RDNA", "[strict][hazards]") {
  const std::string plain = "v_add_f32 v42, v41, v40";
  const Case none[] = {
    {{"gfx1030", "gfx1150", "gfx1200"}, false, "", "", "v_rcp_f32 v41, v40", plain, {""}, {}},
    {{"gfx1100"}, false, "", "", "v_rcp_f32 v41, v40", "v_add_f32 v42, v40, v43", {""}, {}},                                                    // another register
    {{"gfx1030"}, false, "", "", "v_cmpx_eq_u32 v40, v40", "v_permlane16_b32 v41, v42, s40, s41", {""}, {}},
    {{"gfx1100"}, false, "", "", "v_mov_b32 v41, 1\\ns_mov_b32 exec_lo, exec_lo\\nv_mov_b32 v42, 1", "v_add_nc_u32 v43, v41, v42", {""}, {}},   // wave32
    {{"gfx1200"}, false, "", "", "s_mov_b32 s40, 0", "v_mov_b32 v42, s40", {""}, {}},                                                           // no VALU instruction has read it
    {{"gfx1100", "gfx1250"}, false, "", "", "v_mov_b32 v41, s40\\ns_mov_b32 s40, 0", "v_mov_b32 v42, s40", {""}, {}},
    {{"gfx1200"}, false, "", "", "v_mov_b32 v41, s40\\nv_cmp_eq_u32 s40, v40, v40", "s_mov_b32 s42, s40", {""}, {}},                            // VALU writes, SALU reads
  };
  for (const Case& c : none)
    for (const std::string& arch : c.archs) {
      INFO(arch << ": " << c.first << " / " << c.second);
      Module m(arch, compile_opencl_text(source(c), arch, std::string("-O1") + (c.wave64 ? " -mwavefrontsize64" : "")));
      Buffer<i32> out(64);
      ok(launch(m["enough_0"], {1}, {32}, 0, out));
    }
}
