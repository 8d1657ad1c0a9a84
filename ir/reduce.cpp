// Reductions: the combiners, and the form in which every reader accumulates.
#include <fmt/format.h>

#include <limits>

#include "ir/tensor.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {

namespace {

Combiner checked_combiner(std::string name, std::vector<Var> lhs, std::vector<Var> rhs, std::vector<Expr> result,
                          std::vector<Expr> identity) {
  const std::string where = "combiner " + name;
  const size_t n = lhs.size();
  for (const auto* list : {&result, &identity})
    for (const Expr& e : *list)
      if (!e.defined()) throw Error(where, "a result or an identity is an empty expression", "give each a value");
  if (n == 0 || rhs.size() != n || result.size() != n || identity.size() != n)
    throw Error(where,
                fmt::format("{} left operands, {} right ones, {} results, {} identities", n, rhs.size(), result.size(),
                            identity.size()),
                "give one of each per component");
  for (size_t i = 0; i < n; ++i) {
    if (lhs[i].type() != rhs[i].type() || lhs[i].type() != result[i].type())
      throw Error(where,
                  fmt::format("component {} has types {}, {} and result {}", i, to_string(lhs[i].type()),
                              to_string(rhs[i].type()), to_string(result[i].type())),
                  "operands and result of a component have one type");
    if (identity[i].type() != lhs[i].type()) {
      identity[i] = make_cast(lhs[i].type(), identity[i]);
    }
    const bool foreign = uses_any(result[i], [&](const VarNode* v) {
      for (size_t j = 0; j < n; ++j)
        if (lhs[j].node() == v || rhs[j].node() == v) return false;
      return true;
    });
    const bool literal = as<IntegerNode>(identity[i]) || as<RealNode>(identity[i]);
    if (!literal)
      throw Error(where, fmt::format("the identity of component {} is not a constant", i), "write a number");
    if (foreign || has_load(result[i]) || has_reduce(result[i]))
      throw Error(where, fmt::format("component {} reads something other than the operands", i),
                  "a combiner is a function of its two operands alone");
  }
  auto* node = new CombinerNode;
  node->name = std::move(name);
  node->lhs = std::move(lhs);
  node->rhs = std::move(rhs);
  node->result = std::move(result);
  node->identity = std::move(identity);
  return node;
}

double infinity() { return std::numeric_limits<double>::infinity(); }

// The least value of a type: the identity of max.
Expr lowest(DType t) {
  if (t.is_float()) {
    if (t.style == FloatStyle::ieee) return constant(t, -infinity());
    return constant(t, decode_float(t.style == FloatStyle::fn ? 0xfe : 0xff, t));  // no infinity: the most negative
  }
  if (t.is_signed()) return constant(t, static_cast<int64_t>(uint64_t{1} << 63) >> (64 - t.bits));
  return constant(t, int64_t{0});
}
Expr highest(DType t) {
  if (t.is_float()) {
    if (t.style == FloatStyle::ieee) return constant(t, infinity());
    return constant(t, decode_float(t.style == FloatStyle::fn ? 0x7e : 0x7f, t));
  }
  const auto ones = ~uint64_t{0} >> (64 - t.bits);
  return constant(t, static_cast<int64_t>(t.is_signed() ? ones >> 1 : ones));
}

Combiner make_arg_combiner(const std::string& name, Op better, DType index, DType value) {
  Var li("li", index), lv("lv", value), ri("ri", index), rv("rv", value);
  // Keep the left one: it is NaN and the right one is no earlier NaN, or it is better, or as good and not later.
  Expr keep = make_apply(better, {lv, rv}) || (lv == rv && li < ri);
  if (value.is_float()) keep = select(is_nan(lv), !is_nan(rv) || li < ri, !is_nan(rv) && keep);
  return checked_combiner(name, {li, lv}, {ri, rv}, {select(keep, li, ri), select(keep, lv, rv)},
                       {highest(index), better == Op::gt ? lowest(value) : highest(value)});
}

}  // namespace

Combiner make_combiner(std::string name, std::vector<Var> lhs, std::vector<Var> rhs, std::vector<Expr> result,
                       std::vector<Expr> identity) {
  check_name("combiner " + name, name, "a combiner");  // the built-in names mean the built-in combiners
  for (const auto* side : {&lhs, &rhs})
    for (const Var& v : *side) check_name("combiner " + name, v.name(), "an operand");
  return checked_combiner(std::move(name), std::move(lhs), std::move(rhs), std::move(result), std::move(identity));
}

Combiner builtin_combiner(std::string_view name, const std::vector<DType>& types) {
  const std::string n(name);
  auto simple = [&](Op op, Expr identity) -> Combiner {
    if (types.size() != 1) return {};
    Var l("l", types[0]), r("r", types[0]);
    return checked_combiner(n, {l}, {r}, {make_apply(op, {l, r})}, {identity});
  };
  if (types.empty()) return {};
  const DType t = types[0];
  if (name == "sum") return simple(Op::add, constant(t, int64_t{0}));
  if (name == "product") return simple(Op::mul, constant(t, int64_t{1}));
  if (name == "min") return simple(Op::min, highest(t));
  if (name == "max") return simple(Op::max, lowest(t));
  if (name == "any") return simple(Op::logical_or, false_());
  if (name == "all") return simple(Op::logical_and, true_());
  if ((name == "argmin" || name == "argmax") && types.size() == 2)
    return make_arg_combiner(n, name == "argmax" ? Op::gt : Op::lt, types[0], types[1]);
  return {};
}

