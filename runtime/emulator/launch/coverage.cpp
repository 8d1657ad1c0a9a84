// Which instructions of a code object have no row yet: the to-do list of the instruction set.
#include <map>

#include <fmt/format.h>

#include "decode/disassembler.h"
#include "decode/opcode_name.h"
#include "hip/state.h"
#include "machine/row.h"

using namespace lathe::emu;

// One line per base name: "NAME count"; "" if all have rows, a line that starts with "error" if the file is none.
LATHE_HIP const char* lathe_emulator_missing_rows(const char* arch, const void* image, size_t size) {
  static thread_local std::string text;
  text.clear();
  try {
    const Isa* isa = arch ? find_isa(arch) : nullptr;
    if (!isa) return "error: no such target";
    const auto object = load_code_object({static_cast<const u8*>(image), size}, *isa, 0);
    const u32 lanes = object->kernels.empty() ? isa->wave_size : object->kernels.begin()->second->lanes;
    std::map<std::string, u32> missing;
    auto need = [&](const std::string& name) {
      if (!find_row(name)) missing[name]++;
    };
    for (u64 at = object->text_base, end = at + object->text_size; at < end;) {
      const Decoded d = disassemble_one(*isa, lanes, reinterpret_cast<const u8*>(at), std::min<u64>(20, end - at), at);
      at += d.size ? d.size : 4;
      if (d.opcode.empty() || d.opcode.find("CODE_END") != std::string_view::npos) continue;
      const OpcodeName name = take_apart(d.opcode);
      need(name.base);
      if (!name.dual.empty()) need(name.dual);
    }
    for (const auto& [name, count] : missing) text += fmt::format("{} {}\n", name, count);
  } catch (const std::exception& e) {
    text = std::string("error: ") + e.what();
  }
  return text.c_str();
}
