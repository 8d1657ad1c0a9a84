// Numerical programs. Without contraction every operation is IEEE's, so that the host's results are the same bits.

KERNEL mandelbrot(global int* out, int w, int h, int most) {
  int i = index();
  if (i >= w * h) return;
  double cx = (i % w) * 3.0 / w - 2.0, cy = (i / w) * 2.0 / h - 1.0, x = 0, y = 0;
  int k = 0;
  for (; k < most && x * x + y * y <= 4.0; k++) {
    double t = x * x - y * y + cx;
    y = 2.0 * x * y + cy;
    x = t;
  }
  out[i] = k;
}
// Forces of 64 bodies, which the group holds in LDS, and one step.
KERNEL n_body(global float4* out, global const float4* bodies, float dt) {
  local float4 t[64];
  int i = item();
  t[i] = bodies[i];
  barrier_all();
  float4 me = t[i];
  float ax = 0, ay = 0, az = 0;
  for (int k = 0; k < 64; k++) {
    float dx = t[k].x - me.x, dy = t[k].y - me.y, dz = t[k].z - me.z;
    float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
    float f = t[k].w / (d2 * __builtin_elementwise_sqrt(d2));
    ax += dx * f; ay += dy * f; az += dz * f;
  }
  out[i] = (float4)(me.x + ax * dt, me.y + ay * dt, me.z + az * dt, me.w);
}
// 128 points, decimation in time, twiddles from the host.
KERNEL fft(global double2* out, global const double2* x, global const double2* twiddles) {
  local double2 t[128];
  int i = item();
  for (int k = i; k < 128; k += 64) t[__builtin_bitreverse32(k) >> 25] = x[group() * 128 + k];
  for (int half_size = 1; half_size < 128; half_size *= 2) {
    barrier_all();
    int at = i / half_size * 2 * half_size + i % half_size;
    double2 w = twiddles[i % half_size * (64 / half_size)], a = t[at], b = t[at + half_size];
    double2 r = (double2)(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
    t[at] = a + r; t[at + half_size] = a - r;
  }
  barrier_all();
  for (int k = i; k < 128; k += 64) out[group() * 128 + k] = t[k];
}
// Solves 6x6 systems by elimination with pivots, each work-item its own, in private memory.
KERNEL solve(global double* out, global const double* x, int n) {
  int s = index();
  if (s >= n) return;
  double a[6][7];
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 7; c++) a[r][c] = x[(s * 6 + r) * 7 + c];
  for (int k = 0; k < 6; k++) {
    int p = k;
    for (int r = k + 1; r < 6; r++)
      if (__builtin_fabs(a[r][k]) > __builtin_fabs(a[p][k])) p = r;
    for (int c = 0; c < 7; c++) {
      double t = a[k][c];
      a[k][c] = a[p][c]; a[p][c] = t;
    }
    for (int r = k + 1; r < 6; r++) {
      double f = a[r][k] / a[k][k];
      for (int c = k; c < 7; c++) a[r][c] -= f * a[k][c];
    }
  }
  for (int k = 5; k >= 0; k--) {
    double v = a[k][6];
    for (int c = k + 1; c < 6; c++) v -= a[k][c] * a[c][6];
    a[k][6] = v / a[k][k];
  }
  for (int k = 0; k < 6; k++) out[s * 6 + k] = a[k][6];
}
// Sparse rows: one wave's lanes take the elements of a row in turns and add up in a tree.
KERNEL spmv(global float* out, global const int* starts, global const int* columns, global const float* values, global const float* x) {
  local float t[64];
  int row = group(), i = item();
  float s = 0;
  for (int k = starts[row] + i; k < starts[row + 1]; k += 64) s += values[k] * x[columns[k]];
  t[i] = s;
  for (int d = 32; d; d /= 2) {
    barrier_all();
    if (i < d) t[i] += t[i + d];
  }
  if (i == 0) out[row] = t[0];
}
// Rows of 128: mean and variance in f32, division and root as IEEE has them.
KERNEL layer_norm(global half* out, global const half* x, global const float* scale) {
  local float t[128];
  int i = item(), at = group() * 128 + i;
  float v = (float)x[at];
  t[i] = v;
  for (int d = 64; d; d /= 2) {
    barrier_all();
    if (i < d) t[i] += t[i + d];
  }
  barrier_all();
  float mean = t[0] / 128.0f, off = v - mean;
  barrier_all();
  t[i] = off * off;
  for (int d = 64; d; d /= 2) {
    barrier_all();
    if (i < d) t[i] += t[i + d];
  }
  barrier_all();
  out[at] = (half)(off / __builtin_elementwise_sqrt(t[0] / 128.0f + 1e-5f) * scale[i]);
}
KERNEL softmax(global float* out, global const float* x, int n) {
  local float t[64];
  int i = item(), base = group() * n;
  float most = -__builtin_inff();
  for (int k = i; k < n; k += 64) most = __builtin_fmaxf(most, x[base + k]);
  t[i] = most;
  for (int d = 32; d; d /= 2) {
    barrier_all();
    if (i < d) t[i] = __builtin_fmaxf(t[i], t[i + d]);
  }
  barrier_all();
  most = t[0];
  barrier_all();
  float sum = 0;
  for (int k = i; k < n; k += 64) sum += __builtin_elementwise_exp2((x[base + k] - most) * 1.44269504f);
  t[i] = sum;
  for (int d = 32; d; d /= 2) {
    barrier_all();
    if (i < d) t[i] += t[i + d];
  }
  barrier_all();
  for (int k = i; k < n; k += 64) out[base + k] = __builtin_elementwise_exp2((x[base + k] - most) * 1.44269504f) / t[0];
}
// Bytes by bytes into words, the matter of the dot products.
KERNEL quantized_matmul(global int* out, global const char* a, global const uchar* b, int n, int k) {
  int i = index();
  if (i >= n * n) return;
  int s = 0, u = 0;
  for (int q = 0; q < k; q += 4) {
    char4 p = *(global const char4*)(a + i / n * k + q);
    uchar4 r = *(global const uchar4*)(b + i % n * k + q);
    s += p.x * (char)r.x + p.y * (char)r.y + p.z * (char)r.z + p.w * (char)r.w;
    u += (uchar)p.x * r.x + (uchar)p.y * r.y + (uchar)p.z * r.z + (uchar)p.w * r.w;
  }
  out[i] = s * 3 + u;
}
// Polynomials by Horner's rule in every width, and Newton's root from a crude start.
KERNEL polynomials(global double* out, global const float* x, int n) {
  int i = index();
  if (i >= n) return;
  half h = (half)x[i], hs = 0;
  float f = x[i], fs = 0;
  double d = x[i], ds = 0, r = 1;
  for (int k = 9; k > 0; k--) {
    hs = hs * h + (half)k;
    fs = fs * f + 1.0f / k;
    ds = __builtin_fma(ds, d, 1.0 / (k * k));
  }
  for (int k = 0; k < 8; k++) r = 0.5 * (r + (d + 4) / r);
  out[4 * i] = hs; out[4 * i + 1] = fs; out[4 * i + 2] = ds; out[4 * i + 3] = r;
}
