// Memory: every form of copy and fill, what pointers are, what is refused and how, and that all of it comes back.
#include <sys/mman.h>

#include <numeric>

#include "hip_support.h"

using namespace emu_test;
using Catch::Matchers::Contains;

namespace {
std::vector<uint8_t> bytes(size_t n, int from = 0) {
  std::vector<uint8_t> v(n);
  for (size_t k = 0; k < n; k++) v[k] = uint8_t(from + int(k * 7));
  return v;
}
int device_for(const char* arch) {
  const int d = lathe_emulator_add_device(arch);
  check(hipSetDevice(d), "hipSetDevice");
  return d;
}
size_t in_use() {
  size_t available, total;
  check(hipMemGetInfo(&available, &total), "hipMemGetInfo");
  return total - available;
}
}  // namespace

TEST_CASE("one-dimensional copies in every direction", "[hip][memory]") {
  device_for("gfx1100");
  const auto from = bytes(1000);
  std::vector<uint8_t> to(1000);
  Buffer<uint8_t> a(1000), b(1000);
  Stream s;
  for (hipMemcpyKind kind : {hipMemcpyHostToDevice, hipMemcpyDefault}) ok(hipMemcpy(a.data(), from.data(), 1000, kind));
  for (hipMemcpyKind kind : {hipMemcpyDeviceToDevice, hipMemcpyDefault}) ok(hipMemcpy(b.data(), a.data(), 1000, kind));
  ok(hipMemcpyWithStream(to.data(), b.data(), 1000, hipMemcpyDeviceToHost, s));
  same(to, from);
  std::vector<uint8_t> again(1000);
  ok(hipMemcpy(again.data(), to.data(), 1000, hipMemcpyHostToHost));
  same(again, from);
  ok(hipMemcpyHtoD(a.data(), again.data() + 10, 100));
  ok(hipMemcpyDtoD(static_cast<char*>(a.data()) + 100, a.data(), 100));
  ok(hipMemcpyDtoH(to.data(), static_cast<char*>(a.data()) + 100, 100));
  REQUIRE(std::equal(to.begin(), to.begin() + 100, from.begin() + 10));
  ok(hipMemcpyHtoDAsync(a.data(), again.data(), 50, s));
  ok(hipMemcpyDtoDAsync(b.data(), a.data(), 50, s));
  ok(hipMemcpyDtoHAsync(to.data(), b.data(), 50, s));
  REQUIRE(std::equal(to.begin(), to.begin() + 50, from.begin()));
  ok(hipMemcpy_spt(a.data(), from.data(), 1000, hipMemcpyHostToDevice));
  ok(hipMemcpy(nullptr, nullptr, 0, hipMemcpyDefault));
  same(a.get(), from);
}

