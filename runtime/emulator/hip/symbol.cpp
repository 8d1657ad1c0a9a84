// Device variables by the host address that clang registered for them.
#include <fmt/format.h>

#include "hip/module.h"
#include "launch/report.h"

using namespace lathe::emu;

namespace {

// Where `size` bytes at `offset` of the variable are on the device.
hipError_t place(const char* call, const void* symbol, size_t size, size_t offset, int device, u8** out) {
  u64 address, whole;
  if (const hipError_t e = registered_variable(symbol, device, &address, &whole); e != hipSuccess) return e;
  if (offset > whole || size > whole - offset) {
    set_report(fmt::format("lathe emulator: {} of {} bytes at offset {}: the variable has {} bytes", call, size, offset, whole));
    return hipErrorInvalidValue;
  }
  *out = reinterpret_cast<u8*>(address + offset);
  return hipSuccess;
}

}  // namespace

LATHE_HIP hipError_t hipGetSymbolAddress(void** out, const void* symbol) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  u64 address, size;
  if (const hipError_t e = registered_variable(symbol, current_device(), &address, &size); e != hipSuccess) return done(e);
  *out = reinterpret_cast<void*>(address);
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipGetSymbolSize(size_t* out, const void* symbol) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  u64 address, size;
  if (const hipError_t e = registered_variable(symbol, current_device(), &address, &size); e != hipSuccess) return done(e);
  *out = size;
  return hipSuccess;
  HIP_END
}

LATHE_HIP hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size, size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  HIP_TRY
  if (kind != hipMemcpyHostToDevice && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault) return done(hipErrorInvalidMemcpyDirection);
  if (!known_stream(stream)) return done(hipErrorInvalidHandle);
  u8* at;
  if (const hipError_t e = place("hipMemcpyToSymbol", symbol, size, offset, stream_device(stream), &at); e != hipSuccess) return done(e);
  return hipMemcpyAsync(at, from, size, kind, stream);
  HIP_END
}
LATHE_HIP hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  HIP_TRY
  if (kind != hipMemcpyDeviceToHost && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault) return done(hipErrorInvalidMemcpyDirection);
  if (!known_stream(stream)) return done(hipErrorInvalidHandle);
  u8* at;
  if (const hipError_t e = place("hipMemcpyFromSymbol", symbol, size, offset, stream_device(stream), &at); e != hipSuccess) return done(e);
  return hipMemcpyAsync(to, at, size, kind, stream);
  HIP_END
}
LATHE_HIP hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset, hipMemcpyKind kind) {
  HIP_TRY
  if (kind != hipMemcpyHostToDevice && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault) return done(hipErrorInvalidMemcpyDirection);
  u8* at;
  if (const hipError_t e = place("hipMemcpyToSymbol", symbol, size, offset, current_device(), &at); e != hipSuccess) return done(e);
  return hipMemcpy(at, from, size, kind);
  HIP_END
}
LATHE_HIP hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind) {
  HIP_TRY
  if (kind != hipMemcpyDeviceToHost && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault) return done(hipErrorInvalidMemcpyDirection);
  u8* at;
  if (const hipError_t e = place("hipMemcpyFromSymbol", symbol, size, offset, current_device(), &at); e != hipSuccess) return done(e);
  return hipMemcpy(to, at, size, kind);
  HIP_END
}
// For the per-thread default stream: copies in its order, the synchronous forms wait for it.
LATHE_HIP hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* from, size_t size, size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyToSymbolAsync(symbol, from, size, offset, kind, stream ? stream : hipStreamPerThread);
}
LATHE_HIP hipError_t hipMemcpyFromSymbolAsync_spt(void* to, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyFromSymbolAsync(to, symbol, size, offset, kind, stream ? stream : hipStreamPerThread);
}
LATHE_HIP hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* from, size_t size, size_t offset, hipMemcpyKind kind) {
  const hipError_t e = hipMemcpyToSymbolAsync(symbol, from, size, offset, kind, hipStreamPerThread);
  return e == hipSuccess ? hipStreamSynchronize(hipStreamPerThread) : e;
}
LATHE_HIP hipError_t hipMemcpyFromSymbol_spt(void* to, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind) {
  const hipError_t e = hipMemcpyFromSymbolAsync(to, symbol, size, offset, kind, hipStreamPerThread);
  return e == hipSuccess ? hipStreamSynchronize(hipStreamPerThread) : e;
}
