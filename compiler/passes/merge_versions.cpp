// merge_versions: the loop nests of all versions of a schedule stand side by side, each under the condition it is for.
//
//   before  version n % 64 == 0: for block_x i0 in 0 .. n / 64 { … };  otherwise: for block_x i0 in 0 .. (n + 63) / 64 { … }
//   after   if n % 64 == 0 { for block_x i0 in 0 .. n / 64 { … } }
//           if !(n % 64 == 0) { for block_x i0 in 0 .. (n + 63) / 64 { … } }
//
// The first version whose condition holds is the one that runs, so each condition excludes those before it; one that the
// promises decide leaves no choice. It stands after build_loops, up to which the versions are lowered apart, and before the
// passes that take the conditions for facts. Without versions it does nothing.
#include <fmt/format.h>

#include <utility>

#include "compiler/passes/passes.h"
#include "compiler/passes/with_facts.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

std::vector<Stmt> nests_of(const LoweredFunction& f) {
  const auto* block = as<BlockNode>(f.body);
  return block ? block->stmts : std::vector<Stmt>{f.body};
}

class Merge {
 public:
  explicit Merge(Lowering& l) : l_(l), facts_(symbol_facts(l.function)) {}

  void run() {
    for (const Lowering& v : l_.versions) {
      if (facts_.refute(v.condition)) continue;
      add(v, v.condition);
      before_ = before_ && !v.condition;
      facts_.assume(!v.condition);
      if (facts_.impossible()) break;
    }
    if (!facts_.impossible()) add(l_, true_());
    if (taken_.size() == 1) {  // nothing is left to decide
      taken_[0].when = true_();
      nests_ = nests_of(taken_[0].version->function);
    }
    l_.has_versions = taken_.size() > 1;
    promises();
    if (!l_.has_versions && taken_[0].version != &l_) {
      l_.stages = taken_[0].version->stages;
      l_.bounds = taken_[0].version->bounds;
    }
    LoweredFunction& f = l_.function;
    f.body = make_block(std::move(nests_));
    f.workspaces = std::move(workspaces_);
    f.promises = std::move(promises_);
    l_.merged = std::exchange(l_.versions, {});
  }

 private:
  struct Taken {
    const Lowering* version;
    Expr when;
  };

  void add(const Lowering& v, const Expr& condition) {
    const Expr when = before_ && condition;
    taken_.push_back({&v, when});
    if (&v != &l_) l_.block_orders.insert(l_.block_orders.end(), v.block_orders.begin(), v.block_orders.end());
    for (const Stmt& nest : nests_of(v.function)) nests_.push_back(make_branch(when, nest));
    for (const Tensor& t : v.function.workspaces) {
      bool known = false;
      for (const Tensor& w : workspaces_) {
        if (w.name() != t.name()) continue;
        known = true;
        if (to_string(w.type()) != to_string(t.type()) || shape_text(w) != shape_text(t))
          throw Error("specialize when " + to_string(v.condition), fmt::format("{} is {}[{}] in one version and {}[{}] in another", t.name(),
                      to_string(w.type()), shape_text(w), to_string(t.type()), shape_text(t)), "give the cached tensors different names");
      }
      if (!known) workspaces_.push_back(t);
    }
  }

  static std::string shape_text(const Tensor& t) {
    std::string text;
    for (const Expr& extent : t.shape()) text += (text.empty() ? "" : ", ") + to_string(extent);
    return text;
  }

  // What only some versions need is promised for them: where none of the others runs.
  void promises() {
    for (const Taken& t : taken_)
      for (const auto& p : t.version->function.promises) {
        if (t.version != &l_ && p.condition.same_as(t.version->condition)) continue;
        bool all = true;
        for (const Taken& other : taken_) {
          bool has = false;
          for (const auto& q : other.version->function.promises) has |= q.text == p.text;
          all &= has;
        }
        const Expr condition = all ? p.condition : !t.when || p.condition;
        const std::string text = all ? p.text : fmt::format("{}, when {}", p.text, to_string(t.when));
        bool known = false;
        for (const auto& q : promises_) known |= q.text == text;
        if (!known) promises_.push_back({condition, text});
      }
  }

  Lowering& l_;
  Facts facts_;            // and that no version so far was meant
  Expr before_ = true_();
  std::vector<Taken> taken_;
  std::vector<Stmt> nests_;
  std::vector<Tensor> workspaces_;
  std::vector<LoweredFunction::Promise> promises_;
};

}  // namespace

void merge_versions(Lowering& l) {
  if (!l.versions.empty()) Merge(l).run();
}

}  // namespace lathe
