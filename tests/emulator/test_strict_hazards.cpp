// Hazards that the ISA leaves to software: with one wait state fewer than the document asks for, a report; with
// the right number, none.
#include "assembly.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

struct Pair {
  const char *says, *first, *second;
  int needed;
};
std::string kernel_of(const Pair& p, int states) {
  std::string s = std::string(p.first) + "\n";
  for (; states > 0; states -= 8) s += "s_nop " + std::to_string(std::min(states, 8) - 1) + "\n";
  return s + p.second + "\ns_waitcnt vmcnt(0) lgkmcnt(0)";
}

const Pair on_gfx9[] = {
    {"writes an SGPR, then a vector memory instruction reads it", "v_mov_b32 v10, s4\ns_nop 4\nv_readfirstlane_b32 s4, v10", "global_load_dword v11, v1, s[4:5]", 5},
    {"takes its lane number from it", "v_readfirstlane_b32 s8, v1", "v_readlane_b32 s9, v3, s8", 4},
    {"takes its lane number from it", "v_readfirstlane_b32 s8, v1", "v_writelane_b32 v3, 1, s8", 4},
    {"writes VCC, then v_div_fmas reads it", "v_cmp_eq_u32 vcc, v1, v3", "v_div_fmas_f32 v4, v5, v6, v7", 4},
    {"writes a VGPR, then a DPP instruction reads it", "v_add_u32 v4, v3, v3", "v_mov_b32_dpp v5, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", 2},
    {"writes EXEC, then a DPP instruction follows", "v_cmpx_eq_u32 vcc, v1, v1", "v_mov_b32_dpp v5, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", 5},
    {"writes VCC or EXEC, then a VALU instruction reads VCCZ or EXECZ", "v_cmp_eq_u32 vcc, v1, v3", "v_mov_b32 v4, src_vccz", 5},
    {"then s_getreg or s_setreg of the same hardware register", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_getreg_b32 s9, hwreg(HW_REG_MODE, 0, 4)", 2},
    {"writes M0, then a message", "s_mov_b32 m0, s8", "s_sendmsg sendmsg(MSG_INTERRUPT)", 1},
};
const Pair on_gfx906[] = {
    {"a store of more than 64 bits, then a VALU instruction overwrites its data", "global_store_dwordx4 v1, v[4:7], s[4:5]", "v_mov_b32 v6, 0", 1},
};
const Pair on_gfx942[] = {
    {"a store of more than 64 bits, then a VALU instruction overwrites its data", "global_store_dwordx4 v1, v[4:7], s[4:5]", "v_mov_b32 v6, 0", 2},
    {"a transcendental instruction writes a VGPR", "v_rcp_f32 v4, v5", "v_add_f32 v6, v4, v5", 1},
    {"writes an SGPR or VCC, then a VALU instruction reads it", "v_cmp_eq_u32 vcc, v1, v3", "v_cndmask_b32 v4, v5, v6, vcc", 2},
    {"writes EXEC, then a lane is read or written", "v_cmpx_eq_u32 vcc, v1, v1", "v_readlane_b32 s9, v3, 0", 4},
    {"writes a VGPR, then a lane of it is read", "v_mov_b32 v4, v5", "v_readfirstlane_b32 s9, v4", 1},
};
// Matrix cores: D of a first instruction in the sources of a second, read by VALU and memory, overwritten.
const Pair on_gfx90a_matrix[] = {
    {"writes a VGPR, then a matrix instruction reads it", "v_mov_b32 v4, v5", "v_mfma_f32_4x4x1f32 v[16:19], v4, v5, v[20:23]", 2},
    {"writes EXEC, then a matrix instruction follows", "v_cmpx_eq_u32 vcc, v1, v1", "v_mfma_f32_4x4x1f32 v[16:19], v4, v5, v[20:23]", 4},
    {"writes D, then another one reads it", "v_mfma_f32_4x4x1f32 v[16:19], v4, v5, v[20:23]", "v_mfma_f32_4x4x1f32 v[24:27], v16, v5, v[20:23]", 5},
    {"writes D, then it is read or overwritten", "v_mfma_f32_4x4x1f32 v[16:19], v4, v5, v[20:23]", "v_mov_b32 v6, v19", 5},
    {"writes D, then it is read or overwritten", "v_mfma_f32_16x16x4f32 v[16:19], v4, v5, v[20:23]", "global_store_dword v1, v17, s[4:5]", 11},
    {"writes D, then it is read or overwritten", "v_mfma_f32_32x32x2f32 v[16:31], v4, v5, v[16:31]", "v_mov_b32 v20, 0", 19},
    {"reads C, then a VALU instruction overwrites it", "v_mfma_f32_16x16x4f32 v[16:19], v4, v5, v[20:23]", "v_mov_b32 v22, 0", 7},
};
const Pair on_gfx942_matrix[] = {
    {"writes D, then another one reads it", "v_mfma_f32_16x16x16_f16 v[16:19], v[4:5], v[6:7], v[20:23]", "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[6:7], v[20:23]", 7},
    {"writes D, then another one reads it", "v_mfma_f32_16x16x16_f16 v[16:19], v[4:5], v[6:7], v[20:23]", "v_mfma_f32_16x16x16_f16 v[24:27], v[4:5], v[6:7], v[18:21]", 5},
    {"writes D, then it is read or overwritten", "v_mfma_f32_16x16x16_f16 v[16:19], v[4:5], v[6:7], v[20:23]", "v_mov_b32 v6, v19", 7},
    {"writes D, then it is read or overwritten", "v_mfma_f32_16x16x4_f32 v[16:19], v4, v5, v[20:23]", "global_store_dword v1, v17, s[4:5]", 10},
};
const Pair on_gfx950_matrix[] = {
    {"writes D, then another one reads it", "v_mfma_f32_16x16x16_f16 v[16:19], v[4:5], v[6:7], v[20:23]", "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[6:7], v[20:23]", 8},
    {"writes D, then another one reads it", "v_mfma_f32_16x16x16_f16 v[16:19], v[4:5], v[6:7], v[20:23]", "v_mfma_f32_16x16x16_f16 v[24:27], v[4:5], v[6:7], v[18:21]", 6},
    {"writes D, then it is read or overwritten", "v_mfma_f32_16x16x16_f16 v[16:19], v[4:5], v[6:7], v[20:23]", "v_mov_b32 v6, v19", 8},
    {"writes D, then it is read or overwritten", "v_mfma_f32_16x16x4_f32 v[16:19], v4, v5, v[20:23]", "global_store_dword v1, v17, s[4:5]", 10},
};

template <size_t N>
void check_pairs(const std::string& arch, const Pair (&pairs)[N]) {
  std::vector<std::pair<std::string, std::string>> kernels;
  for (size_t k = 0; k < N; k++)
    for (int fewer : {0, 1}) kernels.emplace_back("k" + std::to_string(k) + (fewer ? "_short" : "_enough"), kernel_of(pairs[k], pairs[k].needed - fewer));
  Module m(arch, assembly_object(arch, kernels));
  for (size_t k = 0; k < N; k++) {
    const Pair& p = pairs[k];
    INFO(arch << ": " << p.first << " / " << p.second);
    Buffer<i32> data(std::vector<i32>(64));
    REQUIRE(launch(m["k" + std::to_string(k) + "_short"], {1}, {64}, 0, data) == hipErrorLaunchFailure);
    REQUIRE_THAT(lathe_emulator_last_report(), Contains("hazard: ") && Contains(p.says) && Contains(std::to_string(p.needed) + " wait states are needed in between") && Contains("first        "));
    ok(launch(m["k" + std::to_string(k) + "_enough"], {1}, {64}, 0, data));
  }
}

}  // namespace

TEST_CASE("data hazards of gfx9", "[strict][hazards]") {
  for (const std::string arch : {"gfx900", "gfx906", "gfx90a", "gfx942", "gfx950"}) check_pairs(arch, on_gfx9);
  check_pairs("gfx906", on_gfx906);
  for (const std::string arch : {"gfx942", "gfx950"}) check_pairs(arch, on_gfx942);
}

TEST_CASE("hazards of matrix instructions", "[strict][hazards]") {
  check_pairs("gfx90a", on_gfx90a_matrix);
  check_pairs("gfx942", on_gfx942_matrix);
  check_pairs("gfx950", on_gfx950_matrix);
}

TEST_CASE("a hazard across a branch, and only on the path that was taken", "[strict][hazards]") {
  // v_readfirstlane before the branch, the load behind it; the other path has its wait states.
  const auto kernel = [](const char* condition) {
    return std::string("v_mov_b32 v10, s4\ns_cmp_eq_u32 s8, ") + condition + "\nv_readfirstlane_b32 s4, v10\ns_cbranch_scc1 1f\ns_nop 3\n1:\nglobal_load_dword v11, v1, s[4:5]\ns_waitcnt vmcnt(0)";
  };
  const auto loop = [](const char* nop) {
    return std::string("s_mov_b32 s10, 2\n1:\nv_mov_b32_dpp v5, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\ns_sub_u32 s10, s10, 1\ns_cmp_eq_u32 s10, 0\nv_add_u32 v4, v3, v3\n") + nop + "s_cbranch_scc0 1b";
  };
  for (const std::string arch : {"gfx906", "gfx942"}) {
    Module m(arch, assembly_object(arch, {{"taken", kernel("0")}, {"not_taken", kernel("1")}, {"loop_short", loop("")}, {"loop_enough", loop("s_nop 0\n")}}));
    Buffer<i32> data(std::vector<i32>(64));
    REQUIRE(launch(m["taken"], {1}, {64}, 0, data) == hipErrorLaunchFailure);
    REQUIRE_THAT(lathe_emulator_last_report(), Contains("5 wait states are needed in between, 1 are there"));
    ok(launch(m["not_taken"], {1}, {64}, 0, data));
    REQUIRE(launch(m["loop_short"], {1}, {64}, 0, data) == hipErrorLaunchFailure);
    REQUIRE_THAT(lathe_emulator_last_report(), Contains("then a DPP instruction reads it"));
    ok(launch(m["loop_enough"], {1}, {64}, 0, data));
  }
}
