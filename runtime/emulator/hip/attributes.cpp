// hipDeviceGetAttribute: one row per attribute of HIP 5.2's list (later versions keep its numbers) and of HIP 6's.
#include "hip/properties.h"

using namespace lathe::emu;

namespace {

using P = PropertiesR0600;
struct AttributeRow {
  int attribute;
  int (*value)(const P&);
};
int clamp(size_t n) { return n > 2147483647 ? 2147483647 : int(n); }
#define ROW(NAME, VALUE) {hipDeviceAttribute##NAME, [](const P& p) -> int { (void)p; return VALUE; }}
constexpr int after_pools = hipDeviceAttributeMemoryPoolsSupported, after_fine_grain = hipDeviceAttributeFineGrainSupport;
// clang-format off
constexpr AttributeRow rows[] = {
    ROW(EccEnabled, p.ecc), ROW(AccessPolicyMaxWindowSize, p.access_policy), ROW(AsyncEngineCount, p.async_engines), ROW(CanMapHostMemory, p.can_map_host),
    ROW(CanUseHostPointerForRegisteredMem, p.host_pointer_registered), ROW(ClockRate, p.clock_rate), ROW(ComputeMode, p.compute_mode), ROW(ComputePreemptionSupported, p.preemption),
    ROW(ConcurrentKernels, p.concurrent_kernels), ROW(ConcurrentManagedAccess, p.concurrent_managed), ROW(CooperativeLaunch, p.cooperative), ROW(CooperativeMultiDeviceLaunch, p.cooperative_multi),
    ROW(DeviceOverlap, p.device_overlap), ROW(DirectManagedMemAccessFromHost, p.direct_managed), ROW(GlobalL1CacheSupported, p.global_l1), ROW(HostNativeAtomicSupported, p.host_atomics),
    ROW(Integrated, p.integrated), ROW(IsMultiGpuBoard, p.multi_gpu_board), ROW(KernelExecTimeout, p.exec_timeout), ROW(L2CacheSize, p.l2_bytes), ROW(LocalL1CacheSupported, p.local_l1),
    ROW(ComputeCapabilityMajor, p.major), ROW(ManagedMemory, p.managed), ROW(MaxBlocksPerMultiProcessor, p.max_blocks_per_mp),
    ROW(MaxBlockDimX, p.max_threads_dim[0]), ROW(MaxBlockDimY, p.max_threads_dim[1]), ROW(MaxBlockDimZ, p.max_threads_dim[2]),
    ROW(MaxGridDimX, p.max_grid[0]), ROW(MaxGridDimY, p.max_grid[1]), ROW(MaxGridDimZ, p.max_grid[2]),
    // No images: their limits are zero.
    ROW(MaxSurface1D, 0), ROW(MaxSurface1DLayered, 0), ROW(MaxSurface2D, 0), ROW(MaxSurface2DLayered, 0), ROW(MaxSurface3D, 0), ROW(MaxSurfaceCubemap, 0), ROW(MaxSurfaceCubemapLayered, 0),
    ROW(MaxTexture1DWidth, 0), ROW(MaxTexture1DLayered, 0), ROW(MaxTexture1DLinear, 0), ROW(MaxTexture1DMipmap, 0), ROW(MaxTexture2DWidth, 0), ROW(MaxTexture2DHeight, 0), ROW(MaxTexture2DGather, 0),
    ROW(MaxTexture2DLayered, 0), ROW(MaxTexture2DLinear, 0), ROW(MaxTexture2DMipmap, 0), ROW(MaxTexture3DWidth, 0), ROW(MaxTexture3DHeight, 0), ROW(MaxTexture3DDepth, 0), ROW(MaxTexture3DAlt, 0),
    ROW(MaxTextureCubemap, 0), ROW(MaxTextureCubemapLayered, 0),
    ROW(MaxThreadsDim, p.max_threads_dim[0]), ROW(MaxThreadsPerBlock, p.max_threads_per_block), ROW(MaxThreadsPerMultiProcessor, p.max_threads_per_mp), ROW(MaxPitch, clamp(p.mem_pitch)),
    ROW(MemoryBusWidth, p.memory_bus), ROW(MemoryClockRate, p.memory_clock), ROW(ComputeCapabilityMinor, p.minor), ROW(MultiGpuBoardGroupID, p.multi_gpu_group), ROW(MultiprocessorCount, p.multi_processors),
    ROW(PageableMemoryAccess, p.pageable), ROW(PageableMemoryAccessUsesHostPageTables, p.pageable_host_tables), ROW(PciBusId, p.pci_bus), ROW(PciDeviceId, p.pci_device), ROW(PciDomainID, p.pci_domain),
    ROW(PersistingL2CacheMaxSize, p.persisting_l2), ROW(MaxRegistersPerBlock, p.regs_per_block), ROW(MaxRegistersPerMultiprocessor, p.regs_per_mp), ROW(ReservedSharedMemPerBlock, clamp(p.reserved_shared)),
    ROW(MaxSharedMemoryPerBlock, clamp(p.shared_per_block)), ROW(SharedMemPerBlockOptin, clamp(p.shared_optin)), ROW(SharedMemPerMultiprocessor, clamp(p.shared_per_mp)),
    ROW(SingleToDoublePrecisionPerfRatio, p.double_ratio), ROW(StreamPrioritiesSupported, p.stream_priorities), ROW(SurfaceAlignment, clamp(p.surface_alignment)), ROW(TccDriver, p.tcc),
    ROW(TextureAlignment, clamp(p.texture_alignment)), ROW(TexturePitchAlignment, clamp(p.texture_pitch_alignment)), ROW(TotalConstantMemory, clamp(p.total_const)), ROW(TotalGlobalMem, clamp(p.total_memory)),
    ROW(UnifiedAddressing, p.unified_addressing), ROW(WarpSize, p.warp_size), ROW(MemoryPoolsSupported, p.pools),
    {after_pools + 1, [](const P&) { return 0; }},                      // VirtualMemoryManagementSupported
    {after_pools + 2, [](const P& p) { return p.host_register; }},      // HostRegisterSupported
    {after_pools + 3, [](const P& p) { return int(p.pool_handles); }},  // MemoryPoolSupportedHandleTypes
    ROW(ClockInstructionRate, p.clock_instruction_rate), ROW(MaxSharedMemoryPerMultiprocessor, clamp(p.max_shared_per_mp)),
    ROW(CooperativeMultiDeviceUnmatchedFunc, p.unmatched[0]), ROW(CooperativeMultiDeviceUnmatchedGridDim, p.unmatched[1]),
    ROW(CooperativeMultiDeviceUnmatchedBlockDim, p.unmatched[2]), ROW(CooperativeMultiDeviceUnmatchedSharedMem, p.unmatched[3]),
    ROW(IsLargeBar, p.large_bar), ROW(AsicRevision, p.revision), ROW(CanUseStreamWaitValue, 1), ROW(ImageSupport, 0), ROW(PhysicalMultiProcessorCount, p.multi_processors), ROW(FineGrainSupport, 1),
    {after_fine_grain + 1, [](const P& p) { return p.clock_instruction_rate; }},  // WallClockRate
};
// clang-format on

}  // namespace

// Attributes that are no number (names, uuid, register addresses) are no values of this call.
LATHE_HIP hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  HIP_TRY
  if (!value) return done(hipErrorInvalidValue);
  if (!valid_device(device)) return done(hipErrorInvalidDevice);
  for (const AttributeRow& r : rows)
    if (r.attribute == int(attribute)) {
      *value = r.value(properties(device));
      return hipSuccess;
    }
  return done(hipErrorInvalidValue);
  HIP_END
}
