// The numerics contract as LLVM IR: operators and conversions on values of one element type, scalar or vector.
// Internal to this room (LLVM headers).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/op.h"
#include "runtime/base/dtype.h"

namespace lathe {

using Builder = llvm::IRBuilder<>;

// How a value of `type` is held in a register: i1 for bool, the code as i8 for 8-bit floats, else the LLVM type of
// that name. And in memory: the same, but a bool takes a byte.
llvm::Type* value_type(llvm::LLVMContext& context, DType type);
llvm::Type* memory_type(llvm::LLVMContext& context, DType type);

// What the index analysis knows about the operands of an integer operator.
struct OperandFacts {
  bool no_wrap = false;           // the result stands in an index: signed overflow cannot happen
  bool nonnegative[2] = {false, false};
};

// `op` on operands of type `operand` (for select: that of the two values), giving `result`.
llvm::Value* emit_apply(Builder& ir, Op op, DType result, DType operand, llvm::ArrayRef<llvm::Value*> args,
                        OperandFacts facts = {});
llvm::Value* emit_cast(Builder& ir, DType from, DType to, llvm::Value* value);
llvm::Constant* emit_real(llvm::LLVMContext& context, DType type, double value);

// A vector built by applying `f` to each lane; scalars pass through f once.
llvm::Value* per_lane(Builder& ir, llvm::ArrayRef<llvm::Value*> args,
                      llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> f);

}  // namespace lathe
