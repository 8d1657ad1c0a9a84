// Operators. To add one: its row in ir/op.h, then a case in `apply_integer` and in `apply_float` (the compiler names
// the switches that miss it). Meanings are DESIGN.md's numerics contract.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "compiler/codegen/numeric.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

using llvm::Intrinsic::ID;
using llvm::Type;
using llvm::Value;

// ---- integers

// Division and remainder. A zero divisor gives 0, INT_MIN / -1 wraps, neither is undefined behaviour in the IR.
struct Division {
  bool remainder;
  bool floor;  // toward negative infinity, else toward zero
};

Value* divide_unsigned(Builder& ir, Division d, Value* a, Value* b) {
  return d.remainder ? ir.CreateURem(a, b) : ir.CreateUDiv(a, b);
}

Value* divide_by_constant(Builder& ir, Division d, DType type, Value* a, const llvm::APInt& c, bool a_nonnegative) {
  Type* t = a->getType();
  Value* b = llvm::ConstantInt::get(t, c);
  if (c.isZero()) return llvm::Constant::getNullValue(t);
  if (!type.is_signed() || (a_nonnegative && c.isStrictlyPositive())) return divide_unsigned(ir, d, a, b);
  if (c.isAllOnes()) return d.remainder ? llvm::Constant::getNullValue(t) : ir.CreateNeg(a);
  if (!d.floor) return d.remainder ? ir.CreateSRem(a, b) : ir.CreateSDiv(a, b);
  if (c.isPowerOf2() && c.isStrictlyPositive())
    return d.remainder ? ir.CreateAnd(a, llvm::ConstantInt::get(t, c - 1))
                       : ir.CreateAShr(a, llvm::ConstantInt::get(t, c.logBase2()));
  if (c.isStrictlyPositive()) {
    // floor(a / c) = a >= 0 ? a / c : ~(~a / c), and ~a is nonnegative where a is negative.
    Value* sign = ir.CreateAShr(a, llvm::ConstantInt::get(t, type.bits - 1));
    Value* quotient = ir.CreateXor(ir.CreateUDiv(ir.CreateXor(a, sign), b), sign);
    return d.remainder ? ir.CreateSub(a, ir.CreateMul(quotient, b)) : quotient;
  }
  // A negative constant: truncate, then step down where there is a remainder of the other sign.
  Value* r = ir.CreateSRem(a, b);
  Value* step = ir.CreateICmpSGT(r, llvm::Constant::getNullValue(t));
  if (d.remainder) return ir.CreateAdd(r, ir.CreateSelect(step, b, llvm::Constant::getNullValue(t)));
  return ir.CreateSub(ir.CreateSDiv(a, b), ir.CreateZExt(step, t));
}

Value* divide(Builder& ir, Division d, DType type, Value* a, Value* b, const OperandFacts& facts) {
  Type* t = a->getType();
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(b)) {
    auto* scalar = llvm::dyn_cast_or_null<llvm::ConstantInt>(t->isVectorTy() ? constant->getSplatValue() : constant);
    if (scalar) return divide_by_constant(ir, d, type, a, scalar->getValue(), facts.nonnegative[0]);
  }
  Value* zero = llvm::Constant::getNullValue(t);
  Value* one = llvm::ConstantInt::get(t, 1);
  Value* by_zero = ir.CreateICmpEQ(b, zero);
  if (!type.is_signed() || (facts.nonnegative[0] && facts.nonnegative[1]))
    return ir.CreateSelect(by_zero, zero, divide_unsigned(ir, d, a, ir.CreateSelect(by_zero, one, b)));
  Value* by_minus_one = ir.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(t));
  Value* safe = ir.CreateSelect(ir.CreateOr(by_zero, by_minus_one), one, b);
  Value* remainder = ir.CreateSRem(a, safe);  // 0 for a divisor of 0 or -1, as it must be
  Value* step = nullptr;
  if (d.floor)
    step = ir.CreateAnd(ir.CreateICmpNE(remainder, zero), ir.CreateICmpSLT(ir.CreateXor(remainder, safe), zero));
  if (d.remainder) return d.floor ? ir.CreateAdd(remainder, ir.CreateSelect(step, safe, zero)) : remainder;
  Value* quotient = ir.CreateSDiv(a, safe);
  if (d.floor) quotient = ir.CreateSub(quotient, ir.CreateZExt(step, t));
  quotient = ir.CreateSelect(by_minus_one, ir.CreateNeg(a), quotient);
  return ir.CreateSelect(by_zero, zero, quotient);
}

