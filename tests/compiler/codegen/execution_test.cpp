// Statements and accesses, run on the emulated GPU: loops, branches, LDS, registers, vectors of every kind.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "gpu.h"
#include "kernels.h"
#include "runtime/base/error.h"

namespace lathe::test {
namespace {

template <class T>
Gpu::Buffer buffer(const std::vector<T>& values) {
  Gpu::Buffer b;
  b.bytes.resize(values.size() * sizeof(T));
  std::memcpy(b.bytes.data(), values.data(), b.bytes.size());
  return b;
}
template <class T>
std::vector<T> values(const Gpu::Buffer& b) {
  std::vector<T> v(b.bytes.size() / sizeof(T));
  std::memcpy(v.data(), b.bytes.data(), b.bytes.size());
  return v;
}
std::vector<float> ramp(int n, float scale = 1) {
  std::vector<float> v(n);
  for (int i = 0; i < n; ++i) v[i] = scale * static_cast<float>((i * 37) % 101 - 50);
  return v;
}

// Compiles `kernel` for each emulated target, runs it and hands the buffers over.
void on_each_target(const Kernel& kernel, const std::vector<Gpu::Buffer>& inputs, const std::vector<int64_t>& symbols,
                    std::array<int64_t, 3> blocks, const std::function<void(const std::vector<Gpu::Buffer>&)>& check) {
  const char* one = std::getenv("LATHE_TEST_TARGETS");
  for (const std::string& target : one ? std::vector<std::string>{one}
                                       : std::vector<std::string>{"gfx906", "gfx942", "gfx1100"}) {
    CAPTURE(kernel.name, target);
    const std::unique_ptr<Gpu> gpu = Gpu::open(target);
    if (!gpu) {
      WARN("no emulated GPU: skipped");
      return;
    }
    const CompiledModule module = compile_kernels({kernel}, parse_target(target), kernel.name, {}, true, true);
    CAPTURE(module.llvm_ir);
    std::vector<Gpu::Buffer> buffers = inputs;
    const int64_t grid[3] = {blocks[0], blocks[1], blocks[2]};
    try {
      gpu->launch(module.code_object, kernel.name, buffers, symbols, grid, kernel.block);
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
      continue;
    }
    check(buffers);
  }
}

// One group of 64 work-items, each writing `lanes` floats: y[…] = value(thread).
Kernel one_group(const std::string& name, int64_t in_size, int64_t out_size, int lanes,
                 const std::function<Stmt(Tensor x, Tensor y, Expr thread, Expr at)>& body, DType in_type = f32,
                 DType out_type = f32) {
  Var block("block"), thread("thread");
  Tensor x = placeholder({Expr(in_size)}, in_type, "x"), y = placeholder({Expr(out_size)}, out_type, "y");
  const Expr at = lanes == 1 ? Expr(thread) : make_ramp(thread * Expr(lanes), Expr(1), lanes);
  Kernel kernel = make_kernel(name, {x, y}, {false, true}, {}, 64, block, thread, body(x, y, thread, at));
  kernel.grid = {Expr(1), Expr(1), Expr(1)};
  return kernel;
}

TEST_CASE("vector add at odd sizes touches exactly its elements") {
  for (int lanes : {1, 4}) {
    const int n = lanes == 1 ? 1003 : 1024;
    const std::vector<float> a = ramp(n), b = ramp(n, 0.37f);
    on_each_target(vector_add(true, lanes), {buffer(a), buffer(b), buffer(std::vector<float>(n, -1))}, {n},
                   {(n + 64 * lanes - 1) / (64 * lanes), 1, 1}, [&](const auto& buffers) {
                     const auto c = values<float>(buffers[2]);
                     int wrong = 0;
                     for (int i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
                     CHECK(wrong == 0);
                   });
  }
}

TEST_CASE("LDS and a barrier") {
  const std::vector<float> in = ramp(512);
  on_each_target(lds_mirror(), {buffer(in), buffer(std::vector<float>(512))}, {512}, {2, 1, 1},
                 [&](const auto& buffers) {
    const auto out = values<float>(buffers[1]);
    int wrong = 0;
    for (int i = 0; i < 512; ++i) wrong += out[i] != in[i / 256 * 256 + 255 - i % 256];
    CHECK(wrong == 0);
  });
}

TEST_CASE("tiled GEMM, straight and in loops, equals the host's fma chain") {
  const int m = 128, n = 64, k = 48;
  const std::vector<float> a = ramp(m * k, 0.01f), b = ramp(k * n, 0.3f);
  std::vector<float> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
      expected[i * n + j] = sum;
    }
  for (bool unrolled : {true, false})
    on_each_target(tiled_gemm(64, unrolled), {buffer(a), buffer(b), buffer(std::vector<float>(m * n))}, {m, n, k},
                   {n / 64, m / 64, 1}, [&](const auto& buffers) { CHECK(values<float>(buffers[2]) == expected); });
}

TEST_CASE("loops: runtime bounds, none at all, i32 and i64, carried values in registers") {
  for (DType type : {i32, i64}) {
    Var i("i", type);
    Tensor sum = make_tensor("sum", f32, {Expr(1)});
    const std::string name = "triangle_" + to_string(type);
    const Kernel kernel = one_group(name, 64, 64, 1, [&](Tensor x, Tensor y, Expr thread, Expr at) {
      const Expr zero = Expr(0);
      Stmt add = make_store(sum, {zero}, make_load(sum, {zero}) + make_load(x, {make_cast(i64, i)}));
      return make_alloc(
          sum, Scope::registers,
          make_block({make_store(sum, {zero}, Expr(0.0f)),
                      make_loop(LoopKind::serial, i, constant(type, int64_t{3}), make_cast(type, thread), add),
                      make_store(y, {at}, make_load(sum, {zero}))}));
    });
    const std::vector<float> in = ramp(64);
    on_each_target(kernel, {buffer(in), buffer(std::vector<float>(64, 7))}, {}, {1, 1, 1}, [&](const auto& buffers) {
      const auto out = values<float>(buffers[1]);
      int wrong = 0;
      for (int t = 0; t < 64; ++t) {
        float want = 0;
        for (int j = 3; j < t; ++j) want += in[j];
        wrong += out[t] != want;
      }
      CHECK(wrong == 0);
    });
  }
}

TEST_CASE("branches with and without else") {
  const Kernel kernel = one_group("branches", 64, 64, 1, [&](Tensor x, Tensor y, Expr thread, Expr at) {
    return make_branch(thread % Expr(3) == Expr(0), make_store(y, {at}, make_load(x, {at})),
                       make_branch(thread > Expr(30), make_store(y, {at}, Expr(5.0f))));
  });
  const std::vector<float> in = ramp(64);
  on_each_target(kernel, {buffer(in), buffer(std::vector<float>(64, 9))}, {}, {1, 1, 1}, [&](const auto& buffers) {
    const auto out = values<float>(buffers[1]);
    for (int t = 0; t < 64; ++t) CHECK(out[t] == (t % 3 == 0 ? in[t] : t > 30 ? 5 : 9));
  });
}

TEST_CASE("vector accesses: neighbours, strides, reversal, broadcast, gather") {
  struct Row {
    const char* name;
    std::function<Expr(Expr)> index;  // of the vector at, 4 lanes
    std::function<int(int)> host;     // of the element's number
  };
  const auto splat = [](int v) { return make_broadcast(Expr(v), 4); };
  const Row rows[] = {
      {"neighbours", [&](Expr at) { return at; }, [](int e) { return e; }},
      {"offset", [&](Expr at) { return at + splat(3); }, [](int e) { return e + 3; }},
      {"stride", [&](Expr at) { return at * splat(2) + splat(1); }, [](int e) { return e * 2 + 1; }},
      {"reversed", [&](Expr at) { return splat(300) - at; }, [](int e) { return 300 - e; }},
      {"scattered", [&](Expr at) { return at * at % splat(257); }, [](int e) { return e * e % 257; }},
  };
  const std::vector<float> in = ramp(600);
  for (const Row& row : rows) {
    const Kernel load = one_group("load_" + std::string(row.name), 600, 256, 4, [&](Tensor x, Tensor y, Expr, Expr at) {
      return make_store(y, {at}, make_load(x, {row.index(at)}) * make_broadcast(Expr(2.0f), 4));
    });
    on_each_target(load, {buffer(in), buffer(std::vector<float>(256))}, {}, {1, 1, 1}, [&](const auto& buffers) {
      const auto out = values<float>(buffers[1]);
      int wrong = 0;
      for (int e = 0; e < 256; ++e) wrong += out[e] != 2 * in[row.host(e)];
      CHECK(wrong == 0);
    });
    if (std::string(row.name) == "scattered") continue;  // two elements may meet at one place
    const Kernel store =
        one_group("store_" + std::string(row.name), 600, 600, 4, [&](Tensor x, Tensor y, Expr, Expr at) {
          return make_store(y, {row.index(at)}, make_load(x, {at}));
        });
    on_each_target(store, {buffer(in), buffer(std::vector<float>(600))}, {}, {1, 1, 1}, [&](const auto& buffers) {
      const auto out = values<float>(buffers[1]);
      int wrong = 0;
      for (int e = 0; e < 256; ++e) wrong += out[row.host(e)] != in[e];
      CHECK(wrong == 0);
    });
  }
}

TEST_CASE("a broadcast load is read once") {
  const Kernel kernel = one_group("broadcast", 64, 256, 4, [&](Tensor x, Tensor y, Expr thread, Expr at) {
    return make_store(y, {at}, make_broadcast(make_load(x, {thread}), 4));
  });
  const std::vector<float> in = ramp(64);
  on_each_target(kernel, {buffer(in), buffer(std::vector<float>(256))}, {}, {1, 1, 1}, [&](const auto& buffers) {
    const auto out = values<float>(buffers[1]);
    for (int e = 0; e < 256; ++e) CHECK(out[e] == in[e / 4]);
  });
}

TEST_CASE("a select guards loads lane by lane") {
  // x has 100 elements; every other lane would read outside of it.
  const Kernel kernel = one_group("padded", 100, 256, 4, [&](Tensor x, Tensor y, Expr, Expr at) {
    const Expr shifted = at - make_broadcast(Expr(3), 4);
    const Expr inside = shifted >= make_broadcast(Expr(0), 4) && shifted < make_broadcast(Expr(100), 4);
    return make_store(y, {at}, select(inside, make_load(x, {shifted}), make_broadcast(Expr(-1.0f), 4)));
  });
  const std::vector<float> in = ramp(100);
  on_each_target(kernel, {buffer(in), buffer(std::vector<float>(256))}, {}, {1, 1, 1}, [&](const auto& buffers) {
    const auto out = values<float>(buffers[1]);
    for (int e = 0; e < 256; ++e) CHECK(out[e] == (e >= 3 && e < 103 ? in[e - 3] : -1));
  });
}

TEST_CASE("vectors of bool, of 8-bit floats and of bf16 pass through memory") {
  std::vector<uint8_t> bytes(256);
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
  const Kernel invert = one_group(
      "invert", 256, 256, 4,
      [&](Tensor x, Tensor y, Expr, Expr at) { return make_store(y, {at}, !make_load(x, {at})); },
      boolean, boolean);
  on_each_target(invert, {buffer(bytes), buffer(std::vector<uint8_t>(256, 9))}, {}, {1, 1, 1},
                 [&](const auto& buffers) {
                   for (int i = 0; i < 256; ++i) CHECK(buffers[1].bytes[i] == (i == 0));
                 });
  const Kernel copy = one_group(
      "copy", 256, 256, 4, [&](Tensor x, Tensor y, Expr, Expr at) { return make_store(y, {at}, make_load(x, {at})); },
      f8e4m3fnuz, f8e4m3fnuz);
  on_each_target(copy, {buffer(bytes), buffer(std::vector<uint8_t>(256, 9))}, {}, {1, 1, 1},
                 [&](const auto& buffers) { CHECK(buffers[1].bytes == bytes); });
}

TEST_CASE("an index that is a hash of loaded data wraps as data does") {
  const Kernel kernel = one_group(
      "hash", 64, 64, 1,
      [&](Tensor x, Tensor y, Expr, Expr at) {
        const Expr hash = make_load(x, {at}) * constant(i32, int64_t{1103515245}) + constant(i32, int64_t{12345});
        return make_store(y, {at}, make_load(x, {make_cast(i64, hash % constant(i32, int64_t{64}))}));
      },
      i32, i32);
  std::vector<int32_t> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i * 7919 + 3;
  on_each_target(kernel, {buffer(in), buffer(std::vector<int32_t>(64))}, {}, {1, 1, 1}, [&](const auto& buffers) {
    const auto out = values<int32_t>(buffers[1]);
    for (int i = 0; i < 64; ++i) {
      const auto hash = static_cast<int32_t>(static_cast<uint32_t>(in[i]) * 1103515245u + 12345u);
      CHECK(out[i] == in[((hash % 64) + 64) % 64]);
    }
  });
}

TEST_CASE("a barrier orders global memory when a tensor is written and read") {
  Var block("block"), thread("thread");
  Tensor data = placeholder({Expr(512)}, f32, "data"), y = placeholder({Expr(512)}, f32, "y");
  const Expr at = block * Expr(256) + thread, mirror = block * Expr(256) + (Expr(255) - thread);
  Stmt body = make_block({make_store(data, {at}, make_cast(f32, at)), make_barrier(),
                          make_store(y, {at}, make_load(data, {mirror}))});
  const Kernel kernel = make_kernel("global_barrier", {data, y}, {true, true}, {}, 256, block, thread, body);
  on_each_target(kernel, {buffer(std::vector<float>(512)), buffer(std::vector<float>(512))}, {}, {2, 1, 1},
                 [&](const auto& buffers) {
                   const auto out = values<float>(buffers[1]);
                   for (int i = 0; i < 512; ++i) CHECK(out[i] == static_cast<float>(i / 256 * 256 + 255 - i % 256));
                 });
}

TEST_CASE("three dimensions of work-groups and work-items") {
  Var b[3] = {Var("bx"), Var("by", i32), Var("bz")}, t[3] = {Var("tx", i32), Var("ty"), Var("tz")};
  Tensor y = placeholder({Expr(8 * 8 * 8 * 27)}, i32, "y");
  auto wide = [](const Var& v) { return make_cast(i64, v); };
  const Expr x = wide(b[0]) * Expr(8) + wide(t[0]), row = wide(b[1]) * Expr(8) + wide(t[1]),
             plane = wide(b[2]) * Expr(8) + wide(t[2]);
  const Expr at = (plane * Expr(24) + row) * Expr(24) + x;
  Kernel kernel = make_kernel("cube", {y}, {true}, {}, 8, b[0], t[0], make_store(y, {at}, make_cast(i32, at)));
  for (int d = 0; d < 3; ++d) {
    kernel.block[d] = 8;
    kernel.block_index[d] = b[d];
    kernel.thread_index[d] = t[d];
    kernel.grid[d] = Expr(3);
  }
  on_each_target(kernel, {buffer(std::vector<int32_t>(24 * 24 * 24, -1))}, {}, {3, 3, 3}, [&](const auto& buffers) {
    const auto out = values<int32_t>(buffers[0]);
    int wrong = 0;
    for (int i = 0; i < 24 * 24 * 24; ++i) wrong += out[i] != i;
    CHECK(wrong == 0);
  });
}

}  // namespace
}  // namespace lathe::test
