#include "launch/code_object.h"

#include <cstring>

#include <fmt/format.h>

#include "runtime/base/error.h"
#include "runtime/base/msgpack.h"

namespace lathe::emu {
namespace {

// ELF64 structures, little endian (System V ABI; AMDGPUUsage for the AMDGPU values).
struct ElfHeader { u8 ident[16]; u16 type, machine; u32 version; u64 entry, phoff, shoff; u32 flags; u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx; };
struct ElfSegment { u32 type, flags; u64 offset, vaddr, paddr, filesz, memsz, align; };
struct ElfSection { u32 name, type; u64 flags, addr, offset, size; u32 link, info; u64 addralign, entsize; };
struct ElfSymbol { u32 name; u8 info, other; u16 shndx; u64 value, size; };
struct Rela { u64 offset, info; i64 addend; };
struct Dyn { i64 tag; u64 value; };
constexpr u16 em_amdgpu = 224;
constexpr u8 os_amdgpu_hsa = 64;
constexpr u32 note_amdgpu_metadata = 32;

struct Reader {
  std::span<const u8> file;
  template <class T>
  T get(u64 at) const {
    if (at > file.size() || file.size() - at < sizeof(T)) throw BadImage(fmt::format("ELF is cut off: {} bytes wanted at offset {} of {}", sizeof(T), at, file.size()));
    T x;
    std::memcpy(&x, file.data() + at, sizeof x);
    return x;
  }
  std::span<const u8> slice(u64 at, u64 size) const {
    if (at > file.size() || file.size() - at < size) throw BadImage(fmt::format("ELF is cut off: {} bytes wanted at offset {} of {}", size, at, file.size()));
    return file.subspan(at, size);
  }
};

std::string c_string(std::span<const u8> table, u64 at) {
  std::string s;
  for (; at < table.size() && table[at]; at++) s += char(table[at]);
  return s;
}

// Which devices a generic target covers (AMDGPUUsage, "Generic processors").
bool fits(const Isa& isa, std::string_view file_mach) { return file_mach == isa.name || (!isa.generic.empty() && file_mach == isa.generic); }

void check_target(const ElfHeader& h, const Isa& isa, CodeObject& out) {
  const u32 mach = h.flags & 0xff, xnack = h.flags >> 8 & 3, ecc = h.flags >> 10 & 3;
  const std::string_view name = mach_name(mach);
  if (name.empty()) throw WrongTarget(fmt::format("code object is for an unknown processor (mach 0x{:x}), the device is {}", mach, target_id(isa)));
  // 0 unsupported, 1 any, 2 off, 3 on
  out.file_target = fmt::format("{}{}{}", name, ecc == 2 ? ":sramecc-" : ecc == 3 ? ":sramecc+" : "", xnack == 2 ? ":xnack-" : xnack == 3 ? ":xnack+" : "");
  const bool features = !(isa.xnack && xnack == 3) && !(isa.sramecc && ecc == 2);
  if (!fits(isa, name) || !features) throw WrongTarget(fmt::format("code object is for {}, the device is {}", out.file_target, target_id(isa)));
}

// Sections are optional: where their table is unsound there is simply none.
bool has_section(const Reader& file, const ElfHeader& h, std::string_view name) {
  if (h.shentsize != sizeof(ElfSection) || h.shstrndx >= h.shnum) return false;
  try {
    const auto section = [&](u32 k) { return file.get<ElfSection>(h.shoff + u64(k) * sizeof(ElfSection)); };
    const ElfSection names = section(h.shstrndx);
    const auto text = file.slice(names.offset, names.size);
    for (u32 k = 0; k < h.shnum; k++)
      if (c_string(text, section(k).name) == name) return true;
  } catch (const BadImage&) {
  }
  return false;
}

KernelArg read_argument(MsgpackReader& r) {
  KernelArg arg;
  for (u64 n = r.read_map(); n-- > 0;) {
    const std::string_view key = r.read_string();
    if (key == ".value_kind") arg.value_kind = r.read_string();
    else if (key == ".name") arg.name = r.read_string();
    else if (key == ".offset") arg.offset = u32(r.read_uint());
    else if (key == ".size") arg.size = u32(r.read_uint());
    else r.skip();
  }
  return arg;
}

// One entry of amdhsa.kernels goes to the kernel whose descriptor it names.
void read_kernel(MsgpackReader& r, const std::map<std::string, Kernel*>& by_symbol) {
  std::string name, symbol;
  u64 flat = 1024, kernarg = 0;
  u32 required[3] = {};
  std::vector<KernelArg> args;
  for (u64 n = r.read_map(); n-- > 0;) {
    const std::string_view key = r.read_string();
    if (key == ".name") name = r.read_string();
    else if (key == ".symbol") symbol = r.read_string();
    else if (key == ".max_flat_workgroup_size") flat = r.read_uint();
    else if (key == ".kernarg_segment_size") kernarg = r.read_uint();
    else if (key == ".reqd_workgroup_size") {
      if (r.read_array() != 3) throw BadImage("metadata: .reqd_workgroup_size is no triple");
      for (u32& x : required) x = u32(r.read_uint());
    } else if (key == ".args") {
      for (u64 k = r.read_array(); k-- > 0;) args.push_back(read_argument(r));
    } else {
      r.skip();
    }
  }
  const auto it = by_symbol.find(symbol);
  if (it == by_symbol.end()) throw BadImage(fmt::format("metadata names kernel descriptor '{}', which the symbol table lacks", symbol));
  Kernel& k = *it->second;
  k.name = name;
  k.max_flat_workgroup_size = u32(flat);
  if (kernarg > (1u << 20)) throw BadImage(fmt::format("metadata of {}: kernarg segment of {} bytes", name, kernarg));
  k.kernarg_bytes = std::max(k.kernarg_bytes, u32(kernarg));
  for (const KernelArg& a : args) {
    if (a.value_kind.empty()) throw BadImage(fmt::format("metadata of {}: an argument lacks .value_kind", name));
    if (u64(a.offset) + a.size > k.kernarg_bytes) throw BadImage(fmt::format("metadata of {}: an argument ends at byte {} of a {}-byte kernarg segment", name, u64(a.offset) + a.size, k.kernarg_bytes));
  }
  k.args = std::move(args);
  std::copy(required, required + 3, k.reqd_size);
}

void read_metadata(std::span<const u8> note, const std::map<std::string, Kernel*>& by_symbol) {
  MsgpackReader r(note, "metadata note");
  bool found = false;
  for (u64 n = r.read_map(); n-- > 0;) {
    if (r.read_string() == "amdhsa.kernels") {
      found = true;
      for (u64 k = r.read_array(); k-- > 0;) read_kernel(r, by_symbol);
    } else {
      r.skip();
    }
  }
  if (!found) throw BadImage("metadata has no list amdhsa.kernels");
}

void read_descriptor(Kernel& k, const u8* d, u64 address, const Isa& isa) {
  auto u32_at = [&](u32 at) { u32 x; std::memcpy(&x, d + at, 4); return x; };
  k.lds_bytes = u32_at(0), k.private_bytes = u32_at(4), k.kernarg_bytes = u32_at(8);
  i64 entry;
  std::memcpy(&entry, d + 16, 8);
  k.entry = address + u64(entry);
  k.rsrc3 = u32_at(44), k.rsrc1 = u32_at(48), k.rsrc2 = u32_at(52);
  std::memcpy(&k.properties, d + 56, 2);
  std::memcpy(&k.preload, d + 58, 2);
  k.dynamic_stack = k.properties >> 11 & 1;
  k.lanes = isa.encoding == Encoding::gfx9 ? 64 : (k.properties >> 10 & 1) ? 32 : 64;
  const u32 granule = k.lanes == 32 ? isa.vgpr_granule32 : isa.vgpr_granule64;
  k.vgprs = ((k.rsrc1 & 63) + 1) * granule;
  if (isa.unified_agprs) {
    k.total_vgprs = k.vgprs;
    k.agpr_base = ((k.rsrc3 & 63) + 1) * 4;
  } else if (isa.separate_agprs) {
    k.agpr_base = k.vgprs, k.total_vgprs = 2 * k.vgprs;
  } else {
    k.total_vgprs = k.agpr_base = k.vgprs;
  }
  if (k.total_vgprs > 1024) throw BadImage(fmt::format("kernel descriptor asks for {} VGPRs", k.total_vgprs));
  if (k.lds_bytes > isa.lds_bytes) throw BadImage(fmt::format("kernel descriptor asks for {} bytes of LDS, {} has {}", k.lds_bytes, isa.name, isa.lds_bytes));
  if (k.private_bytes > (1u << 20)) throw BadImage(fmt::format("kernel descriptor asks for {} bytes of scratch per lane", k.private_bytes));
}

}  // namespace

Program& Kernel::program(bool strict) {
  std::lock_guard lock(mutex);
  auto& p = programs[strict];
  if (!p) {
    p = std::make_unique<Program>();
    p->context = {object->isa, lanes, total_vgprs, agpr_base, strict};
    p->set_text(object->text_base, object->text_size);
    p->kernel_name = name;
    p->lines = object->lines.get();
  }
  return *p;
}

CodeObject::~CodeObject() {
  if (image) memory().release(image->base, Allocation::Kind::code);
}

u64 elf_size(std::span<const u8> head) {
  ElfHeader h;
  if (head.size() < sizeof h) return sizeof h;
  std::memcpy(&h, head.data(), sizeof h);
  constexpr u64 sane = u64(1) << 31;
  u64 size = sizeof h;
  const bool segments = h.phoff < sane && h.phentsize == sizeof(ElfSegment), sections = h.shoff < sane && h.shentsize == sizeof(ElfSection);
  if (segments) size = std::max(size, h.phoff + u64(h.phnum) * sizeof(ElfSegment));
  if (sections) size = std::max(size, h.shoff + u64(h.shnum) * sizeof(ElfSection));
  auto add = [&](u64 offset, u64 bytes) {
    if (offset < sane && bytes < sane) size = std::max(size, offset + bytes);
  };
  for (u32 k = 0; segments && k < h.phnum; k++) {
    ElfSegment s;
    const u64 at = h.phoff + u64(k) * sizeof s;
    if (at + sizeof s > head.size()) break;
    std::memcpy(&s, head.data() + at, sizeof s);
    add(s.offset, s.filesz);
  }
  for (u32 k = 0; sections && k < h.shnum; k++) {
    ElfSection s;
    const u64 at = h.shoff + u64(k) * sizeof s;
    if (at + sizeof s > head.size()) break;
    std::memcpy(&s, head.data() + at, sizeof s);
    if (s.type != 8) add(s.offset, s.size);
  }
  return size;
}

std::unique_ptr<CodeObject> load_code_object(std::span<const u8> bytes, const Isa& isa, int device) {
  const Reader file{bytes};
  const ElfHeader h = file.get<ElfHeader>(0);
  if (std::memcmp(h.ident, "\177ELF", 4)) throw BadImage("not an ELF file");
  if (h.ident[4] != 2 || h.ident[5] != 1) throw BadImage("not a 64-bit little-endian ELF file");
  if (h.machine != em_amdgpu) throw BadImage(fmt::format("ELF is for machine {}, not for AMDGPU (224)", h.machine));
  if (h.ident[7] != os_amdgpu_hsa) throw BadImage(fmt::format("ELF's OS ABI is {}, not AMDGPU HSA (64)", h.ident[7]));
  if (h.type != 3) throw BadImage("ELF is not a linked code object (type is not DYN)");
  auto object = std::make_unique<CodeObject>();
  object->isa = &isa;
  object->version = h.ident[8] + 2u;  // ABI version 2, 3, 4 are code object v4, v5, v6
  if (object->version < 4 || object->version > 6) throw BadImage(fmt::format("code object version {} (4, 5 and 6 are known)", object->version));
  check_target(h, isa, *object);
  if (h.phentsize != sizeof(ElfSegment) || h.phnum == 0 || h.phnum > 256) throw BadImage("ELF has no sound program headers");

  u64 top = 0;
  std::vector<ElfSegment> segments;
  for (u32 k = 0; k < h.phnum; k++) {
    const ElfSegment s = file.get<ElfSegment>(h.phoff + u64(k) * sizeof(ElfSegment));
    segments.push_back(s);
    if (s.type != 1) continue;
    (void)file.slice(s.offset, s.filesz);
    if (s.filesz > s.memsz || s.vaddr + s.memsz < s.vaddr || s.vaddr + s.memsz > (u64(1) << 29)) throw BadImage("ELF segment has unsound sizes");
    top = std::max(top, s.vaddr + s.memsz);
  }
  if (!top) throw BadImage("ELF has no loadable segment");
  Allocation* image = memory().allocate(top, Allocation::Kind::code, "code object", false, device);
  object->image = image;
  object->load_bias = image->base;
  u8* base = reinterpret_cast<u8*>(image->base);
  for (const ElfSegment& s : segments) {
    if (s.type != 1) continue;
    const auto from = file.slice(s.offset, s.filesz);
    std::memcpy(base + s.vaddr, from.data(), from.size());
    if (s.flags & 1) {
      if (!object->text_size) object->text_base = image->base + s.vaddr, object->text_size = s.memsz & ~u64(3);
    }
  }
  if (!object->text_size) throw BadImage("ELF has no executable segment");

  // Symbols and relocations through the dynamic section: what a loader may rely on.
  u64 symtab = 0, strtab = 0, strsz = 0, rela = 0, relasz = 0, symbols = 0, hash = 0;
  for (const ElfSegment& s : segments) {
    if (s.type != 2) continue;
    for (u64 at = 0; at + sizeof(Dyn) <= s.filesz; at += sizeof(Dyn)) {
      const Dyn d = file.get<Dyn>(s.offset + at);
      if (d.tag == 0) break;
      if (d.tag == 5) strtab = d.value;
      if (d.tag == 6) symtab = d.value;
      if (d.tag == 10) strsz = d.value;
      if (d.tag == 7) rela = d.value;
      if (d.tag == 8) relasz = d.value;
      if (d.tag == 4) hash = d.value;
    }
  }
  auto in_image = [&](u64 at, u64 size) -> u8* {
    if (at > top || top - at < size) throw BadImage(fmt::format("ELF names {} bytes at 0x{:x}, outside its segments", size, at));
    return base + at;
  };
  if (hash) {
    u32 n;
    std::memcpy(&n, in_image(hash + 4, 4), 4);
    symbols = n;
  } else if (symtab && strtab > symtab) {
    symbols = (strtab - symtab) / sizeof(ElfSymbol);
  }
  if (!symtab || symbols > (1u << 20)) throw BadImage("ELF has no sound dynamic symbol table");
  const std::span<const u8> names(in_image(strtab, strsz), strsz);
  auto symbol = [&](u64 k) {
    ElfSymbol s;
    std::memcpy(&s, in_image(symtab + k * sizeof s, sizeof s), sizeof s);
    return s;
  };
  std::map<std::string, Kernel*> by_symbol;
  for (u64 k = 1; k < symbols; k++) {
    const ElfSymbol s = symbol(k);
    const std::string name = c_string(names, s.name);
    if (s.shndx == 0 || (s.info & 15) != 1) continue;  // defined objects
    if (name.size() > 3 && name.compare(name.size() - 3, 3, ".kd") == 0 && s.size == 64) {
      auto kernel = std::make_unique<Kernel>();
      kernel->name = name.substr(0, name.size() - 3);
      kernel->object = object.get();
      read_descriptor(*kernel, in_image(s.value, 64), image->base + s.value, isa);
      if (kernel->entry < object->text_base || kernel->entry >= object->text_base + object->text_size) throw BadImage(fmt::format("kernel {} starts outside the code", kernel->name));
      by_symbol[name] = kernel.get();
      object->kernels[kernel->name] = std::move(kernel);
    } else {
      (void)in_image(s.value, s.size);
      object->globals[name] = {image->base + s.value, s.size};
    }
  }
  // R_AMDGPU_*: 1 ABS32_LO, 2 ABS32_HI, 3 ABS64, 6 ABS32, 13 RELATIVE64.
  for (u64 at = 0; at + sizeof(Rela) <= relasz; at += sizeof(Rela)) {
    Rela r;
    std::memcpy(&r, in_image(rela + at, sizeof r), sizeof r);
    const u32 type = u32(r.info), index = u32(r.info >> 32);
    u64 value = image->base + u64(r.addend);
    if (type != 13) {
      if (index >= symbols) throw BadImage("ELF relocation names no symbol");
      const ElfSymbol s = symbol(index);
      if (s.shndx == 0) throw BadImage(fmt::format("code object needs the undefined symbol {}", c_string(names, s.name)));
      value = image->base + s.value + u64(r.addend);
    }
    switch (type) {
      case 3: case 13: std::memcpy(in_image(r.offset, 8), &value, 8); break;
      case 1: case 6: { const u32 x = u32(value); std::memcpy(in_image(r.offset, 4), &x, 4); break; }
      case 2: { const u32 x = u32(value >> 32); std::memcpy(in_image(r.offset, 4), &x, 4); break; }
      default: throw BadImage(fmt::format("ELF relocation of unknown type {}", type));
    }
  }

  bool have_metadata = false;
  for (const ElfSegment& s : segments) {
    if (s.type != 4) continue;
    for (u64 at = s.offset; at + 12 <= s.offset + s.filesz;) {
      const u32 namesz = file.get<u32>(at), descsz = file.get<u32>(at + 4), type = file.get<u32>(at + 8);
      const u64 desc = at + 12 + ((u64(namesz) + 3) & ~u64(3));
      if (type == note_amdgpu_metadata) {
        const auto bytes_of = file.slice(desc, descsz);
        try {
          read_metadata(bytes_of, by_symbol);
        } catch (const Error& e) {
          throw BadImage(e.what());
        }
        have_metadata = true;
      }
      at = desc + ((u64(descsz) + 3) & ~u64(3));
    }
  }
  if (!have_metadata) throw BadImage("ELF has no AMDGPU metadata note");
  if (has_section(file, h, ".debug_line")) object->lines = std::make_unique<SourceLines>(bytes, object->load_bias);
  return object;
}

}  // namespace lathe::emu
