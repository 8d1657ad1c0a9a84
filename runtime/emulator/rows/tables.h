// Every row table. A new table is one declaration here and one entry in tables.cpp.
#pragma once

#include <span>

#include "machine/row.h"

namespace lathe::emu::LATHE_LEVEL {

std::span<const Row> scalar_rows();
std::span<const Row> control_rows();
std::span<const Row> vector_integer_rows();
std::span<const Row> vector_float_rows();
std::span<const Row> vector_double_rows();
std::span<const Row> vector_half_rows();
std::span<const Row> vector_packed_rows();
std::span<const Row> vector_convert_rows();
std::span<const Row> vector_compare_rows();
std::span<const Row> vector_byte_rows();
std::span<const Row> vector_bf16_rows();
std::span<const Row> dot_rows();
std::span<const Row> vector_fp8_rows();
std::span<const Row> scaled_rows();
std::span<const Row> wmma_rows();
std::span<const Row> lane_rows();
std::span<const Row> mfma_rows();
std::span<const Row> memory_rows();
std::span<const Row> lds_rows();

}  // namespace lathe::emu::LATHE_LEVEL
