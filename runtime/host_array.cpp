#include "runtime/host_array.h"

#include <fmt/core.h>

#include <cstring>

#include "runtime/base/error.h"

namespace lathe {
namespace {

size_t byte_count(DType dtype, const Shape& shape) {
  if (dtype.lanes != 1) throw Error("host array", "elements are scalars, not " + to_string(dtype));
  return static_cast<size_t>(element_count(shape, dtype.bytes(), "host array") * dtype.bytes());
}

}  // namespace

HostArray::HostArray(DType dtype, Shape shape)
    : dtype_(dtype), shape_(std::move(shape)), bytes_(byte_count(dtype_, shape_)) {}

HostArray::HostArray(DType dtype, Shape shape, std::vector<uint8_t> bytes)
    : dtype_(dtype), shape_(std::move(shape)), bytes_(std::move(bytes)) {
  if (const size_t needed = byte_count(dtype_, shape_); bytes_.size() != needed)
    throw Error("host array", fmt::format("{} of shape {} takes {} bytes, got {}", to_string(dtype_),
                                          to_string(shape_), needed, bytes_.size()));
}

void HostArray::check_held_as(DType host) const {
  if (!held_as(dtype_, host))
    throw Error("host array", fmt::format("its elements are {}, not {}", to_string(dtype_), to_string(host)));
}

void HostArray::assign(const void* values, size_t count, DType host) {
  check_held_as(host);
  if (count != static_cast<size_t>(size()))
    throw Error("host array", fmt::format("shape {} holds {} elements, got {}", to_string(shape_), size(), count));
  if (count > 0) std::memcpy(bytes_.data(), values, bytes_.size());
}

double HostArray::value(int64_t index) const {
  if (index < 0 || index >= size())
    throw Error("host array", fmt::format("element {} of {}", index, size()));
  uint64_t bits = 0;
  const auto width = static_cast<size_t>(dtype_.bytes());
  std::memcpy(&bits, bytes_.data() + static_cast<size_t>(index) * width, width);
  switch (dtype_.kind) {
    case TypeKind::boolean: return bits != 0;
    case TypeKind::uint: return static_cast<double>(bits);
    case TypeKind::sint: {
      const int unused = 64 - 8 * dtype_.bytes();
      return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
    }
    case TypeKind::floating: return decode_float(bits, dtype_);
  }
  return 0;
}

}  // namespace lathe
