// A package on a device, and the functions in it.
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/array.h"
#include "runtime/base/package.h"
#include "runtime/stream.h"

namespace lathe {

struct ModuleState;

// One function of a package, ready to launch. A cheap handle that keeps its module loaded; any thread may call it.
class Function {
 public:
  const FunctionData& data() const;
  const Device& device() const;

  // Launches the function's kernels on the default stream, or on `stream`, and returns without waiting. The arrays
  // are the function's arguments in order; symbols take their values from the arrays' shapes.
  //
  // Throws Error before anything runs, naming function and argument, expected and got: a wrong number of arrays,
  // element type, rank, extent or device, an array that is not contiguous, a broken promise, a grid that the device
  // cannot take, scratch memory that is not there. A launch with a zero extent is skipped and succeeds. A fault of
  // the kernel itself is reported by the next synchronize() or copy.
  //
  // An array must stay alive until the launch has run; one that goes out of scope earlier waits for it.
  template <class... Arrays>
    requires(std::same_as<Arrays, Array> && ...)
  void operator()(const Arrays&... arrays) const {
    const std::array<const Array*, sizeof...(Arrays)> list{&arrays...};
    launch(nullptr, list);
  }
  template <class... Arrays>
    requires(std::same_as<Arrays, Array> && ...)
  void operator()(const Stream& stream, const Arrays&... arrays) const {
    const std::array<const Array*, sizeof...(Arrays)> list{&arrays...};
    launch(&stream, list);
  }
  void operator()(std::span<const Array> arrays) const;
  void operator()(const Stream& stream, std::span<const Array> arrays) const;

 private:
  friend class LoadedModule;
  Function(std::shared_ptr<const ModuleState> module, size_t index) : module_(std::move(module)), index_(index) {}
  void launch(const Stream* stream, std::span<const Array* const> arrays) const;

  std::shared_ptr<const ModuleState> module_;
  size_t index_;
};

// The code object of a package on one device. A cheap handle; it is unloaded, after waiting for the device, with
// the last of its handles and functions.
class LoadedModule {
 public:
  // Throws Error, listing the functions there are, when there is none of that name.
  Function operator[](std::string_view function) const;
  std::vector<std::string_view> function_names() const;

  const Device& device() const;
  const std::string& target_id() const;  // of the code object that was picked

 private:
  friend class Device;
  explicit LoadedModule(std::shared_ptr<const ModuleState> state) : state_(std::move(state)) {}

  std::shared_ptr<const ModuleState> state_;
};

}  // namespace lathe
