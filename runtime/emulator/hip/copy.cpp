// Copies in every form: each call is turned into rows of bytes and put into its stream.
#include <fmt/format.h>

#include "hip/copy.h"

using namespace lathe::emu;

namespace lathe::emu {

hipError_t copy(const char* call, const StreamRef& stream, bool wait, Planes dst, Planes src, Extent extent, hipMemcpyKind kind) {
  if (!stream) return done(hipErrorInvalidHandle);
  CopyOp op{call, dst, src, extent, kind, nullptr};
  if (const hipError_t e = check_copy(op); e != hipSuccess) return e;
  if (extent.empty()) return hipSuccess;
  return submit(call, stream, std::move(op), wait);
}
hipError_t copy(const char* call, const StreamRef& stream, bool wait, void* dst, const void* src, size_t size, hipMemcpyKind kind) {
  return copy(call, stream, wait, Planes{static_cast<u8*>(dst)}, Planes{static_cast<u8*>(const_cast<void*>(src))}, Extent{size}, kind);
}
hipError_t planes_of(const char* call, const hipMemcpy3DParms& p, Planes& dst, Planes& src, Extent& extent) {
  if (p.srcArray || p.dstArray) return unsupported((std::string(call) + " with arrays").c_str());
  auto place = [](const hipPitchedPtr& at, const hipPos& pos) {
    const u64 slice = at.pitch * at.ysize;
    return Planes{at.ptr ? static_cast<u8*>(at.ptr) + pos.x + pos.y * at.pitch + pos.z * slice : nullptr, at.pitch, slice};
  };
  dst = place(p.dstPtr, p.dstPos), src = place(p.srcPtr, p.srcPos);
  extent = {p.extent.width, p.extent.height, p.extent.depth};
  return hipSuccess;
}

}  // namespace lathe::emu

namespace {

hipError_t copy_2d(const char* call, const StreamRef& stream, bool wait, void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, hipMemcpyKind kind) {
  return copy(call, stream, wait, Planes{static_cast<u8*>(dst), dpitch}, Planes{static_cast<u8*>(const_cast<void*>(src)), spitch}, Extent{width, height, 1}, kind);
}
hipError_t copy_3d(const char* call, const StreamRef& stream, bool wait, const hipMemcpy3DParms* p) {
  if (!p) return done(hipErrorInvalidValue);
  Planes dst, src;
  Extent extent;
  if (const hipError_t e = planes_of(call, *p, dst, src, extent); e != hipSuccess) return e;
  return copy(call, stream, wait, dst, src, extent, p->kind);
}

// The driver's descriptors name memory types instead of a direction.
struct Side {
  hipMemoryType type;
  const void *host, *device;
  u64 x, y, z, pitch, height;
};
hipError_t place(const char* call, const Side& s, const Extent& e, Planes& out, bool& device) {
  if (s.type == hipMemoryTypeArray) return unsupported((std::string(call) + " with arrays").c_str());
  if (s.type != hipMemoryTypeHost && s.type != hipMemoryTypeDevice && s.type != hipMemoryTypeUnified) return done(hipErrorInvalidValue);
  device = s.type == hipMemoryTypeDevice;
  const void* base = s.type == hipMemoryTypeHost ? s.host : s.device;
  const u64 pitch = s.pitch ? s.pitch : s.x + e.width, slice = pitch * (s.height ? s.height : s.y + e.height);
  out = {base ? static_cast<u8*>(const_cast<void*>(base)) + s.x + s.y * pitch + s.z * slice : nullptr, pitch, slice};
  return hipSuccess;
}
hipError_t copy_sides(const char* call, const StreamRef& stream, bool wait, const Side& dst, const Side& src, const Extent& extent) {
  Planes to, from;
  bool to_device, from_device;
  if (const hipError_t e = place(call, dst, extent, to, to_device); e != hipSuccess) return e;
  if (const hipError_t e = place(call, src, extent, from, from_device); e != hipSuccess) return e;
  const hipMemcpyKind kind = to_device ? (from_device ? hipMemcpyDeviceToDevice : hipMemcpyHostToDevice) : from_device ? hipMemcpyDeviceToHost : hipMemcpyDefault;
  return copy(call, stream, wait, to, from, extent, kind);
}
hipError_t copy_param_2d(const char* call, const StreamRef& stream, bool wait, const hip_Memcpy2D* p) {
  if (!p) return done(hipErrorInvalidValue);
  return copy_sides(call, stream, wait, {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes, p->dstY, 0, p->dstPitch, 0},
                    {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes, p->srcY, 0, p->srcPitch, 0}, {p->WidthInBytes, p->Height, 1});
}
hipError_t copy_drv_3d(const char* call, const StreamRef& stream, bool wait, const HIP_MEMCPY3D* p) {
  if (!p) return done(hipErrorInvalidValue);
  if (p->srcLOD || p->dstLOD) return done(hipErrorInvalidValue);
  return copy_sides(call, stream, wait, {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes, p->dstY, p->dstZ, p->dstPitch, p->dstHeight},
                    {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes, p->srcY, p->srcZ, p->srcPitch, p->srcHeight}, {p->WidthInBytes, p->Height, p->Depth});
}
hipError_t copy_peer(const char* call, const StreamRef& stream, bool wait, void* dst, int to, const void* src, int from, size_t size) {
  if (!valid_device(to) || !valid_device(from)) return done(hipErrorInvalidDevice);
  const Memory::Use use;
  for (const auto& [p, device] : {std::pair<const void*, int>(dst, to), {src, from}})
    if (const Allocation* a = size ? memory().find(u64(p)) : nullptr; a && a->kind == Allocation::Kind::device && a->device != device)
      return refuse(hipErrorInvalidValue, fmt::format("{}: 0x{:x} is memory of device {}, not of device {}", call, u64(p), a->device, device));
  return copy(call, stream, wait, dst, src, size, hipMemcpyDeviceToDevice);
}

}  // namespace

