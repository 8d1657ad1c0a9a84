#include "launch/fat_binary.h"

#include <cstring>

#include <fmt/format.h>

#include "launch/code_object.h"
#include "launch/compressed_bundle.h"

namespace lathe::emu {
namespace {

constexpr std::string_view magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr u64 most_entries = 4096, longest_id = 4096;

// The target in an entry's id: kind, triple (three or four parts), target id. Generic processors have hyphens, so it
// is looked for by its beginning.
std::string_view target_of(std::string_view id) {
  if (!id.starts_with("hip-") && !id.starts_with("hipv4-")) return {};
  const size_t os = id.find("-amdgcn-");
  const size_t at = os == id.npos ? id.npos : id.find("-gfx", os);
  return at == id.npos ? std::string_view{} : id.substr(at + 1);
}

bool is_plain(std::span<const u8> head) { return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0; }

}  // namespace

bool FatBinary::begins(std::span<const u8> head) { return is_plain(head) || is_compressed_bundle(head); }

FatBinary::FatBinary(const ByteSource& source) : source_(source) {
  if (is_compressed_bundle(source.read(0, 4))) {
    unpacked_ = unpack_bundle(source);
    source_ = ByteSource(std::span<const u8>(unpacked_));
  }
  u64 at = 0;
  auto take = [&](u64 size) {
    std::vector<u8> bytes = source_.read(at, size);
    if (bytes.size() != size) throw BadImage(fmt::format("offload bundle is cut off: {} bytes wanted at offset {}, {} are there", size, at, bytes.size()));
    at += size;
    return bytes;
  };
  auto number = [&] {
    u64 x;
    std::memcpy(&x, take(8).data(), 8);
    return x;
  };
  if (!is_plain(take(magic.size()))) throw BadImage("no offload bundle: it does not begin with __CLANG_OFFLOAD_BUNDLE__");
  const u64 count = number();
  if (count > most_entries) throw BadImage(fmt::format("offload bundle says that it has {} entries, above the limit of {}", count, most_entries));
  for (u64 k = 0; k < count; k++) {
    Entry e;
    e.offset = number(), e.size = number();
    const u64 length = number();
    if (length > longest_id) throw BadImage(fmt::format("offload bundle's entry {} has an id of {} bytes", k, length));
    const std::vector<u8> id = take(length);
    e.id.assign(id.begin(), id.end());
    if (e.offset + e.size < e.offset) throw BadImage(fmt::format("offload bundle's entry {} has offset {} and size {}", e.id, e.offset, e.size));
    if (e.id.starts_with("host-")) continue;
    const auto target = parse_target_id(target_of(e.id));
    if (!target) foreign_.push_back(e.id);
    else if (e.size) e.target = *target, entries_.push_back(std::move(e));
  }
}

const FatBinary::Entry* FatBinary::choose(const Isa& device) const {
  const Entry* best = nullptr;
  int most = 0;
  for (const Entry& e : entries_)
    if (const int fits = suitability(e.target, device); fits > most) best = &e, most = fits;
  return best;
}

std::vector<u8> FatBinary::image(const Entry& e) const {
  if (e.size > u64(1) << 32) throw BadImage(fmt::format("offload bundle's entry {} says that it has {} bytes", e.id, e.size));
  std::vector<u8> bytes = source_.read(e.offset, e.size);
  if (bytes.size() != e.size) throw BadImage(fmt::format("offload bundle is cut off: {} has {} of {} bytes", e.id, bytes.size(), e.size));
  return bytes;
}

std::string FatBinary::targets() const {
  std::vector<std::string> names;
  for (const Entry& e : entries_) names.push_back(to_string(e.target));
  names.insert(names.end(), foreign_.begin(), foreign_.end());
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

std::vector<u8> code_object_for(const ByteSource& image, const Isa& device) {
  std::vector<u8> bytes = image.read(0, 64);
  if (FatBinary::begins(bytes)) {
    const FatBinary fat(image);
    const FatBinary::Entry* e = fat.choose(device);
    if (!e) throw WrongTarget(fmt::format("no code object for {}: the fat binary has {}", target_id(device), fat.targets()));
    return fat.image(*e);
  }
  // No length is given: an ELF's headers say where its parts are, each look may name more to read.
  if (bytes.size() >= 4 && std::memcmp(bytes.data(), "\177ELF", 4) == 0)
    for (u64 before = 0; before != bytes.size() && elf_size(bytes) > bytes.size();) {
      before = bytes.size();
      bytes = image.read(0, elf_size(bytes));
    }
  return bytes;
}

}  // namespace lathe::emu
