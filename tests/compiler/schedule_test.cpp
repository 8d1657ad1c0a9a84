// Schedules as data: steps print and parse, replay gives the same schedule, refusals leave it untouched.
#include "ir/schedule/schedule.h"

#include <catch2/catch.hpp>

#include "compiler/build.h"
#include "ir/equal.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "tests/error_message.h"

using namespace lathe;

namespace {

// One line of every kind, as it is printed.
const std::vector<std::string> lines = {
    "split C.i -> i0, i1 by 64, tail guard",
    "split_parts C.i -> i0, i1 into 4, tail guard",
    "split C.i -> i0, i1 by 64, tail predicate",
    "split C.i -> i0, i1 by 64, tail round_up",
    "split C.i -> i0, i1 by 64, tail shift_inwards",
    "promise n % 16 == 0",
    "promise n <= 4096 && m * n >= min(k, 3)",
    "specialize when n % 64 == 0 {\n  split C.i -> i0, i1 by 64, tail guard\n  bind C.i0 to block_x\n}",
    "specialize when n > 0 {\n}",
    "fuse C.i, C.j -> f",
    "fuse C.i, C.j, C.k -> f",
    "tile C.i, C.j -> i0, j0, i1, j1 by 16, 8, tail guard",
    "reorder C.j, C.i",
    "bind C.i to block_x",
    "bind C.i to block_y",
    "bind C.i to block_z",
    "bind C.i to thread_x",
    "bind C.i to thread_y",
    "bind C.i to thread_z",
    "bind C.i to virtual",
    "vectorize C.i",
    "unroll C.i",
    "unroll C.i by 4",
    "compute_with P at C.i",
    "block_order C.i, C.j grouped by 8",
    "chiplet_order C.i over 8",
    "compute_at P at C.i",
    "compute_inline P",
    "compute_root P",
    "cache_read A -> AS in shared for C",
    "cache_read A -> AS in register for C, D",
    "cache_write C -> CL in register",
    "set_scope P to global",
    "set_scope P to shared",
    "rfactor C.k0 -> CF",
    "rfactor I.k0 -> IF, YF",
    "store_at P at C.i",
    "pipeline C.k stages 3",
    "double_buffer P",
    "cooperative P vector 4",
    "storage_align P.i by 32 offset 1",
    "swizzle P vector 4 rows 1 period 8",
};

Program gemm() {
  return parse_program(R"(
function gemm(A: f32[64, 48], B: f32[48, 32], out C)

P[i: 64, k: 48] = A[i, k] + 1.0

C[i: 64, j: 32] = sum[k: 48](P[i, k] * B[k, j])

schedule {
  cache_write C -> CL in register
  tile C.i, C.j -> i0, j0, i1, j1 by 16, 8, tail guard
  bind C.i0 to block_y
  bind C.j0 to block_x
  bind C.i1 to thread_y
  bind C.j1 to thread_x
  compute_at CL at C.j1
  split CL.k -> k0, k1 by 8, tail guard
  cache_read P -> PS in shared for CL
  compute_at PS at CL.k0
  bind PS.ax1 to thread_x
  compute_inline P
}
)",
                       "gemm.te");
}

}  // namespace

TEST_CASE("every kind of step prints as it is parsed") {
  for (const std::string& line : lines) {
    const Step step = parse_step(line);
    CHECK(to_string(step) == line);
    CHECK(parse_step(to_string(step)) == step);
  }
}

