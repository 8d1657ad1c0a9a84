#include "tools/fuzz/random_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/schedule/step_row.h"
#include "tools/fuzz/fault.h"

namespace lathe::fuzz {
namespace {

// How often a step is drawn; 1 where it does not stand here.
const std::map<std::string_view, int> weights = {
    {"split", 5}, {"reorder", 3}, {"bind", 6}, {"compute_at", 4}, {"vectorize", 2}, {"unroll", 2}, {"cache_read", 2}, {"cache_write", 2},
};

class Scheduler {
 public:
  Scheduler(Dice& dice, Schedule& schedule, const std::function<void(const Step&)>& before_each)
      : dice_(dice), schedule_(schedule), before_each_(before_each) {
    for (const StepRow& row : step_rows()) {
      auto found = weights.find(row.keyword);
      for (int i = found == weights.end() ? 1 : found->second; i > 0; --i) drawn_.push_back(&row);
    }
  }

  void run() {
    if (dice_.one_in(2)) tiled();
    const int64_t wanted = dice_.below(12);
    for (int64_t tries = 0, accepted = 0; accepted < wanted && tries < 50; ++tries) {
      const Step s = step(*dice_.of(drawn_));
      if (!attempt(s)) continue;
      ++accepted;
      // A stage that was given local memory needs a place.
      if (s.word != "shared" && s.word != "register") continue;
      const std::string& name = s.results.empty() ? s.tensors[0] : s.results[0];
      for (int i = 0; i < 5; ++i) {
        const Stage* reader = s.tensors.size() > 1 ? schedule_.find_stage(s.tensors[1]) : nullptr;
        if (attempt({"compute_at", {loop(reader ? *reader : stage())}, {name}, {}, {}, ""})) break;
      }
    }
  }

 private:
  bool attempt(const Step& s) {
    before_each_(s);
    const std::optional<Error> refusal = schedule_.try_apply(s);
    if (refusal && (refusal->hint().empty() || refusal->message().empty()))
      throw Fault("a refusal says nothing", fmt::format("{}: \"{}\", hint \"{}\"", to_string(s), refusal->message(), refusal->hint()));
    return !refusal;
  }

  // ---- a random step, by its row's grammar
  Step step(const StepRow& row) {
    const Stage& s = stage();
    Step step{std::string(row.keyword), {}, {}, {}, {}, {}};
    for (std::string_view rest = row.grammar; !rest.empty();) {
      const std::string_view piece = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(piece.size() + 1, rest.size()));
      if (piece[0] != '@') continue;
      const bool many = piece.size() == 3;
      switch (piece[1]) {
        case 'A':
          if (many)
            step.axes = several_loops(s, row.keyword == "fuse");
          else  // a loop after a stage is a place, in another stage most often
            step.axes.push_back(loop(step.tensors.empty() || dice_.one_in(6) ? s : stage()));
          break;
        case 'T':
          do step.tensors.push_back(step.tensors.empty() && row.keyword == "cache_read" ? read_by(s) : step.tensors.empty() || row.keyword == "cache_read" ? s.name : stage().name);
          while (many && dice_.one_in(3));
          break;
        case 'R':
          do step.results.push_back(fresh("x"));
          while (many && dice_.one_in(2));
          break;
        case 'N':
          do step.numbers.push_back(number());
          while (many && dice_.one_in(2));
          break;
        case 'W': step.word = dice_.of(row.words); break;
        case 'E': step.condition = condition(); break;
        case 'S':
          while (!dice_.one_in(3)) step.steps.push_back(this->step(*find_step_row(dice_.of<std::string>({"split", "bind", "unroll", "reorder", "cache_write"}))));
          break;
      }
    }
    return step;
  }

  const Stage& stage() { return dice_.of(schedule_.stages()); }

  AxisName loop(const Stage& s) {
    if (s.leaves.empty()) return {s.name, "none"};
    return {s.name, s.loops[static_cast<size_t>(dice_.of(s.leaves))].name};
  }

  // Neighbours, or any in any order.
  std::vector<AxisName> several_loops(const Stage& s, bool neighbours) {
    std::vector<AxisName> some;
    const size_t first = static_cast<size_t>(dice_.below(std::max<int64_t>(static_cast<int64_t>(s.leaves.size()) - 1, 1)));
    for (size_t i = 0; i < s.leaves.size(); ++i)
      if (neighbours ? i >= first && i < first + 2 : !dice_.one_in(3)) some.push_back({s.name, s.loops[static_cast<size_t>(s.leaves[i])].name});
    if (!neighbours)
      for (size_t i = some.size(); i > 1; --i) std::swap(some[i - 1], some[static_cast<size_t>(dice_.below(static_cast<int64_t>(i)))]);
    if (some.empty()) some.push_back(loop(s));
    return some;
  }

