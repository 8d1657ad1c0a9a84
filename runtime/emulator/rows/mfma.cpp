// CDNA's matrix instructions (VOP3P-MAI): one function for the whole table. Inputs are converted once (mfma_operand.h),
// then each row of D is summed as its type and generation do it (mfma_sums.h).
//
// EXEC is ignored: all 64 lanes take part and are written (CDNA3 ISA, "Matrix arithmetic instructions").
#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "machine/fault.h"
#include "machine/shadow.h"
#include "rows/mfma_sums.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

std::span<const Row> table();

// ---- modifiers -----------------------------------------------------------------------------------

// What the generation's document gives no meaning to stops the launch, as silicon may do anything.
void check_modifiers(const MatrixOp& op, const Matrix& m, u8 cdna) {
  auto refuse = [&](const char* name, u32 value) { raise(FaultKind::unsupported, fmt::format("{} {} has no meaning for {} on this target", name, value, op.name)); };
  if (op.flags & matrix_formats) {
    if (m.cbsz > 4) refuse("cbsz", m.cbsz);
    if (m.blgp > 4) refuse("blgp", m.blgp);
    return;
  }
  if (op.sparse()) {
    if (m.blgp) refuse("blgp", m.blgp);
    return;
  }
  // A is broadcast between blocks; 2^cbsz of them have to exist.
  if (m.cbsz && (1u << m.cbsz) > op.blocks) refuse("cbsz", m.cbsz);
  if (m.abid && m.abid >= (1u << m.cbsz)) refuse("abid", m.abid);
  if (!m.blgp) return;
  const bool permutes = op.a != Elem::f64 && (cdna <= 2 || op.a == Elem::f32 || op.blocks > 1);
  const bool negates = op.a == Elem::f64 && cdna >= 3;
  if (!permutes && !negates) refuse("blgp", m.blgp);
}

// Two of four neighbours in k are stored; two bits each say which (CDNA3 ISA, "Sparse matrices"). The indices of
// a lane's values fill part of a dword; ABID says which part, unless CBSZ is set.
struct IndexField {
  u32 shift, bits;
};
IndexField index_field(const MatrixOp& op, const Matrix& m) {
  const u32 bits = 2 * op.a_per_lane(), sets = 32 / bits;
  return {m.cbsz ? 0 : m.abid % sets * bits, bits};
}

void check_operands(const MatrixOp& op, const Inst& i, u8 cdna) {
  const Src& c = i.src[2];
  const u32 count = i.row->operand_dwords[0];
  if (i.src[0].kind != Kind::vgpr || i.src[1].kind != Kind::vgpr) raise(FaultKind::unsupported, fmt::format("{} with A or B in no VGPR", op.name));
  if (c.kind != Kind::vgpr && (c.kind != Kind::constant || op.sparse())) raise(FaultKind::unsupported, fmt::format("{} with a third source that it cannot have", op.name));
  // Silicon reads the constant wrongly (LLVM: FeatureMFMAInlineLiteralBug).
  if (cdna == 1 && c.kind == Kind::constant) raise(FaultKind::unsupported, fmt::format("{} with a constant for C, which gfx908 reads wrongly", op.name));
  // Results of a long instruction are written while C is still read (LLVM: SrcC and a D of more than four registers
  // are the same or apart).
  const bool overlap = !op.sparse() && c.kind == Kind::vgpr && c.reg != i.dst.reg && c.reg < i.dst.reg + count && i.dst.reg < c.reg + count;
  if (overlap && count > 4) raise(FaultKind::unsupported, fmt::format("{}: C and D overlap in part", op.name));
}

// ---- strict mode ---------------------------------------------------------------------------------

