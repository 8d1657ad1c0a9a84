// Global memory touched by several work-groups or waves: with a race, and without.
static int wi(void) { return __builtin_amdgcn_workitem_id_x(); }
static int group(void) { return __builtin_amdgcn_workgroup_id_x(); }
#define SYNC() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
#define LOAD(P, ORDER) __scoped_atomic_load_n(P, ORDER, __MEMORY_SCOPE_DEVICE)
#define STORE(P, V, ORDER) __scoped_atomic_store_n(P, V, ORDER, __MEMORY_SCOPE_DEVICE)
#define ADD(P, V, ORDER) __scoped_atomic_fetch_add(P, V, ORDER, __MEMORY_SCOPE_DEVICE)
#define FENCE() __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent")

kernel void write_write(global int* out) { out[wi()] = group() * 64 + wi(); }
kernel void same_value(global int* out) { out[wi()] = 7; }  // by all groups: no order makes a difference
kernel void write_read(global int* out, global int* data) {
  data[group() * 64 + wi()] = 1;
  out[group() * 64 + wi()] = data[((group() + 1) & 3) * 64 + wi()];
}
kernel void overwrite(global int* out, global int* data) {
  out[group() * 64 + wi()] = data[group() * 64 + wi()];
  data[((group() + 1) & 3) * 64 + wi()] = 1;
}
kernel void scalar_read(global int* out, global int* data) {
  if (group() == 0) data[wi()] = 1;
  else out[group()] = data[0];
}
kernel void bytes(global char* out) { out[group() * 2 + (wi() & 1)] = wi() & 1; }        // neighbours in one dword: no race
kernel void shared_byte(global char* out) { out[group() + (wi() & 1)] = group() * 2 + (wi() & 1); }
// Waves of one group.
kernel void waves(global int* out, global int* data, int sync) {
  data[wi()] = wi();
  if (sync) { SYNC(); }
  out[wi()] = data[wi() ^ 64];
}
// Local fence only: the store may still be on its way when others pass the barrier (work-group-processor mode).
kernel void barrier_alone(global int* out, global int* data) {
  data[wi()] = wi();
  __builtin_amdgcn_s_barrier();
  out[wi()] = data[wi() ^ 64];
}
kernel void histogram(global int* bins, global const int* x) { ADD(bins + (x[group() * 64 + wi()] & 7), 1, __ATOMIC_RELAXED); }

// The group that comes last adds up what all have written.
static void sum_up(global int* out, global int* partial, global int* count, int groups, local int* last, int release, int acquire) {
  if (wi() == 0) {
    partial[group()] = group() + 1;
    if (release) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    *last = ADD(count, 1, __ATOMIC_RELAXED) == groups - 1;
  }
  SYNC();
  if (*last) {
    if (acquire) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    if (wi() == 0) {
      int sum = 0;
      for (int k = 0; k < groups; k++) sum += partial[k];
      *out = sum;
    }
  }
}
kernel void last_block(global int* out, global int* partial, global int* count, int groups) { local int last; sum_up(out, partial, count, groups, &last, 1, 1); }
kernel void last_block_unreleased(global int* out, global int* partial, global int* count, int groups) { local int last; sum_up(out, partial, count, groups, &last, 0, 1); }
kernel void last_block_unacquired(global int* out, global int* partial, global int* count, int groups) { local int last; sum_up(out, partial, count, groups, &last, 1, 0); }

kernel void spin_lock(global int* counter, global int* lock, int release) {
  if (wi() != 0) return;
  int zero = 0;
  while (!__scoped_atomic_compare_exchange_n(lock, &zero, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)) zero = 0;
  *counter += 1;
  if (release) STORE(lock, 0, __ATOMIC_RELEASE);
  else STORE(lock, 0, __ATOMIC_RELAXED);
}
// Tickets: whoever's turn it is reads what the one before wrote.
kernel void turns(global int* data, global int* turn) {
  if (wi() != 0) return;
  while (LOAD(turn, __ATOMIC_ACQUIRE) != group());
  data[group() + 1] = data[group()] + 2;
  STORE(turn, group() + 1, __ATOMIC_RELEASE);
}
// Within a group, without barriers: the wave that comes last at an LDS counter.
kernel void last_wave(global int* out, global int* data) {
  local int count;
  if (wi() == 0) count = 0;
  SYNC();
  data[wi()] = wi();
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  int n = wi() & 63 ? 0 : __scoped_atomic_fetch_add((local int*)&count, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  n = __builtin_amdgcn_readfirstlane(n);
  if (n == 3) {
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    out[wi() & 63] = data[wi() & 63] + data[(wi() & 63) + 64] + data[(wi() & 63) + 128] + data[(wi() & 63) + 192];
  }
}
