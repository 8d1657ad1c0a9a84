#include "machine/counters.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "machine/matrix.h"
#include "machine/program.h"
#include "machine/row.h"
#include "machine/wave.h"

namespace lathe::emu {
namespace {

// Issue slots of a vector instruction: passes over the SIMD's lanes. Transcendentals and 32-bit multiplies run at a
// quarter of the rate; f64 at full rate on gfx90a and later CDNA, at half on gfx906 and gfx908
// (the older targets with ECC), else at a sixteenth
// (LLVM's AMDGPU scheduling models and features full-rate-64-ops, half-rate-64-ops). RDNA takes a wave64 in two passes.
u8 vector_slots(const Isa& isa, u32 lanes, const Row& row) {
  const u32 passes = isa.encoding != Encoding::gfx9 && lanes == 64 ? 2 : 1;
  const auto is = [&](std::string_view part) { return row.name.find(part) != std::string_view::npos; };
  if (is("_RCP_") || is("_RSQ_") || is("_SQRT_") || is("_EXP_F") || is("_LOG_F") || is("_SIN_") || is("_COS_") || is("_TANH_")) return u8(4 * passes);
  if (is("_MUL_LO_U32") || is("_MUL_HI_") || is("_MAD_U64_U32") || is("_MAD_I64_I32")) return u8(4 * passes);
  if (row.sig.dst == Ty::f64 || row.sig.src[0] == Ty::f64) {
    const u32 rate = isa.unified_agprs ? 1 : isa.sramecc ? 2 : 16;
    return u8(rate * passes);
  }
  return u8(passes);
}

std::mutex mutex;
std::vector<Tally>& tallies() {
  static auto* all = new std::vector<Tally>{Tally{}};
  return *all;
}

u64 sorted_distinct(u64* x, u32 n) {
  std::sort(x, x + n);
  return u64(std::unique(x, x + n) - x);
}

// Of wide accesses the LDS serves a few lanes at a time, as many as its banks can: these lanes can meet in a bank.
// CDNA's b128 loads pair rows of lanes in an order of their own (ROCm's Composable Kernel documentation, "Understanding
// AMD GPU LDS and bank conflicts"); all others go in order.
u32 lane_of_phase(bool paired, u32 k) {
  if (!paired) return k;
  static constexpr u8 quads[] = {0, 5, 1, 4, 2, 7, 3, 6};
  return (k & ~31u) | (u32(quads[(k & 31) / 4]) * 4 + k % 4);
}

}  // namespace

u8 tally_number(const DecodeContext& c, const Inst& i) {
  Tally t{i.cls, 1, 0};
  t.matrix_cycles = u16(4 * matrix_passes(i, *c.isa));
  if (i.cls == Class::valu || i.cls == Class::vopd) t.slots = vector_slots(*c.isa, c.lanes, *i.row);
  std::lock_guard lock(mutex);
  auto& all = tallies();
  auto at = std::find(all.begin(), all.end(), t);
  if (at == all.end()) at = all.insert(all.end(), t);
  return u8(at - all.begin());
}
Tally tally(u8 number) {
  std::lock_guard lock(mutex);
  return tallies()[number];
}

void MemoryCounters::add(const MemoryCounters& o) {
  lds_requests += o.lds_requests, lds_cycles += o.lds_cycles, lds_conflicts += o.lds_conflicts;
  global_requests += o.global_requests, bytes += o.bytes, lines64 += o.lines64, lines128 += o.lines128;
  for (int k = 0; k < 4; k++) bytes_by_quality[k] += o.bytes_by_quality[k];
}
void CounterSet::add(const CounterSet& o) {
  for (int k = 0; k < 256; k++) executed[k] += o.executed[k];
  waves += o.waves, groups += o.groups;
  memory.add(o.memory);
}
u64 CounterSet::instructions() const {
  u64 n = 0;
  for (u64 x : executed) n += x;
  return n;
}

void count_lds(Wave& w, const u32* at, u64 exec, u32 bytes, bool load) {
  MemoryCounters& c = w.group->counters.memory;
  const Isa& isa = *w.group->isa;
  // 64 banks came with the larger LDS of gfx950.
  const u32 banks = isa.lds_bytes > 65536 ? 64 : 32, words = (bytes + 3) / 4;
  const u32 together = std::min(w.lanes, banks / (words == 3 ? 4 : words));
  const bool paired = load && bytes == 16 && isa.encoding == Encoding::gfx9;
  c.lds_requests++;
  for (u32 from = 0; from < w.lanes; from += together) {
    u64 touched[256];
    u32 n = 0;
    for (u32 k = from; k < from + together; k++) {
      const u32 lane = lane_of_phase(paired, k);
      if (!(exec >> lane & 1)) continue;
      for (u32 a = at[lane] / 4; a <= (at[lane] + bytes - 1) / 4; a++) touched[n++] = a;
    }
    if (!n) continue;
    // The same dword for many lanes is one access: it is broadcast.
    const u64 distinct = sorted_distinct(touched, n);
    u32 per_bank[64] = {}, most = 0;
    for (u64 k = 0; k < distinct; k++) most = std::max(most, ++per_bank[touched[k] % banks]);
    c.lds_cycles += most;
    c.lds_conflicts += most - 1;
  }
}

void count_global(Wave& w, const u64* at, u64 exec, u32 bytes) {
  MemoryCounters& c = w.group->counters.memory;
  u64 starts[64], lines[128];
  u32 n = 0, line_count = 0;
  for (u64 m = exec; m; m &= m - 1) {
    const u64 a = at[__builtin_ctzll(m)];
    starts[n++] = a;
    for (u64 line = a / 64; line <= (a + bytes - 1) / 64; line++) lines[line_count++] = line;
  }
  std::sort(starts, starts + n);
  u64 asked = 0, end = 0;
  for (u32 k = 0; k < n; k++) {
    asked += starts[k] + bytes - std::max(starts[k], std::min(end, starts[k] + bytes));
    end = std::max(end, starts[k] + bytes);
  }
  const u64 lines64 = sorted_distinct(lines, line_count);
  for (u64 k = 0; k < lines64; k++) lines[k] /= 2;
  c.global_requests++;
  c.bytes += asked;
  c.lines64 += lines64;
  c.lines128 += u64(std::unique(lines, lines + lines64) - lines);
  const u64 moved = 64 * lines64;
  c.bytes_by_quality[asked == moved ? 0 : 2 * asked >= moved ? 1 : 4 * asked >= moved ? 2 : 3] += asked;
}

}  // namespace lathe::emu
