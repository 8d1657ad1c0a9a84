// Elements of every type as bytes and as the host's Scalar, and the values worth testing.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/scalar.h"
#include "runtime/base/dtype.h"

namespace lathe::test {

Scalar read_element(const std::vector<uint8_t>& bytes, size_t index, DType type);
void append_element(std::vector<uint8_t>& bytes, Scalar value, DType type);

// Zeros, ones, ties, limits, denormals, infinities, NaN and a fixed pseudo-random handful; all codes of 8-bit types.
std::vector<Scalar> special_values(DType type);
// Fewer of them, for pairs of triples.
std::vector<Scalar> few_values(DType type);

// The same value, as far as the numerics contract says: any NaN is as good as another, zeros have a sign.
bool same_value(Scalar a, Scalar b, DType type);
// How many values of `type` lie between the two; huge when only one is NaN or infinite.
int64_t ulp_distance(double got, double exact, DType type);

}  // namespace lathe::test
