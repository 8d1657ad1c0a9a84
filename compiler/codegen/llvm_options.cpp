#include "compiler/codegen/llvm_options.h"

#include <llvm/Support/CommandLine.h>

#include "runtime/base/error.h"

namespace lathe {
namespace {

std::shared_mutex mutex;
bool are_set = false;  // written under the exclusive lock

struct OptionRow {
  const char* name;
  bool value;
};

constexpr OptionRow rows[] = {
    // LLVM 22 turns (u % 10) * 28 of a u64 into mul_u24, which looks at 24 bits and so drops the high part of the
    // quotient, and that into v_mad_u64_u32, which reads all 32: a wrong address. Until that is mended there, the pass
    // that makes the 24-bit products of 64-bit values stays off.
    {"amdgpu-codegenprepare-mul24", false},
    // LLVM 22 merges the s_and that defines SCC for an s_cselect with the one in front of a branch (MachineCSE), and
    // si-pre-emit-peephole then deletes it: the s_cselect reads an old SCC (LLVM's issue 215745, mended in August
    // 2026). Without the merging both stay. The GEMM's code keeps its length.
    {"disable-machine-cse", true},
    // LLVM 22's peephole-opt folds a 64-bit constant into s_mov_b64, whose literal has 32 bits before gfx12: gfx90a and gfx942
    // read 0 for the rest of it (only seen with MachineCSE off). The GEMMs' code stays as it is; of the programs in
    // tests/programs only deep_tiles grows, by a quarter.
    {"disable-peephole", true},
    // LICM keeps an element of LDS in a register over a loop, and loads it before the loop in every wave, also where only
    // some work-items add to it: harmless on silicon, as the others do not use it, but a race in strict mode. Accumulators
    // are registers by the schedule (cache_write), not by this. The GEMMs' code stays as it is.
    {"disable-licm-promotion", true},
};

void set_options() {
  auto& options = llvm::cl::getRegisteredOptions();
  for (const OptionRow& row : rows) {
    auto found = options.find(row.name);
    LATHE_CHECK(found != options.end(), std::string("LLVM has no option ") + row.name);
    static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(row.value);
  }
}

}  // namespace

std::shared_lock<std::shared_mutex> generating_code() {
  for (;;) {
    std::shared_lock lock(mutex);
    if (are_set) return lock;
    lock.unlock();
    const std::unique_lock alone(mutex);
    set_options();
    are_set = true;
  }
}

std::unique_lock<std::shared_mutex> linking() {
  std::unique_lock lock(mutex);
  are_set = false;
  return lock;
}

}  // namespace lathe
