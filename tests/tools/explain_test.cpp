// What `lathe explain` shows: the nest after each step, and instructions with their statements.
#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "tests/error_message.h"
#include "tools/explain/assembly.h"
#include "tools/explain/nests.h"

using namespace lathe;

namespace {

std::string text_of(const NestAfterStep& after) {
  std::string text;
  for (const NestLine& line : after.lines) text += (line.is_new ? "+ " : "  ") + line.text + "\n";
  return text;
}

}  // namespace

TEST_CASE("each step shows the nest after it, with what is new") {
  const Program p = parse_program(R"(
function f(A: f32[128], out C)

C[i: 128] = A[i] * 2.0

schedule {
  split C.i -> a, b by 32, tail guard
  bind C.a to block_x
  cache_read A -> AS in shared for C
  compute_at AS at C.a
}
)",
                                  "f.te");
  const auto steps = nests_after_steps(p, parse_target("gfx942"));
  REQUIRE(steps.size() == 5);
  CHECK(text_of(steps[1]) ==
        "  function f(A: f32[128], out C: f32[128]) {\n"
        "+   for a in 0 .. 4 {\n"
        "+     for b in 0 .. 32 {\n"
        "+       C[a * 32 + b] = A[a * 32 + b] * 2.0\n"
        "+     }\n"
        "    }\n"
        "  }\n");
  CHECK(steps[3].remark == "no loops yet: stage AS: it lives in shared memory but is computed at the root");
  CHECK(text_of(steps[3]).find("+ stage AS in shared\n") != std::string::npos);
  CHECK(steps[4].remark.empty());
  CHECK(text_of(steps[4]).find("+     alloc shared AS: f32[32] {  # 128 B a work-group\n") != std::string::npos);
}

TEST_CASE("an illegal schedule is refused as anywhere") {
  const Program p = parse_program("function f(A: f32[8], out C)\n\nC[i: 8] = A[i]\n\nschedule {\n  bind C.j to block_x\n}\n", "f.te");
  CHECK(error_message([&] { nests_after_steps(p, parse_target("gfx942")); }) ==
        "bind C.j to block_x: C has no loop j (hint: the loops are C.i)");
}

TEST_CASE("assembly as rows: kernels, labels, lines, kinds") {
  const auto rows = read_assembly(
      "\t.text\nfirst:                                  ; @first\n\t.loc\t0 12 0  ; first.ir:12\n\tv_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]\n"
      ".LBB0_1:\n\ts_waitcnt vmcnt(0)\n.Ltmp3:\n\ts_endpgm\n\t.section\t.rodata,\"a\"\n\t.long 3\n\t.text\nsecond:\n\tds_read_b128 v[0:3], v4\n");
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].kernel == "first");
  CHECK(rows[0].line == 12);
  CHECK(rows[0].kind == "matrix");
  CHECK(rows[1].text == ".LBB0_1:");
  CHECK(rows[1].kind == "");
  CHECK(rows[2].kind == "wait");
  CHECK(rows[3].kind == "branch");
  CHECK(rows[4].kernel == "second");
  CHECK(rows[4].line == 0);
  CHECK(rows[4].kind == "LDS");
  CHECK(instruction_kind("global_load_dword") == "memory");
  CHECK(instruction_kind("s_load_dwordx4") == "memory");
  CHECK(instruction_kind("s_add_u32") == "scalar");
  CHECK(instruction_kind("v_fma_f32") == "vector");
}
