// A tensor in host memory: element type, shape, and bytes in C order. What goes up to a device, what comes back,
// and what a .npy file holds.
#pragma once

#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/shape.h"

namespace lathe {

// The element type of a C++ type.
template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  static_assert(std::is_arithmetic_v<U>, "arrays hold numbers; f16, bf16 and fp8 travel as uint16_t and uint8_t");
  if constexpr (std::is_same_v<U, bool>) return boolean;
  else if constexpr (std::is_same_v<U, double>) return f64;
  else if constexpr (std::is_same_v<U, float>) return f32;
  else return {std::is_signed_v<U> ? TypeKind::sint : TypeKind::uint, 8 * sizeof(U)};
}

// May elements of `type` be held in C++ as `host`? Its own type may, and an unsigned integer of the same size: the
// way for types that C++ does not have (f16, bf16, the 8-bit floats) and for bool as bytes.
constexpr bool held_as(DType type, DType host) {
  return type == host || (host.kind == TypeKind::uint && type.lanes == 1 && type.bytes() == host.bytes());
}

class HostArray {
 public:
  HostArray() : HostArray(f32, Shape{0}) {}
  // All zero. Throws Error on a negative or overflowing shape.
  HostArray(DType dtype, Shape shape);
  // Takes the elements' bytes as they are; throws Error when their number does not fit the shape.
  HostArray(DType dtype, Shape shape, std::vector<uint8_t> bytes);

  // Copies `values`. No shape: one axis. The type is T's own unless another of its size is named:
  // from<uint16_t>(bits, {4, 4}, f16).
  template <class T>
  static HostArray from(std::span<const T> values, Shape shape, DType dtype = dtype_of<T>()) {
    HostArray array(dtype, std::move(shape));
    array.assign(values.data(), values.size(), dtype_of<T>());
    return array;
  }
  template <class T>
  static HostArray from(const std::vector<T>& values, Shape shape, DType dtype = dtype_of<T>()) {
    return from(std::span<const T>(values), std::move(shape), dtype);
  }
  template <class T>
  static HostArray from(const std::vector<T>& values) {
    return from(std::span<const T>(values), Shape{static_cast<int64_t>(values.size())});
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t size() const { return static_cast<int64_t>(bytes_.size()) / dtype_.bytes(); }  // elements
  std::span<const uint8_t> bytes() const { return bytes_; }
  std::span<uint8_t> bytes() { return bytes_; }

  // The elements, in C order. Throws Error when T does not hold this type.
  template <class T>
  std::span<const T> values() const {
    check_held_as(dtype_of<T>());
    return {reinterpret_cast<const T*>(bytes_.data()), static_cast<size_t>(size())};
  }
  template <class T>
  std::span<T> values() {
    check_held_as(dtype_of<T>());
    return {reinterpret_cast<T*>(bytes_.data()), static_cast<size_t>(size())};
  }

  // Element `index` (in C order) as a double: exact but for integers beyond 2^53.
  double value(int64_t index) const;

  bool operator==(const HostArray&) const = default;  // bit for bit

 private:
  void assign(const void* values, size_t count, DType host);
  void check_held_as(DType host) const;

  DType dtype_;
  Shape shape_;
  std::vector<uint8_t> bytes_;
};

}  // namespace lathe
