#include "runtime/base/msgpack.h"

#include <string>

#include "runtime/base/error.h"

namespace lathe {

void MsgpackReader::fail(const char* what) const { throw Error(std::string(where_), std::string("metadata ") + what); }

uint64_t MsgpackReader::read_big_endian(unsigned width) {
  if (bytes_.size() < width) fail("ends in the middle of an item");
  uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i) value = value << 8 | bytes_[i];
  bytes_ = bytes_.subspan(width);
  return value;
}

MsgpackReader::Head MsgpackReader::read_head() {
  const auto byte = static_cast<unsigned>(read_big_endian(1));
  auto sized = [&](Head::Kind kind, unsigned log2_width) {
    return Head{kind, read_big_endian(1u << log2_width)};
  };
  if (byte <= 0x7f) return {Head::integer, byte};
  if (byte <= 0x8f) return {Head::map, byte & 0xf};
  if (byte <= 0x9f) return {Head::array, byte & 0xf};
  if (byte <= 0xbf) return {Head::string, byte & 0x1f};
  if (byte == 0xc0 || byte == 0xc2 || byte == 0xc3) return {Head::scalar, 0};   // nil, false, true
  if (byte >= 0xc4 && byte <= 0xc6) return sized(Head::bytes, byte - 0xc4);     // bin 8, 16, 32
  if (byte >= 0xc7 && byte <= 0xc9) {                                           // ext 8, 16, 32: length, type
    Head head = sized(Head::bytes, byte - 0xc7);
    ++head.value;
    return head;
  }
  if (byte == 0xca || byte == 0xcb) return {Head::scalar, byte == 0xca ? 4u : 8u};  // float 32, 64
  if (byte >= 0xcc && byte <= 0xcf) return sized(Head::integer, byte - 0xcc);       // uint 8 to 64
  if (byte >= 0xd0 && byte <= 0xd3) {                                               // int 8 to 64
    const unsigned width = 1u << (byte - 0xd0);
    const uint64_t value = read_big_endian(width);
    return {Head::integer, value, ((value >> (8 * width - 1)) & 1) != 0};
  }
  if (byte >= 0xd4 && byte <= 0xd8) return {Head::bytes, (1u << (byte - 0xd4)) + 1u};  // fixext 1 to 16: type, data
  if (byte >= 0xd9 && byte <= 0xdb) return sized(Head::string, byte - 0xd9);           // str 8, 16, 32
  if (byte == 0xdc || byte == 0xdd) return sized(Head::array, byte - 0xdc + 1);        // array 16, 32
  if (byte == 0xde || byte == 0xdf) return sized(Head::map, byte - 0xde + 1);          // map 16, 32
  if (byte >= 0xe0) return {Head::integer, byte, true};                                // -32 to -1
  fail("has a byte that begins no item");                                              // 0xc1
}

MsgpackReader::Head MsgpackReader::expect(Head::Kind kind, const char* name) {
  const Head head = read_head();
  if (head.kind != kind || head.negative) fail(name);
  return head;
}

uint64_t MsgpackReader::read_map() { return expect(Head::map, "has another type where a map stands").value; }
uint64_t MsgpackReader::read_array() { return expect(Head::array, "has another type where a list stands").value; }
uint64_t MsgpackReader::read_uint() { return expect(Head::integer, "has another type where a count stands").value; }

std::string_view MsgpackReader::read_string() {
  const uint64_t length = expect(Head::string, "has another type where a text stands").value;
  if (length > bytes_.size()) fail("ends in the middle of a text");
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), length);
  bytes_ = bytes_.subspan(length);
  return text;
}

void MsgpackReader::skip() {
  for (uint64_t pending = 1; pending > 0; --pending) {
    const Head head = read_head();
    if (head.kind == Head::integer) continue;
    if (head.value > bytes_.size()) fail("ends in the middle of an item");  // an item takes a byte at least
    if (head.kind == Head::array) pending += head.value;
    else if (head.kind == Head::map) pending += 2 * head.value;
    else bytes_ = bytes_.subspan(head.value);
  }
}

}  // namespace lathe
