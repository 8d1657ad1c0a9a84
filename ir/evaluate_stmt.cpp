// The evaluator of lowered statements and of kernels.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "ir/evaluate.h"
#include "ir/evaluate_arguments.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

// A statement with its expressions compiled.
struct Exec {
  StmtKind kind = StmtKind::block;
  bool has_barrier = false;
  std::vector<Exec> children;     // body; then and else; the block's statements
  LoopKind loop = LoopKind::serial;
  size_t slot = 0;                // of the loop variable
  std::string name;               // of the loop variable
  const Code *begin = nullptr, *end = nullptr, *condition = nullptr, *place = nullptr, *value = nullptr;
  int lanes = 1;                  // of a store
  Storage* storage = nullptr;     // of a store or an allocation
  Scope scope = Scope::global;    // of an allocation
  std::vector<const Code*> extents;
  // Of a combine: a component's storage, its element, and the combiner's operands and result.
  struct Component {
    Storage* storage;
    const Code *value, *result;
    size_t lhs, rhs;
    Scalar identity;
    bool is_real;
  };
  std::vector<Component> components;
  std::vector<int> along;         // dimensions
  int64_t width = 0;
};

Exec compile(const Stmt& s, ExprCompiler& compiler) {
  Exec x;
  x.kind = s->kind;
  auto add = [&](const Stmt& child) {
    x.children.push_back(compile(child, compiler));
    x.has_barrier |= x.children.back().has_barrier;
  };
  switch (s->kind) {
    case StmtKind::loop: {
      const auto* l = as<LoopNode>(s);
      x.loop = l->loop;
      x.slot = compiler.slot(l->var.node());
      x.name = l->var.name();
      x.begin = compiler.compile(l->begin);
      x.end = compiler.compile(l->end);
      add(l->body);
      return x;
    }
    case StmtKind::branch:
      x.condition = compiler.compile(as<BranchNode>(s)->condition);
      add(as<BranchNode>(s)->then_body);
      if (as<BranchNode>(s)->else_body) add(as<BranchNode>(s)->else_body);
      return x;
    case StmtKind::store: {
      const auto* st = as<StoreNode>(s);
      x.place = compiler.compile_place(st->tensor, st->indices);
      x.value = compiler.compile(st->value);
      x.storage = &compiler.storage(st->tensor);
      x.lanes = st->value.type().lanes;
      for (const Expr& i : st->indices) x.lanes = std::max<int>(x.lanes, i.type().lanes);
      return x;
    }
    case StmtKind::alloc: {
      const auto* a = as<AllocNode>(s);
      x.storage = &compiler.storage(a->tensor);
      x.scope = a->scope;
      for (const Expr& extent : a->tensor.shape()) x.extents.push_back(compiler.compile(extent));
      add(a->body);
      return x;
    }
    case StmtKind::barrier: x.has_barrier = true; return x;
    case StmtKind::combine: {
      const auto* c = as<CombineNode>(s);
      x.has_barrier = true;
      x.width = c->width;
      for (LoopKind k : c->along) x.along.push_back(dimension(k));
      std::sort(x.along.begin(), x.along.end());
      for (size_t i = 0; i < c->values.size(); ++i) {
        const Tensor& t = c->values[i];
        const Expr& identity = c->combiner->identity[i];
        const Scalar start = as<RealNode>(identity) ? Scalar{0, as<RealNode>(identity)->value} : Scalar{as<IntegerNode>(identity)->value, 0};
        x.components.push_back({&compiler.storage(t), compiler.compile(make_load(t, std::vector<Expr>(t.shape().size(), Expr(0)))),
                                compiler.compile(c->combiner->result[i]), compiler.slot(c->combiner->lhs[i].node()),
                                compiler.slot(c->combiner->rhs[i].node()), start, t.type().is_float()});
      }
      return x;
    }
    case StmtKind::block:
      for (const Stmt& child : as<BlockNode>(s)->stmts) add(child);
      return x;
  }
  LATHE_CHECK(false, "unreachable");
}

class Interpreter {
 public:
  explicit Interpreter(const std::string& where) : where_(where) {}

