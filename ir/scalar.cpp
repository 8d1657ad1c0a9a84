#include "ir/scalar.h"

#include <bit>
#include <cmath>
#include <limits>

namespace lathe {
namespace {

Scalar of_bool(bool b) { return {b, 0}; }

int64_t floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

// The remainder that goes with it: q * b may not fit where a is near the least number.
int64_t floor_mod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Scalar apply_integer(Op op, DType type, std::span<const Scalar> x) {
  const int64_t a = x[0].integer, b = x.size() > 1 ? x[1].integer : 0;
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const bool is_signed = type.is_signed();
  const int amount = static_cast<int>(ub & (type.bits - 1));
  auto wrap = [&](uint64_t v) { return wrap_integer(static_cast<int64_t>(v), type); };
  switch (op) {
    case Op::add: return wrap(ua + ub);
    case Op::sub: return wrap(ua - ub);
    case Op::mul: return wrap(ua * ub);
    case Op::neg: return wrap(-ua);
    case Op::div:
    case Op::trunc_div:
      if (b == 0) return {};
      if (!is_signed) return wrap(ua / ub);
      if (b == -1) return wrap(-ua);
      return wrap(static_cast<uint64_t>(op == Op::div ? floor_div(a, b) : a / b));
    case Op::mod:
    case Op::trunc_mod:
      if (b == 0) return {};
      if (!is_signed) return wrap(ua % ub);
      if (b == -1) return {};
      return wrap(static_cast<uint64_t>(op == Op::mod ? floor_mod(a, b) : a % b));
    case Op::min: return (is_signed ? a < b : ua < ub) ? x[0] : x[1];
    case Op::max: return (is_signed ? a > b : ua > ub) ? x[0] : x[1];
    case Op::abs: return wrap(is_signed && a < 0 ? -ua : ua);
    case Op::bit_and: return {a & b};
    case Op::bit_or: return {a | b};
    case Op::bit_xor: return {a ^ b};
    case Op::bit_not: return type.is_bool() ? of_bool(!a) : wrap(~ua);
    case Op::shl: return wrap(ua << amount);
    case Op::shr: return is_signed ? wrap(static_cast<uint64_t>(a >> amount)) : wrap(ua >> amount);
    case Op::eq: return of_bool(a == b);
    case Op::ne: return of_bool(a != b);
    case Op::lt: return of_bool(is_signed ? a < b : ua < ub);
    case Op::le: return of_bool(is_signed ? a <= b : ua <= ub);
    case Op::gt: return of_bool(is_signed ? a > b : ua > ub);
    case Op::ge: return of_bool(is_signed ? a >= b : ua >= ub);
    case Op::logical_and: return of_bool(a && b);
    case Op::logical_or: return of_bool(a || b);
    case Op::logical_not: return of_bool(!a);
    case Op::select: return a ? x[1] : x[2];
    case Op::fmin: case Op::fmax: case Op::fma: case Op::sqrt: case Op::rsqrt: case Op::floor: case Op::ceil:
    case Op::round: case Op::trunc: case Op::exp: case Op::exp2: case Op::log: case Op::log2: case Op::pow:
    case Op::sin: case Op::cos: case Op::tanh: case Op::erf: case Op::is_nan: break;  // make_apply refuses these
  }
  return {};
}

// IEEE 754-2019 minimum and maximum: NaN propagates, -0 is less than +0.
double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double maximum(double a, double b) { return -minimum(-a, -b); }

// a*b + c rounded once into a type of at most 24 mantissa bits: the product is exact in a double, the sum is rounded
// to odd, so that the final rounding is the only one that counts (Boldo and Melquiond, 2008).
double fma_narrow(double a, double b, double c) {
  const double p = a * b, s = p + c;
  if (!std::isfinite(s)) return s;
  const double cc = s - p, error = (p - (s - cc)) + (c - cc);
  const auto bits = std::bit_cast<uint64_t>(s);
  if (error == 0 || (bits & 1)) return s;
  const bool away = (error > 0) == (s > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

double fma_of(double a, double b, double c, DType type) {
  if (type.bits == 64) return std::fma(a, b, c);
  if (type.bits == 32) return std::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  return fma_narrow(a, b, c);
}

Scalar apply_real(Op op, DType type, std::span<const Scalar> x) {
  const double a = x[0].real, b = x.size() > 1 ? x[1].real : 0;
  // +, -, *, / and sqrt of at most 24-bit mantissas may pass through double: 53 >= 2*24+2 makes the second rounding
  // innocuous (Figueroa, 1995).
  auto rounded = [&](double v) { return round_real(v, type); };
  switch (op) {
    case Op::add: return rounded(a + b);
    case Op::sub: return rounded(a - b);
    case Op::mul: return rounded(a * b);
    case Op::div: return rounded(a / b);
    case Op::neg: return rounded(-a);
    case Op::trunc_mod: return rounded(std::fmod(a, b));
    case Op::mod: {
      double r = std::fmod(a, b);
      if (r != 0 && (r < 0) != (b < 0)) r = rounded(r + b).real;
      return rounded(r == 0 ? std::copysign(0.0, b) : r);
    }
    case Op::min: return rounded(minimum(a, b));
    case Op::max: return rounded(maximum(a, b));
    case Op::fmin: return std::isnan(a) ? x[1] : std::isnan(b) ? x[0] : rounded(minimum(a, b));
    case Op::fmax: return std::isnan(a) ? x[1] : std::isnan(b) ? x[0] : rounded(maximum(a, b));
    case Op::fma: return rounded(fma_of(a, b, x[2].real, type));
    case Op::abs: return rounded(std::fabs(a));
    case Op::sqrt: return rounded(std::sqrt(a));
    case Op::rsqrt: {  // 1 / sqrt, two rounded operations, in f32 or wider
      const DType wide = type.bits < 32 ? f32 : type;
      return rounded(round_real(1.0 / round_real(std::sqrt(a), wide).real, wide).real);
    }
    case Op::floor: return rounded(std::floor(a));
    case Op::ceil: return rounded(std::ceil(a));
    case Op::round: return rounded(std::nearbyint(a));
    case Op::trunc: return rounded(std::trunc(a));
    case Op::exp: return rounded(std::exp(a));
    case Op::exp2: return rounded(std::exp2(a));
    case Op::log: return rounded(std::log(a));
    case Op::log2: return rounded(std::log2(a));
    case Op::pow: return rounded(std::pow(a, b));
    case Op::sin: return rounded(std::sin(a));
    case Op::cos: return rounded(std::cos(a));
    case Op::tanh: return rounded(std::tanh(a));
    case Op::erf: return rounded(std::erf(a));
    case Op::eq: return of_bool(a == b);
    case Op::ne: return of_bool(a != b);
    case Op::lt: return of_bool(a < b);
    case Op::le: return of_bool(a <= b);
    case Op::gt: return of_bool(a > b);
    case Op::ge: return of_bool(a >= b);
    case Op::is_nan: return of_bool(std::isnan(a));
    case Op::select: return x[0].integer ? x[1] : x[2];
    case Op::bit_and: case Op::bit_or: case Op::bit_xor: case Op::bit_not: case Op::shl: case Op::shr:
    case Op::trunc_div: case Op::logical_and: case Op::logical_or: case Op::logical_not:
      break;  // make_apply refuses these
  }
  return {};
}

}  // namespace

Scalar wrap_integer(int64_t value, DType type) {
  if (type.is_bool()) return {value != 0};
  const int unused = 64 - type.bits;
  const auto bits = static_cast<uint64_t>(value) << unused;
  return {type.is_signed() ? static_cast<int64_t>(bits) >> unused : static_cast<int64_t>(bits >> unused)};
}

Scalar round_real(double value, DType type) {
  if (type.bits == 64) return {0, value};
  if (type.bits == 32) return {0, static_cast<float>(value)};
  return {0, decode_float(encode_float(value, type), type)};
}

Scalar apply_scalar(Op op, DType type, std::span<const Scalar> operands) {
  return type.is_float() ? apply_real(op, type, operands) : apply_integer(op, type, operands);
}

Scalar cast_scalar(Scalar value, DType from, DType to) {
  if (to.is_float()) {
    if (from.is_float()) return round_real(value.real, to);
    const auto bits = static_cast<uint64_t>(value.integer);
    // A 64-bit integer does not fit a double: go straight to f32 where that is the type.
    if (to.bits == 32)
      return {0, from.is_signed() ? static_cast<float>(value.integer) : static_cast<float>(bits)};
    if (to.bits == 64)
      return {0, from.is_signed() ? static_cast<double>(value.integer) : static_cast<double>(bits)};
    // Narrow floats: keep a sticky bit below the 53 that a double holds, then round once.
    uint64_t magnitude = from.is_signed() && value.integer < 0 ? -bits : bits;
    if (magnitude >> 53) magnitude = (magnitude & ~uint64_t{0xfff}) | ((magnitude & 0xfff) ? 0x1000 : 0);
    const auto real = static_cast<double>(magnitude);
    return round_real(from.is_signed() && value.integer < 0 ? -real : real, to);
  }
  if (from.is_float()) {
    if (to.is_bool()) return of_bool(value.real != 0);
    if (std::isnan(value.real)) return {};
    const double t = std::trunc(value.real);
    if (to.is_signed()) {
      const double limit = std::ldexp(1.0, to.bits - 1);
      if (t >= limit) return {static_cast<int64_t>((uint64_t{1} << (to.bits - 1)) - 1)};
      if (t < -limit) return {static_cast<int64_t>(~uint64_t{0} << (to.bits - 1))};
      return {static_cast<int64_t>(t)};
    }
    if (t <= 0) return {};
    if (t >= std::ldexp(1.0, to.bits)) return {static_cast<int64_t>(~uint64_t{0} >> (64 - to.bits))};
    return {static_cast<int64_t>(static_cast<uint64_t>(t))};
  }
  return wrap_integer(value.integer, to);
}

}  // namespace lathe
