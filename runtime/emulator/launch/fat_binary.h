// Fat binaries: code objects for several targets in one image, as clang's offload bundler writes them, plain or
// compressed (Clang documentation, "Clang Offload Bundler": bundled binary file layout, compressed bundles).
#pragma once

#include <string>
#include <vector>

#include "launch/byte_source.h"
#include "launch/target_id.h"

namespace lathe::emu {

class FatBinary {
 public:
  struct Entry {
    std::string id;         // "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"
    TargetId target;
    u64 offset, size;
  };

  static bool begins(std::span<const u8> head);        // is this one of the two formats?
  // Reads headers, and unpacks a compressed one. Throws BadImage. A plain one is read entry by entry later: what
  // lies at `source` must stay.
  explicit FatBinary(const ByteSource& source);
  FatBinary(FatBinary&&) = default;

  const Entry* choose(const Isa& device) const;        // nullptr: nothing here runs on it
  std::vector<u8> image(const Entry&) const;           // throws BadImage where the entry is cut off
  std::string targets() const;                         // "gfx906, gfx90a:xnack-", for reports

 private:
  ByteSource source_;
  std::vector<u8> unpacked_;                           // of a compressed bundle; source_ then reads from here
  std::vector<Entry> entries_;
  std::vector<std::string> foreign_;                   // ids of entries for no AMDGPU
};

// The code object for `device` in an image that is one itself or a fat binary. Throws BadImage, or WrongTarget
// with what there is instead.
std::vector<u8> code_object_for(const ByteSource& image, const Isa& device);

}  // namespace lathe::emu