TEST_CASE("two- and three-dimensional copies leave what is between the rows", "[hip][memory]") {
  device_for("gfx1100");
  // 5 rows of 7 bytes, pitch 16 on the host and pitch of hipMallocPitch on the device.
  const auto from = bytes(16 * 5 * 3);
  void* p;
  size_t pitch;
  ok(hipMallocPitch(&p, &pitch, 7, 5));
  REQUIRE(pitch == 256);
  ok(hipMemset2D(p, pitch, 0xee, pitch, 5));
  ok(hipMemcpy2D(p, pitch, from.data(), 16, 7, 5, hipMemcpyHostToDevice));
  std::vector<uint8_t> whole(pitch * 5);
  ok(hipMemcpy(whole.data(), p, whole.size(), hipMemcpyDeviceToHost));
  for (size_t y = 0; y < 5; y++)
    for (size_t x = 0; x < pitch; x++) REQUIRE(whole[y * pitch + x] == (x < 7 ? from[y * 16 + x] : 0xee));
  std::vector<uint8_t> to(16 * 5, 1);
  Stream s;
  ok(hipMemcpy2DAsync(to.data(), 16, p, pitch, 7, 5, hipMemcpyDeviceToHost, s));
  for (size_t y = 0; y < 5; y++)
    for (size_t x = 0; x < 16; x++) REQUIRE(to[y * 16 + x] == (x < 7 ? from[y * 16 + x] : 1));
  REQUIRE(hipMemcpy2D(p, 6, from.data(), 16, 7, 5, hipMemcpyHostToDevice) == hipErrorInvalidPitchValue);
  REQUIRE_THAT(last_report(), Contains("rows of 7 bytes do not fit a pitch of 6"));
  // Columns of one buffer beside each other do not overlap; the same with one byte more do.
  ok(hipMemcpy2D(static_cast<char*>(p) + 7, pitch, p, pitch, 7, 5, hipMemcpyDeviceToDevice));
  REQUIRE(hipMemcpy2D(static_cast<char*>(p) + 7, pitch, p, pitch, 8, 5, hipMemcpyDeviceToDevice) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("overlap"));
  ok(hipMemcpy(whole.data(), p, whole.size(), hipMemcpyDeviceToHost));
  REQUIRE(whole[4 * pitch + 13] == from[4 * 16 + 6]);

  // The driver's descriptor: from (2, 1) of the host to (3, 2) of the device, 4 by 3.
  hip_Memcpy2D d = {};
  d.srcMemoryType = hipMemoryTypeHost, d.srcHost = from.data(), d.srcPitch = 16, d.srcXInBytes = 2, d.srcY = 1;
  d.dstMemoryType = hipMemoryTypeDevice, d.dstDevice = p, d.dstPitch = pitch, d.dstXInBytes = 3, d.dstY = 2;
  d.WidthInBytes = 4, d.Height = 3;
  ok(hipMemcpyParam2D(&d));
  ok(hipMemcpy(whole.data(), p, whole.size(), hipMemcpyDeviceToHost));
  for (size_t y = 0; y < 3; y++)
    for (size_t x = 0; x < 4; x++) REQUIRE(whole[(y + 2) * pitch + x + 3] == from[(y + 1) * 16 + x + 2]);
  d.srcMemoryType = hipMemoryTypeArray;
  REQUIRE(hipMemcpyParam2D(&d) == hipErrorNotSupported);
  REQUIRE_THAT(last_report(), Contains("hipMemcpyParam2D with arrays is not supported"));
  ok(hipFree(p));

  hipPitchedPtr box;
  ok(hipMalloc3D(&box, make_hipExtent(7, 5, 3)));
  REQUIRE(box.pitch == 256);
  ok(hipMemset3D(box, 0x11, make_hipExtent(256, 5, 3)));
  hipMemcpy3DParms c = {};
  c.srcPtr = make_hipPitchedPtr(const_cast<uint8_t*>(from.data()), 16, 16, 5);
  c.dstPtr = box;
  c.extent = make_hipExtent(6, 4, 2);
  c.srcPos = make_hipPos(1, 1, 1), c.dstPos = make_hipPos(0, 1, 1);
  c.kind = hipMemcpyHostToDevice;
  ok(hipMemcpy3D(&c));
  std::vector<uint8_t> cube(box.pitch * 5 * 3);
  ok(hipMemcpy(cube.data(), box.ptr, cube.size(), hipMemcpyDeviceToHost));
  for (size_t z = 0; z < 3; z++)
    for (size_t y = 0; y < 5; y++)
      for (size_t x = 0; x < 7; x++) {
        const bool in = x < 6 && y >= 1 && z >= 1;
        REQUIRE(cube[(z * 5 + y) * 256 + x] == (in ? from[(z * 5 + y) * 16 + x + 1] : 0x11));
      }
  HIP_MEMCPY3D v = {};
  v.srcMemoryType = hipMemoryTypeDevice, v.srcDevice = box.ptr, v.srcPitch = 256, v.srcHeight = 5, v.srcY = 1, v.srcZ = 1;
  std::vector<uint8_t> out(6 * 4 * 2);
  v.dstMemoryType = hipMemoryTypeHost, v.dstHost = out.data(), v.dstPitch = 6, v.dstHeight = 4;
  v.WidthInBytes = 6, v.Height = 4, v.Depth = 2;
  ok(hipDrvMemcpy3D(&v));
  for (size_t z = 0; z < 2; z++)
    for (size_t y = 0; y < 4; y++)
      for (size_t x = 0; x < 6; x++) REQUIRE(out[(z * 4 + y) * 6 + x] == from[((z + 1) * 5 + y + 1) * 16 + x + 1]);
  ok(hipFree(box.ptr));
}

