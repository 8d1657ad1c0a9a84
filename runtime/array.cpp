#include "runtime/array.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "runtime/base/error.h"
#include "runtime/device_memory.h"

namespace lathe {
namespace {

// Far beyond any memory, and small enough that offsets in bytes cannot overflow.
constexpr int64_t max_elements = int64_t{1} << 58;

// The elements that a view reaches, relative to its first one: [lowest, highest].
struct Reach {
  int64_t lowest = 0, highest = 0;
};

Reach reach_of(std::span<const int64_t> shape, std::span<const int64_t> strides, const std::string& where) {
  Reach reach;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t distance = 0;
    int64_t& end = strides[i] < 0 ? reach.lowest : reach.highest;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &distance) || __builtin_add_overflow(end, distance, &end) ||
        end < -max_elements || end > max_elements)
      throw Error(where, fmt::format("shape {} with strides {} reaches outside any memory", to_string(shape),
                                     to_string(strides)));
  }
  return reach;
}

}  // namespace

Array::Array(Device device, DType dtype, Shape shape, std::vector<int64_t> strides, int64_t byte_offset,
             std::shared_ptr<const DeviceMemory> memory)
    : device_(std::move(device)), dtype_(dtype), shape_(std::move(shape)), strides_(std::move(strides)),
      byte_offset_(byte_offset), size_(element_count(shape_, dtype.bytes(), "array")),
      is_contiguous_(lathe::is_contiguous(shape_, strides_)), memory_(std::move(memory)) {}

Array Array::empty(const Device& device, DType dtype, Shape shape) {
  if (dtype.lanes != 1) throw Error("array", "elements are scalars, not " + to_string(dtype));
  const int64_t count = element_count(shape, dtype.bytes(), "array");
  auto memory = std::make_shared<DeviceMemory>(device.shared_state(), static_cast<size_t>(count * dtype.bytes()));
  std::vector<int64_t> strides = contiguous_strides(shape);
  return Array(device, dtype, std::move(shape), std::move(strides), 0, std::move(memory));
}

Array Array::from_host(const Device& device, const HostArray& host) {
  Array array = empty(device, host.dtype(), host.shape());
  array.copy_from_host(host.bytes());
  return array;
}

Array Array::wrap(const Device& device, void* pointer, DType dtype, Shape shape, std::vector<int64_t> strides,
                  std::shared_ptr<void> keep_alive) {
  const int64_t count = element_count(shape, dtype.bytes(), "array");
  if (strides.empty()) strides = contiguous_strides(shape);
  if (strides.size() != shape.size())
    throw Error("array", fmt::format("{} strides for shape {}", strides.size(), to_string(shape)));
  const Reach reach = count == 0 ? Reach{0, -1} : reach_of(shape, strides, "array");
  if (count > 0 && !pointer)
    throw Error("array", fmt::format("a null pointer cannot hold shape {}", to_string(shape)));
  // The memory is what the strides reach, no more is known: it begins below the pointer where strides are negative.
  const int64_t width = dtype.bytes();
  auto memory = std::make_shared<DeviceMemory>(
      device.shared_state(), static_cast<char*>(pointer) + reach.lowest * width,
      static_cast<size_t>((reach.highest - reach.lowest + 1) * width), std::move(keep_alive));
  return Array(device, dtype, std::move(shape), std::move(strides), -reach.lowest * width, std::move(memory));
}

void* Array::data() const {
  return memory_->pointer() ? static_cast<char*>(memory_->pointer()) + byte_offset_ : nullptr;
}

Array Array::view(Shape shape, std::vector<int64_t> strides, int64_t element_offset) const {
  if (strides.size() != shape.size())
    throw Error("array view", fmt::format("{} strides for shape {}", strides.size(), to_string(shape)));
  if (element_offset < -max_elements || element_offset > max_elements)
    throw Error("array view", fmt::format("element {} is outside any memory", element_offset));
  const int64_t width = dtype_.bytes();
  const int64_t first = byte_offset_ + element_offset * width;
  if (element_count(shape, dtype_.bytes(), "array view") > 0) {
    const Reach reach = reach_of(shape, strides, "array view");
    const auto memory_end = static_cast<int64_t>(memory_->bytes());
    if (first + reach.lowest * width < 0 || first + (reach.highest + 1) * width > memory_end)
      throw Error("array view",
                  fmt::format("shape {} with strides {} at element {} reaches bytes {} to {} of {}", to_string(shape),
                              to_string(strides), element_offset, first + reach.lowest * width,
                              first + (reach.highest + 1) * width, memory_end));
  }
  return Array(device_, dtype_, std::move(shape), std::move(strides), first, memory_);
}

