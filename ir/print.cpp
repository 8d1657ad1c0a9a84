#include "ir/print.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/visit.h"

namespace lathe {

bool is_reserved(const std::string& name) {
  static const std::set<std::string> words = [] {
    std::set<std::string> w = {"function", "out",   "schedule", "combiner", "identity", "kernel",   "grid",  "block",
                               "indices",  "for",   "in",       "if",       "else",     "alloc",    "barrier", "combine", "ramp",
                               "broadcast", "true", "false",    "inf",      "nan",      "sum",      "product", "any",
                               "all",      "argmin", "argmax",  "workspaces"};
    for (const OpRow& row : op_rows)
      if (row.form == OpForm::call) w.insert(std::string(row.text));
    for (const DTypeRow& row : dtype_rows) w.insert(std::string(row.name));
    return w;
  }();
  return words.count(name) != 0;
}

std::string Names::of(const void* node, const std::string& wanted) {
  auto found = given_.find(node);
  if (found != given_.end()) return found->second;
  std::string name = wanted;
  for (int i = 1; is_reserved(name) || taken_.count(name); ++i) name = fmt::format("{}_{}", wanted, i);
  taken_.insert(name);
  return given_[node] = name;
}

namespace {

// Shortest text that reads back as the same value of the type.
std::string literal(const RealNode& e) {
  std::string digits;
  if (std::isnan(e.value))
    digits = "nan";
  else if (std::isinf(e.value))
    digits = e.value < 0 ? "-inf" : "inf";
  else {
    digits = e.type == f32 ? fmt::format("{}", static_cast<float>(e.value)) : fmt::format("{}", e.value);
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  }
  if (e.type == f32 && std::isfinite(e.value)) return digits;
  return fmt::format("{}({})", to_string(e.type), digits);
}

std::string print_list(const std::vector<Expr>& list, Names& names) {
  std::string text;
  for (const Expr& e : list) text += (text.empty() ? "" : ", ") + print(e, names);
  return text;
}

std::string print_axes(const std::vector<Axis>& axes, Names& names) {
  std::string text;
  for (const Axis& a : axes)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", names.of(a.var), print(a.extent, names));
  return text;
}

std::string print_expr(const Expr& e, Names& names, int outer);

// Small frames: expressions nest up to max_expr_height deep, and so does this.
std::string print_prefix(const ApplyNode& a, Names& names) {
  const OpRow& row = op_row(a.op);
  std::string operand = print_expr(a.args[0], names, row.precedence);
  // "- 5" would read as the constant -5.
  if (operand[0] == '-' || std::isdigit(static_cast<unsigned char>(operand[0]))) operand = "(" + operand + ")";
  return operand.insert(0, row.text);
}

std::string print_infix(const ApplyNode& a, Names& names) {
  const OpRow& row = op_row(a.op);
  std::string text = print_expr(a.args[0], names, row.precedence);
  text += ' ';
  // i64 differences with a constant are kept as sums (make_apply): n - 1 reads back as n + -1.
  const int64_t* c = a.op == Op::add && a.type == i64 ? as_constant(a.args[1]) : nullptr;
  if (c && *c < 0 && *c != INT64_MIN) {
    text += "- ";
    text += std::to_string(-*c);
    return text;
  }
  text += row.text;
  text += ' ';
  text += print_expr(a.args[1], names, row.precedence + 1);
  return text;
}

std::string print_apply(const ApplyNode& a, Names& names, int outer) {
  const OpRow& row = op_row(a.op);
  std::string text;
  switch (row.form) {
    case OpForm::call:
      text = row.text;
      text += '(';
      text += print_list(a.args, names);
      text += ')';
      return text;
    case OpForm::prefix: text = print_prefix(a, names); break;
    case OpForm::infix: text = print_infix(a, names); break;
  }
  if (row.precedence >= outer) return text;
  text.insert(0, 1, '(');
  text += ')';
  return text;
}

// Everything but operators.
std::string print_other(const Expr& e, Names& names);

std::string print_expr(const Expr& e, Names& names, int outer) {
  if (const auto* a = as<ApplyNode>(e)) return print_apply(*a, names, outer);
  return print_other(e, names);
}

std::string print_other(const Expr& e, Names& names) {
  switch (e->kind) {
    case ExprKind::apply: return print_expr(e, names, 0);
    case ExprKind::variable: return names.of(Var(as<VarNode>(e)));
    case ExprKind::integer: {
      const int64_t value = as<IntegerNode>(e)->value;
      if (e.type() == i64) return std::to_string(value);
      if (e.type().is_bool()) return value ? "true" : "false";
      return e.type() == u64 ? fmt::format("u64({})", static_cast<uint64_t>(value))
                             : fmt::format("{}({})", to_string(e.type()), value);
    }
    case ExprKind::real: return literal(*as<RealNode>(e));
    case ExprKind::cast:
      return fmt::format("{}({})", to_string(e.type().scalar()), print(as<CastNode>(e)->value, names));
    case ExprKind::load:
      return fmt::format("{}[{}]", names.of(*as<LoadNode>(e)->tensor), print_list(as<LoadNode>(e)->indices, names));
    case ExprKind::reduce: {
      const auto* r = as<ReduceNode>(e);
      const bool builtin = is_reserved(r->combiner->name);
      std::string axes = print_axes(r->axes, names);  // before the sources: names go to axes first
      return fmt::format("{}[{}]({}){}", builtin ? r->combiner->name : names.of(*r->combiner), axes,
                         print_list(r->sources, names), r->index ? fmt::format(".{}", r->index) : "");
    }
    case ExprKind::ramp:
      return fmt::format("ramp({}, {}, {})", print(as<RampNode>(e)->base, names), print(as<RampNode>(e)->stride, names),
                         e.type().lanes);
    case ExprKind::broadcast:
      return fmt::format("broadcast({}, {})", print(as<BroadcastNode>(e)->value, names), e.type().lanes);
  }
  return "?";
}

std::string print_tensor(const TensorNode& t, Names& names) {
  return fmt::format("{}: {}[{}]", names.of(t), to_string(t.type), print_list(t.shape, names));
}

// A combiner reads its operands alone, so their names are its own affair.
std::string print_combiner(const CombinerNode& c, const std::string& name) {
  Names names;
  std::string sides;
  for (const auto* side : {&c.lhs, &c.rhs}) {
    std::string part;
    for (const Var& v : *side) part += fmt::format("{}{}: {}", part.empty() ? "" : ", ", names.of(v), to_string(v.type()));
    sides += (sides.empty() ? "(" : ", (") + part + ")";
  }
  return fmt::format("{}{} = ({}) identity ({})", name, sides, print_list(c.result, names),
                     print_list(c.identity, names));
}

std::string print_tensors(const std::vector<Tensor>& tensors, const std::vector<bool>& written, Names& names) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i)
    text += fmt::format("{}{}{}", i ? ", " : "", i < written.size() && written[i] ? "out " : "",
                        print_tensor(*tensors[i], names));
  return text;
}

