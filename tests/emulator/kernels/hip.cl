// Small kernels whose results tell in which order they ran.
static int gid(void) { return __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x(); }

#define LOAD(P) __scoped_atomic_load_n(P, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE)

kernel void fill(global int* p, int v) { p[gid()] = v; }
// p * a + b: two of these in the other order give another result.
kernel void step(global int* p, int a, int b) { int i = gid(); p[i] = p[i] * a + b; }
kernel void sum(global int* out, global const int* a, global const int* b) { int i = gid(); out[i] = a[i] + b[i]; }
kernel void stray(global int* p, int k) { p[k + gid()] = 1; }
// One waits until the other has run.
kernel void wait_for(global int* flag, global int* out) {
  while (LOAD(flag) == 0) ;
  if (gid() == 0) out[0] = 5;
}
kernel void raise(global int* flag) { if (gid() == 0) __scoped_atomic_store_n(flag, 1, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE); }
// Every group waits for all others.
kernel void meet(global int* arrived, global int* out, int groups) {
  if (__builtin_amdgcn_workitem_id_x() == 0) __scoped_atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
  while (LOAD(arrived) < groups) ;
  out[gid()] = gid();
}
kernel void uses_lds(global int* out, local int* t) { t[__builtin_amdgcn_workitem_id_x()] = gid(); out[gid()] = t[__builtin_amdgcn_workitem_id_x()]; }
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void fixed_lds(global int* out) {
  local int t[4096];
  for (int k = 0; k < 16; k++) t[__builtin_amdgcn_workitem_id_x() * 16 + k] = k;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[gid()] = t[4095 - __builtin_amdgcn_workitem_id_x() * 16];
}
#if !defined(__gfx1200__) && !defined(__gfx1201__) && !defined(__gfx1250__)
// What HIP's grid.sync() is made of: one wave of each group waits for those of all others.
kernel void grid_sync(global int* turn, global int* out, int groups, int skip) {
  int g = __builtin_amdgcn_workgroup_id_x();
  for (int round = 1; round <= 3; round++) {
    if (__builtin_amdgcn_workitem_id_x() == 0) __scoped_atomic_store_n(turn + g, round, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
    if (g == skip) return;
    __builtin_amdgcn_s_barrier();
    if (__builtin_amdgcn_workitem_id_x() == 0) __builtin_amdgcn_ds_gws_barrier(groups - 1, 0);
    __builtin_amdgcn_s_barrier();
    // Nobody is behind, and nobody is ahead, for the next round's barrier is still to come.
    int next = LOAD(turn + (g + 1) % groups);
    if (next != round) out[0] = next;
    __builtin_amdgcn_s_barrier();
    if (__builtin_amdgcn_workitem_id_x() == 0) __builtin_amdgcn_ds_gws_barrier(groups - 1, 0);
    __builtin_amdgcn_s_barrier();
  }
}
#endif
