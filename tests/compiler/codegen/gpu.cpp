#include "gpu.h"

#include <dlfcn.h>

#include <cstdlib>

#include "runtime/base/error.h"

namespace lathe::test {
namespace {

class HipGpu : public Gpu {
 public:
  HipGpu(void* library, const std::string& arch) : library_(library) {
    const int ordinal = call<int(const char*)>("lathe_emulator_add_device")(arch.c_str());
    if (ordinal < 0) throw Error("emulator", "unknown processor " + arch);
    check(call<int(unsigned)>("hipInit")(0), "hipInit");
    check(call<int(int)>("hipSetDevice")(ordinal), "hipSetDevice");
    ordinal_ = ordinal;
  }

  void launch(const std::vector<uint8_t>& code_object, const std::string& kernel, std::vector<Buffer>& buffers,
              const std::vector<int64_t>& symbols, const int64_t (&blocks)[3], const int64_t (&threads)[3]) override {
    check(call<int(int)>("hipSetDevice")(ordinal_), "hipSetDevice");
    if (code_object != loaded_) {
      check(call<int(void**, const void*)>("hipModuleLoadData")(&module_, code_object.data()), "hipModuleLoadData");
      loaded_ = code_object;
    }
    void* function = nullptr;
    check(call<int(void**, void*, const char*)>("hipModuleGetFunction")(&function, module_, kernel.c_str()),
          "hipModuleGetFunction " + kernel);
    std::vector<void*> pointers(buffers.size());
    for (size_t i = 0; i < buffers.size(); ++i) {
      auto& bytes = buffers[i].bytes;
      check(call<int(void**, size_t)>("hipMalloc")(&pointers[i], bytes.size()), "hipMalloc");
      check(call<int(void*, const void*, size_t, int)>("hipMemcpy")(pointers[i], bytes.data(), bytes.size(), 1),
            "hipMemcpy to device");
    }
    std::vector<void*> arguments;
    for (void*& pointer : pointers) arguments.push_back(&pointer);
    std::vector<int64_t> values = symbols;
    for (int64_t& value : values) arguments.push_back(&value);
    using Launch = int(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned lds,
                       void* stream, void** arguments, void** extra);
    int status = call<Launch>("hipModuleLaunchKernel")(function, blocks[0], blocks[1], blocks[2], threads[0],
                                                       threads[1], threads[2], 0, nullptr, arguments.data(), nullptr);
    if (status == 0) status = call<int()>("hipDeviceSynchronize")();
    std::string report;
    if (status != 0) report = call<const char*()>("lathe_emulator_last_report")();
    for (size_t i = 0; i < buffers.size(); ++i) {
      auto& bytes = buffers[i].bytes;
      if (status == 0)
        check(call<int(void*, const void*, size_t, int)>("hipMemcpy")(bytes.data(), pointers[i], bytes.size(), 2),
              "hipMemcpy to host");
      check(call<int(void*)>("hipFree")(pointers[i]), "hipFree");
    }
    if (status != 0) throw Error(kernel, "launch failed with " + std::to_string(status) + ": " + report);
  }

 private:
  template <class Signature>
  Signature* call(const char* name) {
    void* symbol = dlsym(library_, name);
    if (!symbol) throw Error("emulator", std::string("has no ") + name);
    return reinterpret_cast<Signature*>(symbol);
  }
  void check(int status, const std::string& what) {
    if (status != 0) throw Error(what, "status " + std::to_string(status));
  }

  void* library_;
  int ordinal_ = 0;
  void* module_ = nullptr;
  std::vector<uint8_t> loaded_;
};

}  // namespace

std::unique_ptr<Gpu> Gpu::open(const std::string& arch) {
  const char* path = std::getenv("LATHE_EMULATOR_LIBRARY");
#ifdef LATHE_EMULATOR_BUILD_PATH
  if (!path) path = LATHE_EMULATOR_BUILD_PATH;
#endif
  if (!path) return nullptr;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error("emulator", dlerror());
  return std::make_unique<HipGpu>(library, arch);
}

}  // namespace lathe::test
