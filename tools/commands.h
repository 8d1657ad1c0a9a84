// The sub-commands of `lathe`, one file each. A command adds itself to the parser with its options and what to run.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace lathe {

void add_targets_command(CLI::App& app);
void add_build_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_run_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_emulate_command(CLI::App& app);
void add_fuzz_command(CLI::App& app);

}  // namespace lathe
