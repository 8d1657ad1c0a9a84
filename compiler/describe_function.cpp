// Function and launches in the package's terms: shape expressions over the symbols, kernels by name.
#include <fmt/format.h>

#include "compiler/build.h"
#include "ir/block_order.h"
#include "ir/print.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

ShapeExpr shape_expr(const Expr& e, const std::vector<Var>& symbols) {
  if (const int64_t* c = as_constant(e)) return ShapeExpr::constant(*c);
  if (as<VarNode>(e)) {
    for (size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i].same_as(e)) return ShapeExpr::symbol(static_cast<int64_t>(i));
  }
  if (const auto* a = as<ApplyNode>(e)) {
    std::vector<ShapeExpr> x;
    for (const Expr& arg : a->args) x.push_back(shape_expr(arg, symbols));
    auto two = [&](ShapeOp op) { return ShapeExpr::apply(op, {x[0], x[1]}); };
    switch (a->op) {
      case Op::add: return two(ShapeOp::add);
      case Op::sub: return two(ShapeOp::sub);
      case Op::mul: return two(ShapeOp::mul);
      case Op::div: return two(ShapeOp::floor_div);
      case Op::mod: return two(ShapeOp::floor_mod);
      case Op::min: return two(ShapeOp::min);
      case Op::max: return two(ShapeOp::max);
      case Op::eq: return two(ShapeOp::eq);
      case Op::ne: return two(ShapeOp::ne);
      case Op::lt: return two(ShapeOp::lt);
      case Op::le: return two(ShapeOp::le);
      case Op::gt: return two(ShapeOp::gt);
      case Op::ge: return two(ShapeOp::ge);
      case Op::logical_and: return two(ShapeOp::logical_and);
      case Op::logical_or: return two(ShapeOp::logical_or);
      case Op::logical_not: return ShapeExpr::apply(ShapeOp::logical_not, {x[0]});
      case Op::neg: return ShapeExpr::apply(ShapeOp::sub, {ShapeExpr::constant(0), x[0]});
      case Op::select: return ShapeExpr::apply(ShapeOp::select, {x[0], x[1], x[2]});
      default: break;  // no shape is made with any other operator
    }
  }
  throw Error("shape " + to_string(e), "this cannot be computed at launch", "shapes use + - * / % min max select and symbols");
}

std::vector<ShapeExpr> shape_exprs(const std::vector<Expr>& list, const std::vector<Var>& symbols) {
  std::vector<ShapeExpr> result;
  for (const Expr& e : list) result.push_back(shape_expr(e, symbols));
  return result;
}

}  // namespace

FunctionData describe_function(const LoweredFunction& f) {
  FunctionData data;
  data.name = f.name;
  for (const Var& symbol : f.symbols) data.symbols.push_back(symbol.name());
  for (size_t i = 0; i < f.arguments.size(); ++i) {
    const Tensor& t = f.arguments[i];
    data.arguments.push_back({t.name(), t.type(), shape_exprs(t.shape(), f.symbols), f.is_output[i]});
  }
  for (const Tensor& t : f.workspaces) data.workspaces.push_back({t.name(), t.type(), shape_exprs(t.shape(), f.symbols)});
  for (const auto& promise : f.promises) data.promises.push_back({shape_expr(promise.condition, f.symbols), promise.text});
  for (const Kernel& k : f.kernels) {
    LaunchData launch;
    launch.kernel = k.name;
    if (k.condition.defined()) launch.condition = shape_expr(k.condition, f.symbols);
    for (size_t d = 0; d < 3; ++d) {
      launch.grid[d] = shape_expr(launched_grid(k)[d], f.symbols);
      launch.block[d] = static_cast<uint32_t>(k.block[d]);
    }
    for (const Tensor& t : k.buffers) {
      KernelArgument argument;
      argument.type = t.type();
      bool found = false;
      for (size_t i = 0; i < f.arguments.size(); ++i)
        if (f.arguments[i].name() == t.name()) {
          argument.index = static_cast<uint32_t>(i);
          found = true;
        }
      for (size_t i = 0; i < f.workspaces.size() && !found; ++i)
        if (f.workspaces[i].name() == t.name()) {
          argument.kind = KernelArgumentKind::workspace;
          argument.index = static_cast<uint32_t>(i);
          found = true;
        }
      LATHE_CHECK(found, "kernel " + k.name + " takes " + t.name() + ", which the function does not have");
      launch.arguments.push_back(std::move(argument));
    }
    for (const Var& symbol : k.symbols) {
      KernelArgument argument;
      argument.kind = KernelArgumentKind::expression;
      argument.expression = shape_expr(symbol, f.symbols);
      argument.type = i64;
      launch.arguments.push_back(std::move(argument));
    }
    data.launches.push_back(std::move(launch));
  }
  return data;
}

}  // namespace lathe
