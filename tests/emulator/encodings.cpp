#include "encodings.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCFixup.h>
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

#include <array>
#include <cstring>
#include <memory>
#include <random>

namespace emu_test {
namespace {

using Words = std::array<uint32_t, 5>;

class Machine {
 public:
  Machine(const std::string& arch, unsigned wave) : gen(generation(arch)) {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    const llvm::Triple triple("amdgcn-amd-amdhsa");
    std::string error;
    const llvm::Target* t = llvm::TargetRegistry::lookupTarget(triple, error);
    registers.reset(t->createMCRegInfo(triple));
    assembly.reset(t->createMCAsmInfo(*registers, triple, options));
    subtarget.reset(t->createMCSubtargetInfo(triple, arch, gen == 9 ? "" : wave == 32 ? "+wavefrontsize32" : "+wavefrontsize64"));
    instructions.reset(t->createMCInstrInfo());
    context = std::make_unique<llvm::MCContext>(triple, assembly.get(), registers.get(), subtarget.get());
    disassembler.reset(t->createMCDisassembler(*subtarget, *context));
    emitter.reset(t->createMCCodeEmitter(*instructions, *context));
    printer.reset(t->createMCInstPrinter(triple, 0, *assembly, *instructions, *registers));
  }
  // Only what LLVM writes back bit for bit: then every bit has been looked at. 0 if it is none.
  unsigned decode(const Words& w, llvm::MCInst& inst) {
    inst.clear();
    if (crashes_llvm(w)) return 0;
    uint64_t size = 0;
    const auto* p = reinterpret_cast<const uint8_t*>(w.data());
    if (disassembler->getInstruction(inst, size, {p, 20}, 0, llvm::nulls()) != llvm::MCDisassembler::Success) return 0;
    // Its encoder dies of some operands of matrix instructions, which have tests of their own.
    if (name(inst).find("MFMA") != std::string::npos) return unsigned(size);
    code.clear(), fixups.clear();
    emitter->encodeInstruction(inst, code, fixups, *subtarget);
    return code.size() == size && !std::memcmp(code.data(), p, size) ? unsigned(size) : 0;
  }
  std::string name(const llvm::MCInst& inst) const { return instructions->getName(inst.getOpcode()).str(); }
  std::string text(const llvm::MCInst& inst) const {
    std::string s;
    llvm::raw_string_ostream out(s);
    printer->printInst(&inst, 0, "", *subtarget, out);
    out.flush();
    for (char& c : s)
      if (c == '\t') c = ' ';
    return s;
  }

