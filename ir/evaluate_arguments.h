// Arrays meet a function's arguments: symbols are bound from shapes, everything else is checked. Both evaluators
// start here.
#pragma once

#include <deque>
#include <span>

#include "ir/evaluate.h"
#include "ir/expr_code.h"

namespace lathe {

class EvaluatedArguments {
 public:
  EvaluatedArguments(ExprCompiler& compiler, std::vector<Tensor> arguments, std::vector<Var> symbols);

  // A tensor beside the arguments that lives as long as the evaluation. Nothing happens when it is an argument.
  void add_temporary(const Tensor& t);

  // Binds the symbols in `state`, checks every argument, makes memory for the temporaries. Throws Error.
  void bind(std::span<const BufferView> views, State& state);

  // Is `t` itself an argument or temporary?
  bool has(const Tensor& t) const;
  // The memory behind the argument or temporary that is `t` or is called so, null when there is none.
  Memory* find(const Tensor& t);

 private:
  struct Entry {
    Tensor tensor;
    std::vector<const Code*> extents;
    Memory memory;
  };
  Entry entry(const Tensor& t);
  void bind_symbols(std::span<const BufferView> views, State& state);
  void check(const Entry& entry, const BufferView& view, State& state) const;
  std::string expected(const Entry& entry, State& state) const;

  ExprCompiler& compiler_;
  std::vector<Var> symbols_, bound_;
  std::deque<Entry> arguments_, temporaries_;  // deques: a Storage points at the memory
};

// Makes `memory` hold `storage` with the given shape, zeroed. Throws Error on a negative extent or too many elements.
void allocate(Storage& storage, Memory& memory, std::vector<int64_t> shape, const std::string& where);
// From now on an element has to be written before it is read.
void mark_unwritten(Storage& storage);

}  // namespace lathe
