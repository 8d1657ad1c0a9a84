// LLVM 22 selects v_fma_mixlo with an addend of +0 for the rounding of an f32 product to f16 or bf16: a product of -0 becomes
// +0. An fma with -0 says the same as the product, and is selected as it stands. After O3, which would fold it back.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "compiler/codegen/backend.h"

namespace lathe {

void keep_zero_signs(llvm::Module& module) {
  std::vector<llvm::FPTruncInst*> roundings;
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block)
        if (auto* rounding = llvm::dyn_cast<llvm::FPTruncInst>(&instruction)) roundings.push_back(rounding);
  for (llvm::FPTruncInst* rounding : roundings) {
    auto* product = llvm::dyn_cast<llvm::BinaryOperator>(rounding->getOperand(0));
    if (!product || product->getOpcode() != llvm::Instruction::FMul || !product->getType()->getScalarType()->isFloatTy()) continue;
    if (product->hasNoSignedZeros()) continue;
    llvm::IRBuilder<> ir(rounding);
    llvm::Constant* zero = llvm::ConstantFP::getZero(product->getType(), /*Negative=*/true);
    rounding->setOperand(0, ir.CreateIntrinsic(llvm::Intrinsic::fma, {product->getType()}, {product->getOperand(0), product->getOperand(1), zero}));
    if (product->use_empty()) product->eraseFromParent();
  }
}

}  // namespace lathe
