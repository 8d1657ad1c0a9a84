// Keeps freed memory in the process instead of giving it back to the kernel after every compile: LLVM asks for the same
// tens of megabytes again each time, and page faults were a sixth of a warm vector add (15.4 ms against 13.0 ms). It is
// a choice of the whole process, so the tools make it and the compiler's library does not.
#pragma once

#include <malloc.h>

namespace lathe {

inline void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_TOP_PAD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 256 << 20);
#endif
}

}  // namespace lathe
