// Encodings that other assemblers and older compilers write, and LLVM 22 does not.
#include "support.h"

using namespace emu_test;

TEST_CASE("V_CMPX whose unused destination field is 0", "[encodings]") {
  // v_cmpx_gt_u32_e64 5, v40: the field (the first byte) is 126 from LLVM, 0 from AMD's compilers before LLVM 13.
  const std::vector<std::pair<std::string, std::string>> rows = {{"gfx1030", "0xd4d40000"}, {"gfx1100", "0xd4cc0000"}, {"gfx1201", "0xd4cc0000"}};
  for (const auto& [arch, word] : rows) {
    INFO(arch);
    const std::string text = R"(
kernel void below_five(global uint* out) {
  uint id = __builtin_amdgcn_workitem_id_x(), r = 1;
  __asm volatile("s_mov_b32 s20, exec_lo\n v_mov_b32 v40, %1\n .long )" + word + R"(, 0x00025085\n v_mov_b32 %0, 2\n s_mov_b32 exec_lo, s20" : "+v"(r) : "v"(id) : "s20", "v40");
  out[id] = r;
})";
    Module m(arch, compile_opencl_text(text, arch, "-O2"));
    Buffer<u32> out(32);
    ok(launch(m["below_five"], {1}, {32}, 0, out));
    std::vector<u32> want(32, 1);
    std::fill_n(want.begin(), 5, 2);
    same(out.get(), want);
  }
}
