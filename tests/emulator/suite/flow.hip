// Divergence, loops, calls: every shape of control flow that the compiler turns into masks.

KERNEL nested_ifs(int* out, const int* x, int n) {
  int i = index();
  if (i >= n) return;
  int v = x[i], r = 0;
  if (v & 1) {
    if (v & 2) {
      r = v & 4 ? 1 : 2;
      if (v & 8) r += 10;
    } else if (v & 16) {
      r = 3;
    } else {
      r = v & 32 ? 4 : v & 64 ? 5 : 6;
    }
    r *= 3;
  } else if ((v & 6) == 6 || (v & 24) == 0) {
    r = v & 128 && v & 256 ? 7 : 8;
  }
  if (r > 5 && r < 20) r -= 100;
  out[i] = r;
}
KERNEL lane_loops(int* out, const int* x, int n) {
  int i = index();
  if (i >= n) return;
  int v = x[i], sum = 0;
  for (int a = 0; a < (v & 15); a++)
    for (int b = a; b < (v >> 4 & 7); b++) sum += a * b + 1;
  int k = 0;
  do {
    sum ^= k * 5;
    k += (v & 3) + 1;
  } while (k < 20);
  while (sum > 50) sum = sum / 2 - (v & 1);
  out[i] = sum;
}
KERNEL breaks(int* out, const int* x, int n) {
  int i = index();
  if (i >= n) return;
  int v = x[i], r = 0;
  for (int a = 0; a < 20; a++) {
    if (a == (v & 7)) continue;
    if (a > (v >> 3 & 15)) break;
    for (int b = 0;; b++) {
      if (b * a > 40 || b > 6) break;
      if ((b ^ v) & 1) continue;
      if (b == 5 && (v & 64)) goto out_of_both;
      r += a + b;
    }
  }
  r += 1000;
out_of_both:
  out[i] = r;
}
KERNEL switches(int* out, const int* x, int n) {
  int i = index();
  if (i >= n) return;
  int v = x[i], r = 0;
  switch (v & 15) {
    case 0: r = 1; break;
    case 1: r = v >> 4; break;
    case 2: r = 5; [[fallthrough]];
    case 3: r += v & 255; break;
    case 4: case 5: case 6: r = -v; break;
    case 7: for (int k = 0; k < (v >> 4 & 7); k++) r += k; break;
    case 9: out[i] = 77; return;
    case 12: r = v * v; break;
    default: r = ~v;
  }
  switch (v & 0xff00) {
    case 0x1200: r ^= 1; break;
    case 0x7f00: r ^= 2; break;
    case 0xff00: r ^= 4; break;
    case 0: r ^= 8; break;
  }
  out[i] = r;
}
KERNEL early_exits(int* out, const int* x, int n) {
  int i = index();
  if (i >= n) return;
  out[i] = -1;
  int v = x[i];
  if (v == 0) return;
  for (int k = 0; k < 32; k++) {
    if (v >> k & 1) {
      if (k & 1) {
        out[i] = k;
        return;
      }
      if (k > 6) return;
    }
  }
  out[i] = 99;
}
KERNEL collatz(u32* out, const u32* x, int n) {
  int i = index();
  if (i >= n) return;
  u64 v = x[i];
  u32 steps = 0;
  for (; v != 1; steps++) v = v & 1 ? 3 * v + 1 : v >> 1;
  out[i] = steps;
}
// Short circuits must not read what they guard: x[k] exists for k < n alone.
KERNEL short_circuits(int* out, const int* x, int n) {
  int i = index();
  if (i >= n) return;
  int k = i * 3, r = 0;
  if (k < n && x[k] > 0 && (k + 1 >= n || x[k + 1] != 7)) r = 1;
  if (!(k < n) || x[k] < 0 || x[i] & 1) r |= 2;
  out[i] = r | (i + 1 < n ? x[i + 1] & 4 : 8);
}
// A branch on a uniform condition within a divergent region, and a loop whose exit is uniform.
KERNEL uniform_branches(int* out, const int* x, int n, int mode) {
  int i = index();
  if (i >= n) return;
  int v = x[i], r = 0;
  if (v > 0) {
    if (mode == 1) r = v * 3;
    else if (mode == 2) r = v - 5;
    else r = v;
  } else if (mode & 1) {
    r = -v;
  }
  for (int k = 0; k < mode * 4; k++) r = r * 5 + (v >> k & 1);
  out[i] = r;
}

// ---- calls -----------------------------------------------------------------------------------------------------------
struct quad { i64 a; int b; float c; };
NOINLINE DEVICE int add_many(int a, int b, int c, int d, int e, int f, int g, int h, i64 k, double l, short m, char o) { return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + (int)k + (int)l + m + o; }
NOINLINE DEVICE quad make_quad(int v) { return {(i64)v << 20, v * 2, v * 0.5f}; }
NOINLINE DEVICE float use_quad(quad q, const quad* p) { return (float)(q.a >> 20) + q.b + q.c + (float)p->b; }
NOINLINE DEVICE void write_back(int* where, int v) { *where = v * v; }
NOINLINE DEVICE int third(int v) { return v / 3; }
NOINLINE DEVICE int second(int v) { return third(v + 1) * 2 + third(v - 1); }
NOINLINE DEVICE int first(int v) {
  int local[4];
  for (int k = 0; k < 4; k++) local[k] = second(v + k);
  return local[v & 3] + local[0];
}
KERNEL calls(int* out, const int* x, int n) {
  int i = index();
  if (i >= n) return;
  int v = x[i] & 0xffff, squared;
  int* o = out + i * 4;
  o[0] = add_many(v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, (i64)v << 3, v * 0.25, (short)v, (char)v);
  quad q = make_quad(v), other = make_quad(v & 7);
  o[1] = (int)use_quad(q, &other);
  write_back(&squared, v & 255);
  o[2] = squared;
  o[3] = v & 1 ? first(v) : second(v);
}
// Pointers to functions, uniform and not.
typedef int (*operation)(int, int);
NOINLINE DEVICE int op_add(int a, int b) { return a + b; }
NOINLINE DEVICE int op_mul(int a, int b) { return a * b; }
NOINLINE DEVICE int op_xor(int a, int b) { return first(a & 0xff) ^ b; }
KERNEL function_pointers(int* out, const int* x, int n, int which) {
  int i = index();
  if (i >= n) return;
  operation uniform = which == 0 ? op_add : which == 1 ? op_mul : op_xor;
  int v = x[i] & 0xfff;
  operation own = v & 1 ? op_add : v & 2 ? op_mul : op_xor;
  out[i] = uniform(v, 7) * 3 + own(v, 9);
}
// Calls under divergence, in loops of lane-dependent length.
NOINLINE DEVICE u32 mix(u32 a, u32 rounds) {
  for (u32 k = 0; k < rounds; k++) a = (a ^ a >> 15) * 0x2c1b3c6du + k;
  return a;
}
KERNEL divergent_calls(u32* out, const u32* x, int n) {
  int i = index();
  if (i >= n) return;
  u32 v = x[i], r = 0;
  if (v & 1) r = mix(v, v & 7);
  else if (v & 2) r = mix(v + 1, 3) + mix(v, 1);
  for (u32 k = 0; k < (v >> 2 & 3); k++) r = mix(r, k) ^ v;
  out[i] = r;
}
