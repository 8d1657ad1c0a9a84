// check_accesses: no definition reads outside a tensor.
//
//   C[i: 70] = A[i + 1]      A: f32[70]   refused: the index reaches 70
//   C[i: m] = A[i]           A: f32[n]    the launch promises m <= n, and is checked
//   C[i: n] = A[I[i]]        depends on data: not decided here
//
// It looks at what the program means, before any schedule: an index that an axis carries past the end is the user's to
// mend, whatever the loops look like. The conditions of selects hold where their branches are read. It stands
// before the passes that make loops of it.
#include <fmt/format.h>

#include "compiler/passes/passes.h"
#include "compiler/passes/with_facts.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

class Checker {
 public:
  Checker(Lowering& l, const Tensor& reader) : l_(l), reader_(reader) {}

  void check(const Expr& e, const Facts& facts) {
    if (const auto* a = as<ApplyNode>(e); a && a->op == Op::select) {
      Facts holds = facts, fails = facts;
      holds.assume(a->args[0]);
      fails.assume(!a->args[0]);
      check(a->args[0], facts);
      check(a->args[1], holds);
      return check(a->args[2], fails);
    }
    if (const auto* a = as<ApplyNode>(e); a && (a->op == Op::logical_and || a->op == Op::logical_or)) {
      Facts then = facts;
      then.assume(a->op == Op::logical_and ? a->args[0] : !a->args[0]);
      check(a->args[0], facts);
      return check(a->args[1], then);
    }
    if (const auto* r = as<ReduceNode>(e)) {
      Facts inside = facts;
      for (const Axis& axis : r->axes) inside.add_range(axis.var, 0, axis.extent);
      for (const Expr& source : r->sources) check(source, inside);
      return;
    }
    if (const auto* load = as<LoadNode>(e))
      for (size_t d = 0; d < load->indices.size(); ++d)
        if (!has_load(load->indices[d])) check_index(*load, d, facts);
    for_each_child(e, [&](const Expr& child) { check(child, facts); });
  }

 private:
  void check_index(const LoadNode& load, size_t d, const Facts& facts) {
    const Expr index = make_cast(i64, load.indices[d]), extent = load.tensor->shape[d];
    for (const Expr& condition : {index >= 0, index < extent}) {
      if (facts.prove(condition)) continue;
      const auto needed = facts.always(condition, [&](const VarNode* v) {
        for (const Var& symbol : l_.function.symbols)
          if (symbol.node() == v) return true;
        return false;
      });
      if (needed && is_constant(*needed, 1)) continue;
      const std::string text = fmt::format("{} reads {}", reader_.name(), to_string(make_load(load.tensor, load.indices)));
      if (needed && !as_constant(*needed)) {
        for (const auto& p : l_.function.promises)
          if (to_string(p.condition) == to_string(*needed)) return;
        l_.function.promises.push_back({*needed, fmt::format("{}, needed because {}", to_string(*needed), text)});
        continue;
      }
      // Only what surely leaves the tensor is refused: an index that isl cannot follow may be fine.
      const auto low = facts.constant_min(index), high = facts.constant_max(index);
      const int64_t* size = as_constant(extent);
      if ((low && *low < 0) || (high && size && *high >= *size))
        throw Error(fmt::format("tensor {}", reader_.name()),
                    fmt::format("{}, whose index {} reaches {}, but {} has {} elements along it", text, to_string(load.indices[d]),
                                low && *low < 0 ? *low : *high, load.tensor->name, to_string(extent)),
                    "shift or bound the axes, or read inside select(condition, …, other)");
    }
  }

  Lowering& l_;
  const Tensor& reader_;
};

}  // namespace

void check_accesses(Lowering& l) {
  for (const Tensor& t : l.program.computed()) {
    if (t->output > 0) continue;
    Facts facts = symbol_facts(l.function);
    for (const Axis& axis : t->definition->axes) facts.add_range(axis.var, 0, axis.extent);
    Checker checker(l, t);
    for (const Expr& e : t->definition->body) checker.check(e, facts);
  }
}

}  // namespace lathe
