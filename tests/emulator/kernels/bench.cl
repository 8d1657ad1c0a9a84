// 8 chains of fma per lane, all operands in registers.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void fma_loop(global float* out, float a, float b, int n) {
  int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  float x[8];
  for (int k = 0; k < 8; k++) x[k] = i + k;
  float va = a + i * 0.0f, vb = b + i * 0.0f;
  for (int j = 0; j < n; j++)
#pragma unroll
    for (int u = 0; u < 4; u++)
#pragma unroll
      for (int k = 0; k < 8; k++) x[k] = __builtin_fmaf(x[k], va, vb);
  float s = 0;
  for (int k = 0; k < 8; k++) s += x[k];
  out[i] = s;
}

// An f32 GEMM as one writes it for a GPU: 64 x 64 tile per work-group of 256, 4 x 4 per work-item, 16 columns of A and
// rows of B staged in LDS. Sizes are multiples of the tile.
#define barrier_lds()                                  \
  do {                                                 \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                      \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)
#define TILE 64
#define DEPTH 16
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void gemm_tiled(global float* restrict c, global const float* restrict a,
                                                                        global const float* restrict b, int n, int k) {
  local float as[DEPTH][TILE], bs[DEPTH][TILE];
  const int t = __builtin_amdgcn_workitem_id_x(), tx = t % 16, ty = t / 16;
  const int row = __builtin_amdgcn_workgroup_id_y() * TILE, col = __builtin_amdgcn_workgroup_id_x() * TILE;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += DEPTH) {
    const float4 va = *(global const float4*)&a[(row + t / 4) * k + k0 + t % 4 * 4];
    const float4 vb = *(global const float4*)&b[(k0 + t / 16) * n + col + t % 16 * 4];
    as[t % 4 * 4 + 0][t / 4] = va.x, as[t % 4 * 4 + 1][t / 4] = va.y, as[t % 4 * 4 + 2][t / 4] = va.z, as[t % 4 * 4 + 3][t / 4] = va.w;
    *(local float4*)&bs[t / 16][t % 16 * 4] = vb;
    barrier_lds();
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
      const float4 x = *(local float4*)&as[d][ty * 4], y = *(local float4*)&bs[d][tx * 4];
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] = __builtin_fmaf(xs[i], ys[j], acc[i][j]);
    }
    barrier_lds();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    *(global float4*)&c[(row + ty * 4 + i) * n + col + tx * 4] = (float4)(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}
