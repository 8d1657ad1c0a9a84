// Correct kernels, spoiled in one place at a time. Every mutant is disproved by the certificate, or caught by the emulated
// GPU in strict mode (a report, or values that are not the evaluator's), or by the evaluator of kernels, or it is no mutant
// at all: then a proof says so.
//
//   what only the emulator catches     and why the certificate cannot
//   another element is read            values are not its business: the access is inside its tensor, and ordered
//   a loop runs less or more           what is left out of a sum, or added to it, is a value
//   a store to LDS or registers fails  that memory was written before it is read is no claim of the certificate
//
// Standard output has the table: mutants of each kind, and the ones that only the emulator caught, each with its reason.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/certificate/refute.h"
#include "compiler/codegen/codegen.h"
#include "compiler/passes/passes.h"
#include "ir/equal.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "tests/compiler/harness.h"

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr int most_of_a_kind = 4;  // per program, evenly spread over the places there are

// ---- spoiling
struct Mutant {
  Kernel kernel;
  Stmt before, after;            // the one statement that differs; null: the grid does
  std::vector<Expr> conditions;  // under which it is reached
};
using Change = std::function<Stmt(const Stmt&)>;  // null: not here
using Spoil = std::function<std::vector<Mutant>(const Kernel&)>;

// The range of every index of a kernel.
std::vector<Expr> ranges(const Kernel& k) {
  std::vector<Expr> all;
  for (int d = 0; d < 3; ++d) {
    all.push_back(k.block_index[d] >= 0 && k.block_index[d] < k.grid[d]);
    all.push_back(k.thread_index[d] >= 0 && k.thread_index[d] < k.block[d]);
  }
  return all;
}

// All kernels that differ from `k` in one statement.
class Everywhere {
 public:
  Everywhere(const Kernel& k, const Change& change) : change_(change) {
    for (;; ++wanted_) {
      seen_ = 0;
      mutant_ = {k, {}, {}, {}};
      conditions_ = ranges(k);
      mutant_.kernel.body = replace(k.body);
      if (!mutant_.before) return;
      mutants.push_back(mutant_);
    }
  }
  std::vector<Mutant> mutants;

 private:
  Stmt replace(const Stmt& s) {
    if (Stmt other = change_(s); other && seen_++ == wanted_) {
      mutant_.before = s, mutant_.after = other, mutant_.conditions = conditions_;
      return other;
    }
    const auto inside = [&](const Stmt& child, const Expr& condition) {
      conditions_.push_back(condition);
      Stmt result = replace(child);
      conditions_.pop_back();
      return result;
    };
    if (const auto* b = as<BranchNode>(s)) {
      const Stmt then_body = inside(b->then_body, b->condition), else_body = b->else_body ? inside(b->else_body, !b->condition) : Stmt();
      return make_branch(b->condition, then_body, else_body);
    }
    if (const auto* l = as<LoopNode>(s)) return make_loop(l->loop, l->var, l->begin, l->end, inside(l->body, l->begin <= l->var && l->var < l->end));
    return map_children(s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return replace(child); });
  }

  const Change& change_;
  Mutant mutant_;
  std::vector<Expr> conditions_;
  int wanted_ = 0, seen_ = 0;
};

Spoil statements(std::function<Stmt(const Kernel&, const Stmt&)> change) {
  return [change](const Kernel& k) { return Everywhere(k, [&](const Stmt& s) { return change(k, s); }).mutants; };
}

Stmt shifted_store(const Stmt& s, size_t d, int64_t by) {
  const auto* store = as<StoreNode>(s);
  if (!store || d >= store->indices.size()) return {};
  std::vector<Expr> indices = store->indices;
  indices[d] = indices[d] + make_cast(indices[d].type().scalar(), constant(i64, by));
  return make_store(store->tensor, indices, store->value);
}

