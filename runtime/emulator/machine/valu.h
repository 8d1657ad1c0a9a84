// The vector family: turns a lambda over lane types into a loop over lanes and a row.
// Included by the row tables only, each compiled once per CPU level.
#pragma once

#include <cmath>
#include <tuple>
#include <type_traits>

#include "operands.h"
#include "row.h"

namespace lathe::emu::LATHE_LEVEL {

template <class T> struct lane_type;
#define LATHE_LANE(T, TY, STORE) template <> struct lane_type<T> { static constexpr Ty ty = Ty::TY; using store = STORE; };
LATHE_LANE(f32, f32, u32) LATHE_LANE(u32, b32, u32) LATHE_LANE(i32, b32, u32) LATHE_LANE(f16, f16, u32)
LATHE_LANE(u16, b16, u32) LATHE_LANE(i16, b16, u32) LATHE_LANE(bf16, bf16, u32) LATHE_LANE(bit, mask, u32)
LATHE_LANE(f64, f64, u64) LATHE_LANE(u64, b64, u64) LATHE_LANE(i64, i64, u64)
LATHE_LANE(pk<f16>, pkf16, u32) LATHE_LANE(pk<u16>, pk16, u32) LATHE_LANE(pk<i16>, pk16, u32) LATHE_LANE(pk<bf16>, pkbf16, u32)
LATHE_LANE(lane_id, lane, u32) LATHE_LANE(mods, mods, u32) LATHE_LANE(mode_bits, mode, u32)
LATHE_LANE(pk<f32>, pkf32, u64) LATHE_LANE(pk<u32>, pkb32, u64)
#undef LATHE_LANE

template <class T>
static inline T unpack(typename lane_type<T>::store x) {
  if constexpr (std::is_same_v<T, bit>) return bit{x};
  else if constexpr (sizeof(T) == sizeof x) return bits_to<T>(x);
  else return bits_to<T>(u16(x));
}
template <class T>
static inline auto pack(T value) -> typename lane_type<T>::store {
  if constexpr (sizeof(T) == sizeof(typename lane_type<T>::store)) return bits_to<typename lane_type<T>::store>(value);
  else return bits_to<u16>(value);
}

// x86 makes a negative NaN of an invalid operation where AMD's hardware makes a positive one. The loops look for
// NaNs per block of f32: they are rare, and a compare costs less than a choice per lane.
template <class T>
static inline T positive_nan(T r) {
  if constexpr (std::is_same_v<T, f32>) return bits_to<u32>(r) == 0xffc00000u ? bits_to<f32>(0x7fc00000u) : r;
  else if constexpr (std::is_same_v<T, f64>) return bits_to<u64>(r) == 0xfff8000000000000u ? bits_to<f64>(0x7ff8000000000000u) : r;
  else if constexpr (std::is_same_v<T, f16>) return r.bits == 0xfe00 ? f16{0x7e00} : r;
  else if constexpr (std::is_same_v<T, pk<f32>>) return pk<f32>{positive_nan(r.lo), positive_nan(r.hi)};
  else if constexpr (std::is_same_v<T, pk<f16>>) return pk<f16>{positive_nan(r.lo), positive_nan(r.hi)};
  else return r;
}

template <class T> struct is_out2 : std::false_type {};
template <class T> struct is_out2<Out2<T>> : std::true_type {};

template <class R> struct result_store { using type = typename lane_type<R>::store; };
template <> struct result_store<bool> { using type = u32; };
template <class T> struct result_store<Out2<T>> { using type = typename lane_type<T>::store; };

template <class F, class R, class... A>
struct Loop {
  using D = typename result_store<R>::type;
  // Raw bit moves must stay exact, so NaN signs are touched only where arithmetic may have made them.
  // Pointers as parameters, blocks of 32: that is what the compiler turns into SIMD. A result may stand on
  // top of a source (same lanes), hence ivdep and not restrict.
  template <bool Arithmetic>
  static void body(u32 n, D* d, u32* flag, const typename lane_type<A>::store*... p) {
    for (u32 base = 0; base < n; base += 32) {
      u32 nan = 0;
#pragma GCC ivdep
      for (u32 j = 0; j < 32; j++) {
        const R r = F{}(unpack<A>(p[j])...);
        if constexpr (std::is_same_v<R, bool>) {
          flag[j] = r;
        } else if constexpr (is_out2<R>::value) {
          d[j] = pack(r.value);
          flag[j] = r.flag;
        } else {
          d[j] = pack(r);
          if constexpr (Arithmetic && std::is_same_v<R, f32>) nan |= r != r;
        }
      }
      if constexpr (Arithmetic) {
        if (!std::is_same_v<R, f32> || __builtin_expect(nan, 0))
          for (u32 j = 0; j < 32; j++) d[j] = pack(positive_nan(unpack<R>(d[j])));
      }
      d += 32;
      if (flag) flag += 32;
      ((p += 32), ...);
    }
  }
  template <bool Arithmetic, size_t... K>
  static void call(const Lanes& x, std::index_sequence<K...>) {
    body<Arithmetic>(x.n, static_cast<D*>(x.d), x.flag, static_cast<const typename lane_type<A>::store*>(x.s[K])...);
  }
  template <bool Arithmetic>
  static void run(const Lanes& x) { call<Arithmetic>(x, std::index_sequence_for<A...>{}); }
};

const Inst* run_valu(Wave&, const Inst*);
const Inst* run_valu_strict(Wave&, const Inst*);
const Inst* run_valu_simple(Wave&, const Inst*);
const Inst* run_valu_simple_strict(Wave&, const Inst*);

// Fetch, loop and store in one, for the rows that inner loops are made of: the calls between them cost as much
// as the loop itself. Whatever is not plain goes the common way: another MODE, undefined or pending operands.
template <bool Strict, bool Arithmetic, class F, class R, class... A>
const Inst* run_hot(Wave& w, const Inst* i) {
  constexpr bool floats = std::is_same_v<R, f32> || (std::is_same_v<A, f32> || ...);
  const auto common = Strict ? run_valu_simple_strict : run_valu_simple;
  if constexpr (floats)
    if (__builtin_expect(!w.plain_mode, 0)) return common(w, i);
  if constexpr (Strict) {
    u64 undefined = w.und[i->dst.reg];
#pragma GCC unroll 4
    for (u32 k = 0; k < sizeof...(A); k++) {
      const Src& s = i->src[k];
      if (s.kind == Kind::vgpr) undefined |= w.und[s.reg];
      else if (s.kind == Kind::sgpr) undefined |= u64(w.s_und[s.reg] | w.s_pend[s.reg]);
    }
    if (__builtin_expect(undefined != 0, 0)) return common(w, i);
  }
  const u64 exec = w.exec();
  const u32 n = w.lanes;
  alignas(64) u32 scalars[sizeof...(A)][64], result[64];
  const u32* p[sizeof...(A)];
#pragma GCC unroll 4
  for (u32 k = 0; k < sizeof...(A); k++) {
    const Src& s = i->src[k];
    if (s.kind == Kind::vgpr) p[k] = w.vgpr(s.reg);
    else if (s.kind == Kind::constant) p[k] = s.lanes;
    else broadcast(scalar32(w, s), scalars[k], n), p[k] = scalars[k];
  }
  u32* const dst = w.vgpr(i->dst.reg);
  u32* const d = exec == w.full ? dst : result;
  [&]<size_t... K>(std::index_sequence<K...>) {
    Loop<F, R, A...>::template body<Arithmetic>(n, d, nullptr, p[K]...);
  }(std::index_sequence_for<A...>{});
  if (d == result) blend(dst, result, exec, n);
  return i + 1;
}

// Packed pairs: both halves get the same lambda, so it is one loop over twice as many elements.
template <class F, class T, class... A>
struct PackedLoop {
  template <bool Arithmetic>
  static void body(u32 n, T* d, const A*... p) {
    for (u32 base = 0; base < 2 * n; base += 32) {
      u32 nan = 0;
#pragma GCC ivdep
      for (u32 j = 0; j < 32; j++) {
        const T r = F{}(p[j]...);
        d[j] = r;
        if constexpr (Arithmetic && std::is_same_v<T, f32>) nan |= r != r;
      }
      if constexpr (Arithmetic) {
        if (!std::is_same_v<T, f32> || __builtin_expect(nan, 0))
          for (u32 j = 0; j < 32; j++) d[j] = positive_nan(d[j]);
      }
      d += 32;
      ((p += 32), ...);
    }
  }
  template <bool Arithmetic, size_t... K>
  static void call(const Lanes& x, std::index_sequence<K...>) {
    body<Arithmetic>(x.n, static_cast<T*>(x.d), static_cast<const A*>(x.s[K])...);
  }
  template <bool Arithmetic>
  static void run(const Lanes& x) { call<Arithmetic>(x, std::index_sequence_for<A...>{}); }
};

template <bool Arithmetic, class F, class R, class... A>
constexpr Row valu_row(std::string_view name, R (F::*)(A...) const) {
  Row row;
  row.name = name;
  row.family = Family::valu;
  row.cls = Class::valu;
  if constexpr (std::is_same_v<R, bool>) row.sig.mask_out = true;
  else if constexpr (is_out2<R>::value) row.sig.mask_out = true, row.sig.dst = lane_type<decltype(R::value)>::ty;
  else row.sig.dst = lane_type<R>::ty;
  const Ty types[] = {lane_type<A>::ty..., Ty::none};
  row.sig.n = sizeof...(A);
  for (u32 k = 0; k < sizeof...(A); k++) row.sig.src[k] = types[k];
  row.lanes = Loop<F, R, A...>::template run<Arithmetic>;
  row.run[0] = run_valu, row.run[1] = run_valu_strict;
  row.simple[0] = run_valu_simple, row.simple[1] = run_valu_simple_strict;
  return row;
}

// Moves, integers, comparisons, and floats whose NaNs pass unchanged.
template <class F>
constexpr Row valu(std::string_view name, F) {
  return valu_row<false>(name, &F::operator());
}
// Float arithmetic that may create a NaN.
template <class F>
constexpr Row arith(std::string_view name, F) {
  return valu_row<true>(name, &F::operator());
}

// The same two for rows of plain dwords that inner loops are made of.
template <bool Arithmetic, class F, class R, class... A>
constexpr Row hot_row(std::string_view name, R (F::*f)(A...) const) {
  Row row = valu_row<Arithmetic>(name, f);
  row.simple[0] = run_hot<false, Arithmetic, F, R, A...>, row.simple[1] = run_hot<true, Arithmetic, F, R, A...>;
  return row;
}
template <class F>
constexpr Row hot_valu(std::string_view name, F) {
  return hot_row<false>(name, &F::operator());
}
template <class F>
constexpr Row hot_arith(std::string_view name, F) {
  return hot_row<true>(name, &F::operator());
}

// run_hot for v_pk_*_f32, whose halves stand in neighbouring registers: op_sel then only chooses pointers.
template <bool Strict, bool Arithmetic, class F, class... A>
const Inst* run_hot_pairs(Wave& w, const Inst* i) {
  const auto common = Strict ? run_valu_strict : run_valu;
  if (__builtin_expect(!w.plain_mode, 0)) return common(w, i);
  const u32 n = w.lanes, to = i->dst.reg;
  bool overwrites = false;  // the low result stands on a source of the high one
  if constexpr (Strict) {
    u64 undefined = w.und[to] | w.und[to + 1];
    for (u32 k = 0; k < sizeof...(A); k++) {
      const Src& s = i->src[k];
      if (s.kind == Kind::vgpr) undefined |= w.und[s.reg] | w.und[s.reg + 1];
      else if (s.kind == Kind::sgpr) undefined |= u64(w.s_und[s.reg] | w.s_pend[s.reg] | w.s_und[s.reg + 1] | w.s_pend[s.reg + 1]);
    }
    if (__builtin_expect(undefined != 0, 0)) return common(w, i);
  }
  const u64 exec = w.exec();
  alignas(64) u32 scalars[sizeof...(A)][128], result[128];
  const f32 *lo[sizeof...(A)], *hi[sizeof...(A)];
  for (u32 k = 0; k < sizeof...(A); k++) {
    const Src& s = i->src[k];
    const u32* p = scalars[k];
    if (s.kind == Kind::vgpr) {
      p = w.vgpr(s.reg);
      overwrites |= u32(s.reg + s.sel_hi) == to;
    } else if (s.kind == Kind::constant) {
      p = s.lanes;
    } else {
      const u64 x = scalar64(w, s);
      broadcast(u32(x), scalars[k], n), broadcast(u32(x >> 32), scalars[k] + n, n);
    }
    lo[k] = reinterpret_cast<const f32*>(p + (s.sel ? n : 0)), hi[k] = reinterpret_cast<const f32*>(p + (s.sel_hi ? n : 0));
  }
  u32* const dst = w.vgpr(to);
  u32* const d = exec == w.full && !overwrites ? dst : result;
  [&]<size_t... K>(std::index_sequence<K...>) {
    PackedLoop<F, f32, A...>::template body<Arithmetic>(n / 2, reinterpret_cast<f32*>(d), lo[K]...);
    PackedLoop<F, f32, A...>::template body<Arithmetic>(n / 2, reinterpret_cast<f32*>(d + n), hi[K]...);
  }(std::index_sequence_for<A...>{});
  if (d == result) blend(dst, result, exec, n), blend(dst + n, result + n, exec, n);
  return i + 1;
}

template <bool Arithmetic, class F, class T, class... A>
constexpr Row packed_row(std::string_view name, T (F::*)(A...) const) {
  Row row;
  row.name = name;
  row.family = Family::valu;
  row.cls = Class::valu;
  row.sig.dst = lane_type<pk<T>>::ty;
  row.sig.n = sizeof...(A);
  for (u32 k = 0; k < sizeof...(A); k++) row.sig.src[k] = lane_type<pk<T>>::ty;
  row.lanes = PackedLoop<F, T, A...>::template run<Arithmetic>;
  row.run[0] = run_valu, row.run[1] = run_valu_strict;
  if constexpr (std::is_same_v<T, f32>) row.simple[0] = run_hot_pairs<false, Arithmetic, F, A...>, row.simple[1] = run_hot_pairs<true, Arithmetic, F, A...>;
  else row.simple[0] = run_valu_simple, row.simple[1] = run_valu_simple_strict;
  return row;
}
// v_pk_*: a lambda over one element.
template <class F>
constexpr Row packed(std::string_view name, F) {
  return packed_row<false>(name, &F::operator());
}
template <class F>
constexpr Row packed_arith(std::string_view name, F) {
  return packed_row<true>(name, &F::operator());
}

}  // namespace lathe::emu::LATHE_LEVEL
