#include "tests/compiler/random_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/print.h"
#include "ir/schedule/schedule.h"

namespace lathe::test {
namespace {

// splitmix64: distributions of the standard library differ between libraries.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  bool one_in(int64_t n) { return below(n) == 0; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

 private:
  uint64_t state_;
};

// An extent: a number, or a symbol with a value for this case.
struct Extent {
  std::string text;
  int64_t value;
};

class Writer {
 public:
  Writer(Dice& dice, Symbols& symbols) : dice_(dice), symbols_(symbols) {}

  std::string program() {
    type_ = dice_.of<std::string>({"f32", "f32", "f32", "i32", "f16"});
    std::string body;
    switch (dice_.below(8)) {
      case 0: body = elementwise(); break;
      case 1: body = reduce_rows(); break;
      case 2: body = stencil(); break;
      case 3: body = matmul(); break;
      case 4: body = two_stages(); break;
      case 5: body = position(); break;
      case 6: body = gather(); break;
      default: body = chain(); break;
    }
    std::string names;
    for (const auto& [name, value] : symbols_) names += (names.empty() ? "" : ", ") + name;
    return fmt::format("function f{}({})\n{}", names.empty() ? "" : "<" + names + ">", arguments_, body);
  }

 private:
  Extent extent() {
    static const std::vector<int64_t> sizes = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 33};
    const int64_t value = dice_.of(sizes);
    if (!dice_.one_in(3) || symbols_.size() >= 2) return {std::to_string(value), value};
    const std::string name = symbols_.empty() ? "m" : "n";
    symbols_[name] = value;
    return {name, value};
  }
  Extent fixed(int64_t value) { return {std::to_string(value), value}; }

  void argument(const std::string& text) { arguments_ += (arguments_.empty() ? "" : ", ") + text; }
  void input(const std::string& name, const std::string& shape) { argument(fmt::format("{}: {}[{}]", name, type_, shape)); }
  std::string number(int64_t n) const { return type_ == "i32" ? std::to_string(n) : type_ == "f16" ? fmt::format("f16({}.0)", n) : fmt::format("{}.0", n); }
  // An operation on one element.
  std::string map(const std::string& x) {
    switch (dice_.below(4)) {
      case 0: return fmt::format("{} + {}", x, number(1));
      case 1: return fmt::format("{} * {}", x, number(2));
      case 2: return fmt::format("max({}, {})", x, number(0));
      default: return x;
    }
  }
  std::string reduction() { return dice_.of<std::string>({"sum", "sum", "max", "min"}); }

  std::string elementwise() {
    const Extent i = extent(), j = extent();
    input("A", i.text + ", " + j.text);
    input("B", j.text);
    argument("out C");
    const std::string row = dice_.one_in(3) ? fmt::format("{} - 1 - i", i.text) : "i";
    const std::string b = dice_.one_in(3) ? fmt::format("B[{} - 1 - j]", j.text) : "B[j]";
    if (dice_.one_in(4))
      return fmt::format("C[j: {}, i: {}] = {}\n", j.text, i.text, map(fmt::format("A[{}, j] * {}", row, b)));
    return fmt::format("C[i: {}, j: {}] = {}\n", i.text, j.text, map(fmt::format("A[{}, j] + {}", row, b)));
  }

  std::string reduce_rows() {
    const Extent i = extent(), j = extent(), k = extent();
    input("A", fmt::format("{}, {}, {}", i.text, j.text, k.text));
    argument("out C");
    if (dice_.one_in(2))
      return fmt::format("C[i: {}, j: {}] = {}\n", i.text, j.text, map(fmt::format("{}[k: {}](A[i, j, k])", reduction(), k.text)));
    return fmt::format("C[i: {}] = {}\n", i.text, map(fmt::format("{}[j: {}, k: {}](A[i, j, k])", reduction(), j.text, k.text)));
  }

  std::string stencil() {
    const Extent i = extent(), j = extent();
    const int64_t p = 1 + dice_.below(3), q = 1 + dice_.below(3), stride = 1 + dice_.below(2);
    argument("out C");
    if (dice_.one_in(2)) {  // with padding
      arguments_.clear();
      input("A", i.text + ", " + j.text);
      argument("out C");
      return fmt::format("C[i: {0}, j: {1}] = sum[p: {2}, q: {3}](select(i + p >= 1 && i + p <= {0} && j + q >= 1 && j + q <= {1}, "
                         "A[i + p - 1, j + q - 1], {4}))\n", i.text, j.text, p, q, number(0));
    }
    arguments_.clear();
    input("A", fmt::format("{0} * {2} + {3}, {1} * {2} + {4}", i.text, j.text, stride, p, q));
    argument("out C");
    return fmt::format("P[i: {0} * {2} + {3}, j: {1} * {2} + {4}] = {5}\n", i.text, j.text, stride, p, q, map("A[i, j]")) +
           fmt::format("C[i: {0}, j: {1}] = {5}[p: {3}, q: {4}](P[i * {2} + p, j * {2} + q])\n", i.text, j.text, stride, p, q, reduction());
  }

