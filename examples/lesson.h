// What the lessons share: random inputs, and the comparison with the evaluator that ends each of them.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "compiler/build.h"
#include "ir/evaluate.h"
#include "runtime/runtime.h"

namespace lesson {

inline std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& v : values) v = uniform(generator);
  return values;
}

// `arrays` are the function's arguments after it ran. Evaluates the program on the same inputs with plain loops, and
// says whether every output is equal bit for bit.
inline bool check(const lathe::Module& module, const std::vector<lathe::Array>& arrays) {
  std::vector<lathe::HostArray> on_device, expected;
  for (const lathe::Array& a : arrays) on_device.push_back(a.to_host());
  expected = on_device;
  std::vector<lathe::BufferView> views;
  for (lathe::HostArray& a : expected)
    views.push_back({a.dtype(), a.shape(), reinterpret_cast<std::byte*>(a.bytes().data())});
  lathe::evaluate(module.program(), views);
  const bool equal = on_device == expected;
  fmt::print("{} on {} ({}): {} the evaluator bit for bit\n", module.program().name, arrays[0].device().name(),
             module.target().id(), equal ? "equals" : "DIFFERS FROM");
  return equal;
}

// `./lesson --llvm` and `./lesson --asm` print what was compiled, `--ir` and `--te` what it was compiled from.
inline void show_sources(const lathe::Module& module, int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).substr(0, 2) == "--") fmt::print("{}\n", module.source(argv[i] + 2));
}

// A lathe::Error is for the user: where, what, hint.
inline int run(int (*lesson)(int, char**), int argc, char** argv) {
  try {
    return lesson(argc, argv);
  } catch (const lathe::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}

}  // namespace lesson
