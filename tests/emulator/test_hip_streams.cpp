// Streams: what waits for what, what does not, and what a fault does to the work behind it. No test measures time:
// a gate (a host function that blocks) holds a stream up for as long as the test wants.
#include <future>
#include <thread>

#include "hip_support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

TEST_CASE("a launch returns before its kernel has run", "[hip][streams]") {
  Module m("gfx1100", hip_kernels());
  Pinned<i32> out(64);
  Stream s;
  Event e;
  ok(hipEventRecord(e, s));
  ok(hipEventQuery(e));                                  // nothing before it
  {
    Gate gate(s);
    int v = 7;
    ok(start(s, m["fill"], {1}, {64}, out, v));
    ok(hipEventRecord(e, s));
    REQUIRE(hipStreamQuery(s) == hipErrorNotReady);
    REQUIRE(hipEventQuery(e) == hipErrorNotReady);
    REQUIRE(hipGetLastError() == hipSuccess);            // "not ready" is an answer, no error
    float ms;
    REQUIRE(hipEventElapsedTime(&ms, e, e) == hipErrorNotReady);
    REQUIRE(out[0] == 0);
    gate.open();
    ok(hipEventSynchronize(e));
    REQUIRE(out[63] == 7);
    ok(hipStreamSynchronize(s));
    ok(hipStreamQuery(s));
    ok(hipEventElapsedTime(&ms, e, e));
    REQUIRE(ms == 0);
  }
}

TEST_CASE("events order a chain over streams exactly", "[hip][streams]") {
  Module m("gfx1100", hip_kernels());
  Buffer<i32> p(std::vector<i32>(256, 1));
  constexpr int streams = 4, steps = 60;
  Stream s[streams];
  Event e[streams];
  u32 want = 1;
  for (int k = 0; k < steps; k++) {
    const int here = k % streams, before = (k + streams - 1) % streams;
    if (k) ok(hipStreamWaitEvent(s[here], e[before], 0));
    int a = 3 + k % 5, b = k;
    ok(start(s[here], m["step"], {4}, {64}, p, a, b));
    ok(hipEventRecord(e[here], s[here]));
    want = want * u32(a) + u32(b);
  }
  ok(hipDeviceSynchronize());
  same(p.get(), std::vector<i32>(256, i32(want)));
}

TEST_CASE("the null stream waits for blocking streams and they for it; non-blocking streams go their own way", "[hip][streams]") {
  Module m("gfx1100", hip_kernels());
  Buffer<i32> p(std::vector<i32>(64, 1));
  Pinned<i32> aside(64);
  Stream first, second, free(hipStreamNonBlocking);
  Event null_event, second_event, free_event;
  {
    Gate gate(first);
    int a = 2, b = 3, c = 5, d = 7;
    ok(start(first, m["step"], {1}, {64}, p, a, b));       // 1*2+3 = 5
    ok(start(nullptr, m["step"], {1}, {64}, p, c, d));     // 5*5+7 = 32
    ok(hipEventRecord(null_event, nullptr));
    ok(start(second, m["step"], {1}, {64}, p, a, b));      // 32*2+3 = 67
    ok(hipEventRecord(second_event, second));
    ok(start(free, m["fill"], {1}, {64}, aside, d));
    ok(hipEventRecord(free_event, free));
    ok(hipEventSynchronize(free_event));                   // while the gate is closed
    REQUIRE(aside[5] == 7);
    REQUIRE(hipEventQuery(null_event) == hipErrorNotReady);
    REQUIRE(hipEventQuery(second_event) == hipErrorNotReady);
    REQUIRE(hipStreamQuery(nullptr) == hipErrorNotReady);
    REQUIRE(hipStreamQuery(hipStream_t(1)) == hipErrorNotReady);   // hipStreamLegacy is the same stream
    ok(hipStreamSynchronize(free));
  }
  ok(hipStreamSynchronize(nullptr));
  REQUIRE(hipEventQuery(null_event) == hipSuccess);
  ok(hipStreamSynchronize(second));
  same(p.get(), std::vector<i32>(64, 67));
}

