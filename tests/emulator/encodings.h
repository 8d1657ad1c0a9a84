// Every instruction that LLVM decodes for a target, found from the encodings' formats alone: for each opcode
// of each format the bits that may be set are probed one by one, then drawn at random.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace emu_test {

struct Encoding {
  std::string opcode;          // LLVM's name: V_ADD_F32_e32_gfx10
  std::string text;            // as LLVM prints it
  std::vector<uint8_t> bytes;
};

// Calls `found` for `draws` instructions of each opcode and form; the same ones in every run.
void each_encoding(const std::string& arch, unsigned wave, unsigned draws, const std::function<void(const Encoding&)>& found);
// The target's generation of encodings: 9, 10, 11, 12.
unsigned generation(const std::string& arch);

}  // namespace emu_test
