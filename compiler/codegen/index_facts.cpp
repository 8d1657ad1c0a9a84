#include "compiler/codegen/index_facts.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace lathe {
namespace {

using Wide = __int128;
constexpr int64_t multiple_cap = 1 << 16;

IndexRange whole_range(DType type) {
  if (type.is_bool()) return {0, 1};
  if (!type.is_int()) return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  if (type.is_signed()) {
    const int64_t high = type.bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (type.bits - 1)) - 1;
    return {-high - 1, high};
  }
  // u64 does not fit: its upper half reads as negative.
  if (type.bits == 64) return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  return {0, (int64_t{1} << type.bits) - 1};
}

// The range low … high of exact arithmetic, as a value of `type`: where it does not fit, wrapping loses everything,
// unless overflow cannot happen.
IndexRange fit(Wide low, Wide high, DType type, bool no_wrap) {
  const IndexRange whole = whole_range(type);
  if (low >= whole.low && high <= whole.high) return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
  if (!no_wrap || !type.is_signed()) return whole;
  return {static_cast<int64_t>(std::clamp<Wide>(low, whole.low, whole.high)),
          static_cast<int64_t>(std::clamp<Wide>(high, whole.low, whole.high))};
}

int64_t power_of_two_in(int64_t value) {
  if (value == 0) return multiple_cap;
  return std::min<int64_t>(multiple_cap, int64_t{1} << std::countr_zero(static_cast<uint64_t>(value)));
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

void IndexFacts::bind(const VarNode* var, IndexRange range, int64_t multiple) {
  if (bound_.contains(var)) {  // a variable reused by a second loop: what was derived from the first is void
    ranges_[0].clear();
    ranges_[1].clear();
    multiples_.clear();
  }
  bound_[var] = {range, multiple};
}

IndexRange IndexFacts::range(const Expr& e, bool no_wrap) {
  if (is_leaf(e)) return compute_range(e, no_wrap);
  auto& known = ranges_[no_wrap];
  if (auto it = known.find(e.get()); it != known.end()) return it->second.second;
  const IndexRange result = compute_range(e, no_wrap);
  known.emplace(e.get(), std::pair(e, result));
  return result;
}

IndexRange IndexFacts::compute_range(const Expr& e, bool no_wrap) {
  const IndexRange whole = whole_range(e->type.scalar());
  if (e->type.is_float()) return whole;
  if (const auto* var = as<VarNode>(e)) {
    auto it = bound_.find(var);
    return it == bound_.end() ? whole : it->second.range;
  }
  if (const auto* integer = as<IntegerNode>(e)) return {integer->value, integer->value};
  if (const auto* broadcast = as<BroadcastNode>(e)) return range(broadcast->value, no_wrap);
  if (const auto* ramp = as<RampNode>(e)) {
    const IndexRange base = range(ramp->base, no_wrap), stride = range(ramp->stride, no_wrap);
    const Wide steps = e->type.lanes - 1;
    return fit(base.low + std::min<Wide>(0, stride.low * steps), base.high + std::max<Wide>(0, stride.high * steps),
               e->type.scalar(), no_wrap);
  }
  if (const auto* cast = as<CastNode>(e)) {
    if (!cast->value->type.is_int() && !cast->value->type.is_bool()) return whole;
    const IndexRange inner = range(cast->value, no_wrap);
    return fit(inner.low, inner.high, e->type.scalar(), false);
  }
  const auto* apply = as<ApplyNode>(e);
  if (!apply || !apply->args[0]->type.is_int()) {
    if (apply && apply->op == Op::select) {
      const IndexRange a = range(apply->args[1], no_wrap), b = range(apply->args[2], no_wrap);
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    return whole;
  }
  auto arg = [&](int i) { return range(apply->args[i], no_wrap); };
  const DType type = e->type.scalar();
  // Only a handful of operators stand in indices; of the others nothing is claimed.
  if (apply->op == Op::add) {
    const IndexRange a = arg(0), b = arg(1);
    return fit(static_cast<Wide>(a.low) + b.low, static_cast<Wide>(a.high) + b.high, type, no_wrap);
  }
  if (apply->op == Op::sub) {
    const IndexRange a = arg(0), b = arg(1);
    return fit(static_cast<Wide>(a.low) - b.high, static_cast<Wide>(a.high) - b.low, type, no_wrap);
  }
  if (apply->op == Op::mul) {
    const IndexRange a = arg(0), b = arg(1);
    const Wide corners[] = {static_cast<Wide>(a.low) * b.low, static_cast<Wide>(a.low) * b.high,
                            static_cast<Wide>(a.high) * b.low, static_cast<Wide>(a.high) * b.high};
    return fit(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4), type, no_wrap);
  }
  if (apply->op == Op::min || apply->op == Op::max) {
    const IndexRange a = arg(0), b = arg(1);
    if (apply->op == Op::min) return {std::min(a.low, b.low), std::min(a.high, b.high)};
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  }
  if (apply->op == Op::div || apply->op == Op::mod) {
    const IndexRange a = arg(0), b = arg(1);
    if (b.low != b.high || b.low <= 0) {
      // A nonnegative value divided by anything positive (or by zero, which gives 0) stays within 0 … a.
      if (a.low < 0 || b.low < 0) return whole;
      if (apply->op == Op::div) return {0, a.high};
      return {0, std::min(a.high, b.high)};
    }
    if (apply->op == Op::div) return {floor_div(a.low, b.low), floor_div(a.high, b.low)};
    if (a.low >= 0 && a.high < b.low) return a;
    return {0, b.low - 1};
  }
  if (apply->op == Op::bit_and) {
    const IndexRange a = arg(0), b = arg(1);
    if (a.low >= 0 || b.low >= 0)
      return {0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
  }
  if (apply->op == Op::bit_xor) {
    const IndexRange a = arg(0), b = arg(1);
    if (a.low >= 0 && b.low >= 0)
      return fit(0, (Wide{1} << std::bit_width(static_cast<uint64_t>(std::max(a.high, b.high)))) - 1, type, no_wrap);
  }
  return whole;
}

int64_t IndexFacts::multiple(const Expr& e) {
  if (is_leaf(e)) return compute_multiple(e);
  if (auto it = multiples_.find(e.get()); it != multiples_.end()) return it->second.second;
  const int64_t result = compute_multiple(e);
  multiples_.emplace(e.get(), std::pair(e, result));
  return result;
}

// Powers of two survive wrapping, so no overflow matters here (as long as the type is wider than 16 bits, which
// index types are; narrower ones are refused below).
int64_t IndexFacts::compute_multiple(const Expr& e) {
  if (!e->type.is_int() || e->type.bits < 32) return 1;
  if (const auto* var = as<VarNode>(e)) {
    auto it = bound_.find(var);
    return it == bound_.end() ? 1 : power_of_two_in(it->second.multiple);
  }
  if (const auto* integer = as<IntegerNode>(e)) return power_of_two_in(integer->value);
  if (const auto* broadcast = as<BroadcastNode>(e)) return multiple(broadcast->value);
  if (const auto* ramp = as<RampNode>(e)) return std::min(multiple(ramp->base), multiple(ramp->stride));
  if (const auto* cast = as<CastNode>(e)) return multiple(cast->value);
  const auto* apply = as<ApplyNode>(e);
  if (!apply) return 1;
  auto arg = [&](int i) { return multiple(apply->args[i]); };
  if (apply->op == Op::add || apply->op == Op::sub || apply->op == Op::bit_xor || apply->op == Op::min || apply->op == Op::max)
    return std::min(arg(0), arg(1));
  if (apply->op == Op::select) return std::min(arg(1), arg(2));
  if (apply->op == Op::mul) return std::min(multiple_cap, arg(0) * arg(1));
  if (apply->op == Op::mod || apply->op == Op::bit_and) {
    // a mod b = a - k*b; a runtime b of zero gives 0.
    return apply->op == Op::mod ? std::min(arg(0), arg(1)) : std::max(arg(0), arg(1));
  }
  if (apply->op == Op::div)
    if (const int64_t* divisor = as_constant(apply->args[1]); divisor && *divisor > 0)
      if (std::has_single_bit(static_cast<uint64_t>(*divisor)) && arg(0) > *divisor && arg(0) < multiple_cap)
        return arg(0) / *divisor;
  return 1;
}

}  // namespace lathe
