// A program: what one `.te` file says, and what `build` takes. Tensors and, apart from them, schedule steps.
#pragma once

#include <string>
#include <vector>

#include "ir/schedule/step.h"
#include "ir/tensor.h"

namespace lathe {

struct Program {
  std::string name;
  std::vector<Var> symbols;          // shape symbols, in order of first use
  std::vector<Tensor> arguments;     // placeholders and outputs, in the order of the function's parameters
  std::vector<Step> steps;

  // The arguments that are computed.
  std::vector<Tensor> outputs() const;
  // Every computed tensor, producers before consumers; outputs of one definition stand together.
  std::vector<Tensor> computed() const;
};

// Gathers the program of `arguments`. Throws when a tensor that an output needs is neither computed nor an argument,
// when an argument stands twice, when two tensors or symbols share a name, or a name is a word of the language.
Program make_program(std::string name, std::vector<Tensor> arguments);

}  // namespace lathe
