#include "ir/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/lexer.h"
#include "ir/print.h"
#include "ir/schedule/step_context.h"
#include "ir/schedule/step_row.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {

std::string fresh_loop(const Stage& stage, const std::string& wanted) {
  std::string name = wanted;
  auto taken = [&] {
    for (const StageLoop& l : stage.loops)
      if (l.name == name) return true;
    return false;
  };
  for (int i = 1; taken(); ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

std::string_view to_string(Tail tail) {
  switch (tail) {
    case Tail::guard: return "guard";
    case Tail::predicate: return "predicate";
    case Tail::round_up: return "round_up";
    case Tail::shift_inwards: return "shift_inwards";
  }
  return "";
}

const StageLoop* Stage::find_leaf(std::string_view loop_name) const {
  for (int leaf : leaves)
    if (loops[leaf].name == loop_name) return &loops[leaf];
  return nullptr;
}

std::vector<Tensor> reads_of(const Stage& stage) {
  std::vector<Tensor> result;
  std::set<const TensorNode*> seen;
  for (const Expr& e : stage.body)
    walk(e, [&](const Expr& x) {
      if (const auto* load = as<LoadNode>(x); load && seen.insert(load->tensor.get()).second)
        result.push_back(Tensor(load->tensor));
      return true;
    });
  return result;
}

Schedule::Schedule(std::vector<Tensor> outputs) : outputs_(std::move(outputs)) {
  if (outputs_.empty()) throw Error("schedule", "there is no output", "give a computed tensor");
  for (const Tensor& t : outputs_)
    if (!t || t.is_placeholder())
      throw Error("schedule", "an output is not a computed tensor", "give tensors made with compute");
  Program p;
  p.arguments = outputs_;
  std::set<std::string> names;
  for (const Tensor& t : p.computed()) {
    if (is_reserved(t.name()) || !names.insert(t.name()).second)
      throw Error("schedule", fmt::format("{} is a word of the language or stands twice", t.name()),
                  "steps name stages by their tensors: give each its own name");
    if (t->output > 0) {
      stages_.back().outputs.push_back(t);
    } else {
      stages_.push_back(make_stage(t.name(), {t}, *t->definition));
    }
    for (const Tensor& o : outputs_) stages_.back().is_output |= o.same_as(t);
  }
  const auto add_symbols = [&](const Tensor& t) {
    for (const Expr& extent : t.shape())
      walk(extent, [&](const Expr& e) {
        const auto* v = as<VarNode>(e);
        if (v && std::none_of(symbols_.begin(), symbols_.end(), [&](const Var& s) { return s.node() == v; })) symbols_.push_back(Var(v));
        return true;
      });
  };
  for (const Stage& s : stages_) {
    for (const Tensor& t : reads_of(s)) add_symbols(t);
    for (const Tensor& t : s.outputs) add_symbols(t);
  }
}

Schedule::Schedule(const Program& program) : Schedule(program.outputs()) {
  symbols_ = program.symbols;
  for (const Step& step : program.steps) apply(step);
}

const Stage* Schedule::find_stage(std::string_view name) const {
  for (const Stage& stage : stages_)
    for (const Tensor& t : stage.outputs)
      if (t.name() == name) return &stage;
  return nullptr;
}

const Stage* Schedule::producer_of(const TensorNode& tensor) const {
  for (const Stage& stage : stages_)
    for (const Tensor& t : stage.outputs)
      if (t.get() == &tensor) return &stage;
  return nullptr;
}

Tensor Schedule::find_tensor(std::string_view name) const {
  for (const Stage& stage : stages_)
    for (const Tensor& t : stage.outputs)
      if (t.name() == name) return t;
  for (const Stage& stage : stages_)
    for (const Tensor& t : reads_of(stage))
      if (t.name() == name) return t;
  return {};
}

void Schedule::apply(const Step& step) {
  // Work on a copy, so that a refused step leaves nothing behind.
  Schedule next = *this;
  check_step(step);
  StepContext context(next, next.stages_, step);
  find_step_row(step.keyword)->apply(context);
  next.steps_.push_back(step);
  *this = std::move(next);
}

void Schedule::add_promise(const Expr& condition) { promises_.push_back(condition); }

void Schedule::add_version(const Expr& condition, const std::vector<Step>& steps) {
  Schedule version = *this;
  version.versions_.clear();
  version.promises_.push_back(condition);
  for (const Step& step : steps) version.apply(step);
  versions_.push_back({condition, std::make_shared<const Schedule>(std::move(version))});
}

Schedule& Schedule::promise(const Expr& condition) {
  Step step{"promise", {}, {}, {}, {}, {}};
  step.condition = to_string(condition);
  apply(step);
  return *this;
}

Schedule& Schedule::specialize(const Expr& condition, const std::function<void(Schedule&)>& steps) {
  // The steps are those that the caller makes of a schedule that stands where this one does.
  Schedule version = *this;
  version.versions_.clear();
  version.promises_.push_back(condition);
  steps(version);
  Step step{"specialize", {}, {}, {}, {}, {}};
  step.condition = to_string(condition);
  step.steps.assign(version.steps_.begin() + static_cast<int64_t>(steps_.size()), version.steps_.end());
  apply(step);
  return *this;
}

std::optional<Error> Schedule::try_apply(const Step& step) {
  try {
    apply(step);
    return std::nullopt;
  } catch (const Error& refusal) {
    return refusal;
  }
}

uint64_t Schedule::hash() const {
  uint64_t h = 0xcbf29ce484222325;  // FNV-1a
  for (char c : to_string(*this)) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

std::string to_string(const Schedule& schedule) {
  std::string text;
  for (const Step& step : schedule.steps()) text += to_string(step) + "\n";
  return text;
}

StageRef Schedule::operator[](const Tensor& tensor) {
  const Stage* stage = tensor ? producer_of(*tensor) : nullptr;
  if (!stage)
    throw Error("schedule", fmt::format("{} is not a stage of this schedule", tensor ? tensor.name() : "an empty tensor"),
                "stages are the computed tensors that the outputs need, and caches");
  return StageRef(*this, stage->name);
}

namespace {

std::string fresh_tensor(const Schedule& schedule, const std::string& wanted) {
  std::string name = wanted;
  for (int i = 1; schedule.find_tensor(name) || is_reserved(name); ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

}  // namespace

StageRef& StageRef::step(Step s) {
  schedule_->apply(s);
  return *this;
}

std::array<LoopRef, 2> StageRef::split(const Loop& loop, int64_t factor, Tail tail) {
  const Stage& stage = *schedule_->find_stage(name_);
  const std::string a = fresh_loop(stage, loop.name + "0"), b = fresh_loop(stage, loop.name + "1");
  step({"split", {axis(loop)}, {}, {a, b}, {factor}, std::string(to_string(tail))});
  return {LoopRef{name_, a}, LoopRef{name_, b}};
}

std::array<LoopRef, 2> StageRef::split_parts(const Loop& loop, int64_t parts, Tail tail) {
  const Stage& stage = *schedule_->find_stage(name_);
  const std::string a = fresh_loop(stage, loop.name + "0"), b = fresh_loop(stage, loop.name + "1");
  step({"split_parts", {axis(loop)}, {}, {a, b}, {parts}, std::string(to_string(tail))});
  return {LoopRef{name_, a}, LoopRef{name_, b}};
}

LoopRef StageRef::fuse(const std::vector<Loop>& loops) {
  std::vector<AxisName> axes;
  std::string wanted;
  for (const Loop& l : loops) {
    axes.push_back(axis(l));
    wanted += (wanted.empty() ? "" : "_") + l.name;
  }
  const std::string name = fresh_loop(*schedule_->find_stage(name_), wanted);
  step({"fuse", axes, {}, {name}, {}, {}});
  return {name_, name};
}

std::array<LoopRef, 4> StageRef::tile(const Loop& i, const Loop& j, int64_t factor_i, int64_t factor_j, Tail tail) {
  const Stage& stage = *schedule_->find_stage(name_);
  const std::string i0 = fresh_loop(stage, i.name + "0"), i1 = fresh_loop(stage, i.name + "1");
  const std::string j0 = fresh_loop(stage, j.name + "0"), j1 = fresh_loop(stage, j.name + "1");
  step({"tile", {axis(i), axis(j)}, {}, {i0, j0, i1, j1}, {factor_i, factor_j}, std::string(to_string(tail))});
  return {LoopRef{name_, i0}, LoopRef{name_, j0}, LoopRef{name_, i1}, LoopRef{name_, j1}};
}

StageRef& StageRef::reorder(const std::vector<Loop>& loops) {
  std::vector<AxisName> axes;
  for (const Loop& l : loops) axes.push_back(axis(l));
  return step({"reorder", axes, {}, {}, {}, {}});
}

StageRef& StageRef::bind(const Loop& loop, LoopKind kind) {
  return step({"bind", {axis(loop)}, {}, {}, {}, std::string(to_string(kind))});
}
StageRef& StageRef::vectorize(const Loop& loop) { return step({"vectorize", {axis(loop)}, {}, {}, {}, {}}); }
StageRef& StageRef::unroll(const Loop& loop) { return step({"unroll", {axis(loop)}, {}, {}, {}, {}}); }
StageRef& StageRef::unroll(const Loop& loop, int64_t most) { return step({"unroll", {axis(loop)}, {}, {}, {most}, {}}); }
StageRef& StageRef::compute_at(const StageRef& consumer, const Loop& loop) {
  return step({"compute_at", {consumer.axis(loop)}, {name_}, {}, {}, {}});
}
StageRef& StageRef::store_at(const StageRef& consumer, const Loop& loop) {
  return step({"store_at", {consumer.axis(loop)}, {name_}, {}, {}, {}});
}
StageRef& StageRef::compute_with(const StageRef& host, const Loop& loop) {
  return step({"compute_with", {host.axis(loop)}, {name_}, {}, {}, {}});
}
StageRef& StageRef::block_order(const Loop& bi, const Loop& bj, int64_t rows) {
  return step({"block_order", {axis(bi), axis(bj)}, {}, {}, {rows}, {}});
}
StageRef& StageRef::chiplet_order(const Loop& block, int64_t chiplets) {
  return step({"chiplet_order", {axis(block)}, {}, {}, {chiplets}, {}});
}
StageRef& StageRef::compute_inline() { return step({"compute_inline", {}, {name_}, {}, {}, {}}); }
StageRef& StageRef::compute_root() { return step({"compute_root", {}, {name_}, {}, {}, {}}); }
StageRef& StageRef::set_scope(Scope scope) {
  return step({"set_scope", {}, {name_}, {}, {}, std::string(to_string(scope))});
}

StageRef& StageRef::pipeline(const Loop& loop, int64_t stages) { return step({"pipeline", {axis(loop)}, {}, {}, {stages}, {}}); }
StageRef& StageRef::double_buffer() { return step({"double_buffer", {}, {name_}, {}, {}, {}}); }
StageRef& StageRef::cooperative(int64_t vector) { return step({"cooperative", {}, {name_}, {}, {vector}, {}}); }
StageRef& StageRef::storage_align(const Loop& along, int64_t factor, int64_t offset) {
  return step({"storage_align", {axis(along)}, {}, {}, {factor, offset}, {}});
}
StageRef& StageRef::swizzle(int64_t vector, int64_t rows, int64_t period) {
  return step({"swizzle", {}, {name_}, {}, {vector, rows, period}, {}});
}

Tensor Schedule::cache_read(const Tensor& tensor, Scope scope, const std::vector<Tensor>& readers) {
  if (!tensor) throw Error("cache_read", "the tensor is empty", "give the tensor to stage");
  const std::string name = fresh_tensor(*this, fmt::format("{}_{}", tensor.name(), to_string(scope)));
  Step step{"cache_read", {}, {tensor.name()}, {name}, {}, std::string(to_string(scope))};
  for (const Tensor& reader : readers) step.tensors.push_back(reader.name());
  apply(step);
  return find_tensor(name);
}

Tensor Schedule::cache_write(const Tensor& tensor, Scope scope) {
  if (!tensor) throw Error("cache_write", "the tensor is empty", "give the tensor to stage");
  const std::string name = fresh_tensor(*this, fmt::format("{}_{}", tensor.name(), to_string(scope)));
  apply({"cache_write", {}, {tensor.name()}, {name}, {}, std::string(to_string(scope))});
  return find_tensor(name);
}

std::vector<Tensor> Schedule::rfactor(const Tensor& tensor, const StageRef::Loop& loop) {
  const Stage* stage = tensor ? producer_of(*tensor) : nullptr;
  const ReduceNode* reduction = stage ? find_reduce(stage->body) : nullptr;
  if (!reduction) throw Error("rfactor", fmt::format("{} is not reduced in this schedule", tensor ? tensor.name() : "an empty tensor"),
                              "give a computed tensor whose body has a reduction");
  Step step{"rfactor", {{stage->name, loop.name}}, {}, {}, {}, {}};
  for (size_t c = 0; c < reduction->sources.size(); ++c)
    step.results.push_back(fresh_tensor(*this, fmt::format("{}_rf{}", stage->name, c ? std::to_string(c) : "")));
  apply(step);
  std::vector<Tensor> result;
  for (const std::string& name : step.results) result.push_back(find_tensor(name));
  return result;
}

}  // namespace lathe
