#include "ir/expr_code.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "runtime/base/error.h"

namespace lathe {

int64_t Code::integer(State&) const { LATHE_CHECK(false, "a float expression has no integer value"); }
double Code::real(State&) const { LATHE_CHECK(false, "an integer expression has no float value"); }

namespace {

int64_t add_wrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t sub_wrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t mul_wrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// ---- leaves
struct IntegerVariable : Code {
  size_t slot;
  explicit IntegerVariable(size_t slot) : slot(slot) {}
  int64_t integer(State& s) const override { return s.integers[slot]; }
};
struct RealVariable : Code {
  size_t slot;
  explicit RealVariable(size_t slot) : slot(slot) {}
  double real(State& s) const override { return s.reals[slot]; }
};
struct Constant : Code {
  Scalar value;
  explicit Constant(Scalar value) : value(value) {}
  int64_t integer(State&) const override { return value.integer; }
  double real(State&) const override { return value.real; }
};

// ---- operators: the common ones directly, the others through apply_scalar
struct Apply : Code {
  Op op;
  DType type;  // of the operands
  std::vector<const Code*> args;
  Apply(Op op, DType type, std::vector<const Code*> args) : op(op), type(type), args(std::move(args)) {}
  Scalar value(State& s) const {
    Scalar operands[3];
    for (size_t i = 0; i < args.size(); ++i)
      operands[i] = type.is_float() ? Scalar{0, args[i]->real(s)} : Scalar{args[i]->integer(s), 0};
    return apply_scalar(op, type, {operands, args.size()});
  }
  int64_t integer(State& s) const override { return value(s).integer; }
  double real(State& s) const override { return value(s).real; }
};

template <class F>
struct RealBinary : Code {
  const Code *a, *b;
  RealBinary(const Code* a, const Code* b) : a(a), b(b) {}
  double real(State& s) const override {
    const double x = a->real(s);
    return F{}(x, b->real(s));
  }
};
struct AddF32 { double operator()(double x, double y) const { return static_cast<float>(x + y); } };
struct SubF32 { double operator()(double x, double y) const { return static_cast<float>(x - y); } };
struct MulF32 { double operator()(double x, double y) const { return static_cast<float>(x * y); } };

// `select`, && and || ask only for the operands that they need.
struct Select : Code {
  const Code *condition, *a, *b;
  Select(const Code* condition, const Code* a, const Code* b) : condition(condition), a(a), b(b) {}
  int64_t integer(State& s) const override { return condition->integer(s) ? a->integer(s) : b->integer(s); }
  double real(State& s) const override { return condition->integer(s) ? a->real(s) : b->real(s); }
};
struct And : Code {
  const Code *a, *b;
  And(const Code* a, const Code* b) : a(a), b(b) {}
  int64_t integer(State& s) const override { return a->integer(s) && b->integer(s); }
};
struct Or : Code {
  const Code *a, *b;
  Or(const Code* a, const Code* b) : a(a), b(b) {}
  int64_t integer(State& s) const override { return a->integer(s) || b->integer(s); }
};

struct FmaF32 : Code {
  const Code *a, *b, *c;
  FmaF32(const Code* a, const Code* b, const Code* c) : a(a), b(b), c(c) {}
  double real(State& s) const override {
    const auto x = static_cast<float>(a->real(s)), y = static_cast<float>(b->real(s));
    return std::fmaf(x, y, static_cast<float>(c->real(s)));
  }
};

template <class F>
struct IntegerBinary : Code {
  const Code *a, *b;
  IntegerBinary(const Code* a, const Code* b) : a(a), b(b) {}
  int64_t integer(State& s) const override {
    const int64_t x = a->integer(s);
    return F{}(x, b->integer(s));
  }
};
struct AddI64 { int64_t operator()(int64_t x, int64_t y) const { return add_wrapping(x, y); } };
struct SubI64 { int64_t operator()(int64_t x, int64_t y) const { return sub_wrapping(x, y); } };
struct MulI64 { int64_t operator()(int64_t x, int64_t y) const { return mul_wrapping(x, y); } };

template <class F>
struct IntegerCompare : Code {
  const Code *a, *b;
  IntegerCompare(const Code* a, const Code* b) : a(a), b(b) {}
  int64_t integer(State& s) const override {
    const int64_t x = a->integer(s);
    return F{}(x, b->integer(s));
  }
};
template <class F>
struct RealCompare : Code {
  const Code *a, *b;
  RealCompare(const Code* a, const Code* b) : a(a), b(b) {}
  int64_t integer(State& s) const override {
    const double x = a->real(s);
    return F{}(x, b->real(s));
  }
};

struct Cast : Code {
  DType from, to;
  const Code* value;
  Cast(DType from, DType to, const Code* value) : from(from), to(to), value(value) {}
  Scalar converted(State& s) const {
    return cast_scalar(from.is_float() ? Scalar{0, value->real(s)} : Scalar{value->integer(s), 0}, from, to);
  }
  int64_t integer(State& s) const override { return converted(s).integer; }
  double real(State& s) const override { return converted(s).real; }
};

struct Ramp : Code {
  const Code *base, *stride;
  DType type;
  Ramp(const Code* base, const Code* stride, DType type) : base(base), stride(stride), type(type) {}
  int64_t integer(State& s) const override {
    return wrap_integer(add_wrapping(base->integer(s), mul_wrapping(stride->integer(s), s.lane)), type).integer;
  }
};

// ---- affine i64 expressions: constant + Σ factor·variable, exact modulo 2^64 as all i64 arithmetic is
struct Affine {
  struct Term {
    size_t slot;
    int64_t factor;
  };
  int64_t constant = 0;
  std::vector<Term> terms;

