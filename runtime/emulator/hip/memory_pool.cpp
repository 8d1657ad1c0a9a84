// Stream-ordered memory. An allocation is there at once; a free takes effect when the stream gets to it. A pool
// keeps nothing back: what it reserves is what is in use.
#include <fmt/format.h>

#include "hip/allocation.h"
#include "hip/operation.h"

using namespace lathe::emu;
using Of = Allocation::Kind;

struct ihipMemPoolHandle_t {
  int device = 0;
  bool is_default = false;
  u64 used = 0, high = 0, threshold = 0;
  int reuse[3] = {1, 1, 1};
  std::map<int, hipMemAccessFlags> access;
};

namespace {

using Pool = ihipMemPoolHandle_t;
struct Pools {
  std::mutex mutex;                      // of everything here
  Handles<Pool> handles;
  std::map<int, std::shared_ptr<Pool>> default_of, current_of;
  struct Taken { std::shared_ptr<Pool> pool; u64 size; };
  std::map<void*, Taken> taken;          // what hipMallocAsync gave and no free was asked for yet
};
Pools& pools() {
  static auto* p = new Pools;
  return *p;
}
std::shared_ptr<Pool> default_pool(int device) {
  auto& p = pools().default_of[device];
  if (!p) {
    p = std::make_shared<Pool>();
    p->device = device, p->is_default = true;
    pools().handles.add(p);
  }
  return p;
}
std::shared_ptr<Pool> current_pool(int device) {
  auto& p = pools().current_of[device];
  return p ? p : default_pool(device);
}

hipError_t take(const char* call, void** p, size_t size, std::shared_ptr<Pool> pool, const StreamRef& stream) {
  if (!p) return done(hipErrorInvalidValue);
  if (!stream) return done(hipErrorInvalidHandle);
  Pools& all = pools();
  std::lock_guard lock(all.mutex);
  if (!pool) pool = current_pool(stream->device);
  const hipError_t e = allocate(call, p, size, Of::device, 0, pool->device);
  if (e != hipSuccess || !*p) return e;
  all.taken[*p] = {pool, size};
  pool->used += size;
  pool->high = std::max(pool->high, pool->used);
  return hipSuccess;
}
bool forget(void* p) {               // with the lock held
  const auto it = pools().taken.find(p);
  if (it == pools().taken.end()) return false;
  it->second.pool->used -= it->second.size;
  pools().taken.erase(it);
  return true;
}
std::shared_ptr<Pool> find(hipMemPool_t p) { return p ? pools().handles.find(p) : nullptr; }

}  // namespace

namespace lathe::emu {
void forget_pooled(void* p) {
  std::lock_guard lock(pools().mutex);
  (void)forget(p);
}
void forget_pooled(int device) {
  std::lock_guard lock(pools().mutex);
  std::vector<void*> gone;
  for (auto& [p, taken] : pools().taken)
    if (taken.pool->device == device) gone.push_back(p);
  for (void* p : gone) (void)forget(p);
}
}  // namespace lathe::emu

LATHE_HIP hipError_t hipMallocAsync(void** p, size_t size, hipStream_t s) {
  HIP_TRY
  return take("hipMallocAsync", p, size, nullptr, find_stream(s));
  HIP_END
}
LATHE_HIP hipError_t hipMallocFromPoolAsync(void** p, size_t size, hipMemPool_t handle, hipStream_t s) {
  HIP_TRY
  const auto pool = find(handle);
  if (!pool) return done(hipErrorInvalidValue);
  return take("hipMallocFromPoolAsync", p, size, pool, find_stream(s));
  HIP_END
}
LATHE_HIP hipError_t hipFreeAsync(void* p, hipStream_t s) {
  HIP_TRY
  const StreamRef stream = find_stream(s);
  if (!stream) return done(hipErrorInvalidHandle);
  if (!p) return hipSuccess;
  {
    std::lock_guard lock(pools().mutex);
    const Memory::Use use;
    const bool pooled = forget(p);
    // Memory of hipMalloc may be freed in a stream's order too.
    const Allocation* a = memory().find(u64(p));
    if (!a || a->base != u64(p) || a->kind != Of::device || (!pooled && a->name.find("Async") != std::string::npos))
      return refuse(hipErrorInvalidValue, fmt::format("hipFreeAsync(0x{:x}): not the start of a live allocation, or freed already: {}", u64(p), memory().describe(u64(p))));
  }
  return submit("hipFreeAsync", stream, FreeOp{"hipFreeAsync", p}, false);
  HIP_END
}

