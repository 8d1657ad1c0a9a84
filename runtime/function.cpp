// A call of a function, from arrays to launches. All that can be refused is refused before the first launch.
#include <fmt/core.h>

#include <memory_resource>

#include "runtime/base/error.h"
#include "runtime/module.h"
#include "runtime/module_state.h"

namespace lathe {
namespace {

// HIP counts the work-items along each axis in 32 bits (hipModuleLaunchKernel: grid times block below 2^32).
constexpr uint64_t max_work_items = UINT32_MAX;

// Lists that live for one call: on the stack, unless the function is unusually large.
using Values = std::pmr::vector<int64_t>;

struct PlannedLaunch {
  const LaunchData* data = nullptr;
  hipFunction_t kernel = nullptr;
  std::array<unsigned, 3> grid{};
  size_t first_value = 0;  // of its arguments, in Call::values_
};

class Call {
 public:
  Call(const FunctionData& function, const ModuleState& module, std::span<const Array* const> arrays,
       std::pmr::memory_resource* memory)
      : function_(function), module_(module), device_(module.device.state()), arrays_(arrays), symbols_(memory),
        values_(memory), launches_(memory), scratch_(memory) {}

  // Gives every symbol its value and checks all arrays against the function's arguments.
  void bind() {
    if (arrays_.size() != function_.arguments.size()) refuse_count();
    for (size_t i = 0; i < arrays_.size(); ++i) check_array(i);
    symbols_.assign(function_.symbols.size(), unbound);
    for (size_t i = 0; i < arrays_.size(); ++i)
      for (size_t axis = 0; axis < arrays_[i]->shape().size(); ++axis) {
        const ShapeExpr& extent = function_.arguments[i].shape[axis];
        if (!extent.is_symbol()) continue;
        int64_t& symbol = symbols_[static_cast<size_t>(extent.steps[0].value)];
        if (symbol == unbound) symbol = arrays_[i]->shape()[axis];
      }
    for (size_t i = 0; i < arrays_.size(); ++i)
      for (size_t axis = 0; axis < arrays_[i]->shape().size(); ++axis) check_extent(i, axis);
    for (size_t i = 0; i < arrays_.size(); ++i)
      if (function_.arguments[i].is_output)
        for (size_t j = 0; j < arrays_.size(); ++j)
          if (j != i) check_apart(i, j);
  }

  void check_promises() const {
    for (const PromiseData& promise : function_.promises)
      if (value_of(promise.condition) == 0)
        throw Error(where(), fmt::format("the promise \"{}\" does not hold for {}",
                                         promise.text.empty() ? text_of(promise.condition) : promise.text, bindings()));
  }

  // Computes grids and arguments of every launch that has work to do.
  void plan(const std::vector<hipFunction_t>& kernels) {
    for (size_t i = 0; i < function_.launches.size(); ++i) {
      const LaunchData& data = function_.launches[i];
      if (!data.condition.empty() && value_of(data.condition) == 0) continue;
      PlannedLaunch launch{&data, kernels[i], {}, values_.size()};
      if (!plan_grid(launch)) continue;
      for (const KernelArgument& argument : data.arguments) values_.push_back(plan_argument(data, argument));
      launches_.push_back(launch);
    }
  }

  // Takes scratch memory for the workspaces; the launches in the stream's queue may use it after this object is gone.
  void allocate(hipStream_t stream) {
    stream_ = stream;
    if (launches_.empty()) return;
    for (const WorkspaceData& workspace : function_.workspaces) {
      Values shape(symbols_.get_allocator().resource());
      for (const ShapeExpr& extent : workspace.shape) shape.push_back(value_of(extent));
      const int width = workspace.type.bytes() * workspace.type.lanes;
      const auto bytes = static_cast<size_t>(count_elements(shape, width, workspace)) * static_cast<size_t>(width);
      scratch_.push_back(device_.scratch.take(stream, bytes, [&](size_t n) { return device_.allocate(n); }));
    }
  }