  int64_t value(const State& s) const {
    int64_t sum = constant;
    for (const Term& t : terms) sum = add_wrapping(sum, mul_wrapping(t.factor, s.integers[t.slot]));
    return sum;
  }
  void add(const Affine& other, int64_t factor) {
    constant = add_wrapping(constant, mul_wrapping(other.constant, factor));
    for (const Term& t : other.terms) {
      Term* same = nullptr;
      for (Term& mine : terms)
        if (mine.slot == t.slot) same = &mine;
      if (!same) same = &terms.emplace_back(Term{t.slot, 0});
      same->factor = add_wrapping(same->factor, mul_wrapping(t.factor, factor));
    }
  }
};
struct AffineCode : Code {
  Affine affine;
  explicit AffineCode(Affine affine) : affine(std::move(affine)) {}
  int64_t integer(State& s) const override { return affine.value(s); }
};

std::optional<Affine> as_affine(const Expr& e, ExprCompiler& compiler) {
  if (e.type() != i64) return {};
  if (const int64_t* c = as_constant(e)) return Affine{*c, {}};
  if (const auto* v = as<VarNode>(e)) return Affine{0, {{compiler.slot(v), 1}}};
  const auto* a = as<ApplyNode>(e);
  if (!a || (a->op != Op::add && a->op != Op::sub && a->op != Op::mul)) return {};
  auto left = as_affine(a->args[0], compiler);
  if (!left) return {};
  auto right = as_affine(a->args[1], compiler);
  if (!right) return {};
  Affine result;
  if (a->op != Op::mul) {
    result = *left;
    result.add(*right, a->op == Op::add ? 1 : -1);
    return result;
  }
  if (!left->terms.empty()) std::swap(left, right);
  if (!left->terms.empty()) return {};
  result.add(*right, left->constant);
  return result;
}

// ---- tensor elements
struct Index {
  Affine affine;
  const Code* code = nullptr;  // when the index is not affine
  int64_t value(State& s) const { return code ? code->integer(s) : affine.value(s); }
};

struct Place : Code {
  const Storage* storage;
  std::string where;
  std::vector<Index> indices;
  Place(const Storage* storage, std::string where, std::vector<Index> indices)
      : storage(storage), where(std::move(where)), indices(std::move(indices)) {}

