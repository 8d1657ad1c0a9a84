#include "launch/compressed_bundle.h"

#include <zlib.h>
#include <zstd.h>

#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "launch/code_object.h"

namespace lathe::emu {
namespace {

// Magic, u16 version, u16 method, then: version 1 u32 unpacked size; version 2 u32 size of the whole file and
// u32 unpacked size; version 3 the same as u64. A u64 hash of the contents ends each (LLVM reads it for verbose output
// alone, and nobody promises its kind: not checked here).
struct Header {
  u16 version, method;
  u64 size;       // of header and stream; 0: not said
  u64 unpacked;
  u64 bytes;      // of the header
};
enum Method : u16 { zlib = 0, zstd = 1 };

// Large libraries come to some hundred MB; a header may not make us take all memory.
constexpr u64 most_unpacked = u64(4) << 30;

Header read_header(const ByteSource& source) {
  const std::vector<u8> head = source.read(0, 32);
  auto field = [&](u64 at, u64 width) {
    if (head.size() < at + width) throw BadImage(fmt::format("compressed bundle is cut off in its header, after {} bytes", head.size()));
    u64 x = 0;
    std::memcpy(&x, head.data() + at, width);
    return x;
  };
  Header h{u16(field(4, 2)), u16(field(6, 2)), 0, 0, 0};
  switch (h.version) {
    case 1: h.unpacked = field(8, 4), h.bytes = 20; break;
    case 2: h.size = field(8, 4), h.unpacked = field(12, 4), h.bytes = 24; break;
    case 3: h.size = field(8, 8), h.unpacked = field(16, 8), h.bytes = 32; break;
    default: throw BadImage(fmt::format("compressed bundle of version {} (1, 2 and 3 are known)", h.version));
  }
  if (head.size() < h.bytes) throw BadImage("compressed bundle is cut off in its header");
  if (h.version > 1 && h.size <= h.bytes) throw BadImage(fmt::format("compressed bundle says that it has {} bytes, {} of which are its header", h.size, h.bytes));
  if (h.unpacked > most_unpacked) throw BadImage(fmt::format("compressed bundle says that it unpacks to {} bytes, above the limit of {}", h.unpacked, most_unpacked));
  return h;
}

// The stream in pieces, each up to the end that the header tells.
class Pieces {
 public:
  Pieces(const ByteSource& source, const Header& h) : source_(source), at_(h.bytes), end_(h.size ? h.size : ~u64(0)) {}
  std::vector<u8> next() {
    std::vector<u8> piece = source_.read(at_, std::min<u64>(u64(1) << 16, end_ - at_));
    at_ += piece.size();
    return piece;
  }

 private:
  const ByteSource& source_;
  u64 at_, end_;
};

[[noreturn]] void cut_off(u64 got, const Header& h) { throw BadImage(fmt::format("compressed bundle is cut off: {} of {} bytes could be unpacked", got, h.unpacked)); }
[[noreturn]] void too_long(const Header& h) { throw BadImage(fmt::format("compressed bundle unpacks to more than the {} bytes that its header says", h.unpacked)); }

// Output grows with what arrives, so that a large number in a small file costs nothing.
u64 room_for_more(std::vector<u8>& out, const Header& h) {
  const u64 had = out.size();
  // One byte more than promised: a stream that is too long shows itself.
  out.resize(std::min<u64>(h.unpacked + 1, had + std::max<u64>(u64(1) << 18, had)));
  return had;
}

std::vector<u8> unpack_zlib(Pieces pieces, const Header& h) {
  z_stream stream = {};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  std::vector<u8> out;
  u64 filled = 0;
  while (true) {
    std::vector<u8> piece = pieces.next();
    if (piece.empty()) cut_off(filled, h);
    stream.next_in = piece.data(), stream.avail_in = uInt(piece.size());
    while (true) {
      if (filled == out.size()) room_for_more(out, h);
      if (filled == out.size()) too_long(h);
      const uInt room = uInt(std::min<u64>(out.size() - filled, u64(1) << 30));
      stream.next_out = out.data() + filled, stream.avail_out = room;
      const int status = inflate(&stream, Z_NO_FLUSH);
      filled += room - stream.avail_out;
      if (status == Z_STREAM_END) {
        out.resize(filled);
        return out;
      }
      if (status == Z_BUF_ERROR || (status == Z_OK && stream.avail_in == 0 && stream.avail_out != 0)) break;  // wants more input
      if (status != Z_OK) throw BadImage(fmt::format("compressed bundle has a damaged zlib stream: {}", stream.msg ? stream.msg : "no reason given"));
    }
  }
}

std::vector<u8> unpack_zstd(Pieces pieces, const Header& h) {
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (!context) throw std::bad_alloc();
  // clang compresses with windows as large as the contents; what they may cost is bounded as the contents are.
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
  std::vector<u8> out;
  u64 filled = 0;
  bool first = true;
  while (true) {
    std::vector<u8> piece = pieces.next();
    if (piece.empty()) cut_off(filled, h);
    if (first) {
      const unsigned long long size = ZSTD_getFrameContentSize(piece.data(), piece.size());
      if (size == ZSTD_CONTENTSIZE_ERROR) throw BadImage("compressed bundle has no zstd stream after its header");
      if (size != ZSTD_CONTENTSIZE_UNKNOWN && size != h.unpacked)
        throw BadImage(fmt::format("compressed bundle's stream has {} bytes of contents, its header says {}", size, h.unpacked));
      first = false;
    }
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    while (true) {
      if (filled == out.size()) room_for_more(out, h);
      if (filled == out.size()) too_long(h);
      ZSTD_outBuffer to{out.data(), out.size(), filled};
      const size_t status = ZSTD_decompressStream(context.get(), &to, &in);
      if (ZSTD_isError(status)) throw BadImage(fmt::format("compressed bundle has a damaged zstd stream: {}", ZSTD_getErrorName(status)));
      filled = to.pos;
      if (status == 0) {
        out.resize(filled);
        return out;
      }
      if (in.pos == in.size && to.pos < to.size) break;  // wants more input
    }
  }
}

}  // namespace

bool is_compressed_bundle(std::span<const u8> head) { return head.size() >= 4 && std::memcmp(head.data(), "CCOB", 4) == 0; }

std::vector<u8> unpack_bundle(const ByteSource& source) {
  const Header h = read_header(source);
  std::vector<u8> out;
  if (h.method == zlib) out = unpack_zlib(Pieces(source, h), h);
  else if (h.method == zstd) out = unpack_zstd(Pieces(source, h), h);
  else throw BadImage(fmt::format("compressed bundle uses method {} (0 zlib and 1 zstd are known)", h.method));
  if (out.size() != h.unpacked) throw BadImage(fmt::format("compressed bundle unpacks to {} bytes, its header says {}", out.size(), h.unpacked));
  return out;
}

}  // namespace lathe::emu