TEST_CASE("the per-thread default stream is another one in each thread", "[hip][streams]") {
  Module m("gfx1100", hip_kernels());
  Pinned<i32> out(64);
  Gate gate(hipStreamPerThread);
  REQUIRE(hipStreamQuery(hipStreamPerThread) == hipErrorNotReady);
  REQUIRE(hipStreamQuery_spt(nullptr) == hipErrorNotReady);
  const int device = [] { int d; check(hipGetDevice(&d), "hipGetDevice"); return d; }();
  std::thread([&] {
    check(hipSetDevice(device), "hipSetDevice");
    CHECK(hipStreamQuery(hipStreamPerThread) == hipSuccess);
    int v = 4;
    CHECK(start(hipStreamPerThread, m["fill"], {1}, {64}, out, v) == hipSuccess);
    CHECK(hipStreamSynchronize_spt(nullptr) == hipSuccess);
  }).join();
  REQUIRE(out[1] == 4);
  gate.open();
  ok(hipStreamSynchronize(hipStreamPerThread));
  // It is a blocking stream: the null stream's work waits for it.
  Gate again(hipStreamPerThread);
  Event e;
  ok(hipEventRecord(e, nullptr));
  REQUIRE(hipEventQuery(e) == hipErrorNotReady);
}

TEST_CASE("host functions run in order, on no thread of the client, and may not wait", "[hip][streams]") {
  Module m("gfx1100", hip_kernels());
  struct Seen {
    std::vector<int> order;
    std::thread::id thread;
    hipError_t wait = hipSuccess, status = hipErrorUnknown;
    hipStream_t stream = nullptr;
    Pinned<i32> value{64};
  } seen;
  Stream s;
  int v = 11;
  ok(start(s, m["fill"], {1}, {64}, seen.value, v));
  ok(hipLaunchHostFunc(s, [](void* p) {
    auto& x = *static_cast<Seen*>(p);
    x.order.push_back(x.value[3]);
    x.thread = std::this_thread::get_id();
    x.wait = hipDeviceSynchronize();
  }, &seen));
  ok(hipStreamAddCallback(s, [](hipStream_t stream, hipError_t status, void* p) {
    auto& x = *static_cast<Seen*>(p);
    x.order.push_back(2), x.stream = stream, x.status = status;
  }, &seen, 0));
  ok(hipStreamSynchronize(s));
  same(seen.order, {11, 2});
  REQUIRE(seen.thread != std::this_thread::get_id());
  REQUIRE(seen.wait == hipErrorNotSupported);
  REQUIRE_THAT(last_report(), Contains("hipDeviceSynchronize waits inside a host function"));
  REQUIRE(seen.stream == s);
  REQUIRE(seen.status == hipSuccess);
  REQUIRE(hipLaunchHostFunc(s, nullptr, nullptr) == hipErrorInvalidValue);
}

TEST_CASE("a destroyed stream still does its work", "[hip][streams]") {
  Module m("gfx1100", hip_kernels());
  Pinned<i32> out(64);
  Stream s;
  {
    Gate gate(s);
    int v = 9;
    ok(start(s, m["fill"], {1}, {64}, out, v));
    const hipStream_t handle = s.release();
    ok(hipStreamDestroy(handle));
    REQUIRE(hipStreamQuery(handle) == hipErrorInvalidHandle);
    REQUIRE(hipStreamDestroy(handle) == hipErrorInvalidHandle);
  }
  ok(hipDeviceSynchronize());
  REQUIRE(out[0] == 9);
  REQUIRE(hipStreamDestroy(nullptr) == hipErrorInvalidHandle);
  REQUIRE(hipStreamDestroy(hipStreamPerThread) == hipErrorInvalidHandle);
}

TEST_CASE("a fault is told once, by the next call that waits, and the work behind it does not run", "[hip][streams]") {
  Module m("gfx1100", hip_kernels());
  Buffer<i32> p(std::vector<i32>(64, 1)), q(std::vector<i32>(64, 1));
  Stream s, other;
  int far = 1 << 20, a = 2, b = 1;
  hipError_t told = hipSuccess;
  bool ran = false;
  struct Callback { hipError_t* told; bool* ran; } callback{&told, &ran};
  ok(start(s, m["stray"], {1}, {64}, p, far));
  ok(start(s, m["step"], {1}, {64}, p, a, b));             // not refused: whether the fault is known is a race
  ok(hipMemsetAsync(p.data(), 0, 4, s));
  ok(hipStreamAddCallback(s, [](hipStream_t, hipError_t e, void* x) { *static_cast<Callback*>(x)->told = e, *static_cast<Callback*>(x)->ran = true; }, &callback, 0));
  REQUIRE(name_of(hipStreamSynchronize(s)) == "hipErrorIllegalAddress");
  REQUIRE_THAT(last_report(), Contains("stray on gfx1100"));
  REQUIRE(ran);                                            // a host function runs, and is told
  REQUIRE(told == hipErrorIllegalAddress);
  ok(hipStreamSynchronize(s));
  ok(start(other, m["step"], {1}, {64}, q, a, b));
  ok(hipDeviceSynchronize());
  same(p.get(), std::vector<i32>(64, 1));
  same(q.get(), std::vector<i32>(64, 3));
  REQUIRE(hipGetLastError() == hipErrorIllegalAddress);
}