TEST_CASE("fills of bytes, halves and words", "[hip][memory]") {
  device_for("gfx1100");
  Buffer<uint8_t> p(64);
  Stream s;
  ok(hipMemset(p.data(), 0x1ff, 64));                       // the low byte counts
  ok(hipMemsetD16(static_cast<char*>(p.data()) + 2, 0x1234, 3));
  ok(hipMemsetD32Async(static_cast<char*>(p.data()) + 8, 0x01020304, 2, s));
  ok(hipMemsetD8Async(static_cast<char*>(p.data()) + 16, 5, 1, s));
  ok(hipStreamSynchronize(s));
  std::vector<uint8_t> want(64, 0xff);
  const uint8_t start[] = {0xff, 0xff, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 4, 3, 2, 1, 4, 3, 2, 1, 5};
  std::copy(std::begin(start), std::end(start), want.begin());
  same(p.get(), want);
  REQUIRE(hipMemsetD32(static_cast<char*>(p.data()) + 2, 1, 1) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("not aligned to 4 bytes"));
  REQUIRE(hipMemset(p.data(), 0, 65) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("hipMemset of 65 bytes") && Contains("0 bytes past the end of hipMalloc"));
  REQUIRE(hipMemsetD32(p.data(), 1, ~size_t(0) / 2) == hipErrorInvalidValue);
}