  std::string matmul() {
    const Extent i = extent(), j = extent(), k = extent();
    input("A", i.text + ", " + k.text);
    const bool transposed = dice_.one_in(2);
    input("B", transposed ? j.text + ", " + k.text : k.text + ", " + j.text);
    argument("out C");
    return fmt::format("C[i: {}, j: {}] = sum[k: {}](A[i, k] * {}){}\n", i.text, j.text, k.text, transposed ? "B[j, k]" : "B[k, j]",
                       dice_.one_in(3) ? " + " + number(1) : "");
  }

  std::string two_stages() {
    const Extent i = extent(), k = extent();
    input("A", i.text + ", " + k.text);
    argument("out C");
    const std::string s = fmt::format("S[i: {}] = {}[k: {}](A[i, k])\n", i.text, reduction(), k.text);
    return s + fmt::format("C[i: {}, j: {}] = A[i, j] + {}\n", i.text, k.text, map("S[i]"));
  }

  std::string position() {
    const Extent i = extent(), k = extent();
    input("A", i.text + ", " + k.text);
    argument("out I, out V");
    const std::string op = dice_.one_in(2) ? "argmax" : "argmin";
    return fmt::format("(I, V)[i: {0}] = ({2}[k: {1}](k, A[i, k]), {2}[k: {1}](k, A[i, k]).1)\n", i.text, k.text, op);
  }

  std::string gather() {
    const Extent i = extent(), n = fixed(5 + dice_.below(12));
    input("A", n.text);
    argument(fmt::format("I: i64[{}]", i.text));
    argument("out C");
    return fmt::format("P[i: {}] = {}\nC[i: {}, j: 3] = P[min(max(I[i] + j, 0), {} - 1)] + A[j]\n", n.text, map("A[i]"), i.text, n.text);
  }

  std::string chain() {
    const Extent i = extent(), j = extent();
    input("A", fmt::format("{} + 2, {} + 2", i.text, j.text));
    argument("out C");
    std::string text = fmt::format("P[i: {} + 2, j: {} + 2] = {}\n", i.text, j.text, map("A[i, j]"));
    text += fmt::format("Q[i: {} + 2, j: {}] = P[i, j] + P[i, j + {}]\n", i.text, j.text, 1 + dice_.below(2));
    text += fmt::format("C[i: {}, j: {}] = Q[i, j] + Q[i + {}, j]{}\n", i.text, j.text, 1 + dice_.below(2), dice_.one_in(3) ? " + P[i, j + 1]" : "");
    if (dice_.one_in(4)) {
      argument("out D");
      text += fmt::format("D[i: {}] = sum[j: {}](Q[i, j])\n", i.text, j.text);
    }
    return text;
  }

  Dice& dice_;
  Symbols& symbols_;
  std::string type_, arguments_;
};

class Scheduler {
 public:
  Scheduler(Dice& dice, Schedule& schedule) : dice_(dice), schedule_(schedule) {}

  // Half of the schedules begin as people write them for a GPU; then comes anything.
  void run() {
    if (dice_.one_in(2)) tiled();
    const int64_t wanted = dice_.below(14);
    for (int64_t tries = 0, accepted = 0; accepted < wanted && tries < 60; ++tries) {
      const Step s = step();
      if (schedule_.try_apply(s)) continue;
      ++accepted;
      // A stage that was given local memory needs a place.
      if (s.word != "shared" && s.word != "register") continue;
      const std::string& name = s.results.empty() ? s.tensors[0] : s.results[0];
      for (int i = 0; i < 5; ++i) {
        const Stage& reader = s.tensors.size() > 1 ? *schedule_.find_stage(s.tensors[1]) : stage();
        if (!schedule_.try_apply({"compute_at", {loop(reader)}, {name}, {}, {}, ""})) break;
      }
    }
  }