Value* apply_integer(Builder& ir, Op op, DType type, llvm::ArrayRef<Value*> x, const OperandFacts& facts) {
  const bool is_signed = type.is_signed();
  const bool nsw = facts.no_wrap && is_signed;
  auto amount = [&] { return ir.CreateAnd(x[1], llvm::ConstantInt::get(x[1]->getType(), type.bits - 1)); };
  auto pick = [&](ID when_signed, ID when_unsigned) {
    return ir.CreateBinaryIntrinsic(is_signed ? when_signed : when_unsigned, x[0], x[1]);
  };
  using Predicate = llvm::CmpInst::Predicate;
  auto compare = [&](Predicate when_signed, Predicate when_unsigned) {
    return ir.CreateICmp(is_signed ? when_signed : when_unsigned, x[0], x[1]);
  };
  switch (op) {
    case Op::add: return ir.CreateAdd(x[0], x[1], "", false, nsw);
    case Op::sub: return ir.CreateSub(x[0], x[1], "", false, nsw);
    case Op::mul: return ir.CreateMul(x[0], x[1], "", false, nsw);
    case Op::neg: return ir.CreateNeg(x[0]);
    case Op::div: return divide(ir, {false, true}, type, x[0], x[1], facts);
    case Op::mod: return divide(ir, {true, true}, type, x[0], x[1], facts);
    case Op::trunc_div: return divide(ir, {false, false}, type, x[0], x[1], facts);
    case Op::trunc_mod: return divide(ir, {true, false}, type, x[0], x[1], facts);
    case Op::min: return pick(llvm::Intrinsic::smin, llvm::Intrinsic::umin);
    case Op::max: return pick(llvm::Intrinsic::smax, llvm::Intrinsic::umax);
    case Op::abs: return is_signed ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x[0], ir.getFalse()) : x[0];
    case Op::bit_and: case Op::logical_and: return ir.CreateAnd(x[0], x[1]);
    case Op::bit_or: case Op::logical_or: return ir.CreateOr(x[0], x[1]);
    case Op::bit_xor: return ir.CreateXor(x[0], x[1]);
    case Op::bit_not: case Op::logical_not: return ir.CreateNot(x[0]);
    case Op::shl: return ir.CreateShl(x[0], amount());
    case Op::shr: return is_signed ? ir.CreateAShr(x[0], amount()) : ir.CreateLShr(x[0], amount());
    case Op::eq: return compare(Predicate::ICMP_EQ, Predicate::ICMP_EQ);
    case Op::ne: return compare(Predicate::ICMP_NE, Predicate::ICMP_NE);
    case Op::lt: return compare(Predicate::ICMP_SLT, Predicate::ICMP_ULT);
    case Op::le: return compare(Predicate::ICMP_SLE, Predicate::ICMP_ULE);
    case Op::gt: return compare(Predicate::ICMP_SGT, Predicate::ICMP_UGT);
    case Op::ge: return compare(Predicate::ICMP_SGE, Predicate::ICMP_UGE);
    case Op::select: return ir.CreateSelect(x[0], x[1], x[2]);
    case Op::fmin: case Op::fmax: case Op::fma: case Op::sqrt: case Op::rsqrt: case Op::floor: case Op::ceil:
    case Op::round: case Op::trunc: case Op::exp: case Op::exp2: case Op::log: case Op::log2: case Op::pow:
    case Op::sin: case Op::cos: case Op::tanh: case Op::erf: case Op::is_nan: break;  // floats only: see make_apply
  }
  LATHE_CHECK(false, std::string(op_row(op).name) + " of " + to_string(type));
  return nullptr;
}

// ---- floats

// A function of the device math library, lane by lane: linked in by device_math.cpp.
Value* call_ocml(Builder& ir, const char* name, llvm::ArrayRef<Value*> x) {
  Type* scalar = x[0]->getType()->getScalarType();
  const char* suffix = scalar->isDoubleTy() ? "_f64" : scalar->isFloatTy() ? "_f32" : "_f16";
  llvm::SmallVector<Type*, 2> parameters(x.size(), scalar);
  llvm::Module& module = *ir.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee = module.getOrInsertFunction("__ocml_" + std::string(name) + suffix,
                                                           llvm::FunctionType::get(scalar, parameters, false));
  return per_lane(ir, x, [&](llvm::ArrayRef<Value*> lane) -> Value* {
    llvm::CallInst* call = ir.CreateCall(callee, lane);
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    return call;
  });
}

