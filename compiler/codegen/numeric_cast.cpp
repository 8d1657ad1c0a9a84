// Conversions between element types. Each rounds once, to nearest even; float to integer saturates and NaN gives 0;
// integers wrap. 8-bit floats are codes in an i8 and go through exact integer arithmetic, by the same rules as
// runtime/base/dtype.cpp (OCP 8-bit floating point specification; AMD's CDNA3 ISA for FNUZ).
#include <llvm/IR/Intrinsics.h>

#include <bit>
#include <cmath>

#include "compiler/codegen/numeric.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

using llvm::Type;
using llvm::Value;

// `element`, as a vector if `like` is one.
Type* shaped(Type* element, Type* like) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like))
    return llvm::FixedVectorType::get(element, vector->getNumElements());
  return element;
}
llvm::Constant* integer(Type* type, uint64_t value) { return llvm::ConstantInt::get(type, value); }

constexpr bool is_float8(DType t) { return t.is_float() && t.bits == 8; }
constexpr int bias_of(DType t) { return (1 << (t.exponent - 1)) - (t.style == FloatStyle::fnuz ? 0 : 1); }

// 8-bit code -> f32; every code is a value of f32.
Value* decode_float8(Builder& ir, DType from, Value* code) {
  Type* i32 = shaped(ir.getInt32Ty(), code->getType());
  Type* f32 = shaped(ir.getFloatTy(), code->getType());
  const int m = from.mantissa(), bias = bias_of(from);
  Value* wide = ir.CreateZExt(code, i32);
  Value* magnitude = ir.CreateAnd(wide, integer(i32, 0x7f));
  Value* sign = ir.CreateShl(ir.CreateAnd(wide, integer(i32, 0x80)), integer(i32, 24));
  // Normal: the fields move up and the bias changes. Subnormal: whole units of the last place, exact in f32.
  Value* normal = ir.CreateAdd(ir.CreateShl(magnitude, integer(i32, 23 - m)), integer(i32, uint64_t(127 - bias) << 23));
  Value* units = ir.CreateUIToFP(magnitude, f32);
  Value* subnormal =
      ir.CreateBitCast(ir.CreateFMul(units, llvm::ConstantFP::get(f32, std::ldexp(1.0, 1 - bias - m))), i32);
  Value* bits = ir.CreateSelect(ir.CreateICmpULT(magnitude, integer(i32, 1 << m)), subnormal, normal);
  constexpr uint32_t quiet_nan = 0x7fc00000;
  switch (from.style) {
    case FloatStyle::ieee: {  // the all-ones exponent: infinity, or NaN when there is a mantissa
      const uint32_t infinity_code = ((1u << from.exponent) - 1) << m;
      bits = ir.CreateSelect(ir.CreateICmpEQ(magnitude, integer(i32, infinity_code)), integer(i32, 0x7f800000), bits);
      bits = ir.CreateSelect(ir.CreateICmpUGT(magnitude, integer(i32, infinity_code)), integer(i32, quiet_nan), bits);
      break;
    }
    case FloatStyle::fn:
      bits = ir.CreateSelect(ir.CreateICmpEQ(magnitude, integer(i32, 0x7f)), integer(i32, quiet_nan), bits);
      break;
    case FloatStyle::fnuz:
      bits = ir.CreateSelect(ir.CreateICmpEQ(wide, integer(i32, 0x80)), integer(i32, quiet_nan), bits);
      break;
    case FloatStyle::none:
      LATHE_CHECK(false, to_string(from));
  }
  return ir.CreateBitCast(ir.CreateOr(bits, sign), f32);
}

