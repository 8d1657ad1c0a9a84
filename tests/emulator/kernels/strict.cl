// Each kernel trips one strict check, or shows that its neighbour is allowed.
typedef unsigned int uint;
static int wi(void) { return __builtin_amdgcn_workitem_id_x(); }
static int gid(void) { return __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x(); }
#define SYNC() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")

kernel void copy(global int* out, global const int* in, int n) { int i = gid(); if (i < n) out[i] = in[i]; }
kernel void add_one(global int* out, global const int* in, int n) { int i = gid(); if (i < n) out[i] = in[i] + 1; }
kernel void gather(global int* out, global const int* index, global const int* in) { out[gid()] = in[index[gid()]]; }
kernel void choose(global int* out, global const int* in) { int i = gid(); if (in[i] > 3) out[i] = 1; else out[i + 64] = 2; }
kernel void uniform_choose(global int* out, global const int* in) { if (in[0] > 3) out[gid()] = 1; }
kernel void undefined_lds(global int* out) {
  local int t[128];
  t[wi()] = 1;
  SYNC();
  out[wi()] = t[127 - wi()];
}
// Undefined values that only move, or of which only defined bits matter.
kernel void harmless(global int* out, global const int* in, global const int* fresh) {
  local int t[64];
  int i = wi();
  int x = fresh[i];
  t[i] = x;                   // into LDS
  int y = t[i] & 0;           // masked away
  y |= (x << 31) & 0;
  out[i] = in[i] + y;
}
kernel void race(global int* out) {
  local int t[64];
  t[wi() & 63] = wi();
  SYNC();
  out[wi()] = t[wi() & 63];
}
kernel void race_read(global int* out) {
  local int t[256];
  int i = wi();
  t[i] = i;
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
  out[i] = t[(i + 64) & 255];
}
kernel void no_race(global int* out) {
  local int t[256];
  int i = wi();
  t[i] = i;
  SYNC();
  int v = t[(i + 64) & 255];
  SYNC();
  t[i] = v;
  SYNC();
  out[i] = t[255 - i];
}
kernel void early_exit(global int* out) {
  if (wi() >= 64) return;
  SYNC();
  out[wi()] = 1;
}
kernel void lds_outside(global int* out, int k) {
  local int t[64];
  t[wi()] = wi();
  SYNC();
  out[wi()] = t[wi() + k];
}
kernel void misaligned(global char* out) {
  __scoped_atomic_fetch_add((global int*)(out + 1), 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
kernel void unknown(global float* out) { float x = wi(); __asm__ volatile("s_incperflevel 3"); out[wi()] = x; }
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void sized(global int* out) { out[gid()] = 1; }
kernel void stray(global int* out, int k) { out[gid() + k] = 1; }
