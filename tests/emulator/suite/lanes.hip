// Lanes of a wave exchange values. One wave per group; `out` has a row of 64 results per operation.
#if defined(__GFX9__)
#define GFX9 1
#else
#define GFX9 0
#endif
#if LANES == 64
#define BALLOT(x) __builtin_amdgcn_ballot_w64(x)
#else
#define BALLOT(x) ((u64)__builtin_amdgcn_ballot_w32(x))
#endif

DEVICE int lane(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
DEVICE int shuffle(int value, int from) { return __builtin_amdgcn_ds_bpermute(from * 4, value); }
DEVICE u64 shuffle64(u64 value, int from) { return (u32)shuffle((int)value, from) | (u64)(u32)shuffle((int)(value >> 32), from) << 32; }
#define ROW(k) out[(k) * 64 + item()]

KERNEL permutes(int* out, const int* x) {
  int i = item(), v = x[i];
  ROW(0) = lane(), ROW(1) = shuffle(v, i * 7 + 3), ROW(2) = __builtin_amdgcn_ds_permute((i ^ 5) * 4, v), ROW(3) = shuffle(v, 9);
  u64 w = shuffle64((u64)v * 0x123456789ull, i ^ 3);
  ROW(4) = (int)w, ROW(5) = (int)(w >> 32);
  int r = -1;
  if (i & 1) r = shuffle(v, i ^ 2);
  ROW(6) = r;
}
KERNEL swizzles(int* out, const int* x) {
  int v = x[item()];
  // and | or << 5 | xor << 10, then quad permutes
  ROW(0) = __builtin_amdgcn_ds_swizzle(v, 0x1f | 1 << 10), ROW(1) = __builtin_amdgcn_ds_swizzle(v, 0x1f | 16 << 10), ROW(2) = __builtin_amdgcn_ds_swizzle(v, 0x10 | 3 << 5);
  ROW(3) = __builtin_amdgcn_ds_swizzle(v, 0x1f | 31 << 10), ROW(4) = __builtin_amdgcn_ds_swizzle(v, 0x8000 | 0x1b), ROW(5) = __builtin_amdgcn_ds_swizzle(v, 0x8000 | 0xd8);
}
#define DPP(k, ctrl, rows, banks, bound) ROW(k) = __builtin_amdgcn_update_dpp(-7, v, ctrl, rows, banks, bound)
KERNEL dpp_rows(int* out, const int* x) {
  int v = x[item()];
  DPP(0, 0x1b, 15, 15, false), DPP(1, 0xb1, 15, 15, false), DPP(2, 0x101, 15, 15, false), DPP(3, 0x105, 15, 15, true), DPP(4, 0x111, 15, 15, false), DPP(5, 0x118, 15, 15, true);
  DPP(6, 0x121, 15, 15, false), DPP(7, 0x12c, 15, 15, false), DPP(8, 0x140, 15, 15, false), DPP(9, 0x141, 15, 15, false), DPP(10, 0x111, 5, 15, false), DPP(11, 0x111, 15, 6, false);
  DPP(12, 0x4e, 2, 3, true);
  // Arithmetic with a moved operand, which the compiler folds into the instruction.
  ROW(13) = v + __builtin_amdgcn_update_dpp(0, v, 0x111, 15, 15, true);
  ROW(14) = (int)(__builtin_bit_cast(float, __builtin_amdgcn_mov_dpp(__builtin_bit_cast(int, (float)(v & 1023)), 0xb1, 15, 15, true)) * 2.0f);
}
// What one generation or the other has: whole-wave shifts and broadcasts, row_share and row_xmask, dpp8.
KERNEL dpp_generations(int* out, const int* x) {
  int v = x[item()];
#if GFX9
  DPP(0, 0x130, 15, 15, false), DPP(1, 0x134, 15, 15, false), DPP(2, 0x138, 15, 15, true), DPP(3, 0x13c, 15, 15, false), DPP(4, 0x142, 10, 15, false), DPP(5, 0x143, 12, 15, false);
#else
  DPP(0, 0x153, 15, 15, false), DPP(1, 0x15f, 5, 15, false), DPP(2, 0x161, 15, 15, false), DPP(3, 0x16a, 15, 15, false);
  ROW(4) = __builtin_amdgcn_mov_dpp8(v, 07 | 06 << 3 | 05 << 6 | 04 << 9 | 03 << 12 | 02 << 15 | 01 << 18), ROW(5) = __builtin_amdgcn_mov_dpp8(v, 3 | 3 << 3 | 1 << 6 | 0 << 9 | 7 << 12 | 2 << 15 | 6 << 18 | 6 << 21);
#endif
}
KERNEL permlanes(int* out, const int* x) {
  int v = x[item()];
#if GFX9
  for (int k = 0; k < 5; k++) ROW(k) = v;
#else
  ROW(0) = __builtin_amdgcn_permlane16(v, v, 0x76543210, 0xfedcba98, false, false), ROW(1) = __builtin_amdgcn_permlane16(-3, v, 0x01234567, 0x89abcdef, false, false);
  ROW(2) = __builtin_amdgcn_permlanex16(-3, v, 0x01234567, 0x89abcdef, false, false), ROW(3) = __builtin_amdgcn_permlanex16(-3, v, 0, 0x11111111, true, false);
#if defined(__GFX10__) || LANES == 32  // with 32 lanes the instruction does nothing at all
  ROW(4) = v;
#else
  ROW(4) = __builtin_amdgcn_permlane64(v);
#endif
#endif
#if defined(__gfx950__)
  auto a = __builtin_amdgcn_permlane32_swap(v, ~v, false, false);
  auto b = __builtin_amdgcn_permlane16_swap(v, ~v, false, false);
  ROW(5) = a[0], ROW(6) = a[1], ROW(7) = b[0], ROW(8) = b[1];
#else
  for (int k = 5; k < 9; k++) ROW(k) = v;
#endif
}
KERNEL read_lanes(int* out, const int* x, int which) {
  int i = item(), v = x[i];
  ROW(0) = __builtin_amdgcn_readlane(v, which), ROW(1) = __builtin_amdgcn_readfirstlane(v + 1), ROW(2) = i == 5 ? which * 3 : v;
  int r = 0;
  if (i >= 13 && (i & 3) == 2) r = __builtin_amdgcn_readfirstlane(v);
  ROW(3) = r;
  // A loop over the distinct values of a key: each turn serves the lanes that agree with the first.
  int key = v & 3, turn = 0;
  bool done = false;
  while (!done) {
    if (key == __builtin_amdgcn_readfirstlane(key)) done = true, ROW(4) = turn;
    turn++;
  }
}
KERNEL ballots(u64* out, const int* x) {
  int i = item(), v = x[i];
  ROW(0) = BALLOT(v & 1), ROW(1) = BALLOT(true), ROW(2) = __builtin_popcountll(BALLOT(v > 0));
  u64 inner = 0, deep = 0;
  if (v & 2) {
    inner = BALLOT(true);
    if (v & 4) deep = BALLOT(v & 8);
  }
  ROW(3) = inner, ROW(4) = deep;
  // Rank among the lanes that agree, and the number of those before.
  u64 agree = BALLOT(v & 16);
  if (!(v & 16)) agree = ~agree & BALLOT(true);
  ROW(5) = __builtin_amdgcn_mbcnt_hi((u32)(agree >> 32), __builtin_amdgcn_mbcnt_lo((u32)agree, 0));
  ROW(6) = (BALLOT(v != 12345) == BALLOT(true)) + 2 * (BALLOT(i == 3) != 0);
}
KERNEL wave_reductions(int* out, const int* x) {
  int i = item(), lanes = __builtin_amdgcn_wavefrontsize(), sum = x[i], most = x[i];
  for (int d = lanes / 2; d; d /= 2) {
    int other = shuffle(most, i ^ d);
    sum += shuffle(sum, i ^ d), most = most > other ? most : other;
  }
  ROW(0) = sum, ROW(1) = most;
  int prefix = x[i];
  for (int d = 1; d < lanes; d *= 2) {
    int other = shuffle(prefix, i - d);
    if (i >= d) prefix += other;
  }
  ROW(2) = prefix;
  // Inclusive scan of a row of 16 by DPP.
  int row = x[i];
  row += __builtin_amdgcn_update_dpp(0, row, 0x111, 15, 15, true);
  row += __builtin_amdgcn_update_dpp(0, row, 0x112, 15, 15, true);
  row += __builtin_amdgcn_update_dpp(0, row, 0x114, 15, 15, true);
  row += __builtin_amdgcn_update_dpp(0, row, 0x118, 15, 15, true);
  ROW(3) = row;
  double d = x[i] * 0.5;
  for (int k = 1; k < lanes; k *= 2) d += __builtin_bit_cast(double, shuffle64(__builtin_bit_cast(u64, d), i ^ k));
  ROW(4) = (int)d;
}
