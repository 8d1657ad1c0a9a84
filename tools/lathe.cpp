// lathe: the compiler as a command. `lathe --help` lists what it does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/base/error.h"
#include "tools/commands.h"

int main(int argc, char** argv) {
  CLI::App app{"Lathe: a tensor compiler for AMD GPUs"};
  app.require_subcommand(1);
  lathe::add_targets_command(app);
  lathe::add_build_command(app);
  lathe::add_explain_command(app);
  lathe::add_run_command(app);
  lathe::add_inspect_command(app);
  lathe::add_emulate_command(app);
  lathe::add_fuzz_command(app);
  try {
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0) throw lathe::Error("standard output", "it could not be written whole", "check where it goes");
    return 0;
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const lathe::Error& e) {
    fmt::print(stderr, "lathe: error: {}: {}\n", e.where(), e.message());
    if (!e.hint().empty()) fmt::print(stderr, "  hint: {}\n", e.hint());
    return 1;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "lathe: error: out of memory\n  hint: use smaller shapes\n");
    return 1;
  } catch (const std::exception& e) {  // of the standard library: files, conversions
    fmt::print(stderr, "lathe: error: {}\n", e.what());
    return 1;
  }
}