TEST_CASE("a fault belongs to its device", "[hip][streams]") {
  Module one("gfx1100", hip_kernels());
  Buffer<i32> p(64);
  Stream s;
  int far = 1 << 20;
  ok(start(s, one["stray"], {1}, {64}, p, far));
  int device, here;
  ok(hipGetDevice(&device));
  {
    Module two("gfx906", hip_kernels("gfx906"));
    ok(hipGetDevice(&here));
    REQUIRE(here != device);
    Buffer<i32> q(64);
    int v = 3;
    ok(start(nullptr, two["fill"], {1}, {64}, q, v));
    ok(hipDeviceSynchronize());
    same(q.get(), std::vector<i32>(64, 3));
    // A function of one device in a stream of the other.
    REQUIRE(start(s, two["fill"], {1}, {64}, q, v) == hipErrorInvalidHandle);
    REQUIRE_THAT(last_report(), Contains("the stream of device"));
  }
  ok(hipSetDevice(device));
  REQUIRE(hipDeviceSynchronize() == hipErrorIllegalAddress);
  ok(hipDeviceSynchronize());
}

TEST_CASE("kernels of two streams run beside each other", "[hip][streams]") {
  Module m("gfx1100", hip_kernels());
  Buffer<i32> flag(std::vector<i32>(1)), out(1);
  Stream s(hipStreamNonBlocking), t(hipStreamNonBlocking);
  ok(start(s, m["wait_for"], {8}, {64}, flag, out));       // more groups than host threads, all waiting
  ok(start(t, m["raise"], {1}, {64}, flag));
  ok(hipStreamSynchronize(t));
  ok(hipStreamSynchronize(s));
  same(out.get(), {5});
}

TEST_CASE("streams wait for values in memory", "[hip][streams]") {
  Pinned<u32> flag(2);
  Pinned<u64> wide(1);
  Stream s, t;
  ok(hipStreamWaitValue32(s, flag.data(), 5, hipStreamWaitValueGte, 0xff));
  ok(hipStreamWaitValue64(s, wide.data(), 1ull << 40, hipStreamWaitValueAnd, ~0ull));
  ok(hipStreamWriteValue32(s, flag.data() + 1, 77, 0));
  REQUIRE(hipStreamQuery(s) == hipErrorNotReady);
  ok(hipStreamWriteValue32(t, flag.data(), 0xf04, 0));     // 4 under the mask
  ok(hipStreamSynchronize(t));
  REQUIRE(hipStreamQuery(s) == hipErrorNotReady);
  ok(hipStreamWriteValue32(t, flag.data(), 5, 0));
  ok(hipStreamWriteValue64(t, wide.data(), 3ull << 40, 0));
  ok(hipStreamSynchronize(s));
  REQUIRE(flag[1] == 77);
  REQUIRE(hipStreamWaitValue32(s, nullptr, 0, 0, ~0u) == hipErrorInvalidValue);
  REQUIRE(hipStreamWaitValue32(s, reinterpret_cast<char*>(flag.data()) + 1, 0, 0, ~0u) == hipErrorInvalidValue);
}

TEST_CASE("copies and fills keep their place in the stream; pageable memory is taken at the call", "[hip][streams]") {
  Module m("gfx1100", hip_kernels());
  Buffer<i32> p(64);
  Pinned<i32> pinned(64, 10), back(64);
  std::vector<i32> pageable(64, 20);
  Stream s;
  {
    Gate gate(s);
    ok(hipMemcpyAsync(p.data(), pageable.data(), 256, hipMemcpyHostToDevice, s));
    pageable.assign(64, -1);                               // may be reused at once
    int a = 3, b = 1;
    ok(start(s, m["step"], {1}, {64}, p, a, b));           // 61
    ok(hipMemcpyAsync(back.data(), p.data(), 128, hipMemcpyDeviceToHost, s));
    ok(hipMemcpyAsync(p.data(), pinned.data(), 256, hipMemcpyHostToDevice, s));
    ok(hipMemsetD32Async(static_cast<i32*>(p.data()) + 32, 99, 16, s));
    pinned[1] = 11;                                        // pinned memory is read when the copy runs
    REQUIRE(hipStreamQuery(s) == hipErrorNotReady);
    REQUIRE(back[0] == 0);
  }
  ok(hipStreamSynchronize(s));
  REQUIRE(back[0] == 61);
  REQUIRE(back[31] == 61);
  REQUIRE(back[32] == 0);
  const auto got = p.get();
  REQUIRE(got[0] == 10);
  REQUIRE(got[1] == 11);
  REQUIRE(got[32] == 99);
  REQUIRE(got[48] == 10);
  // A copy to pageable memory has ended when the call returns.
  auto gate = std::make_unique<Gate>(s);
  std::vector<i32> to(64);
  auto copied = std::async(std::launch::async, [&] { return hipMemcpyAsync(to.data(), p.data(), 256, hipMemcpyDeviceToHost, s); });
  gate->open();
  ok(copied.get());
  same(to, got);
}

