#include "tools/fuzz/random_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::fuzz {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double greatest(DType t) { return t.is_bool() ? 1 : std::ldexp(1.0, t.bits); }

}  // namespace

double exact_limit(DType type) {
  if (!type.is_float()) return infinite;  // integers wrap, in any order
  return std::ldexp(1.0, type.bits == 64 ? 53 : 24);
}

std::string in_parentheses(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

std::string ExprWriter::number(DType type, double value) const {
  if (type.is_bool()) return value != 0 ? "true" : "false";
  if (type == f32) return fmt::format("{:.1f}", value);
  if (type.is_float()) return fmt::format("{}({:.1f})", to_string(type), value);
  return fmt::format("{}({})", to_string(type), static_cast<int64_t>(value));
}

Value ExprWriter::cast(const Value& v, DType from, DType to) const {
  if (from == to) return v;
  Value result{fmt::format("{}({})", to_string(to), v.text), v.bound, v.whole};
  if (!to.is_float()) {
    const bool saturates = values_ == Values::special && from.is_float();
    const bool wraps = !from.is_float() && !to.is_signed() && from.is_signed();
    result = {result.text, saturates || wraps ? greatest(to) : std::min(v.bound, greatest(to)), true};
  }
  return result;
}

Value ExprWriter::tamed(const Value& v, DType type, double most) const {
  if (!type.is_float() || (v.whole && v.bound <= most)) return v;
  const double limit = std::min(most, 4.0);
  return {fmt::format("max(min(floor({}), {}), {})", v.text, number(type, limit), number(type, -limit)), limit, true};
}

Source& ExprWriter::input(DType type, std::vector<Extent> shape) {
  static const std::string letters = "ABDEFGHK";
  const size_t inputs = static_cast<size_t>(std::count_if(sources.begin(), sources.end(), [](const Source& s) { return s.is_input; }));
  Source s{fmt::format("{}{}", letters[inputs % letters.size()], inputs < letters.size() ? "" : std::to_string(inputs)), type, std::move(shape)};
  if (!type.is_float()) s.bound = values_ == Values::special ? greatest(type) : type.is_signed() ? 4 : 8;
  s.whole = !type.is_float() || values_ != Values::fractions;
  sources.push_back(s);
  return sources.back();
}

std::optional<std::string> ExprWriter::index(const Extent& extent, int depth) {
  if (extent.value == 0) {  // empty: only a loop that is as empty can index it
    for (const Loop& l : loops)
      if (l.extent.text == extent.text) return l.name;
    return std::nullopt;
  }
  std::vector<const Loop*> same, shorter;
  for (const Loop& l : loops) {
    if (l.extent.text == extent.text) same.push_back(&l);
    if (l.extent.is_number() && extent.is_number() && l.extent.value < extent.value && l.extent.value > 0) shorter.push_back(&l);
  }
  const std::string last = extent.text + " - 1";
  if (!same.empty() && !dice_.one_in(4)) {
    const std::string& i = dice_.of(same)->name;
    return dice_.one_in(5) ? fmt::format("{} - {}", last, i) : i;
  }
  if (!shorter.empty() && !dice_.one_in(4)) {
    const Loop& l = *dice_.of(shorter);
    const int64_t stride = std::max<int64_t>((extent.value - 1) / std::max<int64_t>(l.extent.value - 1, 1), 1), used = dice_.between(1, std::min<int64_t>(stride, 3));
    const int64_t room = extent.value - 1 - (l.extent.value - 1) * used;
    const std::string start = room > 0 ? fmt::format(" + {}", dice_.below(room + 1)) : "";
    return (used == 1 ? l.name : fmt::format("{} * {}", l.name, used)) + start;
  }
  if (loops.empty() || dice_.one_in(6)) return extent.is_number() ? std::to_string(dice_.below(extent.value)) : dice_.one_in(2) ? "0" : last;
  const std::string& i = dice_.of(loops).name;
  if (depth > 0 && dice_.one_in(3)) {  // a gather
    const DType type = dice_.of<DType>({i32, i64, u8, i16});
    const std::string at = cast(read(type, depth - 1), type, i64).text;
    return extent.is_number() ? fmt::format("{} % {}", in_parentheses(at), extent.text) : fmt::format("min(max({}, 0), {})", at, last);
  }
  if (extent.is_number() && dice_.one_in(2))
    return dice_.one_in(2) ? fmt::format("{} % {}", i, extent.text) : fmt::format("({} * {} + {}) % {}", i, dice_.between(2, 7), dice_.below(5), extent.text);
  switch (dice_.below(3)) {
    case 0: return fmt::format("min({}, {})", i, last);
    case 1: return fmt::format("min(max({} - {}, 0), {})", i, dice_.between(1, 3), last);
    default: return fmt::format("min({} / {}, {})", i, dice_.between(2, 4), last);
  }
}

Value ExprWriter::element(Source& source, int depth) {
  const std::string name = source.name;
  Value value{"", source.bound, source.whole};
  const std::vector<Extent> shape = source.shape;
  ++source.reads;
  const DType type = source.type;
  std::string indices;
  for (const Extent& e : shape) {
    const auto i = index(e, depth);  // may add sources: `source` is not read after this
    if (!i) return {number(type, 1), 1, true};
    indices += (indices.empty() ? "" : ", ") + *i;
  }
  value.text = fmt::format("{}[{}]", name, indices);
  return value;
}

// One dimension of a new input, and how the loop reads it.
std::string ExprWriter::new_input_index(std::vector<Extent>& shape, const Loop& loop) {
  const Extent& e = loop.extent;
  switch (dice_.below(8)) {
    case 0:
      shape.push_back({"1", 1});
      return "0";
    case 1: {
      const int64_t more = dice_.between(1, 3);
      shape.push_back(e.is_number() ? Extent{std::to_string(e.value + more), e.value + more} : Extent{fmt::format("{} + {}", e.text, more), e.value + more});
      return fmt::format("{} + {}", loop.name, dice_.between(0, more));
    }
    case 2: {
      const int64_t stride = dice_.between(2, 3), value = e.value * stride;
      if (value > 80) break;
      shape.push_back(e.is_number() ? Extent{std::to_string(value), value} : Extent{fmt::format("{} * {}", in_parentheses(e.text), stride), value});
      return fmt::format("{} * {} + {}", loop.name, stride, dice_.below(stride));
    }
  }
  shape.push_back(e);
  return loop.name;
}

Value ExprWriter::read(DType type, int depth) {
  std::vector<size_t> stages, fitting;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].is_input) stages.push_back(i);
    if (sources[i].type == type) fitting.push_back(i);
  }
  std::vector<size_t> unread;
  for (size_t i : stages)
    if (sources[i].reads == 0) unread.push_back(i);
  const std::vector<size_t>* from = nullptr;
  if (!unread.empty() && !dice_.one_in(3))
    from = &unread;
  else if (!stages.empty() && dice_.one_in(3))
    from = &stages;
  else if (!fitting.empty() && (dice_.one_in(2) || sources.size() > 7))
    from = &fitting;
  else if (sources.size() > 7)
    return {number(type, 2), 2, true};
  if (from) {
    const size_t at = dice_.of(*from);
    const DType its = sources[at].type;
    return cast(element(sources[at], depth), its, type);
  }
  // A new input over some of the loops, in some order.
  std::vector<Loop> over;
  int64_t elements = 1;
  for (const Loop& l : loops)
    if (!dice_.one_in(3) && elements * std::max<int64_t>(l.extent.value, 1) <= 1500) {
      over.push_back(l);
      elements *= std::max<int64_t>(l.extent.value, 1);
    }
  if (dice_.one_in(4)) std::reverse(over.begin(), over.end());
  if (over.empty() && !loops.empty() && !dice_.one_in(10)) over.push_back(dice_.of(loops));
  std::vector<Extent> shape;
  std::string indices;
  for (const Loop& l : over) indices += (indices.empty() ? "" : ", ") + new_input_index(shape, l);
  const DType its = dice_.one_in(5) ? dice_.of(types) : type;
  Source& s = input(its, shape);
  ++s.reads;
  return cast({fmt::format("{}[{}]", s.name, indices), s.bound, s.whole}, its, type);
}

