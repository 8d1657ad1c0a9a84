// The cases of public reports (cases/public-cases.md) that this slice can express, on three GPUs, against plain C++
// loops or values worked out by hand, and against the evaluator.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/compiler/harness.h"
#include "tests/error_message.h"

using namespace lathe;
using namespace lathe::test;

namespace {

template <class T>
HostArray array(const std::vector<T>& values, DType type = dtype_of<T>()) {
  return HostArray::from(values, {static_cast<int64_t>(values.size())}, type);
}

std::vector<float> floats(const HostArray& a) {
  const auto values = a.values<float>();
  return {values.begin(), values.end()};
}

const std::string bulk_and_tail = "schedule {\n  split C.i -> i0, i1 by 64, tail guard\n  bind C.i0 to block_x\n  bind C.i1 to thread_x\n}\n";

constexpr float inf = std::numeric_limits<float>::infinity();
const float nan_ = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("vector add at n = 0, 1, 63, 64, 65, 1000, 1000003 equals plain loops bit for bit") {
  const Program p = parse_program("function myadd<n>(A: f32[n], B: f32[n], out C)\nC[i: n] = A[i] + B[i]\n" + bulk_and_tail);
  std::map<std::string, Module> modules;
  for (const std::string& gpu : gpus) modules.emplace(gpu, build(p, gpu));
  for (int64_t n : {0, 1, 63, 64, 65, 1000, 1000003}) {
    const Arrays in = random_arrays(p, {{"n", n}}, 7, Values::fractions);
    std::vector<float> expected;
    for (int64_t i = 0; i < n; ++i) expected.push_back(in[0].values<float>()[i] + in[1].values<float>()[i]);
    CHECK(floats(by_evaluator(p, in)[2]) == expected);
    for (const std::string& gpu : gpus) {
      INFO(gpu << " n = " << n);
      CHECK(floats(by_gpu(modules.at(gpu), gpu, in)[2]) == expected);
    }
  }
}

TEST_CASE("S1: dense 1×K · K×10, batches 1 to 15, equals plain loops") {
  const Program p = parse_program(R"(
function dense<b>(X: f32[b, 37], W: f32[37, 10], out Y)
Y[i: b, j: 10] = sum[k: 37](X[i, k] * W[k, j])
schedule {
  fuse Y.i, Y.j -> f
  split Y.f -> f0, f1 by 32, tail guard
  bind Y.f0 to block_x
  bind Y.f1 to thread_x
  split Y.k -> k0, k1 by 8, tail guard
}
)");
  std::map<std::string, Module> modules;
  for (const std::string& gpu : gpus) modules.emplace(gpu, build(p, gpu));
  for (int64_t b = 1; b <= 15; ++b) {
    const Arrays in = random_arrays(p, {{"b", b}}, static_cast<uint64_t>(b), Values::fractions);
    std::vector<float> expected(static_cast<size_t>(b * 10), 0.0f);
    for (int64_t i = 0; i < b; ++i)
      for (int64_t j = 0; j < 10; ++j)
        for (int64_t k = 0; k < 37; ++k)
          expected[i * 10 + j] = std::fma(in[0].values<float>()[i * 37 + k], in[1].values<float>()[k * 10 + j], expected[i * 10 + j]);
    CHECK(floats(by_evaluator(p, in)[2]) == expected);
    for (const std::string& gpu : gpus) CHECK(floats(by_gpu(modules.at(gpu), gpu, in)[2]) == expected);
  }
}

TEST_CASE("S2: the maximum of 11 negative values over 32 and 64 work-items is the true one") {
  for (int lanes : {32, 64}) {
    // A partial maximum per work-item, then one of all: most work-items see no value at all.
    const std::string text = fmt::format(R"(
function most(A: f32[11], out C)
P[t: {0}] = max[k: 11](select(k % {0} == t, A[k], f32(-inf)))
C[i: 1] = max[t: {0}](P[t])
schedule {{
  bind P.t to thread_x
  split C.t -> t0, t1 by 8, tail guard
}}
)", lanes);
    const Program p = parse_program(text);
    Arrays in = random_arrays(p, {}, 1, Values::whole);
    in[0] = array<float>({-9, -3, -5, -7.5f, -2.25f, -8, -100, -4, -6, -11, -3});
    CHECK(floats(agree(p, {}, in)[1]) == std::vector<float>{-2.25f});
    // The same split by more than there is.
    const Program q = parse_program(fmt::format(
        "function most(A: f32[11], out C)\nC[i: 1] = max[k: 11](A[k])\nschedule {{\n  split C.k -> k0, k1 by {}, tail guard\n}}\n", lanes));
    CHECK(floats(agree(q, {}, in)[1]) == std::vector<float>{-2.25f});
  }
}

TEST_CASE("S3: a sum of runtime length n, split by 32 and staged in LDS, keeps its guards") {
  const Program p = parse_program(R"(
function total<n>(A: f32[n], out S)
S[i: 1] = sum[k: n](A[k])
schedule {
  cache_read A -> AS in shared for S
  split S.k -> k0, k1 by 32, tail guard
  compute_at AS at S.k0
  bind AS.ax0 to thread_x
}
)");
  for (int64_t n : {0, 1, 31, 32, 33, 1000}) {
    const Arrays in = random_arrays(p, {{"n", n}}, 3, Values::fractions);
    float expected = 0;
    for (float a : in[0].values<float>()) expected += a;
    CHECK(floats(agree(p, {{"n", n}}, in)[1]) == std::vector<float>{expected});
  }
}

TEST_CASE("S4: 17 split by 4, symbolic n split by 64: the bulk is unguarded, the tail right") {
  agree("function f(A: f32[17], out C)\nC[i: 17] = A[i] + 1.0\nschedule {\n  split C.i -> i0, i1 by 4, tail guard\n}\n");
  const Program p = parse_program("function f<n>(A: f32[n], out C)\nC[i: n] = A[i] + 1.0\n" + bulk_and_tail);
  for (int64_t n : {0, 1, 63, 64, 65, 127, 128}) agree(p, {{"n", n}}, random_arrays(p, {{"n", n}}, 3, Values::fractions));
}

TEST_CASE("S5: extent 2 split by 4, split by 1, split by more than the extent") {
  for (int extent : {1, 2, 3, 5})
    for (int factor : {1, 2, 4, 7, 64, 2147483647})
      for (const char* step : {"split C.i -> i0, i1 by {}, tail guard", "split_parts C.i -> i0, i1 into {}, tail guard"}) {
        if (factor > 64 && std::string_view(step).starts_with("split_parts")) continue;
        if (factor > 64 && extent > 2) continue;
        if (factor > 64) continue;
        agree(fmt::format("function f(A: f32[{0}], out C)\nC[i: {0}] = A[{0} - 1 - i] * 2.0\nschedule {{\n  {1}\n  bind C.i1 to {2}\n}}\n", extent,
                          fmt::format(fmt::runtime(step), factor), factor > 1000 ? "block_x" : "thread_x"));
      }
}

TEST_CASE("S6: a 3×3 stencil with 8×8 tiles in LDS stages exactly 10×10 elements") {
  const std::string text = R"(
function blur(A: f32[30, 30], out C)
C[i: 28, j: 28] = sum[p: 3, q: 3](A[i + p, j + q])
schedule {
  tile C.i, C.j -> i0, j0, i1, j1 by 8, 8, tail guard
  bind C.i0 to block_y
  bind C.j0 to block_x
  bind C.i1 to thread_y
  bind C.j1 to thread_x
  cache_read A -> AS in shared for C
  compute_at AS at C.j0
  fuse AS.ax0, AS.ax1 -> f
  split AS.f -> f0, f1 by 64, tail guard
  split AS.f1 -> ty, tx by 8, tail guard
  bind AS.ty to thread_y
  bind AS.tx to thread_x
}
)";
  const Program p = parse_program(text);
  const Arrays in = random_arrays(p, {}, 5, Values::fractions), out = agree(p, {}, in);
  for (const std::string& gpu : gpus) CHECK(build(p, gpu).info().kernels.at(0).group_segment_fixed_size == 10 * 10 * 4);
  for (int64_t i = 0; i < 28; ++i)
    for (int64_t j = 0; j < 28; ++j) {
      float expected = 0;
      for (int64_t d = 0; d < 9; ++d) expected += in[0].values<float>()[(i + d / 3) * 30 + j + d % 3];
      REQUIRE(out[1].values<float>()[i * 28 + j] == expected);
    }
}

