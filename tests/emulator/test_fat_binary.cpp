// Fat binaries as hipModuleLoadData takes them: which code object is chosen, compressed forms, damage.
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {

using Bytes = std::vector<char>;

void append(Bytes& to, u64 value, size_t width) {
  for (size_t k = 0; k < width; k++) to.push_back(char(value >> (8 * k)));
}
// As clang-offload-bundler lays it out: magic, count, (offset, size, id) each, then the images.
Bytes bundle(const std::vector<std::pair<std::string, Bytes>>& entries) {
  size_t at = 32;
  for (const auto& [id, image] : entries) at += 24 + id.size();
  Bytes out;
  for (const char c : std::string("__CLANG_OFFLOAD_BUNDLE__")) out.push_back(c);
  append(out, entries.size(), 8);
  for (const auto& [id, image] : entries) {
    append(out, at, 8), append(out, image.size(), 8), append(out, id.size(), 8);
    out.insert(out.end(), id.begin(), id.end());
    at += image.size();
  }
  for (const auto& [id, image] : entries) out.insert(out.end(), image.begin(), image.end());
  return out;
}
Bytes compress(const Bytes& from, unsigned version, bool zstd) {
  Bytes stream(zstd ? ZSTD_compressBound(from.size()) : compressBound(from.size()));
  if (zstd) {
    stream.resize(ZSTD_compress(stream.data(), stream.size(), from.data(), from.size(), 3));
  } else {
    uLongf size = stream.size();
    REQUIRE(::compress(reinterpret_cast<Bytef*>(stream.data()), &size, reinterpret_cast<const Bytef*>(from.data()), from.size()) == Z_OK);
    stream.resize(size);
  }
  Bytes out = {'C', 'C', 'O', 'B'};
  append(out, version, 2), append(out, zstd, 2);
  const size_t width = version == 3 ? 8 : 4, header = version == 1 ? 20 : version == 2 ? 24 : 32;
  if (version > 1) append(out, header + stream.size(), width);
  append(out, from.size(), width);
  append(out, 0x0123456789abcdef, 8);
  out.insert(out.end(), stream.begin(), stream.end());
  return out;
}

// A kernel per target that tells for which it was compiled.
Bytes code(const std::string& cpu, int mark) {
  return read_file(compile_opencl_text("kernel void which(global int* out) { *out = " + std::to_string(mark) + "; }", cpu, "-O2 -mcode-object-version=6"));
}
std::string id(const std::string& target) { return "hipv4-amdgcn-amd-amdhsa--" + target; }

hipError_t load(const std::string& arch, const void* bytes, hipModule_t* m) {
  check(hipSetDevice(lathe_emulator_add_device(arch.c_str())), "hipSetDevice");
  lathe_emulator_clear_report();
  return hipModuleLoadData(m, bytes);
}
int which(const std::string& arch, const Bytes& image) {
  hipModule_t m = nullptr;
  ok(load(arch, image.data(), &m));
  hipFunction_t f = nullptr;
  ok(hipModuleGetFunction(&f, m, "which"));
  Buffer<int> out(1);
  ok(launch(f, {1}, {1}, 0, out));
  ok(hipModuleUnload(m));
  return out.get()[0];
}

// The same bytes at the end of a page that nothing follows: a read past them would crash.
class AtPageEnd {
 public:
  explicit AtPageEnd(const Bytes& bytes, size_t size) : room_((size / 4096 + 1) * 4096) {
    map_ = static_cast<char*>(mmap(nullptr, room_ + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(data(size), bytes.data(), size);
    REQUIRE(mprotect(map_ + room_, 4096, PROT_NONE) == 0);
    size_ = size;
  }
  ~AtPageEnd() { munmap(map_, room_ + 4096); }
  const void* data() const { return map_ + room_ - size_; }

 private:
  char* data(size_t size) { return map_ + room_ - size; }
  char* map_;
  size_t room_, size_ = 0;
};

}  // namespace

TEST_CASE("a fat binary's code object is chosen by target id", "[fat]") {
  const Bytes any = code("gfx90a", 1), off = code("gfx90a:xnack-", 2), on = code("gfx90a:xnack+", 3), generic = code("gfx9-4-generic", 4), exact = code("gfx942", 5),
              ecc = code("gfx90a:sramecc+:xnack-", 6), no_ecc = code("gfx90a:sramecc-", 7);
  // Exact features before any, whatever the order.
  CHECK(which("gfx90a", bundle({{"host-x86_64-unknown-linux-gnu-", {}}, {id("gfx90a"), any}, {id("gfx90a:xnack-"), off}})) == 2);
  CHECK(which("gfx90a", bundle({{id("gfx90a:xnack-"), off}, {id("gfx90a"), any}})) == 2);
  CHECK(which("gfx90a", bundle({{id("gfx90a:xnack-"), off}, {id("gfx90a:sramecc+:xnack-"), ecc}})) == 6);
  // Code for the other setting does not run.
  CHECK(which("gfx90a", bundle({{id("gfx90a:xnack+"), on}, {id("gfx90a:sramecc-"), no_ecc}, {id("gfx90a"), any}})) == 1);
  // Generic code where there is no exact.
  CHECK(which("gfx942", bundle({{id("gfx9-4-generic"), generic}, {id("gfx90a"), any}})) == 4);
  CHECK(which("gfx942", bundle({{id("gfx9-4-generic"), generic}, {id("gfx942"), exact}})) == 5);
  // Older spellings of the id.
  CHECK(which("gfx942", bundle({{"hip-amdgcn-amd-amdhsa-gfx942", exact}})) == 5);
  CHECK(which("gfx942", bundle({{"hip-amdgcn-amd-amdhsa-unknown-gfx942", exact}})) == 5);

  hipModule_t m = nullptr;
  const Bytes others = bundle({{id("gfx90a:xnack+"), on}, {id("gfx942"), exact}, {"hip-spirv64-amd-amdhsa--amdgcnspirv", exact}});
  REQUIRE(load("gfx90a", others.data(), &m) == hipErrorNoBinaryForGpu);
  REQUIRE(lathe_emulator_last_report() ==
          std::string("lathe emulator: hipModuleLoadData: no code object for gfx90a:sramecc+:xnack-: the fat binary has gfx90a:xnack+, gfx942, "
                      "hip-spirv64-amd-amdhsa--amdgcnspirv"));
}

TEST_CASE("compressed fat binaries of every version and method", "[fat]") {
  const Bytes plain = bundle({{id("gfx906"), code("gfx906", 1)}, {id("gfx1100"), code("gfx1100", 2)}});
  for (unsigned version : {1, 2, 3})
    for (bool zstd : {false, true}) {
      INFO("version " << version << (zstd ? " zstd" : " zlib"));
      const Bytes packed = compress(plain, version, zstd);
      CHECK(which("gfx906", packed) == 1);
      CHECK(which("gfx1100", packed) == 2);
    }
}

TEST_CASE("damaged fat binaries are errors, never crashes", "[fat]") {
  const Bytes plain = bundle({{id("gfx906"), code("gfx906", 1)}, {id("gfx1100"), code("gfx1100", 2)}});
  std::mt19937 random(7);
  for (const Bytes& whole : {plain, compress(plain, 1, true), compress(plain, 2, false), compress(plain, 3, true)}) {
    // Cut off anywhere: what the chosen entry needs is missing.
    for (size_t size = 0; size < whole.size(); size += size < 160 ? 7 : 397) {
      const AtPageEnd cut(whole, size);
      hipModule_t m = nullptr;
      INFO("first " << size << " of " << whole.size() << " bytes");
      REQUIRE(load("gfx1100", cut.data(), &m) != hipSuccess);
      REQUIRE(lathe_emulator_last_report() != std::string());
    }
    for (int n = 0; n < 60; n++) {
      Bytes altered = whole;
      for (int k = 0; k < 3; k++) altered[n % 2 ? random() % 160 : random() % altered.size()] ^= char(1 << random() % 8);
      const AtPageEnd bad(altered, altered.size());
      hipModule_t m = nullptr;
      if (load("gfx1100", bad.data(), &m) == hipSuccess) REQUIRE(hipModuleUnload(m) == hipSuccess);
      else REQUIRE(lathe_emulator_last_report() != std::string());
    }
  }
}

TEST_CASE("a compressed fat binary's lengths are not believed", "[fat]") {
  const Bytes plain = bundle({{id("gfx906"), code("gfx906", 1)}});
  auto report = [](const Bytes& image) {
    hipModule_t m = nullptr;
    REQUIRE(load("gfx906", image.data(), &m) == hipErrorInvalidImage);
    return std::string(lathe_emulator_last_report());
  };
  auto altered = [&](unsigned version, bool zstd, size_t at, u64 value, size_t width) {
    Bytes image = compress(plain, version, zstd);
    for (size_t k = 0; k < width; k++) image[at + k] = char(value >> (8 * k));
    return image;
  };
  CHECK_THAT(report(altered(3, true, 16, u64(1) << 40, 8)), Contains("unpacks to 1099511627776 bytes, above the limit"));
  CHECK_THAT(report(altered(3, true, 16, plain.size() + 1, 8)), Contains("bytes of contents, its header says"));
  CHECK_THAT(report(altered(2, false, 12, 100, 4)), Contains("unpacks to more than the 100 bytes"));
  CHECK_THAT(report(altered(2, false, 12, plain.size() + 9, 4)), Contains("its header says"));
  CHECK_THAT(report(altered(2, true, 8, 24, 4)), Contains("24 bytes, 24 of which are its header"));
  CHECK_THAT(report(altered(2, true, 8, 100, 4)), Contains("is cut off: 0 of"));
  CHECK_THAT(report(altered(2, true, 4, 9, 2)), Contains("compressed bundle of version 9"));
  CHECK_THAT(report(altered(2, true, 6, 5, 2)), Contains("uses method 5"));
  CHECK_THAT(report(altered(2, false, 30, 0xffffffff, 4)), Contains("damaged zlib stream"));
}