// The first load in a store's value that has an index, moved by one in its last dimension.
Stmt shifted_load(const Stmt& s, int64_t by) {
  const auto* store = as<StoreNode>(s);
  if (!store) return {};
  bool done = false;
  const std::function<Expr(const Expr&)> shift = [&](const Expr& e) -> Expr {
    if (done) return e;
    if (const auto* l = as<LoadNode>(e); l && !l->indices.empty()) {
      done = true;
      std::vector<Expr> indices = l->indices;
      indices.back() = indices.back() + make_cast(indices.back().type().scalar(), constant(i64, by));
      return make_load(l->tensor, indices);
    }
    return map_children(e, shift);
  };
  const Expr value = shift(store->value);
  return done ? make_store(store->tensor, store->indices, value) : Stmt();
}

Stmt with_end(const Stmt& s, int64_t by) {
  const auto* l = as<LoopNode>(s);
  return l ? make_loop(l->loop, l->var, l->begin, l->end + by, l->body) : Stmt();
}

// The first number above one that an index is multiplied with or divided by, as the tiles' sizes are, one larger.
Stmt other_tile(const Stmt& s, int64_t by) {
  const auto* store = as<StoreNode>(s);
  if (!store) return {};
  bool done = false;
  const std::function<Expr(const Expr&)> change = [&](const Expr& e) -> Expr {
    if (done) return e;
    const auto* a = as<ApplyNode>(e);
    if (const int64_t* k = a && a->args.size() == 2 && e.type().is_int() ? as_constant(a->args[1]) : nullptr;
        k && *k > 1 && (a->op == Op::mul || a->op == Op::div || a->op == Op::mod)) {
      done = true;
      return make_apply(a->op, {a->args[0], constant(a->args[1].type(), *k + by)});
    }
    return map_children(e, change);
  };
  std::vector<Expr> indices;
  for (const Expr& i : store->indices) indices.push_back(change(i));
  return done ? make_store(store->tensor, indices, store->value) : Stmt();
}

Stmt swapped_items(const Kernel& k, const Stmt& s) {
  const auto* store = as<StoreNode>(s);
  if (!store) return {};
  const Var &x = k.thread_index[0], &y = k.block[1] > 1 ? k.thread_index[1] : k.block_index[0];
  const Substitution swap = {{x.node(), y}, {y.node(), x}};
  std::vector<Expr> indices;
  bool both = false;
  for (const Expr& i : store->indices) both |= uses(i, x) || uses(i, y), indices.push_back(substitute(i, swap));
  return both ? make_store(store->tensor, indices, store->value) : Stmt();
}

// The next work-item's element is written, too.
Stmt twice(const Kernel& k, const Stmt& s) {
  const auto* store = as<StoreNode>(s);
  const Var& x = k.thread_index[0];
  if (!store || k.block[0] == 1) return {};
  const Substitution next = {{x.node(), (x + 1) % k.block[0]}};
  std::vector<Expr> indices;
  bool other = false;
  for (const Expr& i : store->indices) other |= uses(i, x), indices.push_back(substitute(i, next));
  return other ? make_block({s, make_store(store->tensor, indices, store->value)}) : Stmt();
}

Stmt smaller(const Stmt& s) {
  const auto* a = as<AllocNode>(s);
  if (!a || a->tensor.shape().empty()) return {};
  std::vector<Expr> shape = a->tensor.shape();
  const int64_t* extent = as_constant(shape[0]);
  if (!extent || *extent < 2) return {};
  shape[0] = constant(i64, *extent - 1);
  const Tensor less = make_tensor(a->tensor.name(), a->tensor.type(), shape);
  const std::function<Expr(const Expr&)> in_expr = [&](const Expr& e) -> Expr {
    const Expr mapped = map_children(e, in_expr);
    const auto* l = as<LoadNode>(mapped);
    return l && Tensor(l->tensor).same_as(a->tensor) ? make_load(less, l->indices) : mapped;
  };
  const std::function<Stmt(const Stmt&)> in_stmt = [&](const Stmt& x) -> Stmt {
    const Stmt mapped = map_children(x, in_expr, in_stmt);
    const auto* store = as<StoreNode>(mapped);
    return store && store->tensor.same_as(a->tensor) ? make_store(less, store->indices, store->value) : mapped;
  };
  return make_alloc(less, a->scope, in_stmt(a->body));
}

