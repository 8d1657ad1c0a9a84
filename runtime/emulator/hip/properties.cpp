// hipDeviceProp_t in both layouts (5.x and R0600), from the target's row.
#include "hip/properties.h"

#include <cstring>

#include <fmt/format.h>

#include "runtime/base/target.h"

using namespace lathe::emu;

namespace {

constexpr int clock_khz = 2000000, memory_clock_khz = 1200000, l2_bytes = 4 << 20, largest = 2147483647;
int number_at(std::string_view s, size_t at) { return at < s.size() && s[at] >= '0' && s[at] <= '9' ? s[at] - '0' : 0; }
// "gfx90a" is 9.0, "gfx1100" is 11.0.
int major_of(const Isa& i) { return i.name.size() == 6 ? number_at(i.name, 3) : number_at(i.name, 3) * 10 + number_at(i.name, 4); }
int minor_of(const Isa& i) { return number_at(i.name, i.name.size() - 2); }
int stepping_of(const Isa& i) { return i.name.back() <= '9' ? i.name.back() - '0' : i.name.back() - 'a' + 10; }
constexpr unsigned arch_features = 0x1ffff & ~(1u << 14) & ~(1u << 16);  // but for surface functions and dynamic parallelism
static_assert(offsetof(hipDeviceProp_t, gcnArchName) == 396);

}  // namespace

namespace lathe::emu {

std::string pci_bus_id(int device) { return fmt::format("0000:{:02x}:00.0", device + 1); }

PropertiesR0600 properties(int device) {
  const Device& d = devices()[size_t(device)];
  const Isa& isa = *d.isa;
  PropertiesR0600 p = {};
  std::strncpy(p.name, d.name.c_str(), sizeof p.name - 1);
  std::snprintf(p.uuid, sizeof p.uuid, "LatheEmu%d", device);
  p.total_memory = isa.memory_bytes, p.shared_per_block = isa.lds_bytes;
  p.regs_per_block = 65536, p.warp_size = isa.wave_size;
  p.mem_pitch = largest;
  p.max_threads_per_block = 1024;
  for (int& n : p.max_threads_dim) n = 1024;
  p.max_grid[0] = largest, p.max_grid[1] = p.max_grid[2] = 65535;
  p.clock_rate = clock_khz, p.memory_clock = memory_clock_khz, p.memory_bus = 4096, p.clock_instruction_rate = 100000;
  p.total_const = largest;
  p.major = major_of(isa), p.minor = minor_of(isa);
  p.texture_alignment = p.texture_pitch_alignment = p.surface_alignment = 256;
  p.device_overlap = 1, p.async_engines = 2;      // every stream has a thread of its own
  p.multi_processors = int(isa.compute_units);
  p.can_map_host = p.concurrent_kernels = p.unified_addressing = p.stream_priorities = 1;
  p.ecc = isa.sramecc;
  p.pci_bus = device + 1;
  p.l2_bytes = l2_bytes, p.global_l1 = p.local_l1 = 1;
  // Our compute unit has four SIMDs, or two: half of an RDNA work-group processor.
  p.max_threads_per_mp = int(find_gfx(isa.name)->max_waves * (isa.encoding == Encoding::gfx9 ? 4 : 2) * isa.wave_size);
  p.shared_per_mp = p.shared_optin = p.max_shared_per_mp = isa.lds_bytes;
  p.regs_per_mp = 65536;
  p.max_blocks_per_mp = 16;
  // Device memory is host memory here: both sides use managed and pinned memory at once, with atomics.
  p.managed = p.concurrent_managed = p.direct_managed = p.host_atomics = p.host_pointer_registered = p.host_register = 1;
  p.cooperative = 1;                              // of one device
  p.pools = 1;
  p.large_bar = 1;
  std::strncpy(p.arch_name, target_id(isa).c_str(), sizeof p.arch_name - 1);
  p.arch = arch_features;
  return p;
}

}  // namespace lathe::emu

