// Fills in every form.
#include "hip/operation.h"

using namespace lathe::emu;

namespace {

hipError_t fill(const char* call, const StreamRef& stream, bool wait, Planes dst, Extent extent, u32 value, u32 element) {
  if (!stream) return done(hipErrorInvalidHandle);
  if (extent.empty()) return hipSuccess;
  FillOp op{call, dst, extent, value, element};
  if (const hipError_t e = check_fill(op); e != hipSuccess) return e;
  return submit(call, stream, std::move(op), wait);
}
hipError_t fill(const char* call, const StreamRef& stream, bool wait, void* dst, u32 value, size_t count, u32 element) {
  u64 bytes;
  if (__builtin_mul_overflow(count, element, &bytes)) return done(hipErrorInvalidValue);
  return fill(call, stream, wait, Planes{static_cast<u8*>(dst)}, Extent{bytes}, value, element);
}
hipError_t fill_2d(const char* call, const StreamRef& stream, bool wait, void* dst, size_t pitch, int value, size_t width, size_t height) {
  return fill(call, stream, wait, Planes{static_cast<u8*>(dst), pitch}, Extent{width, height, 1}, u8(value), 1);
}
hipError_t fill_3d(const char* call, const StreamRef& stream, bool wait, const hipPitchedPtr& p, int value, const hipExtent& e) {
  return fill(call, stream, wait, Planes{static_cast<u8*>(p.ptr), p.pitch, p.pitch * p.ysize}, Extent{e.width, e.height, e.depth}, u8(value), 1);
}

}  // namespace

// clang-format off
LATHE_HIP hipError_t hipMemset(void* d, int v, size_t n) { HIP_TRY return fill("hipMemset", find_stream(nullptr), true, d, u8(v), n, 1); HIP_END }
LATHE_HIP hipError_t hipMemset_spt(void* d, int v, size_t n) { HIP_TRY return fill("hipMemset_spt", find_stream_spt(nullptr), true, d, u8(v), n, 1); HIP_END }
LATHE_HIP hipError_t hipMemsetAsync(void* d, int v, size_t n, hipStream_t s) { HIP_TRY return fill("hipMemsetAsync", find_stream(s), false, d, u8(v), n, 1); HIP_END }
LATHE_HIP hipError_t hipMemsetAsync_spt(void* d, int v, size_t n, hipStream_t s) { HIP_TRY return fill("hipMemsetAsync_spt", find_stream_spt(s), false, d, u8(v), n, 1); HIP_END }
LATHE_HIP hipError_t hipMemsetD8(hipDeviceptr_t d, unsigned char v, size_t n) { HIP_TRY return fill("hipMemsetD8", find_stream(nullptr), true, d, v, n, 1); HIP_END }
LATHE_HIP hipError_t hipMemsetD8Async(hipDeviceptr_t d, unsigned char v, size_t n, hipStream_t s) { HIP_TRY return fill("hipMemsetD8Async", find_stream(s), false, d, v, n, 1); HIP_END }
LATHE_HIP hipError_t hipMemsetD16(hipDeviceptr_t d, unsigned short v, size_t n) { HIP_TRY return fill("hipMemsetD16", find_stream(nullptr), true, d, v, n, 2); HIP_END }
LATHE_HIP hipError_t hipMemsetD16Async(hipDeviceptr_t d, unsigned short v, size_t n, hipStream_t s) { HIP_TRY return fill("hipMemsetD16Async", find_stream(s), false, d, v, n, 2); HIP_END }
LATHE_HIP hipError_t hipMemsetD32(hipDeviceptr_t d, int v, size_t n) { HIP_TRY return fill("hipMemsetD32", find_stream(nullptr), true, d, u32(v), n, 4); HIP_END }
LATHE_HIP hipError_t hipMemsetD32Async(hipDeviceptr_t d, int v, size_t n, hipStream_t s) { HIP_TRY return fill("hipMemsetD32Async", find_stream(s), false, d, u32(v), n, 4); HIP_END }
LATHE_HIP hipError_t hipMemset2D(void* d, size_t pitch, int v, size_t w, size_t h) { HIP_TRY return fill_2d("hipMemset2D", find_stream(nullptr), true, d, pitch, v, w, h); HIP_END }
LATHE_HIP hipError_t hipMemset2D_spt(void* d, size_t pitch, int v, size_t w, size_t h) { HIP_TRY return fill_2d("hipMemset2D_spt", find_stream_spt(nullptr), true, d, pitch, v, w, h); HIP_END }
LATHE_HIP hipError_t hipMemset2DAsync(void* d, size_t pitch, int v, size_t w, size_t h, hipStream_t s) { HIP_TRY return fill_2d("hipMemset2DAsync", find_stream(s), false, d, pitch, v, w, h); HIP_END }
LATHE_HIP hipError_t hipMemset2DAsync_spt(void* d, size_t pitch, int v, size_t w, size_t h, hipStream_t s) { HIP_TRY return fill_2d("hipMemset2DAsync_spt", find_stream_spt(s), false, d, pitch, v, w, h); HIP_END }
LATHE_HIP hipError_t hipMemset3D(hipPitchedPtr p, int v, hipExtent e) { HIP_TRY return fill_3d("hipMemset3D", find_stream(nullptr), true, p, v, e); HIP_END }
LATHE_HIP hipError_t hipMemset3D_spt(hipPitchedPtr p, int v, hipExtent e) { HIP_TRY return fill_3d("hipMemset3D_spt", find_stream_spt(nullptr), true, p, v, e); HIP_END }
LATHE_HIP hipError_t hipMemset3DAsync(hipPitchedPtr p, int v, hipExtent e, hipStream_t s) { HIP_TRY return fill_3d("hipMemset3DAsync", find_stream(s), false, p, v, e); HIP_END }
LATHE_HIP hipError_t hipMemset3DAsync_spt(hipPitchedPtr p, int v, hipExtent e, hipStream_t s) { HIP_TRY return fill_3d("hipMemset3DAsync_spt", find_stream_spt(s), false, p, v, e); HIP_END }
// clang-format on
