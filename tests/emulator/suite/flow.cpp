#include "suite.h"

using namespace emu_suite;

namespace {

std::vector<i32> values(unsigned seed) { return ints<i32>(500, seed); }

void nested_ifs(Gpu& g) {
  rows<i32, 1>(g, [](i32* o, i32 v) {
    auto bit = [&](int k) { return v >> k & 1; };
    int r = 0;
    if (bit(0)) {
      if (bit(1)) r = (bit(2) ? 1 : 2) + 10 * bit(3);
      else r = bit(4) ? 3 : bit(5) ? 4 : bit(6) ? 5 : 6;
      r *= 3;
    } else if ((bit(1) && bit(2)) || (!bit(3) && !bit(4))) {
      r = bit(7) & bit(8) ? 7 : 8;
    }
    *o = r > 5 && r < 20 ? r - 100 : r;
  }, values(1));
}
void lane_loops(Gpu& g) {
  rows<i32, 1>(g, [](i32* o, i32 v) {
    int sum = 0;
    for (int a = 0; a < v % 16 + (v % 16 < 0 ? 16 : 0); a++)
      for (int b = a; b < (v >> 4 & 7); b++) sum += a * b + 1;
    for (int k = 0; k < 20; k += (v & 3) + 1) sum ^= k * 5;
    while (sum > 50) sum = sum / 2 - (v & 1);
    *o = sum;
  }, values(2));
}
void breaks(Gpu& g) {
  rows<i32, 1>(g, [](i32* o, i32 v) {
    int r = 0;
    bool left = false;
    for (int a = 0; a <= std::min(19, v >> 3 & 15) && !left; a++) {
      if (a == (v & 7)) continue;
      for (int b = 0; b * a <= 40 && b <= 6 && !left; b++)
        if (((b ^ v) & 1) == 0) {
          left = b == 5 && (v & 64);
          if (!left) r += a + b;
        }
    }
    *o = left ? r : r + 1000;
  }, values(3));
}
void switches(Gpu& g) {
  auto x = values(4);
  const i32 tops[] = {0x1200, 0x7f00, 0xff00, 0};
  for (size_t k = 0; k < x.size(); k += 2) x[k] = (x[k] & ~0xff00) | tops[k / 2 % 4];
  rows<i32, 1>(g, [](i32* o, i32 v) {
    const int c = v & 15, high = v & 0xff00;
    if (c == 9) {
      *o = 77;
      return;
    }
    const int k = v >> 4 & 7;
    u32 r = c == 0 ? 1 : c == 1 ? u32(v >> 4) : c == 2 ? 5 + u32(v & 255) : c == 3 ? u32(v & 255) : c <= 6 ? 0 - u32(v) : c == 7 ? u32(k * (k - 1) / 2) : c == 12 ? u32(v) * u32(v) : ~u32(v);
    r ^= high == 0x1200 ? 1 : high == 0x7f00 ? 2 : high == 0xff00 ? 4 : high == 0 ? 8 : 0;
    *o = i32(r);
  }, x);
}
void early_exits(Gpu& g) {
  rows<i32, 1>(g, [](i32* o, i32 v) {
    *o = v ? 99 : -1;
    for (int k = 0; k < 32; k++)
      if (v >> k & 1 && (k % 2 || k > 6)) {
        *o = k % 2 ? k : -1;
        return;
      }
  }, values(5));
}
void collatz(Gpu& g) {
  auto x = ints<u32>(200, 6);
  for (auto& v : x) v = v % 100000 + 1;
  rows<u32, 1>(g, [](u32* o, u32 v) {
    *o = 0;
    for (u64 k = v; k != 1; ++*o) k = k % 2 ? 3 * k + 1 : k / 2;
  }, x);
}
void short_circuits(Gpu& g) {
  const auto x = values(7);
  const int n = int(x.size());
  int i = 0;
  rows<i32, 1>(g, [&](i32* o, i32 v) {
    const int k = 3 * i;
    const bool inside = k < n;
    int r = 0;
    if (inside && x[size_t(k)] > 0 && !(k + 1 < n && x[size_t(k + 1)] == 7)) r += 1;
    if (!inside || x[size_t(k)] < 0 || v % 2) r += 2;
    *o = r | (i == n - 1 ? 8 : x[size_t(i + 1)] & 4);
    i++;
  }, x);
}
void uniform_branches(Gpu& g) {
  const auto x = values(8);
  int n = int(x.size());
  for (int mode = 0; mode < 4; mode++) {
    std::vector<i32> want;
    for (const i32 v : x) {
      u32 r = v > 0 ? (mode == 1 ? u32(v) * 3 : mode == 2 ? u32(v) - 5 : u32(v)) : mode % 2 ? 0 - u32(v) : 0;
      for (int k = 0; k < mode * 4; k++) r = r * 5 + u32(v >> k & 1);
      want.push_back(i32(r));
    }
    Buffer<i32> out(x.size());
    g.run({blocks(n)}, {64}, out, Buffer<i32>(x), n, mode);
    expect(out.get(), want);
  }
}

int second(int v) { return (v + 1) / 3 * 2 + (v - 1) / 3; }
int first(int v) { return second(v + (v & 3)) + second(v); }
void calls(Gpu& g) {
  rows<i32, 4>(g, [](i32* o, i32 x) {
    const int v = x & 0xffff;
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += (k + 1) * (v + k);
    o[0] = sum + v * 8 + v / 4 + i16(v) + i8(v);
    o[1] = int(f32(v) + f32(v * 2) + f32(v) * 0.5f + f32((v & 7) * 2));
    o[2] = (v & 255) * (v & 255);
    o[3] = v & 1 ? first(v) : second(v);
  }, values(9));
}
void function_pointers(Gpu& g) {
  const auto x = values(10);
  int n = int(x.size());
  for (int which = 0; which < 3; which++) {
    std::vector<i32> want;
    auto apply = [](int op, int a, int b) { return op == 0 ? a + b : op == 1 ? a * b : first(a & 0xff) ^ b; };
    for (const i32 y : x) {
      const int v = y & 0xfff;
      want.push_back(apply(which, v, 7) * 3 + apply(v & 1 ? 0 : v & 2 ? 1 : 2, v, 9));
    }
    Buffer<i32> out(x.size());
    g.run({blocks(n)}, {64}, out, Buffer<i32>(x), n, which);
    expect(out.get(), want);
  }
}
void divergent_calls(Gpu& g) {
  rows<u32, 1>(g, [](u32* o, u32 v) {
    auto mix = [](u32 a, u32 rounds) {
      for (u32 k = 0; k < rounds; k++) a = (a ^ (a >> 15)) * 0x2c1b3c6du + k;
      return a;
    };
    u32 r = v & 1 ? mix(v, v & 7) : v & 2 ? mix(v + 1, 3) + mix(v, 1) : 0;
    for (u32 k = 0; k < (v >> 2 & 3); k++) r = mix(r, k) ^ v;
    *o = r;
  }, ints<u32>(300, 11));
}

}  // namespace

TEST_CASE("suite: control flow", "[suite]") {
  run_theme("flow.hip", "", {
    {"nested_ifs", nested_ifs}, {"lane_loops", lane_loops}, {"breaks", breaks}, {"switches", switches}, {"early_exits", early_exits}, {"collatz", collatz},
    {"short_circuits", short_circuits}, {"uniform_branches", uniform_branches}, {"calls", calls}, {"function_pointers", function_pointers}, {"divergent_calls", divergent_calls},
  });
}