// f32 -> 8-bit code, rounded once to nearest even.
Value* encode_float8(Builder& ir, DType to, Value* value) {
  Type* i32 = shaped(ir.getInt32Ty(), value->getType());
  Type* f32 = value->getType();
  const int m = to.mantissa(), bias = bias_of(to), dropped = 23 - m;
  Value* bits = ir.CreateBitCast(value, i32);
  Value* sign = ir.CreateAnd(ir.CreateLShr(bits, integer(i32, 24)), integer(i32, 0x80));
  Value* magnitude = ir.CreateAnd(bits, integer(i32, 0x7fffffff));
  // Normal results: add just under half a unit, one more when the kept part is odd, and drop the rest.
  Value* odd = ir.CreateAnd(ir.CreateLShr(magnitude, integer(i32, dropped)), integer(i32, 1));
  Value* rounded = ir.CreateAdd(ir.CreateAdd(magnitude, integer(i32, (1u << (dropped - 1)) - 1)), odd);
  Value* normal = ir.CreateSub(ir.CreateLShr(rounded, integer(i32, dropped)), integer(i32, uint64_t(127 - bias) << m));
  // Subnormal results: adding 2^23 units leaves the rounded number of units in the low bits.
  const double anchor = std::ldexp(1.0, 1 - bias - m + 23);
  Value* anchored = ir.CreateFAdd(ir.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, anchor));
  Value* subnormal = ir.CreateSub(ir.CreateBitCast(anchored, i32),
                                  integer(i32, std::bit_cast<uint32_t>(static_cast<float>(anchor))));
  Value* is_small = ir.CreateICmpULT(magnitude, integer(i32, uint64_t(127 + 1 - bias) << 23));
  Value* code = ir.CreateSelect(is_small, subnormal, normal);
  Value* is_nan = ir.CreateICmpUGT(magnitude, integer(i32, 0x7f800000));
  Value* result = nullptr;
  switch (to.style) {
    case FloatStyle::ieee: {
      const uint32_t infinity_code = ((1u << to.exponent) - 1) << m;
      Value* overflow = ir.CreateICmpUGE(code, integer(i32, infinity_code));
      code = ir.CreateSelect(overflow, integer(i32, infinity_code), code);
      code = ir.CreateSelect(is_nan, integer(i32, infinity_code | 1u << (m - 1)), code);
      result = ir.CreateOr(code, sign);
      break;
    }
    case FloatStyle::fn: {
      Value* overflow = ir.CreateOr(ir.CreateICmpUGE(code, integer(i32, 0x7f)), is_nan);
      result = ir.CreateOr(ir.CreateSelect(overflow, integer(i32, 0x7f), code), sign);
      break;
    }
    case FloatStyle::fnuz: {  // NaN, infinity and overflow share the code 0x80; there is no negative zero
      Value* overflow = ir.CreateOr(ir.CreateICmpUGT(code, integer(i32, 0x7f)), is_nan);
      Value* is_zero = ir.CreateICmpEQ(code, integer(i32, 0));
      result = ir.CreateSelect(is_zero, integer(i32, 0), ir.CreateOr(code, sign));
      result = ir.CreateSelect(overflow, integer(i32, 0x80), result);
      break;
    }
    case FloatStyle::none:
      LATHE_CHECK(false, to_string(to));
  }
  return ir.CreateTrunc(result, shaped(ir.getInt8Ty(), value->getType()));
}

// f64 -> f32 rounded to odd: inexact results get an odd last bit, so that a later rounding to nearest even into a
// type of at most 22 bits of mantissa is the rounding of the f64 value itself.
Value* round_to_odd(Builder& ir, Value* wide) {
  Type* f64 = wide->getType();
  Type* i32 = shaped(ir.getInt32Ty(), f64);
  Type* f32 = shaped(ir.getFloatTy(), f64);
  Value* nearest = ir.CreateFPTrunc(wide, f32);
  Value* back = ir.CreateFPExt(nearest, f64);
  Value* too_large = ir.CreateFCmpOGT(ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                      ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide));
  Value* bits = ir.CreateBitCast(nearest, i32);
  bits = ir.CreateSub(bits, ir.CreateZExt(too_large, i32));  // toward zero
  bits = ir.CreateOr(bits, integer(i32, 1));
  Value* inexact = ir.CreateFCmpONE(back, wide);  // false for NaN
  return ir.CreateSelect(inexact, ir.CreateBitCast(bits, f32), nearest);
}

// An integer of 32 or 64 bits -> f32 rounded to odd, for the same reason.
Value* integer_round_to_odd(Builder& ir, DType from, Value* value) {
  Type* type = value->getType();
  Type* f32 = shaped(ir.getFloatTy(), type);
  Type* i32 = shaped(ir.getInt32Ty(), type);
  Value* magnitude = value;
  if (from.is_signed()) magnitude = ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, ir.getFalse());
  Value* leading = ir.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, magnitude, ir.getFalse());
  Value* excess = ir.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, integer(type, from.bits - 24), leading);
  Value* kept = ir.CreateLShr(magnitude, excess);
  Value* lost = ir.CreateICmpNE(ir.CreateShl(kept, excess), magnitude);
  kept = ir.CreateOr(kept, ir.CreateZExt(lost, type));
  Value* mantissa = ir.CreateUIToFP(ir.CreateZExtOrTrunc(kept, i32), f32);
  Value* scale = ir.CreateBitCast(
      ir.CreateShl(ir.CreateAdd(ir.CreateZExtOrTrunc(excess, i32), integer(i32, 127)), integer(i32, 23)), f32);
  Value* result = ir.CreateFMul(mantissa, scale);
  if (!from.is_signed()) return result;
  Value* negative = ir.CreateICmpSLT(value, integer(type, 0));
  return ir.CreateSelect(negative, ir.CreateFNeg(result), result);
}

