// build: a program and its schedule to a module: code object, package, and every text on the way.
//
//   Module m = build(s, {A, B, C}, "gfx942", "myadd");
//   fmt::print("{}", m.source("asm"));
//   m.load(gpu)["myadd"](a, b, c);
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/certificate/certificate.h"
#include "compiler/pipeline.h"
#include "ir/schedule/schedule.h"
#include "runtime/base/code_object.h"
#include "runtime/base/package.h"

namespace lathe {

struct BuildOptions {
  bool fast_math = false;       // let LLVM contract and reassociate floats; off by the numerics contract
  int code_object_version = 0;  // 4, 5 or 6; 0: the target's default
  int wave_size = 0;            // 32 or 64; 0: the target's default
  bool line_tables = false;     // the code object says which line of the kernel's "ir" each instruction came from
  bool certify = true;          // prove the lowered program right, and refuse what is disproved
};

// What a build gives. Cheap to copy; all copies share one result.
class Module {
 public:
  // "te" (the program with its schedule), "ir" (the kernels as code generation takes them), "llvm" (after O3),
  // "asm". Throws Error on any other word.
  std::string source(std::string_view what) const;
  const std::vector<uint8_t>& code_object() const;   // an ELF file
  const Certificate& certificate() const;            // what is proved of the final statement
  CodeObjectInfo info() const;                       // registers, LDS, spills, kernarg layout per kernel
  const std::vector<uint8_t>& package() const;       // what the runtime loads
  const std::vector<PassTime>& times() const;        // of passes and of code generation, in order
  const Target& target() const;
  const Program& program() const;                    // what was built: the evaluator runs it

  // The module on a device of the runtime: device.load(package).
  template <class Device>
  auto load(Device& device) const {
    return device.load(package());
  }

 private:
  friend Module build(const Program& program, std::string_view target, const BuildOptions& options);
  struct State;
  std::shared_ptr<const State> state_;
};

// Throws Error on anything that is the user's to change: the schedule, the target, the shapes.
Module build(const Program& program, std::string_view target, const BuildOptions& options = {});
// `arguments` are the function's parameters in order: inputs, and the schedule's outputs.
Module build(const Schedule& schedule, std::vector<Tensor> arguments, std::string_view target, std::string name,
             const BuildOptions& options = {});

// The program of a schedule: what a .te file of it says.
Program to_program(const Schedule& schedule, std::vector<Tensor> arguments, std::string name);

// Function and launches as a package describes them, code objects left out.
FunctionData describe_function(const LoweredFunction& function);

}  // namespace lathe