  void launch() {
    std::pmr::vector<void*> pointers(symbols_.get_allocator().resource());
    for (const PlannedLaunch& launch : launches_) {
      const LaunchData& data = *launch.data;
      pointers.clear();
      for (size_t i = 0; i < data.arguments.size(); ++i) {
        int64_t& value = values_[launch.first_value + i];
        if (data.arguments[i].kind == KernelArgumentKind::workspace)
          value = reinterpret_cast<int64_t>(scratch_[data.arguments[i].index].pointer);
        pointers.push_back(&value);  // HIP reads the parameter's own size from it: hosts here are little-endian
      }
      const hipError_t status = device_.hip->hipModuleLaunchKernel(
          launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2], data.block[0], data.block[1], data.block[2],
          data.dynamic_lds_bytes, stream_, pointers.data(), nullptr);
      if (status != hipSuccess)
        device_.hip->check(status, "hipModuleLaunchKernel",
                           fmt::format("kernel \"{}\" of {}, grid {} x {} x {}, block {} x {} x {}", data.kernel,
                                       where(), launch.grid[0], launch.grid[1], launch.grid[2], data.block[0],
                                       data.block[1], data.block[2]));
    }
  }

  ~Call() {
    for (const ScratchAllocator::Block& block : scratch_) device_.scratch.give(stream_, block);
  }

 private:
  static constexpr int64_t unbound = -1;

  std::string where() const { return fmt::format("function \"{}\"", function_.name); }
  std::string where(size_t argument) const {
    return fmt::format("{}, argument \"{}\"", where(), function_.arguments[argument].name);
  }
  int64_t value_of(const ShapeExpr& expr) const {
    if (expr.is_constant()) return expr.steps[0].value;
    return evaluate(expr, symbols_);
  }
  std::string text_of(const ShapeExpr& expr) const { return to_string(expr, function_.symbols); }
  std::string bindings() const {  // "n = 5, m = 4"
    std::string text;
    for (size_t i = 0; i < symbols_.size(); ++i)
      text += fmt::format("{}{} = {}", i ? ", " : "", function_.symbols[i], symbols_[i]);
    return text.empty() ? "no symbols" : text;
  }

  [[noreturn]] void refuse_count() const {
    std::string names;
    for (const ArgumentData& argument : function_.arguments) names += (names.empty() ? "" : ", ") + argument.name;
    throw Error(where(), fmt::format("expected {} array{} ({}), got {}", function_.arguments.size(),
                                     function_.arguments.size() == 1 ? "" : "s", names, arrays_.size()));
  }

  // Kernels are compiled on the promise that what they write is nothing else that they were given.
  void check_apart(size_t output, size_t other) const {
    const Array &a = *arrays_[output], &b = *arrays_[other];
    const auto begin_a = reinterpret_cast<uintptr_t>(a.data()), begin_b = reinterpret_cast<uintptr_t>(b.data());
    const auto end_a = begin_a + static_cast<uintptr_t>(a.byte_size()), end_b = begin_b + static_cast<uintptr_t>(b.byte_size());
    if (begin_a == end_a || begin_b == end_b || end_a <= begin_b || end_b <= begin_a) return;
    throw Error(where(output), fmt::format("the output shares memory with argument \"{}\"", function_.arguments[other].name),
                "give the output an array of its own");
  }

  // All but extents.
  void check_array(size_t i) const {
    const ArgumentData& argument = function_.arguments[i];
    const Array& array = *arrays_[i];
    if (array.dtype() != argument.type)
      throw Error(where(i), fmt::format("expected {}, got {}", to_string(argument.type), to_string(array.dtype())));
    if (array.shape().size() != argument.shape.size()) {
      std::string expected;
      for (const ShapeExpr& extent : argument.shape) expected += (expected.empty() ? "" : ", ") + text_of(extent);
      throw Error(where(i), fmt::format("expected rank {} [{}], got rank {} {}", argument.shape.size(), expected,
                                        array.shape().size(), to_string(array.shape())));
    }
    if (&array.device().state() != &device_ && array.device() != module_.device)
      throw Error(where(i), fmt::format("expected an array on {}, got one on {}", device_.info.name,
                                        array.device().name()));
    if (!array.is_contiguous())
      throw Error(where(i),
                  fmt::format("expected a contiguous array, got shape {} with strides {}", to_string(array.shape()),
                              to_string(array.strides())),
                  "copy it into a new array first");
  }

  void check_extent(size_t i, size_t axis) const {
    const ShapeExpr& expr = function_.arguments[i].shape[axis];
    const int64_t got = arrays_[i]->shape()[axis], expected = value_of(expr);
    if (got == expected) return;
    const std::string origin = expr.is_constant() ? "" : fmt::format(" ({} where {})", text_of(expr), bindings());
    throw Error(where(i), fmt::format("extent {} of shape {} is {}, expected {}{}", axis,
                                      to_string(arrays_[i]->shape()), got, expected, origin));
  }

