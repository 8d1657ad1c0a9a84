#include "ir/expr.h"

#include <fmt/format.h>

#include "ir/print.h"
#include "ir/scalar.h"
#include "ir/tensor.h"
#include "runtime/base/error.h"

namespace lathe {

ExprNode::ExprNode(ExprKind kind, DType type, int height) : kind(kind), type(type), height(height) {
  if (height > max_expr_height)
    throw Error("expression", fmt::format("nested more than {} deep", max_expr_height),
                "compute a part as a tensor of its own");
}

int height_above(const std::vector<Expr>& children) {
  int height = 0;
  for (const Expr& e : children)
    if (e.defined()) height = std::max(height, e->height);
  return height + 1;
}

void ExprNode::destroy(const ExprNode* node) {
  switch (node->kind) {
    case ExprKind::variable: delete static_cast<const VarNode*>(node); return;
    case ExprKind::integer: delete static_cast<const IntegerNode*>(node); return;
    case ExprKind::real: delete static_cast<const RealNode*>(node); return;
    case ExprKind::apply: delete static_cast<const ApplyNode*>(node); return;
    case ExprKind::cast: delete static_cast<const CastNode*>(node); return;
    case ExprKind::load: delete static_cast<const LoadNode*>(node); return;
    case ExprKind::reduce: delete static_cast<const ReduceNode*>(node); return;
    case ExprKind::ramp: delete static_cast<const RampNode*>(node); return;
    case ExprKind::broadcast: delete static_cast<const BroadcastNode*>(node); return;
  }
}
void CombinerNode::destroy(const CombinerNode* node) { delete node; }

LoadNode::LoadNode(DType type, Ref<TensorNode> tensor, std::vector<Expr> indices)
    : ExprNode(ExprKind::load, type, height_above(indices)), tensor(std::move(tensor)), indices(std::move(indices)) {}
LoadNode::~LoadNode() = default;

static int height_of_reduce(std::vector<Expr> children, const std::vector<Axis>& axes) {
  for (const Axis& a : axes) children.push_back(a.extent);
  return height_above(children);
}
ReduceNode::ReduceNode(DType type, Combiner combiner, std::vector<Expr> sources, std::vector<Axis> axes, int index)
    : ExprNode(ExprKind::reduce, type, height_of_reduce(sources, axes)),
      combiner(std::move(combiner)),
      sources(std::move(sources)),
      axes(std::move(axes)),
      index(index) {}

Expr::Expr(int value) : Expr(constant(i64, int64_t{value})) {}
Expr::Expr(int64_t value) : Expr(constant(i64, value)) {}
Expr::Expr(float value) : Expr(constant(f32, static_cast<double>(value))) {}
Expr::Expr(double value) : Expr(constant(f32, value)) {}

Var::Var(std::string name, DType type) : Expr(new VarNode(std::move(name), type)) {}
Var::Var(const VarNode* node) : Expr(node) {}
const VarNode* Var::node() const { return static_cast<const VarNode*>(get()); }
const std::string& Var::name() const { return node()->name; }

const int64_t* as_constant(const Expr& e) {
  const auto* node = as<IntegerNode>(e);
  return node ? &node->value : nullptr;
}
bool is_constant(const Expr& e, int64_t value) {
  const int64_t* c = as_constant(e);
  return c && *c == value;
}

Expr constant(DType type, int64_t value) {
  if (type.is_float()) return new RealNode(type, cast_scalar({value}, i64, type).real);
  return new IntegerNode(type, wrap_integer(value, type).integer);
}
Expr constant(DType type, double value) {
  if (type.is_float()) return new RealNode(type, round_real(value, type).real);
  return new IntegerNode(type, cast_scalar({0, value}, f64, type).integer);
}
Expr true_() { return constant(boolean, int64_t{1}); }
Expr false_() { return constant(boolean, int64_t{0}); }

namespace {

bool is_literal(const Expr& e) { return e->kind == ExprKind::integer || e->kind == ExprKind::real; }

Scalar literal_value(const Expr& e) {
  if (const auto* i = as<IntegerNode>(e)) return {i->value, 0};
  return {0, as<RealNode>(e)->value};
}

Expr from_scalar(DType type, Scalar value) {
  return type.is_float() ? constant(type, value.real) : constant(type, value.integer);
}

std::string describe(Op op, const std::vector<Expr>& args) {
  std::string types;
  for (const Expr& a : args) types += (types.empty() ? "" : ", ") + to_string(a.type());
  return fmt::format("{}({})", op_row(op).text, types);
}

// A literal takes the type of the operand beside it, if it keeps its value there (integers) or rounds (floats).
Expr adapt_literal(const Expr& literal, DType type, Op op) {
  if (literal.type() == type) return literal;
  const bool integral = literal->kind == ExprKind::integer;
  if (!type.is_float()) {
    if (!integral || type.is_bool() || literal.type().is_bool()) return literal;
    const int64_t value = *as_constant(literal);
    if (wrap_integer(value, type).integer != value)
      throw Error(std::string(op_row(op).text), fmt::format("the constant {} does not fit {}", value, to_string(type)),
                  "cast the other operand to a wider type");
  }
  if (literal.type().is_bool()) return literal;
  return from_scalar(type, cast_scalar(literal_value(literal), literal.type(), type));
}

// Rules that hold for every integer value; each makes the expression smaller, so they terminate and are idempotent.
Expr simplify_integer(Op op, DType type, const std::vector<Expr>& x) {
  const Expr& a = x[0];
  const Expr b = x.size() > 1 ? x[1] : Expr();
  const bool binary = b.defined();
  const bool b0 = binary && is_constant(b, 0), b1 = binary && is_constant(b, 1);
  const auto* left = as<ApplyNode>(a);
  switch (op) {
    case Op::add:
      if (b0) return a;
      if (is_constant(a, 0)) return b;
      if (as_constant(a)) return make_apply(Op::add, {b, a});  // constants stand right
      if (left && left->op == Op::add && as_constant(b) && as_constant(left->args[1]))
        return make_apply(Op::add, {left->args[0], make_apply(Op::add, {left->args[1], b})});
      return {};
    case Op::sub:
      if (b0) return a;
      if (a.same_as(b)) return constant(type, int64_t{0});
      if (const int64_t* c = as_constant(b); c && type.is_signed() && type.bits == 64 && *c != INT64_MIN)
        return make_apply(Op::add, {a, constant(type, -*c)});
      return {};
    case Op::mul:
      if (b1) return a;
      if (is_constant(a, 1)) return b;
      if (b0 || is_constant(a, 0)) return constant(type, int64_t{0});
      if (as_constant(a)) return make_apply(Op::mul, {b, a});
      if (left && left->op == Op::mul && as_constant(b) && as_constant(left->args[1]))
        return make_apply(Op::mul, {left->args[0], make_apply(Op::mul, {left->args[1], b})});
      return {};
    case Op::div:
    case Op::trunc_div: return b1 ? a : Expr();
    case Op::mod:
    case Op::trunc_mod: return b1 ? constant(type, int64_t{0}) : Expr();
    case Op::min:
    case Op::max: return a.same_as(b) ? a : Expr();
    case Op::logical_and:
      if (is_constant(a, 0) || is_constant(b, 1)) return a;
      if (is_constant(b, 0) || is_constant(a, 1)) return b;
      return {};
    case Op::logical_or:
      if (is_constant(a, 1) || is_constant(b, 0)) return a;
      if (is_constant(b, 1) || is_constant(a, 0)) return b;
      return {};
    default: return {};  // no rule is always right
  }
}

[[noreturn]] void bad_operands(Op op, const std::vector<Expr>& args, const std::string& wanted) {
  throw Error(describe(op, args), "operands must be " + wanted, "convert with a cast, such as f32(x)");
}

}  // namespace

Expr make_apply(Op op, std::vector<Expr> args) {
  const OpRow& row = op_row(op);
  LATHE_CHECK(static_cast<int>(args.size()) == row.arity, std::string(row.name));
  for (const Expr& a : args)
    if (!a.defined()) throw Error(std::string(row.text), "an operand is an empty expression", "give every operand a value");

  int lanes = 1;
  for (const Expr& a : args) lanes = std::max<int>(lanes, a.type().lanes);
  for (Expr& a : args) {
    if (a.type().lanes == lanes) continue;
    if (a.type().lanes != 1) bad_operands(op, args, "vectors of one length");
    a = make_broadcast(a, lanes);
  }

  // Typed operands first: literals adapt to them.
  const size_t first = row.typing == OpTyping::select ? 1 : 0;
  DType type = args[first].type();
  bool typed = false;
  for (size_t i = first; i < args.size(); ++i)
    if (!typed && !is_literal(args[i])) {
      type = args[i].type();
      typed = true;
    }
  if (!typed)
    for (size_t i = first; i < args.size(); ++i)
      if (args[i].type().is_float() && !type.is_float()) type = args[i].type();
  for (size_t i = first; i < args.size(); ++i)
    if (is_literal(args[i])) args[i] = adapt_literal(args[i], type, op);
  for (size_t i = first; i < args.size(); ++i)
    if (args[i].type() != type) bad_operands(op, args, "of one type");

  DType result = type;
  switch (row.typing) {
    case OpTyping::arithmetic:
      if (type.is_bool()) bad_operands(op, args, "numbers");
      break;
    case OpTyping::integer:
      if (type.is_float() || (type.is_bool() && (op == Op::shl || op == Op::shr || op == Op::trunc_div)))
        bad_operands(op, args, "integers");
      break;
    case OpTyping::floating:
      if (!type.is_float()) bad_operands(op, args, "floats");
      break;
    case OpTyping::compare: result = boolean.with_lanes(lanes); break;
    case OpTyping::logical:
      if (!type.is_bool()) bad_operands(op, args, "bools");
      break;
    case OpTyping::select:
      if (!args[0].type().is_bool()) bad_operands(op, args, "a bool and two values of one type");
      break;
    case OpTyping::classify:
      if (!type.is_float()) bad_operands(op, args, "floats");
      result = boolean.with_lanes(lanes);
      break;
  }
  if (!type.is_float() && (op == Op::div || op == Op::mod || op == Op::trunc_div || op == Op::trunc_mod) &&
      is_constant(args[1], 0))
    throw Error(std::string(row.text), "division by a constant zero", "use a divisor that is not 0");

  bool all_literal = true;
  for (const Expr& a : args) all_literal &= is_literal(a);
  if (all_literal) {
    std::vector<Scalar> values;
    for (const Expr& a : args) values.push_back(literal_value(a));
    return from_scalar(result, apply_scalar(op, type, values));
  }
  if (op == Op::select) {
    if (const int64_t* c = as_constant(args[0])) return *c ? args[1] : args[2];
  } else if (!type.is_float()) {
    if (Expr simpler = simplify_integer(op, type, args); simpler.defined()) return simpler;
  }
  return new ApplyNode(result, op, std::move(args));
}

Expr make_cast(DType type, Expr value) {
  if (!value.defined()) throw Error("cast", "the operand is an empty expression", "give it a value");
  type = type.with_lanes(value.type().lanes);
  if (value.type() == type) return value;
  if (is_literal(value)) return from_scalar(type, cast_scalar(literal_value(value), value.type(), type));
  if (const auto* b = as<BroadcastNode>(value)) return make_broadcast(make_cast(type.scalar(), b->value), type.lanes);
  return new CastNode(type, std::move(value));
}

Expr make_load(const Ref<TensorNode>& tensor, std::vector<Expr> indices) {
  if (!tensor) throw Error("load", "the tensor is empty", "make it with placeholder or compute");
  const int lanes = check_access(*tensor, indices);
  return new LoadNode(tensor->type.with_lanes(lanes), tensor, std::move(indices));
}

Expr make_ramp(Expr base, Expr stride, int lanes) {
  if (!base.defined() || !stride.defined() || !base.type().is_int() || base.type().lanes != 1 ||
      stride.type() != base.type() || lanes < 1 || lanes > max_lanes)
    throw Error(fmt::format("ramp({} lanes)", lanes), "base and stride are not scalars of one integer type",
                fmt::format("a ramp is of 1 to {} lanes of base, base + stride, …", max_lanes));
  if (lanes == 1) return base;
  const DType type = base.type().with_lanes(lanes);
  return new RampNode(type, std::move(base), std::move(stride));
}

Expr make_broadcast(Expr value, int lanes) {
  if (!value.defined() || value.type().lanes != 1 || lanes < 1 || lanes > max_lanes)
    throw Error(fmt::format("broadcast({} lanes)", lanes), "the value is not a scalar",
                fmt::format("a broadcast is of one value to 1 to {} lanes", max_lanes));
  if (lanes == 1) return value;
  const DType type = value.type().with_lanes(lanes);
  return new BroadcastNode(type, std::move(value));
}

ReduceAxis reduce_axis(Expr extent, std::string name) {
  check_extent("reduce_axis " + name, extent);
  return {Var(std::move(name)), std::move(extent)};
}

Expr operator+(Expr a, Expr b) { return make_apply(Op::add, {a, b}); }
Expr operator-(Expr a, Expr b) { return make_apply(Op::sub, {a, b}); }
Expr operator*(Expr a, Expr b) { return make_apply(Op::mul, {a, b}); }
Expr operator/(Expr a, Expr b) { return make_apply(Op::div, {a, b}); }
Expr operator%(Expr a, Expr b) { return make_apply(Op::mod, {a, b}); }
Expr operator-(Expr a) { return make_apply(Op::neg, {a}); }
Expr operator<(Expr a, Expr b) { return make_apply(Op::lt, {a, b}); }
Expr operator<=(Expr a, Expr b) { return make_apply(Op::le, {a, b}); }
Expr operator>(Expr a, Expr b) { return make_apply(Op::gt, {a, b}); }
Expr operator>=(Expr a, Expr b) { return make_apply(Op::ge, {a, b}); }
Expr operator==(Expr a, Expr b) { return make_apply(Op::eq, {a, b}); }
Expr operator!=(Expr a, Expr b) { return make_apply(Op::ne, {a, b}); }
Expr operator&&(Expr a, Expr b) { return make_apply(Op::logical_and, {a, b}); }
Expr operator||(Expr a, Expr b) { return make_apply(Op::logical_or, {a, b}); }
Expr operator!(Expr a) { return make_apply(Op::logical_not, {a}); }
Expr operator&(Expr a, Expr b) { return make_apply(Op::bit_and, {a, b}); }
Expr operator|(Expr a, Expr b) { return make_apply(Op::bit_or, {a, b}); }
Expr operator^(Expr a, Expr b) { return make_apply(Op::bit_xor, {a, b}); }
Expr operator<<(Expr a, Expr b) { return make_apply(Op::shl, {a, b}); }
Expr operator>>(Expr a, Expr b) { return make_apply(Op::shr, {a, b}); }

Expr cast(DType type, Expr value) { return make_cast(type, std::move(value)); }
Expr select(Expr c, Expr t, Expr f) { return make_apply(Op::select, {c, t, f}); }
Expr min(Expr a, Expr b) { return make_apply(Op::min, {a, b}); }
Expr max(Expr a, Expr b) { return make_apply(Op::max, {a, b}); }
Expr fmin(Expr a, Expr b) { return make_apply(Op::fmin, {a, b}); }
Expr fmax(Expr a, Expr b) { return make_apply(Op::fmax, {a, b}); }
Expr trunc_div(Expr a, Expr b) { return make_apply(Op::trunc_div, {a, b}); }
Expr trunc_mod(Expr a, Expr b) { return make_apply(Op::trunc_mod, {a, b}); }
Expr fma(Expr a, Expr b, Expr c) { return make_apply(Op::fma, {a, b, c}); }
Expr abs(Expr a) { return make_apply(Op::abs, {a}); }
Expr sqrt(Expr a) { return make_apply(Op::sqrt, {a}); }
Expr rsqrt(Expr a) { return make_apply(Op::rsqrt, {a}); }
Expr floor(Expr a) { return make_apply(Op::floor, {a}); }
Expr ceil(Expr a) { return make_apply(Op::ceil, {a}); }
Expr round(Expr a) { return make_apply(Op::round, {a}); }
Expr trunc(Expr a) { return make_apply(Op::trunc, {a}); }
Expr exp(Expr a) { return make_apply(Op::exp, {a}); }
Expr exp2(Expr a) { return make_apply(Op::exp2, {a}); }
Expr log(Expr a) { return make_apply(Op::log, {a}); }
Expr log2(Expr a) { return make_apply(Op::log2, {a}); }
Expr pow(Expr a, Expr b) { return make_apply(Op::pow, {a, b}); }
Expr sin(Expr a) { return make_apply(Op::sin, {a}); }
Expr cos(Expr a) { return make_apply(Op::cos, {a}); }
Expr tanh(Expr a) { return make_apply(Op::tanh, {a}); }
Expr erf(Expr a) { return make_apply(Op::erf, {a}); }
Expr is_nan(Expr a) { return make_apply(Op::is_nan, {a}); }
Expr ceil_div(Expr a, Expr b) { return (a + (b - 1)) / b; }

}  // namespace lathe
