// A kernel's expressions and memory accesses. `lane` is all_lanes for a whole value or the number of one lane of a
// vector; the second way serves whatever cannot be done on vectors (scattered accesses, selects that guard loads).
#include <llvm/IR/Module.h>

#include <bit>
#include <numeric>

#include "compiler/codegen/kernel_emitter.h"
#include "runtime/base/error.h"

namespace lathe {

using llvm::BasicBlock;
using llvm::Value;

namespace {

Value* splat(Builder& ir, Value* value, int lanes) { return lanes == 1 ? value : ir.CreateVectorSplat(lanes, value); }

constexpr bool is_index_type(DType t) { return t.is_int() && t.is_signed() && t.bits >= 32; }

}  // namespace

bool KernelEmitter::contains_load(const Expr& e) {
  if (is_leaf(e)) return false;
  auto [it, is_new] = has_load_.emplace(e.get(), false);
  if (!is_new) return it->second;
  bool found = false;
  switch (e->kind) {
    case ExprKind::variable: case ExprKind::integer: case ExprKind::real: break;
    case ExprKind::load: found = true; break;
    case ExprKind::apply:
      for (const Expr& arg : as<ApplyNode>(e)->args) found |= contains_load(arg);
      break;
    case ExprKind::cast: found = contains_load(as<CastNode>(e)->value); break;
    case ExprKind::ramp: found = contains_load(as<RampNode>(e)->base) | contains_load(as<RampNode>(e)->stride); break;
    case ExprKind::broadcast: found = contains_load(as<BroadcastNode>(e)->value); break;
    case ExprKind::reduce: LATHE_CHECK(false, "a reduction reached code generation");
  }
  has_load_[e.get()] = found;
  return found;
}

Value* KernelEmitter::emit(const Expr& e, int lane, bool in_index) {
  if (e->type.lanes == 1) lane = all_lanes;
  if (is_leaf(e)) return emit_uncached(e, lane, in_index);
  const bool loads = contains_load(e);
  // Only arithmetic of indices that no data flows into is taken not to overflow: a hash of loaded values wraps.
  in_index = in_index && is_index_type(e->type) && !loads;
  const Key key{e.get(), lane, in_index};
  for (size_t i = regions_.size(); i-- > 0;) {
    auto& known = loads ? regions_[i].loading : regions_[i].pure;
    if (auto it = known.find(key); it != known.end()) return it->second;
  }
  Value* value = emit_uncached(e, lane, in_index);
  (loads ? regions_.back().loading : regions_.back().pure).emplace(key, value);
  return value;
}

Value* KernelEmitter::emit_uncached(const Expr& e, int lane, bool in_index) {
  const DType type = lane == all_lanes ? e->type : e->type.scalar();
  switch (e->kind) {
    case ExprKind::variable: return emit_variable(*as<VarNode>(e));
    case ExprKind::integer: return llvm::ConstantInt::get(value_type(llvm_, type), as<IntegerNode>(e)->value, true);
    case ExprKind::real: return emit_real(llvm_, type, as<RealNode>(e)->value);
    case ExprKind::apply: return emit_apply_node(e, *as<ApplyNode>(e), lane, in_index);
    case ExprKind::cast: {
      const Expr& value = as<CastNode>(e)->value;
      return emit_cast(ir_, value->type, type, emit(value, lane, in_index));
    }
    case ExprKind::load: return emit_load(e, *as<LoadNode>(e), lane);
    case ExprKind::reduce: LATHE_CHECK(false, "a reduction reached code generation");
    case ExprKind::ramp: {
      const auto* ramp = as<RampNode>(e);
      Value* base = emit(ramp->base, all_lanes, in_index);
      Value* stride = emit(ramp->stride, all_lanes, in_index);
      auto at = [&](int i) {
        if (i == 0) return base;
        Value* offset = ir_.CreateMul(stride, llvm::ConstantInt::get(stride->getType(), i), "", false, in_index);
        return ir_.CreateAdd(base, offset, "", false, in_index);
      };
      if (lane != all_lanes) return at(lane);
      Value* vector = llvm::PoisonValue::get(value_type(llvm_, type));
      for (int i = 0; i < type.lanes; ++i) vector = ir_.CreateInsertElement(vector, at(i), i);
      return vector;
    }
    case ExprKind::broadcast: return splat(ir_, emit(as<BroadcastNode>(e)->value, all_lanes, in_index), type.lanes);
  }
  return nullptr;
}

Value* KernelEmitter::emit_apply_node(const Expr& e, const ApplyNode& apply, int lane, bool in_index) {
  const bool is_select = apply.op == Op::select;
  if (is_select && (contains_load(apply.args[1]) || contains_load(apply.args[2])))
    return emit_lazy_select(e, apply, lane, in_index);
  const int lanes = lane == all_lanes ? e->type.lanes : 1;
  const DType operand = apply.args[is_select ? 1 : 0]->type.with_lanes(lanes);
  OperandFacts facts{in_index};
  llvm::SmallVector<Value*, 3> args;
  for (size_t i = 0; i < apply.args.size(); ++i) {
    const Expr& arg = apply.args[i];
    Value* value = emit(arg, lane, in_index && arg->type.scalar() == e->type.scalar());
    // A scalar condition selects between whole vectors; every other scalar meets vectors as a splat.
    if (lanes > 1 && arg->type.lanes == 1 && !(is_select && i == 0)) value = splat(ir_, value, lanes);
    args.push_back(value);
    if (i < 2 && arg->type.is_int()) facts.nonnegative[i] = facts_.nonnegative(arg, in_index);
  }
  return emit_apply(ir_, apply.op, e->type.with_lanes(lanes), operand, args, facts);
}

// A select of which an arm loads: only the arm taken is evaluated. A vector condition decides lane by lane.
Value* KernelEmitter::emit_lazy_select(const Expr& e, const ApplyNode& select, int lane, bool in_index) {
  if (lane == all_lanes && select.args[0]->type.lanes > 1) {
    Value* vector = llvm::PoisonValue::get(value_type(llvm_, e->type));
    for (int i = 0; i < e->type.lanes; ++i) vector = ir_.CreateInsertElement(vector, emit(e, i, in_index), i);
    return vector;
  }
  Value* condition = emit(select.args[0], lane, false);
  BasicBlock* blocks[2] = {BasicBlock::Create(llvm_, "select.then", function_),
                           BasicBlock::Create(llvm_, "select.else", function_)};
  BasicBlock* after = BasicBlock::Create(llvm_, "select.end", function_);
  ir_.CreateCondBr(condition, blocks[0], blocks[1]);
  Value* values[2];
  for (int arm = 0; arm < 2; ++arm) {
    ir_.SetInsertPoint(blocks[arm]);
    regions_.emplace_back();
    const Expr& value = select.args[1 + arm];
    values[arm] = emit(value, lane, in_index);
    if (lane == all_lanes && value->type.lanes == 1) values[arm] = splat(ir_, values[arm], e->type.lanes);
    regions_.pop_back();
    blocks[arm] = ir_.GetInsertBlock();
    ir_.CreateBr(after);
  }
  ir_.SetInsertPoint(after);
  llvm::PHINode* result = ir_.CreatePHI(values[0]->getType(), 2);
  result->addIncoming(values[0], blocks[0]);
  result->addIncoming(values[1], blocks[1]);
  return result;
}

// ---- accesses

const KernelEmitter::Memory& KernelEmitter::memory_of(const TensorNode* tensor) const {
  auto it = memories_.find(tensor);
  LATHE_CHECK(it != memories_.end(),
              "tensor " + tensor->name + " is neither a buffer of kernel " + kernel_.name + " nor allocated in it");
  return it->second;
}

const Expr& KernelEmitter::flat_index(const std::vector<Expr>& indices, const std::string& tensor) const {
  LATHE_CHECK(indices.size() <= 1, "an access to " + tensor + " has " + std::to_string(indices.size()) +
                                       " indices: flatten_storage must run before code generation");
  return indices.empty() ? zero_ : indices[0];
}

Value* KernelEmitter::element_pointer(const Memory& memory, Value* index, bool nonnegative) {
  Value* wide = index;
  if (index->getType()->getIntegerBitWidth() < 64) {
    if (nonnegative) wide = ir_.CreateZExt(index, ir_.getInt64Ty(), "", true);
    else wide = ir_.CreateSExt(index, ir_.getInt64Ty());
  }
  return ir_.CreateInBoundsGEP(memory_type(llvm_, memory.type.scalar()), memory.pointer, wide);
}

Value* KernelEmitter::load_from(const Memory& memory, Value* pointer, DType type, int64_t alignment) {
  llvm::LoadInst* load = ir_.CreateAlignedLoad(memory_type(llvm_, type), pointer, llvm::Align(alignment));
  if (memory.constant) load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(llvm_, {}));
  if (!type.is_bool()) return load;
  return ir_.CreateICmpNE(load, llvm::Constant::getNullValue(load->getType()));
}

