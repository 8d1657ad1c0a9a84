// LLVM's side of code generation: target machine, O3, object and assembly, the device math library.
// Internal to this room (LLVM headers, forward-declared).
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/codegen.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace lathe {

// A target as LLVM names it.
struct LlvmTarget {
  std::string cpu, features;
  int wave_size = 0;
  int code_object_version = 0;
};
// Throws Error for a target that is not compiled for, or options that it cannot follow.
LlvmTarget llvm_target(const Target& target, const CodegenOptions& options);

// Of this thread: made once per cpu and feature string, then kept.
llvm::TargetMachine& target_machine(const LlvmTarget& target);

void optimise(llvm::Module& module, llvm::TargetMachine& machine);
void keep_zero_signs(llvm::Module& module);  // after `optimise`: zero_signs.cpp says why
// Both consume the module.
std::vector<char> emit_object(llvm::Module& module, llvm::TargetMachine& machine);
std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine);

// Links the bodies of all __ocml_ functions that `module` calls, if it calls any. Throws Error when the library's
// file is missing or damaged.
void link_device_math(llvm::Module& module, const GfxRow& gfx, const LlvmTarget& target, const std::string& where);

}  // namespace lathe