TEST_CASE("S8: an axis bound to thread_x used as an i64 value and in a product beyond 32 bits") {
  const Program p = parse_program(R"(
function f(A: i64[128], out C)
C[i: 128] = A[i] * i + (i - 64) * 100000000000
schedule {
  split C.i -> i0, i1 by 64, tail guard
  bind C.i0 to block_x
  bind C.i1 to thread_x
}
)");
  const Arrays in = random_arrays(p, {}, 5, Values::whole), out = agree(p, {}, in);
  for (int64_t i = 0; i < 128; ++i)
    REQUIRE(out[1].values<int64_t>()[i] == in[0].values<int64_t>()[i] * i + (i - 64) * 100000000000);
}

TEST_CASE("S9: argmax over many ties gives the lowest index, whatever the wave size") {
  const Program p = parse_program(R"(
function f(A: i32[70, 129], out I, out V)
(I, V)[i: 70] = (argmax[k: 129](k, A[i, k]), argmax[k: 129](k, A[i, k]).1)
schedule {
  split I.i -> i0, i1 by 32, tail guard
  bind I.i0 to block_x
  bind I.i1 to thread_x
  split I.k -> k0, k1 by 16, tail guard
  reorder I.k1, I.k0
}
)");
  Arrays in = random_arrays(p, {}, 5, Values::whole);
  for (int32_t& a : in[0].values<int32_t>()) a &= 7;
  const Arrays out = agree(p, {}, in);
  for (int64_t i = 0; i < 70; ++i) {
    int64_t best = 0;
    for (int64_t k = 1; k < 129; ++k)
      if (in[0].values<int32_t>()[i * 129 + k] > in[0].values<int32_t>()[i * 129 + best]) best = k;
    REQUIRE(out[1].values<int64_t>()[i] == best);
  }
}

