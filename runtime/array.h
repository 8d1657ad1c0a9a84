// A tensor in a device's memory: owning, or a view of part of another one.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/device.h"
#include "runtime/host_array.h"

namespace lathe {

class DeviceMemory;

// A cheap handle: copies and views share the memory, which is freed with the last of them. Freeing waits for the
// device, so an array may go out of scope while kernels that use it still run.
class Array {
 public:
  // New memory with undefined contents. Throws Error on a negative extent or when memory runs out.
  static Array empty(const Device& device, DType dtype, Shape shape);
  // New memory with the host array's contents.
  static Array from_host(const Device& device, const HostArray& host);
  // New memory with `values`; the arguments are those of HostArray::from.
  template <class T>
  static Array from_host(const Device& device, std::span<const T> values, Shape shape, DType dtype = dtype_of<T>()) {
    check_host_values(values.size(), dtype_of<T>(), dtype, shape);
    Array array = empty(device, dtype, std::move(shape));
    array.copy_from_host({reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()});
    return array;
  }
  template <class T>
  static Array from_host(const Device& device, const std::vector<T>& values, Shape shape, DType dtype = dtype_of<T>()) {
    return from_host(device, std::span<const T>(values), std::move(shape), dtype);
  }
  template <class T>
  static Array from_host(const Device& device, const std::vector<T>& values) {
    return from_host(device, std::span<const T>(values), Shape{static_cast<int64_t>(values.size())});
  }
  // A view of memory that others own: a device pointer of this device. `strides` are in elements; none: C order.
  // `keep_alive`, if given, lives as long as any view of it.
  static Array wrap(const Device& device, void* pointer, DType dtype, Shape shape, std::vector<int64_t> strides = {},
                    std::shared_ptr<void> keep_alive = {});

  const Device& device() const { return device_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const std::vector<int64_t>& strides() const { return strides_; }  // in elements
  int64_t byte_offset() const { return byte_offset_; }              // of the first element in the memory
  int64_t size() const { return size_; }                            // elements
  int64_t byte_size() const { return size_ * dtype_.bytes(); }      // of the elements alone
  bool is_contiguous() const { return is_contiguous_; }
  void* data() const;  // device pointer of the first element; null when there is none

  // Views. They throw Error where a view would reach outside this array's memory.
  Array view(Shape shape, std::vector<int64_t> strides, int64_t element_offset = 0) const;  // offset from data()
  Array slice(int axis, int64_t begin, int64_t end) const;                                  // [begin, end) of one axis
  Array reshape(Shape shape) const;                                                         // contiguous arrays only

  // Copies, after all work given to the device's ordinary streams so far; they return when done.
  HostArray to_host() const;
  template <class T>
  std::vector<T> to_host() const {  // throws Error when T does not hold the elements' type
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no bytes: use to_host<uint8_t>()");
    check_held_as(dtype_of<T>());
    std::vector<T> values(static_cast<size_t>(size_));
    copy_to_host({reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(T)});
    return values;
  }
  void copy_to_host(std::span<uint8_t> bytes) const;    // byte_size() bytes in C order, from any strides
  void copy_from_host(std::span<const uint8_t> bytes);  // byte_size() bytes in C order; contiguous arrays only
  void copy_from_host(const HostArray& host);           // of the same type and shape

 private:
  Array(Device device, DType dtype, Shape shape, std::vector<int64_t> strides, int64_t byte_offset,
        std::shared_ptr<const DeviceMemory> memory);
  static void check_host_values(size_t count, DType host, DType dtype, const Shape& shape);
  void check_held_as(DType host) const;

  Device device_;
  DType dtype_;
  Shape shape_;
  std::vector<int64_t> strides_;
  int64_t byte_offset_ = 0;
  int64_t size_ = 0;
  bool is_contiguous_ = true;
  std::shared_ptr<const DeviceMemory> memory_;
};

}  // namespace lathe
