#include "runtime/base/code_object.h"

#include <elf.h>

#include <cstring>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/base/msgpack.h"

namespace lathe {
namespace {

// LLVM's AMDGPUUsage, "ELF Code Object" (tables Header and Note Records).
constexpr uint16_t machine_amdgpu = 224;
constexpr uint8_t os_amdgpu_hsa = 64;
constexpr uint8_t abi_version_v4 = 2, abi_version_v6 = 4;  // EI_ABIVERSION of code object versions 4 and 6
constexpr uint32_t note_metadata = 32;                     // NT_AMDGPU_METADATA
constexpr uint64_t descriptor_bytes = 64;                  // of a kernel descriptor
constexpr std::string_view triple = "amdgcn-amd-amdhsa--";

struct CountField {
  std::string_view key;
  uint32_t KernelInfo::*member;
};
constexpr CountField count_fields[] = {
    {".vgpr_count", &KernelInfo::vgpr_count},
    {".agpr_count", &KernelInfo::agpr_count},
    {".sgpr_count", &KernelInfo::sgpr_count},
    {".vgpr_spill_count", &KernelInfo::vgpr_spill_count},
    {".sgpr_spill_count", &KernelInfo::sgpr_spill_count},
    {".group_segment_fixed_size", &KernelInfo::group_segment_fixed_size},
    {".private_segment_fixed_size", &KernelInfo::private_segment_fixed_size},
    {".kernarg_segment_size", &KernelInfo::kernarg_segment_size},
    {".kernarg_segment_align", &KernelInfo::kernarg_segment_align},
    {".wavefront_size", &KernelInfo::wavefront_size},
    {".max_flat_workgroup_size", &KernelInfo::max_flat_workgroup_size},
};

class ElfFile {
 public:
  ElfFile(std::span<const uint8_t> bytes, std::string_view where) : bytes_(bytes), where_(where) {
    if (bytes.size() < sizeof(Elf64_Ehdr)) fail("cut short: " + std::to_string(bytes.size()) + " bytes");
    std::memcpy(&header_, bytes.data(), sizeof header_);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) fail("not an ELF file");
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
      fail("not a 64-bit little-endian ELF file");
    if (header_.e_machine != machine_amdgpu || header_.e_ident[EI_OSABI] != os_amdgpu_hsa)
      fail("an ELF file for machine " + std::to_string(header_.e_machine) + ", not an AMDGPU HSA code object");
    if (header_.e_type != ET_DYN) fail("not linked: ELF type " + std::to_string(header_.e_type));
    if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_shentsize != sizeof(Elf64_Shdr))
      fail("header entries of an unknown size");
    // Both tables and all that they point to must be in the file: then no prefix of it passes.
    slice(header_.e_shoff, uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr), "section headers");
    for (unsigned i = 0; i < header_.e_phnum; ++i) slice(segment(i).p_offset, segment(i).p_filesz, "a segment");
    for (unsigned i = 0; i < header_.e_shnum; ++i)
      if (section(i).sh_type != SHT_NOBITS) slice(section(i).sh_offset, section(i).sh_size, "a section");
  }

  const Elf64_Ehdr& header() const { return header_; }
  Elf64_Phdr segment(unsigned i) const { return read<Elf64_Phdr>(header_.e_phoff, i, "program headers"); }
  Elf64_Shdr section(unsigned i) const { return read<Elf64_Shdr>(header_.e_shoff, i, "section headers"); }

  std::span<const uint8_t> slice(uint64_t offset, uint64_t size, const char* what) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      fail("cut short or altered: " + std::string(what) + " at " + std::to_string(offset) + ", " +
           std::to_string(size) + " bytes, in a file of " + std::to_string(bytes_.size()));
    return bytes_.subspan(offset, size);
  }

  template <class T>
  T read(uint64_t table, uint64_t index, const char* what) const {
    T value;
    uint64_t offset;
    if (__builtin_add_overflow(table, index * sizeof(T), &offset)) fail(std::string("altered: ") + what);
    std::memcpy(&value, slice(offset, sizeof(T), what).data(), sizeof(T));
    return value;
  }

  // The contents of the metadata note; empty when there is none.
  std::span<const uint8_t> metadata() const;
  // Is a symbol of this name defined, with a whole kernel descriptor behind it?
  bool has_descriptor(std::string_view symbol) const;

  [[noreturn]] void fail(std::string what) const { throw Error(std::string(where_), std::move(what)); }

 private:
  std::span<const uint8_t> bytes_;
  std::string_view where_;
  Elf64_Ehdr header_;
};

