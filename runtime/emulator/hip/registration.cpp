// What clang's start-up code registers before main: fat binaries, and the host addresses that stand for their
// kernels and variables (clang's documentation, "HIP Support: Host Code"; the symbols are those of clang's
// CodeGen/CGCUDANV.cpp). A fat binary is read when a device first needs it: many programs carry code for
// targets that nobody here has, and a library's code may never be called.
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "hip/module.h"
#include "hip/queue.h"
#include "launch/fat_binary.h"
#include "launch/report.h"

using namespace lathe::emu;

namespace {

struct Wrapper {
  u32 magic, version;
  const void* binary;
  const void* unused;
};
constexpr u32 plain_magic = 0x48495046;    // "HIPF"
// "HIPK": `binary` may lead to MessagePack that names an archive of code objects beside the library.
constexpr u32 archive_magic = 0x4b504948;

struct Managed {
  void** host;        // the program's pointer to it
  std::string name;
  Allocation* memory;
};

// One registered fat binary and its code objects, by device.
struct Image {
  const Wrapper* wrapper;
  std::unique_ptr<FatBinary> fat;
  std::vector<Managed> managed;
  struct OnDevice {
    std::unique_ptr<CodeObject> object;
    hipError_t status = hipErrorNotInitialized;   // of loading; reported once, returned again
  };
  std::map<int, OnDevice> devices;

  std::vector<u8> code_for(const Isa&);
  hipError_t load(int device, const std::string& wanted, CodeObject** out);
};

struct Function {
  Image* image;
  std::string name;
  std::map<int, hipFunction_t> handles;
};
struct Variable {
  Image* image;
  std::string name;
  u64 size;
};

// Never destroyed: programs unregister after static destructors of libraries may have run.
struct Registry {
  std::recursive_mutex mutex;
  std::map<Image*, std::unique_ptr<Image>> images;
  std::map<const void*, Function> functions;
  std::map<const void*, Variable> variables;
};
Registry& registry() {
  static auto* r = new Registry;
  return *r;
}

std::vector<u8> Image::code_for(const Isa& device) {
  if (!fat) {
    const ByteSource source(wrapper->binary);
    if (wrapper->magic == archive_magic && !FatBinary::begins(source.read(0, 64)))
      throw BadImage("the fat binary was split: its code is in a .kpack archive, which the emulator does not read");
    if (wrapper->magic != plain_magic && wrapper->magic != archive_magic) throw BadImage(fmt::format("the registered wrapper has magic 0x{:08x} (HIPF is 0x{:08x})", wrapper->magic, plain_magic));
    if (wrapper->version != 1) throw BadImage(fmt::format("the registered wrapper has version {} (1 is known)", wrapper->version));
    fat = std::make_unique<FatBinary>(source);
  }
  const FatBinary::Entry* e = fat->choose(device);
  if (!e) throw WrongTarget(fmt::format("no code object for {}: the program has {}", target_id(device), fat->targets()));
  return fat->image(*e);
}

hipError_t Image::load(int device, const std::string& wanted, CodeObject** out) {
  auto [it, fresh] = devices.try_emplace(device);
  OnDevice& here = it->second;
  if (fresh) {
    here.status = load_for_device([&](const Isa& isa) { return code_for(isa); }, device, wanted.c_str(), here.object);
    // On the device a managed variable is a pointer to the memory that host and devices share.
    for (const Managed& m : managed) {
      if (!here.object) break;
      const auto global = here.object->globals.find(m.name);
      if (global == here.object->globals.end() || global->second.size != 8) continue;   // nothing here uses it
      std::memcpy(reinterpret_cast<void*>(global->second.address), &m.memory->base, 8);
    }
  }
  *out = here.object.get();
  return here.status;
}

// Registration has no way to refuse: what is wrong shows at the first use.
Image* image_of(void** handle) {
  auto* image = reinterpret_cast<Image*>(handle);
  return registry().images.count(image) ? image : nullptr;
}

}  // namespace