// Lanes of which an operand holds an undefined bit; raises if a load is still on its way.
u64 undefined_lanes(const Wave& w, u32 reg, u32 count) {
  u64 u = 0;
  for (u32 r = reg; r < reg + count; r++)
    if (w.und[r]) {
      if (w.pend[r]) report_pending(w, r, false, "read");
      u |= w.und[r];
    }
  return u;
}
u64 undefined_lanes_of_bits(const Wave& w, u32 reg, u32 bits) {
  u64 u = undefined_lanes(w, reg, 1);
  for (u64 m = u; m; m &= m - 1)
    if (!(undef_bits(w, reg, u32(__builtin_ctzll(m))) & bits)) u &= ~(m & -m);
  return u;
}
// Rows of one block of an input (bit per row) that hold anything undefined.
u32 undefined_rows(const MatrixOp& op, u64 lanes, u32 rows, u32 block) {
  u32 r = 0;
  for (u32 first = rows * block; first < 64; first += rows * op.blocks) r |= u32(lanes >> first);
  return rows == 32 ? r : r & ((1u << rows) - 1);
}

// An undefined value in A spoils its row of D, in B its column, in C its element. Undefined lanes of the sources
// are found first: D may stand on them.
struct Undefined {
  u64 a = 0, b = 0;
  u64 c[32] = {};   // per register of C
  bool any = false;
};
Undefined find_undefined(const Wave& w, const Inst* i, const MatrixOp& op) {
  Undefined u;
  const Row& row = *i->row;
  const Matrix& m = i->matrix;
  auto count = [&](u32 k) -> u32 {
    if (!(row.matrix_flags & matrix_formats)) return row.operand_dwords[1 + k];
    const u32 format = k ? m.blgp : m.cbsz;
    return format <= 1 ? 8 : format <= 3 ? 6 : 4;
  };
  if (i->src[0].kind == Kind::vgpr) u.a = undefined_lanes(w, i->src[0].reg, count(0));
  if (i->src[1].kind == Kind::vgpr) u.b = undefined_lanes(w, i->src[1].reg, count(1));
  if (m.scaled) {
    u.a |= undefined_lanes_of_bits(w, m.scale_reg[0], 0xffu << (8 * m.scale_byte[0]));
    u.b |= undefined_lanes_of_bits(w, m.scale_reg[1], 0xffu << (8 * m.scale_byte[1]));
  }
  u32 c = i->dst.reg;
  if (op.sparse()) {
    const IndexField f = index_field(op, m);
    if (i->src[2].kind == Kind::vgpr) u.a |= undefined_lanes_of_bits(w, i->src[2].reg, u32((u64(1) << f.bits) - 1) << f.shift);
  } else {
    c = i->src[2].reg;
  }
  u.any = u.a | u.b;
  if (op.sparse() || i->src[2].kind == Kind::vgpr)
    for (u32 r = 0; r < row.operand_dwords[0]; r++) {
      u.c[r] = undefined_lanes(w, c + r, 1);
      u.any |= u.c[r] != 0;
    }
  if (!w.events.empty()) check_arrived(w, i->dst.reg, row.operand_dwords[0], "overwritten");
  if (m.blgp && !(op.flags & (matrix_formats | matrix_double))) {
    u64 permuted = 0;
    for (u32 l = 0; l < 64; l++) permuted |= (u.b >> blgp_lane(m.blgp, l) & 1) << l;
    u.b = permuted;
  }
  return u;
}
void set_shadow(Wave& w, const Inst* i, const MatrixOp& op, const Undefined& u) {
  const u32 first = i->dst.reg, count = i->row->operand_dwords[0];
  for (u32 r = first; r < first + count; r++) w.und[r] = w.all[r] = 0;
  if (!u.any) return;
  const u32 wide = op.flags & matrix_double ? 2 : 1;
  const bool broadcast = !(op.flags & matrix_formats) && !op.sparse();
  for (u32 block = 0; block < op.blocks; block++) {
    const u32 from = broadcast ? broadcast_block(i->matrix.cbsz, i->matrix.abid, block) : block;
    const u32 rows = undefined_rows(op, u.a, op.m, from), columns = undefined_rows(op, u.b, op.n, block);
    const u64 all = op.n == 32 ? 0xffffffffu : (1u << op.n) - 1;
    for (u32 row = 0; row < op.m; row++) {
      const Place p = result_place(op, row, block);
      for (u32 k = 0; k < wide; k++) {
        u64 lanes = u64(rows >> row & 1 ? all : columns) << p.lane;
        for (u32 h = 0; h < wide; h++) lanes |= u.c[p.element * wide + h] & all << p.lane;
        w.und[first + p.element * wide + k] |= lanes;
        w.all[first + p.element * wide + k] |= lanes;
      }
    }
  }
}

