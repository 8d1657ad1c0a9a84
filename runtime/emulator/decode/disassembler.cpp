// The one translation unit that includes LLVM.
#include "decode/disassembler.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace lathe::emu {
namespace {

struct Machine {
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

std::mutex mutex;

Machine& machine(const Isa& isa, u32 wave_size) {
  static std::map<std::pair<std::string, u32>, std::unique_ptr<Machine>>* machines = nullptr;
  if (!machines) {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    machines = new std::map<std::pair<std::string, u32>, std::unique_ptr<Machine>>;
  }
  auto& slot = (*machines)[{std::string(isa.name), wave_size}];
  if (slot) return *slot;
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) throw std::runtime_error("LLVM has no AMDGPU target: " + error);
  const char* features = isa.encoding == Encoding::gfx9 ? "" : wave_size == 32 ? "+wavefrontsize32" : "+wavefrontsize64";
  auto m = std::make_unique<Machine>();
  const llvm::MCTargetOptions options;
  m->registers.reset(target->createMCRegInfo(triple));
  m->assembly.reset(target->createMCAsmInfo(*m->registers, triple, options));
  m->subtarget.reset(target->createMCSubtargetInfo(triple, std::string(isa.name), features));
  m->instructions.reset(target->createMCInstrInfo());
  m->context = std::make_unique<llvm::MCContext>(triple, m->assembly.get(), m->registers.get(), m->subtarget.get());
  m->disassembler.reset(target->createMCDisassembler(*m->subtarget, *m->context));
  m->printer.reset(target->createMCInstPrinter(triple, 0, *m->assembly, *m->instructions, *m->registers));
  if (!m->disassembler || !m->printer) throw std::runtime_error("LLVM cannot disassemble for " + std::string(isa.name));
  slot = std::move(m);
  return *slot;
}

// Words that LLVM 22's disassembler or printer dies of, and which are no instructions: a literal where none may
// stand (gfx9's VOP3, a buffer's SOFFSET, gfx12's s_barrier_*), the select 7 of SDWA, and
// formats past the last of gfx950's f8f6f4 products, or operands that these cannot have.
bool crashes_llvm(const Isa& isa, const u8* bytes, u64 available) {
  u32 w[2] = {};
  std::memcpy(w, bytes, std::min<u64>(available, 8));
  // gfx950's scaled products: V_MFMA_LD_SCALE_B32, then the product itself.
  if (isa.encoding == Encoding::gfx9 && w[0] >> 16 == 0xd3ac && available >= 16 && crashes_llvm(isa, bytes + 8, 8)) return true;
  if (isa.encoding == Encoding::gfx9 && w[0] >> 26 == 0x34)
    for (u32 at : {0, 9, 18})
      if ((w[1] >> at & 0x1ff) == 255) return true;
  if (isa.encoding == Encoding::gfx9 && (w[0] >> 16 == 0xd3ad || w[0] >> 16 == 0xd3ae)) {
    const u32 formats[] = {w[0] >> 8 & 7, w[1] >> 29};
    for (u32 k = 0; k < 2; k++) {
      const u32 code = w[1] >> (9 * k) & 0x1ff, registers = formats[k] <= 1 ? 8 : formats[k] <= 3 ? 6 : 4;
      if (formats[k] > 4 || code < 256 || code + registers > 512) return true;
    }
    const u32 c = w[1] >> 18 & 0x1ff, registers = w[0] >> 16 == 0xd3ad ? 4 : 16;
    const bool constant = (c >= 128 && c <= 208) || (c >= 240 && c <= 248);
    if ((c < 256 && !constant) || c + registers > 512 || (w[0] & 0xff) + registers > 256) return true;
  }
  if (isa.encoding < Encoding::gfx12 && (w[0] >> 26 == 0x38 || w[0] >> 26 == 0x3a) && w[1] >> 24 == 255) return true;
  const u32 sop1 = w[0] >> 8 & 0xff;
  if (isa.encoding == Encoding::gfx12 && w[0] >> 23 == 0x17d && sop1 >= 0x4e && sop1 <= 0x5f && sop1 != 0x53 && (w[0] & 0xff) >= 0xfe) return true;
  if (isa.encoding < Encoding::gfx11 && !(w[0] >> 31) && (w[0] & 0x1ff) == 249) {
    const bool vopc = w[0] >> 25 == 0x3e;  // its destination has no select
    return (!vopc && (w[1] >> 8 & 7) == 7) || (w[1] >> 16 & 7) == 7 || (w[1] >> 24 & 7) == 7;
  }
  return false;
}

// VOP3's V_CMPX of gfx10 and later writes EXEC and nothing else. Its VDST field is EXEC's number (126) from LLVM 13 on
// and the only value that LLVM decodes; AMD's compilers before left it 0 (librocrand1 5.3 is full of them).
bool decode(const Machine& m, const Isa& isa, const u8* bytes, u64 available, u64 pc, llvm::MCInst& inst, uint64_t& size) {
  const auto attempt = [&](llvm::ArrayRef<uint8_t> from) { return m.disassembler->getInstruction(inst, size, from, pc, llvm::nulls()) == llvm::MCDisassembler::Success; };
  if (attempt({bytes, size_t(available)})) return true;
  const bool vop3 = available >= 8 && bytes[3] >> 2 == 0x35, compare = vop3 && (bytes[3] & 3) == 0;   // opcodes 0 to 255 are VOPC's
  if (isa.encoding == Encoding::gfx9 || !compare || bytes[0] != 0) return false;
  u8 usual[8];
  std::copy_n(bytes, 8, usual);
  usual[0] = 126;
  return attempt(usual) && m.instructions->getName(inst.getOpcode()).starts_with("V_CMPX");
}

}  // namespace

Decoded disassemble_one(const Isa& isa, u32 wave_size, const u8* bytes, u64 available, u64 pc) {
  if (crashes_llvm(isa, bytes, available)) return {};
  std::lock_guard lock(mutex);
  Machine& m = machine(isa, wave_size);
  llvm::MCInst inst;
  uint64_t size = 0;
  if (!decode(m, isa, bytes, available, pc, inst, size)) return {};
  const llvm::StringRef name = m.instructions->getName(inst.getOpcode());
  return {std::string_view(name.data(), name.size()), u32(size)};
}

std::string disassembly_text(const Isa& isa, u32 wave_size, const u8* bytes, u64 available, u64 pc) {
  if (crashes_llvm(isa, bytes, available)) return {};
  std::lock_guard lock(mutex);
  Machine& m = machine(isa, wave_size);
  llvm::MCInst inst;
  uint64_t size = 0;
  if (!decode(m, isa, bytes, available, pc, inst, size)) return "(not an instruction)";
  std::string text;
  llvm::raw_string_ostream out(text);
  m.printer->printInst(&inst, pc, "", *m.subtarget, out);
  out.flush();
  for (char& c : text)
    if (c == '\t') c = ' ';
  const size_t from = text.find_first_not_of(' ');
  return from == std::string::npos ? text : text.substr(from);
}

}  // namespace lathe::emu