  int64_t integer(State& s) const override { return offset(s); }
  int64_t offset(State& s) const {
    int64_t result = 0;
    for (size_t d = 0; d < indices.size(); ++d) {
      const int64_t i = indices[d].value(s), extent = storage->shape[d];
      if (static_cast<uint64_t>(i) >= static_cast<uint64_t>(extent)) refuse(s, d);
      result = result * extent + i;
    }
    return result;
  }
  std::string element(State& s) const {
    std::string text;
    for (const Index& i : indices) text += fmt::format("{}{}", text.empty() ? "" : ", ", i.value(s));
    return fmt::format("{}: {}[{}]", where, storage->name, text);
  }
  [[noreturn]] void refuse(State& s, size_t d) const {
    const int64_t i = indices[d].value(s), extent = storage->shape[d];
    std::string shape;
    for (int64_t e : storage->shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", e);
    throw Error(where + ": " + storage->name, fmt::format("index {} of axis {} lies outside the extent {}", i, d, extent),
                fmt::format("{} has the shape [{}]; guard the access with select or a condition", storage->name, shape));
  }
  void check_written(State& s, int64_t number) const {
    if (!storage->memory->written.empty() && !storage->memory->written[static_cast<size_t>(number)])
      throw Error(element(s), "is read before anything was written there");
  }
};

template <class T>
T read_element(const Memory& memory, int64_t number) {
  T value;
  std::memcpy(&value, memory.data + number * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
struct IntegerLoad : Code {
  const Place* place;
  explicit IntegerLoad(const Place* place) : place(place) {}
  int64_t integer(State& s) const override {
    const int64_t number = place->offset(s);
    place->check_written(s, number);
    return static_cast<int64_t>(read_element<T>(*place->storage->memory, number));
  }
};
struct BoolLoad : Code {
  const Place* place;
  explicit BoolLoad(const Place* place) : place(place) {}
  int64_t integer(State& s) const override {
    const int64_t number = place->offset(s);
    place->check_written(s, number);
    return read_element<uint8_t>(*place->storage->memory, number) != 0;
  }
};
template <class T>
struct RealLoad : Code {
  const Place* place;
  explicit RealLoad(const Place* place) : place(place) {}
  double real(State& s) const override {
    const int64_t number = place->offset(s);
    place->check_written(s, number);
    return static_cast<double>(read_element<T>(*place->storage->memory, number));
  }
};

// Floats narrower than f32: every value looked up, since decoding one takes some 20 ns.
const std::vector<double>& decoded(DType type) {
  static const std::map<std::string, std::vector<double>> tables = [] {
    std::map<std::string, std::vector<double>> result;
    for (const DTypeRow& row : dtype_rows)
      if (row.type.is_float() && row.type.bits < 32) {
        std::vector<double>& values = result[std::string(row.name)];
        values.resize(size_t{1} << row.type.bits);
        for (size_t code = 0; code < values.size(); ++code) values[code] = decode_float(code, row.type);
      }
    return result;
  }();
  return tables.at(to_string(type.scalar()));
}
template <class T>
struct NarrowLoad : Code {
  const Place* place;
  const double* values;
  NarrowLoad(const Place* place, DType type) : place(place), values(decoded(type).data()) {}
  double real(State& s) const override {
    const int64_t number = place->offset(s);
    place->check_written(s, number);
    return values[read_element<T>(*place->storage->memory, number)];
  }
};

// ---- reductions
struct Reduction : Code {
  struct Loop {
    size_t slot;
    const Code* extent;
  };
  struct Accumulator {
    size_t slot;
    bool is_real;
    Scalar identity;
    const Code* step = nullptr;
  };
  std::vector<Loop> loops;
  std::vector<Accumulator> accumulators;

  void run(State& s) const {
    for (const Accumulator& a : accumulators) assign(s, a, a.identity);
    loop(s, 0);
    s.reduced = true;
  }

 private:
  static void assign(State& s, const Accumulator& a, Scalar value) {
    if (a.is_real)
      s.reals[a.slot] = value.real;
    else
      s.integers[a.slot] = value.integer;
  }
  void loop(State& s, size_t depth) const {
    const int64_t extent = loops[depth].extent->integer(s);
    const bool innermost = depth + 1 == loops.size();
    for (int64_t i = 0; i < extent; ++i) {
      s.integers[loops[depth].slot] = i;
      if (innermost)
        step(s);
      else
        loop(s, depth + 1);
    }
  }
  void step(State& s) const {
    if (const Accumulator& a = accumulators[0]; accumulators.size() == 1) {
      if (a.is_real)
        s.reals[a.slot] = a.step->real(s);
      else
        s.integers[a.slot] = a.step->integer(s);
      return;
    }
    // All components see the old accumulators.
    for (size_t i = 0; i < accumulators.size(); ++i) {
      const Accumulator& a = accumulators[i];
      s.scratch[i] = a.is_real ? Scalar{0, a.step->real(s)} : Scalar{a.step->integer(s), 0};
    }
    for (size_t i = 0; i < accumulators.size(); ++i) assign(s, accumulators[i], s.scratch[i]);
  }
};

// One component of a reduction that runs when the first of its components is asked for.
struct Component : Code {
  const Reduction* reduction;
  size_t slot;
  Component(const Reduction* reduction, size_t slot) : reduction(reduction), slot(slot) {}
  int64_t integer(State& s) const override {
    if (!s.reduced) reduction->run(s);
    return s.integers[slot];
  }
  double real(State& s) const override {
    if (!s.reduced) reduction->run(s);
    return s.reals[slot];
  }
};

Scalar constant_value(const Expr& e) {
  if (const auto* i = as<IntegerNode>(e)) return {i->value, 0};
  const auto* r = as<RealNode>(e);
  LATHE_CHECK(r, "the identity of a combiner is a constant");
  return {0, r->value};
}

}  // namespace

template <class C, class... A>
const C* ExprCompiler::make(A&&... arguments) {
  auto code = std::make_unique<C>(std::forward<A>(arguments)...);
  const C* result = code.get();
  codes_.push_back(std::move(code));
  return result;
}

size_t ExprCompiler::slot(const VarNode* v) {
  auto [found, fresh] = slots_.emplace(v, slots_.size());
  if (fresh) kept_.push_back(Expr(v));
  return found->second;
}

Storage& ExprCompiler::storage(const Ref<TensorNode>& tensor) {
  const Node* identity = tensor->definition ? static_cast<const Node*>(tensor->definition.get()) : tensor.get();
  std::unique_ptr<Storage>& entry = storages_[{identity, tensor->output}];
  if (!entry) {
    entry = std::make_unique<Storage>(Storage{tensor->name, tensor->type, {}, nullptr});
    kept_tensors_.push_back(tensor);
  }
  return *entry;
}

State ExprCompiler::make_state() const {
  State state;
  state.integers.resize(slots_.size());
  state.reals.resize(slots_.size());
  state.scratch.resize(components_);
  return state;
}

const Code* ExprCompiler::compile(const Expr& e) {
  auto found = compiled_.find(e.get());
  if (found != compiled_.end()) return found->second;
  const Code* code = compile_new(e);
  compiled_.emplace(e.get(), code);
  kept_.push_back(e);
  return code;
}

const Code* ExprCompiler::compile_new(const Expr& e) {
  switch (e->kind) {
    case ExprKind::variable: {
      const size_t place = slot(as<VarNode>(e));
      if (e.type().is_float()) return make<RealVariable>(place);
      return make<IntegerVariable>(place);
    }
    case ExprKind::integer:
    case ExprKind::real: return make<Constant>(constant_value(e));
    case ExprKind::apply:
      if (auto affine = as_affine(e, *this)) return make<AffineCode>(std::move(*affine));
      return compile_apply(*as<ApplyNode>(e));
    case ExprKind::cast: {
      const Expr& value = as<CastNode>(e)->value;
      const DType from = value.type().scalar(), to = e.type().scalar();
      const Code* code = compile(value);
      const bool exact_float = from.is_float() && to.is_float() && (to.bits == 64 || (to.bits == 32 && from.bits < 32));
      const bool exact_integer = from.is_int() && to == i64 && from.bits < 64;
      if (exact_float || exact_integer) return code;  // held in the same way
      return make<Cast>(from, to, code);
    }
    case ExprKind::load: return compile_load(*as<LoadNode>(e));
    case ExprKind::reduce: return compile_reduce(*as<ReduceNode>(e));
    case ExprKind::ramp: {
      const auto* r = as<RampNode>(e);
      LATHE_CHECK(!e.type().is_float(), "a ramp of floats");
      return make<Ramp>(compile(r->base), compile(r->stride), e.type().scalar());
    }
    case ExprKind::broadcast: return compile(as<BroadcastNode>(e)->value);
  }
  LATHE_CHECK(false, "unreachable");
}

const Code* ExprCompiler::compile_apply(const ApplyNode& apply) {
  const Op op = apply.op;
  const DType type = apply.args.back().type().scalar();
  std::vector<const Code*> x;
  for (const Expr& a : apply.args) x.push_back(compile(a));
  if (op == Op::select) return make<Select>(x[0], x[1], x[2]);
  if (op == Op::logical_and) return make<And>(x[0], x[1]);
  if (op == Op::logical_or) return make<Or>(x[0], x[1]);

  if (type == f32) {
    if (op == Op::add) return make<RealBinary<AddF32>>(x[0], x[1]);
    if (op == Op::sub) return make<RealBinary<SubF32>>(x[0], x[1]);
    if (op == Op::mul) return make<RealBinary<MulF32>>(x[0], x[1]);
    if (op == Op::fma) return make<FmaF32>(x[0], x[1], x[2]);
  }
  if (type == f64) {
    if (op == Op::add) return make<RealBinary<std::plus<double>>>(x[0], x[1]);
    if (op == Op::sub) return make<RealBinary<std::minus<double>>>(x[0], x[1]);
    if (op == Op::mul) return make<RealBinary<std::multiplies<double>>>(x[0], x[1]);
  }
  if (type == i64) {
    if (op == Op::add) return make<IntegerBinary<AddI64>>(x[0], x[1]);
    if (op == Op::sub) return make<IntegerBinary<SubI64>>(x[0], x[1]);
    if (op == Op::mul) return make<IntegerBinary<MulI64>>(x[0], x[1]);
  }
  if (type.is_float()) {
    if (op == Op::eq) return make<RealCompare<std::equal_to<double>>>(x[0], x[1]);
    if (op == Op::lt) return make<RealCompare<std::less<double>>>(x[0], x[1]);
    if (op == Op::le) return make<RealCompare<std::less_equal<double>>>(x[0], x[1]);
    if (op == Op::gt) return make<RealCompare<std::greater<double>>>(x[0], x[1]);
    if (op == Op::ge) return make<RealCompare<std::greater_equal<double>>>(x[0], x[1]);
  } else if (type != u64) {  // all other integers compare as the i64 that holds them
    if (op == Op::eq) return make<IntegerCompare<std::equal_to<int64_t>>>(x[0], x[1]);
    if (op == Op::lt) return make<IntegerCompare<std::less<int64_t>>>(x[0], x[1]);
    if (op == Op::le) return make<IntegerCompare<std::less_equal<int64_t>>>(x[0], x[1]);
    if (op == Op::gt) return make<IntegerCompare<std::greater<int64_t>>>(x[0], x[1]);
    if (op == Op::ge) return make<IntegerCompare<std::greater_equal<int64_t>>>(x[0], x[1]);
  }
  return make<Apply>(op, type, std::move(x));
}

const Code* ExprCompiler::compile_place(const Ref<TensorNode>& tensor, const std::vector<Expr>& indices) {
  std::vector<Index> places;
  for (const Expr& e : indices) {
    Index index;
    if (auto affine = as_affine(e, *this))
      index.affine = std::move(*affine);
    else
      index.code = compile(e);
    places.push_back(std::move(index));
  }
  return make<Place>(&storage(tensor), where_, std::move(places));
}

const Code* ExprCompiler::compile_load(const LoadNode& load) {
  const auto* place = static_cast<const Place*>(compile_place(load.tensor, load.indices));
  const DType type = load.tensor->type;
  switch (type.kind) {
    case TypeKind::boolean: return make<BoolLoad>(place);
    case TypeKind::sint:
      if (type.bits == 8) return make<IntegerLoad<int8_t>>(place);
      if (type.bits == 16) return make<IntegerLoad<int16_t>>(place);
      if (type.bits == 32) return make<IntegerLoad<int32_t>>(place);
      return make<IntegerLoad<int64_t>>(place);
    case TypeKind::uint:
      if (type.bits == 8) return make<IntegerLoad<uint8_t>>(place);
      if (type.bits == 16) return make<IntegerLoad<uint16_t>>(place);
      if (type.bits == 32) return make<IntegerLoad<uint32_t>>(place);
      return make<IntegerLoad<uint64_t>>(place);
    case TypeKind::floating:
      if (type.bits == 64) return make<RealLoad<double>>(place);
      if (type.bits == 32) return make<RealLoad<float>>(place);
      if (type.bits == 16) return make<NarrowLoad<uint16_t>>(place, type);
      return make<NarrowLoad<uint8_t>>(place, type);
  }
  LATHE_CHECK(false, "unreachable");
}

const Code* ExprCompiler::compile_reduce(const ReduceNode& reduce) {
  const Code*& known = reductions_[{reduce.combiner.get(), reduce.axes[0].var.node()}];
  if (!known) {
    const CombinerNode& c = *reduce.combiner;
    Reduction code;
    for (const Axis& axis : reduce.axes) code.loops.push_back({slot(axis.var.node()), compile(axis.extent)});
    std::vector<Expr> accumulators;
    for (size_t i = 0; i < c.lhs.size(); ++i) {
      const Var accumulator(c.lhs[i].name(), c.lhs[i].type());
      accumulators.push_back(accumulator);
      code.accumulators.push_back(
          {slot(accumulator.node()), accumulator.type().is_float(), constant_value(c.identity[i])});
    }
    const std::vector<Expr> next = combine(reduce, accumulators);
    for (size_t i = 0; i < next.size(); ++i) code.accumulators[i].step = compile(next[i]);
    components_ = std::max(components_, next.size());
    known = make<Reduction>(std::move(code));
  }
  const auto* reduction = static_cast<const Reduction*>(known);
  return make<Component>(reduction, reduction->accumulators[static_cast<size_t>(reduce.index)].slot);
}

void write_integer(Storage& storage, int64_t number, int64_t value) {
  Memory& memory = *storage.memory;
  const int bytes = storage.type.bytes();
  std::memcpy(memory.data + number * bytes, &value, static_cast<size_t>(bytes));  // little-endian: the low bytes
  if (!memory.written.empty()) memory.written[static_cast<size_t>(number)] = true;
}

void write_real(Storage& storage, int64_t number, double value) {
  write_integer(storage, number, static_cast<int64_t>(encode_float(value, storage.type)));
}

}  // namespace lathe
