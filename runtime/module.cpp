#include "runtime/module.h"

#include <fmt/format.h>

#include "runtime/base/code_object.h"
#include "runtime/base/error.h"
#include "runtime/module_state.h"

namespace lathe {
namespace {

// How closely a code object names the device; 0: it does not run there.
int fit(const Target& object, const Target& device) {
  if (!why_incompatible(object, device).empty()) return 0;
  const int features = (object.sramecc != Feature::any) + (object.xnack != Feature::any);
  return (object.gfx == device.gfx ? 10 : 1) + features;
}

const CodeObjectData& pick_code_object(const Device& device, const Package& package) {
  const DeviceState& state = device.state();
  if (!state.target)
    throw Error(package.where(), fmt::format("device {} is a {}, a processor this version of Lathe does not know",
                                             state.info.name, state.info.target_id));
  const CodeObjectData* best = nullptr;
  int best_fit = 0;
  std::string ids, clash;
  for (const CodeObjectData& object : package.data().code_objects) {
    const Target target = parse_target(object.target);
    if (const int f = fit(target, *state.target); f > best_fit) {
      best_fit = f;
      best = &object;
    }
    ids += (ids.empty() ? "" : ", ") + object.target;
    if (target.gfx == state.target->gfx && clash.empty()) clash = why_incompatible(target, *state.target);
  }
  if (best) return *best;
  throw Error(package.where(),
              fmt::format("device {} is a {}; the package has code objects for {}{}", state.info.name,
                          state.info.target_id, ids.empty() ? "nothing" : ids, clash.empty() ? "" : " (" + clash + ")"),
              fmt::format("build it for {} too", state.target->gfx->name));
}

const KernelInfo& find_kernel(const CodeObjectInfo& info, const std::string& name, const std::string& where) {
  for (const KernelInfo& kernel : info.kernels)
    if (kernel.name == name) return kernel;
  throw Error(where, fmt::format("the code object for {} has no kernel \"{}\"", info.target.id(), name));
}

// A launch must pass each parameter with the size that the compiled kernel expects: HIP reads that many bytes.
void check_launch(const LaunchData& launch, const KernelInfo& kernel, const Target& target, const std::string& where) {
  size_t visible = 0;
  for (const KernelParameter& parameter : kernel.parameters) {
    if (parameter.value_kind.starts_with("hidden_")) continue;  // the HIP library fills these in
    if (visible < launch.arguments.size()) {
      const KernelArgument& argument = launch.arguments[visible];
      const int bytes = argument.kind == KernelArgumentKind::expression ? argument.type.bytes() : 8;
      if (static_cast<uint32_t>(bytes) != parameter.size)
        throw Error(where, fmt::format("kernel \"{}\" takes {} bytes as parameter {}, the package passes {}",
                                       kernel.name, parameter.size, visible, bytes));
    }
    ++visible;
  }
  if (visible != launch.arguments.size())
    throw Error(where, fmt::format("kernel \"{}\" takes {} parameters, the package passes {}", kernel.name, visible,
                                   launch.arguments.size()));
  const uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  if (kernel.max_flat_workgroup_size && threads > kernel.max_flat_workgroup_size)
    throw Error(where, fmt::format("kernel \"{}\" was compiled for at most {} threads in a group, the package asks for {}",
                                   kernel.name, kernel.max_flat_workgroup_size, threads));
  const uint64_t lds = uint64_t{kernel.group_segment_fixed_size} + launch.dynamic_lds_bytes;
  if (lds > target.gfx->lds_bytes)
    throw Error(where, fmt::format("kernel \"{}\" needs {} bytes of LDS, {} has {}", kernel.name, lds,
                                   target.gfx->name, target.gfx->lds_bytes));
}

}  // namespace

std::shared_ptr<const ModuleState> load_module(const Device& device, const Package& package) {
  auto state = std::make_shared<ModuleState>(device, package);
  const DeviceState& on = device.state();
  state->object = &pick_code_object(device, package);
  const std::string where = fmt::format("{}, code object for {}", package.where(), state->object->target);
  const CodeObjectInfo info = read_code_object(state->object->bytes, where);
  if (info.target.id() != parse_target(state->object->target).id())
    throw Error(where, fmt::format("it was compiled for {}", info.target.id()));
  for (const FunctionData& function : package.data().functions)
    for (const LaunchData& launch : function.launches)
      check_launch(launch, find_kernel(info, launch.kernel, where), *on.target, where);

  on.make_current();
  on.hip->check(on.hip->hipModuleLoadData(&state->module, state->object->bytes.data()), "hipModuleLoadData", where);
  for (const FunctionData& function : package.data().functions) {
    std::vector<hipFunction_t>& kernels = state->kernels.emplace_back();
    for (const LaunchData& launch : function.launches)
      on.hip->check(on.hip->hipModuleGetFunction(&kernels.emplace_back(), state->module, launch.kernel.c_str()),
                    "hipModuleGetFunction", fmt::format("kernel \"{}\" of {}", launch.kernel, where));
  }
  return state;
}

ModuleState::~ModuleState() {
  if (!module) return;
  // `device.load(p)["f"](a)` ends the module's life while its kernel may still run: wait for it.
  const DeviceState& on = device.state();
  (void)on.hip->hipSetDevice(on.ordinal);
  (void)on.hip->hipDeviceSynchronize();
  (void)on.hip->hipModuleUnload(module);
}

LoadedModule Device::load(std::span<const uint8_t> package_bytes) const {
  return load(Package::from_bytes(package_bytes));
}

LoadedModule Device::load(const Package& package) const { return LoadedModule(load_module(*this, package)); }

Function LoadedModule::operator[](std::string_view function) const {
  const auto& functions = state_->package.data().functions;
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i].name == function) return Function(state_, i);
  throw Error(state_->package.where(), fmt::format("there is no function \"{}\"", function),
              functions.empty() ? "the package has no functions"
                                : fmt::format("the package has {}", fmt::join(function_names(), ", ")));
}

std::vector<std::string_view> LoadedModule::function_names() const {
  std::vector<std::string_view> names;
  for (const FunctionData& function : state_->package.data().functions) names.push_back(function.name);
  return names;
}

const Device& LoadedModule::device() const { return state_->device; }
const std::string& LoadedModule::target_id() const { return state_->object->target; }

}  // namespace lathe
