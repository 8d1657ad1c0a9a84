// Values that nothing wrote: reported on every way to where they matter, silent on the ways that only move them.
// v32 and up and s30 and up are never written; v12 is loaded from fresh memory.
#include "assembly.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

struct Way {
  const char *body, *says;  // says "": runs clean
};
const Way ways[] = {
    {"s_cmp_eq_u32 s30, 0\ns_cbranch_scc1 1f\n1:", "undefined value reaches a branch: nothing wrote SCC"},
    {"s_add_u32 s10, s30, 1\ns_cmp_lg_u32 s10, 0\ns_cbranch_scc0 1f\n1:", "undefined value reaches a branch: nothing wrote SCC"},
    {"v_cmp_eq_u32 vcc, v40, v1\ns_nop 4\ns_cbranch_vccz 1f\n1:", "undefined value reaches a branch"},
    {"v_readfirstlane_b32 s10, v40\ns_nop 4\ns_cmp_eq_u32 s10, 0\ns_cbranch_scc1 1f\n1:", "undefined value reaches a branch: nothing wrote SCC"},
    {"s_mov_b64 exec, s[30:31]", "undefined value reaches EXEC"},
    {"s_and_saveexec_b64 s[10:11], s[30:31]", "undefined value reaches EXEC"},
    {"v_cmpx_eq_u32 vcc, v40, v1", "undefined value reaches EXEC"},
    {"s_setpc_b64 s[30:31]", "undefined value reaches a branch"},
    {"global_load_dword v10, v40, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches an address: nothing wrote bits 0xffffffff of v40"},
    {"global_load_dword v10, v1, s[30:31]\ns_waitcnt vmcnt(0)", "undefined value reaches an address"},
    {"v_add_u32 v41, v40, v2\nglobal_load_dword v10, v41, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches an address: nothing wrote bits 0xffffffff of v41"},
    {"v_readfirstlane_b32 s10, v40\ns_mov_b32 s11, s5\ns_nop 4\ns_load_dword s12, s[10:11], 0x0\ns_waitcnt lgkmcnt(0)", "undefined value reaches an address: nothing wrote bits 0xffffffff of s10"},
    {"s_load_dword s12, s[4:5], s30\ns_waitcnt lgkmcnt(0)", "undefined value reaches an address"},
    {"global_store_dword v2, v40, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches global memory: nothing wrote bits 0xffffffff of v40"},
    {"v_and_b32 v41, 0xff00, v40\nglobal_store_dword v2, v41, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches global memory: nothing wrote bits 0xff00 of v41"},
    {"v_and_b32 v41, 0xff00, v40\nglobal_store_byte v2, v41, s[4:5]\ns_waitcnt vmcnt(0)", ""},
    {"global_atomic_add v2, v40, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches an atomic's operand"},
    {"global_atomic_cmpswap v2, v[40:41], s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches an atomic's operand"},
    {"ds_read_b32 v10, v40\ns_waitcnt lgkmcnt(0)", "undefined value reaches an LDS address"},
    {"ds_write_b32 v40, v1\ns_waitcnt lgkmcnt(0)", "undefined value reaches an LDS address"},
    {"ds_add_u32 v2, v40\ns_waitcnt lgkmcnt(0)", "undefined value reaches an atomic's operand"},
    {"ds_write_b32 v2, v40\ns_waitcnt lgkmcnt(0)", ""},
    {"ds_write_b32 v2, v40\nds_read_b32 v10, v2\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v2, v10, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches global memory"},
    {"ds_read_b32 v10, v2\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v2, v10, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches global memory"},
    {"ds_swizzle_b32 v10, v40 offset:swizzle(SWAP,1)\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v2, v10, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches global memory"},
    {"ds_bpermute_b32 v10, v40, v3\ns_waitcnt lgkmcnt(0)", "undefined value reaches ds_bpermute's lane number"},
    {"ds_permute_b32 v10, v40, v3\ns_waitcnt lgkmcnt(0)", "undefined value reaches ds_permute's lane number"},
    {"ds_bpermute_b32 v10, v2, v40\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v2, v10, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches global memory"},
    {"v_readlane_b32 s10, v3, s30", "undefined value reaches v_readlane's lane number"},
    {"v_writelane_b32 v3, 1, s30", "undefined value reaches v_writelane's lane number"},
    {"s_setreg_b32 hwreg(HW_REG_MODE), s30", "undefined value reaches the MODE register"},
    {"v_mov_b32_dpp v10, v40 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\nglobal_store_dword v2, v10, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches global memory"},
    {"v_cmp_eq_u32 vcc, v40, v1\ns_nop 4\nv_cndmask_b32 v10, v3, v4, vcc\nglobal_store_dword v2, v10, s[4:5]\ns_waitcnt vmcnt(0)", "undefined value reaches global memory"},
    // Moved, masked away, in lanes that are off: no report.
    {"v_mov_b32 v10, v40\ns_mov_b32 s10, s30\nv_add_f32 v11, v40, v41\nds_write_b32 v2, v11\ns_waitcnt lgkmcnt(0)", ""},
    {"v_and_b32 v10, 0, v40\nglobal_store_dword v2, v10, s[4:5]\ns_waitcnt vmcnt(0)", ""},
    {"s_mov_b64 exec, 0\nglobal_store_dword v2, v40, s[4:5]\ns_waitcnt vmcnt(0)", ""},
};

}  // namespace

TEST_CASE("every way of an undefined value", "[strict][undefined]") {
  for (const std::string arch : {"gfx906", "gfx90a", "gfx942"}) {
    std::vector<std::pair<std::string, std::string>> kernels;
    for (size_t k = 0; k < std::size(ways); k++) kernels.emplace_back("k" + std::to_string(k), ways[k].body);
    Module m(arch, assembly_object(arch, kernels));
    for (size_t k = 0; k < std::size(ways); k++) {
      INFO(arch << ": " << ways[k].body);
      Buffer<i32> data(std::vector<i32>(256));
      const hipError_t e = launch(m["k" + std::to_string(k)], {1}, {64}, 0, data);
      INFO(lathe_emulator_last_report());
      REQUIRE((e == hipSuccess) == (ways[k].says[0] == 0));
      REQUIRE_THAT(lathe_emulator_last_report(), Contains(ways[k].says));
    }
  }
}
