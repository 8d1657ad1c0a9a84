// One access of a known shape per wave. `volatile` keeps it one.
kernel void lds_load(global int* out, int stride, int n) {
  local volatile int tile[64 * 64];
  int t = __builtin_amdgcn_workitem_id_x();
  for (int k = t; k < n; k += 64) tile[k] = k;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  out[t] = tile[t * stride];
}
kernel void lds_load_wide(global int4* out, int stride, int n) {
  local int4 tile[64 * 16];
  int t = __builtin_amdgcn_workitem_id_x();
  for (int k = t; k < n / 4; k += 64) tile[k] = (int4)(k);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[t] = tile[t * (stride / 4)];
}
kernel void global_load(global int* out, global const volatile int* in, int stride) {
  int t = __builtin_amdgcn_workitem_id_x();
  int x = in[t * stride];
  if (x == 12345) out[0] = x;
}
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void big_lds(global int* out) {
  local volatile int tile[10240];
  int t = __builtin_amdgcn_workitem_id_x();
  tile[t] = t;
  out[t] = tile[t];
}
