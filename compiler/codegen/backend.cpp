#include "compiler/codegen/backend.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <map>
#include <mutex>

#include "compiler/codegen/llvm_options.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
  });
}

void run_code_generation(llvm::Module& module, llvm::TargetMachine& machine, llvm::raw_pwrite_stream& stream,
                         llvm::CodeGenFileType kind) {
  const auto lock = generating_code();
  llvm::legacy::PassManager passes;
  constexpr bool skip_ir_verifier = true;  // compile_kernels has run it
  const bool refused = machine.addPassesToEmitFile(passes, stream, nullptr, kind, skip_ir_verifier);
  LATHE_CHECK(!refused, "the AMDGPU backend cannot emit this kind of file");
  passes.run(module);
}

}  // namespace

LlvmTarget llvm_target(const Target& target, const CodegenOptions& options) {
  const std::string where = "target " + target.id();
  const GfxRow& gfx = *target.gfx;
  if (!gfx.compiles)
    throw Error(where, "Lathe does not compile for " + std::string(gfx.name),
                gfx.generic.empty() ? "`lathe targets` lists those it compiles for"
                                    : "an object for " + std::string(gfx.generic) + " may run on it");
  LlvmTarget result;
  result.cpu = gfx.name;
  auto add = [&](std::string_view feature) {
    if (!result.features.empty()) result.features += ',';
    result.features += feature;
  };
  if (target.sramecc != Feature::any) add(target.sramecc == Feature::on ? "+sramecc" : "-sramecc");
  if (target.xnack != Feature::any) add(target.xnack == Feature::on ? "+xnack" : "-xnack");
  result.wave_size = options.wave_size ? options.wave_size : gfx.wave_size;
  if (result.wave_size != gfx.wave_size && !(gfx.has_wave32 && (result.wave_size == 32 || result.wave_size == 64)))
    throw Error(where, "a wave of " + std::to_string(options.wave_size) + " lanes",
                gfx.has_wave32 ? "32 or 64 lanes" : std::to_string(gfx.wave_size) + " lanes");
  if (gfx.has_wave32) add(result.wave_size == 32 ? "+wavefrontsize32" : "+wavefrontsize64");
  // Halves of registers as operands are new in LLVM 22 for gfx11 and later, and lose a branch where four f16 values, one of
  // them of a phi, become one store (global_load_d16_hi then fills a register whose low half was never written).
  if (gfx.major >= 11) add("-real-true16");
  // The default of LLVM would be 6 for all; 5 is what HIP 5 loads. Generic targets exist since version 6.
  result.code_object_version = options.code_object_version ? options.code_object_version : gfx.is_generic ? 6 : 5;
  if (result.code_object_version < 4 || result.code_object_version > 6)
    throw Error(where, "code object version " + std::to_string(options.code_object_version), "4, 5 or 6");
  if (gfx.is_generic && result.code_object_version < 6)
    throw Error(where, "code object version " + std::to_string(options.code_object_version) + " for a generic target",
                "generic targets need version 6");
  return result;
}

llvm::TargetMachine& target_machine(const LlvmTarget& target) {
  initialise_llvm();
  thread_local std::map<std::string, std::unique_ptr<llvm::TargetMachine>> machines;
  std::unique_ptr<llvm::TargetMachine>& machine = machines[target.cpu + ":" + target.features];
  if (!machine) {
    const llvm::Triple triple("amdgcn-amd-amdhsa");
    std::string error;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
    LATHE_CHECK(found, error);
    llvm::TargetOptions options;
    options.MCOptions.AsmVerbose = true;
    machine.reset(found->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                             std::nullopt, llvm::CodeGenOptLevel::Default));
    LATHE_CHECK(machine, "no target machine for " + target.cpu);
  }
  return *machine;
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  const auto lock = generating_code();
  llvm::PipelineTuningOptions tuning;
  // The schedule vectorizes and unrolls. SLP stays: it is what packs two f16 or two f32 into one instruction.
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

std::vector<char> emit_object(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  run_code_generation(module, machine, stream, llvm::CodeGenFileType::ObjectFile);
  return {bytes.begin(), bytes.end()};
}

std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  run_code_generation(module, machine, stream, llvm::CodeGenFileType::AssemblyFile);
  return {text.begin(), text.end()};
}

}  // namespace lathe