std::vector<Mutant> other_grid(const Kernel& k, int64_t by) {
  std::vector<Mutant> mutants;
  for (int d = 0; d < 3; ++d) {
    if (is_constant(k.grid[d], 1) && by < 0) continue;
    mutants.push_back({k, {}, {}, ranges(k)});
    mutants.back().kernel.grid[d] = k.grid[d] + by;
  }
  return mutants;
}

// The flat index of a store, computed in 32 bits.
Stmt narrowed(const Stmt& s) {
  const auto* store = as<StoreNode>(s);
  if (!store || store->indices[0].type().scalar() != i64 || as_constant(store->indices[0])) return {};
  return make_store(store->tensor, {make_cast(i64, make_cast(i32, store->indices[0]))}, store->value);
}

struct Kind {
  const char* name;
  bool flat;       // of the flat kernel alone, which is to say what the nested one says
  Spoil spoil;
};
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"a barrier removed", false, statements([](const Kernel&, const Stmt& s) { return s->kind == StmtKind::barrier ? make_block({}) : Stmt(); })},
      {"a store's first index + 1", false, statements([](const Kernel&, const Stmt& s) { return shifted_store(s, 0, 1); })},
      {"a store's last index + 1", false, statements([](const Kernel&, const Stmt& s) {
         const auto* store = as<StoreNode>(s);
         return store && !store->indices.empty() ? shifted_store(s, store->indices.size() - 1, 1) : Stmt();
       })},
      {"a load's index + 1", false, statements([](const Kernel&, const Stmt& s) { return shifted_load(s, 1); })},
      {"a load's index - 1", false, statements([](const Kernel&, const Stmt& s) { return shifted_load(s, -1); })},
      {"a guard dropped", false, statements([](const Kernel&, const Stmt& s) { return as<BranchNode>(s) ? as<BranchNode>(s)->then_body : Stmt(); })},
      {"a guard negated", false, statements([](const Kernel&, const Stmt& s) {
         const auto* b = as<BranchNode>(s);
         return b ? make_branch(!b->condition, b->then_body, b->else_body) : Stmt();
       })},
      {"a loop of one more", false, statements([](const Kernel&, const Stmt& s) { return with_end(s, 1); })},
      {"a loop of one less", false, statements([](const Kernel&, const Stmt& s) { return with_end(s, -1); })},
      {"a tile of one more", false, statements([](const Kernel&, const Stmt& s) { return other_tile(s, 1); })},
      {"a tile of one less", false, statements([](const Kernel&, const Stmt& s) { return other_tile(s, -1); })},
      {"two indices swapped", false, statements(swapped_items)},
      {"a store dropped", false, statements([](const Kernel&, const Stmt& s) { return s->kind == StmtKind::store ? make_block({}) : Stmt(); })},
      {"a store of the next one's", false, statements(twice)},
      {"an allocation of one less", false, statements([](const Kernel&, const Stmt& s) { return smaller(s); })},
      {"a grid of one more", false, [](const Kernel& k) { return other_grid(k, 1); }},
      {"a grid of one less", false, [](const Kernel& k) { return other_grid(k, -1); }},
      {"a flat index + 1", true, statements([](const Kernel&, const Stmt& s) { return shifted_store(s, 0, 1); })},
      {"an index in 32 bits", true, statements([](const Kernel&, const Stmt& s) { return narrowed(s); })},
  };
  return all;
}

// ---- judging
struct Run {
  Symbols symbols;
  Arrays arrays, expected;
};

