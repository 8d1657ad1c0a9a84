// Atomics of each kind, on global memory, on LDS and through generic pointers. Results do not depend on the order.

#define RELAXED __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT

// All integer operations on ten cells, first without, then with a use of the old value.
template <class T, class U>
DEVICE void all_operations(T* t, T v) {
  U* u = (U*)t;
  __hip_atomic_fetch_add(t, v, RELAXED);
  __hip_atomic_fetch_sub(t + 1, v, RELAXED);
  __hip_atomic_fetch_and(t + 2, v | 0x0f, RELAXED);
  __hip_atomic_fetch_or(t + 3, v, RELAXED);
  __hip_atomic_fetch_xor(t + 4, v, RELAXED);
  __hip_atomic_fetch_min(t + 5, v, RELAXED);
  __hip_atomic_fetch_max(t + 6, v, RELAXED);
  __hip_atomic_fetch_min(u + 7, (U)v, RELAXED);
  __hip_atomic_fetch_max(u + 8, (U)v, RELAXED);
}
// What an exchange takes out goes into a sum: nothing may be lost or doubled.
template <class T>
DEVICE void exchange(T* cell, T* sum, T v) { __hip_atomic_fetch_add(sum, __hip_atomic_exchange(cell, v, RELAXED), RELAXED); }

