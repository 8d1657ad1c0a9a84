#include "ir/parse.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "ir/equal.h"
#include "ir/lexer.h"
#include "ir/print.h"

namespace lathe {
namespace {

// How deep expressions and statements may nest: far above any real program, far below the stack.
constexpr int max_depth = 400;

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : lex_(text, file) {}
  explicit Parser(Lexer& lexer) : lex_(lexer) {}

  // A condition on variables that are found by name; `lexer` goes on behind it.
  Expr condition_on(const FindVariable& find, Lexer& lexer) {
    find_ = &find;
    Expr e = condition();
    lexer = lex_;
    return e;
  }

  Program program() {
    lex_.expect("function");
    const std::string name = function_name();
    const Token head = lex_.peek();
    symbols();
    lex_.expect("(");
    struct Parameter {
      std::string name;
      bool is_output;
      Token at;
    };
    std::vector<Parameter> parameters;
    if (!lex_.peek().is(")")) do {
        Parameter p{"", lex_.accept("out"), lex_.peek()};
        if (p.is_output) {
          p.name = new_name("a tensor");
        } else {
          const Tensor t = typed_tensor();
          p.name = t.name();
        }
        for (const Parameter& other : parameters)
          if (other.name == p.name) lex_.fail_at(p.at, fmt::format("{} stands twice among the arguments", p.name));
        parameters.push_back(std::move(p));
      } while (lex_.accept(","));
    lex_.expect(")");

    while (!lex_.at_end() && !lex_.peek().is("schedule")) {
      if (lex_.peek().is("combiner"))
        combiner();
      else
        definition();
    }
    std::vector<Tensor> arguments;
    for (const Parameter& p : parameters) {
      auto found = tensors_.find(p.name);
      if (found == tensors_.end()) lex_.fail_at(p.at, fmt::format("output {} is never computed", p.name), fmt::format("add a line {}[i: …] = …", p.name));
      arguments.push_back(found->second);
    }
    Program result = guarded(head, [&] { return make_program(name, arguments); });
    if (lex_.accept("schedule")) {
      lex_.expect("{");
      while (!lex_.accept("}")) {
        if (lex_.at_end()) lex_.fail("the schedule is not closed", "end it with }");
        result.steps.push_back(parse_step(lex_));
      }
    }
    if (!lex_.at_end()) lex_.fail("unexpected text after the schedule");
    // Symbols keep the order of the declaration.
    std::vector<Var> ordered;
    for (const Var& declared : declared_symbols_) {
      bool used = false;
      for (const Var& v : result.symbols) used |= v.same_as(declared);
      if (!used) lex_.fail_at(head, fmt::format("symbol {} is in no argument's shape", declared.name()), "use it in a shape, or leave it out");
      ordered.push_back(declared);
    }
    result.symbols = ordered;
    return result;
  }

  LoweredFunction function() {
    LoweredFunction f;
    if (lex_.accept("function")) {
      f.name = function_name();
      f.symbols = symbols();
      lex_.expect("(");
      tensor_parameters(f.arguments, f.is_output);
      if (lex_.accept("workspaces")) {
        std::vector<bool> written;
        lex_.expect("(");
        tensor_parameters(f.workspaces, written);
      }
      if (lex_.peek().is("{")) f.body = braced();
    }
    while (lex_.peek().is("kernel")) f.kernels.push_back(kernel());
    if (!lex_.at_end()) lex_.fail("unexpected text", "a lowered function is `function …` or `kernel …`");
    return f;
  }

 private:
  // ---- names
  std::string function_name() { return lex_.identifier("a function name"); }

  std::string new_name(std::string_view what) {
    const Token at = lex_.peek();
    std::string name = lex_.identifier(what);
    if (is_reserved(name)) lex_.fail_at(at, fmt::format("\"{}\" is a word of the language", name), "choose another name");
    return name;
  }