// clang-format off
LATHE_HIP hipError_t hipMemcpy(void* d, const void* s, size_t n, hipMemcpyKind k) { HIP_TRY return copy("hipMemcpy", find_stream(nullptr), true, d, s, n, k); HIP_END }
LATHE_HIP hipError_t hipMemcpy_spt(void* d, const void* s, size_t n, hipMemcpyKind k) { HIP_TRY return copy("hipMemcpy_spt", find_stream_spt(nullptr), true, d, s, n, k); HIP_END }
LATHE_HIP hipError_t hipMemcpyAsync(void* d, const void* s, size_t n, hipMemcpyKind k, hipStream_t t) { HIP_TRY return copy("hipMemcpyAsync", find_stream(t), false, d, s, n, k); HIP_END }
LATHE_HIP hipError_t hipMemcpyAsync_spt(void* d, const void* s, size_t n, hipMemcpyKind k, hipStream_t t) { HIP_TRY return copy("hipMemcpyAsync_spt", find_stream_spt(t), false, d, s, n, k); HIP_END }
LATHE_HIP hipError_t hipMemcpyWithStream(void* d, const void* s, size_t n, hipMemcpyKind k, hipStream_t t) { HIP_TRY return copy("hipMemcpyWithStream", find_stream(t), true, d, s, n, k); HIP_END }
LATHE_HIP hipError_t hipMemcpyHtoD(hipDeviceptr_t d, void* s, size_t n) { HIP_TRY return copy("hipMemcpyHtoD", find_stream(nullptr), true, d, s, n, hipMemcpyHostToDevice); HIP_END }
LATHE_HIP hipError_t hipMemcpyDtoH(void* d, hipDeviceptr_t s, size_t n) { HIP_TRY return copy("hipMemcpyDtoH", find_stream(nullptr), true, d, s, n, hipMemcpyDeviceToHost); HIP_END }
LATHE_HIP hipError_t hipMemcpyDtoD(hipDeviceptr_t d, hipDeviceptr_t s, size_t n) { HIP_TRY return copy("hipMemcpyDtoD", find_stream(nullptr), true, d, s, n, hipMemcpyDeviceToDevice); HIP_END }
LATHE_HIP hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t d, void* s, size_t n, hipStream_t t) { HIP_TRY return copy("hipMemcpyHtoDAsync", find_stream(t), false, d, s, n, hipMemcpyHostToDevice); HIP_END }
LATHE_HIP hipError_t hipMemcpyDtoHAsync(void* d, hipDeviceptr_t s, size_t n, hipStream_t t) { HIP_TRY return copy("hipMemcpyDtoHAsync", find_stream(t), false, d, s, n, hipMemcpyDeviceToHost); HIP_END }
LATHE_HIP hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t d, hipDeviceptr_t s, size_t n, hipStream_t t) { HIP_TRY return copy("hipMemcpyDtoDAsync", find_stream(t), false, d, s, n, hipMemcpyDeviceToDevice); HIP_END }
LATHE_HIP hipError_t hipMemcpyPeer(void* d, int to, const void* s, int from, size_t n) { HIP_TRY return copy_peer("hipMemcpyPeer", find_stream(nullptr), true, d, to, s, from, n); HIP_END }
LATHE_HIP hipError_t hipMemcpyPeerAsync(void* d, int to, const void* s, int from, size_t n, hipStream_t t) { HIP_TRY return copy_peer("hipMemcpyPeerAsync", find_stream(t), false, d, to, s, from, n); HIP_END }

