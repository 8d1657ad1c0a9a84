// The compiler's assembly text as rows: each instruction with its kernel and the line of the kernel's text it came from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lathe {

struct AsmRow {
  std::string kernel;
  std::string text;      // an instruction or a label, comments left out
  int line = 0;          // of the kernel's "ir"; 0: unknown, or a label
  std::string_view kind; // "matrix", "vector", "scalar", "LDS", "memory", "wait", "branch"; "" for a label
};

// `assembly` is of a module that was built with line tables.
std::vector<AsmRow> read_assembly(std::string_view assembly);

// The kind of an instruction by its mnemonic.
std::string_view instruction_kind(std::string_view mnemonic);

}  // namespace lathe
