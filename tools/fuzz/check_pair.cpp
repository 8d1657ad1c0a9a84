#include "tools/fuzz/check_pair.h"

#include <fmt/format.h>

#include <ctime>
#include <optional>
#include <unordered_set>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/visit.h"

namespace lathe::fuzz {
namespace {

constexpr size_t most_nodes = 600;  // that LLVM is given: it takes most of a pair's time

// Milliseconds of this process's own time: other processes do not count.
class Stopwatch {
 public:
  explicit Stopwatch(double& milliseconds) : sum_(milliseconds), start_(now()) {}
  ~Stopwatch() { sum_ += now() - start_; }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
  }
  double& sum_;
  double start_;
};

void check_text(const Program& program) {
  const std::string text = to_string(program);
  std::string again;
  try {
    again = to_string(parse_program(text, "printed"));
  } catch (const Error& e) {
    again = e.what();
  }
  if (again != text) throw Fault("the text does not round-trip", again);
  for (const Step& s : program.steps)
    if (!(parse_step(to_string(s)) == s)) throw Fault("a step does not round-trip", to_string(s));
}

// What `action` gives; nullopt when it refuses, with a hint. Anything else that it throws is a fault.
template <class F>
auto unless_refused(const std::string& what, F action) -> std::optional<decltype(action())> {
  try {
    return action();
  } catch (const Error& e) {
    if (e.where().starts_with("certificate of")) throw Fault("disproved", e.message());
    if (e.hint().empty() || e.message().empty()) throw Fault("a refusal says nothing", fmt::format("{}: {}: {}", what, e.where(), e.message()));
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    throw Fault("out of memory", what);
  }
}

// How much there is for LLVM to compile: distinct nodes of all kernels.
size_t size_of(const LoweredFunction& function) {
  std::unordered_set<const Node*> seen;
  for (const Kernel& k : function.kernels)
    walk(k.body, [&](const Stmt& s) { return seen.insert(s.get()).second; }, [&](const Expr& e) { return seen.insert(e.get()).second; });
  return seen.size();
}

}  // namespace

CheckResult check_pair(Pair pair, const CheckOptions& options, const std::function<void(const std::string&)>& journal) {
  CheckResult result;
  journal(to_text(pair));
  check_text(pair.program);
  const Arrays arrays = random_arrays(pair.program, pair.symbols, pair.seed, pair.values);
  Arrays expected;
  {
    const Stopwatch watch(result.evaluate);
    expected = by_evaluator(pair.program, arrays);
  }
  PassWatch passes(pair.program, arrays, expected, 3e5);
  PipelineOptions lowering;
  lowering.after_each = std::ref(passes);
  {
    const Stopwatch watch(result.lower);
    for (;; pair.program.steps.resize(pair.program.steps.size() * 4 / 5)) {
      journal(to_text(pair));
      const auto lowered = unless_refused("lower", [&] { return lower(pair.program, parse_target(options.targets[0]), lowering); });
      if (!passes.found().empty() || pair.program.steps.empty()) break;
      if (lowered) result.nodes = size_of(lowered->function);
      if (lowered && result.nodes <= most_nodes && promises_hold(lowered->function, arrays)) break;
    }
    if (!passes.found().empty()) throw Fault(fmt::format("differs after {}", passes.pass()), passes.found());
    if (!pair.program.steps.empty()) {
      Pair prefix = pair;
      prefix.program.steps.resize(pair.seed % pair.program.steps.size());
      journal(to_text(prefix));
      unless_refused("lower", [&] { return lower(prefix.program, parse_target(options.targets[0])); });
      journal(to_text(pair));
    }
  }
  result.refused = true;
  for (const std::string& target : options.targets) {
    std::optional<Module> module;
    {
      const Stopwatch watch(result.build);
      BuildOptions building;
      building.certify = options.certify && target == options.targets[0];
      module = unless_refused("build", [&] { return build(pair.program, target, building); });
    }
    if (!module) continue;
    result.refused = false;
    const Stopwatch watch(result.run);
    std::string found;
    try {
      found = difference(pair.program, by_gpu(*module, target, arrays), expected);
    } catch (const Error& e) {
      throw Fault(target + " fails", fmt::format("{}\n{}", e.what(), module->source("ir")));
    }
    if (!found.empty()) throw Fault(target + " differs", fmt::format("{}\n{}", found, module->source("ir")));
  }
  return result;
}

}  // namespace lathe::fuzz
