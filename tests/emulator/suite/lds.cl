// LDS: static and dynamic, every access width, bank patterns, tiles, structures.

KERNEL lds_reverse(global int* out, global const int* x) {
  local int t[256];
  int i = item();
  t[i] = x[group() * 256 + i];
  barrier_all();
  out[group() * 256 + i] = t[255 - i];
}
// Two dynamic arrays at offsets that the host chose.
KERNEL lds_dynamic(global long* out, local int* a, local long* b, int n) {
  int i = item();
  a[i] = i * 3;
  b[i] = (long)i * i << 20;
  barrier_all();
  out[group() * n + i] = a[(i + 1) % n] + b[n - 1 - i];
}
KERNEL lds_banks(global int* out, int stride) {
  local int t[1024];
  int i = item(), sum = 0;
  for (int k = i; k < 1024; k += 128) t[k] = k * k;
  barrier_all();
  for (int k = 0; k < 8; k++) sum = sum * 3 + t[(i * stride + k * 37) & 1023];
  out[i] = sum;
}
KERNEL lds_tile(global float* out, global const float* x, int w, int h) {
  local float t[16][17];
  int tx = __builtin_amdgcn_workitem_id_x(), ty = __builtin_amdgcn_workitem_id_y();
  int bx = __builtin_amdgcn_workgroup_id_x() * 16, by = __builtin_amdgcn_workgroup_id_y() * 16;
  if (bx + tx < w && by + ty < h) t[ty][tx] = x[(by + ty) * w + bx + tx];
  barrier_all();
  if (by + tx < h && bx + ty < w) out[(bx + ty) * h + by + tx] = t[tx][ty];
}
KERNEL lds_narrow(global int* out, global const uchar* x) {
  local uchar a[256];
  local short b[256];
  int i = item();
  for (int k = 0; k < 4; k++) a[i * 4 + k] = x[i * 4 + k], b[i + 64 * k] = (short)(x[i * 4 + k] * -129);
  barrier_all();
  int sum = 0;
  for (int k = 0; k < 4; k++) sum = sum * 7 + a[(i * 5 + k) & 255] + (char)a[255 - i] + b[(i * 3 + k * 64) & 255];
  out[i] = sum;
}
// 64-, 96- and 128-bit accesses, aligned and not.
KERNEL lds_wide(global uint4* out, global const uint4* x) {
  local uint4 t[65];
  local uint words[64 * 3];
  int i = item();
  t[i] = x[i];
  if (i == 0) t[64] = x[0].wzyx;
  uint4 a = x[63 - i];
  words[3 * i] = a.x; words[3 * i + 1] = a.y; words[3 * i + 2] = a.z;
  barrier_all();
  uint4 b = t[(i + 1) & 63];
  uint2 c = ((local uint2*)t)[i + 3];
  struct packed { uint4 v; } __attribute__((packed));
  uint4 d = ((local struct packed*)((local char*)t + 4 * i + 8))->v;
  local uint* w = words + 3 * ((i * 7) & 63);
  out[2 * i] = b + c.xyyx;
  out[2 * i + 1] = d ^ (uint4)(w[0], w[1], w[2], 5);
}
struct record { char tag; short size; int value; double weight; uchar name[5]; };
KERNEL lds_structures(global double* out, global const int* x) {
  local struct record t[64];
  int i = item();
  t[i].tag = (char)x[i]; t[i].size = (short)(x[i] >> 3); t[i].value = x[i] * 5; t[i].weight = x[i] * 0.125;
  for (int k = 0; k < 5; k++) t[i].name[k] = (uchar)(x[i] >> k);
  barrier_all();
  struct record r = t[(i * 11 + 5) & 63];
  out[i] = r.tag + r.size * 2.0 + r.value + r.weight + r.name[i % 5];
}
// Neighbours at distances of 64 elements: the matter of ds_read2st64.
KERNEL lds_strides(global float* out, global const float* x) {
  local float t[64 * 8];
  local double d[64 * 4];
  int i = item();
  for (int k = 0; k < 8; k++) t[i + 64 * k] = x[i + 64 * k];
  for (int k = 0; k < 4; k++) d[i + 64 * k] = x[i * 4 + k] * 2.0;
  barrier_all();
  float sum = 0;
  for (int k = 0; k < 8; k += 2) sum += t[i + 64 * k] * t[i + 64 * (k + 1)];
  out[i] = sum + (float)(d[(63 - i) + 64] - d[(63 - i) + 128]) + (float)d[i ^ 1];
}
// Steps of a one-dimensional stencil between two buffers.
KERNEL lds_stencil(global float* out, global const float* x, int steps) {
  local float t[2][130];
  int i = item() + 1, at = 0;
  t[0][i] = x[group() * 128 + i - 1];
  if (i == 1) t[0][0] = t[0][129] = t[1][0] = t[1][129] = 0;
  barrier_all();
  for (int s = 0; s < steps; s++, at ^= 1) {
    t[at ^ 1][i] = 0.25f * t[at][i - 1] + 0.5f * t[at][i] + 0.25f * t[at][i + 1];
    barrier_all();
  }
  out[group() * 128 + i - 1] = t[at][i];
}
// All of a small device's LDS.
KERNEL lds_large(global uint* out) {
  local uint t[16128];
  int i = item();
  for (int k = i; k < 16128; k += 256) t[k] = k * 2654435761u;
  barrier_all();
  uint sum = 0;
  for (int k = 0; k < 63; k++) sum ^= t[16127 - (i + 256 * k)] >> (k & 7);
  out[i] = sum;
}
