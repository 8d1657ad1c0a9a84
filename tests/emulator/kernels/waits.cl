// Few kernels in a file, for the test that cuts one wait after another out of the assembly.
kernel void vector_add(global float* c, global const float* a, global const float* b, int n) {
  int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < n) c[i] = a[i] + b[i];
}
#define SYNC() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
kernel void reduce(global int* out, global const int* x) {
  local int t[256];
  int i = __builtin_amdgcn_workitem_id_x();
  t[i] = x[__builtin_amdgcn_workgroup_id_x() * 256 + i];
  SYNC();
  for (int s = 128; s > 0; s >>= 1) {
    if (i < s) t[i] += t[i + s];
    SYNC();
  }
  if (i == 0) out[__builtin_amdgcn_workgroup_id_x()] = t[0];
}
