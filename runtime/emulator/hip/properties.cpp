// hipDeviceProp_t in both layouts (5.x and R0600) and the attributes, from the target's row.
#include <cstddef>
#include <cstring>

#include "hip/state.h"

using namespace lathe::emu;

namespace {

// HIP 6's layout of the structure (hipDeviceProp_tR0600), as far as fields are filled; offsets asserted.
struct PropertiesR0600 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  size_t total_memory, shared_per_block;
  int regs_per_block, warp_size;
  size_t mem_pitch;
  int max_threads_per_block, max_threads_dim[3], max_grid[3], clock_rate;
  size_t total_const;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int device_overlap, multi_processors, exec_timeout, integrated, can_map_host, compute_mode;
  int textures[26];                 // maxTexture1D .. maxTextureCubemapLayered
  int surfaces[14];                 // maxSurface1D .. maxSurfaceCubemapLayered
  size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
  int memory_clock, memory_bus, l2_bytes, persisting_l2, max_threads_per_mp, stream_priorities, global_l1, local_l1;
  size_t shared_per_mp;
  int regs_per_mp, managed, multi_gpu_board, multi_gpu_group, host_atomics, double_ratio, pageable, concurrent_managed, preemption, host_pointer_registered, cooperative, cooperative_multi;
  size_t shared_optin;
  int pageable_host_tables, direct_managed, max_blocks_per_mp, access_policy;
  size_t reserved_shared;
  int host_register, sparse, host_register_ro, timeline, pools, rdma;
  unsigned rdma_flush;
  int rdma_order;
  unsigned pool_handles;
  int deferred_mapping, ipc_event, cluster, unified_functions;
  int reserved[63];
  int hip_reserved[32];
  char arch_name[256];
  size_t max_shared_per_mp;
  int clock_instruction_rate;
  unsigned arch;
  void *hdp_mem, *hdp_reg;
  int unmatched[4];
  int large_bar, revision;
};
static_assert(offsetof(PropertiesR0600, arch_name) == 1160);
static_assert(sizeof(PropertiesR0600) == 1472);
static_assert(offsetof(hipDeviceProp_t, gcnArchName) == 396);

constexpr int clock_khz = 2000000, memory_clock_khz = 1200000, l2_bytes = 4 << 20, threads_per_cu = 2048;
int number_at(std::string_view s, size_t at) { return at < s.size() && s[at] >= '0' && s[at] <= '9' ? s[at] - '0' : 0; }
// "gfx90a" is 9.0, "gfx1100" is 11.0.
int major_of(const Isa& i) { return i.name.size() == 6 ? number_at(i.name, 3) : number_at(i.name, 3) * 10 + number_at(i.name, 4); }
int minor_of(const Isa& i) { return number_at(i.name, i.name.size() - 2); }
constexpr unsigned arch_features = 0x3ffff & ~(1u << 9);  // everything but surface functions

}  // namespace

extern "C" {

__attribute__((visibility("default"))) hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int device) {
  HIP_TRY
  if (!p) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  const Device& d = devices()[size_t(device)];
  const Isa& isa = *d.isa;
  std::memset(p, 0, sizeof *p);
  std::strncpy(p->name, d.name.c_str(), sizeof p->name - 1);
  p->totalGlobalMem = isa.memory_bytes;
  p->sharedMemPerBlock = isa.lds_bytes;
  p->regsPerBlock = 65536;
  p->warpSize = isa.wave_size;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = p->maxThreadsDim[2] = 1024;
  p->maxGridSize[0] = 2147483647, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->clockRate = clock_khz, p->memoryClockRate = memory_clock_khz, p->memoryBusWidth = 4096;
  p->totalConstMem = 2147483647;
  p->major = major_of(isa), p->minor = minor_of(isa);
  p->multiProcessorCount = int(isa.compute_units);
  p->l2CacheSize = l2_bytes;
  p->maxThreadsPerMultiProcessor = threads_per_cu;
  p->clockInstructionRate = 100000;
  std::memcpy(&p->arch, &arch_features, sizeof arch_features);
  p->concurrentKernels = 1;
  p->pciBusID = device + 1;
  p->maxSharedMemoryPerMultiProcessor = isa.lds_bytes;
  p->canMapHostMemory = 1;
  std::strncpy(p->gcnArchName, target_id(isa).c_str(), sizeof p->gcnArchName - 1);
  p->memPitch = 2147483647;
  p->textureAlignment = 256, p->texturePitchAlignment = 256;
  p->ECCEnabled = isa.sramecc;
  p->managedMemory = 1;
  return hipSuccess;
  HIP_END
}
__attribute__((visibility("default"))) hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t* p, int device) { return hipGetDeviceProperties(p, device); }

