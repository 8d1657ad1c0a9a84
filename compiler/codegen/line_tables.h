// Line tables: every instruction of a kernel points at the statement it came from, a line of the kernel's text, which is
// embedded. Debuggers, the emulated GPU's reports and `lathe explain` read them. Internal to this room (LLVM headers).
#pragma once

#include <llvm/IR/DIBuilder.h>

#include "compiler/codegen/numeric.h"
#include "ir/print.h"

namespace lathe {

class LineTables {
 public:
  explicit LineTables(llvm::Module& module);
  void begin(const Kernel& kernel, llvm::Function& function);
  void at(Builder& ir, const Stmt& s) const;  // what is emitted from now on came from `s`
  void finish() { info_.finalize(); }

 private:
  llvm::DIBuilder info_;
  llvm::DISubprogram* function_ = nullptr;
  StmtLines lines_;
};

}  // namespace lathe