// Python's %: the sign of the divisor. LLVM expands frem exactly (its expand-ir-insts pass), so this is fmod.
Value* floor_mod(Builder& ir, Value* a, Value* b) {
  Value* zero = llvm::Constant::getNullValue(a->getType());
  Value* r = ir.CreateFRem(a, b);
  Value* other_sign = ir.CreateXor(ir.CreateFCmpOLT(r, zero), ir.CreateFCmpOLT(b, zero));
  Value* fixed = ir.CreateSelect(other_sign, ir.CreateFAdd(r, b), r);
  Value* signed_zero = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, b);
  return ir.CreateSelect(ir.CreateFCmpOEQ(r, zero), signed_zero, fixed);
}

Value* apply_float(Builder& ir, Op op, DType type, llvm::ArrayRef<Value*> x) {
  auto unary = [&](ID id) { return ir.CreateUnaryIntrinsic(id, x[0]); };
  auto binary = [&](ID id) { return ir.CreateBinaryIntrinsic(id, x[0], x[1]); };
  switch (op) {
    case Op::add: return ir.CreateFAdd(x[0], x[1]);
    case Op::sub: return ir.CreateFSub(x[0], x[1]);
    case Op::mul: return ir.CreateFMul(x[0], x[1]);
    case Op::div: return ir.CreateFDiv(x[0], x[1]);
    case Op::mod: return floor_mod(ir, x[0], x[1]);
    case Op::trunc_mod: return ir.CreateFRem(x[0], x[1]);
    case Op::neg: return ir.CreateFNeg(x[0]);
    case Op::abs: return unary(llvm::Intrinsic::fabs);
    case Op::min: return binary(llvm::Intrinsic::minimum);
    case Op::max: return binary(llvm::Intrinsic::maximum);
    case Op::fmin: return binary(llvm::Intrinsic::minimumnum);
    case Op::fmax: return binary(llvm::Intrinsic::maximumnum);
    case Op::fma: return ir.CreateIntrinsic(llvm::Intrinsic::fma, {x[0]->getType()}, {x[0], x[1], x[2]});
    case Op::sqrt: return unary(llvm::Intrinsic::sqrt);
    case Op::rsqrt: return ir.CreateFDiv(llvm::ConstantFP::get(x[0]->getType(), 1.0), unary(llvm::Intrinsic::sqrt));
    case Op::floor: return unary(llvm::Intrinsic::floor);
    case Op::ceil: return unary(llvm::Intrinsic::ceil);
    case Op::round: return unary(llvm::Intrinsic::roundeven);
    case Op::trunc: return unary(llvm::Intrinsic::trunc);
    case Op::exp: return call_ocml(ir, "exp", x);
    case Op::exp2: return call_ocml(ir, "exp2", x);
    case Op::log: return call_ocml(ir, "log", x);
    case Op::log2: return call_ocml(ir, "log2", x);
    case Op::pow: return call_ocml(ir, "pow", x);
    case Op::sin: return call_ocml(ir, "sin", x);
    case Op::cos: return call_ocml(ir, "cos", x);
    case Op::tanh: return call_ocml(ir, "tanh", x);
    case Op::erf: return call_ocml(ir, "erf", x);
    case Op::is_nan: return ir.CreateFCmpUNO(x[0], x[0]);
    case Op::eq: return ir.CreateFCmpOEQ(x[0], x[1]);
    case Op::ne: return ir.CreateFCmpUNE(x[0], x[1]);
    case Op::lt: return ir.CreateFCmpOLT(x[0], x[1]);
    case Op::le: return ir.CreateFCmpOLE(x[0], x[1]);
    case Op::gt: return ir.CreateFCmpOGT(x[0], x[1]);
    case Op::ge: return ir.CreateFCmpOGE(x[0], x[1]);
    case Op::select: return ir.CreateSelect(x[0], x[1], x[2]);
    case Op::bit_and: case Op::bit_or: case Op::bit_xor: case Op::bit_not: case Op::shl: case Op::shr:
    case Op::trunc_div: case Op::logical_and: case Op::logical_or: case Op::logical_not:
      break;  // integers only: see make_apply
  }
  LATHE_CHECK(false, std::string(op_row(op).name) + " of " + to_string(type));
  return nullptr;
}