__attribute__((visibility("default"))) hipError_t hipGetDevicePropertiesR0600(PropertiesR0600* p, int device) {
  HIP_TRY
  if (!p) return done(hipErrorInvalidValue);
  hipDeviceProp_t old;
  const hipError_t e = hipGetDeviceProperties(&old, device);
  if (e != hipSuccess) return e;
  std::memset(p, 0, sizeof *p);
  std::memcpy(p->name, old.name, sizeof p->name);
  p->uuid[0] = char(device + 1);
  p->total_memory = old.totalGlobalMem, p->shared_per_block = old.sharedMemPerBlock;
  p->regs_per_block = old.regsPerBlock, p->warp_size = old.warpSize;
  p->mem_pitch = old.memPitch;
  p->max_threads_per_block = old.maxThreadsPerBlock;
  std::memcpy(p->max_threads_dim, old.maxThreadsDim, sizeof p->max_threads_dim);
  std::memcpy(p->max_grid, old.maxGridSize, sizeof p->max_grid);
  p->clock_rate = old.clockRate;
  p->total_const = old.totalConstMem;
  p->major = old.major, p->minor = old.minor;
  p->texture_alignment = p->texture_pitch_alignment = 256;
  p->multi_processors = old.multiProcessorCount;
  p->can_map_host = 1;
  p->concurrent_kernels = 1;
  p->ecc = old.ECCEnabled;
  p->pci_bus = old.pciBusID;
  p->unified_addressing = 1;
  p->memory_clock = old.memoryClockRate, p->memory_bus = old.memoryBusWidth, p->l2_bytes = old.l2CacheSize;
  p->max_threads_per_mp = old.maxThreadsPerMultiProcessor;
  p->shared_per_mp = old.sharedMemPerBlock;
  p->regs_per_mp = 65536;
  p->managed = 1;
  p->shared_optin = old.sharedMemPerBlock;
  p->max_blocks_per_mp = 2;
  std::memcpy(p->arch_name, old.gcnArchName, sizeof p->arch_name);
  p->max_shared_per_mp = old.maxSharedMemoryPerMultiProcessor;
  p->clock_instruction_rate = old.clockInstructionRate;
  p->arch = arch_features;
  return hipSuccess;
  HIP_END
}

__attribute__((visibility("default"))) hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  HIP_TRY
  if (!value) return done(hipErrorInvalidValue);
  hipDeviceProp_t p;
  if (const hipError_t e = hipGetDeviceProperties(&p, device); e != hipSuccess) return e;
  switch (attribute) {
    case hipDeviceAttributeMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case hipDeviceAttributeMaxBlockDimX: case hipDeviceAttributeMaxBlockDimY: case hipDeviceAttributeMaxBlockDimZ: case hipDeviceAttributeMaxThreadsDim: *value = 1024; break;
    case hipDeviceAttributeMaxGridDimX: *value = p.maxGridSize[0]; break;
    case hipDeviceAttributeMaxGridDimY: *value = p.maxGridSize[1]; break;
    case hipDeviceAttributeMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock: case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
    case hipDeviceAttributeSharedMemPerBlockOptin: case hipDeviceAttributeSharedMemPerMultiprocessor: *value = int(p.sharedMemPerBlock); break;
    case hipDeviceAttributeTotalConstantMemory: *value = 2147483647; break;
    case hipDeviceAttributeWarpSize: *value = p.warpSize; break;
    case hipDeviceAttributeMaxRegistersPerBlock: case hipDeviceAttributeMaxRegistersPerMultiprocessor: *value = p.regsPerBlock; break;
    case hipDeviceAttributeClockRate: *value = p.clockRate; break;
    case hipDeviceAttributeMemoryClockRate: *value = p.memoryClockRate; break;
    case hipDeviceAttributeMemoryBusWidth: *value = p.memoryBusWidth; break;
    case hipDeviceAttributeMultiprocessorCount: case hipDeviceAttributePhysicalMultiProcessorCount: *value = p.multiProcessorCount; break;
    case hipDeviceAttributeComputeMode: case hipDeviceAttributeIntegrated: case hipDeviceAttributeIsMultiGpuBoard: case hipDeviceAttributeKernelExecTimeout: case hipDeviceAttributePciDomainID: case hipDeviceAttributePciDeviceId:
    case hipDeviceAttributeCooperativeLaunch: case hipDeviceAttributeCooperativeMultiDeviceLaunch: case hipDeviceAttributeConcurrentManagedAccess: case hipDeviceAttributePageableMemoryAccess: case hipDeviceAttributeImageSupport: *value = 0; break;
    case hipDeviceAttributeL2CacheSize: *value = p.l2CacheSize; break;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case hipDeviceAttributeComputeCapabilityMajor: *value = p.major; break;
    case hipDeviceAttributeComputeCapabilityMinor: *value = p.minor; break;
    case hipDeviceAttributeConcurrentKernels: case hipDeviceAttributeCanMapHostMemory: case hipDeviceAttributeManagedMemory: case hipDeviceAttributeUnifiedAddressing: *value = 1; break;
    case hipDeviceAttributePciBusId: *value = p.pciBusID; break;
    case hipDeviceAttributeEccEnabled: *value = p.ECCEnabled; break;
    case hipDeviceAttributeTextureAlignment: case hipDeviceAttributeTexturePitchAlignment: *value = 256; break;
    case hipDeviceAttributeMaxPitch: *value = 2147483647; break;
    case hipDeviceAttributeClockInstructionRate: *value = p.clockInstructionRate; break;
    default: return done(hipErrorInvalidValue);
  }
  return hipSuccess;
  HIP_END
}

}  // extern "C"
