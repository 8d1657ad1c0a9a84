// A kernel's function and statements. Parameters are the buffers, then the shape symbols; loops become guarded
// do-while loops (LLVM's rotated form, so that it need not rotate them).
#include "compiler/codegen/kernel_emitter.h"

#include <llvm/IR/IntrinsicsAMDGPU.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/codegen/line_tables.h"
#include "ir/block_order.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

using llvm::BasicBlock;
using llvm::Value;

constexpr unsigned global_space = 1, shared_space = 3, private_space = 5;
constexpr int64_t lds_alignment = 16;       // of every shared tensor: the widest LDS access
constexpr int64_t register_alignment = 16;
constexpr int64_t max_register_bytes = 1 << 16;  // per work-item: beyond it nothing sensible comes out of spilling
constexpr uint64_t grid_limit[3] = {0x7fffffff, 0x7fffffff, 0x7fffffff};

Value* extend_id(Builder& ir, Value* id, DType type) {
  return type.bits == 32 ? id : ir.CreateZExt(id, ir.getIntNTy(type.bits), "", true);
}

// Does `s` read or write tensors it should not share? Collects the tensors that statements read.
void collect_reads(const Expr& e, std::unordered_map<const ExprNode*, bool>& seen,
                   std::unordered_map<const TensorNode*, bool>& read) {
  if (!seen.emplace(e.get(), true).second) return;
  switch (e->kind) {
    case ExprKind::variable: case ExprKind::integer: case ExprKind::real: return;
    case ExprKind::apply:
      for (const Expr& arg : as<ApplyNode>(e)->args) collect_reads(arg, seen, read);
      return;
    case ExprKind::cast: return collect_reads(as<CastNode>(e)->value, seen, read);
    case ExprKind::load:
      read[as<LoadNode>(e)->tensor.get()] = true;
      for (const Expr& index : as<LoadNode>(e)->indices) collect_reads(index, seen, read);
      return;
    case ExprKind::reduce: LATHE_CHECK(false, "a reduction reached code generation");
    case ExprKind::ramp:
      collect_reads(as<RampNode>(e)->base, seen, read);
      return collect_reads(as<RampNode>(e)->stride, seen, read);
    case ExprKind::broadcast: return collect_reads(as<BroadcastNode>(e)->value, seen, read);
  }
}

void collect_reads(const Stmt& s, std::unordered_map<const ExprNode*, bool>& seen,
                   std::unordered_map<const TensorNode*, bool>& read) {
  if (!s) return;
  switch (s->kind) {
    case StmtKind::loop:
      collect_reads(as<LoopNode>(s)->begin, seen, read);
      collect_reads(as<LoopNode>(s)->end, seen, read);
      return collect_reads(as<LoopNode>(s)->body, seen, read);
    case StmtKind::branch:
      collect_reads(as<BranchNode>(s)->condition, seen, read);
      collect_reads(as<BranchNode>(s)->then_body, seen, read);
      return collect_reads(as<BranchNode>(s)->else_body, seen, read);
    case StmtKind::store:
      for (const Expr& index : as<StoreNode>(s)->indices) collect_reads(index, seen, read);
      return collect_reads(as<StoreNode>(s)->value, seen, read);
    case StmtKind::alloc: return collect_reads(as<AllocNode>(s)->body, seen, read);
    case StmtKind::barrier: return;
    case StmtKind::combine:
      for (const Tensor& t : as<CombineNode>(s)->values) read[t.get()] = true;
      return;
    case StmtKind::block:
      for (const Stmt& child : as<BlockNode>(s)->stmts) collect_reads(child, seen, read);
      return;
  }
}

}  // namespace

KernelEmitter::KernelEmitter(const ModuleContext& context, const Kernel& kernel, LineTables* lines)
    : context_(context), kernel_(kernel), lines_(lines), llvm_(context.module.getContext()), ir_(llvm_) {
  if (context.options.fast_math) {
    llvm::FastMathFlags flags;  // NaN, infinities and the sign of zero keep their meaning even then
    flags.setAllowReassoc();
    flags.setAllowReciprocal();
    flags.setAllowContract();
    flags.setApproxFunc();
    ir_.setFastMathFlags(flags);
  }
}