TEST_CASE("threads, streams and devices at once", "[hip][streams]") {
  const std::vector<std::string> archs = {"gfx1100", "gfx906"};
  std::vector<std::thread> threads;
  std::vector<std::string> failed(4);
  for (const auto& arch : archs) (void)hip_kernels(arch);
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      try {
        Module m(archs[size_t(t) % 2], hip_kernels(archs[size_t(t) % 2]));
        Stream s[3];
        Event e;
        std::vector<std::unique_ptr<Buffer<i32>>> p;
        for (int k = 0; k < 3; k++) p.push_back(std::make_unique<Buffer<i32>>(std::vector<i32>(64, t)));
        for (int round = 0; round < 12; round++) {
          for (int k = 0; k < 3; k++) {
            int a = 3, b = k + round;
            check(start(s[k], m["step"], {1}, {64}, *p[size_t(k)], a, b), "launch");
          }
          check(hipEventRecord(e, s[0]), "record");
          check(hipStreamWaitEvent(s[1], e, 0), "wait");
          check(start(s[1], m["sum"], {1}, {64}, *p[1], *p[1], *p[0]), "launch");
          check(hipEventRecord(e, s[1]), "record");
          check(hipStreamWaitEvent(s[0], e, 0), "wait");
        }
        u32 x = u32(t), y = u32(t), z = u32(t);
        for (u32 round = 0; round < 12; round++) {
          x = x * 3 + round, y = y * 3 + 1 + round, z = z * 3 + 2 + round;
          y += x;
        }
        for (int k = 0; k < 3; k++) check(hipStreamSynchronize(s[k]), "synchronize");
        const u32 want[] = {x, y, z};
        for (size_t k = 0; k < 3; k++)
          for (i32 v : p[k]->get())
            if (v != i32(want[k])) failed[size_t(t)] = "wrong value";
      } catch (const std::exception& e) {
        failed[size_t(t)] = e.what();
      }
    });
  for (auto& t : threads) t.join();
  for (const auto& f : failed) REQUIRE(f == "");
}

TEST_CASE("flags, priorities and masks of streams are told as given", "[hip][streams]") {
  Module m("gfx1100", hip_kernels());
  int least, greatest;
  ok(hipDeviceGetStreamPriorityRange(&least, &greatest));
  REQUIRE(least == 1);
  REQUIRE(greatest == -1);
  hipStream_t s;
  ok(hipStreamCreateWithPriority(&s, hipStreamNonBlocking, -5));
  int priority;
  unsigned flags;
  ok(hipStreamGetPriority(s, &priority));
  REQUIRE(priority == -1);                                 // clamped
  ok(hipStreamGetFlags(s, &flags));
  REQUIRE(flags == hipStreamNonBlocking);
  ok(hipStreamDestroy(s));
  REQUIRE(hipStreamCreateWithFlags(&s, 2) == hipErrorInvalidValue);
  const u32 mask[3] = {0xff, 0, 1};
  u32 got[3];
  ok(hipExtStreamCreateWithCUMask(&s, 3, mask));
  ok(hipExtStreamGetCUMask(s, 3, got));
  same(std::vector<u32>(got, got + 3), {0xff, 0, 1});
  ok(hipStreamDestroy(s));
  ok(hipExtStreamGetCUMask(nullptr, 3, got));              // 96 units
  same(std::vector<u32>(got, got + 3), {~0u, ~0u, ~0u});
  const hipEvent_t none = reinterpret_cast<hipEvent_t>(&got);
  REQUIRE(hipEventRecord(none, nullptr) == hipErrorInvalidHandle);
  REQUIRE(hipStreamWaitEvent(nullptr, none, 0) == hipErrorInvalidHandle);
  hipEvent_t e;
  REQUIRE(hipEventCreateWithFlags(&e, 0x100) == hipErrorInvalidValue);
  Event quiet(hipEventDisableTiming), never;
  float ms;
  ok(hipEventRecord(quiet, nullptr));
  REQUIRE(hipEventElapsedTime(&ms, quiet, quiet) == hipErrorInvalidHandle);
  REQUIRE(hipEventElapsedTime(&ms, never, never) == hipErrorInvalidHandle);
  ok(hipStreamWaitEvent(nullptr, never, 0));
  ok(hipEventQuery(never));
  (void)hipGetLastError();
}
