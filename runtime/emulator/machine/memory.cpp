#include "memory.h"

#include <sys/mman.h>

#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include <fmt/format.h>

namespace lathe::emu {
namespace {
constexpr u64 page = 4096;
constexpr size_t freed_kept = 1024;
u8* map_pages(u64 size) {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<u8*>(p);
}
}  // namespace

Memory& memory() {
  // Never destroyed: a client may free in its own static destructors.
  static Memory* m = new Memory;
  return *m;
}

Allocation* Memory::allocate(u64 size, Allocation::Kind kind, std::string name, bool track, int device) {
  if (size > (u64(1) << 46)) throw std::bad_alloc();
  // One guard page on both sides: neighbours are not adjacent, and the host faults too.
  const u64 body = (size + page - 1) / page * page + (size == 0 ? page : 0);
  auto a = std::make_unique<Allocation>();
  u8* p = map_pages(body + 2 * page);
  mprotect(p, page, PROT_NONE);
  mprotect(p + page + body, page, PROT_NONE);
  a->mapped_base = u64(p), a->mapped_size = body + 2 * page;
  a->base = u64(p) + page, a->size = size;
  a->kind = kind;
  a->device = device;
  a->writable = kind != Allocation::Kind::kernarg;
  if (track) a->defined = map_pages(body);
  std::unique_lock lock(mutex_);
  a->id = next_id_++;
  a->name = name.empty() ? std::string() : name;
  Allocation* raw = a.get();
  live_[raw->base] = std::move(a);
  return raw;
}

Allocation* Memory::adopt(u64 base, u64 size, Allocation::Kind kind, std::string name, int device) {
  auto a = std::make_unique<Allocation>();
  a->base = base, a->size = size, a->kind = kind, a->device = device, a->name = std::move(name);
  std::unique_lock lock(mutex_);
  const auto next = live_.lower_bound(base);
  if (next != live_.end() && next->first - base < size) return nullptr;
  if (next != live_.begin() && base - std::prev(next)->first < std::prev(next)->second->size) return nullptr;
  a->id = next_id_++;
  return (live_[base] = std::move(a)).get();
}

namespace {
void unmap_touches(Touches* t) {
  if (!t) return;
  munmap(t->write, t->dwords * 24);
  delete t;
}
}  // namespace

Touches* Memory::touches(Allocation& a) {
  Touches* t = __atomic_load_n(&a.touches, __ATOMIC_ACQUIRE);
  if (t || !a.writable || a.kind == Allocation::Kind::scratch) return t;
  auto made = std::make_unique<Touches>();
  made->dwords = (a.size + page) / 4;
  made->write = reinterpret_cast<u64*>(map_pages(made->dwords * 24));
  made->read = made->write + made->dwords;
  made->write_at = reinterpret_cast<u32*>(made->read + made->dwords);
  made->read_at = made->write_at + made->dwords;
  if (!__atomic_compare_exchange_n(&a.touches, &t, made.get(), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    unmap_touches(made.release());
    return t;
  }
  return made.release();
}

void Memory::forget_touches() {
  std::shared_lock lock(mutex_);
  for (auto& [base, a] : live_)
    if (Touches* t = __atomic_load_n(&a->touches, __ATOMIC_ACQUIRE)) madvise(t->write, t->dwords * 24, MADV_DONTNEED);
}

bool Memory::release(u64 base, Allocation::Kind kind) {
  std::unique_lock lock(mutex_);
  auto it = live_.find(base);
  if (it == live_.end() || it->second->kind != kind) return false;
  std::unique_ptr<Allocation> a = std::move(it->second);
  live_.erase(it);
  if (a->mapped_size && kind != Allocation::Kind::kernarg && kind != Allocation::Kind::scratch) {
    // The addresses stay taken for a while, so that a late access is told from one to something new.
    Allocation& name = freed_[base] = *a;
    name.defined = nullptr, name.touches = nullptr;
    freed_order_.push_back(base);
  }
  if (uses_.empty()) unmap(std::move(a));
  else retired_.push_back({next_ticket_, std::move(a)});
  return true;
}

// The lock is held. Pages that freed_ names keep their place.
void Memory::unmap(std::unique_ptr<Allocation> a) {
  if (a->defined) munmap(a->defined, a->mapped_size - 2 * page);
  unmap_touches(a->touches);
  if (!a->mapped_size) return;
  void* mapped = reinterpret_cast<void*>(a->mapped_base);
  const auto freed = freed_.find(a->base);
  if (freed == freed_.end()) {
    munmap(mapped, a->mapped_size);
    return;
  }
  madvise(mapped, a->mapped_size, MADV_DONTNEED);
  mprotect(mapped, a->mapped_size, PROT_NONE);
  // The oldest go for good; those still in use are at the far end, or the next round takes them.
  while (freed_order_.size() > freed_kept && freed_order_.front() != a->base) {
    const u64 base = freed_order_.front();
    for (const Retired& r : retired_)
      if (r.a->base == base) return;
    const auto oldest = freed_.find(base);
    munmap(reinterpret_cast<void*>(oldest->second.mapped_base), oldest->second.mapped_size);
    freed_.erase(oldest);
    freed_order_.pop_front();
  }
}

Memory::Use::Use() {
  Memory& m = memory();
  std::unique_lock lock(m.mutex_);
  ticket_ = m.next_ticket_++;
  m.uses_.insert(ticket_);
}
Memory::Use::~Use() {
  Memory& m = memory();
  std::unique_lock lock(m.mutex_);
  m.uses_.erase(ticket_);
  // What was retired at ticket t may be known to uses below t.
  while (!m.retired_.empty() && (m.uses_.empty() || m.retired_.front().ticket <= *m.uses_.begin())) {
    std::unique_ptr<Allocation> a = std::move(m.retired_.front().a);
    m.retired_.pop_front();
    m.unmap(std::move(a));
  }
}

void Memory::release_all(int device) {
  std::vector<std::pair<u64, Allocation::Kind>> all;
  {
    std::shared_lock lock(mutex_);
    for (auto& [base, a] : live_)
      if (a->device == device && (a->kind == Allocation::Kind::device || a->kind == Allocation::Kind::host || a->kind == Allocation::Kind::managed || a->kind == Allocation::Kind::registered)) all.emplace_back(base, a->kind);
  }
  for (auto [base, kind] : all) release(base, kind);
}

Allocation* Memory::find(u64 address) {
  std::shared_lock lock(mutex_);
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return nullptr;
  Allocation* a = std::prev(it)->second.get();
  return address - a->base < a->size ? a : nullptr;
}

void Memory::mark_defined(u64 address, u64 size) {
  Allocation* a = find(address);
  if (!a || !a->defined) return;
  std::memset(a->defined + (address - a->base), 0xff, size);
}

void Memory::copy_defined(u64 to, u64 from, u64 size) {
  Allocation* a = find(to);
  if (!a || !a->defined) return;
  Allocation* b = find(from);
  if (b && b->defined) std::memmove(a->defined + (to - a->base), b->defined + (from - b->base), size);
  else std::memset(a->defined + (to - a->base), 0xff, size);
}

u64 Memory::bytes_in_use(int device) {
  std::shared_lock lock(mutex_);
  u64 n = 0;
  for (auto& [base, a] : live_)
    if (a->device == device && (a->kind == Allocation::Kind::device || a->kind == Allocation::Kind::managed)) n += a->size;
  return n;
}

bool Memory::was_freed(u64 address, std::string* what) {
  std::shared_lock lock(mutex_);
  auto it = freed_.upper_bound(address);
  if (it == freed_.begin()) return false;
  const Allocation& a = std::prev(it)->second;
  if (address - a.base >= a.size) return false;
  *what = fmt::format("byte {} of {} ({} bytes at 0x{:x}), which was freed", address - a.base, a.name, a.size, a.base);
  return true;
}

std::string Memory::describe(u64 address) {
  std::string freed;
  if (was_freed(address, &freed)) return freed;
  std::shared_lock lock(mutex_);
  auto it = live_.upper_bound(address);
  constexpr u64 near = u64(1) << 20;
  u64 past = near, before = near;
  const Allocation *low = nullptr, *high = nullptr;
  if (it != live_.begin()) {
    low = std::prev(it)->second.get();
    if (address - low->base < low->size) return fmt::format("byte {} of {} ({} bytes at 0x{:x})", address - low->base, low->name, low->size, low->base);
    past = address - (low->base + low->size);
  }
  if (it != live_.end()) high = it->second.get(), before = high->base - address;
  if (past < near && past <= before) return fmt::format("{} bytes past the end of {} ({} bytes at 0x{:x})", past, low->name, low->size, low->base);
  if (before < near) return fmt::format("{} bytes before the start of {} ({} bytes at 0x{:x})", before, high->name, high->size, high->base);
  if (address < 65536) return "next to the null pointer";
  return "inside no allocation";
}

}  // namespace lathe::emu
