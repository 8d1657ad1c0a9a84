#include "suite.h"

using namespace emu_suite;

namespace {

void scratch_arrays(Gpu& g) {
  const auto x = ints<i32>(300, 1);
  const int n = 300;
  int i = 0;
  rows<i32, 1>(g, [&](i32* o, i32) {
    std::vector<u32> slots(32, ~0u);
    size_t top = 0;
    for (int k = 0; k < 24; k++) {
      const u32 v = u32(x[size_t(i * 3 + k) % n]);
      if (v & 1) slots[top++] = v;
      else if (top) {
        slots[top - 1] ^= v;
        if (v & 2) top--;
      }
    }
    u32 sum = u32(top);
    for (int k = 0; k < 32; k++) sum = sum * 5 + slots[size_t(k + i) & 31];
    *o = i32(sum), i++;
  }, x);
}
void scratch_structures(Gpu& g) {
  const auto x = ints<i32>(200, 2);
  int i = 0;
  rows<i64, 1>(g, [&](i64* o, i32) {
    int left[12], right[12];
    i64 sum[12] = {};
    auto key = [&](int k) { return x[size_t(i + k * 17) % 200]; };
    for (int k = 0; k < 12; k++) {
      left[k] = right[k] = -1;
      int at = k ? 0 : -1;
      while (at >= 0) {
        sum[at] += key(k);
        int& next = key(k) < key(at) ? left[at] : right[at];
        if (next < 0) next = k, at = -1;
        else at = next;
      }
    }
    u64 r = 0;
    for (int k = 0; k < 12; k++) {
      const u8 tag[3] = {u8(k), u8(3 * k), u8(i)};
      r = r * 3 + u64(sum[k] + left[k] - 2 * right[k] + tag[k % 3]);
    }
    *o = i64(r), i++;
  }, x);
}
void large_frame(Gpu& g) {
  int n = 40;
  std::vector<u32> want;
  for (u32 i = 0; i < 128; i++) {
    auto t = [&](u32 k) { return k * k + i; };
    u32 sum = 0;
    for (u32 k = 0; k < u32(n); k++) sum = sum * 7 + t((sum ^ k) % 1500) + u16(t((sum + k) % 400 * 37 % 1500) >> 3);
    want.push_back(sum);
  }
  Buffer<u32> out(128);
  g.run({2}, {64}, out, n);
  expect(out.get(), want);
}
void scratch_bytes(Gpu& g) {
  const auto x = ints<u8>(100, 3);
  int i = 0;
  rows<u32, 1>(g, [&](u32* o, u8) {
    std::vector<u8> b;
    for (int k = 0; k < 40; k++) b.push_back(x[size_t(i + k) % 100]);
    std::sort(b.begin(), b.end());
    u64 sum = 0;
    for (int k = 0; k < 26; k++) {
      const size_t at = size_t(k * 5 + i) % 26;
      auto read = [&](size_t from, size_t bytes) {
        u64 r = 0;
        for (size_t j = 0; j < bytes; j++) r |= u64(b[at + from + j]) << (8 * j);
        return r;
      };
      sum = sum * 3 + read(0, 2) + read(2, 4) + read(6, 8);
    }
    *o = u32(sum ^ (sum >> 32)), i++;
  }, x);
}
void generic_pointers(Gpu& g) {
  const auto x = ints<i32>(64, 4);
  std::vector<i32> want;
  for (int i = 0; i < 64; i++) {
    u32 s = 0;
    for (int k = 0; k < 4; k++) {
      const u32 shared = i + k < 64 ? u32(x[size_t(i + k)]) * 2 : u32(i + k - 64), own = u32(x[size_t(i + k) & 63]) - u32(i), global = u32(x[size_t((i & 31) + k)]);
      s = s * 3 + (i % 3 == 0 ? shared : i % 3 == 1 ? own : global);
    }
    want.push_back(i32(s)), want.push_back(1 + 4 * 2 + 64 * (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 0)), want.push_back(i * 11);
  }
  Buffer<i32> out(192);
  g.run({1}, {64}, out, Buffer<i32>(x));
  expect(out.get(), want, 3);
}
void unaligned_copies(Gpu& g) {
  int n = 90;
  const auto x = ints<u8>(size_t(n * 41 + 64), 5);
  std::vector<u8> want(size_t(n * 41));
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 41; k++) {
      const size_t from = size_t(i * 41 + (i & 7) + k + (k >= 13) + (k >= 29));
      want[size_t(i * 41 + k)] = k < 29 + i % 12 ? x[from] : 0xee;
    }
  Buffer<u8> out(want.size());
  g.run({2}, {64}, out, Buffer<u8>(x), n);
  expect(out.get(), want, 41);
}
void volatile_and_nontemporal(Gpu& g) {
  int n = 200;
  const auto x = ints<u32>(200, 6);
  std::vector<u32> want(500);
  for (size_t i = 0; i < 200; i++) {
    want[i] = (x[i] + 5) * 3, want[200 + i] = x[i] ^ want[i];
    const u32 byte = x[i / 4] >> (8 * (i & 3)) & 0xff;
    want[400 + i / 2] |= (byte * 257 & 0xffff) << (16 * (i & 1));
  }
  Buffer<u32> out(500);
  g.run({4}, {64}, out, Buffer<u32>(x), n);
  expect(out.get(), want);
}
template <class T>
std::vector<T> reversed_sums(const std::vector<T>& x) {
  std::vector<T> want;
  for (size_t n : {2, 4, 8, 16})
    for (size_t i = 0; i < 64; i++)
      for (size_t k = 0; k < n; k++) want.push_back(T(x[i * n + k] + T(x[i * n + n - 1 - k] + T(k))));
  return want;
}
void vectors(Gpu& g) {
  const auto b = ints<u8>(1024, 7);
  const auto h = ints<u16>(1024, 8);
  const auto w = ints<u32>(1024, 9);
  const auto d = ints<u64>(1024, 10);
  Buffer<u8> ob(1920);
  Buffer<u16> oh(1920);
  Buffer<u32> ow(1920);
  Buffer<u64> od(1920);
  g.run({1}, {64}, ob, oh, ow, od, Buffer<u8>(b), Buffer<u16>(h), Buffer<u32>(w), Buffer<u64>(d));
  expect(ob.get(), reversed_sums(b)), expect(oh.get(), reversed_sums(h)), expect(ow.get(), reversed_sums(w)), expect(od.get(), reversed_sums(d));
}
void vector_elements(Gpu& g) {
  const auto x = ints<u32>(512, 11);
  for (const int which : {0, 2, 7}) {
    std::vector<u32> want;
    for (size_t i = 0; i < 64; i++) {
      std::vector<u32> v(x.begin() + long(8 * i), x.begin() + long(8 * i) + 8);
      v[size_t(which)] += 5, v[i % 8] ^= 0xffff;
      want.push_back(v[size_t(which + 3) % 8] + v[i / 8] * 3);
    }
    Buffer<u32> out(64);
    g.run({1}, {64}, out, Buffer<u32>(x), which);
    expect(out.get(), want);
  }
}
void global_variables(Gpu& g) {
  const u32 primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  const std::string words[4] = {"one", "two", "three", "four"};
  int n = 100;
  std::vector<u32> want;
  for (u32 i = 0; i < 100; i++) {
    const std::string& w = words[i % 4];
    want.push_back(primes[i % 16] * 1000 + 7 + u32(w.size()) * 100 + u32(w[i % w.size()]) + (i % 2 ? 30 : 20));
  }
  Buffer<u32> out(100);
  g.run({2}, {64}, out, n);
  expect(out.get(), want);
}
void memory_functions(Gpu& g) {
  const auto x = ints<u32>(150, 12);
  u32 i = 0;
  rows<u32, 1>(g, [&](u32* o, u32) {
    auto a = [&](u32 k) { return k < 12 ? x[i % 130 + k] : 0x5a5a5a5a; };
    u32 sum = 0x5a5a5a5a;
    for (u32 k = 0; k < 20; k++) sum = sum * 3 + a(k >= 2 && k < 12 ? k - 2 : k) - a((k + i) % 20);
    *o = sum ^ 0x5a5a5a5a, i++;
  }, x);
}

}  // namespace

TEST_CASE("suite: memory", "[suite]") {
  run_theme("memory.hip", "", {
    {"scratch_arrays", scratch_arrays}, {"scratch_structures", scratch_structures}, {"large_frame", large_frame}, {"scratch_bytes", scratch_bytes}, {"generic_pointers", generic_pointers},
    {"unaligned_copies", unaligned_copies}, {"volatile_and_nontemporal", volatile_and_nontemporal}, {"vectors", vectors}, {"vector_elements", vector_elements},
    {"global_variables", global_variables}, {"memory_functions", memory_functions},
  });
}
