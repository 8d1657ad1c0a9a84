// Vector add, integers, loops, divergence, LDS, scratch, 3-D grids.
typedef unsigned int uint;
typedef unsigned long ulong;

#define GX get_group_id(0) * get_local_size(0) + get_local_id(0)
static uint gid(uint d) { return d == 0 ? __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x() : 0; }

kernel void vector_add(global float* c, global const float* a, global const float* b, int n) {
  int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < n) c[i] = a[i] + b[i];
}