void KernelEmitter::store_to(const Memory& memory, Value* pointer, Value* value, DType type, int64_t alignment) {
  if (type.is_bool()) value = ir_.CreateZExt(value, memory_type(llvm_, type));
  // LLVM 22 selects no store of an f32 vector of 5 or 7 that is rounded to f16 (v5f16 is no type of its registers): f16 goes
  // in powers of two.
  const int first = static_cast<int>(std::bit_floor(static_cast<unsigned>(type.lanes)));
  if (type.scalar() == f16 && first > 2 && first < type.lanes) {
    std::vector<int> lanes(type.lanes);
    std::iota(lanes.begin(), lanes.end(), 0);
    const llvm::ArrayRef<int> all(lanes);
    const int64_t bytes = first * type.bytes();
    store_to(memory, pointer, ir_.CreateShuffleVector(value, all.take_front(first)), type.with_lanes(first), alignment);
    Value* behind = ir_.CreateConstInBoundsGEP1_64(memory_type(llvm_, type.scalar()), pointer, first);
    const int rest = type.lanes - first;
    Value* other = rest == 1 ? ir_.CreateExtractElement(value, first) : ir_.CreateShuffleVector(value, all.drop_front(first));
    return store_to(memory, behind, other, type.with_lanes(rest), std::min(alignment, bytes & -bytes));
  }
  ir_.CreateAlignedStore(value, pointer, llvm::Align(alignment));
}

