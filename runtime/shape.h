// Arithmetic on shapes: extents and strides of a dense tensor, in elements.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lathe {

using Shape = std::vector<int64_t>;  // extents; the last axis varies fastest. Empty: a scalar

// The number of elements. Throws Error, naming `where`, on a negative extent or where the number, or its size at
// `element_bytes` an element, does not fit 63 bits.
int64_t element_count(std::span<const int64_t> shape, int element_bytes, const std::string& where);

// Strides of a tensor that lies in C order without gaps.
std::vector<int64_t> contiguous_strides(std::span<const int64_t> shape);

// Do elements lie in C order without gaps? Strides of extents 1 do not matter, nor any of an empty tensor.
bool is_contiguous(std::span<const int64_t> shape, std::span<const int64_t> strides);

std::string to_string(std::span<const int64_t> shape);  // "[3, 4]"

}  // namespace lathe
