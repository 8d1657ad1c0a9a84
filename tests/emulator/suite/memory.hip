// Private, constant and global memory: scratch arrays, structures, generic pointers, unaligned copies, vectors.

KERNEL scratch_arrays(int* out, const int* x, int n) {
  int i = index();
  if (i >= n) return;
  int stack[32], top = 0;
  for (int k = 0; k < 32; k++) stack[k] = -1;
  for (int k = 0; k < 24; k++) {
    int v = x[(i * 3 + k) % n];
    if (v & 1) stack[top++] = v;
    else if (top) stack[top - 1] ^= v, top -= v >> 1 & 1;
  }
  int sum = top;
  for (int k = 0; k < 32; k++) sum = sum * 5 + stack[(k + i) & 31];
  out[i] = sum;
}
struct node { short left, right; int key; i64 sum; u8 tag[3]; };
// A binary search tree of 12 nodes in private memory.
KERNEL scratch_structures(i64* out, const int* x, int n) {
  int i = index();
  if (i >= n) return;
  node tree[12];
  for (int k = 0; k < 12; k++) {
    tree[k] = {-1, -1, x[(i + k * 17) % n], 0, {(u8)k, (u8)(k * 3), (u8)i}};
    for (int at = 0; k && at >= 0;) {
      short* next = tree[k].key < tree[at].key ? &tree[at].left : &tree[at].right;
      tree[at].sum += tree[k].key;
      if (*next < 0) {
        *next = (short)k;
        break;
      }
      at = *next;
    }
  }
  i64 r = 0;
  for (int k = 0; k < 12; k++) r = r * 3 + tree[k].sum + tree[k].left - 2 * tree[k].right + tree[k].tag[k % 3];
  out[i] = r;
}
KERNEL large_frame(u32* out, int n) {
  int i = index();
  u32 t[1500];
  u16 h[400];
  for (int k = 0; k < 1500; k++) t[k] = k * k + i;
  for (int k = 0; k < 400; k++) h[k] = (u16)(t[(k * 37) % 1500] >> 3);
  u32 sum = 0;
  for (int k = 0; k < n; k++) sum = sum * 7 + t[(sum ^ k) % 1500] + h[(sum + k) % 400];
  out[i] = sum;
}
KERNEL scratch_bytes(u32* out, const u8* x, int n) {
  int i = index();
  if (i >= n) return;
  u8 b[40];
  for (int k = 0; k < 40; k++) b[k] = x[(i + k) % n];
  // Insertion sort, then reads of every width at every alignment.
  for (int k = 1; k < 40; k++)
    for (int j = k; j > 0 && b[j - 1] > b[j]; j--) {
      u8 t = b[j];
      b[j] = b[j - 1], b[j - 1] = t;
    }
  struct __attribute__((packed)) any { u16 h; u32 w; u64 d; };
  u64 sum = 0;
  for (int k = 0; k < 26; k++) {
    const any* a = (const any*)(b + (k * 5 + i) % 26);
    sum = sum * 3 + a->h + a->w + a->d;
  }
  out[i] = (u32)(sum ^ sum >> 32);
}

// ---- generic pointers -------------------------------------------------------------------------------------------------
NOINLINE DEVICE int sum_of(const int* p, int n) {
  int s = 0;
  for (int k = 0; k < n; k++) s = s * 3 + p[k];
  return s;
}
NOINLINE DEVICE int kind_of(const void* p) { return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void*)p) + 2 * __builtin_amdgcn_is_private((const __attribute__((address_space(0))) void*)p); }
KERNEL generic_pointers(int* out, const int* x) {
  SHARED int s[64 + 4];
  int own[4], i = item();
  s[i] = x[i] * 2;
  if (i < 4) s[64 + i] = i;
  for (int k = 0; k < 4; k++) own[k] = x[(i + k) & 63] - i;
  barrier_all();
  // Lanes of one wave read from LDS, from private and from global memory by the same instruction.
  const int* p = i % 3 == 0 ? s + i : i % 3 == 1 ? own : x + (i & 31);
  out[i * 3] = sum_of(p, 4);
  out[i * 3 + 1] = kind_of(s) + 4 * kind_of(own) + 16 * kind_of(x) + 64 * kind_of(p);
  barrier_all();
  int* q = i % 3 == 0 ? s + i : i % 3 == 1 ? own + 1 : out + i * 3 + 2;
  *q = i * 11;
  barrier_all();
  int got = i % 3 == 0 ? s[i] : i % 3 == 1 ? own[1] : out[i * 3 + 2];
  out[i * 3 + 2] = got;
}

