#include "runtime/scratch_allocator.h"

#include <catch2/catch.hpp>
#include <set>

using namespace lathe;

TEST_CASE("scratch blocks are handed out again on their own stream only") {
  char memory[16] = {};
  int made = 0;
  auto allocate = [&](size_t) -> void* { return &memory[made++]; };
  std::set<void*> released;
  auto release = [&](void* p) { CHECK(released.insert(p).second); };
  char stream_a = 0, stream_b = 0;
  {
    ScratchAllocator scratch;
    CHECK(scratch.take(&stream_a, 0, allocate).pointer == nullptr);
    const auto first = scratch.take(&stream_a, 1000, allocate);
    CHECK(first.bytes == 1024);
    scratch.give(&stream_a, first);
    CHECK(scratch.idle_bytes() == 1024);
    CHECK(scratch.take(&stream_b, 1000, allocate).pointer != first.pointer);
    CHECK(scratch.take(&stream_a, 400, allocate).pointer != first.pointer);  // more than twice too large
    const auto again = scratch.take(&stream_a, 1010, allocate);
    CHECK(again.pointer == first.pointer);
    CHECK(scratch.take(&stream_a, 1010, allocate).pointer != first.pointer);  // in use
    CHECK(made == 4);
    scratch.give(&stream_a, again);
    scratch.trim(&stream_b, release);
    CHECK(released.empty());
    scratch.trim(release);
    CHECK(released == std::set<void*>{first.pointer});
    CHECK(scratch.idle_bytes() == 0);
  }
}
