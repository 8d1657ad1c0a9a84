// Work-items of one wave combine what they hold in registers: a butterfly, lanes at distance 1, then 2, 4, …
//
// After the step of distance d, all lanes of a run of 2d hold one value. So where the exchange asks for lane ^ 4 or
// lane ^ 8, any lane of the other half will do, and DPP's mirrors of 8 and of 16 lanes serve: they are part of the
// instruction that combines. Rows of 16 meet by v_permlanex16 where there is one, else by ds_swizzle; halves of a wave of
// 64 by ds_bpermute.
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include <set>

#include "compiler/codegen/kernel_emitter.h"
#include "runtime/base/error.h"

namespace lathe {

using llvm::Value;

namespace {

// Does it give the same bits whichever operand comes first? (NaNs are equal to the contract.)
bool commutes(const CombinerNode& c) {
  static const std::set<std::string> names = {"sum", "product", "min", "max", "any", "all", "argmin", "argmax"};
  return names.count(c.name) != 0;
}

// DPP controls (LLVM's AMDGPU "DPP control" encodings): which lane each lane reads.
constexpr int quad_perm_1032 = 0xb1, quad_perm_2301 = 0x4e, row_half_mirror = 0x141, row_mirror = 0x140;

}  // namespace

Value* KernelEmitter::lane_number() {
  Value* ones = ir_.getInt32(0xffffffff);
  Value* low = ir_.CreateIntrinsic(llvm::Intrinsic::amdgcn_mbcnt_lo, {}, {ones, ir_.getInt32(0)});
  return context_.wave_size == 32 ? low : ir_.CreateIntrinsic(llvm::Intrinsic::amdgcn_mbcnt_hi, {}, {ones, low});
}

// What the lane at `distance` holds (or one that holds the same, see above), 32 bits at a time.
Value* KernelEmitter::exchange(Value* value, int distance) {
  llvm::Type* type = value->getType();
  const unsigned bits = type->getPrimitiveSizeInBits();
  Value* plain = ir_.CreateBitCast(value, ir_.getIntNTy(bits));
  if (bits > 32) {
    Value* parts = ir_.CreateBitCast(plain, llvm::FixedVectorType::get(ir_.getInt32Ty(), bits / 32));
    Value* result = llvm::PoisonValue::get(parts->getType());
    for (unsigned i = 0; i < bits / 32; ++i)
      result = ir_.CreateInsertElement(result, exchange(ir_.CreateExtractElement(parts, i), distance), i);
    return ir_.CreateBitCast(result, type);
  }
  Value* word = ir_.CreateZExt(plain, ir_.getInt32Ty());
  Value* nothing = llvm::PoisonValue::get(ir_.getInt32Ty());
  using namespace llvm::Intrinsic;
  const auto dpp = [&](int control) {
    return ir_.CreateIntrinsic(amdgcn_update_dpp, {ir_.getInt32Ty()},
                               {nothing, word, ir_.getInt32(control), ir_.getInt32(0xf), ir_.getInt32(0xf), ir_.getTrue()});
  };
  Value* result = nullptr;
  switch (distance) {
    case 1: result = dpp(quad_perm_1032); break;
    case 2: result = dpp(quad_perm_2301); break;
    case 4: result = dpp(row_half_mirror); break;
    case 8: result = dpp(row_mirror); break;
    case 16:
      if (context_.target.gfx->has_wave32 || context_.wave_size == 32) {
        result = ir_.CreateIntrinsic(amdgcn_permlanex16, {ir_.getInt32Ty()},
                                     {nothing, word, ir_.getInt32(0x76543210), ir_.getInt32(0xfedcba98), ir_.getFalse(), ir_.getFalse()});
      } else {
        // Bit mode: lane' = ((lane & 31) | 0) ^ 16 within each 32 lanes.
        result = ir_.CreateIntrinsic(amdgcn_ds_swizzle, {}, {word, ir_.getInt32(16 << 10 | 31)});
      }
      break;
    default: {
      LATHE_CHECK(distance == 32 && context_.wave_size == 64, "lanes " + std::to_string(distance) + " apart in " + kernel_.name);
      Value* other = ir_.CreateShl(ir_.CreateXor(lane_number(), 32), 2);  // in bytes
      result = ir_.CreateIntrinsic(amdgcn_ds_bpermute, {}, {other, word});
    }
  }
  return ir_.CreateBitCast(ir_.CreateTrunc(result, ir_.getIntNTy(bits)), type);
}

void KernelEmitter::emit_combine(const CombineNode& combine) {
  const int64_t width = combine.width;
  LATHE_CHECK((width & (width - 1)) == 0 && width <= context_.wave_size,
              "a combination of " + std::to_string(width) + " work-items reached code generation");
  const CombinerNode& c = *combine.combiner;
  const size_t components = combine.values.size();
  const auto element = [&](const Tensor& t) { return element_pointer(memory_of(t.get()), ir_.getInt64(0), true); };
  std::vector<Value*> mine;
  for (const Tensor& t : combine.values) mine.push_back(load_from(memory_of(t.get()), element(t), t.type(), t.type().bytes()));
  for (int64_t distance = 1; distance < width; distance *= 2) {
    std::vector<Value*> first, second;
    for (size_t i = 0; i < components; ++i) {
      first.push_back(mine[i]);
      second.push_back(exchange(mine[i], static_cast<int>(distance)));
    }
    if (!commutes(c)) {
      Value* upper = ir_.CreateICmpNE(ir_.CreateAnd(lane_number(), static_cast<uint64_t>(distance)), ir_.getInt32(0));
      for (size_t i = 0; i < components; ++i) {
        Value* lower_value = ir_.CreateSelect(upper, second[i], first[i]);
        second[i] = ir_.CreateSelect(upper, first[i], second[i]);
        first[i] = lower_value;
      }
    }
    regions_.emplace_back();  // the operands mean something else in each step
    for (size_t i = 0; i < components; ++i) {
      variables_[c.lhs[i].node()] = first[i];
      variables_[c.rhs[i].node()] = second[i];
    }
    for (size_t i = 0; i < components; ++i) mine[i] = emit_value(c.result[i]);
    regions_.pop_back();
    for (size_t i = 0; i < components; ++i) {
      variables_.erase(c.lhs[i].node());
      variables_.erase(c.rhs[i].node());
    }
  }
  for (size_t i = 0; i < components; ++i) {
    const Tensor& t = combine.values[i];
    store_to(memory_of(t.get()), element(t), mine[i], t.type(), t.type().bytes());
  }
  end_statement();
}

}  // namespace lathe