  // An Error that a maker throws becomes one with a place in the text.
  template <class F>
  auto guarded(const Token& at, F f) -> decltype(f()) {
    try {
      return f();
    } catch (const Error& e) {
      const std::string place = lex_.where(at);
      if (e.where().rfind(place.substr(0, place.find(':') + 1), 0) == 0) throw;  // it has one
      throw Error(place, e.where() + ": " + e.message(), e.hint());
    }
  }

  void bind(const Var& v) { scopes_[v.name()].push_back(v); }
  void unbind(const Var& v) { scopes_[v.name()].pop_back(); }

  std::vector<Var> symbols() {
    std::vector<Var> result;
    if (!lex_.accept("<")) return result;
    do {
      const Token at = lex_.peek();
      Var v(new_name("a symbol"));
      if (!scopes_[v.name()].empty()) lex_.fail_at(at, fmt::format("symbol {} stands twice", v.name()));
      bind(v);
      result.push_back(v);
    } while (lex_.accept(","));
    lex_.expect(">");
    declared_symbols_ = result;
    return result;
  }

  DType type() {
    const Token at = lex_.peek();
    const std::string name = lex_.identifier("a type");
    const auto t = parse_dtype(name);
    if (!t || t->lanes != 1) lex_.fail_at(at, fmt::format("\"{}\" is not a type", name), "types are f32, f16, bf16, f64, i32, i64, u8, bool, …");
    return *t;
  }

  // name: type[shape], entered among the tensors
  Tensor typed_tensor() {
    const Token at = lex_.peek();
    std::string name = new_name("a tensor");
    lex_.expect(":");
    const DType t = type();
    lex_.expect("[");
    std::vector<Expr> shape = list("]");
    return enter(at, guarded(at, [&] { return placeholder(std::move(shape), t, name); }));
  }

  Tensor enter(const Token& at, const Tensor& t) {
    if (!tensors_.emplace(t.name(), t).second)
      lex_.fail_at(at, fmt::format("there is already a tensor {}", t.name()), "give each its own name");
    return t;
  }

  void tensor_parameters(std::vector<Tensor>& tensors, std::vector<bool>& written) {
    if (!lex_.peek().is(")")) do {
        written.push_back(lex_.accept("out"));
        tensors.push_back(typed_tensor());
      } while (lex_.accept(","));
    lex_.expect(")");
  }

  // ---- definitions
  std::vector<Axis> axes(std::string_view close) {
    std::vector<Axis> result;
    if (!lex_.peek().is(close)) do {
        std::string name = new_name("an axis");
        lex_.expect(":");
        result.push_back({Var(std::move(name)), expr()});
      } while (lex_.accept(","));
    lex_.expect(close);
    return result;
  }

  void definition() {
    const Token at = lex_.peek();
    std::vector<std::string> names;
    const bool tuple = lex_.accept("(");
    do names.push_back(new_name("a tensor, combiner or schedule"));
    while (tuple && lex_.accept(","));
    if (tuple) lex_.expect(")");
    lex_.expect("[");
    std::vector<Axis> a = axes("]");
    lex_.expect("=");
    std::vector<Expr> shape;
    std::vector<std::string> axis_names;
    for (const Axis& axis : a) {
      shape.push_back(axis.extent);
      axis_names.push_back(axis.var.name());
    }
    reductions_.clear();
    const auto tensors = guarded(at, [&] {
      return compute_tuple(
          shape,
          [&](const std::vector<Expr>& indices) {
            for (const Expr& i : indices) bind(Var(as<VarNode>(i)));
            std::vector<Expr> body;
            if (tuple) {
              lex_.expect("(");
              body = list(")");
            } else {
              body = {expr()};
            }
            for (const Expr& i : indices) unbind(Var(as<VarNode>(i)));
            return body;
          },
          names, axis_names);
    });
    for (const Tensor& t : tensors) enter(at, t);
  }