std::optional<KernelEmitter::Address> KernelEmitter::as_strided(const Expr& index) {
  auto scalar = [&](const Expr& e, int64_t stride) {
    return Address{emit(e, all_lanes, true), stride, facts_.multiple(e)};
  };
  if (index->type.lanes == 1) return scalar(index, 0);
  if (const auto* broadcast = as<BroadcastNode>(index)) return scalar(broadcast->value, 0);
  if (const auto* ramp = as<RampNode>(index)) {
    const int64_t* stride = as_constant(ramp->stride);
    if (!stride) return std::nullopt;
    return scalar(ramp->base, *stride);
  }
  if (contains_load(index)) return std::nullopt;
  if (const auto* cast = as<CastNode>(index)) {
    const DType from = cast->value->type, to = index->type;
    if (!is_index_type(from) || !is_index_type(to) || from.bits > to.bits) return std::nullopt;
    auto inner = as_strided(cast->value);
    if (inner) inner->base = emit_cast(ir_, from.scalar(), to.scalar(), inner->base);
    return inner;
  }
  const auto* apply = as<ApplyNode>(index);
  if (!apply || !is_index_type(index->type)) return std::nullopt;
  if (apply->op == Op::add || apply->op == Op::sub) {
    auto a = as_strided(apply->args[0]);
    auto b = a ? as_strided(apply->args[1]) : std::nullopt;
    if (!b) return std::nullopt;
    const bool add = apply->op == Op::add;
    return Address{add ? ir_.CreateAdd(a->base, b->base, "", false, true)
                       : ir_.CreateSub(a->base, b->base, "", false, true),
                   add ? a->stride + b->stride : a->stride - b->stride, std::min(a->multiple, b->multiple)};
  }
  if (apply->op == Op::mul)
    for (int i = 0; i < 2; ++i) {
      const auto* broadcast = as<BroadcastNode>(apply->args[i]);
      const int64_t* factor = as_constant(broadcast ? broadcast->value : apply->args[i]);
      if (!factor) continue;
      auto other = as_strided(apply->args[1 - i]);
      if (!other) return std::nullopt;
      Value* scale = llvm::ConstantInt::get(other->base->getType(), *factor, true);
      return Address{ir_.CreateMul(other->base, scale, "", false, true), other->stride * *factor,
                     std::min<int64_t>(other->multiple * (*factor & -*factor), 1 << 16)};
    }
  return std::nullopt;
}

