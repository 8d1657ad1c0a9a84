// hipGetProcAddress: a function of this library by name, for the version and the default stream that the client has.
#include <dlfcn.h>

#include <string>

#include "hip/state.h"

using namespace lathe::emu;

// HIP 6.2's hipDriverProcAddressQueryResult and hipDriverEntryPoint flags, which Debian's header lacks.
LATHE_HIP hipError_t hipGetProcAddress(const char* symbol, void** out, int version, uint64_t flags, int* result) {
  HIP_TRY
  constexpr int found = 0, not_found = 1;
  constexpr uint64_t legacy_stream = 1, per_thread_stream = 2;
  if (result) *result = not_found;
  if (!symbol || !*symbol || !out || flags > per_thread_stream) return done(hipErrorInvalidValue);
  *out = nullptr;
  (void)legacy_stream;                 // the names as they are
  // This library, however it was loaded.
  static void* self = [] {
    Dl_info info;
    return dladdr(reinterpret_cast<void*>(&hipGetProcAddress), &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  }();
  std::string name = symbol;
  if (version >= 600 && (name == "hipGetDeviceProperties" || name == "hipChooseDevice")) name += "R0600";
  void* p = nullptr;
  if (flags == per_thread_stream) p = dlsym(self ? self : RTLD_DEFAULT, (name + "_spt").c_str());
  if (!p) p = dlsym(self ? self : RTLD_DEFAULT, name.c_str());
  if (!p || name.compare(0, 3, "hip") != 0) return done(hipErrorNotFound);
  *out = p;
  if (result) *result = found;
  return hipSuccess;
  HIP_END
}