LATHE_HIP hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* out, int device) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  std::lock_guard lock(pools().mutex);
  *out = default_pool(device).get();
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceGetMemPool(hipMemPool_t* out, int device) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  std::lock_guard lock(pools().mutex);
  *out = current_pool(device).get();
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipDeviceSetMemPool(int device, hipMemPool_t handle) {
  HIP_TRY
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  const auto pool = find(handle);
  if (!pool || pool->device != device) return done(hipErrorInvalidValue);
  std::lock_guard lock(pools().mutex);
  pools().current_of[device] = pool;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipMemPoolCreate(hipMemPool_t* out, const hipMemPoolProps* props) {
  HIP_TRY
  if (!out || !props || props->allocType != hipMemAllocationTypePinned || props->location.type != hipMemLocationTypeDevice) return done(hipErrorInvalidValue);
  if (!valid_device(props->location.id)) return done(hipErrorInvalidValue);
  if (props->handleTypes != hipMemHandleTypeNone) return refuse(hipErrorNotSupported, "hipMemPoolCreate: memory cannot be shared with other processes");
  auto pool = std::make_shared<Pool>();
  pool->device = props->location.id;
  *out = pools().handles.add(std::move(pool));
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipMemPoolDestroy(hipMemPool_t handle) {
  HIP_TRY
  const auto pool = find(handle);
  if (!pool || pool->is_default) return done(hipErrorInvalidValue);
  std::lock_guard lock(pools().mutex);
  pools().handles.remove(handle);
  for (auto& [device, current] : pools().current_of)
    if (current == pool) current = nullptr;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipMemPoolTrimTo(hipMemPool_t handle, size_t) {
  HIP_TRY
  return done(find(handle) ? hipSuccess : hipErrorInvalidValue);
  HIP_END
}
LATHE_HIP hipError_t hipMemPoolSetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  HIP_TRY
  const auto pool = find(handle);
  if (!pool || !value) return done(hipErrorInvalidValue);
  std::lock_guard lock(pools().mutex);
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies: case hipMemPoolReuseAllowOpportunistic: case hipMemPoolReuseAllowInternalDependencies:
      pool->reuse[attribute - hipMemPoolReuseFollowEventDependencies] = *static_cast<int*>(value);
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold: pool->threshold = *static_cast<u64*>(value); return hipSuccess;
    // The marks of the highest use can only be taken back.
    case hipMemPoolAttrReservedMemHigh: case hipMemPoolAttrUsedMemHigh:
      if (*static_cast<u64*>(value) != 0) return done(hipErrorInvalidValue);
      pool->high = pool->used;
      return hipSuccess;
    default: return done(hipErrorInvalidValue);
  }
  HIP_END
}
LATHE_HIP hipError_t hipMemPoolGetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  HIP_TRY
  const auto pool = find(handle);
  if (!pool || !value) return done(hipErrorInvalidValue);
  std::lock_guard lock(pools().mutex);
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies: case hipMemPoolReuseAllowOpportunistic: case hipMemPoolReuseAllowInternalDependencies:
      *static_cast<int*>(value) = pool->reuse[attribute - hipMemPoolReuseFollowEventDependencies];
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold: *static_cast<u64*>(value) = pool->threshold; return hipSuccess;
    case hipMemPoolAttrReservedMemCurrent: case hipMemPoolAttrUsedMemCurrent: *static_cast<u64*>(value) = pool->used; return hipSuccess;
    case hipMemPoolAttrReservedMemHigh: case hipMemPoolAttrUsedMemHigh: *static_cast<u64*>(value) = pool->high; return hipSuccess;
    default: return done(hipErrorInvalidValue);
  }
  HIP_END
}
// Every device reaches every memory here; what a client asks is kept and told again.
LATHE_HIP hipError_t hipMemPoolSetAccess(hipMemPool_t handle, const hipMemAccessDesc* list, size_t count) {
  HIP_TRY
  const auto pool = find(handle);
  if (!pool || (count && !list)) return done(hipErrorInvalidValue);
  std::lock_guard lock(pools().mutex);
  for (size_t k = 0; k < count; k++) {
    if (list[k].location.type != hipMemLocationTypeDevice || !valid_device(list[k].location.id)) return done(hipErrorInvalidValue);
    if (list[k].location.id == pool->device && list[k].flags == hipMemAccessFlagsProtNone) return done(hipErrorInvalidValue);
    pool->access[list[k].location.id] = list[k].flags;
  }
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t handle, hipMemLocation* location) {
  HIP_TRY
  const auto pool = find(handle);
  if (!pool || !flags || !location || location->type != hipMemLocationTypeDevice || !valid_device(location->id)) return done(hipErrorInvalidValue);
  std::lock_guard lock(pools().mutex);
  const auto it = pool->access.find(location->id);
  *flags = it != pool->access.end() ? it->second : location->id == pool->device ? hipMemAccessFlagsProtReadWrite : hipMemAccessFlagsProtNone;
  return hipSuccess;
  HIP_END
}