void KernelEmitter::refuse(std::string what, std::string hint) const {
  throw Error("kernel " + kernel_.name + " for " + context_.target.id(), std::move(what), std::move(hint));
}

void KernelEmitter::run() {
  const int64_t threads = kernel_.block[0] * kernel_.block[1] * kernel_.block[2];
  for (int64_t extent : kernel_.block)
    if (extent < 1 || extent > max_group_extent)
      refuse("a work-group extent of " + std::to_string(extent), "1 to " + std::to_string(max_group_extent));
  if (threads > max_threads_per_group)
    refuse("a work-group of " + std::to_string(threads) + " work-items",
           "at most " + std::to_string(max_threads_per_group));
  make_function();
  BasicBlock* entry = BasicBlock::Create(llvm_, "entry", function_);
  BasicBlock* body = BasicBlock::Create(llvm_, "body", function_);
  ir_.SetInsertPoint(entry);
  if (lines_) lines_->begin(kernel_, *function_);
  ir_.CreateBr(body);
  ir_.SetInsertPoint(body);
  regions_.emplace_back();
  bind_variables();
  emit(kernel_.body);
  ir_.CreateRetVoid();
}

void KernelEmitter::make_function() {
  std::vector<llvm::Type*> parameters(kernel_.buffers.size(), ir_.getPtrTy(global_space));
  parameters.resize(kernel_.buffers.size() + kernel_.symbols.size(), ir_.getInt64Ty());
  LATHE_CHECK(!context_.module.getFunction(kernel_.name), "two kernels are named " + kernel_.name);
  function_ = llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), parameters, false),
                                     llvm::GlobalValue::ExternalLinkage, kernel_.name, context_.module);
  function_->setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  function_->setVisibility(llvm::GlobalValue::ProtectedVisibility);

  const int64_t threads = kernel_.block[0] * kernel_.block[1] * kernel_.block[2];
  const std::string n = std::to_string(threads);
  function_->addFnAttr("amdgpu-flat-work-group-size", n + "," + n);
  function_->addFnAttr("uniform-work-group-size", "true");
  function_->addFnAttr("target-cpu", context_.cpu);
  if (!context_.features.empty()) function_->addFnAttr("target-features", context_.features);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->addFnAttr(llvm::Attribute::NoRecurse);
  llvm::Metadata* block[3];
  for (int d = 0; d < 3; ++d) block[d] = llvm::ConstantAsMetadata::get(ir_.getInt32(kernel_.block[d]));
  function_->setMetadata("reqd_work_group_size", llvm::MDNode::get(llvm_, block));

  std::unordered_map<const ExprNode*, bool> seen;
  std::unordered_map<const TensorNode*, bool> read;
  collect_reads(kernel_.body, seen, read);

  LATHE_CHECK(kernel_.buffers.size() == kernel_.written.size(), kernel_.name);
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const Tensor& tensor = kernel_.buffers[i];
    llvm::Argument* argument = function_->getArg(i);
    argument->setName(tensor.name());
    // Not nonnull: a tensor without elements may be null, and nothing is gained by the promise.
    argument->addAttr(llvm::Attribute::NoAlias);
    argument->addAttr(llvm::Attribute::getWithAlignment(llvm_, llvm::Align(tensor.type().bytes())));
    const bool is_read = read.contains(tensor.get());
    if (!kernel_.written[i]) argument->addAttr(llvm::Attribute::ReadOnly);
    else if (!is_read) argument->addAttr(llvm::Attribute::WriteOnly);
    global_is_shared_ |= kernel_.written[i] && is_read;
    memories_[tensor.get()] = {argument, tensor.type(), tensor.type().bytes(), !kernel_.written[i]};
  }
  for (size_t i = 0; i < kernel_.symbols.size(); ++i) {
    llvm::Argument* argument = function_->getArg(kernel_.buffers.size() + i);
    argument->setName(kernel_.symbols[i].name());
    variables_[kernel_.symbols[i].node()] = argument;
    facts_.bind(kernel_.symbols[i].node(), {0, std::numeric_limits<int64_t>::max()});  // a shape is not negative
  }
}

