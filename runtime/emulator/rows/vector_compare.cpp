// VOPC: comparisons of every type, each in a form that writes a mask and one that writes EXEC.
#include "machine/valu.h"
#include "rows/tables.h"

namespace lathe::emu::LATHE_LEVEL {
namespace {

template <class T> struct Num { using type = T; static T get(T x) { return x; } };
template <> struct Num<f16> { using type = f32; static f32 get(f16 x) { return to_f32(x); } };

#define RELATION(NAME, EXPR) \
  template <class T> struct NAME { \
    bool operator()(T p, T q) const { const auto a = Num<T>::get(p); const auto b = Num<T>::get(q); (void)a; (void)b; return EXPR; } \
  };
RELATION(never, false) RELATION(lt, a < b) RELATION(eq, a == b) RELATION(le, a <= b) RELATION(gt, a > b) RELATION(ne, a != b)
RELATION(lg, (a < b) | (a > b)) RELATION(ge, a >= b) RELATION(ordered, (a == a) & (b == b)) RELATION(unordered, (a != a) | (b != b))
RELATION(nge, !(a >= b)) RELATION(nlg, !((a < b) | (a > b))) RELATION(ngt, !(a > b)) RELATION(nle, !(a <= b)) RELATION(nlt, !(a < b))
RELATION(always, true)

// v_cmp_class: bit k of the mask selects class k (RDNA3 ISA, V_CMP_CLASS_F32).
template <class U, int Exp, int Man>
bool is_class(U x, u32 mask) {
  const bool neg = x >> (Exp + Man) & 1;
  const U e = (x >> Man) & ((U(1) << Exp) - 1), m = x & ((U(1) << Man) - 1);
  const bool max_e = e == (U(1) << Exp) - 1;
  int k;
  if (max_e && m) k = (m >> (Man - 1)) & 1 ? 1 : 0;
  else if (max_e) k = neg ? 2 : 9;
  else if (e) k = neg ? 3 : 8;
  else if (m) k = neg ? 4 : 7;
  else k = neg ? 5 : 6;
  return mask >> k & 1;
}
struct class32 { bool operator()(u32 a, u32 b) const { return is_class<u32, 8, 23>(a, b); } };
struct class64 { bool operator()(u64 a, u32 b) const { return is_class<u64, 11, 52>(a, b); } };
struct class16 { bool operator()(u16 a, u16 b) const { return is_class<u32, 5, 10>(a, b); } };

// clang-format off
#define PAIR(NAME, F) valu("V_CMP_" NAME, F{}), valu("V_CMPX_" NAME, F{}).with(cmpx)
#define FLOATS(TY, T) \
  PAIR("F_" TY, never<T>), PAIR("LT_" TY, lt<T>), PAIR("EQ_" TY, eq<T>), PAIR("LE_" TY, le<T>), PAIR("GT_" TY, gt<T>), PAIR("LG_" TY, lg<T>), \
  PAIR("GE_" TY, ge<T>), PAIR("O_" TY, ordered<T>), PAIR("U_" TY, unordered<T>), PAIR("NGE_" TY, nge<T>), PAIR("NLG_" TY, nlg<T>), \
  PAIR("NGT_" TY, ngt<T>), PAIR("NLE_" TY, nle<T>), PAIR("NEQ_" TY, ne<T>), PAIR("NLT_" TY, nlt<T>), PAIR("TRU_" TY, always<T>), PAIR("T_" TY, always<T>)
#define INTS(TY, T) \
  PAIR("F_" TY, never<T>), PAIR("LT_" TY, lt<T>), PAIR("EQ_" TY, eq<T>), PAIR("LE_" TY, le<T>), PAIR("GT_" TY, gt<T>), PAIR("NE_" TY, ne<T>), \
  PAIR("GE_" TY, ge<T>), PAIR("T_" TY, always<T>)
constexpr Row rows[] = {
  FLOATS("F32", f32), FLOATS("F64", f64), FLOATS("F16", f16),
  INTS("I32", i32), INTS("U32", u32), INTS("I64", i64), INTS("U64", u64), INTS("I16", i16), INTS("U16", u16),
  PAIR("CLASS_F32", class32), PAIR("CLASS_F64", class64), PAIR("CLASS_F16", class16),
};
// clang-format on

}  // namespace

std::span<const Row> vector_compare_rows() { return rows; }

}  // namespace lathe::emu::LATHE_LEVEL
