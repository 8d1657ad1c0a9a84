#include "suite.h"

using namespace emu_suite;

namespace {

// Runs on one full wave; `want(row, lane)` gives each result.
template <class T, class F, class... A>
void wave(Gpu& g, const std::vector<i32>& x, int rows, F want, A... args) {
  Buffer<T> out(std::vector<T>(size_t(rows) * 64, T(0)));
  g.run({1}, {g.lanes}, out, Buffer<i32>(x), args...);
  const auto all = out.get();
  std::vector<T> got, expected;
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < int(g.lanes); i++) got.push_back(all[size_t(r * 64 + i)]), expected.push_back(T(want(r, i)));
  expect(got, expected, g.lanes);
}
std::vector<i32> values(unsigned seed) { return ints<i32>(64, seed); }
bool gfx9(const Gpu& g) { return g.arch.compare(0, 4, "gfx9") == 0; }

void permutes(Gpu& g) {
  const auto x = values(1);
  const int n = int(g.lanes);
  wave<i32>(g, x, 7, [&](int r, int i) -> i32 {
    const u64 w = u64(i64(x[size_t((i ^ 3) % n)])) * 0x123456789ull;
    switch (r) {
      case 0: return i;
      case 1: return x[size_t((i * 7 + 3) % n)];
      case 2: return x[size_t(i ^ 5)];
      case 3: return x[9];
      case 4: return i32(w);
      case 5: return i32(w >> 32);
      default: return i & 1 ? x[size_t(i ^ 2)] : -1;
    }
  });
}
void swizzles(Gpu& g) {
  const auto x = values(2);
  wave<i32>(g, x, 6, [&](int r, int i) {
    const int half = i & 32, quad = i & ~3, k = i & 31;
    const int reversed_quad[4] = {3, 2, 1, 0}, mixed_quad[4] = {0, 2, 1, 3};
    const int from[6] = {half | (k ^ 1), half | (k ^ 16), half | ((k & 16) | 3), half | (31 - k), quad | reversed_quad[i & 3], quad | mixed_quad[i & 3]};
    return x[size_t(from[r])];
  });
}

