// The stages in their order: emit, math library, verify, optimise, assembly text, object, link.
#include "compiler/codegen/codegen.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <chrono>
#include <optional>
#include <set>

#include "compiler/codegen/backend.h"
#include "compiler/codegen/kernel_emitter.h"
#include "compiler/codegen/line_tables.h"
#include "compiler/codegen/link.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

// LLVM's errors of one context, as they come.
struct Diagnostics {
  std::vector<std::string> errors;

  static void receive(const llvm::DiagnosticInfo* info, void* self) {
    if (info->getSeverity() != llvm::DS_Error) return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
    static_cast<Diagnostics*>(self)->errors.push_back(text);
  }
  void throw_if_any(const std::string& where) const {
    if (!errors.empty()) throw Error(where, "LLVM refuses the kernel: " + errors.front());
  }
};

// Records the time from one call to the next.
class Stopwatch {
 public:
  explicit Stopwatch(std::vector<StageTime>& times) : times_(times) {}
  void lap(const char* name) {
    const auto now = std::chrono::steady_clock::now();
    times_.push_back({name, std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }

 private:
  std::vector<StageTime>& times_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// A name becomes an ELF symbol and an LLVM function: "llvm." would be taken for an intrinsic.
void check_names(const std::vector<Kernel>& kernels, const std::string& where) {
  if (kernels.empty()) throw Error(where, "there is no kernel to compile");
  std::set<std::string> seen;
  for (const Kernel& kernel : kernels) {
    const std::string& name = kernel.name;
    bool legal = !name.empty() && !isdigit(static_cast<unsigned char>(name[0])) && !name.starts_with("llvm.") &&
                 !name.starts_with("__oc");
    for (char c : name) legal &= isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
    if (!legal)
      throw Error(where, "\"" + name + "\" is no name for a kernel",
                  "letters, digits, _, . and $, with no digit first and no llvm. or __oc in front");
    if (!seen.insert(name).second) throw Error(where, "two kernels are named " + name, "give each its own name");
  }
}

std::string print(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

}  // namespace

CompiledModule compile_kernels(const std::vector<Kernel>& kernels, const Target& target,
                               const std::string& module_name, const CodegenOptions& options, bool want_llvm,
                               bool want_assembly) {
  CompiledModule result;
  const std::string where = module_name.empty() ? "module" : module_name;
  Stopwatch watch(result.times);
  check_names(kernels, where);
  const LlvmTarget machine_target = llvm_target(target, options);
  llvm::TargetMachine& machine = target_machine(machine_target);
  watch.lap("target");

  llvm::LLVMContext context;
  Diagnostics diagnostics;
  context.setDiagnosticHandlerCallBack(&Diagnostics::receive, &diagnostics);
  llvm::Module module(where, context);
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
  module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", machine_target.code_object_version * 100);
  const ModuleContext module_context{module, target, options, machine_target.wave_size, machine_target.cpu,
                                     machine_target.features};
  std::optional<LineTables> lines;
  if (options.line_tables) lines.emplace(module);
  for (const Kernel& kernel : kernels) KernelEmitter(module_context, kernel, lines ? &*lines : nullptr).run();
  if (lines) lines->finish();
  watch.lap("emit");

  link_device_math(module, *target.gfx, machine_target, where);
  watch.lap("math");

  if (options.verify) {
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    LATHE_CHECK(!llvm::verifyModule(module, &stream), problem + "\n" + print(module));
    watch.lap("verify");
  }

  optimise(module, machine);
  keep_zero_signs(module);
  watch.lap("optimise");
  if (want_llvm) {
    result.llvm_ir = print(module);
    watch.lap("print llvm");
  }
  if (want_assembly) {
    const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
    result.assembly = emit_assembly(*copy, machine);
    watch.lap("assembly");
    diagnostics.throw_if_any(where);
  }
  const std::vector<char> object = emit_object(module, machine);
  watch.lap("object");
  diagnostics.throw_if_any(where);

  result.code_object = link_code_object(object, where);
  watch.lap("link");
  return result;
}

}  // namespace lathe
