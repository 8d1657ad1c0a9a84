// The decoded instructions of one kernel. Decoding follows control flow from the entry; what an indirect
// branch reaches is decoded when it gets there.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "inst.h"
#include "isa.h"
#include "rdna_hazards.h"

namespace lathe::emu {

struct DecodeContext {
  const Isa* isa = nullptr;
  u32 lanes = 64;
  u32 vgprs = 256;        // registers allocated to a wave, AGPRs included
  u32 agpr_base = 256;    // register number of a0
  bool strict = true;
};

struct Program {
  DecodeContext context;
  u64 text_base = 0, text_size = 0;   // device addresses of executable bytes
  std::string kernel_name;

  // Before anything else: threads that come later find the index made.
  void set_text(u64 base, u64 size);
  // The instruction at a device address; raises a Fault if none can be there. Thread-safe. gfx1250's VGPR
  // numbers depend on S_SET_VGPR_MSB's mode, so code is decoded once for every mode that reaches it.
  const Inst* at(u64 pc, u8 vgpr_msb = 0);
  std::string disassemble(u64 pc) const;
  std::string source_text(u64 pc) const;    // "\n  source       kernel.cl:12", or "" without debug lines
  // Decodes all that direct branches reach. Once it has run, `acquires` says whether any of it invalidates caches
  // for the whole device, as an acquire does.
  void prepare(u64 entry);
  std::atomic<bool> acquires{false};
  const class SourceLines* lines = nullptr;
  const u32* constant32(u32 value);   // 128 copies (a packed pair of 64 lanes), alive as long as the program
  const u32* constant64(u64 value);
  const u32* lane_numbers();          // 0, 1, 2, ...

 private:
  friend struct Decoder;
  const Inst* decode_from(u64 pc, u8 vgpr_msb);
  const Inst* known(u64 pc, u8 vgpr_msb) const;
  void remember(const Inst&, u8 vgpr_msb);
  std::mutex mutex_;
  bool prepared_ = false;
  std::unique_ptr<std::atomic<const Inst*>[]> index_;  // per dword of text
  std::map<std::pair<u64, u8>, const Inst*> other_modes_;  // decoded under a mode that is not 0
  std::deque<std::vector<Inst>> runs_;
  std::deque<Watch> watches_;
  std::vector<std::unique_ptr<Inst[]>> pairs_;          // the halves of dual instructions
  std::unordered_map<u64, std::unique_ptr<u64[]>> constants32_, constants64_;
};

}  // namespace lathe::emu