// ---- execution -----------------------------------------------------------------------------------

// Flushing of denormals as the host's arithmetic can do it, for a while.
struct FlushScope {
  unsigned saved;
  FlushScope(bool in, bool out) : saved(_mm_getcsr()) {
    if (in || out) _mm_setcsr(saved | (in ? 0x40 : 0) | (out ? 0x8000 : 0));
  }
  ~FlushScope() { _mm_setcsr(saved); }
};

enum class Sum : u8 { chain, pairs2, pairs4, fused, integer };

struct Plan {
  Sum sum;
  u32 group = 1;        // products that are added at once
  bool split = false;   // even and odd k apart
  bool wide = false, special = false;
};

Plan plan_for(const MatrixOp& op, u8 cdna) {
  const u32 products = op.sparse() ? op.k / 2 : op.k;
  switch (op.a) {
    case Elem::f64: case Elem::f32: return {Sum::chain};
    case Elem::i8: return {Sum::integer};
    case Elem::xf32: return {Sum::fused, 4};
    case Elem::f16:
      if (cdna <= 2) return {Sum::pairs4};
      return {Sum::fused, std::min(8u, products)};
    case Elem::bf16:
      if (cdna <= 2) return {op.a_per_lane() == 4 ? Sum::pairs4 : Sum::pairs2};  // _1K holds four values in a lane
      return {Sum::fused, std::min(8u, products)};
    case Elem::fp8: case Elem::bf8: case Elem::f8f6f4: return {Sum::fused, 16, true};
  }
  return {Sum::chain};
}

template <u32 N, bool Wide>
void fused(const Plan& plan, const Terms& t, u32 row, const f32* c, f32* d) {
  if (plan.split) fused_row<N, Wide, true>(t, row, plan.group, c, d);
  else fused_row<N, Wide, false>(t, row, plan.group, c, d);
}
// R rows of a strip, from row `first` on.
template <u32 N, u32 R>
void sum_rows(const Plan& plan, const Terms& t, u32 first, const f32* c, u32 stride, f32* d) {
  switch (plan.sum) {
    case Sum::chain: chain_rows<N, R>(t, first, c, stride, d); break;
    case Sum::pairs2: pairs_rows<N, R, 2>(t, first, c, stride, d); break;
    case Sum::pairs4: pairs_rows<N, R, 4>(t, first, c, stride, d); break;
    case Sum::fused:
      for (u32 r = 0; r < R; r++, c += stride, d += 64) {
        if (plan.special) {
          if (plan.split) fused_row_special<true>(t, first + r, plan.group, N, c, d);
          else fused_row_special<false>(t, first + r, plan.group, N, c, d);
        } else if (plan.wide) {
          fused<N, true>(plan, t, first + r, c, d);
        } else {
          fused<N, false>(plan, t, first + r, c, d);
        }
      }
      break;
    case Sum::integer: {
      // Products and sums of 8-bit integers are exact in f32 (at most 128 products below 2^15); C wraps.
      alignas(64) f32 zero[N] = {}, sum[R][64];
      chain_rows<N, R>(t, first, zero, 0, sum[0]);
      for (u32 r = 0; r < R; r++)
        for (u32 j = 0; j < N; j++) d[64 * r + j] = bits_to<f32>(bits_to<u32>(c[stride * r + j]) + u32(i32(sum[r][j])));
      break;
    }
  }
}
// A strip of four rows. Sparse rows have each their own rows of B; else as many are taken at once as host registers hold.
template <u32 N, class TakeRow>
void sum_strip(const Plan& plan, Terms& t, bool sparse, TakeRow take_row, const f32* c, u32 stride, f32* d) {
  if (sparse) {
    for (u32 r = 0; r < 4; r++) {
      take_row(r);
      sum_rows<N, 1>(plan, t, r, c + stride * r, stride, d + 64 * r);
    }
  } else if constexpr (N == 32) {
    sum_rows<N, 2>(plan, t, 0, c, stride, d);
    sum_rows<N, 2>(plan, t, 2, c + 2 * stride, stride, d + 128);
  } else {
    sum_rows<N, 4>(plan, t, 0, c, stride, d);
  }
}