// What the emulated GPU says, or how its results differ from the evaluator's; empty: nothing, at no run.
std::string on_gpu(const Program& program, const LoweredFunction& f, const std::vector<Run>& runs) {
  static Device gpu = Device::open("emulator:gfx942");
  const Target target = parse_target(gpu.info().target_id);
  try {
    PackageData package;
    package.functions = {describe_function(f)};
    package.code_objects = {{target.id(), compile_kernels(f.kernels, target, f.name).code_object}};
    auto loaded = gpu.load(write_package(package));
    for (const Run& run : runs) {
      std::vector<Array> there;
      for (const HostArray& a : run.arrays) there.push_back(Array::from_host(gpu, a));
      loaded[program.name](std::span<const Array>(there));
      gpu.synchronize();
      Arrays result;
      for (const Array& a : there) result.push_back(a.to_host());
      if (std::string d = difference(program, result, run.expected); !d.empty()) return d;
    }
    return "";
  } catch (const Error& e) {
    return e.message();
  }
}

// What the evaluator of kernels says of them: LLVM gives memory that nobody wrote any value it likes, and may like the
// right one.
std::string by_kernels(const Program& program, const LoweredFunction& f, const std::vector<Run>& runs) {
  try {
    for (const Run& run : runs)
      if (std::string d = difference(program, by_passes(f, run.arrays), run.expected); !d.empty()) return d;
    return "";
  } catch (const Error& e) {
    return e.message();
  }
}

// Why a mutant that nobody objects to does what the kernel did. What differs is read here and asked of the refuter, which
// isl checks in refute_test.cpp.
class Equality {
 public:
  explicit Equality(const LoweredFunction& f) {
    for (const Tensor& t : f.arguments)
      for (const Expr& e : t.shape()) known_.push_back(e >= 0);
    for (const auto& p : f.promises) known_.push_back(p.condition);
    for (const Kernel& k : f.kernels)
      for (const Tensor& t : k.buffers) global_.insert(t.get());
  }
  // Empty: it cannot be shown.
  std::string why(const Kernel& before, const Mutant& m, bool flat, Verdict certificate) {
    barriers_count_ = certificate != Verdict::proved;
    if (certificate == Verdict::proved && flat) return "the flat indices are proved to be the nested ones";
    if (!m.before) {
      // What LDS and registers of a work-group hold, others do not see.
      only_global_ = true, barriers_count_ = false;
      const bool nothing = idle_beyond(m.kernel, before) && idle_beyond(before, m.kernel);
      only_global_ = false;
      return nothing ? "the work-groups that are more or less write nothing to global memory" : "";
    }
    if (certificate == Verdict::proved && m.before->kind == StmtKind::barrier) return "all is ordered without this barrier";
    if (certificate == Verdict::proved && m.before->kind == StmtKind::alloc) return "nobody uses the elements that are less";
    if (idle(m.before, m.conditions) && idle(m.after, m.conditions)) return "it is never reached";
    if (const auto* b = as<BranchNode>(m.before); b && equal(m.after, b->then_body) && !b->else_body) {
      std::vector<Expr> fails = m.conditions;
      fails.push_back(!b->condition);
      if (idle(m.after, fails)) return "the guard always holds";
    }
    const auto *x = as<LoopNode>(m.before), *y = as<LoopNode>(m.after);
    if (x && y && equal(x->begin, y->begin)) {
      std::vector<Expr> between = m.conditions;
      between.push_back(x->var >= min(x->end, y->end) && x->var < max(x->end, y->end));
      if (idle(x->body, between)) return "the iterations that are more or less do nothing";
    }
    const auto *s = as<StoreNode>(m.before), *t = as<StoreNode>(m.after);
    if (s && t && s->tensor.same_as(t->tensor) && equal(s->value, t->value)) {
      bool same = true;
      for (size_t d = 0; d < s->indices.size(); ++d) same &= s->indices[d].type().lanes == 1 && excluded(m.conditions, s->indices[d] != t->indices[d]);
      if (same) return "both are the same index";
    }
    return "";
  }

