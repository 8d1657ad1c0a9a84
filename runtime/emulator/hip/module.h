// What HIP's calls on modules, registered kernels and launches share.
#pragma once

#include <functional>

#include "hip/state.h"

// HIP's opaque handle of a function, given its meaning here.
struct ihipModuleSymbol_t {
  lathe::emu::Kernel* kernel;
  int device;
};

namespace lathe::emu {

// Loads what `image` gives for the device's target. An error's text becomes the report, with `call` in it.
hipError_t load_for_device(const std::function<std::vector<u8>(const Isa&)>& image, int device, const char* call, std::unique_ptr<CodeObject>& out);

// Handles of functions; a handle must be removed before its code object goes.
hipFunction_t add_function(Kernel& kernel, int device);
void remove_function(hipFunction_t);
bool known_function(hipFunction_t);

// The kernel that clang's start-up code registered for this host address, on the device; loads its code object
// there on first use. hipErrorInvalidDeviceFunction where nothing was registered.
hipError_t registered_function(const void* host, int device, hipFunction_t* out);
// The same for a variable: its place and size on the device. hipErrorInvalidSymbol where nothing was registered.
hipError_t registered_variable(const void* host, int device, u64* address, u64* size);

bool known_stream(hipStream_t);
int stream_device(hipStream_t);    // the current device for the null stream

}  // namespace lathe::emu