LATHE_HIP hipError_t hipMemcpy2D(void* d, size_t dp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind k) { HIP_TRY return copy_2d("hipMemcpy2D", find_stream(nullptr), true, d, dp, s, sp, w, h, k); HIP_END }
LATHE_HIP hipError_t hipMemcpy2D_spt(void* d, size_t dp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind k) { HIP_TRY return copy_2d("hipMemcpy2D_spt", find_stream_spt(nullptr), true, d, dp, s, sp, w, h, k); HIP_END }
LATHE_HIP hipError_t hipMemcpy2DAsync(void* d, size_t dp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind k, hipStream_t t) { HIP_TRY return copy_2d("hipMemcpy2DAsync", find_stream(t), false, d, dp, s, sp, w, h, k); HIP_END }
LATHE_HIP hipError_t hipMemcpy2DAsync_spt(void* d, size_t dp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind k, hipStream_t t) { HIP_TRY return copy_2d("hipMemcpy2DAsync_spt", find_stream_spt(t), false, d, dp, s, sp, w, h, k); HIP_END }
LATHE_HIP hipError_t hipMemcpyParam2D(const hip_Memcpy2D* p) { HIP_TRY return copy_param_2d("hipMemcpyParam2D", find_stream(nullptr), true, p); HIP_END }
LATHE_HIP hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* p, hipStream_t t) { HIP_TRY return copy_param_2d("hipMemcpyParam2DAsync", find_stream(t), false, p); HIP_END }
LATHE_HIP hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* p) { HIP_TRY return copy_param_2d("hipDrvMemcpy2DUnaligned", find_stream(nullptr), true, p); HIP_END }

LATHE_HIP hipError_t hipMemcpy3D(const hipMemcpy3DParms* p) { HIP_TRY return copy_3d("hipMemcpy3D", find_stream(nullptr), true, p); HIP_END }
LATHE_HIP hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* p) { HIP_TRY return copy_3d("hipMemcpy3D_spt", find_stream_spt(nullptr), true, p); HIP_END }
LATHE_HIP hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* p, hipStream_t t) { HIP_TRY return copy_3d("hipMemcpy3DAsync", find_stream(t), false, p); HIP_END }
LATHE_HIP hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms* p, hipStream_t t) { HIP_TRY return copy_3d("hipMemcpy3DAsync_spt", find_stream_spt(t), false, p); HIP_END }
LATHE_HIP hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* p) { HIP_TRY return copy_drv_3d("hipDrvMemcpy3D", find_stream(nullptr), true, p); HIP_END }
LATHE_HIP hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* p, hipStream_t t) { HIP_TRY return copy_drv_3d("hipDrvMemcpy3DAsync", find_stream(t), false, p); HIP_END }
// clang-format on