 private:
  // Do the work-groups that `k` has beyond those of `other` write nothing?
  bool idle_beyond(const Kernel& k, const Kernel& other) const {
    std::vector<Expr> beyond = ranges(k);
    Expr out = false_();
    for (int d = 0; d < 3; ++d) out = out || k.block_index[d] >= other.grid[d];
    beyond.push_back(out);
    return idle(k.body, beyond);
  }
  bool excluded(const std::vector<Expr>& conditions, const Expr& more = true_()) const {
    std::vector<Condition> all = {holds(more)};
    for (const Expr& e : conditions) all.push_back(holds(e));
    for (const Expr& e : known_) all.push_back(holds(e));
    certificate::Refuter refuter;
    return refuter.excludes(all);
  }
  // No store in it is reached.
  bool idle(const Stmt& s, std::vector<Expr> conditions) const {
    switch (s->kind) {
      case StmtKind::block:
        for (const Stmt& child : as<BlockNode>(s)->stmts)
          if (!idle(child, conditions)) return false;
        return true;
      case StmtKind::alloc: return idle(as<AllocNode>(s)->body, conditions);
      case StmtKind::branch: {
        const auto* b = as<BranchNode>(s);
        std::vector<Expr> otherwise = conditions;
        conditions.push_back(b->condition), otherwise.push_back(!b->condition);
        return idle(b->then_body, conditions) && (!b->else_body || idle(b->else_body, otherwise));
      }
      case StmtKind::loop: {
        const auto* l = as<LoopNode>(s);
        conditions.push_back(l->begin <= l->var && l->var < l->end);
        return idle(l->body, conditions);
      }
      case StmtKind::store: return (only_global_ && !global_.count(as<StoreNode>(s)->tensor.get())) || excluded(conditions);
      case StmtKind::barrier: return !barriers_count_ || excluded(conditions);
    }
    return false;
  }
  std::vector<Expr> known_;
  std::set<const TensorNode*> global_;
  bool only_global_ = false;     // stores to it are all that counts
  bool barriers_count_ = true;   // once all is ordered, one barrier more makes no difference
};

struct Case {
  const char* file;
  std::vector<Symbols> sizes = {{}};  // with and without ends to be guarded
};
const std::vector<Case> cases = {
    {"vector_add", {{{"n", 200}}}}, {"vector_scale", {{{"n", 303}}}}, {"broadcast_add", {{{"m", 6}, {"n", 41}}}}, {"transpose_tiled", {{{"m", 19}, {"n", 34}}}},
    {"shared_reverse", {{{"n", 150}}}}, {"row_sums", {{{"m", 5}, {"n", 37}}, {{"m", 6}, {"n", 32}}}}, {"moments"}, {"two_stages", {{{"n", 70}}}},
    {"blur_tiled"}, {"conv_staged"}, {"tiled_matmul"}, {"register_gemm"}, {"rfactor_symbolic", {{{"m", 6}, {"n", 150}}, {{"m", 3}, {"n", 193}}}}, {"i32_gather_shared"}};
constexpr uint64_t seeds = 2;  // of values

std::string first_line(const std::string& text) {
  const size_t from = text.find("lathe emulator: ");
  const std::string rest = text.substr(from == std::string::npos ? 0 : from);
  return rest.substr(0, rest.find('\n'));
}

struct Tally {
  int total = 0, certificate = 0, emulator = 0, evaluator = 0, equal = 0;
};

}  // namespace

