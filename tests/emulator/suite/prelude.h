// Stands before every kernel source of the suite, HIP or OpenCL: nothing here comes from a device library.
#ifdef __HIP__
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static __attribute__((device))
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant))
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef _Float16 half;
#else
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define KERNEL kernel void
#define DEVICE static
// Of clang's __hip_atomic_* builtins, which OpenCL has too, without the names of the scopes.
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#endif
#define NOINLINE __attribute__((noinline))

DEVICE int item(void) { return __builtin_amdgcn_workitem_id_x(); }
DEVICE int group(void) { return __builtin_amdgcn_workgroup_id_x(); }
// Work-item of a one-dimensional grid of groups of 64.
DEVICE int index(void) { return group() * 64 + item(); }
DEVICE void barrier_all(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
