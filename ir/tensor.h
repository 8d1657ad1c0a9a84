// Tensors: named arrays with a shape. One that has a definition is computed; one without is an input.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace lathe {

// Where a tensor lives while kernels run.
enum class Scope : uint8_t { global, shared, registers };
std::string_view to_string(Scope scope);  // "global", "shared", "register"

// What computes one tensor, or several of one shape at once: element [axes…] of output o is body[o].
struct DefinitionNode : Node {
  std::vector<Axis> axes;
  std::vector<Expr> body;
  std::vector<std::string> names;  // of the outputs, beside `body`
  static void destroy(const DefinitionNode* node);
};
using Definition = Ref<DefinitionNode>;

struct TensorNode : Node {
  std::string name;
  DType type;
  std::vector<Expr> shape;  // i64 each
  Definition definition;    // null: a placeholder
  int output = 0;           // which of the definition's outputs
  static void destroy(const TensorNode* node);
};

class Tensor : public Ref<TensorNode> {
 public:
  using Ref<TensorNode>::Ref;
  Tensor() = default;
  Tensor(const Ref<TensorNode>& ref) : Ref<TensorNode>(ref) {}

  const std::string& name() const { return get()->name; }
  DType type() const { return get()->type; }
  const std::vector<Expr>& shape() const { return get()->shape; }
  int rank() const { return static_cast<int>(get()->shape.size()); }
  bool is_placeholder() const { return !get()->definition; }
  // Data axis i of a computed tensor (a schedule names loops by them). Throws when there is none.
  const Axis& axis(int i) const;
  // Reduction axis i of a computed tensor, in the order of its reduction.
  const Axis& reduce_axis(int i) const;

  // The element at `indices`, as an expression. Throws when their number is not the rank.
  template <class... Index>
  Expr operator()(Index... indices) const { return at({Expr(indices)...}); }
  Expr at(std::vector<Expr> indices) const { return make_load(*this, std::move(indices)); }
};

// An input of the given shape (i64 expressions of shape symbols, or numbers).
Tensor placeholder(std::vector<Expr> shape, DType type, std::string name);
// A tensor without definition that passes make for staging (LDS, registers) and workspaces.
Tensor make_tensor(std::string name, DType type, std::vector<Expr> shape, Definition definition = {}, int output = 0);

// The tensor whose element [i, j, …] is body({i, j, …}). Axes are named i, j, k, l, … unless `axis_names` says
// otherwise.
Tensor compute_list(std::vector<Expr> shape, const std::function<Expr(const std::vector<Expr>&)>& body,
                    std::string name, std::vector<std::string> axis_names = {});
// Several tensors of one shape from one body that gives a tuple (such as argmax_tuple's); named name.0, name.1, …
std::vector<Tensor> compute_tuple(std::vector<Expr> shape,
                                  const std::function<std::vector<Expr>(const std::vector<Expr>&)>& body,
                                  std::vector<std::string> names, std::vector<std::string> axis_names = {});

namespace detail {
template <class F, size_t... I>
auto call_with(F& body, const std::vector<Expr>& axes, std::index_sequence<I...>) {
  return body(axes[I]...);
}
template <class F>
struct arity_of : arity_of<decltype(&F::operator())> {};
template <class C, class R, class... A>
struct arity_of<R (C::*)(A...) const> : std::integral_constant<size_t, sizeof...(A)> {};
template <class C, class R, class... A>
struct arity_of<R (C::*)(A...)> : std::integral_constant<size_t, sizeof...(A)> {};
void check_arity(size_t parameters, size_t rank, const std::string& name);
}  // namespace detail

// Throws Error unless `indices` are one integer a dimension, all scalars or vectors of one length; gives the length.
int check_access(const TensorNode& tensor, const std::vector<Expr>& indices);

// Throws Error unless `name` is letters, digits and _, and no word of the language. `what` says what it names.
void check_name(const std::string& where, const std::string& name, const std::string& what);

// compute({m, n}, [&](Expr i, Expr j) { return A(i, j) + 1.0f; }, "B")
template <class F>
Tensor compute(std::vector<Expr> shape, F body, std::string name, std::vector<std::string> axis_names = {}) {
  constexpr size_t arity = detail::arity_of<F>::value;
  detail::check_arity(arity, shape.size(), name);
  return compute_list(
      std::move(shape),
      [&](const std::vector<Expr>& axes) {
        return Expr(detail::call_with(body, axes, std::make_index_sequence<arity>{}));
      },
      std::move(name), std::move(axis_names));
}

}  // namespace lathe