namespace lathe::emu {

hipError_t registered_function(const void* host, int device, hipFunction_t* out) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const auto it = r.functions.find(host);
  if (it == r.functions.end()) {
    set_report(fmt::format("lathe emulator: no kernel was registered for the host address 0x{:x}", u64(host)));
    return hipErrorInvalidDeviceFunction;
  }
  if (!valid_device(device)) return devices().empty() ? hipErrorNoDevice : hipErrorInvalidDevice;
  Function& f = it->second;
  hipFunction_t& handle = f.handles[device];
  if (!handle) {
    CodeObject* object;
    if (const hipError_t e = f.image->load(device, "kernel " + f.name, &object); e != hipSuccess) return e;
    const auto kernel = object->kernels.find(f.name);
    if (kernel == object->kernels.end()) {
      set_report(fmt::format("lathe emulator: the code object for {} has no kernel {}, which the program registered", target_id(*object->isa), f.name));
      return hipErrorInvalidDeviceFunction;
    }
    handle = add_function(*kernel->second, device);
  }
  *out = handle;
  return hipSuccess;
}

hipError_t registered_variable(const void* host, int device, u64* address, u64* size) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  // A managed variable is named by its memory: that is what its C++ name refers to on the host.
  for (const auto& [key, image] : r.images)
    for (const Managed& m : image->managed)
      if (host == m.host || u64(host) == m.memory->base) {
        *address = m.memory->base, *size = m.memory->size;
        return hipSuccess;
      }
  const auto it = r.variables.find(host);
  if (it == r.variables.end()) {
    set_report(fmt::format("lathe emulator: no device variable was registered for the host address 0x{:x}", u64(host)));
    return hipErrorInvalidSymbol;
  }
  if (!valid_device(device)) return devices().empty() ? hipErrorNoDevice : hipErrorInvalidDevice;
  const Variable& v = it->second;
  CodeObject* object;
  if (const hipError_t e = v.image->load(device, "variable " + v.name, &object); e != hipSuccess) return e;
  const auto global = object->globals.find(v.name);
  if (global == object->globals.end()) {
    set_report(fmt::format("lathe emulator: the code object for {} has no variable {}, which the program registered", target_id(*object->isa), v.name));
    return hipErrorInvalidSymbol;
  }
  *address = global->second.address, *size = global->second.size;
  return hipSuccess;
}

}  // namespace lathe::emu

LATHE_HIP void** __hipRegisterFatBinary(const void* wrapper) {
  if (!wrapper) return nullptr;
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto image = std::make_unique<Image>();
  image->wrapper = static_cast<const Wrapper*>(wrapper);
  Image* raw = image.get();
  r.images[raw] = std::move(image);
  return reinterpret_cast<void**>(raw);
}

LATHE_HIP void __hipRegisterFunction(void** handle, const void* host, char*, const char* name, unsigned, void*, void*, void*, void*, int*) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  if (Image* image = image_of(handle); image && host && name) r.functions[host] = {image, name, {}};
}

LATHE_HIP void __hipRegisterVar(void** handle, void* host, char*, const char* name, int, size_t size, int, int) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  if (Image* image = image_of(handle); image && host && name) r.variables[host] = {image, name, size};
}

// The program reads its pointer without calling us first, so the memory is made here, before main.
LATHE_HIP void __hipRegisterManagedVar(void** handle, void** host, const void* initial, const char* name, size_t size, unsigned) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  Image* image = image_of(handle);
  if (!image || !host || !name || !size) return;
  Allocation* memory_of = memory().allocate(size, Allocation::Kind::managed, fmt::format("managed variable {}", name), false, -1);
  *host = reinterpret_cast<void*>(memory_of->base);
  if (initial) std::memcpy(*host, initial, size);
  image->managed.push_back({host, name, memory_of});
}

// Surfaces and textures are accepted, so that a program which has some starts; kernels that use image
// instructions are refused when they run.
LATHE_HIP void __hipRegisterSurface(void**, void*, char*, char*, int, int) {}
LATHE_HIP void __hipRegisterTexture(void**, void*, char*, char*, int, int, int) {}

LATHE_HIP void __hipUnregisterFatBinary(void** handle) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  Image* image = image_of(handle);
  if (!image) return;
  const bool busy = !all_idle();   // the process ends with work in its streams: they go on using the code
  for (auto it = r.functions.begin(); it != r.functions.end();) {
    if (it->second.image != image) {
      ++it;
      continue;
    }
    for (const auto& [device, f] : it->second.handles) remove_function(f);
    it = r.functions.erase(it);
  }
  std::erase_if(r.variables, [&](const auto& v) { return v.second.image == image; });
  const auto it = r.images.find(image);
  if (busy) (void)it->second.release();
  else
    for (const Managed& m : image->managed) memory().release(m.memory->base, Allocation::Kind::managed);
  r.images.erase(it);
}
