// What is not there: every other function of HIP's headers exists, names itself on standard error and fails as
// hipErrorNotSupported. unsupported.inc is the table. HIP's header must not be seen here: the rows define its
// functions without their parameters, which a C function may ignore.
#include <string>

namespace lathe::emu {
int fail_unsupported(const char* call);
}
using lathe::emu::fail_unsupported;

#define EXPORT extern "C" __attribute__((visibility("default")))
// HIP (C++ names are those of the Itanium ABI): hipError_t. RTC: hiprtcResult, of which 11 is an internal error.
// TEXT: a string.
#define HIP(NAME) EXPORT int NAME() { return fail_unsupported(#NAME); }
#define RTC(NAME) EXPORT int NAME() { fail_unsupported(#NAME); return 11; }
#define TEXT(NAME) EXPORT const char* NAME() { fail_unsupported(#NAME); return nullptr; }
#include "hip/unsupported.inc"

// What returns no hipError_t, or is too small to be missing.
namespace {
struct ChannelDesc { int x, y, z, w, kind; };  // hipChannelFormatDesc
}
EXPORT ChannelDesc hipCreateChannelDesc(int x, int y, int z, int w, int kind) { return {x, y, z, w, kind}; }
EXPORT void __hipGetPCH(const char** header, unsigned* size) {
  fail_unsupported("__hipGetPCH");
  if (header) *header = nullptr;
  if (size) *size = 0;
}
// Half precision for host code of compilers without it; AMD's library exports these two.
EXPORT float __gnu_h2f_ieee(unsigned short h) {
  _Float16 x;
  __builtin_memcpy(&x, &h, sizeof x);
  return float(x);
}
EXPORT unsigned short __gnu_f2h_ieee(float f) {
  const _Float16 x = _Float16(f);
  unsigned short h;
  __builtin_memcpy(&h, &x, sizeof h);
  return h;
}
