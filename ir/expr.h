// Expressions: immutable values computed from variables, constants and tensor elements.
//
//   e ::= v | constant | op(e, …) | type(e) | T[e, …] | reduction | ramp(e, e, lanes) | broadcast(e, lanes)
//
// A variable's identity is its node, never its name. `make_…` functions check types (lathe::Error) and fold
// constants; they are the only way to build a node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/node.h"
#include "ir/op.h"
#include "runtime/base/dtype.h"

namespace lathe {

enum class ExprKind : uint8_t { variable, integer, real, apply, cast, load, reduce, ramp, broadcast };

inline constexpr int max_lanes = 1024;  // of a vector

// Readers of IR recurse, so an expression that nests deeper than this is refused when it is made.
inline constexpr int max_expr_height = 1000;

struct ExprNode : Node {
  ExprKind kind;
  DType type;
  int height;  // 1: a leaf; else one more than the tallest child
  ExprNode(ExprKind kind, DType type, int height = 1);  // throws Error above max_expr_height
  static void destroy(const ExprNode* node);
};

struct VarNode;
struct TensorNode;
class Tensor;

// A handle to an expression. Integer literals convert to i64 (the type of indices), floating ones to f32.
class Expr : public Ref<ExprNode> {
 public:
  using Ref<ExprNode>::Ref;
  Expr(int value);
  Expr(int64_t value);
  Expr(float value);
  Expr(double value);  // an f32 constant too: write constant(f64, x) for a double
  DType type() const { return get()->type; }
  // `!e` and `a && b` make expressions, so a test for null is written e.defined(), never `if (e)`.
  explicit operator bool() const = delete;
};

// A named variable: an axis, a shape symbol or a combiner's operand. `Var n("n")` is a new i64 variable.
class Var : public Expr {
 public:
  Var() = default;
  explicit Var(std::string name, DType type = i64);
  explicit Var(const VarNode* node);
  const VarNode* node() const;
  const std::string& name() const;
};

// One more than the tallest of `children`.
int height_above(const std::vector<Expr>& children);

struct VarNode : ExprNode {
  std::string name;
  VarNode(std::string name, DType type) : ExprNode(ExprKind::variable, type), name(std::move(name)) {}
};
struct IntegerNode : ExprNode {  // also bool (0 or 1); unsigned types hold the value's low bits, zero-extended
  int64_t value;
  IntegerNode(DType type, int64_t value) : ExprNode(ExprKind::integer, type), value(value) {}
};
struct RealNode : ExprNode {  // always a value of its type, exactly
  double value;
  RealNode(DType type, double value) : ExprNode(ExprKind::real, type), value(value) {}
};
struct ApplyNode : ExprNode {
  Op op;
  std::vector<Expr> args;
  ApplyNode(DType type, Op op, std::vector<Expr> args)
      : ExprNode(ExprKind::apply, type, height_above(args)), op(op), args(std::move(args)) {}
};
struct CastNode : ExprNode {
  Expr value;
  CastNode(DType type, Expr value) : ExprNode(ExprKind::cast, type, height_above({value})), value(std::move(value)) {}
};
struct LoadNode : ExprNode {  // one element (or a vector of them, when an index is a vector)
  Ref<TensorNode> tensor;
  std::vector<Expr> indices;
  LoadNode(DType type, Ref<TensorNode> tensor, std::vector<Expr> indices);
  ~LoadNode();
};
struct RampNode : ExprNode {  // base, base + stride, … : `lanes` of them
  Expr base, stride;
  RampNode(DType type, Expr base, Expr stride)
      : ExprNode(ExprKind::ramp, type, height_above({base, stride})), base(std::move(base)), stride(std::move(stride)) {}
};
struct BroadcastNode : ExprNode {
  Expr value;
  BroadcastNode(DType type, Expr value)
      : ExprNode(ExprKind::broadcast, type, height_above({value})), value(std::move(value)) {}
};

// How a reduction merges two partial results. Operands, result and identity are tuples of one size.
// `associative order` is the order of the loops: lhs is the accumulator, rhs the new element.
struct CombinerNode : Node {
  std::string name;
  std::vector<Var> lhs, rhs;
  std::vector<Expr> result, identity;
  static void destroy(const CombinerNode* node);
};
using Combiner = Ref<CombinerNode>;

// A loop of a compute: a variable that runs over 0 … extent-1.
struct Axis {
  Var var;
  Expr extent;  // i64
};
using ReduceAxis = Axis;

// The `index`-th component of reducing `sources` over `axes`.
struct ReduceNode : ExprNode {
  Combiner combiner;
  std::vector<Expr> sources;
  std::vector<Axis> axes;
  int index;
  ReduceNode(DType type, Combiner combiner, std::vector<Expr> sources, std::vector<Axis> axes, int index);
};

// The node as its own type, or nullptr when it is of another kind.
template <class N>
const N* as(const Expr& e);
template <> inline const VarNode* as<VarNode>(const Expr& e) { return e.defined() && e->kind == ExprKind::variable ? static_cast<const VarNode*>(e.get()) : nullptr; }
template <> inline const IntegerNode* as<IntegerNode>(const Expr& e) { return e.defined() && e->kind == ExprKind::integer ? static_cast<const IntegerNode*>(e.get()) : nullptr; }
template <> inline const RealNode* as<RealNode>(const Expr& e) { return e.defined() && e->kind == ExprKind::real ? static_cast<const RealNode*>(e.get()) : nullptr; }
template <> inline const ApplyNode* as<ApplyNode>(const Expr& e) { return e.defined() && e->kind == ExprKind::apply ? static_cast<const ApplyNode*>(e.get()) : nullptr; }
template <> inline const CastNode* as<CastNode>(const Expr& e) { return e.defined() && e->kind == ExprKind::cast ? static_cast<const CastNode*>(e.get()) : nullptr; }
template <> inline const LoadNode* as<LoadNode>(const Expr& e) { return e.defined() && e->kind == ExprKind::load ? static_cast<const LoadNode*>(e.get()) : nullptr; }
template <> inline const ReduceNode* as<ReduceNode>(const Expr& e) { return e.defined() && e->kind == ExprKind::reduce ? static_cast<const ReduceNode*>(e.get()) : nullptr; }
template <> inline const RampNode* as<RampNode>(const Expr& e) { return e.defined() && e->kind == ExprKind::ramp ? static_cast<const RampNode*>(e.get()) : nullptr; }
template <> inline const BroadcastNode* as<BroadcastNode>(const Expr& e) { return e.defined() && e->kind == ExprKind::broadcast ? static_cast<const BroadcastNode*>(e.get()) : nullptr; }

// The value of an integer constant, if `e` is one (scalar).
const int64_t* as_constant(const Expr& e);
bool is_constant(const Expr& e, int64_t value);

// ---- makers: checked, constant-folding. Scalars meeting vectors are broadcast.
Expr constant(DType type, int64_t value);   // wraps into integer types; converts for float types
Expr constant(DType type, double value);    // rounds once into float types; saturates into integer types
Expr true_();
Expr false_();
Expr make_apply(Op op, std::vector<Expr> args);  // literals among the operands take the others' type
Expr make_cast(DType type, Expr value);          // `type` without lanes: the value's lanes are kept
Expr make_load(const Ref<TensorNode>& tensor, std::vector<Expr> indices);
Expr make_ramp(Expr base, Expr stride, int lanes);  // scalars of one integer type
Expr make_broadcast(Expr value, int lanes);
Expr make_reduce(Combiner combiner, std::vector<Expr> sources, std::vector<Axis> axes, int index);
// Throws when sizes or types do not agree, or a result reads anything but lhs and rhs.
Combiner make_combiner(std::string name, std::vector<Var> lhs, std::vector<Var> rhs, std::vector<Expr> result,
                       std::vector<Expr> identity);

// Throws Error unless `extent` is a scalar i64, and between 0 and max_extent where it is a constant.
void check_extent(const std::string& where, const Expr& extent);
// The same for all loops together, so that no fused or rounded-up loop can overflow.
void check_size(const std::string& where, const std::vector<Axis>& axes);
inline constexpr int64_t max_extent = int64_t{1} << 50;

// ---- the language
ReduceAxis reduce_axis(Expr extent, std::string name);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);  // integers: toward negative infinity
Expr operator%(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator==(Expr a, Expr b);
Expr operator!=(Expr a, Expr b);
Expr operator&&(Expr a, Expr b);
Expr operator||(Expr a, Expr b);
Expr operator!(Expr a);
Expr operator&(Expr a, Expr b);
Expr operator|(Expr a, Expr b);
Expr operator^(Expr a, Expr b);
Expr operator<<(Expr a, Expr b);
Expr operator>>(Expr a, Expr b);

Expr cast(DType type, Expr value);
Expr select(Expr condition, Expr if_true, Expr if_false);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr fmin(Expr a, Expr b);
Expr fmax(Expr a, Expr b);
Expr trunc_div(Expr a, Expr b);
Expr trunc_mod(Expr a, Expr b);
Expr fma(Expr a, Expr b, Expr c);
Expr abs(Expr a);
Expr sqrt(Expr a);
Expr rsqrt(Expr a);
Expr floor(Expr a);
Expr ceil(Expr a);
Expr round(Expr a);
Expr trunc(Expr a);
Expr exp(Expr a);
Expr exp2(Expr a);
Expr log(Expr a);
Expr log2(Expr a);
Expr pow(Expr a, Expr b);
Expr sin(Expr a);
Expr cos(Expr a);
Expr tanh(Expr a);
Expr erf(Expr a);
Expr is_nan(Expr a);
Expr ceil_div(Expr a, Expr b);

// Reductions over one or more axes. f16, bf16 and fp8 sources of sum and product accumulate in f32 and i8 ones in
// i32; the result is converted back, once. An empty reduction gives the identity.
Expr sum(Expr source, const std::vector<ReduceAxis>& axes);
Expr product(Expr source, const std::vector<ReduceAxis>& axes);
Expr min(Expr source, const std::vector<ReduceAxis>& axes);
Expr max(Expr source, const std::vector<ReduceAxis>& axes);
Expr any(Expr source, const std::vector<ReduceAxis>& axes);
Expr all(Expr source, const std::vector<ReduceAxis>& axes);
// Component 0 is the (row-major) position as i64, component 1 the value. The lowest index wins a tie, the first NaN
// wins all. For the value, see argmin_tuple.
Expr argmin(Expr source, const std::vector<ReduceAxis>& axes);
Expr argmax(Expr source, const std::vector<ReduceAxis>& axes);
std::vector<Expr> argmin_tuple(Expr source, const std::vector<ReduceAxis>& axes);
std::vector<Expr> argmax_tuple(Expr source, const std::vector<ReduceAxis>& axes);
std::vector<Expr> reduce(const Combiner& combiner, std::vector<Expr> sources, const std::vector<ReduceAxis>& axes);
inline Expr sum(Expr source, const ReduceAxis& axis) { return sum(std::move(source), std::vector{axis}); }
inline Expr product(Expr source, const ReduceAxis& axis) { return product(std::move(source), std::vector{axis}); }
inline Expr min(Expr source, const ReduceAxis& axis) { return min(std::move(source), std::vector{axis}); }
inline Expr max(Expr source, const ReduceAxis& axis) { return max(std::move(source), std::vector{axis}); }
inline Expr any(Expr source, const ReduceAxis& axis) { return any(std::move(source), std::vector{axis}); }
inline Expr all(Expr source, const ReduceAxis& axis) { return all(std::move(source), std::vector{axis}); }
inline Expr argmin(Expr source, const ReduceAxis& axis) { return argmin(std::move(source), std::vector{axis}); }
inline Expr argmax(Expr source, const ReduceAxis& axis) { return argmax(std::move(source), std::vector{axis}); }

// A combiner that every reader knows by name: sum, product, min, max, any, all, argmin, argmax; null otherwise.
// `types` are those of the sources.
Combiner builtin_combiner(std::string_view name, const std::vector<DType>& types);

// One step of a reduction: what the accumulators become after `elements` arrive. A float sum of products becomes an
// explicit fma (the numerics contract), so this is the one place that says in which form every reader accumulates.
std::vector<Expr> combine(const ReduceNode& reduce, const std::vector<Expr>& accumulators);

}  // namespace lathe
