// Expressions compiled for the evaluator: trees of small objects with one virtual call per node, so that 16 million
// multiply-adds take well under a second.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/scalar.h"
#include "ir/tensor.h"

namespace lathe {

// Bytes of a tensor. `written` has one flag per element; it stays empty where all have a value from the start.
struct Memory {
  std::byte* data = nullptr;
  int64_t elements = 0;
  std::vector<bool> written;
  std::vector<std::byte> own;  // behind `data`, unless the caller's array is
};

// A tensor while the evaluator runs: where its elements are at the moment.
struct Storage {
  std::string name;
  DType type;
  std::vector<int64_t> shape;
  Memory* memory = nullptr;
};

// The values of variables. Floats of every type are held as doubles, which hold them exactly.
struct State {
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<Scalar> scratch;  // the next accumulators, while a step of a reduction computes them
  int lane = 0;                 // of a vector: every expression gives this lane's value
  bool reduced = false;         // the accumulators hold the current element's reduction
};

// A compiled expression. `integer` is for integers and bool (as Scalar holds them), `real` for floats: an object has
// the one that its type needs.
class Code {
 public:
  virtual ~Code() = default;
  virtual int64_t integer(State& state) const;
  virtual double real(State& state) const;
};

// Compiles expressions and owns what they become. Variables have slots in a State, tensors have a Storage; both are
// made on first use and keep their place.
class ExprCompiler {
 public:
  // `where` opens the messages of errors at run time, as in "evaluate(matmul)".
  explicit ExprCompiler(std::string where) : where_(std::move(where)) {}

  const Code* compile(const Expr& e);
  // The number of an element in its tensor, every index checked against its extent.
  const Code* compile_place(const Ref<TensorNode>& tensor, const std::vector<Expr>& indices);
  // To be called between definitions: within one, reductions of one combiner over the same axes are the same one.
  void begin_definition() { reductions_.clear(); }

  size_t slot(const VarNode* v);
  Storage& storage(const Ref<TensorNode>& tensor);
  State make_state() const;  // has room for every variable seen so far
  const std::string& where() const { return where_; }

 private:
  template <class C, class... A>
  const C* make(A&&... arguments);
  const Code* compile_new(const Expr& e);
  const Code* compile_apply(const ApplyNode& apply);
  const Code* compile_load(const LoadNode& load);
  const Code* compile_reduce(const ReduceNode& reduce);

  std::string where_;
  std::vector<std::unique_ptr<Code>> codes_;
  std::unordered_map<const ExprNode*, const Code*> compiled_;
  std::vector<Expr> kept_;  // the keys of compiled_: a node's address is its identity as long as it lives
  std::unordered_map<const VarNode*, size_t> slots_;
  // By definition and output, or by the node itself: what a tensor is told apart by.
  std::map<std::pair<const Node*, int>, std::unique_ptr<Storage>> storages_;
  std::vector<Ref<TensorNode>> kept_tensors_;
  std::map<std::pair<const CombinerNode*, const VarNode*>, const Code*> reductions_;  // of the definition at hand
  size_t components_ = 0;  // of the widest reduction
};

// Element `number` of a tensor.
void write_integer(Storage& storage, int64_t number, int64_t value);
void write_real(Storage& storage, int64_t number, double value);

}  // namespace lathe
