// A device's properties in HIP 6's layout: what the 5.x layout and the attributes are taken from.
#pragma once

#include <cstddef>

#include "hip/state.h"

namespace lathe::emu {

// hipDeviceProp_tR0600, field by field (hip_runtime_api.h of HIP 6.0).
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
  int textures[26];                 // maxTexture1D .. maxTextureCubemapLayered: no images here
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

PropertiesR0600 properties(int device);   // of a valid device
// "0000:0b:00.0": domain, bus, device, function.
std::string pci_bus_id(int device);

}  // namespace lathe::emu
