#include "runtime/base/code_object.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <random>

#include "runtime/base/msgpack.h"
#include "tests/error_message.h"

using namespace lathe;

static std::vector<uint8_t> object(const std::string& name) {
  std::ifstream file(std::string(BASE_TEST_OBJECTS) + "/" + name + ".hsaco", std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("code objects of versions 4, 5 and 6 read alike") {
  for (int version : {4, 5, 6}) {
    const CodeObjectInfo info = read_code_object(object("gfx90a_v" + std::to_string(version)), "k");
    CHECK(info.version == version);
    CHECK(info.target.id() == "gfx90a:sramecc+");
    CHECK(info.target_id == "amdgcn-amd-amdhsa--gfx90a:sramecc+");
    REQUIRE(info.kernels.size() == 3);
    const KernelInfo& add = info.kernels[0];
    CHECK(add.name == "vector_add");
    CHECK(add.symbol == "vector_add.kd");
    CHECK(add.kernarg_segment_size == 32);
    CHECK(add.kernarg_segment_align == 8);
    CHECK(add.wavefront_size == 64);
    CHECK(add.max_flat_workgroup_size == 64);
    CHECK(add.group_segment_fixed_size == 0);
    CHECK(add.private_segment_fixed_size == 0);
    CHECK(add.vgpr_count > 0);
    CHECK(add.sgpr_count > 0);
    CHECK(add.vgpr_spill_count + add.sgpr_spill_count + add.agpr_count == 0);
    REQUIRE(add.parameters.size() == 4);
    CHECK(add.parameters[2].value_kind == "global_buffer");
    CHECK(add.parameters[3].value_kind == "by_value");
    CHECK(info.kernels[2].name == "reverse64");
    CHECK(info.kernels[2].group_segment_fixed_size == 256);
  }
}

TEST_CASE("kernel parameters stand at their natural alignment (case R2)") {
  const CodeObjectInfo info = read_code_object(object("gfx90a_v6"), "k");
  const auto& parameters = info.kernels[1].parameters;
  const uint32_t expected[][2] = {{0, 8}, {8, 1}, {16, 8}, {24, 4}, {32, 8}};
  REQUIRE(parameters.size() == std::size(expected));
  for (size_t i = 0; i < parameters.size(); ++i) {
    CHECK(parameters[i].offset == expected[i][0]);
    CHECK(parameters[i].size == expected[i][1]);
  }
  CHECK(info.kernels[1].kernarg_segment_size == 40);
}

TEST_CASE("code objects of RDNA and of a generic target") {
  const CodeObjectInfo rdna = read_code_object(object("gfx1100"), "k");
  CHECK(rdna.target.id() == "gfx1100");
  CHECK(rdna.kernels[0].wavefront_size == 32);
  const CodeObjectInfo generic = read_code_object(object("gfx9-4-generic"), "k");
  CHECK(generic.target.id() == "gfx9-4-generic");
  CHECK(generic.version == 6);
}

TEST_CASE("every truncation of a code object is refused") {
  const std::vector<uint8_t> whole = object("gfx90a_v6");
  for (size_t size = 0; size < whole.size(); size += size < 3000 ? 1 : 37) {
    const std::vector<uint8_t> prefix(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    REQUIRE(error_message([&] { read_code_object(prefix, "cut.hsaco"); }).find("cut.hsaco: cut short") == 0);
  }
}

TEST_CASE("an altered code object gives an error or an answer, never a crash") {
  const std::vector<uint8_t> whole = object("gfx90a_v5");
  auto read = [](const std::vector<uint8_t>& bytes) {
    try {
      read_code_object(bytes, "altered.hsaco");
    } catch (const Error& error) {
      REQUIRE(error.where() == "altered.hsaco");
    }
  };
  for (size_t i = 0; i < whole.size(); i += i < 4096 ? 1 : 13)
    for (unsigned flip : {0x01u, 0x80u, 0xffu}) {
      std::vector<uint8_t> altered = whole;
      altered[i] ^= static_cast<uint8_t>(flip);
      read(altered);
    }
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> altered = whole;
    for (int i = 0; i < 4; ++i) altered[random() % 4096] = static_cast<uint8_t>(random());
    read(altered);
  }
}

TEST_CASE("what is not a code object is refused by what it is") {
  auto message = [](std::vector<uint8_t> bytes) { return error_message([&] { read_code_object(bytes, "f"); }); };
  const std::vector<uint8_t> good = object("gfx90a_v6");
  auto with = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> bytes = good;
    bytes[at] = value;
    return bytes;
  };
  CHECK(message({}) == "f: cut short: 0 bytes");
  CHECK(message(with(0, 'x')) == "f: not an ELF file");
  CHECK(message(with(4, 1)) == "f: not a 64-bit little-endian ELF file");
  CHECK(message(with(18, 62)) == "f: an ELF file for machine 62, not an AMDGPU HSA code object");
  CHECK(message(with(16, 1)) == "f: not linked: ELF type 1");
  CHECK(message(with(8, 1)) == "f: ELF ABI version 1: code object versions 4, 5 and 6 can be read");
  CHECK(message(with(8, 5)) == "f: ELF ABI version 5: code object versions 4, 5 and 6 can be read");
  CHECK(message(with(48, 0xfe)) == "f: unknown processor 254 in its ELF flags");
  CHECK(message(with(48, 0x2f)) ==
        "f: its metadata says amdgcn-amd-amdhsa--gfx90a:sramecc+, its ELF flags gfx906:sramecc+");
}

TEST_CASE("the MessagePack cursor skips any item and refuses a broken one") {
  auto after_skip = [](std::vector<uint8_t> bytes) {
    bytes.push_back(42);
    MsgpackReader in(bytes, "m");
    in.skip();
    return in.read_uint();
  };
  const std::vector<uint8_t> items[] = {
      {0xc0}, {0xc3}, {0x7f}, {0xff}, {0xcb, 0, 0, 0, 0, 0, 0, 0, 0}, {0xca, 0, 0, 0, 0}, {0xcd, 1, 2},
      {0xd3, 0xff, 0, 0, 0, 0, 0, 0, 0}, {0xa3, 'a', 'b', 'c'}, {0xd9, 1, 'x'}, {0xda, 0, 1, 'x'}, {0xc4, 2, 9, 9},
      {0x92, 0x01, 0x91, 0xa1, 'z'}, {0x81, 0xa1, 'k', 0x82, 1, 2, 3, 4}, {0xdc, 0, 2, 1, 2}, {0xde, 0, 1, 1, 2},
      {0xd6, 1, 0, 0, 0, 0}, {0xc7, 2, 1, 8, 8}};
  for (const auto& item : items) CHECK(after_skip(item) == 42);
  std::vector<uint8_t> nested(100000, 0x91);  // a list in a list in a list …
  nested.push_back(0x01);
  CHECK(after_skip(nested) == 42);

  auto message = [](std::vector<uint8_t> bytes) {
    return error_message([&] { MsgpackReader(bytes, "m").skip(); });
  };
  CHECK(message({}) == "m: metadata ends in the middle of an item");
  CHECK(message({0xdd, 0xff, 0xff, 0xff, 0xff}) == "m: metadata ends in the middle of an item");
  CHECK(message({0xa5, 'a'}) == "m: metadata ends in the middle of an item");
  CHECK(message({0xc1}) == "m: metadata has a byte that begins no item");
  const std::vector<uint8_t> negative{0xd0, 0xff}, text{0xa1, 'a'};
  CHECK(error_message([&] { MsgpackReader(negative, "m").read_uint(); }) ==
        "m: metadata has another type where a count stands");
  CHECK(error_message([&] { MsgpackReader(text, "m").read_map(); }) ==
        "m: metadata has another type where a map stands");
}
