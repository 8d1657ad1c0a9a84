// Host arrays for tests of the evaluator.
#pragma once

#include <initializer_list>
#include <vector>

#include "ir/evaluate.h"
#include "ir/parse.h"

namespace lathe {

template <class T>
constexpr DType type_of() {
  if constexpr (std::is_same_v<T, float>) return f32;
  else if constexpr (std::is_same_v<T, double>) return f64;
  else return {std::is_signed_v<T> ? TypeKind::sint : TypeKind::uint, 8 * sizeof(T)};
}

template <class T>
BufferView view(std::vector<T>& values, std::vector<int64_t> shape, DType type = type_of<T>()) {
  return {type, std::move(shape), reinterpret_cast<std::byte*>(values.data())};
}
template <class T>
BufferView view(std::vector<T>& values) {
  return view(values, {static_cast<int64_t>(values.size())});
}

inline void run(std::string_view text, const std::vector<BufferView>& arguments) {
  evaluate(parse_program(text, "test.te"), arguments);
}
inline void run_lowered(std::string_view text, const std::vector<BufferView>& arguments) {
  evaluate(parse_function(text, "test.te"), arguments);
}

// Values as bits of f16 and back.
inline std::vector<uint16_t> to_bits(std::initializer_list<double> values, DType type) {
  std::vector<uint16_t> bits;
  for (double v : values) bits.push_back(static_cast<uint16_t>(encode_float(v, type)));
  return bits;
}

}  // namespace lathe
