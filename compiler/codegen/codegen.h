// Kernels to a code object: LLVM IR, the O3 pipeline, the AMDGPU backend, lld, all in this process.
// No LLVM header is visible here; see README.md for what lives in this room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/stmt.h"
#include "runtime/base/target.h"

namespace lathe {

struct CodegenOptions {
  bool fast_math = false;       // allow LLVM to contract and reassociate floats: off by the numerics contract
  int code_object_version = 0;  // 4, 5 or 6; 0: 5, or 6 where the target needs it (generic targets)
  int wave_size = 0;            // 32 or 64; 0: the target's
  bool line_tables = false;     // DWARF: each instruction's line in the kernel's text, which is embedded
  bool verify = true;           // run LLVM's verifier on what we emit
};

struct StageTime {
  std::string name;  // "emit", "optimise", "object", "link", …
  double milliseconds = 0;
};

struct CompiledModule {
  std::vector<uint8_t> code_object;  // an ELF shared object, as hipModuleLoadData takes it
  std::string llvm_ir;               // after O3; empty unless asked for
  std::string assembly;              // empty unless asked for
  std::vector<StageTime> times;
};

// Compiles `kernels` (one or more, of distinct names) into one code object for `target`. Same input, same bytes.
// Throws Error on what the target cannot do; `module_name` is the place its message names.
// Safe to call from several threads at once (linking takes turns).
CompiledModule compile_kernels(const std::vector<Kernel>& kernels, const Target& target,
                               const std::string& module_name, const CodegenOptions& options = {},
                               bool want_llvm = false, bool want_assembly = false);

}  // namespace lathe