Value* float_to_float(Builder& ir, DType from, DType to, Value* value) {
  if (is_float8(from)) return emit_cast(ir, f32.with_lanes(from.lanes), to, decode_float8(ir, from, value));
  if (to.bits == 64) return ir.CreateFPExt(value, shaped(ir.getDoubleTy(), value->getType()));
  Type* f32_type = shaped(ir.getFloatTy(), value->getType());
  Value* single = from.bits == 32   ? value
                  : from.bits == 16 ? ir.CreateFPExt(value, f32_type)
                  : to.bits == 32   ? ir.CreateFPTrunc(value, f32_type)
                                    : round_to_odd(ir, value);
  if (to.bits == 32) return single;
  if (is_float8(to)) return encode_float8(ir, to, single);
  return ir.CreateFPTrunc(single, shaped(value_type(ir.getContext(), to.scalar()), value->getType()));
}

Value* integer_to_float(Builder& ir, DType from, DType to, Value* value) {
  Type* f32_type = shaped(ir.getFloatTy(), value->getType());
  auto convert = [&](Type* type) {
    return from.is_signed() ? ir.CreateSIToFP(value, type) : ir.CreateUIToFP(value, type);
  };
  if (to.bits >= 32) return convert(shaped(value_type(ir.getContext(), to.scalar()), value->getType()));
  // f32 holds every integer up to 2^24; beyond that f16 and the 8-bit types overflow anyway, bf16 does not.
  Value* single = to.scalar() == bf16 && from.bits >= 32 ? integer_round_to_odd(ir, from, value) : convert(f32_type);
  return float_to_float(ir, f32, to, single);
}

}  // namespace

Type* value_type(llvm::LLVMContext& context, DType type) {
  Type* scalar = nullptr;
  if (type.is_float()) {
    scalar = type.bits == 64                ? Type::getDoubleTy(context)
             : type.bits == 32              ? Type::getFloatTy(context)
             : type.scalar() == lathe::f16  ? Type::getHalfTy(context)
             : type.scalar() == lathe::bf16 ? Type::getBFloatTy(context)
                                            : Type::getInt8Ty(context);
  } else {
    scalar = Type::getIntNTy(context, type.bits);
  }
  return type.lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, type.lanes);
}

Type* memory_type(llvm::LLVMContext& context, DType type) {
  return value_type(context, type.is_bool() ? lathe::u8.with_lanes(type.lanes) : type);
}

llvm::Constant* emit_real(llvm::LLVMContext& context, DType type, double value) {
  if (is_float8(type)) return llvm::ConstantInt::get(value_type(context, type), encode_float(value, type.scalar()));
  return llvm::ConstantFP::get(value_type(context, type), value);
}

Value* emit_cast(Builder& ir, DType from, DType to, Value* value) {
  if (from.scalar() == to.scalar()) return value;
  Type* type = shaped(value_type(ir.getContext(), to.scalar()), value->getType());
  if (from.is_float()) {
    if (to.is_float()) return float_to_float(ir, from, to, value);
    if (from.bits < 32) {
      value = float_to_float(ir, from, f32, value);
      from = f32.with_lanes(from.lanes);
    }
    if (to.is_bool()) return ir.CreateFCmpUNE(value, llvm::ConstantFP::get(value->getType(), 0.0));
    const auto id = to.is_signed() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return ir.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
  if (to.is_float()) {
    if (from.is_bool()) {
      value = ir.CreateZExt(value, shaped(ir.getInt8Ty(), value->getType()));
      from = u8.with_lanes(from.lanes);
    }
    return integer_to_float(ir, from, to, value);
  }
  if (to.is_bool()) return ir.CreateICmpNE(value, integer(value->getType(), 0));
  return from.is_signed() ? ir.CreateSExtOrTrunc(value, type) : ir.CreateZExtOrTrunc(value, type);
}

}  // namespace lathe