// Work-group and work-item indices are read where they are used, so that a kernel asks for no dimension it ignores.
void KernelEmitter::bind_variables() {
  for (int d = 0; d < 3; ++d) {
    if (kernel_.thread_index[d].defined()) {
      const VarNode* var = kernel_.thread_index[d].node();
      facts_.bind(var, {0, kernel_.block[d] - 1});
      if (kernel_.block[d] == 1) variables_[var] = llvm::ConstantInt::get(value_type(llvm_, var->type), 0);
      else hardware_ids_[var] = {true, d};
    }
    if (kernel_.block_index[d].defined()) {
      const VarNode* var = kernel_.block_index[d].node();
      const int64_t* extent = d < static_cast<int>(kernel_.grid.size()) ? as_constant(kernel_.grid[d]) : nullptr;
      const int64_t limit = extent && *extent > 0 ? *extent : static_cast<int64_t>(grid_limit[d]);
      facts_.bind(var, {0, limit - 1});
      if (kernel_.order) continue;
      if (limit == 1) variables_[var] = llvm::ConstantInt::get(value_type(llvm_, var->type), 0);
      else hardware_ids_[var] = {false, d};
    }
  }
  if (!kernel_.order) return;
  const Var group("group", u32);
  facts_.bind(group.node(), {0, static_cast<int64_t>(grid_limit[0]) - 1});
  hardware_ids_[group.node()] = {false, 0};
  block_ = ordered_block(kernel_, group);
  for (size_t d = 0; d < 3; ++d)
    if (const Var& index = kernel_.block_index[d]; index.defined()) {
      block_[d] = make_cast(index.type(), block_[d]);
      variables_[index.node()] = emit_value(block_[d]);
    }
}

Value* KernelEmitter::emit_variable(const VarNode& var) {
  if (auto it = variables_.find(&var); it != variables_.end()) return it->second;
  auto it = hardware_ids_.find(&var);
  LATHE_CHECK(it != hardware_ids_.end(), "variable " + var.name + " is not bound in kernel " + kernel_.name);
  const auto [is_thread, dimension] = it->second;
  using namespace llvm::Intrinsic;
  constexpr ID thread_ids[3] = {amdgcn_workitem_id_x, amdgcn_workitem_id_y, amdgcn_workitem_id_z};
  constexpr ID block_ids[3] = {amdgcn_workgroup_id_x, amdgcn_workgroup_id_y, amdgcn_workgroup_id_z};
  Builder entry(function_->getEntryBlock().getTerminator());
  const ID which = is_thread ? thread_ids[dimension] : block_ids[dimension];
  llvm::CallInst* id = entry.CreateIntrinsic(which, llvm::ArrayRef<Value*>{});
  const int64_t high = facts_.range(Var(&var), true).high;
  id->setMetadata(llvm::LLVMContext::MD_range,
                  llvm::MDBuilder(llvm_).createRange(llvm::APInt(32, 0), llvm::APInt(32, high + 1)));
  id->setName(var.name);
  Value* value = extend_id(entry, id, var.type);
  variables_[&var] = value;
  return value;
}

void KernelEmitter::emit(const Stmt& s) {
  if (!s) return;
  if (lines_) lines_->at(ir_, s);
  switch (s->kind) {
    case StmtKind::loop: return emit_loop(*as<LoopNode>(s));
    case StmtKind::branch: return emit_branch(*as<BranchNode>(s));
    case StmtKind::store: return emit_store(*as<StoreNode>(s));
    case StmtKind::alloc: return emit_alloc(*as<AllocNode>(s));
    case StmtKind::barrier: return emit_barrier();
    case StmtKind::combine: return emit_combine(*as<CombineNode>(s));
    case StmtKind::block:
      for (const Stmt& child : as<BlockNode>(s)->stmts) emit(child);
      return;
  }
}

