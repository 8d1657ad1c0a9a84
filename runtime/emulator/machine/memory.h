// Device memory: host memory in allocations whose exact bounds are known. A device address is the host
// address, so that pinned memory and kernel arguments need no translation; neighbours are never adjacent.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>

#include "types.h"

namespace lathe::emu {

struct Allocation {
  // registered: the client's own pages, which it pinned; managed: both sides use the pointer.
  enum class Kind : u8 { device, host, code, kernarg, scratch, managed, registered };
  u64 base = 0, size = 0;
  Kind kind = Kind::device;
  bool writable = true;
  int device = 0;
  u32 id = 0;
  u32 flags = 0;           // as the client gave them
  std::string name;        // "hipMalloc #3", "kernel arguments", "code object"
  // Per byte: which bits have been written; nullptr if all count as written. Zero pages cost nothing.
  u8* defined = nullptr;
  u64 mapped_base = 0, mapped_size = 0;  // with the guards around it; 0 if the pages are the client's
  // Who touched each dword last (strict mode, machine/races.h); mapped at first use.
  struct Touches* touches = nullptr;
};

// Per dword of an allocation: the last write and the last reads, as packed tags, and where they stand.
struct Touches {
  u64 *write = nullptr, *read = nullptr;
  u32 *write_at = nullptr, *read_at = nullptr;
  u64 dwords = 0;
};

class Memory {
 public:
  // Throws std::bad_alloc. `track` keeps a record of undefined bytes.
  Allocation* allocate(u64 size, Allocation::Kind kind, std::string name, bool track, int device = 0);
  // Enters pages that are the client's own. nullptr if they overlap something live.
  Allocation* adopt(u64 base, u64 size, Allocation::Kind kind, std::string name, int device);
  bool release(u64 base, Allocation::Kind kind);  // false if it is no allocation's base
  void release_all(int device);

  Allocation* find(u64 address);                  // the allocation that holds this byte, or nullptr
  // The host has written these bytes (memcpy, memset).
  void mark_defined(u64 address, u64 size);
  void copy_defined(u64 to, u64 from, u64 size);  // device to device: definedness moves along
  u64 bytes_in_use(int device);

  // Nullptr for memory that kernels cannot write. Thread-safe.
  Touches* touches(Allocation&);
  void forget_touches();                          // of all allocations

  // "12 bytes past the end of hipMalloc #3 (1024 bytes at 0x...)", for reports.
  std::string describe(u64 address);
  bool was_freed(u64 address, std::string* what);

  // Whoever works with allocations beyond one call of find() holds a Use: what is released meanwhile is gone
  // from find() at once, but object and pages stay until every Use that may know of them has ended.
  class Use {
   public:
    Use();
    ~Use();
    Use(const Use&) = delete;
   private:
    u64 ticket_;
  };

 private:
  struct Retired { u64 ticket; std::unique_ptr<Allocation> a; };
  void unmap(std::unique_ptr<Allocation>);
  std::shared_mutex mutex_;
  std::map<u64, std::unique_ptr<Allocation>> live_;
  std::map<u64, Allocation> freed_;  // by base; the most recent ones
  std::deque<u64> freed_order_;
  u32 next_id_ = 1;
  u64 next_ticket_ = 1;
  std::set<u64> uses_;
  std::deque<Retired> retired_;      // by rising ticket
};

Memory& memory();

}  // namespace lathe::emu