  // One after another. Statements with barriers run for all work-items of the group together, the others for each.
  void run(const Exec& x, State& s) {
    if (x.has_barrier) {
      std::vector<Item> items(1);
      items[0].state = s;
      return run_group(x, items);
    }
    switch (x.kind) {
      case StmtKind::loop: {
        const int64_t end = x.end->integer(s);
        for (int64_t i = x.begin->integer(s); i < end; ++i) {
          s.integers[x.slot] = i;
          run(x.children[0], s);
        }
        return;
      }
      case StmtKind::branch:
        if (x.condition->integer(s))
          run(x.children[0], s);
        else if (x.children.size() == 2)
          run(x.children[1], s);
        return;
      case StmtKind::store: return store(x, s);
      case StmtKind::alloc: {
        Memory memory;
        Memory* outer = x.storage->memory;
        make(x, s, memory);
        run(x.children[0], s);
        x.storage->memory = outer;
        return;
      }
      case StmtKind::barrier:
      case StmtKind::combine: return;
      case StmtKind::block:
        for (const Exec& child : x.children) run(child, s);
        return;
    }
  }

 private:
  // A work-item: its variables, and its own memory of each register allocation that is open.
  struct Item {
    State state;
    std::vector<std::shared_ptr<Memory>> registers;
    int64_t at[3] = {0, 0, 0};  // its number along x, y, z
  };

  void run_group(const Exec& x, std::vector<Item>& items) {
    if (!x.has_barrier) {
      for (Item& item : items) {
        enter(item);
        run(x, item.state);
      }
      return;
    }
    switch (x.kind) {
      case StmtKind::loop: return is_thread(x.loop) ? run_threads(x, items) : run_uniform_loop(x, items);
      case StmtKind::branch: {
        const bool taken = agreed(x.condition, items, "a condition") != 0;
        if (taken || x.children.size() == 2) run_group(x.children[taken ? 0 : 1], items);
        return;
      }
      case StmtKind::alloc: return run_alloc(x, items);
      case StmtKind::block:
        for (const Exec& child : x.children) run_group(child, items);
        return;
      case StmtKind::combine: return combine(x, items);
      case StmtKind::barrier:
      case StmtKind::store: return;
    }
  }

  void enter(const Item& item) {
    for (size_t i = 0; i < open_.size(); ++i) open_[i]->memory = item.registers[i].get();
  }

  void combine(const Exec& x, std::vector<Item>& items) {
    int64_t extent[3] = {1, 1, 1};
    for (const Item& item : items)
      for (int d = 0; d < 3; ++d) extent[d] = std::max(extent[d], item.at[d] + 1);
    // A run: which work-items stand at its places. Loops over work-items inside one another count some of them again, once
    // for each outer one, which has its own registers: those are runs of their own.
    std::map<std::array<int64_t, 3>, int64_t> again;
    std::map<std::array<int64_t, 5>, std::map<int64_t, Item*>> runs;
    for (Item& item : items) {
      std::array<int64_t, 3> at = {item.at[0], item.at[1], item.at[2]};
      const int64_t occurrence = again[at]++;
      int64_t number = 0, stride = 1;
      for (int d : x.along) {
        number += item.at[d] * stride;
        stride *= extent[d];
        at[d] = 0;
      }
      runs[{at[0], at[1], at[2], occurrence, number / x.width}][number % x.width] = &item;
    }
    using Values = std::vector<Scalar>;
    for (auto& [key, run] : runs) {
      Values identity;
      for (const Exec::Component& c : x.components) identity.push_back(c.identity);
      int64_t width = 1;
      while (width < x.width) width *= 2;
      std::vector<Values> held(static_cast<size_t>(width), identity);
      for (auto& [place, item] : run) {
        enter(*item);
        Values& values = held[static_cast<size_t>(place)];
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = x.components[i].is_real ? Scalar{0, x.components[i].value->real(item->state)} : Scalar{x.components[i].value->integer(item->state), 0};
      }
      State& s = run.begin()->second->state;
      for (size_t step = 1; step < held.size(); step *= 2)
        for (size_t i = 0; i < held.size(); i += 2 * step) held[i] = combined(x, held[i], held[i + step], s);
      for (auto& [place, item] : run) {
        enter(*item);
        for (size_t i = 0; i < x.components.size(); ++i)
          x.components[i].is_real ? write_real(*x.components[i].storage, 0, held[0][i].real) : write_integer(*x.components[i].storage, 0, held[0][i].integer);
      }
    }
  }

