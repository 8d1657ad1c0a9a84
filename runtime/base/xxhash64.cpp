#include "runtime/base/xxhash64.h"

#include <bit>
#include <cstring>

namespace lathe {
namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9,
                   prime4 = 0x85EBCA77C2B2AE63, prime5 = 0x27D4EB2F165667C5;

static_assert(std::endian::native == std::endian::little, "load() reads little-endian words");

template <class Word>
uint64_t load(const uint8_t* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

uint64_t round(uint64_t lane, uint64_t input) { return std::rotl(lane + input * prime2, 31) * prime1; }

}  // namespace

uint64_t xxhash64(std::span<const uint8_t> bytes, uint64_t seed) {
  const uint8_t* p = bytes.data();
  const uint8_t* const end = p + bytes.size();
  uint64_t hash;
  if (bytes.size() >= 32) {
    uint64_t lanes[4] = {seed + prime1 + prime2, seed + prime2, seed, seed - prime1};
    for (; end - p >= 32; p += 32)
      for (int i = 0; i < 4; ++i) lanes[i] = round(lanes[i], load<uint64_t>(p + 8 * i));
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (uint64_t lane : lanes) hash = (hash ^ round(0, lane)) * prime1 + prime4;
  } else {
    hash = seed + prime5;
  }
  hash += bytes.size();
  for (; end - p >= 8; p += 8) hash = std::rotl(hash ^ round(0, load<uint64_t>(p)), 27) * prime1 + prime4;
  for (; end - p >= 4; p += 4) hash = std::rotl(hash ^ (load<uint32_t>(p) * prime1), 23) * prime2 + prime3;
  for (; p != end; ++p) hash = std::rotl(hash ^ (*p * prime5), 11) * prime1;
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

}  // namespace lathe
