#include "runtime/npy.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/error_message.h"

using namespace lathe;

// A file as numpy writes it: header text as given, `version` 1 or 2.
static std::vector<uint8_t> file(const std::string& header, const std::vector<uint8_t>& data, int version = 1) {
  std::string text = "\x93NUMPY";
  text += {static_cast<char>(version), 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (version > 1) text += std::string(2, '\0');
  text += header;
  std::vector<uint8_t> bytes(text.begin(), text.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

static HostArray parse(const std::vector<uint8_t>& bytes, std::optional<DType> expected = {}) {
  return parse_npy(bytes, "x.npy", expected);
}

TEST_CASE("npy files round-trip for every type and rank") {
  for (const DTypeRow& row : dtype_rows)
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{2, 0, 3}, Shape{1, 2, 3, 4}}) {
      HostArray array(row.type, shape);
      for (size_t i = 0; i < array.bytes().size(); ++i) array.bytes()[i] = static_cast<uint8_t>(i * 37 + 1);
      const std::vector<uint8_t> bytes = format_npy(array);
      CHECK((bytes.size() - array.bytes().size()) % 64 == 0);
      CHECK(parse(bytes, row.type) == array);
      const bool is_fp8 = row.type.is_float() && row.type.bytes() == 1;
      if (!is_fp8) CHECK(parse(bytes) == array);
    }
}

TEST_CASE("npy headers as numpy 1.24 writes them") {
  const std::vector<uint8_t> bytes = format_npy(HostArray(f32, {3, 4}));
  const std::string header(bytes.begin() + 10, bytes.begin() + 10 + 58);
  CHECK(header == "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), ");
  CHECK(bytes[8] == 118);  // numpy pads the header to 118 bytes: 128 with what stands before it
  CHECK(bytes[127] == '\n');
  const std::vector<uint8_t> one_axis = format_npy(HostArray(boolean, {3}));
  CHECK(std::string(one_axis.begin() + 10, one_axis.begin() + 67) ==
        "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }");
}

TEST_CASE("npy: Fortran order, version 2, big-endian, spaces and Python 2's long integers") {
  const HostArray fortran = parse(file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", {1, 2, 3, 4, 5, 6}));
  CHECK(fortran.shape() == Shape{2, 3});
  CHECK(std::vector<uint8_t>(fortran.bytes().begin(), fortran.bytes().end()) == std::vector<uint8_t>{1, 3, 5, 2, 4, 6});
  const HostArray big = parse(file("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", {1, 2, 3, 4}, 2));
  CHECK(big.values<int16_t>()[0] == 0x0102);
  const HostArray scalar = parse(file("{ 'shape':(),'fortran_order':False ,\"descr\" : '<i4' }  \n", {7, 0, 0, 0}));
  CHECK(scalar.values<int32_t>()[0] == 7);
  CHECK(parse(file("{'descr': '<i2', 'fortran_order': False, 'shape': (1L, 1L), }", {1, 0})).shape() == Shape{1, 1});
}

TEST_CASE("npy: bf16 and 8-bit floats by the convention of ml_dtypes") {
  CHECK(parse(file("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }", {0x80, 0x3f})).value(0) == 1);
  const auto raw = file("{'descr': '|V1', 'fortran_order': False, 'shape': (1,), }", {0x38});
  CHECK(parse(raw, f8e4m3fn).value(0) == 1);
  CHECK(error_message([&] { parse(raw); }) ==
        "x.npy: elements '|V1' may be any 8-bit float (hint: say which: f8e4m3fn, f8e5m2, f8e4m3fnuz, f8e5m2fnuz)");
  CHECK(parse(file("{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }", {0x80, 0x3f}), bf16).value(0) == 1);
}

TEST_CASE("npy: each kind of damage is refused with file and fact") {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  const std::vector<uint8_t> eight(8);
  auto message = [](const std::vector<uint8_t>& bytes, std::optional<DType> expected = {}) {
    return error_message([&] { parse(bytes, expected); });
  };
  auto with = [&](std::string header) { return message(file(header, eight)); };
  CHECK(message(file(good, eight)) == "");
  CHECK(message({}) == "x.npy: cut short: 0 bytes are too few for a .npy file");
  CHECK(message(std::vector<uint8_t>(20, 'x')) == "x.npy: not a .npy file");
  CHECK(message(file(good, eight, 4)) == "x.npy: .npy format version 4: 1 to 3 can be read");
  CHECK(message(file(good, std::vector<uint8_t>(7))) == "x.npy: cut short: shape [2] of f32 takes 8 bytes, 7 are there");
  CHECK(message(file(good, std::vector<uint8_t>(9))) == "x.npy: 1 bytes follow the array's end");
  CHECK(message(file(good, eight), f16) == "x.npy: elements are '<f4' (f32), expected f16");
  CHECK(with("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }") ==
        "x.npy: element type '<c8' has no counterpart in Lathe");
  CHECK(with("{'descr': 'f4', 'fortran_order': False, 'shape': (2,), }") == "x.npy: unknown element type 'f4'");
  CHECK(with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }") ==
        "x.npy: structured elements are not supported");
  CHECK(with("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }") == "x.npy: the header is malformed");
  CHECK(with("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }") == "x.npy: the header's shape is malformed");
  CHECK(with("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }") ==
        "x.npy: shape [-2] has a negative extent");
  CHECK(with("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }") ==
        "x.npy: the header's shape is malformed");
  CHECK(with("{'descr': '<f4', 'shape': (2,), }") == "x.npy: the header lacks descr, fortran_order or shape");
  CHECK(with("{'descr': '<f4', 'order': 1}") == "x.npy: unknown key 'order' in the header");
  const std::vector<uint8_t> whole = file(good, eight);
  for (size_t size = 0; size < whole.size(); ++size)
    CHECK(message({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}).find("x.npy: cut short") == 0);
}

TEST_CASE("npy files on disk") {
  const std::string path = std::string(RUNTIME_TEST_OBJECTS) + "/disk.npy";
  const HostArray array = HostArray::from(std::vector<double>{1.5, -2.5}, {2, 1});
  write_npy(path, array);
  CHECK(read_npy(path) == array);
  CHECK(error_message([] { read_npy("/nonexistent/a.npy"); }) ==
        "/nonexistent/a.npy: cannot be opened: No such file or directory");
  CHECK(error_message([&] { write_npy("/nonexistent/a.npy", array); }) == "/nonexistent/a.npy: cannot be created");
}
