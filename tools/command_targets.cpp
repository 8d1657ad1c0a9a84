#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "runtime/base/target.h"
#include "tools/commands.h"

namespace lathe {

void add_targets_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("targets", "List the GPUs that programs can be built for");
  command->callback([] {
    fmt::print("{:<16} {:>5} {:>9} {:>6} {:<8} {:<16} {}\n", "target", "wave", "LDS", "VGPRs", "matrix", "also runs", "features");
    for (const GfxRow& row : gfx_table()) {
      if (!row.compiles) continue;
      const char* matrix = row.matrix == MatrixUnit::mfma ? "MFMA" : row.matrix == MatrixUnit::wmma ? "WMMA" : "-";
      const std::string features = std::string(row.has_sramecc ? "sramecc " : "") + (row.has_xnack ? "xnack" : "");
      fmt::print("{:<16} {:>5} {:>7} K {:>6} {:<8} {:<16} {}\n", row.name, row.has_wave32 && row.wave_size == 32 ? "32/64" : std::to_string(row.wave_size),
                 row.lds_bytes / 1024, row.vgprs, matrix, row.generic.empty() ? "-" : row.generic, features.empty() ? "-" : features);
    }
  });
}

}  // namespace lathe
