// Modules and what is in them.
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "hip/module.h"
#include "hip/queue.h"
#include "launch/fat_binary.h"
#include "launch/report.h"

using namespace lathe::emu;

struct ihipModule_t {
  std::unique_ptr<CodeObject> object;
  int device;
  std::mutex mutex;                  // of the functions
  std::vector<hipFunction_t> functions;
  ihipModule_t(std::unique_ptr<CodeObject> o, int d) : object(std::move(o)), device(d) {}
};

namespace {

Handles<ihipModule_t>& modules() {
  static auto* h = new Handles<ihipModule_t>;
  return *h;
}
hipError_t load(hipModule_t* out, const ByteSource& image, const char* call) {
  if (!out) return done(hipErrorInvalidValue);
  if (devices().empty()) return done(hipErrorNoDevice);
  const int device = current_device();
  std::unique_ptr<CodeObject> object;
  const hipError_t e = load_for_device([&](const Isa& isa) { return code_object_for(image, isa); }, device, call, object);
  if (e == hipSuccess) *out = modules().add(std::make_shared<ihipModule_t>(std::move(object), device));
  return done(e);
}

}  // namespace

namespace lathe::emu {

hipError_t load_for_device(const std::function<std::vector<u8>(const Isa&)>& image, int device, const char* call, std::unique_ptr<CodeObject>& out) {
  const Isa& isa = *devices()[size_t(device)].isa;
  try {
    out = load_code_object(image(isa), isa, device);
    return hipSuccess;
  } catch (const WrongTarget& e) {
    set_report(fmt::format("lathe emulator: {}: {}", call, e.what()));
    return hipErrorNoBinaryForGpu;
  } catch (const BadImage& e) {
    set_report(fmt::format("lathe emulator: {}: {}", call, e.what()));
    return hipErrorInvalidImage;
  }
}

}  // namespace lathe::emu

LATHE_HIP hipError_t hipModuleLoadData(hipModule_t* out, const void* image) {
  HIP_TRY
  if (!image) return done(hipErrorInvalidValue);
  return load(out, ByteSource(image), "hipModuleLoadData");
  HIP_END
}
LATHE_HIP hipError_t hipModuleLoadDataEx(hipModule_t* out, const void* image, unsigned, hipJitOption*, void**) { return hipModuleLoadData(out, image); }
LATHE_HIP hipError_t hipModuleLoad(hipModule_t* out, const char* path) {
  HIP_TRY
  if (!path) return done(hipErrorInvalidValue);
  std::ifstream in(path, std::ios::binary);
  if (!in) return done(hipErrorFileNotFound);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return load(out, ByteSource({reinterpret_cast<const u8*>(bytes.data()), bytes.size()}), "hipModuleLoad");
  HIP_END
}
LATHE_HIP hipError_t hipModuleUnload(hipModule_t m) {
  HIP_TRY
  if (!modules().has(m)) return done(hipErrorInvalidHandle);
  // Launches under way use its code.
  if (const hipError_t e = wait_all("hipModuleUnload"); e != hipSuccess) return e;
  const std::shared_ptr<ihipModule_t> module = modules().remove(m);
  if (!module) return done(hipErrorInvalidHandle);
  for (hipFunction_t f : module->functions) remove_function(f);
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipModuleGetFunction(hipFunction_t* out, hipModule_t m, const char* name) {
  HIP_TRY
  if (!out || !name) return done(hipErrorInvalidValue);
  const std::shared_ptr<ihipModule_t> module = modules().find(m);
  if (!module) return done(hipErrorInvalidHandle);
  const auto it = module->object->kernels.find(name);
  if (it == module->object->kernels.end()) return done(hipErrorNotFound);
  std::lock_guard lock(module->mutex);
  for (hipFunction_t f : module->functions)
    if (f->kernel == it->second.get()) {
      *out = f;
      return hipSuccess;
    }
  module->functions.push_back(*out = add_function(*it->second, module->device));
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* size, hipModule_t m, const char* name) {
  HIP_TRY
  if (!name) return done(hipErrorInvalidValue);
  const std::shared_ptr<ihipModule_t> module = modules().find(m);
  if (!module) return done(hipErrorInvalidHandle);
  const auto it = module->object->globals.find(name);
  if (it == module->object->globals.end()) return done(hipErrorNotFound);
  if (address) *address = reinterpret_cast<hipDeviceptr_t>(it->second.address);
  if (size) *size = it->second.size;
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipModuleGetFunctionCount(unsigned* count, hipModule_t m) {
  HIP_TRY
  if (!count) return done(hipErrorInvalidValue);
  const std::shared_ptr<ihipModule_t> module = modules().find(m);
  if (!module) return done(hipErrorInvalidHandle);
  *count = unsigned(module->object->kernels.size());
  return hipSuccess;
  HIP_END
}