// ---- global memory ----------------------------------------------------------------------------------------------------
KERNEL unaligned_copies(u8* out, const u8* x, int n) {
  int i = index();
  if (i >= n) return;
  // Piece i: its own length at its own misalignment.
  const u8* from = x + i * 41 + (i & 7);
  u8* to = out + i * 41;
  __builtin_memcpy(to, from, 13);
  __builtin_memcpy(to + 13, from + 14, 16);
  int left = i % 12;
  for (int k = 0; k < left; k++) to[29 + k] = from[31 + k];
  for (int k = left; k < 12; k++) to[29 + k] = 0xee;
}
KERNEL volatile_and_nontemporal(u32* out, const u32* x, int n) {
  int i = index();
  if (i >= n) return;
  volatile u32* v = out + i;
  *v = 5;
  *v = *v + x[i];
  *v = *v * 3;
  u64 t = __builtin_nontemporal_load((const u64*)x + i / 2);
  __builtin_nontemporal_store((u32)(t >> (i & 1 ? 32 : 0)) ^ *v, out + n + i);
  u8 byte = __builtin_nontemporal_load((const u8*)x + i);
  __builtin_nontemporal_store((u16)(byte * 257), (u16*)(out + 2 * n) + i);
}
template <class T, int N>
struct vector_of { typedef T type __attribute__((ext_vector_type(N))); };
template <class T, int N>
DEVICE void reverse_add(T* out, const T* x, int i) {
  using V = typename vector_of<T, N>::type;
  V a = ((const V*)x)[i], b = a;
  for (int k = 0; k < N; k++) b[k] = a[N - 1 - k] + (T)k;
  ((V*)out)[i] = a + b;
}
// Vectors of 2, 4, 8 and 16 elements of every width; of 3, 12 bytes in memory 16.
KERNEL vectors(u8* b, u16* h, u32* w, u64* d, const u8* xb, const u16* xh, const u32* xw, const u64* xd) {
  int i = item();
  reverse_add<u8, 2>(b, xb, i), reverse_add<u8, 4>(b + 128, xb, i), reverse_add<u8, 8>(b + 384, xb, i), reverse_add<u8, 16>(b + 896, xb, i);
  reverse_add<u16, 2>(h, xh, i), reverse_add<u16, 4>(h + 128, xh, i), reverse_add<u16, 8>(h + 384, xh, i), reverse_add<u16, 16>(h + 896, xh, i);
  reverse_add<u32, 2>(w, xw, i), reverse_add<u32, 4>(w + 128, xw, i), reverse_add<u32, 8>(w + 384, xw, i), reverse_add<u32, 16>(w + 896, xw, i);
  reverse_add<u64, 2>(d, xd, i), reverse_add<u64, 4>(d + 128, xd, i), reverse_add<u64, 8>(d + 384, xd, i), reverse_add<u64, 16>(d + 896, xd, i);
}
// An element of a vector chosen at run time, read and written: registers by number, or memory.
KERNEL vector_elements(u32* out, const u32* x, int which) {
  typedef u32 u32x8 __attribute__((ext_vector_type(8)));
  int i = item();
  u32x8 v = ((const u32x8*)x)[i];
  v[which & 7] += 5;
  v[i & 7] ^= 0xffff;
  out[i] = v[(which + 3) & 7] + v[(i >> 3) & 7] * 3;
}
CONSTANT const u32 primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
CONSTANT const char* const words[4] = {"one", "two", "three", "four"};
__attribute__((device)) u32 counter_table[4] = {10, 20, 30, 40};
__attribute__((device)) const u32* pointer_to_table = counter_table + 1;
__attribute__((device)) double zeroed[8];
KERNEL global_variables(u32* out, int n) {
  int i = index();
  if (i >= n) return;
  const char* w = words[i & 3];
  u32 length = 0;
  while (w[length]) length++;
  out[i] = primes[i & 15] * 1000 + primes[3] + length * 100 + w[i % length] + pointer_to_table[i & 1] + (u32)zeroed[i & 7];
}
KERNEL memory_functions(u32* out, const u32* x, int n) {
  int i = index();
  if (i >= n) return;
  struct { u32 head; u32 body[20]; u32 tail; } a, b;
  __builtin_memset(&a, 0x5a, sizeof a);
  __builtin_memcpy(a.body, x + i % (n - 20), 12 * 4);
  b = a;
  __builtin_memmove(b.body + 2, b.body, 10 * 4);
  u32 sum = b.head;
  for (int k = 0; k < 20; k++) sum = sum * 3 + b.body[k] - a.body[(k + i) % 20];
  out[i] = sum ^ b.tail;
}
