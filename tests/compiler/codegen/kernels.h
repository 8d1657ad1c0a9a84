// Hand-built kernels for the tests of code generation: what the passes would hand over.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/codegen/codegen.h"

namespace lathe::test {

// out[i] = body(in0[i], in1[i], …) with i = block_x * threads + thread_x; `lanes` > 1: each work-item computes that
// many neighbours as one vector. Guarded by i < n unless `guard` is off.
struct Elementwise {
  std::string name = "kernel";
  std::vector<DType> inputs;
  DType output = f32;
  std::function<Expr(const std::vector<Expr>&)> body;
  int64_t threads = 64;
  int lanes = 1;
  bool guard = true;
  DType index_type = i64;
};
Kernel elementwise(const Elementwise& spec);

// C = A + B over n elements: the plain vector add.
Kernel vector_add(bool guard = true, int lanes = 1);

// Stages 256 floats through LDS and writes them mirrored: one barrier.
Kernel lds_mirror(int64_t threads = 256);

// C = A * B (f32, row-major, m, n, k multiples of the tile): a tile of `tile` squared per work-group of 16x16, staged
// through LDS with vector loads, a register tile per work-item, k in steps of 16; two barriers a step.
Kernel tiled_gemm(int tile = 64, bool unrolled = true);

Kernel make_kernel(std::string name, std::vector<Tensor> buffers, std::vector<bool> written, std::vector<Var> symbols,
                   int64_t threads, Var block, Var thread, Stmt body);

// How often `needle` occurs in `text`.
int count(const std::string& text, const std::string& needle);

}  // namespace lathe::test
