// Error names and texts, one row each, and HIP's calls about errors.
#include "hip/state.h"

using namespace lathe::emu;

namespace {
struct ErrorRow { hipError_t code; const char* name; const char* text; };
#define ROW(E, TEXT) {E, #E, TEXT}
#define NEWER(CODE, E, TEXT) {hipError_t(CODE), #E, TEXT}   // HIP 6's, which Debian's header lacks
constexpr ErrorRow error_rows[] = {
    ROW(hipSuccess, "no error"),
    ROW(hipErrorInvalidValue, "invalid argument"),
    ROW(hipErrorOutOfMemory, "out of memory"),
    ROW(hipErrorNotInitialized, "initialization error"),
    ROW(hipErrorDeinitialized, "driver shutting down"),
    ROW(hipErrorProfilerDisabled, "profiler disabled"),
    ROW(hipErrorProfilerNotInitialized, "profiler not initialized"),
    ROW(hipErrorProfilerAlreadyStarted, "profiler already started"),
    ROW(hipErrorProfilerAlreadyStopped, "profiler already stopped"),
    ROW(hipErrorInvalidConfiguration, "invalid configuration argument"),
    ROW(hipErrorInvalidPitchValue, "invalid pitch argument"),
    ROW(hipErrorInvalidSymbol, "invalid device symbol"),
    ROW(hipErrorInvalidDevicePointer, "invalid device pointer"),
    ROW(hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ROW(hipErrorInsufficientDriver, "driver version is insufficient for runtime version"),
    ROW(hipErrorMissingConfiguration, "__global__ function call is not configured"),
    ROW(hipErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    ROW(hipErrorInvalidDeviceFunction, "invalid device function"),
    ROW(hipErrorNoDevice, "no ROCm-capable device is detected"),
    ROW(hipErrorInvalidDevice, "invalid device ordinal"),
    ROW(hipErrorInvalidImage, "device kernel image is invalid"),
    ROW(hipErrorInvalidContext, "invalid device context"),
    ROW(hipErrorContextAlreadyCurrent, "context is already current context"),
    ROW(hipErrorMapFailed, "mapping of buffer object failed"),
    ROW(hipErrorUnmapFailed, "unmapping of buffer object failed"),
    ROW(hipErrorArrayIsMapped, "array is mapped"),
    ROW(hipErrorAlreadyMapped, "resource already mapped"),
    ROW(hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device"),
    ROW(hipErrorAlreadyAcquired, "resource already acquired"),
    ROW(hipErrorNotMapped, "resource not mapped"),
    ROW(hipErrorNotMappedAsArray, "resource not mapped as array"),
    ROW(hipErrorNotMappedAsPointer, "resource not mapped as pointer"),
    ROW(hipErrorECCNotCorrectable, "uncorrectable ECC error encountered"),
    ROW(hipErrorUnsupportedLimit, "limit is not supported on this architecture"),
    ROW(hipErrorContextAlreadyInUse, "exclusive-thread device already in use by a different thread"),
    ROW(hipErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    ROW(hipErrorInvalidKernelFile, "invalid kernel file"),
    ROW(hipErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    ROW(hipErrorInvalidSource, "device kernel image is invalid"),
    ROW(hipErrorFileNotFound, "file not found"),
    ROW(hipErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    ROW(hipErrorSharedObjectInitFailed, "shared object initialization failed"),
    ROW(hipErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    ROW(hipErrorInvalidHandle, "invalid resource handle"),
    ROW(hipErrorIllegalState, "the operation cannot be performed in the present state"),
    ROW(hipErrorNotFound, "named symbol not found"),
    ROW(hipErrorNotReady, "device not ready"),
    ROW(hipErrorIllegalAddress, "an illegal memory access was encountered"),
    ROW(hipErrorLaunchOutOfResources, "out of resources for launch"),
    ROW(hipErrorLaunchTimeOut, "the launch timed out and was terminated"),
    ROW(hipErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ROW(hipErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    ROW(hipErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    ROW(hipErrorContextIsDestroyed, "context is destroyed"),
    ROW(hipErrorAssert, "device-side assert triggered"),
    ROW(hipErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    ROW(hipErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    ROW(hipErrorLaunchFailure, "unspecified launch failure"),
    ROW(hipErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ROW(hipErrorNotSupported, "operation not supported"),
    ROW(hipErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ROW(hipErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    ROW(hipErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
    ROW(hipErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    ROW(hipErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    ROW(hipErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    ROW(hipErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a capturing blocking stream"),
    ROW(hipErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    ROW(hipErrorStreamCaptureWrongThread, "attempt to terminate a thread-local capture sequence from another thread"),
    ROW(hipErrorGraphExecUpdateFailure, "the graph update was not performed because it included changes which violated constraints"),
    NEWER(911, hipErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    NEWER(912, hipErrorInvalidTexture, "invalid texture"),
    ROW(hipErrorUnknown, "unknown error"),
    ROW(hipErrorRuntimeMemory, "runtime memory call returned error"),
    ROW(hipErrorRuntimeOther, "runtime call other than memory returned error"),
    ROW(hipErrorTbd, "not yet defined"),
};
const ErrorRow* find(hipError_t e) {
  for (const ErrorRow& r : error_rows)
    if (r.code == e) return &r;
  return nullptr;
}
}  // namespace

LATHE_HIP const char* hipGetErrorName(hipError_t e) {
  const ErrorRow* r = find(e);
  return r ? r->name : "hipErrorUnknown";
}
LATHE_HIP const char* hipGetErrorString(hipError_t e) {
  const ErrorRow* r = find(e);
  return r ? r->text : "unknown error";
}
LATHE_HIP hipError_t hipDrvGetErrorName(hipError_t e, const char** out) {
  const ErrorRow* r = find(e);
  if (!out) return done(hipErrorInvalidValue);
  *out = r ? r->name : nullptr;
  return done(r ? hipSuccess : hipErrorInvalidValue);
}
LATHE_HIP hipError_t hipDrvGetErrorString(hipError_t e, const char** out) {
  const ErrorRow* r = find(e);
  if (!out) return done(hipErrorInvalidValue);
  *out = r ? r->text : nullptr;
  return done(r ? hipSuccess : hipErrorInvalidValue);
}
LATHE_HIP hipError_t hipGetLastError() { return take_last_error(); }
LATHE_HIP hipError_t hipExtGetLastError() { return take_last_error(); }
LATHE_HIP hipError_t hipPeekAtLastError() { return peek_last_error(); }