TEST_CASE("I4: an extent of zero anywhere succeeds; a reduction over nothing gives the identity") {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{0, 5, 3}, {5, 0, 3}, {0, 0, 0}, {5, 4, 0}}) {
    const Program p = parse_program(R"(
function f<m, n, k>(A: f32[m, k], B: f32[k, n], out C, out M, out P)
C[i: m, j: n] = sum[p: k](A[i, p] * B[p, j])
M[i: m, j: n] = max[p: k](A[i, p])
P[i: m, j: n] = product[p: k](A[i, p])
schedule {
  tile C.i, C.j -> i0, j0, i1, j1 by 4, 4, tail guard
  bind C.i0 to block_y
  bind C.j0 to block_x
  bind C.i1 to thread_y
  bind C.j1 to thread_x
  fuse M.i, M.j -> f
  split M.f -> f0, f1 by 8, tail guard
  bind M.f0 to block_x
  bind M.f1 to thread_x
}
)");
    const Arrays out = agree(p, {{"m", m}, {"n", n}, {"k", k}}, random_arrays(p, {{"m", m}, {"n", n}, {"k", k}}, 1, Values::whole));
    if (k == 0 && m > 0) {
      CHECK(floats(out[2]) == std::vector<float>(static_cast<size_t>(m * n), 0.0f));
      CHECK(floats(out[3]) == std::vector<float>(static_cast<size_t>(m * n), -inf));
      CHECK(floats(out[4]) == std::vector<float>(static_cast<size_t>(m * n), 1.0f));
    }
  }
  // Constants of zero.
  agree("function f(A: f32[0], out C)\nC[i: 0] = A[i] + 1.0\nschedule {\n  bind C.i to thread_x\n}\n");
  agree("function f(A: f32[3, 0], out C)\nC[i: 3, j: 0] = A[i, j]\nschedule {\n  fuse C.i, C.j -> f\n  split C.f -> a, b by 4, tail guard\n}\n");
  const Arrays out = agree("function f(A: f32[3, 0], out C)\nC[i: 3] = sum[k: 0](A[i, k])\nschedule {\n  split C.k -> a, b by 4, tail guard\n}\n");
  CHECK(floats(out[1]) == std::vector<float>(3, 0.0f));
}