// Scales of the blocks of 32 values in k: lane = row + rows * block (CDNA4 ISA, "Block scaling").
struct Scales {
  alignas(64) i16 exponent[2][64];
  bool nan = false;
};
void load_scales(Wave& w, const Matrix& m, Scales& s) {
  for (u32 k = 0; k < 2; k++) {
    const u32* regs = w.vgpr(m.scale_reg[k]);
    for (u32 l = 0; l < 64; l++) {
      const u32 x = regs[l] >> (8 * m.scale_byte[k]) & 0xff;
      s.exponent[k][l] = i16(i32(x) - 127);
      s.nan |= x == 255;
    }
  }
}
// A scale that is NaN makes NaNs of its block of values.
void spread_nan(const Scales& s, u32 side, const SideMap& map, u32 k_total, Input& in) {
  for (u32 k = 0; k < k_total; k++) {
    const Place p = map.at(k, 0);
    for (u32 r = 0; r < map.rows; r++)
      if (s.exponent[side][k / 32 * map.rows + r] == 128) in.values[p.element][p.lane + r] = __builtin_nanf("");
  }
}

struct Work {
  Input a, b;
  alignas(64) f32 constant_c[32];
  Terms terms;
  Scales scales;
};

void run_f64(Wave& w, const Inst* i, const MatrixOp& op, const u32* c_regs) {
  const u32 n = op.n;
  auto pair = [](const u32* regs, u32 element, u32 lane) { return bits_to<f64>(regs[128 * element + lane] | u64(regs[128 * element + 64 + lane]) << 32); };
  const u32 *a = w.vgpr(i->src[0].reg), *b = w.vgpr(i->src[1].reg);
  u32* d = w.vgpr(i->dst.reg);
  const u32 neg = i->matrix.blgp;
  auto sign = [&](f64 x, u32 bit) { return neg >> bit & 1 ? -x : x; };
  f64 av[64], bv[64];
  for (u32 l = 0; l < 64; l++) av[l] = sign(pair(a, 0, l), 0), bv[l] = sign(pair(b, 0, l), 1);
  const SideMap ma{op.m, op.blocks, 1}, mb{op.n, op.blocks, 1};
  for (u32 block = 0; block < op.blocks; block++)
    for (u32 row = 0; row < op.m; row++) {
      const Place p = result_place(op, row, block);
      f64 acc[16];
      for (u32 j = 0; j < n; j++) acc[j] = sign(c_regs ? pair(c_regs, p.element, p.lane + j) : bits_to<f64>(i->src[2].value), 2);
      for (u32 k = 0; k < op.k; k++) {
        const f64 x = av[ma.at(k, block).lane + row];
        const f64* y = bv + mb.at(k, block).lane;
        for (u32 j = 0; j < n; j++) acc[j] = __builtin_fma(x, y[j], acc[j]);
      }
      for (u32 j = 0; j < n; j++) {
        u64 x = bits_to<u64>(acc[j]);
        x = x == 0xfff8000000000000u ? 0x7ff8000000000000u : x;
        d[128 * p.element + p.lane + j] = u32(x), d[128 * p.element + 64 + p.lane + j] = u32(x >> 32);
      }
    }
}

