// Text to IR, the inverse of print.h. Errors name file:line:column, what was expected, and a hint.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ir/program.h"
#include "ir/stmt.h"

namespace lathe {

// A whole .te file: one function, its tensors, and (perhaps) a schedule. The steps are read, not yet applied.
Program parse_program(std::string_view text, const std::string& file = "text");
// What to_string of a lowered function or of kernels printed.
LoweredFunction parse_function(std::string_view text, const std::string& file = "text");

class Lexer;
using FindVariable = std::function<std::optional<Var>(const std::string& name)>;
// The condition that `lexer` stands at, on variables that `find` knows.
Expr parse_condition(Lexer& lexer, const FindVariable& find);

}  // namespace lathe
