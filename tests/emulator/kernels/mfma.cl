// A GEMM of f16 by 32x32x8 matrix instructions: one wave and one tile of 32 x 32 per work-group.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half half4 __attribute__((ext_vector_type(4)));
typedef float float16v __attribute__((ext_vector_type(16)));

kernel void gemm(global float* c, global const half* a, global const half* b, int n, int k) {
  int lane = __builtin_amdgcn_workitem_id_x(), i0 = __builtin_amdgcn_workgroup_id_y() * 32, j0 = __builtin_amdgcn_workgroup_id_x() * 32;
  float16v sum = 0;
  for (int k0 = 0; k0 < k; k0 += 8) {
    half4 x, y;
    for (int e = 0; e < 4; e++) {
      int kk = k0 + 4 * (lane / 32) + e;
      x[e] = a[(i0 + lane % 32) * k + kk];
      y[e] = b[kk * n + j0 + lane % 32];
    }
    sum = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
  }
  for (int r = 0; r < 16; r++) c[(i0 + 8 * (r / 4) + 4 * (lane / 32) + r % 4) * n + j0 + lane % 32] = sum[r];
}

// Four accumulators in registers, for the benchmark.
kernel void mfma_loop(global float* out, global const half* in, int n) {
  int lane = __builtin_amdgcn_workitem_id_x();
  half4 x, y;
  for (int e = 0; e < 4; e++) x[e] = in[4 * lane + e], y[e] = in[256 + 4 * lane + e];
  float16v a = 0, b = 0, c = 0, d = 0;
  for (int k = 0; k < n; k++) {
    a = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, a, 0, 0, 0);
    b = __builtin_amdgcn_mfma_f32_32x32x8f16(y, x, b, 0, 0, 0);
    c = __builtin_amdgcn_mfma_f32_32x32x8f16(x, x, c, 0, 0, 0);
    d = __builtin_amdgcn_mfma_f32_32x32x8f16(y, y, d, 0, 0, 0);
  }
  for (int r = 0; r < 16; r++) out[(__builtin_amdgcn_workgroup_id_x() * 16 + r) * 64 + lane] = a[r] + b[r] + c[r] + d[r];
}
