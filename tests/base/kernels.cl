// Kernels that clang compiles for the tests of runtime/base and runtime: an opinion on code objects that is not
// Lathe's own. Built without a device library, so ids come from builtins.

// c[i] = a[i] + b[i] for i < n; groups of 64.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vector_add(__global const float* a, __global const float* b, __global float* c, long n) {
  long i = (long)__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < n) c[i] = a[i] + b[i];
}

// Natural alignment in the argument block (case R2): pointer at 0, i8 at 8, f64 at 16, i32 at 24, i64 at 32.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void mixed_arguments(__global double* out, char a, double b, int c, long d) {
  if (__builtin_amdgcn_workitem_id_x() == 0) out[__builtin_amdgcn_workgroup_id_x()] = a + b + c + (double)d;
}

// Reverses 64 floats through LDS: 256 bytes of it.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void reverse64(__global float* x) {
  __local float tile[64];
  int i = __builtin_amdgcn_workitem_id_x();
  tile[i] = x[i];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  x[i] = tile[63 - i];
}
