// Lesson 2: matrix product C = A · B in f32, tiled for the memory hierarchy.
//
// A work-group of 16 × 16 work-items computes a 64 × 64 tile of C, each work-item a 4 × 4 part of it in registers.
// Every 16 steps along K, the group stages a tile of A and one of B in LDS together, 128 bits a load; between staging
// and use Lathe puts the barriers. The sizes that are no multiple of the tiles need no other schedule: interior
// work-groups run without guards, those at the edge are predicated.
#include "examples/lesson.h"

using namespace lathe;

Module build_gemm(int64_t m, int64_t n, int64_t k, std::string_view target) {
  Tensor A = placeholder({m, k}, f32, "A"), B = placeholder({k, n}, f32, "B");
  ReduceAxis kk = reduce_axis(k, "k");
  Tensor C = compute({m, n}, [&](Expr i, Expr j) { return sum(A(i, kk.var) * B(kk.var, j), kk); }, "C");

  Schedule s(C);
  Tensor CL = s.cache_write(C, registers);
  Tensor AS = s.cache_read(A, shared, {CL}), BS = s.cache_read(B, shared, {CL});

  // C: a tile a work-group, in it a tile a work-item.
  auto [i0, j0, i1, j1] = s[C].tile(C.axis(0), C.axis(1), 64, 64);
  auto [ty, tx, ii, jj] = s[C].tile(i1, j1, 4, 4);
  s[C].bind(i0, block_y).bind(j0, block_x).bind(ty, thread_y).bind(tx, thread_x).unroll(ii).vectorize(jj);

  // The sums in registers: along K by 16, each step an outer product of 4 × 4.
  s[CL].compute_at(s[C], tx);
  auto [k0, k1] = s[CL].split(CL.reduce_axis(0), 16);
  s[CL].reorder({k0, k1, CL.axis(0), CL.axis(1)}).unroll(k1).unroll(CL.axis(0)).vectorize(CL.axis(1));

  // The tiles of A (64 × 16) and B (16 × 64): 256 work-items load 16 bytes of each.
  for (const Tensor& tile : {AS, BS}) {
    s[tile].compute_at(s[CL], k0);
    LoopRef flat = s[tile].fuse({tile.axis(0), tile.axis(1)});
    auto [rest, lane] = s[tile].split(flat, 4);
    auto [y, x] = s[tile].split(rest, 16);
    s[tile].bind(y, thread_y).bind(x, thread_x).vectorize(lane);
  }
  return build(s, {A, B, C}, target, "gemm");
}

int gemm(int argc, char** argv) {
  Device gpu = Device::open();
  bool equal = true;
  for (auto [m, n, k] : {std::array<int64_t, 3>{256, 192, 320}, {255, 191, 319}}) {
    Module module = build_gemm(m, n, k, gpu.info().target_id);
    lesson::show_sources(module, argc, argv);
    Array a = Array::from_host(gpu, lesson::random_floats(m * k, 1), {m, k});
    Array b = Array::from_host(gpu, lesson::random_floats(k * n, 2), {k, n});
    Array c = Array::empty(gpu, f32, {m, n});
    module.load(gpu)["gemm"](a, b, c);

    KernelInfo kernel = module.info().kernels[0];
    fmt::print("{} x {} x {}: {} VGPRs, {} B LDS, {} spills; ", m, n, k, kernel.vgpr_count, kernel.group_segment_fixed_size,
               kernel.vgpr_spill_count);
    equal &= lesson::check(module, {a, b, c});
  }
  return equal ? 0 : 1;
}

int main(int argc, char** argv) { return lesson::run(gemm, argc, argv); }
