#include "machine/program.h"

#include <fmt/format.h>

#include "decode/decoder.h"
#include "decode/disassembler.h"
#include "machine/fault.h"
#include "machine/wave.h"

namespace lathe::emu {
namespace {

const Inst* run_jump(Wave& w, const Inst* i) { return i->target->run(w, i->target); }
const Inst* run_off_the_end(Wave&, const Inst* i) {
  raise(FaultKind::illegal_address, fmt::format("execution ran past the end of the code at 0x{:x}", i->pc));
}
// Nothing runs on from these to the next instruction.
bool ends_run(const Row& row) { return row.name == "S_ENDPGM" || row.name == "S_BRANCH" || row.name == "S_SETPC_B64"; }

constexpr size_t longest_run = 1 << 16;

}  // namespace

const u32* Program::constant32(u32 value) {
  auto& slot = constants32_[value];
  if (!slot) {
    slot = std::make_unique<u64[]>(64);
    u32* p = reinterpret_cast<u32*>(slot.get());
    for (u32 k = 0; k < 128; k++) p[k] = value;
  }
  return reinterpret_cast<u32*>(slot.get());
}
const u32* Program::constant64(u64 value) {
  auto& slot = constants64_[value];
  if (!slot) {
    slot = std::make_unique<u64[]>(64);
    for (u32 k = 0; k < 64; k++) slot[k] = value;
  }
  return reinterpret_cast<u32*>(slot.get());
}
const u32* Program::lane_numbers() {
  static const auto numbers = [] {
    std::array<u32, 64> a{};
    for (u32 k = 0; k < 64; k++) a[k] = k;
    return a;
  }();
  return numbers.data();
}

const Inst* Program::at(u64 pc) {
  if (pc < text_base || pc - text_base >= text_size || (pc & 3))
    raise(FaultKind::illegal_address, fmt::format("branch to 0x{:x}, which is not in the kernel's code", pc));
  const size_t k = (pc - text_base) / 4;
  if (index_) {
    if (const Inst* i = index_[k].load(std::memory_order_acquire)) return i;
  }
  std::lock_guard lock(mutex_);
  if (!index_) index_ = std::make_unique<std::atomic<const Inst*>[]>(text_size / 4 + 1);
  if (const Inst* i = index_[k].load(std::memory_order_acquire)) return i;
  return decode_from(pc);
}

const Inst* Program::decode_from(u64 pc) {
  Decoder decoder{*this};
  std::vector<Inst> run;
  const u64 end = text_base + text_size;
  while (true) {
    if (pc >= end || pc + 4 > end || run.size() > longest_run) {
      Inst& stop = run.emplace_back();
      stop.pc = pc;
      stop.run = run_off_the_end;
      stop.row = find_row("S_NOP");
      break;
    }
    if (!run.empty()) {
      if (const Inst* known = index_[(pc - text_base) / 4].load(std::memory_order_relaxed)) {
        Inst& jump = run.emplace_back();
        jump = *known;
        jump.run = run_jump;
        jump.target = known;
        break;
      }
    }
    Inst& i = run.emplace_back();
    pc += decoder.decode(pc, i);
    if (ends_run(*i.row)) break;
  }
  runs_.push_back(std::move(run));
  const std::vector<Inst>& kept = runs_.back();
  const size_t own = kept.back().run == run_jump || kept.back().run == run_off_the_end ? kept.size() - 1 : kept.size();
  for (size_t k = 0; k < own; k++) index_[(kept[k].pc - text_base) / 4].store(&kept[k], std::memory_order_release);
  return &kept[0];
}

std::string Program::disassemble(u64 pc) const {
  if (pc < text_base || pc >= text_base + text_size) return "";
  return disassembly_text(*context.isa, context.lanes, reinterpret_cast<const u8*>(pc), std::min<u64>(20, text_base + text_size - pc), pc);
}

}  // namespace lathe::emu
