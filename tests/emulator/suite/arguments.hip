// Kernel arguments of every shape, and grids of up to three dimensions.

KERNEL scalars(double* out, bool a, i8 b, u8 c, i16 d, u16 e, half f, __bf16 g, int h, u32 j, float k, i64 l, u64 m, double n, char last) {
  int i = index();
  double v[14] = {(double)a, (double)b, (double)c, (double)d, (double)e, (double)f, (double)(float)g, (double)h, (double)j, (double)k, (double)l, (double)(m >> 12), n, (double)last};
  if (i < 14) out[i] = v[i];
}
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float3 __attribute__((ext_vector_type(3)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef u8 uchar4 __attribute__((ext_vector_type(4)));
typedef u16 ushort3 __attribute__((ext_vector_type(3)));
typedef double double4 __attribute__((ext_vector_type(4)));
typedef int int16v __attribute__((ext_vector_type(16)));
KERNEL vector_arguments(double* out, uchar4 a, float2 b, float3 c, ushort3 d, float4 e, double4 f, int16v g) {
  int i = index();
  if (i >= 16) return;
  out[i] = a[i & 3] + b[i & 1] + c[i % 3] + d[i % 3] + e[i & 3] + f[i & 3] + g[i];
}
struct inner { char tag; double weight; short pair[3]; };
struct outer { int count; inner items[3]; const int* data; float scale; u8 last; };
KERNEL structure(double* out, outer s, int shift) {
  int i = index();
  if (i >= s.count) return;
  const inner& t = s.items[i % 3];
  out[i] = t.tag + t.weight + t.pair[i & 1] + s.data[(i + shift) % s.count] * s.scale + s.last;
}
// Of 1040 bytes, indexed at run time.
struct table { u32 words[256]; u32 mask; u16 add; };
KERNEL large_structure(u32* out, table t, int n) {
  int i = index();
  if (i < n) out[i] = (t.words[(i * 7) & 255] & t.mask) + t.add;
}
struct list { const list* next; const u32* values; int count; };
KERNEL pointers_in_structures(u32* out, const list* head, int n) {
  int i = index();
  if (i >= n) return;
  u32 sum = 0;
  for (const list* l = head; l; l = l->next)
    for (int k = 0; k < l->count; k++) sum = sum * 31 + l->values[(k + i) % l->count];
  out[i] = sum;
}
struct empty {};
KERNEL few(u32* out, empty) { out[index()] = index(); }

// ---- grids ------------------------------------------------------------------------------------------------------------
KERNEL grid(u32* out, int w, int h, int d) {
  u32 x = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  u32 y = __builtin_amdgcn_workgroup_id_y() * __builtin_amdgcn_workgroup_size_y() + __builtin_amdgcn_workitem_id_y();
  u32 z = __builtin_amdgcn_workgroup_id_z() * __builtin_amdgcn_workgroup_size_z() + __builtin_amdgcn_workitem_id_z();
  if (x < w && y < h && z < d) out[(z * h + y) * w + x] = x | y << 10 | z << 20;
}
KERNEL extents(u32* out) {
  u32 item_of_all = __builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workitem_id_y() | __builtin_amdgcn_workitem_id_z();
  if (item_of_all | __builtin_amdgcn_workgroup_id_x() | __builtin_amdgcn_workgroup_id_y() | __builtin_amdgcn_workgroup_id_z()) return;
  out[0] = __builtin_amdgcn_workgroup_size_x(), out[1] = __builtin_amdgcn_workgroup_size_y(), out[2] = __builtin_amdgcn_workgroup_size_z();
  out[3] = __builtin_amdgcn_grid_size_x(), out[4] = __builtin_amdgcn_grid_size_y(), out[5] = __builtin_amdgcn_grid_size_z();
}
// Groups of 3-D blocks that are no whole number of waves: a sum in LDS by all of them.
KERNEL partial_waves(u32* out, const u32* x) {
  SHARED u32 s[1024];
  u32 bx = __builtin_amdgcn_workgroup_size_x(), by = __builtin_amdgcn_workgroup_size_y(), n = bx * by * __builtin_amdgcn_workgroup_size_z();
  u32 i = (__builtin_amdgcn_workitem_id_z() * by + __builtin_amdgcn_workitem_id_y()) * bx + __builtin_amdgcn_workitem_id_x();
  u32 g = __builtin_amdgcn_workgroup_id_y() * 2 + __builtin_amdgcn_workgroup_id_x();
  s[i] = x[g * n + i];
  for (u32 left = n; left > 1;) {
    u32 half_of_it = (left + 1) / 2;
    barrier_all();
    if (i + half_of_it < left) s[i] += s[i + half_of_it];
    left = half_of_it;
  }
  if (i == 0) out[g] = s[0];
}
