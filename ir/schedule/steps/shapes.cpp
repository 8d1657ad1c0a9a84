// Steps on the shape symbols: what the caller promises of them, and versions of the schedule for some of their values.
#include "ir/schedule/step_row.h"

#include <fmt/format.h>

#include "ir/isl/facts.h"
#include "ir/lexer.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/schedule/step_context.h"

namespace lathe {
namespace {

// The step's condition on the schedule's own symbols; refused where it cannot be asked at a launch, or never holds.
Expr condition_of(const StepContext& c) {
  const Schedule& schedule = c.schedule;
  std::string known;
  for (const Var& v : schedule.symbols()) known += (known.empty() ? "" : ", ") + v.name();
  Lexer lexer(c.step.condition, to_string(c.step));
  const Expr condition = parse_condition(lexer, [&](const std::string& name) -> std::optional<Var> {
    for (const Var& v : schedule.symbols())
      if (v.name() == name) return v;
    c.refuse(fmt::format("there is no shape symbol {}", name), known.empty() ? "every shape is constant" : "the symbols are " + known);
  });
  if (!lexer.at_end()) c.refuse(fmt::format("\"{}\" is not one condition", c.step.condition), "write it as in n % 16 == 0");
  walk(condition, [&](const Expr& e) {
    if (e->kind != ExprKind::variable && e->kind != ExprKind::integer && e->kind != ExprKind::apply)
      c.refuse(fmt::format("{} is no number that a launch can compute from the shapes", to_string(e)), "use + - * / % min max select and comparisons");
    return true;
  });
  Facts facts;
  for (const Var& v : schedule.symbols()) facts.assume(v >= 0);
  for (const Expr& promise : schedule.promises()) facts.assume(promise);
  facts.assume(condition);
  if (facts.impossible())
    c.refuse(schedule.promises().empty() ? "no shape is such that it holds" : "it contradicts what is promised already",
             "extents are 0 or more; use a condition that some shape meets");
  return condition;
}

void promise(StepContext& c) { c.schedule.add_promise(condition_of(c)); }

void specialize(StepContext& c) {
  for (const Step& inner : c.step.steps)
    if (inner.keyword == c.step.keyword) c.refuse("a version stands inside a version", "write one after the other: the first whose condition holds runs");
  c.schedule.add_version(condition_of(c), c.step.steps);
}

}  // namespace

std::vector<StepRow> shape_steps() {
  return {
      {"promise", "@E", {}, promise, "checked at every launch; guards that follow from it go, indices get narrower"},
      {"specialize", "when @E @S", {}, specialize, "where the condition holds, the schedule so far and these steps are run instead"},
  };
}

}  // namespace lathe