TEST_CASE("bad pointers and sizes are refused with a report, never a crash", "[hip][memory]") {
  device_for("gfx1100");
  Buffer<uint8_t> p(64);
  std::vector<uint8_t> host(128);
  REQUIRE(hipMemcpy(p.data(), host.data(), 65, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("hipMemcpy of 65 bytes, destination") && Contains("past the end of hipMalloc"));
  REQUIRE(hipMemcpy(host.data(), static_cast<char*>(p.data()) + 60, 5, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  REQUIRE(hipMemcpy(host.data(), p.data(), 8, hipMemcpyKind(9)) == hipErrorInvalidMemcpyDirection);
  REQUIRE(hipMemcpy(nullptr, p.data(), 8, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  REQUIRE(hipMemcpy(p.data(), host.data(), ~size_t(0) - 4, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  REQUIRE(hipMemcpy(host.data(), host.data() + 64, 8, hipMemcpyDeviceToHost) == hipErrorInvalidValue);   // no device memory
  REQUIRE(hipMemcpy(static_cast<char*>(p.data()) + 4, p.data(), 8, hipMemcpyDeviceToDevice) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("overlap"));
  // Host memory that is not there, read-only, or ends.
  char* map = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(mprotect(map + 4096, 4096, PROT_NONE) == 0);
  ok(hipMemcpy(p.data(), map + 4096 - 64, 64, hipMemcpyHostToDevice));
  Stream s;
  REQUIRE(hipMemcpy(p.data(), map + 4096 - 32, 64, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("host memory that is not there"));
  REQUIRE(hipMemcpyAsync(p.data(), map + 4096 - 32, 64, hipMemcpyHostToDevice, s) == hipErrorInvalidValue);
  REQUIRE(hipMemcpy(map + 4096, p.data(), 64, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  REQUIRE(hipMemcpy(reinterpret_cast<void*>(64), p.data(), 64, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  REQUIRE(hipHostRegister(map, 8192, 0) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("nothing is mapped"));
  munmap(map, 8192);
  REQUIRE(hipFree(host.data()) == hipErrorInvalidValue);
  REQUIRE(hipFree(static_cast<char*>(p.data()) + 1) == hipErrorInvalidValue);
  REQUIRE(hipHostFree(p.data()) == hipErrorInvalidValue);
  void* freed;
  ok(hipMalloc(&freed, 64));
  ok(hipFree(freed));
  REQUIRE(hipMemcpy(freed, host.data(), 64, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("which was freed"));
  REQUIRE(hipMemcpy(host.data(), freed, 64, hipMemcpyDefault) == hipErrorInvalidValue);
  ok(hipFree(nullptr));
  ok(hipHostFree(nullptr));
  void* q = &host;
  REQUIRE(hipMalloc(&q, size_t(1) << 40) == hipErrorOutOfMemory);
  REQUIRE(q == nullptr);
  ok(hipMalloc(&q, 0));
  REQUIRE(q == nullptr);
  size_t pitch;
  REQUIRE(hipMallocPitch(&q, &pitch, ~size_t(0), 5) == hipErrorOutOfMemory);
  REQUIRE(hipMallocPitch(&q, &pitch, size_t(1) << 40, size_t(1) << 40) == hipErrorOutOfMemory);
  (void)hipGetLastError();
}

TEST_CASE("what is told of a pointer", "[hip][memory]") {
  const int device = device_for("gfx1100");
  Buffer<uint8_t> p(100);
  Pinned<uint8_t> pinned(100);
  void* managed;
  ok(hipMallocManaged(&managed, 100, hipMemAttachGlobal));
  std::vector<uint8_t> host(10000);
  hipPointerAttribute_t a;
  ok(hipPointerGetAttributes(&a, static_cast<char*>(p.data()) + 5));
  REQUIRE(a.memoryType == hipMemoryTypeDevice);
  REQUIRE(a.device == device);
  REQUIRE(a.devicePointer == static_cast<char*>(p.data()) + 5);
  REQUIRE(a.hostPointer == nullptr);
  ok(hipPointerGetAttributes(&a, pinned.data()));
  REQUIRE(a.memoryType == hipMemoryTypeHost);
  REQUIRE(a.hostPointer == pinned.data());
  ok(hipPointerGetAttributes(&a, managed));
  REQUIRE(a.isManaged);
  REQUIRE(hipPointerGetAttributes(&a, host.data()) == hipErrorInvalidValue);
  void* device_pointer;
  REQUIRE(hipHostGetDevicePointer(&device_pointer, host.data(), 0) == hipErrorInvalidValue);
  ok(hipHostRegister(host.data(), host.size(), hipHostRegisterMapped));
  REQUIRE(hipHostRegister(host.data() + 50, 10, 0) == hipErrorHostMemoryAlreadyRegistered);
  ok(hipHostGetDevicePointer(&device_pointer, host.data() + 7, 0));
  REQUIRE(device_pointer == host.data() + 7);
  unsigned flags;
  ok(hipHostGetFlags(&flags, host.data()));
  REQUIRE(flags == hipHostRegisterMapped);
  {
    // A kernel uses registered memory.
    Module m("gfx1100", hip_kernels());
    auto* out = reinterpret_cast<i32*>((reinterpret_cast<uintptr_t>(host.data()) + 15) & ~uintptr_t(15));
    int v = 3;
    ok(launch(m["fill"], {1}, {64}, 0, out, v));
    REQUIRE(out[63] == 3);
    ok(launch(m["fill"], {1}, {16}, 0, managed, v));
    REQUIRE(static_cast<i32*>(managed)[15] == 3);
    ok(hipHostUnregister(host.data()));
    REQUIRE(launch(m["fill"], {1}, {64}, 0, out, v) == hipErrorIllegalAddress);
  }
  REQUIRE(hipHostUnregister(host.data()) == hipErrorHostMemoryNotRegistered);

  size_t size;
  void* start;
  ok(hipPointerGetAttribute(&size, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, static_cast<char*>(p.data()) + 9));
  REQUIRE(size == 100);
  ok(hipPointerGetAttribute(&start, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, static_cast<char*>(p.data()) + 9));
  REQUIRE(start == p.data());
  hipPointer_attribute which[] = {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, HIP_POINTER_ATTRIBUTE_IS_MANAGED, HIP_POINTER_ATTRIBUTE_RANGE_SIZE};
  unsigned type = 77;
  bool is_managed = true;
  void* data[] = {&type, &is_managed, &size};
  ok(hipDrvPointerGetAttributes(3, which, data, p.data()));
  REQUIRE(type == hipMemoryTypeDevice);
  REQUIRE_FALSE(is_managed);
  ok(hipDrvPointerGetAttributes(3, which, data, host.data()));   // not ours: zeros, no error
  REQUIRE(size == 0);
  hipDeviceptr_t base;
  ok(hipMemGetAddressRange(&base, &size, static_cast<char*>(p.data()) + 99));
  REQUIRE(base == p.data());
  REQUIRE(hipMemGetAddressRange(&base, &size, host.data()) == hipErrorInvalidDevicePointer);
  ok(hipMemPtrGetInfo(p.data(), &size));
  REQUIRE(size == 100);

  ok(hipMemAdvise(managed, 100, hipMemAdviseSetReadMostly, device));
  ok(hipMemAdvise(managed, 100, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
  ok(hipMemPrefetchAsync(managed, 100, device, nullptr));
  int value = -5;
  ok(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeReadMostly, managed, 100));
  REQUIRE(value == 1);
  ok(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributePreferredLocation, managed, 100));
  REQUIRE(value == hipCpuDeviceId);
  ok(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeLastPrefetchLocation, managed, 100));
  REQUIRE(value == device);
  REQUIRE(hipMemAdvise(p.data(), 100, hipMemAdviseSetReadMostly, device) == hipErrorInvalidValue);
  REQUIRE(hipMemPrefetchAsync(managed, 101, device, nullptr) == hipErrorInvalidValue);
  ok(hipFree(managed));
  (void)hipGetLastError();
}

TEST_CASE("stream-ordered memory goes when the stream gets there", "[hip][memory]") {
  const int device = device_for("gfx1100");
  Module m("gfx1100", hip_kernels());
  Stream s;
  const size_t before = in_use();
  void* p;
  ok(hipMallocAsync(&p, 256, s));
  REQUIRE(in_use() == before + 256);
  hipMemPool_t pool;
  ok(hipDeviceGetDefaultMemPool(&pool, device));
  uint64_t used;
  ok(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  REQUIRE(used == 256);
  {
    Gate gate(s);
    int v = 3;
    ok(start(s, m["fill"], {1}, {64}, p, v));
    ok(hipFreeAsync(p, s));
    REQUIRE(hipFreeAsync(p, s) == hipErrorInvalidValue);
    REQUIRE(in_use() == before + 256);
  }
  ok(hipStreamSynchronize(s));
  REQUIRE(in_use() == before);
  hipMemPoolProps props = {};
  props.allocType = hipMemAllocationTypePinned, props.location = {hipMemLocationTypeDevice, device};
  hipMemPool_t own, current;
  ok(hipMemPoolCreate(&own, &props));
  ok(hipDeviceSetMemPool(device, own));
  ok(hipDeviceGetMemPool(&current, device));
  REQUIRE(current == own);
  ok(hipMallocAsync(&p, 100, s));
  ok(hipMemPoolGetAttribute(own, hipMemPoolAttrUsedMemCurrent, &used));
  REQUIRE(used == 100);
  ok(hipFree(p));                                            // the other free takes it too
  ok(hipMemPoolGetAttribute(own, hipMemPoolAttrUsedMemCurrent, &used));
  REQUIRE(used == 0);
  ok(hipMemPoolGetAttribute(own, hipMemPoolAttrUsedMemHigh, &used));
  REQUIRE(used == 100);
  ok(hipMemPoolDestroy(own));
  REQUIRE(hipMemPoolDestroy(own) == hipErrorInvalidValue);
  REQUIRE(hipMemPoolDestroy(pool) == hipErrorInvalidValue);
  REQUIRE(in_use() == before);
}

TEST_CASE("peers copy and reach each other's memory", "[hip][memory]") {
  const int one = device_for("gfx906"), two = device_for("gfx1100");
  int can;
  ok(hipDeviceCanAccessPeer(&can, one, two));
  REQUIRE(can == 1);
  ok(hipDeviceCanAccessPeer(&can, one, one));
  REQUIRE(can == 0);
  REQUIRE(hipDeviceCanAccessPeer(&can, one, 99) == hipErrorInvalidDevice);
  ok(hipDeviceEnablePeerAccess(one, 0));
  REQUIRE(hipDeviceEnablePeerAccess(one, 0) == hipErrorPeerAccessAlreadyEnabled);
  ok(hipDeviceDisablePeerAccess(one));
  REQUIRE(hipDeviceDisablePeerAccess(one) == hipErrorPeerAccessNotEnabled);
  REQUIRE(hipDeviceEnablePeerAccess(two, 0) == hipErrorInvalidDevice);
  Buffer<uint8_t> here(bytes(64));
  ok(hipSetDevice(one));
  Buffer<uint8_t> there(64);
  ok(hipMemcpyPeer(there.data(), one, here.data(), two, 64));
  same(there.get(), bytes(64));
  REQUIRE(hipMemcpyPeer(there.data(), two, here.data(), one, 64) == hipErrorInvalidValue);
  REQUIRE_THAT(last_report(), Contains("is memory of device"));
  Stream s;
  ok(hipMemcpyPeerAsync(here.data(), two, there.data(), one, 64, s));
  ok(hipStreamSynchronize(s));
  (void)hipGetLastError();
}

TEST_CASE("all memory comes back", "[hip][memory]") {
  device_for("gfx906");
  const size_t before = in_use();
  {
    Module m("gfx906", hip_kernels("gfx906"));
    Stream s[3];
    for (int k = 0; k < 30; k++) {
      Buffer<i32> p(1000);
      void *q, *r;
      size_t pitch;
      ok(hipMallocAsync(&q, 5000, s[k % 3]));
      ok(hipMallocPitch(&r, &pitch, 300, 3));
      int v = k;
      ok(start(s[k % 3], m["fill"], {15}, {64}, p, v));
      ok(hipFreeAsync(q, s[k % 3]));
      ok(hipFree(r));
    }
  }
  ok(hipDeviceSynchronize());
  REQUIRE(in_use() == before);
  void* lost;
  ok(hipMalloc(&lost, 12345));
  REQUIRE(in_use() == before + 12345);
  ok(hipDeviceReset());
  REQUIRE(in_use() == 0);
}
