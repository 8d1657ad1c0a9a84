#include "runtime/base/error.h"

#include <cstdio>
#include <cstdlib>

namespace lathe {

void check_failed(const char* file, int line, const char* condition, const std::string& detail) {
  std::fprintf(stderr, "lathe: internal error at %s:%d: %s\n%s\nThis is a bug in Lathe, not in your program.\n", file,
               line, condition, detail.c_str());
  std::abort();
}

}  // namespace lathe