template <bool Strict>
const Inst* run_mfma(Wave& w, const Inst* i) {
  const MatrixOp& op = mfma_ops[i->row - table().data()];
  const Matrix& m = i->matrix;
  const u8 cdna = w.group->isa->cdna;
  if (m.cbsz | m.abid | m.blgp) check_modifiers(op, m, cdna);
  check_operands(op, *i, cdna);
  Undefined undefined;
  if constexpr (Strict) undefined = find_undefined(w, i, op);

  const bool formats = op.flags & matrix_formats;
  const bool c_is_register = op.sparse() || i->src[2].kind == Kind::vgpr;
  const u32 c_reg = op.sparse() ? i->dst.reg : i->src[2].reg, d_count = i->row->operand_dwords[0];
  // A short D may overlap C in part: all of C is read first.
  alignas(64) u32 copy[4 * 64];
  const u32* c_regs = c_is_register ? w.vgpr(c_reg) : nullptr;
  if (c_regs && c_reg != i->dst.reg && c_reg < i->dst.reg + d_count && i->dst.reg < c_reg + d_count) {
    std::memcpy(copy, c_regs, sizeof(u32) * 64 * d_count);  // at most four, see check_operands
    c_regs = copy;
  }
  if (op.a == Elem::f64) {
    run_f64(w, i, op, c_regs);
    if constexpr (Strict) set_shadow(w, i, op, undefined);
    return i + 1;
  }

  Work work;
  Plan plan = plan_for(op, cdna);
  SideMap map_a{op.m, op.blocks, op.a_per_lane()}, map_b{op.n, op.blocks, op.b_per_lane()};
  const u32 *a_regs = w.vgpr(i->src[0].reg), *b_regs = w.vgpr(i->src[1].reg);
  if (formats) {
    load_formatted(m.cbsz, a_regs, work.a);
    load_formatted(m.blgp, b_regs, work.b);
    map_a.chunked = m.cbsz <= 1, map_b.chunked = m.blgp <= 1;
    if (m.scaled) {
      load_scales(w, m, work.scales);
      if (work.scales.nan) spread_nan(work.scales, 0, map_a, op.k, work.a), spread_nan(work.scales, 1, map_b, op.k, work.b);
    }
  } else {
    const bool flush = cdna == 2 && (op.a == Elem::f16 || op.a == Elem::bf16);
    load_input({op.a, bits_of(op.a), 0}, a_regs, map_a.per_lane, cdna >= 4, flush, work.a);
    load_input({op.b, bits_of(op.b), 0}, b_regs, map_b.per_lane, cdna >= 4, flush, work.b);
    if (m.blgp) permute_lanes(m.blgp, map_b.per_lane, work.b);
  }
  if (plan.sum == Sum::fused) {
    take_exponents(formats ? format_min_exponent(m.cbsz) : elem_min_exponent(op.a, cdna >= 4), map_a.per_lane, work.a);
    take_exponents(formats ? format_min_exponent(m.blgp) : elem_min_exponent(op.b, cdna >= 4), map_b.per_lane, work.b);
    plan.special = !work.a.finite || !work.b.finite || work.a.highest + work.b.highest > 125;
    plan.wide = !plan.special && (std::min(work.a.lowest, work.b.lowest) < -50 || std::max(work.a.highest, work.b.highest) > 50);
    if (plan.wide) take_significands(map_a.per_lane, work.a), take_significands(map_b.per_lane, work.b);
  }
  if (!c_regs)
    for (f32& x : work.constant_c) x = bits_to<f32>(u32(i->src[2].value));

  // f32 honours MODE's denormal bits (LLVM: "FP32 denorm mode is respected, rounding mode is not").
  const bool flushes = cdna == 2 && plan.sum != Sum::integer && op.a != Elem::f32;
  FlushScope scope(flushes || (op.a == Elem::f32 && w.flush32_in), flushes || (op.a == Elem::f32 && w.flush32_out));

  Terms& t = work.terms;
  t.k = op.sparse() ? op.k / 2 : op.k;
  const bool exponents = plan.sum == Sum::fused;
  const IndexField field = op.sparse() ? index_field(op, m) : IndexField{};
  f32* d_regs = reinterpret_cast<f32*>(w.vgpr(i->dst.reg));
  for (u32 block = 0; block < op.blocks; block++) {
    const u32 a_block = formats || op.sparse() ? block : broadcast_block(m.cbsz, m.abid, block);
    Place pa[128];
    for (u32 p = 0; p < t.k; p++) pa[p] = map_a.at(p, a_block);
    auto take_b = [&](u32 p, u32 k) {
      const Place pb = map_b.at(k, block);
      t.b[p] = work.b.values[pb.element] + pb.lane;
      if (exponents) t.eb[p] = work.b.exponents[pb.element] + pb.lane;
    };
    if (!op.sparse())
      for (u32 p = 0; p < t.k; p++) take_b(p, p);
    i16 scale[4][4];
    if (m.scaled) {
      t.scale = scale;
      for (u32 k = 0; k < op.k / 32u; k++) t.scale_b[k] = work.scales.exponent[1] + k * op.n;
    }
    const u32* index = op.sparse() && i->src[2].kind == Kind::vgpr ? w.vgpr(i->src[2].reg) : nullptr;
    for (u32 row = 0; row < op.m; row += 4) {
      for (u32 p = 0; p < t.k; p++) std::memcpy(t.a[p], work.a.values[pa[p].element] + pa[p].lane + row, sizeof t.a[p]);
      if (exponents)
        for (u32 p = 0; p < t.k; p++) std::memcpy(t.ea[p], work.a.exponents[pa[p].element] + pa[p].lane + row, sizeof t.ea[p]);
      if (m.scaled)
        for (u32 k = 0; k < op.k / 32u; k++) std::memcpy(scale[k], work.scales.exponent[0] + k * op.m + row, sizeof scale[k]);
      auto take_sparse_row = [&](u32 r) {
        for (u32 p = 0; p < t.k; p++) {
          const u32 indices = index ? index[pa[p].lane + row + r] : u32(i->src[2].value);
          take_b(p, p / 2 * 4 + (indices >> (field.shift + 2 * pa[p].element) & 3));
        }
      };
      const Place pd = result_place(op, row, block);
      const f32* c = c_regs ? reinterpret_cast<const f32*>(c_regs) + 64 * pd.element + pd.lane : work.constant_c;
      f32* d = d_regs + 64 * pd.element + pd.lane;
      const u32 stride = c_regs ? 64 : 0;
      if (op.n == 32) sum_strip<32>(plan, t, op.sparse(), take_sparse_row, c, stride, d);
      else if (op.n == 16) sum_strip<16>(plan, t, op.sparse(), take_sparse_row, c, stride, d);
      else sum_strip<4>(plan, t, op.sparse(), take_sparse_row, c, stride, d);
    }
  }
  if constexpr (Strict) set_shadow(w, i, op, undefined);
  return i + 1;
}

// ---- rows ----------------------------------------------------------------------------------------

constexpr Row matrix_row(const MatrixOp& op) {
  Row r;
  r.name = op.name;
  r.family = Family::mfma;
  r.cls = Class::matrix;
  r.run[0] = run_mfma<false>, r.run[1] = run_mfma<true>;
  const u32 wide = op.flags & matrix_double ? 2 : 1;
  const u32 d = op.d_per_lane() * wide;
  r.operand_dwords[0] = u8(d);
  r.operand_dwords[1] = u8((op.a_per_lane() * bits_of(op.a) + 31) / 32);
  r.operand_dwords[2] = u8((op.b_per_lane() * bits_of(op.b) + 31) / 32);
  r.operand_dwords[3] = u8(op.sparse() ? 1 : d);
  for (u32 k = 0; k < 3; k++) r.passes[k] = op.passes[k];
  r.matrix_flags = op.flags;
  return r;
}
constexpr auto rows = [] {
  std::array<Row, std::size(mfma_ops)> r{};
  for (size_t k = 0; k < r.size(); k++) r[k] = matrix_row(mfma_ops[k]);
  return r;
}();
std::span<const Row> table() { return rows; }

}  // namespace

std::span<const Row> mfma_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
