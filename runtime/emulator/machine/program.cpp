#include "machine/program.h"

#include <fmt/format.h>

#include "decode/decoder.h"
#include "decode/disassembler.h"
#include "decode/source_lines.h"
#include "machine/fault.h"
#include "machine/hazards.h"
#include "machine/wave.h"

namespace lathe::emu {
namespace {

const Inst* run_jump(Wave& w, const Inst* i) {
  w.time_shift += i->states - i->target->states;
  return i->target->run(w, i->target);
}
const Inst* run_off_the_end(Wave&, const Inst* i) {
  raise(FaultKind::illegal_address, fmt::format("execution ran past the end of the code at 0x{:x}", i->pc));
}
// Nothing runs on from these to the next instruction.
bool ends_run(const Row& row) { return row.name == "S_ENDPGM" || row.name == "S_BRANCH" || row.name == "S_SETPC_B64"; }

bool is_direct_branch(const Inst& i) { return i.row->name == "S_BRANCH" || i.row->name.substr(0, 9) == "S_CBRANCH"; }
u64 branch_target(const Inst& i) { return i.pc + 4 + u64(i64(i.imm) * 4); }

constexpr size_t longest_run = 1 << 16;

}  // namespace

void Program::set_text(u64 base, u64 size) {
  text_base = base, text_size = size;
  index_ = std::make_unique<std::atomic<const Inst*>[]>(size / 4 + 1);
}

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

const Inst* Program::known(u64 pc, u8 vgpr_msb) const {
  if (!vgpr_msb) return index_[(pc - text_base) / 4].load(std::memory_order_acquire);
  const auto it = other_modes_.find({pc, vgpr_msb});
  return it == other_modes_.end() ? nullptr : it->second;
}
void Program::remember(const Inst& i, u8 vgpr_msb) {
  if (vgpr_msb) other_modes_[{i.pc, vgpr_msb}] = &i;
  else index_[(i.pc - text_base) / 4].store(&i, std::memory_order_release);
}

const Inst* Program::at(u64 pc, u8 vgpr_msb) {
  if (pc < text_base || pc - text_base >= text_size || (pc & 3))
    raise(FaultKind::illegal_address, fmt::format("branch to 0x{:x}, which is not in the kernel's code", pc));
  if (!vgpr_msb)
    if (const Inst* i = known(pc, 0)) return i;
  std::lock_guard lock(mutex_);
  if (const Inst* i = known(pc, vgpr_msb)) return i;
  return decode_from(pc, vgpr_msb);
}

const Inst* Program::decode_from(u64 pc, u8 vgpr_msb) {
  Decoder decoder{*this, vgpr_msb};
  std::vector<Inst> run;
  std::vector<u8> modes;  // before each instruction
  const u64 end = text_base + text_size;
  while (true) {
    if (pc >= end || pc + 4 > end || run.size() > longest_run) {
      Inst& stop = run.emplace_back();
      stop.pc = pc;
      stop.run = run_off_the_end;
      stop.row = find_row("S_ENDPGM");
      break;
    }
    if (!run.empty()) {
      if (const Inst* other = known(pc, decoder.vgpr_msb)) {
        Inst& jump = run.emplace_back();
        jump = *other;
        jump.run = run_jump;
        jump.target = other;
        break;
      }
    }
    modes.push_back(decoder.vgpr_msb);
    Inst& i = run.emplace_back();
    pc += decoder.decode(pc, i);
    i.tally = tally_number(context, i);
    if (ends_run(*i.row)) break;
  }
  u32 states = 0;
  for (Inst& i : run) {
    i.states = states;
    states += wait_states(i);
    const std::string_view n = i.row->name;
    const bool device = i.mem.scope >= 2;
    if (n == "BUFFER_WBINVL1" || n == "BUFFER_WBINVL1_VOL" || n == "BUFFER_GL1_INV" || ((n == "BUFFER_INV" || n == "GLOBAL_INV") && device)) acquires = true;
  }
  runs_.push_back(std::move(run));
  const std::vector<Inst>& kept = runs_.back();
  for (size_t k = 0; k < modes.size(); k++) remember(kept[k], modes[k]);
  return &kept[0];
}

void Program::prepare(u64 entry) {
  std::lock_guard lock(mutex_);
  if (prepared_) return;
  prepared_ = true;
  std::vector<std::pair<u64, u8>> places{{entry, u8(0)}};
  size_t seen = 0;
  while (!places.empty()) {
    const auto [pc, msb] = places.back();
    places.pop_back();
    if (pc < text_base || pc - text_base >= text_size || (pc & 3) || known(pc, msb)) continue;
    decode_from(pc, msb);
    for (; seen < runs_.size(); seen++)
      for (const Inst& i : runs_[seen])
        if (is_direct_branch(i)) places.emplace_back(branch_target(i), i.vgpr_msb);
  }
  if (!context.strict) return;
  const auto target = [&](const Inst& i) -> const Inst* {
    const u64 pc = branch_target(i);
    return pc < text_base || pc - text_base >= text_size || (pc & 3) ? nullptr : known(pc, i.vgpr_msb);
  };
  mark_hazards(*context.isa, runs_, target);
  watch_rdna_hazards(*context.isa, context.lanes, runs_, watches_, target);
}

std::string Program::source_text(u64 pc) const {
  const std::string at = lines ? lines->find(pc) : "";
  return at.empty() ? "" : "\n  source       " + at;
}

std::string Program::disassemble(u64 pc) const {
  if (pc < text_base || pc >= text_base + text_size) return "";
  return disassembly_text(*context.isa, context.lanes, reinterpret_cast<const u8*>(pc), std::min<u64>(20, text_base + text_size - pc), pc);
}

}  // namespace lathe::emu