  std::vector<Var> operands() {
    std::vector<Var> result;
    lex_.expect("(");
    do {
      std::string name = new_name("an operand");
      lex_.expect(":");
      result.push_back(Var(std::move(name), type()));
    } while (lex_.accept(","));
    lex_.expect(")");
    return result;
  }

  void combiner() {
    const Token at = lex_.next();
    const std::string name = new_name("a combiner");
    if (!combiners_.emplace(name, combiner_of(at, name)).second) lex_.fail_at(at, fmt::format("there is already a combiner {}", name));
  }

  // What follows a combiner's name.
  Combiner combiner_of(const Token& at, const std::string& name) {
    std::vector<Var> lhs = operands();
    lex_.expect(",");
    std::vector<Var> rhs = operands();
    lex_.expect("=");
    for (const auto* side : {&lhs, &rhs})
      for (const Var& v : *side) bind(v);
    lex_.expect("(");
    std::vector<Expr> result = list(")");
    for (const auto* side : {&lhs, &rhs})
      for (const Var& v : *side) unbind(v);
    lex_.expect("identity");
    lex_.expect("(");
    std::vector<Expr> identity = list(")");
    return guarded(at, [&] { return make_combiner(name, lhs, rhs, result, identity); });
  }

  // ---- expressions
  std::vector<Expr> list(std::string_view close) {
    std::vector<Expr> result;
    if (!lex_.peek().is(close)) do result.push_back(expr());
      while (lex_.accept(","));
    lex_.expect(close);
    return result;
  }

  struct Deeper {
    explicit Deeper(Parser& p) : parser(p) {
      if (++parser.depth_ > max_depth) parser.lex_.fail(fmt::format("nested more than {} deep", max_depth), "compute a part as a tensor of its own");
    }
    ~Deeper() { --parser.depth_; }
    Parser& parser;
  };

  const OpRow* infix_here(Op& op) {
    for (size_t i = 0; i < std::size(op_rows); ++i)
      if (op_rows[i].form == OpForm::infix && lex_.peek().kind == Token::Kind::symbol && lex_.peek().is(op_rows[i].text)) {
        op = static_cast<Op>(i);
        return &op_rows[i];
      }
    return nullptr;
  }

  Expr expr(int outer = 0) {
    const Deeper deeper(*this);
    Expr left = prefix();
    Op op{};
    while (true) {
      const OpRow* row = infix_here(op);
      if (!row || row->precedence < outer) return left;
      const Token at = lex_.next();
      Expr right = expr(row->precedence + 1);
      left = guarded(at, [&] { return make_apply(op, {left, right}); });
    }
  }

  Expr prefix() {
    const Token at = lex_.peek();
    for (Op op : {Op::neg, Op::logical_not, Op::bit_not})
      if (at.kind == Token::Kind::symbol && at.is(op_row(op).text)) {
        lex_.next();
        if (op == Op::neg && (lex_.peek().kind == Token::Kind::integer || lex_.peek().kind == Token::Kind::real))
          return number(at, true, std::nullopt);
        Expr operand = expr(op_row(op).precedence);
        return guarded(at, [&] { return make_apply(op, {operand}); });
      }
    return primary();
  }