Value* KernelEmitter::emit_load(const Expr& e, const LoadNode& load, int lane) {
  const Memory& memory = memory_of(load.tensor.get());
  LATHE_CHECK(memory.type == e->type.scalar(), "a load of " + to_string(e->type) + " from " + load.tensor->name);
  const Expr& index = flat_index(load.indices, load.tensor->name);
  const bool nonnegative = facts_.nonnegative(index, true);
  const DType scalar = e->type.scalar();
  const int64_t bytes = scalar.bytes();
  auto element = [&](Value* at) {
    return load_from(memory, element_pointer(memory, at, nonnegative), scalar, bytes);
  };
  if (lane != all_lanes || index->type.lanes == 1)
    return splat(ir_, element(emit(index, lane, true)), lane == all_lanes ? e->type.lanes : 1);
  const auto address = as_strided(index);
  if (address && address->stride == 1) {
    const int64_t alignment = std::max(bytes, std::min(memory.alignment, address->multiple * bytes));
    return load_from(memory, element_pointer(memory, address->base, nonnegative), e->type, alignment);
  }
  if (address && address->stride == 0) return splat(ir_, element(address->base), e->type.lanes);
  Value* vector = llvm::PoisonValue::get(value_type(llvm_, e->type));
  for (int i = 0; i < e->type.lanes; ++i)
    vector = ir_.CreateInsertElement(vector, element(emit(index, i, true)), i);
  return vector;
}

void KernelEmitter::emit_store(const StoreNode& store) {
  const Memory& memory = memory_of(store.tensor.get());
  const Expr& index = flat_index(store.indices, store.tensor.name());
  const DType scalar = store.value->type.scalar();
  LATHE_CHECK(memory.type == scalar, "a store of " + to_string(store.value->type) + " into " + store.tensor.name());
  const bool nonnegative = facts_.nonnegative(index, true);
  const int64_t bytes = scalar.bytes();
  const int lanes = index->type.lanes;
  LATHE_CHECK(store.value->type.lanes == 1 || store.value->type.lanes == lanes,
              "a store of " + to_string(store.value->type) + " at " + std::to_string(lanes) + " places");
  Value* value = emit_value(store.value);
  if (lanes == 1) {
    Value* pointer = element_pointer(memory, emit(index, all_lanes, true), nonnegative);
    store_to(memory, pointer, value, scalar, bytes);
    return end_statement();
  }
  if (store.value->type.lanes == 1) value = splat(ir_, value, lanes);
  const auto address = as_strided(index);
  if (address && address->stride == 1) {
    const int64_t alignment = std::max(bytes, std::min(memory.alignment, address->multiple * bytes));
    Value* pointer = element_pointer(memory, address->base, nonnegative);
    store_to(memory, pointer, value, scalar.with_lanes(lanes), alignment);
  } else {
    for (int i = 0; i < lanes; ++i) {
      Value* pointer = element_pointer(memory, emit(index, i, true), nonnegative);
      store_to(memory, pointer, ir_.CreateExtractElement(value, i), scalar, bytes);
    }
  }
  end_statement();
}

}  // namespace lathe
