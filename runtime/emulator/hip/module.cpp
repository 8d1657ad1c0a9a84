// Modules, functions and launches.
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "hip/module.h"
#include "launch/fat_binary.h"
#include "launch/report.h"

using namespace lathe::emu;

struct ihipModule_t {
  std::unique_ptr<CodeObject> object;
  int device;
  std::vector<hipFunction_t> functions;
};

namespace {

Handles<ihipModule_t>& modules() {
  static auto* h = new Handles<ihipModule_t>;
  return *h;
}
Handles<ihipModuleSymbol_t>& functions() {
  static auto* h = new Handles<ihipModuleSymbol_t>;
  return *h;
}

hipError_t load(hipModule_t* out, const ByteSource& image, const char* call) {
  if (!out) return done(hipErrorInvalidValue);
  if (devices().empty()) return done(hipErrorNoDevice);
  const int device = current_device();
  std::unique_ptr<CodeObject> object;
  const hipError_t e = load_for_device([&](const Isa& isa) { return code_object_for(image, isa); }, device, call, object);
  if (e == hipSuccess) *out = modules().add(new ihipModule_t{std::move(object), device, {}});
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
hipFunction_t add_function(Kernel& kernel, int device) { return functions().add(new ihipModuleSymbol_t{&kernel, device}); }
void remove_function(hipFunction_t f) {
  if (functions().remove(f)) delete f;
}
bool known_function(hipFunction_t f) { return functions().has(f); }

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
  if (!modules().remove(m)) return done(hipErrorInvalidHandle);
  for (hipFunction_t f : m->functions) remove_function(f);
  delete m;
  return done(take_pending_fault());
  HIP_END
}
LATHE_HIP hipError_t hipModuleGetFunction(hipFunction_t* out, hipModule_t m, const char* name) {
  HIP_TRY
  if (!out || !name) return done(hipErrorInvalidValue);
  if (!modules().has(m)) return done(hipErrorInvalidHandle);
  const auto it = m->object->kernels.find(name);
  if (it == m->object->kernels.end()) return done(hipErrorNotFound);
  for (hipFunction_t f : m->functions)
    if (f->kernel == it->second.get()) {
      *out = f;
      return hipSuccess;
    }
  m->functions.push_back(*out = add_function(*it->second, m->device));
  return hipSuccess;
  HIP_END
}
LATHE_HIP hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* size, hipModule_t m, const char* name) {
  HIP_TRY
  if (!name) return done(hipErrorInvalidValue);
  if (!modules().has(m)) return done(hipErrorInvalidHandle);
  const auto it = m->object->globals.find(name);
  if (it == m->object->globals.end()) return done(hipErrorNotFound);
  if (address) *address = reinterpret_cast<hipDeviceptr_t>(it->second.address);
  if (size) *size = it->second.size;
  return hipSuccess;
  HIP_END
}

LATHE_HIP hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned lds, hipStream_t stream, void** params, void** extra) {
  HIP_TRY
  if (const hipError_t e = take_pending_fault(); e != hipSuccess) return done(e);
  if (!functions().has(f) || !known_stream(stream)) return done(hipErrorInvalidHandle);
  if (params && extra) return done(hipErrorInvalidValue);
  Launch l;
  l.kernel = f->kernel;
  l.device = f->device;
  l.grid[0] = gx, l.grid[1] = gy, l.grid[2] = gz;
  l.block[0] = bx, l.block[1] = by, l.block[2] = bz;
  l.dynamic_lds = lds;
  l.kernarg.resize(f->kernel->kernarg_bytes);
  if (extra) {
    const void* buffer = nullptr;
    size_t size = 0;
    for (void** e = extra; *e != HIP_LAUNCH_PARAM_END; e += 2) {
      if (*e == HIP_LAUNCH_PARAM_BUFFER_POINTER) buffer = e[1];
      else if (*e == HIP_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<size_t*>(e[1]);
      else return done(hipErrorInvalidValue);
    }
    if (size && !buffer) return done(hipErrorInvalidValue);
    if (size) std::memcpy(l.kernarg.data(), buffer, std::min(size, l.kernarg.size()));
  } else {
    u32 n = 0;
    for (const KernelArg& a : f->kernel->args) {
      if (a.value_kind.compare(0, 7, "hidden_") == 0) continue;
      if (!params || !params[n]) return done(hipErrorInvalidValue);
      std::memcpy(l.kernarg.data() + a.offset, params[n++], a.size);
    }
  }
  // A dynamic_shared_pointer argument needs nothing: its offset is known at compile time.
  switch (run_launch(l)) {
    case LaunchResult::ok: return hipSuccess;
    case LaunchResult::invalid_configuration: return done(hipErrorInvalidConfiguration);
    case LaunchResult::illegal_address: set_pending_fault(hipErrorIllegalAddress); return hipSuccess;
    case LaunchResult::failure: set_pending_fault(hipErrorLaunchFailure); return hipSuccess;
  }
  return done(hipErrorUnknown);
  HIP_END
}

LATHE_HIP hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t f) {
  HIP_TRY
  if (!value) return done(hipErrorInvalidValue);
  if (!functions().has(f)) return done(hipErrorInvalidHandle);
  const Kernel& k = *f->kernel;
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = int(k.max_flat_workgroup_size); break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = int(k.lds_bytes); break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = 0; break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = int(k.private_bytes); break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = int(k.total_vgprs); break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = int(k.object->isa->lds_bytes - k.lds_bytes); break;
    default: return done(hipErrorInvalidValue);
  }
  return hipSuccess;
  HIP_END
}
// The function's host address, as clang registered it, or a hipFunction_t.
LATHE_HIP hipError_t hipFuncGetAttributes(hipFuncAttributes* out, const void* function) {
  HIP_TRY
  if (!out) return done(hipErrorInvalidValue);
  hipFunction_t f = static_cast<hipFunction_t>(const_cast<void*>(function));
  if (!known_function(f))
    if (const hipError_t e = registered_function(function, current_device(), &f); e != hipSuccess) return done(e);
  const Kernel& k = *f->kernel;
  *out = {};
  out->binaryVersion = out->ptxVersion = 100;
  out->localSizeBytes = k.private_bytes, out->sharedSizeBytes = k.lds_bytes;
  out->maxThreadsPerBlock = int(k.max_flat_workgroup_size), out->numRegs = int(k.total_vgprs);
  out->maxDynamicSharedSizeBytes = int(k.object->isa->lds_bytes - k.lds_bytes);
  return hipSuccess;
  HIP_END
}