  // A number as written; its decimal text is rounded once, into the type it has.
  Expr number(const Token& at, bool negative, std::optional<DType> type) {
    const Token digits = lex_.next();
    if (digits.kind == Token::Kind::integer && !(type && type->is_float())) {
      uint64_t magnitude = 0;
      const auto [end, error] = std::from_chars(digits.text.data(), digits.text.data() + digits.text.size(), magnitude);
      const DType t = type.value_or(i64);
      const uint64_t most = t.is_bool() ? 1
                            : t.is_signed() ? (~uint64_t{0} >> (65 - t.bits)) + (negative ? 1 : 0)
                                            : (negative ? 0 : ~uint64_t{0} >> (64 - t.bits));
      if (error != std::errc{} || magnitude > most)
        lex_.fail_at(at, fmt::format("{}{} does not fit {}", negative ? "-" : "", digits.text, to_string(t)));
      return constant(t, static_cast<int64_t>(negative ? -magnitude : magnitude));
    }
    const DType t = type.value_or(f32);
    if (!t.is_float()) lex_.fail_at(at, fmt::format("{} is not an integer", digits.text), fmt::format("write a whole number for {}", to_string(t)));
    const char *begin = digits.text.data(), *end = begin + digits.text.size();
    float single = 0;
    double value = 0;
    const auto error = t == f32 ? std::from_chars(begin, end, single).ec : std::from_chars(begin, end, value).ec;
    if (error != std::errc{})
      lex_.fail_at(at, fmt::format("{} does not fit {}", digits.text, to_string(t)),
                   fmt::format("infinity is written {}(inf)", to_string(t)));
    if (t == f32) value = static_cast<double>(single);
    return constant(t, negative ? -value : value);
  }

  // type(…): a typed constant when a literal stands alone inside, else a conversion
  Expr conversion(const Token& at, DType t) {
    lex_.expect("(");
    const Token start = lex_.peek();
    if (t.is_float() && (start.is("inf") || start.is("nan"))) {
      const double value = lex_.next().is("inf") ? std::numeric_limits<double>::infinity() : std::nan("");
      lex_.expect(")");
      return constant(t, value);
    }
    if (t.is_float() && start.is("-")) {
      Lexer ahead = lex_;
      ahead.next();
      if (ahead.peek().is("inf")) {
        lex_ = ahead;
        lex_.next();
        lex_.expect(")");
        return constant(t, -std::numeric_limits<double>::infinity());
      }
    }
    Lexer ahead = lex_;
    const bool negative = ahead.accept("-");
    if (ahead.peek().kind == Token::Kind::integer || ahead.peek().kind == Token::Kind::real) {
      const bool integral = ahead.peek().kind == Token::Kind::integer;
      ahead.next();
      if (ahead.peek().is(")") && (t.is_float() || integral)) {
        if (negative) lex_.next();
        Expr value = number(start, negative, t);
        lex_.expect(")");
        return value;
      }
    }
    Expr operand = expr();
    lex_.expect(")");
    return guarded(at, [&] { return make_cast(t, operand); });
  }

  Expr reduction(const Token& at, const std::string& name) {
    lex_.expect("[");
    const std::vector<Axis> a = axes("]");
    for (const Axis& axis : a) bind(axis.var);
    lex_.expect("(");
    std::vector<Expr> sources = list(")");
    for (const Axis& axis : a) unbind(axis.var);
    std::vector<DType> types;
    for (const Expr& s : sources) types.push_back(s.type());
    Combiner c;
    if (auto found = combiners_.find(name); found != combiners_.end())
      c = found->second;
    else
      c = guarded(at, [&] { return builtin_combiner(name, types); });
    if (!c) lex_.fail_at(at, fmt::format("{} does not reduce {} values", name, sources.size()));
    int64_t index = 0;
    if (lex_.accept(".")) {
      const Token component = lex_.peek();
      index = lex_.integer("a component");
      if (index < 0 || index >= static_cast<int64_t>(sources.size()))
        lex_.fail_at(component, fmt::format("component {} of {}", index, sources.size()), "components are numbered from 0");
    }
    // Sums of narrow types accumulate in a wider one, here as in C++: what is read prints as what it means.
    if (combiners_.count(name) == 0 && sources.size() == 1 && (name == "sum" || name == "product")) {
      const Expr widened = guarded(at, [&] { return name == "sum" ? sum(sources[0], a) : product(sources[0], a); });
      if (as<CastNode>(widened)) return widened;
    }
    // The components of one reduction are written out alike: a reduction that is equal to an earlier one is that one.
    Expr first = guarded(at, [&] { return make_reduce(c, sources, a, 0); });
    bool known = false;
    for (const Expr& earlier : reductions_)
      if (!known && equal(earlier, first)) {
        first = earlier;
        known = true;
      }
    if (!known) reductions_.push_back(first);
    const auto* r = as<ReduceNode>(first);
    return guarded(at, [&] { return make_reduce(r->combiner, r->sources, r->axes, static_cast<int>(index)); });
  }

