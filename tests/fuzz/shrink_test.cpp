// Planted faults: the shrinker finds the least program that shows one, and a process that dies is survived.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "ir/parse.h"
#include "ir/print.h"
#include "tools/fuzz/pair.h"
#include "tools/fuzz/shrink.h"
#include "tools/fuzz/worker.h"

using namespace lathe;
using namespace lathe::fuzz;

namespace {

const std::string large = R"(# run: --set m=5 --random 9 --values special
function f<m>(A: f16[m, 17], B: i32[17], W: f64[3], out C, out D)
combiner both(a: i32), (b: i32) = (a | b) identity (0)
P[i: m, j: 17] = select(j % 3 == 0, max(A[i, j], f16(2.0)), f16(B[j]) + A[m - 1 - i, 16 - j])
C[i: m] = sum[k: 17](P[i, k] * f16(3.0)) + f16(W[i % 3])
D[j: 17] = both[k: m](B[j] + i32(k))
schedule {
  split C.i -> i0, i1 by 4, tail guard
  bind C.i0 to block_x
  bind C.i1 to thread_x
  split P.j -> j0, j1 by 8, tail guard
  vectorize P.j1
  bind D.j to thread_x
}
)";

// The candidate as it prints, where it is a program that `shows` the fault.
StillFails planted(std::function<bool(const Program&, const std::string&)> shows) {
  return [shows](const std::string& text) -> std::optional<std::string> {
    try {
      const Pair pair = parse_pair(text, "candidate");
      const std::string printed = to_text(pair);
      return shows(pair.program, printed) ? std::optional(printed) : std::nullopt;
    } catch (const Error&) {
      return std::nullopt;
    }
  };
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a fault in one operator is shrunk to a program of little else") {
  const auto fails = planted([](const Program&, const std::string& text) { return has(text, "max("); });
  CHECK(shrink(*fails(large), 60, fails) == R"(# run: --random 9 --values whole
function f(A: f32[0, 0], out P)

P[i: 0, j: 0] = max(A[0, 0], 1.0)
)");
}

TEST_CASE("a fault of a step keeps the step and what it acts on") {
  const auto fails = planted([](const Program& p, const std::string&) {
    bool found = false;
    for (const Step& s : p.steps) found |= s.keyword == "vectorize";
    return found && p.outputs().size() == 2;
  });
  const std::string small = shrink(*fails(large), 60, fails);
  INFO(small);
  CHECK(has(small, "schedule {\n  vectorize P.j1\n}\n"));
}

TEST_CASE("a fault that needs a symbol, a value and a type keeps the three") {
  const auto fails = planted([](const Program& p, const std::string& text) {
    return p.symbols.size() == 1 && has(text, "f16[") && has(text, "--values special");
  });
  CHECK(shrink(*fails(large), 60, fails) == R"(# run: --set m=0 --random 9 --values special
function f<m>(A: f16[m, 0], out P)

P[i: 0, j: 0] = 0
)");
}

TEST_CASE("a worker that crashes, hangs or throws is survived, with its last note and what it said") {
  Worker worker(
      [](const std::string& request, const Journal& journal) -> std::string {
        journal("at " + request);
        if (request == "crash") {
          [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, "last words\n", 11);
          raise(SIGSEGV);
        }
        if (request == "hang")
          for (volatile bool on = true; on;) {
          }
        if (request == "leave") _exit(3);
        return request + "!";
      },
      0.5);
  CHECK(worker.ask("one").text == "one!");
  Worker::Answer a = worker.ask("crash");
  CHECK(a.death == "signal 11");
  CHECK(a.errors == "last words\n");
  CHECK(a.journal == "at crash");
  CHECK(worker.ask("two").text == "two!");
  CHECK(worker.ask("hang").death == "no answer in 0.5 s of its own time");
  CHECK(worker.ask("leave").death == "exit status 3");
  a = worker.ask("three");
  CHECK(a.text == "three!");
  CHECK(a.death == "");
}

TEST_CASE("a pair as text is read back as it was") {
  const Pair pair = parse_pair(large, "large");
  CHECK(pair.symbols == Symbols{{"m", 5}});
  CHECK(pair.seed == 9);
  CHECK(pair.values == Values::special);
  const std::string text = to_text(pair);
  CHECK(to_text(parse_pair(text, "again")) == text);
}
