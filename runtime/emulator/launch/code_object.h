// A loaded code object: the ELF's segments in device memory, its kernels with descriptor and metadata, its
// global variables. Every read of the file is bounds-checked; a bad file is an error and nothing else.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "decode/source_lines.h"
#include "machine/memory.h"
#include "machine/program.h"

namespace lathe::emu {

struct BadImage : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct WrongTarget : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct KernelArg {
  std::string name, value_kind;  // "by_value", "global_buffer", "hidden_block_count_x" ...
  u32 offset = 0, size = 0;
};

struct CodeObject;

struct Kernel {
  std::string name;
  const CodeObject* object = nullptr;
  // From the 64-byte kernel descriptor (AMDGPUUsage, "Kernel Descriptor").
  u32 lds_bytes = 0, private_bytes = 0, kernarg_bytes = 0;
  u64 entry = 0;           // device address of the first instruction
  u32 rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  u16 properties = 0, preload = 0;
  // From the metadata note.
  std::vector<KernelArg> args;
  u32 max_flat_workgroup_size = 1024;
  u32 reqd_size[3] = {};   // 0: not required
  bool dynamic_stack = false;
  // Derived.
  u32 lanes = 64, vgprs = 0, agpr_base = 0, total_vgprs = 0;
  std::unique_ptr<Program> programs[2];  // [strict], decoded as launches come
  std::mutex mutex;
  Program& program(bool strict);
};

struct CodeObject {
  const Isa* isa = nullptr;
  Allocation* image = nullptr;      // all PT_LOAD segments at their relative places
  u64 load_bias = 0;                // device address = load_bias + ELF address
  u64 text_base = 0, text_size = 0;
  u32 version = 0;                  // 4, 5 or 6
  std::string file_target;          // target id of the file
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
  struct Global { u64 address, size; };
  std::map<std::string, Global> globals;
  std::unique_ptr<SourceLines> lines;  // if compiled with -g
  ~CodeObject();
};

// Throws BadImage or WrongTarget. `bytes` may be longer than the ELF.
std::unique_ptr<CodeObject> load_code_object(std::span<const u8> bytes, const Isa& isa, int device);
// How many bytes an ELF has, from its headers, when the caller gave no length: `head` is as much of it as is
// known so far; asks for more by naming a size above head.size().
u64 elf_size(std::span<const u8> head);

}  // namespace lathe::emu
