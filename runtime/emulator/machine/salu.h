// The scalar family: turns a lambda over u32, i32, u64, i64 (and `bool& scc`, or `bool scc` where it is
// only read) into a handler and a row. Scalar undefined bits are tracked exactly, by the row's rule.
#pragma once

#include <tuple>
#include <type_traits>

#include "operands.h"
#include "row.h"

namespace lathe::emu::LATHE_LEVEL {

template <class T> struct scalar_type { static constexpr Ty ty = Ty::b32; };
template <> struct scalar_type<u64> { static constexpr Ty ty = Ty::b64; };
template <> struct scalar_type<i64> { static constexpr Ty ty = Ty::i64; };
template <> struct scalar_type<f32> { static constexpr Ty ty = Ty::f32; };
template <> struct scalar_type<f16> { static constexpr Ty ty = Ty::f16; };
template <> struct scalar_type<void> { static constexpr Ty ty = Ty::none; };

// Undefined bits of the result; defined in salu.cpp. `same` re-runs the row on shadows.
using ScalarOp = u64 (*)(const u64* operands, bool& scc);
u64 scalar_shadow(const Wave&, const Inst*, const u64* values, ScalarOp op, bool reads_scc, bool& any);
bool scalar_clean(const Wave&, const Inst*);
void scalar_dst_shadow(Wave&, const Inst*, u64 undefined);

template <class F, class R, class... A>
struct Scalar {
  using Args = std::tuple<A...>;
  static constexpr size_t count = sizeof...(A);
  template <size_t K> using Arg = std::tuple_element_t<K, Args>;
  static constexpr bool has_scc() {
    if constexpr (count == 0) return false;
    else return std::is_same_v<std::remove_reference_t<Arg<count - 1>>, bool>;
  }
  static constexpr bool writes() {
    if constexpr (has_scc()) return std::is_reference_v<Arg<count - 1>>;
    else return false;
  }
  static constexpr size_t operands = count - (has_scc() ? 1 : 0);

  template <class T>
  static T from(u64 x) {
    if constexpr (sizeof(T) == 8) return bits_to<T>(x);
    else if constexpr (sizeof(T) == 4) return bits_to<T>(u32(x));
    else return bits_to<T>(u16(x));
  }
  template <class T>
  static u64 to(T x) {
    if constexpr (sizeof(T) == 8) return bits_to<u64>(x);
    else if constexpr (sizeof(T) == 4) return bits_to<u32>(x);
    else return bits_to<u16>(x);
  }
  template <size_t... K>
  static u64 call(const u64* in, bool& scc, std::index_sequence<K...>) {
    if constexpr (std::is_void_v<R>) {
      if constexpr (has_scc()) F{}(from<Arg<K>>(in[K])..., scc);
      else F{}(from<Arg<K>>(in[K])...);
      return 0;
    } else {
      if constexpr (has_scc()) return to<R>(F{}(from<Arg<K>>(in[K])..., scc));
      else return to<R>(F{}(from<Arg<K>>(in[K])...));
    }
  }
  static u64 op(const u64* in, bool& scc) { return call(in, scc, std::make_index_sequence<operands>{}); }

  template <bool Strict>
  static const Inst* run(Wave& w, const Inst* i) {
    u64 in[4];
    for (u32 k = 0; k < operands; k++) in[k] = dwords(i->src[k].type) == 2 ? scalar64(w, i->src[k]) : scalar32(w, i->src[k]);
    u64 undefined = 0;
    bool any = false;
    if constexpr (Strict) {
      if (!scalar_clean(w, i) || (has_scc() && w.scc_und)) undefined = scalar_shadow(w, i, in, op, has_scc() && !writes(), any);
    }
    const u64 r = op(in, w.scc);
    if constexpr (!std::is_void_v<R>) {
      w.s[i->dst.reg] = u32(r);
      if constexpr (sizeof(R) == 8) w.s[i->dst.reg + 1] = u32(r >> 32);
      if constexpr (Strict) scalar_dst_shadow(w, i, undefined);
    }
    if constexpr (Strict && writes()) w.scc_und = std::is_void_v<R> ? any : undefined != 0;
    return i + 1;
  }
};

template <class F, class R, class... A>
constexpr Row salu_row(std::string_view name, R (F::*)(A...) const) {
  using S = Scalar<F, R, A...>;
  Row row;
  row.name = name;
  row.family = Family::salu;
  row.cls = Class::salu;
  row.sig.dst = scalar_type<R>::ty;
  const Ty types[] = {scalar_type<std::remove_reference_t<A>>::ty..., Ty::none};
  row.sig.n = u8(S::operands);
  for (u32 k = 0; k < S::operands; k++) row.sig.src[k] = types[k];
  row.run[0] = S::template run<false>, row.run[1] = S::template run<true>;
  if (S::has_scc()) row.flags = u16(S::writes() ? writes_scc : reads_scc);
  return row;
}
template <class F>
constexpr Row salu(std::string_view name, F) {
  return salu_row(name, &F::operator());
}

// A handler of its own: branches, waits, cross-lane instructions.
constexpr Row control(std::string_view name, Handler fast, Handler strict, Class cls, Sig sig = {}, u16 flags = 0) {
  Row row;
  row.name = name;
  row.family = Family::control;
  row.cls = cls;
  row.sig = sig;
  row.run[0] = fast, row.run[1] = strict;
  row.flags = flags;
  return row;
}

}  // namespace lathe::emu::LATHE_LEVEL