  static std::vector<Scalar> combined(const Exec& x, const std::vector<Scalar>& a, const std::vector<Scalar>& b, State& s) {
    for (size_t i = 0; i < x.components.size(); ++i) {
      const Exec::Component& c = x.components[i];
      if (c.is_real)
        s.reals[c.lhs] = a[i].real, s.reals[c.rhs] = b[i].real;
      else
        s.integers[c.lhs] = a[i].integer, s.integers[c.rhs] = b[i].integer;
    }
    std::vector<Scalar> result;
    for (const Exec::Component& c : x.components)
      result.push_back(c.is_real ? Scalar{0, c.result->real(s)} : Scalar{c.result->integer(s), 0});
    return result;
  }

  void run_threads(const Exec& x, std::vector<Item>& items) {
    std::vector<Item> more;
    for (Item& item : items) {
      const int64_t end = x.end->integer(item.state);
      for (int64_t i = x.begin->integer(item.state); i < end; ++i) {
        more.push_back(item);
        more.back().state.integers[x.slot] = i;
        more.back().at[dimension(x.loop)] = i;
      }
    }
    if (!more.empty()) run_group(x.children[0], more);
  }

  void run_uniform_loop(const Exec& x, std::vector<Item>& items) {
    const int64_t begin = agreed(x.begin, items, "the loop over " + x.name);
    const int64_t end = agreed(x.end, items, "the loop over " + x.name);
    for (int64_t i = begin; i < end; ++i) {
      for (Item& item : items) item.state.integers[x.slot] = i;
      run_group(x.children[0], items);
    }
  }

  void run_alloc(const Exec& x, std::vector<Item>& items) {
    Memory* outer = x.storage->memory;
    Memory one;
    const bool is_private = x.scope == Scope::registers;
    if (is_private) {
      open_.push_back(x.storage);
      for (Item& item : items) {
        item.registers.push_back(std::make_shared<Memory>());
        make(x, item.state, *item.registers.back());
      }
    } else {
      make(x, items[0].state, one);
    }
    run_group(x.children[0], items);
    if (is_private) {
      open_.pop_back();
      for (Item& item : items) item.registers.pop_back();
    }
    x.storage->memory = outer;
  }

  // The value that every work-item has.
  int64_t agreed(const Code* code, std::vector<Item>& items, const std::string& what) {
    const int64_t value = code->integer(items[0].state);
    for (Item& item : items)
      if (code->integer(item.state) != value)
        throw Error(where_, fmt::format("a barrier stands inside {} that work-items do not agree on", what),
                    "every work-item of a group has to arrive at a barrier");
    return value;
  }

  void make(const Exec& x, State& s, Memory& memory) {
    std::vector<int64_t> shape;
    for (const Code* extent : x.extents) shape.push_back(extent->integer(s));
    allocate(*x.storage, memory, std::move(shape), where_);
    mark_unwritten(*x.storage);
  }

  void store(const Exec& x, State& s) {
    // All lanes are read before the first one is written.
    const bool is_real = x.storage->type.is_float();
    lanes_.clear();
    for (s.lane = 0; s.lane < x.lanes; ++s.lane) {
      Lane lane;
      if (is_real)
        lane.value.real = x.value->real(s);
      else
        lane.value.integer = x.value->integer(s);
      lane.place = x.place->integer(s);
      lanes_.push_back(lane);
    }
    s.lane = 0;
    for (const Lane& lane : lanes_) {
      if (is_real)
        write_real(*x.storage, lane.place, lane.value.real);
      else
        write_integer(*x.storage, lane.place, lane.value.integer);
    }
  }

