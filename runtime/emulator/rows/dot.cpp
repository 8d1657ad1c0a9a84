// Dot products of the vector ALU: pairs of 16-bit floats, quads of FP8, and packed integers, plus an accumulator.
//
// Rounding follows the formulas of the ISA documents (RDNA3, RDNA4, CDNA3, CDNA4: V_DOT*): the accumulator takes
// one product after the other, lowest element first, and each sum is rounded. Products are not rounded: those of
// f16 and FP8 are exact in f32 anyway. Where the documents are silent, denormals: before gfx12 the f32 operand
// and result are flushed whatever MODE says (LLVM, SIISelLowering: "fdot2 always flushes"); gfx12 keeps them.
#include "machine/small_floats.h"
#include "machine/valu.h"
#include "rows/float_math.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

f32 flushed(bf16 x) { return LATHE_LEVEL::flushed(to_f32(x)); }
f32 flushed(f16 x) { return to_f32(x); }  // denormal f16 are normal in f32

template <class T> f32 dot2(pk<T> a, pk<T> b, f32 c) {
  return __builtin_fmaf(to_f32(a.hi), to_f32(b.hi), __builtin_fmaf(to_f32(a.lo), to_f32(b.lo), c));
}
template <class T> f32 dot2_flushed(pk<T> a, pk<T> b, f32 c) {
  const f32 first = __builtin_fmaf(flushed(a.lo), flushed(b.lo), LATHE_LEVEL::flushed(c));
  return LATHE_LEVEL::flushed(__builtin_fmaf(flushed(a.hi), flushed(b.hi), first));
}
// CDNA4's V_DOT2_F32_BF16 adds the accumulator last; its V_DOT2C_F32_BF16 does not.
f32 dot2_last(pk<bf16> a, pk<bf16> b, f32 c) {
  const f32 products = __builtin_fmaf(flushed(a.hi), flushed(b.hi), flushed(a.lo) * flushed(b.lo));
  return LATHE_LEVEL::flushed(products + LATHE_LEVEL::flushed(c));
}
f16 add_product(f16 a, f16 b, f16 c) { return to_f16(fma_odd(to_f32(a), to_f32(b), to_f32(c))); }
bf16 add_product(bf16 a, bf16 b, bf16 c) { return to_bf16(to_f32_odd(fma_odd(to_f32(a), to_f32(b), to_f32(c)))); }
template <class T> T dot2_narrow(pk<T> a, pk<T> b, T c) { return add_product(a.hi, b.hi, add_product(a.lo, b.lo, c)); }

template <SmallFormat A, SmallFormat B> f32 dot4_small(u32 a, u32 b, f32 c) {
  for (u32 k = 0; k < 32; k += 8) c += decode_small<A>(a >> k) * decode_small<B>(b >> k);
  return c;
}

// Sum of products of packed integers; `bits` per element, each side signed or not.
template <u32 bits> i64 products(u32 a, u32 b, bool a_signed, bool b_signed) {
  i64 sum = 0;
  for (u32 k = 0; k < 32; k += bits) {
    const u32 x = a << (32 - bits - k), y = b << (32 - bits - k);
    const i32 p = a_signed ? i32(x) >> (32 - bits) : i32(x >> (32 - bits)), q = b_signed ? i32(y) >> (32 - bits) : i32(y >> (32 - bits));
    sum += i64(p) * q;
  }
  return sum;
}
// Pairs come with OP_SEL's choice of halves.
i64 dot(pk<i16> a, pk<i16> b, i32 c) { return i64(a.lo) * b.lo + i64(a.hi) * b.hi + c; }
i64 dot_u(pk<u16> a, pk<u16> b, u32 c) { return u64(a.lo) * b.lo + u64(a.hi) * b.hi + c; }
template <u32 bits> i64 dot(u32 a, u32 b, i32 c) { return products<bits>(a, b, true, true) + c; }
template <u32 bits> i64 dot_u(u32 a, u32 b, u32 c) { return products<bits>(a, b, false, false) + c; }
template <u32 bits> i64 dot_iu(u32 a, u32 b, i32 c, mods m) { return products<bits>(a, b, m.neg() & 1, m.neg() & 2) + c; }
i32 wrap(i64 x) { return i32(u32(x)); }
u32 wrap_u(i64 x) { return u32(x); }
i32 clip(i64 x) { return x < -0x80000000ll ? i32(0x80000000u) : x > 0x7fffffff ? 0x7fffffff : i32(x); }
u32 clip_u(i64 x) { return x > 0xffffffffll ? 0xffffffffu : u32(x); }

