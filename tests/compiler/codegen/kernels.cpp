#include "kernels.h"

#include "ir/stmt.h"

namespace lathe::test {

Kernel make_kernel(std::string name, std::vector<Tensor> buffers, std::vector<bool> written, std::vector<Var> symbols,
                   int64_t threads, Var block, Var thread, Stmt body) {
  Kernel kernel;
  kernel.name = std::move(name);
  kernel.buffers = std::move(buffers);
  kernel.written = std::move(written);
  kernel.symbols = std::move(symbols);
  kernel.grid = {Expr(int64_t{1000000}), Expr(int64_t{1}), Expr(int64_t{1})};
  kernel.block[0] = threads;
  kernel.block_index[0] = std::move(block);
  kernel.thread_index[0] = std::move(thread);
  kernel.body = std::move(body);
  return kernel;
}

Kernel elementwise(const Elementwise& spec) {
  Var n("n"), block("block", spec.index_type), thread("thread", spec.index_type);
  const Expr first = (block * Expr(spec.threads) + thread) * Expr(int64_t{spec.lanes});
  const Expr index = spec.lanes == 1 ? first : make_ramp(first, constant(spec.index_type, int64_t{1}), spec.lanes);
  std::vector<Tensor> buffers;
  std::vector<Expr> loads;
  std::vector<bool> written;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    buffers.push_back(placeholder({n}, spec.inputs[i], "x" + std::to_string(i)));
    written.push_back(false);
    loads.push_back(make_load(buffers.back(), {index}));
  }
  buffers.push_back(placeholder({n}, spec.output, "y"));
  written.push_back(true);
  Stmt body = make_store(buffers.back(), {index}, spec.body(loads));
  if (spec.guard) body = make_branch(make_cast(i64, first) < n, body);
  return make_kernel(spec.name, buffers, written, {n}, spec.threads, block, thread, body);
}

Kernel vector_add(bool guard, int lanes) {
  Elementwise spec{"vector_add", {f32, f32}, f32, [](const std::vector<Expr>& x) { return x[0] + x[1]; }};
  spec.guard = guard;
  spec.lanes = lanes;
  return elementwise(spec);
}

Kernel lds_mirror(int64_t threads) {
  Var n("n"), block("block"), thread("thread");
  Tensor in = placeholder({n}, f32, "x"), out = placeholder({n}, f32, "y");
  Tensor tile = make_tensor("tile", f32, {Expr(threads)});
  const Expr at = block * Expr(threads) + thread;
  Stmt body = make_alloc(
      tile, Scope::shared,
      make_block({make_store(tile, {thread}, make_load(in, {at})), make_barrier(),
                  make_store(out, {at}, make_load(tile, {Expr(threads - 1) - thread}))}));
  return make_kernel("lds_mirror", {in, out}, {false, true}, {n}, threads, block, thread, body);
}

Kernel tiled_gemm(int tile, bool unrolled) {
  constexpr int step = 16, threads = 16;
  const int own = tile / threads;  // rows and columns of one work-item
  const auto c = [](int64_t v) { return constant(i32, v); };
  Var m("m"), n("n"), k("k"), bx("bx", i32), by("by", i32), tx("tx", i32), ty("ty", i32), k0("k0", i32);
  Tensor a = placeholder({m * k}, f32, "A"), b = placeholder({k * n}, f32, "B"), out = placeholder({m * n}, f32, "C");
  Tensor as = make_tensor("As", f32, {Expr(tile * step)}), bs = make_tensor("Bs", f32, {Expr(step * tile)});
  Tensor acc = make_tensor("acc", f32, {Expr(own * own)});
  Expr n32 = make_cast(i32, n), k32 = make_cast(i32, k);
  const Expr one = c(1), linear = ty * c(threads) + tx;

  std::vector<Stmt> zero, stage, compute, write;
  for (int i = 0; i < own * own; ++i) zero.push_back(make_store(acc, {c(i)}, Expr(0.0f)));
  // Each work-item copies vectors of 4: the tile has tile * 16 elements, the group 256 work-items.
  const int vectors = tile * step / 4, rounds = vectors / (threads * threads);
  for (int r = 0; r < rounds; ++r) {
    const Expr v = linear + c(r * threads * threads);
    const Expr row = v / c(step / 4), column = (v % c(step / 4)) * c(4);
    stage.push_back(make_store(as, {make_ramp(row * c(step) + column, one, 4)},
                               make_load(a, {make_ramp((by * c(tile) + row) * k32 + k0 * c(step) + column, one, 4)})));
    const Expr brow = v / c(tile / 4), bcolumn = (v % c(tile / 4)) * c(4);
    stage.push_back(
        make_store(bs, {make_ramp(brow * c(tile) + bcolumn, one, 4)},
                   make_load(b, {make_ramp((k0 * c(step) + brow) * n32 + bx * c(tile) + bcolumn, one, 4)})));
  }
  Var kk("kk", i32), i("i", i32), j("j", i32);
  auto multiply = [&](const Expr& kk, const Expr& i, const Expr& j) {
    const Expr at = i * c(own) + j;
    return make_store(acc, {at},
                      fma(make_load(as, {(ty * c(own) + i) * c(step) + kk}),
                          make_load(bs, {kk * c(tile) + tx * c(own) + j}), make_load(acc, {at})));
  };
  Stmt inner;
  if (unrolled) {
    for (int z = 0; z < step; ++z)
      for (int y = 0; y < own; ++y)
        for (int x = 0; x < own; ++x) compute.push_back(multiply(c(z), c(y), c(x)));
    inner = make_block(compute);
  } else {
    inner = make_loop(LoopKind::serial, j, c(0), c(own), multiply(kk, i, j));
    inner = make_loop(LoopKind::serial, i, c(0), c(own), inner);
    inner = make_loop(LoopKind::serial, kk, c(0), c(step), inner);
  }
  std::vector<Stmt> body = stage;
  body.push_back(make_barrier());
  body.push_back(inner);
  body.push_back(make_barrier());
  Stmt loop = make_loop(LoopKind::serial, k0, c(0), k32 / c(step), make_block(body));
  for (int y = 0; y < own; ++y) {
    const Expr at = (by * c(tile) + ty * c(own) + c(y)) * n32 + bx * c(tile) + tx * c(own);
    write.push_back(make_store(out, {make_ramp(at, one, own)}, make_load(acc, {make_ramp(c(y * own), one, own)})));
  }
  zero.push_back(loop);
  zero.insert(zero.end(), write.begin(), write.end());
  Stmt whole = make_alloc(as, Scope::shared,
                          make_alloc(bs, Scope::shared, make_alloc(acc, Scope::registers, make_block(zero))));
  Kernel kernel = make_kernel("gemm", {a, b, out}, {false, false, true}, {m, n, k}, threads, bx, tx, whole);
  kernel.block[1] = threads;
  kernel.block_index[1] = by;
  kernel.thread_index[1] = ty;
  kernel.grid = {n / Expr(tile), m / Expr(tile), Expr(1)};
  return kernel;
}

int count(const std::string& text, const std::string& needle) {
  int found = 0;
  for (size_t at = text.find(needle); at != std::string::npos; at = text.find(needle, at + needle.size())) ++found;
  return found;
}

}  // namespace lathe::test
