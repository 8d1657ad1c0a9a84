#include "runtime/shape.h"

#include <fmt/format.h>

#include "runtime/base/error.h"

namespace lathe {

int64_t element_count(std::span<const int64_t> shape, int element_bytes, const std::string& where) {
  bool overflow = false, empty = false;
  int64_t count = 1, bytes = 0;
  for (int64_t extent : shape) {
    if (extent < 0) throw Error(where, fmt::format("shape {} has a negative extent", to_string(shape)));
    empty |= extent == 0;
    if (!overflow) overflow = __builtin_mul_overflow(count, extent, &count);
  }
  if (empty) return 0;
  if (overflow || __builtin_mul_overflow(count, int64_t{element_bytes}, &bytes))
    throw Error(where, fmt::format("shape {} is larger than any memory", to_string(shape)));
  return count;
}

std::vector<int64_t> contiguous_strides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i] == 0 ? 1 : shape[i];
  }
  return strides;
}

bool is_contiguous(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  for (int64_t extent : shape)
    if (extent == 0) return true;
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != stride) return false;
    stride *= shape[i];
  }
  return true;
}

std::string to_string(std::span<const int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace lathe
