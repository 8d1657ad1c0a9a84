// Hazards that RDNA leaves to software (strict mode): not so many wait states, but an instruction or an
// s_waitcnt_depctr (s_wait_alu) that has to stand somewhere between. As in hazards.h, only instructions that may be
// concerned look at run time.
#pragma once

#include <bitset>
#include <deque>
#include <functional>
#include <vector>

#include "inst.h"
#include "isa.h"

namespace lathe::emu {

using SgprSet = std::bitset<128>;

// What one instruction means to these checks.
struct Watch {
  bool on_path = false;        // stands between the two ends of a hazard between vector registers
  bool valu = false, salu = false;
  u8 waits = 0;                // which counters it brings to zero
  SgprSet reads, writes;
};

// What a wave remembers.
struct RdnaHazards {
  SgprSet held;                 // SGPRs that an earlier VALU instruction read and that are still in its way
  SgprSet by_salu;              // written since by SALU, and not waited for
  const Inst* writer[128];
  const Inst* last = nullptr;   // the last watched instruction that was run
  std::vector<const Inst*> path;
  void clear() { held = by_salu = {}, last = nullptr, path.clear(); }
};

void watch_rdna_hazards(const Isa&, u32 lanes, std::deque<std::vector<Inst>>& runs, std::deque<Watch>& watches, const std::function<const Inst*(const Inst&)>& target);

}  // namespace lathe::emu