Value ExprWriter::leaf(DType type, int depth) {
  if (dice_.one_in(7)) {
    if (type.is_bool()) return {dice_.one_in(2) ? "true" : "false", 1, true};
    const double v = static_cast<double>(type.is_signed() || type.is_float() ? dice_.between(-3, 4) : dice_.between(0, 5));
    const bool half = type.is_float() && values_ == Values::fractions && dice_.one_in(2);
    return {number(type, half ? v + 0.5 : v), std::abs(v) + 1, !half};
  }
  if (!loops.empty() && dice_.one_in(10)) {  // an axis as a value
    const Loop& l = dice_.of(loops);
    const Value v = cast({l.name, static_cast<double>(std::max<int64_t>(l.extent.value, 1)), true}, i64, type);
    return v;
  }
  return read(type, depth);
}

Value ExprWriter::expr(DType type, int depth) {
  if (depth <= 0 || dice_.one_in(5)) return leaf(type, std::max(depth, 0));
  if (dice_.one_in(8)) {
    const DType other = dice_.of(types);
    return cast(expr(other, depth - 1), other, type);
  }
  if (!type.is_bool() && dice_.one_in(7)) {
    const Value c = of_bool(depth - 1), a = expr(type, depth - 1), b = expr(type, depth - 1);
    return {fmt::format("select({}, {}, {})", c.text, a.text, b.text), std::max(a.bound, b.bound), a.whole && b.whole};
  }
  return type.is_bool() ? of_bool(depth) : type.is_float() ? of_float(type, depth) : of_integer(type, depth);
}