std::string print_symbols(const std::vector<Var>& symbols, Names& names) {
  std::string text;
  for (const Var& v : symbols) text += (text.empty() ? "" : ", ") + names.of(v);
  return text.empty() ? "" : "<" + text + ">";
}

}  // namespace

std::string print(const Expr& e, Names& names) { return e.defined() ? print_expr(e, names, 0) : "(empty)"; }

namespace {

class StmtPrinter {
 public:
  // The first line it prints is number `line` of the whole text.
  StmtPrinter(Names& names, StmtLines* lines, int line) : names_(names), lines_(lines), line_(line) {}

  std::string take() { return std::move(text_); }

  void print(const Stmt& s, int indent) {
    if (!s) return put(indent, "(empty)");
    if (lines_ && s->kind != StmtKind::block) lines_->emplace(s.get(), line_);
    switch (s->kind) {
      case StmtKind::loop: {
        const auto* l = as<LoopNode>(s);
        const std::string kind = l->loop == LoopKind::serial ? "" : std::string(to_string(l->loop)) + " ";
        std::string range = fmt::format("{} .. {}", lathe::print(l->begin, names_), lathe::print(l->end, names_));
        put(indent, fmt::format("for {}{} in {} {{", kind, names_.of(l->var), range));
        print(l->body, indent + 1);
        return put(indent, "}");
      }
      case StmtKind::branch: {
        const auto* b = as<BranchNode>(s);
        put(indent, fmt::format("if {} {{", lathe::print(b->condition, names_)));
        print(b->then_body, indent + 1);
        if (b->else_body) {
          put(indent, "} else {");
          print(b->else_body, indent + 1);
        }
        return put(indent, "}");
      }
      case StmtKind::store: {
        const auto* st = as<StoreNode>(s);
        return put(indent, fmt::format("{}[{}] = {}", names_.of(*st->tensor), print_list(st->indices, names_), lathe::print(st->value, names_)));
      }
      case StmtKind::alloc: {
        const auto* a = as<AllocNode>(s);
        put(indent, fmt::format("alloc {} {} {{", to_string(a->scope), print_tensor(*a->tensor, names_)));
        print(a->body, indent + 1);
        return put(indent, "}");
      }
      case StmtKind::barrier: return put(indent, "barrier");
      case StmtKind::combine: {
        const auto* c = as<CombineNode>(s);
        std::string values, along;
        for (const Tensor& t : c->values) values += (values.empty() ? "" : ", ") + names_.of(*t);
        for (LoopKind k : c->along) along += (along.empty() ? "" : ", ") + std::string(to_string(k));
        const std::string& name = c->combiner->name;
        return put(indent, fmt::format("combine {} along {} in {} by {}", values, along, c->width,
                                       is_reserved(name) ? name : print_combiner(*c->combiner, name)));
      }
      case StmtKind::block:
        for (const Stmt& child : as<BlockNode>(s)->stmts) print(child, indent);
        return;
    }
  }