// clang-format off
#define DOT2(NAME, T, F) arith(NAME, [](pk<T> a, pk<T> b, f32 c) -> f32 { return F(a, b, c); })
#define DOT4F(NAME, A, B) arith(NAME, [](u32 a, u32 b, f32 c) -> f32 { return dot4_small<A, B>(a, b, c); })
#define DOTI(NAME, BITS) \
  valu(NAME, [](u32 a, u32 b, i32 c) -> i32 { return wrap(dot<BITS>(a, b, c)); }), \
  valu(NAME " clamp", [](u32 a, u32 b, i32 c) -> i32 { return clip(dot<BITS>(a, b, c)); })
#define DOTC(NAME, BITS) \
  valu(NAME, [](u32 a, u32 b, i32 d) -> i32 { return wrap(dot<BITS>(a, b, d)); }).with(acc), \
  valu(NAME " clamp", [](u32 a, u32 b, i32 d) -> i32 { return clip(dot<BITS>(a, b, d)); }).with(acc)
#define DOTU(NAME, BITS) \
  valu(NAME, [](u32 a, u32 b, u32 c) -> u32 { return wrap_u(dot_u<BITS>(a, b, c)); }), \
  valu(NAME " clamp", [](u32 a, u32 b, u32 c) -> u32 { return clip_u(dot_u<BITS>(a, b, c)); })
#define DOTIU(NAME, BITS) \
  valu(NAME, [](u32 a, u32 b, i32 c, mods m) -> i32 { return wrap(dot_iu<BITS>(a, b, c, m)); }), \
  valu(NAME " clamp", [](u32 a, u32 b, i32 c, mods m) -> i32 { return clip(dot_iu<BITS>(a, b, c, m)); })
constexpr Row rows[] = {
  DOT2("V_DOT2_F32_F16", f16, dot2_flushed), DOT2("V_DOT2_F32_F16 gfx12", f16, dot2),
  // In VOPD gfx11 and gfx12 have them by these names too, though they print as v_dual_dot2acc.
  DOT2("V_DOT2C_F32_F16", f16, dot2_flushed).with(acc), DOT2("V_DOT2C_F32_F16 gfx12", f16, dot2).with(acc),
  DOT2("V_DOT2ACC_F32_F16", f16, dot2_flushed).with(acc),
  DOT2("V_DOT2_F32_BF16", bf16, dot2_flushed), DOT2("V_DOT2_F32_BF16 gfx12", bf16, dot2), DOT2("V_DOT2_F32_BF16 gfx9", bf16, dot2_last),
  DOT2("V_DOT2C_F32_BF16", bf16, dot2_flushed).with(acc), DOT2("V_DOT2C_F32_BF16 gfx12", bf16, dot2).with(acc),
  arith("V_DOT2_F16_F16", [](pk<f16> a, pk<f16> b, f16 c) -> f16 { return dot2_narrow(a, b, c); }),
  arith("V_DOT2_BF16_BF16", [](pk<bf16> a, pk<bf16> b, bf16 c) -> bf16 { return dot2_narrow(a, b, c); }),
  DOT4F("V_DOT4_F32_FP8_FP8", fp8_ocp, fp8_ocp), DOT4F("V_DOT4_F32_FP8_BF8", fp8_ocp, bf8_ocp),
  DOT4F("V_DOT4_F32_BF8_FP8", bf8_ocp, fp8_ocp), DOT4F("V_DOT4_F32_BF8_BF8", bf8_ocp, bf8_ocp),

  valu("V_DOT2_I32_I16", [](pk<i16> a, pk<i16> b, i32 c) -> i32 { return wrap(dot(a, b, c)); }),
  valu("V_DOT2_I32_I16 clamp", [](pk<i16> a, pk<i16> b, i32 c) -> i32 { return clip(dot(a, b, c)); }),
  valu("V_DOT2C_I32_I16", [](pk<i16> a, pk<i16> b, i32 d) -> i32 { return wrap(dot(a, b, d)); }).with(acc),
  valu("V_DOT2C_I32_I16 clamp", [](pk<i16> a, pk<i16> b, i32 d) -> i32 { return clip(dot(a, b, d)); }).with(acc),
  valu("V_DOT2_U32_U16", [](pk<u16> a, pk<u16> b, u32 c) -> u32 { return wrap_u(dot_u(a, b, c)); }),
  valu("V_DOT2_U32_U16 clamp", [](pk<u16> a, pk<u16> b, u32 c) -> u32 { return clip_u(dot_u(a, b, c)); }),
  DOTI("V_DOT4_I32_I8", 8),   DOTC("V_DOT4C_I32_I8", 8),   DOTU("V_DOT4_U32_U8", 8),  DOTIU("V_DOT4_I32_IU8", 8),
  DOTI("V_DOT8_I32_I4", 4),   DOTC("V_DOT8C_I32_I4", 4),   DOTU("V_DOT8_U32_U4", 4),  DOTIU("V_DOT8_I32_IU4", 4),
};
// clang-format on

}  // namespace

std::span<const Row> dot_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
