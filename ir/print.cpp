#include "ir/print.h"

#include <fmt/format.h>

#include <cmath>

#include "runtime/base/error.h"

namespace lathe {

bool is_reserved(const std::string& name) {
  static const std::set<std::string> words = [] {
    std::set<std::string> w = {"function", "out",   "schedule", "combiner", "identity", "kernel",   "grid",  "block",
                               "indices",  "for",   "in",       "if",       "else",     "alloc",    "barrier", "ramp",
                               "broadcast", "true", "false",    "inf",      "nan",      "sum",      "product", "any",
                               "all",      "argmin", "argmax",  "symbols"};
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

std::string print_expr(const Expr& e, Names& names, int outer) {
  switch (e->kind) {
    case ExprKind::variable: return names.of(Var(as<VarNode>(e)));
    case ExprKind::integer: {
      const int64_t value = as<IntegerNode>(e)->value;
      if (e.type() == i64) return std::to_string(value);
      if (e.type().is_bool()) return value ? "true" : "false";
      return e.type() == u64 ? fmt::format("u64({})", static_cast<uint64_t>(value))
                             : fmt::format("{}({})", to_string(e.type()), value);
    }
    case ExprKind::real: return literal(*as<RealNode>(e));
    case ExprKind::apply: {
      const auto* a = as<ApplyNode>(e);
      const OpRow& row = op_row(a->op);
      std::string text;
      switch (row.form) {
        case OpForm::call: return fmt::format("{}({})", row.text, print_list(a->args, names));
        case OpForm::prefix: {
          std::string operand = print_expr(a->args[0], names, row.precedence);
          // "- 5" would read as the constant -5.
          if (operand[0] == '-' || std::isdigit(static_cast<unsigned char>(operand[0]))) operand = "(" + operand + ")";
          text = fmt::format("{}{}", row.text, operand);
          break;
        }
        case OpForm::infix:
          text = fmt::format("{} {} {}", print_expr(a->args[0], names, row.precedence), row.text,
                             print_expr(a->args[1], names, row.precedence + 1));
          break;
      }
      return row.precedence < outer ? "(" + text + ")" : text;
    }
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

std::string print_symbols(const std::vector<Var>& symbols, Names& names) {
  std::string text;
  for (const Var& v : symbols) text += (text.empty() ? "" : ", ") + names.of(v);
  return text.empty() ? "" : "<" + text + ">";
}

}  // namespace

std::string print(const Expr& e, Names& names) { return e.defined() ? print_expr(e, names, 0) : "(empty)"; }

std::string print(const Stmt& s, Names& names, int indent) {
  const std::string pad(static_cast<size_t>(indent) * 2, ' ');
  if (!s) return pad + "(empty)\n";
  switch (s->kind) {
    case StmtKind::loop: {
      const auto* l = as<LoopNode>(s);
      const std::string kind = l->loop == LoopKind::serial ? "" : std::string(to_string(l->loop)) + " ";
      std::string range = fmt::format("{} .. {}", print(l->begin, names), print(l->end, names));
      const std::string var = names.of(l->var);
      return fmt::format("{0}for {1}{2} in {3} {{\n{4}{0}}}\n", pad, kind, var, range, print(l->body, names, indent + 1));
    }
    case StmtKind::branch: {
      const auto* b = as<BranchNode>(s);
      std::string text =
          fmt::format("{0}if {1} {{\n{2}{0}}}", pad, print(b->condition, names), print(b->then_body, names, indent + 1));
      if (b->else_body) text += fmt::format(" else {{\n{1}{0}}}", pad, print(b->else_body, names, indent + 1));
      return text + "\n";
    }
    case StmtKind::store: {
      const auto* st = as<StoreNode>(s);
      return fmt::format("{}{}[{}] = {}\n", pad, names.of(*st->tensor), print_list(st->indices, names),
                         print(st->value, names));
    }
    case StmtKind::alloc: {
      const auto* a = as<AllocNode>(s);
      std::string head = fmt::format("{} {}", to_string(a->scope), print_tensor(*a->tensor, names));
      return fmt::format("{0}alloc {1} {{\n{2}{0}}}\n", pad, head, print(a->body, names, indent + 1));
    }
    case StmtKind::barrier: return pad + "barrier\n";
    case StmtKind::block: {
      std::string text;
      for (const Stmt& child : as<BlockNode>(s)->stmts) text += print(child, names, indent);
      return text;
    }
  }
  return "?";
}

std::string to_string(const Expr& e) {
  Names names;
  return print(e, names);
}

std::string to_string(const Stmt& s) {
  Names names;
  return print(s, names);
}

std::string to_string(const Kernel& k) {
  Names names;
  std::string symbols = print_symbols(k.symbols, names), parameters, indices;
  for (size_t i = 0; i < k.buffers.size(); ++i)
    parameters += fmt::format("{}{}{}", i ? ", " : "", k.written[i] ? "out " : "", print_tensor(*k.buffers[i], names));
  for (int d = 0; d < 3; ++d) indices += (d ? ", " : "") + names.of(k.block_index[d]);
  for (int d = 0; d < 3; ++d) indices += ", " + names.of(k.thread_index[d]);
  return fmt::format("kernel {}{}({}) grid [{}] block [{}, {}, {}] indices [{}] {{\n{}}}\n", k.name, symbols, parameters,
                     print_list(k.grid, names), k.block[0], k.block[1], k.block[2], indices, print(k.body, names, 1));
}

std::string to_string(const Function& f) {
  std::string text;
  if (f.body) {
    Names names;
    std::string symbols = print_symbols(f.symbols, names), parameters;
    for (size_t i = 0; i < f.arguments.size(); ++i)
      parameters += fmt::format("{}{}{}", i ? ", " : "", f.is_output[i] ? "out " : "", print_tensor(*f.arguments[i], names));
    text = fmt::format("function {}{}({}) {{\n{}}}\n", f.name, symbols, parameters, print(f.body, names, 1));
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
    for (const Expr& e : d.body) {
      std::function<void(const Expr&)> declare = [&](const Expr& x) {
        const auto* r = as<ReduceNode>(x);
        if (!r || is_reserved(r->combiner->name) || !declared.insert(r->combiner.get()).second) return;
        const CombinerNode& c = *r->combiner;
        std::string operands;
        for (const auto* side : {&c.lhs, &c.rhs}) {
          std::string part;
          for (const Var& v : *side)
            part += fmt::format("{}{}: {}", part.empty() ? "" : ", ", names.of(v), to_string(v.type()));
          operands += (operands.empty() ? "(" : ", (") + part + ")";
        }
        text += fmt::format("\ncombiner {}{} = ({}) identity ({})\n", names.of(c), operands, print_list(c.result, names),
                            print_list(c.identity, names));
      };
      std::function<void(const Expr&)> visit = [&](const Expr& x) {
        declare(x);
        if (const auto* a = as<ApplyNode>(x)) for (const Expr& y : a->args) visit(y);
        if (const auto* k = as<CastNode>(x)) visit(k->value);
      };
      visit(e);
    }
    const size_t count = d.body.size();
    std::string axes = print_axes(d.axes, names);
    if (count == 1)
      text += fmt::format("\n{}[{}] = {}\n", names.of(*computed[first]), axes, print(d.body[0], names));
    else {
      std::string outputs;
      for (size_t o = 0; o < count; ++o) outputs += (o ? ", " : "") + names.of(*computed[first + o]);
      text += fmt::format("\n({})[{}] = ({})\n", outputs, axes, print_list(d.body, names));
    }
    first += count;
  }
  if (!p.steps.empty()) {
    text += "\nschedule {\n";
    for (const Step& step : p.steps) text += "  " + to_string(step) + "\n";
    text += "}\n";
  }
  return text;
}

}  // namespace lathe