  std::string read_by(const Stage& s) {
    const auto read = reads_of(s);
    return read.empty() ? s.name : dice_.of(read).name();
  }

  std::string condition() {
    const std::string n = schedule_.symbols().empty() ? "n" : dice_.of(schedule_.symbols()).name();
    return n + dice_.of<std::string>({" % 4 == 0", " <= 16", " > 3"});
  }

  std::string fresh(const char* prefix) { return fmt::format("{}_{}", prefix, ++names_); }
  int64_t number() { return dice_.of<int64_t>({1, 2, 2, 3, 4, 4, 5, 8, 16, 32, 64}); }

  // ---- schedules as people write them
  void tiled() {
    work_items_ = dice_.of<int64_t>({4, 8, 16, 32, 64, 128});
    const std::string out = schedule_.stages().back().name;
    if (dice_.one_in(3)) attempt({"cache_write", {}, {out}, {fresh("L")}, {}, "register"});
    for_work_items(out);
    const Stage* s = schedule_.find_stage(out);
    if (dice_.one_in(2)) attempt({"bind", {{out, s->loops[static_cast<size_t>(s->leaves[0])].name}}, {}, {}, {}, "block_x"});
    for (int64_t copies = dice_.below(3); copies > 0; --copies) {
      const Stage& reader = stage();
      attempt({"cache_read", {}, {read_by(reader), reader.name}, {fresh("R")}, {}, dice_.of<std::string>({"shared", "register", "global"})});
    }
    std::vector<std::string> names;
    for (const Stage& other : schedule_.stages())
      if (other.name != out) names.push_back(other.name);
    for (size_t i = names.size(); i-- > 0;) {
      if (dice_.one_in(6)) {
        attempt({"compute_inline", {}, {names[i]}, {}, {}, ""});
        continue;
      }
      for (int tries = 0; tries < 6; ++tries) {
        const Stage& host = stage();
        if (host.attach == AttachKind::inlined || host.leaves.empty()) continue;
        if (attempt({"compute_at", {loop(host)}, {names[i]}, {}, {}, ""})) break;
      }
      if (schedule_.find_stage(names[i])->attach != AttachKind::inlined && !dice_.one_in(3)) for_work_items(names[i]);
    }
  }

  // Splits the innermost data loop of a stage for the work-items, so that all stages of a kernel have as many.
  void for_work_items(const std::string& name) {
    std::vector<AxisName> data;
    const Stage& before = *schedule_.find_stage(name);
    for (int l : before.leaves)
      if (!before.loops[static_cast<size_t>(l)].is_reduction) data.push_back({name, before.loops[static_cast<size_t>(l)].name});
    if (data.size() > 1 && dice_.one_in(2)) {
      const std::string f = fresh("f");
      if (attempt({"fuse", data, {}, {f}, {}, ""})) data = {{name, f}};
    }
    if (data.empty()) return;
    if (dice_.one_in(3)) {
      const std::string a = fresh("a"), v = fresh("v");
      if (attempt({"split", {data.back()}, {}, {a, v}, {dice_.of<int64_t>({2, 4, 8})}, tail()})) {
        attempt({dice_.one_in(2) ? "vectorize" : "unroll", {{name, v}}, {}, {}, {}, ""});
        data.back() = {name, a};
      }
    }
    const std::string a = fresh("a"), t = fresh("t");
    if (attempt({"split", {data.back()}, {}, {a, t}, {work_items_}, tail()})) attempt({"bind", {{name, t}}, {}, {}, {}, "thread_x"});
  }

  std::string tail() { return std::string(dice_.of(find_step_row("split")->words)); }

  Dice& dice_;
  Schedule& schedule_;
  const std::function<void(const Step&)>& before_each_;
  std::vector<const StepRow*> drawn_;
  int names_ = 0;
  int64_t work_items_ = 8;
};

}  // namespace

void random_schedule(Dice& dice, Schedule& schedule, const std::function<void(const Step&)>& before_each) {
  Scheduler(dice, schedule, before_each).run();
}

}  // namespace lathe::fuzz
