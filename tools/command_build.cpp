#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "compiler/build.h"
#include "ir/parse.h"
#include "runtime/base/error.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace lathe {
namespace {

struct BuildCommand {
  std::string file, target = "gfx942", output, stop_after;
  std::vector<std::string> emit;
  bool print = false, time = false, fast_math = false, certificate = false, no_certificate = false, line_tables = false;
  int code_object_version = 0, wave_size = 0;

  void run() const {
    if (!emit.empty() && (!stop_after.empty() || print))
      throw Error("--emit", "it does not go with --print and --stop-after, which show the passes' own text", "leave one of them out");
    const Program program = parse_program(read_text(file), file);
    if (!stop_after.empty() || print) return lower_only(program);
    BuildOptions options;
    options.fast_math = fast_math;
    options.code_object_version = code_object_version;
    options.wave_size = wave_size;
    options.certify = !no_certificate;
    options.line_tables = line_tables;
    const Module module = build(program, target, options);
    const std::string stem = output.empty() ? program.name : output;
    for (const std::string& what : emit.empty() ? std::vector<std::string>{"package"} : emit) {
      if (what == "obj") {
        save(stem + ".hsaco", module.code_object());
      } else if (what == "package") {
        save(stem + ".lathe", module.package());
      } else {
        const std::string text = module.source(what);
        if (output.empty())
          fmt::print("{}", text);
        else
          save(fmt::format("{}.{}", stem, what == "asm" ? "s" : what == "llvm" ? "ll" : what), {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
      }
    }
    if (certificate) fmt::print("{}", module.certificate().text());
    if (time) print_times(module.times());
  }

  static void save(const std::string& path, std::span<const uint8_t> bytes) {
    write_file(path, bytes);
    fmt::print(stderr, "wrote {} ({} bytes)\n", path, bytes.size());
  }

  // --print shows what each pass made of the program; --stop-after alone shows the last one.
  void lower_only(const Program& program) const {
    PipelineOptions options;
    options.stop_after = stop_after;
    std::string last;
    options.after_each = [&](const Pass& pass, const Lowering& l) {
      last = describe(l);
      if (print) fmt::print("# after {}: {}\n{}\n", pass.name, pass.does, last);
    };
    std::vector<PassTime> times;
    lower(program, parse_target(target), options, &times);
    if (!print) fmt::print("{}", last);
    if (time) print_times(times);
  }

  static void print_times(const std::vector<PassTime>& times) {
    double total = 0;
    for (const PassTime& t : times) {
      fmt::print(stderr, "{:<18} {:8.3f} ms\n", t.pass, t.milliseconds);
      total += t.milliseconds;
    }
    fmt::print(stderr, "{:<18} {:8.3f} ms\n", "total", total);
  }
};

}  // namespace

void add_build_command(CLI::App& app) {
  auto command = std::make_shared<BuildCommand>();
  CLI::App* sub = app.add_subcommand("build", "Compile a .te file");
  sub->add_option("file", command->file, "The program: tensors and schedule")->required();
  sub->add_option("--target", command->target, "Target id, such as gfx942 or gfx90a:sramecc+:xnack-")->capture_default_str();
  sub->add_option("--emit", command->emit, "What to write: te, ir, llvm, asm (to standard output without -o), obj, package")
      ->delimiter(',')
      ->check(CLI::IsMember({"te", "ir", "llvm", "asm", "obj", "package"}));
  sub->add_option("-o,--output", command->output, "File name without its ending (default: the function's name)");
  sub->add_option("--stop-after", command->stop_after, "Stop after that pass and show what it made");
  sub->add_flag("--print", command->print, "Show the program after each pass");
  CLI::Option* show = sub->add_flag("--certificate", command->certificate, "Show what is proved of the lowered program");
  sub->add_flag("--no-certificate", command->no_certificate, "Do not prove the lowered program right")->excludes(show);
  sub->add_flag("--time", command->time, "Show milliseconds per pass on standard error");
  sub->add_flag("-g", command->line_tables, "Say in the code object which line of --emit ir each instruction came from");
  sub->add_flag("--fast-math", command->fast_math, "Let LLVM contract and reassociate floats");
  sub->add_option("--code-object-version", command->code_object_version, "4, 5 or 6")->check(CLI::IsMember({4, 5, 6}));
  sub->add_option("--wave-size", command->wave_size, "32 or 64, where the target has both")->check(CLI::IsMember({32, 64}));
  sub->callback([command] { command->run(); });
}

}  // namespace lathe