  // False where there is nothing to do.
  bool plan_grid(PlannedLaunch& launch) const {
    const LaunchData& data = *launch.data;
    std::array<int64_t, 3> grid{};
    bool has_work = true;
    for (size_t i = 0; i < 3; ++i) {
      grid[i] = value_of(data.grid[i]);
      if (grid[i] < 0)
        throw Error(where(), fmt::format("kernel \"{}\": grid.{} = {} is {} for {}", data.kernel, "xyz"[i],
                                         text_of(data.grid[i]), grid[i], bindings()));
      has_work &= grid[i] > 0;
    }
    if (!has_work) return false;
    for (size_t i = 0; i < 3; ++i) {
      uint64_t limit = std::min(max_grid_extent, max_work_items / data.block[i]);
      if (device_.info.max_grid[i] > 0) limit = std::min(limit, static_cast<uint64_t>(device_.info.max_grid[i]));
      if (static_cast<uint64_t>(grid[i]) > limit)
        throw Error(where(),
                    fmt::format("kernel \"{}\" needs {} work-groups of {} along {}, {} takes {}", data.kernel, grid[i],
                                data.block[i], "xyz"[i], device_.info.name, limit),
                    "call it on parts of the arrays, or bind another axis there");
      launch.grid[i] = static_cast<unsigned>(grid[i]);
    }
    return true;
  }

  int64_t count_elements(const Values& shape, int width, const WorkspaceData& workspace) const {
    try {
      return element_count(shape, width, workspace.name);
    } catch (const Error& error) {  // a full name costs an allocation: only when it is needed
      throw Error(fmt::format("{}, workspace \"{}\"", where(), workspace.name),
                  fmt::format("{} for {}", error.message(), bindings()));
    }
  }

  // The parameter's value; of a workspace nothing yet.
  int64_t plan_argument(const LaunchData& data, const KernelArgument& argument) const {
    switch (argument.kind) {
      case KernelArgumentKind::argument: return reinterpret_cast<int64_t>(arrays_[argument.index]->data());
      case KernelArgumentKind::workspace: return 0;
      case KernelArgumentKind::expression: break;
    }
    const int64_t value = value_of(argument.expression);
    const DType type = argument.type;
    const int64_t lowest = type.bits == 64 ? INT64_MIN : -(int64_t{1} << (type.bits - 1));
    const int64_t highest = type.bits == 64 ? INT64_MAX : (int64_t{1} << (type.bits - (type.is_signed() ? 1 : 0))) - 1;
    if (value > highest || value < (type.is_signed() ? lowest : 0))
      throw Error(where(), fmt::format("kernel \"{}\": {} is {} for {} and does not fit {}", data.kernel,
                                       text_of(argument.expression), value, bindings(), to_string(type)));
    return value;
  }

  const FunctionData& function_;
  const ModuleState& module_;
  DeviceState& device_;
  std::span<const Array* const> arrays_;
  hipStream_t stream_ = nullptr;
  Values symbols_, values_;
  std::pmr::vector<PlannedLaunch> launches_;
  std::pmr::vector<ScratchAllocator::Block> scratch_;  // of workspaces[i]
};

}  // namespace

void Function::launch(const Stream* stream, std::span<const Array* const> arrays) const {
  if (stream && stream->device() != module_->device)
    throw Error(fmt::format("function \"{}\"", data().name),
                fmt::format("loaded on {}, called on a stream of {}", module_->device.name(), stream->device().name()));
  std::array<std::byte, 4096> stack;
  std::pmr::monotonic_buffer_resource memory(stack.data(), stack.size());
  Call call(data(), *module_, arrays, &memory);
  call.bind();
  call.check_promises();
  call.plan(module_->kernels[index_]);
  module_->device.state().make_current();
  call.allocate(stream ? as_hip_stream(stream->raw()) : nullptr);
  call.launch();
}

void Function::operator()(std::span<const Array> arrays) const {
  std::vector<const Array*> list;
  for (const Array& array : arrays) list.push_back(&array);
  launch(nullptr, list);
}

void Function::operator()(const Stream& stream, std::span<const Array> arrays) const {
  std::vector<const Array*> list;
  for (const Array& array : arrays) list.push_back(&array);
  launch(&stream, list);
}

const FunctionData& Function::data() const { return module_->package.data().functions[index_]; }
const Device& Function::device() const { return module_->device; }

}  // namespace lathe
