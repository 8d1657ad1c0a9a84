// Kernels whose waves and groups wait for each other, and kernels that never end.
static int wi(void) { return __builtin_amdgcn_workitem_id_x(); }
static int group(void) { return __builtin_amdgcn_workgroup_id_x(); }
#define SYNC() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
#define LOAD(P, ORDER) __scoped_atomic_load_n(P, ORDER, __MEMORY_SCOPE_DEVICE)
#define STORE(P, V, ORDER) __scoped_atomic_store_n(P, V, ORDER, __MEMORY_SCOPE_DEVICE)
#define ADD(P, V, ORDER) __scoped_atomic_fetch_add(P, V, ORDER, __MEMORY_SCOPE_DEVICE)

// All groups meet, as in a cooperative launch; then each reads what its neighbour wrote before.
kernel void grid_barrier(global int* out, global int* data, global int* arrived, int groups) {
  int i = group() * 64 + wi(), n = groups * 64;
  data[i] = i * 3;
  SYNC();
  if (wi() == 0) {
    ADD(arrived, 1, __ATOMIC_ACQ_REL);
    while (LOAD(arrived, __ATOMIC_ACQUIRE) < groups) __builtin_amdgcn_s_sleep(1);
  }
  SYNC();
  out[i] = data[(i + 64) % n];
}
// Each group waits for the one after it: none could end if they ran one after another.
kernel void backward_chain(global int* out, global int* data, global int* flags, int groups) {
  int g = group();
  if (wi() == 0) {
    int sum = g;
    if (g + 1 < groups) {
      while (LOAD(flags + g + 1, __ATOMIC_ACQUIRE) == 0);
      sum += data[g + 1];
    }
    data[g] = sum;
    STORE(flags + g, 1, __ATOMIC_RELEASE);
    out[g] = sum;
  }
}
// Wave 0 waits for wave 3, without a barrier.
kernel void wave_flag(global int* out, global int* flag) {
  if (wi() >= 192) {
    out[wi()] = 7;
    if (wi() == 192) STORE(flag, 1, __ATOMIC_RELAXED);
  } else if (wi() < 64) {
    while (LOAD(flag, __ATOMIC_RELAXED) == 0);
    out[wi()] = 5;
  }
}
kernel void endless(global int* out, int n) {
  int x = wi();
  while (n) x = x * 5 + n, __builtin_amdgcn_sched_barrier(0);
  out[wi()] = x;
}
kernel void lonely(global int* out, global int* flag) {
  while (LOAD(flag, __ATOMIC_RELAXED) == 0);
  out[wi()] = 1;
}
kernel void two_barriers(global int* out) {
  if (wi() >= 64) { __builtin_amdgcn_s_barrier(); out[wi()] = 1; }
  else { __builtin_amdgcn_s_barrier(); out[wi()] = 2; out[wi() + 256] = 3; }
}
kernel void some_leave(global int* out) {
  if (wi() >= 128) return;
  out[wi()] = 1;
  __builtin_amdgcn_s_barrier();
  out[wi() + 256] = 2;
}
// No wave's turn ever ends but at the barrier.
kernel void endless_barrier(global int* out, int n) {
  while (n) __builtin_amdgcn_s_barrier();
  out[wi()] = n;
}