// a*b + c of bf16 or 8-bit floats as an f64 that rounds to the type as the exact sum would: the product is exact in
// f64, and the sum is rounded to odd (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
Value* narrow_fma(Builder& ir, llvm::ArrayRef<Value*> x) {
  Type* f64 = x[0]->getType();
  Type* i64 = f64->getWithNewType(ir.getInt64Ty());
  Value* product = ir.CreateFMul(x[0], x[1]);
  Value* sum = ir.CreateFAdd(product, x[2]);
  // Knuth's two-sum: error = (product + x[2]) - sum, exactly.
  Value* addend = ir.CreateFSub(sum, product);
  Value* error = ir.CreateFAdd(ir.CreateFSub(product, ir.CreateFSub(sum, addend)), ir.CreateFSub(x[2], addend));
  Value* zero = llvm::Constant::getNullValue(f64);
  Value* bits = ir.CreateBitCast(sum, i64);
  Value* even = ir.CreateICmpEQ(ir.CreateAnd(bits, llvm::ConstantInt::get(i64, 1)), llvm::Constant::getNullValue(i64));
  Value* inexact = ir.CreateFCmpONE(error, zero);  // false for NaN: infinities and NaN stay as they are
  Value* away = ir.CreateICmpEQ(ir.CreateFCmpOGT(error, zero), ir.CreateFCmpOGT(sum, zero));
  Value* step = ir.CreateSelect(away, llvm::ConstantInt::get(i64, 1), llvm::Constant::getAllOnesValue(i64));
  Value* odd = ir.CreateBitCast(ir.CreateAdd(bits, step), f64);
  return ir.CreateSelect(ir.CreateAnd(even, inexact), odd, sum);
}

// bf16 -> f32 by moving bits. InstCombine narrows fptrunc(frem(fpext, fpext)) to a frem of bfloat, which the backend
// cannot lower ("no libcall available for frem"); it does not see through this.
Value* widen_bits(Builder& ir, Value* value) {
  Type* t = value->getType();
  Value* bits = ir.CreateZExt(ir.CreateBitCast(value, t->getWithNewType(ir.getInt16Ty())),
                              t->getWithNewType(ir.getInt32Ty()));
  bits = ir.CreateShl(bits, llvm::ConstantInt::get(bits->getType(), 16));
  return ir.CreateBitCast(bits, t->getWithNewType(ir.getFloatTy()));
}

// The type in which an operator on `type` is computed before one rounding back to it. Where f32 would round twice
// visibly (fma), f64 with narrow_fma. f16 has instructions of its own but for the remainder and 1/sqrt; and
// __ocml_sin_f16 of rocm-device-libs 5.2.3 gives NaN for every finite argument (its last select is the wrong way
// round).
DType computed_in(Op op, DType type) {
  if (!type.is_float() || type.bits >= 32 || op == Op::select) return type;
  const bool wide_f16 = op == Op::mod || op == Op::trunc_mod || op == Op::rsqrt || op == Op::sin;
  if (type.scalar() == f16) return (wide_f16 ? f32 : f16).with_lanes(type.lanes);
  return (op == Op::fma ? f64 : f32).with_lanes(type.lanes);
}

}  // namespace

Value* per_lane(Builder& ir, llvm::ArrayRef<Value*> args,
                llvm::function_ref<Value*(llvm::ArrayRef<Value*>)> f) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(args[0]->getType());
  if (!vector) return f(args);
  Value* result = nullptr;
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::SmallVector<Value*, 3> scalars;
    for (Value* arg : args) scalars.push_back(ir.CreateExtractElement(arg, lane));
    Value* value = f(scalars);
    if (!result)
      result = llvm::PoisonValue::get(llvm::FixedVectorType::get(value->getType(), vector->getNumElements()));
    result = ir.CreateInsertElement(result, value, lane);
  }
  return result;
}

Value* emit_apply(Builder& ir, Op op, DType result, DType operand, llvm::ArrayRef<Value*> args, OperandFacts facts) {
  if (!operand.is_float()) return apply_integer(ir, op, operand, args, facts);
  const DType wide = computed_in(op, operand);
  if (wide == operand) return apply_float(ir, op, operand, args);
  llvm::SmallVector<Value*, 3> widened;
  const bool is_remainder = op == Op::mod || op == Op::trunc_mod;
  for (Value* arg : args)
    widened.push_back(is_remainder && operand.scalar() == bf16 ? widen_bits(ir, arg)
                                                               : emit_cast(ir, operand, wide, arg));
  Value* value = wide.bits == 64 && op == Op::fma ? narrow_fma(ir, widened) : apply_float(ir, op, wide, widened);
  return result.is_float() ? emit_cast(ir, wide, result, value) : value;
}

}  // namespace lathe
