// For the test that replaces one wait after another by s_nop: each kernel waits for something else.
static int wi(void) { return __builtin_amdgcn_workitem_id_x(); }
static int group(void) { return __builtin_amdgcn_workgroup_id_x(); }
#define SYNC() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")

kernel void exchange(global int* out, global int* data, int n) {  // through global memory, within a group
  int i = group() * 256 + wi();
  data[i] = i + n;
  SYNC();
  out[i] = data[i ^ 64];
}
kernel void tiles(global int* out, global const int* data, int n) {  // global, LDS, global
  local int t[256];
  int base = group() * 256, sum = 0;
  for (int k = 0; k < n; k++) {
    t[wi()] = data[base + wi()] * (k + 1);
    SYNC();
    sum += t[255 - wi()] + t[wi() ^ 1];
    SYNC();
  }
  out[base + wi()] = sum;
}
kernel void last_group(global int* out, global int* data, int n) {  // release and acquire between groups
  local int last;
  int groups = n;
  if (wi() == 0) {
    data[group()] = group() + 1;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    last = __scoped_atomic_fetch_add(data + 64, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) == groups - 1;
  }
  SYNC();
  if (last) {
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    if (wi() == 0) {
      int sum = 0;
      for (int k = 0; k < groups; k++) sum += data[k];
      *out = sum;
    }
  }
}
kernel void chase(global int* out, global const int* data, int n) {  // addresses from loads, a table in scalars
  int i = group() * 256 + wi();
  int k = data[i] & 255;
  out[i] = data[data[k] & 255] + data[n];
}
