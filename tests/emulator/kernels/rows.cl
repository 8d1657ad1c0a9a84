// Instructions that clang does not choose by itself, through inline assembly: x, y, z are three inputs per work-item.
typedef unsigned int uint;
typedef unsigned long ulong;

static int wi(void) { return __builtin_amdgcn_workitem_id_x(); }
#define THREE(TEXT, A, B, C) ({ uint r_; __asm__ volatile(TEXT " %0, %1, %2, %3" : "=v"(r_) : "v"(A), "v"(B), "v"(C)); r_; })

kernel void bytes(global uint* out, global ulong* out2, global const uint* x, global const uint* y, global const uint* z) {
  int i = wi();
  uint a = x[i], b = y[i], c = z[i];
  out[i * 4 + 0] = THREE("v_msad_u8", a, b, c);
  out[i * 4 + 1] = THREE("v_sad_u8", a, b, c);
  out[i * 4 + 2] = THREE("v_lerp_u8", a, b, c);
  out[i * 4 + 3] = THREE("v_perm_b32", a, b, c & 0x07070707);
  ulong wide = (ulong)a << 32 | c, sums = (ulong)c << 32 | b, r;
  __asm__ volatile("v_qsad_pk_u16_u8 %0, %1, %2, %3" : "=&v"(r) : "v"(wide), "v"(b), "v"(sums));
  out2[i * 2] = r;
  __asm__ volatile("v_mqsad_pk_u16_u8 %0, %1, %2, %3" : "=&v"(r) : "v"(wide), "v"(b), "v"(sums));
  out2[i * 2 + 1] = r;
}

kernel void cube(global float* out, global const float* x, global const float* y, global const float* z) {
  int i = wi();
  out[i * 4 + 0] = __builtin_amdgcn_cubeid(x[i], y[i], z[i]);
  out[i * 4 + 1] = __builtin_amdgcn_cubesc(x[i], y[i], z[i]);
  out[i * 4 + 2] = __builtin_amdgcn_cubetc(x[i], y[i], z[i]);
  out[i * 4 + 3] = __builtin_amdgcn_cubema(x[i], y[i], z[i]);
}

#ifdef LDS_LOADS  // gfx942, gfx950: global memory to LDS past the registers
kernel void lds_loads(global uint* out, global uint* in, int wait) {
  local uint t[256];
  int i = wi();
  __builtin_amdgcn_global_load_lds(in + 64 - 1 - i, t, 4, 0, 0);
  __builtin_amdgcn_global_load_lds((global unsigned char*)in + i, t + 64, 1, 0, 0);
  __builtin_amdgcn_global_load_lds((global unsigned short*)in + i, t + 128, 2, 0, 0);
  if (wait) __builtin_amdgcn_s_waitcnt(0);
  __builtin_amdgcn_s_barrier();
  if (wait) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (wait) for (int k = 0; k < 3; k++) out[k * 64 + i] = t[k * 64 + i];
}
#endif

#ifdef SWAPS  // gfx950
kernel void swaps(global uint* out, global const uint* x, global const uint* y) {
  int i = wi();
  uint a = x[i], b = y[i];
  __asm__ volatile("v_nop\n v_nop\n v_permlane16_swap_b32 %0, %1\n v_nop\n v_nop" : "+v"(a), "+v"(b));
  out[i] = a; out[64 + i] = b;
  a = x[i]; b = y[i];
  __asm__ volatile("v_nop\n v_nop\n v_permlane32_swap_b32 %0, %1\n v_nop\n v_nop" : "+v"(a), "+v"(b));
  out[128 + i] = a; out[192 + i] = b;
  __asm__ volatile("v_prng_b32 %0, %1" : "=v"(a) : "v"(x[i]));
  out[256 + i] = a;
}
#endif

#ifdef SCALAR_FLOATS  // gfx11.5 and gfx12
kernel void scalar_halves(global uint* out, uint a, uint b, uint c) {
  uint r;
  a = __builtin_amdgcn_readfirstlane(a), b = __builtin_amdgcn_readfirstlane(b), c = __builtin_amdgcn_readfirstlane(c);
// LLVM puts no waits between what inline assembly writes and its readers.
#ifdef __GFX12__
#define DONE "\ns_wait_alu 0xfffe"
#else
#define DONE
#endif
#define S2(K, TEXT) __asm__ volatile(TEXT " %0, %1, %2" DONE : "=s"(r) : "s"(a), "s"(b)); out[K] = r & 0xffff
#define S1(K, TEXT) __asm__ volatile(TEXT " %0, %1" DONE : "=s"(r) : "s"(a)); out[K] = r & 0xffff
  S2(0, "s_add_f16"); S2(1, "s_sub_f16"); S2(2, "s_mul_f16");
  S1(3, "s_ceil_f16"); S1(4, "s_floor_f16"); S1(5, "s_trunc_f16"); S1(6, "s_rndne_f16");
  r = c;
  __asm__ volatile("s_fmac_f16 %0, %1, %2" DONE : "+s"(r) : "s"(a), "s"(b));
  out[7] = r & 0xffff;
  __asm__ volatile("s_cmp_lt_f16 %1, %2\n s_cselect_b32 %0, 1, 0" DONE : "=s"(r) : "s"(a), "s"(b) : "scc");
  out[8] = r;
}
#endif

#ifdef BF16  // gfx1250
kernel void bf16_ops(global uint* out, global const uint* x, global const uint* y, global const uint* z) {
  int i = wi();
  uint a = x[i], b = y[i], c = z[i], r;
  __asm__ volatile("v_pk_add_bf16 %0, %1, %2" : "=v"(r) : "v"(a), "v"(b));
  out[i * 3] = r;
  __asm__ volatile("v_pk_mul_bf16 %0, %1, %2" : "=v"(r) : "v"(a), "v"(b));
  out[i * 3 + 1] = r;
  out[i * 3 + 2] = THREE("v_pk_fma_bf16", a, b, c);
}
// The highest registers, through s_set_vgpr_msb (the test raises the kernel's register count), and a copy to LDS that passes the registers.
kernel void high_registers(global uint* out, global uint* x) {
  local uint t[32];
  int i = wi();
  uint r, a = x[i];
  __asm__ volatile("s_set_vgpr_msb 0xc0\n v_mov_b32 v200 /*v968*/, %1\n s_set_vgpr_msb 0xc043\n v_add_nc_u32 v100 /*v356*/, v200 /*v968*/, %1\n s_set_vgpr_msb 0x4301\n v_mov_b32 %0, v100 /*v356*/\n s_set_vgpr_msb 0x100"
                   : "=&v"(r) : "v"(a));
  out[i] = r;
  __builtin_amdgcn_global_load_async_to_lds_b32((global int*)x + 31 - i, (local int*)t + i, 0, 0);
  __builtin_amdgcn_s_wait_asynccnt(0);
  out[32 + i] = t[i];
}
#endif
