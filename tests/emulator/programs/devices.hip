// Two devices: each has its own variables, memory and current state; a managed variable is one for both.
#include <hip/hip_runtime.h>

#include <cstring>
#include <thread>

#include "check.h"

__device__ int number = 1;
__managed__ int visits;

__global__ void use(int* out, int add) {
  number += add;
  *out = number;
  atomicAdd(&visits, 1);
}

int main(int argc, char** argv) {
  int count = 0;
  HIP(hipGetDeviceCount(&count));
  CHECK(count == 2);
  hipDeviceProp_t one, two;
  HIP(hipGetDeviceProperties(&one, 0));
  HIP(hipGetDeviceProperties(&two, 1));
  // The program's arguments are the devices that it was promised.
  CHECK(argc == 3);
  CHECK(std::strncmp(one.gcnArchName, argv[1], std::strlen(argv[1])) == 0);
  CHECK(std::strncmp(two.gcnArchName, argv[2], std::strlen(argv[2])) == 0);
  CHECK(one.pciBusID != two.pciBusID);

  int* out[2];
  for (int d = 0; d < 2; d++) {
    HIP(hipSetDevice(d));
    int current = -1;
    HIP(hipGetDevice(&current));
    CHECK(current == d);
    out[d] = device_zeros<int>(1);
  }
  for (int d = 0; d < 2; d++) {
    HIP(hipSetDevice(d));
    for (int k = 0; k <= d; k++) use<<<1, 1>>>(out[d], 10 + d);
    HIP(hipDeviceSynchronize());
  }
  CHECK(host_copy(out[0], 1)[0] == 11);
  CHECK(host_copy(out[1], 1)[0] == 23);
  CHECK(visits == 3);
  int* place[2];
  for (int d = 0; d < 2; d++) {
    HIP(hipSetDevice(d));
    int value = 0;
    HIP(hipMemcpyFromSymbol(&value, HIP_SYMBOL(number), sizeof value));
    CHECK(value == (d ? 23 : 11));
    HIP(hipGetSymbolAddress((void**)&place[d], HIP_SYMBOL(number)));
  }
  CHECK(place[0] != place[1]);

  // A stream belongs to the device that was current at its birth.
  HIP(hipSetDevice(1));
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipSetDevice(0));
  use<<<1, 1, 0, stream>>>(out[1], 100);
  HIP(hipStreamSynchronize(stream));
  CHECK(host_copy(out[1], 1)[0] == 123);

  // The current device is a thread's own.
  std::thread([] {
    int current = -1;
    HIP(hipGetDevice(&current));
    CHECK(current == 0);
    HIP(hipSetDevice(1));
  }).join();
  int current = -1;
  HIP(hipGetDevice(&current));
  CHECK(current == 0);
  EXPECT(hipSetDevice(2), hipErrorInvalidDevice);
  std::printf("devices: ok\n");
}