 private:
  void put(int indent, const std::string& line) {
    text_.append(static_cast<size_t>(indent) * 2, ' ');
    text_ += line;
    text_ += '\n';
    ++line_;
  }

  Names& names_;
  StmtLines* lines_;
  int line_;
  std::string text_;
};

std::string print_kernel(const Kernel& k, StmtLines* lines) {
  Names names;
  std::string symbols = print_symbols(k.symbols, names), buffers = print_tensors(k.buffers, k.written, names), indices;
  for (const auto& index : {k.block_index, k.thread_index})
    for (int d = 0; d < 3; ++d) indices += (indices.empty() ? "" : ", ") + (index[d].defined() ? names.of(index[d]) : "_");
  const std::string grid = print_list(k.grid, names), when = k.condition.defined() ? " when " + print(k.condition, names) : "";
  const std::string order = k.order ? fmt::format(" order [{}, {}] grouped {} chiplets {}", names.of(k.block_index[k.order->rows]),
                                                  names.of(k.block_index[k.order->columns]), k.order->group, k.order->chiplets) : "";
  std::string head = fmt::format("kernel {}{}({}) grid [{}] block [{}, {}, {}] indices [{}]{}{} {{\n", k.name, symbols, buffers, grid,
                                 k.block[0], k.block[1], k.block[2], indices, order, when);
  StmtPrinter body(names, lines, 2);
  body.print(k.body, 1);
  return head + body.take() + "}\n";
}

}  // namespace

std::string print(const Stmt& s, Names& names, int indent) {
  StmtPrinter printer(names, nullptr, 1);
  printer.print(s, indent);
  return printer.take();
}

std::string to_string(const Expr& e) {
  Names names;
  return print(e, names);
}

std::string to_string(const Stmt& s) {
  Names names;
  return print(s, names);
}

std::string to_string(const Kernel& k) { return print_kernel(k, nullptr); }
std::string to_string(const Kernel& k, StmtLines& lines) { return print_kernel(k, &lines); }

std::string to_string(const LoweredFunction& f) {
  std::string text;
  if (!f.name.empty()) {
    Names names;
    std::string symbols = print_symbols(f.symbols, names);
    text = fmt::format("function {}{}({})", f.name, symbols, print_tensors(f.arguments, f.is_output, names));
    if (!f.workspaces.empty()) text += fmt::format(" workspaces ({})", print_tensors(f.workspaces, {}, names));
    text += f.body ? fmt::format(" {{\n{}}}\n", print(f.body, names, 1)) : "\n";
  }
  for (const Kernel& k : f.kernels) text += (text.empty() ? "" : "\n") + to_string(k);
  return text;
}

std::string to_string(const Program& p) {
  Names names;
  std::string symbols = print_symbols(p.symbols, names), parameters;
  for (const Tensor& t : p.arguments)
    parameters += fmt::format("{}{}", parameters.empty() ? "" : ", ",
                              t.is_placeholder() ? print_tensor(*t, names) : "out " + names.of(*t));
  std::string text = fmt::format("function {}{}({})\n", p.name, symbols, parameters);

  const std::vector<Tensor> computed = p.computed();
  std::set<const CombinerNode*> declared;
  for (size_t first = 0; first < computed.size();) {
    const DefinitionNode& d = *computed[first]->definition;
    Names inner = names;  // an axis keeps its name, whatever those of other definitions are called
    for (const Axis& a : d.axes) inner.keep(a.var);
    for (const Expr& e : d.body)
      walk(e, [&](const Expr& x) {
        const auto* r = as<ReduceNode>(x);
        if (!r) return true;
        for (const Axis& a : r->axes) inner.keep(a.var);
        if (is_reserved(r->combiner->name)) return true;
        const std::string name = names.of(*r->combiner);
        inner.of(*r->combiner);  // the same name: both know the same ones
        if (declared.insert(r->combiner.get()).second) text += "\ncombiner " + print_combiner(*r->combiner, name) + "\n";
        return true;
      });
    const size_t count = d.body.size();
    std::string axes = print_axes(d.axes, inner);
    if (count == 1)
      text += fmt::format("\n{}[{}] = {}\n", names.of(*computed[first]), axes, print(d.body[0], inner));
    else {
      std::string outputs;
      for (size_t o = 0; o < count; ++o) outputs += (o ? ", " : "") + names.of(*computed[first + o]);
      text += fmt::format("\n({})[{}] = ({})\n", outputs, axes, print_list(d.body, inner));
    }
    first += count;
  }
  if (!p.steps.empty()) {
    text += "\nschedule {\n";
    for (const Step& step : p.steps) text += indented(to_string(step)) + "\n";
    text += "}\n";
  }
  return text;
}

}  // namespace lathe