Expr make_reduce(Combiner combiner, std::vector<Expr> sources, std::vector<Axis> axes, int index) {
  const std::string where = combiner->name + "(…)";
  if (axes.empty()) throw Error(where, "there is no axis to reduce over", "name one, as in sum(x, k)");
  for (const Axis& axis : axes) check_extent(fmt::format("{}, axis {}", where, axis.var.name()), axis.extent);
  check_size(where, axes);
  if (sources.size() != combiner->lhs.size())
    throw Error(where, fmt::format("{} sources for a combiner of {} components", sources.size(), combiner->lhs.size()),
                "give one source per component");
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i].type() != combiner->lhs[i].type())
      throw Error(where,
                  fmt::format("source {} has type {}, the combiner takes {}", i, to_string(sources[i].type()),
                              to_string(combiner->lhs[i].type())),
                  "cast the source");
  if (index < 0 || index >= static_cast<int>(sources.size()))
    throw Error(where, fmt::format("component {} of {}", index, sources.size()), "components are numbered from 0");
  const DType type = sources[index].type();
  return new ReduceNode(type, std::move(combiner), std::move(sources), std::move(axes), index);
}

std::vector<Expr> reduce(const Combiner& combiner, std::vector<Expr> sources, const std::vector<ReduceAxis>& axes) {
  std::vector<Expr> result;
  for (size_t i = 0; i < sources.size(); ++i)
    result.push_back(make_reduce(combiner, sources, axes, static_cast<int>(i)));
  return result;
}

namespace {

// Narrow floats and i8 accumulate in a wider type (numerics contract).
DType accumulator_type(DType t) {
  if (t.is_float() && t.bits < 32) return f32;
  if (t == i8) return i32;
  if (t == u8) return u32;
  return t;
}

// `e` in the wider type, with a product widened before it is taken: f16 times f16 is exact in f32.
Expr widen(const Expr& e, DType wide) {
  const auto* a = as<ApplyNode>(e);
  if (a && a->op == Op::mul) return make_apply(Op::mul, {make_cast(wide, a->args[0]), make_cast(wide, a->args[1])});
  return make_cast(wide, e);
}

Expr reduce_one(const char* name, Expr source, const std::vector<ReduceAxis>& axes, bool widens) {
  const DType type = source.type(), wide = widens ? accumulator_type(type) : type;
  const bool logical = std::string_view(name) == "any" || std::string_view(name) == "all";
  if (type.is_bool() != logical)
    throw Error(fmt::format("{}({})", name, to_string(type)), logical ? "the source must be bool" : "the source must be a number",
                logical ? "compare it, as in any(x != 0, k)" : "cast it, as in i32(x)");
  if (wide != type) source = widen(source, wide);
  return make_cast(type, make_reduce(builtin_combiner(name, {wide}), {source}, axes, 0));
}

std::vector<Expr> reduce_position(const char* name, Expr source, const std::vector<ReduceAxis>& axes) {
  if (axes.empty() || source.type().is_bool())
    throw Error(fmt::format("{}(…)", name), axes.empty() ? "there is no axis to reduce over" : "the source is bool",
                "reduce numbers over at least one axis");
  Expr position = axes[0].var;
  for (size_t i = 1; i < axes.size(); ++i) position = position * axes[i].extent + axes[i].var;
  return reduce(builtin_combiner(name, {i64, source.type()}), {position, source}, axes);
}

}  // namespace

Expr sum(Expr source, const std::vector<ReduceAxis>& axes) { return reduce_one("sum", source, axes, true); }
Expr product(Expr source, const std::vector<ReduceAxis>& axes) { return reduce_one("product", source, axes, true); }
Expr min(Expr source, const std::vector<ReduceAxis>& axes) { return reduce_one("min", source, axes, false); }
Expr max(Expr source, const std::vector<ReduceAxis>& axes) { return reduce_one("max", source, axes, false); }
Expr any(Expr source, const std::vector<ReduceAxis>& axes) { return reduce_one("any", source, axes, false); }
Expr all(Expr source, const std::vector<ReduceAxis>& axes) { return reduce_one("all", source, axes, false); }
std::vector<Expr> argmin_tuple(Expr s, const std::vector<ReduceAxis>& axes) { return reduce_position("argmin", s, axes); }
std::vector<Expr> argmax_tuple(Expr s, const std::vector<ReduceAxis>& axes) { return reduce_position("argmax", s, axes); }
Expr argmin(Expr source, const std::vector<ReduceAxis>& axes) { return argmin_tuple(source, axes)[0]; }
Expr argmax(Expr source, const std::vector<ReduceAxis>& axes) { return argmax_tuple(source, axes)[0]; }

std::vector<Expr> combine(const ReduceNode& reduce, const std::vector<Expr>& accumulators) {
  const CombinerNode& c = *reduce.combiner;
  if (c.name == "sum" && reduce.sources.size() == 1 && reduce.sources[0].type().is_float())
    if (const auto* product = as<ApplyNode>(reduce.sources[0]); product && product->op == Op::mul)
      return {fma(product->args[0], product->args[1], accumulators[0])};
  Substitution map;
  for (size_t i = 0; i < c.lhs.size(); ++i) {
    map[c.lhs[i].node()] = accumulators[i];
    map[c.rhs[i].node()] = reduce.sources[i];
  }
  std::vector<Expr> result;
  for (const Expr& e : c.result) result.push_back(substitute(e, map));
  return result;
}

}  // namespace lathe
