// What LoadedModule and Function stand for. Private to the runtime.
#pragma once

#include <vector>

#include "runtime/device_state.h"
#include "runtime/module.h"
#include "runtime/package.h"

namespace lathe {

struct ModuleState {
  ModuleState(Device on, Package from) : device(std::move(on)), package(std::move(from)) {}
  ModuleState(const ModuleState&) = delete;
  ~ModuleState();

  Device device;
  Package package;
  const CodeObjectData* object = nullptr;  // in the package: the one that was picked
  hipModule_t module = nullptr;
  std::vector<std::vector<hipFunction_t>> kernels;  // of functions[i].launches[k]
};

// Picks the code object, checks that its kernels take what the package passes them, and loads it.
std::shared_ptr<const ModuleState> load_module(const Device& device, const Package& package);

}  // namespace lathe