LATHE_HIP hipError_t hipGetDevicePropertiesR0600(PropertiesR0600* p, int device) {
  HIP_TRY
  if (!p) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  *p = properties(device);
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int device) {
  HIP_TRY
  if (!p) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  const PropertiesR0600 n = properties(device);
  std::memset(p, 0, sizeof *p);
  std::memcpy(p->name, n.name, sizeof p->name);
  p->totalGlobalMem = n.total_memory, p->sharedMemPerBlock = n.shared_per_block;
  p->regsPerBlock = n.regs_per_block, p->warpSize = n.warp_size;
  p->maxThreadsPerBlock = n.max_threads_per_block;
  std::memcpy(p->maxThreadsDim, n.max_threads_dim, sizeof p->maxThreadsDim);
  std::memcpy(p->maxGridSize, n.max_grid, sizeof p->maxGridSize);
  p->clockRate = n.clock_rate, p->memoryClockRate = n.memory_clock, p->memoryBusWidth = n.memory_bus;
  p->totalConstMem = n.total_const;
  p->major = n.major, p->minor = n.minor;
  p->multiProcessorCount = n.multi_processors, p->l2CacheSize = n.l2_bytes;
  p->maxThreadsPerMultiProcessor = n.max_threads_per_mp;
  p->clockInstructionRate = n.clock_instruction_rate;
  std::memcpy(&p->arch, &n.arch, sizeof n.arch);
  p->concurrentKernels = n.concurrent_kernels;
  p->pciDomainID = n.pci_domain, p->pciBusID = n.pci_bus, p->pciDeviceID = n.pci_device;
  p->maxSharedMemoryPerMultiProcessor = n.max_shared_per_mp;
  p->canMapHostMemory = n.can_map_host;
  p->gcnArch = n.major * 100 + n.minor * 10 + stepping_of(*devices()[size_t(device)].isa);
  std::memcpy(p->gcnArchName, n.arch_name, sizeof p->gcnArchName);
  p->cooperativeLaunch = n.cooperative;
  p->memPitch = n.mem_pitch;
  p->textureAlignment = n.texture_alignment, p->texturePitchAlignment = n.texture_pitch_alignment;
  p->ECCEnabled = n.ecc;
  p->isLargeBar = n.large_bar;
  p->managedMemory = n.managed, p->directManagedMemAccessFromHost = n.direct_managed, p->concurrentManagedAccess = n.concurrent_managed;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t* p, int device) { return hipGetDeviceProperties(p, device); }

namespace {
// The device that has most of what is asked, the first of equals; every field that is set must be reached.
template <class Wanted>
hipError_t choose(int* out, const Wanted* want) {
  if (!out || !want) return done(hipErrorInvalidValue);
  if (devices().empty()) return done(hipErrorNoDevice);
  *out = 0;
  int best = -1;
  for (size_t k = 0; k < devices().size(); k++) {
    const PropertiesR0600 p = properties(int(k));
    int score = want->major > 0 && p.major >= want->major;
    score += want->total > 0 && p.total_memory >= want->total;
    score += want->units > 0 && p.multi_processors >= want->units;
    score += want->shared > 0 && p.shared_per_block >= want->shared;
    if (score > best) best = score, *out = int(k);
  }
  return hipSuccess;
}
struct Wanted { int major, units; size_t total, shared; };
}  // namespace
LATHE_HIP hipError_t hipChooseDevice(int* out, const hipDeviceProp_t* p) {
  HIP_TRY
  if (!p) return done(hipErrorInvalidValue);
  const Wanted w{p->major, p->multiProcessorCount, p->totalGlobalMem, p->sharedMemPerBlock};
  return choose(out, &w);
  HIP_END
}
LATHE_HIP hipError_t hipChooseDeviceR0000(int* out, const hipDeviceProp_t* p) { return hipChooseDevice(out, p); }
LATHE_HIP hipError_t hipChooseDeviceR0600(int* out, const PropertiesR0600* p) {
  HIP_TRY
  if (!p) return done(hipErrorInvalidValue);
  const Wanted w{p->major, p->multi_processors, p->total_memory, p->shared_per_block};
  return choose(out, &w);
  HIP_END
}
