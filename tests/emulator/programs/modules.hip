// Kernels loaded at run time from a file (a fat binary of the same targets) beside the program's own.
//   modules FAT_BINARY
#include <hip/hip_runtime.h>

#include <fstream>
#include <iterator>

#include "check.h"

#ifdef MODULE
__device__ int offset = 1;
extern "C" __global__ void shift(int* p, int by) { p[threadIdx.x] += by * offset; }
#else

__global__ void shift(int* p, int by) { p[threadIdx.x] -= by; }

int main(int, char** argv) {
  hipModule_t module;
  HIP(hipModuleLoad(&module, argv[1]));
  hipFunction_t function;
  HIP(hipModuleGetFunction(&function, module, "shift"));
  int* p = device_copy(std::vector<int>{10, 20, 30, 40});

  int by = 3;
  void* parameters[] = {&p, &by};
  HIP(hipModuleLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr));
  shift<<<1, 2>>>(p, 100);
  CHECK(host_copy(p, 4) == (std::vector<int>{-87, -77, 33, 43}));

  // Arguments in one piece, and a variable of the module.
  struct { int* p; int by; } packed = {p, 2};
  size_t size = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  hipDeviceptr_t variable;
  size_t bytes = 0;
  HIP(hipModuleGetGlobal(&variable, &bytes, module, "offset"));
  CHECK(bytes == 4);
  HIP(hipMemcpyHtoD(variable, &by, 4));
  HIP(hipModuleLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(host_copy(p, 4) == (std::vector<int>{-81, -71, 39, 49}));
  int value = 0;
  HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  CHECK(value == 1024);
  EXPECT(hipModuleGetFunction(&function, module, "lift"), hipErrorNotFound);

  // The same from memory, twice: each module has its own variables.
  std::ifstream in(argv[1], std::ios::binary);
  const std::vector<char> image((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  hipModule_t second;
  HIP(hipModuleLoadData(&second, image.data()));
  HIP(hipModuleGetFunction(&function, second, "shift"));
  HIP(hipModuleLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr));
  CHECK(host_copy(p, 4) == (std::vector<int>{-78, -68, 42, 52}));
  HIP(hipModuleUnload(second));
  HIP(hipModuleUnload(module));
  EXPECT(hipModuleUnload(module), hipErrorInvalidHandle);
  EXPECT(hipModuleLoad(&module, "/no/such/file"), hipErrorFileNotFound);
  std::printf("modules: ok\n");
}
#endif
