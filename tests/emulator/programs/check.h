// What the programs share: they end with status 1 and say where, at the first thing that is wrong. Nothing here or in
// the programs knows that the GPU is emulated.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);            \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

#define HIP(call) EXPECT(call, hipSuccess)

// The call's status is this one, and it stays behind for hipGetLastError unless it is a success.
#define EXPECT(call, status)                                                         \
  do {                                                                               \
    const hipError_t got = (call);                                                   \
    if (got != (status)) {                                                           \
      std::printf("%s:%d: %s gives %s, not %s\n", __FILE__, __LINE__, #call, hipGetErrorName(got), #status); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

template <class T>
T* device_copy(const std::vector<T>& values) {
  T* p = nullptr;
  HIP(hipMalloc(&p, values.size() * sizeof(T)));
  HIP(hipMemcpy(p, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  return p;
}
template <class T>
T* device_zeros(size_t n) {
  return device_copy(std::vector<T>(n));
}
template <class T>
std::vector<T> host_copy(const T* p, size_t n) {
  std::vector<T> values(n);
  HIP(hipMemcpy(values.data(), p, n * sizeof(T), hipMemcpyDeviceToHost));
  return values;
}
