#include "runtime/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>

#include "runtime/base/error.h"
#include "runtime/read_file.h"

namespace lathe {
namespace {

// Source: NumPy's NEP 1 and numpy/lib/format.py, format versions 1.0 to 3.0.
constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr size_t data_alignment = 64;

// NumPy's kind and size for a type; the first row that fits is written.
struct NpyRow {
  std::string_view code;
  DType type;
};
constexpr NpyRow npy_rows[] = {
    {"b1", boolean}, {"i1", i8},  {"i2", i16}, {"i4", i32}, {"i8", i64},  {"u1", u8},      {"u2", u16},
    {"u4", u32},     {"u8", u64}, {"f2", f16}, {"f4", f32}, {"f8", f64},  {"V2", bf16},
};

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// The header is a Python dictionary of three known keys: only that much of Python is understood.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header parse() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        if (peek() == '[') fail("structured elements are not supported");
        header.descr = quoted();
        has_descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean_word();
        has_order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        has_shape = true;
      } else {
        fail(fmt::format("unknown key '{}' in the header", key));
      }
      if (!accept(',') && peek() != '}') fail("the header is malformed");
    }
    if (!has_descr || !has_order || !has_shape) fail("the header lacks descr, fortran_order or shape");
    if (peek() != '\0') fail("the header is malformed");
    return header;
  }

 private:
  char peek() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
    return text_.empty() ? '\0' : text_[0];
  }
  bool accept(char c) {
    if (peek() != c || c == '\0') return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail("the header is malformed");
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("the header is malformed");
    const size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) fail("the header is malformed");
    std::string result(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return result;
  }
  bool boolean_word() {
    peek();
    for (auto [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return value;
      }
    fail("the header is malformed");
  }
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      peek();
      int64_t extent = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc{}) fail("the header's shape is malformed");
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      accept('L');  // Python 2 wrote long integers so
      shape.push_back(extent);
      if (!accept(',') && peek() != ')') fail("the header's shape is malformed");
    }
    return shape;
  }
  [[noreturn]] void fail(std::string what) const { throw Error(where_, std::move(what)); }

  std::string_view text_;
  const std::string& where_;
};

DType type_of(const Header& header, std::optional<DType> expected, const std::string& where) {
  const std::string& descr = header.descr;
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    throw Error(where, fmt::format("unknown element type '{}'", descr));
  const std::string_view code = std::string_view(descr).substr(1);
  std::optional<DType> stored;
  for (const NpyRow& row : npy_rows)
    if (row.code == code) stored = row.type;
  const bool raw = code == "V1" || code == "V2";
  if (!stored && !raw)
    throw Error(where, fmt::format("element type '{}' has no counterpart in Lathe", descr));
  if (!expected) {
    if (!stored)
      throw Error(where, "elements '|V1' may be any 8-bit float", "say which: f8e4m3fn, f8e5m2, f8e4m3fnuz, f8e5m2fnuz");
    return *stored;
  }
  if (stored == expected) return *expected;
  const bool bits_of = raw || stored->kind == TypeKind::uint;
  if (bits_of && code.substr(1) == std::to_string(expected->bytes()) && expected->is_float()) return *expected;
  throw Error(where, fmt::format("elements are '{}'{}, expected {}", descr,
                                 stored ? fmt::format(" ({})", to_string(*stored)) : "", to_string(*expected)));
}

// From Fortran order (the first axis varies fastest) to C order.
std::vector<uint8_t> to_c_order(std::span<const uint8_t> data, const Shape& shape, size_t width) {
  std::vector<uint8_t> result(data.size());
  std::vector<size_t> strides(shape.size());  // of the Fortran layout, in bytes
  size_t stride = width;
  for (size_t i = 0; i < shape.size(); ++i) {
    strides[i] = stride;
    stride *= static_cast<size_t>(shape[i]);
  }
  std::vector<int64_t> index(shape.size());
  size_t from = 0;
  for (size_t to = 0; to < result.size(); to += width) {
    std::memcpy(&result[to], &data[from], width);
    for (size_t axis = shape.size(); axis-- > 0;) {  // count up in C order
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * static_cast<size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return result;
}

}  // namespace

HostArray parse_npy(std::span<const uint8_t> bytes, const std::string& where, std::optional<DType> expected) {
  if (bytes.size() < 10) throw Error(where, fmt::format("cut short: {} bytes are too few for a .npy file", bytes.size()));
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) throw Error(where, "not a .npy file");
  const unsigned major = bytes[6];
  if (major < 1 || major > 3) throw Error(where, fmt::format(".npy format version {}: 1 to 3 can be read", major));
  const size_t length_bytes = major == 1 ? 2 : 4;
  size_t header_bytes = 0;
  if (bytes.size() < 8 + length_bytes) throw Error(where, "cut short in the header");
  for (size_t i = 0; i < length_bytes; ++i) header_bytes |= size_t{bytes[8 + i]} << (8 * i);
  if (bytes.size() - 8 - length_bytes < header_bytes) throw Error(where, "cut short in the header");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8 + length_bytes, header_bytes);
  Header header = HeaderParser(text, where).parse();

  const DType type = type_of(header, expected, where);
  const auto width = static_cast<size_t>(type.bytes());
  const std::span<const uint8_t> data = bytes.subspan(8 + length_bytes + header_bytes);
  const size_t needed = static_cast<size_t>(element_count(header.shape, type.bytes(), where)) * width;
  if (data.size() < needed)
    throw Error(where, fmt::format("cut short: shape {} of {} takes {} bytes, {} are there", to_string(header.shape),
                                   to_string(type), needed, data.size()));
  if (data.size() > needed)
    throw Error(where, fmt::format("{} bytes follow the array's end", data.size() - needed));
  std::vector<uint8_t> contents = header.fortran_order && header.shape.size() > 1
                                      ? to_c_order(data, header.shape, width)
                                      : std::vector<uint8_t>(data.begin(), data.end());
  if (header.descr[0] == '>')
    for (size_t i = 0; i < contents.size(); i += width) std::reverse(&contents[i], &contents[i] + width);
  return HostArray(type, std::move(header.shape), std::move(contents));
}

std::vector<uint8_t> format_npy(const HostArray& array) {
  std::string code = "V1";  // the 8-bit floats
  for (const NpyRow& row : npy_rows)
    if (row.type == array.dtype()) code = row.code;
  const char order = array.dtype().bytes() == 1 ? '|' : '<';
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order, code,
                                   fmt::join(array.shape(), ", "), array.shape().size() == 1 ? "," : "");
  const size_t unpadded = magic.size() + 4 + header.size() + 1;
  header.append((data_alignment - unpadded % data_alignment) % data_alignment, ' ');
  header += '\n';
  if (header.size() > 0xffff) throw Error("npy", fmt::format("{} axes do not fit the header", array.shape().size()));
  std::string prefix(magic);
  for (size_t byte : {size_t{1}, size_t{0}, header.size() & 0xff, header.size() >> 8})
    prefix += static_cast<char>(byte);
  prefix += header;
  std::vector<uint8_t> bytes(prefix.begin(), prefix.end());
  bytes.insert(bytes.end(), array.bytes().begin(), array.bytes().end());
  return bytes;
}

HostArray read_npy(const std::filesystem::path& path, std::optional<DType> expected) {
  return parse_npy(read_file(path), path.string(), expected);
}

void write_npy(const std::filesystem::path& path, const HostArray& array) {
  const std::vector<uint8_t> bytes = format_npy(array);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) throw Error(path.string(), "cannot be created");
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error(path.string(), fmt::format("{} bytes could not be written", bytes.size()));
}

}  // namespace lathe
