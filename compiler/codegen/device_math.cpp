// AMD's device math library (ocml) as bitcode: exp, log, sin and their kin for the functions that call them.
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include <cstdlib>
#include <mutex>

#include "compiler/codegen/backend.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

constexpr const char* file_name = "ocml.bc";

// Read once per process; the bytes live as long as it does.
const llvm::MemoryBuffer& ocml_bitcode(const std::string& where) {
  static std::mutex mutex;
  static std::unique_ptr<llvm::MemoryBuffer> bytes;
  const std::lock_guard lock(mutex);
  if (!bytes) {
    const char* chosen = std::getenv("LATHE_DEVICE_LIBS");
    const std::string path = std::string(chosen ? chosen : LATHE_DEVICE_LIBS_DIR) + "/" + file_name;
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!file)
      throw Error(where, "the device math library " + path + " cannot be read: " + file.getError().message(),
                  "install the Debian package rocm-device-libs, or set LATHE_DEVICE_LIBS to the directory of " +
                      std::string(file_name));
    bytes = std::move(*file);
  }
  return *bytes;
}

// The library's switches, as constants that the optimiser folds.
void define_switches(llvm::Module& module, const GfxRow& gfx, const LlvmTarget& target) {
  struct Switch {
    const char* name;
    int value;
  };
  const Switch switches[] = {
      {"__oclc_ISA_version", gfx.major * 1000 + gfx.minor * 100 + gfx.stepping},
      {"__oclc_unsafe_math_opt", 0},
      {"__oclc_daz_opt", 0},
      {"__oclc_finite_only_opt", 0},
      {"__oclc_correctly_rounded_sqrt32", 1},
      {"__oclc_wavefrontsize64", target.wave_size == 64},
      {"__oclc_ABI_version", target.code_object_version * 100},
  };
  for (const Switch& s : switches) {
    llvm::GlobalVariable* variable = module.getGlobalVariable(s.name);
    if (!variable) continue;
    variable->setInitializer(llvm::ConstantInt::get(variable->getValueType(), s.value));
    variable->setLinkage(llvm::GlobalValue::InternalLinkage);
    variable->setConstant(true);
  }
}

}  // namespace

void link_device_math(llvm::Module& module, const GfxRow& gfx, const LlvmTarget& target, const std::string& where) {
  bool needed = false;
  for (const llvm::Function& f : module) needed |= f.isDeclaration() && f.getName().starts_with("__ocml_");
  if (!needed) return;
  auto damaged = [&](const std::string& why) {
    return Error(where, "the device math library is damaged: " + why, "reinstall the Debian package rocm-device-libs");
  };
  auto library = llvm::getLazyBitcodeModule(ocml_bitcode(where).getMemBufferRef(), module.getContext());
  if (!library) throw damaged(llvm::toString(library.takeError()));
  (*library)->setDataLayout(module.getDataLayout());
  (*library)->setTargetTriple(module.getTargetTriple());
  for (const char* name : {"llvm.ident", "opencl.ocl.version", "llvm.module.flags"})
    if (llvm::NamedMDNode* node = (*library)->getNamedMetadata(name)) (*library)->eraseNamedMetadata(node);

  std::vector<const llvm::Function*> ours;
  for (const llvm::Function& f : module)
    if (!f.isDeclaration()) ours.push_back(&f);
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    throw damaged("it does not link");
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) {
      if (!f.isIntrinsic()) throw damaged(f.getName().str() + " has no body");
      continue;
    }
    if (std::find(ours.begin(), ours.end(), &f) != ours.end()) continue;
    f.addFnAttr("target-cpu", target.cpu);  // as the kernels, so that it can be inlined into them
    f.removeFnAttr("target-features");
    if (!target.features.empty()) f.addFnAttr("target-features", target.features);
    f.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  define_switches(module, gfx, target);
}

}  // namespace lathe