TEST_CASE("steps that C++ makes print, parse and replay to the same schedule") {
  const Tensor A = placeholder({96, 96}, f32, "A"), B = placeholder({96, 96}, f32, "B");
  const auto make = [&](bool replay) {
    const Tensor D = compute({96, 96}, [&](Expr i, Expr j) { return A(i, j) + 1.0f; }, "D");
    const Tensor C = compute({96, 96}, [&](Expr i, Expr j) {
      const ReduceAxis k = reduce_axis(96, "k");
      return sum(D(i, k.var) * B(k.var, j), k);
    }, "C");
    Schedule s(C);
    if (replay) return s;
    const Tensor CL = s.cache_write(C, registers);
    const auto [i0, j0, i1, j1] = s[C].tile(C.axis(0), C.axis(1), 16, 16);
    s[C].bind(i0, block_y).bind(j0, block_x).bind(i1, thread_y).bind(j1, thread_x);
    s[CL].compute_at(s[C], j1);
    const auto [k0, k1] = s[CL].split(CL.reduce_axis(0), 8);
    s[CL].unroll(k1);
    const Tensor DS = s.cache_read(D, shared, {CL});
    s[DS].compute_at(s[CL], k0);
    const LoopRef f = s[DS].fuse({DS.axis(0), DS.axis(1)});
    const auto [f0, f1] = s[DS].split_parts(f, 4);
    s[DS].bind(f1, thread_x);
    s[D].compute_inline();
    return s;
  };
  const Schedule first = make(false);
  Schedule second = make(true);
  for (const Step& step : first.steps()) second.apply(parse_step(to_string(step)));
  CHECK(second.steps() == first.steps());
  CHECK(to_string(second) == to_string(first));
  CHECK(second.hash() == first.hash());
  CHECK(to_string(first) == R"(cache_write C -> C_register in register
tile C.i, C.j -> i0, j0, i1, j1 by 16, 16, tail guard
bind C.i0 to block_y
bind C.j0 to block_x
bind C.i1 to thread_y
bind C.j1 to thread_x
compute_at C_register at C.j1
split C_register.k -> k0, k1 by 8, tail guard
unroll C_register.k1
cache_read D -> D_shared in shared for C_register
compute_at D_shared at C_register.k0
fuse D_shared.ax0, D_shared.ax1 -> ax0_ax1
split_parts D_shared.ax0_ax1 -> ax0_ax10, ax0_ax11 into 4, tail guard
bind D_shared.ax0_ax11 to thread_x
compute_inline D
)");
}

TEST_CASE("memory steps in C++ are the steps that they print as") {
  const Tensor A = placeholder({96, 96}, f32, "A");
  const Tensor P = compute({96, 96}, [&](Expr i, Expr j) { return A(i, j) + 1.0f; }, "P");
  const Tensor C = compute({96, 96}, [&](Expr i, Expr j) { return P(95 - i, j); }, "C");
  Schedule s(C);
  const auto [i0, i1] = s[C].split(C.axis(0), 8);
  const auto [j0, j1] = s[C].split(C.axis(1), 32);
  s[C].reorder({j0, i0, i1, j1}).bind(j0, block_x).bind(j1, thread_x);
  const Tensor PS = s.cache_read(P, shared, {C});
  s[PS].compute_at(s[C], i1).store_at(s[C], i0).cooperative(4).storage_align(PS.axis(0), 32, 4).swizzle(4, 1, 8);
  s[PS].compute_at(s[C], i0).double_buffer();
  s[P].compute_inline();
  Schedule other(C);
  const Tensor AS = other.cache_read(P, shared, {C});
  other[AS].compute_at(other[C], C.axis(0));
  other[C].pipeline(C.axis(0), 3);
  const std::string text = to_string(s), last = to_string(other);
  CHECK(text.substr(text.find("compute_at")) == R"(compute_at P_shared at C.i1
store_at P_shared at C.i0
cooperative P_shared vector 4
storage_align P_shared.ax0 by 32 offset 4
swizzle P_shared vector 4 rows 1 period 8
compute_at P_shared at C.i0
double_buffer P_shared
compute_inline P
)");
  CHECK(last == "cache_read P -> P_shared in shared for C\ncompute_at P_shared at C.i\npipeline C.i stages 3\n");
}