std::span<const uint8_t> ElfFile::metadata() const {
  auto padded = [](uint64_t n) { return (n + 3) & ~uint64_t{3}; };
  for (unsigned i = 0; i < header_.e_phnum; ++i) {
    const Elf64_Phdr notes = segment(i);
    if (notes.p_type != PT_NOTE) continue;
    const uint64_t end = notes.p_offset + notes.p_filesz;  // in the file: the constructor looked
    for (uint64_t at = notes.p_offset; end - at >= sizeof(Elf64_Nhdr);) {
      const auto note = read<Elf64_Nhdr>(at, 0, "a note");
      const uint64_t name_at = at + sizeof note, contents_at = name_at + padded(note.n_namesz);
      const auto name = slice(name_at, note.n_namesz, "a note's name");
      const auto contents = slice(contents_at, note.n_descsz, "a note's contents");
      constexpr std::string_view owner{"AMDGPU\0", 7};
      if (note.n_type == note_metadata && owner == std::string_view(reinterpret_cast<const char*>(name.data()), name.size()))
        return contents;
      const uint64_t next = contents_at + padded(note.n_descsz);
      if (next > end) break;
      at = next;
    }
  }
  return {};
}

bool ElfFile::has_descriptor(std::string_view symbol) const {
  for (unsigned i = 0; i < header_.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_DYNSYM || table.sh_link >= header_.e_shnum) continue;
    const Elf64_Shdr strings = section(table.sh_link);
    const auto names = slice(strings.sh_offset, strings.sh_size, "the symbols' names");
    for (uint64_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); ++k) {
      const auto entry = read<Elf64_Sym>(table.sh_offset, k, "symbols");
      if (entry.st_name >= names.size() || names.size() - entry.st_name <= symbol.size()) continue;
      const char* name = reinterpret_cast<const char*>(names.data()) + entry.st_name;
      if (std::memcmp(name, symbol.data(), symbol.size()) != 0 || name[symbol.size()] != '\0') continue;
      return entry.st_shndx != SHN_UNDEF && entry.st_size == descriptor_bytes;
    }
  }
  return false;
}

uint32_t read_count(MsgpackReader& in, const ElfFile& file, std::string_view key) {
  const uint64_t value = in.read_uint();
  if (value > UINT32_MAX) file.fail("metadata has " + std::to_string(value) + " for " + std::string(key));
  return static_cast<uint32_t>(value);
}

KernelParameter read_parameter(MsgpackReader& in, const ElfFile& file) {
  KernelParameter parameter;
  for (uint64_t n = in.read_map(); n > 0; --n) {
    const std::string_view key = in.read_string();
    if (key == ".name") parameter.name = in.read_string();
    else if (key == ".value_kind") parameter.value_kind = in.read_string();
    else if (key == ".offset") parameter.offset = read_count(in, file, key);
    else if (key == ".size") parameter.size = read_count(in, file, key);
    else in.skip();
  }
  return parameter;
}

KernelInfo read_kernel(MsgpackReader& in, const ElfFile& file) {
  KernelInfo kernel;
  for (uint64_t n = in.read_map(); n > 0; --n) {
    const std::string_view key = in.read_string();
    const CountField* field = nullptr;
    for (const CountField& row : count_fields)
      if (row.key == key) field = &row;
    if (field) kernel.*field->member = read_count(in, file, key);
    else if (key == ".name") kernel.name = in.read_string();
    else if (key == ".symbol") kernel.symbol = in.read_string();
    else if (key == ".args")
      for (uint64_t k = in.read_array(); k > 0; --k) kernel.parameters.push_back(read_parameter(in, file));
    else in.skip();
  }
  if (kernel.name.empty() || kernel.symbol.empty()) file.fail("metadata has a kernel without a name");
  if (!file.has_descriptor(kernel.symbol)) file.fail("kernel " + kernel.name + " has no descriptor " + kernel.symbol);
  for (const KernelParameter& p : kernel.parameters)
    if (uint64_t{p.offset} + p.size > kernel.kernarg_segment_size)
      file.fail("kernel " + kernel.name + ": an argument at " + std::to_string(p.offset) + ", " +
                std::to_string(p.size) + " bytes, of " + std::to_string(kernel.kernarg_segment_size));
  return kernel;
}

}  // namespace

CodeObjectInfo read_code_object(std::span<const uint8_t> bytes, std::string_view where) {
  const ElfFile file(bytes, where);
  CodeObjectInfo info;
  const uint8_t abi_version = file.header().e_ident[EI_ABIVERSION];
  if (abi_version < abi_version_v4 || abi_version > abi_version_v6)
    file.fail("ELF ABI version " + std::to_string(abi_version) + ": code object versions 4, 5 and 6 can be read");
  info.version = abi_version + 2;
  const std::optional<Target> target = target_from_elf_flags(file.header().e_flags);
  if (!target) file.fail("unknown processor " + std::to_string(file.header().e_flags & 0xff) + " in its ELF flags");
  info.target = *target;

  const std::span<const uint8_t> metadata = file.metadata();
  if (metadata.empty()) file.fail("no AMDGPU metadata note");
  MsgpackReader in(metadata, where);
  for (uint64_t n = in.read_map(); n > 0; --n) {
    const std::string_view key = in.read_string();
    if (key == "amdhsa.target") info.target_id = in.read_string();
    else if (key == "amdhsa.kernels")
      for (uint64_t k = in.read_array(); k > 0; --k) info.kernels.push_back(read_kernel(in, file));
    else in.skip();
  }
  if (info.target_id != std::string(triple) + info.target.id())
    file.fail("its metadata says " + info.target_id + ", its ELF flags " + info.target.id());
  return info;
}

}  // namespace lathe
