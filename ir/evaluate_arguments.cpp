#include "ir/evaluate_arguments.h"

#include <fmt/format.h>

#include <new>

#include "ir/print.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

std::string shown(DType type, const std::vector<std::string>& extents) {
  std::string text;
  for (const std::string& e : extents) text += (text.empty() ? "" : ", ") + e;
  return fmt::format("{}[{}]", to_string(type), text);
}

std::string shown(const BufferView& view) {
  std::vector<std::string> extents;
  for (int64_t e : view.shape) extents.push_back(std::to_string(e));
  return shown(view.type, extents);
}

bool contains(const std::vector<Var>& list, const Expr& e) {
  for (const Var& v : list)
    if (v.same_as(e)) return true;
  return false;
}

}  // namespace

EvaluatedArguments::EvaluatedArguments(ExprCompiler& compiler, std::vector<Tensor> arguments, std::vector<Var> symbols)
    : compiler_(compiler), symbols_(std::move(symbols)) {
  for (const Var& v : symbols_) compiler_.slot(v.node());
  for (const Tensor& t : arguments) arguments_.push_back(entry(t));
}

EvaluatedArguments::Entry EvaluatedArguments::entry(const Tensor& t) {
  Entry result{t, {}, {}};
  for (const Expr& extent : t.shape()) result.extents.push_back(compiler_.compile(extent));
  return result;
}

void EvaluatedArguments::add_temporary(const Tensor& t) {
  for (const Entry& e : arguments_)
    if (e.tensor.same_as(t)) return;
  temporaries_.push_back(entry(t));
}

void EvaluatedArguments::bind(std::span<const BufferView> views, State& state) {
  if (views.size() != arguments_.size())
    throw Error(compiler_.where(), fmt::format("{} arguments expected, {} given", arguments_.size(), views.size()),
                "pass inputs and outputs in the function's order");
  bind_symbols(views, state);
  for (size_t i = 0; i < views.size(); ++i) {
    Entry& e = arguments_[i];
    check(e, views[i], state);
    e.memory.data = views[i].data;
    e.memory.elements = 1;
    for (int64_t extent : views[i].shape)
      if (__builtin_mul_overflow(e.memory.elements, extent, &e.memory.elements)) e.memory.elements = 0;
    Storage& storage = compiler_.storage(e.tensor);
    storage.shape = views[i].shape;
    storage.memory = &e.memory;
  }
  for (Entry& e : temporaries_) {
    std::vector<int64_t> shape;
    for (const Code* extent : e.extents) shape.push_back(extent->integer(state));
    allocate(compiler_.storage(e.tensor), e.memory, std::move(shape), compiler_.where());
  }
}

void EvaluatedArguments::bind_symbols(std::span<const BufferView> views, State& state) {
  for (size_t i = 0; i < views.size(); ++i) {
    const std::vector<Expr>& shape = arguments_[i].tensor.shape();
    if (views[i].shape.size() != shape.size()) continue;  // refused below
    for (size_t d = 0; d < shape.size(); ++d)
      if (contains(symbols_, shape[d]) && !contains(bound_, shape[d])) {
        const Var symbol(as<VarNode>(shape[d]));
        state.integers[compiler_.slot(symbol.node())] = views[i].shape[d];
        bound_.push_back(symbol);
      }
  }
  for (const Var& v : symbols_)
    if (!contains(bound_, v)) {
      for (size_t i = 0; i < views.size(); ++i) check(arguments_[i], views[i], state);  // a wrong rank is the reason
      throw Error(compiler_.where(), fmt::format("nothing binds the symbol {}", v.name()),
                  "some argument needs an extent that is the symbol alone");
    }
}

std::string EvaluatedArguments::expected(const Entry& e, State& state) const {
  std::vector<std::string> extents;
  for (size_t d = 0; d < e.extents.size(); ++d) {
    const Expr& extent = e.tensor.shape()[d];
    const bool known = !uses_any(extent, [&](const VarNode* v) { return !contains(bound_, Expr(v)); });
    std::string text = to_string(extent);
    if (known && !as_constant(extent)) text += fmt::format(" = {}", e.extents[d]->integer(state));
    extents.push_back(std::move(text));
  }
  return shown(e.tensor.type(), extents);
}

void EvaluatedArguments::check(const Entry& e, const BufferView& view, State& state) const {
  bool fits = view.type == e.tensor.type() && view.shape.size() == e.extents.size();
  bool empty = false;
  for (size_t d = 0; fits && d < e.extents.size(); ++d) {
    fits = view.shape[d] >= 0 && view.shape[d] == e.extents[d]->integer(state);
    empty |= view.shape[d] == 0;
  }
  const std::string where = fmt::format("{}, argument {}", compiler_.where(), e.tensor.name());
  if (!fits)
    throw Error(where, fmt::format("expected {}, got {}", expected(e, state), shown(view)),
                "a symbol is bound by the first extent that is the symbol alone");
  if (!view.data && !empty) throw Error(where, "the array has no memory", "point it at the elements");
}

bool EvaluatedArguments::has(const Tensor& t) const {
  for (const auto* entries : {&arguments_, &temporaries_})
    for (const Entry& e : *entries)
      if (e.tensor.same_as(t)) return true;
  return false;
}

Memory* EvaluatedArguments::find(const Tensor& t) {
  Memory* called_so = nullptr;
  for (auto* entries : {&arguments_, &temporaries_})
    for (Entry& e : *entries) {
      if (e.tensor.same_as(t)) return &e.memory;
      if (e.tensor.name() == t.name()) called_so = &e.memory;
    }
  return called_so;
}

void allocate(Storage& storage, Memory& memory, std::vector<int64_t> shape, const std::string& where) {
  int64_t elements = 1;
  bool fits = true;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0)
      throw Error(where + ": " + storage.name, fmt::format("extent {} of the shape is {}", d, shape[d]),
                  "an extent is 0 or more");
    fits &= !__builtin_mul_overflow(elements, shape[d], &elements);
  }
  int64_t bytes = 0;
  fits &= !__builtin_mul_overflow(elements, storage.type.bytes(), &bytes);
  try {
    if (!fits) throw std::bad_alloc();
    memory.own.assign(static_cast<size_t>(bytes), std::byte{0});
  } catch (const std::exception&) {
    throw Error(where + ": " + storage.name, fmt::format("there is no memory for {} elements", fits ? elements : INT64_MAX),
                "make the shape smaller");
  }
  memory.data = memory.own.data();
  memory.elements = elements;
  storage.shape = std::move(shape);
  storage.memory = &memory;
}

void mark_unwritten(Storage& storage) {
  storage.memory->written.assign(static_cast<size_t>(storage.memory->elements), false);
}

}  // namespace lathe