TEST_CASE("rfactor in C++: a tensor a component, with the loop as first axis") {
  const Tensor A = placeholder({8, 96}, f32, "A");
  const std::vector<Tensor> C = compute_tuple({8}, [&](const std::vector<Expr>& i) {
    const ReduceAxis k = reduce_axis(96, "k");
    return argmax_tuple(A(i[0], k.var), {k});
  }, {"I", "Y"});
  Schedule s(C);
  const auto [k0, k1] = s[C[0]].split(C[0].reduce_axis(0), 32);
  const std::vector<Tensor> partial = s.rfactor(C[1], k0);
  REQUIRE(partial.size() == 2);
  CHECK(partial[0].type() == i64);
  CHECK(partial[1].type() == f32);
  CHECK(to_string(partial[0].shape()[0]) == "3");
  s[partial[0]].bind(partial[0].axis(0), block_x);
  CHECK(to_string(s) == "split I.k -> k0, k1 by 32, tail guard\nrfactor I.k0 -> I_rf, I_rf1\nbind I_rf.k0 to block_x\n");
  CHECK(error_message([&] { s.rfactor(A, k0); }) ==
        "rfactor: A is not reduced in this schedule (hint: give a computed tensor whose body has a reduction)");
}

TEST_CASE("the hash is of the steps: another number, another hash; none, the hash of nothing") {
  const Program p = parse_program("function f(A: f32[64], out C)\nC[i: 64] = A[i]\n");
  Schedule none(p), a(p), b(p), c(p);
  a.apply(parse_step("split C.i -> i0, i1 by 8, tail guard"));
  b.apply(parse_step("split C.i -> i0, i1 by 16, tail guard"));
  c.apply(parse_step("split C.i -> i0, i1 by 8, tail guard"));
  CHECK(a.hash() == c.hash());
  CHECK(a.hash() != b.hash());
  CHECK(a.hash() != none.hash());
}

TEST_CASE("a program with a schedule is printed and parsed back, and its schedule lowers to the same kernels") {
  const Program program = gemm();
  const Program again = parse_program(to_string(program), "again.te");
  CHECK(equal(program, again));
  CHECK(again.steps == program.steps);
  const Target target = parse_target("gfx942");
  CHECK(describe(lower(again, target)) == describe(lower(program, target)));
}

TEST_CASE("try_apply gives the refusal as data and leaves the schedule as it was") {
  Schedule s(gemm());
  const std::string before = to_string(s);
  const uint64_t hash = s.hash();
  const auto stages = [&] {
    std::string text;
    for (const Stage& stage : s.stages()) {
      text += stage.name + (stage.scope ? " " + std::string(to_string(*stage.scope)) : "") + " " + stage.attach_loop;
      for (int l : stage.leaves) text += " " + stage.loops[static_cast<size_t>(l)].name;
      for (const Expr& e : stage.body) text += " " + to_string(e);
      text += "\n";
    }
    return text;
  };
  const std::string stages_before = stages();
  for (const char* line : {
           "split C.i0 -> a, b by 2, tail guard",      // bound
           "split CL.k0 -> k1, b by 2, tail guard",    // the name is taken
           "split CL.k0 -> a, b by 0, tail guard",     // the factor
           "fuse CL.k1, CL.i -> f",                    // not next to one another
           "tile CL.i, CL.j -> a, b, c, a by 2, 2, tail guard",  // the last name stands twice: half of it was done
           "compute_at B at C.i0",                     // no stage
           "cache_read B -> PS in shared for CL",      // the name
       }) {
    INFO(line);
    const auto refusal = s.try_apply(parse_step(line));
    REQUIRE(refusal.has_value());
    CHECK(refusal->where() == line);
    CHECK(!refusal->message().empty());
    CHECK(!refusal->hint().empty());
    CHECK(to_string(s) == before);
    CHECK(s.hash() == hash);
    CHECK(stages() == stages_before);
  }
  CHECK(!s.try_apply(parse_step("unroll CL.k1")));
  CHECK(to_string(s) == before + "unroll CL.k1\n");
}