void KernelEmitter::emit_loop(const LoopNode& loop) {
  const llvm::DebugLoc here = ir_.getCurrentDebugLocation();
  LATHE_CHECK(!is_bound(loop.loop), "a bound loop over " + loop.var.name() + " reached code generation");
  const VarNode* var = loop.var.node();
  LATHE_CHECK(!variables_.contains(var), "loop variable " + var->name + " is already bound");
  const IndexRange begin_range = facts_.range(loop.begin, true), end_range = facts_.range(loop.end, true);
  const DType type = var->type;
  Value* begin = emit_cast(ir_, loop.begin->type, type, emit(loop.begin, all_lanes, true));
  Value* end = emit_cast(ir_, loop.end->type, type, emit(loop.end, all_lanes, true));
  end_statement();
  const auto less = type.is_signed() ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_ULT;

  BasicBlock* before = ir_.GetInsertBlock();
  BasicBlock* body = BasicBlock::Create(llvm_, var->name, function_);
  BasicBlock* after = BasicBlock::Create(llvm_, var->name + ".end", function_);
  ir_.CreateCondBr(ir_.CreateICmp(less, begin, end), body, after);
  ir_.SetInsertPoint(body);
  llvm::PHINode* counter = ir_.CreatePHI(begin->getType(), 2, var->name);
  counter->addIncoming(begin, before);
  variables_[var] = counter;
  // The body runs only where begin < end, so the last value is at least the first.
  facts_.bind(var, {begin_range.low, std::max(begin_range.low, end_range.high - (end_range.high > begin_range.low))});
  regions_.emplace_back();
  emit(loop.body);
  regions_.pop_back();
  ir_.SetCurrentDebugLocation(here);
  Value* next = ir_.CreateAdd(counter, llvm::ConstantInt::get(counter->getType(), 1), "", !type.is_signed(),
                              type.is_signed());
  counter->addIncoming(next, ir_.GetInsertBlock());
  llvm::BranchInst* back = ir_.CreateCondBr(ir_.CreateICmp(less, next, end), body, after);
  // A schedule says which loops unroll. LLVM may still unroll what has a small constant trip count, but its runtime
  // unrolling (with a remainder loop) only multiplies code and compile time: see README.md for the measurement.
  llvm::SmallVector<llvm::Metadata*, 3> hints{nullptr};
  for (const char* hint : {"llvm.loop.mustprogress", "llvm.loop.unroll.runtime.disable"})
    hints.push_back(llvm::MDNode::get(llvm_, llvm::MDString::get(llvm_, hint)));
  llvm::MDNode* id = llvm::MDNode::getDistinct(llvm_, hints);
  id->replaceOperandWith(0, id);
  back->setMetadata(llvm::LLVMContext::MD_loop, id);
  ir_.SetInsertPoint(after);
  variables_.erase(var);
}

void KernelEmitter::emit_branch(const BranchNode& branch) {
  LATHE_CHECK(branch.condition->type == boolean, "a branch on " + to_string(branch.condition->type));
  Value* condition = emit_value(branch.condition);
  end_statement();
  BasicBlock* then_block = BasicBlock::Create(llvm_, "then", function_);
  BasicBlock* else_block = branch.else_body ? BasicBlock::Create(llvm_, "else", function_) : nullptr;
  BasicBlock* after = BasicBlock::Create(llvm_, "endif", function_);
  ir_.CreateCondBr(condition, then_block, else_block ? else_block : after);
  auto arm = [&](BasicBlock* block, const Stmt& body) {
    ir_.SetInsertPoint(block);
    regions_.emplace_back();
    emit(body);
    regions_.pop_back();
    ir_.CreateBr(after);
  };
  arm(then_block, branch.then_body);
  if (else_block) arm(else_block, branch.else_body);
  ir_.SetInsertPoint(after);
}

