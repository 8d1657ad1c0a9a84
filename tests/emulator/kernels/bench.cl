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
