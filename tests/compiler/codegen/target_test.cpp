// Every target compiles everything that a target may be asked for; what none can do is refused in words.
#include <catch2/catch.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "kernels.h"
#include "runtime/base/code_object.h"
#include "tests/error_message.h"

namespace lathe::test {
namespace {

std::vector<Target> all_targets() {
  std::vector<Target> targets;
  for (const GfxRow& row : gfx_table())
    if (row.compiles) targets.push_back(Target{&row});
  for (const char* id : {"gfx90a:sramecc+:xnack-", "gfx942:sramecc-:xnack+", "gfx900:xnack-", "gfx906:sramecc+"})
    targets.push_back(parse_target(id));
  return targets;
}

// One kernel an operator, over one type.
std::vector<Kernel> operator_kernels(DType type) {
  std::vector<Kernel> kernels;
  for (size_t index = 0; index < std::size(op_rows); ++index) {
    const Op op = static_cast<Op>(index);
    const OpTyping typing = op_row(op).typing;
    if (typing == OpTyping::logical || typing == OpTyping::select) continue;
    if (typing == OpTyping::integer && !type.is_int()) continue;
    if ((typing == OpTyping::floating || typing == OpTyping::classify) && !type.is_float()) continue;
    const bool gives_bool = typing == OpTyping::compare || typing == OpTyping::classify;
    kernels.push_back(elementwise({std::string(op_row(op).name), std::vector<DType>(op_row(op).arity, type),
                                   gives_bool ? boolean : type,
                                   [op](const std::vector<Expr>& x) { return make_apply(op, x); }}));
  }
  return kernels;
}

TEST_CASE("every target compiles vector add, vectors, LDS and GEMM") {
  const std::vector<Kernel> kernels = [] {
    Kernel wide = vector_add(false, 4);
    wide.name = "vector_add4";
    return std::vector<Kernel>{vector_add(), wide, lds_mirror(), tiled_gemm()};
  }();
  for (const Target& target : all_targets()) {
    CAPTURE(target.id());
    const CodeObjectInfo info = read_code_object(compile_kernels(kernels, target, "all").code_object, "all");
    CHECK(info.target.id() == target.id());
    CHECK(info.version == (target.gfx->is_generic ? 6 : 5));
    REQUIRE(info.kernels.size() == 4);
    CHECK(info.kernels[0].wavefront_size == target.gfx->wave_size);
  }
}

// All types on one target of each generation of instructions; on the rest the types whose lowering differs most.
// (Every type on every target was compiled once by hand: 85 s, no difference.)
TEST_CASE("every generation compiles every operator on every type") {
  const std::string_view generations[] = {"gfx900", "gfx90a", "gfx950", "gfx1030", "gfx1100", "gfx1200", "gfx1250"};
  for (const Target& target : all_targets()) {
    const bool all_types =
        std::find(std::begin(generations), std::end(generations), target.id()) != std::end(generations);
    for (const DTypeRow& row : dtype_rows) {
      if (row.type.is_bool() || (!all_types && row.type != bf16 && row.type != f16)) continue;
      CAPTURE(target.id(), row.name);
      CHECK(error_message([&] { compile_kernels(operator_kernels(row.type), target, "operators"); }) == "");
    }
  }
}

TEST_CASE("RDNA compiles for either wave size") {
  CodegenOptions options;
  options.wave_size = 64;
  const auto object = compile_kernels({lds_mirror()}, parse_target("gfx1100"), "wave64", options).code_object;
  CHECK(read_code_object(object, "wave64").kernels[0].wavefront_size == 64);
  CHECK(error_message([&] {
          CodegenOptions narrow;
          narrow.wave_size = 32;
          compile_kernels({lds_mirror()}, parse_target("gfx942"), "m", narrow);
        }) == "target gfx942: a wave of 32 lanes (hint: 64 lanes)");
}

TEST_CASE("code object versions") {
  for (int version : {4, 5, 6}) {
    CodegenOptions options;
    options.code_object_version = version;
    const auto object = compile_kernels({vector_add()}, parse_target("gfx942"), "m", options).code_object;
    CHECK(read_code_object(object, "m").version == version);
  }
  auto message = [](int version, const char* target) {
    CodegenOptions options;
    options.code_object_version = version;
    return error_message([&] { compile_kernels({vector_add()}, parse_target(target), "m", options); });
  };
  CHECK(message(3, "gfx942") == "target gfx942: code object version 3 (hint: 4, 5 or 6)");
  CHECK(message(5, "gfx11-generic") ==
        "target gfx11-generic: code object version 5 for a generic target (hint: generic targets need version 6)");
}

TEST_CASE("refusals") {
  auto refused = [](const Kernel& kernel, const char* target = "gfx942") {
    return error_message([&] { compile_kernels({kernel}, parse_target(target), "m"); });
  };
  SECTION("a target that is known but not compiled for") {
    CHECK(refused(vector_add(), "gfx1032") ==
          "target gfx1032: Lathe does not compile for gfx1032 (hint: an object for gfx10-3-generic may run on it)");
  }
  SECTION("more LDS than there is") {
    Var thread("thread"), block("block");
    Tensor tile = make_tensor("tile", f32, {Expr(16385)}), out = placeholder({Expr(64)}, f32, "y");
    Stmt body = make_alloc(tile, Scope::shared, make_store(out, {thread}, make_load(tile, {thread})));
    CHECK(refused(make_kernel("big", {out}, {true}, {}, 64, block, thread, body)) ==
          "kernel big for gfx942: shared tensors take 65540 bytes of LDS, tile the last of them (hint: a work-group "
          "has 65536 bytes: make the tiles smaller)");
  }
  SECTION("a register tensor that no register file holds") {
    Var thread("thread"), block("block");
    Tensor tile = make_tensor("tile", f32, {Expr(100000)}), out = placeholder({Expr(64)}, f32, "y");
    Stmt body = make_alloc(tile, Scope::registers, make_store(out, {thread}, make_load(tile, {thread})));
    CHECK(refused(make_kernel("big", {out}, {true}, {}, 64, block, thread, body)) ==
          "kernel big for gfx942: register tensor tile takes 400000 bytes per work-item (hint: at most 65536: make its "
          "tile smaller)");
  }
  SECTION("memory inside a kernel of a size that is not known") {
    Var n("n"), thread("thread"), block("block");
    Tensor tile = make_tensor("tile", f32, {n}), out = placeholder({n}, f32, "y");
    Stmt body = make_alloc(tile, Scope::shared, make_store(out, {thread}, make_load(tile, {thread})));
    CHECK(refused(make_kernel("k", {out}, {true}, {n}, 64, block, thread, body)) ==
          "kernel k for gfx942: the size of tile is not known at build time (hint: memory inside a kernel needs "
          "numbers: bound or split the axis that gives the extent)");
  }
  SECTION("a work-group that is too large") {
    Kernel kernel = vector_add();
    kernel.block[1] = 32;
    CHECK(refused(kernel) == "kernel vector_add for gfx942: a work-group of 2048 work-items (hint: at most 1024)");
  }
  SECTION("names that LLVM would take for its own") {
    Kernel kernel = vector_add();
    kernel.name = "llvm.sqrt.f32";
    CHECK(refused(kernel) == "m: \"llvm.sqrt.f32\" is no name for a kernel (hint: letters, digits, _, . and $, with no "
                             "digit first and no llvm. or __oc in front)");
  }
  SECTION("two kernels of one name") {
    CHECK(error_message([] { compile_kernels({vector_add(), vector_add()}, parse_target("gfx942"), "m"); }) ==
          "m: two kernels are named vector_add (hint: give each its own name)");
  }
}

TEST_CASE("threads compile at the same time, to the same bytes") {
  const auto alone = compile_kernels({tiled_gemm()}, parse_target("gfx942"), "m").code_object;
  std::vector<std::vector<uint8_t>> objects(4);
  std::vector<std::thread> threads;
  for (auto& object : objects)
    threads.emplace_back([&] { object = compile_kernels({tiled_gemm()}, parse_target("gfx942"), "m").code_object; });
  for (std::thread& thread : threads) thread.join();
  for (const auto& object : objects) CHECK(object == alone);
}

TEST_CASE("the linker leaves no files behind") {
  namespace fs = std::filesystem;
  auto leftovers = [] {
    int found = 0;
    for (const auto& entry : fs::directory_iterator(fs::temp_directory_path()))
      found += entry.path().filename().string().starts_with("lathe-link-");
    return found;
  };
  const int before = leftovers();
  compile_kernels({vector_add()}, parse_target("gfx942"), "m");
  CHECK(leftovers() <= before);
}

}  // namespace
}  // namespace lathe::test
