// One kernel as one LLVM function. Internal to this room (LLVM headers).
#pragma once

#include <array>
#include <optional>
#include <unordered_map>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/index_facts.h"
#include "compiler/codegen/numeric.h"

namespace lathe {

class LineTables;

// What every function of a module shares.
struct ModuleContext {
  llvm::Module& module;
  const Target& target;
  const CodegenOptions& options;
  int wave_size;
  std::string cpu, features;  // LLVM's target-cpu and target-features
};

class KernelEmitter {
 public:
  KernelEmitter(const ModuleContext& context, const Kernel& kernel, LineTables* lines);
  void run();

 private:
  // Where a tensor lives.
  struct Memory {
    llvm::Value* pointer;
    DType type;
    int64_t alignment;  // of element 0, in bytes
    bool constant;      // no work-item writes it while the kernel runs
  };
  // The elements an access touches: base, base + stride, … in elements.
  struct Address {
    llvm::Value* base;
    int64_t stride;
    int64_t multiple;  // divides base
  };
  // Values already emitted in the region being emitted, by expression, lane and whether it stands in an index. A loop
  // body or a branch opens a region of its own; values with loads are forgotten after each statement.
  struct Key {
    const ExprNode* node;
    int lane;
    bool in_index;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const {
      return std::hash<const void*>()(k.node) ^ (static_cast<size_t>(k.lane + 1) * 2 + k.in_index) * 0x9e3779b97f4a7c15;
    }
  };
  struct Region {
    std::unordered_map<Key, llvm::Value*, KeyHash> pure, loading;
  };

  // kernel_emitter.cpp: the function and its statements
  void make_function();
  void bind_variables();
  void emit(const Stmt& s);
  void emit_loop(const LoopNode& loop);
  void emit_branch(const BranchNode& branch);
  void emit_store(const StoreNode& store);
  void emit_alloc(const AllocNode& alloc);
  void emit_barrier();
  int64_t constant_elements(const Tensor& tensor) const;

  // kernel_combine.cpp: work-items of a wave combine what they hold
  void emit_combine(const CombineNode& combine);
  llvm::Value* exchange(llvm::Value* value, int distance);
  llvm::Value* lane_number();

  // kernel_expr.cpp: expressions and accesses
  static constexpr int all_lanes = -1;
  llvm::Value* emit(const Expr& e, int lane, bool in_index);
  llvm::Value* emit_value(const Expr& e) { return emit(e, all_lanes, false); }
  llvm::Value* emit_uncached(const Expr& e, int lane, bool in_index);
  llvm::Value* emit_variable(const VarNode& var);
  llvm::Value* emit_apply_node(const Expr& e, const ApplyNode& apply, int lane, bool in_index);
  llvm::Value* emit_lazy_select(const Expr& e, const ApplyNode& select, int lane, bool in_index);
  llvm::Value* emit_load(const Expr& e, const LoadNode& load, int lane);
  bool contains_load(const Expr& e);
  // The address as base and constant stride, or nullopt when the lanes are unrelated.
  std::optional<Address> as_strided(const Expr& index);
  llvm::Value* element_pointer(const Memory& memory, llvm::Value* index, bool nonnegative);
  llvm::Value* load_from(const Memory& memory, llvm::Value* pointer, DType type, int64_t alignment);
  void store_to(const Memory& memory, llvm::Value* pointer, llvm::Value* value, DType type, int64_t alignment);
  const Expr& flat_index(const std::vector<Expr>& indices, const std::string& tensor) const;
  const Memory& memory_of(const TensorNode* tensor) const;
  void end_statement() { regions_.back().loading.clear(); }

  [[noreturn]] void refuse(std::string what, std::string hint) const;

  const ModuleContext& context_;
  const Kernel& kernel_;
  LineTables* lines_;  // null: none are wanted
  llvm::LLVMContext& llvm_;
  llvm::Function* function_ = nullptr;
  Builder ir_;
  IndexFacts facts_;
  std::unordered_map<const VarNode*, llvm::Value*> variables_;
  std::unordered_map<const VarNode*, std::pair<bool, int>> hardware_ids_;  // is a thread's, dimension
  std::unordered_map<const TensorNode*, Memory> memories_;
  std::array<Expr, 3> block_;  // of a kernel with a block order: values are known by their expressions, which must live
  std::unordered_map<const ExprNode*, bool> has_load_;
  std::vector<Region> regions_;
  const Expr zero_ = constant(i64, int64_t{0});  // the index of a tensor of rank 0
  bool global_is_shared_ = false;  // the kernel reads a global tensor that it writes
  int64_t lds_bytes_ = 0;
};

}  // namespace lathe