int64_t KernelEmitter::constant_elements(const Tensor& tensor) const {
  int64_t elements = 1;
  for (const Expr& extent : tensor.shape()) {
    const int64_t* value = as_constant(extent);
    if (!value)
      refuse("the size of " + tensor.name() + " is not known at build time",
             "memory inside a kernel needs numbers: bound or split the axis that gives the extent");
    if (*value < 0 || (*value > 0 && elements > (int64_t{1} << 40) / *value))
      refuse("the size of " + tensor.name() + " is out of range", "");
    elements *= *value;
  }
  return std::max<int64_t>(elements, 1);
}

void KernelEmitter::emit_alloc(const AllocNode& alloc) {
  const Tensor& tensor = alloc.tensor;
  const int64_t elements = constant_elements(tensor), bytes = elements * tensor.type().bytes();
  llvm::Type* type = llvm::ArrayType::get(memory_type(llvm_, tensor.type().scalar()), elements);
  switch (alloc.scope) {
    case Scope::shared: {
      lds_bytes_ = (lds_bytes_ + lds_alignment - 1) / lds_alignment * lds_alignment + bytes;
      if (lds_bytes_ > context_.target.gfx->lds_bytes)
        refuse("shared tensors take " + std::to_string(lds_bytes_) + " bytes of LDS, " + tensor.name() +
                   " the last of them",
               "a work-group has " + std::to_string(context_.target.gfx->lds_bytes) + " bytes: make the tiles smaller");
      auto* variable = new llvm::GlobalVariable(context_.module, type, false, llvm::GlobalValue::InternalLinkage,
                                                llvm::PoisonValue::get(type), kernel_.name + "." + tensor.name(),
                                                nullptr, llvm::GlobalValue::NotThreadLocal, shared_space);
      variable->setAlignment(llvm::Align(lds_alignment));
      memories_[tensor.get()] = {variable, tensor.type(), lds_alignment, false};
      break;
    }
    case Scope::registers: {
      if (bytes > max_register_bytes)
        refuse("register tensor " + tensor.name() + " takes " + std::to_string(bytes) + " bytes per work-item",
               "at most " + std::to_string(max_register_bytes) + ": make its tile smaller");
      Builder entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
      llvm::AllocaInst* variable = entry.CreateAlloca(type, private_space, nullptr, tensor.name());
      variable->setAlignment(llvm::Align(register_alignment));
      memories_[tensor.get()] = {variable, tensor.type(), register_alignment, false};
      break;
    }
    case Scope::global:
      LATHE_CHECK(false, "a global allocation of " + tensor.name() + " inside a kernel");
  }
  emit(alloc.body);
}

// All work-items arrive; what they wrote before is seen after. Where no global tensor is both read and written, only
// LDS has to be waited for: the fences then carry an MMRA that says so, and no vmcnt(0) or cache invalidation is
// emitted. llvm.amdgcn.s.barrier becomes the split form on gfx12.
void KernelEmitter::emit_barrier() {
  const llvm::SyncScope::ID group = llvm_.getOrInsertSyncScopeID("workgroup");
  auto fence = [&](llvm::AtomicOrdering ordering) {
    llvm::FenceInst* instruction = ir_.CreateFence(ordering, group);
    if (global_is_shared_) return;
    llvm::Metadata* tag[] = {llvm::MDString::get(llvm_, "amdgpu-synchronize-as"), llvm::MDString::get(llvm_, "local")};
    instruction->setMetadata(llvm::LLVMContext::MD_mmra, llvm::MDTuple::get(llvm_, tag));
  };
  fence(llvm::AtomicOrdering::Release);
  ir_.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, llvm::ArrayRef<Value*>{});
  fence(llvm::AtomicOrdering::Acquire);
}

}  // namespace lathe