Array Array::slice(int axis, int64_t begin, int64_t end) const {
  if (axis < 0 || static_cast<size_t>(axis) >= shape_.size())
    throw Error("array slice", fmt::format("axis {} of shape {}", axis, to_string(shape_)));
  const auto i = static_cast<size_t>(axis);
  if (begin < 0 || begin > end || end > shape_[i])
    throw Error("array slice", fmt::format("[{}, {}) of axis {} of shape {}", begin, end, axis, to_string(shape_)));
  Shape shape = shape_;
  shape[i] = end - begin;
  return view(std::move(shape), strides_, begin * strides_[i]);
}

Array Array::reshape(Shape shape) const {
  if (!is_contiguous_)
    throw Error("array reshape", fmt::format("shape {} with strides {} is not contiguous", to_string(shape_),
                                             to_string(strides_)));
  if (element_count(shape, dtype_.bytes(), "array reshape") != size_)
    throw Error("array reshape", fmt::format("{} elements do not fill shape {}", size_, to_string(shape)));
  std::vector<int64_t> strides = contiguous_strides(shape);
  return view(std::move(shape), std::move(strides));
}

void Array::check_host_values(size_t count, DType host, DType dtype, const Shape& shape) {
  if (!held_as(dtype, host))
    throw Error("array", fmt::format("{} elements cannot be taken from {} values", to_string(dtype), to_string(host)));
  if (const int64_t needed = element_count(shape, dtype.bytes(), "array"); static_cast<size_t>(needed) != count)
    throw Error("array", fmt::format("shape {} holds {} elements, got {}", to_string(shape), needed, count));
}

void Array::check_held_as(DType host) const {
  if (!held_as(dtype_, host))
    throw Error("array", fmt::format("its elements are {}, not {}", to_string(dtype_), to_string(host)));
}

HostArray Array::to_host() const {
  HostArray host(dtype_, shape_);
  copy_to_host(host.bytes());
  return host;
}

void Array::copy_to_host(std::span<uint8_t> bytes) const {
  if (bytes.size() != static_cast<size_t>(byte_size()))
    throw Error("array copy", fmt::format("{} bytes for an array of {}", bytes.size(), byte_size()));
  if (size_ == 0) return;
  const DeviceState& device = device_.state();
  device.make_current();
  auto download = [&](void* to, const void* from, size_t count) {
    device.hip->check(device.hip->hipMemcpy(to, from, count, hipMemcpyDeviceToHost), "hipMemcpy",
                      fmt::format("{} bytes from {}", count, device.info.name));
  };
  if (is_contiguous_) return download(bytes.data(), data(), bytes.size());
  // One copy of all that the view reaches, then the elements are picked on the host.
  const Reach reach = reach_of(shape_, strides_, "array copy");
  const int64_t width = dtype_.bytes();
  std::vector<uint8_t> all(static_cast<size_t>((reach.highest - reach.lowest + 1) * width));
  download(all.data(), static_cast<const char*>(data()) + reach.lowest * width, all.size());
  std::vector<int64_t> index(shape_.size());
  int64_t from = -reach.lowest;
  for (size_t to = 0; to < bytes.size(); to += static_cast<size_t>(width)) {
    std::memcpy(&bytes[to], &all[static_cast<size_t>(from * width)], static_cast<size_t>(width));
    for (size_t axis = shape_.size(); axis-- > 0;) {
      from += strides_[axis];
      if (++index[axis] < shape_[axis]) break;
      from -= strides_[axis] * shape_[axis];
      index[axis] = 0;
    }
  }
}

void Array::copy_from_host(std::span<const uint8_t> bytes) {
  if (bytes.size() != static_cast<size_t>(byte_size()))
    throw Error("array copy", fmt::format("{} bytes for an array of {}", bytes.size(), byte_size()));
  if (!is_contiguous_)
    throw Error("array copy", fmt::format("shape {} with strides {} is not contiguous", to_string(shape_),
                                          to_string(strides_)));
  if (size_ == 0) return;
  const DeviceState& device = device_.state();
  device.make_current();
  device.hip->check(device.hip->hipMemcpy(data(), bytes.data(), bytes.size(), hipMemcpyHostToDevice), "hipMemcpy",
                    fmt::format("{} bytes to {}", bytes.size(), device.info.name));
}

void Array::copy_from_host(const HostArray& host) {
  if (host.dtype() != dtype_ || host.shape() != shape_)
    throw Error("array copy", fmt::format("{} of shape {} into {} of shape {}", to_string(host.dtype()),
                                          to_string(host.shape()), to_string(dtype_), to_string(shape_)));
  copy_from_host(host.bytes());
}

}  // namespace lathe
