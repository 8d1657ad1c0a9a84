// A cursor over MessagePack bytes: as much of the format as code object metadata uses, every read checked
// against the end. Nesting costs no recursion, so hostile input cannot exhaust the stack.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lathe {

// Every function consumes what it returns and throws Error at the end of the bytes or on another type.
// Source: the MessagePack specification, "Formats".
class MsgpackReader {
 public:
  MsgpackReader(std::span<const uint8_t> bytes, std::string_view where) : bytes_(bytes), where_(where) {}

  uint64_t read_map();    // the number of key-value pairs that follow
  uint64_t read_array();  // the number of items that follow
  uint64_t read_uint();   // an integer that is not negative
  std::string_view read_string();
  void skip();  // one item of any type, with all that is in it

 private:
  struct Head {  // the first byte of an item, and the number that goes with it
    enum Kind { scalar, integer, string, bytes, array, map } kind;
    uint64_t value;  // integer: the value; scalar: bytes to skip; others: length
    bool negative = false;
  };
  Head read_head();
  uint64_t read_big_endian(unsigned width);
  Head expect(Head::Kind kind, const char* name);
  [[noreturn]] void fail(const char* what) const;

  std::span<const uint8_t> bytes_;
  std::string_view where_;
};

}  // namespace lathe
