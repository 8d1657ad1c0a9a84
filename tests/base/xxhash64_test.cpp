#include "runtime/base/xxhash64.h"

#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

using namespace lathe;

static uint64_t hash(std::string_view text, uint64_t seed = 0) {
  return xxhash64({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, seed);
}

TEST_CASE("xxhash64 gives the published values") {
  // The empty input's value is xxHash's well-known one; the sanity checks of xxHash 0.8 use the generator below.
  CHECK(hash("") == 0xEF46DB3751D8E999);
  CHECK(hash("abc") == 0x44BC2CF5AD770999);
  std::vector<uint8_t> data(222);  // xxhash's cli/xsum_sanity_check.c: byteGen = PRIME32, times PRIME64 each byte
  uint64_t generator = 2654435761u;
  for (uint8_t& byte : data) {
    byte = static_cast<uint8_t>(generator >> 56);
    generator *= 11400714785074694797u;
  }
  CHECK(xxhash64({data.data(), 0}, 2654435761u) == 0xAC75FDA2929B17EF);
  CHECK(xxhash64({data.data(), 1}) == 0xE934A84ADB052768);
  CHECK(xxhash64({data.data(), 14}) == 0x8282DCC4994E35C8);
  CHECK(xxhash64(data) == 0xB641AE8CB691C174);
}

TEST_CASE("xxhash64 notices any altered byte, at every length of tail") {
  for (size_t size = 1; size < 70; ++size) {
    std::vector<uint8_t> data(size, 7);
    const uint64_t whole = xxhash64(data);
    for (uint8_t& byte : data) {
      byte ^= 0x10;
      CHECK(xxhash64(data) != whole);
      byte ^= 0x10;
    }
  }
}