 private:
  bool attempt(const Step& s) { return !schedule_.try_apply(s); }

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
      if (attempt({"split", {data.back()}, {}, {a, v}, {dice_.of<int64_t>({2, 4})}, "guard"})) {
        attempt({dice_.one_in(2) ? "vectorize" : "unroll", {{name, v}}, {}, {}, {}, ""});
        data.back() = {name, a};
      }
    }
    const std::string a = fresh("a"), t = fresh("t");
    if (attempt({"split", {data.back()}, {}, {a, t}, {work_items_}, "guard"}))
      attempt({"bind", {{name, t}}, {}, {}, {}, "thread_x"});
  }

  void tiled() {
    work_items_ = dice_.of<int64_t>({4, 8, 16, 32});
    const std::string out = schedule_.stages().back().name;
    if (dice_.one_in(3)) {
      const std::string local = fresh("L");
      attempt({"cache_write", {}, {out}, {local}, {}, "register"});
    }
    for_work_items(out);
    const Stage* s = schedule_.find_stage(out);
    if (dice_.one_in(2)) attempt({"bind", {{out, s->loops[static_cast<size_t>(s->leaves[0])].name}}, {}, {}, {}, "block_x"});
    for (int64_t copies = dice_.below(3); copies > 0; --copies) {
      const Stage& reader = stage();
      const auto read = reads_of(reader);
      if (!read.empty()) attempt({"cache_read", {}, {dice_.of(read).name(), reader.name}, {fresh("R")}, {}, scope()});
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

  const Stage& stage() { return dice_.of(schedule_.stages()); }
  AxisName loop(const Stage& s) {
    if (s.leaves.empty()) return {s.name, "none"};
    return {s.name, s.loops[static_cast<size_t>(dice_.of(s.leaves))].name};
  }
  std::string fresh(const char* prefix) { return fmt::format("{}{}", prefix, ++names_); }
  int64_t factor() { return dice_.of<int64_t>({1, 2, 2, 3, 4, 4, 5, 8, 16, 32}); }

  Step step() {
    const Stage& s = stage();
    const AxisName a = loop(s);
    switch (dice_.below(20)) {
      case 0: case 1: case 2: case 3: return {"split", {a}, {}, {fresh("a"), fresh("b")}, {factor()}, "guard"};
      case 4: return {"split_parts", {a}, {}, {fresh("a"), fresh("b")}, {factor()}, "guard"};
      case 5: {
        const size_t at = static_cast<size_t>(dice_.below(std::max<int64_t>(static_cast<int64_t>(s.leaves.size()) - 1, 1)));
        std::vector<AxisName> pair;
        for (size_t i = at; i < std::min(at + 2, s.leaves.size()); ++i) pair.push_back({s.name, s.loops[static_cast<size_t>(s.leaves[i])].name});
        return {"fuse", pair, {}, {fresh("f")}, {}, ""};
      }
      case 6: return {"tile", {a, loop(s)}, {}, {fresh("a"), fresh("b"), fresh("c"), fresh("d")}, {factor(), factor()}, "guard"};
      case 7: case 8: {
        std::vector<AxisName> some;
        for (int l : s.leaves)
          if (!dice_.one_in(3)) some.push_back({s.name, s.loops[static_cast<size_t>(l)].name});
        for (size_t i = some.size(); i > 1; --i) std::swap(some[i - 1], some[static_cast<size_t>(dice_.below(static_cast<int64_t>(i)))]);
        return {"reorder", some, {}, {}, {}, ""};
      }
      case 9: case 10: case 11: case 12:
        return {"bind", {a}, {}, {}, {}, dice_.of<std::string>({"block_x", "block_y", "thread_x", "thread_x", "thread_y"})};
      case 13: return {"vectorize", {a}, {}, {}, {}, ""};
      case 14: return {"unroll", {a}, {}, {}, {}, ""};
      case 15: case 16: return {"compute_at", {loop(stage())}, {s.name}, {}, {}, ""};
      case 17: return dice_.one_in(4) ? Step{"compute_root", {}, {s.name}, {}, {}, ""} : Step{"compute_inline", {}, {s.name}, {}, {}, ""};
      case 18: {
        if (dice_.one_in(2)) return {"cache_write", {}, {s.name}, {fresh("W")}, {}, scope()};
        const auto read = reads_of(s);
        return {"cache_read", {}, {read.empty() ? s.name : dice_.of(read).name(), s.name}, {fresh("R")}, {}, scope()};
      }
      default: return {"set_scope", {}, {s.name}, {}, {}, scope()};
    }
  }
  std::string scope() { return dice_.of<std::string>({"shared", "register", "global"}); }

  Dice& dice_;
  Schedule& schedule_;
  int names_ = 0;
  int64_t work_items_ = 8;
};

}  // namespace

RandomCase random_case(uint64_t seed) {
  Dice dice(seed);
  RandomCase result;
  const std::string text = Writer(dice, result.symbols).program();
  result.program = parse_program(text, fmt::format("seed {}", seed));
  Schedule schedule(result.program);
  Scheduler(dice, schedule).run();
  result.program.steps = schedule.steps();
  // Steps that are refused only as a whole: as many of the first ones as are not.
  for (;; result.program.steps.pop_back()) {
    try {
      PipelineOptions options;
      options.stop_after = "build_loops";
      lower(result.program, parse_target("gfx942"), options);
      return result;
    } catch (const Error& e) {
      if (result.program.steps.empty()) throw;
      ++result.refused;
    }
  }
}

}  // namespace lathe::test
