// Error names and texts, one row each.
#include "hip/state.h"

using namespace lathe::emu;

namespace {
struct ErrorRow { hipError_t code; const char* name; const char* text; };
#define ROW(E, TEXT) {E, #E, TEXT}
constexpr ErrorRow error_rows[] = {
    ROW(hipSuccess, "no error"),
    ROW(hipErrorInvalidValue, "invalid argument"),
    ROW(hipErrorOutOfMemory, "out of memory"),
    ROW(hipErrorNotInitialized, "initialization error"),
    ROW(hipErrorInvalidConfiguration, "invalid configuration argument"),
    ROW(hipErrorInvalidSymbol, "invalid device symbol"),
    ROW(hipErrorInvalidDevicePointer, "invalid device pointer"),
    ROW(hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ROW(hipErrorInvalidDeviceFunction, "invalid device function"),
    ROW(hipErrorNoDevice, "no ROCm-capable device is detected"),
    ROW(hipErrorInvalidDevice, "invalid device ordinal"),
    ROW(hipErrorInvalidImage, "device kernel image is invalid"),
    ROW(hipErrorInvalidContext, "invalid device context"),
    ROW(hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device"),
    ROW(hipErrorFileNotFound, "file not found"),
    ROW(hipErrorInvalidHandle, "invalid resource handle"),
    ROW(hipErrorNotFound, "named symbol not found"),
    ROW(hipErrorNotReady, "device not ready"),
    ROW(hipErrorIllegalAddress, "an illegal memory access was encountered"),
    ROW(hipErrorLaunchOutOfResources, "out of resources for launch"),
    ROW(hipErrorLaunchFailure, "unspecified launch failure"),
    ROW(hipErrorNotSupported, "operation not supported"),
    ROW(hipErrorUnknown, "unknown error"),
};
}  // namespace

LATHE_HIP const char* hipGetErrorName(hipError_t e) {
  for (const ErrorRow& r : error_rows)
    if (r.code == e) return r.name;
  return "hipErrorUnknown";
}
LATHE_HIP const char* hipGetErrorString(hipError_t e) {
  for (const ErrorRow& r : error_rows)
    if (r.code == e) return r.text;
  return "unknown error";
}
LATHE_HIP hipError_t hipGetLastError() { return take_last_error(); }
LATHE_HIP hipError_t hipPeekAtLastError() { return peek_last_error(); }
