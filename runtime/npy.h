// NumPy's .npy files.
//
// Types map to NumPy's own where it has them. bf16 is written as raw two-byte elements ('<V2') and an 8-bit float
// as '|V1', which is what numpy.save writes for ml_dtypes arrays. Since '|V1' does not say which 8-bit float it is,
// reading one needs `expected`.
#pragma once

#include <filesystem>
#include <optional>

#include "runtime/host_array.h"

namespace lathe {

// Reads format versions 1 to 3, C and Fortran order, either byte order; the result is in C order and little-endian.
// `expected`: the type that the caller needs; raw elements ('V1', 'V2') and unsigned integers of its size are
// taken as bits of it, any other type is an Error. Throws Error, with the file and the fact, on anything damaged,
// cut short, followed by more bytes, or of a type that Lathe does not have.
HostArray read_npy(const std::filesystem::path& path, std::optional<DType> expected = {});
HostArray parse_npy(std::span<const uint8_t> bytes, const std::string& where, std::optional<DType> expected = {});

// Writes format version 1, C order. Throws Error when the file cannot be written whole.
void write_npy(const std::filesystem::path& path, const HostArray& array);
std::vector<uint8_t> format_npy(const HostArray& array);

}  // namespace lathe