// Where a DPP control reads from; -1 if nowhere (ISA document, "Data Parallel Processing").
int dpp_source(int ctrl, int i, int lanes) {
  const int row = i & ~15, k = i & 15, n = ctrl & 15;
  auto in_row = [&](int at) { return at >= 0 && at < 16 ? row | at : -1; };
  if (ctrl < 0x100) return (i & ~3) | (ctrl >> (2 * (i & 3)) & 3);
  switch (ctrl & ~15) {
    case 0x100: return in_row(k + n);
    case 0x110: return in_row(k - n);
    case 0x120: return row | ((k - n) & 15);
    case 0x150: return row | n;
    case 0x160: return row | (k ^ n);
  }
  switch (ctrl) {
    case 0x130: return i + 1 < lanes ? i + 1 : -1;
    case 0x134: return (i + 1) % lanes;
    case 0x138: return i - 1;
    case 0x13c: return (i + lanes - 1) % lanes;
    case 0x140: return row | (15 - k);
    case 0x141: return (i & ~7) | (7 - (i & 7));
    case 0x142: return row - 1;
    default: return i >= 32 ? 31 : -1;
  }
}
struct Dpp { int ctrl, rows, banks; bool bound; };
i32 moved(const std::vector<i32>& x, Dpp d, int i, int lanes) {
  if (!(d.rows >> (i / 16) & 1) || !(d.banks >> (i / 4 % 4) & 1)) return -7;
  const int from = dpp_source(d.ctrl, i, lanes);
  return from >= 0 ? x[size_t(from)] : d.bound ? 0 : -7;
}
void dpp_rows(Gpu& g) {
  const auto x = values(3);
  const Dpp d[13] = {{0x1b, 15, 15, false}, {0xb1, 15, 15, false}, {0x101, 15, 15, false}, {0x105, 15, 15, true}, {0x111, 15, 15, false}, {0x118, 15, 15, true}, {0x121, 15, 15, false},
                     {0x12c, 15, 15, false}, {0x140, 15, 15, false}, {0x141, 15, 15, false}, {0x111, 5, 15, false}, {0x111, 15, 6, false}, {0x4e, 2, 3, true}};
  wave<i32>(g, x, 15, [&](int r, int i) {
    if (r < 13) return moved(x, d[r], i, int(g.lanes));
    if (r == 13) return i32(u32(x[size_t(i)]) + (i & 15 ? u32(x[size_t(i - 1)]) : 0));
    return (x[size_t(i ^ 1)] & 1023) * 2;
  });
}
void dpp_generations(Gpu& g) {
  const auto x = values(4);
  const Dpp old[6] = {{0x130, 15, 15, false}, {0x134, 15, 15, false}, {0x138, 15, 15, true}, {0x13c, 15, 15, false}, {0x142, 10, 15, false}, {0x143, 12, 15, false}};
  const Dpp late[4] = {{0x153, 15, 15, false}, {0x15f, 5, 15, false}, {0x161, 15, 15, false}, {0x16a, 15, 15, false}};
  const int eight[2][8] = {{7, 6, 5, 4, 3, 2, 1, 0}, {3, 3, 1, 0, 7, 2, 6, 6}};
  wave<i32>(g, x, 6, [&](int r, int i) {
    if (gfx9(g)) return moved(x, old[r], i, 64);
    return r < 4 ? moved(x, late[r], i, int(g.lanes)) : x[size_t((i & ~7) | eight[r - 4][i & 7])];
  });
}
void permlanes(Gpu& g) {
  const auto x = values(5);
  wave<i32>(g, x, 9, [&](int r, int i) -> i32 {
    const i32 v = x[size_t(i)];
    const int k = i & 15, other = (i & 32) | (16 - (i & 16));
    if (r >= 5) {
      if (g.arch != "gfx950") return v;
      // v_permlane32_swap trades the upper half of the first with the lower half of the second; 16: odd rows with even rows.
      const bool upper = r < 7 ? i & 32 : i & 16;
      const int step = r < 7 ? 32 : 16;
      if (r & 1) return upper ? ~x[size_t(i - step)] : v;
      return upper ? ~v : x[size_t(i + step)];
    }
    if (gfx9(g)) return v;
    switch (r) {
      case 0: return v;
      case 1: return x[size_t((i & ~15) | (k < 8 ? 7 - k : 15 - (k - 8)))];
      case 2: return x[size_t(other | (k < 8 ? 7 - k : 15 - (k - 8)))];
      case 3: return x[size_t(other | (k < 8 ? 0 : 1))];
      default: return g.arch == "gfx1030" || g.lanes == 32 ? v : x[size_t(i ^ 32)];
    }
  });
}
void read_lanes(Gpu& g) {
  const auto x = values(6);
  const int which = 11;
  std::vector<int> order;
  for (size_t i = 0; i < g.lanes; i++)
    if (std::find(order.begin(), order.end(), x[i] & 3) == order.end()) order.push_back(x[i] & 3);
  wave<i32>(g, x, 5, [&](int r, int i) -> i32 {
    switch (r) {
      case 0: return x[11];
      case 1: return i32(u32(x[0]) + 1);
      case 2: return i == 5 ? 33 : x[size_t(i)];
      case 3: return i >= 13 && (i & 3) == 2 ? x[14] : 0;
      default: return i32(std::find(order.begin(), order.end(), x[size_t(i)] & 3) - order.begin());
    }
  }, which);
}
void ballots(Gpu& g) {
  const auto x = values(7);
  auto ballot = [&](auto f) {
    u64 m = 0;
    for (size_t i = 0; i < g.lanes; i++) m |= u64(bool(f(x[i]))) << i;
    return m;
  };
  wave<u64>(g, x, 7, [&](int r, int i) -> u64 {
    const i32 v = x[size_t(i)];
    switch (r) {
      case 0: return ballot([](i32 a) { return a & 1; });
      case 1: return ballot([](i32) { return true; });
      case 2: return u64(__builtin_popcountll(ballot([](i32 a) { return a > 0; })));
      case 3: return v & 2 ? ballot([](i32 a) { return a & 2; }) : 0;
      case 4: return (v & 6) == 6 ? ballot([](i32 a) { return (a & 14) == 14; }) : 0;
      case 5: return u64(__builtin_popcountll(ballot([&](i32 a) { return (a & 16) == (v & 16); }) & ((u64(1) << i) - 1)));
      default: return 3;
    }
  });
}
void wave_reductions(Gpu& g) {
  auto x = values(8);
  for (auto& v : x) v %= 100000;
  i32 sum = 0, most = x[0];
  for (size_t i = 0; i < g.lanes; i++) sum += x[i], most = std::max(most, x[i]);
  wave<i32>(g, x, 5, [&](int r, int i) -> i32 {
    i32 prefix = 0, row = 0;
    for (int k = 0; k <= i; k++) prefix += x[size_t(k)], row += k >= (i & ~15) ? x[size_t(k)] : 0;
    const i32 results[5] = {sum, most, prefix, row, i32(sum * 0.5)};
    return results[r];
  });
}

}  // namespace

TEST_CASE("suite: lanes", "[suite]") {
  run_theme("lanes.hip", "", {
    {"permutes", permutes}, {"swizzles", swizzles}, {"dpp_rows", dpp_rows}, {"dpp_generations", dpp_generations}, {"permlanes", permlanes},
    {"read_lanes", read_lanes}, {"ballots", ballots}, {"wave_reductions", wave_reductions},
  });
}
