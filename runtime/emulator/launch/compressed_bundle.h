// Compressed offload bundles: a header "CCOB" in one of three versions, then one zlib or zstd stream.
#pragma once

#include <vector>

#include "launch/byte_source.h"

namespace lathe::emu {

bool is_compressed_bundle(std::span<const u8> head);
// Throws BadImage where the header, the stream or a length in them is wrong.
std::vector<u8> unpack_bundle(const ByteSource& source);

}  // namespace lathe::emu