  Expr primary() {
    const Token at = lex_.peek();
    if (at.kind == Token::Kind::integer || at.kind == Token::Kind::real) return number(at, false, std::nullopt);
    if (lex_.accept("(")) {
      Expr e = expr();
      lex_.expect(")");
      return e;
    }
    if (lex_.accept("true")) return true_();
    if (lex_.accept("false")) return false_();
    const std::string name = lex_.identifier("an expression");
    if (name == "ramp" || name == "broadcast") {
      lex_.expect("(");
      Expr value = expr(), stride;
      lex_.expect(",");
      if (name == "ramp") {
        stride = expr();
        lex_.expect(",");
      }
      const int64_t lanes = lex_.integer("lanes");
      lex_.expect(")");
      if (lanes < 2 || lanes > max_lanes)
        lex_.fail_at(at, fmt::format("{} lanes", lanes), fmt::format("a vector has 2 to {} lanes", max_lanes));
      return guarded(at, [&] {
        const int count = static_cast<int>(lanes);
        return stride.defined() ? make_ramp(value, stride, count) : make_broadcast(value, count);
      });
    }
    if (lex_.peek().is("(")) {
      if (auto t = parse_dtype(name); t && t->lanes == 1) return conversion(at, *t);
      for (size_t i = 0; i < std::size(op_rows); ++i)
        if (op_rows[i].form == OpForm::call && op_rows[i].text == name) {
          lex_.next();
          std::vector<Expr> args = list(")");
          if (static_cast<int>(args.size()) != op_rows[i].arity)
            lex_.fail_at(at, fmt::format("{} takes {} operands, here are {}", name, op_rows[i].arity, args.size()));
          return guarded(at, [&] { return make_apply(static_cast<Op>(i), args); });
        }
      lex_.fail_at(at, fmt::format("there is no function {}", name), "casts, math functions and min/max/select are called with (…)");
    }
    // A bracket tells tensors and reductions from variables, so an axis may be called like a tensor.
    const auto scope = scopes_.find(name);
    const bool is_variable = scope != scopes_.end() && !scope->second.empty();
    if (is_variable && !lex_.peek().is("[")) return scope->second.back();
    if (find_) {
      if (const auto v = (*find_)(name)) return *v;
    }
    if (auto t = tensors_.find(name); t != tensors_.end()) {
      lex_.expect("[");
      std::vector<Expr> indices = list("]");
      return guarded(at, [&] { return make_load(t->second, std::move(indices)); });
    }
    if (lex_.peek().is("[")) {
      const bool builtin = name == "sum" || name == "product" || name == "min" || name == "max" || name == "any" ||
                           name == "all" || name == "argmin" || name == "argmax";
      if (builtin || combiners_.count(name)) return reduction(at, name);
    }
    if (is_variable) lex_.fail(fmt::format("{} is a variable, it has no elements", name), "only tensors are indexed");
    lex_.fail_at(at, fmt::format("nothing here is called {}", name), "tensors, axes and symbols are used after they are declared");
  }

  // ---- statements
  Stmt braced() {
    lex_.expect("{");
    const Deeper deeper(*this);
    std::vector<Stmt> stmts;
    while (!lex_.accept("}")) {
      if (lex_.at_end()) lex_.fail("the block is not closed", "end it with }");
      stmts.push_back(statement());
    }
    return make_block(std::move(stmts));
  }