TEST_CASE("every mutant of a correct kernel is found out") {
  std::map<std::string, Tally> tallies;
  Tally all;
  std::string only_emulator, only_evaluator, equals;
  for (const Case& c : cases) {
    const std::string path = std::string(LATHE_SOURCE_DIR) + "/tests/programs/" + c.file + ".te";
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const Program program = parse_program(text.str(), path);
    std::vector<Run> runs;
    for (const Symbols& symbols : c.sizes)
      for (uint64_t seed = 1; seed <= seeds; ++seed) {
        Arrays arrays = random_arrays(program, symbols, seed, Values::fractions);
        Arrays expected = by_evaluator(program, arrays);
        runs.push_back({symbols, std::move(arrays), std::move(expected)});
      }
    const auto lowered = [&] {
      PipelineOptions options;
      options.stop_after = "unroll_loops";
      return lower(program, parse_target("gfx942"), options);
    };
    const Lowering correct = lowered();
    Lowering finished = correct;
    flatten_storage(finished), narrow_indices(finished);
    INFO(c.file);
    REQUIRE(certify(finished.nested, finished.function, finished.target).verdict() == Verdict::proved);
    REQUIRE(on_gpu(program, finished.function, runs) == "");
    Equality equality(correct.function);
    for (const Kind& kind : kinds())
      for (size_t k = 0; k < correct.function.kernels.size(); ++k) {
        const Kernel& before = kind.flat ? finished.function.kernels[k] : correct.function.kernels[k];
        const std::vector<Mutant> mutants = kind.spoil(before);
        const size_t step = std::max<size_t>(1, mutants.size() / most_of_a_kind);
        for (size_t n = 0; n < mutants.size() && n / step < most_of_a_kind; n += step) {
          const Mutant& mutant = mutants[n];
          Lowering l = kind.flat ? finished : correct;
          l.function.kernels[k] = mutant.kernel;
          if (!kind.flat) flatten_storage(l), narrow_indices(l);
          const Certificate certificate = certify(l.nested, l.function, l.target);
          Tally& tally = tallies[kind.name];
          ++tally.total;
          if (certificate.verdict() == Verdict::disproved) {
            ++tally.certificate;
            continue;
          }
          const std::string where = fmt::format("{}, {} ({} of {})", c.file, kind.name, n + 1, mutants.size());
          const std::string reason = equality.why(before, mutant, kind.flat, certificate.verdict());
          const std::string caught = on_gpu(program, l.function, runs);
          if (!reason.empty()) {
            ++tally.equal;
            equals += fmt::format("  {}: {}\n", where, reason);
            INFO(where << ": " << reason);
            CHECK(caught == "");
          } else if (!caught.empty()) {
            ++tally.emulator;
            std::string reason = "all claims hold, values are none of them";
            for (const Claim& claim : certificate.claims)
              if (claim.verdict == Verdict::undecided) reason = fmt::format("{} is undecided", claim.kind);
            only_emulator += fmt::format("  {}: {}; {}\n", where, reason, first_line(caught));
          } else if (const std::string said = by_kernels(program, l.function, runs); !said.empty()) {
            ++tally.evaluator;
            only_evaluator += fmt::format("  {}: {}\n", where, first_line(said));
          } else {
            UNSCOPED_INFO(where << " survives\n" << (mutant.before ? to_string(mutant.before) + "became\n" + to_string(mutant.after) : "") << certificate.text());
            CHECK(false);
          }
        }
      }
  }
  fmt::print("{:<26} {:>7} {:>11} {:>8} {:>9} {:>10}\n", "mutants", "all", "certificate", "emulator", "evaluator", "no mutants");
  for (const Kind& kind : kinds()) {
    const Tally& t = tallies[kind.name];
    fmt::print("{:<26} {:>7} {:>11} {:>8} {:>9} {:>10}\n", kind.name, t.total, t.certificate, t.emulator, t.evaluator, t.equal);
    CHECK(t.total > 0);
    all.total += t.total, all.certificate += t.certificate, all.emulator += t.emulator, all.evaluator += t.evaluator, all.equal += t.equal;
  }
  fmt::print("{:<26} {:>7} {:>11} {:>8} {:>9} {:>10}\n", "", all.total, all.certificate, all.emulator, all.evaluator, all.equal);
  fmt::print("\nWhat only the emulator catches:\n{}", only_emulator);
  fmt::print("\nWhat LLVM turns into the right thing, and only the evaluator of kernels catches:\n{}", only_evaluator);
  fmt::print("\nWhat is no mutant, since it is proved to do the same:\n{}", equals);
  CHECK(all.certificate + all.emulator >= 200);
}