 private:
  // Words that LLVM 22's disassembler or printer dies of: a literal where none may stand (gfx9's VOP3, a
  // buffer's SOFFSET, gfx12's s_barrier_*), formats past the last of gfx950's f8f6f4 products, and the select 7 of SDWA, which is none.
  bool crashes_llvm(const Words& w) const {
    if (gen == 9 && w[0] >> 26 == 0x34)
      for (unsigned at : {0, 9, 18})
        if ((w[1] >> at & 0x1ff) == 255) return true;
    if (gen == 9 && (w[0] >> 16 == 0xd3ad || w[0] >> 16 == 0xd3ae) && ((w[0] >> 8 & 7) > 4 || w[1] >> 29 > 4)) return true;
    if (gen < 12 && (w[0] >> 26 == 0x38 || w[0] >> 26 == 0x3a) && w[1] >> 24 == 255) return true;
    if (gen == 12 && w[0] >> 23 == 0x17d && (w[0] >> 8 & 0xff) >= 0x4e && (w[0] >> 8 & 0xff) <= 0x5f && (w[0] >> 8 & 0xff) != 0x53 && (w[0] & 0xff) >= 0xfe) return true;
    if (!(w[0] >> 31) && (w[0] & 0x1ff) == 249 && gen < 11)
      for (unsigned at : {8, 16, 24})
        if ((w[1] >> at & 7) == 7 && !(at == 8 && w[0] >> 25 == 0x3e)) return true;
    return false;
  }
  unsigned gen;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCCodeEmitter> emitter;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  llvm::SmallString<32> code;
  llvm::SmallVector<llvm::MCFixup, 4> fixups;
};

// A format: its fixed bits, where the opcode stands, its dwords, and settings of other fields that open forms
// which no single bit does (SADDR off, SRC0 = literal, DPP, SDWA).
struct Field { unsigned at, width; };
struct Setting { Field field; uint32_t value; };
struct Format {
  uint32_t fixed;
  Field opcode;
  unsigned dwords;
  std::vector<std::vector<Setting>> forms;
};

void put(Words& w, Field f, uint32_t value) {
  for (unsigned k = 0; k < f.width; k++) {
    const unsigned at = f.at + k;
    w[at / 32] = (w[at / 32] & ~(1u << at % 32)) | (value >> k & 1) << at % 32;
  }
}

std::vector<Format> formats(unsigned gen, bool gfx1250) {
  const Field src0{0, 9}, vop3_src0{32, 9};
  std::vector<std::vector<Setting>> e32 = {{}, {{src0, 255}}, {{src0, 250}}, {{src0, 249}}}, e64 = {{}}, scalar = {{}, {{{0, 8}, 255}}, {{{8, 8}, 255}}};
  if (gen >= 10) e32.push_back({{src0, 233}}), e32.push_back({{src0, 234}}), e64.push_back({{vop3_src0, 255}});
  if (gen >= 11) e64.push_back({{vop3_src0, 250}}), e64.push_back({{vop3_src0, 233}});
  if (gfx1250) e32.push_back({{src0, 254}}), scalar.push_back({{{0, 8}, 254}});
  std::vector<Format> f;
  for (uint32_t op = 0x100; op < 0x17d; op++) f.push_back({op << 23, {0, 0}, 1, scalar});     // SOP2, SOPK
  f.push_back({0x17du << 23, {8, 8}, 1, {{}, {{{0, 8}, 255}}, {{{0, 8}, 254}}}});
  f.push_back({0x17eu << 23, {16, 7}, 1, scalar});
  f.push_back({0x17fu << 23, {16, 7}, 1, {{}}});
  f.push_back({0, {25, 6}, 1, e32});
  f.push_back({0x3fu << 25, {9, 8}, 1, e32});
  f.push_back({0x3eu << 25, {17, 8}, 1, e32});
  f.push_back({(gen == 9 ? 0x34u : 0x35u) << 26, {16, 10}, 2, e64});
  // VOP3P: op_sel_hi is all ones in most instructions.
  for (uint32_t op_sel_hi : {0u, 1u})
    for (auto form : e64) {
      if (op_sel_hi) form.push_back({{59, 2}, 3}), form.push_back({{14, 1}, 1});
      f.push_back({gen == 9 ? 0x1a7u << 23 : 0xccu << 24, {16, 7}, 2, {form}});
    }
  if (gen >= 11) f.push_back({0x32u << 26, {17, 9}, 2, {{}, {{src0, 255}}}});
  if (gfx1250) f.push_back({0xcfu << 24, {12, 12}, 3, {{{{0, 9}, 256}, {{32, 9}, 257}}}});
  if (gen == 9) {
    f.push_back({0x30u << 26, {18, 8}, 2, {{}, {{{17, 1}, 1}}, {{{17, 1}, 1}, {{14, 1}, 1}}}});
    f.push_back({0x36u << 26, {17, 8}, 2, {{}}});
  } else {
    f.push_back({0x3du << 26, gen == 12 ? Field{13, 6} : Field{18, 8}, 2, {{}, {{{57, 7}, gen >= 11 ? 124u : 125u}}}});
    f.push_back({0x36u << 26, {18, 8}, 2, {{}}});
  }
  for (uint32_t segment = 0; segment < 3; segment++) {
    if (gen == 12) f.push_back({0x3bu << 26 | segment << 24, {14, 8}, 3, {{}, {{{0, 7}, 124}}, {{{0, 7}, 124}, {{49, 1}, 1}}}});
    else f.push_back({0x37u << 26 | segment << (gen == 11 ? 16 : 14), {18, 7}, 2, {{}, {{{48, 7}, 127}}, {{{48, 7}, 125}}, {{{48, 7}, 124}}, {{{48, 7}, 124}, {{55, 1}, 1}}, {{{48, 7}, 127}, {{13, 1}, 1}}}});
  }
  if (gen == 12) {
    f.push_back({0x31u << 26, {14, 8}, 3, {{}, {{{55, 7}, 1}}, {{{0, 7}, 124}}}});  // VBUFFER
    for (uint32_t top : {0x34u, 0x39u}) f.push_back({top << 26, {14, 8}, 3, {{}, {{{22, 4}, 1}}, {{{22, 4}, 15}}}});  // VIMAGE, VSAMPLE
  } else {
    f.push_back({0x38u << 26, {18, gen == 11 ? 8u : 7u}, 2, {{}, {{{56, 8}, 128}}, {{{16, 1}, 1}, {{40, 8}, 0}}}});
    f.push_back({0x3au << 26, {15, 4}, 2, {{}, {{{19, 7}, 1}}}});  // MTBUF
    f.push_back({0x3cu << 26, {18, 7}, 2, {{}, {{{8, 4}, 15}}}});                    // MIMG
  }
  f.push_back({(gen == 9 ? 0x31u : 0x3eu) << 26, {4, 6}, 2, {{}}});                  // EXP
  if (gen >= 11) f.push_back({0xcdu << 24, {16, 7}, 2, {{}}});                       // VINTERP
  if (gen == 9) f.push_back({0x35u << 26, {16, 2}, 1, {{}}});
  return f;
}

}  // namespace

unsigned generation(const std::string& arch) {
  const std::string n = arch.substr(3);
  return n.size() == 3 ? 9 : unsigned(std::stoul(n.substr(0, 2)));
}

void each_encoding(const std::string& arch, unsigned wave, unsigned draws, const std::function<void(const Encoding&)>& found) {
  Machine machine(arch, wave);
  std::mt19937 random(12345);
  llvm::MCInst inst;
  for (const Format& format : formats(generation(arch), arch == "gfx1250"))
    for (uint32_t op = 0; op < 1u << format.opcode.width; op++)
      for (const auto& form : format.forms) {
        Words base{};
        base[0] = format.fixed;
        Words held{};  // bits that the format, the opcode and the form fix
        held[0] = format.fixed | 0xfc000000u;
        put(base, format.opcode, op), put(held, format.opcode, ~0u);
        for (const Setting& s : form) put(base, s.field, s.value), put(held, s.field, ~0u);
        // Some fields may not be zero together: a few random starts.
        unsigned size = machine.decode(base, inst);
        for (unsigned k = 0; k < 24 && !size; k++) {
          Words w = base;
          for (unsigned d = 0; d < format.dwords; d++) w[d] |= random() & random() & ~held[d];
          size = machine.decode(w, inst);
          if (size) base = w;
        }
        if (!size) continue;
        Words free{};
        for (unsigned bit = 0; bit < 8 * size; bit++) {
          if (held[bit / 32] >> bit % 32 & 1) continue;
          Words w = base;
          w[bit / 32] ^= 1u << bit % 32;
          if (machine.decode(w, inst)) free[bit / 32] |= 1u << bit % 32;
        }
        unsigned got = 0;
        for (unsigned k = 0; k < 8 * draws && got < draws; k++) {
          Words w = base;
          for (unsigned d = 0; d < 5; d++) w[d] ^= (k % 3 == 0 ? random() : k % 3 == 1 ? random() & random() : random() | random()) & free[d];
          if (k == 0) w = base;
          const unsigned n = machine.decode(w, inst);
          if (!n) continue;
          got++;
          const auto* p = reinterpret_cast<const uint8_t*>(w.data());
          found({machine.name(inst), machine.text(inst), {p, p + n}});
        }
      }
}

}  // namespace emu_test