  Stmt statement() {
    const Token at = lex_.peek();
    if (lex_.accept("barrier")) return make_barrier();
    if (lex_.accept("combine")) return combine(at);
    if (lex_.accept("for")) {
      LoopKind kind = LoopKind::serial;
      for (LoopKind k : {LoopKind::vectorized, LoopKind::unrolled, LoopKind::virtual_thread, LoopKind::block_x, LoopKind::block_y, LoopKind::block_z,
                         LoopKind::thread_x, LoopKind::thread_y, LoopKind::thread_z})
        if (lex_.peek().is(to_string(k))) {
          Lexer ahead = lex_;
          ahead.next();
          if (ahead.peek().is("in")) continue;  // a variable of that name
          lex_.next();
          kind = k;
          break;
        }
      Var v(new_name("a loop variable"));
      lex_.expect("in");
      const Expr begin = index_expr("a loop's first value");
      lex_.expect("..");
      const Expr end = index_expr("a loop's end");
      bind(v);
      Stmt body = braced();
      unbind(v);
      return make_loop(kind, v, begin, end, body);
    }
    if (lex_.accept("if")) {
      const Expr holds = condition();
      Stmt then_body = braced();
      return make_branch(holds, then_body, lex_.accept("else") ? braced() : Stmt());
    }
    if (lex_.accept("alloc")) {
      Scope scope{};
      if (lex_.accept("shared"))
        scope = Scope::shared;
      else if (lex_.accept("register"))
        scope = Scope::registers;
      else
        lex_.expect("global");
      Tensor t = typed_tensor();
      Stmt body = braced();
      tensors_.erase(t.name());
      return make_alloc(t, scope, body);
    }
    const std::string name = lex_.identifier("a statement");
    auto t = tensors_.find(name);
    if (t == tensors_.end()) lex_.fail_at(at, fmt::format("nothing here is called {}", name));
    const Tensor tensor = t->second;
    lex_.expect("[");
    std::vector<Expr> indices = list("]");
    const int lanes = guarded(at, [&] { return check_access(*tensor, indices); });
    lex_.expect("=");
    Expr value = expr();
    if (value.type().lanes != 1 && value.type().lanes != lanes)
      lex_.fail_at(at, fmt::format("{} lanes are stored to {} places", value.type().lanes, lanes), "index with a ramp");
    if (value.type().scalar() != tensor.type())
      lex_.fail_at(at, fmt::format("{} is {}, the value is {}", name, to_string(tensor.type()), to_string(value.type())), "cast the value");
    return make_store(tensor, std::move(indices), value);
  }

  Stmt combine(const Token& at) {
    std::vector<Tensor> values;
    std::vector<DType> types;
    do {
      const Token name = lex_.peek();
      auto t = tensors_.find(lex_.identifier("a tensor"));
      if (t == tensors_.end()) lex_.fail_at(name, "no tensor here is called that");
      values.push_back(t->second);
      types.push_back(t->second.type());
    } while (lex_.accept(","));
    lex_.expect("along");
    std::vector<LoopKind> along;
    do {
      const Token word = lex_.peek();
      const std::string name = lex_.identifier("thread_x, thread_y or thread_z");
      const size_t before = along.size();
      for (LoopKind k : {LoopKind::thread_x, LoopKind::thread_y, LoopKind::thread_z})
        if (to_string(k) == name) along.push_back(k);
      if (along.size() == before) lex_.fail_at(word, fmt::format("{} is no index of work-items", name), "use thread_x, thread_y, thread_z");
    } while (lex_.accept(","));
    lex_.expect("in");
    const Token number = lex_.peek();
    const int64_t width = lex_.integer("a width");
    if (width < 1) lex_.fail_at(number, "a run has at least one work-item");
    lex_.expect("by");
    const std::string name = lex_.identifier("a combiner");
    const Combiner c = lex_.peek().is("(") ? combiner_of(at, name) : guarded(at, [&] { return builtin_combiner(name, types); });
    bool fits = c && c->lhs.size() == types.size();
    for (size_t i = 0; fits && i < types.size(); ++i) fits = c->lhs[i].type() == types[i];
    if (!fits) lex_.fail_at(at, fmt::format("{} does not combine {} values of these types", name, types.size()));
    return make_combine(std::move(values), c, std::move(along), width);
  }