TEST_CASE("every prefix of a schedule is legal or refused by an Error") {
  const Program whole = gemm();
  for (size_t n = 0; n <= whole.steps.size(); ++n) {
    Program prefix = whole;
    prefix.steps.resize(n);
    try {
      lower(prefix, parse_target("gfx942"));
    } catch (const Error& e) {
      CHECK(!e.hint().empty());
    }
  }
}

TEST_CASE("a step made in C++ with parts missing is refused, not run") {
  Schedule s(parse_program("function f(A: f32[64], out C)\nC[i: 64] = A[i]\n"));
  CHECK(error_message([&] { s.apply({"split", {}, {}, {"a", "b"}, {4}, "guard"}); }) ==
        "split ? -> a, b by 4, tail guard: it has 0 axes, 0 stages, 2 new names and 1 numbers (hint: a step is written "
        "as \"split @A -> @R , @R by @N , tail @W\")");
  CHECK(error_message([&] { s.apply({"bind", {{"C", "i"}}, {}, {}, {}, "warp"}); }) ==
        "bind C.i to warp: \"warp\" does not fit bind (hint: use one of block_x, block_y, block_z, thread_x, thread_y, "
        "thread_z, virtual)");
  for (const std::string& line : lines) {
    const Step good = parse_step(line);
    for (int part = 0; part < 4; ++part) {
      Step bad = good;
      bool changed = false;
      const auto shorten = [&](auto& list) {
        changed = !list.empty();
        list.clear();
      };
      if (part == 0) shorten(bad.axes);
      if (part == 1) shorten(bad.tensors);
      if (part == 2) shorten(bad.results);
      if (part == 3) shorten(bad.numbers);
      // The number of unroll may be left out.
      if (changed && !(part == 3 && good.keyword == "unroll")) CHECK(s.try_apply(bad).has_value());
    }
  }
}

TEST_CASE("what a step is parsed from has line and column") {
  CHECK(error_message([] { parse_step("splitt C.i -> a, b by 4, tail guard"); }) ==
        "step:1:1: \"splitt\" is not a schedule step (hint: did you mean split?)");
  CHECK(error_message([] { parse_step("bind C.i to warp"); }) ==
        "step:1:13: \"warp\" does not fit bind (hint: use one of block_x, block_y, block_z, thread_x, thread_y, "
        "thread_z, virtual)");
  CHECK(error_message([] { parse_step("unroll C.i C.j"); }).starts_with("step:1:12: unexpected text after the step"));
  // Cut anywhere, it is refused, never misread.
  for (const std::string& line : lines)
    for (size_t n = 0; n < line.size(); ++n) {
      const std::string cut = line.substr(0, n);
      if (const std::string error = error_message([&] { parse_step(cut); }); error.empty())
        CHECK(line.starts_with(to_string(parse_step(cut))));
    }
}

TEST_CASE("vector add compiles for every target of the table, and for target ids with features") {
  const Program p = parse_program(R"(
function myadd<n>(A: f32[n], B: f32[n], out C)
C[i: n] = A[i] + B[i]
schedule {
  split C.i -> i0, i1 by 64, tail guard
  bind C.i0 to block_x
  bind C.i1 to thread_x
}
)");
  std::vector<std::string> targets = {"gfx90a:sramecc+:xnack-", "gfx942:xnack+"};
  for (const GfxRow& row : gfx_table())
    if (row.compiles) targets.emplace_back(row.name);
  CHECK(targets.size() == 2 + 18);
  for (const std::string& target : targets) {
    INFO(target);
    const CodeObjectInfo info = build(p, target).info();
    CHECK(info.target.id() == target);
    REQUIRE(info.kernels.size() == 1);
    CHECK(info.kernels[0].max_flat_workgroup_size == 64);
    CHECK(info.kernels[0].vgpr_spill_count == 0);
  }
}
