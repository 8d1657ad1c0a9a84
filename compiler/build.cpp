#include "compiler/build.h"

#include <fmt/format.h>

#include <chrono>

#include "compiler/codegen/codegen.h"
#include "ir/print.h"
#include "runtime/base/error.h"

namespace lathe {

struct Module::State {
  Program program;
  Target target;
  BuildOptions options;
  LoweredFunction function;
  Certificate certificate;
  std::vector<uint8_t> code_object, package;
  std::vector<PassTime> times;
};

namespace {

CodegenOptions codegen_options(const BuildOptions& options) {
  CodegenOptions result;
  result.fast_math = options.fast_math;
  result.code_object_version = options.code_object_version;
  result.wave_size = options.wave_size;
  result.line_tables = options.line_tables;
  return result;
}

}  // namespace

Module build(const Program& program, std::string_view target_id, const BuildOptions& options) {
  auto state = std::make_shared<Module::State>();
  state->program = program;
  state->target = parse_target(target_id);
  state->options = options;
  if (!state->target.gfx->compiles)
    throw Error(fmt::format("target \"{}\"", target_id), fmt::format("{} is known but not compiled for", state->target.gfx->name),
                state->target.gfx->generic.empty() ? "`lathe targets` lists all" : fmt::format("build for {}", state->target.gfx->generic));
  Lowering lowered = lower(program, state->target, {}, &state->times);
  state->function = std::move(lowered.function);
  if (options.certify) {
    const auto start = std::chrono::steady_clock::now();
    state->certificate = certify(lowered.nested, state->function, state->target);
    state->times.push_back({"certificate", std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()});
    if (state->certificate.verdict() == Verdict::disproved)
      throw Error(fmt::format("certificate of {}", program.name), "the lowered program is wrong:\n" + state->certificate.text(),
                  "this is a fault of Lathe: report it with the program; another schedule may go round it");
  }
  CompiledModule compiled = compile_kernels(state->function.kernels, state->target, program.name, codegen_options(options));
  for (const StageTime& t : compiled.times) state->times.push_back({t.name, t.milliseconds});
  state->code_object = std::move(compiled.code_object);
  PackageData package;
  package.functions = {describe_function(state->function)};
  package.code_objects = {{state->target.id(), state->code_object}};
  package.sources = {{"te", to_string(program)}};
  package.generator = "lathe 0.1.0";
  if (options.certify) package.certificates = {{state->function.name, state->target.id(), state->certificate.claims}};
  state->package = write_package(package);
  Module m;
  m.state_ = std::move(state);
  return m;
}

Program to_program(const Schedule& schedule, std::vector<Tensor> arguments, std::string name) {
  Program program = make_program(std::move(name), std::move(arguments));
  // Every output of the schedule must be an argument, and the other way round.
  auto same = [](const std::vector<Tensor>& a, const Tensor& t) {
    for (const Tensor& x : a)
      if (x.same_as(t)) return true;
    return false;
  };
  const std::vector<Tensor> outputs = program.outputs();
  for (const Tensor& t : schedule.outputs())
    if (!same(outputs, t))
      throw Error("build " + program.name, fmt::format("the schedule's output {} is not an argument", t.name()), "add it to the arguments");
  for (const Tensor& t : outputs)
    if (!same(schedule.outputs(), t))
      throw Error("build " + program.name, fmt::format("{} is an output, but not of the schedule", t.name()),
                  "make the schedule of all outputs: Schedule({C, D})");
  program.steps = schedule.steps();
  return program;
}

Module build(const Schedule& schedule, std::vector<Tensor> arguments, std::string_view target, std::string name,
             const BuildOptions& options) {
  return build(to_program(schedule, std::move(arguments), std::move(name)), target, options);
}

std::string Module::source(std::string_view what) const {
  if (what == "te") return to_string(state_->program);
  if (what == "ir") return to_string(state_->function);
  if (what == "llvm" || what == "asm") {
    const CompiledModule compiled = compile_kernels(state_->function.kernels, state_->target, state_->program.name,
                                                    codegen_options(state_->options), what == "llvm", what == "asm");
    return what == "llvm" ? compiled.llvm_ir : compiled.assembly;
  }
  throw Error("Module::source", fmt::format("there is no source \"{}\"", what), "use te, ir, llvm or asm");
}

const Certificate& Module::certificate() const { return state_->certificate; }
const std::vector<uint8_t>& Module::code_object() const { return state_->code_object; }
CodeObjectInfo Module::info() const { return read_code_object(state_->code_object, state_->program.name); }
const std::vector<uint8_t>& Module::package() const { return state_->package; }
const std::vector<PassTime>& Module::times() const { return state_->times; }
const Target& Module::target() const { return state_->target; }
const Program& Module::program() const { return state_->program; }

}  // namespace lathe
