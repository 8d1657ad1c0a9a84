// The source line of an instruction, from a code object's .debug_line (objects compiled with -g).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "machine/types.h"

namespace lathe::emu {

class SourceLines {
 public:
  // Keeps a copy of the file. `bias`: device address minus ELF address. Bad debug sections give no lines, never an error.
  SourceLines(std::span<const u8> elf, u64 bias);
  ~SourceLines();
  std::string find(u64 pc) const;  // "kernel.cl:12", with the line's text where the object embeds it and the place it was inlined into; "" if unknown

 private:
  struct Context;
  std::vector<u8> bytes_;
  u64 bias_;
  mutable std::unique_ptr<Context> context_;  // read at the first report
};

}  // namespace lathe::emu