KERNEL global_i32(i32* t, const i32* x, int n) {
  int i = index();
  if (i >= n) return;
  all_operations<i32, u32>(t, x[i]);
  exchange(t + 9, t + 10, x[i]);
}
KERNEL global_i64(i64* t, const i64* x, int n) {
  int i = index();
  if (i >= n) return;
  all_operations<i64, u64>(t, x[i]);
  exchange(t + 9, t + 10, x[i]);
}
template <class T, class U>
DEVICE void in_lds(T* t, T* s, const T* x, int n) {
  int i = index();
  if (item() < 11) s[item()] = item() == 2 ? -1 : item() == 5 ? x[0] : item() == 7 ? x[0] : 0;
  barrier_all();
  if (i < n) {
    all_operations<T, U>(s, x[i]);
    exchange(s + 9, s + 10, x[i]);
  }
  barrier_all();
  if (item() < 11) t[group() * 11 + item()] = s[item()];
}
KERNEL lds_i32(i32* t, const i32* x, int n) {
  SHARED i32 s[11];
  in_lds<i32, u32>(t, s, x, n);
}
KERNEL lds_i64(i64* t, const i64* x, int n) {
  SHARED i64 s[11];
  in_lds<i64, u64>(t, s, x, n);
}
// Every ticket is given out once; the wrapping counters go round.
KERNEL tickets(u32* counters, u32* seen, u64* wide, int n) {
  SHARED u32 s[2];
  int i = index();
  if (item() == 0) s[0] = s[1] = 0;
  barrier_all();
  if (i < n) {
    seen[__hip_atomic_fetch_add(counters, 1u, RELAXED)] = 1;
    seen[n + (u32)__hip_atomic_fetch_add(wide, 0x100000001ull, RELAXED)] = 2;
    __builtin_amdgcn_atomic_inc32(counters + 1, 9, __ATOMIC_RELAXED, "agent");
    u32 d = __builtin_amdgcn_atomic_dec32(counters + 2, 12, __ATOMIC_RELAXED, "agent");
    __hip_atomic_fetch_add(counters + 3, d, RELAXED);
    seen[2 * n + group() * 64 + __hip_atomic_fetch_add(s, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)] = 3;
    __hip_atomic_fetch_add(counters + 4, __builtin_amdgcn_atomic_inc32((__attribute__((address_space(3))) u32*)(s + 1), 6, __ATOMIC_RELAXED, "workgroup"), RELAXED);
  }
}
// Sums of numbers that are exact in any order.
template <class T>
DEVICE void float_operations(T* t, T v) {
  __hip_atomic_fetch_add(t, v, RELAXED);
  __hip_atomic_fetch_min(t + 1, v, RELAXED);
  __hip_atomic_fetch_max(t + 2, v, RELAXED);
  T old = __hip_atomic_fetch_add(t + 3, (T)1, RELAXED);
  __hip_atomic_fetch_add(t + 4, old, RELAXED);
}
KERNEL global_f32(float* t, const float* x, int n) {
  int i = index();
  if (i < n) float_operations(t, x[i]);
}
KERNEL global_f64(double* t, const double* x, int n) {
  int i = index();
  if (i < n) float_operations(t, x[i]);
}
template <class T>
DEVICE void float_in_lds(T* t, T* s, const T* x, int n) {
  int i = index();
  if (item() < 5) s[item()] = 0;
  barrier_all();
  if (i < n) float_operations(s, x[i]);
  barrier_all();
  if (item() < 5) t[group() * 5 + item()] = s[item()];
}
KERNEL lds_f32(float* t, const float* x, int n) {
  SHARED float s[5];
  float_in_lds(t, s, x, n);
}
KERNEL lds_f64(double* t, const double* x, int n) {
  SHARED double s[5];
  float_in_lds(t, s, x, n);
}
typedef half half2 __attribute__((ext_vector_type(2)));
typedef __attribute__((address_space(1))) half2* global_half2;
KERNEL global_half2_sum(half2* t, u32* cas, const half2* x, int n) {
  int i = index();
  if (i >= n) return;
#if __has_builtin(__builtin_amdgcn_global_atomic_fadd_v2f16) && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__) || defined(__GFX12__))
  __builtin_amdgcn_global_atomic_fadd_v2f16((global_half2)t, x[i]);
#else
  u32 old = __hip_atomic_load((u32*)t, RELAXED);
  while (!__hip_atomic_compare_exchange_weak((u32*)t, &old, __builtin_bit_cast(u32, __builtin_bit_cast(half2, old) + x[i]), __ATOMIC_RELAXED, RELAXED));
#endif
  u32 seen = __hip_atomic_load(cas, RELAXED);
  while (!__hip_atomic_compare_exchange_strong(cas, &seen, seen * 3 + 1, __ATOMIC_RELAXED, RELAXED));
}
// Compare and swap of both widths, and of bytes and halves, which the compiler makes of words.
KERNEL compare_and_swap(u64* wide, u16* shorts, u8* bytes, u32* lds_out, int n) {
  SHARED u32 s[2];
  int i = index();
  if (item() < 2) s[item()] = 0;
  barrier_all();
  if (i < n) {
    u64 old = __hip_atomic_load(wide, RELAXED);
    while (!__hip_atomic_compare_exchange_weak(wide, &old, old + ((u64)i << 30), __ATOMIC_ACQ_REL, RELAXED));
    __hip_atomic_fetch_add(shorts + (i & 3), (u16)i, RELAXED);
    __hip_atomic_fetch_add(bytes + (i & 7), (u8)1, RELAXED);
    u32 o = s[0];
    while (!__hip_atomic_compare_exchange_strong(s, &o, o + i, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP));
    u32 zero = 0;
    if (__hip_atomic_compare_exchange_strong(s + 1, &zero, 1u, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)) __hip_atomic_fetch_add(lds_out + 1, 1u, RELAXED);
  }
  barrier_all();
  if (item() == 0) __hip_atomic_fetch_add(lds_out, s[0], RELAXED);
}
// Every order at every scope.
template <int ORDER, int SCOPE>
DEVICE void ordered(u32* t) {
  __hip_atomic_fetch_add(t, 1u, ORDER, SCOPE);
  __hip_atomic_fetch_add(t + 1, __hip_atomic_fetch_or(t + 2, 1u, ORDER, SCOPE), ORDER, SCOPE);
}
template <int SCOPE>
DEVICE void all_orders(u32* t) {
  ordered<__ATOMIC_RELAXED, SCOPE>(t), ordered<__ATOMIC_ACQUIRE, SCOPE>(t), ordered<__ATOMIC_RELEASE, SCOPE>(t), ordered<__ATOMIC_ACQ_REL, SCOPE>(t), ordered<__ATOMIC_SEQ_CST, SCOPE>(t);
  __hip_atomic_store(t + 3, __hip_atomic_load(t + 3, __ATOMIC_ACQUIRE, SCOPE), __ATOMIC_RELEASE, SCOPE);
  __hip_atomic_store(t + 4, __hip_atomic_load(t + 4, __ATOMIC_SEQ_CST, SCOPE), __ATOMIC_SEQ_CST, SCOPE);
}
KERNEL orders_and_scopes(u32* t) {
  all_orders<__HIP_MEMORY_SCOPE_SINGLETHREAD>(t), all_orders<__HIP_MEMORY_SCOPE_WAVEFRONT>(t), all_orders<__HIP_MEMORY_SCOPE_WORKGROUP>(t), all_orders<__HIP_MEMORY_SCOPE_AGENT>(t), all_orders<__HIP_MEMORY_SCOPE_SYSTEM>(t);
}
// The group that comes last sums what all others left.
KERNEL last_group(u32* out, u32* partial, u32* count, const u32* x) {
  SHARED u32 sum, last;
  if (item() == 0) sum = 0;
  barrier_all();
  __hip_atomic_fetch_add(&sum, x[index()], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier_all();
  if (item() == 0) {
    __hip_atomic_store(partial + group(), sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    last = __hip_atomic_fetch_add(count, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT) == 15;
  }
  barrier_all();
  if (last && item() == 0) {
    u32 total = 0;
    for (int k = 0; k < 16; k++) total = total * 31 + __hip_atomic_load(partial + k, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    *out = total;
  }
}
// Through generic pointers: lanes of one wave go to LDS and to global memory.
NOINLINE DEVICE u32 bump(u32* cell, u32 by) { return __hip_atomic_fetch_add(cell, by, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
KERNEL generic(u32* t, u32* lds_out) {
  SHARED u32 s[2];
  if (item() < 2) s[item()] = 0;
  barrier_all();
  bump(item() & 1 ? s + (item() >> 1 & 1) : t + (item() >> 1 & 1), item());
  barrier_all();
  if (item() < 2) lds_out[group() * 2 + item()] = s[item()];
}
