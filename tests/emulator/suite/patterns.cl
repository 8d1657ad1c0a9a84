// Work-groups that cooperate through LDS and barriers.

KERNEL histogram(global uint* out, global const uchar* x, int n) {
  local uint bins[256];
  int i = item();
  bins[i] = 0;
  barrier_all();
  for (int k = group() * 256 + i; k < n; k += 1024) __hip_atomic_fetch_add(bins + x[k], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier_all();
  if (bins[i]) __hip_atomic_fetch_add(out + i, bins[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
// 5-point stencil of a tile with its halo.
KERNEL stencil_2d(global float* out, global const float* x, int w, int h) {
  local float t[18][18];
  int tx = __builtin_amdgcn_workitem_id_x(), ty = __builtin_amdgcn_workitem_id_y(), i = ty * 16 + tx;
  int x0 = __builtin_amdgcn_workgroup_id_x() * 16 - 1, y0 = __builtin_amdgcn_workgroup_id_y() * 16 - 1;
  for (int k = i; k < 18 * 18; k += 256) {
    int c = x0 + k % 18, r = y0 + k / 18;
    t[k / 18][k % 18] = c >= 0 && c < w && r >= 0 && r < h ? x[r * w + c] : 0.0f;
  }
  barrier_all();
  int c = x0 + 1 + tx, r = y0 + 1 + ty;
  if (c < w && r < h) out[r * w + c] = 4.0f * t[ty + 1][tx + 1] - t[ty][tx + 1] - t[ty + 2][tx + 1] - t[ty + 1][tx] - t[ty + 1][tx + 2];
}
// Each work-item of 8x8 makes 2x2 results of a 16x16 tile.
KERNEL matmul(global float* c, global const float* a, global const float* b, int m, int n, int k) {
  local float ta[16][20], tb[16][20];
  int tx = __builtin_amdgcn_workitem_id_x(), ty = __builtin_amdgcn_workitem_id_y();
  int row = __builtin_amdgcn_workgroup_id_y() * 16, column = __builtin_amdgcn_workgroup_id_x() * 16;
  float s[2][2] = {{0, 0}, {0, 0}};
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int e = ty * 8 + tx; e < 256; e += 64) {
      int r = e / 16, q = e % 16;
      ta[r][q] = row + r < m && k0 + q < k ? a[(row + r) * k + k0 + q] : 0.0f;
      tb[r][q] = k0 + r < k && column + q < n ? b[(k0 + r) * n + column + q] : 0.0f;
    }
    barrier_all();
    for (int q = 0; q < 16; q++)
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) s[i][j] = __builtin_fmaf(ta[ty * 2 + i][q], tb[q][tx * 2 + j], s[i][j]);
    barrier_all();
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      if (row + ty * 2 + i < m && column + tx * 2 + j < n) c[(row + ty * 2 + i) * n + column + tx * 2 + j] = s[i][j];
}
KERNEL bitonic_sort(global uint* out, global const uint* x) {
  local uint t[512];
  int i = item(), base = group() * 512;
  t[i] = x[base + i]; t[i + 256] = x[base + i + 256];
  for (int size = 2; size <= 512; size *= 2)
    for (int step = size / 2; step; step /= 2) {
      barrier_all();
      int low = 2 * step * (i / step) + i % step;
      uint a = t[low], b = t[low + step];
      if ((a > b) == ((low & size) == 0)) { t[low] = b; t[low + step] = a; }
    }
  barrier_all();
  out[base + i] = t[i]; out[base + i + 256] = t[i + 256];
}
// Work-efficient scan, exclusive.
static uint scan(local uint* t, int i, int n) {
  int offset = 1;
  for (int d = n / 2; d > 0; d /= 2, offset *= 2) {
    barrier_all();
    if (i < d) t[offset * (2 * i + 2) - 1] += t[offset * (2 * i + 1) - 1];
  }
  barrier_all();
  uint total = t[n - 1];
  barrier_all();
  if (i == 0) t[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset /= 2;
    barrier_all();
    if (i < d) {
      int a = offset * (2 * i + 1) - 1, b = offset * (2 * i + 2) - 1;
      uint v = t[a];
      t[a] = t[b];
      t[b] += v;
    }
  }
  barrier_all();
  return total;
}
KERNEL prefix_sum(global uint* out, global uint* totals, global const uint* x) {
  local uint t[256];
  int i = item(), at = group() * 256 + i;
  t[i] = x[at];
  uint total = scan(t, i, 256);
  out[at] = t[i];
  if (i == 0) totals[group()] = total;
}
// Keeps the odd elements of each block of 256, in order.
KERNEL compaction(global uint* out, global uint* counts, global const uint* x) {
  local uint t[256];
  int i = item(), base = group() * 256;
  uint v = x[base + i];
  t[i] = v & 1;
  uint total = scan(t, i, 256);
  if (v & 1) out[base + t[i]] = v;
  if (i == 0) counts[group()] = total;
  if (i >= total) out[base + i] = 0;
}
KERNEL tree_reduction(global double* out, global const double* x) {
  local double t[256];
  int i = item();
  double a = x[group() * 512 + i], b = x[group() * 512 + 256 + i];
  t[i] = a + b;
  for (int d = 128; d; d /= 2) {
    barrier_all();
    if (i < d) t[i] += t[i + d];
  }
  if (i == 0) out[group()] = t[0];
}
// Shortest paths of all pairs of 16 nodes; one work-item each.
KERNEL shortest_paths(global int* out, global const int* weights) {
  local int d[16][17];
  int i = item() >> 4, j = item() & 15;
  d[i][j] = weights[item()];
  for (int k = 0; k < 16; k++) {
    barrier_all();
    int through = d[i][k] + d[k][j], now = d[i][j];
    barrier_all();
    d[i][j] = now < through ? now : through;
  }
  out[item()] = d[i][j];
}
// Edit distance by anti-diagonals: a wave front over three rows of LDS.
KERNEL edit_distance(global int* out, global const uchar* a, global const uchar* b, int n, int m) {
  local int d[3][129];
  int i = item();
  for (int s = 0; s <= n + m; s++) {
    local int *now = d[s % 3], *last = d[(s + 2) % 3], *before = d[(s + 1) % 3];
    for (int r = i; r <= n; r += 64) {
      int c = s - r;
      if (c < 0 || c > m) continue;
      int best = r == 0 ? c : r;
      if (r && c) {
        best = before[r - 1] + (a[r - 1] != b[c - 1]);
        if (last[r - 1] + 1 < best) best = last[r - 1] + 1;
        if (last[r] + 1 < best) best = last[r] + 1;
      }
      now[r] = best;
    }
    barrier_all();
  }
  if (i == 0) *out = d[(n + m) % 3][n];
}
KERNEL life(global uchar* out, global const uchar* x, int w, int h, int steps) {
  local uchar t[2][32 * 32];
  int i = item();
  for (int k = i; k < w * h; k += 128) t[0][k] = x[k];
  barrier_all();
  for (int s = 0; s < steps; s++) {
    for (int k = i; k < w * h; k += 128) {
      int c = k % w, r = k / w, alive = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          if (dx | dy) alive += t[s & 1][(r + dy + h) % h * w + (c + dx + w) % w];
      t[~s & 1][k] = alive == 3 || (alive == 2 && t[s & 1][k]);
    }
    barrier_all();
  }
  for (int k = i; k < w * h; k += 128) out[k] = t[steps & 1][k];
}