  Expr condition() {
    const Token at = lex_.peek();
    Expr e = expr();
    if (e.type() != boolean)
      lex_.fail_at(at, fmt::format("the condition is {}, not bool", to_string(e.type())), "compare it, as in x != 0");
    return e;
  }

  // An expression that has to be an i64.
  Expr index_expr(std::string_view what) {
    const Token at = lex_.peek();
    Expr e = expr();
    if (e.type() != i64) lex_.fail_at(at, fmt::format("{} is i64, not {}", what, to_string(e.type())), "cast it, as in i64(x)");
    return e;
  }

  // Two of the kernel's work-group indices, and the numbers.
  BlockOrder order(const Kernel& k) {
    const auto index = [&] {
      const Token at = lex_.peek();
      const std::string name = lex_.identifier("an index of the grid");
      for (int d = 0; d < 3; ++d)
        if (k.block_index[d].defined() && k.block_index[d].name() == name) return d;
      lex_.fail_at(at, fmt::format("{} is no index of the grid", name), "the first three indices are");
    };
    const auto number = [&](const char* word) {
      lex_.expect(word);
      const Token at = lex_.peek();
      const int64_t n = lex_.integer("a number");
      if (n < 1) lex_.fail_at(at, fmt::format("{} {}", word, n), "it is 1 or more");
      return n;
    };
    BlockOrder order;
    lex_.expect("[");
    order.rows = index();
    lex_.expect(",");
    const Token second = lex_.peek();
    order.columns = index();
    if (order.columns == order.rows) lex_.fail_at(second, "both indices are the same", "name rows and columns");
    lex_.expect("]");
    order.group = number("grouped");
    order.chiplets = number("chiplets");
    return order;
  }

  Kernel kernel() {
    Kernel k;
    tensors_.clear();
    scopes_.clear();
    lex_.expect("kernel");
    k.name = lex_.identifier("a kernel name");
    k.symbols = symbols();
    lex_.expect("(");
    tensor_parameters(k.buffers, k.written);
    lex_.expect("grid");
    lex_.expect("[");
    for (int d = 0; d < 3; ++d) {
      if (d) lex_.expect(",");
      k.grid.push_back(index_expr("an extent of the grid"));
    }
    lex_.expect("]");
    lex_.expect("block");
    lex_.expect("[");
    for (int d = 0; d < 3; ++d) {
      if (d) lex_.expect(",");
      const Token at = lex_.peek();
      k.block[d] = lex_.integer("an extent");
      if (k.block[d] < 1) lex_.fail_at(at, fmt::format("the block's extent {} is {}", d, k.block[d]), "an extent is 1 or more");
    }
    lex_.expect("]");
    lex_.expect("indices");
    lex_.expect("[");
    for (int d = 0; d < 6; ++d) {
      if (d) lex_.expect(",");
      Var v(new_name("an index"));
      bind(v);
      (d < 3 ? k.block_index[d] : k.thread_index[d - 3]) = v;
    }
    lex_.expect("]");
    if (lex_.accept("order")) k.order = order(k);
    if (lex_.accept("when")) k.condition = condition();
    k.body = braced();
    return k;
  }

  Lexer lex_;
  std::map<std::string, std::vector<Var>> scopes_;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, Combiner> combiners_;
  std::vector<Expr> reductions_;  // of the definition being read
  std::vector<Var> declared_symbols_;
  const FindVariable* find_ = nullptr;  // beside the scopes
  int depth_ = 0;
};

}  // namespace

Program parse_program(std::string_view text, const std::string& file) { return Parser(text, file).program(); }
LoweredFunction parse_function(std::string_view text, const std::string& file) { return Parser(text, file).function(); }
Expr parse_condition(Lexer& lexer, const FindVariable& find) { return Parser(lexer).condition_on(find, lexer); }

}  // namespace lathe
