#include "tests/runtime/count_allocations.h"

#include <cstdlib>
#include <new>

static thread_local int count = 0;

int& lathe::allocations() { return count; }

void* operator new(std::size_t bytes) {
  ++count;
  if (void* pointer = std::malloc(bytes)) return pointer;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++count;
  return std::malloc(bytes);
}
void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }
