// Accesses that the targets cannot do misaligned, in the unaligned mode that HSA sets: atomics and scalar loads.
// Everything else may be at any byte.
#include "assembly.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

struct Access {
  const char *body, *says;
};
const Access gfx9[] = {
    {"s_add_u32 s10, s4, 2\ns_addc_u32 s11, s5, 0\ns_load_dword s12, s[10:11], 0x0\ns_waitcnt lgkmcnt(0)", "scalar load of 4 bytes at 0x"},
    {"v_mov_b32 v10, 2\nglobal_atomic_add v10, v3, s[4:5]\ns_waitcnt vmcnt(0)", "atomic of 4 bytes at 0x"},
    {"v_mov_b32 v10, 4\nglobal_atomic_add_x2 v10, v[4:5], s[4:5]\ns_waitcnt vmcnt(0)", "atomic of 8 bytes at 0x"},
    {"v_mov_b32 v10, 2\nds_add_u32 v10, v3\ns_waitcnt lgkmcnt(0)", "LDS atomic of 4 bytes at 0x2"},
    {"v_mov_b32 v10, 4\nds_add_u64 v10, v[4:5]\ns_waitcnt lgkmcnt(0)", "LDS atomic of 8 bytes at 0x4"},
    {"v_mov_b32 v10, 1\nglobal_load_dwordx4 v[16:19], v10, s[4:5]\nglobal_load_ushort v20, v10, s[4:5]\nglobal_store_dwordx2 v10, v[4:5], s[4:5] offset:16\ns_waitcnt vmcnt(0)", ""},
    {"v_mov_b32 v10, 3\nds_write_b64 v10, v[4:5]\nds_write_b128 v10, v[4:7] offset:32\nds_read_b64 v[16:17], v10\nds_read_b128 v[20:23], v10 offset:32\ns_waitcnt lgkmcnt(0)", ""},
};
const Access gfx12[] = {
    {"s_add_co_u32 s10, s4, 1\ns_add_co_ci_u32 s11, s5, 0\ns_load_u16 s12, s[10:11], 0x0\ns_wait_kmcnt 0", "scalar load of 2 bytes at 0x"},
    {"s_add_co_u32 s10, s4, 1\ns_add_co_ci_u32 s11, s5, 0\ns_load_u8 s12, s[10:11], 0x0\ns_wait_kmcnt 0", ""},
};
template <size_t N>
void check_accesses(const std::string& arch, const Access (&list)[N]) {
  std::vector<std::pair<std::string, std::string>> kernels;
  for (size_t k = 0; k < N; k++) kernels.emplace_back("k" + std::to_string(k), list[k].body);
  Module m(arch, assembly_object(arch, kernels));
  for (size_t k = 0; k < N; k++) {
    INFO(arch << ": " << list[k].body);
    Buffer<i32> data(std::vector<i32>(256));
    const hipError_t e = launch(m["k" + std::to_string(k)], {1}, {1}, 0, data);
    INFO(lathe_emulator_last_report());
    REQUIRE((e == hipSuccess) == (list[k].says[0] == 0));
    REQUIRE_THAT(lathe_emulator_last_report(), Contains(list[k].says));
  }
}

}  // namespace

TEST_CASE("misaligned accesses", "[strict][alignment]") {
  for (const std::string arch : {"gfx906", "gfx90a", "gfx942"}) check_accesses(arch, gfx9);
  check_accesses("gfx1200", gfx12);
}