TEST_CASE("N3: max, min, relu and argmax with NaN, infinities and signed zeros") {
  const Program p = parse_program(R"(
function f<n>(A: f32[n], B: f32[n], out C, out D, out R, out E, out F)
C[i: n] = max(A[i], B[i])
D[i: n] = min(A[i], B[i])
R[i: n] = max(A[i], 0.0)
E[i: n] = fmax(A[i], B[i])
F[i: n] = fmin(A[i], B[i])
)");
  const std::vector<float> special = {nan_, inf, -inf, 0.0f, -0.0f, 1.0f, -1.0f};
  std::vector<float> a, b;
  for (float x : special)
    for (float y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  const int64_t n = static_cast<int64_t>(a.size());
  Arrays in = random_arrays(p, {{"n", n}}, 1, Values::whole);
  in[0] = array(a);
  in[1] = array(b);
  const Arrays out = agree(p, {{"n", n}}, in);
  for (int64_t i = 0; i < n; ++i) {
    const float x = a[i], y = b[i], most = out[2].values<float>()[i], least = out[3].values<float>()[i];
    INFO(x << " " << y);
    if (std::isnan(x) || std::isnan(y)) {
      CHECK(std::isnan(most));
      CHECK(std::isnan(least));
      const float other = std::isnan(x) ? y : x;
      CHECK((std::isnan(other) ? std::isnan(out[5].values<float>()[i]) : out[5].values<float>()[i] == other));
      CHECK((std::isnan(other) ? std::isnan(out[6].values<float>()[i]) : out[6].values<float>()[i] == other));
    } else {
      CHECK(most == std::max(x, y));
      CHECK(least == std::min(x, y));
    }
    CHECK(std::isnan(out[4].values<float>()[i]) == std::isnan(x));
  }
  // Reductions: NaN wins a maximum, and the first NaN an argmax.
  const Program q = parse_program(R"(
function f(A: f32[4, 6], out M, out I)
M[i: 4] = max[k: 6](A[i, k])
I[i: 4] = argmax[k: 6](k, A[i, k])
schedule {
  bind M.i to thread_x
  bind I.i to thread_x
}
)");
  Arrays rows = random_arrays(q, {}, 1, Values::whole);
  rows[0] = HostArray::from<float>({1, nan_, 3, nan_, 2, 0,        //
                                    -inf, -inf, -inf, -inf, -inf, -inf,  //
                                    -0.0f, 0.0f, -1, 0, -0.0f, -3,  //
                                    5, inf, 7, inf, -inf, 0}, {4, 6});
  const Arrays reduced = agree(q, {}, rows);
  CHECK(std::isnan(reduced[1].values<float>()[0]));
  CHECK(reduced[1].values<float>()[1] == -inf);
  CHECK(reduced[1].values<float>()[3] == inf);
  const auto index = reduced[2].values<int64_t>();
  CHECK(std::vector<int64_t>(index.begin(), index.end()) == std::vector<int64_t>{1, 0, 0, 1});
}

TEST_CASE("N4: 70,000 f16 ones are summed in f32") {
  const Program p = parse_program(R"(
function f<n>(A: f16[n], out S, out T)
S[i: 1] = f32(sum[k: n](A[k]))
T[i: 1] = sum[k: n](f32(A[k]))
)");
  Arrays in = random_arrays(p, {{"n", 70000}}, 1, Values::whole);
  in[0] = array(std::vector<uint16_t>(70000, 0x3c00), f16);
  const Module m = build(p, "gfx942");
  for (const Arrays& out : {by_evaluator(p, in), by_gpu(m, "gfx942", in)}) {
    CHECK(out[1].value(0) == inf);    // 70000 does not fit f16: rounded once, at the end
    CHECK(out[2].value(0) == 70000);
  }
}

TEST_CASE("N5: round of 0.5, 1.5, 2.5, -0.5 is half to even, as a constant and on the device") {
  const Program p = parse_program(R"(
function f(A: f32[4], out C, out D)
C[i: 4] = round(A[i])
D[i: 4] = select(i == 0, round(0.5), select(i == 1, round(1.5), select(i == 2, round(2.5), round(-0.5))))
)");
  Arrays in = random_arrays(p, {}, 1, Values::whole);
  in[0] = array<float>({0.5f, 1.5f, 2.5f, -0.5f});
  const Arrays out = agree(p, {}, in);
  for (int o : {1, 2}) {
    CHECK(floats(out[o]) == std::vector<float>{0, 2, 2, -0.0f});
    CHECK(std::signbit(out[o].values<float>()[3]));
  }
}

TEST_CASE("R2: kernel arguments are aligned as the metadata says") {
  const Program p = parse_program(R"(
function f<m, n>(A: f16[m], B: i8[n], C: f64[m], out D)
D[i: m, j: n] = f64(A[i]) + f64(B[j]) * C[i]
schedule {
  bind D.i to block_x
}
)");
  const CodeObjectInfo info = build(p, "gfx942").info();
  std::vector<std::string> parameters;
  for (const KernelParameter& k : info.kernels.at(0).parameters)
    if (!k.value_kind.starts_with("hidden")) parameters.push_back(fmt::format("{}:{} {}", k.offset, k.size, k.name));
  CHECK(parameters == std::vector<std::string>{"0:8 A", "8:8 B", "16:8 C", "24:8 D", "32:8 m", "40:8 n"});
  agree(p, {{"m", 5}, {"n", 7}}, random_arrays(p, {{"m", 5}, {"n", 7}}, 1, Values::fractions));
}

TEST_CASE("R3: a package for another target is refused, both target ids named") {
  const Program p = parse_program("function f(A: f32[4], out C)\nC[i: 4] = A[i]\n");
  const auto refused = [&](const char* built, const char* gpu) {
    Device d = Device::open(std::string("emulator:") + gpu);
    return error_message([&] { build(p, built).load(d); });
  };
  for (const auto& [built, gpu] : {std::pair{"gfx906", "gfx908"}, {"gfx1100", "gfx1030"}, {"gfx942", "gfx906"}}) {
    const std::string message = refused(built, gpu);
    CHECK(message.find(built) != std::string::npos);
    CHECK(message.find(gpu) != std::string::npos);
  }
}

TEST_CASE("arrays of wrong type, rank or extent are refused at launch") {
  const Program p = parse_program("function f<n>(A: f32[n], B: f32[n], out C)\nC[i: n] = A[i] + B[i]\n" + bulk_and_tail);
  Device d = Device::open("emulator:gfx942");
  const auto f = build(p, "gfx942").load(d)["f"];
  const auto make = [&](DType t, Shape s) { return Array::from_host(d, HostArray(t, std::move(s))); };
  const Array a = make(f32, {8});
  for (const auto& [wrong, words] : {std::pair{make(f64, {8}), "f64"}, {make(f32, {2, 4}), "rank"}, {make(f32, {9}), "9"}}) {
    const std::string message = error_message([&] { f(a, wrong, make(f32, {8})); });
    INFO(message);
    CHECK(message.find("B") != std::string::npos);
    CHECK(message.find("f") == 0);
  }
}
