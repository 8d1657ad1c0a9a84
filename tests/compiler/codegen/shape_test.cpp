// The shape of what comes out: LLVM IR, assembly, metadata.
#include <catch2/catch.hpp>
#include <sstream>

#include "ir/print.h"
#include "kernels.h"
#include "runtime/base/code_object.h"

namespace lathe::test {
namespace {

CompiledModule compile(const Kernel& kernel, const std::string& target, const CodegenOptions& options = {}) {
  return compile_kernels({kernel}, parse_target(target), "shape", options, true, true);
}

KernelInfo info(const CompiledModule& module) { return read_code_object(module.code_object, "shape").kernels.at(0); }

TEST_CASE("a straight-line vector add has no compare and no branch") {
  for (const char* target : {"gfx906", "gfx942", "gfx1100", "gfx1200"}) {
    const CompiledModule module = compile(vector_add(false), target);
    CAPTURE(target, module.assembly);
    CHECK(count(module.assembly, "v_cmp") == 0);
    CHECK(count(module.assembly, "s_cmp") == 0);
    CHECK(count(module.assembly, "s_cbranch") == 0);
    CHECK(count(module.assembly, "v_add_f32") == 1);
  }
}

TEST_CASE("a ramp becomes one 128-bit access, with the alignment of an element only") {
  struct Row {
    const char *target, *load, *store;
  };
  for (const Row& row : {Row{"gfx906", "global_load_dwordx4", "global_store_dwordx4"},
                         Row{"gfx942", "global_load_dwordx4", "global_store_dwordx4"},
                         Row{"gfx1100", "global_load_b128", "global_store_b128"},
                         Row{"gfx1250", "global_load_b128", "global_store_b128"}}) {
    const CompiledModule module = compile(vector_add(false, 4), row.target);
    CAPTURE(row.target, module.assembly);
    CHECK(count(module.assembly, row.load) == 2);
    CHECK(count(module.assembly, row.store) == 1);
  }
  for (DType type : {f16, bf16, i8, f8e4m3fn, boolean}) {
    Elementwise spec{"copy", {type}, type, [](const std::vector<Expr>& x) { return x[0]; }};
    spec.lanes = 16 / type.bytes();
    spec.guard = false;
    const CompiledModule module = compile(elementwise(spec), "gfx942");
    CAPTURE(to_string(type), module.assembly);
    CHECK(count(module.assembly, "global_load_dwordx4") == 1);
    CHECK(count(module.assembly, "global_store_dwordx4") == 1);
  }
}

TEST_CASE("one barrier a Barrier, and it waits for LDS alone") {
  struct Row {
    const char *target, *barrier;
  };
  for (const Row& row : {Row{"gfx906", "s_barrier\n"}, Row{"gfx942", "s_barrier\n"}, Row{"gfx1030", "s_barrier\n"},
                         Row{"gfx1100", "s_barrier\n"}, Row{"gfx1200", "s_barrier_signal -1\n"}}) {
    const CompiledModule module = compile(lds_mirror(), row.target);
    CAPTURE(row.target, module.assembly);
    CHECK(count(module.assembly, row.barrier) == 1);
    CHECK(count(module.assembly, "gl0_inv") == 0);
    CHECK(count(module.assembly, "global_inv") == 0);
    CHECK(count(module.assembly, "vscnt null") == 0);
    CHECK(info(module).group_segment_fixed_size == 1024);
  }
}

TEST_CASE("a barrier between global accesses to one tensor waits for global memory") {
  Var n("n"), block("block"), thread("thread");
  Tensor data = placeholder({n}, f32, "data");
  const Expr at = block * Expr(256) + thread, mirror = block * Expr(256) + (Expr(255) - thread);
  Stmt body = make_block({make_store(data, {at}, make_cast(f32, thread)), make_barrier(),
                          make_store(data, {at}, make_load(data, {mirror}))});
  const Kernel kernel = make_kernel("shared", {data}, {true}, {n}, 256, block, thread, body);
  const CompiledModule module = compile(kernel, "gfx1100");
  CAPTURE(module.assembly);
  CHECK(count(module.assembly, "buffer_gl0_inv") == 1);
  CHECK(count(module.assembly, "s_waitcnt_vscnt null, 0x0") >= 1);
}

TEST_CASE("GEMM: two barriers, wide loads of both memories, accumulators in registers") {
  for (const char* target : {"gfx906", "gfx942"}) {
    const CompiledModule module = compile(tiled_gemm(), target);
    CAPTURE(target, module.assembly);
    CHECK(count(module.assembly, "\ts_barrier\n") == 2);
    CHECK(count(module.assembly, "global_load_dwordx4") == 2);
    CHECK(count(module.assembly, "ds_write_b128") == 2);
    CHECK(count(module.assembly, "ds_read_b128") >= 16);
    const KernelInfo kernel = info(module);
    CHECK(kernel.group_segment_fixed_size == 8192);
    CHECK(kernel.private_segment_fixed_size == 0);
    CHECK(kernel.vgpr_spill_count == 0);
  }
}

TEST_CASE("kernel arguments keep their names, and nothing hidden is asked for") {
  const CompiledModule module = compile(vector_add(), "gfx1100");
  const KernelInfo kernel = info(module);
  REQUIRE(kernel.parameters.size() == 4);
  CHECK(kernel.parameters[0].name == "x0");
  CHECK(kernel.parameters[2].name == "y");
  CHECK(kernel.parameters[3].name == "n");
  CHECK(kernel.parameters[3].value_kind == "by_value");
  CHECK(kernel.kernarg_segment_size == 32);
  CHECK(kernel.max_flat_workgroup_size == 64);
  CHECK(count(module.assembly, ".amdhsa_system_sgpr_workgroup_id_y 0") == 1);
  CHECK(count(module.assembly, ".amdhsa_system_vgpr_workitem_id 0") == 1);
}

TEST_CASE("nothing is contracted or reassociated by default") {
  Elementwise spec{"muladd", {f32, f32}, f32, [](const std::vector<Expr>& x) { return x[0] * x[1] + x[0]; }};
  const Kernel kernel = elementwise(spec);
  const CompiledModule strict = compile(kernel, "gfx942");
  CAPTURE(strict.llvm_ir);
  CHECK(count(strict.assembly, "v_fma") + count(strict.assembly, "v_fmac") == 0);
  CHECK(count(strict.llvm_ir, "contract") == 0);
  CodegenOptions fast;
  fast.fast_math = true;
  CHECK(count(compile(kernel, "gfx942", fast).assembly, "v_fma") > 0);
}

TEST_CASE("text is made only when asked for, and does not change the object") {
  const Kernel kernel = tiled_gemm();
  const CompiledModule plain = compile_kernels({kernel}, parse_target("gfx942"), "shape");
  CHECK(plain.llvm_ir.empty());
  CHECK(plain.assembly.empty());
  const CompiledModule with_text = compile(kernel, "gfx942");
  CHECK(plain.code_object == with_text.code_object);
  CHECK(plain.code_object == compile_kernels({kernel}, parse_target("gfx942"), "shape").code_object);
}

TEST_CASE("line tables name the statement of each instruction, and change no instruction") {
  const Kernel kernel = tiled_gemm();
  CodegenOptions options;
  options.line_tables = true;
  const auto instructions = [](const std::string& assembly) {
    std::string kept;
    std::istringstream lines(assembly.substr(0, assembly.find(".section", assembly.find("s_endpgm"))));
    for (std::string line; std::getline(lines, line);)
      if (line.size() > 2 && line[0] == '\t' && line[1] != '.' && line[1] != ';') kept += line.substr(0, line.find(';')) + "\n";
    return kept;
  };
  const std::string with = compile(kernel, "gfx942", options).assembly;
  CHECK(instructions(with) == instructions(compile(kernel, "gfx942").assembly));
  StmtLines lines;
  const std::string text = to_string(kernel, lines);
  CAPTURE(text, with);
  CHECK(count(with, ".loc\t") > 10);
  std::istringstream stream(text);
  std::vector<std::string> rows(1);
  for (std::string row; std::getline(stream, row);) rows.push_back(row);
  for (const auto& [statement, line] : lines) {  // each number is that of the line where the statement begins
    const std::string row = rows.at(static_cast<size_t>(line));
    if (statement->kind == StmtKind::loop) CHECK(count(row, "for ") == 1);
    if (statement->kind == StmtKind::barrier) CHECK(count(row, "barrier") == 1);
    if (statement->kind == StmtKind::store) CHECK(count(row, "] = ") == 1);
  }
}

TEST_CASE("index arithmetic may not overflow, data arithmetic wraps") {
  Elementwise spec{"wrap", {i64}, i64, [](const std::vector<Expr>& x) { return x[0] * Expr(3) + x[0]; }};
  const CompiledModule module = compile(elementwise(spec), "gfx942");
  CAPTURE(module.llvm_ir);
  CHECK(count(module.llvm_ir, "shl i64") == 1);  // x * 4 without nsw
}

TEST_CASE("division of an index by a power of two is a shift and a mask") {
  Var n("n"), block("block"), thread("thread");
  Tensor in = placeholder({n}, f32, "x"), out = placeholder({n}, f32, "y");
  const Expr at = block * Expr(64) + thread;
  const Kernel kernel =
      make_kernel("shift", {in, out}, {false, true}, {n}, 64, block, thread,
                  make_store(out, {at}, make_load(in, {at / Expr(4) * Expr(8) + at % Expr(4)})));
  const CompiledModule module = compile(kernel, "gfx942");
  CAPTURE(module.llvm_ir);
  CHECK(count(module.llvm_ir, "div") == 0);
  CHECK(count(module.llvm_ir, "ashr") == 0);
  CHECK(count(module.assembly, "s_cbranch") == 0);
}

TEST_CASE("a select that guards a load branches around it") {
  Var n("n"), block("block"), thread("thread");
  Tensor in = placeholder({n}, f32, "x"), out = placeholder({n}, f32, "y");
  const Expr at = block * Expr(64) + thread;
  Expr value = select(at >= Expr(3), make_load(in, {at - Expr(3)}), Expr(0.0f));
  const Kernel kernel = make_kernel("padded", {in, out}, {false, true}, {n}, 64, block, thread,
                                    make_store(out, {at}, value));
  const CompiledModule module = compile(kernel, "gfx942");
  CAPTURE(module.llvm_ir);
  CHECK(count(module.llvm_ir, "phi float") == 1);
}

}  // namespace
}  // namespace lathe::test