  struct Lane {
    int64_t place = 0;
    Scalar value;
  };
  std::string where_;
  std::vector<Storage*> open_;  // register allocations around the statement at hand, in order
  std::vector<Lane> lanes_;
};

// The tensors of `body` that are neither the function's own nor allocated in it.
void add_stand_ins(const Stmt& body, EvaluatedArguments& arguments, std::vector<Tensor>& result) {
  std::set<const TensorNode*> seen;
  auto add = [&](const Ref<TensorNode>& t) {
    if (seen.insert(t.get()).second && !arguments.has(t)) result.emplace_back(t);
  };
  walk(
      body,
      [&](const Stmt& s) {
        if (const auto* a = as<AllocNode>(s)) seen.insert(a->tensor.get());
        if (const auto* st = as<StoreNode>(s)) add(st->tensor);
        return true;
      },
      [&](const Expr& e) {
        if (const auto* load = as<LoadNode>(e)) add(load->tensor);
        return true;
      });
}

// A kernel as loops over its work-groups and work-items.
Stmt as_loops(const Kernel& k) {
  Stmt body = k.body;
  for (int d = 0; d < 3; ++d)
    body = make_loop(static_cast<LoopKind>(static_cast<int>(LoopKind::thread_x) + d), k.thread_index[d], Expr(0),
                     Expr(k.block[d]), body);
  for (int d = 0; d < 3; ++d)
    body = make_loop(static_cast<LoopKind>(static_cast<int>(LoopKind::block_x) + d), k.block_index[d], Expr(0), k.grid[d],
                     body);
  return k.condition.defined() ? make_branch(k.condition, body) : body;
}

}  // namespace

void evaluate(const LoweredFunction& function, std::span<const BufferView> views) {
  ExprCompiler compiler(fmt::format("evaluate({})", function.name));
  EvaluatedArguments arguments(compiler, function.arguments, function.symbols);
  for (const Tensor& t : function.workspaces) arguments.add_temporary(t);

  std::vector<Exec> parts;
  std::vector<Tensor> stand_ins;  // flat tensors and kernels' buffers, called like the function's tensors
  if (function.body) {
    parts.push_back(compile(function.body, compiler));
    add_stand_ins(function.body, arguments, stand_ins);
  }
  for (const Kernel& k : function.kernels) {
    parts.push_back(compile(as_loops(k), compiler));
    stand_ins.insert(stand_ins.end(), k.buffers.begin(), k.buffers.end());
    for (const Var& v : k.symbols) compiler.slot(v.node());
  }
  for (const Tensor& t : stand_ins)
    for (const Expr& extent : t.shape()) compiler.compile(extent);
  State state = compiler.make_state();
  arguments.bind(views, state);
  for (size_t i = 0; i < function.arguments.size(); ++i)
    if (function.is_output[i]) mark_unwritten(compiler.storage(function.arguments[i]));
  for (const Tensor& t : function.workspaces) mark_unwritten(compiler.storage(t));

  for (const Kernel& k : function.kernels)
    for (const Var& v : k.symbols)
      for (const Var& outer : function.symbols)
        if (outer.name() == v.name())
          state.integers[compiler.slot(v.node())] = state.integers[compiler.slot(outer.node())];
  for (const Tensor& t : stand_ins) {
    Storage& storage = compiler.storage(t);
    storage.memory = arguments.find(t);
    if (!storage.memory)
      throw Error(compiler.where(), fmt::format("{} is no argument, workspace or allocation", t.name()),
                  "name the tensor of a kernel like the function's");
    storage.shape.clear();
    int64_t elements = 1;
    for (const Expr& extent : t.shape()) {
      storage.shape.push_back(compiler.compile(extent)->integer(state));
      elements *= storage.shape.back();
    }
    if (elements != storage.memory->elements)
      throw Error(compiler.where(), fmt::format("{} has {} elements, {} of them are accessed", t.name(),
                                                storage.memory->elements, elements),
                  "a kernel's tensor holds the same elements as the function's");
  }
  Interpreter interpreter(compiler.where());
  for (const Exec& part : parts) interpreter.run(part, state);
}

}  // namespace lathe