Value ExprWriter::of_float(DType type, int depth) {
  const Value a = expr(type, depth - 1);
  if (dice_.one_in(4)) {  // one operand
    const std::string op = dice_.of<std::string>({"abs", "floor", "ceil", "round", "trunc", "-", "sqrt", "rsqrt"});
    if (op == "-") return {fmt::format("(-({}))", a.text), a.bound, a.whole};
    if (op == "sqrt") return {fmt::format("sqrt(abs({}))", a.text), a.bound + 1, false};
    if (op == "rsqrt") return {fmt::format("rsqrt(abs({}) + {})", a.text, number(type, 1)), 1, false};
    return {fmt::format("{}({})", op, a.text), a.bound + 1, a.whole || op != "abs"};
  }
  const Value b = expr(type, depth - 1);
  const bool whole = a.whole && b.whole;
  auto call = [&](const char* op, double bound, bool is_whole) { return Value{fmt::format("{}({}, {})", op, a.text, b.text), bound, is_whole}; };
  auto infix = [&](const char* op, double bound, bool is_whole) { return Value{fmt::format("({} {} {})", a.text, op, b.text), bound, is_whole}; };
  switch (dice_.below(14)) {
    case 0: case 1: case 2: return infix("+", a.bound + b.bound, whole);
    case 3: return infix("-", a.bound + b.bound, whole);
    case 4: case 5: return infix("*", a.bound * b.bound, whole);
    case 6: return infix("/", infinite, false);
    case 7: return call("min", std::max(a.bound, b.bound), whole);
    case 8: return call("max", std::max(a.bound, b.bound), whole);
    case 9: return call("fmin", std::max(a.bound, b.bound), whole);
    case 10: return call("fmax", std::max(a.bound, b.bound), whole);
    case 11: return infix("%", b.bound, whole);
    case 12: return call("trunc_mod", a.bound, whole);
    default: {
      const Value c = leaf(type, depth - 1);
      return {fmt::format("fma({}, {}, {})", a.text, b.text, c.text), a.bound * b.bound + c.bound, whole && c.whole};
    }
  }
}

Value ExprWriter::of_integer(DType type, int depth) {
  const Value a = expr(type, depth - 1);
  const double most = greatest(type);
  if (dice_.one_in(6)) {
    const std::string op = dice_.of<std::string>({"abs", "-", "~"});
    return {op == "abs" ? fmt::format("abs({})", a.text) : fmt::format("({}({}))", op, a.text), most, true};
  }
  const Value b = expr(type, depth - 1);
  const std::string op = dice_.of<std::string>({"+", "+", "+", "-", "*", "*", "/", "%", "&", "|", "^", "<<", ">>", "min", "max", "trunc_div", "trunc_mod"});
  const bool infix = op.size() < 3;
  // Constants that divide are not 0, which is an error at build time.
  const bool divides = op == "/" || op == "%" || op.starts_with("trunc");
  const std::string right = divides ? fmt::format("(({}) | {})", b.text, number(type, 1)) : b.text;
  const double bound = op == "+" ? std::min(a.bound + b.bound, most) : op == "min" || op == "max" ? std::max(a.bound, b.bound) : most;
  return {infix ? fmt::format("({} {} {})", a.text, op, right) : fmt::format("{}({}, {})", op, a.text, right), bound, true};
}

Value ExprWriter::of_bool(int depth) {
  if (depth > 0 && dice_.one_in(4)) {
    const Value a = of_bool(depth - 1), b = of_bool(depth - 1);
    const std::string op = dice_.of<std::string>({"&&", "||", "==", "!=", "!"});
    return {op == "!" ? fmt::format("(!({}))", a.text) : fmt::format("(({}) {} ({}))", a.text, op, b.text), 1, true};
  }
  if (!loops.empty() && dice_.one_in(3)) {
    const Loop& l = dice_.of(loops);
    if (dice_.one_in(3)) return {fmt::format("{} % {} == {}", l.name, dice_.between(2, 4), dice_.below(3)), 1, true};
    return {fmt::format("{} {} {}", l.name, dice_.of<std::string>({"<", ">=", "!=", "=="}), dice_.below(std::max<int64_t>(l.extent.value, 1) + 1)), 1, true};
  }
  const DType type = some_type();
  if (type.is_bool()) return leaf(type, std::max(depth, 0));
  const Value a = expr(type, depth - 1);
  if (type.is_float() && dice_.one_in(6)) return {fmt::format("is_nan({})", a.text), 1, true};
  const Value b = leaf(type, std::max(depth - 1, 0));
  return {fmt::format("({} {} {})", a.text, dice_.of<std::string>({"<", "<=", ">", ">=", "==", "!="}), b.text), 1, true};
}

}  // namespace lathe::fuzz
