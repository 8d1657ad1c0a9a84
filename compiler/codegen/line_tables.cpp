#include "compiler/codegen/line_tables.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Module.h>

namespace lathe {

LineTables::LineTables(llvm::Module& module) : info_(module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Max, "Dwarf Version", 5);  // the first that can embed a source
}

void LineTables::begin(const Kernel& kernel, llvm::Function& function) {
  lines_.clear();
  const std::string text = to_string(kernel, lines_);
  // Embedding is a property of the whole unit, and a unit's file must have its text: one unit per kernel.
  llvm::DIFile* file = info_.createFile(kernel.name + ".ir", ".", std::nullopt, llvm::StringRef(text));
  info_.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "lathe", true, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
  llvm::DISubroutineType* type = info_.createSubroutineType(info_.getOrCreateTypeArray({}));
  function_ = info_.createFunction(file, kernel.name, kernel.name, file, 1, type, 1, llvm::DINode::FlagZero,
                                   llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  function.setSubprogram(function_);
}

void LineTables::at(Builder& ir, const Stmt& s) const {
  const auto line = lines_.find(s.get());
  if (line == lines_.end()) return;
  ir.SetCurrentDebugLocation(llvm::DILocation::get(function_->getContext(), static_cast<unsigned>(line->second), 0, function_));
}

}  // namespace lathe
